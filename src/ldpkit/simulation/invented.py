"""Invented people: values for a question before anybody was asked, so that a collection can be rehearsed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_people
from ldpkit.core.random import RandomSource
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.kinds import is_circular, is_frequency, is_numeric, is_spatial
from ldpkit.simulation.populations import zipf

__all__ = ["invent_values"]

_RESULTANT = 0.5  # of invented angles
_PLACES = np.array([[0.3, 0.6], [0.7, 0.3]])  # two towns, as shares of a region
_AROUND = 0.12


def invent_values(mechanism: Mechanism, people: int, rng: RandomSource) -> Any:
    """Return a value for each person: unequal categories, a hump of numbers, one prevailing direction.

    Examples
    --------
    >>> import ldpkit
    >>> values = invent_values(ldpkit.GRR(3, epsilon=1), 1000, ldpkit.random.seeded(1))
    >>> np.bincount(values).tolist()
    [567, 264, 169]
    """
    generator = rng.generator()
    check_people(people, "people")
    if is_frequency(mechanism):
        labels = mechanism.domain.labels
        # An index stands for a label of text; labels that are numbers would be taken for themselves.
        held = np.arange(mechanism.size) if isinstance(labels[0], str) else np.asarray(labels)
        return generator.permutation(np.repeat(held, zipf(mechanism.size, people)))
    if is_numeric(mechanism):
        return mechanism.domain.low + mechanism.domain.width * generator.beta(2, 3, people)
    if is_circular(mechanism):
        spread = math.sqrt(-2 * math.log(_RESULTANT)) / (2 * math.pi)
        turns = np.mod(1 / 3 + spread * generator.standard_normal(people), 1.0)
        return mechanism.domain.low + mechanism.domain.period * turns
    if is_spatial(mechanism):
        near = _PLACES[generator.integers(0, len(_PLACES), people)]
        shares = np.clip(near + _AROUND * generator.standard_normal((people, 2)), 0, 1)
        region = mechanism.domain.region
        return mechanism.domain.locations(region.project(region.from_shares(shares)))
    raise InvalidParameterError(
        f"ldpkit cannot invent people for {mechanism!r}: rehearse it with data of your own"
    )
