"""`ldpkit collector`: look after a running collector, or after its database."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.app import Group
from ldpkit.cli.options import ConsistencyOption, ForceOption, ResultOptions, spread
from ldpkit.cli.outputs import check_output, check_result
from ldpkit.cli.parsing import refuse_options
from ldpkit.cli.printing import deliver, deliver_rows, note
from ldpkit.cli.reading import Reads, Writes, files_of_service
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.collector.database import Connection
    from ldpkit.collector.remote import Collector

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit collector estimates commute-2026
  ldpkit collector estimates commute-2026 --round 0,1 --change
  ldpkit collector export commute-2026 commute.ldp
  ldpkit collector close commute-2026 --round 3
  ldpkit collector tokens --data ldpkit-data --new "weekly report"
  ldpkit collector backup monday.db --data ldpkit-data
  ldpkit collector verify --data ldpkit-data
"""

_EXAMPLES_OF = {
    "estimates": """
\b
Examples:
  ldpkit collector estimates commute-2026
  ldpkit collector estimates commute-2026 --round 0,1 --change
  ldpkit collector estimates town-2026 --question commute \\
      --consistency norm_sub -o commute.csv
""",
    "export": """
\b
Examples:
  ldpkit collector export commute-2026 commute.ldp
  ldpkit collector export town-2026 commute.parquet \\
      --question commute --round 1
""",
    "close": """
\b
Examples:
  ldpkit collector close commute-2026 --round 3
  ldpkit collector close commute-2026 --retire
""",
    "erase": """
\b
Examples:
  ldpkit collector erase commute-2026 --force
""",
    "tokens": """
\b
Examples:
  ldpkit collector tokens
  ldpkit collector tokens --data ldpkit-data --new "weekly report"
  ldpkit collector tokens --new boss --admin
  ldpkit collector tokens --revoke "weekly report"
""",
    "backup": """
\b
Examples:
  ldpkit collector backup monday.db --data ldpkit-data
""",
    "restore": """
\b
Examples:
  ldpkit collector restore monday.db --data new-data
  ldpkit collector restore monday.db --data ldpkit-data --force
""",
    "verify": """
\b
Examples:
  ldpkit collector verify --data ldpkit-data
  ldpkit collector verify --data ldpkit-data --repair
""",
}

UrlOption = Annotated[str, typer.Option("--url", help="Where the collector is.")]
TokenOption = Annotated[
    str | None,
    typer.Option(
        "--token",
        help="A token; better set LDPKIT_TOKEN, because others can see command lines.",
        show_default=False,
    ),
]
DataFolder = Annotated[
    str,
    typer.Option("--data", help="The folder of the database, or postgresql://..."),
    Reads(files_of_service),
]
QuestionOption = Annotated[
    str | None,
    typer.Option(
        "--question", help="The id of the question; needed if several are asked.", show_default=False
    ),
]
RoundOption = Annotated[int, typer.Option("--round", min=0, help="The round.")]
CollectionArgument = Annotated[str, typer.Argument(help="The id of the collection.")]

_URL, _DATA = "http://localhost:8000", "ldpkit-data"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        cls=Group,
        help="Read, close, back up and check a collection service.",
        epilog=_EXAMPLES,
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    for command in (estimates, export, close, erase, tokens, backup, restore, verify):
        group.command(command.__name__, epilog=_EXAMPLES_OF[command.__name__])(spread(command))
    app.add_typer(group, name="collector")


def _remote(url: str, token: str | None) -> Collector:
    from ldpkit.collector.remote import Collector

    return Collector(url, token)


def estimates(
    collection: CollectionArgument,
    question: QuestionOption = None,
    rounds: Annotated[str, typer.Option("--round", help="A round, or several such as 0,1,2.")] = "0",
    change: Annotated[
        bool, typer.Option("--change", help="The change from the first of two rounds to the second.")
    ] = False,
    estimator: Annotated[
        str | None, typer.Option("--estimator", help="As for 'ldpkit estimate'.", show_default=False)
    ] = None,
    consistency: ConsistencyOption = None,
    shown: ResultOptions = ResultOptions(),
    url: UrlOption = _URL,
    token: TokenOption = None,
) -> None:
    """Show the result of a question, with error bars."""
    check_result(shown)
    numbers = _rounds(rounds)
    remote = _remote(url, token)
    options: dict[str, Any] = {"estimator": estimator, "consistency": consistency}
    if change:
        if len(numbers) != 2:
            raise InvalidParameterError(
                f"a change is between two rounds, such as --round 0,1, got {rounds!r}"
            )
        found: Any = remote.change(collection, question, *numbers, **options)
    elif len(numbers) > 1:
        found = remote.together(collection, question, numbers, **options)
    else:
        found = remote.estimate(collection, question, number=numbers[0], **options)
    deliver(found, shown)


def export(
    collection: CollectionArgument,
    output: Annotated[Path, typer.Argument(help="A file that ends in .ldp, .csv or .parquet."), Writes()],
    question: QuestionOption = None,
    number: RoundOption = 0,
    force: ForceOption = False,
    url: UrlOption = _URL,
    token: TokenOption = None,
) -> None:
    """Write the reports of a question and round to a file, without ids, in random order."""
    from ldpkit.collector.export import ENDINGS

    if output.suffix.removeprefix(".") not in ENDINGS:
        raise InvalidInputError(f"{str(output)!r} ends in none of .{', .'.join(ENDINGS)}: choose one")
    check_output(output, force=force)
    _remote(url, token).export(collection, question, output, number=number)
    note(f"wrote {output}")


def close(
    collection: CollectionArgument,
    number: Annotated[
        int | None, typer.Option("--round", min=0, help="The round to close.", show_default=False)
    ] = None,
    retire: Annotated[
        bool, typer.Option("--retire", help="Close every round and take no further answer.")
    ] = False,
    url: UrlOption = _URL,
    token: TokenOption = None,
) -> None:
    """Close a round for ever: late answers are refused, and the ids that came with the reports forgotten.

    It needs an admin token.
    """
    if (number is None) == (not retire):
        raise InvalidParameterError("say which round with --round, or --retire for the whole collection")
    remote = _remote(url, token)
    told = remote.retire(collection) if retire else remote.close(collection, number or 0)
    what = f"{'all rounds' if retire else f'round {number}'} of {collection}"
    was = "were" if retire else "was"
    note(f"{what} {was} already closed" if told.get("already_closed") else f"closed {what}")


@contextlib.contextmanager
def _connected(data: str, *, is_writer: bool = False) -> Iterator[Connection]:
    from ldpkit.collector.database import open_database

    database = open_database(data)
    connection = database.connect_writer() if is_writer else database.connect()
    try:
        database.check(connection)
        yield connection
    finally:
        connection.close()


def tokens(
    data: DataFolder = _DATA,
    new: Annotated[
        str | None,
        typer.Option("--new", help="Make a token with this name, and show it once.", show_default=False),
    ] = None,
    admin: Annotated[
        bool, typer.Option("--admin", help="A token that may also publish and close collections.")
    ] = False,
    revoke: Annotated[
        str | None,
        typer.Option("--revoke", help="Disable the token of this name.", show_default=False),
    ] = None,
    shown: ResultOptions = ResultOptions(),
) -> None:
    """List, make and revoke tokens, also while the service runs."""
    from ldpkit.collector.tokens import ADMIN, ANALYST, list_tokens, new_token, revoke_token

    check_result(shown)
    if new is not None or revoke is not None:
        refuse_options("it is for the list of tokens", output=shown.output)
    with _connected(data) as connection:
        if new is not None:
            typer.echo(new_token(connection, new, ADMIN if admin else ANALYST))
        elif revoke is not None:
            revoke_token(connection, revoke)
            note(f"revoked {revoke!r}")
        else:
            rows = [{"name": name, "role": role} for name, role in list_tokens(connection)]
            deliver_rows(rows, shown, kind="tokens")


def backup(
    target: Annotated[Path, typer.Argument(help="Where to write the copy."), Writes()],
    data: DataFolder = _DATA,
    force: ForceOption = False,
) -> None:
    """Copy the database to a file while the service runs; use pg_dump for PostgreSQL."""
    from ldpkit.collector.backup import back_up, refuse_own_file

    refuse_own_file(data, target)  # before --force is asked for
    check_output(target, force=force)
    size = back_up(data, target)
    note(f"wrote {target} ({size:,} bytes)")


def restore(
    source: Annotated[Path, typer.Argument(help="A file that 'backup' wrote.")],
    data: DataFolder = _DATA,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a database that is there; a copy of it is kept.")
    ] = False,
) -> None:
    """Replace the database with a backup; the service must not be running."""
    from ldpkit.collector.backup import put_back

    kept = put_back(source, data, force=force)
    what = "" if kept is None else f"; what it replaced is in {kept}"
    note(f"restored {data} from {source}{what}")


def verify(
    data: DataFolder = _DATA,
    repair: Annotated[bool, typer.Option("--repair", help="Rewrite tallies that differ.")] = False,
    shown: ResultOptions = ResultOptions(),
) -> None:
    """Check every checksum and count every report again; exit with 1 if something is wrong."""
    from ldpkit.collector.verify import verify as check

    check_result(shown)
    with _connected(data, is_writer=repair) as connection:
        found = list(check(connection, repair=repair))
    rows = [{"what": each.what, "n": each.n, "problem": each.problem or "none"} for each in found]
    deliver_rows(rows, shown, kind="verification")
    if not all(each.is_good for each in found):
        raise typer.Exit(1)
    note("every checksum and every count is right")


def erase(
    collection: CollectionArgument,
    force: Annotated[bool, typer.Option("--force", help="Yes, delete them.")] = False,
    url: UrlOption = _URL,
    token: TokenOption = None,
) -> None:
    """Delete a collection with all its reports, for ever; needs --force and an admin token."""
    if not force:
        raise InvalidParameterError(
            f"this deletes every report of {collection!r} for ever: give --force if that is what you want"
        )
    copies = _remote(url, token).erase(collection).get("copies", [])
    note(f"erased {collection}; backups and other copies are not touched")
    for name in copies:
        note(f"{name} in the data folder, which a restore kept, may still have its reports")


def _rounds(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
        raise InvalidParameterError(f"--round is a whole number, or several such as 0,1,2, got {text!r}")
    return [int(part) for part in parts]
