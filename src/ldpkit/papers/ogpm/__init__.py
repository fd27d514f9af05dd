"""OGPM (Zheng's dissertation, chapter 5 and appendix C): figures 5.2-5.17 and C.3, examples 4-9.

The closed form is right for the absolute error, and only among densities with a uniform
floor. Most percentages come out; those on the circle compare arcs with differences of
numbers, and each is shown with arcs for everyone beside it. The claims about means and
distributions do not hold, and the better choice stands beside each.
"""

from __future__ import annotations

from ldpkit.papers import in_parts, reproduction
from ldpkit.papers.ogpm.expected import circle_claims, line_claims, original_claims
from ldpkit.papers.ogpm.forms import example_claims, polar_claims, unbiased_claims
from ldpkit.papers.ogpm.motion import motion_claims
from ldpkit.papers.ogpm.noise import noise_claims, remap_claims
from ldpkit.papers.ogpm.solver import best_claims, solver_claims

__all__ = ["run"]


run = reproduction("ogpm", "OGPM: the optimal piecewise mechanism (figures 5.2-5.17, C.3; examples 4-9)")(
    in_parts(
        solver_claims,
        best_claims,
        example_claims,
        unbiased_claims,
        polar_claims,
        line_claims,
        circle_claims,
        original_claims,
        noise_claims,
        motion_claims,
        remap_claims,
    )
)
