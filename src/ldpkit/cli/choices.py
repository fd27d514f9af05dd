"""'all': every mechanism that can do the job, and why the others cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ldpkit.cli.printing import note

if TYPE_CHECKING:
    from ldpkit.mechanisms.kinds import Selection

__all__ = ["AllOf", "chosen", "is_all", "left_out_in_words", "note_left_out"]

AllOf = tuple[list[str], list[str]]
"""Names that are meant, and for 'all' what was left out and why."""


def is_all(names: Sequence[str] | None) -> bool:
    """Whether the user said 'all'."""
    return names is not None and list(names) == ["all"]


def chosen(names: Sequence[str], able: Selection, kind: str | None) -> AllOf:
    """Return the names that are meant; 'all' means those that are able.

    Mechanisms for another kind of data are not worth a word: nobody expects them.
    """
    if not is_all(names):
        return list(names), []
    return able.names, left_out_in_words(able, kind)


def left_out_in_words(able: Selection, kind: str | None) -> list[str]:
    """Return which mechanisms of a kind, or of any, cannot do the job, and why not."""
    from ldpkit.mechanisms.base import MECHANISMS

    return [
        f"{name} {why}" for name, why in able.left_out.items() if kind in (None, MECHANISMS.get(name).kind)
    ]


def note_left_out(reasons: Sequence[str]) -> None:
    """Tell the user what 'all' left out, in one line."""
    if reasons:
        note(f"left out of 'all': {'; '.join(reasons)}")
