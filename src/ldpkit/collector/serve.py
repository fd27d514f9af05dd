"""The service as a process: everything together behind uvicorn, until it is told to stop."""

from __future__ import annotations

import contextlib
import datetime
import json
import logging
import socket
import sys
import textwrap
from collections.abc import Awaitable, Callable, MutableMapping, Sized
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ldpkit.collector.database import Database
from ldpkit.collector.first_tokens import give_first_tokens
from ldpkit.collector.problems import HttpProblem
from ldpkit.collector.service import Service
from ldpkit.collector.snippet import answered_by_snippet, snippet_for
from ldpkit.collector.uploads import Limits, Receive, Send, Uploads, respond
from ldpkit.core.errors import InvalidParameterError, LdpkitError, MissingDependencyError
from ldpkit.core.stopping import hanging_up_terminates

__all__ = ["Front", "ServeSettings", "serve", "tell_collections"]

_BACKLOG = 4096  # of connections that wait to be taken
_OTHER_FILES = 200  # that a service has open beside its connections: database, threads that read, logs
_OVER = [(b"access-control-allow-origin", b"*"), (b"connection", b"close")]


@dataclass(frozen=True)
class ServeSettings:
    """Where a service listens, and what it takes.

    Parameters
    ----------
    host, port : str, int
        Where it listens.
    public_url : str, optional
        How devices reach it, where that differs: the address of a proxy that speaks TLS.
    proxies : str
        Addresses of proxies whose word on the sender's address is taken, separated by commas.
    limits : Limits
        What may be sent.
    most_connections : int
        Beyond, a request is answered with 503 and its connection closed.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    public_url: str | None = None
    proxies: str = ""
    limits: Limits | None = None
    most_connections: int = 20_000

    def __post_init__(self) -> None:
        if self.public_url is None:
            return
        try:
            parts = urlsplit(self.public_url)
        except ValueError:  # half an IPv6 address
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidParameterError(
                f"--public-url is an address of the web such as https://collect.example.org, "
                f"got {self.public_url!r}"
            )

    @property
    def url(self) -> str:
        """How devices reach the service."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"


class Front:
    """Uploads first, everything else behind; nobody while there are too many.

    Parameters
    ----------
    uploads : Uploads
        The application for uploads.
    rest : callable
        The ASGI application for everything else.
    most_connections : int, optional
        How many connections there may be; uvicorn has such a limit, but does not say when to return.
    """

    def __init__(
        self, uploads: Uploads, rest: Callable[..., Awaitable[None]], most_connections: int | None = None
    ) -> None:
        self._uploads, self._rest, self._most = uploads, rest, most_connections
        self.connections: Sized = ()
        """Those that are open now."""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if self._most is not None and len(self.connections) > self._most and scope["type"] == "http":
            problem = HttpProblem("busy", "too many connections")
            await respond(send, problem.status, [*problem.headers, *_OVER], problem.body)
        elif scope["type"] == "http" and self._uploads.takes(scope):
            await self._uploads(scope, receive, send)
        else:
            await self._rest(scope, receive, send)


def serve(
    database: Database,
    envelopes: list[bytes],
    settings: ServeSettings,
    tell: Callable[[str], None],
    *,
    is_private: bool = True,
) -> None:
    """Run a service until it is stopped; it then writes what waits before this returns.

    Parameters
    ----------
    database : Database
        Where reports are kept.
    envelopes : list of bytes
        Collections to put up, if they are not there yet.
    settings : ServeSettings
        Where to listen.
    tell : callable
        Takes what the person who started it must read: addresses, and new tokens, once.
    is_private : bool
        Whether nobody else reads that; otherwise tokens go to files beside the database.
    """
    try:
        import uvicorn

        from ldpkit.collector.app import make_app
    except ImportError as error:
        raise MissingDependencyError(error.name or "uvicorn", "the service", "serve") from None
    limits = settings.limits or Limits()
    _log_as_json()
    uploads = Uploads(limits)
    # First of all, so that no token is shown by a service that cannot run.
    with _listening(settings) as listener, Service(database, uploads.deliver) as service:
        uploads.attach(service)
        given = [service.add(envelope).id for envelope in envelopes]
        tell_collections(service, given, settings.url, tell)
        with service.connection() as connection:
            give_first_tokens(connection, database, tell, is_private=is_private)
        front = Front(
            uploads, make_app(service, uploads, settings.public_url), _room_for(settings.most_connections)
        )
        config = uvicorn.Config(
            front,
            access_log=False,  # addresses are nobody's business
            log_config=None,
            server_header=False,
            proxy_headers=bool(settings.proxies),
            forwarded_allow_ips=settings.proxies or None,
            timeout_keep_alive=20,
            timeout_graceful_shutdown=20,
            backlog=_BACKLOG,
        )
        server = uvicorn.Server(config)
        front.connections = server.server_state.connections
        with hanging_up_terminates():  # uvicorn waits for what it answers at SIGINT and SIGTERM alone
            server.run(sockets=[listener])


def _listening(settings: ServeSettings) -> socket.socket:
    """Return a socket that listens where the settings say, or refuse."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]
        where = f"{settings.host}:{settings.port}"
        raise LdpkitError(
            f"cannot listen on {where} ({reason}): choose another with --host and --port"
        ) from None


def tell_collections(service: Service, given: list[str], url: str, tell: Callable[[str], None]) -> None:
    """Say what is collected, and of the collections that were given how a page answers them."""
    for name in service.shelf.names():
        entry = service.shelf.get(name)
        collection = entry.newest
        if entry.is_over:
            tell(
                f"{name!r} version {collection.version} is closed and takes no answers: {collection.purpose}"
            )
            tell(f"  results page     {url}/c/{name}")
            continue
        tell(f"collecting {name!r} version {collection.version}: {collection.purpose}")
        if not collection.is_signed:
            tell("  not signed: devices cannot tell who asks; see ldpkit collection sign")
        if collection.rounds.start > datetime.datetime.now(datetime.UTC).date():
            tell(f"  opens on         {collection.rounds.start} (UTC); devices refuse to answer before")
        tell(f"  devices send to  {url}/v1/collections/{name}/reports")
        tell(f"  results page     {url}/c/{name}")
        if name in given:
            asked = answered_by_snippet(collection)
            tell(f"  on a web page, with the visitor's own answer to {asked} in place of this one:")
            tell(textwrap.indent(snippet_for(collection, url), "    "))
    if not service.shelf.names():
        tell(f"nothing is asked at {url} yet: name a collection file, such as 'ldpkit serve example.toml'")


def _room_for(connections: int) -> int:
    """Have files for so many connections, or for as many as may be, and return how many these are."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return connections
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return connections
    larger = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with contextlib.suppress(ValueError, OSError):  # a kernel may have a limit of its own
        resource.setrlimit(resource.RLIMIT_NOFILE, (larger, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, min(connections, soft - _OTHER_FILES))


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Return one line of JSON: when, how bad, and what; never who."""
        when = datetime.datetime.fromtimestamp(record.created, datetime.UTC).isoformat(timespec="seconds")
        return json.dumps({"time": when, "level": record.levelname.lower(), "message": record.getMessage()})


def _log_as_json() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    for name in ("ldpkit.collector", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
