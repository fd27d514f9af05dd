"""Groups of commands."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

__all__ = ["Group"]


class Group(TyperGroup):
    """A group that shows its help, with exit code 2, when it is called without a command.

    What Typer itself does then depends on the version of what lies below it.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Show the help if there is nothing to parse."""
        if not args:
            print(ctx.get_help())
            ctx.exit(2)
        return super().parse_args(ctx, args)
