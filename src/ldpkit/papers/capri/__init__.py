"""CAPRI (Seyedkazemi, Gursoy, Saygin 2024): figures 4.1, 5.7 to 5.9 and 6.1 to 6.7 of the thesis.

The water consumption data of the thesis is not part of ldpkit. Its stand-in is generated
(`papers.capri.water`) and has the same number of clients, range and total. Most figures
print no numbers; their claims are then those of the text beside them.
"""

from __future__ import annotations

from ldpkit.papers import in_parts, reproduction
from ldpkit.papers.capri.adversary import adversary_claims
from ldpkit.papers.capri.bound import bound_claims
from ldpkit.papers.capri.methods import method_claims, speed_claims, spread_claims
from ldpkit.papers.capri.selection import protocol_claims, selection_claims

__all__ = ["run"]


run = reproduction("capri", "CAPRI: capacity planning and its adversary (figures 4.1, 5.7-5.9, 6.1-6.7)")(
    in_parts(
        bound_claims,
        selection_claims,
        spread_claims,
        protocol_claims,
        adversary_claims,
        method_claims,
        speed_claims,
    )
)
