"""Figures 5.7 and 5.9: selected epsilons over thresholds, capacities and protocols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ldpkit.core.typing import Counts
from ldpkit.papers import Claim, Settings, Verdict
from ldpkit.papers.capri.water import CLIENTS, LARGEST, TOTAL, water
from ldpkit.planning.capacity.exact import EPSILON_MAX, exact
from ldpkit.planning.capacity.question import CapacityQuestion, Outcome

__all__ = ["AMOUNTS", "SAMPLE_CLIENTS", "SAMPLE_TOTAL", "protocol_claims", "selection_claims"]

AMOUNTS = np.arange(LARGEST + 1.0)
SAMPLE_CLIENTS, SAMPLE_TOTAL = 985, 15_620
"""The 'ten per cent' of figure 5.9: a total of 15,620 is that of one per cent."""

TP_THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
FP_THRESHOLDS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4)
TP_CAPACITIES, FP_CAPACITIES = (1.2e6, 1.3e6, 1.4e6), (1.8e6, 1.9e6, 2.0e6)
PROTOCOLS = ("grr", "sue", "oue")
PAPER_NAMES = {"grr": "GRR", "sue": "RAPPOR", "oue": "OUE"}
READING = 0.05  # a number that the text reads off a figure


def select(counts: Counts, capacity: float, threshold: float, protocol: str = "grr") -> float:
    """Return the exact epsilon for a TP or FP threshold, whichever can happen."""
    exceeds = counts @ AMOUNTS > capacity
    outcome, bound = (Outcome.TP, "at_least") if exceeds else (Outcome.FP, "at_most")
    question = CapacityQuestion(AMOUNTS, counts, capacity, outcome, **{bound: threshold})
    return exact(question, protocol).epsilon or EPSILON_MAX


def selection_claims(settings: Settings) -> Iterator[Claim]:
    """Yield what the text reads off figure 5.7, and its trends."""
    counts = water()
    extremes = _extremes()
    for threshold, printed in ((0.01, 1.2), (0.3, 0.4), (0.4, 0.2)):
        ours = select(counts, 1.8e6, threshold)
        least, most = (select(each, 1.8e6, threshold) for each in extremes)
        yield Claim(
            f"figure 5.7b: real data, cap 1.8 million, FP threshold {threshold:g}: epsilon",
            printed,
            round(ours, 4),
            0.0,
            Verdict.REPRODUCED if abs(ours - printed) <= READING else Verdict.NOT_REPRODUCED,
            f"read off a figure; whatever the shape of the data, N and TTC give {least:.2f} to {most:.2f}",
        )
    low = select(counts, 1.4e6, 0.6)
    yield _fact("figure 5.7a: TP threshold 0.6, cap 1.4 million: epsilon", "below 0.2", low, low < 0.2)
    high = select(counts, 1.4e6, 0.99)
    yield _fact("figure 5.7a: TP threshold 0.99, cap 1.4 million: epsilon", "as high as 1", high, high > 0.95)
    panels: dict[str, dict[str, tuple[Sequence[float], Sequence[float]]]] = {}
    for title, each in (("water", counts), ("uniform", np.full(LARGEST + 1, CLIENTS // (LARGEST + 1)))):
        scale = float(each @ AMOUNTS) / TOTAL
        tp = {cap: [select(each, cap * scale, t) for t in TP_THRESHOLDS] for cap in TP_CAPACITIES}
        fp = {cap: [select(each, cap * scale, t) for t in FP_THRESHOLDS] for cap in FP_CAPACITIES}
        rising = all(list(line) == sorted(line) for line in tp.values()) and _ordered(list(tp.values()))
        falling = all(list(line) == sorted(line, reverse=True) for line in fp.values())
        falling &= _ordered(list(fp.values())[::-1])
        yield _trend(f"figure 5.7 ({title}): TP, epsilon grows with threshold and cap", rising)
        yield _trend(f"figure 5.7 ({title}): FP, epsilon falls with threshold and cap", falling)
        panels[f"{title}, TP"] = {f"cap {cap * scale:,.0f}": (TP_THRESHOLDS, tp[cap]) for cap in tp}
        panels[f"{title}, FP"] = {f"cap {cap * scale:,.0f}": (FP_THRESHOLDS, fp[cap]) for cap in fp}
    if settings.folder is not None:
        from ldpkit.figures.canvas import save_figure
        from ldpkit.figures.capacity import lines_figure

        save_figure(lines_figure(panels, "threshold", "selected epsilon"), settings.folder / "figure-5.7.png")


def protocol_claims(settings: Settings) -> Iterator[Claim]:
    """Yield which protocol needs the least epsilon in figure 5.9."""
    counts = water(SAMPLE_CLIENTS, SAMPLE_TOTAL)
    note = f"{SAMPLE_CLIENTS} clients with TTC {SAMPLE_TOTAL:,}: one per cent of the data, not ten"
    for threshold, best in ((0.6, "oue"), (0.8, "grr")):
        chosen = {name: select(counts, 13_000, threshold, name) for name in (*PROTOCOLS, "ss")}
        ours = min(PROTOCOLS, key=lambda name: chosen[name])
        shown = ", ".join(f"{PAPER_NAMES.get(name, name.upper())} {chosen[name]:.3f}" for name in chosen)
        yield Claim(
            f"figure 5.9a: cap 13,000, TP threshold {threshold:g}: protocol with the least epsilon",
            PAPER_NAMES[best],
            PAPER_NAMES[ours],
            None,
            Verdict.REPRODUCED if ours == best else Verdict.NOT_REPRODUCED,
            f"{shown}; {note}",
        )
    panels = {}
    highest, cells = 0, 0
    scenes = {
        "a: TP, cap 13,000": [(t, 13_000.0, t) for t in TP_THRESHOLDS],
        "b: FP, cap 18,000": [(t, 18_000.0, t) for t in FP_THRESHOLDS],
        "c: TP at least 0.8": [(cap, cap, 0.8) for cap in np.arange(7_000.0, 15_001.0, 2_000.0)],
        "d: FP at most 0.1": [(cap, cap, 0.1) for cap in np.arange(18_000.0, 26_001.0, 2_000.0)],
    }
    for title, points in scenes.items():
        across = [x for x, _, _ in points]
        up = {name: [select(counts, cap, t, name) for _, cap, t in points] for name in PROTOCOLS}
        panels[title] = {PAPER_NAMES[name]: (across, up[name]) for name in PROTOCOLS}
        for values in zip(*up.values(), strict=True):
            cells += 1
            highest += values[1] == max(values)
    yield Claim(
        "figure 5.9: RAPPOR needs the highest epsilon",
        "usually",
        f"in {highest} of {cells} points",
        None,
        Verdict.REPRODUCED if 2 * highest > cells else Verdict.NOT_REPRODUCED,
        note,
    )
    if settings.folder is not None:
        from ldpkit.figures.canvas import save_figure
        from ldpkit.figures.capacity import lines_figure

        save_figure(
            lines_figure(panels, ("threshold", "threshold", "capacity", "capacity"), "selected epsilon"),
            settings.folder / "figure-5.9.png",
        )


def _extremes() -> tuple[Counts, Counts]:
    """Return the populations with the water's clients and total that vary least and most."""
    even = np.zeros(LARGEST + 1, np.int64)
    below, above = divmod(TOTAL, CLIENTS)
    even[below], even[below + 1] = CLIENTS - above, above
    split = np.zeros(LARGEST + 1, np.int64)
    full, rest = divmod(TOTAL, LARGEST)
    split[LARGEST], split[0] = full, CLIENTS - full - 1
    split[rest] += 1
    return even, split


def _ordered(lines: Sequence[Sequence[float]]) -> bool:
    """Return whether each line lies nowhere above the next."""
    return all(a <= b for low, high in pairwise(lines) for a, b in zip(low, high, strict=True))


def _fact(claim: str, published: str, ours: float, holds: bool) -> Claim:
    verdict = Verdict.REPRODUCED if holds else Verdict.NOT_REPRODUCED
    return Claim(
        claim, published, round(ours, 4), 0.0, verdict, "stand-in data; the figure's caps are not named"
    )


def _trend(claim: str, holds: bool) -> Claim:
    verdict = Verdict.REPRODUCED if holds else Verdict.NOT_REPRODUCED
    return Claim(claim, "yes", "yes" if holds else "no", None, verdict, "by the exact method")
