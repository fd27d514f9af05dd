"""The mechanisms whose reports have a known likelihood."""

from __future__ import annotations

__all__ = ["LIKELY", "ONE_TIME"]

ONE_TIME = ["grr", "sue", "oue", "the", "blh", "olh", "ss"]
LIKELY = [*ONE_TIME, "lgrr", "lsue", "loue", "lsoue", "losue", "lblh", "lolh"]
