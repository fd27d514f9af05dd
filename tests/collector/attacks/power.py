"""Power cuts: writes that were not synced are lost, in part or whole, in any order.

A service runs under strace, which records every write and sync of its files, and every
acknowledgement. At a cut, a file is what it was at its last sync, plus any part of what was
written since: each write wholly, torn at a sector, or not at all.
"""

from __future__ import annotations

import ast
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from collector.attacks.found import Found, kept_ids
from ldpkit.collector.database import SqliteDatabase

__all__ = ["cut_power"]

_SECTOR = 512
_CHILD = """
import sys
sys.path[:0] = {paths!r}
import os, random
from pathlib import Path
from client.collecting import collection_file
from collector.inside import inside
from ldpkit.collector.database import SqliteDatabase
source = random.Random({seed})
acks = os.open({folder!r} + "/acks", os.O_WRONLY | os.O_CREAT)
with inside(SqliteDatabase(Path({folder!r}) / "collector.db"), collection_file()) as service:
    service.service.writer.call(lambda c: c.execute("PRAGMA wal_autocheckpoint=20"))
    if {is_careless}:
        service.service.writer.call(lambda c: c.execute("PRAGMA synchronous=OFF"))
    following = 0
    for turn in range({commits}):
        count = source.randint(1, 200)
        service.send(range(following, following + count))
        following += count
        os.write(acks, b"%d\\n" % following)
"""
_LINE = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+)")


class _File:
    """A file on a disk that loses what was not synced."""

    def __init__(self) -> None:
        self.synced = bytearray()
        self.since: list[tuple[int, bytes | None]] = []

    def write(self, offset: int, data: bytes | None) -> None:
        self.since.append((offset, data))

    def sync(self) -> None:
        for offset, data in self.since:
            _apply(self.synced, offset, data)
        self.since = []

    def after_cut(self, source: random.Random) -> bytes:
        content = bytearray(self.synced)
        for offset, data in self.since:
            fate = source.random()
            if fate < 0.4:
                continue
            if fate < 0.6 and data is not None:
                data = data[: _SECTOR * source.randint(0, len(data) // _SECTOR)]
            _apply(content, offset, data)
        return bytes(content)


def _apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:  # the file is cut, or made longer
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    if len(content) < offset + len(data):
        content.extend(bytes(offset + len(data) - len(content)))
    content[offset : offset + len(data)] = data


def _record(folder: Path, seed: int, commits: int, *, is_careless: bool) -> list[str]:
    """Run a service under strace, and return what it said."""
    tests = Path(__file__).parents[2]
    paths = [str(tests), str(tests.parent / "src")]
    (folder / "child.py").write_text(
        _CHILD.format(paths=paths, seed=seed, folder=str(folder), commits=commits, is_careless=is_careless)
    )
    calls = "trace=pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat"
    log = folder / "strace.log"
    command = ["strace", "-f", "-y", "-xx", "-s", "4000000", "-e", calls, "-o", str(log)]
    subprocess.run([*command, sys.executable, str(folder / "child.py")], check=True)
    return _joined(log)


def _joined(log: Path) -> list[str]:
    """Return the calls in the order in which they ended; one that was interrupted is put together."""
    begun: dict[str, str] = {}
    lines = []
    for line in log.read_text().splitlines():
        who, _, rest = line.partition(" ")
        rest = rest.strip()
        if rest.endswith("<unfinished ...>"):
            begun[who] = rest.removesuffix("<unfinished ...>").rstrip()
        elif rest.startswith("<..."):
            lines.append(begun.pop(who, "") + rest.partition("resumed>")[2])
        else:
            lines.append(rest)
    return lines


def cut_power(count: int, seed: int) -> Found:
    """Cut the power of a service, and of one that does not sync, which must lose answers."""
    found = _cut_power(count, seed, is_careless=False)
    control = _cut_power(20, seed, is_careless=True)
    if not control.problems:
        found.problems.append("a service that never syncs has lost nothing: these cuts show nothing")
    found.told += f"; control without syncs: {len(control.problems)} in 20 cuts"
    return found


def _cut_power(count: int, seed: int, *, is_careless: bool) -> Found:
    """Cut the power at random moments of a recorded run, and look at what is left."""
    found, source = Found(), random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="ldpkit-cuts-"))
    try:
        events = list(_events(_record(folder, seed, 150, is_careless=is_careless), folder))
        cuts = sorted(source.randrange(len(events)) for _ in range(count))
        files = {"collector.db": _File(), "collector.db-wal": _File()}
        acknowledged, at, lost_writes = 0, 0, 0
        for cut in cuts:
            for name, offset, data in events[at:cut]:
                if name == "ack":
                    acknowledged = offset
                elif offset < 0:
                    files[name].sync()
                else:
                    files[name].write(offset, data)
            at = cut
            lost_writes += sum(len(file.since) for file in files.values())
            where = folder / "after"
            where.mkdir(exist_ok=True)
            for path in where.iterdir():
                path.unlink()
            for name, file in files.items():
                content = file.after_cut(source)
                if content:
                    (where / name).write_bytes(content)
            if acknowledged == 0:
                continue
            try:
                ids, problems = kept_ids(SqliteDatabase(where / "collector.db"))
            except Exception as error:
                found.problems.append(f"cut {cut}: {error}")
                continue
            found.problems += [f"cut {cut}: {each}" for each in problems]
            if missing := set(range(acknowledged)) - ids:
                found.problems.append(f"cut {cut}: {len(missing)} of {acknowledged} acknowledged are lost")
        syncs = sum(offset < 0 for name, offset, _ in events if name != "ack")
        found.told = (
            f"{count} cuts in a run of {len(events):,} writes and syncs ({syncs} syncs), {lost_writes:,} "
            f"unsynced writes lost, torn or kept at random; {len(found.problems)} problems"
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def _events(lines: list[str], folder: Path) -> list[tuple[str, int, bytes | None]]:
    """Return (file, offset, bytes), (file, -1, None) for a sync, and ("ack", number of answers, None)."""
    events: list[tuple[str, int, bytes | None]] = []
    for line in lines:
        matched = _LINE.match(line)
        if matched is None or int(matched[3], 0) < 0:
            continue
        call, arguments = matched[1], matched[2]
        name = re.search(r"<([^>]*)>", arguments)
        path = "" if name is None else ast.literal_eval(f'"{name[1]}"')
        file = path.removeprefix(f"{folder}/")
        if file == "acks":
            told = ast.literal_eval(re.search(r'"[^"]*"', arguments)[0])
            events.append(("ack", int(told), None))
        elif file in ("collector.db", "collector.db-wal"):
            if call in ("fsync", "fdatasync"):
                events.append((file, -1, None))
            elif call == "ftruncate":
                events.append((file, int(arguments.rpartition(",")[2]), None))
            elif call == "pwrite64":
                data = re.search(r'"([^"]*)"', arguments)[1]
                content = bytes.fromhex(data.replace("\\x", ""))
                events.append((file, int(arguments.rpartition(",")[2]), content))
            else:
                raise RuntimeError(f"{call} of {file} is not understood")
    return events
