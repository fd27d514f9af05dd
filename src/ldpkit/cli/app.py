"""The command line: assembles the commands and turns refusals into one line and exit code 2."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command

from ldpkit import __version__
from ldpkit.cli.environment import settle_environment
from ldpkit.cli.reading import begin, remember
from ldpkit.cli.retired import refuse_retired
from ldpkit.core.errors import InvalidInputError, InvalidParameterError, LdpkitError, PluginError
from ldpkit.core.stopping import Stopped
from ldpkit.core.text import decimal_comma, visible
from ldpkit.core.watching import listen

__all__ = ["COMMANDS", "Group", "make_app", "run"]

_UsageError: Any = typer.BadParameter.__base__  # of every refusal of Typer's, whichever Click it is made of

COMMANDS = (
    *("recommend", "plan", "error", "optimal", "risk", "audit", "mechanisms"),
    *("collection", "privatize", "estimate", "inspect", "longitudinal", "mean", "density", "trajectory"),
    *("serve", "collector"),
    *("bench", "datasets", "reproduce", "spec"),
)
"""The commands in the order of --help; each is a module of this room."""


class Group(TyperGroup):
    """A group that shows its help, with exit code 2, when it is called without a command.

    What Typer itself does then depends on the version of what lies below it.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Show the help if there is nothing to parse."""
        if not args:
            print(ctx.get_help())
            ctx.exit(2)
        return super().parse_args(ctx, args)


class _Commands(Group):
    """The commands in their order; Typer lists groups such as `plan` last."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name in COMMANDS if name in self.commands]

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (Exception, KeyboardInterrupt, Stopped):
            raise
        except BaseException as error:  # no command of ours raises any other
            said = (
                f"sys.exit({error.code!r}): let it raise an exception"
                if isinstance(error, SystemExit)
                else f"{type(error).__name__}({str(error)!r}): let it raise a subclass of Exception"
            )
            raise PluginError(f"a plugin ended the command with {said} instead") from error


def make_app(words: Sequence[str] = ()) -> typer.Typer:
    """Return the command line, with the one command that some words call, or with all of them.

    A command that is not called is not even imported: that halves the time to start.
    """
    app = typer.Typer(
        name="ldpkit",
        cls=_Commands,
        rich_markup_mode=None,  # plain help wraps as it should
        help="Local differential privacy: choose, privatize, collect, estimate, and see that epsilon holds.",
        epilog="To ask people something, start with 'ldpkit collection new'; to compare mechanisms, with "
        "'ldpkit bench'. 'ldpkit COMMAND --help' has examples.",
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


def _plugins_first(words: list[str]) -> list[str]:
    """Return the words with every --plugin FILE before the command, where all commands understand it.

    Examples
    --------
    >>> _plugins_first(["recommend", "-e", "1", "--plugin", "own.py", "-p", "all"])
    ['--plugin', 'own.py', 'recommend', '-e', '1', '-p', 'all']
    """
    name = _called(words)
    if name is None or name == "bench":  # it knows the option itself
        return words
    place = words.index(name)
    first, rest, following = words[:place], [name], iter(words[place + 1 :])
    for word in following:
        if word == "--":
            rest += [word, *following]
        elif word == "--plugin":
            first += [word, *(each for each in [next(following, None)] if each is not None)]
        elif word.startswith("--plugin="):
            first.append(word)
        else:
            rest.append(word)
    return first + rest


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

        remember(plugin)
        for file in plugin:
            load_plugin(file)


def run(words: Sequence[str]) -> NoReturn:
    """Run the command that some words call, and end the process with its exit code."""
    try:
        _open_standard_streams()
        listen(_say if sys.stderr.isatty() else None)
        settle_environment()
        for place, word in enumerate(words, 1):
            if "\0" in word:
                raise InvalidInputError(f"argument {place}, {word!r}, contains a NUL character: remove it")
        try:
            with _plain_warnings():
                sys.exit(_run_command(list(words)))
        finally:
            _flush()
    except LdpkitError as error:
        _refuse(str(error))
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.exit(1)
    except OSError as error:
        # Without a number it is not the system's, but of a library that looked for a place to write.
        where = f"{error.filename or 'standard input or output'}: " if error.errno is not None else ""
        _refuse(f"{where}{error.strerror or error}")
    except MemoryError:
        _refuse(
            "the work does not fit into the memory: use a smaller domain, fewer bins, or fewer values at a "
            "time"
        )
    except (KeyboardInterrupt, Stopped) as stop:
        from ldpkit.core.wholefile import remove_unfinished

        remove_unfinished()
        _say("interrupted")
        sys.exit(stop.exit_code if isinstance(stop, Stopped) else 130)


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print what Python warns of as a sentence, without the line of source that said it."""
    with warnings.catch_warnings():

        def show(message: Warning | str, *_: object, **__: object) -> None:
            _say(f"warning: {message}")

        warnings.showwarning = show  # the module restores it
        yield


def _run_command(words: list[str]) -> int:
    """Run a command and return its exit code; what Typer finds wrong becomes a refusal like any other."""
    try:
        begin()
        words = _plugins_first(words)
        code = get_command(make_app(words)).main(words, prog_name="ldpkit", standalone_mode=False)
    except _UsageError as error:
        if (name := _called(words)) is not None:
            refuse_retired(name, words[words.index(name) + 1 :])
        raise InvalidParameterError(_in_one_line(error, words)) from None
    return code if isinstance(code, int) else 0


def _in_one_line(error: Any, words: Sequence[str]) -> str:
    """Return what Typer says of wrong usage, with the value and the remedy that it may not name."""
    message = " ".join(error.format_message().split()).rstrip(".")
    value = _value_of(re.findall(r"'(-[^']+)'", message), words)
    if value is not None and value not in message:
        message += f", got {value!r}"
    path = "ldpkit" if error.ctx is None else error.ctx.command_path
    return message + (decimal_comma(value) or f": see '{path} --help'")


def _value_of(names: Sequence[str], words: Sequence[str]) -> str | None:
    """Return what was given to an option of one of some names."""
    for word, following in zip(words, [*words[1:], None], strict=True):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else following
    return None


def _open_standard_streams() -> None:
    """Make streams of those that the caller closed, so that no file that is opened takes their place.

    Reading or writing them then fails as it must; only messages are dropped.
    """
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - it stays open
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - it stays open
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 - it stays open
    if isinstance(sys.stdout, io.TextIOWrapper):  # a label that the terminal cannot show is no error
        sys.stdout.reconfigure(errors="backslashreplace")


def _flush() -> None:
    """Print what is still to be printed, or let it go nowhere: Python would try again at its end."""
    try:
        sys.stdout.flush()
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise OSError(error.errno, error.strerror, "standard output") from error


def _say(message: str) -> None:
    with contextlib.suppress(OSError):
        print(visible(message).replace("\n", "\\n"), file=sys.stderr)


def _refuse(message: str) -> NoReturn:
    _say(f"error: {message}")
    sys.exit(2)
