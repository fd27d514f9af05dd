"""Gaussian noise under two relaxations of epsilon: laws for analysis, which privatize nothing here.

PAC: with probability 1 - delta over the report, the privacy loss is at most epsilon. What the
rest reveals is not limited. (epsilon, delta): no event is likelier than e^epsilon times its
probability under another value, plus delta. The first implies the second with the same delta,
so it needs more noise. Gaussian noise has no pure epsilon, whatever sigma is.

Sigma is a share of the width of the domain, so that any two values are at most 1 apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.parameters import check_epsilon, check_fraction, check_whole
from ldpkit.core.results import Result

__all__ = [
    "SIGMAS",
    "Relaxations",
    "analytic_sigma",
    "check_sigma",
    "dp_delta",
    "pac_combined",
    "pac_delta",
    "pac_sigma",
    "printed_sigma",
    "proof_sigma",
    "relaxations",
]


def pac_delta(sigma: float, epsilon: float, columns: int = 1) -> float:
    """Return how likely the privacy loss of Gaussian reports is above epsilon, for the worst two values.

    Parameters
    ----------
    sigma : float
        The standard deviation of the noise in each column, as a share of the width of its domain.
    epsilon : float
        The limit on the loss of all columns together.
    columns : int
        How many columns get independent noise. Their losses add up to one normal variable.

    Examples
    --------
    >>> round(pac_delta(proof_sigma(2.0, 0.1), 2.0), 4)     # it was to be 0.1
    0.0072
    """
    from scipy.special import ndtr

    distance = math.sqrt(check_whole(columns, "columns")) / check_sigma(sigma)
    return float(ndtr(distance / 2 - epsilon / distance))


def dp_delta(sigma: float, epsilon: float, columns: int = 1) -> float:
    """Return the least delta with which Gaussian reports are (epsilon, delta)-private.

    Parameters
    ----------
    sigma, epsilon, columns
        As in `pac_delta`.

    Examples
    --------
    >>> sigma = pac_sigma(2.0, 0.1)
    >>> round(pac_delta(sigma, 2.0), 4), round(dp_delta(sigma, 2.0), 4)
    (0.1, 0.0352)
    """
    from scipy.special import log_ndtr, ndtr

    distance = math.sqrt(check_whole(columns, "columns")) / check_sigma(sigma)
    above, below = distance / 2 - epsilon / distance, -distance / 2 - epsilon / distance
    return float(ndtr(above) * -np.expm1(min(epsilon + log_ndtr(below) - log_ndtr(above), 0.0)))


def pac_combined(epsilon: float, delta: float, columns: int) -> tuple[float, float]:
    """Return what Theorem 16 says of independent PAC mechanisms together, epsilon and delta.

    All losses are at most epsilon with probability (1 - delta)^columns, and then their sum is
    at most columns * epsilon. The same holds for (epsilon, delta).

    Examples
    --------
    >>> total, delta = pac_combined(1.0, 0.1, 2)
    >>> total, round(delta, 10)
    (2.0, 0.19)
    """
    none_fails = check_whole(columns, "columns") * math.log1p(-check_fraction(delta, "delta"))
    return columns * check_epsilon(epsilon), -math.expm1(none_fails)


def printed_sigma(epsilon: float, delta: float) -> float:
    """Return sigma as Theorem 18 prints it, with epsilon outside the root.

    It is never below 0.7071, however large epsilon is.
    """
    root = math.sqrt(math.log(2 / check_fraction(delta, "delta")))
    return math.sqrt(0.5) * (root + check_epsilon(epsilon) + root) / epsilon


def proof_sigma(epsilon: float, delta: float) -> float:
    """Return sigma of Theorem 18 as its proof has it, with epsilon inside the root.

    Examples
    --------
    >>> round(printed_sigma(2.0, 0.1), 4), round(proof_sigma(2.0, 0.1), 4), round(pac_sigma(2.0, 0.1), 4)
    (1.931, 1.4022, 0.9142)
    """
    logs = math.log(2 / check_fraction(delta, "delta"))
    return math.sqrt(0.5) * (math.sqrt(logs + check_epsilon(epsilon)) + math.sqrt(logs)) / epsilon


def pac_sigma(epsilon: float, delta: float) -> float:
    """Return the least sigma with which the loss is above epsilon with probability delta at most."""
    from scipy.special import ndtri

    z = -float(ndtri(check_fraction(delta, "delta")))
    return (z + math.sqrt(z * z + 2 * check_epsilon(epsilon))) / (2 * epsilon)


def analytic_sigma(epsilon: float, delta: float) -> float:
    """Return the least sigma that is (epsilon, delta)-private: the analytic Gaussian of Balle and Wang.

    Examples
    --------
    >>> round(analytic_sigma(2.0, 0.1), 4), dp_delta(analytic_sigma(2.0, 0.1), 2.0) <= 0.1
    (0.732, True)
    """
    check_epsilon(epsilon)
    low, high = 0.0, pac_sigma(epsilon, check_fraction(delta, "delta"))
    while dp_delta(high, epsilon) > delta:  # rounding alone can bring this about
        high *= 1 + 1e-12
    while (middle := (low + high) / 2) > low and middle < high:
        low, high = (low, middle) if dp_delta(middle, epsilon) <= delta else (middle, high)
    return high


SIGMAS: dict[str, Callable[[float, float], float]] = {
    "Theorem 18 as printed": printed_sigma,
    "Theorem 18 as proven": proof_sigma,
    "least for PAC": pac_sigma,
    "least for (epsilon, delta)": analytic_sigma,
}
"""The rules for sigma, from the largest to the smallest."""


@dataclass(frozen=True, repr=False, eq=False)
class Relaxations(Result):
    """Four sigmas for one epsilon and delta, with what each of them keeps under both relaxations."""

    kind: ClassVar[str] = "relaxations"

    epsilon: float
    delta: float
    columns: int

    @property
    def title(self) -> str:
        """The title above the table."""
        return f"Gaussian noise for epsilon {self.epsilon:g} and delta {self.delta:g} in each column"

    @property
    def caption(self) -> str:
        """The caption below the table."""
        return (
            "sigma: share of the width of a column; pac: the probability that the loss of a column is above "
            "epsilon; dp: the delta of (epsilon, delta); together: the same for all columns at once and "
            f"{self.columns} times epsilon; theorem 16: what follows from pac alone"
        )

    def rows(self, top: int | None = None) -> list[dict[str, Any]]:
        """Return a row for each rule, from the largest sigma to the smallest."""
        found = []
        for rule, choose in list(SIGMAS.items())[:top]:
            sigma = choose(self.epsilon, self.delta)
            own, total = pac_delta(sigma, self.epsilon), self.columns * self.epsilon
            found.append(
                {
                    "rule": rule,
                    "sigma": sigma,
                    "pac": own,
                    "dp": dp_delta(sigma, self.epsilon),
                    "pac together": pac_delta(sigma, total, self.columns),
                    "dp together": dp_delta(sigma, total, self.columns),
                    "theorem 16": pac_combined(self.epsilon, own, self.columns)[1],
                }
            )
        return found

    def about(self) -> dict[str, Any]:
        """Return what was asked."""
        return {"epsilon": self.epsilon, "delta": self.delta, "columns": self.columns}

    def notes(self) -> list[str]:
        """Return what neither relaxation limits."""
        return ["nothing limits the loss beyond epsilon where it fails; these laws are for analysis only"]


def relaxations(epsilon: float, delta: float, columns: int = 1) -> Relaxations:
    """Return the sigmas of Theorem 18, as printed and as proven, beside the least ones.

    Examples
    --------
    >>> for row in relaxations(1.0, 0.1, columns=2).rows():
    ...     print(f"{row['rule']:27}{row['sigma']:.4f} {row['pac']:.4f} {row['dp']:.4f}")
    Theorem 18 as printed      3.1549 0.0014 0.0001
    Theorem 18 as proven       2.6373 0.0072 0.0008
    least for PAC              1.5950 0.1000 0.0234
    least for (epsilon, delta) 1.0859 0.2658 0.1000
    """
    check_epsilon(epsilon)
    check_fraction(delta, "delta")
    return Relaxations(float(epsilon), float(delta), check_whole(columns, "columns"))


def check_sigma(sigma: float) -> float:
    """Return sigma, or refuse what is not a positive number."""
    if not (0 < sigma < math.inf):
        raise InvalidParameterError(f"sigma must be a positive number, got {sigma!r}")
    return sigma
