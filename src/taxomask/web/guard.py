"""Who may talk to the server: only the page that it handed out itself.

Other programs and web sites can reach a server on the loopback address too. A request is answered only if its Host is
ours (no DNS rebinding), if it carries the cookie that the opened address (with its token) has set, and, where it
changes something, if our own page sent it (Origin).
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import secrets
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

__all__ = ["Guard"]

_PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types figures"
)
# A report is a page of its own with its style and one script in it. It may run that very script only, has no rights of
# our origin, and no page but ours may show it.
_REPORT = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; sandbox allow-scripts; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_REPORT_SCRIPT = Path(__file__).parents[1] / "report" / "templates" / "map.js"
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_log = logging.getLogger("taxomask.web")


class Guard:
    """Stands before the application, refuses what is not ours, and sets the headers of every answer."""

    def __init__(self, application: Any, *, token: str, port: int) -> None:
        self._application = application
        self._token = token
        self._session = secrets.token_urlsafe(32)
        self._cookie = f"taxomask-{port}"  # cookies do not tell ports apart
        digest = hashlib.sha256(_REPORT_SCRIPT.read_bytes()).digest()
        self._report = _REPORT.format(digest=base64.b64encode(digest).decode())
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        policy = self._report if scope["path"].endswith("/report") else _PAGE
        started = False

        async def guarded(message: Any) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                extra = {**_HEADERS, "content-security-policy": policy}
                message["headers"] = [*message["headers"], *((k.encode(), v.encode()) for k, v in extra.items())]
            await send(message)

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(guarded, *refusal)
            return
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [None])[0]
        if scope["path"] == "/" and token is not None:
            # Not a redirect: a browser that comes from elsewhere would not send the new cookie with it.
            cookie = f"{self._cookie}={self._session}; HttpOnly; SameSite=Strict; Path=/"
            await _answer(guarded, 200, "", [(b"refresh", b"0; url=/"), (b"set-cookie", cookie.encode())])
            return
        try:
            await self._application(scope, receive, guarded)
        except Exception as error:  # the message might hold values of the table
            _log.error("%s %s failed: %s", scope["method"], scope["path"].split("/")[1:3], type(error).__name__)
            if not started:
                await _answer(guarded, 500, "Something went wrong in the server.")

    def _refusal(self, scope: Any, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if host not in self._hosts:
            return 421, "This server answers to its own address only."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "There is no such request."
        site = headers.get("sec-fetch-site", "same-origin")
        opening = scope["path"] == "/" and scope["method"] == "GET"
        if site not in ("same-origin", "none") and not opening:
            return 403, "This request comes from another site."
        if scope["method"] == "POST" and headers.get("origin") != f"http://{host}":
            return 403, "This request comes from another site."
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [None])[0]
        if opening and token is not None:
            right = secrets.compare_digest(token.encode(), self._token.encode())
            return None if right else (403, "The address is not complete. Open the one that taxomask printed.")
        if not self._known(headers.get("cookie", "")):
            return 403, "Open the address that taxomask printed."
        return None

    def _known(self, text: str) -> bool:
        try:
            cookie = SimpleCookie(text).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and secrets.compare_digest(cookie.value.encode(), self._session.encode())


async def _answer(send: Any, status: int, text: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    body = json.dumps({"message": text, "hint": ""}).encode() if text else b""
    kind = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    close = [(b"connection", b"close")] if status >= 400 else []  # what else was sent is not read
    await send({"type": "http.response.start", "status": status, "headers": [*kind, *close, *(headers or [])]})
    await send({"type": "http.response.body", "body": body})
