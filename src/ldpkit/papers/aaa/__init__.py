"""AAA (Wei, Bao, Xiao, Yang, Ding 2024): the variance, the error of the mean, and the settings.

The released code adds noise of about a quarter of the smallest variance that is private,
so the paper's margins are none: nothing in figures 3 to 5 can be reached by an
epsilon-LDP mechanism. Ours solves the corrected program. Where the paper prints a number
or a statement, it is compared with what private noise gives; errors of the mean are
expected ones, given the noise that the first phase led to, so a few collections tell.
"""

from __future__ import annotations

from ldpkit.papers import in_parts, reproduction
from ldpkit.papers.aaa.error import real_claims, synthetic_claims
from ldpkit.papers.aaa.noise import noise_claims
from ldpkit.papers.aaa.settings import setting_claims
from ldpkit.papers.aaa.variance import variance_claims

__all__ = ["run"]


run = reproduction("aaa", "AAA: adaptive noise for the mean of numbers (figures 1-6)")(
    in_parts(
        noise_claims,
        variance_claims,
        synthetic_claims,
        real_claims,
        setting_claims,
    )
)
