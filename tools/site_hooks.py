"""How the site of the documentation is put together; mkdocs calls these functions.

Its navigation is that of the pages themselves: docs/README.md names the pages in order, under the title of their part,
and the README of a folder those of the folder. A page that none of them names ends the build.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

import taxomask

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)([\w./-]+\.md)\)")
PART = re.compile(r"^## (.+)$", re.M)
BESIDE = {
    "CONTRIBUTING.md": "Working on it",
    "CHANGELOG.md": "Versions and changes",
    "SECURITY.md": "Faults of privacy",
}


def on_config(config: Any) -> Any:
    parts = PART.split((ROOT / "docs" / "README.md").read_text(encoding="utf-8"))[1:]
    config.nav = [{"Start": ["README.md"]}]
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        pages = _named(text, Path("."))
        alone = len(pages) == 1 and isinstance(next(iter(pages[0].values())), list)
        config.nav.append({title: next(iter(pages[0].values())) if alone else pages})
    config.nav[-1][title] += [{words: name.lower()} for name, words in BESIDE.items()]
    config.site_name = f"taxomask {taxomask.__version__}"
    config.copyright = f"taxomask {taxomask.__version__}, {config.copyright}"
    return config


def on_files(files: Files, config: Any) -> Files:
    """Pages that stand beside the folder of the documentation."""
    for name in BESIDE:
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name.lower(), content=_beside(text)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    return _beside(re.sub(r"\]\((?:\.\./)+(?=[A-Z]+\.md)", "](", markdown))


def _beside(text: str) -> str:
    return re.sub(rf"\]\(({'|'.join(BESIDE)})", lambda match: f"]({match[1].lower()}", text)


def _named(text: str, folder: Path) -> list[Any]:
    """The pages that a text names, each once, in order; those that the README of a folder names below it."""
    found: dict[str, str] = {}
    for title, target in LINK.findall(text):
        if not target.startswith("..") and (ROOT / "docs" / folder / target).exists():
            found.setdefault((folder / target).as_posix(), title.strip("`"))
    pages: list[Any] = []
    for target, title in found.items():
        below = Path(target)
        if below.name != "README.md":
            pages.append({title: target})
            continue
        inside = (ROOT / "docs" / below).read_text(encoding="utf-8")
        pages.append({title: [{"Overview": target}, *_named(inside, below.parent)]})
    return pages
