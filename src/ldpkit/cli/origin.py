"""What the commands tell of how reports were made: in a caption, and as facts for the next tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ldpkit.core.provenance import Provenance

__all__ = ["origin_facts", "origin_lines"]

_SHOWN = 4  # batches that a caption names


def origin_facts(provenance: Provenance) -> dict[str, Any]:
    """Return what is recorded of how reports were made.

    Examples
    --------
    >>> from ldpkit.core.provenance import Provenance
    >>> origin_facts(Provenance("secure", "stated"))
    {'randomness': 'secure', 'domain_source': 'stated', 'devices': None, 'outside': None, \
'batches': 'unknown', 'warnings': []}
    """
    return {
        "randomness": provenance.randomness,
        "domain_source": provenance.domain,
        "devices": provenance.devices,
        "outside": provenance.outside,
        "batches": list(provenance.batches) or "unknown",
        "warnings": provenance.warnings(),
    }


def origin_lines(provenance: Provenance) -> list[str]:
    r"""Return the lines for a caption: what is recorded, and what weakens the promise.

    Examples
    --------
    >>> from ldpkit.core.provenance import Provenance
    >>> print(*origin_lines(Provenance("seeded", "stated")), sep="\n")
    randomness seeded, domain stated, batch unknown
    warning: made with a seed: who knows it can undo the reports, so they protect nobody
    """
    batches = [batch[:8] for batch in provenance.batches]
    more = f" and {len(batches) - _SHOWN} more" if len(batches) > _SHOWN else ""
    told = [
        f"randomness {provenance.randomness}",
        f"domain {_SOURCES[provenance.domain]}",
        *([] if provenance.devices is None else [f"devices {provenance.devices}"]),
        *([] if provenance.outside is None else [f"numbers outside {provenance.outside}"]),
        f"batch {', '.join(batches[:_SHOWN]) or 'unknown'}{more}",
    ]
    return [", ".join(told), *(f"warning: {each}" for each in provenance.warnings())]


_SOURCES = {"data": "from the data", "stated": "stated", "unknown": "unknown"}
