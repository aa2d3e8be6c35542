"""YAML files, read strictly: plain data only, no key twice, errors with file and line."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import SchemaError

__all__ = ["read_yaml"]


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
        return yaml.load(text, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        raise SchemaError(
            f"{where}: {error.problem or error.context}.",
            hint="A plan holds plain values only; put text with special characters in quotes.",
        ) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise SchemaError(f"{path} is not a YAML file: {error}.", hint="Check the file in an editor.") from None


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
