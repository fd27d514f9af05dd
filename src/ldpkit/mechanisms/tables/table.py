"""Tables: a mechanism as integers over 2**64, and the check that it keeps its promise.

A table comes from a solver, from a cache or, on a device, from the collector. Whoever
uses it can check in integers that it is epsilon-LDP, and need not trust where it comes
from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from ldpkit.core.cached import cached_property
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.exact import WORD, exp_bounds, log_up
from ldpkit.core.typing import Floats, Words

__all__ = ["ReportTable", "check_size", "worst_ratio"]

_DIGITS = 16  # hexadecimal digits of a weight
# What a table may have: far more than does any good, and little enough to be checked in a few seconds.
_MOST_OUTPUTS = 1 << 15
_MOST_WEIGHTS = 1 << 20
_FARTHEST = 1 << 31


def worst_ratio(rows: Sequence[Sequence[int | Fraction]]) -> Fraction | None:
    """Return the largest ratio of two rows over all columns; None if an output is impossible for one only.

    Its logarithm is epsilon, by the definition of epsilon-LDP.

    Examples
    --------
    >>> worst_ratio([[1, 3], [2, 2]])
    Fraction(2, 1)
    >>> worst_ratio([[0, 4], [1, 3]]) is None
    True
    """
    worst = Fraction(1)
    for column in zip(*rows, strict=True):
        low, high = min(column), max(column)
        if low == 0 < high:
            return None
        if high > worst * low:
            worst = Fraction(high) / Fraction(low)
    return worst


def check_size(inputs: int, outputs: int) -> None:
    """Refuse a table that is too large to be sent, read and checked."""
    if outputs > _MOST_OUTPUTS or inputs * outputs > _MOST_WEIGHTS:
        raise InvalidParameterError(
            f"a table of {inputs} inputs and {outputs} outputs is too large: it has at most {_MOST_OUTPUTS} "
            f"outputs and {_MOST_WEIGHTS} weights: use fewer intervals"
        )


@dataclass(frozen=True)
class ReportTable:
    """The integer weight of every output for every input.

    Parameters
    ----------
    outputs : tuple of int
        The outputs in ascending order, in steps of which the mechanism knows the length.
    rows : tuple of tuples of int
        A row for each input 0..bins, a weight over 2**64 for each output.

    Examples
    --------
    >>> half = 1 << 63
    >>> table = ReportTable((0, 1), ((half, half), (half // 4, 2 * half - half // 4)))
    >>> table.check(1.0)
    Traceback (most recent call last):
    ...
    ldpkit.core.errors.InvalidParameterError: the table is not 1-LDP but has epsilon 1.38629...: do not use it
    """

    outputs: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]

    @property
    def bins(self) -> int:
        """The number of cells of the input grid."""
        return len(self.rows) - 1

    def check(self, epsilon: float) -> None:
        """Refuse the table unless it sums to one and is epsilon-LDP, all exactly."""
        if len(self.rows) < 2 or len(self.outputs) < 2:
            raise InvalidParameterError("a table needs at least two inputs and two outputs")
        if list(self.outputs) != sorted(set(self.outputs)):
            raise InvalidParameterError("the outputs of a table must ascend")
        for own, row in enumerate(self.rows):
            if len(row) != len(self.outputs) or min(row) <= 0 or sum(row) != WORD:
                raise InvalidParameterError(
                    f"the weights of input {own} are not positive integers that sum to 2**64"
                )
            self._check_row(own, row)
        worst = worst_ratio(self.rows)
        if worst is None or worst > exp_bounds(epsilon)[0]:
            found = math.inf if worst is None else log_up(worst)
            raise InvalidParameterError(
                f"the table is not {epsilon:g}-LDP but has epsilon {found}: do not use it"
            )

    def _check_row(self, own: int, row: tuple[int, ...]) -> None:
        """Refuse the row of an input that breaks what else a table of this kind promises."""

    @cached_property
    def shares(self) -> Floats:
        """The probabilities, shape (inputs, outputs)."""
        return np.array([[weight / WORD for weight in row] for row in self.rows])

    @cached_property
    def bounds(self) -> Words:
        """For each input the lower bounds of the random words that give each output."""
        bounds = np.zeros((len(self.rows), len(self.outputs)), np.uint64)
        for own, row in enumerate(self.rows):
            below = 0
            for place, weight in enumerate(row):
                bounds[own, place] = below
                below += weight
        return bounds

    def mixture(self, own: int, upper: int, whole: int) -> tuple[int, ...]:
        """Return the weights, over 2**64 times `whole`, of input `own` but for `upper` parts the next one."""
        if upper == 0:
            return tuple(weight * whole for weight in self.rows[own])
        return tuple(
            low * (whole - upper) + high * upper
            for low, high in zip(self.rows[own], self.rows[own + 1], strict=True)
        )

    def to_text(self) -> str:
        """Return the weights as hexadecimal digits, 16 a weight, row by row."""
        return "".join(f"{weight:0{_DIGITS}x}" for row in self.rows for weight in row)

    @classmethod
    def from_text(cls, outputs: Sequence[int], text: str) -> Self:
        """Return the table of `to_text`, whoever wrote it; `check` tells whether it keeps its promise."""
        if not isinstance(outputs, (list, tuple)) or len(outputs) < 2:
            raise InvalidParameterError("the outputs of a table are an array of at least 2")
        for output in outputs:
            if type(output) is not int or abs(output) > _FARTHEST:
                raise InvalidParameterError(
                    f"an output is a whole number of at most {_FARTHEST} steps, got {str(output)[:50]!r}"
                )
        width = _DIGITS * len(outputs)
        if not isinstance(text, str) or not text or len(text) % width:
            raise InvalidParameterError(
                f"weights of {len(outputs)} outputs are {width} hexadecimal digits a row"
            )
        check_size(len(text) // width, len(outputs))
        if not set(text) <= set("0123456789abcdef"):
            raise InvalidParameterError("weights are hexadecimal digits and nothing else")
        weights = [int(text[at : at + _DIGITS], 16) for at in range(0, len(text), _DIGITS)]
        count = len(outputs)
        rows = (tuple(weights[at : at + count]) for at in range(0, len(weights), count))
        return cls(tuple(outputs), tuple(rows))
