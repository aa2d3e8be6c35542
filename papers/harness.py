"""What every page of the reproduction is made of: printed numbers, intervals over seeds, claims, tables and figures.

A page keeps its text in memory and is written in one go, so that it can be made in another process. Everything in it is
rounded to a few digits, so that a second run, or another processor, writes the same bytes. Times never stand in a page;
they go to ``timings.md``.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np

HERE = Path(__file__).parent
PAGES = HERE.parent / "docs" / "papers"
SEEDS = range(20)

Cell = tuple[str, str]  # row and column of a table


@dataclass(frozen=True)
class Interval:
    """The mean over seeds and the 95 % interval of that mean (Student's t), with the values that it came from."""

    mean: float
    low: float
    high: float
    values: tuple[float, ...] = ()

    @classmethod
    def of(cls, values: Sequence[float]) -> Interval:
        """The interval of some values; a single value has no width.

        >>> Interval.of([1.0, 2.0, 3.0]).low
        -0.48...
        """
        from scipy.stats import t

        mean = float(np.mean(values))
        if len(values) < 2:
            return cls(mean, mean, mean, tuple(values))
        half = float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
        return cls(mean, mean - half, mean + half, tuple(values))


Value = float | Interval | str | None
K = TypeVar("K", float, Interval, str)


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that can be tested, whether it holds here, and what was seen."""

    sentence: str
    holds: bool
    evidence: str


@dataclass(frozen=True)
class Compared:
    """One table of a paper: on which data it was computed again, and how many cells have the printed digits."""

    paper: str
    table: str
    caption: str
    data: str
    cells: int
    same: int


@cache
def _all_printed() -> dict[tuple[str, str], dict[Cell, str]]:
    tables: dict[tuple[str, str], dict[Cell, str]] = {}
    with (HERE / "printed.csv").open(newline="", encoding="utf-8") as file:
        for one in csv.DictReader(file):
            cells = tables.setdefault((one["paper"], one["table"]), {})
            if (one["row"], one["column"]) in cells:
                raise ValueError(f"printed.csv: {one} stands there twice.")
            cells[one["row"], one["column"]] = one["value"]
    return tables


def printed(paper: str, table: str) -> dict[Cell, str]:
    """The printed cells of a table, in the order of the data file."""
    return dict(_all_printed()[paper, table])


def all_printed() -> list[tuple[str, str]]:
    """Paper and table of everything in the data file."""
    return list(_all_printed())


@overload
def over_seeds(work: Callable[[int], float], seeds: Sequence[int] = SEEDS) -> Interval: ...
@overload
def over_seeds(work: Callable[[int], Mapping[str, float]], seeds: Sequence[int] = SEEDS) -> dict[str, Interval]: ...
def over_seeds(
    work: Callable[[int], float] | Callable[[int], Mapping[str, float]], seeds: Sequence[int] = SEEDS
) -> Interval | dict[str, Interval]:
    """The mean of a figure (or of each of several) over seeds, with its interval.

    >>> over_seeds(lambda seed: float(seed % 2), range(4)).mean
    0.5
    """
    found = [work(seed) for seed in seeds]
    if isinstance(found[0], Mapping):
        each = [dict(one) for one in found if isinstance(one, Mapping)]
        return {name: Interval.of([one[name] for one in each]) for name in each[0]}
    return Interval.of([one for one in found if not isinstance(one, Mapping)])


def say(what: str) -> None:
    """One line of progress."""
    print(f"  {what}", file=sys.stderr, flush=True)


# ------------------------------------------------------------------------------------------------ numbers as text


def number(value: float, digits: int = 4) -> str:
    """A number with a fixed count of significant digits; whole parts are never rounded.

    >>> number(0.123456), number(12345.6), number(1e-13), number(-0.00001234), number(3.0), number(2)
    ('0.1235', '12346', '0', '-1.234e-05', '3', '2')
    """
    if value != value:
        return "–"
    if abs(value) < 1e-10:
        return "0"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def like(text: str, value: float) -> str:
    """A number with as many decimals as the printed one, or more where that would leave too little of it.

    >>> like("9.0884", 9.08836), like("12", 11.7), like("0.00", 0.0123), like("0.00", 0.00123)
    ('9.0884', '12', '0.0123', '0.00')
    """
    try:
        float(text.replace(",", ""))
    except ValueError:
        return number(value)
    decimals = len(text.partition(".")[2])
    if 1e-10 < abs(value) < 10.0 ** (1 - decimals) and not agrees(text, value):
        return number(value, 3)
    return f"{value + 0.0 if abs(value) > 1e-10 else 0.0:.{decimals}f}"


def agrees(text: str, value: Value) -> bool:
    """Whether a value is the printed one, to the printed digits (a half may be rounded either way).

    A printed 0 without decimals means exactly 0.

    >>> agrees("0.65", 0.6549), agrees("0.65", 0.655), agrees("0.65", 0.66), agrees("0", 0.1), agrees("flu", "flu")
    (True, True, False, False, True)
    """
    if value is None or isinstance(value, str):
        return text == (value or "")
    try:
        theirs = float(text.replace(",", ""))
    except ValueError:
        return False
    ours = value.mean if isinstance(value, Interval) else value
    half = 0.5 * 10.0 ** -len(text.partition(".")[2]) if text != "0" else 1e-9
    return abs(ours - theirs) <= half * (1 + 1e-9)


def shown(value: Value, text: str = "") -> str:
    """A value as it stands in a table; intervals in square brackets. ``text`` gives the decimals."""

    def one(figure: float) -> str:
        return like(text, figure) if text else number(figure)

    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, Interval):
        if value.high - value.low < 1e-10 * max(1.0, abs(value.mean)):
            return one(value.mean)
        return f"{one(value.mean)} [{one(value.low)}, {one(value.high)}]"
    return one(float(value))


# ---------------------------------------------------------------------------------------------------------- pages


def heading(paper: str, table: str) -> str:
    """How a table of a paper is called.

    >>> heading("P1", "2"), heading("P1", "Example 3")
    ('P1 Table 2', 'P1 Example 3')
    """
    return f"{paper} Table {table}" if table[0].isdigit() else f"{paper} {table}"


@dataclass
class Page:
    """A page of docs/papers, put together piece by piece."""

    name: str
    title: str
    pieces: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    keys: dict[str, float | str] = field(default_factory=dict)
    figures: dict[str, str] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)

    def text(self, markdown: str) -> None:
        """A paragraph or a heading (## and below)."""
        self.pieces.append(markdown.strip())

    def table(self, caption: str, header: Sequence[str], rows: Sequence[Sequence[Value]]) -> None:
        """A table of our own figures."""
        self.text(f"### {caption}" if caption else "")
        self.text(markdown_table(header, [[shown(cell) for cell in row] for row in rows]))

    def side_by_side(
        self,
        paper: str,
        table: str,
        ours: Mapping[Cell, Value],
        reasons: Mapping[Any, str] | None = None,
        *,
        caption: str = "",
        data: str = "same data",
        given: Sequence[str] = (),
        extra: Mapping[Cell, Value] | None = None,
    ) -> None:
        """A printed table with our values under the printed ones, and a note at every value that differs.

        ``reasons`` are keyed by a cell, a row, a column or ``"*"`` (any cell); the first that fits is shown. A cell
        that differs without a reason is an error. A printed cell that is not in ``ours`` is shown as not computed and
        needs a reason too. ``given`` are columns that the paper starts from, which are shown and not compared.
        ``extra`` adds columns that the paper does not have.
        """
        theirs = printed(paper, table)
        columns = list(dict.fromkeys(column for _, column in theirs))
        more = list(dict.fromkeys(column for _, column in extra or {}))
        cells = [cell for cell in theirs if cell[1] not in given]
        unknown = set(ours) - set(cells)
        if unknown:
            raise ValueError(f"{paper} Table {table} has no cells {sorted(unknown)[:5]}.")
        notes: dict[str, int] = {}
        lines = []
        for row in dict.fromkeys(row for row, _ in theirs):
            above, below, whole = [row, "printed"], ["", "ours"], not more
            for column in columns:
                text = theirs.get((row, column))
                above.append(text or "")
                if text is None or column in given:
                    below.append("")
                    continue
                value = ours.get((row, column))
                if agrees(text, value):
                    below.append(f"**{shown(value, text)}**")
                    whole = whole and below[-1] == f"**{text}**"
                    continue
                reason = self._reason(reasons or {}, row, column, f"{paper} Table {table}")
                below.append(f"{shown(value, text)} <sup>{notes.setdefault(reason, len(notes) + 1)}</sup>")
                whole = False
            if whole and any(below[2:]):
                lines.append(
                    [row, "both", *(ours or theirs for ours, theirs in zip(below[2:], above[2:], strict=True))]
                )
                continue
            added = [shown((extra or {}).get((row, column))) for column in more]
            if any(below[2:]):
                lines += [above + [""] * len(more), below + added]
            else:
                lines.append([row, "", *above[2:], *added])
        same = sum(agrees(theirs[cell], ours.get(cell)) for cell in cells)
        self.text(f"### {heading(paper, table)}" + (f": {caption}" if caption else ""))
        count = f" Our values with the printed digits are in bold: {same} of {len(cells)}." if cells else ""
        self.text(f"Data: {data}.{count}")
        self.text(markdown_table(["", "", *columns, *more], lines))
        if notes:
            self.text("\n".join(f"{i}. {reason}" for reason, i in notes.items()))
        self.compared.append(Compared(paper, table, caption, data, len(cells), same))

    @staticmethod
    def _reason(reasons: Mapping[Any, str], row: str, column: str, where: str) -> str:
        for key in ((row, column), row, column, "*"):
            if key in reasons:
                return reasons[key]
        raise ValueError(f"{where}: the cell ({row}, {column}) differs from the printed one and has no reason.")

    def claim(self, claim: Claim) -> None:
        """A claim of the paper, and whether it holds here."""
        self.claims.append(claim)
        self.text(f"- {'**holds**' if claim.holds else '**does not hold**'}: {claim.sentence}. {claim.evidence}")

    def check(self, sentence: str, holds: bool, evidence: str) -> None:
        """Something that we checked ourselves, to explain a difference; no claim of the paper."""
        self.text(f"- checked, {'**true**' if holds else '**not true**'}: {sentence}. {evidence}")

    def figure(self, name: str, svg: str, caption: str = "") -> None:
        """A figure in a file of its own."""
        file = f"{self.name}-{name}.svg"
        self.figures[file] = str(svg).rstrip("\n") + "\n"
        self.text(f"![{caption or name}]({file})" + (f"\n\n*{caption}*" if caption else ""))

    def key(self, name: str, value: K) -> K:
        """Mark a value of the page as a key cell: the tests compute it again. Gives the value back.

        ``page(quick=True)`` computes key cells with the very seeds and data of the whole page, only fewer of them.
        """
        if name in self.keys:
            raise ValueError(f"The key {name!r} stands there twice.")
        self.keys[name] = value.mean if isinstance(value, Interval) else value
        return value

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Measure CPU seconds; they appear in timings.md only."""
        start = time.process_time()
        yield
        self.timings[what] = self.timings.get(what, 0.0) + time.process_time() - start
        say(f"{self.name}: {what}, {self.timings[what]:.1f} s")

    def markdown(self) -> str:
        """The page as text; items of a list stay together."""
        text = f"# {self.title}"
        for before, piece in zip(["", *self.pieces], self.pieces, strict=False):
            if piece:
                joined = before.startswith("- ") and piece.startswith("- ")
                text += ("\n" if joined else "\n\n") + piece
        return text + "\n"

    def write(self, folder: Path = PAGES) -> None:
        """Write the page and its figures."""
        folder.mkdir(parents=True, exist_ok=True)
        for file, svg in self.figures.items():
            (folder / file).write_text(svg, encoding="utf-8")
        (folder / f"{self.name}.md").write_text(self.markdown(), encoding="utf-8")


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
