"""losses.csv and curves.svg from the logs of train.sh.

    python3 curves.py LOG_FOLDER
"""

import json
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from loss_curves import STEPS_A_POINT, svg  # noqa: E402

COLORS = {"bf16": "#1f77b4", "fp8": "#d95f02"}


def losses(path):
    return [json.loads(line)["loss"] for line in path.read_text().splitlines()]


def means(values):
    return [statistics.mean(values[i:i + STEPS_A_POINT]) for i in range(0, len(values), STEPS_A_POINT)]


def main(folder):
    runs = sorted(path for path in Path(folder).glob("*-seed-?.jsonl"))
    curves = {path.stem: means(losses(path)) for path in runs}
    rows = ["step," + ",".join(curves)]
    for i in range(max(len(values) for values in curves.values())):
        rows.append(f"{(i + 1) * STEPS_A_POINT}," + ",".join(f"{values[i]:.4f}" for values in curves.values()))
    (HERE / "losses.csv").write_text("\n".join(rows) + "\n")
    (HERE / "curves.svg").write_text(svg(curves, COLORS))
    for path in sorted(Path(folder).glob("*.held.jsonl")):
        print(path.name, f"{statistics.mean(losses(path)):.4f}")


main(sys.argv[1])
