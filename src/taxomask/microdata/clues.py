"""What values look like: numbers, ranges, missing values, spellings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .distinct import Frequent
from .meanings import meaning
from .notation import NUMBER

__all__ = ["are_numbers", "missing_looking", "ranges", "respelled", "uniqueness"]

SPELLED = "spelled in several ways"
_NUMBER = re.compile(NUMBER)
_MISSING_WORDS = re.compile(
    r"\s*|[?.*]|--?|n/?[ac]|#n/a|nan|\(?null\)?|missing|unknown|no answer|"
    r"not (stated|available|applicable|recorded|known)|"
    r"n\.[cd]\.|s/[di]|(sin|sense|sem) (datos?|dades|dados|especificar)|no (disponible|informa(do|t)|procede)|"
    r"k\. ?a\.|(keine|ohne) angaben?|unbekannt|fehlend|inconnu|non renseigné|ns/nc|no consta|desconocid[oa]|"
    r"sconosciut[oa]|onbekend|desconhecid[oa]|desconegu(t|da)"
)
_MISSING_NEGATIVES = frozenset({-1, -7, -8, -9, -77, -88, -99, -999, -9999, -99999})
_MISSING_NINES = frozenset({99, 999, 9999, 99999, 999999})

_AMOUNT = r"(\d+(?:\.\d+)?)"
_UNIT = r"\s*+(?:years?|months?|days?|hours?|kg|cm)?+\W*+"  # possessive: no text of any length takes long
_RANGE = re.compile(rf"\W*+{_AMOUNT}\s*+(?:-|–|to|,|;|:)\s*+\d+(?:\.\d+)?{_UNIT}")
_BELOW = re.compile(rf"(?:<=?|≤|under|below|less than|up to)\s*{_AMOUNT}{_UNIT}")
_ABOVE = re.compile(
    rf"(?:>=?|≥|over|above|more than)?\s*+{_AMOUNT}\s*+(?:\+|(?:and|or) (?:over|older|more|above))?+{_UNIT}"
)


def are_numbers(values: Sequence[Any], texts: Sequence[str]) -> bool:
    """Whether all values are numbers, or text that reads as one."""
    pairs = zip(values, texts, strict=True)
    return all(not isinstance(value, bool) and _NUMBER.fullmatch(text.strip()) for value, text in pairs)


def ranges(texts: Sequence[str]) -> tuple[str, ...]:
    """Texts such as 6-99, [10-20) and 500+ in order of their first number; empty if some are no ranges.

    >>> ranges(["65 and over", "1-17", "18-64", "Under 1"])
    ('Under 1', '1-17', '18-64', '65 and over')
    """
    if len(texts) > 100:
        return ()
    keys: dict[str, tuple[float, int]] = {}
    for text in texts:
        plain = text.strip().casefold()
        for place, pattern in enumerate((_BELOW, _RANGE, _ABOVE)):
            found = pattern.fullmatch(plain)
            if found:
                keys[text] = (float(found[1]), place)
                break
        else:
            return ()
    return tuple(sorted(texts, key=keys.__getitem__)) if any(place == 1 for _, place in keys.values()) else ()


def missing_looking(look: Frequent) -> set[int]:
    """Which values look as if they mean missing: words, -9 among positive numbers, 999 far above others."""
    found = {i for i, value in enumerate(look.values) if _is_missing_word(value)}
    found |= _missing_numbers(look, [i for i in range(len(look.values)) if i not in found])
    if len(found) == len(look.values):  # all of them: then the word is the value
        return {i for i in found if not look.spellings[i]}
    return found


def _is_missing_word(value: object) -> bool:
    if not isinstance(value, str) or len(value) > 20:
        return False
    return _MISSING_WORDS.fullmatch(value.strip().casefold().replace("_", " ")) is not None


def _missing_numbers(look: Frequent, chosen: list[int]) -> set[int]:
    texts = [look.spellings[i] for i in chosen]
    if not chosen or not are_numbers([look.values[i] for i in chosen], texts):
        return set()
    numbers = {i: float(text.strip()) for i, text in zip(chosen, texts, strict=True)}
    found = {i for i, number in numbers.items() if number in _MISSING_NEGATIVES}
    others = [number for i, number in numbers.items() if i not in found]
    if not others or min(others) < 0:
        found = set()
    *rest, last = sorted(numbers, key=numbers.__getitem__)
    if len(rest) > 1 and numbers[last] in _MISSING_NINES and numbers[last] > 2 * numbers[rest[-1]]:
        found = found | {last}
    return found


def uniqueness(look: Frequent) -> list[str]:
    """A remark on a column that has another value in every row, unless these are measurements."""
    if look.rows < 10 or look.distinct < look.rows:
        return []
    fractions = any(isinstance(value, float) and not value.is_integer() for value in look.values)
    return [] if fractions else ["unique in every row: an identifier?"]


def respelled(look: Frequent, chosen: Sequence[int]) -> list[str]:
    """A remark on values that are spelled in several ways, with the one of most cells as an example."""
    spellings: dict[str, list[int]] = {}
    for i in chosen:
        spellings.setdefault(meaning(look.values[i]), []).append(i)
    several = [numbers for numbers in spellings.values() if len(numbers) > 1]
    if not several:
        return []
    example = max(several, key=lambda numbers: look.counts[numbers].sum())
    ways = sorted(example, key=lambda i: -look.counts[i])
    shown = [f"{look.values[i]!r} ({look.counts[i]:,} cell{'s' if look.counts[i] != 1 else ''})" for i in ways[:5]]
    listed = ", ".join(shown) + (", …" if len(ways) > 5 else "")
    many = f"{len(several):,} values are {SPELLED}, such as" if len(several) > 1 else f"1 value is {SPELLED}:"
    return [
        f"{many} {listed}, which differ only in case, outer spaces or Unicode form: one value for l and t, several for "
        "k; write them alike"
    ]
