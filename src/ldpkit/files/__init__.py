"""Every byte and table format: report files, tallies, tables of text, CSV and Parquet."""

from __future__ import annotations

__all__: list[str] = []
