"""`ldpkit collection`: write, check, sign and rehearse what devices are asked."""

from __future__ import annotations

import typer

from ldpkit.cli import collection_check, collection_new, collection_sign, collection_simulate
from ldpkit.cli.app import Group

__all__ = ["add_to"]

_EXAMPLES = """
\b
Examples:
  ldpkit collection new commute.toml
  ldpkit collection check commute.toml
  ldpkit collection keygen town.pem
  ldpkit collection sign commute.toml --private-key town.pem -o commute.json
"""


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    collection = typer.Typer(
        cls=Group,
        help="Write, check, sign and rehearse a collection file.",
        epilog=_EXAMPLES,
        rich_markup_mode=None,
    )
    collection_new.add_to(collection)
    collection_check.add_to(collection)
    collection_sign.add_to(collection)
    collection_simulate.add_to(collection)
    app.add_typer(collection, name="collection")
