"""From report files and tallies to one tally."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ldpkit.cli.printing import progress_bar
from ldpkit.core.errors import FileFormatError, InvalidInputError, InvalidParameterError, MismatchError
from ldpkit.core.limits import check_memory

if TYPE_CHECKING:
    from ldpkit.files.reportfile import ReportFile
    from ldpkit.mechanisms.tally import CircularTally, NumericTally, Tally

__all__ = ["count_files", "count_numbers", "is_collected", "open_all", "open_collected", "refuse_twins"]


def is_collected(path: Path) -> bool:
    """Whether a file begins as report files or tallies do."""
    from ldpkit.files import reportparts
    from ldpkit.mechanisms import tally

    return _start(path) in (reportparts.MAGIC, tally.MAGIC)


def _start(path: Path) -> bytes:
    """Return the first bytes of a file, by which formats are told; none if there is no file."""
    if not path.is_file():
        return b""
    with path.open("rb") as stream:
        return stream.read(4)


def open_collected(path: Path) -> ReportFile | Tally:
    """Return what a file holds: reports or, if it begins as one, a tally."""
    from ldpkit.files.reportfile import ReportFile
    from ldpkit.mechanisms.tally import MAGIC, Tally

    if _start(path) != MAGIC:
        return ReportFile.open(path)
    try:
        return Tally.from_bytes(path.read_bytes())
    except FileFormatError as error:
        raise FileFormatError(f"{str(path)!r}: {error}") from error


def refuse_twins(files: list[Path]) -> None:
    """Refuse a file that is given twice."""
    seen: set[Path] = set()
    for path in files:
        try:
            place = path.resolve()
        except (OSError, RuntimeError, ValueError) as error:  # half a character, a NUL, links in a circle
            raise InvalidInputError(f"cannot read {str(path)!r}: {error}: check the path") from None
        if place in seen:
            raise InvalidInputError(f"{str(path)!r} is given twice, and would count twice: give it once")
        seen.add(place)


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


def count_files(files: list[Path], *, pooled_by: str = "", for_a_value: int = 0) -> Tally:
    """Return the tally of all files; compare all headers before any report is counted.

    `pooled_by` is the option with which the command pools mechanisms, if it has one, and
    `for_a_value` how many bytes its work takes for each value.
    """
    from ldpkit.mechanisms.kinds import is_frequency
    from ldpkit.mechanisms.tally import Tally

    parts = open_all(files, for_a_value=for_a_value)
    first = parts[0].mechanism
    for path, part in zip(files, parts, strict=True):
        if part.mechanism != first:
            pools = is_frequency(first) and part.mechanism.domain == first.domain
            remedy = f", but {pooled_by} pools them" if pools and pooled_by else ": estimate them apart"
            raise MismatchError(
                f"{str(path)!r} holds reports of {part.mechanism!r} on {part.mechanism.domain}, but "
                f"{str(files[0])!r} holds reports of {first!r} on {first.domain}: they do not mix{remedy}"
            )
    return Tally.merge(part if isinstance(part, Tally) else _count_reports(part) for part in parts)


def _count_reports(file: ReportFile) -> Tally:
    with progress_bar() as watch:
        return file.tally(watch)


def count_numbers(files: list[Path], **options: object) -> NumericTally | CircularTally:
    """Return the tally of report files about numbers, on a line or a circle.

    Options that the files answer themselves are refused.
    """
    from ldpkit.mechanisms.tally import CircularTally, NumericTally

    for name, given in options.items():
        if given is not None:
            raise InvalidParameterError(f"report files know their {name}: leave out --{name}")
    refuse_twins(files)
    tally = count_files(files)
    if not isinstance(tally, (NumericTally, CircularTally)):
        raise InvalidInputError(
            f"{str(files[0])!r} holds reports of {tally.mechanism!r}, which is about categories: "
            "use 'ldpkit estimate'"
        )
    return tally
