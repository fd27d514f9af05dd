"""Reports in a lake: files by pattern, counted by the engine that the user names."""

from __future__ import annotations

import contextlib
import enum
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.printing import progress_bar
from ldpkit.core.errors import InvalidParameterError, MissingDependencyError

if TYPE_CHECKING:
    from ldpkit.engines.tallies import Tallies
    from ldpkit.estimation.estimate import Estimate

__all__ = ["BadOption", "BadRows", "ByOption", "Engine", "EngineOption", "MasterOption", "is_lake", "Lake"]


class Engine(enum.StrEnum):
    """What counts the reports."""

    local = "local"
    dask = "dask"
    spark = "spark"


class BadRows(enum.StrEnum):
    """What to do with rows that hold no report."""

    refuse = "refuse"
    set_aside = "count"


EngineOption = Annotated[
    Engine | None,
    typer.Option("--engine", help="What counts Parquet files.", show_default="local", case_sensitive=False),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="ADDRESS",
        help="The cluster: local[2], spark://..., yarn or sc://... for Spark, tcp://host:8786 for Dask.",
        show_default=False,
    ),
]
ByOption = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="Estimate each group separately: columns of Parquet files, or folders such as day=2026-11-17. "
        "Repeatable.",
        show_default=False,
    ),
]
BadOption = Annotated[
    BadRows, typer.Option("--bad", help="Rows of Parquet files without a report: refuse, or count and skip.")
]


def is_lake(files: list[str], engine: Engine | None, by: list[str]) -> bool:
    """Whether files are Parquet or patterns of them; refuse a mixture, and options that need them."""
    from ldpkit.engines.lake import is_pattern

    parquet = [each.lower().endswith(".parquet") or is_pattern(each) for each in files]
    if any(parquet) and not all(parquet):
        other = files[parquet.index(False)]
        raise InvalidParameterError(
            f"{other!r} is not a Parquet file, and others are: estimate them separately, or add their tallies"
        )
    if not any(parquet) and (engine is not None or by):
        option = "--by" if by else "--engine"
        raise InvalidParameterError(
            f"{option} is for Parquet files, and {files[0]!r} is not one: leave it out"
        )
    return any(parquet)


class Lake:
    """Parquet files of reports and the engine that counts them."""

    def __init__(
        self, files: list[str], engine: Engine | None, master: str | None, by: list[str], bad: BadRows
    ) -> None:
        self.files, self.engine, self.master = files, engine or Engine.local, master
        self.by = tuple(by)
        self.options: dict[str, Any] = {"bad": bad.value}
        if master is not None and self.engine is Engine.local:
            raise InvalidParameterError("--master names a cluster: give --engine spark or --engine dask too")

    def tallies(self) -> Tallies:
        """Return the tallies of all files by group."""
        if self.engine is Engine.spark:
            with _spark(self.master) as session:
                from ldpkit.engines import spark

                return spark.tally(self.files, by=self.by, session=session, **self.options)
        if self.engine is Engine.dask:
            with _dask(self.master) as client, progress_bar() as watch:
                from ldpkit.engines import dask

                return dask.tally(self.files, by=self.by, client=client, watch=watch, **self.options)
        from ldpkit.engines.local import tally

        with progress_bar() as watch:
            return tally(self.files, by=self.by, watch=watch, **self.options)

    def likelihood(self, consistency: str | None, *, population: bool) -> Estimate:
        """Return the most likely frequencies."""
        if self.by:
            raise InvalidParameterError("mle needs all reports together: leave out --by, or give one group")
        if self.engine is Engine.spark:
            raise InvalidParameterError(
                "a climb reads the reports at every step, for which Spark is slow: use --engine dask"
            )
        if self.engine is Engine.local:
            from ldpkit.engines.local import likelihood

            with progress_bar() as watch:
                evidence = likelihood(self.files, watch=watch, **self.options)
            return evidence.estimate("mle", consistency=consistency, population=population)
        with _dask(self.master) as client:
            from ldpkit.engines import dask

            with progress_bar() as watch:
                evidence = dask.likelihood(self.files, client=client, watch=watch, **self.options)
            return evidence.estimate("mle", consistency=consistency, population=population)


@contextlib.contextmanager
def _spark(master: str | None) -> Iterator[Any]:
    from ldpkit.engines.spark import start_session

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")  # nor is it used here
        session = start_session(master)
        try:
            with contextlib.suppress(Exception):  # Connect has no context, and logs elsewhere
                session.sparkContext.setLogLevel("ERROR")
            yield session
        finally:
            session.stop()


@contextlib.contextmanager
def _dask(address: str | None) -> Iterator[Any]:
    """Yield a client of the cluster at an address; without one, threads of this process do the work."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise MissingDependencyError("dask", "the engine dask", "dask") from None
    try:
        client = Client(address)
    except (OSError, ValueError) as error:
        raise InvalidParameterError(f"no Dask scheduler answers at {address!r}: {error}") from None
    with client:
        yield client
