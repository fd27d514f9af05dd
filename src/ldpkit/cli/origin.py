"""What the commands tell of how reports were made: in a caption, and as facts for the next tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ldpkit.core.provenance import Provenance

__all__ = ["origin_facts", "origin_lines"]


def origin_facts(provenance: Provenance) -> dict[str, Any]:
    """Return what is recorded of how reports were made."""
    return provenance.facts()


def origin_lines(provenance: Provenance) -> list[str]:
    r"""Return the lines for a caption: what is recorded, and what weakens the promise.

    Examples
    --------
    >>> from ldpkit.core.provenance import Provenance
    >>> print(*origin_lines(Provenance("seeded", "stated")), sep="\n")
    randomness seeded, domain stated, batch unknown
    warning: made with a seed: who knows it can undo the reports, so they protect nobody
    """
    return [str(provenance), *(f"warning: {each}" for each in provenance.warnings())]
