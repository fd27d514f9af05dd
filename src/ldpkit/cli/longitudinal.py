"""`ldpkit longitudinal`: what a device gives away that reports again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.making import make_memoized
from ldpkit.cli.parsing import domain_file, parse_domain, parse_parameters
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver, progress_bar
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit longitudinal -p lgrr --domain 16 --epsilon-inf 2 --epsilon-1 1
  ldpkit longitudinal -p lolh --domain 100 --epsilon-inf 4 --changes 0,2,9
  ldpkit longitudinal --reports 1000 --figure attack.png
  ldpkit longitudinal --changes 0,12 --report attack.html
  ldpkit longitudinal -p dbitflip --epsilon-inf 2 --parameter d=4
"""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("longitudinal", epilog=_EXAMPLES)(opt.spread(longitudinal))


def longitudinal(
    mechanism: Annotated[
        str, typer.Option("--mechanism", "-p", metavar="NAME", help="A longitudinal mechanism.")
    ] = "lgrr",
    domain: opt.UsualDomainOption = "16",
    epsilon_inf: Annotated[
        float, typer.Option(help="The epsilon of all reports together, for a value that never changes.")
    ] = 2.0,
    epsilon_1: Annotated[
        float | None,
        typer.Option("--epsilon-1", help="The epsilon of the first report; half of epsilon-inf by default."),
    ] = None,
    reports: Annotated[int, typer.Option("--reports", help="How many reports a device sends.")] = 1000,
    changes: Annotated[
        str,
        typer.Option(metavar="LIST", help="How often the value changes meanwhile, separated by commas."),
    ] = "0,3",
    devices: Annotated[int, typer.Option("--devices", help="How many devices to attack.")] = 4000,
    parameter: opt.ParameterOption = None,
    seed: opt.RepeatableSeedOption = 0,
    pictured: opt.PictureOptions = opt.PictureOptions(),
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Show what repeated reports cost, and attack them.

    Memoization protects a value that never changes. If the value does change, the reports show
    whether and when, and each further report gives more away. The attack is on a device whose value
    does not change, by somebody who knows the mechanism and remembers every report. Without
    memoization the device makes a new permanent report each time.
    """
    from ldpkit.assurance.exposure import expose
    from ldpkit.core.random import seeded

    pictures = Pictures.wanted(*pictured, shown=shown, inputs=[domain_file(domain)], seed=seed)
    oracle = _make(mechanism, domain, epsilon_inf, epsilon_1, parse_parameters(parameter))
    counts = _whole_numbers(changes)
    with progress_bar() as watch:
        found = expose(oracle, reports, changes=counts, devices=devices, rng=seeded(seed), watch=watch)
    deliver(found, shown)
    pictures.save(found)


def _make(
    name: str, domain: str, epsilon_inf: float, epsilon_1: float | None, parameters: dict[str, str]
) -> MemoizedOracle:
    """Return the longitudinal mechanism of that name, or say which there are."""
    from ldpkit.mechanisms.kinds import memoized_class

    kind = memoized_class(name)
    given = dict(parameters)
    if "epsilon_1" in kind.required():
        given |= {
            "epsilon_inf": repr(epsilon_inf),
            "epsilon_1": repr(epsilon_inf / 2 if epsilon_1 is None else epsilon_1),
        }
    elif epsilon_1 is not None:
        raise InvalidParameterError(
            f"{name} sends its permanent report itself, so it has no epsilon_1: leave --epsilon-1 out"
        )
    else:
        given["epsilon"] = repr(epsilon_inf)
    return make_memoized(kind, parse_domain(domain), given)


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InvalidParameterError(
            f"--changes takes whole numbers separated by commas, such as 0,3, got {text!r}"
        ) from None
