"""How the site of the documentation is put together; mkdocs calls these functions.

Its navigation is that of the pages themselves: docs/README.md names the pages in order, and the README of a folder
those of the folder. A page that none of them names ends the build.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

import taxomask

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)([\w./-]+\.md)\)")
BESIDE = {"CONTRIBUTING.md": "Working on it", "CHANGELOG.md": "Changes"}


def on_config(config: Any) -> Any:
    config.nav = [{"Start": "README.md"}, *_named(Path("."))]
    config.nav += [{title: name.lower()} for name, title in BESIDE.items()]
    config.extra["version"] = taxomask.__version__
    config.copyright = f"taxomask {taxomask.__version__}, {config.copyright}"
    return config


def on_files(files: Files, config: Any) -> Files:
    """Pages that stand beside the folder of the documentation."""
    for name in BESIDE:
        text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name.lower(), content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    return re.sub(r"\]\((?:\.\./)+(CONTRIBUTING|CHANGELOG)\.md", lambda m: f"]({m[1].lower()}.md", markdown)


def _named(folder: Path) -> list[Any]:
    """The pages that the README of a folder names, each once, in order; those of its folders below them."""
    text = (ROOT / "docs" / folder / "README.md").read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for title, target in LINK.findall(text):
        if not target.startswith(".."):
            found.setdefault((folder / target).as_posix(), title.strip("`"))
    pages: list[Any] = []
    for target, title in found.items():
        below = Path(target)
        inside = [{"Overview": target}, *_named(below.parent)] if below.name == "README.md" else target
        pages.append({title: inside})
    return pages
