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
    ('1.6 percentage points', '2.5 (2.5% of the range)')
    """
    if is_frequency(mechanism) and mechanism.can("pure"):
        p, q = (float(each) for each in mechanism.support_probabilities)
        return f"{100 * share * max(1 - q, p) / (p - q):.1f} percentage points"
    if is_numeric(mechanism) and mechanism.line is not None:
        start, slope = (float(each) for each in mechanism.line)
        low, width = mechanism.domain.low, mechanism.domain.width
        ends = [(each - low) / width for each in mechanism.output_range]
        # Honest reports of the lowest value have the mean `start`, of the highest `start + slope`.
        moved = share * max(ends[1] - start, start + slope - ends[0]) / slope
        return f"{moved * width:.2g} ({100 * moved:.1f}% of the range)"
    return None
