"""`ldpkit plan pairs`: what correlated reports of pairs gain, and what they tell whom."""

from __future__ import annotations

from typing import Annotated

import typer

from ldpkit.cli.options import PictureOptions, ResultOptions
from ldpkit.cli.pictures import Pictures
from ldpkit.cli.printing import deliver
from ldpkit.core.errors import InvalidParameterError

__all__ = ["EXAMPLES", "pairs"]

EXAMPLES = """
\b
Examples:
  ldpkit plan pairs --n 20000 --epsilon-alone 1 --epsilon 2 --ones-to 800
  ldpkit plan pairs --n 10000 --epsilon-alone 1 --known 500 --figure pairs.png

The plan shows randomised response, joint randomised response (the best under the limits, the choice
of the thesis and the safe one) and the joint count of two, each with its epsilon towards the stated
collector and towards anyone, including the partner.
"""


def pairs(
    n: Annotated[int, typer.Option("--n", help="How many people will be asked.")],
    epsilon_alone: Annotated[
        float | None,
        typer.Option(
            "--epsilon-alone",
            help="What a report may reveal to a collector who does not know the pairs; by default --epsilon.",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon",
            "-e",
            help="What a report may reveal to anyone, including the partner.",
            show_default=False,
        ),
    ] = None,
    known: Annotated[int, typer.Option(help="How many people's values the collector knows.")] = 0,
    ones: Annotated[int, typer.Option("--ones", help="The smallest number of ones to assume.")] = 0,
    ones_to: Annotated[
        int | None,
        typer.Option("--ones-to", help="The largest number of ones to assume; by default all people."),
    ] = None,
    pictured: PictureOptions = PictureOptions(),
    shown: ResultOptions = ResultOptions(),
) -> None:
    """Compare reporting in pairs with reporting alone, at the same privacy towards everybody."""
    from ldpkit.planning.pairs.plans import pairs as plan_pairs

    alone = epsilon_alone if epsilon_alone is not None else epsilon
    if alone is None:
        raise InvalidParameterError("how much may a report reveal? give --epsilon-alone, --epsilon or both")
    pictures = Pictures.wanted(*pictured, shown=shown)
    plan = plan_pairs(n, alone, epsilon, known=known, ones=(ones, n if ones_to is None else ones_to))
    deliver(plan, shown)
    pictures.save(plan)
