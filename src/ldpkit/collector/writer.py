"""The one thread that writes: it takes all uploads that wait, commits them together, then answers.

A commit that waits for the disk costs the same for one report and for a hundred thousand. So
uploads queue while a commit runs, and the next one takes them all: their reports are checked and
deduplicated as arrays, kept as chunks and counted in the same transaction. Nobody is told that a
report was accepted before it is on the disk.

A commit that fails may have happened all the same: the connection can break after the database has
written it. So after every failure the database is asked what it has, before anything is written.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ldpkit.client.upload import ID_BYTES
from ldpkit.collector.asked import Asked, Shelf
from ldpkit.collector.database import Connection, Database, DatabaseError
from ldpkit.collector.ids import IdSet
from ldpkit.collector.kept import Place, add_chunk, last_chunk, read_tally, write_tally
from ldpkit.collector.loading import Subject, load_ids, load_shelf
from ldpkit.collector.problems import HttpProblem

__all__ = ["Counted", "Fate", "Upload", "Writer"]

_log = logging.getLogger("ldpkit.collector")

Done = TypeVar("Done")
_Counts = np.ndarray[Any, np.dtype[np.int64]]

_GROUP_BYTES = 1 << 25  # of uploads that are committed together
_QUEUE_BYTES = 1 << 28  # that may wait; beyond, devices are asked to come back
_RECONNECT = 1.0  # seconds between two tries to reach a database that is gone


class Counted(NamedTuple):
    """What became of the records of an upload."""

    accepted: int
    duplicate: int
    refused: int


Fate = tuple[Any, "Counted | HttpProblem"]
"""The ticket of an upload, and what became of it."""


@dataclass(eq=False, slots=True)
class Upload:
    """Records of one question and round that wait to be written."""

    asked: Asked
    round: int
    records: bytes
    ticket: Any = None
    """What whoever submitted it knows it by, when its fate is told."""


@dataclass(eq=False)
class _Job:
    """Something else that is to be done by the writer, such as closing a round."""

    run: Callable[[Connection], Any]
    done: Callable[[Any, BaseException | None], None]


@dataclass(eq=False, slots=True)
class _Together:
    """Uploads of one place in one commit, and what is found about them."""

    place: Place
    asked: Asked
    uploads: list[Upload]
    valid: Any = None
    new: Any = None
    ids: Any = None
    kept: Any = None

    @property
    def subject(self) -> Subject:
        """What an id counts once for."""
        return self.place.collection, self.place.question, self.place.round


class Writer(threading.Thread):
    """The writer of a database.

    Parameters
    ----------
    database : Database
        Where to write.
    connection : Connection
        From its `connect_writer`; the thread closes it.
    shelf : Shelf
        What is asked now.
    deliver : callable
        Takes the fates of all uploads of a commit at once, in the writer's thread.
    """

    def __init__(
        self,
        database: Database,
        connection: Connection,
        shelf: Shelf,
        deliver: Callable[[list[Fate]], None],
    ) -> None:
        super().__init__(name="ldpkit-writer", daemon=True)
        self.database, self.shelf, self._deliver = database, shelf, deliver
        self.ids: dict[Subject, IdSet] = {}
        self.commits = self.reports = self.duplicates = self.refused = self.failures = 0
        self._tallies: dict[Place, tuple[int, _Counts]] = {}
        self._queue: queue.SimpleQueue[Upload | _Job | None] = queue.SimpleQueue()
        self._waiting, self._lock = 0, threading.Lock()
        self._connection: Connection | None = connection
        self._is_in_doubt = False
        self._last = self._settled = load_ids(connection, shelf, self.ids, 0)

    # --- called by those who receive ---------------------------------------------------

    @property
    def waiting_bytes(self) -> int:
        """How many bytes of uploads wait."""
        return self._waiting

    def submit(self, upload: Upload) -> None:
        """Queue an upload, or refuse it if too many wait."""
        with self._lock:
            if self._waiting + len(upload.records) > _QUEUE_BYTES:
                raise HttpProblem("busy", "too many reports wait to be written")
            self._waiting += len(upload.records)
        self._queue.put(upload)

    def call(self, run: Callable[[Connection], Done], *, patience: float = 60.0) -> Done:
        """Run something in the writer's thread, between two commits, and return what it returns."""
        finished = threading.Event()
        outcome: list[Any] = [None, DatabaseError("the writer did not answer in time")]

        def done(result: Any, error: BaseException | None) -> None:
            outcome[:] = [result, error]
            finished.set()

        self._queue.put(_Job(run, done))
        finished.wait(patience)
        if outcome[1] is not None:
            raise outcome[1]
        result: Done = outcome[0]
        return result

    def stop(self) -> None:
        """Write all that waits, then end."""
        self._queue.put(None)
        self.join()

    # --- called within the thread, by what `call` runs ------------------------------------

    def next_number(self) -> int:
        """Return the number of a new chunk."""
        self._last += 1
        return self._last

    def forget(self, is_gone: Callable[[Subject], bool]) -> None:
        """Forget the ids and tallies of rounds that take no more reports."""
        for subject in [each for each in self.ids if is_gone(each)]:
            del self.ids[subject]
        self._tallies.clear()

    # --- the thread --------------------------------------------------------------------

    def run(self) -> None:
        """Take what waits, again and again, until told to stop."""
        is_over = False
        while not is_over:
            batch, is_over = self._take()
            uploads = [each for each in batch if isinstance(each, Upload)]
            if uploads:
                self._deliver(self._write(uploads))
            for job in batch:
                if isinstance(job, _Job):
                    self._do(job)
        if self._connection is not None:
            self._connection.close()

    def _take(self) -> tuple[list[Upload | _Job], bool]:
        first = self._queue.get()
        batch, size = list[Upload | _Job](), 0
        while first is not None:
            batch.append(first)
            if isinstance(first, _Job):  # it sees all uploads before it, and none behind it
                break
            size += len(first.records)
            if size >= _GROUP_BYTES:
                break
            try:
                first = self._queue.get_nowait()
            except queue.Empty:
                break
        with self._lock:
            self._waiting -= size
        return batch, first is None

    def _connected(self) -> Connection:
        """Return a connection to a database whose contents are known."""
        if self._connection is None:
            self._connection = self.database.connect_writer()
        if self._is_in_doubt:
            connection = self._connection
            self.shelf.take_over(load_shelf(connection, self.shelf))
            self.forget(lambda subject: not self.shelf.is_open(subject[0], subject[2]))
            self._settled = load_ids(connection, self.shelf, self.ids, self._settled)
            self._last = max(self._settled, last_chunk(connection))
            self._is_in_doubt = False
        return self._connection

    def _failed(self, error: Exception) -> None:
        self._is_in_doubt = True
        self.failures += 1
        _log.error("a commit failed: %s", error)
        if isinstance(error, DatabaseError) and error.is_gone:
            if self._connection is not None:
                with contextlib.suppress(Exception):
                    self._connection.close()
                self._connection = None
            time.sleep(_RECONNECT)

    def _do(self, job: _Job) -> None:
        try:
            result = job.run(self._connected())
            self._settled = self._last
        except HttpProblem as problem:  # it refused before it wrote
            job.done(None, problem)
        except Exception as error:
            self._failed(error)
            job.done(None, error)
        else:
            job.done(result, None)

    def _write(self, uploads: list[Upload]) -> list[Fate]:
        fates: list[Fate] = []
        try:
            connection = self._connected()
            groups: list[_Together] = []
            for (asked, number), some in _by_question(uploads).items():
                if problem := self._late_problem(asked, number):
                    fates += [(each.ticket, problem) for each in some]
                else:
                    groups.append(_Together(asked.place(number), asked, some))
            fresh = dict[Subject, list[Any]]()
            for group in groups:
                self._examine(group, fresh.setdefault(group.subject, []))
            self._commit(connection, groups)
            for group in groups:
                fates += _fates(group)
        except Exception as error:
            # Devices send it again. If it was kept after all, they will hear that it is a duplicate.
            self._failed(error)
            return [
                (each.ticket, HttpProblem("busy", "the reports could not be written now")) for each in uploads
            ]
        return fates

    def _late_problem(self, asked: Asked, number: int) -> HttpProblem | None:
        """Return what has become of a question while its uploads waited."""
        if not self.shelf.is_open(asked.collection, number):
            return HttpProblem("round-closed", f"round {number} is closed")
        if not self.shelf.has(asked):
            return HttpProblem("foreign-reports", f"question {asked.question.id!r} was changed")
        return None

    def _examine(self, group: _Together, fresh: list[Any]) -> None:
        """Find out which reports can be, and which ids are new.

        `fresh` has the new ids of the same question and round under another version.
        """
        uploads = group.uploads
        data = uploads[0].records if len(uploads) == 1 else b"".join([each.records for each in uploads])
        records = np.frombuffer(data, np.uint8).reshape(-1, group.asked.record_bytes)
        ids = records[:, :ID_BYTES].copy().view("<u8").ravel().astype(np.uint64, copy=False)
        reports = records[:, ID_BYTES:].copy()
        group.valid = group.asked.mechanism.valid_mask(reports.tobytes())
        known = self.ids.setdefault(group.subject, IdSet())
        if group.valid.all():
            group.new, group.ids = known.new(ids)
        else:
            group.new = np.zeros(len(ids), np.bool_)
            group.new[group.valid], group.ids = known.new(ids[group.valid])
        for others in fresh:
            group.new &= ~np.isin(ids, others)
            group.ids = group.ids[~np.isin(group.ids, others)]
        fresh.append(group.ids)
        group.kept = reports if len(group.ids) == len(ids) else reports[group.new]

    def _commit(self, connection: Connection, groups: Sequence[_Together]) -> None:
        tallies = dict[Place, tuple[int, _Counts]]()
        if any(len(group.kept) for group in groups):
            with connection.transaction():
                for group in groups:
                    if len(group.kept):
                        add_chunk(connection, self.next_number(), group.place, group.kept, group.ids)
                        tallies[group.place] = self._count(connection, group)
            # Only what is on the disk is remembered: a commit that failed has counted nobody.
            self._settled = self._last
            self._tallies.update(tallies)
            self.commits += 1
        for group in groups:
            self.ids[group.subject].add(group.ids)
            refused = len(group.valid) - int(group.valid.sum())
            self.reports += len(group.ids)
            self.refused += refused
            self.duplicates += len(group.valid) - refused - len(group.ids)

    def _count(self, connection: Connection, group: _Together) -> tuple[int, _Counts]:
        mechanism = group.asked.mechanism
        added = mechanism.tally(mechanism.decode(group.kept.tobytes()))
        n, counts = added.n, added.counts
        before = self._tallies.get(group.place) or read_tally(connection, group.place)
        if before is not None:
            n, counts = before[0] + n, before[1] + counts
        write_tally(connection, group.place, n, counts)
        return n, counts


def _by_question(uploads: list[Upload]) -> dict[tuple[Asked, int], list[Upload]]:
    """Return uploads by what they answer: the question, as it was asked, and the round."""
    found: dict[tuple[Asked, int], list[Upload]] = {}
    for upload in uploads:
        key = (upload.asked, upload.round)
        some = found.get(key)
        if some is None:
            found[key] = some = []
        some.append(upload)
    return found


def _fates(group: _Together) -> list[Fate]:
    """Return for each upload of a group how many of its records were counted."""
    length = group.asked.record_bytes
    if len(group.ids) == len(group.valid):  # nearly always: all are new
        return [(each.ticket, Counted(len(each.records) // length, 0, 0)) for each in group.uploads]
    fates, start = list[Fate](), 0
    for upload in group.uploads:
        stop = start + len(upload.records) // length
        accepted = int(group.new[start:stop].sum())
        refused = stop - start - int(group.valid[start:stop].sum())
        fates.append((upload.ticket, Counted(accepted, stop - start - accepted - refused, refused)))
        start = stop
    return fates
