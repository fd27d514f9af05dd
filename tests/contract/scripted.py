"""A random source that says what the test wants, to bring a sampler to its thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np

import ldpkit

__all__ = ["ScriptedSource"]


class ScriptedSource(ldpkit.random.RandomSource):
    """Hands out given arrays in order; a number in the script fills whatever is asked for.

    Parameters
    ----------
    script : array or int
        An array must be asked for in full; an int is a 64-bit word, given as often as needed.
    """

    def __init__(self, *script: Any) -> None:
        super().__init__(bytes(32), is_secure=False)
        self._script = list(script)

    def bytes(self, count: int) -> Any:
        assert self._script, f"{count} more random bytes were asked for than scripted"
        part = self._script.pop(0)
        if isinstance(part, int):
            assert count % 8 == 0
            return np.full(count // 8, part, "<u8").view(np.uint8)
        raw = np.ascontiguousarray(part).view(np.uint8).reshape(-1)
        assert len(raw) == count, f"{count} random bytes were asked for where {len(raw)} are scripted"
        return raw.copy()

    @property
    def is_spent(self) -> bool:
        """Whether all of the script was used."""
        return not self._script
