"""TraCS (Zheng's dissertation, chapter 6 and appendix D): figures 6.2-6.10 and D.1-D.8, table 6.2.

Both TraCS are private, and their errors come out. What they are compared with is not what it is
said to be, and what the thesis left out answers better: one mechanism for the plane instead of
two for its coordinates, and an answer that asks nobody at small epsilon.
"""

from __future__ import annotations

from collections.abc import Iterator

from ldpkit.papers import Claim, Settings, reproduction
from ldpkit.papers.tracs.cities import city_claims
from ldpkit.papers.tracs.directions import direction_claims
from ldpkit.papers.tracs.discrete import discrete_claims
from ldpkit.papers.tracs.extensions import extension_claims
from ldpkit.papers.tracs.maps import map_claims
from ldpkit.papers.tracs.plane import plane_claims
from ldpkit.papers.tracs.real_places import place_claims
from ldpkit.papers.tracs.synthetic import synthetic_claims

__all__ = ["run"]


@reproduction("tracs", "TraCS: trajectories in continuous space (figures 6.2-6.10, D.1-D.8, table 6.2)")
def run(settings: Settings) -> Iterator[Claim]:
    """Yield the claims, and draw the figures where there is a folder."""
    if settings.folder is not None:
        settings.folder.mkdir(parents=True, exist_ok=True)
    yield from direction_claims(settings)
    yield from synthetic_claims(settings)
    yield from extension_claims(settings)
    yield from plane_claims(settings)
    yield from city_claims(settings)
    yield from discrete_claims(settings)
    yield from place_claims(settings)
    yield from map_claims(settings)
