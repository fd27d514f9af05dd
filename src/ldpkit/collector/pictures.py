"""The pictures of a collection's page: bars, a line and a map, each with a scale; HTML and SVG, no script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ldpkit.core.numbertext import number_text, percent_text
from ldpkit.core.text import as_html

__all__ = ["STYLE", "bars", "line", "map_of_cells"]

_TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""Where an axis of shares may end."""

STYLE = """
svg{width:100%;height:auto;display:block}
.bars{display:grid;grid-template-columns:fit-content(40%) 1fr;gap:.3rem .6rem;align-items:center;
margin:.8rem 0 1.2rem;padding-right:2px}
.bars span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;text-align:right;font-size:.9rem}
.bars .scale{display:flex;justify-content:space-between;border-top:1px solid var(--line)}
.line{grid-template-columns:auto 1fr auto}.dot{stroke:var(--bar);stroke-width:11;stroke-linecap:round}
.bars svg{height:18px;overflow:visible}.bars rect{fill:var(--bar);fill-opacity:.55}
.bars .pale{fill-opacity:.15;stroke:var(--bar);stroke-dasharray:3 2}
.map{max-width:24rem;border:1px solid var(--line)}
"""


def bars(rows: Sequence[tuple[str, float, float, float]]) -> str:
    """Return bars with error bars: name, share and the ends of its interval.

    What is below zero is drawn at zero, the table has it. A bar whose interval reaches zero is pale: perhaps
    nobody is there.
    """
    top = next(each for each in _TOPS if each >= min(max([0.0, *(high for *_, high in rows)]), 1.0))
    parts = []
    for name, value, low, high in rows:
        at, start, end = (100 * min(max(each, 0.0), top) / top for each in (value, low, high))
        pale = ' class="pale"' if low <= 0 else ""
        bar = f'<rect width="{at:.2f}" height="18" vector-effect="non-scaling-stroke"{pale}/>'
        parts.append(f'<span title="{as_html(name)}">{as_html(name)}</span>{_strip(bar, start, end)}')
    marks = "".join(f"<span>{percent_text(each)}</span>" for each in (0.0, top / 2, top))
    parts.append(f'<span></span><div class="scale">{marks}</div>')
    spoken = "; ".join(f"{name} {100 * value:.1f}%" for name, value, *_ in rows)
    drawn = f'<div class="bars" role="img" aria-label="Estimates, 95% intervals: {as_html(spoken)}">'
    unsure = any(low <= 0 for _, _, low, _ in rows)
    note = "<p>Pale bars: the interval reaches 0, so perhaps nobody gave this answer.</p>" if unsure else ""
    return f"{drawn}{''.join(parts)}</div>{note}"


def line(what: str, value: float, ends: tuple[float, float] | None, low: float, high: float) -> str:
    """Return where a number lies between the least and the greatest answer, with its interval.

    Parameters
    ----------
    what : str
        What the number is.
    value : float
        The number.
    ends : tuple of float, optional
        Of its interval; it goes over the end of a turn where the first is above the second.
    low, high : float
        The least and the greatest answer.
    """
    at, *reach = (
        100 * min(max((each - low) / (high - low), 0.0), 1.0) for each in (value, *(ends or (low, high)))
    )
    rule = '<path d="M0 9H100" stroke="var(--line)" vector-effect="non-scaling-stroke"/>'
    dot = f'<path d="M{at:.2f} 9h.01" class="dot" vector-effect="non-scaling-stroke"/>'
    first, last = number_text(low), number_text(high)
    spoken = f"{what.capitalize()} {number_text(value)} between {first} and {last}"
    return (
        f'<div class="bars line" role="img" aria-label="{as_html(spoken)}"><span>{first}</span>'
        f"{_strip(rule + dot, reach[0], reach[1])}<span>{last}</span></div>"
    )


def map_of_cells(estimate: Any) -> str:
    """Return the cells as a picture, the fuller, the stronger, and below it what it shows."""
    columns, rows = estimate.grid.columns, estimate.grid.rows
    most = float(estimate.masses.max())
    shares = estimate.masses / max(most, 1e-12)
    squares = [
        f'<rect x="{cell // rows}" y="{rows - 1 - cell % rows}" width="1.02" height="1.02" fill="var(--bar)" '
        f'fill-opacity="{share:.2f}"/>'
        for cell, share in enumerate(shares.tolist())
        if share >= 0.01
    ]
    corners = estimate.grid.domain.locations(estimate.grid.outlines().reshape(-1, 2))
    (west, south), (east, north) = corners.min(axis=0), corners.max(axis=0)
    across, up = (
        f"{number_text(each)} to {number_text(end)}" for each, end in ((west, east), (south, north))
    )
    drawn = (
        f'<svg class="map" viewBox="0 0 {columns} {rows}" role="img" '
        f'aria-label="Map of estimates; the table has the fullest cells">{"".join(squares)}</svg>'
    )
    told = f"From left to right {across}, from bottom to top {up}. The fuller a cell, the stronger its colour"
    return f"{drawn}<p>{told}; the fullest has {percent_text(most)}.</p>"


def _strip(inside: str, start: float, end: float) -> str:
    """Return a picture as wide as there is room, with an error bar from one hundredth of it on to another."""
    way = f"M{start:.2f} 9H{end:.2f}" if start <= end else f"M{start:.2f} 9H100M0 9H{end:.2f}"
    path = f"{way}M{start:.2f} 4v10M{end:.2f} 4v10"
    return (
        f'<svg viewBox="0 0 100 18" preserveAspectRatio="none">{inside}<path d="{path}" stroke="var(--text)" '
        'stroke-width="1.6" vector-effect="non-scaling-stroke" fill="none"/></svg>'
    )
