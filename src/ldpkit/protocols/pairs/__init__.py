"""How two people get the coins of a pair: who draws them decides what the partner can learn.

A person's value never enters. The coins say whether each reports truthfully, and
`answer` turns that into a report on the person's own device.
"""

from __future__ import annotations

__all__: list[str] = []
