"""The documentation: links lead somewhere, nothing is left out, nothing is stale. Examples are run as doctests."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from taxomask.methods import METHODS
from taxomask.microdata import Attribute
from taxomask.plan import EngineChoice, Limits, Output, Plan

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


def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = sorted(tmp_path.rglob("*.html"))
    built = {page.relative_to(tmp_path).as_posix() for page in pages}
    expected = {page.relative_to(DOCS).as_posix() for page in PAGES}
    assert {one.replace("README.md", "index.md").replace(".md", ".html") for one in expected} <= built
    for page in pages:
        loaded = re.findall(r"<(?:script|img|iframe|source)[^>]+src=\"?([^\"\s>]+)", page.read_text(encoding="utf-8"))
        loaded += re.findall(
            r"<link[^>]+rel=\"?stylesheet\"?[^>]*href=\"?([^\"\s>]+)", page.read_text(encoding="utf-8")
        )
        assert [one for one in loaded if "//" in one] == []
