"""The rest of the service, in FastAPI: collections, estimates, exports, health, metrics and the page."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from fastapi import Depends, FastAPI, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from ldpkit import __version__
from ldpkit.client.upload import HEADER_BYTES
from ldpkit.collector.analysis import Analyst
from ldpkit.collector.asked import Entry
from ldpkit.collector.database import DatabaseError
from ldpkit.collector.export import ENDINGS, write_export
from ldpkit.collector.metrics import metrics_text
from ldpkit.collector.page import page_html, results_html
from ldpkit.collector.planned import plan_survey
from ldpkit.collector.problems import HttpProblem
from ldpkit.collector.service import Service
from ldpkit.collector.tokens import ADMIN, ANALYST, check_token
from ldpkit.collector.uploads import Uploads
from ldpkit.collector.web_client import web_files
from ldpkit.collector.writer import Counted
from ldpkit.core.errors import LdpkitError

__all__ = ["make_app"]

_LARGEST_BODY = 1 << 23
_PIECE = 1 << 18  # bytes of an export that are read at once
_PAGE_SECONDS = 2.0  # for which a page is shown again as it was
_LAST_ROUND = (1 << 32) - 1
_OPEN = {"access-control-allow-origin": "*"}
_STATUSES = {404: "not-found", 405: "wrong-method"}


def make_app(service: Service, uploads: Uploads, url: str | None = None) -> FastAPI:
    """Return the application of a running service.

    Parameters
    ----------
    service, uploads : Service, Uploads
        What it speaks for.
    url : str, optional
        How it is reached; as the request says, unless it is given.
    """
    app = FastAPI(
        title="ldpkit collector",
        version=__version__,
        description="Takes privatized reports from devices and answers with estimates.",
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        responses={
            "4XX": {"description": "A problem (RFC 9457)", "content": {"application/problem+json": {}}}
        },
    )
    _add_problems(app)
    _describe_uploads(app)
    _add_public(app, service, url)
    _add_analyst(app, service)
    _add_admin(app, service)
    _add_operations(app, service, uploads)
    return app


def _describe_uploads(app: FastAPI) -> None:
    """Put the upload, which `Front` takes before it comes here, into the description of the service."""
    form = {"schema": {"type": "string", "format": "binary", "minLength": HEADER_BYTES}}
    about = "A header of 22 bytes, then records of an id and a report; see the wire forms."

    @app.post(
        "/v1/collections/{name}/reports",
        summary="Send reports",
        openapi_extra={
            "requestBody": {
                "description": about,
                "required": True,
                "content": {"application/octet-stream": form},
            }
        },
    )
    def upload(name: str) -> Counted:
        raise HttpProblem("not-found", "uploads are not taken here")


def _problem_response(problem: HttpProblem) -> Response:
    headers = {key.decode(): value.decode() for key, value in problem.headers}
    return Response(problem.body, problem.status, headers={**headers, **_OPEN})


def _add_problems(app: FastAPI) -> None:
    @app.exception_handler(LdpkitError)
    async def refused(request: Request, error: LdpkitError) -> Response:
        if isinstance(error, HttpProblem):
            return _problem_response(error)
        if isinstance(error, DatabaseError):
            return _problem_response(HttpProblem("busy", "the database did not answer"))
        return _problem_response(HttpProblem("malformed-request", str(error)))

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(each) for each in first["loc"][1:])
        return _problem_response(HttpProblem("malformed-request", f"{where}: {first['msg']}"))

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> Response:
        return _problem_response(HttpProblem("internal-error"))

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        return _problem_response(
            HttpProblem(_STATUSES.get(error.status_code, "malformed-request"), str(error.detail))
        )


def _allowed(service: Service, role: str) -> Callable[..., str]:
    def check(authorization: Annotated[str | None, Header()] = None) -> str:
        with service.connection() as connection:
            return check_token(connection, authorization, role)

    return check


@contextlib.contextmanager
def _analyst(service: Service, name: str) -> Iterator[Analyst]:
    entry = service.shelf.get(name)
    with service.connection() as connection:
        yield Analyst(connection, entry)


def _add_public(app: FastAPI, service: Service, url: str | None) -> None:
    shown: dict[str, tuple[float, str]] = {}
    clients = web_files()

    @app.head("/v1/collections/{name}", include_in_schema=False)
    @app.get("/v1/collections/{name}", summary="What is asked, as devices fetch it")
    def collection(name: str, if_none_match: Annotated[str | None, Header()] = None) -> Response:
        entry = service.shelf.get(name)
        headers = {"etag": entry.tag, "cache-control": "no-cache", **_OPEN}
        known = [each.strip().removeprefix("W/") for each in (if_none_match or "").split(",")]
        if entry.tag in known or known == ["*"]:  # a proxy that compresses makes a tag weak
            return Response(status_code=304, headers=headers)
        return Response(entry.envelope, media_type="application/json", headers=headers)

    @app.options("/v1/collections/{name}", summary="Any page may read a collection", status_code=204)
    def preflight(name: str) -> Response:
        allowed = {"access-control-allow-methods": "GET", "access-control-allow-headers": "if-none-match"}
        return Response(status_code=204, headers={**_OPEN, **allowed, "access-control-max-age": "86400"})

    @app.get("/c/{name}", summary="The collection as a page for people", response_class=HTMLResponse)
    def page(name: str, request: Request) -> HTMLResponse:
        entry = service.shelf.get(name)
        made, results = shown.get(name, (-_PAGE_SECONDS, ""))
        if time.monotonic() - made >= _PAGE_SECONDS:  # everybody may ask, again and again
            with _analyst(service, name) as analyst:
                results = results_html(analyst, entry)
            shown[name] = (time.monotonic(), results)
        text = page_html(entry, results, (url or str(request.base_url)).rstrip("/"))
        policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
        return HTMLResponse(text, headers={"content-security-policy": policy, "cache-control": "no-store"})

    @app.get("/client-all.js", summary="The client that also knows locations and tables")
    @app.get("/client.js", summary="The client for web pages")
    def client(request: Request, accept_encoding: Annotated[str | None, Header()] = None) -> Response:
        if request.url.path not in clients:
            raise HttpProblem("not-found", "this installation has no client for web pages")
        body, told = clients[request.url.path].for_request(accept_encoding)
        return Response(
            body, media_type="text/javascript", headers={**_OPEN, **told, "cache-control": "no-cache"}
        )


def _add_analyst(app: FastAPI, service: Service) -> None:
    allowed = Depends(_allowed(service, ANALYST))

    @app.get("/v1/collections", summary="Every collection", dependencies=[allowed])
    def collections() -> dict[str, Any]:
        return {"collections": [_told(service.shelf.get(name)) for name in service.shelf.names()]}

    @app.get("/v1/collections/{name}/progress", summary="How many answered", dependencies=[allowed])
    def progress(name: str) -> dict[str, Any]:
        with _analyst(service, name) as analyst:
            return {"collection": name, "progress": [vars(each) for each in analyst.progress()]}

    @app.get("/v1/collections/{name}/estimates", summary="Estimates with error bars", dependencies=[allowed])
    def estimates(
        name: str,
        question: Annotated[str, Query(description="The id of the question.")],
        rounds: Annotated[
            str,
            Query(alias="round", description="A round, several such as 0,1,2, or two with the word change."),
        ] = "0",
        version: Annotated[int | None, Query(ge=1, le=65535)] = None,
        estimator: str | None = None,
        consistency: str | None = None,
        level: Annotated[float, Query(gt=0, lt=1)] = 0.95,
        change: bool = False,
    ) -> JSONResponse:
        numbers = _numbers(rounds)
        options: dict[str, Any] = {
            "version": version,
            "estimator": estimator,
            "consistency": consistency,
            "level": level,
        }
        with _analyst(service, name) as analyst:
            if change and len(numbers) != 2:
                raise HttpProblem("malformed-request", "a change is between two rounds, such as round=0,1")
            if len(numbers) == 1:
                found = analyst.estimate(question, numbers[0], **options)
            else:
                found = analyst.over(question, numbers, difference=change, **options)
            return JSONResponse(found.to_dict())

    @app.get(
        "/v1/collections/{name}/tally", summary="A tally, to estimate from elsewhere", dependencies=[allowed]
    )
    def tally(
        name: str,
        question: str,
        number: Annotated[int, Query(alias="round", ge=0, le=_LAST_ROUND)] = 0,
        version: Annotated[int | None, Query(ge=1, le=65535)] = None,
    ) -> Response:
        with _analyst(service, name) as analyst:
            data = analyst.tally(question, number, version).to_bytes()
        return Response(data, media_type="application/octet-stream")

    @app.get(
        "/v1/collections/{name}/export.{ending}", summary="The reports as a file", dependencies=[allowed]
    )
    def export(
        name: str,
        ending: str,
        question: str,
        number: Annotated[int, Query(alias="round", ge=0, le=_LAST_ROUND)] = 0,
        version: Annotated[int | None, Query(ge=1, le=65535)] = None,
    ) -> StreamingResponse:
        if ending not in ENDINGS:
            raise HttpProblem("not-found", f"reports are exported as {', '.join(ENDINGS)}")
        with _analyst(service, name) as analyst:
            analyst.tally(question, number, version)  # refuses what there is not
        path = Path(tempfile.mkdtemp(prefix="ldpkit-export-")) / f"reports.{ending}"
        try:
            with _analyst(service, name) as analyst:
                write_export(analyst, path, question, number, version)
            stream = path.open("rb")
        finally:
            _remove(path)  # without a name it is gone when it is closed, however the transfer ends
        length = os.fstat(stream.fileno()).st_size
        told = f'attachment; filename="{name}-{question}-{number}.{ending}"'
        return StreamingResponse(
            _pieces(stream, path),
            media_type="text/csv" if ending == "csv" else "application/octet-stream",
            headers={"content-length": str(length), "content-disposition": told},
        )

    @app.post("/v1/plan", summary="How to ask some questions, before collecting", dependencies=[allowed])
    async def plan(request: Request) -> JSONResponse:
        body = await _body(request)
        return JSONResponse(await run_in_threadpool(lambda: plan_survey(body).to_dict()))


def _add_admin(app: FastAPI, service: Service) -> None:
    allowed = Depends(_allowed(service, ADMIN))

    @app.post(
        "/v1/collections",
        summary="Put up a collection or a new version",
        dependencies=[allowed],
        status_code=201,
    )
    async def put_up(request: Request) -> JSONResponse:
        body = await _body(request)
        collection = await run_in_threadpool(service.add, body)
        return JSONResponse(_told(service.shelf.get(collection.id)), status_code=201)

    @app.patch(
        "/v1/collections/{name}", summary="Close a round, or retire a collection", dependencies=[allowed]
    )
    def change(
        name: str,
        close_round: Annotated[int | None, Query(ge=0, le=_LAST_ROUND)] = None,
        retire: bool = False,
    ) -> dict[str, Any]:
        service.shelf.get(name)
        if close_round is None and not retire:
            raise HttpProblem("malformed-request", "say close_round=NUMBER or retire=true")
        changed = False
        if close_round is not None:
            changed |= service.close_round(name, close_round)
        if retire:
            changed |= service.retire(name)
        return {**_told(service.shelf.get(name)), "already_closed": not changed}

    @app.delete(
        "/v1/collections/{name}",
        summary="Delete a collection and all its reports",
        dependencies=[allowed],
    )
    def erase(name: str) -> dict[str, Any]:
        service.erase(name)
        return {"id": name, "copies": service.database.copies()}


def _add_operations(app: FastAPI, service: Service, uploads: Uploads) -> None:
    @app.get("/healthz", summary="Whether the service runs", response_class=PlainTextResponse)
    def health() -> str:
        return "ok\n"

    @app.get("/readyz", summary="Whether it can take reports", response_class=PlainTextResponse)
    def ready() -> str:
        if not service.writer.is_alive():
            raise HttpProblem("busy", "the writer has stopped")
        with service.connection() as connection:
            connection.execute("SELECT 1")
        return "ok\n"

    @app.get("/metrics", summary="Counters for Prometheus", response_class=PlainTextResponse)
    def metrics() -> str:
        return metrics_text(service, uploads)


async def _body(request: Request) -> bytes:
    parts, size = list[bytes](), 0
    async for part in request.stream():
        size += len(part)
        if size > _LARGEST_BODY:
            raise HttpProblem("too-large", f"a collection file has at most {_LARGEST_BODY} bytes")
        parts.append(part)
    return b"".join(parts)


def _told(entry: Entry) -> dict[str, Any]:
    newest = entry.newest
    return {
        "id": newest.id,
        "version": newest.version,
        "versions": sorted(entry.versions),
        "digest": newest.digest,
        "signed": newest.is_signed,
        "purpose": newest.purpose,
        "questions": [each.id for each in newest.questions],
        "closed_rounds": sorted(entry.closed),
        "retired": entry.retired,
    }


def _numbers(text: str) -> list[int]:
    parts = text.split(",")
    if len(parts) > 1000 or not all(
        part.strip().isascii() and part.strip().isdigit() and len(part) < 12 for part in parts
    ):
        raise HttpProblem(
            "malformed-request", f"rounds are whole numbers such as 0 or 0,1,2, got {text[:50]!r}"
        )
    return [int(part) for part in parts]


def _pieces(stream: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield a file piece by piece."""
    try:
        while piece := stream.read(_PIECE):
            yield piece
    finally:
        stream.close()
        _remove(path)  # where an open file keeps its name


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
        path.parent.rmdir()
