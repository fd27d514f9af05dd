"""What the coverage of intervals is measured on, and how: a cell at a time.

Where the law of what is seen is discrete and small the coverage is summed over it;
elsewhere it is the share of the collections drawn whose interval holds the truth.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

import ldpkit
from ldpkit.core.typing import Counts, Floats
from ldpkit.mechanisms.kinds import select

__all__ = [
    "LEVEL",
    "RUNS",
    "Cell",
    "Row",
    "cells",
    "control_cells",
    "holders",
    "oracle_parameters",
    "row_of",
    "summed_row",
    "upper_limit",
    "wald_ends",
]

LEVEL = 0.95
RUNS = 2_000
EPSILONS = (0.1, 1.0, 4.0, 10.0)
PEOPLE = (50, 1_000, 100_000)
SIZES = (2, 16, 1_000)
CASES = ("held", "rare", "absent")
MEANS = ("duchi", "pm", "hm", "laplace", "truncated_sw", "truncated_pm", "aaa", "ogpm", "ogpm_unbiased")
VARIANCES = ("duchi", "pm", "hm", "laplace", "truncated_sw", "aaa")
SAME_MARGINS = (
    "sw",
    "staircase",
    "bounded_laplace",
    "truncated_laplace",
    "compressed_pm",
    "compressed_sw",
    "compressed_duchi",
    "ogpm_at",
    "ogpm_prior",
    "optimal",
)
GROUP_SIZES = (2, 5)
PLANES = ("grid_response", "planar_window", "tracs_c", "tracs_d")
SAME_BOUNDS = ("place_response", "place_exponential", "grid_exponential", "planar_laplace", "srr")

_HELD = 0.3  # of the people hold the value in question
_WIDTHS = 24  # intervals whose width is looked at, where each takes long
_SURE = 0.999  # of the upper limit of a coverage that was simulated


@dataclass(frozen=True)
class Cell:
    """A collection whose intervals are tried.

    Parameters
    ----------
    estimator, mechanism : str
        What estimates, and what made the reports.
    epsilon : float
        The budget of a report.
    n : int
        The number of people.
    k : int or None
        The number of values; None for numbers.
    case : str
        Frequencies: the value in question is held by three of ten people, by one (rare),
        by nobody (absent) or by everybody. Numbers: all at a point, half at each `ends`,
        one of a hundred at the high end (`rare`), or `skewed`. Circles: all at a `point`,
        `around` the end of the turn, or nearly without a direction (`faint`). Maps: three of
        ten people in the `middle` of a cell, near its `corner` or in `between`, or all beside it (`absent`).
    about : {"people", "population"}
        Whose truth the interval has to hold.
    """

    estimator: str
    mechanism: str
    epsilon: float
    n: int
    k: int | None
    case: str
    about: str = "people"

    @property
    def rng(self) -> ldpkit.random.RandomSource:
        """A seed of its own, so that a cell's outcome depends on nothing else."""
        return ldpkit.random.seeded(zlib.crc32(repr(self).encode()))


@dataclass(frozen=True)
class Row:
    """What a cell showed: `runs` is 0 where the coverage was summed over the law."""

    cell: Cell
    method: str
    runs: int
    coverage: float
    width: float

    @property
    def upper(self) -> float:
        """The upper 99.9% confidence limit of the coverage."""
        return upper_limit(round(self.coverage * self.runs), self.runs) if self.runs else self.coverage

    @property
    def covers(self) -> bool:
        """Whether nothing speaks against the level."""
        return self.upper >= LEVEL

    def to_dict(self) -> dict[str, Any]:
        """Return a flat record."""
        named = {**asdict(self.cell), "estimator": self.method}
        by = "2000 runs" if self.runs == RUNS else f"{self.runs} runs" if self.runs else "exact sum"
        return {
            **named,
            "by": by,
            "coverage": self.coverage,
            "upper_limit": self.upper,
            "width": self.width,
            "covers": self.covers,
        }


def upper_limit(hits: int, runs: int) -> float:
    """Return the Clopper-Pearson upper limit of a share, 99.9% sure."""
    from scipy.special import betaincinv

    return 1.0 if hits == runs else float(betaincinv(hits + 1, runs - hits, _SURE))


# --- which cells -----------------------------------------------------------------------


def cells(*, every: bool = False) -> Iterator[Cell]:
    """Yield all cells: those that are summed, then those that are simulated."""
    yield from _frequency("mi", _oracles())
    yield from _frequency("mi", ("grr", "oue", "olh", "she"), about="population")
    yield from _frequency("pooled", ("grr + oue",), about="population")
    # Of these the row of mi is a lower bound: some corners show that it is.
    corners: dict[str, Any] = {"epsilons": (0.1, 10.0), "people": PEOPLE[:2]}
    yield from _frequency("consistency", ("oue",), **corners, sizes=SIZES[:2])
    yield from _frequency("consistency", ("grr",), epsilons=(1.0,), people=(1_000,), sizes=SIZES[2:])
    yield from _frequency("ibu", ("grr", "oue"), **corners, sizes=(16,))
    corners = {"epsilons": (10.0,), "people": PEOPLE[:1], "cases": ("held", "absent")}
    yield from _frequency("mle", ("grr", "oue"), **corners, sizes=(16,))
    yield from _frequency("pooled mle", ("grr + oue",), **corners, sizes=(2,), about="population")
    for name in (*MEANS, *(SAME_MARGINS if every else ())):
        yield from _numeric("mean", name, ("point",))
    yield from _numeric("mean", "pm", ("ends",), about="population")
    for name in VARIANCES:
        yield from _numeric("variance", name, ("ends", "rare"), people=PEOPLE[:2])
    yield from _numeric("attributes", "pm", ("ends", "rare"))
    yield from _numeric("adaptive", "aaa", ("ends",))
    yield from _numeric("quantile", "sw", ("point",))
    yield from _numeric("quantile", "sw", ("skewed",), people=(1_000,))
    for name in ("pm", "laplace"):
        yield from _numeric("quantile", name, ("skewed",), people=PEOPLE[2:])
    corners = {"epsilons": (1.0, 10.0), "people": (50, 100_000), "cases": ("held", "absent")}
    yield from _frequency("survey", ("grr", "oue"), **corners, sizes=(16,))
    yield from _numeric("survey", "circular_ogpm", ("around",))
    yield from _joint()
    yield from _circles()
    for name in (*PLANES, *(SAME_BOUNDS if every else ())):
        yield from _numeric("map", name, ("middle", "corner", "between", "absent"))


def control_cells() -> Iterator[Cell]:
    """Yield the cells of the negative control, which have a Wald interval."""
    yield from _frequency("mi", ("grr", "oue"))
    yield from _numeric("mean", "pm", ("point",))
    yield from _frequency("pairs", ("jrr",))
    yield from _numeric("direction", "circular_ogpm", ("around",))


def _joint() -> Iterator[Cell]:
    """Yield the cells of reports that are made together: the laws of the other two do not depend on k."""
    yield from _frequency("pairs", ("jrr",))
    yield from _frequency("pairs", ("jrr positive",), sizes=SIZES[:2])
    yield from _frequency("pairs", ("joint_sue", "joint_olh"), sizes=SIZES[1:2])
    yield from _frequency("pairs", ("jrr",), sizes=SIZES[1:2], about="population")
    corners: dict[str, Any] = {"epsilons": (1.0, 10.0), "people": PEOPLE[:2], "sizes": SIZES[1:2]}
    yield from _frequency("pairs consistency", ("jrr",), **corners)
    names = tuple(f"group_count {size}" for size in GROUP_SIZES)
    yield from _frequency("groups", names, sizes=SIZES[:1])
    yield from _frequency("groups", names, sizes=SIZES[:1], about="population")


def _circles() -> Iterator[Cell]:
    yield from _numeric("direction", "circular_ogpm", ("point", "around", "faint"))
    for name in ("circular_sw", "von_mises", "purkayastha"):
        yield from _numeric("direction", name, ("around",))
    yield from _numeric("direction", "circular_ogpm", ("around",), about="population")


def _oracles() -> tuple[str, ...]:
    """Return the names of the frequency oracles; pairs have intervals from a law of their own."""
    return tuple(select("frequency", without=("joint",)).names)


def oracle_parameters(name: str, epsilon: float) -> dict[str, float]:
    """Return the budget of an oracle; memoized ones split it."""
    if name == "dbitflip" or not name.startswith("l"):
        return {"epsilon": epsilon}
    return {"epsilon_inf": epsilon, "epsilon_1": epsilon / 2}


def _frequency(
    estimator: str,
    names: tuple[str, ...],
    epsilons: tuple[float, ...] = EPSILONS,
    people: tuple[int, ...] = PEOPLE,
    sizes: tuple[int, ...] = SIZES,
    cases: tuple[str, ...] = CASES,
    about: str = "people",
) -> Iterator[Cell]:
    for name in names:
        for epsilon in epsilons:
            for n in people:
                for k in sizes:
                    for case in cases:
                        yield Cell(estimator, name, epsilon, n, k, case, about)


def _numeric(
    estimator: str, name: str, cases: tuple[str, ...], people: tuple[int, ...] = PEOPLE, about: str = "people"
) -> Iterator[Cell]:
    for epsilon in EPSILONS:
        for n in people:
            for case in cases:
                yield Cell(estimator, name, epsilon, n, None, case, about)


def holders(cell: Cell) -> int:
    """Return how many people hold the value in question."""
    return {"held": round(_HELD * cell.n), "rare": 1, "absent": 0, "everybody": cell.n}[cell.case]


# --- what they show ---------------------------------------------------------------------------


def row_of(cell: Cell, method: str, truth: float, ends: Any, weights: Floats | None = None) -> Row:
    """Return the row of some intervals, each of one run or with its chance."""
    low, high = np.asarray(ends, float).T
    held = (low <= truth + 1e-12) & (high >= truth - 1e-12)
    if weights is None:
        return Row(cell, method, len(low), float(held.mean()), float((high - low).mean()))
    return Row(cell, method, 0, float(weights @ held), float(weights @ (high - low)))


def summed_row(
    cell: Cell,
    method: str,
    truth: float,
    counts: Counts,
    chances: Floats,
    ends: Callable[[int], tuple[float, float]],
    runs: int = 0,
) -> Row:
    """Return the row of counts with their chances, of which both ends of the interval grow with the count."""
    from bisect import bisect_left

    likely = np.flatnonzero(chances > 1e-13)
    counts, chances = counts[likely], chances[likely]
    known = lru_cache(maxsize=None)(ends)
    first = bisect_left(counts, True, key=lambda count: known(int(count))[1] >= truth - 1e-12)
    last = bisect_left(counts, True, key=lambda count: known(int(count))[0] > truth + 1e-12)
    middle = np.searchsorted(np.cumsum(chances), np.linspace(0.001, 0.999, _WIDTHS) * chances.sum())
    some = np.unique(np.minimum(middle, len(counts) - 1))
    widths = np.interp(counts, counts[some], [np.ptp(known(int(count))) for count in counts[some]])
    return Row(cell, method, runs, float(chances[first:last].sum()), float(chances @ widths))


def wald_ends(values: Floats, errors: Floats) -> Floats:
    """Return values +- 1.96 standard errors, for the negative control."""
    reach = NormalDist().inv_cdf((1 + LEVEL) / 2) * errors
    return np.stack([values - reach, values + reach], axis=-1)
