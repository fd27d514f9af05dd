"""`ldpkit risk`: what an epsilon means, as the success of an adversary who guesses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.arguments import (
    DomainOption,
    FigureOption,
    ForceOption,
    ParameterOption,
    check_figure,
    make_oracle,
    parse_domain,
    parse_parameters,
)
from ldpkit.cli.output import Format, FormatOption, note, show
from ldpkit.cli.repeatable import ManyValuesCommand, split
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ldpkit.assurance.adversary import Risk
    from ldpkit.core.domains.categorical import CategoricalDomain
    from ldpkit.core.typing import Floats

__all__ = ["add_to"]

_UNIFORM = "uniform"
_EXAMPLES = """
\b
Examples:
  ldpkit risk -m grr -e 1 --domain 10
  ldpkit risk -d water.csv -e 0.5 1 2 4 --eta 5 --figure risk.png
  ldpkit risk -d water.csv --prior uniform -m grr oue ss -e 1 --format json
  ldpkit risk -m oue -e 0.5 --domain 10 --reports 20
  ldpkit risk -m lgrr --parameter epsilon_inf=2 --parameter epsilon_1=1 --domain 10 --reports 20
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("risk", cls=ManyValuesCommand, epilog=_EXAMPLES)(risk)


def risk(
    mechanism: Annotated[
        list[str],
        typer.Option("--mechanism", "-m", metavar="NAME...", help="Frequency oracles, several if you like."),
    ] = ["grr", "sue", "oue", "olh", "ss"],
    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            "--epsilon", "-e", metavar="EPS...", help="Privacy budgets; 1 unless --parameter says otherwise."
        ),
    ] = None,
    domain: DomainOption = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--dataset", "-d", help="The people: a file, a known set or a population.", show_default=False
        ),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="What the adversary believes before: 'uniform', or a table of counts; "
            "by default the frequencies of --dataset.",
            show_default=False,
        ),
    ] = None,
    eta: Annotated[
        float | None,
        typer.Option(help="Also ask whether the value is at most this.", show_default=False),
    ] = None,
    reports: Annotated[int, typer.Option("--reports", "-n", help="Reports of one person that are seen.")] = 1,
    devices: Annotated[int, typer.Option(help="People to attack, where it takes a simulation.")] = 10_000,
    parameter: ParameterOption = None,
    column: Annotated[str | None, typer.Option(help="The column of a table to read.")] = None,
    seed: Annotated[int, typer.Option(help="Makes simulations repeatable.")] = 0,
    figure: FigureOption = None,
    force: ForceOption = False,
    output: FormatOption = Format.table,
) -> None:
    """Show how often an adversary guesses a value from its report.

    The adversary knows the mechanism and has a prior, and no guess is right more often.
    """
    check_figure(figure, force=force, inputs=[data])
    from ldpkit.assurance.adversary import in_words

    values, people = _people(domain, data, column)
    belief = people if prior is None else _prior(prior, values)
    options = {"people": people, "eta": eta, "reports": reports, "devices": devices}
    found = _all_risks(split(mechanism), epsilon, parse_parameters(parameter), values, belief, options, seed)
    rows = [_row(name, each) for name, risks in found.items() for each in risks]
    if output is not Format.table:
        every = [each for risks in found.values() for each in risks]
        rows = [row | {"words": " ".join(in_words(each))} for row, each in zip(rows, every, strict=True)]
    show(rows, output, title=f"An adversary who guesses one of {len(values)} values", caption=_caption(found))
    if output is Format.table and len(rows) == 1:
        ((only,),) = found.values()
        print("\n".join(in_words(only)))
    if figure is not None:
        from ldpkit.assurance.adversary.compare import Risks
        from ldpkit.figures.canvas import save_figure

        drawn = Risks(tuple(each for risks in found.values() for each in risks), len(values)).figure()
        save_figure(drawn, figure)
        note(f"wrote {figure}")


def _people(
    domain: str | None, data: str | None, column: str | None
) -> tuple[CategoricalDomain, Floats | None]:
    """Return the domain, and the counts of the people if there are any."""
    if data is None:
        if domain is None:
            raise InvalidParameterError("the adversary needs values to guess: give --domain, or --dataset")
        return parse_domain(domain), None
    if domain is not None:
        raise InvalidParameterError("give --domain or --dataset, not both: the data set has its own values")
    from ldpkit.cli.plan_capacity import load_people

    people = load_people(data, column)
    return people.domain, people.counts.astype(float)


def _prior(text: str, domain: CategoricalDomain) -> Floats | None:
    if text == _UNIFORM:
        return None
    import numpy as np

    from ldpkit.files.readers import read_counts

    labels, counts = read_counts(text)
    belief = np.zeros(len(domain))
    belief[domain.encode(labels)] = counts
    return belief


def _all_risks(
    names: list[str],
    epsilons: list[str] | None,
    parameters: dict[str, float],
    domain: CategoricalDomain,
    belief: Floats | None,
    options: dict[str, Any],
    seed: int,
) -> dict[str, list[Risk]]:
    from contextlib import closing

    from ldpkit.assurance.adversary import risk as measure
    from ldpkit.cli.progress import track
    from ldpkit.core.random import seeded

    given = sorted(map(_number, split(epsilons or [])))
    budgets: list[float | None] = [*given] or [None if parameters else 1.0]
    cells = [(name, budget) for name in names for budget in budgets]
    found: dict[str, list[Risk]] = {}

    def attack() -> Iterator[tuple[str, Risk]]:
        for name, budget in cells:
            oracle = make_oracle(name, domain, budget, parameters)
            yield name, measure(oracle, belief, rng=seeded(seed).derive(repr(oracle)), **options)

    with closing(track(attack(), len(cells), "attacking")) as results:
        for name, each in results:
            found.setdefault(name, []).append(each)
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidParameterError(f"epsilon must be a number, got {text!r}") from None


def _row(name: str, each: Risk) -> dict[str, Any]:
    row: dict[str, Any] = {
        "mechanism": name,
        "epsilon": each.epsilon,
        "success": each.success,
        "stderr": each.success_stderr,
        "blind": each.blind,
        "gain": each.gain,
    }
    if each.squared_error is not None:
        row |= {"squared_error": each.squared_error, "blind_squared_error": each.blind_squared_error}
    if each.eta is not None:
        row |= {"precision": each.precision, "recall": each.recall, "f_score": each.f_score}
    return row | {"reports": each.reports, "how": each.how}


def _caption(found: dict[str, list[Risk]]) -> str:
    first = next(iter(found.values()))[0]
    text = "success: how often the guess is right; blind: without a report; epsilon: of all reports together"
    about = (
        "" if first.eta is None else f"; precision, recall, f_score: of 'the value is at most {first.eta:g}'"
    )
    hashing = "; hashing counts as ideal" if any(name in ("olh", "blh") for name in found) else ""
    distance = "; values that are no numbers have no squared error" if first.squared_error is None else ""
    return text + about + hashing + distance
