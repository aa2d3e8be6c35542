"""How commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..measures.analyses import Analysed, Estimate

__all__ = [
    "ProgressBar",
    "attack_rows",
    "print_analysis",
    "print_facts",
    "print_figures",
    "print_json",
    "print_meanings",
    "print_private_json",
    "print_table",
    "print_text",
    "progress_bar",
    "share",
]


_UNBROKEN = 30


def print_private_json(value: Mapping[str, Any]) -> None:
    """Print JSON that was computed from the original table; its first key says that it is private."""
    print_json({"private": "for the custodian alone: computed from the original table", **value})


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_facts(title: str, facts: Iterable[tuple[str, object]]) -> None:
    """A title and lines of what is known."""
    facts = list(facts)
    print(title)
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        print(f"  {name:<{width}}  {value}")


def print_figures(figures: Mapping[str, Any]) -> None:
    """Figures of a headline, each with its meaning."""
    from ..evaluation import headline_figure
    from ..report.figures import number

    words = {name: headline_figure(name) for name in figures}
    rows = [(words[name].title, number(value, 4), words[name].about) for name, value in figures.items()]
    print_table(["figure", "value", "what it means"], rows)


def attack_rows(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """What each attacker who tried has found."""
    from ..report.figures import number

    found = ((name, one.share, one.how) for name, one in evaluation.attackers.items() if one is not None)
    return [
        (name, *(number(x, 4) for x in (share.value, share.low, share.high, share.baseline)), how)
        for name, share, how in found
    ]


def print_analysis(name: str, one: Analysed) -> None:
    """What became of an analysis, what agrees least first."""
    from ..report.figures import number

    labels = sorted(one.before, key=lambda label: one.each.get(label, 2.0))
    rows = [
        (
            label,
            *(number(x, 4) for found in (one.before.get(label), one.after.get(label)) for x in _interval(found)),
            number(one.each.get(label), 4),
        )
        for label in labels
    ]
    print(f"{name}: {one.words}. The intervals overlap by {number(one.overlap, 4)} on average.")
    print_table(["", "before", "from", "to", "after", "from", "to", "overlap"], rows)
    for note in one.notes:
        print(note)


def _interval(found: Estimate | None) -> tuple[float | None, ...]:
    return (None, None, None) if found is None else (found.value, found.low, found.high)


def print_meanings(names: Iterable[str], protected: Iterable[str]) -> None:
    """What the figures of compared methods mean, a line each; their losses are over the same protected columns."""
    from ..evaluation import headline_figure

    words = [headline_figure(name) for name in names]
    over = f"Every loss is over the columns that any of these methods protects: {', '.join(protected)}."
    print_facts("What they mean", [*((one.title, one.about) for one in words), ("", over)])
    print()


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns of text, numbers to the right; wide cells wrap to the terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    texts = [[cell if isinstance(cell, str) else format(cell, ",") for cell in row] for row in rows]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(header):
        numeric = all(_is_number(row[place]) for row in texts)
        longest = max((len(word) for row in texts for word in row[0].split()), default=0) if place == 0 else 0
        least = min(longest, _UNBROKEN) or None  # what the row is about is not broken inside words
        table.add_column(name, justify="right" if numeric else "left", overflow="fold", min_width=least)
    for row in texts:
        table.add_row(*(_plain(cell) for cell in row))
    console = Console(markup=False, highlight=False)
    if not console.is_terminal:
        console.width = 160
    console.print(table)


def print_text(text: str) -> None:
    """A paragraph, wrapped to the terminal."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False)
    console.print(_plain(text), soft_wrap=not console.is_terminal)  # what is piped is for programs to wrap


@dataclass(frozen=True)
class ProgressBar:
    """Shows how far some work is: called with a fraction, and with what is being done if that changes."""

    show: Callable[[str | None, float], None]

    def __call__(self, done: float, what: str | None = None) -> None:
        self.show(what and f"{what[0].upper()}{what[1:]}", done)


@contextmanager
def progress_bar(title: str, *, quiet: bool = False) -> Iterator[ProgressBar]:
    """A bar with the time left on the terminal's error stream, gone when done; nothing if that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task(title, total=1.0)
        yield ProgressBar(lambda what, done: bar.update(task, completed=done, description=what))


def share(part: int, whole: int) -> str:
    """``"1,234 (56.7 %)"``, with as many digits as it takes to tell some from none and from all.

    >>> share(1, 1000), share(9_999_999, 10_000_000), share(3, 3)
    ('1 (0.1 %)', '9,999,999 (99.99999 %)', '3 (100.0 %)')
    """
    if not whole:
        return f"{part:,}"
    digits = 1
    while part not in (0, whole) and f"{100 * part / whole:.{digits}f}" in (
        f"{0:.{digits}f}",
        f"{100:.{digits}f}",
    ):
        digits += 1
    return f"{part:,} ({100 * part / whole:.{digits}f} %)"


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "").replace("-", "").isdigit()


def _plain(cell: str) -> str:
    """Without control characters, which a file could use to repaint the terminal."""
    return "".join(character if character.isprintable() else "�" for character in cell)
