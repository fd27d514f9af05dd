"""`ldpkit collection new`: a collection file from a question and the accuracy that is wanted."""

from __future__ import annotations

import contextlib
import datetime
import enum
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.collection_answers import Answers, read_error, read_number, read_people, read_space
from ldpkit.cli.collection_check import few_answers
from ldpkit.cli.outputs import check_ending, check_output, write_text
from ldpkit.cli.parsing import parse_circle, parse_domain, parse_interval, parse_parameters, refuse_options
from ldpkit.cli.printing import note
from ldpkit.cli.reading import STANDARD, Writes, remember
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.client.collection import Collection
    from ldpkit.core.domains.base import Domain

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit collection new commute.toml --purpose "How people travel to work." \\
    --question commute --text "How do you travel to work?" \\
    --domain walk,bike,bus,car --n 20000 --within 0.02
  ldpkit collection new commute.toml --add --question age \\
    --text "How old are you?" --low 0 --high 120 --n 20000 -e 0.5
  ldpkit collection new commute.toml

The last one asks for all of it.
"""


class Every(enum.StrEnum):
    """How often a device answers."""

    once = "once"
    daily = "daily"
    weekly = "weekly"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("new", epilog=_EXAMPLES)(opt.spread(new))


def new(
    file: Annotated[Path, typer.Argument(help="The .toml file to write."), Writes()],
    question: Annotated[
        str | None, typer.Option("--question", help="The id of the question.", show_default=False)
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="What people read.", show_default=False)] = None,
    purpose: Annotated[
        str | None,
        typer.Option("--purpose", help="What the collection is for, in a sentence.", show_default=False),
    ] = None,
    domain: opt.DomainOption = None,
    where: opt.SpaceOptions = opt.SpaceOptions(),
    people: opt.PeopleOption = None,
    within: Annotated[
        float | None,
        typer.Option(
            "--within",
            help="How far off the result may be, with probability 0.95: a share, a mean or a direction.",
            show_default=False,
        ),
    ] = None,
    epsilon: opt.EpsilonOption = None,
    mechanism: opt.MechanismOption = None,
    parameter: opt.ParameterOption = None,
    fixed: Annotated[
        bool,
        typer.Option(
            "--fixed", help="For longitudinal mechanisms: devices keep reporting their first value."
        ),
    ] = False,
    every: Annotated[Every, typer.Option("--every", help="How often a device answers.")] = Every.once,
    start: Annotated[
        str | None, typer.Option("--start", help="The first day, such as 2026-12-01.", show_default="today")
    ] = None,
    count: Annotated[int, typer.Option("--count", min=1, help="How many rounds there are.")] = 1,
    add: Annotated[bool, typer.Option("--add", help="Add the question to an existing file.")] = False,
    force: opt.ForceOption = False,
) -> None:
    """Write a collection file; mechanism and epsilon are chosen for you.

    Say how exact the result must be and how many people answer, and the command chooses the
    smallest epsilon that is enough; or give an epsilon. It writes the reason into the file as a
    comment. Without --question, it asks you for everything.
    """
    from ldpkit.client.fields import name_of, text_of
    from ldpkit.core.parameters import check_epsilon

    check_ending(file, "FILE", [".toml"])
    asks = question is None
    if asks:
        remember(STANDARD)  # the answers
    if add:
        refuse_options("the file says that already", purpose=purpose, start=start, force=force)
        if not file.exists():
            raise InvalidInputError(f"{str(file)!r} does not exist: leave out --add to begin it")
    else:
        name_of(file.stem, "FILE without .toml")  # it becomes the id
        check_output(
            file,
            force=force,
            remedy="--add adds the question to it, and --force replaces the file",
        )
    asked = Answers(asks)
    if not add:
        purpose = asked.take(purpose, "What is the collection for, in a sentence?", "--purpose", text_of)
    question = asked.take(question, "A short name for the question, such as commute?", "--question", name_of)
    text = asked.take(text, "The question, as people read it?", "--text", text_of)
    if asks and domain is None and where == opt.SpaceOptions():
        space = asked.ask(
            "What can be answered: comma-separated labels, LOW..HIGH for numbers, or circle PERIOD?",
            read_space,
        )
    else:
        space = _space(domain, where)
    if mechanism is None:
        if asks and people is None:
            people = asked.ask("How many people will answer?", read_people)
        if asks and within is None and epsilon is None:
            within = asked.ask(
                "How far off may the answer be (a share such as 0.02 or 2%, or in the unit asked for; "
                "empty to give an epsilon)?",
                partial(_reachable, question, space, people),
                default="",
                show_default=False,
            )
            if within is None:
                epsilon = asked.ask(
                    "Which epsilon, then, such as 1?", lambda answer: check_epsilon(read_number(answer))
                )
    from ldpkit.assurance.collection import collection_warnings

    table, reasons, warnings = _question(
        question, text, space, people, within, epsilon, mechanism, parse_parameters(parameter)
    )
    if fixed:
        table["value"] = "fixed"
    made, expected = _write(
        file, table, (*reasons, *warnings), purpose, people, str(every), _day(start), count, add=add
    )
    for reason in reasons:
        note(reason)
    for warning in (*collection_warnings(made), *few_answers(made, expected or people)):
        note(f"warning: {warning}")
    note(f"{'added to' if add else 'wrote'} {file}: look at it, then 'ldpkit collection check {file}'")


def _reachable(name: str, space: Domain, people: int | None, answer: str) -> float | None:
    """Return how far off the result may be, or None for no answer; refuse what no epsilon is enough for."""
    from ldpkit.planning.survey.question import PlannedQuestion, least_epsilon

    if not answer:
        return None
    within = read_error(answer, space)
    if people is not None:
        least_epsilon(PlannedQuestion(name, space, within), people)
    return within


def _day(text: str | None) -> datetime.date:
    if text is None:
        return datetime.datetime.now(datetime.UTC).date()
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise InvalidParameterError(f"--start is a day such as 2026-12-01, got {text!r}") from None


def _space(domain: str | None, where: opt.SpaceOptions) -> Domain:
    circle = parse_circle(*where)
    interval = None if circle is not None else parse_interval(where.low, where.high)
    if domain is not None:
        refuse_options("categories have a --domain", **where._asdict())
        return parse_domain(domain)
    found = circle or interval
    if found is None:
        raise InvalidParameterError(
            "what are the possible answers? give --domain, or --low and --high, or --period"
        )
    return found


def _question(
    name: str,
    text: str,
    space: Domain,
    people: int | None,
    within: float | None,
    epsilon: float | None,
    mechanism: str | None,
    parameters: dict[str, str],
) -> tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]:
    """Return the table of the question, the reasons for what was chosen, and warnings for the file."""
    table: dict[str, Any] = {"id": name, "text": text, **_written(space)}
    if within is not None:
        table["within"] = within
    if mechanism is not None:
        from ldpkit.mechanisms.base import MECHANISMS

        kind = MECHANISMS.get(mechanism)
        known = {each.name: each for each in kind.declared}
        for key in parameters:
            if key not in known:
                raise InvalidParameterError(
                    f"{mechanism} has no parameter {key!r}: it takes {', '.join(known)}"
                )
        given = {key: known[key].parse(value) for key, value in parameters.items()}
        if epsilon is not None:
            given["epsilon"] = epsilon
        return table | {"mechanism": kind.name, **given}, ("Mechanism and parameters were given.",), ()
    if parameters:
        raise InvalidParameterError("--parameter is for a mechanism that is named: name it with -p")
    if people is None:
        raise InvalidParameterError(
            "how many people will answer? give --n, so that a mechanism can be chosen"
        )
    if (within is None) == (epsilon is None):
        raise InvalidParameterError("give either --within, how far off the answer may be, or --epsilon")
    from ldpkit.planning.survey.new_question import choose_question
    from ldpkit.planning.survey.question import PlannedQuestion

    chosen = choose_question(PlannedQuestion(name, space, within), people, epsilon=epsilon)
    made = chosen.choice.mechanism
    warnings = tuple(f"Warning: {each}" for each in chosen.warnings)
    return table | {"mechanism": made.name, "epsilon": made.epsilon}, chosen.reasons, warnings


def _written(space: Domain) -> dict[str, Any]:
    form = space.to_json()
    if isinstance(form, dict):
        return {"period": form["period"], "low": form["low"]} if form["low"] else {"period": form["period"]}
    return {"domain": form} if space.size is not None else {"low": form[0], "high": form[1]}


def _write(
    file: Path,
    table: dict[str, Any],
    reasons: tuple[str, ...],
    purpose: str | None,
    people: int | None,
    every: str,
    start: datetime.date,
    count: int,
    *,
    add: bool,
) -> tuple[Collection, int | None]:
    """Write the file if it can be compiled, and not otherwise.

    Return what devices will be told, and how many people the file expects.
    """
    from ldpkit.protocols.collection.building import compile_toml
    from ldpkit.protocols.collection.files import people_of
    from ldpkit.protocols.collection.text import collection_text, question_text

    with _begun(file) if add else contextlib.nullcontext(b"") as head:
        if not add:
            if every == Every.once and count != 1:
                raise InvalidParameterError(
                    f"--count {count} needs --every daily or weekly: once is one round"
                )
            head = collection_text(
                file.stem, purpose or "", people=people, every=every, start=start, count=count
            ).encode()
        whole = head + question_text(table, reasons).encode()
        made = compile_toml(whole, str(file) if add else "")  # no line of a file that is not there yet
        write_text(file, whole.decode())
    return made, people_of(whole)


@contextlib.contextmanager
def _begun(file: Path) -> Iterator[bytes]:
    """Yield what a file has, and hold it: else one of two commands that add to it loses its question."""
    from ldpkit.core.locks import held
    from ldpkit.protocols.collection.files import read_collection_file

    read_collection_file(file)  # refuses what cannot be opened, or waits for a writer
    with held(file) as is_ours:
        if not is_ours:
            raise InvalidInputError(
                f"another command is adding to {str(file)!r}: try again when it has ended"
            )
        yield read_collection_file(file).replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n"
