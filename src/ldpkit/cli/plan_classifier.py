"""`ldpkit plan classifier`: which mechanism, split and epsilon keep a model's predictions."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from ldpkit.cli.options import (
    ClipOption,
    FigureOption,
    ForceOption,
    Format,
    FormatOption,
    HighOption,
    LowOption,
    MechanismsOption,
    RepeatableSeedOption,
)
from ldpkit.cli.outputs import check_extra, check_figure, save_drawn
from ldpkit.cli.printing import note, present, watched
from ldpkit.core.errors import InvalidParameterError

__all__ = ["EXAMPLES", "classifier"]

EXAMPLES = """
\b
Examples:
  ldpkit plan classifier model.skops people.csv --sensitive age,bmi
  ldpkit plan classifier model.skops people.csv --sensitive age=0:100 \\
      --criterion worst --figure kept.png

A model is saved with skops.io.dump(model, "model.skops"). The table needs the columns that the model
was trained with; others are ignored.
"""


class Criterion(enum.StrEnum):
    """Whose predictions are to be kept."""

    average = "average"
    worst = "worst"


def classifier(
    model: Annotated[Path, typer.Argument(help="The model, a .skops file.")],
    table: Annotated[Path, typer.Argument(help="A table with the records, and a header.")],
    sensitive: Annotated[
        str,
        typer.Option(
            help="The columns that are privatized, with commas between; each with its range, as age=0:100, "
            "or that of --low and --high."
        ),
    ],
    keep: Annotated[float, typer.Option(help="How likely a prediction is to stay the same.")] = 0.9,
    criterion: Annotated[
        Criterion, typer.Option(help="On average over the records, or for the worst of them.")
    ] = Criterion.average,
    mechanism: MechanismsOption = None,
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
    figure: FigureOption = None,
    force: ForceOption = False,
    output: FormatOption = Format.table,
) -> None:
    """Find the mechanism, split and least epsilon that keep a classifier's predictions."""
    check_figure(figure, force=force, inputs=[model, table])
    check_extra("sklearn")
    from ldpkit.assurance.classifier.loading import load_model
    from ldpkit.assurance.classifier.records import read_records
    from ldpkit.core.random import seeded
    from ldpkit.planning.classifier.choices import USUAL
    from ldpkit.planning.classifier.plans import classifier as plan_classifier

    ranges = _ranges(sensitive, low, high)
    loaded = load_model(model, unsafe_pickle=unsafe_pickle)
    names, rows, moved = read_records(loaded, table, ranges, clip=clip)
    for column, count in moved.items():
        note(f"{count} values of {column!r} were outside its range and moved to its ends")
    found = plan_classifier(
        loaded,
        rows,
        ranges,
        keep,
        criterion=criterion.value,
        mechanisms=tuple(mechanism) if mechanism else USUAL,
        columns=names,
        rng=seeded(seed),
        watch=watched,
    )
    present(found, output)
    save_drawn(figure, found)
    if not found.feasible:
        raise typer.Exit(1)


def _ranges(text: str, low: float | None, high: float | None) -> dict[str, tuple[float, float]]:
    """Return the sensitive columns with their ranges."""
    usual = (0.0 if low is None else low, 1.0 if high is None else high)
    found: dict[str, tuple[float, float]] = {}
    for part in text.split(","):
        name, given, ends = (each.strip() for each in part.partition("="))
        if not name or name in found:
            raise InvalidParameterError(f"--sensitive is a list of different columns, got {text!r}")
        found[name] = usual
        if given:
            try:
                first, last = (float(each) for each in ends.split(":"))
            except ValueError:
                raise InvalidParameterError(
                    f"the range of {name!r} is two numbers, as in {name}=0:100, got {ends!r}"
                ) from None
            found[name] = (first, last)
    return found
