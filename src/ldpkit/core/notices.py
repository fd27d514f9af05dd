"""What the library has to say while somebody waits. It prints nothing: a program that shows it listens."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["listen", "notify"]

_listener: Callable[[str], None] | None = None


def listen(listener: Callable[[str], None] | None) -> None:
    """Pass every notice to this function from now on; None means that nobody listens.

    Examples
    --------
    >>> listen(print)
    >>> notify("compiling once")
    compiling once
    >>> listen(None)
    >>> notify("compiling once")
    """
    global _listener
    _listener = listener


def notify(message: str) -> None:
    """Tell whoever listens."""
    if _listener is not None:
        _listener(message)
