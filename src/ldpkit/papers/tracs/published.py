"""What the published code does where it differs from what is said, for reproduction alone.

None of this has the epsilon that it states, so it is no mechanism of the house: floating point
on whole trajectories, under names that say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ldpkit.core.domains.regions import Rectangle
from ldpkit.core.domains.trajectories import Trajectories
from ldpkit.core.random import RandomSource
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.spatial.chain import steps_along
from ldpkit.mechanisms.spatial.directions import from_reference, seen_from

__all__ = [
    "published_chain",
    "published_krr",
    "published_krr_epsilon",
    "published_srr_epsilon",
    "published_steps",
    "published_sw_direction",
    "window",
]

Sampler = Callable[[Floats, np.random.Generator], Floats]


def published_krr(sectors: int, epsilon: float) -> Sampler:
    """Return the direction of the strawman as coded: a sector is redrawn with chance 1/(k - 1 + e^eps)."""
    redrawn = 1 / (sectors - 1 + math.exp(epsilon))

    def sample(turns: Floats, generator: np.random.Generator) -> Floats:
        own = np.floor((turns % 1.0) * sectors)
        any_of = generator.integers(0, sectors, len(turns))
        sector = np.where(generator.random(len(turns)) < redrawn, any_of, own)
        return np.asarray((sector + generator.random(len(turns))) / sectors)

    return sample


def published_krr_epsilon(sectors: int, epsilon: float) -> float:
    """Return the epsilon that this has.

    Examples
    --------
    >>> round(published_krr_epsilon(6, 2.0), 2)
    4.24
    """
    redrawn = 1 / (sectors - 1 + math.exp(epsilon))
    return math.log((1 - redrawn + redrawn / sectors) / (redrawn / sectors))


def published_srr_epsilon(epsilon: float) -> float:
    """Return the epsilon of L-SRR as coded, where chances are in the ratio of eps and not of e^eps.

    Examples
    --------
    >>> round(published_srr_epsilon(4.0), 4)
    1.3863
    """
    return math.log(epsilon)


def window(share: float, epsilon: float, *, too_seldom: float = 1.0, around: bool = True) -> Sampler:
    """Return a window of some share of the circle or of [0, 1], e^eps times as likely as the rest.

    `too_seldom` is by how much the code takes the window less often than that.
    """
    inside = share * math.exp(epsilon) / (share * math.exp(epsilon) + 1 - share) / too_seldom

    def sample(values: Floats, generator: np.random.Generator) -> Floats:
        own = values % 1.0 if around else values
        start = own - share / 2 if around else np.clip(own - share / 2, 0.0, 1.0 - share)
        place = generator.random(len(values))
        near = start + share * place
        far = start + share + (1 - share) * place  # what is left, beginning behind the window
        chosen = np.where(generator.random(len(values)) < inside, near, far)
        return np.asarray(chosen % 1.0)

    return sample


def published_sw_direction(epsilon: float) -> Sampler:
    """Return the redesigned SW for directions as coded: its window is taken pi times too seldom."""
    return window(_sw_share(epsilon), epsilon, too_seldom=math.pi)


def _sw_share(epsilon: float) -> float:
    grown = math.exp(epsilon)
    return (grown * (epsilon - 1) + 1) / (grown - 1) ** 2


def published_chain(
    walks: Trajectories,
    starts: Floats,
    direction: Sampler,
    distance: Sampler,
    source: RandomSource,
    high: tuple[float, float] = (1.0, 1.0),
) -> Floats:
    """Return the reported points of Algorithm 1 with parts that have no integers."""
    region, generator = Rectangle((0.0, 0.0), high), source.generator()
    references, answers = np.array(starts, float), np.empty_like(walks.points)
    for going, at in steps_along(walks.offsets):
        turns, shares = seen_from(region, references[going], walks.points[at])
        found = from_reference(
            region, references[going], direction(turns, generator), distance(np.clip(shares, 0, 1), generator)
        )
        answers[at] = references[going] = region.project(found)
    return answers


def published_steps(
    walks: Trajectories,
    reports: Floats,
    direction: Sampler,
    distance: Sampler,
    source: RandomSource,
    high: tuple[float, float],
) -> Floats:
    """Return reports that take those of another method for references, the corner first, as coded."""
    region, generator = Rectangle((0.0, 0.0), high), source.generator()
    references = np.concatenate([np.zeros((1, 2)), reports[:-1]])
    references[walks.offsets[:-1]] = 0.0
    turns, shares = seen_from(region, references, walks.points)
    found = from_reference(
        region, references, direction(turns, generator), distance(np.clip(shares, 0, 1), generator)
    )
    return region.project(found)
