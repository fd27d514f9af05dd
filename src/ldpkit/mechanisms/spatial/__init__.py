"""Mechanisms for locations: a point of a region goes in, cells of an integer grid come out."""

from __future__ import annotations

__all__: list[str] = []

# The modules that register a mechanism.
MEMBERS = (
    "tracs_c",
    "tracs_d",
    "planar_window",
    "site_response",
    "site_table",
    "place_table",
    "ngram",
    "atp",
)
