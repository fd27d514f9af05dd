"""What not to do: a tally in an accumulator of Spark, which counts a task again that runs again.

Spark takes the updates of a task once only in the last stage of a job. Where outputs of an earlier stage are
lost, with their executor or their disk, its tasks run again, and their updates are added again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from engines.lakes import OLH
from ldpkit.engines.partial import Job, Partial, read_counts
from ldpkit.engines.tallies import merge
from ldpkit.mechanisms.tally import Tally

__all__ = ["delete_outputs", "tally_twice"]

_PARTS = 6  # of the second stage; more than run at once, so some begin after the loss


class _Sum:
    """Adds arrays of counts, as an accumulator of Spark asks for it."""

    def zero(self, value: Any) -> Any:
        return np.zeros_like(value)

    def addInPlace(self, value1: Any, value2: Any) -> Any:  # noqa: N802  # as Spark names it
        return value1 + value2


def tally_twice(spark: Any, files: list[str], lose: Callable[[], None], mark: Path) -> tuple[Tally, Tally]:
    """Return the tally from values that tasks returned, and the one in an accumulator, of one job.

    The job has two stages. The first to begin with the second calls `lose`, once, by which outputs of
    the first get lost, as when a machine leaves; Spark makes them again.
    """
    context, job, place = spark.sparkContext, Job(OLH), str(mark)
    total = context.accumulator(np.zeros(1 + OLH.tally_size, np.int64), _Sum())

    def count(names: Iterable[str]) -> Iterator[tuple[int, tuple[Any, ...]]]:
        for number, partial in enumerate(job.count_paths(list(names))):
            total.add(np.concatenate([[partial.n], read_counts(partial)]))
            yield number, tuple(partial)
        yield from ((key, ()) for key in range(_PARTS))  # so each part needs the outputs of every task

    def pass_on(rows: Iterable[Any]) -> Iterator[Any]:
        made = list(rows)
        if not Path(place).exists():
            lose()
            Path(place).touch()
        return iter(made)

    counted = context.parallelize(files, len(files)).mapPartitions(count)
    returned = counted.partitionBy(_PARTS).mapPartitions(pass_on).values().filter(len).collect()
    accumulated = Tally(OLH, int(total.value[0]), total.value[1:])
    return merge(job, (Partial(*row) for row in returned)).total(), accumulated


def delete_outputs(folder: str) -> Callable[[], None]:
    """Return what deletes the outputs of a stage from the disk of Spark."""

    def lose() -> None:
        for file in Path(folder).rglob("shuffle_*"):
            file.unlink(missing_ok=True)

    return lose
