"""The coverage of surveys in which chance decides who answers what: the truth is that of all people."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from coverage_cells import LEVEL, Cell, Row, holders, row_of, wald_ends
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.grr import GRR
from ldpkit.mechanisms.kinds import is_frequency
from ldpkit.mechanisms.lookup import get
from ldpkit.mechanisms.tally import Tally
from ldpkit.protocols.survey import Survey

__all__ = ["SURVEYS"]

_MOST_RUNS = 200  # each has a law of its own: as many people answer as chance will have it
_ANGLES = np.array([340.0, 0.0, 30.0])


@lru_cache(maxsize=8)
def _survey(name: str, epsilon: float, k: int | None) -> Survey:
    """Return a survey of two questions, of which a person answers one."""
    first: Mechanism = get(name, 360 if k is None else k, epsilon=epsilon)
    return Survey({"first": first, "second": GRR(2, epsilon=epsilon)}, ask=1)


def _measured(cell: Cell, runs: int, wald: bool) -> list[Row]:
    survey, rng = _survey(cell.mechanism, cell.epsilon, cell.k), cell.rng
    mechanism, generator = survey.questions["first"], rng.generator()
    second = survey.questions["second"]
    people = _people(cell)
    truth, ends = 0.0, list[Any]()
    for _ in range(min(runs, _MOST_RUNS)):
        count = min(max(int(generator.binomial(cell.n, 0.5)), 1), cell.n - 1)
        chosen = generator.multivariate_hypergeometric(people, count, method="marginals")
        other = Tally(second, cell.n - count, np.array([cell.n - count, 0]))
        if is_frequency(mechanism):
            truth = people[0] / cell.n
            tally = Tally(mechanism, count, mechanism.simulate(chosen, rng=rng)[0])
            found = survey.estimate({"first": tally, "second": other}, people=cell.n)["first"]
            pair = (
                wald_ends(found.values, found.stderr)[0]
                if wald
                else [each[0] for each in found.interval(LEVEL)]
            )
            ends.append(pair)
            continue
        reports = mechanism.privatize(np.repeat(_ANGLES, chosen), rng=rng)
        found = survey.estimate({"first": mechanism.tally(reports), "second": other}, people=cell.n)["first"]
        domain = found.domain
        middle = domain.from_radians(float(np.angle(people @ np.exp(1j * domain.radians(_ANGLES)))))
        reach = 1.959964 * found.stderr
        away = float(domain.difference(found.direction, middle))
        held = abs(away) <= reach if wald else middle in found.interval(LEVEL)
        ends.append((-1.0, 1.0) if held else (1.0, 2.0))
    return [row_of(cell, "survey", truth, ends)]


def _people(cell: Cell) -> Any:
    """Return how many of all people hold each value: the one in question first, or angles around the end."""
    if cell.k is None:
        return np.array([cell.n - 2 * (cell.n // 4), cell.n // 4, cell.n // 4])
    held = holders(cell)
    return np.array([held, cell.n - held, *[0] * (cell.k - 2)])


SURVEYS: dict[str, Callable[[Cell, int, bool], list[Row]]] = {"survey": _measured}
"""How the cells of surveys are measured; those of means are the cells of `attributes`."""
