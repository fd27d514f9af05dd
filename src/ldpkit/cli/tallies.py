"""From report files and tallies to one tally."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ldpkit.cli.arguments import open_collected
from ldpkit.cli.progress import track
from ldpkit.core.errors import InvalidInputError, MismatchError
from ldpkit.core.limits import check_memory

if TYPE_CHECKING:
    from ldpkit.files.reportfile import ReportFile
    from ldpkit.mechanisms.tally import Tally

__all__ = ["count_files", "is_collected", "open_all", "refuse_twins"]


def is_collected(path: Path) -> bool:
    """Whether a file begins as report files or tallies do."""
    from ldpkit.files import reportparts
    from ldpkit.mechanisms import tally

    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(4) in (reportparts.MAGIC, tally.MAGIC)


def refuse_twins(files: list[Path]) -> None:
    """Refuse a file that is given twice."""
    seen: set[Path] = set()
    for path in files:
        if path.resolve() in seen:
            raise InvalidInputError(f"{str(path)!r} is given twice, and would count twice: give it once")
        seen.add(path.resolve())


def open_all(files: list[Path], *, for_a_value: int = 0) -> list[ReportFile | Tally]:
    """Return what files hold; refuse reports that stand in two of them, before any is counted.

    `for_a_value` is how many bytes the work on them takes for each value of their domain.
    """
    parts = [open_collected(path) for path in files]
    values = max(part.mechanism.tally_size for part in parts)
    length = sum(path.stat().st_size for path in files)
    check_memory(for_a_value * values, length, f"an estimate of {values} values")
    for later, (path, part) in enumerate(zip(files, parts, strict=True)):
        for earlier in range(later):
            if not set(part.provenance.batches).isdisjoint(parts[earlier].provenance.batches):
                _refuse_copies(files[earlier], parts[earlier], path, part)
    return parts


def _refuse_copies(first: Path, held: ReportFile | Tally, path: Path, part: ReportFile | Tally) -> None:
    try:
        _ = held.provenance + part.provenance
    except MismatchError as error:
        raise MismatchError(f"{str(first)!r} and {str(path)!r} hold the same reports: {error}") from None


def count_files(files: list[Path], *, for_a_value: int = 0) -> Tally:
    """Return the tally of all files; compare all headers before any report is counted."""
    from ldpkit.mechanisms.categorical.oracle import FrequencyOracle
    from ldpkit.mechanisms.tally import Tally

    parts = open_all(files, for_a_value=for_a_value)
    first = parts[0].mechanism
    for path, part in zip(files, parts, strict=True):
        if part.mechanism != first:
            pools = isinstance(first, FrequencyOracle) and part.mechanism.domain == first.domain
            remedy = ", but --method mle pools them" if pools else ": estimate them apart"
            raise MismatchError(
                f"{str(path)!r} is of {part.mechanism!r} on {part.mechanism.domain}, but {str(files[0])!r} "
                f"is of {first!r} on {first.domain}: they do not mix{remedy}"
            )
    return Tally.merge(part if isinstance(part, Tally) else _count_reports(part) for part in parts)


def _count_reports(file: ReportFile) -> Tally:
    return file.tally(lambda passing: track(passing, file.blocks, f"counting {file.path.name}"))
