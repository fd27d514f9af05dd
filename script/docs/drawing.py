"""Small charts as SVG text, for the pages of the site: no plotting library, a few kilobytes each.

Colours are CSS variables, which `stylesheet` sets for light and dark pages. A file that stands on its own
(the README's picture) gets them from `standalone`. Series differ in shape as well as in colour, so that a
chart survives print in grey.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import log10

COLOURS = {
    "ink": ("#1f2430", "#e6e8ee"),
    "soft": ("#5a6272", "#a9b1c1"),
    "grid": ("#d5d9e2", "#3c4252"),
    "paper": ("#ffffff", "#1e2129"),
    "1": ("#0b5cad", "#6cb4ff"),
    "2": ("#b34700", "#ffa366"),
    "3": ("#1d7a46", "#6fd39a"),
    "4": ("#7a3b9d", "#d3a0f0"),
    "5": ("#8a6d00", "#e6c84f"),
}
_RULES = (
    "".join(
        f".f{name}{{fill:var(--fig-{name})}}.s{name}{{stroke:var(--fig-{name});fill:none}}"
        for name in COLOURS
    )
    + ".halo{stroke:var(--fig-paper);stroke-width:4px}"
)


def _variables(dark: bool) -> str:
    return "".join(f"--fig-{name}:{pair[dark]};" for name, pair in COLOURS.items())


def stylesheet() -> str:
    """Return the rules for charts that stand inside a page of the site."""
    light, dark = _variables(dark=False), _variables(dark=True)
    schemes = f':root{{{light}}}[data-md-color-scheme="slate"]{{{dark}}}'
    return f"{schemes}svg.figure text{{font-family:inherit}}{_RULES}"


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing: its size, its marks, what it is called and what it shows in words."""

    width: float
    height: float
    marks: str
    title: str
    words: str

    def inline(self, name: str) -> str:
        """Return it for a page, which has the colours."""
        return (
            f'<svg class="figure" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-labelledby="{name}-title {name}-words" style="max-width:{self.width * 1.2:g}px">'
            f'<title id="{name}-title">{escape(self.title)}</title>'
            f'<desc id="{name}-words">{escape(self.words)}</desc>{self.marks}</svg>'
        )

    def standalone(self) -> str:
        """Return it as a file of its own, in light and dark colours as the reader's system asks for."""
        style = (
            f"svg{{{_variables(dark=False)}font-family:system-ui,sans-serif}}"
            f"@media(prefers-color-scheme:dark){{svg{{{_variables(dark=True)}}}}}{_RULES}"
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'width="{self.width:g}" height="{self.height:g}" role="img" aria-label="{escape(self.title)}">'
            f"<title>{escape(self.title)}</title><desc>{escape(self.words)}</desc>"
            f'<style>{style}</style><rect width="100%" height="100%" class="fpaper"/>{self.marks}</svg>\n'
        )


def text(
    x: float,
    y: float,
    words: str,
    *,
    colour: str = "ink",
    size: float = 13,
    anchor: str = "start",
    bold: bool = False,
    halo: bool = False,
) -> str:
    """Return a line of text; `anchor` is start, middle or end, `halo` keeps lines behind it away."""
    more = (' font-weight="600"' if bold else "") + (' paint-order="stroke"' if halo else "")
    kind = f"f{colour} halo" if halo else f"f{colour}"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" font-size="{size:g}" text-anchor="{anchor}"{more}>'
        f"{escape(words)}</text>"
    )


def line(
    x1: float, y1: float, x2: float, y2: float, colour: str = "grid", width: float = 1, dash: str = ""
) -> str:
    """Return a straight line."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="s{colour}" '
        f'stroke-width="{width:g}"{dashes}/>'
    )


def mark(x: float, y: float, number: int, size: float = 6) -> str:
    """Return the mark of a series: number 0 is a disc, then square, triangle, diamond and cross."""
    colour, s, d = number % 5 + 1, size, 1.3 * size
    if number % 5 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{s:g}" class="f{colour}"/>'
    if number % 5 == 4:
        path = f"M{x - s:.1f} {y - s:.1f}l{2 * s:g} {2 * s:g}m0 {-2 * s:g}l{-2 * s:g} {2 * s:g}"
        return f'<path d="{path}" class="s{colour}" stroke-width="2.5"/>'
    shapes = {
        1: f"M{x - s:.1f} {y - s:.1f}h{2 * s:g}v{2 * s:g}h{-2 * s:g}z",
        2: f"M{x:.1f} {y - 1.2 * s:.1f}l{1.2 * s:g} {2.2 * s:g}h{-2.4 * s:g}z",
        3: f"M{x:.1f} {y - d:.1f}l{d:g} {d:g}l{-d:g} {d:g}l{-d:g} {-d:g}z",
    }
    return f'<path d="{shapes[number % 5]}" class="f{colour}"/>'


@dataclass(frozen=True, slots=True)
class Scale:
    """Turns numbers into places on an axis, evenly or by their logarithm."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Return where a number stands."""
        low, high, at = self.low, self.high, value
        if self.logarithmic:
            low, high, at = log10(low), log10(high), log10(value)
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return round numbers along the axis."""
        if self.logarithmic:
            powers = range(-9, 10)
            every = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
            return [tick for tick in every if self.low * 0.999 <= tick <= self.high * 1.001]
        step = next(
            digit * 10.0**power
            for power in range(-9, 10)
            for digit in (1, 2, 5)
            if (self.high - self.low) / (digit * 10.0**power) <= 6
        )
        first = -int(-self.low // step)
        return [round(place * step, 9) for place in range(first, int(self.high / step + 1e-9) + 1)]


def legend(names: Sequence[str], width: float, y: float) -> tuple[str, float]:
    """Return the names of the series with their marks, in as many lines as they need, and where they end."""
    marks, x = "", 12.0
    for number, name in enumerate(names):
        wide = 24 + 7.3 * len(name)
        if x + wide > width and x > 12:
            x, y = 12.0, y + 20
        marks += mark(x, y - 4, number, 5) + text(x + 12, y, name, size=13)
        x += wide + 10
    return marks, y + 14


WIDTH = 460.0  # narrow enough for letters to stay readable on a phone
_LABEL, _LANE, _GAP = 18.0, 11.0, 9.0


def dots(
    rows: Sequence[tuple[str, Sequence[float | None]]],
    series: Sequence[str],
    *,
    title: str,
    axis: str,
    reference: tuple[float, str] | None = None,
    logarithmic: bool = False,
) -> Picture:
    """Return rows of named values, one mark for each series: a dot plot, without lines through categories.

    Each series has a lane of its own in a row, so that equal values are seen to be equal.
    """
    left, right = 14.0, WIDTH - 18
    found = [value for _, values in rows for value in values if value is not None]
    if reference:
        found.append(reference[0])
    least = min(found) * 0.85 if logarithmic else min(0.0, *found)
    scale = Scale(least, max(found) * 1.05, left, right, logarithmic)
    marks, top = legend(series, WIDTH, 20.0)
    top += 18.0 if reference else 0.0
    high = _LABEL + _LANE * len(series) + _GAP
    bottom = top + high * len(rows)
    for tick in scale.ticks():
        for place in range(len(rows)):  # below the name of a row, not through it
            marks += line(scale(tick), top + high * place + _LABEL, scale(tick), top + high * (place + 1))
        marks += text(scale(tick), bottom + 17, f"{tick:g}", colour="soft", size=12, anchor="middle")
    if reference:
        at = scale(reference[0])
        end = "end" if at > WIDTH * 0.6 else "start" if at < WIDTH * 0.2 else "middle"
        marks += line(at, top - 2, at, bottom, "ink", 1.5, "5 4") + text(
            at, top - 8, reference[1], size=12, anchor=end
        )
    told = []
    for place, (name, values) in enumerate(rows):
        y = top + high * place
        marks += line(left, y, right, y) if place else ""
        marks += text(left + 6, y + 15, name, size=12.5, halo=True)
        for number, value in enumerate(values):
            if value is not None:
                marks += mark(scale(value), y + _LABEL + _LANE * (number + 0.5), number, 4.5)
        pairs = zip(series, values, strict=True)
        told.append(
            f"{name}: " + ", ".join(f"{word} {'none' if v is None else format(v, 'g')}" for word, v in pairs)
        )
    marks += text(WIDTH / 2, bottom + 38, axis, colour="soft", size=12.5, anchor="middle")
    if reference:
        told.append(f"{reference[1]}: {reference[0]:g}")
    return Picture(WIDTH, bottom + 48, marks, title, "; ".join(told) + ".")


def curves(
    xs: Sequence[float],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    title: str,
    x_axis: str,
    y_axis: str,
    reference: tuple[float, str] | None = None,
    below: bool = False,
) -> Picture:
    """Return lines over a number, each named in the legend and marked in its own shape.

    The name of the reference stands above its line, or `below` it where a curve is just above.
    """
    width, height, left = WIDTH, 330.0, 44.0
    marks, top = legend([name for name, _ in series], width, 20.0)
    top += 26
    bottom = top + height - 110
    highest = max(value for _, values in series for value in values)
    across = Scale(min(xs), max(xs), left, width - 24, logarithmic=True)
    up = Scale(0.0, 1.08 * max(highest, reference[0] if reference else 0.0), bottom, top)
    for tick in up.ticks():
        marks += line(left, up(tick), width - 16, up(tick))
        marks += text(left - 8, up(tick) + 4, f"{tick:g}", colour="soft", size=12, anchor="end")
    for x in xs:
        marks += text(across(x), bottom + 18, f"{x:g}", colour="soft", size=12, anchor="middle")
    marks += text(left - 40, top - 10, y_axis, colour="soft", size=12)
    if reference:
        marks += line(left, up(reference[0]), width - 16, up(reference[0]), "ink", 1.5, "5 4")
        name_at = up(reference[0]) + (17 if below else -7)
        marks += text(width - 20, name_at, reference[1], size=12, anchor="end")
    for number, (_, values) in enumerate(series):
        points = " ".join(f"{across(x):.1f},{up(value):.1f}" for x, value in zip(xs, values, strict=True))
        marks += f'<polyline points="{points}" class="s{number % 5 + 1}" stroke-width="2"/>'
        marks += "".join(mark(across(x), up(value), number, 5) for x, value in zip(xs, values, strict=True))
    marks += text((left + width) / 2, bottom + 40, x_axis, colour="soft", anchor="middle")
    told = [
        f"{name}: " + ", ".join(f"{value:g} at {x:g}" for x, value in zip(xs, values, strict=True))
        for name, values in series
    ]
    return Picture(width, bottom + 50, marks, title, f"{y_axis} over {x_axis}. " + "; ".join(told) + ".")
