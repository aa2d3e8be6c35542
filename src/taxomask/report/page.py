"""From a template and plain values to one HTML file that needs no other."""

from __future__ import annotations

from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from .._support.temporary import write_whole
from .._version import __version__

__all__ = ["render", "write_page"]

_FOLDER = Path(__file__).parent / "templates"


def render(template: str, **values: Any) -> str:
    """A page as text; all values are escaped."""
    style = (_FOLDER / "style.css").read_text(encoding="utf-8")
    script = (_FOLDER / "map.js").read_text(encoding="utf-8")
    return _environment().get_template(template).render(style=style, script=script, version=__version__, **values)


def write_page(path: str | PathLike[str], template: str, **values: Any) -> None:
    """Write a page to a file that only its owner can read; an unfinished one is never seen."""
    write_whole(Path(path), render(template, **values))


@lru_cache(maxsize=1)
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from . import figures

    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["number"] = figures.number
    environment.globals["figures"] = figures
    return environment
