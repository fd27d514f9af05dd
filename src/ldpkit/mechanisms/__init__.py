"""The device: a raw value goes in, a randomised report comes out. No room behind needs raw values."""

from __future__ import annotations

__all__: list[str] = []

# The rooms where mechanisms are.
MEMBERS = ("categorical", "longitudinal", "numeric", "circular", "spatial", "adaptive", "optimal", "joint")
