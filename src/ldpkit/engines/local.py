"""One process as an engine: what clusters are compared with, and what needs none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Unpack

from ldpkit.core.watching import Watch, collect, unwatched
from ldpkit.engines.lake import Paths, find_files
from ldpkit.engines.likelihood import PartedEvidence, likelihood_of
from ldpkit.engines.partial import Reading, check_job
from ldpkit.engines.tallies import Tallies, merge
from ldpkit.estimation.evidence import Evidence
from ldpkit.files.arrow import REPORT, Bad
from ldpkit.mechanisms.base import Mechanism
from ldpkit.mechanisms.categorical.oracle import FrequencyOracle

__all__ = ["likelihood", "tally"]


def tally(
    paths: Paths,
    mechanism: Mechanism | Mapping[Any, Mechanism] | None = None,
    by: Iterable[str] = (),
    *,
    watch: Watch = unwatched,
    **reading: Unpack[Reading],
) -> Tallies:
    """Return the tallies of Parquet files by group, one file after the other.

    Parameters
    ----------
    paths : str, path or several
        Files, folders, patterns such as "lake/day=*/*.parquet", or addresses such as s3://bucket/lake.
    mechanism : Mechanism or mapping, optional
        What made the reports, or one for each value of `question`; by default what the files say.
    by : sequence of str
        The columns, or folders such as `day=2026-11-17`, that make groups.
    watch : callable, optional
        Watches the files pass, for a progress bar.
    reading
        How reports lie in their rows, by keyword: `question`, the column that chooses among several
        mechanisms ("question"); `column`, that of the reports ("report"); `blocks`, whether a row holds
        many reports, one behind the other (False); `bad`, what to do with rows that hold no report of
        the mechanism, "refuse" or "count" ("refuse").

    Examples
    --------
    >>> import ldpkit, pathlib, tempfile
    >>> from ldpkit.files.arrow import write_parquet
    >>> oracle = ldpkit.OLH(16, epsilon=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for day in ("1", "2"):
    ...         place = pathlib.Path(folder, f"day={day}")
    ...         place.mkdir()
    ...         reports = oracle.privatize([3] * 100)
    ...         write_parquet(place / "a.parquet", oracle, [reports], ldpkit.Provenance())
    ...     found = tally(folder, by=["day"])
    >>> found, found["2"].n
    (Tallies(2 groups by day, n=200, bad=0), 100)
    """
    job = check_job(mechanism, by, **reading)
    files = find_files(paths)
    made = collect((job.count_paths([file]) for file in files), len(files), "counting", watch)
    return merge(job, (partial for rows in made for partial in rows))


def likelihood(
    paths: Paths,
    oracle: FrequencyOracle | None = None,
    *,
    column: str = REPORT,
    bad: Bad = "refuse",
    watch: Watch = unwatched,
) -> Evidence | PartedEvidence:
    """Return the likelihood to maximise, one file at a time in memory.

    Parameters
    ----------
    paths, column, bad, watch
        As of `tally`.
    oracle : FrequencyOracle, optional
        What made the reports; by default what the files say.
    """
    files = find_files(paths)
    counted = tally(files, oracle, column=column, bad=bad, watch=watch)

    def run(work: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        return [work(*each) for each in arguments]

    return likelihood_of(files, counted, column, bad, run)
