"""JRR (Zheng's dissertation, chapter 4 and appendix B): examples 2-3, figures 4.1-4.6 and B.1.

The thesis correlates the noise of paired people and states a privacy theorem that does
not hold: a partner who knows the pairing can learn the bit. Its errors are reproduced as
they are, and each has beside it what the same setting really tells whom. Statements that
contradict the thesis' own Theorem 4 are shown to do so.
"""

from __future__ import annotations

from ldpkit.papers import in_parts, reproduction
from ldpkit.papers.jrr.errors import example_claims, real_claims, synthetic_claims
from ldpkit.papers.jrr.privacy import privacy_claims, trade_claims
from ldpkit.papers.jrr.study import study_claims

__all__ = ["run"]


run = reproduction("jrr", "JRR: joint randomised response in pairs (examples 2-3, figures 4.1-4.6, B.1)")(
    in_parts(
        example_claims,
        privacy_claims,
        real_claims,
        synthetic_claims,
        trade_claims,
        study_claims,
    )
)
