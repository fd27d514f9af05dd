"""CAPRI (Seyedkazemi, Gursoy, Saygin 2024): figures 4.1, 5.7 to 5.9 and 6.1 to 6.7 of the thesis.

The water consumption data of the thesis is not part of ldpkit. Its stand-in is generated
(`papers.capri.water`) and has the same number of clients, range and total. Most figures
print no numbers; their claims are then those of the text beside them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ldpkit.papers import Claim, Settings, reproduction
from ldpkit.papers.capri.adversary import adversary_claims
from ldpkit.papers.capri.bound import bound_claims
from ldpkit.papers.capri.methods import method_claims, speed_claims, spread_claims
from ldpkit.papers.capri.selection import protocol_claims, selection_claims

__all__ = ["run"]


@reproduction("capri", "CAPRI: capacity planning and its adversary (figures 4.1, 5.7-5.9, 6.1-6.7)")
def run(settings: Settings) -> Iterator[Claim]:
    """Yield the claims figure by figure."""
    if settings.folder is not None:
        settings.folder.mkdir(parents=True, exist_ok=True)
    yield from bound_claims(settings)
    yield from selection_claims(settings)
    yield from spread_claims(settings)
    yield from protocol_claims(settings)
    yield from adversary_claims(settings)
    yield from method_claims(settings)
    yield from speed_claims(settings)
