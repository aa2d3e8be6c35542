"""What can be opened, uploaded and downloaded, and what cannot."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import os
import re
import signal
import socket
import stat
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest

from engines.processes import PATIENCE, family, wait_for
from fuzz.files import crashing, labelled
from taxomask.errors import DataError
from taxomask.web.worker import TaskError, Worker
from taxomask.web.workspace import Limits, Opened, TooLargeError, Workspace

from .client import Server, running

OUTSIDE = [
    "../secret.csv",
    "below/../../secret.csv",
    "..",
    ".",
    "",
    "/etc/passwd",
    "link.csv",
    "way/secret.csv",
    "way",
    "below",
    ".hidden.csv",
    "people.csv\0.txt",
    "\0",
    "..\\secret.csv",
    "people.csv/",
    "%2e%2e/secret.csv",
    "a" * 5000,
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_nothing_outside_the_folder_is_opened(server: Server, path: str) -> None:
    if path == "people.csv/":  # the same file, spelled oddly
        assert server.post("/api/tables", {"path": path})["id"]
        return
    answer = server.post("/api/tables", {"path": path}, status=400)
    assert answer["message"] == "there is no such file in the opened folder."


@pytest.mark.parametrize("path", [*(one for one in OUTSIDE if one not in ("", "below")), "people.csv"])
def test_nothing_outside_the_folder_is_listed(server: Server, path: str) -> None:
    assert server.request("GET", f"/api/folder?path={quote(path, safe='')}")[0] == 400


def test_the_folder_is_listed_without_hidden_files_and_links_that_lead_out(server: Server) -> None:
    found = server.get("/api/folder")
    assert [one["name"] for one in found["files"]] == ["people.csv"]
    assert [one["name"] for one in found["folders"]] == ["below"]
    assert [one["path"] for one in server.get("/api/folder?path=below")["files"]] == ["below/more.csv"]


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/guard.py", "/static//etc/passwd"]
)
def test_static_files_are_only_those_of_the_page(server: Server, path: str) -> None:
    assert server.request("GET", path)[0] == 404


@pytest.mark.parametrize(
    "taxonomy", ["../secret.csv", "link.csv", "/etc/passwd", "x://../secret.csv", "way/secret.csv"]
)
def test_a_plan_cannot_name_a_file_outside_the_folder(server: Server, taxonomy: str) -> None:
    table = server.post("/api/tables", {"path": "people.csv"})["id"]
    entry = {"name": "job", "role": "confidential", "kind": "taxonomic", "taxonomy": taxonomy}
    plan = {"attributes": [entry], "method": {"name": "shuffling"}}
    for path, content in (("check", plan), ("coverage", entry), ("check", {**plan, "outside": True})):
        answer = server.post(f"/api/tables/{table}/{path}", content, status=400)
        assert "Nobody" not in json.dumps(answer)
    assert server.request("GET", f"/api/tables/{table}/concepts?source={quote(taxonomy, safe='')}")[0] == 400


def test_a_plan_cannot_choose_where_to_write(server: Server, tmp_path: Path) -> None:
    table = server.post("/api/tables", {"path": "people.csv"})["id"]
    plan = {"attributes": [{"name": "age", "role": "other"}], "output": {"path": str(tmp_path / "out.csv")}}
    assert "output" in server.post(f"/api/tables/{table}/check", plan, status=400)["message"]


def test_only_files_of_a_finished_job_are_downloaded(server: Server) -> None:
    for name in ("..%2f..%2fsecret.csv", "plan.yaml", "%2fetc%2fpasswd"):
        assert server.request("GET", f"/api/jobs/none/files/{name}")[0] in (400, 404)


# --------------------------------------------------------------------------------------- uploads


def test_names_of_uploads_stay_in_their_folder_and_files_are_private(server: Server) -> None:
    server.upload(quote("../../../../tmp/evil<b>.csv", safe=""), b"age\n1\n2\n")
    (found,) = server.own.rglob("evil*")
    assert found.name == "evil_b_.csv"
    assert stat.S_IMODE(found.stat().st_mode) == 0o600
    for folder in (found.parent, found.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_damaged_table_is_named_and_the_page_goes_on(server: Server, tmp_path: Path) -> None:
    whole = server.upload("people.sav", labelled(tmp_path / "people.sav"))
    assert server.get(f"/api/tables/{whole}")["rows"] == 24
    worker = max(psutil.Process(server.process.pid).children(), key=psutil.Process.create_time)  # of this table
    broken = server.upload("broken.sav", crashing(tmp_path / "broken.sav"))
    status, _, body = server.request("GET", f"/api/tables/{broken}")
    answer = json.loads(body)
    assert (status, answer["hint"][:25]) == (400, "Copy or download it again")
    assert re.search(r"broken\.sav: the file is damaged: .* \(Segmentation fault\)\.", answer["message"])
    assert server.get(f"/api/tables/{whole}")["rows"] == 24
    assert worker in psutil.Process(server.process.pid).children()


def test_a_worker_that_breaks_down_itself_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAXOMASK_TRUST_FILES", "1")
    labelled(tmp_path / "people.sav")
    crashing(tmp_path / "broken.sav")
    worker, place = Worker(), {"folder": tmp_path, "rows": 100, "memory": 1 << 30}
    try:
        with pytest.raises(TaskError, match=r"broke down \(Segmentation fault\)\.\nA file that it read may be damaged"):
            worker.run("describe", {"path": tmp_path / "broken.sav", **place})
        assert worker.run("describe", {"path": tmp_path / "people.sav", **place})["rows"] == 24
    finally:
        worker.stop()


def test_an_upload_that_claims_two_gigabytes_is_refused_unread(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.putrequest("POST", "/api/upload?name=x.csv")
    for name, value in (("Cookie", server.cookie), ("Origin", server.origin), ("Content-Length", str(2 << 30))):
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()  # though not one byte of the body was sent
    assert answer.status == 413
    assert "more than 50 MB" in json.loads(answer.read())["message"]
    connection.close()


def test_an_upload_that_does_not_end_is_cut_off(server: Server) -> None:
    before = set(server.own.rglob("*"))
    sent, piece = 0, b"x" * 1_000_000
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        head = [
            "POST /api/upload?name=endless.csv HTTP/1.1",
            f"Host: 127.0.0.1:{server.port}",
            f"Cookie: {server.cookie}",
        ]
        head += [f"Origin: {server.origin}", "Transfer-Encoding: chunked", "", ""]
        line.sendall("\r\n".join(head).encode())
        try:
            while sent < 2 << 30:
                line.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                sent += len(piece)
        except OSError:  # the server has hung up
            pass
    assert 50_000_000 <= sent < 200_000_000
    wait_for(lambda: set(server.own.rglob("*")) == before, "end of what was uploaded")
    assert server.request("GET", "/")[0] == 200


def test_no_more_files_are_kept_than_allowed(tmp_path: Path) -> None:
    async def sent(*pieces: bytes) -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    def upload(name: str, *pieces: bytes, beside: Opened | None = None) -> Opened:
        return asyncio.run(workspace.upload(name, sent(*pieces), beside))

    workspace = Workspace(limits=Limits(upload=60, files=3, kept=100))
    try:
        first = upload("a.csv", b"x" * 50)
        with pytest.raises(TooLargeError, match=r"all files together have more than 0 MB") as error:
            upload("b.csv", b"x" * 40, b"x" * 20)
        assert "taxomask serve FOLDER" in error.value.hint
        with pytest.raises(TooLargeError, match=r"the file has more than 0 MB"):
            upload("b.csv", b"x" * 61)
        upload("b.csv", b"x" * 50)  # what was cut off does not count
        with pytest.raises(DataError, match=r"is there already"):
            upload("a.csv", beside=first)
        upload("codes.csv", beside=first)
        with pytest.raises(TooLargeError, match=r"3 files are kept already"):
            upload("c.csv")
        with pytest.raises(TooLargeError, match=r"3 files are kept already"):
            workspace.copy(tmp_path)
        assert sorted(workspace.tables) == sorted(one.name for one in first.folder.parent.iterdir())
    finally:
        workspace.close()


def test_the_page_says_that_it_keeps_no_more_files() -> None:
    with running(files=1) as server:
        server.upload("a.csv", b"age\n1\n")
        status, _, body = server.request("POST", "/api/upload?name=b.csv", b"age\n1\n", Origin=server.origin)
        assert status == 413
        assert json.loads(body)["message"] == "1 files are kept already."
        assert (
            server.post("/api/tables", {"example": "discharges"}, status=413)["message"] == "1 files are kept already."
        )


def peak(pid: int) -> int:
    """The most memory that a process has ever had, in megabytes."""
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(kilobytes) // 1000


def test_a_zip_bomb_is_refused(server: Server) -> None:
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as book,
        book.open("xl/worksheets/sheet1.xml", "w") as sheet,
    ):
        for _ in range(1100):
            sheet.write(bytes(1 << 20))
    table = server.upload("bomb.xlsx", packed.getvalue())
    status, _, body = server.request("GET", f"/api/tables/{table}")
    assert status == 400
    assert "unpack" in json.loads(body)["message"]
    assert max(peak(one.pid) for one in family(server.process.pid)) < 1000  # it was not unpacked


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b"PK\x03\x04broken", b"PAR1broken", b"\xff\xfe\x00", b"a,a\n1,2\n"]
)
def test_broken_files_give_a_message(server: Server, content: bytes) -> None:
    table = server.upload("broken.csv", content)
    status, _, body = server.request("GET", f"/api/tables/{table}")
    assert status == 400, body
    assert json.loads(body)["message"]


# --------------------------------------------------------------------------------------- the end


def test_limits_of_rows_silence_and_a_clean_end() -> None:
    """With a server of its own, as it must end."""
    with running(rows=100) as small:
        table = small.upload("private-name.csv", b"private-column\n" + b"private-value\n" * 101)
        status, _, body = small.request("GET", f"/api/tables/{table}")
        assert status == 400
        assert "more than 100 rows" in json.loads(body)["message"]
        table = small.upload("private-name.csv", b"private-column\n" + b"private-value\n" * 100)
        assert small.get(f"/api/tables/{table}")["rows"] == 100
        small.request("GET", f"/api/tables/{table}/concepts?source=private")
        plan = {"attributes": [{"name": "private-column", "role": "identifier"}], "method": {"name": "noise"}}
        job = small.post(f"/api/tables/{table}/jobs", {"task": "protect", "plan": plan})["id"]
        assert small.wait(job)["state"] == "failed"
        assert list(small.own.iterdir())
        small.process.terminate()
        small.process.wait(10)
        assert list(small.own.iterdir()) == []
        assert small.process.stdout is not None
        assert small.process.stdout.read() == ""  # nothing about the data is logged


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_nothing_is_left_when_the_server_ends(number: signal.Signals) -> None:
    with running() as found:
        table = found.upload("people.csv", b"age,job\n31,a\n32,b\n33,c\n34,d\n")
        found.get(f"/api/tables/{table}")
        assert list(found.own.iterdir())
        os.kill(found.process.pid, number)
        found.process.wait(10)
        assert list(found.own.iterdir()) == []


def test_what_a_killed_server_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    from taxomask.web.workspace import Workspace

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "taxomask-4194999-abc"  # no process has such a number
    left.mkdir()
    (left / "people.csv").write_text("age\n1\n")
    other = tmp_path / f"taxomask-{os.getpid()}-abc"
    other.mkdir()
    workspace = Workspace()
    assert not left.exists()
    assert other.exists()
    workspace.close()
