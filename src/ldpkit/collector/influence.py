"""How far invented devices can move a result: they report whatever moves it most."""

from __future__ import annotations

from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.kinds import is_frequency, is_numeric

__all__ = ["influence"]


def influence(mechanism: Mechanism, share: float) -> str | None:
    """Return in words by how much a share of invented devices can move an estimate; None if it is not known.

    A report that supports a value weighs (1 - q) / (p - q) in its frequency, and one that does not
    weighs -q / (p - q). So fakes move a frequency up by at most share (1 - q) / (p - q).

    Examples
    --------
    >>> import ldpkit
    >>> influence(ldpkit.GRR(2, epsilon=1), 0.01), influence(ldpkit.PM((0, 100), epsilon=1), 0.01)
    ('1.6 percentage points', '3.6 (3.6% of the range)')
    """
    if is_frequency(mechanism) and mechanism.can("pure"):
        p, q = (float(each) for each in mechanism.support_probabilities)
        return f"{100 * share * max(1 - q, p) / (p - q):.1f} percentage points"
    if is_numeric(mechanism) and mechanism.line is not None:
        low, high = mechanism.output_range
        slope = float(mechanism.line[1])
        moved = share * (high - low) / slope
        return f"{moved:.2g} ({100 * moved / mechanism.domain.width:.1f}% of the range)"
    return None
