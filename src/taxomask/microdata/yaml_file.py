"""YAML files, read strictly: plain data only, no key twice, errors with file and line."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import SchemaError

__all__ = ["check_size", "read_yaml"]

DEEPEST, MOST = 40, 1_000_000  # levels and values of what is read: aliases make a few lines as large as one likes


def read_yaml(path: Path) -> Any:
    """What a YAML file holds."""
    import yaml

    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SchemaError(f"{path}: there is no such file.", hint="Check the path.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"{path} cannot be read: {error}.", hint="It must be a text file in UTF-8.") from None
    try:
        content = yaml.load(text, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        raise SchemaError(
            f"{where}: {error.problem or error.context}.",
            hint="A plan holds plain values only; put text with special characters in quotes.",
        ) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise SchemaError(f"{path} is not a YAML file: {error}.", hint="Check the file in an editor.") from None
    try:
        check_size(content)
    except SchemaError as error:
        raise SchemaError(f"{path}: {error.message}", hint=error.hint) from None
    return content


def check_size(content: Any) -> None:
    """Refuse lists and mappings that hold themselves, lie too deep in each other, or stand for too many values."""
    if _extent(content, 0, {})[0] > MOST:
        raise SchemaError(f"there are more than {MOST:,} values.", hint="Write what is meant without aliases (*name).")


def _extent(value: Any, depth: int, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """How many values there are in a value, aliases written out, and how many levels."""
    if not isinstance(value, dict | list):
        return 1, 0
    if id(value) not in known and depth <= DEEPEST:
        inside = [_extent(one, depth + 1, known) for one in (value.values() if isinstance(value, dict) else value)]
        count, levels = 1 + sum(one[0] for one in inside), 1 + max((one[1] for one in inside), default=0)
        known[id(value)] = count, levels
    if id(value) not in known or depth + known[id(value)][1] > DEEPEST:
        raise SchemaError(
            f"a list or mapping holds itself, or lies more than {DEEPEST} levels deep.", hint="Write it plainly."
        )
    return known[id(value)]


@lru_cache(maxsize=1)
def _loader() -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        """As yaml.safe_load, but a key that stands twice is an error: the first would be lost silently."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if (key.tag, key.value) in seen:
                        raise yaml.constructor.ConstructorError(
                            None, None, f"{key.value!r} stands twice", key.start_mark
                        )
                    seen.add((key.tag, key.value))
            return super().construct_mapping(node, deep=deep)

    return Loader
