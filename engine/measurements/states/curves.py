"""curves.svg from the loss-*.csv beside this file; prints the held-out losses over those of 12 bytes.

    python3 curves.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from loss_curves import svg  # noqa: E402

COLORS = {"12-bytes": "#1f77b4", "5-bytes": "#d95f02", "4-bytes": "#2ca02c"}


def read(path):
    """Means of training losses, and the held-out loss."""
    rows = [line.split(",") for line in path.read_text().splitlines()]
    held = [float(loss) for step, loss in rows if step.startswith("validation")]
    return [float(loss) for step, loss in rows if not step.startswith("validation")], held[-1]


def main():
    runs = {path.stem.removeprefix("loss-"): read(path) for path in sorted(HERE.glob("loss-*.csv"))}
    (HERE / "curves.svg").write_text(svg({name: curve for name, (curve, _) in runs.items()}, COLORS))
    for name, (_, held) in runs.items():
        base = runs["12-bytes-seed-" + name[-1]][1]
        print(f"{name}: {held:.4f}, {100 * (held / base - 1):+.2f}%")


main()
