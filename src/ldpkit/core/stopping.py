"""Being stopped: Ctrl-C, SIGTERM and SIGHUP let a command tidy up and then end it.

Only the command line listens for signals. While there is something to tidy up, a signal
is an exception, so that `finally` does its work; else the process ends at once, whatever
it is doing: an exception in the middle of an import would be printed, or swallowed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType

__all__ = ["Stopped", "hanging_up_terminates", "stop_at_signals", "tidied"]

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
_AGAIN = 0.01  # seconds until a signal is sent again
_open_blocks = 0
_arrived = True  # whether a signal that was dropped has come to where it is an exception


class Stopped(BaseException):
    """A signal asked the command to end; no `except Exception` may stop that."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def exit_code(self) -> int:
        """What a shell reports of a process that a signal ended."""
        return 128 + self.number


@contextlib.contextmanager
def tidied() -> Iterator[None]:
    """Let a signal raise `Stopped` inside the block, so that what it began is taken back.

    Examples
    --------
    >>> with tidied():
    ...     pass
    """
    global _open_blocks
    _open_blocks += 1
    try:
        yield
    finally:
        _open_blocks -= 1


def stop_at_signals() -> None:
    """Listen from now on; leave alone what the caller ignores, as under nohup, or handles itself."""
    for name in _SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            with contextlib.suppress(ValueError):  # only the main thread may listen
                signal.signal(number, _stop)
    sys.unraisablehook = _send_again


@contextlib.contextmanager
def hanging_up_terminates() -> Iterator[None]:
    """Make SIGTERM of SIGHUP inside the block, for a library that handles SIGTERM itself, but not SIGHUP.

    A hang-up that the caller ignores, as under nohup, or handles itself is left alone.

    Examples
    --------
    >>> with hanging_up_terminates():
    ...     pass
    """
    number = getattr(signal, "SIGHUP", None)  # Windows has none
    before = None if number is None else signal.getsignal(number)
    if number is None or before not in (signal.SIG_DFL, _stop):
        yield
        return
    try:
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGTERM))
    except ValueError:  # only the main thread may listen
        yield
        return
    try:
        yield
    finally:
        signal.signal(number, before)


def _send_again(dropped: sys.UnraisableHookArgs) -> None:
    """Send a signal again that came where Python drops exceptions, as in a callback of the compiler."""
    if not isinstance(dropped.exc_value, Stopped):
        sys.__unraisablehook__(dropped)
        return
    import threading

    global _arrived
    _arrived = False
    threading.Thread(target=_send_until_it_arrives, args=(dropped.exc_value.number,), daemon=True).start()


def _send_until_it_arrives(number: int) -> None:
    while not _arrived:
        time.sleep(_AGAIN)
        os.kill(os.getpid(), number)


def _is_sending(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code is not _send_again.__code__:
        frame = frame.f_back
    return frame is not None


def _stop(number: int, frame: FrameType | None) -> None:
    global _arrived
    if _is_sending(frame):  # an exception would be dropped there once more
        return
    _arrived = True
    stopped = Stopped(number)
    if _open_blocks:
        raise stopped
    with contextlib.suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(stopped.exit_code)
