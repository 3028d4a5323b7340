"""curves.svg from the loss-*.csv beside this file and, for the text of seeds 1 and 2, bf16's runs with 12 bytes of state in ../states;
prints the held-out losses over bf16's.

    python3 curves.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from loss_curves import draw, read  # noqa: E402

COLORS = {"bf16": "#1f77b4", "e5m2": "#d95f02", "e4m3": "#2ca02c"}

runs = {f"bf16-seed-{seed}": read(HERE.parent / "states" / f"loss-12-bytes-seed-{seed}.csv") for seed in (1, 2)}
for path in HERE.glob("loss-*.csv"):
    runs[path.stem.removeprefix("loss-")] = read(path)
draw(dict(sorted(runs.items())), COLORS, "bf16", HERE / "curves.svg")
