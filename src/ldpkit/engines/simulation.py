"""Simulated users on a cluster: the same reports whatever the partitioning.

People stand in blocks of fixed size, and the randomness of a block is derived from the seed
and the number of the block. It is simulation, not collection: who runs it knows every value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ldpkit.core.errors import InvalidInputError
from ldpkit.core.provenance import Provenance
from ldpkit.core.random import seeded
from ldpkit.core.typing import Counts, Reports
from ldpkit.engines.partial import Job, Partial, PartialCounts
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["BLOCK", "SimulatedUsers"]

BLOCK = 1 << 16
"""People whose reports come from one stream of randomness; another size would make other reports."""


@dataclass(frozen=True)
class SimulatedUsers:
    """People with known values, whose reports are made block by block from a seed.

    Parameters
    ----------
    oracle : FrequencyOracle
        What makes the reports.
    counts : array of int
        How many people hold each value.
    seed : int
        What the randomness comes from.

    Examples
    --------
    >>> import ldpkit
    >>> users = SimulatedUsers(ldpkit.OLH(4, epsilon=1), np.array([70_000, 30_000, 0, 0]), seed=1)
    >>> users.n, users.blocks, len(users.reports(1))
    (100000, 2, 34464)
    """

    oracle: FrequencyOracle
    counts: Counts
    seed: int
    _ends: Any = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        counts = np.asarray(self.counts)
        if counts.shape != (self.oracle.size,) or counts.dtype.kind not in "iu" or (counts < 0).any():
            raise InvalidInputError(
                f"counts are {self.oracle.size} whole numbers, how many people hold each value, got shape "
                f"{counts.shape} of {counts.dtype}"
            )
        seeded(self.seed)  # refuses what is no seed
        object.__setattr__(self, "_ends", np.cumsum(counts, dtype=np.int64))

    @property
    def n(self) -> int:
        """How many people there are."""
        return int(self._ends[-1])

    @property
    def blocks(self) -> int:
        """How many blocks of people there are."""
        return -(-self.n // BLOCK)

    def reports(self, block: int) -> Reports:
        """Return the reports of one block of people."""
        people = np.arange(block * BLOCK, min((block + 1) * BLOCK, self.n))
        values = np.searchsorted(self._ends, people, side="right").astype(np.uint32)
        domain = self.oracle.domain
        source = seeded(self.seed).derive(f"block {block}")
        named = np.asarray(domain.labels)[values] if domain.has_labels else values
        return self.oracle.first_reports(named, rng=source)

    def count_share(self, place: int, number: int) -> list[Partial]:
        """Return the partial tally of one of so many shares of the blocks."""
        group = PartialCounts(Job(self.oracle))
        made = Provenance.of(seeded(self.seed), domain="stated")
        for block in range(self.blocks * place // number, self.blocks * (place + 1) // number):
            group.add_reports(self.oracle, self.reports(block), made)
        return group.rows()
