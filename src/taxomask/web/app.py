"""The application: addresses and what answers them. Everything that touches a table happens in a worker process."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from .._version import __version__
from ..errors import DataError, TaxomaskError
from .jobs import Job, Jobs
from .looking import Looking
from .wording import Wording
from .workspace import Limits, Opened, TooLargeError, Workspace, locate, plain_name

__all__ = ["make_app"]

_STATIC = Path(__file__).parent / "static"
_REPORT_STYLE = Path(__file__).parents[1] / "report" / "templates" / "style.css"
_LARGEST_MESSAGE = 4 << 20
_TASKS = ("protect", "compare", "estimate")


def make_app(folder: Path | None = None, limits: Limits | None = None) -> Starlette:
    """The application for a folder from which tables may be opened, besides those that are uploaded."""
    page = _Page(Workspace(folder, limits))

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            page.close()

    routes = [
        Route("/", page.index),
        Route("/favicon.ico", page.icon),
        Route("/static/report.css", page.report_style),
        Mount("/static", StaticFiles(directory=_STATIC)),
        Route("/api/start", page.start),
        Route("/api/methods", page.methods),
        Route("/api/folder", page.folder),
        Route("/api/tables", page.open, methods=["POST"]),
        Route("/api/upload", page.upload, methods=["POST"]),
        Route("/api/tables/{table}", page.describe),
        Route("/api/tables/{table}/draft", page.save, methods=["POST"]),
        Route("/api/tables/{table}/sheet", page.choose_sheet, methods=["POST"]),
        Route("/api/tables/{table}/plan", page.open_plan, methods=["POST"]),
        Route("/api/tables/{table}/fitting", page.fitting, methods=["POST"]),
        Route("/api/tables/{table}/edit", page.edit, methods=["POST"]),
        Route("/api/tables/{table}/check", page.check, methods=["POST"]),
        Route("/api/tables/{table}/coverage", page.coverage, methods=["POST"]),
        Route("/api/tables/{table}/concepts", page.concepts),
        Route("/api/tables/{table}/taxonomy", page.upload_taxonomy, methods=["POST"]),
        Route("/api/tables/{table}/jobs", page.start_job, methods=["POST"]),
        Route("/api/jobs/{job}", page.job),
        Route("/api/jobs/{job}/cancel", page.cancel, methods=["POST"]),
        Route("/api/jobs/{job}/map", page.map),
        Route("/api/jobs/{job}/files/{name}", page.download),
        Route("/jobs/{job}/report", page.report),
    ]
    handlers: dict[Any, Any] = {TaxomaskError: page.refused, ClientDisconnect: _left}
    return Starlette(routes=routes, lifespan=life, exception_handlers=handlers)


class _Page:
    """What the addresses do."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._jobs = Jobs()
        self._looking = Looking(workspace.limits.seconds)  # answers at once; jobs have a process of their own

    def close(self) -> None:
        self._jobs.close()
        self._looking.close()
        self._workspace.close()

    async def _ask(self, request: Request, task: str, **arguments: Any) -> Any:
        """Ask the process that looks at the table of a request."""
        about = request.path_params.get("table", "")
        return await self._looking.ask(about, task, arguments, request.is_disconnected)

    # ----------------------------------------------------------------------------------- the page

    async def index(self, request: Request) -> Response:
        return FileResponse(_STATIC / "index.html")

    async def icon(self, request: Request) -> Response:
        return FileResponse(_STATIC / "icon.svg")

    async def report_style(self, request: Request) -> Response:
        return FileResponse(_REPORT_STYLE)

    async def start(self, request: Request) -> Response:
        folder = self._workspace.folder
        return JSONResponse(
            {
                "version": __version__,
                "folder": None if folder is None else folder.name,
                "upload": self._workspace.limits.upload,
            }
        )

    async def methods(self, request: Request) -> Response:
        return JSONResponse(await self._ask(request, "methods"))

    # ----------------------------------------------------------------------------------- tables

    async def folder(self, request: Request) -> Response:
        return JSONResponse(self._workspace.listing(request.query_params.get("path", "")))

    async def open(self, request: Request) -> Response:
        content = await _content(request)
        if content.get("example"):
            from .. import examples

            table = self._workspace.copy(examples.path(str(content["example"])))
        elif content.get("plan"):
            return JSONResponse(await self._open_by_plan(request, str(content["plan"])))
        else:
            table = self._workspace.open(str(content.get("path", "")))
        return JSONResponse({"id": table.id})

    async def _open_by_plan(self, request: Request, name: str) -> dict[str, str]:
        """A plan in the folder: its table is opened; the page asks for the plan then."""
        folder = self._workspace.folder
        if folder is None:
            raise DataError("no folder was opened with the server.", hint="Upload the table with its plan.")
        named = await self._ask(request, "table", path=locate(folder, name))
        where, _, sheet = str(named or "").partition("#")
        try:
            table = self._workspace.open((Path(name).parent / where).as_posix())
        except DataError:
            raise DataError(
                f"the table of {name}, {named or 'which it does not name'}, is not in the opened folder.",
                hint="Open the table first; then open the plan for it.",
            ) from None
        table.sheet = sheet or None
        return {"id": table.id, "plan": name}

    async def upload(self, request: Request) -> Response:
        return JSONResponse({"id": (await self._uploaded(request)).id})

    async def upload_taxonomy(self, request: Request) -> Response:
        await self._uploaded(request, self._table(request))
        return JSONResponse(self._taxonomies(self._table(request)))

    async def describe(self, request: Request) -> Response:
        table = self._table(request)
        limits, place = self._workspace.limits, {"path": table.path, "folder": table.folder}
        named = {"id": table.id, "name": table.name, "draft": table.draft}
        if table.sheet is None and table.name.lower().endswith((".xlsx", ".xlsm")):
            sheets = await self._ask(request, "sheets", path=table.path)
            if len(sheets) > 1:  # never silently the first of several
                return JSONResponse({**named, "choose": sheets, "jobs": []})
        found = await self._ask(request, "describe", **place, rows=limits.rows, memory=limits.memory)
        table.columns = tuple(found["names"])
        plans = self._beside(table, (".yaml", ".yml", ".audit.json"))
        jobs = [job.summary() for job in self._jobs.of(table.id)]
        for job in jobs:
            job["error"] = self._said(table, job["error"])
        return JSONResponse({**found, **named, "jobs": jobs, "plans": plans, **self._taxonomies(table)})

    async def choose_sheet(self, request: Request) -> Response:
        table, sheet = self._table(request), (await _content(request)).get("sheet")
        if sheet not in await self._ask(request, "sheets", path=table.folder / table.name):
            raise DataError("the workbook has no such sheet.", hint="Choose one of the list.")
        if sheet != table.sheet:
            table.sheet, table.draft = str(sheet), {}
        return JSONResponse({})

    async def open_plan(self, request: Request) -> Response:
        """A plan for an open table: a file beside it, or one that is sent."""
        table, limits = self._table(request), self._workspace.limits
        if "name" in request.query_params:
            body = await _body(request)
            name = plain_name(request.query_params["name"])
            path, beside = self._workspace.new_folder()[1] / name, table.path.parent
            path.write_bytes(body)
        else:
            path = locate(table.folder, str((await _content(request)).get("path", "")))
            beside = path.parent
        place = {"path": table.path, "folder": table.folder}
        found = await self._ask(request, "describe", **place, rows=limits.rows, memory=limits.memory)
        drafted = found["attributes"]
        arguments = {"path": path, "beside": beside, "folder": table.folder, "drafted": drafted}
        return JSONResponse(await self._ask(request, "plan", **arguments))

    async def fitting(self, request: Request) -> Response:
        table, content = self._table(request), await _content(request)
        plan = _named(table, content.get("plan"))
        entries = content.get("methods") if isinstance(content.get("methods"), list) else []
        found = await self._ask(request, "fit", content=plan, folder=table.folder, entries=entries)
        return JSONResponse([{**one, "why": self._wording(table)("", one["why"])["message"]} for one in found])

    async def save(self, request: Request) -> Response:
        table = self._table(request)
        table.draft = await _content(request)
        return JSONResponse({})

    async def check(self, request: Request) -> Response:
        table, content = self._table(request), await _content(request)
        return JSONResponse(await self._ask(request, "check", content=_named(table, content), folder=table.folder))

    async def coverage(self, request: Request) -> Response:
        table, entry = self._table(request), await _content(request)
        return JSONResponse(await self._ask(request, "cover", path=table.path, folder=table.folder, entry=entry))

    async def concepts(self, request: Request) -> Response:
        asked = request.query_params
        found = await self._ask(
            request,
            "concepts",
            path=self._table(request).path,
            folder=self._table(request).folder,
            source=_source(asked.get("source", "")),
            under=asked.get("under"),
            search=asked.get("search", ""),
        )
        return JSONResponse(found)

    async def edit(self, request: Request) -> Response:
        """A taxonomy with some steps of the editor, as a new file: beside an uploaded table, or to be saved."""
        table, content = self._table(request), await _content(request)
        name = plain_name(str(content.get("name", "")))
        name = name if name.lower().endswith(".csv") else f"{name}.csv"
        ours = table.folder != self._workspace.folder
        target = (table.folder if ours else self._workspace.new_folder()[1]) / name
        if target.exists():
            raise DataError(f"a file {name!r} is there already.", hint="Choose another name.")
        steps = content.get("steps") if isinstance(content.get("steps"), list) else []
        place = {"path": table.path, "folder": table.folder, "source": content.get("source"), "target": target}
        await self._ask(request, "edit", **place, steps=steps)
        if ours:
            return JSONResponse({"name": name, "text": None, **self._taxonomies(table)})
        return JSONResponse({"name": name, "text": target.read_text(encoding="utf-8"), **self._taxonomies(table)})

    def _table(self, request: Request) -> Opened:
        return self._workspace[request.path_params["table"]]

    def _taxonomies(self, table: Opened) -> dict[str, Any]:
        """The files beside the table that may hold a taxonomy."""
        return {
            "files": self._beside(table, (".csv", ".csv.gz", ".tsv", ".txt", ".obo", ".owl", ".ttl", ".rdf", ".xml"))
        }

    def _beside(self, table: Opened, kinds: tuple[str, ...]) -> list[str]:
        if table.folder == self._workspace.folder:
            parent = Path(table.name).parent.as_posix()
            here = ("", parent) if parent != "." else ("",)
            files = [one["path"] for folder in here for one in self._workspace.listing(folder)["files"]]
        else:
            files = sorted(one.name for one in table.folder.iterdir())
        return [name for name in files if name.lower().endswith(kinds) and name != table.name]

    def _wording(self, table: Opened | None) -> Wording:
        return Wording(self._workspace.folders(), () if table is None else table.columns)

    def _said(self, table: Opened | None, error: dict[str, Any] | None) -> dict[str, Any] | None:
        """An error of a job, in the words of the page."""
        if error is None:
            return None
        return {**error, **self._wording(table)(error.get("kind", ""), error["message"], error["hint"])}

    async def refused(self, request: Request, error: Exception) -> Response:
        """An error, in the words of the page, with the step where it is mended."""
        assert isinstance(error, TaxomaskError)
        large = isinstance(error, TooLargeError)
        headers = {"connection": "close"} if large else None  # the rest of the body is not read
        table = self._workspace.tables.get(request.path_params.get("table", ""))
        kind = getattr(error, "kind", "") or type(error).__name__
        opening = table is None or not table.columns  # nothing can be said about columns yet
        step = "open" if opening else "describe" if request.url.path.endswith("/plan") else None
        said = self._wording(table)(kind, error.message, error.hint, step=step)
        return JSONResponse(said, 413 if large else 400, headers)

    async def _uploaded(self, request: Request, beside: Opened | None = None) -> Opened:
        length = request.headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self._workspace.limits.upload:
            raise self._workspace.too_large()
        return await self._workspace.upload(request.query_params.get("name", ""), request.stream(), beside)

    # ----------------------------------------------------------------------------------- jobs

    async def start_job(self, request: Request) -> Response:
        table, content = self._table(request), await _content(request)
        task = str(content.get("task"))
        if task not in _TASKS:
            raise DataError("there is no such job.", hint="Choose one of the page.")
        identifier, folder = self._workspace.new_folder()
        arguments = {"content": _named(table, content.get("plan")), "folder": table.folder, "target": folder}
        if task == "compare":
            arguments["search"] = _search(content.get("search"))
        if task == "protect":
            arguments["suffix"] = _suffix(str(content.get("format") or ""), table.name)
        job = self._jobs.add(Job(identifier, task, table.id, folder, arguments))
        return JSONResponse({"id": job.id})

    async def job(self, request: Request) -> Response:
        job = self._job(request)
        told = {**job.to_dict(), "parts": job.parts[-1:]}  # each part holds all points so far
        told["error"] = self._said(self._workspace.tables.get(job.table), job.error)
        return JSONResponse({**told, "ahead": 0 if job.over else self._jobs.ahead(job)})

    async def cancel(self, request: Request) -> Response:
        job = self._job(request)
        self._jobs.cancel(job)
        return JSONResponse(job.to_dict())

    async def map(self, request: Request) -> Response:
        job = self._job(request)
        empty: dict[str, Any] = {"points": [], "failed": [], "protected": [], "searched": []}
        found = job.result if job.state == "done" else (job.parts[-1] if job.parts else empty)
        by = _choice(request.query_params)
        drawn = (
            await self._ask(request, "map", found=found, **by) if found["points"] else {"figure": None, "best": None}
        )
        return JSONResponse({**found, **drawn, "state": job.state})

    async def download(self, request: Request) -> Response:
        job, name = self._job(request), request.path_params["name"]
        if job.state != "done" or job.task != "protect":
            raise DataError("the job is not done.", hint="Wait for it.")
        if name not in (*job.result["tables"], *job.result["files"].values()):
            raise DataError("there is no such file.", hint="Choose one of the page.")
        return FileResponse(job.folder / name, filename=name, media_type="application/octet-stream")

    async def report(self, request: Request) -> Response:
        job = self._job(request)
        if job.state != "done" or job.task != "protect":
            raise DataError("there is no report.", hint="Wait for the job.")
        return FileResponse(job.folder / job.result["files"]["report"], media_type="text/html")

    def _job(self, request: Request) -> Job:
        return self._jobs[request.path_params["job"]]


# --------------------------------------------------------------------------------------- inside


async def _content(request: Request) -> dict[str, Any]:
    """What the page sent, as JSON."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise DataError("the request is not JSON.", hint="Use the page.")
    try:
        content = json.loads(await _body(request))
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise DataError("the request is not JSON.", hint="Use the page.")
    return content


async def _body(request: Request) -> bytes:
    """What was sent, if it is not too long."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _LARGEST_MESSAGE:
            raise TooLargeError("the request is too large.", hint="Use the command line for very wide tables.")
    return body


def _source(text: str) -> Any:
    """A taxonomy as the page names it in an address: a name, a file, or columns."""
    if not text.startswith("{"):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise DataError("there is no such taxonomy.", hint="Choose one of the list.") from None


def _named(table: Opened, plan: Any) -> dict[str, Any]:
    """A plan of the page for a table; the page does not choose files."""
    return {**(plan if isinstance(plan, dict) else {}), "data": table.named}


def _search(asked: Any) -> dict[str, Any] | None:
    """By what a method is to be chosen, if a search was asked for."""
    if not isinstance(asked, dict):
        return None
    found = _choice(asked)
    return {**found, "limit": 0.1 if found["limit"] is None else found["limit"]}


def _choice(asked: Mapping[str, Any]) -> dict[str, Any]:
    """By what a method is chosen: a limit of risk, a promise, an analysis."""
    try:
        limit = None if asked.get("limit") is None else float(asked["limit"])
    except (ValueError, TypeError):
        raise DataError("the limit of risk is a number between 0 and 1.", hint="Move the slider.") from None
    return {"limit": limit, **{key: str(asked.get(key) or "") or None for key in ("promise", "analysis")}}


def _suffix(asked: str, name: str) -> str:
    """The suffix of the protected table: as asked, or that of the original one."""
    known = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".xlsx", ".sav", ".dta", ".xpt", ".arrow")
    longest = sorted(known, key=len, reverse=True)
    if asked in known:
        return asked
    return next((one for one in longest if name.lower().endswith(one)), ".csv")


async def _left(request: Request, error: Exception) -> Response:
    return Response(status_code=400)
