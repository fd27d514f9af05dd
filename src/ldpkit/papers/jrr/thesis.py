"""What the thesis computes: its privacy theorem, its parameters and its data."""

from __future__ import annotations

import math

from ldpkit.assurance.joint import Adversary, guarantee
from ldpkit.mechanisms.joint.jrr import JRR
from ldpkit.planning.pairs.search import Constraint

__all__ = ["COLLUDERS", "TABLE_4_3", "choice", "hidden", "in_words", "theorem_3"]

COLLUDERS = 5
TABLE_4_3 = {
    "Kosarak": (20_000, 659),
    "Amazon": (10_000, 762),
    "E-commerce": (23_486, 19_314),
    "Census": (10_000, 9_528),
}
"""People and ones of each data set."""


def choice(epsilon: float, known: int = COLLUDERS) -> JRR:
    """Return the mechanism that the thesis recommends: the smallest rho, and no epsilon towards a partner."""
    return JRR(2, epsilon, adversary=Adversary(known=known))


def hidden(epsilon: float, n: int) -> float:
    """Return the exact epsilon of that choice with a hidden pairing and five people known.

    Examples
    --------
    >>> round(hidden(1.0, 20_000), 6)
    1.000342
    """
    return guarantee(choice(epsilon), Adversary(known=COLLUDERS), n).epsilon


def theorem_3(n: int, m: int) -> Constraint:
    """Return epsilon as Theorem 3 states it, from p and the probability that both are untruthful.

    Examples
    --------
    >>> round(theorem_3(4, 2)(0.75, 0.025), 6)             # exactly it is 1.945910
    1.734601
    """

    def towards(p: float, both: float) -> float:
        q = 1 - p
        rho = (both - q * q) / (p * q)
        most, least = max((1 - rho) * p, p + rho * q), min((1 - rho) * q, q + rho * p)
        below = m * least + (n - m - 1) * q
        return math.log((m * most + (n - m - 1) * p) / below) if below > 0 else math.inf

    return towards


def in_words(oracle: JRR, n: int) -> str:
    """Return what a setting tells whom, for a caption."""
    parts = [f"epsilon {oracle.exact_epsilon_alone():.4g} for one report"]
    if oracle.adversary is not None:
        stated = guarantee(oracle, oracle.adversary, n)
        number = "infinite" if math.isinf(stated.epsilon) else f"{stated.epsilon:.6g}"
        parts.append(f"{number} with {oracle.adversary.known} people known and the pairing hidden")
    partner = oracle.exact_epsilon()
    return ", ".join([*parts, f"{'infinite' if math.isinf(partner) else f'{partner:.6g}'} towards a partner"])
