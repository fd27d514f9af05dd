"""Which mechanism is optimal, and in which sense: pieces, all mechanisms, and errors beside each other."""

from __future__ import annotations

__all__: list[str] = []
