"""Both sides as distributions, for the metrics that compare distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ldpkit.core.errors import InvalidInputError
from ldpkit.estimation.consistency.scale import positive_shares

if TYPE_CHECKING:
    from ldpkit.core.typing import Floats

__all__ = ["masses"]


def masses(truth: Floats, estimates: Floats) -> tuple[Floats, Floats]:
    """Return truth and estimates scaled to sum to one.

    Negative estimates count as zero, and a row with nothing positive becomes uniform. A
    truth that is negative somewhere or zero everywhere is refused.

    Examples
    --------
    >>> import numpy as np
    >>> true, estimated = masses(np.array([30.0, 10.0]), np.array([[1.5, -0.5], [0.0, -1.0]]))
    >>> true.tolist(), estimated.tolist()
    ([0.75, 0.25], [[1.0, 0.0], [0.5, 0.5]])
    """
    if (truth < 0).any() or not truth.any():
        raise InvalidInputError("the truth must be frequencies or counts: not negative, and not all zero")
    return positive_shares(truth[None, :])[0], positive_shares(estimates)
