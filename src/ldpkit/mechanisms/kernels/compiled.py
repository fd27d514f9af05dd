"""How a kernel is compiled: once for an installation where its code can be kept, else once a process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["compiled"]


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function on its first call, without the interpreter's lock.

    The compiled code is kept beside the package or in the user's cache folder, whichever can
    be written, or where NUMBA_CACHE_DIR says. In a read-only installation without a home
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
