"""Calls upward: the few places where a lower room asks for what only a higher one has.

Imports point one way through the house. `tally.estimate()`, `evidence.estimate()`, a
memoized mechanism's `privatize(people=...)` and a result's `plot()` or `page()` read best on the lower
object, though the work is done above it. Each such call has a name here, and nowhere else
does a lower room know a higher one.
"""

from __future__ import annotations

import importlib
from types import MethodType
from typing import Any

__all__ = ["HOOKS", "MethodAbove", "call_up"]

HOOKS = {
    "estimate": "ldpkit.estimation.from_reports:estimate",
    "maximum_likelihood": "ldpkit.estimation.bayes.mle:maximum_likelihood",
    "permanent_reports": "ldpkit.protocols.permanent:PermanentReports",
    "plot": "ldpkit.figures.drawing:plot",
    "figure": "ldpkit.figures.drawing:figure",
    "page": "ldpkit.figures.result_page:result_page",
}
"""What is asked for, and where it lives: a room of members, or a module and a name in it."""


def call_up(name: str) -> Any:
    """Return what a hook names, importing its module now.

    Examples
    --------
    >>> call_up("permanent_reports").__name__
    'PermanentReports'
    """
    module, _, attribute = HOOKS[name].partition(":")
    found = importlib.import_module(module)
    return getattr(found, attribute) if attribute else found


class MethodAbove:
    """A method that a higher room defines: who looks it up gets it bound, and calls it there himself.

    Parameters
    ----------
    hook : str
        The name of the function in `HOOKS`; its first argument is the object.

    Examples
    --------
    >>> class Results:
    ...     figure = MethodAbove("figure")
    >>> Results().figure.__func__ is Results.figure is call_up("figure")
    True
    """

    def __init__(self, hook: str) -> None:
        self._hook = hook

    def __get__(self, owner: object | None, kind: type) -> Any:
        function = call_up(self._hook)
        return function if owner is None else MethodType(function, owner)
