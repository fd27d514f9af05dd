"""The picture of the home page and the README: a question, noisy reports, an estimate against the truth.

It is drawn from a simulated run with a fixed seed, in three panels. The site has them side by side, one above
the other on a phone; the README has one file, docs/picture.svg, which script/pictures writes and a test
compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from drawing import Picture, Scale, line, mark, text

MODES = ["walk", "bike", "bus", "car"]
SHARES = [0.10, 0.20, 0.30, 0.40]
PEOPLE = 10_000
SHOWN = 7
WIDTH, HEIGHT = 300.0, 300.0


@dataclass(frozen=True, slots=True)
class Run:
    """What a collection asked, got and found."""

    answers: list[str]
    bits: list[list[bool]]
    values: list[float]
    low: list[float]
    high: list[float]


@cache
def run() -> Run:
    """Carry the collection out: 10,000 people, optimised unary encoding, epsilon 1, seed 4."""
    import numpy as np

    import ldpkit

    people = np.repeat(MODES, [round(share * PEOPLE) for share in SHARES])
    people = np.random.default_rng(4).permutation(people)
    oracle = ldpkit.OUE(MODES, epsilon=1.0)
    reports = oracle.privatize(people, rng=ldpkit.random.seeded(4))
    estimate = oracle.tally(reports).estimate()
    low, high = estimate.interval(0.95)
    bits = np.unpackbits(reports[:SHOWN], axis=1, bitorder="little")[:, : len(MODES)]
    return Run(
        [str(answer) for answer in people[:SHOWN]],
        [[bool(bit) for bit in row] for row in bits],
        [float(value) for value in estimate.values],
        [float(value) for value in low],
        [float(value) for value in high],
    )


def _heading(number: int, first: str, second: str) -> str:
    return (
        '<circle cx="24" cy="26" r="13" class="f1"/>'
        + text(24, 31, str(number), colour="paper", bold=True, anchor="middle")
        + text(46, 24, first, bold=True, size=15)
        + text(46, 42, second, colour="soft", size=12.5)
    )


def _asked() -> str:
    marks = _heading(1, "Ask everybody", "the answer stays on the device")
    for place, answer in enumerate(run().answers):
        y = 86 + 28.5 * place
        marks += f'<circle cx="40" cy="{y - 9}" r="5" class="fsoft"/>'
        marks += f'<path d="M30 {y + 7}a10 11 0 0 1 20 0z" class="fsoft"/>'
        marks += text(
            66, y + 3, f"“I take the {answer}”" if answer in ("bus", "car") else f"“I {answer}”", size=14
        )
    return marks + text(40, 288, f"… {PEOPLE - SHOWN:,} more", colour="soft", size=12.5)


def _reported() -> str:
    marks = _heading(2, "Devices send noisy reports", "boxes ticked at random, epsilon 1")
    columns = [90 + 50 * place for place in range(len(MODES))]
    marks += "".join(
        text(x, 64, mode, colour="soft", size=12.5, anchor="middle")
        for x, mode in zip(columns, MODES, strict=True)
    )
    for place, bits in enumerate(run().bits):
        y = 86 + 28.5 * place
        for x, ticked in zip(columns, bits, strict=True):
            corner = f'x="{x - 9}" y="{y - 9}"'
            marks += f'<rect {corner} width="18" height="18" rx="3" class="ssoft" stroke-width="1.2"/>'
            if ticked:
                marks += f'<path d="M{x - 5} {y}l4 5l7 -10" class="s2" stroke-width="3"/>'
    return marks + text(66, 288, "No report is proof of an answer", colour="soft", size=12.5)


def _estimated() -> str:
    found = run()
    marks = _heading(3, "Learn the shares", "95% intervals beside the truth")
    up = Scale(0.0, 0.5, 232, 76)
    for tick in up.ticks():
        marks += line(46, up(tick), 290, up(tick)) + text(
            40, up(tick) + 4, f"{tick:.0%}", colour="soft", size=12, anchor="end"
        )
    for place, mode in enumerate(MODES):
        x = 78 + 58 * place
        marks += line(x - 9, up(found.low[place]), x - 9, up(found.high[place]), "1", 2.5)
        for end in (found.low[place], found.high[place]):
            marks += line(x - 15, up(end), x - 3, up(end), "1", 2.5)
        marks += mark(x - 9, up(found.values[place]), 0, 5.5) + mark(x + 10, up(SHARES[place]), 3, 5)
        marks += text(x, 252, mode, anchor="middle")
    marks += mark(64, 280, 0, 5) + text(75, 284, "estimate", size=12.5)
    return marks + mark(162, 280, 3, 5) + text(173, 284, "truth", size=12.5)


def words() -> str:
    """Return what the picture shows, with its numbers."""
    found = run()
    shares = "; ".join(
        f"{mode} {value:.1%} [{low:.1%}, {high:.1%}], truth {share:.0%}"
        for mode, value, low, high, share in zip(
            MODES, found.values, found.low, found.high, SHARES, strict=True
        )
    )
    return (
        f"{PEOPLE:,} people are asked how they travel to work. Every device sends a report of four boxes "
        f"that are ticked at random with epsilon 1. From the reports the collector estimates: {shares}."
    )


def panels() -> list[Picture]:
    """Return the three panels."""
    titles = ["The question", "The reports", "The estimate"]
    told = ["People's answers stay on their devices.", "A few of the noisy reports.", words()]
    drawn = [_asked(), _reported(), _estimated()]
    return [
        Picture(WIDTH, HEIGHT, marks, title, said)
        for marks, title, said in zip(drawn, titles, told, strict=True)
    ]


def whole() -> Picture:
    """Return the panels side by side."""
    marks = "".join(
        f'<g transform="translate({place * WIDTH:g} 0)">{panel.marks}</g>'
        for place, panel in enumerate(panels())
    )
    return Picture(3 * WIDTH, HEIGHT, marks, "From a question to an estimate with error bars", words())
