"""Losses of a training: means from the log of sluice-train, curves as a picture.

    python3 loss_curves.py LOG >loss-NAME-seed-SEED.csv
"""

import json
import sys

STEPS_A_POINT = 50
LEFT, TOP, WIDTH, HEIGHT = 60, 20, 620, 300
LOWEST, HIGHEST = 1.0, 7.0


def print_means(log):
    rows = [json.loads(line) for line in log.read().splitlines()]
    for first in range(0, len(rows), STEPS_A_POINT):
        part = [row["loss"] for row in rows[first:first + STEPS_A_POINT]]
        print(f"{first + len(part)},{sum(part) / len(part):.4f}")
    for row in rows:
        if "validation_loss" in row:
            print(f"validation {row['step']},{row['validation_loss']:.5f}")


def read(path):
    """Means of training losses, and the held-out loss."""
    rows = [line.split(",") for line in path.read_text().splitlines()]
    held = [float(loss) for step, loss in rows if step.startswith("validation")]
    return [float(loss) for step, loss in rows if not step.startswith("validation")], held[-1]


def draw(runs, colors, base, picture):
    """runs: as read() gives them, by name; prints the held-out losses, and how far they are from `base`'s."""
    picture.write_text(svg({name: curve for name, (curve, _) in runs.items()}, colors))
    for name, (_, held) in runs.items():
        of_base = runs[f"{base}-seed-{name[-1]}"][1]
        print(f"{name}: {held:.4f}, {100 * (held / of_base - 1):+.2f}%")


def place(index, count, loss):
    x = LEFT + WIDTH * (index + 0.5) / count
    y = TOP + HEIGHT * (HIGHEST - min(loss, HIGHEST)) / (HIGHEST - LOWEST)
    return f"{x:.1f},{y:.1f}"


def svg(curves, colors):
    """curves: means of STEPS_A_POINT steps by name; colors: by the part of the name before "-seed"."""
    count = max(len(values) for values in curves.values())
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {TOP + HEIGHT + 50}" '
           'font-family="sans-serif" font-size="13">',
           '<rect width="100%" height="100%" fill="white"/>']
    for loss in range(int(LOWEST), int(HIGHEST) + 1):
        y = TOP + HEIGHT * (HIGHEST - loss) / (HIGHEST - LOWEST)
        out.append(f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y}" y2="{y}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{loss}</text>')
    for step in range(0, count * STEPS_A_POINT + 1, 500):
        x = LEFT + WIDTH * step / (count * STEPS_A_POINT)
        out.append(f'<text x="{x}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{step:,}</text>')
    out.append(f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 40}" text-anchor="middle">step; loss of training text '
               f'in nats a token, mean of {STEPS_A_POINT} steps</text>')
    for row, (name, values) in enumerate(curves.items()):
        color = colors[name.split("-seed")[0]]
        points = " ".join(place(i, count, loss) for i, loss in enumerate(values))
        out.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.5"><title>{name}</title>'
                   f'</polyline><text x="{LEFT + WIDTH - 110}" y="{TOP + 18 + 18 * row}" fill="{color}">{name}</text>')
    return "\n".join(out) + "\n</svg>\n"


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        print_means(file)
