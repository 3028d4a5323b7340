"""curves.svg from the loss-*.csv beside this file; prints the held-out losses over those of 12 bytes.

    python3 curves.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from loss_curves import draw, read  # noqa: E402

COLORS = {"12-bytes": "#1f77b4", "5-bytes": "#d95f02", "4-bytes": "#2ca02c"}

draw({path.stem.removeprefix("loss-"): read(path) for path in sorted(HERE.glob("loss-*.csv"))}, COLORS, "12-bytes",
     HERE / "curves.svg")
