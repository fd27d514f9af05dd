"""The device: a raw value goes in, a randomised report comes out. No room behind needs raw values."""

from __future__ import annotations

__all__: list[str] = []

MEMBERS = ("categorical", "longitudinal", "numeric", "adaptive", "joint")  # the rooms where mechanisms are
