"""The laws of estimates, errors and totals that plans are made from."""

from __future__ import annotations

__all__: list[str] = []
