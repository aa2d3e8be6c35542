"""Numbers of a text file that a plan says nothing about: they keep the spelling that they have there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..microdata import Kind, Role
from ..microdata.files import open_table

if TYPE_CHECKING:
    from .plan import Plan

__all__ = ["as_written"]

LOOKED_AT = 100_000  # rows, the first ones


@dataclass
class _Spelling:
    """How the numbers of a column are written, as far as they were seen."""

    plain: bool = True  # all are digits, with a sign and decimals at most
    odd: bool = False  # some would be written in another way: 12.50 as 12.5, 007 as 7
    zeros: bool = False
    widths: frozenset[int] = frozenset()

    def seen(self, texts: Any, point: str) -> None:
        """Take some more texts into account."""
        import pyarrow as pa
        import pyarrow.compute as pc

        sign = f"\\{point}"
        texts = pc.utf8_trim_whitespace(texts.cast(pa.large_string()))
        if not pc.all(pc.match_substring_regex(texts, f"^[+-]?[0-9]+({sign}[0-9]+)?$"), min_count=0).as_py():
            self.plain = False
            return
        zeros = pc.match_substring_regex(texts, f"{sign}[0-9]*0$")
        self.zeros = self.zeros or bool(pc.any(zeros, min_count=0).as_py())
        other = pc.match_substring_regex(texts, r"^(\+|[+-]?0[0-9])")
        self.odd = self.odd or self.zeros or bool(pc.any(other, min_count=0).as_py())
        places = pc.subtract(pc.utf8_length(texts), pc.add(pc.find_substring(texts, point), 1))
        whole = pc.equal(pc.find_substring(texts, point), -1)
        self.widths |= frozenset(pc.unique(pc.if_else(whole, 0, places.cast(pa.int64()))).to_pylist()) - {None}

    def notation(self, point: str) -> str | None:
        """The notation that keeps the spelling; None if plain numbers do."""
        if not self.plain or not self.odd:
            return None
        fixed = self.zeros and len(self.widths) == 1
        return f"1234{point}{'5'.ljust(max(self.widths), '0') if fixed else '5'}"


def as_written(plan: Plan, data: str | None = None) -> Plan:
    """The plan with a notation for numbers that are not written as a computer would: 12.50, 1234,50, 007.

    Only columns of numbers in text files for which the plan has none, by their first 100,000 rows; those that are not
    all plain numbers there, apart from what means missing, stay as they are. Where some are texts with a limit, such as
    "90+", new numbers have the decimal sign of the file.
    """
    where = data or (plan.data and plan.located(plan.data))
    if not where:
        return plan
    source = open_table(where)
    dialect = getattr(source, "dialect", None)
    wanted = [
        one
        for one in plan.attributes.values()
        if one.kind == Kind.CONTINUOUS and one.role != Role.IDENTIFIER and not one.as_text and one.coarsen is None
        and one.name in source.names
    ]  # fmt: skip
    if dialect is None:
        return plan
    with_ends = [one.name for one in plan.attributes.values() if one.open_ends and one.notation is None]
    found = dict.fromkeys(with_ends if dialect.decimal == "," else (), "1234,5")
    spelled = {one.name: _Spelling() for one in wanted}
    missing = {one.name: [str(value) for value in (*one.missing, "")] for one in wanted}
    rows = 0
    for batch in open_table(where, text=list(spelled)).batches(columns=list(spelled)) if wanted else ():
        for name, spelling in spelled.items():
            if spelling.plain:
                spelling.seen(_present(batch.column(name), missing[name]), dialect.decimal)
        rows += batch.num_rows
        if rows >= LOOKED_AT or not any(one.plain for one in spelled.values()):
            break
    found |= {name: notation for name, one in spelled.items() if (notation := one.notation(dialect.decimal))}
    schema = plan.attributes
    for name, notation in found.items():
        schema = schema.replace(name, notation=notation)
    return plan.model_copy(update={"attributes": schema}) if found else plan


def _present(texts: Any, missing: list[str]) -> Any:
    """The texts that mean something."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = texts.cast(pa.large_string())
    return texts.filter(pc.invert(pc.is_in(texts, value_set=pa.array([*missing, None], pa.large_string()))))
