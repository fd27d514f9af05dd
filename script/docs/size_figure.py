"""The figure of domain sizes: how the time of every command grows, drawn from the table of its page."""

from __future__ import annotations

from html import escape

from drawing import WIDTH, Picture, Scale, legend, line, mark, text
from tables import number, table_with

_ROOMS = {
    "estimate": ("estimate",),
    "recommend, plan": ("recommend", "plan"),
    "audit, risk, longitudinal": ("audit", "risk", "longitudinal"),
    "bench, collection": ("bench", "collection"),
    "lists and files": ("mechanisms", "a", "privatize", "inspect", "datasets"),
}
"""The series of the figure, and the first words of the commands that belong to each."""
_LEFT, _HIGH = 48.0, 380.0


def domain_sizes(page: str) -> Picture:
    """Return a line for every command over the number of values, both logarithmic, beside one of slope 1."""
    head, *rows = table_with(page, "command", "exponent")
    sizes = [number(cell) or 0.0 for cell in head[1:-1]]
    found = {row[0]: [number(cell) for cell in row[1:-1]] for row in rows}
    seconds = [value for values in found.values() for value in values if value is not None]
    marks, top = legend(list(_ROOMS), WIDTH, 20.0)
    top, bottom = top + 26, top + 26 + _HIGH
    across = Scale(sizes[0], sizes[-1], _LEFT + 6, WIDTH - 24, logarithmic=True)
    up = Scale(0.8 * min(seconds), 1.6 * max(seconds), bottom, top, logarithmic=True)
    for tick in up.ticks():
        if f"{tick:e}".startswith("1"):  # powers of ten
            marks += line(_LEFT, up(tick), WIDTH - 16, up(tick))
            marks += text(_LEFT - 8, up(tick) + 4, f"{tick:g}", colour="soft", size=12, anchor="end")
    for size in sizes:
        anchor = "end" if size == sizes[-1] else "middle"
        marks += text(across(size), bottom + 18, f"{size:,.0f}", colour="soft", size=12, anchor=anchor)
    marks += text(_LEFT - 40, top - 10, "CPU seconds, logarithmic", colour="soft", size=12)
    marks += text((_LEFT + WIDTH) / 2, bottom + 40, "values k, logarithmic", colour="soft", anchor="middle")
    rooms = list(_ROOMS.values())
    for name, values in found.items():
        room = next(place for place, words in enumerate(rooms) if name.split()[0].strip(",") in words)
        marks += _line_of(name, [(across(k), up(v)) for k, v in zip(sizes, values, strict=True) if v], room)
    low, high = sizes[0], sizes[-1]
    start = up.low * 1.6
    end = min(up.high, start * high / low)
    marks += line(across(low), up(start), across(low * end / start), up(end), "ink", 2, "6 4")
    marks += text(
        WIDTH - 20, bottom - 8, "dashed: ten times the values, ten times the time", size=12, anchor="end"
    )
    steepest = max(rows, key=lambda row: number(row[-1]) or 0.0)
    words = (
        f"CPU seconds of {len(rows)} commands over the number of values, from {low:,.0f} to {high:,.0f}; the "
        f"table has the numbers. The steepest is {steepest[0]}, with exponent {steepest[-1]}."
    )
    title = "Time of every command as the domain grows"
    return Picture(WIDTH, bottom + 50, marks, title, words)


def _line_of(name: str, points: list[tuple[float, float]], room: int) -> str:
    """Return the line of a command, which says its name to whoever points at it."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(mark(x, y, room, 2.5) for x, y in points)
    drawn = f'<polyline points="{path}" class="s{room + 1}" stroke-width="1.2" opacity="0.75"/>{dots}'
    return f"<g><title>{escape(name)}</title>{drawn}</g>"
