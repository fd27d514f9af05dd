"""Tokens of analysts and administrators: shown once, kept as a digest."""

from __future__ import annotations

import hashlib
import secrets

from ldpkit.collector.database import Connection
from ldpkit.collector.kept import note, row_checksum
from ldpkit.collector.problems import HttpProblem
from ldpkit.core.errors import InvalidParameterError

__all__ = [
    "ADMIN",
    "ANALYST",
    "ROLES",
    "check_token",
    "has_tokens",
    "list_tokens",
    "new_token",
    "revoke_token",
]

ANALYST, ADMIN = "analyst", "admin"
ROLES = (ANALYST, ADMIN)
"""What a token may do: read estimates and exports; or also add and close collections."""

_PREFIX = "ldpkit_"
_BYTES = 32


def _digest(token: str) -> bytes:
    # A token has 256 random bits, so a plain hash cannot be tried out.
    return hashlib.sha256(token.encode()).digest()


def new_token(connection: Connection, name: str, role: str) -> str:
    """Return a new token, which is nowhere else from now on."""
    if role not in ROLES:
        raise InvalidParameterError(f"a role is one of {', '.join(ROLES)}, got {role!r}")
    if not name.strip() or len(name) > 100 or not name.isprintable():
        raise InvalidParameterError(f"a token needs a name of 1 to 100 characters, got {name[:100]!r}")
    token = _PREFIX + secrets.token_urlsafe(_BYTES)
    with connection.transaction():
        if connection.execute("SELECT 1 FROM tokens WHERE name=?", (name,)):
            raise InvalidParameterError(
                f"there is a token called {name!r}: revoke it, or choose another name"
            )
        row = (name, role, _digest(token))
        connection.execute("INSERT INTO tokens VALUES (?, ?, ?, ?)", (*row, row_checksum(*row)))
        note(connection, f"token {name!r} made, {role}")
    return token


def check_token(connection: Connection, header: str | None, role: str) -> str:
    """Return the name of a request's token, or say why it is not enough."""
    scheme, _, token = (header or "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise HttpProblem("not-signed-in", "send the header Authorization: Bearer TOKEN")
    digest = _digest(token.strip())
    rows = connection.execute("SELECT name, role, checksum FROM tokens WHERE digest=?", (digest,))
    if not rows or row_checksum(*rows[0][:2], digest) != bytes(rows[0][2]):
        raise HttpProblem("not-signed-in", "the token is unknown or was revoked")
    ((name, has, _),) = rows
    if ROLES.index(has) < ROLES.index(role):
        raise HttpProblem("not-allowed", f"this needs a token of the role {role}, and this one has {has}")
    return str(name)


def has_tokens(connection: Connection) -> bool:
    """Whether anybody has a token yet."""
    return bool(connection.execute("SELECT 1 FROM tokens LIMIT 1"))


def list_tokens(connection: Connection) -> list[tuple[str, str]]:
    """Return name and role of every token."""
    return [
        (str(name), str(role))
        for name, role in connection.execute("SELECT name, role FROM tokens ORDER BY name")
    ]


def revoke_token(connection: Connection, name: str) -> None:
    """Make a token worthless."""
    with connection.transaction():
        if not connection.execute("SELECT 1 FROM tokens WHERE name=?", (name,)):
            raise InvalidParameterError(f"there is no token called {name[:100]!r}")
        connection.execute("DELETE FROM tokens WHERE name=?", (name,))
        note(connection, f"token {name!r} revoked")
