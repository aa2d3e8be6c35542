"""The plan: what a table is, how to protect it and what must hold, in one YAML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import PlanError, TaxomaskError, did_you_mean
from ..evaluation import check_analyses, check_attackers
from ..measures.analyses import Analysis
from ..methods import Method
from ..microdata import Schema
from ..microdata.files import is_address, shown
from ..microdata.schema import ABOUT_PEOPLE
from ..microdata.taxonomy_sources import BUILTIN
from ..microdata.yaml_file import check_size, read_yaml
from ..release.accept import Accepted, accepted_entries
from .entries import AN_ANALYSIS, grid, make_analysis, make_method

__all__ = ["EngineChoice", "Limits", "Output", "Plan"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, strict=True)


class Limits(_Part):
    """What a release must keep to; it is not written otherwise."""

    risk: float | None = Field(
        None, ge=0, le=1, description="The largest acceptable share of records that the best attacker links rightly."
    )
    disclosure: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The largest acceptable part of what a guess leaves open that the best attacker learns of "
        "confidential values.",
    )
    loss: float | None = Field(
        None,
        ge=0,
        description="The largest acceptable loss, the mean over the protected columns: 0 is none, 1 is every value "
        "replaced by the average.",
    )
    worst_loss: float | None = Field(
        None, ge=0, description="The largest acceptable loss of the protected column that loses most."
    )
    analyses: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The smallest acceptable overlap of the confidence intervals of each of the plan's analyses, the "
        "mean over its numbers: 1 is the same as in the original.",
    )
    singled_out: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The largest acceptable share of records that are alone by the columns released as they are.",
    )


class Output(_Part):
    """What is written, and how."""

    path: str | None = Field(None, description="The protected table; the format follows from the suffix.")
    report: str | None = Field(None, description="A report as one HTML file, for the custodian.")
    keep_order: bool = Field(False, description="Keep the order of the rows, which links them to the original ones.")
    escape_cells: bool = Field(
        True, description="Write text that a spreadsheet would run (= + - @ first) with an apostrophe before it."
    )


class EngineChoice(_Part):
    """Where the work is done. The release is the same everywhere."""

    name: Literal["memory", "local", "dask"] = Field(
        "memory",
        description="memory: the table in memory; local: column by column from files, here; dask: on a cluster.",
    )
    scheduler: str | None = Field(
        None, description="The address of a running Dask scheduler; by default a cluster is started on this machine."
    )
    workers: int | None = Field(None, ge=1, description="How many jobs run at a time; by default one per core.")
    scratch: str | None = Field(
        None, description="A folder for intermediate files, which all workers see; by default that of the output."
    )


class Plan(_Part):
    """What a table is, how to protect it and what must hold.

    Examples
    --------
    >>> plan = Plan.from_dict({
    ...     "attributes": [{"name": "age", "role": "quasi_identifier", "kind": "continuous"}],
    ...     "method": {"name": "microaggregation", "k": 5},
    ... })
    >>> plan.method
    Microaggregation(k=5)
    """

    attributes: Schema
    method: Method | None = None
    compare: tuple[Method, ...] = ()
    data: str | None = None
    seed: int | None = Field(None, ge=0)
    practice: bool = False
    purpose: str | None = None
    recipient: str | None = None
    attackers: tuple[str, ...] | None = None
    missing_cells: Literal["keep", "permute"] = "keep"
    limits: Limits = Limits(risk=None, disclosure=None, loss=None, worst_loss=None, analyses=None, singled_out=None)
    analyses: tuple[Analysis, ...] = ()
    accept: tuple[Accepted, ...] = ()
    output: Output = Output(path=None, report=None, keep_order=False, escape_cells=True)
    engine: EngineChoice = EngineChoice(name="memory", scheduler=None, workers=None, scratch=None)
    folder: Path = Field(Path(), exclude=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Without the seed."""
        yield "attributes", len(self.attributes)
        yield "method", self.method
        if self.compare:
            yield "compare", len(self.compare)
        yield "data", self.data
        yield "engine", self.engine.name

    @classmethod
    def read(cls, path: str | PathLike[str], *, outside: bool = False) -> Plan:
        """Read a plan; files that it names are found from its own folder.

        ``outside`` lets it name files outside that folder, databases and clusters: a plan from elsewhere cannot reach
        further by itself.
        """
        path = Path(path)
        content = read_yaml(path)
        try:
            return cls.from_dict(content, folder=path.parent, outside=outside)
        except TaxomaskError as error:
            raise PlanError(f"{path}: {error.message}", hint=error.hint) from None

    @classmethod
    def from_dict(cls, content: Any, folder: str | PathLike[str] = ".", *, outside: bool = False) -> Plan:
        """A plan from plain values, as they stand in the YAML file."""
        if not isinstance(content, Mapping):
            raise PlanError("a plan is a mapping of keys.", hint="Write 'attributes:' and 'method:'.")
        check_size(content)
        keys = (*(name for name in cls.model_fields if name != "folder"), *ABOUT_PEOPLE)
        for key in content:
            if key == "outside":
                said = "a plan cannot allow itself to reach outside its folder."
                raise PlanError(said, hint=f"Remove 'outside:'. {_OUTSIDE}")
            if key not in keys:
                raise PlanError(f"{key!r} is not a key of a plan.", hint=did_you_mean(str(key), keys))
        _check_files(content, Path(folder), outside=outside)
        given = {key: value for key, value in content.items() if value is not None}
        people = {key: given.pop(key) for key in ABOUT_PEOPLE if key in given}
        given["attributes"] = Schema.from_entries(content.get("attributes"), Path(folder), **people)
        given["accept"] = accepted_entries(given.get("accept", ()), given["attributes"])
        if isinstance(given.get("engine"), str):
            given["engine"] = {"name": given["engine"]}
        if "attackers" in given:
            given["attackers"] = _attackers(given["attackers"])
        if "analyses" in given:
            given["analyses"] = _analyses(given["analyses"], given["attributes"])
        elif isinstance(given.get("limits"), Mapping) and given["limits"].get("analyses") is not None:
            raise PlanError("limits names analyses, of which the plan has none.", hint="Write 'analyses:'.")
        if "method" in given:
            given["method"] = make_method(given["method"])
        if "compare" in given:
            given["compare"] = tuple(grid(given["compare"]))
        try:
            return cls(**given, folder=Path(folder))
        except ValidationError as error:
            raise _plain(error) from None

    def located(self, name: str) -> str:
        """A file that the plan names, as seen from here; addresses of databases stay as they are."""
        return name if is_address(name) else str(self.folder / name) + "/" * name.endswith("/")

    def on(self, engine: str | None = None, *, scheduler: str | None = None, workers: int | None = None) -> Plan:
        """The same plan on another engine; what is not given stays as the plan says."""
        given = {"name": engine or ("dask" if scheduler else None), "scheduler": scheduler, "workers": workers}
        new = {**self.engine.model_dump(), **{key: value for key, value in given.items() if value is not None}}
        try:
            return self.model_copy(update={"engine": EngineChoice(**new)})
        except ValidationError as error:
            raise _plain(error) from None

    def counting(self, **people: Any) -> Plan:
        """The same plan with other columns for the person, the household and the like; None stays as the plan says."""
        given = {key: value for key, value in people.items() if value is not None}
        if not given:
            return self
        return self.model_copy(update={"attributes": self.attributes.of(self.attributes.values(), **given)})

    def to_dict(self) -> dict[str, Any]:
        """The plan in plain values, as `from_dict` takes it."""
        rest = self.model_dump(
            exclude={"attributes", "method", "compare", "analyses", "accept", "folder"}, exclude_defaults=True
        )
        rest |= {"analyses": [one.to_dict() for one in self.analyses]} if self.analyses else {}
        rest |= {"attackers": list(self.attackers)} if self.attackers is not None else {}
        rest |= {"accept": [one.to_dict() for one in self.accept]} if self.accept else {}
        methods = {"method": self.method.to_dict()} if self.method is not None else {}
        grid = {"compare": [one.to_dict() for one in self.compare]} if self.compare else {}
        return {**self.attributes.to_dict(self.folder), **methods, **grid, **rest}


def _attackers(names: Any) -> tuple[str, ...] | None:
    if not isinstance(names, list):
        raise PlanError(f"attackers is a list of names; got {names!r}.", hint="Write [nearest, partial].")
    return check_attackers(names)


def _analyses(entries: Any, schema: Schema) -> tuple[Analysis, ...]:
    if not isinstance(entries, list):
        raise PlanError(f"analyses is a list; got {entries!r}.", hint=f"Write - {AN_ANALYSIS}")
    return check_analyses(map(make_analysis, entries), schema)


# --------------------------------------------------------------------------------------- checks


_OUTSIDE = "If it is meant, say --outside on the command line, or outside=True in Python."


def _check_files(content: Mapping[str, Any], folder: Path, *, outside: bool) -> None:
    """Files that a plan names lie in its folder, and it names no database and no cluster, unless somebody says so."""
    output = content.get("output")
    named = [("data", content.get("data"))]
    named += [(f"output: {key}", output.get(key)) for key in ("path", "report")] if isinstance(output, Mapping) else []
    engine = content.get("engine")
    places = engine if isinstance(engine, Mapping) else {}
    named += [(f"engine: {key}", places.get(key)) for key in ("scratch", "scheduler")]
    named += [("taxonomy", name) for name in _taxonomies(content.get("attributes"))]
    for key, name in named:
        if not isinstance(name, str):
            continue
        if key == "engine: scheduler" or (is_address(name) and key != "taxonomy"):
            if not outside:
                where = shown(name) if is_address(name) else name.rpartition("@")[2]
                raise PlanError(f"{key}: the plan reaches {where}, outside its folder.", hint=_OUTSIDE)
            continue
        try:
            inside = _is_inside(folder / name, folder)
        except (ValueError, OSError, RuntimeError):
            raise PlanError(f"{key}: {name!r} is not the name of a file.", hint="Check the path.") from None
        if not inside and not outside:
            raise PlanError(f"{key}: {name!r} is outside the folder of the plan.", hint=f"Move it there. {_OUTSIDE}")


def _is_inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _taxonomies(entries: object) -> Iterator[str]:
    listed = entries.values() if isinstance(entries, Mapping) else entries if isinstance(entries, list) else ()
    for entry in listed:
        value = entry.get("taxonomy") if isinstance(entry, Mapping) else None
        for one in value if isinstance(value, list) else [value]:
            inner = one.get("taxonomy") if isinstance(one, Mapping) and "taxonomy" in one else one
            name = inner.get("file") if isinstance(inner, Mapping) else inner
            if isinstance(name, str) and (name not in BUILTIN or isinstance(inner, Mapping)):
                yield name


def _plain(error: ValidationError) -> PlanError:
    """An error of pydantic in our words: the first thing that is wrong."""
    first = error.errors()[0]
    where = ": ".join(str(part) for part in first["loc"])
    parts: dict[str, type[BaseModel]] = {"limits": Limits, "output": Output, "engine": EngineChoice}
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 2:
        part, key = map(str, first["loc"])
        return PlanError(f"{key!r} is not a key of '{part}:'.", hint=did_you_mean(key, parts[part].model_fields))
    return PlanError(
        f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}; got {first.get('input')!r}.",
        hint="See docs/plan.md for what each key takes.",
    )
