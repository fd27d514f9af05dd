"""OGPM (Zheng's dissertation, chapter 5 and appendix C): figures 5.2-5.17 and C.3, examples 4-9.

The closed form is right for the absolute error, and only among densities with a uniform
floor. Most percentages come out; those on the circle compare arcs with differences of
numbers, and each is shown with arcs for everyone beside it. The claims about means and
distributions do not hold, and the better choice stands beside each.
"""

from __future__ import annotations

from collections.abc import Iterator

from ldpkit.papers import Claim, Settings, reproduction
from ldpkit.papers.ogpm.expected import circle_claims, line_claims, original_claims
from ldpkit.papers.ogpm.forms import example_claims, polar_claims, unbiased_claims
from ldpkit.papers.ogpm.motion import motion_claims
from ldpkit.papers.ogpm.noise import noise_claims, remap_claims
from ldpkit.papers.ogpm.solver import best_claims, solver_claims

__all__ = ["run"]


@reproduction("ogpm", "OGPM: the optimal piecewise mechanism (figures 5.2-5.17, C.3; examples 4-9)")
def run(settings: Settings) -> Iterator[Claim]:
    """Yield the claims, and draw the figures where there is a folder."""
    if settings.folder is not None:
        settings.folder.mkdir(parents=True, exist_ok=True)
    yield from solver_claims(settings)
    yield from best_claims(settings)
    yield from example_claims(settings)
    yield from unbiased_claims(settings)
    yield from polar_claims(settings)
    yield from line_claims(settings)
    yield from circle_claims(settings)
    yield from original_claims(settings)
    yield from noise_claims(settings)
    yield from motion_claims(settings)
    yield from remap_claims(settings)
