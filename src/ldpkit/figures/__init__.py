"""Every picture and page, from a result."""

from __future__ import annotations

__all__: list[str] = []
