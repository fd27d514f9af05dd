"""Kills of devices that answer: no permanent report is drawn twice, and none that left is uncharged.

Two processes answer for one device from one store. One of them is stopped at a random
moment, a third looks at what is left; so it goes until all kills are done.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import ldpkit
from faults.found import PATIENCE, SIGNALS, Found
from ldpkit.client.store import DeviceStore

__all__ = ["NAME", "run"]

NAME = "device and its store"
_VALUES = 50
_LIVES = 5  # kills of one device, then another one begins: so first answers are stopped as well
_AGAIN = 5.0  # seconds after which an interrupt was lost
_QUESTION = "page"

# What a device prints has left it: the value, and the permanent report that is behind it.
_ANSWERS = """
import sys
import ldpkit
from ldpkit.client.store import DeviceStore
oracle = ldpkit.get("lgrr", 50, epsilon_inf=2, epsilon_1=1)
device = ldpkit.Device(oracle, DeviceStore(sys.argv[1]), question="page")
print("ready", flush=True)
value = int(sys.argv[2])
while True:
    device.report(value)
    print(value, device.permanent(value).tobytes().hex(), flush=True)
    value = (value + 1) % 50
"""


def run(folder: Path, kills: int, seed: int) -> Found:
    """Stop devices so often, and return what came out."""
    found, chances = Found(), random.Random(seed)
    start, life = time.monotonic(), 0
    while sum(found.counts.get(name, 0) for name in SIGNALS) < kills:
        life += 1
        done = sum(found.counts.get(name, 0) for name in SIGNALS)
        _live(folder / f"device {life}", min(_LIVES, kills - done), chances, found)
    found.seconds = (time.monotonic() - start) / max(kills, 1)
    return found


def _live(folder: Path, kills: int, chances: random.Random, found: Found) -> None:
    """Let one device answer and be stopped so often; compare all that left it with its store."""
    folder.mkdir()
    store, told, sent, stopped = folder / "device.db", dict[int, str](), 0, 0
    oracle = ldpkit.get("lgrr", _VALUES, epsilon_inf=2, epsilon_1=1)
    for kill in range(kills):
        writers = [_answer(store, chances.randrange(_VALUES)) for _ in range(2)]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        time.sleep(chances.uniform(0, 0.3))
        name = list(SIGNALS)[kill % len(SIGNALS)]
        writers[0].send_signal(SIGNALS[name])
        found.count(name)
        time.sleep(chances.uniform(0, 0.05))
        writers[1].send_signal(SIGNALS["KILL"])
        found.count("races")
        with found.trial(f"{NAME}: SIG{name}"):
            for writer in writers:
                out = _last_words(writer, is_interrupted=writer is writers[0] and name == "INT")
                stopped += 1  # each may have charged one report that it did not give
                for line in out.splitlines(keepends=True):
                    if not line.endswith("\n"):
                        continue  # cut off: nobody can have taken that for a report
                    value, permanent = line.split()
                    sent += 1
                    first = told.setdefault(int(value), permanent)
                    assert first == permanent, f"value {value} has two permanent reports"
            found.counts["left"] = found.counts.get("left", 0) + len(_beside(store))
            device = ldpkit.Device(oracle, DeviceStore(store), question=_QUESTION)
            for value, permanent in told.items():
                assert device.permanent(value).tobytes().hex() == permanent, f"value {value} was drawn again"
            device.report(0)  # the next answer, which leaves nothing of the stopped ones behind
            sent, told[0] = sent + 1, told.get(0, device.permanent(0).tobytes().hex())
            charged = device.privacy_loss().reports
            assert sent <= charged <= sent + stopped, f"{sent} reports left, {charged} are charged"
            assert not _beside(store), f"left {_beside(store)}"


def _last_words(writer: subprocess.Popen[str], *, is_interrupted: bool) -> str:
    """Return what a stopped device has printed.

    llvmlite loses an interrupt that comes while it calls Python back, as it does when a kernel is loaded.
    Whoever pressed Ctrl-C presses it again.
    """
    try:
        return writer.communicate(timeout=_AGAIN if is_interrupted else PATIENCE)[0]
    except subprocess.TimeoutExpired:
        if not is_interrupted:
            raise
        writer.send_signal(SIGNALS["INT"])
        return writer.communicate(timeout=PATIENCE)[0]


def _answer(store: Path, value: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _ANSWERS, str(store), str(value)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def _beside(store: Path) -> list[str]:
    return sorted(path.name for path in store.parent.iterdir() if path != store)
