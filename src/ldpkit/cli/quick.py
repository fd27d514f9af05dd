"""Commands that start at once: nothing is drawn around their help, and what has its type is not converted.

Help and refusals are plain text, which wraps as it should; what draws boxes around them
takes longer to load than all the rest of --help.

Typer converts every option, defaults too, through pydantic, and to load that takes longer
than most commands do. A default or a word that is wanted as text needs no conversion;
only for other values is pydantic loaded. Where Typer has no such step, nothing changes.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["QuickCommand", "QuickGroup", "make_group"]


def make_group(**settings: Any) -> typer.Typer:
    """Return a group of commands with plain help."""
    return typer.Typer(**{"cls": QuickGroup, "rich_markup_mode": None, **settings})


class QuickCommand(TyperCommand):
    """A command whose options are converted only if they must be."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, --help among them, with the shortcut in place."""
        return _shorten(super().get_params(ctx))


class QuickGroup(TyperGroup):
    """A group of commands whose own options are converted only if they must be."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, --help among them, with the shortcut in place."""
        return _shorten(super().get_params(ctx))


class _Shortcut:
    """Stands where Typer keeps a parameter's conversion, and makes that when it is needed."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of an option in its type."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if type(value) is param.type_descriptor.annotation:
            return value
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _shorten(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "_runtime_param", parameter) is None:
            parameter._runtime_param = _Shortcut()
    return parameters
