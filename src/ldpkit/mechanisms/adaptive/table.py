"""AAA's tables: unbiased ones, with their variances."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD
from ldpkit.core.typing import Floats
from ldpkit.mechanisms.tables.table import ReportTable

__all__ = ["NoiseTable"]


@dataclass(frozen=True)
class NoiseTable(ReportTable):
    """A table whose mean output is the input: output t lies at low + t / bins of the width.

    Examples
    --------
    >>> half = 1 << 63
    >>> table = NoiseTable((-1, 2), ((half + half // 3 + 1, half - half // 3 - 1), (half, half)))
    >>> table.check(2.0)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: the table is biased for input 0: it is damaged or not for AAA
    """

    def _check_row(self, own: int, row: tuple[int, ...]) -> None:
        if sum(weight * output for weight, output in zip(row, self.outputs, strict=True)) != own * WORD:
            raise InvalidParameterError(f"the table is biased for input {own}: it is damaged or not for AAA")

    @cached_property
    def variances(self) -> Floats:
        """The variance of a report for each input, on the scale of [-1, 1]."""
        unit = Fraction(4, self.bins**2)
        squares = (
            sum(weight * (output - own) ** 2 for weight, output in zip(row, self.outputs, strict=True))
            for own, row in enumerate(self.rows)
        )
        return np.array([float(unit * Fraction(square, WORD)) for square in squares])
