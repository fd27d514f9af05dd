"""Planning a collection of numbers for its mean."""

from __future__ import annotations

__all__: list[str] = []
