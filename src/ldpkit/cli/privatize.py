"""`ldpkit privatize`: values in, a report file out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.memory import IdsOption, Memory, NewDevicesOption, QuestionOption, SecretFileOption
from ldpkit.cli.outputs import announce, check_output, is_standard_output, whole_path
from ldpkit.cli.parsing import (
    parse_circle,
    parse_domain,
    parse_interval,
    parse_parameters,
    refuse_options,
)
from ldpkit.cli.printing import note, progress_bar
from ldpkit.cli.randomise import (
    Request,
    randomise_angles,
    randomise_categories,
    randomise_described,
    randomise_numbers,
)
from ldpkit.cli.reading import Reads, Writes, file_behind_at
from ldpkit.core.errors import InvalidParameterError

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit privatize values.csv -p olh -e 1 --domain 128 -o reports.ldp
  ldpkit privatize people.parquet --column city -p grr -e 2 \\
    --domain @cities.txt -o reports.ldp
  ldpkit privatize ages.csv --low 0 --high 120 -p pm -e 1 -o ages.ldp
  ldpkit privatize headings.csv --period 360 -p circular_ogpm -e 1 \\
    -o headings.ldp
  ldpkit privatize some.csv --low 0 --high 120 --bins 16 -p grr -e 1 \\
    -o first.ldp
  ldpkit privatize rest.csv --low 0 --high 120 -p auto \\
    --descriptor first.ldp -e 1 -o second.ldp
  ldpkit privatize week.csv --column page --ids person \\
    --secret-file secret --question page -p lolh --domain 100 \\
    --parameter epsilon_inf=2 --parameter epsilon_1=1 -o week.ldp
  ldpkit optimal -e 1 --low 0 --high 120 -o age.json
  ldpkit privatize ages.csv -p @age.json -o ages.ldp
  seq 0 9 | ldpkit privatize - -p oue -e 1 --domain 10 -o - > reports.ldp
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("privatize", epilog=_EXAMPLES)(opt.spread(privatize))


def privatize(
    values: Annotated[
        Path,
        typer.Argument(help="A value for each person: text, CSV, TSV or Parquet; - is standard input."),
    ],
    mechanism: Annotated[
        str,
        typer.Option(
            "--mechanism",
            "-p",
            metavar="NAME",
            help="One of 'ldpkit mechanisms', or @FILE with a description that 'ldpkit optimal' wrote.",
        ),
        Reads(file_behind_at),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The report file to write; - is standard output."),
        Writes(takes_dash=True),
    ],
    epsilon: opt.EpsilonOption = None,
    domain: opt.DomainOption = None,
    domain_from_data: Annotated[
        bool,
        typer.Option(
            "--domain-from-data", help="Take the domain from the values, which reveals that they exist."
        ),
    ] = False,
    where: opt.SpaceOptions = opt.SpaceOptions(),
    clip: opt.ClipOption = False,
    wrap: opt.WrapOption = False,
    column: opt.ColumnOption = None,
    missing: opt.MissingOption = opt.Missing.refuse,
    parameter: opt.ParameterOption = None,
    bins: Annotated[
        int | None,
        typer.Option(min=1, help="Round numbers to this grid for a frequency oracle.", show_default=False),
    ] = None,
    descriptor: Annotated[
        Path | None,
        typer.Option(
            help="For aaa and auto: a file of reports made with --bins, to fit the noise to.",
            show_default=False,
        ),
    ] = None,
    new_devices: NewDevicesOption = False,
    ids: IdsOption = None,
    secret_file: SecretFileOption = None,
    question: QuestionOption = None,
    seed: opt.SeedOption = None,
    force: opt.ForceOption = False,
) -> None:
    """Randomise one value for each person into a report file.

    Without --seed, each report is epsilon-differentially private on its own, so you may share the
    report file. The epsilons of several files about the same people add up. Read a file with 'ldpkit
    estimate' or 'ldpkit inspect'. Give --domain for categories, --low and --high
    for numbers, and --period for values on a circle, such as angles and times of day. Longitudinal
    mechanisms keep a permanent report for each person: name the people with --ids, --secret-file
    and --question, or say with --new-devices that none of them has answered before.
    """
    from ldpkit.core import random
    from ldpkit.files.readers import row_count
    from ldpkit.files.reportfile import ReportWriter

    description = Path(mechanism[1:]) if mechanism.startswith("@") else None
    check_output(output, force=force)
    if is_standard_output(output) and sys.stdout.isatty():
        raise InvalidParameterError(
            "reports are binary and not for a terminal: send them to a file or a pipe"
        )
    described = description is not None
    circle = None if described else parse_circle(*where, clip=clip, wrap=wrap)
    interval = None if described or circle is not None else parse_interval(where.low, where.high)
    rng = random.secure() if seed is None else random.seeded(seed)
    memory = Memory(new_devices, ids, secret_file, question)
    asked = Request(mechanism, epsilon, parse_parameters(parameter), values, column, missing, rng, memory)
    if description is not None:
        refuse_options(
            "the description of a mechanism says all about it",
            epsilon=epsilon,
            domain=domain,
            domain_from_data=domain_from_data,
            **where._asdict(),
            parameter=parameter,
            bins=bins,
            descriptor=descriptor,
        )
        work = randomise_described(asked, description, clip=clip, wrap=wrap)
    elif circle is not None:
        refuse_options(
            "values on a circle have a --period and nothing to describe",
            domain=domain,
            domain_from_data=domain_from_data,
            bins=bins,
            descriptor=descriptor,
        )
        work = randomise_angles(asked, circle, wrap=wrap)
    elif interval is None:
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
    announce(output, row_count(values) or 0, work.mechanism.report_bytes, "reports")
    with (
        whole_path(output) as path,
        ReportWriter(path, work.mechanism, provenance=work.provenance(rng)) as writer,
        progress_bar() as watch,
    ):
        for reports in watch(work.chunks, None, "privatizing"):
            writer.write(reports)
    for message in work.notes:
        note(message)
    if seed is not None:
        note("note: reports made with --seed protect nobody, as the seed undoes them: use it for tests only")
    size = "" if is_standard_output(output) else f", {writer.size} bytes"
    note(
        f"wrote {'the reports' if is_standard_output(output) else output}: {writer.n} reports of "
        f"{work.mechanism!r}, {work.mechanism.promise()}{size}"
    )
