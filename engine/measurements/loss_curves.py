"""Curves of training losses as a picture."""

STEPS_A_POINT = 50
LEFT, TOP, WIDTH, HEIGHT = 60, 20, 620, 300
LOWEST, HIGHEST = 2.0, 7.0


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
