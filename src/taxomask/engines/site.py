"""What a method sees of the place where it works: a table in memory, or one in a store whose jobs run on an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..microdata import Microdata
from .store import Store

__all__ = ["Here", "Keeper", "Site", "open_site"]


class Keeper(Protocol):
    """Where jobs leave things for each other: a `Store`, or memory."""

    def put(self, key: str, value: Any) -> None: ...

    def get(self, key: str) -> Any: ...

    def shared(self, key: str) -> Any: ...

    def drop(self, *keys: str) -> None: ...


class Site(ABC):
    """Where a method works. Methods of several steps are written as jobs, once for all sites."""

    store: Keeper

    @abstractmethod
    def prefix(self, what: str) -> str:
        """The beginning of keys that were not used before."""

    @abstractmethod
    def map(self, job: Callable[[Any, Any], Any], items: Sequence[Any], what: str, *, main: bool = False) -> list[Any]:
        """Run a job for each item. ``main``: this is what takes the time, and what progress is told of."""

    @abstractmethod
    def dump(self, value: Any, prefix: str) -> Any:
        """An object that holds tables, columns or groups in the form in which jobs pass it on.

        What is not kept yet is kept under keys that begin with the prefix.
        """

    @abstractmethod
    def load(self, dumped: Any) -> Any:
        """The object again; its columns and groups are read when they are asked for."""

    @abstractmethod
    def joined(self, data: Microdata, others: Sequence[Microdata]) -> Microdata:
        """A table with the columns that other versions of it have changed."""

    def part(self, place: int, parts: int) -> Site:
        """The same site for one of several parts of the work."""
        return self


class Here(Site):
    """A table in the memory of this process; jobs run one after the other."""

    def __init__(self, progress: Callable[[float], None] | None = None) -> None:
        self.store = _Memory(self)
        self.progress = progress
        self._whole, self._prefixes = progress, 0

    def prefix(self, what: str) -> str:
        self._prefixes += 1
        return f"{what}-{self._prefixes}"

    def map(self, job: Callable[[Any, Any], Any], items: Sequence[Any], what: str, *, main: bool = False) -> list[Any]:
        results = []
        for place, item in enumerate(items):
            self.progress = self._share(place, len(items)) if main else None
            results.append(job(self.store, item))
            if self.progress is not None:
                self.progress(1.0)
        return results

    def dump(self, value: Any, prefix: str) -> Any:
        return value

    def load(self, dumped: Any) -> Any:
        return dumped

    def part(self, place: int, parts: int) -> Site:
        return Here(self._share(place, parts))

    def joined(self, data: Microdata, others: Sequence[Microdata]) -> Microdata:
        return data.replace({name: one.columns[name] for one in others for name in one.changed_from(data)})

    def _share(self, place: int, parts: int) -> Callable[[float], None] | None:
        whole = self._whole
        return None if whole is None else lambda done: whole((place + done) / parts)


class _Memory(dict[str, Any]):
    def __init__(self, site: Here) -> None:
        super().__init__()
        self.site = site

    def put(self, key: str, value: Any) -> None:
        self[key] = value

    def get(self, key: str) -> Any:  # type: ignore[override]
        return self[key]

    shared = get

    def drop(self, *keys: str) -> None:
        for key in keys:
            self.pop(key, None)


def open_site(store: Keeper) -> Site:
    """The site of what a job was given."""
    from .stored import opened

    if isinstance(store, _Memory):
        return store.site
    assert isinstance(store, Store)
    return opened(store)
