"""The tally of reports with several coordinates: joint bins, so few that they can be counted."""

from __future__ import annotations

import abc
import math

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidInputError
from ldpkit.core.parameters import exact_sum
from ldpkit.core.typing import Counts, Reports
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.tally import SpatialTally

__all__ = ["MOST_BINS", "JointBins"]

MOST_BINS = 4096
"""A tally counts reports in at most so many joint bins."""

_TALLY_CHUNK = 1 << 16


class JointBins(Mechanism):
    """A mechanism whose reports are cells along one or more coordinates, counted in joint bins of them.

    Examples
    --------
    >>> import ldpkit
    >>> mechanism = ldpkit.get("planar_window", ((0, 0), (1, 1)), epsilon=4)
    >>> mechanism.shape, mechanism.bin_shape
    ((8192, 8192), (64, 64))
    """

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, ...]:
        """How many cells there are along each coordinate of a report."""

    @cached_property
    def bin_shifts(self) -> tuple[int, ...]:
        """Along each coordinate, the k for which a joint bin of the tally is 2**k cells wide."""
        most = MOST_BINS if len(self.shape) == 1 else math.isqrt(MOST_BINS)
        return tuple(max(0, (cells - 1).bit_length() - (most - 1).bit_length()) for cells in self.shape)

    @property
    def bin_shape(self) -> tuple[int, ...]:
        """How many joint bins a tally has along each coordinate."""
        return tuple(-(-cells >> shift) for cells, shift in zip(self.shape, self.bin_shifts, strict=True))

    @cached_property
    def bin_edges(self) -> tuple[Counts, ...]:
        """The edges of the bins along each coordinate, in cells."""
        return tuple(
            np.minimum(np.arange(bins + 1, dtype=np.int64) << shift, cells)
            for bins, shift, cells in zip(self.bin_shape, self.bin_shifts, self.shape, strict=True)
        )

    @property
    def tally_size(self) -> int:
        return math.prod(self.bin_shape)

    def check_counts(self, n: int, counts: Counts) -> None:
        if n < 0 or (counts < 0).any() or exact_sum(counts) != n:
            raise InvalidInputError(f"the bins of {n} reports must not be negative and sum to {n}")

    def tally(self, reports: Reports) -> SpatialTally:
        """Return the joint counts of some reports."""
        counts, n = np.zeros(self.tally_size, np.int64), 0
        for some in self.report_chunks(reports, _TALLY_CHUNK):
            bins = np.zeros(len(some), np.int64)
            columns = some[:, None] if some.ndim == 1 else some
            for column, shift, size in zip(columns.T, self.bin_shifts, self.bin_shape, strict=True):
                bins *= size
                bins += column >> shift
            counts += np.bincount(bins, minlength=self.tally_size)
            n += len(some)
        return SpatialTally(self, n, counts)
