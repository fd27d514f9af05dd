"""What takes more than one report: rounds, attributes, repeated answers, and what they cost together."""

from __future__ import annotations

__all__: list[str] = []
