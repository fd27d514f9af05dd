"""Populations: true counts for experiments, from the distributions that papers use.

A population is a function from a domain size k to the probabilities of its k values.
Calling the registered population gives the counts of n people: by default the nearest
whole numbers, so that an experiment has no randomness but the mechanism's own; with an
`rng`, a sample.

>>> from ldpkit.simulation.populations import uniform, zipf
>>> zipf(5, 1000).tolist()
[464, 217, 139, 101, 79]
>>> uniform(3, 10).tolist()
[4, 3, 3]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ldpkit.core import random
from ldpkit.core.domains.categorical import CategoricalDomain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.limits import check_request
from ldpkit.core.parameters import Parameter, check_people, check_whole
from ldpkit.core.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from ldpkit.core.typing import Counts, Floats

__all__ = [
    "POPULATIONS",
    "Population",
    "exponential",
    "from_spec",
    "gaussian",
    "is_spec",
    "largest_remainder",
    "poisson",
    "population",
    "triangular",
    "uniform",
    "zipf",
]

_FOR_A_VALUE = 48  # bytes: weights, shares, counts and their order
LARGEST_N = 1 << 50
"""Beyond, a 64-bit float no longer tells one person from the next."""


@dataclass(frozen=True)
class Population:
    """A distribution over 0..k-1 that hands out counts.

    Parameters
    ----------
    name : str
        The name in the registry and in a spec.
    weights : callable
        From k and keyword parameters to k non-negative weights.
    declared : tuple of Parameter
        Its parameters besides k and n; all have defaults.

    Examples
    --------
    >>> steps = Population("steps", lambda k: np.arange(k, 0.0, -1.0))
    >>> steps(3, 60).tolist()
    [30, 20, 10]
    """

    name: str
    weights: Callable[..., Floats]
    declared: tuple[Parameter, ...] = ()

    @property
    def summary(self) -> str:
        """What the distribution looks like, in one line."""
        return (self.weights.__doc__ or self.name).strip().split("\n", 1)[0]

    @property
    def defaults(self) -> dict[str, float]:
        """The parameters besides k and n, with their defaults."""
        return {each.name: each.check(each.default) for each in self.declared}

    def probabilities(self, k: int, **parameters: float) -> Floats:
        """Return the probability of each of the k values."""
        size = len(CategoricalDomain(check_whole(k, "k", least=2)))  # which also knows how many are too many
        check_request(_FOR_A_VALUE * size, f"the population {self.name} of {size} values")
        for name, value in parameters.items():
            self._check_parameter(name, value)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            weights = np.asarray(self.weights(size, **(self.defaults | parameters)), float)
        total = weights.sum()
        if weights.shape != (size,) or not math.isfinite(total) or total <= 0 or (weights < 0).any():
            given = ", ".join(f"{name}={value:g}" for name, value in parameters.items())
            raise InvalidParameterError(
                f"the population {self.name} has nobody on 0..{size - 1} with {given or 'its defaults'}: "
                f"the defaults are {self._shown_defaults()}"
            )
        return np.asarray(weights / total)

    def __call__(
        self, k: int, n: int, *, rng: random.RandomSource | None = None, **parameters: float
    ) -> Counts:
        """Return how many of n people hold each of the k values.

        Parameters
        ----------
        k : int
            The size of the domain, at least 2.
        n : int
            The number of people.
        rng : RandomSource, optional
            Draw the people at random; by default the counts are the exact expectations,
            rounded by largest remainder.
        **parameters
            The parameters of the distribution.
        """
        people = check_people(n)
        if people > LARGEST_N:
            raise InvalidParameterError(f"n must be at most 2**50, got {n}")
        probabilities = self.probabilities(k, **parameters)
        if rng is not None:
            return random.resolve(rng).generator().multinomial(people, probabilities)
        return largest_remainder(probabilities * people, people)

    def _check_parameter(self, name: str, value: float) -> None:
        found = next((each for each in self.declared if each.name == name), None)
        if found is None:
            raise InvalidParameterError(
                f"the population {self.name} has no parameter {name!r}: it has {self._shown_defaults()}"
            )
        found.check(value, called=f"{name} of the population {self.name}")

    def _shown_defaults(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self.defaults.items()) or "k and n only"


POPULATIONS: Registry[Population] = Registry("population", "ldpkit.simulation")
"""Populations by name."""


def population(name: str, *declared: Parameter) -> Callable[[Callable[..., Floats]], Population]:
    """Return a decorator that registers a function from k and parameters to weights as a population."""

    def add(weights: Callable[..., Floats]) -> Population:
        return POPULATIONS.register(name)(Population(name, weights, declared))

    return add


def is_spec(text: str) -> bool:
    """Whether a text starts like a spec, with the name of a population or with `name:key=`.

    Examples
    --------
    >>> is_spec("zipf"), is_spec("zpif:k=3"), is_spec("values.csv")
    (True, True, False)
    """
    name, _, rest = text.partition(":")
    return "=" in rest or name.strip().lower().replace("-", "_") in POPULATIONS


def from_spec(spec: str) -> tuple[str, Counts]:
    """Return the name and counts that a text stands for.

    Parameters
    ----------
    spec : str
        `name:k=...,n=...` with further parameters of the population; `seed=...` draws a
        sample.

    Examples
    --------
    >>> name, counts = from_spec("zipf:k=4,n=1e3,s=1")
    >>> name, counts.tolist()
    ('zipf', [480, 240, 160, 120])
    >>> from_spec("zipf:k=4")
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: the population 'zipf:k=4' needs n: write for example \
zipf:k=128,n=100000
    """
    name, _, rest = spec.partition(":")
    chosen = POPULATIONS.get(name.strip())
    parameters: dict[str, float] = {}
    for part in filter(None, map(str.strip, rest.split(","))):
        key, equals, text = map(str.strip, part.partition("="))
        number = _number(text)
        if not equals or number is None:
            raise InvalidParameterError(f"{part!r} in {spec!r} is not a parameter: write it as name=number")
        if math.isinf(number) and text.lstrip("+-").isdecimal():
            raise InvalidParameterError(
                f"{key} of the population {name!r} has {len(text)} digits: give a smaller number"
            )
        if key in parameters:
            raise InvalidParameterError(f"{key} appears twice in {spec!r}: give it once")
        parameters[key] = number
    for key in ("k", "n"):
        if key not in parameters:
            raise InvalidParameterError(
                f"the population {spec!r} needs {key}: write for example {chosen.name}:k=128,n=100000"
            )
    k, n = (_whole(parameters.pop(key), key) for key in ("k", "n"))
    seed = parameters.pop("seed", None)
    rng = None if seed is None else random.seeded(_whole(seed, "seed"))
    return chosen.name, chosen(k, n, rng=rng, **parameters)


@population("zipf", Parameter("s", float, "how fast weights fall", default=1.1))
def zipf(k: int, *, s: float) -> Floats:
    """Value i has weight (i + 1)^-s: few common values and a long tail."""
    return np.arange(1.0, k + 1) ** -s


@population(
    "gaussian",
    Parameter("mean", float, "a fraction of the domain's width", default=0.5),
    Parameter("sd", float, "a fraction of the domain's width", default=0.125, above=0),
)
def gaussian(k: int, *, mean: float, sd: float) -> Floats:
    """Bell-shaped; mean and sd are fractions of the domain's width."""
    from scipy.special import ndtr

    edges = (np.arange(k + 1) / k - mean) / sd
    # Both tails are measured from their own side, where differences lose nothing.
    return np.asarray(np.where(edges[:-1] < 0, np.diff(ndtr(edges)), -np.diff(ndtr(-edges))))


@population("exponential", Parameter("rate", float, "how fast weights fall", default=10.0))
def exponential(k: int, *, rate: float) -> Floats:
    """Falls by the factor e^-rate from one end of the domain to the other."""
    logarithms = -rate / k * np.arange(k)
    return np.asarray(np.exp(logarithms - logarithms.max()))


@population("uniform")
def uniform(k: int) -> Floats:
    """Every value is equally common."""
    return np.ones(k)


@population("poisson", Parameter("mean", float, "the mean of the numbers", default=5.0, above=0))
def poisson(k: int, *, mean: float) -> Floats:
    """Poisson numbers below k: nearly everybody is near the mean, whatever k is."""
    from scipy.special import gammaln

    values = np.arange(k)
    logarithms = values * math.log(mean) - gammaln(values + 1.0)
    return np.asarray(np.exp(logarithms - logarithms.max()))


@population("triangular", Parameter("peak", float, "a fraction of the width", default=4 / 9, least=0, most=1))
def triangular(k: int, *, peak: float) -> Floats:
    """Rises in a line to the peak, a fraction of the domain's width, and falls to nothing."""
    edges = np.arange(k + 1) / k
    rising = edges**2 / peak if peak > 0 else np.zeros(k + 1)
    falling = 1 - (1 - edges) ** 2 / (1 - peak) if peak < 1 else np.ones(k + 1)
    return np.diff(np.where(edges < peak, rising, falling))


def largest_remainder(shares: Floats, n: int) -> Counts:
    """Return whole numbers that sum to n, each next to its share."""
    counts = np.floor(shares).astype(np.int64)
    left = n - int(counts.sum())
    counts[np.argsort(counts - shares, kind="stable")[:left]] += 1
    return counts


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number):  # also an integer of hundreds of digits, which no float holds
        return number
    try:
        return int(text)
    except ValueError:
        return number


def _whole(number: float, name: str) -> int:
    if not math.isfinite(number) or number != math.floor(number):
        raise InvalidParameterError(f"{name} must be a whole number, got {number!r}")
    return int(number)
