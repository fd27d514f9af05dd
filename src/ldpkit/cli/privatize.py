"""`ldpkit privatize`: values in, a report file out."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldpkit.cli.arguments import (
    DomainOption,
    ForceOption,
    ParameterOption,
    check_output,
    make_oracle,
    parse_domain,
    parse_parameters,
)
from ldpkit.cli.output import note
from ldpkit.cli.progress import track
from ldpkit.core.errors import InvalidInputError

if TYPE_CHECKING:
    import numpy as np

    from ldpkit.core.domain import CategoricalDomain

__all__ = ["add_to"]

_EXAMPLES = """
[bold]Examples[/bold]

ldpkit privatize values.csv --mechanism olh --epsilon 1 --domain 128 -o reports.ldp

ldpkit privatize people.parquet --column city --mechanism grr --epsilon 2 --domain @cities.txt -o reports.ldp

seq 0 9 | ldpkit privatize - --mechanism oue --epsilon 1 --domain 10 -o reports.ldp
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("privatize", epilog=_EXAMPLES)(privatize)


def privatize(
    values: Annotated[
        Path,
        typer.Argument(help="A value for each person: text, CSV, TSV or Parquet; - is standard input."),
    ],
    mechanism: Annotated[str, typer.Option("--mechanism", "-m", help="One of 'ldpkit mechanisms'.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The report file to write.")],
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", "-e", help="The privacy budget.", show_default=False)
    ] = None,
    domain: DomainOption = None,
    column: Annotated[
        str | None, typer.Option("--column", help="The column of a table.", show_default=False)
    ] = None,
    parameter: ParameterOption = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="For tests: repeatable reports.", show_default=False)
    ] = None,
    force: ForceOption = False,
) -> None:
    """Randomise one value for each person into a report file.

    Each report is epsilon-differentially private by itself, so that the report file can
    be given away. Read it with [bold]ldpkit estimate[/bold] or [bold]ldpkit inspect[/bold].
    """
    from ldpkit.core import random
    from ldpkit.core.readers import read_column
    from ldpkit.mechanisms.reportfile import ReportWriter

    check_output(output, force=force, inputs=[values])
    given = parse_parameters(parameter)
    public = None if domain is None else parse_domain(domain)
    oracle = None if public is None else make_oracle(mechanism, public, epsilon, given)
    rng = random.secure() if seed is None else random.seeded(seed)
    data = read_column(values, column)
    if oracle is None:
        oracle = make_oracle(mechanism, _infer_domain(data), epsilon, given)
    chunks = oracle.privatize_chunks(_as_labels(data, oracle.domain), rng=rng)
    pieces = -(-len(data) // oracle.chunk_size)
    with (
        ReportWriter(output, oracle) as writer,
        contextlib.closing(track(chunks, pieces, "privatizing")) as watched,
    ):
        for reports in watched:
            writer.write(reports)
    if public is None:
        note(
            f"note: the domain {oracle.domain} was taken from the values, which tells who is among them: "
            "a real collection fixes a public domain in advance, with --domain"
        )
    if seed is not None:
        note("note: reports made with --seed protect nobody, as the seed undoes them: use it for tests only")
    note(
        f"wrote {output}: {writer.n} reports of {oracle!r}, exact epsilon {oracle.exact_epsilon()!r}, "
        f"{output.stat().st_size} bytes"
    )


def _infer_domain(data: np.ndarray[Any, Any]) -> CategoricalDomain:
    """Return 0..max for whole numbers, else the sorted labels."""
    import numpy as np

    from ldpkit.core.domain import CategoricalDomain

    if data.dtype.kind == "i" and data.min() >= 0:
        return CategoricalDomain(max(2, int(data.max()) + 1))
    labels = np.unique(data).tolist()
    if len(labels) < 2:
        raise InvalidInputError(
            f"all values are {labels[0]!r}, and a domain needs at least 2: give the domain with --domain"
        )
    return CategoricalDomain(labels)


def _as_labels(data: np.ndarray[Any, Any], domain: CategoricalDomain) -> np.ndarray[Any, Any]:
    """Return numbers as text where the labels are text: in a file, 1 is the label and not an index."""
    import numpy as np

    is_text = domain.has_labels and isinstance(domain.labels[0], str)
    return data.astype(np.str_) if is_text and data.dtype.kind != "U" else data
