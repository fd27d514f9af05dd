"""Figures 6.8 and 6.10 and table 6.2: rounding to points, range queries, hotspots, and time."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ldpkit.core.random import RandomSource, seeded
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.spatial.clusters import nearest
from ldpkit.papers import Claim, Settings, Verdict, compare
from ldpkit.papers.tracs.data import EPSILONS, City, load_city, no_data, random_walks
from ldpkit.papers.tracs.runs import chained, mean_and_error, thesis_c, thesis_d
from ldpkit.simulation.metrics.trajectories import (
    coded_hotspot_difference,
    hotspot_difference,
    hotspots_of,
    range_query,
    trajectory_errors,
)

__all__ = ["discrete_claims"]

_RADIUS = 0.1


def discrete_claims(settings: Settings) -> Iterator[Claim]:
    """Yield what rounding costs, range queries and hotspots of Chicago, and times."""
    source = seeded(settings.seed).derive("tracs discrete")
    yield from _synthetic(settings, source)
    city = load_city("chi")
    if city is None:
        yield no_data("figure 6.10, CHI")
    else:
        yield from _other_metrics(settings, city, source)
    yield from _times(source)


def _synthetic(settings: Settings, source: RandomSource) -> Iterator[Claim]:
    """Yield the errors of both TraCS rounded to m points; those of ATP, NGram and L-SRR are not here."""
    count = 100 if settings.quick else 1_000
    for side in (10, 60):
        errors: dict[str, list[float]] = {"TraCS-C": [], "TraCS-D": []}
        for epsilon in EPSILONS:
            drawn = random_walks(source, count)
            walks = drawn.with_points((np.floor(drawn.points * side) + 0.5) / side)
            mechanism = thesis_c(epsilon)
            for label, answers in (
                ("TraCS-C", mechanism.points_of(mechanism.privatize(walks.points, rng=source))),
                ("TraCS-D", chained(thesis_d(epsilon), walks, source, corner=True)),
            ):
                rounded = (np.minimum(np.floor(answers * side), side - 1) + 0.5) / side
                errors[label].append(float(trajectory_errors(walks, rounded).mean()))
        below = all(one <= two for one, two in zip(errors["TraCS-C"], errors["TraCS-D"], strict=True))
        yield Claim(
            f"figure 6.8, m = {side} x {side}: TraCS-C has less error than TraCS-D at every eps",
            "less",
            "; ".join(f"{label} " + ", ".join(f"{e:.4f}" for e in each) for label, each in errors.items()),
            None,
            Verdict.REPRODUCED if below else Verdict.NOT_REPRODUCED,
            "eps 2 to 10, rounded in O(1)",
        )


def _other_metrics(settings: Settings, city: City, source: RandomSource) -> Iterator[Claim]:
    repeats = 3 if settings.quick else 20
    walks = city.paper.with_points(city.in_degrees(city.paper.points))
    places = city.in_degrees(city.places)
    find = nearest(places)
    hot = hotspots_of(walks.points)
    found: dict[str, list[tuple[float, float, float]]] = {"TraCS-D": [], "TraCS-C": []}
    for epsilon in EPSILONS:
        for label in found:
            runs = []
            for _ in range(repeats):
                if label == "TraCS-C":
                    mechanism = thesis_c(epsilon)
                    unit: Floats = mechanism.points_of(mechanism.privatize(city.paper.points, rng=source))
                else:
                    unit = chained(thesis_d(epsilon), city.paper, source, corner=True)
                answers = places[find(city.in_degrees(unit))]
                runs.append(
                    (
                        float(range_query(walks, answers, _RADIUS).mean()),
                        float(hotspot_difference(walks, answers, hot).mean()),
                        float(coded_hotspot_difference(walks, answers, hot).mean()),
                    )
                )
            found[label].append(tuple(np.mean(runs, axis=0).tolist()))
    for label, said in (("TraCS-D", 58.6), ("TraCS-C", 68.4)):
        mean = 100 * float(np.mean([each[0] for each in found[label]]))
        yield Claim(
            f"figure 6.10, CHI: mean share of reports of {label} within 0.1 degrees",
            f"{said}%",
            f"{mean:.1f}%",
            None,
            Verdict.REPRODUCED if compare(said, mean, 0, rounding=2.0) else Verdict.NOT_REPRODUCED,
            f"eps 2 to 10, {repeats} runs",
        )
    for label in found:
        formula, coded = (float(np.mean([each[place] for each in found[label]])) for place in (1, 2))
        yield Claim(
            f"figure 6.10, CHI: mean hotspot difference of {label}",
            4.1,
            round(coded, 2),
            None,
            Verdict.REPRODUCED if compare(4.1, coded, 0, rounding=0.3) else Verdict.NOT_REPRODUCED,
            f"as coded, the difference of two counts; by the formula of the text {formula:.2f}",
        )


def _times(source: RandomSource) -> Iterator[Claim]:
    """Yield the time of one report beside table 6.2, measured here and now."""
    points = source.generator().random((200_000, 2))
    for label, printed, mechanism in (("TraCS-D", 0.06, thesis_d(4.0)), ("TraCS-C", 0.05, thesis_c(4.0))):
        mechanism.privatize(points[:1000])
        runs = []
        for _ in range(3):
            start = time.perf_counter()
            mechanism.points_of(mechanism.privatize(points))
            runs.append((time.perf_counter() - start) / len(points) * 1e3)
        mean, stderr = mean_and_error(np.array(runs))
        yield Claim(
            f"table 6.2: milliseconds for one location, {label}",
            printed,
            round(mean, 7),
            round(stderr, 7),
            Verdict.REPRODUCED if mean <= printed else Verdict.NOT_REPRODUCED,
            "whole arrays with secure randomness; the thesis loops in Python",
        )
