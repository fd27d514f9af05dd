"""Figures 5.16 and 5.17: distributions and means of MotionSense, raw as in the thesis and estimated."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ldpkit.core.random import RandomSource, seeded
from ldpkit.papers import Claim, Settings, Verdict
from ldpkit.papers.ogpm.curves import Lines, draw_curves
from ldpkit.papers.ogpm.distances import OTHERS, percent
from ldpkit.papers.ogpm.sensors import Column, Raw, draw_histograms, load_columns, raw, smoothed

__all__ = ["motion_claims"]

EPSILONS = tuple(float(each) for each in np.arange(1, 8.01, 0.5))
_NO_GRID = 1.0  # points by which an average over another grid of epsilon may differ


def motion_claims(settings: Settings) -> Iterator[Claim]:
    """Yield the percentages of section 5.6.2 and what an estimator makes of the same budget."""
    columns = load_columns()
    if columns is None:
        yield Claim(
            "figures 5.16 and 5.17, MotionSense",
            None,
            None,
            None,
            Verdict.NO_DATA,
            "needs motionsense_roll: see 'ldpkit datasets list'",
        )
        return
    source = seeded(settings.seed).derive("ogpm motionsense")
    runs = 20 if settings.quick else 500
    printed = {
        "acceleration": ({"PM-C": 93.5, "SW-C": 86.7}, {"PM-C": 66.2, "SW-C": 55.4}),
        "roll": ({"PM-C": 72.2, "SW-C": 84.0}, {"PM-C": 2.3, "SW-C": 3.6}),
    }
    found: dict[str, dict[str, list[Raw]]] = {}
    for column in columns:
        ours = "circular_ogpm" if column.around else "ogpm"
        names = {"OGPM": ours, **OTHERS} | ({} if column.around else {"OGPM-U": "ogpm_unbiased", "PM": "pm"})
        found[column.name] = {
            label: [raw(column, name, epsilon, runs, source) for epsilon in EPSILONS]
            for label, name in names.items()
        }
        yield from _percentages(column, found[column.name], *printed[column.name], runs)
    yield from _means(found)
    yield from _smooth(settings, columns, found, source)


def _percentages(
    column: Column,
    found: dict[str, list[Raw]],
    histograms: dict[str, float],
    means: dict[str, float],
    runs: int,
) -> Iterator[Claim]:
    def ratio(label: str, what: str) -> tuple[float, float]:
        """Return the mean of OGPM's over the mean of another's, and its standard error."""
        means, errors = [], []
        for each in (found["OGPM"], found[label]):
            means.append(float(np.mean([getattr(one, what) for one in each])))
            spread = [getattr(one, f"{what}_stderr", 0.0) for one in each]
            errors.append(float(np.linalg.norm(spread)) / len(each) / means[-1])
        return means[0] / means[1], means[0] / means[1] * math.hypot(*errors)

    grid = (
        f"eps from {EPSILONS[0]:g} to {EPSILONS[-1]:g} in steps of 1/2, {runs} runs; the thesis has no grid"
    )
    for label, said in histograms.items():
        histogram, stderr = ratio(label, "l1")
        lone = [one.l1 / other.l1 for one, other in zip(found["OGPM"], found[label], strict=True)]
        yield percent(
            f"figure 5.16, {column.name}: L1 distance of OGPM's raw histogram over {label}'s",
            said,
            histogram,
            f"{grid}; between {min(lone):.1%} and {max(lone):.1%} at single eps",
            stderr=stderr,
            within=_NO_GRID,
        )
    if column.around:
        around, flat = ({label: ratio(label, what)[0] for label in histograms} for what in ("emd", "l1"))
        yield Claim(
            f"5.6.2, {column.name}: with a distance made for circles OGPM's histogram may do even better",
            "even better",
            ", ".join(f"{value:.1%} of {label}" for label, value in around.items()),
            None,
            Verdict.REPRODUCED if all(around[each] < flat[each] for each in flat) else Verdict.NOT_REPRODUCED,
            f"earth mover's distance round the circle, {grid}; by L1 "
            + ", ".join(f"{value:.1%} of {label}" for label, value in flat.items()),
        )
    for label, said in means.items():
        errors, stderr = ratio(label, "error")
        biases, _ = ratio(label, "bias")
        yield percent(
            f"figure 5.17, {column.name}: error of OGPM's raw mean over {label}'s",
            said,
            errors,
            f"{grid}; ratio of |bias|: {biases:.2%}",
            stderr=stderr,
            within=_NO_GRID,
        )


def _means(found: dict[str, dict[str, list[Raw]]]) -> Iterator[Claim]:
    line = found["acceleration"]
    first = {label: each[0] for label, each in line.items()}
    part = first["OGPM"].bias / first["OGPM"].error
    yield Claim(
        "figure 5.17, acceleration, eps=1: |bias| as a part of the error of OGPM's raw mean",
        "an error",
        f"{part:.1%}",
        None,
        Verdict.CORRECTED if part > 0.9 else Verdict.REPRODUCED,
        "the figure is about bias, which no number of people lowers; figure-5.17.png shows both",
    )
    yield Claim(
        "figure 5.17, acceleration, eps=1: OGPM-U has a far smaller error than OGPM",
        "significantly lower",
        f"{first['OGPM-U'].error:.4f} against {first['OGPM'].error:.4f}",
        None,
        Verdict.REPRODUCED if first["OGPM-U"].error < first["OGPM"].error / 2 else Verdict.NOT_REPRODUCED,
        f"and PM, unbiased too, {first['PM'].error:.4f}: smaller again by "
        f"{first['OGPM-U'].error / first['PM'].error:.2f} times",
    )
    lowest = all(
        ours.error <= min(other.error for other in others)
        for ours, *others in zip(line["OGPM"], line["PM-C"], line["SW-C"], line["PM"], strict=True)
    )
    gain = [ours.error / pm.error for ours, pm in zip(line["OGPM"], line["PM"], strict=True)]
    yield Claim(
        "figure 5.17, acceleration: OGPM's mean has the lowest error; over PM's own unbiased mean",
        "below 1",
        f"{min(gain):.1f} to {max(gain):.1f}",
        None,
        Verdict.REPRODUCED if lowest else Verdict.CORRECTED,
        "PM-C's mean is PM's, compressed: the collector decompresses it, and has PM's error",
    )


def _smooth(
    settings: Settings,
    columns: tuple[Column, Column],
    found: dict[str, dict[str, list[Raw]]],
    source: RandomSource,
) -> Iterator[Claim]:
    few, many = (3, 5) if settings.quick else (25, 100)
    panels: dict[str, Lines] = {}
    means: dict[str, Lines] = {}
    for column in columns:
        name = "circular_sw" if column.around else "sw"
        shown = EPSILONS[::2]
        ems = [smoothed(column, name, each, few if each > 1 else many, source) for each in shown]
        raw_l1 = found[column.name]["OGPM"][0]
        yield Claim(
            f"figure 5.16, {column.name}, eps=1: OGPM has the least L1 distance; {name} with EMS",
            "OGPM",
            round(ems[0][0], 3),
            round(ems[0][1], 3),
            Verdict.CORRECTED if ems[0][0] < raw_l1.l1 / 2 else Verdict.REPRODUCED,
            f"raw histogram of OGPM: {raw_l1.l1:.3f}; the thesis takes reports for values",
        )
        budgets = np.array(EPSILONS)
        panels[f"{column.name}: L1 distance of 50 bins"] = {
            **{
                f"{label}, raw": (budgets, np.array([each.l1 for each in found[column.name][label]]))
                for label in ("OGPM", *OTHERS)
            },
            f"{name} with EMS": (np.array(shown), np.array([each[0] for each in ems])),
        }
        lines = means[f"{column.name}: mean"] = {}
        for label in found[column.name]:
            entries = found[column.name][label]
            lines[f"{label}, error"] = (budgets, np.array([each.error for each in entries]))
            if label in ("OGPM", *OTHERS):
                lines[f"{label}, |bias|"] = (budgets, np.array([each.bias for each in entries]))
    draw_histograms(settings, columns, source)
    draw_curves(settings, "figure-5.16.png", panels, along="epsilon", across="L1 distance", log=True)
    draw_curves(settings, "figure-5.17.png", means, along="epsilon", across="of the raw mean", log=True)
