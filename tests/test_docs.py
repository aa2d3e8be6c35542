"""The documentation: links lead somewhere, nothing is left out, nothing is stale. Examples are run as doctests."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

from taxomask import __version__
from taxomask.methods import METHODS
from taxomask.microdata import Attribute
from taxomask.plan import EngineChoice, Limits, Output, Plan
from web.browser import chromium

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", title.casefold()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), target


def test_the_index_lists_every_page() -> None:
    index = text("README.md")
    assert [page.name for page in DOCS.glob("*.md") if page.name != "README.md" and f"({page.name})" not in index] == []


def test_the_reference_is_what_the_docstrings_say() -> None:
    command = [sys.executable, str(ROOT / "tools" / "api-reference"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_chosen(name: str) -> None:
    assert f"`{name}`" in text("choosing.md")


def test_every_key_of_a_plan_is_explained() -> None:
    keys = {key for part in (Plan, Limits, Output, EngineChoice) for key in part.model_fields} - {"folder"}
    keys |= {field.name for field in dataclasses.fields(Attribute)}
    assert [key for key in keys if f"\n| `{key}` |" not in text("plan.md")] == []


@pytest.mark.parametrize("block", re.findall(r"^```yaml\n(.*?)^```", text("plan.md"), re.M | re.S))
def test_every_example_of_a_plan_is_one(block: str) -> None:
    content = yaml.safe_load(block) or {}
    Plan.from_dict({"attributes": [{"name": "age", "role": "other"}], **content}, outside=True)


def test_every_method_to_begin_with_is_one() -> None:
    entries = re.findall(r"`([{\[]+name: .*?[}\]]+)`", text("choosing.md"))
    assert len(entries) > 8
    for entry in entries:
        Plan.from_dict({"attributes": [{"name": "age", "role": "other"}], "method": yaml.safe_load(entry)})


def test_the_version_is_the_same_everywhere() -> None:
    newest = re.findall(r"^## \[(\d[^\]]*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[0]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert newest == (__version__, str(cited["date-released"]))
    assert cited["version"] == __version__


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. A link to a page or an anchor that is not there ends the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_has_every_page_and_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    built = {page.relative_to(site).as_posix() for page in pages}
    expected = {page.relative_to(DOCS).as_posix() for page in PAGES} | {
        "changelog.md",
        "contributing.md",
        "security.md",
    }
    assert {one.replace("README.md", "index.md").replace(".md", ".html") for one in expected} <= built
    for page in pages:
        # What a browser fetches by itself; an <a> is only a link.
        tags = re.findall(
            r"<(?:script|img|iframe|source|link|video|object|embed)\b[^>]*>", page.read_text(encoding="utf-8")
        )
        assert [tag for tag in tags if re.search(r"(?:src|href|srcset|data)=[\"']?(?:https?:)?//", tag)] == []
    for sheet in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"']+", sheet.read_text(encoding="utf-8")) == []


def test_no_picture_is_left_over() -> None:
    texts = [page.read_text(encoding="utf-8") for page in [*PAGES, ROOT / "README.md"]]
    assert [
        file.name for file in (DOCS / "images").iterdir() if not any(f"images/{file.name})" in one for one in texts)
    ] == []


@pytest.mark.slow
def test_the_pictures_are_what_the_recipes_make() -> None:
    command = [sys.executable, str(ROOT / "tools" / "pictures"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


LOOKED_AT = ("index.html", "recipes.html", "reference/methods.html", "papers/p0.html", "attacks.html")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_site_in_a_browser(site: Path, width: int, scheme: str) -> None:
    handler = partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, chromium() as browser:
        Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{server.server_port}/"
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        asked, errors = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        for name in LOOKED_AT:
            page.goto(origin + name)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            broken = "[...document.images].filter((one) => one.complete && !one.naturalWidth).map((one) => one.src)"
            assert page.evaluate(broken) == [], name
        if width > 1000:
            page.locator(".md-search__input").press_sequentially("microaggregation")  # it looks when a key goes up
            page.locator(".md-search-result__item").first.wait_for()
        server.shutdown()
        assert [url for url in asked if not url.startswith((origin, "data:", "blob:"))] == []
        assert errors == []


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass
