"""`ldpkit collection keygen` and `sign`: who stands behind a collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli.collection_check import CollectionArgument
from ldpkit.cli.options import ForceOption, OutputOption, spread
from ldpkit.cli.outputs import check_ending, check_output, write_text
from ldpkit.cli.printing import note
from ldpkit.cli.reading import Writes
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.client.signing import SigningKey

__all__ = ["add_to"]

_KEYGEN = """
\b
Examples:
  ldpkit collection keygen town.pem > town.pub
  ldpkit collection keygen town.pem --public > town.pub

The last one prints the public half of a key that you have.
"""
_SIGN = """
\b
Examples:
  ldpkit collection sign commute.toml --private-key town.pem -o commute.json
  ldpkit collection sign commute.toml --unsigned -o commute.json
"""
_MOST_BYTES = 1 << 16


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("keygen", epilog=_KEYGEN)(spread(keygen))
    app.command("sign", epilog=_SIGN)(spread(sign))


def keygen(
    file: Annotated[Path, typer.Argument(help="The file for the private key; it stays with you."), Writes()],
    public: Annotated[
        bool, typer.Option("--public", help="Make no key: print the public half of the one in the file.")
    ] = False,
) -> None:
    """Make a key to sign collections with, and print its public half.

    Put the public half into your clients: they then accept only what this key has signed. An
    existing file is never overwritten.
    """
    from ldpkit.client.signing import SigningKey
    from ldpkit.core.wholefile import create_file

    if public:
        print(_read_key(file).public)
        return
    key = SigningKey.new()
    if not create_file(file, key.to_pem()):
        raise InvalidInputError(
            f"{str(file)!r} exists: a key that is overwritten is lost, so choose another name, or print the "
            "public half of this one with --public"
        )
    print(key.public)
    note(f"wrote {file}: only you may read it; the public key, for the clients, is on standard output")


def _read_key(file: Path) -> SigningKey:
    from ldpkit.client.signing import SigningKey
    from ldpkit.core.smallfile import read_small_file

    return SigningKey.from_pem(read_small_file(file, "the private key", _MOST_BYTES))


def sign(
    file: CollectionArgument,
    private_key: Annotated[
        Path | None,
        typer.Option("--private-key", help="The file that keygen wrote.", show_default=False),
    ] = None,
    unsigned: Annotated[
        bool, typer.Option("--unsigned", help="Write it without a signature, for tests.")
    ] = False,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Check a collection, and write the canonical file that devices get."""
    from ldpkit.protocols.collection.files import load_collection, seal

    if (private_key is None) == (not unsigned):
        raise InvalidParameterError("who signs? give --private-key, or --unsigned for a test without a key")
    if output is None:
        raise InvalidParameterError("where to? give a .json file with -o, or - for standard output")
    check_ending(output, "--output", [".json"])
    check_output(output, force=force)
    found = load_collection(file)
    key = None if private_key is None else _read_key(private_key)
    write_text(output, seal(found, key).decode())
    by = "unsigned" if key is None else f"signed by {key.public}"
    note(f"wrote {output}: {found.id}, version {found.version}, digest {found.digest}, {by}")
