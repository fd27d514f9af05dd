"""Which unbiased mechanism a description of the data speaks for.

The expected variance of a report is linear in the shares of the grid points, so two
mechanisms are compared by the shares and the difference of their variances at the points.
What the comparison must not forget: AAA's table was fitted to the very reports that judge
it, and looks better by them than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_epsilon
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.adaptive.descriptor import check_descriptor
from ldpkit.mechanisms.adaptive.mechanism import AAA
from ldpkit.mechanisms.adaptive.solve import fitted_table
from ldpkit.mechanisms.kinds import numeric_class

__all__ = ["FITTED", "RIVALS", "choose", "grid_variances", "rounding_variance"]

FITTED = AAA.name
"""The mechanism that is fitted to a descriptor, by its name."""

RIVALS = ("duchi", "hm", "laplace", "pm")
"""Unbiased mechanisms that need no descriptor."""


def rounding_variance(bins: int) -> float:
    """Return the variance that randomised rounding adds on average over a cell, on the scale of [-1, 1].

    At a distance d from the lower of two grid points it is d (2/N - d), at most 1/N^2.

    Examples
    --------
    >>> round(rounding_variance(16), 4)
    0.0026
    """
    return (2 / bins) ** 2 / 6


def grid_variances(
    descriptor: object, epsilon: float, *, rivals: Sequence[str] = RIVALS, noise_range: int | None = None
) -> dict[str, Floats]:
    """Return the variance of a report at each grid point by mechanism, on the scale of [-1, 1].

    That of "aaa", fitted to the descriptor, includes what rounding to its grid adds. The
    descriptor tells nothing of where values lie within a cell: rounding is taken at its
    mean, and the others' variances, which are nearly even across a cell, at the grid points.

    Parameters
    ----------
    descriptor : array
        The shares of the grid points that AAA is fitted to.
    epsilon : float
        The privacy parameter.
    rivals : sequence of str
        The names of the unbiased mechanisms to compare with.
    noise_range : int, optional
        AAA's, as in its constructor.

    Examples
    --------
    >>> found = grid_variances([0.0, 0.0, 1.0, 0.0, 0.0], 1.0, rivals=("duchi", "pm"))
    >>> sorted(found, key=lambda name: found[name][2])
    ['aaa', 'pm', 'duchi']
    """
    shares, epsilon = check_descriptor(descriptor), check_epsilon(epsilon)
    table = fitted_table(shares, epsilon, noise_range=noise_range)
    fitted: Floats = table.variances + rounding_variance(table.bins)
    return {FITTED: fitted} | {name: _rival_variances(name, epsilon, len(shares)) for name in rivals}


def choose(variances: dict[str, Floats], shares: Floats, stderr: Floats) -> str:
    """Return the mechanism to take: AAA if it wins by more than a standard error, else the best rival.

    The margin makes up for AAA's being fitted to the reports that judge it. Of margins from
    none to two standard errors, one has about the least regret over many distributions,
    epsilons and numbers of people. Judging AAA by reports that it was not fitted to, or
    correcting it by simulated ones, is no better.

    Parameters
    ----------
    variances : dict
        As `grid_variances` returns them.
    shares : array
        The estimated shares of the grid points, which sum to one. A descriptor that is
        smoothed speaks for AAA, which is best where people are everywhere.
    stderr : array
        The standard errors of the shares.

    Examples
    --------
    >>> variances = grid_variances([0.05, 0.05, 0.8, 0.05, 0.05], 2.0)
    >>> ends, middle = np.array([0.5, 0, 0, 0, 0.5]), np.array([0, 0, 1.0, 0, 0])
    >>> [choose(variances, shares, np.full(5, 0.05)) for shares in (ends, middle)]
    ['duchi', 'aaa']
    """
    rivals = [name for name in variances if not numeric_class(name).can("fitted")]
    rival = min(rivals, key=lambda name: float(shares @ variances[name]))
    lead = variances[rival] - variances[FITTED]
    # Shares sum to one, so a lead that is the same at all points has no error.
    chance = np.linalg.norm((lead - lead.mean()) * stderr)
    return FITTED if shares @ lead > chance else rival


@lru_cache(maxsize=256)
def _rival_variances(name: str, epsilon: float, points: int) -> Floats:
    """Return the variances of an unbiased mechanism at the grid points; they take a while."""
    kind = numeric_class(name)
    if not kind.can("unbiased"):
        raise InvalidParameterError(f"{name} is not an unbiased numeric mechanism: leave it out")
    variances: Floats = kind.make((-1.0, 1.0), epsilon=epsilon).variance(np.linspace(-1, 1, points))
    variances.setflags(write=False)
    return variances
