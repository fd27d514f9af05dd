"""`ldpkit plan`: choose the budget before collecting."""

from __future__ import annotations

import typer

from ldpkit.cli import plan_budget, plan_capacity, plan_classifier, plan_cluster, plan_pairs, plan_survey
from ldpkit.cli.app import Group
from ldpkit.cli.options import spread
from ldpkit.cli.parsing import ManyValuesCommand

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    plan = typer.Typer(cls=Group, help="Choose the budget before collecting.", rich_markup_mode=None)
    plan.command(cls=ManyValuesCommand, epilog=plan_budget.EXAMPLES)(spread(plan_budget.budget))
    plan.command(cls=ManyValuesCommand, epilog=plan_capacity.EXAMPLES)(spread(plan_capacity.capacity))
    plan.command(epilog=plan_pairs.EXAMPLES)(spread(plan_pairs.pairs))
    plan.command(cls=ManyValuesCommand, epilog=plan_classifier.EXAMPLES)(spread(plan_classifier.classifier))
    plan.command(epilog=plan_survey.EXAMPLES)(spread(plan_survey.survey))
    plan.command(epilog=plan_cluster.EXAMPLES)(spread(plan_cluster.cluster))
    app.add_typer(plan, name="plan")
