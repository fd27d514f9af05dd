"""What came out of trials, and the signals and the patience that all of them share."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["PATIENCE", "SIGNALS", "Found"]

SIGNALS = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM, "INT": signal.SIGINT, "HUP": signal.SIGHUP}
PATIENCE = 120.0  # seconds after which a command hangs


@dataclass
class Found:
    """What came out for one scenario."""

    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def count(self, name: str) -> None:
        """Count one trial."""
        self.counts[name] = self.counts.get(name, 0) + 1

    @contextlib.contextmanager
    def trial(self, what: str) -> Iterator[None]:
        """Note a failed assertion as a failure of this trial."""
        try:
            yield
        except AssertionError as error:
            self.fail(f"{what}: {error}")
        except subprocess.TimeoutExpired:
            self.fail(f"{what}: still running after {PATIENCE:g} s")

    def fail(self, told: str) -> None:
        """Note a failure, and tell it at once."""
        self.failures.append(told)
        print(f"FAILED {told}", file=sys.stderr, flush=True)
