"""How a kernel is compiled: once for an installation where its code can be kept, else once a process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event

from ldpkit.core.watching import notify

__all__ = ["compiled"]


class _FirstCompilation(event.Listener):  # type: ignore[misc]  # Numba has no types
    """Says that code is being compiled, once a process; Numba tells nothing of code that was kept."""

    def on_start(self, event_: event.Event) -> None:
        notify("compiling once; this takes a few seconds")
        event.unregister("numba:compile", self)

    def on_end(self, event_: event.Event) -> None:
        """Nobody waits any longer."""


event.register("numba:compile", _FirstCompilation())


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function on its first call, without the interpreter's lock.

    The compiled code is kept beside the package or in the user's cache folder, whichever can
    be written, or where NUMBA_CACHE_DIR says. A function is a plain loop over arrays that it
    is given: made, cut or added up inside compiled code, an array costs its first user seconds
    of compiling. In a read-only installation without a home
    folder it is not kept: a shared temporary folder would let others plant code there.

    Parameters
    ----------
    options
        What Numba's `njit` takes beyond `cache` and `nogil`.

    Examples
    --------
    >>> @compiled()
    ... def twice(number):
    ...     return 2 * number
    >>> twice(21)
    42
    """

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # no folder can be written
            return njit(nogil=True, **options)(function)

    return decorate
