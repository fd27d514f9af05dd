"""`ldpkit spec`: golden vectors for a client in another language, and whether it passes them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.app import Group
from ldpkit.cli.outputs import check_output, check_result, is_standard_output, write_text
from ldpkit.cli.printing import deliver_rows, note, progress_bar
from ldpkit.cli.reading import Reads, Writes, files_of_vectors
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from ldpkit.testing.vectors.lines import Line

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit spec check ./client
  ldpkit spec vectors --lines --only grr | head -3
"""
_CHECK_EXAMPLES = """
\b
Examples:
  ldpkit spec check ./client
  ldpkit spec check node client.js --only grr,olh
  ldpkit spec vectors --lines | ./client > reports.txt
  ldpkit spec check --reports reports.txt --format json
"""
_VECTORS_EXAMPLES = """
\b
Examples:
  ldpkit spec vectors --lines --only grr | head -3
  ldpkit spec vectors --lines -o vectors.txt
  ldpkit spec vectors -o vectors/
"""

OnlyOption = Annotated[
    str | None,
    typer.Option(
        "--only", metavar="NAMES", help="Only these mechanisms, separated by commas; 'forged' counts as one."
    ),
]
FolderOption = Annotated[
    Path | None,
    typer.Option(
        "--vectors", metavar="DIR", help="Use the vectors in this folder, not those of this version."
    ),
    Reads(files_of_vectors),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    spec = typer.Typer(
        cls=Group,
        help="Golden vectors for clients in any language.",
        epilog=_EXAMPLES,
        rich_markup_mode=None,
    )
    settings = {"ignore_unknown_options": True, "allow_interspersed_args": False}
    spec.command("check", epilog=_CHECK_EXAMPLES, context_settings=settings)(opt.spread(check))
    spec.command("vectors", epilog=_VECTORS_EXAMPLES)(opt.spread(vectors))
    app.add_typer(spec, name="spec")


def check(
    program: Annotated[
        list[str] | None,
        typer.Argument(help="The program and its arguments; options of this command go before."),
        Reads(),
    ] = None,
    reports: Annotated[
        Path | None,
        typer.Option(
            "--reports",
            metavar="FILE",
            help="A file with what a program printed, instead of running one; - is standard input.",
        ),
    ] = None,
    only: OnlyOption = None,
    folder: FolderOption = None,
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Check that a client makes the right reports.

    The program gets a line for each vector on its standard input: an id, a form and its fields, the
    input and the random bytes. It prints the id and the report in hex, 'refused' if the form or the
    input must be refused, and '-' for a form that it does not support. The exit code is 0 if all
    its answers are right, and 1 otherwise.
    """
    if (program is None) == (reports is None):
        raise InvalidParameterError("give a program to run, or --reports with what it printed")
    check_result(shown)
    lines = _lines(folder, only)
    from ldpkit.testing.vectors.lines import compare

    outcomes = compare(lines, _run(program, lines) if program else _printed(reports))
    equal, different, skipped = (
        sum(getattr(each, name) for each in outcomes) for name in ("equal", "different", "skipped")
    )
    told = f"{equal} of {len(lines)} vectors equal, {different} different, {skipped} skipped"
    firsts = [each.first for each in outcomes if each.first]
    caption = "\n".join([told, *firsts[:10]])
    deliver_rows([each.row() for each in outcomes], shown, kind="vectors", caption=caption)
    if shown.format is not opt.Format.table:
        note(caption)
    raise typer.Exit(0 if equal and not different else 1)


def vectors(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PATH", help="A folder for JSON, a file for lines."),
        Writes(takes_dash=True),
    ] = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="Lines of text for a program, as 'spec check' sends them.")
    ] = False,
    only: OnlyOption = None,
    folder: FolderOption = None,
    force: opt.ForceOption = False,
) -> None:
    """Write the golden vectors: as JSON files into a folder, or as lines of text.

    Vectors that are already in the folder are never changed: new ones are added, and a difference
    is refused without --force, as is a file of lines that exists.
    """
    if lines:
        if output is not None:
            check_output(output, force=force)
        text = "".join(f"{line.text}\n" for line in _lines(folder, only))
        if output is None or is_standard_output(output):
            sys.stdout.write(text)
        else:
            write_text(output, text)
            note(f"wrote {output}")
        return
    if output is None or is_standard_output(output) or only is not None:
        raise InvalidParameterError("JSON goes into a folder, all of it: give -o DIR, or --lines")
    from ldpkit.testing.vectors.files import changed_files, make_files, read_files, text_of

    old = read_files(output) if any(output.glob("*.json")) else {}
    known = old or read_files(folder or _stored() or output)
    new = make_files(known)
    changes = changed_files(old, new)
    if changes and not force:
        raise InvalidInputError(
            f"{len(changes)} groups of {output} would change, the first is {changes[0]}: published "
            "vectors must not change; fix the sampler, or give --force if a vector was wrong"
        )
    output.mkdir(parents=True, exist_ok=True)
    with progress_bar() as watch:
        for name, content in watch(new.items(), len(new), "writing vectors"):
            write_text(output / f"{name}.json", text_of(content))
    note(f"{len(new)} files in {output}, {len(changes)} vectors changed")


def _stored() -> Path | None:
    """Return the folder of the vectors of this version, in the package or beside its source."""
    package = Path(__file__).parents[1]
    found = (package / "spec" / "vectors", package.parents[1] / "spec" / "vectors")
    return next((each for each in found if each.is_dir()), None)


def _lines(folder: Path | None, only: str | None) -> list[Line]:
    """Return the vectors that were asked for, as lines."""
    chosen = folder or _stored()
    if chosen is None:
        raise InvalidInputError("this installation has no vectors: give --vectors DIR")
    from ldpkit.testing.vectors.files import read_files
    from ldpkit.testing.vectors.lines import vector_lines

    lines = list(vector_lines(read_files(chosen)))
    if only is None:
        return lines
    names = {line.mechanism for line in lines}
    for name in (wanted := [each.strip() for each in only.split(",") if each.strip()]):
        if name not in names:
            raise UnknownNameError("mechanism with vectors", name, names)
    return [line for line in lines if line.mechanism in wanted]


def _run(program: list[str], lines: list[Line]) -> list[str]:
    """Return what a program prints for some lines."""
    if shutil.which(program[0]) is None:
        raise InvalidInputError(
            f"there is no program {program[0]!r}: build it, or give its path, such as ./client"
        )
    text = "".join(f"{line.text}\n" for line in lines)
    made: Any = subprocess.run(program, input=text, stdout=subprocess.PIPE, text=True, errors="replace")
    if made.returncode:
        note(f"warning: {program[0]} ended with exit code {made.returncode}")
    return list(made.stdout.splitlines())


def _printed(path: Path | None) -> Iterator[str]:
    """Yield the lines of a file, or of standard input."""
    if path is None or is_standard_output(path):
        yield from sys.stdin
        return
    with path.open(errors="replace") as file:
        yield from file
