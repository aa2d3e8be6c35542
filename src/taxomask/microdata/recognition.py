"""What a column is about, from its name and from what its values look like: the role that goes with it, and why.

Nothing is ever taken for harmless: what is not recognised stays undecided, and ``other`` is for people to choose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from . import words
from .attribute import Role
from .distinct import Frequent
from .names import Read, read_name, split_name
from .words import Meaning, Part

__all__ = ["DATES", "Clue", "are_dates", "pairs", "recognise"]

DATES = "the values look like dates"
MOST = 0.9  # of the distinct values must look alike
_COUNTING = frozenset(["num", "number", "numero", "nombre"])  # at the beginning of a name: "number of …"
_IDENTIFIERS = {
    "e-mail addresses": r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}",
    "web addresses": r"https?://\S+|www\.\S+",
    "network addresses": r"\d{1,3}(\.\d{1,3}){3}|[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}",
    "bank accounts": r"[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?",
    "phone numbers": r"\+\d[\d ()/.-]{6,}\d|\(\d{2,5}\) ?\d[\d /-]{4,}\d",
    "social security numbers": r"\d{3}-\d{2}-\d{4}",
    "keys such as UUIDs": r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}|[0-9a-f]{40}|[0-9a-f]{64}",
}
_DAY = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|(18|19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01]))"
    r"([T ]\d{1,2}:.*)?"
)
_MONEY = re.compile(r"[$€£¥] ?-?[\d.,]*\d|-?[\d.,]*\d ?([$€£¥]|EUR|USD|GBP|CHF)")
_ICD10 = re.compile(r"[A-TV-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?")
_MAN = re.compile("m|h|male|man|männlich|masculin|masculino|maschio|maschile|homme|hombre|home|mannelijk")
_WOMAN = re.compile(
    "f|w|v|female|woman|weiblich|feminin|femenino|feminino|femmina|femminile|femme|mujer|dona|vrouw|vrouwelijk"
)
_NEITHER = re.compile("d|x|o|u|divers|diverse|other|unknown|unknown/invalid|non-binary")
_OF_TAXONOMY: Mapping[str, Meaning] = {
    "icd9cm": words.DIAGNOSIS,
    "icd9cm_procedures": words.PROCEDURE,
    "isco08": words.WORK,
    "nace2": words.WORK,
}


@dataclass(frozen=True)
class Clue:
    """A role, why, and whether whole numbers in the column are names of categories."""

    role: Role
    why: str = ""
    codes: bool = False


def recognise(name: str, look: Frequent | None = None, *, taxonomy: str | None = None, dates: bool = False) -> Clue:
    """What a column is about.

    Parameters
    ----------
    name
        Its name.
    look
        Its most frequent values; None if it cannot be looked at.
    taxonomy
        The shipped taxonomy that its values come from.
    dates
        Whether its type says that it holds dates or times.

    Examples
    --------
    >>> recognise("gebdat").role, recognise("x17").role
    (<Role.QUASI_IDENTIFIER: 'quasi_identifier'>, <Role.UNDECIDED: 'undecided'>)
    """
    texts = [text for text in look.spellings if text.strip()] if look is not None else []
    for what, pattern in _IDENTIFIERS.items():
        if _most(texts, re.compile(pattern)):
            return Clue(Role.IDENTIFIER, f"the values look like {what}")
    named = _by_name(name, look)
    if named is not None and named.role == Role.IDENTIFIER:
        return replace(_from_name(named), codes=True)
    if look is not None and _is_free_text(look):
        return Clue(words.FREE_TEXT.role, f"the values look like {words.FREE_TEXT.about}")
    if taxonomy is not None:
        return Clue(_OF_TAXONOMY.get(taxonomy, words.DIAGNOSIS).role)
    if dates or are_dates(texts):
        return Clue(words.DATE.role, "" if dates else DATES, codes=True)
    found = _by_values(texts) if named is None else _from_name(named)
    return replace(found, codes=_names_something(name, found.codes))


def are_dates(texts: Sequence[str]) -> bool:
    """Whether texts are dates: 2010-03-31, 31.3.2010, 3/31/10, 20100331, with or without a time."""
    return len(texts) > 2 and _most(texts, _DAY)


def whose(repeated: Iterable[str]) -> dict[str, str]:
    """Which of some identifiers, whose values stand in several rows, name the person and the household of a row.

    One that is said to be of a person by its name comes before one that is a number of anything. Numbers of visits and
    accounts, and names, addresses and the like, are neither.

    >>> whose(["encounter_id", "patient_nbr", "hhid", "street"])
    {'person': 'patient_nbr', 'household': 'hhid'}
    >>> whose(["id"]), whose(["visit_no"])
    ({'person': 'id'}, {})
    """
    every = list(repeated)
    read = {name: read_name(name) for name in every}
    households = [name for name in every if Part.HOUSEHOLD in read[name].parts or _one_of(name, _HOUSEHOLD_NUMBERS)]
    named = [name for name in every if words.DIRECT in read[name].meanings or Part.NAME in read[name].parts]
    others = [name for name in every if name not in households and name not in named]
    people = [name for name in named if _one_of(name, _PERSON_NUMBERS)]
    people += [name for name in others if Part.PERSON in read[name].parts]
    people += [name for name in others if words.UNIT_NUMBER in read[name].meanings]
    people += [name for name in others if read[name] == Read((), frozenset({Part.NUMBER}), 0)]
    found = {"person": people[:1], "household": [name for name in households if name not in named][:1]}
    return {key: first for key, one in found.items() for first in one}


_HOUSEHOLD_NUMBERS = frozenset(["hid", "hhid"])
_PERSON_NUMBERS = frozenset(
    ["ssn", "socialsecuritynumber", "mrn", "medicalrecordnumber", "nhsnumber", "nationalid", "dni", "nie", "nif", "nss",
     "cpf", "nir", "niss", "ahv", "bsn"]
)  # fmt: skip


def _one_of(name: str, numbers: frozenset[str]) -> bool:
    split = split_name(name)
    return "".join(split) in numbers or not numbers.isdisjoint(split)


def pairs(names: Iterable[str]) -> dict[str, str]:
    """Columns that describe the codes of another column, with that column.

    >>> pairs(["age", "drug_code", "drug_name", "icd", "icd_text"])
    {'drug_name': 'drug_code', 'icd_text': 'icd'}
    """
    every = list(names)
    labels = {name for name in every if read_name(name).parts & {Part.LABEL, Part.NAME}}
    subjects = {name: _subject(name) for name in every}
    codes: dict[str, str] = {}
    for name in every:
        if name not in labels and subjects[name]:
            codes.setdefault(subjects[name], name)
    found = {name: codes[subjects[name]] for name in every if name in labels and subjects[name] in codes}
    beside = {
        name: code for code, name in pairwise(every) if name in labels and not subjects[name]
    }  # code, description
    return found | {name: code for name, code in beside.items() if Part.CODE in read_name(code).parts}


# --------------------------------------------------------------------------------------- names


def _from_name(meaning: Meaning) -> Clue:
    return Clue(meaning.role, f"the name suggests {meaning.about}", meaning.codes)


def _names_something(name: str, codes: bool) -> bool:
    """Whether whole numbers in a column are names of categories: not if it counts something."""
    split = split_name(name)
    if not split or Part.COUNT in read_name(name).parts or (len(split) > 1 and split[0] in _COUNTING):
        return False
    return codes or bool(read_name(split[-1]).parts & {Part.NUMBER, Part.CODE})


def _by_name(name: str, look: Frequent | None) -> Meaning | None:
    """What a name means, in the light of how many values there are."""
    read = read_name(name)
    parts, meanings = read.parts, read.meanings
    of_kind = bool(parts & {Part.KIND, Part.COUNT})  # "phone type", "number of patients"
    if words.DIRECT in meanings or words.UNIT_NUMBER in meanings:
        return None if of_kind else words.DIRECT if words.DIRECT in meanings else words.UNIT_NUMBER
    numbered = Part.NUMBER in parts and not of_kind
    if (
        numbered
        and (Part.UNIT in parts or words.INSURANCE in meanings)
        and set(meanings) <= {words.INSURANCE, words.STAY}
    ):
        return words.UNIT_NUMBER
    if numbered and words.STAY in meanings and _many(look, 10, 0.2):
        return words.UNIT_NUMBER
    if Part.NAME in parts and not of_kind and not meanings and (Part.UNIT in parts or not read.unknown):
        return words.NAME
    if words.WEIGHT in meanings or (Part.SAMPLING in parts and words.SOME_WEIGHT in meanings):
        return words.WEIGHT
    for first in (words.FREE_TEXT, words.AGE):
        if first in meanings:
            return first
    if _is_date(parts, meanings):
        return words.BIRTH if words.BIRTH in meanings else words.DATE
    if Part.TIME in parts and words.STAY in meanings:
        return words.STAY_LENGTH
    if meanings:
        return meanings[0]
    if numbered and _many(look, 10, 0.2):
        return words.NUMBER
    if Part.UNIT in parts and not of_kind and _many(look, 20, 0.05):
        return words.UNIT_NUMBER
    return None


def _is_date(parts: frozenset[Part], meanings: tuple[Meaning, ...]) -> bool:
    if Part.DATE in parts:
        return True
    if Part.MAYBE_DATE in parts:
        return bool(meanings)
    return (
        Part.PERIOD in parts
        and Part.TIME not in parts
        and (not meanings or meanings[0] in (words.BIRTH, words.STAY, words.HEALTH))
    )


def _many(look: Frequent | None, count: int, share: float) -> bool:
    """Whether a column has many different texts or whole numbers: measurements are no names."""
    if look is None or look.distinct < count or look.distinct <= share * look.rows:
        return False
    return not any(re.fullmatch(r"-?\d*\.\d*[1-9]\d*", text) for text in look.spellings)


def _subject(name: str) -> str:
    """The words of a name without those that say that it is a code or a description."""
    small = {Part.CODE, Part.LABEL, Part.NAME, Part.NUMBER}
    return "".join(word for word in split_name(name) if not read_name(word).parts & small)


# --------------------------------------------------------------------------------------- values


def _by_values(texts: Sequence[str]) -> Clue:
    if len(texts) < 10 and _are_sexes({text.strip().casefold() for text in texts}):
        return Clue(words.SEX.role, "the values look like sexes")
    if _most(texts, _MONEY):
        return Clue(words.MONEY.role, "the values look like amounts of money")
    if len(texts) >= 20 and len({text[0] for text in texts}) > 2 and _most(texts, _ICD10):
        return Clue(words.DIAGNOSIS.role, "the values look like codes of ICD-10")
    return Clue(Role.UNDECIDED)


def _are_sexes(texts: set[str]) -> bool:
    men, women, neither = ({one for one in texts if kind.fullmatch(one)} for kind in (_MAN, _WOMAN, _NEITHER))
    return bool(men and women) and texts == men | women | neither


def _most(texts: Sequence[str], pattern: re.Pattern[str]) -> bool:
    if not texts or (pattern.fullmatch(texts[0].strip()) is None and pattern.fullmatch(texts[-1].strip()) is None):
        return False
    return sum(pattern.fullmatch(text.strip()) is not None for text in texts) >= MOST * len(texts)


def _is_free_text(look: Frequent) -> bool:
    """Whether most values are whole phrases, and hardly one occurs twice."""
    if look.distinct < 10 or look.distinct < 0.3 * look.rows:
        return False
    return sum(len(text.split()) > 4 for text in look.spellings) > 0.5 * len(look.spellings)
