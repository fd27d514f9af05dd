"""A real service in a process of its own, on a free port of this machine."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Running", "free_port", "serving"]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Running:
    """A service that runs, what it printed, and how to end it."""

    def __init__(self, process: subprocess.Popen[str], url: str, printed: list[str]) -> None:
        self.process, self.url, self.printed = process, url, printed

    @property
    def tokens(self) -> dict[str, str]:
        """The tokens that it put into files, by role."""
        found = re.findall(r"(analyst|admin) token +in (.*), readable only by you", "\n".join(self.printed))
        return {role: Path(path).read_text().strip() for role, path in found}

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Ask it to end, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@contextmanager
def serving(*words: str, data: Path | str, port: int | None = None) -> Iterator[Running]:
    """Run `ldpkit serve` until the block ends."""
    chosen = free_port() if port is None else port
    command = [sys.executable, "-m", "ldpkit", "serve", *words, "--data", str(data), "--port", str(chosen)]
    log = Path(data if "://" not in str(data) else "/tmp") / f"serve-{os.getpid()}-{chosen}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT, text=True)
    url = f"http://127.0.0.1:{chosen}"
    try:
        deadline = time.monotonic() + 600  # a busy machine is no failure
        while True:
            if process.poll() is not None:
                raise RuntimeError(log.read_text())
            try:
                urllib.request.urlopen(f"{url}/readyz", timeout=5).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        yield Running(process, url, log.read_text().splitlines())
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        log.unlink(missing_ok=True)
