"""What else a release lets out: identifiers in other columns, twins of protected columns, and records that stand alone.

The promises of a method are about the columns that it changed. This check looks at the others, on the table that is
about to be released: `identifiers` for values of identifiers, `twins` for columns released as they are that tell what
was protected or removed, `singled_out` for records that nothing hides. The first two stop a release unless a person has
accepted what was found, with a reason; the last does so only under a limit of the plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..engines import Engine
from ..methods import Check
from ..methods.base import Counted
from ..microdata import Microdata
from ..microdata.frames import Frame
from .accept import Accepted
from .computed import numbers_to_combine
from .disguises import SAMPLE
from .elsewhere import elsewhere, own_rows, values_of
from .identifiers import held_in, identifier_of
from .long_leaks import look_for_leaks
from .seen import Seen, seen
from .singled_out import BY_THEM, STANDS_ALONE, SingledOut, pair_alone, singled_out, widest_pairs
from .split import split_among
from .telling import ENOUGH
from .twins import Finding, Told, counted, pairs_to_try, told_by
from .weighted import to_weight

__all__ = ["NO_IDENTIFIER", "NO_TWIN", "WAY_OUT", "Leaks", "Terms", "leak_checks"]

NO_IDENTIFIER = "no value of an identifier was found in another column"
NO_TWIN = "no column released as it is was found to tell a protected or removed one"
WAY_OUT = (
    "For each column that lets something out: protect it together with what it tells; let it follow that column "
    "(follows: …); drop it (role: identifier); or accept it, with a reason (accept: [{columns: […], reason: …}])."
)
_ACCEPTED = ", but for what the custodian accepted"
_SHOWN = 8  # findings that are told one by one


@dataclass(frozen=True)
class Terms:
    """What a custodian accepts, and the largest share of records that may be alone by columns released as they are."""

    accept: tuple[Accepted, ...] = ()
    singled_out: float | None = None


@dataclass(frozen=True)
class Leaks:
    """The checks, the entries that accept something that was found, and what was found and nobody accepts."""

    checks: tuple[Check, ...]
    accepted: tuple[Accepted, ...] = ()
    findings: tuple[Finding, ...] = ()


def leak_checks(
    engine: Engine,
    data: Microdata,
    released: Frame,
    masked: Microdata,
    changed: Mapping[str, int],
    terms: Terms,
    *,
    linked: bool,
) -> Leaks:
    """Look for leaks in a table that is about to be released.

    Parameters
    ----------
    engine
        Where the columns are, and who looks at them.
    data, masked
        The table as it was, and as the method left it.
    released
        The table about to be released, its rows in the order of ``data``.
    changed
        How many cells of each column that the method replaced are not as they were.
    terms
        What is accepted, and the limit.
    linked
        Whether row i of the release describes record i of the original; else rows tell nothing about each other.
    """
    schema = data.schema
    linked = linked and released.n == data.n
    names = [name for name in released.names if name in schema and name not in schema.identifiers]
    protected = [name for name in names if changed.get(name)]
    following = [name for name in schema.following(protected) if name in names]
    targets = [*schema.identifiers, *protected] if linked and set(names) - {*protected, *following} else []
    long = linked and released.n > engine.chunk
    look = _in_chunks if long else _in_one_piece
    looked = look(engine, data, released, masked, _Columns(names, protected, following, targets), linked, terms)
    held, told, single, same = looked.held, looked.told, looked.single, looked.same
    known = {(one.columns, one.of) for one in held}
    twins = [one for found in told for one in found.findings if (one.columns, one.of) not in known]

    judged = []
    sought = looked.sought
    groups = [name for name in looked.groups if name in sought] if len(same) < len(names) else []
    if sought:
        where = _where_looked(sought, names, groups, released.n, linked) + looked.of_identifiers
        judged.append(_judged(NO_IDENTIFIER, held, terms, where))
    if targets:
        how = _how_looked(targets, same, looked.pairs, looked.left_out, told) + looked.of_twins
        judged.append(_judged(NO_TWIN, twins, terms, how))
    counted: Check = Counted(STANDS_ALONE, True, str(single))
    if terms.singled_out is not None:
        promise = f"at most {terms.singled_out:.4g} of the {single.unit} are {BY_THEM}"
        counted = Check(promise, single.as_they_are <= terms.singled_out, str(single))
    used = [entry for entry in terms.accept if any(entry in accepted for _, accepted in judged)]
    found = [one for one in (*held, *twins) if not any(entry.covers(one.columns) for entry in terms.accept)]
    return Leaks((*(check for check, _ in judged), counted), tuple(used), tuple(found))


@dataclass(frozen=True)
class _Columns:
    """The released columns, those that were protected, those that follow them, and what may be told by the others."""

    names: Sequence[str]
    protected: Sequence[str]
    following: Sequence[str]
    targets: Sequence[str]

    @property
    def same(self) -> list[str]:
        """Those that are released as they are."""
        return [name for name in self.names if name not in self.protected and name not in self.following]


@dataclass(frozen=True, eq=False)
class _Looked:
    """What was found and what was looked at; the texts tell what was not looked at in all records."""

    held: Sequence[Finding]
    told: Sequence[Told]
    single: SingledOut
    same: Sequence[Seen]
    pairs: Sequence[tuple[int, int]]
    left_out: int
    sought: Sequence[str]
    groups: Sequence[str]
    of_identifiers: str = ""
    of_twins: str = ""


def _in_one_piece(
    engine: Engine,
    data: Microdata,
    released: Frame,
    masked: Microdata,
    which: _Columns,
    linked: bool,
    terms: Terms,
) -> _Looked:
    """Whole columns are looked at."""
    identified = data.schema.identifiers
    columns: list[Seen] = engine.map(seen, [(released, name) for name in which.names], "looking for leaks")
    by_name = dict(zip(which.names, columns, strict=True))
    same = [by_name[name] for name in which.same]

    identifiers = engine.map(identifier_of, [(data, name) for name in identified], "looking for identifiers")
    items = [(data, released, column, identifiers, linked, column in same) for column in columns if identifiers]
    held_in_each = engine.map(held_in, items, "looking for identifiers")
    held = [one for found, _ in held_in_each for one in found]
    held += split_among(part for _, parts in held_in_each for part in parts)

    pairs, left_out = pairs_to_try(same)
    sought_by = [(data, masked, name, same, pairs) for name in which.targets]
    told: list[Told] = engine.map(told_by, sought_by, "looking for twins")
    told, theirs = _in_other_rows(engine, data, released, which, told) if linked else (told, "")

    two = widest_pairs(same)
    people, unit = (data.units, data.unit) if linked else (None, "records")
    alone = engine.map(pair_alone, [(same[a], same[b], people) for a, b in two], "counting who is alone")
    rest = [by_name[name] for name in which.names if name in which.protected or name in which.following]
    single = engine.run(singled_out, same, rest, two, alone, people, unit, what="counting who is alone")
    sought = [one.name for one in identifiers if linked or one.letters]
    groups = [one.name for one in identifiers if one.repeats]
    return _Looked(held, told, single, same, pairs, left_out, sought, groups, of_twins=theirs)


def _in_other_rows(
    engine: Engine, data: Microdata, released: Frame, which: _Columns, told: list[Told]
) -> tuple[list[Told], str]:
    """What stands in other rows of the same person or household, beside what is known, and how it was looked for."""
    own = own_rows(data)
    if own is None or not told:
        return told, ""
    what, same = "looking for twins", which.same
    values = engine.map(values_of, [(released, name, own) for name in same], what)
    columns = list(zip(same, values, strict=True))
    found = engine.map(elsewhere, [(data, released, name, own, columns) for name in which.targets], what)
    every = [replace(one, findings=(*one.findings, *more)) for one, more in zip(told, found, strict=True)]
    return every, f"; and in other rows of the same {own.unit}"


def _in_chunks(
    engine: Engine,
    data: Microdata,
    released: Frame,
    masked: Microdata,
    which: _Columns,
    linked: bool,
    terms: Terms,
) -> _Looked:
    """Columns are looked at in chunks."""
    exact = terms.singled_out is not None
    found = look_for_leaks(engine, data, released, masked, which.names, which.same, which.targets, exact=exact)
    of_identifiers = of_twins = ""
    if found.sample < data.n:
        some = f"{found.sample:,} of {data.n:,} records"
        of_identifiers = f"; numbers added or multiplied were looked for in {some}"
        of_twins = f"; looked at {some}"
    if found.thinned:
        of_identifiers += f"; of {', '.join(found.thinned)} only some values were looked for in other rows"
    return _Looked(
        found.held,
        found.told,
        found.single,
        found.same,
        found.pairs,
        found.left_out,
        data.schema.identifiers,
        found.groups,
        of_identifiers,
        of_twins,
    )


def _judged(promise: str, findings: Sequence[Finding], terms: Terms, looked: str) -> tuple[Check, list[Accepted]]:
    """The check, which holds if nothing was found that is not accepted; and the entries that accept something."""
    by = {one: next((entry for entry in terms.accept if entry.covers(one.columns)), None) for one in findings}
    broken = [one for one, entry in by.items() if entry is None]
    used = [entry for entry in terms.accept if any(entry.covers(one.columns) for one in findings)]
    if broken:
        return Check(promise, False, _listed(broken)), used
    if used:
        reasons = " ".join(f"Accepted: {one}." for one in used)
        return Check(promise + _ACCEPTED, True, f"{_listed(list(by))}. {reasons} It {looked}"), used
    return Check(promise, True, looked), used


def _listed(findings: Sequence[Finding]) -> str:
    """The first findings in full, and the columns of all others."""
    told = "; ".join(map(str, findings[:_SHOWN]))
    rest = [f"{' and '.join(one.columns)} of {one.of}" for one in findings[_SHOWN:]]
    return f"{told}; and so do {', '.join(rest)}" if rest else told


def _where_looked(identifiers: Sequence[str], names: Sequence[str], groups: Sequence[str], n: int, linked: bool) -> str:
    """What the first check looked at."""
    what = f"looked for {', '.join(identifiers)} in {counted(len(names), 'column')}"
    if groups:  # each stands in many records
        what += f" ({', '.join(groups)} only in those released as they are)"
    if not linked:
        return f"{what}, as whole values of text only, since records are not those of the original"
    some = "" if n <= SAMPLE else f" (in {SAMPLE:,} rows)"
    return (
        f"{what}: in the same row as value, in a text or a list, whatever case, spaces, leading zeros and affixes, or "
        f"with a number added to or multiplied by it, for three of its digits or more, also split among columns, a "
        f"word and the initials of it and common codes of it{some}; and as whole values of text in any row"
    )


def _how_looked(
    targets: Sequence[str],
    same: Sequence[Seen],
    pairs: Sequence[tuple[int, int]],
    left_out: int,
    told: Sequence[Told],
) -> str:
    """What the second check looked at, and the nearest that it came to a finding."""
    most, by, name = max((one.most, one.by, name) for one, name in zip(told, targets, strict=True))
    nearest = (
        f"; the most that one tells for sure is {most:.2f} ({by} of {name}), and {ENOUGH:g} is a finding" if by else ""
    )
    unlooked = f" ({counted(left_out, 'pair')} not looked at)" if left_out else ""
    looked = f"{counted(len(same), 'column')} and {counted(len(pairs), 'pair')}{unlooked}"
    also = "; also at the best pair with further columns of few values" if pairs and len(same) > 2 else ""
    numeric, added = len(numbers_to_combine(same)), len(to_weight(same, len(same[0].codes)))
    sums = [f"sums, differences, products and quotients of {counted(numeric * (numeric - 1) // 2, 'pair')}"]
    sums += [f"weighted sums and products of up to {counted(added, 'column')}"] if added > 2 else []
    of_numbers = f"; for numbers also at {' and '.join(sums)}" if numeric > 1 else ""
    return f"looked at {looked} for {', '.join(targets)}{also}{of_numbers}{nearest}"
