"""curves.svg from the loss-*.csv beside this file and those of bf16, which are the runs with 12 bytes of state in ../states;
prints the held-out losses over bf16's.

    python3 curves.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from loss_curves import draw, read  # noqa: E402

COLORS = {"bf16": "#1f77b4", "e5m2": "#d95f02", "e4m3": "#2ca02c"}

runs = {path.stem.replace("loss-12-bytes", "bf16"): read(path)
        for path in sorted((HERE.parent / "states").glob("loss-12-bytes-*.csv"))}
runs |= {path.stem.removeprefix("loss-"): read(path) for path in sorted(HERE.glob("loss-*.csv"))}
draw(runs, COLORS, "bf16", HERE / "curves.svg")
