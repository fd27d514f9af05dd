"""Golden vectors: what every client must make of given integers, values and random bytes.

==========  ============================================================================
subjects    which mechanisms, with which domains and budgets
edges       random bytes that bring a sampler to both sides of each of its turns
reports     vectors of reports: sampler, place and bytes to the bytes of a report
forged      forms that a client must refuse before it draws
rules       places, labels, streams, ids, choices, charges and uploads
files       the vectors as JSON files, and the comparison with those that are there
lines       the vectors as lines of text for a program, and what it printed
==========  ============================================================================
"""

from __future__ import annotations

__all__: list[str] = []
