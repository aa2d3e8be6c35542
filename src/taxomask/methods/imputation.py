from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from annotated_types import Ge

from .._support.one_thread import one_thread
from .._support.parameters import Slider
from ..engines import Engine
from ..errors import DataError, PlanError, SchemaError
from ..microdata import Column, Microdata, Role
from ..microdata.alike import alike
from ..microdata.coding import code
from ..microdata.frames import Frame
from .base import Check, Masked, Method, Progress, Promise, chosen

if TYPE_CHECKING:
    from ._imputation import Encoder

__all__ = ["Imputation", "ObservedValues"]


@dataclass(frozen=True)
class Imputation(Method):
    """Sequential regression multiple imputation: values are drawn from models of the original table.

    The attributes are taken one after the other. Each is regressed, in the original table, on the attributes that are
    given and those that came before it; parameters are drawn from their posterior distribution, and values given
    these parameters and the values drawn so far. Numbers and ordered categories follow a normal linear model behind
    an increasing function that keeps the margin (the ordered probit model, if they are few); categories follow
    logistic models, one after the other, down their taxonomy, whose number of concepts does not matter. All values
    are values that occur in the table.

    Partly synthetic data keep their records, and missing cells stay where they are. Fully synthetic data have new
    records, with missing cells of their own.

    Parameters
    ----------
    attributes
        Partial synthesis: what is replaced, in this order; by default all confidential attributes.
    given
        Partial synthesis: what stays as it is and predicts; by default all (other) quasi-identifiers.
    copies
        How many tables are made; in Python `combine` puts estimates from several together.
    synthesis
        ``"partial"``, or ``"full"``: every attribute is synthesised, in the order of the schema, given nothing.
    records
        Full synthesis: the number of records; by default as many as the table has.

    References
    ----------
    Raghunathan, Lepkowski, Van Hoewyk, Solenberger (2001), A multivariate technique for multiply imputing missing
    values using a sequence of regression models, Survey Methodology 27; Reiter (2003), Inference for partially
    synthetic, public use microdata sets, Survey Methodology 29; Raghunathan, Reiter, Rubin (2003), Multiple imputation
    for statistical disclosure limitation, Journal of Official Statistics 19.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> table = pa.table({"age": [20, 21, 70, 72], "dx": ["25001", "25002", "4019", "4010"]})
    >>> schema = tm.Schema([
    ...     tm.Attribute("age", role="quasi_identifier", kind="continuous"),
    ...     tm.Attribute("dx", role="confidential", kind="taxonomic", taxonomy="icd9cm"),
    ... ])
    >>> release = tm.protect(table, schema, tm.Imputation(copies=3), seed=1)
    >>> len(release.copies), set(release.data["dx"].to_pylist()) <= set(table["dx"].to_pylist())
    (3, True)
    """

    attributes: Sequence[str] | None = None
    given: Sequence[str] | None = None
    copies: Annotated[int, Ge(1), Slider(1, 20)] = 1
    synthesis: Literal["partial", "full"] = "partial"
    records: Annotated[int, Ge(1)] | None = None

    name = "imputation"
    about = "Replaces values by draws from regression models of the table, or all of the table by such draws."
    reference = "Raghunathan, Lepkowski, Van Hoewyk, Solenberger (2001), Survey Methodology 27; Reiter (2003), ibid. 29"

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.synthesis == "partial" and self.records is not None:
            raise PlanError(
                "records is for synthesis='full' only: partly synthetic data keep their records.",
                hint="Leave records out.",
            )
        if self.synthesis == "full" and (self.attributes is not None or self.given is not None):
            raise PlanError(
                "synthesis='full' synthesises every attribute, given nothing.", hint="Leave attributes and given out."
            )

    def mask(self, data: Microdata, rng: np.random.Generator, progress: Progress | None = None) -> Masked:
        from ._imputation import Encoder

        names, given = self._attributes(data), self._given(data)
        if not data.n:
            raise DataError("the table has no records to learn from.", hint="Pass a table with at least one record.")
        sources = tuple(self._template(data, rng) for _ in range(self.copies))
        drawn: list[dict[str, Column]] = [{name: data.columns[name] for name in given} for _ in range(self.copies)]
        known: dict[str, Encoder] = {name: Encoder(data.columns[name]) for name in given}
        for done, name in enumerate(names):
            self._synthesise(name, data, known, drawn, sources[0].n, rng)
            known[name] = Encoder(data.columns[name])
            if progress is not None:
                progress((done + 1) / len(names))
        tables = tuple(
            source.replace({name: columns[name] for name in names})
            for source, columns in zip(sources, drawn, strict=True)
        )
        several = tables if self.copies > 1 else ()
        return Masked(tables[0], notes=_NOTES, copies=several, linked=self.synthesis == "partial")

    def mask_on(self, engine: Engine, data: Microdata, rng: np.random.Generator) -> Masked:
        """Several copies of a long table are made one after the other, each in a job that fits its own models."""
        if self.copies == 1 or data.n <= engine.chunk:
            return super().mask_on(engine, data, rng)
        one = replace(self, copies=1)
        items = [(one, data, child) for child in rng.spawn(self.copies)]
        made = [engine.run(_made, *item, what=f"masking ({self.name})", main=True) for item in items]
        tables = tuple(masked.data for masked in made)
        return replace(made[0], copies=tables)

    def promises(self, data: Microdata) -> tuple[Promise, ...]:
        return (ObservedValues(self._attributes(data), keep_missing=self.synthesis == "partial"),)

    @one_thread()  # again, as scipy has a library of its own
    def _synthesise(
        self,
        name: str,
        data: Microdata,
        known: dict[str, Encoder],
        drawn: list[dict[str, Column]],
        n: int,
        rng: np.random.Generator,
    ) -> None:
        """Draw one attribute for every copy, given what was drawn before."""
        from ._imputation import ColumnModel, MissingModel, design

        column, encoders = data.columns[name], list(known.values())
        x = design(encoders, [data.columns[one] for one in known], data.n)
        model = ColumnModel(column, x)
        absent = MissingModel(column, x) if self.synthesis == "full" else None
        for columns in drawn:
            new = design(encoders, [columns[one] for one in known], n)
            missing = column.missing if absent is None else absent.draw(new, rng)
            columns[name] = model.draw(new, missing, rng)

    def _template(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """The table whose columns are to be replaced; its records mean nothing if all of them are."""
        if self.synthesis == "partial":
            return data
        records = data.n if self.records is None else self.records
        return data.take(rng.integers(0, data.n, records))

    def _attributes(self, data: Microdata) -> tuple[str, ...]:
        if self.synthesis == "partial":
            names = chosen(data, self.attributes, data.schema.confidential, "confidential attribute")
            return tuple(dict.fromkeys(names))
        _check_coded(data)
        return tuple(data.columns)

    def _given(self, data: Microdata) -> tuple[str, ...]:
        if self.synthesis == "full":
            return ()
        names = self._attributes(data)
        if self.given is None:
            return tuple(name for name in data.schema.quasi_identifiers if name not in names)
        if not self.given:
            return ()
        both = [name for name in self.given if name in names]
        if both:
            raise PlanError(
                f"{', '.join(both)} cannot be replaced and given at once.", hint="Name it in attributes or in given."
            )
        return tuple(dict.fromkeys(chosen(data, self.given, (), "attribute")))


def _made(method: Imputation, data: Microdata, rng: np.random.Generator, progress: Progress | None) -> Masked:
    return method.mask(data, rng, progress)


_NOTES = (
    "Values are drawn from models. No k-anonymity is promised: a drawn record can be like an original one by chance.",
)


def _check_coded(data: Microdata) -> None:
    """A column that is passed through would link the records to those of the original table."""
    other = [
        name
        for name, attribute in data.schema.items()
        if name not in data.columns and attribute.role != Role.IDENTIFIER and attribute.follows is None
    ]
    if other:
        raise SchemaError(
            f"synthesis='full' cannot synthesise {', '.join(other)}: without a kind there is no model.",
            hint="Give each of them a kind, or the role identifier: identifiers are not released.",
        )


@dataclass(frozen=True)
class ObservedValues(Promise):
    """Every released value of these attributes is one of the values that the attribute has in the original table.

    With ``keep_missing``, cells are missing where they were.
    """

    attributes: tuple[str, ...]
    keep_missing: bool

    def settled(self, masked: Masked) -> tuple[str, ...]:
        return self.attributes

    def check(self, original: Microdata, released: Frame, masked: Masked) -> Check:
        new, moved = 0, 0
        for name in self.attributes:
            before, after = original.columns[name], code(released, original.schema[name]).column
            new += int((~_observed(before, after)).sum())
            if self.keep_missing:
                moved += int((before.missing != after.missing).sum())
        places = ", and missing cells are where they were" if self.keep_missing else ""
        found = f"{new:,} other values" + (f", {moved:,} missing cells moved" if self.keep_missing else "")
        listed = ", ".join(self.attributes)
        return Check(f"every value of {listed} is an observed one{places}", not new and not moved, found)


def _observed(before: Column, after: Column) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Where the released value is missing or occurs in the original column."""
    before, after = alike(before, after)
    return after.missing | np.isin(after.numbers(), before.numbers())
