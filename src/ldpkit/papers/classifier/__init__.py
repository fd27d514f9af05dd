"""Classifier utility (Zheng's dissertation, chapter 7 and appendix E): worked numbers, stroke and bank.

The published bound is a product that takes the failing share of a box as if reports were
uniform in it, its worked box is not robust, and its search can return a radius that failed.
Each place where the published number is above the truth has the right one beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ldpkit.papers import Claim, Settings, reproduction
from ldpkit.papers.classifier.bounds import bound_claims, relaxation_claims
from ldpkit.papers.classifier.tables import tables_claims
from ldpkit.papers.classifier.worked import example_claims, worked_claims

__all__ = ["run"]


@reproduction("classifier", "Classifier utility: predictions on privatized inputs (chapter 7, appendix E)")
def run(settings: Settings) -> Iterator[Claim]:
    """Yield the claims, and draw the figures where there is a folder."""
    if settings.folder is not None:
        settings.folder.mkdir(parents=True, exist_ok=True)
    yield from worked_claims()
    yield from example_claims(settings)
    yield from bound_claims()
    yield from relaxation_claims()
    yield from tables_claims(settings)
