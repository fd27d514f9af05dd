"""Cases that only `script/test --slow` runs: more of what a cheap case shows already."""

from __future__ import annotations

from typing import Any

import pytest

__all__ = ["slow"]


def slow(*cases: Any) -> list[Any]:
    """Return the cases of a parametrised test marked as slow; a tuple holds the arguments of a case."""
    return [pytest.param(*(c if isinstance(c, tuple) else (c,)), marks=pytest.mark.slow) for c in cases]
