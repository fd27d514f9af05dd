"""`ldpkit plan`: choose the budget before collecting."""

from __future__ import annotations

import typer

from ldpkit.cli import plan_budget, plan_capacity, plan_classifier, plan_pairs, plan_survey
from ldpkit.cli.groups import Group

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    plan = typer.Typer(cls=Group, help="Choose the budget before collecting.", rich_markup_mode=None)
    plan_budget.add_to(plan)
    plan_capacity.add_to(plan)
    plan_pairs.add_to(plan)
    plan_classifier.add_to(plan)
    plan_survey.add_to(plan)
    app.add_typer(plan, name="plan")
