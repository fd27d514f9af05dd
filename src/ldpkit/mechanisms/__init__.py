"""The device: a raw value goes in, a randomised report comes out. No room behind needs raw values.

The room is also a function: `ldpkit.mechanisms()` lists the names of all registered
mechanisms. Python gives a package's submodule and its attribute the same name, so the
module itself answers the call.
"""

from __future__ import annotations

import sys
import types

__all__: list[str] = []

MEMBERS = ("categorical", "numeric")  # the rooms where mechanisms are


class _Room(types.ModuleType):
    def __call__(self) -> list[str]:
        from ldpkit.mechanisms.base import MECHANISMS

        return list(MECHANISMS)


sys.modules[__name__].__class__ = _Room
