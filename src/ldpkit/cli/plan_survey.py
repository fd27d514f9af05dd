"""`ldpkit plan survey`: one budget for several questions, split or spent on a few of them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.outputs import check_ending, check_output, write_text
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import note, present
from ldpkit.core.errors import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.planning.survey.plans import SurveyPlan
    from ldpkit.planning.survey.question import Choice
    from ldpkit.protocols.collection.drafts import Draft
    from ldpkit.protocols.collection.written import Written

__all__ = ["EXAMPLES", "survey"]

EXAMPLES = """
\b
Examples:
  ldpkit plan survey town.toml --n 200000 -e 2
  ldpkit plan survey town.toml --n 200000 -e 2 -o planned.toml

The file has a [[questions]] for each question, as a collection has; mechanism and epsilon are left out,
and 'within' says how far off the answer may be.
"""


def survey(
    file: Annotated[Path, typer.Argument(help="A .toml file with questions.")],
    people: opt.PeopleOption = None,
    epsilon: opt.EpsilonOption = None,
    target: opt.OutputOption = None,
    pictured: opt.PictureOptions = opt.PictureOptions(),
    force: opt.ForceOption = False,
    output: opt.FormatOption = opt.Format.table,
) -> None:
    """Compare splitting a budget over all questions with asking each person a few.

    Each way of asking is judged by its worst question. With -o, the best way is written as a
    collection file, with its mechanisms and the number of questions per person.
    """
    from ldpkit.planning.survey.plans import survey as plan_survey
    from ldpkit.planning.survey.question import PlannedQuestion
    from ldpkit.protocols.collection.drafts import read_drafts
    from ldpkit.protocols.collection.few_answers import LEAST_REPORTS
    from ldpkit.protocols.collection.files import read_collection_file
    from ldpkit.protocols.collection.written import read_toml

    if target is not None:
        check_ending(target, "--output", [".toml"])
        check_output(target, force=force)
    pictures = Pictures.wanted(*pictured, force=force, inputs=[file], outputs={"--output": target})
    if epsilon is None:
        raise InvalidParameterError("what may all answers of a person cost together? give --epsilon")
    written = read_toml(read_collection_file(file), str(file))
    count = people or written.data.get("people")
    if not isinstance(count, int):
        raise InvalidParameterError("how many people will be asked? give --n, or people = ... in the file")
    drafts = read_drafts(written)
    if target is not None:
        _check_whole(written, drafts)
    plan = plan_survey(
        [PlannedQuestion(each.id, each.domain, each.within) for each in drafts],
        epsilon,
        count,
        least_reports=_kept(written.data).get("least_reports", LEAST_REPORTS),
    )
    present(plan, output)
    pictures.save(plan)
    if target is not None:
        write_text(target, _completed(written, drafts, plan))
        note(f"wrote {target}: look at it, then 'ldpkit collection check {target}'")


def _check_whole(written: Written, drafts: list[Draft]) -> None:
    """Refuse before the work what a finished collection could not say, by its line in the file.

    Every question has a mechanism that stands in for the one that is still to be chosen.
    """
    from ldpkit.protocols.collection.building import build

    if not written.data.get("purpose"):
        raise InvalidInputError(f'purpose is missing in {written.name}: add purpose = "..."')
    head = _head(written)
    rounds = {"every": head["every"], "start": head["start"], "count": head["count"]}
    data: dict[str, Any] = {
        name: head[name] for name in ("id", "purpose", "version", "least_reports") if name in head
    }
    stand_in = {"domain": 2, "mechanism": "grr", "epsilon": 0.01}
    asked = [{key: each.table[key] for key in ("id", "text") if key in each.table} for each in drafts]
    build(
        replace(
            written,
            data={"version": 1, **data, "rounds": rounds, "questions": [each | stand_in for each in asked]},
        )
    )


def _head(written: Written) -> dict[str, Any]:
    """Return what stands above the questions of a collection, as `collection_text` takes it."""
    rounds: Any = written.data.get("rounds")
    rounds = rounds if isinstance(rounds, dict) else {}
    start = rounds.get("start")
    return {
        "id": str(written.data.get("id", Path(written.name).stem)),
        "purpose": str(written.data.get("purpose", "")),
        "every": str(rounds.get("every", "once")),
        "start": start if isinstance(start, datetime.date) else datetime.datetime.now(datetime.UTC).date(),
        "count": rounds.get("count", 1),
        **_kept(written.data),
    }


def _expected(choice: Choice) -> str:
    wanted = f"wanted was {choice.question.wanted:.3g}"
    return f"Expected: within {choice.error:.3g} of the truth from {choice.reports:,} answers; {wanted}."


def _short(epsilon: float) -> float:
    """Return an epsilon of at most six decimals, for people to read, that costs no more."""
    from ldpkit.protocols.ledger import micro_epsilon

    rounded = round(epsilon, 6)
    return rounded if micro_epsilon(rounded) == micro_epsilon(epsilon) else round(rounded - 1e-6, 6)


def _kept(data: Mapping[str, Any]) -> dict[str, int]:
    """Return what the plan has no opinion on, as it was written."""
    found = {name: data.get(name) for name in ("version", "least_reports")}
    return {name: value for name, value in found.items() if isinstance(value, int) and value > 0}


def _completed(written: Written, drafts: list[Draft], plan: SurveyPlan) -> str:
    """Return the collection with what the best way chose."""
    from ldpkit.protocols.collection.building import compile_toml
    from ldpkit.protocols.collection.text import collection_text, question_text

    told = _head(written)
    head = collection_text(
        told.pop("id"),
        told.pop("purpose"),
        people=plan.people,
        ask=plan.best.ask if plan.best.ask < len(drafts) else None,
        **told,
    )
    reason = f"Chosen by 'ldpkit plan survey' for epsilon {plan.epsilon:g}: {plan.best.name}."
    texts = [
        question_text(
            {**draft.table, "mechanism": choice.mechanism.name, "epsilon": _short(choice.mechanism.epsilon)},
            [reason, _expected(choice)],
        )
        for draft, choice in zip(drafts, plan.best.choices, strict=True)
    ]
    whole = head + "".join(texts)
    compile_toml(whole.encode(), "the planned collection")
    return whole
