"""The first tokens of a new database: shown to who started the service, or kept in files of its owner.

Standard output that is no terminal is mostly a log, and logs are read by many.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ldpkit.collector.database import Connection, Database, SqliteDatabase
from ldpkit.collector.tokens import ADMIN, ANALYST, has_tokens, new_token
from ldpkit.core.errors import LdpkitError

__all__ = ["TOKEN_FILES", "give_first_tokens"]

TOKEN_FILES = {ANALYST: "token", ADMIN: "admin-token"}
"""Where a token is in the folder of the database, by role."""


def give_first_tokens(
    connection: Connection, database: Database, tell: Callable[[str], None], *, is_private: bool
) -> None:
    """Give out a token for each role, unless there are tokens.

    Parameters
    ----------
    connection : Connection
        Of the database.
    database : Database
        Where it is: with SQLite, the folder in which the files are put.
    tell : callable
        Takes what is to be read.
    is_private : bool
        Whether what is told is seen only now, and by nobody else. Otherwise tokens go to files that only
        their owner may read; PostgreSQL has no folder, so there none is made.
    """
    if has_tokens(connection):
        return
    if is_private:
        for role in TOKEN_FILES:
            tell(f"  {role} token, shown only now: {new_token(connection, f'first {role}', role)}")
    elif isinstance(database, SqliteDatabase):
        # All files first: a token that cannot be written is never made.
        opened = {role: _owned(database.path.parent / name) for role, name in TOKEN_FILES.items()}
        for role, (path, number) in opened.items():
            with os.fdopen(number, "w") as stream:
                stream.write(new_token(connection, f"first {role}", role) + "\n")
            tell(f"  {f'{role} token':<15}  in {path}, readable only by you")
    else:
        tell("  no token is made where it would be logged: ldpkit collector tokens --data ... --new NAME")


def _owned(path: Path) -> tuple[Path, int]:
    """Return a new file that nobody but its owner may read, open for writing."""
    try:
        path.unlink(missing_ok=True)  # of a database that is gone; its permissions may be others
        return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise LdpkitError(
            f"cannot write the token to {str(path)!r}: {error.strerror}: check the folder"
        ) from None
