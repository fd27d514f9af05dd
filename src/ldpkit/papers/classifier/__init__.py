"""Classifier utility (Zheng's dissertation, chapter 7, appendices A and E): worked numbers and case studies.

The published bound is a product that takes the failing share of a box as if reports were
uniform in it, its worked box is not robust, and its search can return a radius that failed.
Each place where the published number is above the truth has the right one beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ldpkit.core.installing import install_command
from ldpkit.papers import Claim, Settings, reproduction
from ldpkit.papers.classifier.bank import bank_claims
from ldpkit.papers.classifier.bounds import bound_claims
from ldpkit.papers.classifier.mnist import mnist_claims
from ldpkit.papers.classifier.network import network_claims
from ldpkit.papers.classifier.relaxed import relaxation_claims
from ldpkit.papers.classifier.stroke import closed_form_claims, stroke_claims
from ldpkit.papers.classifier.tables import load_table, no_data, table_claims
from ldpkit.papers.classifier.worked import worked_claims

__all__ = ["case_claims", "run"]


@reproduction(
    "classifier", "Classifier utility: predictions on privatized inputs (chapter 7, appendices A, E)"
)
def run(settings: Settings) -> Iterator[Claim]:
    """Yield the claims, and draw the figures where there is a folder."""
    if settings.folder is not None:
        settings.folder.mkdir(parents=True, exist_ok=True)
    yield from worked_claims(settings)
    yield from network_claims(settings)
    yield from bound_claims()
    yield from relaxation_claims(settings)
    yield from closed_form_claims()
    yield from case_claims(settings)


def case_claims(settings: Settings) -> Iterator[Claim]:
    """Yield the case studies; without scikit-learn or the data, what is missing."""
    try:
        import sklearn  # noqa: F401 - whether it is there
    except ImportError:
        yield no_data("7.6: the case studies", f"needs scikit-learn: {install_command('models')}")
        return
    yield table_claims()
    for name, label, study in (("stroke_age", "stroke", stroke_claims), ("bank_age", "Exited", bank_claims)):
        table = load_table(name, label)
        if table is None:
            yield no_data(f"7.6: {name.partition('_')[0]}", f"needs {name}: see 'ldpkit datasets list'")
        else:
            yield from study(settings, table)
    yield from mnist_claims(settings)
