"""`ldpkit longitudinal`: what a device gives away that reports again and again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.making import make_memoized
from ldpkit.cli.outputs import check_figure, check_result
from ldpkit.cli.parsing import domain_file, parse_domain, parse_parameters
from ldpkit.cli.printing import deliver_rows, note
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.figures.longitudinal import AttackCurve, Exposure
    from ldpkit.mechanisms.longitudinal.memoized import MemoizedOracle

__all__ = ["add_to"]

_BATCHES = 20

_EXAMPLES = """
\b
Examples:
  ldpkit longitudinal -p lgrr --domain 16 --epsilon-inf 2 --epsilon-1 1
  ldpkit longitudinal -p lolh --domain 100 --epsilon-inf 4 --changes 0,2,9
  ldpkit longitudinal --reports 1000 --figure attack.png
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
    figure: opt.FigureOption = None,
    parameter: opt.ParameterOption = None,
    seed: opt.RepeatableSeedOption = 0,
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Show what repeated reports cost, and attack them.

    Memoization protects a value that never changes. If the value does change, the reports show
    whether and when, and each further report gives more away. The attack is on a device whose value
    does not change, by somebody who knows the mechanism and remembers every report. Without
    memoization the device makes a new permanent report each time.
    """
    from ldpkit.figures.canvas import save_figure
    from ldpkit.figures.longitudinal import Exposure

    check_result(shown, [domain_file(domain)])
    check_figure(figure, force=shown.force)
    oracle = _make(mechanism, domain, epsilon_inf, epsilon_1, parse_parameters(parameter))
    exposure = Exposure(oracle, reports)
    counts = _whole_numbers(changes)
    for count in counts:
        exposure.values(count)  # refuses what cannot be before the attack begins
    attack = _attack(exposure, devices, seed)
    rows = [row for count in counts for row in _rows(exposure, count, attack)]
    deliver_rows(
        rows,
        shown,
        kind="longitudinal",
        title=f"{oracle!r}: epsilon of a device's reports, and the attack on {attack.repeats} devices",
        caption="every_history: epsilon of all reports together against every history of the same length, "
        "whenever its values change; at most, unless exact. same_pattern: at most, against only those that "
        "change and change back at the same reports as this one, so it says nothing about whether and when "
        "the value changed. fixed: exact, for a device that reports its first value for ever. without_memo: "
        "against every history, with a new permanent report each time. found: share of devices whose "
        "unchanging value the attack names, memoized and not; bound: the largest chance that any attack has, "
        "memoized; a share measured on few devices may exceed it by chance.",
        about={
            "mechanism": repr(oracle),
            "first_report_epsilon": oracle.exact_epsilon(),
            "permanent_epsilon": oracle.exact_permanent_epsilon(),
            "devices_attacked": attack.repeats,
            "seed": seed,
        },
    )
    if figure is not None:
        save_figure(exposure.figure(counts, attack), figure)
        note(f"wrote {figure}")


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


def _attack(exposure: Exposure, devices: int, seed: int) -> AttackCurve:
    """AttackCurve in batches, so that there is progress to show."""
    from ldpkit.cli.printing import progress_bar
    from ldpkit.core.parameters import check_whole

    check_whole(devices, "devices")
    batches = min(_BATCHES, devices)
    steps = exposure.attack(-(-devices // batches), seed, range(batches))
    with progress_bar() as watch:
        for result in watch(steps, batches, "attacking"):
            last = result
    return last


def _rows(exposure: Exposure, changes: int, attack: AttackCurve) -> list[dict[str, Any]]:
    """Return a record for each number of reports; the attack is on values that do not change."""
    found = [(attack.kept[count - 1], attack.fresh[count - 1]) for count in exposure.checkpoints()]
    return [
        {
            "changes": changes,
            "reports": loss.reports,
            "permanent_reports": loss.permanent_reports,
            # JSON has no number for infinity
            "every_history": "infinite" if math.isinf(loss.epsilon) else loss.epsilon,
            "exact": loss.is_exact,
            "same_pattern": loss.same_pattern,
            "fixed": fixed.epsilon,
            "without_memo": loss.without_memo,
            "found": float(kept) if changes == 0 else None,
            "found_stderr": float(attack.stderr(kept)) if changes == 0 else None,
            "found_without_memo": float(fresh) if changes == 0 else None,
            "bound": attack.bound if changes == 0 else None,
        }
        for loss, fixed, (kept, fresh) in zip(
            exposure.losses(changes), exposure.losses(0, fixed=True), found, strict=True
        )
    ]
