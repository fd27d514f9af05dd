"""The figure that one can move: how exact an answer is for an epsilon, a number of people and of values.

All numbers are computed here and travel with the page. docs/javascripts/tradeoff.js moves the figure; without
scripts the page has the same figure for one case, and a table.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from math import log10, sqrt

from drawing import Picture, Scale, line, text

EPSILONS = [
    *(float(f"{0.1 * 10 ** (place / 20):.2g}") for place in range(38)),
    8.0,
]  # exactly as they are shown
SIZES = [2, 4, 10, 30, 100, 300, 1000]
PEOPLE = [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 400.0, 290.0, 60.0, 384.0, 30.0, 236.0
LEAST, MOST = 0.0001, 1.0


@dataclass(frozen=True, slots=True)
class Best:
    """The best oracle for a case, and half of a 95% interval if one person answered."""

    oracle: str
    half: float


@cache
def best(epsilon: float, size: int) -> Best:
    """Return the frequency oracle with the least variance for a value as common as the others."""
    import ldpkit

    oracles = (ldpkit.GRR, ldpkit.SS, ldpkit.OUE, ldpkit.OLH)
    made = [oracle(size, epsilon=epsilon) for oracle in oracles]
    variance, name = min((float(each.variance(1 / size, 1)), each.name) for each in made)
    return Best(name, 1.959964 * sqrt(variance))


def numbers() -> str:
    """Return what the script needs, as JSON."""
    found = {size: [best(epsilon, size) for epsilon in EPSILONS] for size in SIZES}
    return json.dumps(
        {
            "epsilons": EPSILONS,
            "sizes": SIZES,
            "people": PEOPLE,
            "half": {size: [float(f"{each.half:.5g}") for each in row] for size, row in found.items()},
            "oracle": {size: [each.oracle for each in row] for size, row in found.items()},
            "sure": [[_sure(prior, epsilon) for prior in (0.5, 0.01)] for epsilon in EPSILONS],
            "box": {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM, "least": LEAST, "most": MOST},
        },
        separators=(",", ":"),
    )


def _sure(prior: float, epsilon: float) -> str:
    """Return how sure anybody can become, rounded up, as `ldpkit risk` prints it."""
    from ldpkit.assurance.adversary.words import suspicion
    from ldpkit.core.numbertext import percent_text

    return percent_text(suspicion(prior, epsilon), up=True)


def picture(size: int = 10, people: int = 10_000, epsilon: float = 1.0) -> Picture:
    """Return the figure for one case; the script moves its curve and its point."""
    across = Scale(log10(EPSILONS[0]), log10(EPSILONS[-1]), LEFT, RIGHT)
    up = Scale(log10(LEAST), log10(MOST), BOTTOM, TOP)
    marks = ""
    for tick in (0.1, 0.2, 0.5, 1, 2, 4, 8):
        x = across(log10(tick))
        marks += line(x, TOP, x, BOTTOM) + text(
            x, BOTTOM + 18, f"{tick:g}", colour="soft", size=12, anchor="middle"
        )
    for tick, name in ((1, "±100%"), (0.1, "±10%"), (0.01, "±1%"), (0.001, "±0.1%"), (0.0001, "±0.01%")):
        y = up(log10(tick))
        marks += line(LEFT, y, RIGHT, y) + text(LEFT - 8, y + 4, name, colour="soft", size=12, anchor="end")
    points = []
    for each in EPSILONS:
        half = min(max(best(each, size).half / sqrt(people), LEAST), MOST)
        points.append(f"{across(log10(each)):.1f},{up(log10(half)):.1f}")
    at = EPSILONS.index(epsilon)
    place, height = points[at].split(",")
    marks += f'<polyline class="s1" id="tradeoff-curve" points="{" ".join(points)}" stroke-width="2.5"/>'
    marks += f'<circle class="f2" id="tradeoff-point" cx="{place}" cy="{height}" r="8"/>'
    marks += text(4, 16, "half of a 95% interval, for the share of one value", colour="soft", size=12)
    marks += text((LEFT + RIGHT) / 2, BOTTOM + 42, "epsilon", colour="soft", anchor="middle")
    half = best(epsilon, size).half / sqrt(people)
    words = (
        f"The half-width of a 95% interval falls as epsilon grows. With {people:,} people and {size} values "
        f"it is {half:.2%} at epsilon {epsilon:g}. The table below has other cases."
    )
    return Picture(WIDTH, HEIGHT, marks, "Error against epsilon", words)


def table(size: int = 10) -> str:
    """Return the static table, as Markdown."""
    people = [1_000, 10_000, 100_000, 1_000_000]
    rows = [
        "| epsilon | a suspicion of 50% grows to at most | "
        + " | ".join(f"{n:,} people" for n in people)
        + " |",
        "| --- | --- |" + " --- |" * len(people),
    ]
    for epsilon in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0):
        halves = " | ".join(_error(best(epsilon, size).half / sqrt(n)) for n in people)
        rows.append(f"| {epsilon:g} | {_sure(0.5, epsilon)} | {halves} |")
    return "\n".join(rows)


def _error(half: float) -> str:
    """Return a half-width with two or three digits, whatever its size."""
    return f"±{half:.1%}" if half >= 0.01 else f"±{half:.2%}" if half >= 0.001 else f"±{half:.3%}"


def _slider(name: str, label: str, least: int, most: int, start: int, shown: str) -> str:
    return (
        f'<div class="slider"><label for="tradeoff-{name}">{label}</label>'
        f'<input type="range" id="tradeoff-{name}" min="{least}" max="{most}" value="{start}" step="1" '
        f'aria-valuetext="{shown}">'
        f'<output for="tradeoff-{name}" id="tradeoff-{name}-shown">{shown}</output></div>'
    )


def html() -> str:
    """Return the figure with its controls; they are hidden until the script runs."""
    size, people, epsilon = 10, 10_000, 1.0
    half = best(epsilon, size).half / sqrt(people)
    said = (
        f"With epsilon {epsilon:g}, {people:,} people and {size} values, a share is known to ±{half:.2%} "
        f"({best(epsilon, size).oracle}). Whatever a report says, a suspicion of 50% grows to at most "
        f"{_sure(0.5, epsilon)}, and one of 1% to at most {_sure(0.01, epsilon)}."
    )
    sliders = (
        _slider("epsilon", "epsilon", 0, len(EPSILONS) - 1, EPSILONS.index(epsilon), "1")
        + _slider("people", "people", 0, len(PEOPLE) - 1, PEOPLE.index(people), f"{people:,}")
        + _slider("size", "values", 0, len(SIZES) - 1, SIZES.index(size), str(size))
    )
    return (
        f'<div class="tradeoff" id="tradeoff">{picture().inline("tradeoff-figure")}'
        f'<div class="sliders" id="tradeoff-sliders" hidden>{sliders}</div>'
        f'<p id="tradeoff-said" aria-live="polite">{said}</p>'
        f'<script type="application/json" id="tradeoff-numbers">{numbers()}</script></div>'
    )
