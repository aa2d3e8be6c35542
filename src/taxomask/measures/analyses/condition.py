"""A condition on records, such as ``age > 65 and dx under 390-459``: parsed, and never run as code."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._support.spelling import spell
from ...errors import PlanError, did_you_mean
from ...microdata import CategoricalColumn, ContinuousColumn, Kind, TaxonomicColumn
from ...taxonomy import Taxonomy
from .side import Side

__all__ = ["Condition", "Truth", "parse"]

Mask = NDArray[np.bool_]

LONGEST, DEEPEST = 2_000, 40
_EXAMPLE = "Write, for example, age > 65 and dx under 390-459; put names and values with spaces or signs in quotes."
_TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>"(?:[^"]|"")*"|'(?:[^']|'')*')|(?P<sign><=|>=|!=|<>|==|=|<|>|\(|\)|,)|(?P<word>[^\s()<>=!,'"]+))"""
)
_KEYWORDS = ("and", "or", "not", "in", "under", "is", "missing")
_SAME = {"==": "=", "<>": "!="}
_ORDER = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class Truth:
    """For each record whether a condition is true, and whether that is known: of a missing value nothing is."""

    true: Mask
    known: Mask

    def opposite(self) -> Truth:
        return Truth(self.known & ~self.true, self.known)

    def both(self, other: Truth) -> Truth:
        false = (self.known & ~self.true) | (other.known & ~other.true)
        return Truth(self.true & other.true, false | (self.known & other.known))


class Condition(ABC):
    """A condition that was parsed."""

    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at."""

    @abstractmethod
    def on(self, side: Side) -> Truth:
        """Where it is true in a table."""


@dataclass(frozen=True)
class _Not(Condition):
    inner: Condition

    def columns(self) -> tuple[str, ...]:
        return self.inner.columns()

    def on(self, side: Side) -> Truth:
        return self.inner.on(side).opposite()


@dataclass(frozen=True)
class _Both(Condition):
    """``and``; ``or`` is the opposite of both opposites."""

    parts: tuple[Condition, ...]
    either: bool = False

    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self.parts for name in part.columns()))

    def on(self, side: Side) -> Truth:
        found, *others = (part.on(side).opposite() if self.either else part.on(side) for part in self.parts)
        for other in others:
            found = found.both(other)
        return found.opposite() if self.either else found


@dataclass(frozen=True)
class _Compared(Condition):
    """A column compared with values: ``=``, ``<`` and the like, ``in``, ``under``, or ``missing``."""

    column: str
    sign: str
    values: tuple[str, ...] = ()

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def on(self, side: Side) -> Truth:
        column = side[self.column]
        if self.sign == "missing":
            return Truth(column.missing, np.ones(len(column), dtype=bool))
        known = ~column.missing
        if isinstance(column, ContinuousColumn):
            return Truth(known & self._number(column.values, side), known)
        true = np.append(self._categories(column, side), False)[column.codes]  # the last one for missing ones
        return Truth(true, known)

    def _number(self, values: NDArray[np.float64], side: Side) -> Mask:
        if self.sign == "under":
            raise self._wrong("holds numbers, which stand under nothing", "Write < or >.")
        numbers = [side.number(self.column, value) for value in self.values]
        for number, value in zip(numbers, self.values, strict=True):
            if np.isnan(number):
                raise self._wrong(f"holds numbers, and {value!r} is none", "Write a number; dates as 2010-12-31.")
        with np.errstate(invalid="ignore"):  # missing ones are not known anyway
            if self.sign in ("=", "in", "!="):
                found = np.isin(values, numbers)
                return ~found if self.sign == "!=" else found
            return _compared(values, self.sign, numbers[0])

    def _categories(self, column: CategoricalColumn, side: Side) -> Mask:
        """For which categories it is true."""
        if self.sign == "under":
            return self._below(column)
        chosen = np.zeros(len(column.categories), dtype=bool)
        for value in self.values:
            chosen |= self._equal(column, value)
        if self.sign in ("=", "in"):
            return chosen
        if self.sign == "!=":
            return ~chosen
        if column.attribute.kind != Kind.ORDINAL:
            raise self._wrong(f"is {column.attribute.kind} and has no order, so that {self.sign} means nothing",
                              "Write = or in (…), or give the column an order.")  # fmt: skip
        return _compared(np.arange(len(column.categories)), self.sign, int(chosen.argmax()))

    def _equal(self, column: CategoricalColumn, value: str) -> Mask:
        """The categories that a value means; an error if there are none, since a slip would count as nobody."""
        if isinstance(column, TaxonomicColumn):
            _, position, row = self._concept(column, value)
            return np.asarray(row == position)
        found = np.array([spell(one) == value for one in column.categories], dtype=bool)
        if not found.any():
            raise self._wrong(f"has no value {value!r}", did_you_mean(value, list(map(spell, column.categories))))
        return found

    def _below(self, column: CategoricalColumn) -> Mask:
        if not isinstance(column, TaxonomicColumn):
            raise self._wrong("has no taxonomy, so that nothing stands under anything", "Write = or in (…).")
        found = np.zeros(len(column.categories), dtype=bool)
        for value in self.values:
            taxonomy, position, row = self._concept(column, value)
            found |= np.isin(row, taxonomy.closure.descendants(position))
        return found

    def _concept(self, column: TaxonomicColumn, value: str) -> tuple[Taxonomy, int, NDArray[np.int32]]:
        """The first taxonomy that knows a concept, where it stands there, and where the categories do."""
        attribute = column.attribute
        match: Any = attribute.match
        for (taxonomy, _), row in zip(attribute.taxonomies, column.places, strict=True):
            (position,) = taxonomy.lookup([value], match=match, normalize=attribute.normalize).tolist()
            position = _group(taxonomy, value) if position < 0 else position
            if position >= 0:
                return taxonomy, int(position), row
        near = attribute.taxonomies[0][0].nearest(value)
        hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else "Look it up with `taxomask taxonomy info`."
        raise self._wrong(f"has a taxonomy that does not know {value!r}", hint)

    def _wrong(self, what: str, hint: str) -> PlanError:
        return PlanError(f"in a condition: column {self.column!r} {what}.", hint=hint)


def _group(taxonomy: Taxonomy, value: str) -> int:
    """A concept that no value is spelled like, such as a chapter; -1 if there is none, or several.

    By its identifier, by the last word of it (``390-459`` is ``CH 390-459``), or by its label.
    """
    if value in taxonomy:
        return int(taxonomy.position(value))
    ends = [i for i, one in enumerate(taxonomy.ids) if one.rpartition(" ")[2] == value]
    named = ends or [i for i, one in enumerate(taxonomy.ids) if taxonomy[one].label.lower() == value.lower()]
    return named[0] if len(named) == 1 else -1


def _compared(values: NDArray[np.generic], sign: str, limit: float) -> Mask:
    found = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[sign](values, limit)
    return np.asarray(found, dtype=bool)


# --------------------------------------------------------------------------------------- parsing


@lru_cache(maxsize=256)
def parse(text: str) -> Condition:
    """A condition from what somebody wrote.

    Comparisons of a column with ``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in (a, b)``, ``under`` one or several
    concepts of its taxonomy, and ``is missing``, joined by ``and``, ``or``, ``not`` and parentheses. A name or a value
    with spaces or signs stands in quotes. What a missing value is compared with is not known; a record counts only
    where the whole is known to be true.

    >>> parse("age > 65 and dx under 390-459").columns()
    ('age', 'dx')
    >>> parse("age > ")
    Traceback (most recent call last):
    taxomask.errors.PlanError: in the condition 'age > ': there is no value after '>'.
    Write, for example, age > 65 and dx under 390-459; put names and values with spaces or signs in quotes.
    """
    if len(text) > LONGEST:
        raise PlanError(f"a condition has at most {LONGEST:,} characters; got {len(text):,}.", hint=_EXAMPLE)
    reading = _Reading(text)
    found = reading.either(0)
    if reading.more:
        raise reading.wrong(f"{reading.peek()!r} was not expected here")
    return found


class _Reading:
    """The rest of a condition that is being read."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.tokens = list(self._split(text))

    def _split(self, text: str) -> Iterator[tuple[str, str]]:
        at = 0
        while text[at:].strip():
            found = _TOKEN.match(text, at)
            if found is None:
                raise self.wrong(f"{text[at:].strip()[:20]!r} cannot be read")
            kind = str(found.lastgroup)
            value = found[kind]
            yield kind, value[1:-1].replace(value[0] * 2, value[0]) if kind == "quoted" else value
            at = found.end()

    @property
    def more(self) -> bool:
        return self.at < len(self.tokens)

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.more else ""

    def is_next(self, word: str) -> bool:
        """Whether the next token is this keyword or sign, and not quoted."""
        return self.more and self.tokens[self.at][0] != "quoted" and self.peek().lower() == word

    def takes(self, word: str) -> bool:
        found = self.is_next(word)
        self.at += found
        return found

    def wrong(self, what: str) -> PlanError:
        return PlanError(f"in the condition {self.text!r}: {what}.", hint=_EXAMPLE)

    def either(self, depth: int) -> Condition:
        parts = [self.both(depth)]
        while self.takes("or"):
            parts.append(self.both(depth))
        return parts[0] if len(parts) == 1 else _Both(tuple(parts), either=True)

    def both(self, depth: int) -> Condition:
        parts = [self.one(depth)]
        while self.takes("and"):
            parts.append(self.one(depth))
        return parts[0] if len(parts) == 1 else _Both(tuple(parts))

    def one(self, depth: int) -> Condition:
        if depth > DEEPEST:
            raise self.wrong(f"it is nested more than {DEEPEST} times")
        if self.takes("not"):
            return _Not(self.one(depth + 1))
        if self.takes("("):
            found = self.either(depth + 1)
            if not self.takes(")"):
                raise self.wrong("a parenthesis is not closed")
            return found
        return self.comparison()

    def comparison(self) -> Condition:
        column = self.value("a column", after="")
        if not self.more:
            raise self.wrong(f"nothing is said about {column!r}")
        if self.takes("is"):
            opposite = self.takes("not")
            if not self.takes("missing"):
                raise self.wrong("after 'is' comes 'missing' or 'not missing'")
            absent = _Compared(column, "missing")
            return _Not(absent) if opposite else absent
        opposite = self.is_next("not") and self.takes("not")
        kind, sign = self.tokens[self.at] if self.more else ("", "")
        sign = _SAME.get(sign.lower(), sign.lower())
        if (
            kind == "quoted"
            or sign not in ("=", "!=", *_ORDER, "in", "under")
            or (opposite and sign not in ("in", "under"))
        ):
            raise self.wrong(
                f"after {column!r} comes =, !=, <, <=, >, >=, in, under or is missing; got {self.peek()!r}"
            )
        self.at += 1
        several = sign in ("in", "under") and self.takes("(")
        values = [self.value("a value", after=sign)]
        while several and self.takes(","):
            values.append(self.value("a value", after=","))
        if several and not self.takes(")"):
            raise self.wrong("a list of values is not closed")
        found = _Compared(column, sign, tuple(values))
        return _Not(found) if opposite else found

    def value(self, what: str, after: str) -> str:
        kind, text = self.tokens[self.at] if self.more else ("", "")
        if kind not in ("quoted", "word") or (kind == "word" and text.lower() in _KEYWORDS):
            where = f" after {after!r}" if after else ""
            raise self.wrong(f"there is no {what.removeprefix('a ')}{where}")
        self.at += 1
        return text
