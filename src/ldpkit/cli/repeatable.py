"""Options that take several values: `-e 0.5 1 2`, `-e 0.5,1,2` and `-e 0.5 -e 1` are the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand, TyperOption

__all__ = ["ManyValuesCommand", "split"]


class ManyValuesCommand(TyperCommand):
    """A command without arguments whose repeatable options also take values in a row."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each of its values, then parse as usual."""
        names = {
            name
            for parameter in self.params
            if isinstance(parameter, TyperOption) and parameter.multiple
            for name in parameter.opts
        }
        spread: list[str] = []
        current = ""
        values = 0
        for word in args:
            if word.startswith("-") and word != "-":
                current, values = (word, 0) if word in names else ("", 0)
                spread.append(word)
            elif current and values:
                spread += [current, word]
            else:
                values += 1
                spread.append(word)
        return super().parse_args(ctx, spread)


def split(values: Sequence[str]) -> list[str]:
    """Return the values of an option with commas taken apart.

    Examples
    --------
    >>> split(["grr,olh", "ss"])
    ['grr', 'olh', 'ss']
    """
    return [part.strip() for value in values for part in value.split(",") if part.strip()]
