"""`ldpkit trajectory`: locations and trajectories, from choosing a mechanism to a heat map."""

from __future__ import annotations

import typer

from ldpkit.cli import trajectory_maps, trajectory_reports
from ldpkit.cli.app import Group
from ldpkit.cli.options import spread

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit trajectory recommend --space 0,0,10,10 -e 4
  ldpkit trajectory privatize walks.csv --space 0,0,10,10 -e 4 -o private.csv
  ldpkit trajectory evaluate walks.csv --space 0,0,10,10 -e 4
  ldpkit trajectory heatmap walks.csv --space 0,0,10,10 -e 4 --figure map.png
"""


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        cls=Group,
        help="Locations and trajectories.",
        epilog=_EXAMPLES,
        rich_markup_mode=None,
    )
    group.command("recommend", epilog=trajectory_maps.RECOMMEND)(spread(trajectory_maps.recommend))
    group.command("privatize", epilog=trajectory_reports.PRIVATIZE)(spread(trajectory_reports.privatize))
    group.command("evaluate", epilog=trajectory_reports.EVALUATE)(spread(trajectory_reports.evaluate))
    group.command("heatmap", epilog=trajectory_maps.HEATMAP)(spread(trajectory_maps.heatmap))
    app.add_typer(group, name="trajectory")
