"""Baselines with a table: every site for every other, less likely the farther it is.

Sites are the cells of a grid or public places. Chances are made from distances in floating point,
then turned into integers over 2**64, and the scale of the distances is chosen so that the
*integers* have the epsilon that is stated: not a sensitivity, which promises more than it
needs, or less than it keeps.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.exact import WORD, exp_bounds, log_up
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats, Indices, Reports, Words
from ldpkit.mechanisms.forms import word_rows
from ldpkit.mechanisms.spatial.mechanism import SpatialMechanism

__all__ = ["SiteTable", "least_words", "solve_table", "table_ratio"]

_LARGEST = 2.0**1000  # of a scale: where nothing changes up to there, nothing ever does


class SiteTable(SpatialMechanism):
    """A spatial mechanism that is a table: for each site the chance of every site."""

    capabilities = SpatialMechanism.capabilities | {"client"}

    @property
    @abc.abstractmethod
    def sites(self) -> Floats:
        """The points of the map that reports stand for."""

    @abc.abstractmethod
    def _site(self, points: Floats) -> Indices:
        """Return the index of the own site of each point of the map."""

    @abc.abstractmethod
    def _chances(self, scale: float) -> Floats:
        """Return the chance of every site for every own one, positive, for a scale of distances."""

    @cached_property
    def _solved(self) -> tuple[float, Any]:
        """The scale, and the integers that it leads to."""
        return _solve(self)

    @property
    def _unit(self) -> float:
        """The distance by which scales are judged: the diagonal of the region."""
        return float(np.hypot(*np.diff(self.domain.region.box, axis=0)[0]))

    @property
    def scale(self) -> float:
        """How fast chances fall: by e^-scale for each unit of distance on the map."""
        return self._solved[0]

    @property
    def weights(self) -> Any:
        """The integer weight of every site for every own one, over 2**64."""
        return self._solved[1]

    def details(self) -> dict[str, float]:
        return {"scale": self.scale, "sites": len(self.sites)}

    def exact_epsilon(self) -> float:
        return log_up(table_ratio(self.weights))

    @property
    def place_shape(self) -> tuple[int, ...]:
        return self.shape

    def _flat(self, places: Any) -> Any:
        return places if len(self.shape) == 1 else places[:, 0] * np.uint32(self.shape[1]) + places[:, 1]

    def _folded(self, sites: Any) -> Any:
        if len(self.shape) == 1:
            return sites
        return np.stack(np.divmod(sites, np.uint32(self.shape[1])), axis=1)

    def _place(self, points: Floats) -> Indices:
        found: Indices = self._folded(self._site(points))
        return found

    def _place_points(self, places: Indices) -> Floats:
        return np.asarray(self.sites[self._flat(places)])

    def row(self, place: tuple[int, ...]) -> list[Fraction]:
        own = int(np.ravel_multi_index(place, self.shape))
        return [Fraction(int(weight), WORD) for weight in self.weights[own]]

    def _chance(self, place: tuple[int, ...], cell: tuple[int, ...]) -> Fraction:
        own, other = (int(np.ravel_multi_index(each, self.shape)) for each in (place, cell))
        return Fraction(int(self.weights[own, other]), WORD)

    @cached_property
    def _bounds(self) -> Words:
        """For each own site the least random word of every site."""
        return least_words(self.weights)

    def _form(self) -> dict[str, Any]:
        return {"form": "rows", "shape": list(self.shape), "rows": word_rows(self.weights, self)}

    def _randomise(self, places: Indices, source: RandomSource) -> Reports:
        from ldpkit.mechanisms.kernels.planar import rows_of_sites

        own = np.ascontiguousarray(self._flat(places))
        sites = np.empty(len(own), np.uint32)
        rows_of_sites(source.words(len(own)), own, self._bounds, sites)
        base, _ = self._layout
        made: Reports = self._folded(sites).astype(base, copy=False)
        return made

    @cached_property
    def _shares(self) -> Floats:
        return np.asarray(self.weights.astype(np.float64) / float(WORD))

    @cached_property
    def _answers_of_sites(self) -> Floats:
        region = self.domain.region
        return self.sites if region.fills_frame else region.project(self.sites)

    def _errors(self, points: Floats, power: int) -> Floats:
        own, answers = self._site(points), self._answers_of_sites
        errors = np.empty(len(points))
        for start in range(0, len(points), 1024):
            some = slice(start, start + 1024)
            far = np.hypot(*(points[some, None, :] - answers).transpose(2, 0, 1)) ** power
            errors[some] = (self._shares[own[some]] * far).sum(axis=1)
        return errors

    def _mean_error(self, power: int) -> float:
        points, weights = self.domain.region.nodes(40)
        return float(weights @ self._errors(points, power))

    def _bin_masses(self, places: Indices) -> Floats:
        return np.asarray(self._shares[self._flat(places)])


@lru_cache(maxsize=64)
def _solve(mechanism: SiteTable) -> tuple[float, Any]:
    return solve_table(mechanism._chances, mechanism.epsilon, mechanism.epsilon / mechanism._unit)


def solve_table(chances: Callable[[float], Floats], epsilon: float, guess: float) -> tuple[float, Any]:
    """Return the largest scale at which a table keeps epsilon, and its integers over 2**64.

    Parameters
    ----------
    chances : callable
        Takes a scale; returns the chance of each column for each row, up to a factor of the row. At
        scale 0 all rows are alike, and they differ the more the larger it is.
    epsilon : float
        What no two entries of a column may exceed in log ratio.
    guess : float
        A scale to begin with.

    Examples
    --------
    >>> scale, weights = solve_table(lambda scale: np.exp(-scale * (1 - np.eye(2))), 1.0, 3.0)
    >>> round(scale, 9), round(float(table_ratio(weights)), 6)
    (1.0, 2.718282)
    """

    def excess(scale: float) -> float:
        return _spread(chances(scale)) - epsilon * (1 - 2.0**-42)

    bound, shrink = exp_bounds(epsilon)[0], 2.0**-36
    scale = _largest(chances, excess, guess)
    weights = _integers(chances(scale))
    while table_ratio(weights) > bound:
        scale *= 1 - shrink
        shrink *= 2  # the smallest weights may be few words, and take larger steps
        weights = _integers(chances(scale))
    return scale, weights


def _largest(chances: Callable[[float], Floats], excess: Callable[[float], float], guess: float) -> float:
    """Return the largest scale without an excess, in floating point."""
    from scipy.optimize import brentq

    high = guess
    while excess(high) < 0:
        # The steps of a staircase may end before epsilon is reached: then there is no more to gain.
        if high > _LARGEST or (chances(high) == chances(2 * high)).all():
            return high
        high *= 2
    low = high / 2
    while excess(low) >= 0:
        low /= 2
    return float(brentq(excess, low, high, xtol=1e-14 * high, rtol=1e-14))


def _spread(chances: Floats) -> float:
    """Return the epsilon of a table of chances, in floating point."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(chances / chances.sum(axis=1, keepdims=True))
        spread = float((logs.max(axis=0) - logs.min(axis=0)).max())
    return math.inf if math.isnan(spread) else spread


def _integers(chances: Floats) -> Any:
    """Return rows of positive integers that sum to 2**64."""
    whole = chances / chances.sum(axis=1, keepdims=True)
    weights = np.maximum(np.floor(whole * float(WORD - (1 << 20))), 1).astype(np.uint64)
    # What is left over goes to the likeliest site of each row, one part in 2**44 of everything.
    left = np.uint64(0) - weights.sum(axis=1, dtype=np.uint64)  # modulo 2**64
    weights[np.arange(len(weights)), weights.argmax(axis=1)] += left
    return weights


def table_ratio(weights: Any) -> Fraction:
    """Return the largest ratio of two rows over all columns, exactly."""
    return max(
        Fraction(int(high), int(low))
        for high, low in zip(weights.max(axis=0).tolist(), weights.min(axis=0).tolist(), strict=True)
    )


def least_words(weights: Any) -> Words:
    """Return for each row of integer weights the least random word of every column."""
    below = np.zeros(weights.shape, np.uint64)
    np.cumsum(weights[:, :-1], axis=1, out=below[:, 1:])
    return below
