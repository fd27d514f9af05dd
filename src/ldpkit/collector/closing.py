"""Rounds that ended long ago are closed once an hour, by a clock that is believed only if it runs evenly."""

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
    """Runs something at the start and every hour, unless the clock has jumped since the last time.

    Closing a round cannot be undone, so a clock that leaps into next month must not do it. A
    clock that stays where it leapt to is believed an hour later.

    Parameters
    ----------
    close : callable
        What to run.
    now : callable
        The time of day.
    steady : callable
        Seconds that only count.
    """

    def __init__(
        self,
        close: Callable[[], None],
        now: Callable[[], datetime.datetime],
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(name="ldpkit-closing", daemon=True)
        self._close, self._now, self._steady = close, now, steady
        self._is_over = threading.Event()
        self._seen: tuple[datetime.datetime, float] | None = None

    def run(self) -> None:
        """Check now and every hour."""
        while True:
            self.check()
            if self._is_over.wait(_HOUR):
                return

    def check(self) -> bool:
        """Run it unless the clock has jumped, and say whether it was run."""
        now, steady = self._now(), self._steady()
        before, self._seen = self._seen, (now, steady)
        if before is not None:
            jump = (now - before[0]).total_seconds() - (steady - before[1])
            if abs(jump) > _JUMP:
                _log.warning("the clock jumped by %.0f seconds: no round is closed for an hour", jump)
                return False
        try:
            self._close()
        except Exception as error:
            _log.error("rounds could not be closed: %s", error)
            return False
        return True

    def stop(self) -> None:
        """End without waiting for the hour."""
        self._is_over.set()
        self.join()
