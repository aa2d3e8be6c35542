"""A real Chromium, driven by Playwright. Every page is watched: no outside request, no error on the console."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engines.processes import PATIENCE

from .client import Server

AXE = Path(__file__).parent / "vendor" / "axe.min.js"

# Cells whose words are broken: their contents are higher than a line for each word, and some.
NARROW = """[...document.querySelectorAll("main td, main th")]
  .filter((cell) => {
    if (!cell.checkVisibility() || cell.clientWidth > 96) return false;
    if (cell.querySelector("input, select, svg, button")) return false;
    const inside = document.createRange();
    inside.selectNodeContents(cell);
    return inside.getBoundingClientRect().height > 24 * (cell.innerText.trim().split(/[^\\p{L}\\p{N}]+/u).length + 1);
  })
  .map((cell) => cell.innerText.slice(0, 60))"""


def require() -> Any:
    """Playwright and the path of Chromium; the test is skipped where they are missing, unless in CI."""
    path = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    if path is None or sync_playwright is None:
        missing = "Chromium (tools/install-debian chromium)" if path is None else "the package playwright"
        if os.environ.get("CI"):
            pytest.fail(f"{missing} is not installed")
        pytest.skip(f"{missing} is not installed")
    return sync_playwright, path


@contextmanager
def chromium() -> Iterator[Any]:
    start, path = require()
    with start() as playwright:
        rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", rules, "--disable-gpu"])
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, server: Server, **options: Any) -> Iterator[Any]:
    """The page of a server, in a session of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce", **options)
    context.set_default_timeout(1000 * PATIENCE)
    page, outside, errors = context.new_page(), [], []
    page.on("request", lambda request: outside.append(request.url) if not _ours(request.url, server) else None)
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(f"a dialog: {dialog.message}"))
    page.goto(server.address)
    page.errors = errors
    yield page
    assert outside == []
    assert errors == []
    context.close()


def _ours(url: str, server: Server) -> bool:
    return url.startswith((server.origin + "/", "blob:" + server.origin))


def accessible(page: Any) -> list[str]:
    """What axe finds wrong with the page, if it is wider than the window, and cells that are too narrow to read."""
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(AXE.read_text(encoding="utf-8") + "\n;0")
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
    found = page.evaluate(f"axe.run(document, {json.dumps(rules)})")
    wrong = [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        wrong.append("the page is wider than the window")
    wrong += [f"a cell is too narrow: {text}" for text in page.evaluate(NARROW)]
    return wrong
