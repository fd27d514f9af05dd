"""`ldpkit privatize`: values in, a report file out."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from ldpkit.cli.arguments import (
    ClipOption,
    ColumnOption,
    DomainOption,
    EpsilonOption,
    ForceOption,
    HighOption,
    LowOption,
    ParameterOption,
    SeedOption,
    check_output,
    parse_domain,
    parse_interval,
    parse_parameters,
)
from ldpkit.cli.memory import IdsOption, Memory, NewDevicesOption, QuestionOption, SecretFileOption
from ldpkit.cli.output import note
from ldpkit.cli.progress import track
from ldpkit.cli.randomise import Request, randomise_categories, randomise_numbers
from ldpkit.core.errors import InvalidParameterError

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit privatize values.csv --mechanism olh --epsilon 1 --domain 128 -o reports.ldp
  ldpkit privatize people.parquet --column city -m grr -e 2 --domain @cities.txt -o reports.ldp
  ldpkit privatize ages.csv --low 0 --high 120 --mechanism pm --epsilon 1 -o ages.ldp
  ldpkit privatize some.csv --low 0 --high 120 --bins 16 --mechanism grr --epsilon 1 -o first.ldp
  ldpkit privatize rest.csv --low 0 --high 120 -m auto --descriptor first.ldp -e 1 -o second.ldp
  ldpkit privatize week.csv --column page --ids person --secret-file secret --question page \\
    -m lolh --parameter epsilon_inf=2 --parameter epsilon_1=1 --domain 100 -o week.ldp
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
    epsilon: EpsilonOption = None,
    domain: DomainOption = None,
    domain_from_data: Annotated[
        bool,
        typer.Option(
            "--domain-from-data", help="Take the domain from the values, which tells that they exist."
        ),
    ] = False,
    low: LowOption = None,
    high: HighOption = None,
    clip: ClipOption = False,
    column: ColumnOption = None,
    parameter: ParameterOption = None,
    bins: Annotated[
        int | None,
        typer.Option(min=1, help="Round numbers to this grid for a frequency oracle.", show_default=False),
    ] = None,
    descriptor: Annotated[
        Path | None,
        typer.Option(help="For aaa and auto: such reports, to fit the noise to.", show_default=False),
    ] = None,
    new_devices: NewDevicesOption = False,
    ids: IdsOption = None,
    secret_file: SecretFileOption = None,
    question: QuestionOption = None,
    seed: SeedOption = None,
    force: ForceOption = False,
) -> None:
    """Randomise one value for each person into a report file.

    Each report is epsilon-differentially private by itself, so that the report file can
    be given away. Read it with 'ldpkit estimate' or 'ldpkit inspect'.
    Categories have a --domain; numbers have a --low and a --high.
    Longitudinal mechanisms keep a permanent report for each person: say who the people are
    with --ids, --secret-file and --question, or that their devices are new.
    """
    from ldpkit.core import random
    from ldpkit.files.reportfile import ReportWriter

    check_output(output, force=force, inputs=[values, *filter(None, [secret_file])])
    interval = parse_interval(low, high)
    rng = random.secure() if seed is None else random.seeded(seed)
    memory = Memory(new_devices, ids, secret_file, question)
    asked = Request(mechanism, epsilon, parse_parameters(parameter), values, column, rng, memory)
    if interval is None:
        if clip or bins is not None or descriptor is not None:
            raise InvalidParameterError("--clip, --bins, --descriptor are for numbers: add --low and --high")
        if domain is not None and domain_from_data:
            raise InvalidParameterError("--domain and --domain-from-data exclude each other: give one")
        public = None if domain is None else parse_domain(domain)
        work = randomise_categories(asked, public, from_data=domain_from_data)
    elif domain is not None or domain_from_data:
        raise InvalidParameterError("--domain is for categories, --low and --high are for numbers: give one")
    else:
        work = randomise_numbers(asked, interval, clip=clip, bins=bins, descriptor=descriptor)
    with (
        ReportWriter(output, work.mechanism, provenance=work.provenance(rng)) as writer,
        contextlib.closing(track(work.chunks, None, "privatizing")) as watched,
    ):
        for reports in watched:
            writer.write(reports)
    for message in work.notes:
        note(message)
    if seed is not None:
        note("note: reports made with --seed protect nobody, as the seed undoes them: use it for tests only")
    note(
        f"wrote {output}: {writer.n} reports of {work.mechanism!r}, "
        f"{work.mechanism.promise()}, {output.stat().st_size} bytes"
    )
