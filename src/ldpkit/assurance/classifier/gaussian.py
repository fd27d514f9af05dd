"""Gaussian noise as the law of a column: for questions about utility, never for a device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from ldpkit.assurance.classifier.columns import PIECES, PrivateColumn
from ldpkit.assurance.classifier.outputs import Outputs
from ldpkit.assurance.classifier.relaxations import check_sigma
from ldpkit.core.domains.interval import IntervalDomain
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats

__all__ = ["GaussianNoise"]

_REACH = 9.0  # standard deviations: what lies beyond has a probability of 2e-19


@dataclass(frozen=True)
class GaussianNoise(PrivateColumn):
    """A column with Gaussian noise, for questions about utility; it refuses to privatize.

    It has no pure epsilon, and what floating-point noise reveals is not covered by any of
    these laws, so no device may use it.

    Parameters
    ----------
    sigma : float
        The standard deviation, as a share of the width of the domain.
    low, high : float
        The domain.
    clip : bool
        Whether the model sees reports moved into the domain.

    Examples
    --------
    >>> from ldpkit.assurance.classifier.relaxations import pac_sigma
    >>> column = GaussianNoise(pac_sigma(2.0, 0.1))
    >>> law = column.outputs(np.array([0.5]))
    >>> round(float(law.between(np.array([0.2]), np.array([0.8]))[0]), 4)
    0.2572
    >>> column.draw(np.array([0.5]))
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: Gaussian noise is here for analysis only, since it has no pure \
epsilon: privatize with laplace, ogpm or another registered mechanism
    """

    sigma: float
    low: float = 0.0
    high: float = 1.0
    clip: bool = False

    def __post_init__(self) -> None:
        check_sigma(self.sigma)
        IntervalDomain(self.low, self.high)

    @property
    def mechanism(self) -> GaussianNoise:
        """Itself: there is no mechanism that a device could use."""
        return self

    @property
    def domain(self) -> IntervalDomain:
        """The interval of the values."""
        return IntervalDomain(self.low, self.high)

    @staticmethod
    def exact_epsilon() -> float:
        """Return infinity: the privacy loss of a Gaussian report has no bound."""
        return math.inf

    def outside(self, values: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which values are not in the domain."""
        return ~((values >= self.low) & (values <= self.high))

    def outputs(self, values: Floats, pieces: int = PIECES) -> Outputs:
        """Return the law of what the model sees, in pieces of even density; its error is in `slack`."""
        edges, masses, slack = _normal_pieces(min(pieces, PIECES))
        moved = values[:, None] + self.sigma * (self.high - self.low) * edges
        spread = np.broadcast_to(masses, (len(values), len(masses))).copy()
        law = Outputs(moved, spread, np.zeros(0), np.zeros((len(values), 0)), slack)
        return law.clipped(self.low, self.high) if self.clip else law

    def draw(self, values: Floats, rng: RandomSource | None = None) -> NoReturn:
        """Refuse: a law for analysis privatizes nothing, not even in a simulation."""
        raise InvalidParameterError(
            "Gaussian noise is here for analysis only, since it has no pure epsilon: privatize with laplace, "
            "ogpm or another registered mechanism"
        )

    def privatize(self, values: Any, *, rng: RandomSource | None = None) -> NoReturn:
        """Refuse, as `draw` does."""
        self.draw(values, rng)


@lru_cache(maxsize=4)
def _normal_pieces(pieces: int) -> tuple[Floats, Floats, float]:
    """Return edges and masses for the standard normal law, and how far its distribution function is off.

    Within a piece of width h the error is at most h^2/8 times the largest slope of the density,
    and at most the mass of the piece, so pieces are narrow where the density is steep.
    """
    from scipy.special import ndtr

    fine = np.linspace(-_REACH, _REACH, 1 << 15)
    density = np.exp(-(fine**2) / 2)
    effort = np.concatenate([[0.0], np.cumsum((((np.abs(fine) + 0.05) * density) ** 0.4)[1:])])
    edges = np.interp(np.linspace(0, effort[-1], pieces + 1), effort, fine)
    edges[0], edges[-1] = -_REACH, _REACH
    halves = ndtr(-np.abs(edges))
    below = np.where(edges < 0, halves, 1 - halves)
    masses = np.diff(below)
    masses /= masses.sum()
    least, most = np.sort(np.abs(np.stack([edges[:-1], edges[1:]])), axis=0)
    least[edges[:-1] * edges[1:] < 0] = 0.0
    near = np.clip(1.0, least, most)  # the density is steepest at 1
    steepest = near * np.exp(-(near**2) / 2) / math.sqrt(2 * math.pi)
    off = np.minimum(np.diff(edges) ** 2 / 8 * steepest, masses)
    return edges, masses, float(off.max()) + 1e-15
