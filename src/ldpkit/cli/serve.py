"""`ldpkit serve`: receive reports from devices, and show what they tell."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from ldpkit.cli.options import spread
from ldpkit.cli.printing import note
from ldpkit.core.errors import InvalidInputError, InvalidParameterError
from ldpkit.core.stopping import Stopped, tidied

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit serve commute.toml
  ldpkit serve commute.json --data /var/lib/ldpkit --port 8080
  ldpkit serve --config collector.toml
  ldpkit serve commute.toml --data postgresql://collector@localhost/ldpkit
"""
_MOST_BYTES = 1 << 16  # of settings
_SETTINGS = {
    "collections": list,
    "data": str,
    "host": str,
    "port": int,
    "public_url": str,
    "proxies": str,
    "per_address": int,
    "in_all": int,
    "at_once": int,
    "largest_upload": int,
}


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve", epilog=_EXAMPLES)(spread(serve))


def serve(
    collections: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Collection files, TOML or JSON, to publish if they are not yet there.", show_default=False
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", help=f"A TOML file with any of {', '.join(_SETTINGS)}.", show_default=False),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            help="A folder for the database, or postgresql://...; ldpkit-data by default.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="Where to listen; 127.0.0.1 by default.", show_default=False)
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="8000 by default.", show_default=False)
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(
            "--public-url",
            help="The address for devices, if there is a proxy in front of the service.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run the collector: take reports, publish estimates.

    All it needs is a collection file. It makes a database, and prints the address for devices, a
    token for analysts (shown once) and the address of the results page. If the output is not a
    terminal, it writes the token to the file 'token' in the data folder instead. Stop it with
    Ctrl-C, SIGTERM or SIGHUP: it first writes everything that it received.
    """
    settings: dict[str, Any] = {} if config is None else _read(config)
    given = {"data": data, "host": host, "port": port, "public_url": public_url}
    settings |= {name: value for name, value in given.items() if value is not None}
    files = [*(collections or []), *(Path(each) for each in settings.get("collections", []))]

    from ldpkit.collector.database import make_data_folder, open_database
    from ldpkit.collector.serve import ServeSettings
    from ldpkit.collector.serve import serve as run
    from ldpkit.collector.uploads import Limits

    envelopes = [_envelope(path) for path in files]
    where = settings.get("data", "ldpkit-data")
    database = open_database(where)
    named = {"largest_upload": "body", "per_address": "per_address", "in_all": "in_all", "at_once": "at_once"}
    limits = Limits(**{name: settings[key] for key, name in named.items() if key in settings})
    chosen = ServeSettings(
        host=settings.get("host", "127.0.0.1"),
        port=settings.get("port", 8000),
        public_url=settings.get("public_url"),
        proxies=settings.get("proxies", ""),
        limits=limits,
    )
    if "://" not in where:
        make_data_folder(where)
    try:
        with tidied():
            run(database, envelopes, chosen, typer.echo, is_private=sys.stdout.isatty())
    except (KeyboardInterrupt, Stopped):  # the way in which a service ends
        note("stopped; what was received is written")


def _read(path: Path) -> dict[str, Any]:
    """Return the settings of a file, each of its type; unknown ones are refused by name."""
    from ldpkit.core.smallfile import read_small_file

    data = read_small_file(path, "the settings", _MOST_BYTES)
    try:
        found = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{str(path)!r} is not TOML: {error}") from None
    for name, value in found.items():
        if name not in _SETTINGS:
            raise InvalidParameterError(
                f"{str(path)!r} sets {name!r}, which is not one of {', '.join(_SETTINGS)}"
            )
        if type(value) is not _SETTINGS[name]:
            raise InvalidParameterError(
                f"{str(path)!r}: {name} is of type {_SETTINGS[name].__name__}, got {value!r}"
            )
    return found


def _envelope(path: Path) -> bytes:
    """Return what devices get of a collection file; a signature stays as it is."""
    from ldpkit.protocols.collection.files import load_collection, read_collection_file, seal

    collection = load_collection(path)
    return seal(collection) if path.suffix.lower() == ".toml" else read_collection_file(path)
