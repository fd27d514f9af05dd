"""`ldpkit plan cluster`: what a day of reports costs in processors, storage, network and memory."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from ldpkit.cli import options as opt
from ldpkit.cli.making import make_mechanism, space_of
from ldpkit.cli.parsing import domain_file, parse_parameters
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver
from ldpkit.core.errors import InvalidParameterError

__all__ = ["EXAMPLES", "cluster"]


class EngineMode(enum.StrEnum):
    """What counts, and how reports reach it."""

    local = "local"
    dask = "dask"
    spark = "spark"
    spark_blocks = "spark-blocks"
    spark_rows = "spark-rows"


EXAMPLES = """
\b
Examples:
  ldpkit plan cluster --people 1000000000 -p olh --domain 1024 -e 1
  ldpkit plan cluster --people 50000000 --questions 40 --groups 16 \\
    -p oue --domain 100 -e 2 --engine dask
  ldpkit plan cluster --people 1000000 -p piecewise --low 0 --high 120 \\
    -e 1 --measure
"""


def cluster(
    people: Annotated[int, typer.Option("--people", min=1, help="How many people answer on a day.")],
    mechanism: opt.MechanismOption = None,
    domain: opt.DomainOption = None,
    where: opt.SpaceOptions = opt.SpaceOptions(),
    epsilon: opt.EpsilonOption = None,
    parameter: opt.ParameterOption = None,
    questions: Annotated[int, typer.Option(min=1, help="How many questions each person answers.")] = 1,
    groups: Annotated[
        int, typer.Option(min=1, help="How many groups, such as regions, are counted separately.")
    ] = 1,
    engine: Annotated[
        EngineMode, typer.Option(help="What does the counting; only spark reads files by their paths.")
    ] = EngineMode.spark,
    measured: Annotated[
        bool, typer.Option("--measure", help="Measure the cost of a report now, on this machine.")
    ] = False,
    pictured: opt.PictureOptions = opt.PictureOptions(),
    shown: opt.ResultOptions = opt.ResultOptions(),
) -> None:
    """Say what collecting and counting the reports of a day costs.

    The costs are measured unit costs, shown with their date, times what you ask for: CPU for each
    report and value, what an engine adds, memory of a worker, bytes of a file. --measure measures
    the first on this machine, benchmarks/bench_cluster.py the others. It is assumed that one job a
    day counts all questions, that reports come evenly over the day, that files hold a million
    reports, and that all tasks take equally long. The start of a cluster, HTTP and replicas of the
    storage are left out.
    """
    if mechanism is None:
        raise InvalidParameterError("which mechanism makes the reports? give it with -p NAME")
    pictures = Pictures.wanted(*pictured, shown=shown, inputs=[domain_file(domain)])
    from ldpkit.planning.cluster import cluster as plan

    space = space_of(mechanism, domain, *where)
    maker = make_mechanism(mechanism, space, epsilon, parse_parameters(parameter))
    counted_by = engine.value.replace("-", " ")
    found = plan(maker, people, questions=questions, groups=groups, engine=counted_by, here=measured)
    deliver(found, shown)
    pictures.save(found)
