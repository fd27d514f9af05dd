"""`ldpkit collection check`, `show` and `diff`: what a collection promises, and whether it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ldpkit.cli.options import Format, FormatOption
from ldpkit.cli.printing import note, present, say, show, show_table

__all__ = ["CollectionArgument", "KeyOption", "add_to"]

CollectionArgument = Annotated[
    Path, typer.Argument(help="A collection: the .toml that you write, or the .json that devices get.")
]
KeyOption = Annotated[
    str | None,
    typer.Option("--key", help="The public key that must have signed it, in base64url.", show_default=False),
]

_CHECK = """
\b
Examples:
  ldpkit collection check commute.toml
  ldpkit collection check commute.json --key BGx...
  ldpkit collection check commute.json --format json
"""
_SHOW = """
\b
Examples:
  ldpkit collection show commute.toml
  ldpkit collection show commute.json --format json
"""
_DIFF = """
\b
Examples:
  ldpkit collection diff commute.json commute-2.toml
"""
_WEAKER = 1  # the exit code where a promise grows weaker or a version must be raised; refused input has 2


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("check", epilog=_CHECK)(check)
    app.command("show", epilog=_SHOW)(show_collection)
    app.command("diff", epilog=_DIFF)(diff)


def check(file: CollectionArgument, key: KeyOption = None, output: FormatOption = Format.table) -> None:
    """Recompute every promise of a collection.

    It builds every mechanism again from its parameters, computes its epsilon from the sampler's
    integers, and adds up the charges over questions and rounds. An error names its line. An epsilon
    above 2 is allowed, with a warning.
    """
    from ldpkit.assurance.collection import collection_warnings
    from ldpkit.client.spending import micro_text
    from ldpkit.protocols.collection.files import load_collection

    found = load_collection(file, public_key=key)
    warnings = collection_warnings(found)
    if output is Format.table:
        say(f"{found.id}, version {found.version}: every promise holds")
        say(f"{found.promise}; {found.checked}")
        say(f"digest {found.digest}")
        for warning in warnings:
            note(f"warning: {warning}")
        return
    rows = [
        {
            "question": question.id,
            "mechanism": question.mechanism,
            "first": micro_text(question.first),
            "next": micro_text(question.next),
            "fingerprint": f"{question.fingerprint:016x}",
        }
        for question in found.questions
    ]
    about = {
        "id": found.id,
        "version": found.version,
        "digest": found.digest,
        "promise": found.promise.to_json(),
    }
    show(
        rows,
        output,
        title="Every promise holds",
        caption=found.checked,
        kind="collection check",
        about=about,
        warnings=warnings,
    )


def show_collection(
    file: CollectionArgument, key: KeyOption = None, output: FormatOption = Format.table
) -> None:
    """Show what is asked, and what each answer reveals."""
    from ldpkit.assurance.collection import summarise
    from ldpkit.protocols.collection.files import load_collection

    found = summarise(load_collection(file, public_key=key))
    if output is not Format.table:
        present(found, output)
        return
    for table in found.tables():
        show_table(table)
    for sentence in (*found.notes(), *(f"warning: {each}" for each in found.warnings)):
        say(sentence)  # the words are what was asked for


def diff(
    old: Annotated[Path, typer.Argument(help="The version that devices have.")],
    new: Annotated[Path, typer.Argument(help="The version that is to follow.")],
    output: FormatOption = Format.table,
) -> None:
    """Show what changes between two versions, and whether the promise weakens.

    The exit code is 1 if it does, or if the new one needs a higher version.
    """
    from ldpkit.protocols.collection.files import load_collection
    from ldpkit.protocols.collection.versions import compare_versions

    found = compare_versions(load_collection(old), load_collection(new))
    present(found, output)
    if found.weakens or found.needs_version:
        raise typer.Exit(_WEAKER)
