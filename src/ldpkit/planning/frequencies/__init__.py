"""Planning a collection of categories: which mechanism, which budget."""

from __future__ import annotations

__all__: list[str] = []
