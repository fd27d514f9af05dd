"""The IBU paper's experiment: every distribution, n, k, epsilon, mechanism and run.

Data are drawn anew in every run of every cell, so cells are independent and averages over
them have honest standard errors; the mechanisms of a cell share its data. Collections are
drawn from their exact law without simulating people.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ldpkit.bench.summary import Mean
from ldpkit.core import random
from ldpkit.core.typing import Counts, Floats
from ldpkit.estimation.bayes.ibu import update
from ldpkit.estimation.bayes.limit import limit
from ldpkit.estimation.consistency import processed
from ldpkit.estimation.consistency.scale import positive_shares
from ldpkit.mechanisms.base import MECHANISMS
from ldpkit.papers.ibu.chain import Subject, is_as_published, published, right
from ldpkit.papers.ibu.data import bucketise, sample
from ldpkit.papers.ibu.paper import (
    AVERAGE,
    DISTRIBUTIONS,
    EPSILONS,
    GENERATED,
    METRICS,
    PEOPLE,
    REAL,
    SIZES,
)

__all__ = ["ESTIMATORS", "StudyGrid", "IbuStudy", "errors_of", "threads"]

ESTIMATORS = ("published_mi", "published_ibu", "mi", "norm_sub", "ibu", "ibu_limit")
"""As the authors ran it, then with the right chains: inversion scaled (as they do) and
projected, the update to 10,000 iterations, and its limit."""


@dataclass(frozen=True)
class StudyGrid:
    """What to run.

    Parameters
    ----------
    mechanisms : sequence of str
        The mechanisms, one-time or longitudinal.
    runs : int
        How many runs; the paper has 20.
    seed : int
        What all randomness is derived from.
    distributions, people, sizes, epsilons : sequences
        The axes; the paper's by default.

    Examples
    --------
    >>> study = StudyGrid(["grr"], 2, distributions=["uniform"], people=[1000], sizes=[2]).run()
    >>> study.errors["mi"].shape                    # metric, distribution, n, k, epsilon, mechanism, run
    (2, 1, 1, 1, 3, 1, 2)
    """

    mechanisms: Sequence[str]
    runs: int
    seed: int = 0
    distributions: Sequence[str] = DISTRIBUTIONS
    people: Sequence[int] = PEOPLE
    sizes: Sequence[int] = SIZES
    epsilons: Sequence[float] = EPSILONS

    def __post_init__(self) -> None:
        for name in self.mechanisms:  # before threads ask for them
            MECHANISMS.get(name)

    @property
    def axes(self) -> tuple[int, ...]:
        """The lengths of the axes: distribution, n, k, epsilon, mechanism, run."""
        sequences = (self.distributions, self.people, self.sizes, self.epsilons, self.mechanisms)
        return (*map(len, sequences), self.runs)

    def histograms(self, distribution: str, n: int, k: int, epsilon: float) -> Counts:
        """Return the data of a cell, shape (runs, k)."""
        generator = random.seeded(self.seed).derive(f"{distribution} {n} {k} {epsilon}").generator()
        return np.array([bucketise(sample(distribution, n, generator), k) for _ in range(self.runs)])

    def run(self) -> IbuStudy:
        """Run everything, one data set at a time on each processor."""
        study = IbuStudy(self)
        places = list(np.ndindex(self.axes[:4]))
        with ThreadPoolExecutor(threads()) as pool:
            list(pool.map(study.fill, places))
        return study


@dataclass(frozen=True)
class IbuStudy:
    """The errors of all estimators over a grid.

    Parameters
    ----------
    grid : StudyGrid
        What was run.
    errors : mapping
        For each estimator: metric, distribution, n, k, epsilon, mechanism, run.
    capped : array
        Which runs of the published update ended at 10,000 iterations, not converged.
    """

    grid: StudyGrid
    errors: Mapping[str, Floats] = field(default_factory=dict)
    capped: np.ndarray[Any, np.dtype[np.bool_]] = field(init=False)

    def __post_init__(self) -> None:
        shape = (len(METRICS), *self.grid.axes)
        object.__setattr__(self, "errors", {name: np.empty(shape) for name in ESTIMATORS})
        object.__setattr__(self, "capped", np.empty(self.grid.axes, np.bool_))

    def fill(self, place: tuple[int, int, int, int]) -> None:
        """Run all mechanisms on the data of one distribution, n, k and epsilon."""
        grid, (i, j, at_k, at_epsilon) = self.grid, place
        distribution, n = grid.distributions[i], grid.people[j]
        k, epsilon = grid.sizes[at_k], grid.epsilons[at_epsilon]
        people = grid.histograms(distribution, n, k, epsilon)
        for at_name, name in enumerate(grid.mechanisms):
            label = f"{distribution} {n} {k} {epsilon} {name}"
            errors, capped = _cell(name, epsilon, people, random.seeded(grid.seed).derive(label))
            for estimator, values in errors.items():
                self.errors[estimator][:, *place, at_name] = values
            self.capped[*place, at_name] = capped

    def gains(self, better: str, than: str) -> Floats:
        """Return the gain of Eq. (1) of every run in percent, clipped as the paper clips it: each run."""
        rival = self.errors[than]
        ratio = np.divide(self.errors[better], rival, out=np.ones_like(rival), where=rival > 0)
        return np.asarray(100 * np.maximum(1 - ratio, 0))

    def table(self, distribution: str, mechanism: str, metric: str, better: str, than: str) -> Mean:
        """Return a number of table 2 or 3 with its standard error; `AVERAGE` and `GENERATED` average."""
        part = self._part(distribution, mechanism, metric, self.gains(better, than)).mean(axis=4)
        cells = part[..., 0].size
        variance = part.var(axis=-1, ddof=1) / self.grid.runs if self.grid.runs > 1 else np.array(np.nan)
        return Mean(float(part.mean()), float(np.sqrt(variance.mean() / cells)))

    def typical_ratio(self, distribution: str, mechanism: str, metric: str, better: str, than: str) -> float:
        """Return the geometric mean, over cells, of the ratio of two estimators' mean errors."""
        logs = np.log(self.errors[better].mean(axis=-1)) - np.log(self.errors[than].mean(axis=-1))
        return float(np.exp(self._part(distribution, mechanism, metric, logs).mean()))

    def _part(self, distribution: str, mechanism: str, metric: str, values: Floats) -> Floats:
        """Return the values of one row and column of a table, or of all where it averages."""
        rows, columns = list(self.grid.distributions), list(self.grid.mechanisms)
        several = {AVERAGE: rows, GENERATED: [each for each in rows if each != REAL]}
        chosen_rows = several.get(distribution, [distribution])
        chosen_columns = columns if mechanism == AVERAGE else [mechanism]
        part = values[METRICS.index(metric)].take([rows.index(each) for each in chosen_rows], axis=0)
        return np.asarray(part.take([columns.index(each) for each in chosen_columns], axis=4))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the mean errors of every cell."""
        grid = self.grid
        for metric, name in enumerate(METRICS):
            for cell in np.ndindex(grid.axes[:-1]):
                i, j, at_k, at_epsilon, at_name = cell
                yield {
                    "distribution": grid.distributions[i],
                    "n": grid.people[j],
                    "k": grid.sizes[at_k],
                    "epsilon": grid.epsilons[at_epsilon],
                    "mechanism": grid.mechanisms[at_name],
                    "metric": name,
                    **{each: float(self.errors[each][metric, *cell].mean()) for each in ESTIMATORS},
                    "capped": float(self.capped[cell].mean()),
                }


def errors_of(truth: Floats, estimates: Floats) -> Floats:
    """Return the mean squared and the mean absolute error of each row."""
    difference = estimates - truth
    return np.array([(difference**2).mean(axis=1), np.abs(difference).mean(axis=1)])


def threads() -> int:
    """Return how many processors there are to use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _cell(
    name: str, epsilon: float, people: Counts, source: random.RandomSource
) -> tuple[dict[str, Floats], Any]:
    """Return the errors of every estimator in every run, and which updates ended at the cap."""
    (_, k), n = people.shape, int(people[0].sum())
    truth = people / n
    subject, original = right(name, k, epsilon), published(name, k, epsilon)
    supports = _collect(subject, people, source)
    unbiased = subject.oracle.unbiased(supports, n)
    frequencies, capped = _update(subject, supports)
    errors = {
        "mi": errors_of(truth, positive_shares(unbiased)),
        "norm_sub": errors_of(truth, processed(subject.oracle, unbiased, n, "norm_sub")),
        "ibu": errors_of(truth, frequencies),
        "ibu_limit": errors_of(truth, limit(supports, subject.p, subject.q)),
    }
    if is_as_published(name):
        return errors | {"published_mi": errors["mi"], "published_ibu": errors["ibu"]}, capped
    if original.oracle != subject.oracle:
        supports = _collect(original, people, source)
    frequencies, capped = _update(original, supports)
    published_errors = {
        "published_mi": errors_of(truth, positive_shares(original.oracle.unbiased(supports, n))),
        "published_ibu": errors_of(truth, frequencies),
    }
    return errors | published_errors, capped


def _collect(subject: Subject, people: Counts, source: random.RandomSource) -> Counts:
    return np.concatenate([subject.oracle.simulate(counts, rng=source) for counts in people])


def _update(subject: Subject, supports: Counts) -> tuple[Floats, Any]:
    climbs = update(supports, subject.p, subject.q)
    return np.array([climb.frequencies for climb in climbs]), [not climb.converged for climb in climbs]
