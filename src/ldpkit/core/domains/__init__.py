"""Domains: the public sets of values that a person may hold."""

from __future__ import annotations

__all__: list[str] = []
