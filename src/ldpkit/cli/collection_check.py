"""`ldpkit collection check`, `show` and `diff`: what a collection promises, and whether it holds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli.options import Format, ResultOptions, spread
from ldpkit.cli.outputs import check_result
from ldpkit.cli.printing import deliver, deliver_rows, goes_to_file, note, opened, say, show_table, warn
from ldpkit.core.errors import InvalidParameterError
from ldpkit.core.numbertext import number_text

if TYPE_CHECKING:
    from ldpkit.client.collection import Collection
    from ldpkit.client.spending import Micro

__all__ = ["CollectionArgument", "KeyOption", "add_to", "few_answers"]

CollectionArgument = Annotated[
    Path, typer.Argument(help="A collection: the .toml that you write, or the .json that devices get.")
]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", help="The public key that must have signed it, in base64url.", show_default=False),
]

_CHECK = """
\b
Examples:
  ldpkit collection check commute.toml
  ldpkit collection check commute.toml --at-most 1
  ldpkit collection check commute.json --key BGx...
  ldpkit collection check commute.json --format json
"""
_SHOW = """
\b
Examples:
  ldpkit collection show commute.toml
  ldpkit collection show commute.json --format json
"""
_DIFF = """
\b
Examples:
  ldpkit collection diff commute.json commute-2.toml
"""
_ROOM = 1.005  # an error that is larger than the wanted one by less is printed as the same number
_FAILED = 1  # the exit code where the cost is above the limit; refused input has 2
_WEAKER = 1  # the exit code where a promise grows weaker or a version must be raised; refused input has 2


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("check", epilog=_CHECK)(spread(check))
    app.command("show", epilog=_SHOW)(spread(show_collection))
    app.command("diff", epilog=_DIFF)(spread(diff))


def check(
    file: CollectionArgument,
    key: KeyOption = None,
    at_most: Annotated[
        float | None,
        typer.Option(
            "--at-most",
            help="Fail if everything that a device ever sends costs more than this epsilon, such as the one "
            "in a privacy notice.",
            show_default=False,
        ),
    ] = None,
    shown: ResultOptions = ResultOptions(),
) -> None:
    """Recompute every promise of a collection.

    It builds every mechanism again from its parameters, computes its epsilon from the sampler's
    integers, and adds up the charges over questions and rounds. An error names its line. An epsilon
    above 2 is allowed, with a warning; so is a question that will be less exact than its 'within', or
    have too few answers to be shown. The exit code is 1 if the file costs more than --at-most.
    """
    from ldpkit.assurance.collection import collection_warnings
    from ldpkit.client.spending import micro_text
    from ldpkit.protocols.collection.files import expected_people, load_collection, stated_promises

    check_result(shown)
    if at_most is not None and not 0 < at_most < math.inf:  # it is for a sum, which may be large
        raise InvalidParameterError(f"--at-most must be positive and finite, got {at_most:g}")
    found = load_collection(file, public_key=key)
    stated = stated_promises(file)
    passed = at_most is None or _is_within(found.promise.lifetime, at_most)
    headline = _headline(found, stated, at_most, passed=passed)
    few = few_answers(found, expected_people(file))
    warnings = (*collection_warnings(found), *few, *_inexact(file, found))
    if shown.format is Format.table:
        with opened(shown.output) as text:
            say(headline, file=text)
            say(f"{found.promise}; {found.checked}", file=text)
            say(f"digest {found.digest}", file=text)
            warn(warnings, shown.format, file=text)
    else:
        rows = [
            {
                "question": question.id,
                "mechanism": question.mechanism,
                "first": micro_text(question.first),
                "next": micro_text(question.next),
                "fingerprint": f"{question.fingerprint:016x}",
            }
            for question in found.questions
        ]
        about = {
            "id": found.id,
            "version": found.version,
            "digest": found.digest,
            "promise": found.promise.to_json(),
            "stated": list(stated),
            "limit": at_most,
            "passed": passed,
        }
        deliver_rows(
            rows,
            shown,
            title=headline,
            caption=found.checked,
            kind="collection check",
            about=about,
            warnings=warnings,
        )
    if shown.format is not Format.table or goes_to_file(shown.output):
        note(headline)
    if not passed:
        raise typer.Exit(_FAILED)


def _is_within(cost: Micro, limit: float) -> bool:
    """Whether a cost is at most the decimal number that the reviewer wrote."""
    from ldpkit.protocols.ledger import MICRO

    return cost is not None and cost <= Fraction(repr(limit)) * MICRO


def _headline(found: Collection, stated: tuple[str, ...], limit: float | None, *, passed: bool) -> str:
    """Return what was checked and holds: the limit, and the promises that the file states."""
    from ldpkit.client.spending import micro_text

    name, in_all = f"{found.id}, version {found.version}", micro_text(found.promise.lifetime)
    if not passed:
        return f"{name}: FAILED: its epsilon in all, {in_all}, is above the limit of {limit:.6g}"
    within = "" if limit is None else f", within the limit of {limit:.6g}"
    if not stated:
        return f"{name}: the file states no promise; it costs epsilon {in_all} in all{within}"
    *others, last = (f"a {each}" for each in stated)
    names = f"{', '.join(others)} and {last}" if others else last
    told = f"{name}: the promise for {names} holds"
    return f"{told}; it costs epsilon {in_all} in all{within}" if within else told


def few_answers(collection: Collection, people: int | None) -> tuple[str, ...]:
    """Return a warning if so many people may give too few answers, if it is known how many they are."""
    from ldpkit.protocols.collection.few_answers import few_answers_warnings

    if people is None:
        return ()
    return few_answers_warnings(people, collection.least_reports, collection.ask, len(collection.questions))


def _inexact(file: Path, found: Collection) -> Iterator[str]:
    """Yield which questions will be less exact than the file wants, as far as it says so."""
    from ldpkit.planning.survey.errors import expected_error
    from ldpkit.planning.survey.question import PlannedQuestion
    from ldpkit.protocols.collection.building import mechanism_of
    from ldpkit.protocols.collection.drafts import read_drafts
    from ldpkit.protocols.collection.files import read_collection_file
    from ldpkit.protocols.collection.written import read_toml

    if file.suffix != ".toml":
        return  # devices are not told what was planned
    written = read_toml(read_collection_file(file), str(file))
    people = written.data.get("people")
    for draft, question in zip(read_drafts(written), found.questions, strict=True):
        if not isinstance(people, int) or people < 1 or draft.within is None:
            continue
        planned = PlannedQuestion(draft.id, draft.domain, draft.within)
        if question.mechanism not in planned.candidates:
            continue  # such as one with a memory, whose error depends on the rounds
        answers = max(1, round(people * found.ask / len(found.questions)))
        error = expected_error(mechanism_of(question), answers, people)
        if error > _ROOM * planned.wanted:
            yield (
                f"{draft.id} is expected within {number_text(error, 3)} of the truth for {people:,} people, "
                f"but the file wants {number_text(planned.wanted, 3)}: ask more people, spend more or "
                "accept a larger error"
            )


def show_collection(
    file: CollectionArgument, key: KeyOption = None, shown: ResultOptions = ResultOptions()
) -> None:
    """Show what is asked, and what each answer reveals."""
    from ldpkit.assurance.collection import summarise
    from ldpkit.protocols.collection.files import load_collection

    check_result(shown)
    found = summarise(load_collection(file, public_key=key))
    if shown.format is not Format.table:
        deliver(found, shown)
        return
    with opened(shown.output) as text:
        for table in found.tables():
            show_table(table, file=text)
        for sentence in (*found.notes(), *(f"warning: {each}" for each in found.warnings)):
            say(sentence, file=text)  # the words are what was asked for


def diff(
    old: Annotated[Path, typer.Argument(help="The version that devices have.")],
    new: Annotated[Path, typer.Argument(help="The version that will replace it.")],
    shown: ResultOptions = ResultOptions(),
) -> None:
    """Show what changes between two versions, and whether the promise weakens.

    The exit code is 1 if it does, or if the new one needs a higher version.
    """
    from ldpkit.protocols.collection.files import load_collection
    from ldpkit.protocols.collection.versions import compare_versions

    check_result(shown)
    found = compare_versions(load_collection(old), load_collection(new))
    deliver(found, shown)
    if found.weakens or found.needs_version:
        raise typer.Exit(_WEAKER)
