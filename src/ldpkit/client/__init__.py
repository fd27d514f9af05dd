"""What runs on a device: it answers from a collection file, and loads nothing but the standard library."""

from __future__ import annotations

__all__: list[str] = []
