"""Nobody but the page that the server handed out gets an answer."""

from __future__ import annotations

import json

import pytest

from .client import Server

JSON = {"Content_Type": "application/json"}


def test_the_opened_address_sets_a_cookie_that_scripts_and_other_sites_cannot_use(server: Server) -> None:
    status, headers, _ = server.request("GET", f"/?token={server.token}", cookie=None)
    assert status == 200
    assert headers["refresh"] == "0; url=/"
    parts = headers["set-cookie"].split("; ")
    assert parts[1:] == ["HttpOnly", "SameSite=Strict", "Path=/"]
    assert server.token not in parts[0]
    assert server.request("GET", "/")[0] == 200


@pytest.mark.parametrize("path", ["/", "/api/start", "/api/folder", "/static/app.js", "/nowhere"])
@pytest.mark.parametrize("cookie", [None, "taxomask-1=x", "taxomask-{port}=", "taxomask-{port}=wrong", ";;=\x01"])
def test_nothing_is_answered_without_the_cookie(server: Server, path: str, cookie: str | None) -> None:
    given = None if cookie is None else cookie.format(port=server.port)
    status, _, body = server.request("GET", path, cookie=given)
    assert status == 403
    assert json.loads(body)["message"] == "Open the address that taxomask printed."


@pytest.mark.parametrize("token", ["", "x", "é", "{token}x", "{short}"])
def test_a_wrong_token_is_refused(server: Server, token: str) -> None:
    from urllib.parse import quote

    given = quote(token.format(token=server.token, short=server.token[:-1]))
    status, headers, _ = server.request("GET", f"/?token={given}", cookie=None)
    assert status == 403
    assert "set-cookie" not in headers


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1.evil.example:{port}",
        "[::1]:{port}",
        "",
    ],
)
def test_another_host_is_refused_even_with_token_and_cookie(server: Server, host: str) -> None:
    for path in ("/", f"/?token={server.token}", "/api/start"):
        assert server.request("GET", path, Host=host.format(port=server.port))[0] == 421
    assert server.request("GET", "/api/start", Host=f"localhost:{server.port}")[0] == 200


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:{port}"]
)
def test_another_origin_cannot_change_anything(server: Server, origin: str | None) -> None:
    sent = {} if origin is None else {"Origin": origin.format(port=server.port)}
    status, _, body = server.request("POST", "/api/tables", '{"example": "discharges"}', **JSON, **sent)
    assert status == 403, body
    assert b"another site" in body


def test_what_a_browser_says_about_the_sender_is_believed(server: Server) -> None:
    for site in ("cross-site", "same-site"):
        assert server.request("GET", "/api/start", Sec_Fetch_Site=site)[0] == 403
    assert server.request("GET", "/api/start", Sec_Fetch_Site="same-origin")[0] == 200


def test_forms_of_other_sites_cannot_pretend_to_be_json(server: Server) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        body = '{"example": "discharges"}'
        status, _, answer = server.request("POST", "/api/tables", body, Origin=server.origin, Content_Type=kind)
        assert status == 400, answer


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_requests_are_refused_and_nothing_is_shared_across_origins(server: Server, method: str) -> None:
    status, headers, _ = server.request(method, "/api/tables", Origin="http://evil.example")
    assert status == 405
    assert not [name for name in headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", ["/", "/api/start", "/static/app.js", "/nowhere", "/api/jobs/none"])
def test_every_answer_is_strict(server: Server, path: str) -> None:
    _, headers, _ = server.request("GET", path)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers


@pytest.mark.parametrize("body", ["", "[]", "null", "{", '"x"', "[" * 100_000])
def test_what_is_no_json_object_is_refused(server: Server, body: str) -> None:
    status, _, answer = server.request("POST", "/api/tables", body, Origin=server.origin, **JSON)
    assert status == 400
    assert "JSON" in json.loads(answer)["message"]
