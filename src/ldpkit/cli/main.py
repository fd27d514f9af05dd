"""The entry point: assembles the commands and turns refusals into one line and exit code 2."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from ldpkit import __version__
from ldpkit.cli.quick import QuickGroup, make_group
from ldpkit.core.errors import LdpkitError

__all__ = ["COMMANDS", "main", "make_app"]

COMMANDS = (
    *("recommend", "plan", "risk", "audit", "mechanisms"),
    *("privatize", "estimate", "inspect", "longitudinal", "mean", "density"),
    *("bench", "datasets", "reproduce"),
)
"""The commands in the order of --help; each is a module of this room."""


class _Commands(QuickGroup):
    """The commands in their order; Typer lists groups such as `plan` last."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name in COMMANDS if name in self.commands]


def make_app(words: Sequence[str] = ()) -> typer.Typer:
    """Return the command line, with the one command that some words call, or with all of them.

    A command that is not called is not even imported: that halves the time to start.
    """
    app = make_group(
        name="ldpkit",
        cls=_Commands,
        help="Local differential privacy: choose, privatize, collect, estimate, and see that epsilon holds.",
        epilog="Start with 'ldpkit bench', or 'ldpkit COMMAND --help' for examples.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    called = _called(words)
    for name in COMMANDS if called is None else (called,):
        importlib.import_module(f"ldpkit.cli.{name}").add_to(app)
    return app


def _called(words: Sequence[str]) -> str | None:
    """Return the command among the words: the first that is neither an option nor a plugin file."""
    before = ""
    for word in words:
        if before != "--plugin" and not word.startswith("-"):
            return word if word in COMMANDS else None
        before = word
    return None


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ldpkit {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    plugin: Annotated[
        list[Path] | None,
        typer.Option(
            "--plugin",
            metavar="FILE",
            help="A Python file that adds mechanisms, methods or metrics. Repeatable.",
        ),
    ] = None,
) -> None:
    if plugin:
        from ldpkit.core.registry import load_plugin

        for file in plugin:
            load_plugin(file)


def main() -> None:
    """Run the command line."""
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):  # a label that the terminal cannot show is no error
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            make_app(sys.argv[1:])()
        finally:
            sys.stdout.flush()
    except LdpkitError as error:
        _refuse(str(error))
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        _refuse(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except MemoryError:
        _refuse("the work does not fit into the memory: use a smaller domain or fewer values at a time")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def _refuse(message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)
