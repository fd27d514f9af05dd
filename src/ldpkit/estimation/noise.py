"""What is known of the noise in an estimate."""

from __future__ import annotations

from dataclasses import dataclass

from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["Noise"]


@dataclass(frozen=True)
class Noise:
    """The noise of an unbiased frequency estimate, as post-processing needs it.

    Parameters
    ----------
    n : int
        The number of reports.
    stderr : float
        The standard error of the frequency of a value that nobody holds:
        sqrt(q(1-q)/n) / (p-q) in a pure protocol.
    """

    n: int
    stderr: float

    @classmethod
    def of(cls, oracle: FrequencyOracle, n: int) -> Noise:
        """Return the noise of n reports of an oracle."""
        return cls(n, oracle.variance(0.0, n) ** 0.5)
