"""`ldpkit plan classifier`: which mechanism, split and epsilon keep a model's predictions."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldpkit.cli.options import (
    ClipOption,
    EpsilonMaxOption,
    EpsilonMinOption,
    HighOption,
    LowOption,
    MechanismsOption,
    PictureOptions,
    RepeatableSeedOption,
    ResultOptions,
)
from ldpkit.cli.outputs import check_extra
from ldpkit.cli.parsing import split
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver, note, progress_bar
from ldpkit.core.errors import InvalidParameterError

if TYPE_CHECKING:
    from ldpkit.core.domains.categorical import CategoricalDomain

__all__ = ["EXAMPLES", "classifier"]

EXAMPLES = """
\b
Examples:
  ldpkit plan classifier model.skops people.csv --sensitive age,bmi
  ldpkit plan classifier model.skops people.csv --sensitive age=0:100 \\
      --criterion worst --figure kept.png
  ldpkit plan classifier model.onnx people.csv --sensitive age,bmi \\
      --columns age,bmi,smoker -p ogpm grr -o plan.json
  ldpkit plan classifier xgboost.json people.csv --sensitive age \\
      --target stroke

A model is saved with skops.io.dump(model, "model.skops"); dense networks are read from ONNX, boosted
trees from the JSON of XGBoost or LightGBM. The table needs the columns that the model was trained
with; others are ignored. The exit code is 1 if no mechanism keeps enough.
"""


class Criterion(enum.StrEnum):
    """Whose predictions are to be kept."""

    average = "average"
    worst = "worst"


def classifier(
    model: Annotated[Path, typer.Argument(help="The model: .skops, .onnx, .json or .txt.")],
    table: Annotated[Path, typer.Argument(help="A table with the records, and a header.")],
    sensitive: Annotated[
        str,
        typer.Option(
            help="The columns to privatize, separated by commas, each with its range, such as age=0:100 (by "
            "default --low and --high), or its categories, such as smoker=0/1."
        ),
    ],
    keep: Annotated[float, typer.Option(help="How likely a prediction must be to stay the same.")] = 0.9,
    criterion: Annotated[
        Criterion, typer.Option(help="On average over the records, or for the worst of them.")
    ] = Criterion.average,
    mechanism: MechanismsOption = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="The column of true labels: also show how accurate the predictions are.", show_default=False
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="The columns that the model takes, in its order, where its file does not name them.",
            show_default=False,
        ),
    ] = None,
    eps_min: EpsilonMinOption = 0.1,
    eps_max: EpsilonMaxOption = 20.0,
    low: LowOption = None,
    high: HighOption = None,
    clip: ClipOption = False,
    unsafe_pickle: Annotated[
        bool,
        typer.Option(
            "--unsafe-pickle",
            help="Load a .pkl or .joblib file. That runs whatever code its author put into it: "
            "only for files that you made yourself.",
        ),
    ] = False,
    seed: RepeatableSeedOption = 0,
    pictured: PictureOptions = PictureOptions(),
    shown: ResultOptions = ResultOptions(),
) -> None:
    """Find the mechanism, split and least epsilon that keep a classifier's predictions."""
    pictures = Pictures.wanted(*pictured, shown=shown, inputs=[model, table], seed=seed)
    check_extra("sklearn")
    from ldpkit.assurance.classifier.loading import load_model
    from ldpkit.assurance.classifier.records import read_records, read_target
    from ldpkit.core.random import seeded
    from ldpkit.planning.classifier.choices import USUAL
    from ldpkit.planning.classifier.plans import classifier as plan_classifier

    ranges = _ranges(sensitive, low, high)
    wanted = split(mechanism or [])
    chosen = USUAL if not wanted or wanted == ["all"] else tuple(wanted)
    loaded = load_model(model, unsafe_pickle=unsafe_pickle)
    given = None if columns is None else [name.strip() for name in columns.split(",")]
    names, rows, moved = read_records(loaded, table, ranges, clip=clip, columns=given)
    truth = None if target is None else read_target(loaded, table, target)
    for column, count in moved.items():
        note(f"{count} values of {column!r} were outside its range and moved to its ends")
    with progress_bar() as watch:
        found = plan_classifier(
            loaded,
            rows,
            ranges,
            keep,
            criterion=criterion.value,
            mechanisms=chosen,
            columns=names,
            epsilon_min=eps_min,
            epsilon_max=eps_max,
            target=truth,
            rng=seeded(seed),
            watch=watch,
        )
    deliver(found, shown)
    pictures.save(found)
    if not found.feasible:
        raise typer.Exit(1)


def _ranges(
    text: str, low: float | None, high: float | None
) -> dict[str, tuple[float, float] | CategoricalDomain]:
    """Return the sensitive columns with their ranges, or the numbers that stand for their categories."""
    from ldpkit.core.domains.categorical import CategoricalDomain

    usual = (0.0 if low is None else low, 1.0 if high is None else high)
    found: dict[str, tuple[float, float] | CategoricalDomain] = {}
    for part in text.split(","):
        name, given, told = (each.strip() for each in part.partition("="))
        if not name or name in found:
            raise InvalidParameterError(f"--sensitive is a list of different columns, got {text!r}")
        found[name] = usual
        if not given:
            continue
        try:
            if "/" in told:
                found[name] = CategoricalDomain([float(each) for each in told.split("/")])
            else:
                first, last = (float(each) for each in told.split(":"))
                found[name] = (first, last)
        except ValueError:
            raise InvalidParameterError(
                f"the range of {name!r} is two numbers, as in {name}=0:100, or categories, as in "
                f"{name}=0/1/2, got {told!r}"
            ) from None
    return found
