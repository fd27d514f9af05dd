"""Rounds that ended long ago are closed once an hour, by a clock that has run evenly for that hour."""

from __future__ import annotations

import datetime
import logging
import threading
import time
from collections.abc import Callable

__all__ = ["Closing"]

_log = logging.getLogger("ldpkit.collector")

_HOUR = 3600.0
_JUMP = 300.0  # seconds by which the clock of the day may differ from one that only counts


class Closing(threading.Thread):
    """Runs something every hour, unless the clock has jumped since the last time.

    Closing a round cannot be undone, so a clock that leaps into next month must not do it, nor one
    that is wrong when the machine starts. A clock that stays where it leapt to is believed an hour
    later.

    Parameters
    ----------
    close : callable
        What to run; it is given the time that was checked, because the clock may leap meanwhile.
    now : callable
        The time of day.
    steady : callable
        Seconds that only count.
    """

    def __init__(
        self,
        close: Callable[[datetime.datetime], None],
        now: Callable[[], datetime.datetime],
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(name="ldpkit-closing", daemon=True)
        self._close, self._now, self._steady = close, now, steady
        self._is_over = threading.Event()
        self._seen = (now(), steady())

    def run(self) -> None:
        """Check every hour."""
        while not self._is_over.wait(_HOUR):
            self.check()

    def check(self) -> bool:
        """Run it unless the clock has jumped, and say whether it was run."""
        now, steady = self._now(), self._steady()
        before, self._seen = self._seen, (now, steady)
        jump = (now - before[0]).total_seconds() - (steady - before[1])
        if abs(jump) > _JUMP:
            _log.warning("the clock jumped by %.0f seconds: no round is closed for an hour", jump)
            return False
        try:
            self._close(now)
        except Exception as error:
            _log.error("rounds could not be closed: %s", error)
            return False
        return True

    def stop(self) -> None:
        """End without waiting for the hour."""
        self._is_over.set()
        self.join()
