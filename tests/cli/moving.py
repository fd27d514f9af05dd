"""A program that takes files away as soon as they have their names, as one does that watches a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

__all__ = ["moving_away"]


def moving_away(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Callable[[], list[str]]:
    """Move every file away that a command writes; the function returned tells which there were."""
    taken = folder / "taken"
    taken.mkdir()
    usual = Path.replace

    def replace(self: Path, target: Path) -> Path:
        done = usual(self, target)
        usual(done, taken / done.name)
        return done

    monkeypatch.setattr(Path, "replace", replace)
    return lambda: [each.name for each in taken.iterdir()]
