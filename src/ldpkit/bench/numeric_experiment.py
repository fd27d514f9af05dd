"""Experiments about numbers: every distribution at every epsilon with every mechanism.

The error of a mean is told twice: as it came out in each simulated collection, and as it
is expected given the mechanism in use, which is exact for mechanisms with a known
variance and nearly free of chance for AAA, whose mechanism depends on the first phase.
All errors are on the scale of [-1, 1], whatever the interval.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ldpkit.bench.grid import Grid
from ldpkit.bench.numeric_data import NumericData
from ldpkit.bench.rows import Keys
from ldpkit.core import random
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_epsilon, check_repeats
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats
from ldpkit.estimation.binned_density import ALGORITHMS, FINE
from ldpkit.estimation.deconvolution import maximise
from ldpkit.estimation.density import Density, transition
from ldpkit.estimation.density import density as estimate_density
from ldpkit.estimation.quadratic import variance_parabola
from ldpkit.mechanisms.kinds import numeric_class
from ldpkit.mechanisms.numeric.mechanism import NumericMechanism
from ldpkit.mechanisms.tally import Tally
from ldpkit.protocols.adaptive_mean import AdaptiveMean
from ldpkit.simulation.metrics.transport import emd

__all__ = [
    "DENSITY_MECHANISMS",
    "MEAN_MECHANISMS",
    "METRICS",
    "NumericCell",
    "NumericExperiment",
    "NumericRow",
    "Task",
    "mean_variance",
    "measure_phases",
]

Task = Literal["mean", "density"]

METRICS: dict[Task, tuple[str, ...]] = {"mean": ("mse", "expected", "coverage"), "density": ("wasserstein",)}
"""What can be measured: squared error, the same as expected, whether the 95% interval holds; distance."""

MEAN_MECHANISMS = ("laplace", "duchi", "pm", "hm", "sw", "aaa", "auto")
"""What is compared by default; sw+ems, the mean of the smooth density, takes its time."""

DENSITY_MECHANISMS = ("sw", "pm", "hm")
"""What is compared by default for densities."""

_BINS = 64  # of densities

# AAA as in its paper, and "auto": fewer describers, a better oracle, free choice.
_TWO_PHASES: dict[str, dict[str, Any]] = {
    "aaa": {},
    "auto": {"share": None, "oracle": "ss", "choice": "auto"},
}


class NumericRow(NamedTuple):
    """One number of an experiment: a record of the tidy table."""

    data: str
    epsilon: float
    mechanism: str
    metric: str
    repeat: int
    value: float


class NumericCell(NamedTuple):
    """One mechanism at one epsilon on some people."""

    data: str
    epsilon: float
    mechanism: str

    @property
    def label(self) -> str:
        """The name that the cell's randomness is derived from."""
        return f"{self.data} {self.mechanism} epsilon={self.epsilon!r}"


@dataclass(frozen=True)
class NumericExperiment(Grid):
    """What to compare, on whom, how often.

    Parameters
    ----------
    data : sequence of NumericData
        The people.
    epsilons : sequence of float
        The budgets.
    mechanisms : sequence of str
        Numeric mechanisms, and the protocols of two phases: "aaa" as in its paper, "auto"
        as in `ldpkit mean`. "sw+ems" reads the mean off the density by that algorithm.
    task : {"mean", "density"}
        What is estimated.
    repeats : int
        How many collections to simulate for each cell.
    seed : int
        What the randomness of all cells is derived from.
    share : float
        The share of describers of "aaa".
    bins : int
        The cells that they describe.

    Examples
    --------
    >>> from ldpkit.bench.numeric_data import draw
    >>> experiment = NumericExperiment([draw("uniform", 1000)], [1.0], ["pm", "duchi"], repeats=2)
    >>> [(row.mechanism, row.metric) for row in experiment.run_cell(experiment.cells()[0]).rows][:3]
    [('pm', 'mse'), ('pm', 'expected'), ('pm', 'coverage')]
    """

    data: Sequence[NumericData]
    epsilons: Sequence[float]
    mechanisms: Sequence[str]
    task: Task = "mean"
    repeats: int = 10
    seed: int = 0
    share: float = 0.1
    bins: int = 16

    cell_type = NumericCell
    row_type = NumericRow

    def __post_init__(self) -> None:
        if self.task not in get_args(Task):
            raise InvalidParameterError(f"the task is mean or density, got {self.task!r}")
        names = [numbers.name for numbers in self.data]
        if len(set(names)) < len(names):
            raise InvalidParameterError(f"two data sets have the same name: {', '.join(names)}")
        settings = {
            "epsilons": tuple(dict.fromkeys(check_epsilon(epsilon) for epsilon in self.epsilons)),
            "mechanisms": tuple(dict.fromkeys(_check_label(each, self.task) for each in self.mechanisms)),
            "repeats": check_repeats(self.repeats),
        }
        for name, value in [*settings.items(), ("data", self.data)]:
            if not value:
                raise InvalidParameterError(f"an experiment needs at least one of {name}")
            object.__setattr__(self, name, value)
        random.seeded(self.seed)

    def cells(self) -> list[NumericCell]:
        """Return the cells in the order of the axes."""
        return [
            NumericCell(numbers.name, epsilon, mechanism)
            for numbers in self.data
            for epsilon in self.epsilons
            for mechanism in self.mechanisms
        ]

    def fingerprint(self) -> dict[str, Any]:
        """Return what two runs must have in common for their rows to belong together."""
        people = {each.name: _digest(each) for each in self.data}
        settings = ("task", "repeats", "seed", "share", "bins")
        return {"data_sha256": people, **{name: getattr(self, name) for name in settings}}

    def keys(self, cell: NumericCell) -> Keys:
        """Return metric and repeat of each row of a cell."""
        return Keys(range(self.repeats), self.measured(cell), turned=True)

    def measured(self, cell: NumericCell) -> tuple[str, ...]:
        """Return what can be measured of a cell: the expected error only where it is known."""
        name, _, algorithm = cell.mechanism.partition("+")
        if self.task == "density" or algorithm:
            return METRICS[self.task][:1]
        if name in _TWO_PHASES or self._mechanism(cell).line is not None:
            return METRICS["mean"]
        return tuple(metric for metric in METRICS["mean"] if metric != "expected")

    def values(self, cell: NumericCell) -> Iterator[float]:
        """Run a cell."""
        source, numbers = self.source(cell), self.numbers(cell.data)
        for _ in range(self.repeats):
            found = self._measure(numbers, cell, source)
            yield from (found[metric] for metric in self.measured(cell))

    def density(self, cell: NumericCell) -> Density:
        """Return the density that the first collection of a cell of the density task gives."""
        mechanism, algorithm = self._mechanism(cell), cell.mechanism.partition("+")[2]
        tally = mechanism.tally(mechanism.privatize(self.numbers(cell.data).values, rng=self.source(cell)))
        found: Density = estimate_density(tally, bins=_BINS, algorithm=algorithm)
        return found

    def numbers(self, name: str) -> NumericData:
        """Return the people of that name."""
        return {each.name: each for each in self.data}[name]

    def _mechanism(self, cell: NumericCell) -> NumericMechanism:
        """Return the mechanism of a cell that has one phase."""
        name = cell.mechanism.partition("+")[0]
        return numeric_class(name).make(self.numbers(cell.data).domain, epsilon=cell.epsilon)

    def _protocol(self, numbers: NumericData, epsilon: float, name: str) -> AdaptiveMean:
        """Return a protocol of two phases by its name."""
        settings = {key: getattr(self, key) for key in ("share", "bins")} | _TWO_PHASES[name]
        return AdaptiveMean(numbers.domain, epsilon, **settings)

    def _measure(self, numbers: NumericData, cell: NumericCell, source: RandomSource) -> dict[str, float]:
        name, _, algorithm = cell.mechanism.partition("+")
        if name in _TWO_PHASES:
            return measure_phases(self._protocol(numbers, cell.epsilon, name), numbers, source)
        mechanism = self._mechanism(cell)
        tally = mechanism.tally(mechanism.privatize(numbers.values, rng=source))
        if self.task == "density":
            found = estimate_density(tally, bins=_BINS, algorithm=algorithm)
            return {"wasserstein": _distance(numbers, found)}
        if algorithm:
            return {"mse": _squared(numbers, _density_mean(mechanism, tally, algorithm))}
        estimate = tally.estimate()
        measured = {"mse": _squared(numbers, estimate.mean)}
        if mechanism.line is not None:
            gain = float(mechanism.line[1])
            measured["expected"] = mean_variance(mechanism, numbers) / gain**2 / numbers.n
        return measured | {"coverage": _covers(numbers, estimate.interval())}


def measure_phases(protocol: AdaptiveMean, numbers: NumericData, source: RandomSource) -> dict[str, float]:
    """Return the errors of one collection of two phases, as they came and as they are expected."""
    made = protocol.run(numbers.values, rng=source)
    second = made.second.n
    # Those who described do not enter the mean, so it is also a question of who they were.
    spread = float(np.var(numbers.values, ddof=1)) / numbers.half_width**2
    expected = mean_variance(made.mechanism, numbers) / second + spread * (1 / second - 1 / numbers.n)
    return {
        "mse": _squared(numbers, made.mean),
        "expected": expected,
        "coverage": _covers(numbers, made.interval()),
    }


def mean_variance(mechanism: NumericMechanism, numbers: NumericData) -> float:
    """Return the variance of a report, averaged over all people, on the scale of [-1, 1]."""
    parabola = variance_parabola(mechanism)  # else the values are too many to ask for each
    if parabola is None:
        variances: Floats = mechanism.variance(numbers.values)
        return float(variances.mean()) / numbers.half_width**2
    shares = (numbers.values - numbers.domain.low) / numbers.domain.width
    return 4 * float(np.polyval(parabola, shares).mean())  # half of the width is one


def _digest(numbers: NumericData) -> str:
    ends = np.array([numbers.domain.low, numbers.domain.high])
    return hashlib.sha256(np.concatenate([ends, numbers.values]).astype("<f8").tobytes()).hexdigest()


def _check_label(label: str, task: Task) -> str:
    """Return the label of a mechanism in lower case, or refuse it."""
    name, plus, algorithm = label.lower().replace("-", "_").partition("+")
    if plus and algorithm not in ALGORITHMS:
        raise InvalidParameterError(f"unknown algorithm {algorithm!r}: choose from {', '.join(ALGORITHMS)}")
    if name in _TWO_PHASES:
        if task == "density" or plus:
            raise InvalidParameterError(f"{name} estimates the mean only: leave it out")
        return name
    mechanism = numeric_class(name)
    if task == "density" and not plus:
        algorithm = "ems"
    return f"{mechanism.name}+{algorithm}" if algorithm else mechanism.name


def _density_mean(mechanism: NumericMechanism, tally: Tally, algorithm: str) -> float:
    """Return the mean of a density, without the covariance that takes most of the time."""
    if algorithm == "inversion":
        return float(estimate_density(tally, bins=_BINS, algorithm=algorithm).mean)
    matrix = transition(mechanism, FINE)
    masses = maximise(matrix, tally.counts[:-1], mechanism.epsilon, smooth=algorithm == "ems")
    return float(masses @ mechanism.domain.decode(range(1, 2 * FINE, 2), steps=2 * FINE))


def _squared(numbers: NumericData, mean: float) -> float:
    return float((mean - numbers.values.mean()) / numbers.half_width) ** 2


def _covers(numbers: NumericData, interval: tuple[float, float]) -> float:
    return float(interval[0] <= numbers.values.mean() <= interval[1])


@lru_cache(maxsize=256)
def _distance(numbers: NumericData, found: Density) -> float:
    """Return the Wasserstein distance to the true histogram, as a share of the interval."""
    truth = np.histogram(numbers.values, found.edges)[0] / numbers.n
    return float(emd(truth, found.masses[None, :])[0]) / len(found)
