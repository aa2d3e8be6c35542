"""A server in a process of its own, and a plain client that sends exactly what it is told to."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from engines.processes import PATIENCE, wait_for

PROGRAM = """
import sys
from pathlib import Path
from taxomask.web import serve
from taxomask.web.workspace import Limits
folder, upload, rows, files = sys.argv[1:5]
serve(Path(folder) if folder else None, limits=Limits(upload=int(upload), rows=int(rows), files=int(files)))
"""


class Server:
    """A running server and its address; ``own`` is where its temporary folder lies."""

    def __init__(self, process: subprocess.Popen[str], address: str, own: Path) -> None:
        self.process, self.address, self.own = process, address, own
        self.port = urlsplit(address).port or 0
        self.token = urlsplit(address).query.removeprefix("token=")
        self.origin = f"http://127.0.0.1:{self.port}"
        status, headers, _ = self.request("GET", f"/?token={self.token}", cookie=None)
        assert status == 200
        self.cookie = headers["set-cookie"].partition(";")[0]

    def request(
        self, method: str, path: str, body: Any = None, *, cookie: str | None = "own", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request; underscores in the names of headers stand for dashes."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if cookie == "own":
            sent.setdefault("Cookie", self.cookie)
        elif cookie is not None:
            sent["Cookie"] = cookie
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()

    def get(self, path: str) -> Any:
        status, _, body = self.request("GET", path)
        assert status == 200, body
        return json.loads(body)

    def post(self, path: str, content: Any = None, *, status: int = 200) -> Any:
        body = json.dumps(content or {})
        found, _, answer = self.request("POST", path, body, Origin=self.origin, Content_Type="application/json")
        assert found == status, answer
        return json.loads(answer)

    def upload(self, name: str, content: bytes) -> str:
        path = f"/api/upload?name={name}"
        status, _, body = self.request("POST", path, content, Origin=self.origin)
        assert status == 200, body
        identifier: str = json.loads(body)["id"]
        return identifier

    def wait(self, job: str) -> Any:
        """The job when it is over."""
        wait_for(lambda: self.get(f"/api/jobs/{job}")["state"] in ("done", "failed", "cancelled"), "end of the job")
        return self.get(f"/api/jobs/{job}")


@contextlib.contextmanager
def running(
    folder: Path | None = None, *, upload: int = 50_000_000, rows: int = 1_000_000, files: int = 100
) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as own:
        arguments = [sys.executable, "-c", PROGRAM, str(folder or ""), str(upload), str(rows), str(files)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        process = subprocess.Popen(arguments, **pipes, env={**os.environ, "TMPDIR": own})  # type: ignore[call-overload]
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), address + process.stdout.read()
            yield Server(process, address, Path(own))
        finally:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.stdout.close()
            process.wait()
