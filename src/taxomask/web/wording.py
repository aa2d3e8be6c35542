"""Errors in the words of the page, with the step and the column where they are mended."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["Wording"]

# The step at which each kind of error is mended, as a rule.
_STEPS = {
    "SchemaError": "describe",
    "TaxonomyError": "describe",
    "UnknownConceptError": "describe",
    "DataError": "describe",
    "PlanError": "protect",
    "PromiseError": "protect",
    "TooLargeError": "open",
}
_WORDS = {
    "'undecided'": "“Undecided”",
    "'quasi_identifier'": "“Quasi-identifier”",
    "quasi_identifier": "quasi-identifier",
    "'identifier'": "“Identifier”",
    "'confidential'": "“Confidential”",
    "'other'": "“Other”",
    "'continuous'": "“numbers”",
    "'ordinal'": "“ordered categories”",
    "'nominal'": "“categories”",
    "'taxonomic'": "“taxonomy codes”",
    "open_ends": "open ends",
    "the limits of the plan": "your limits",
    "limits of the plan": "your limits",
    "attribute to protect": "column to protect",
    ", and databases by their address": "",
    "limits: risk: input": "“Largest risk”",
    "limits: disclosure: input": "“Largest disclosure”",
    "limits: loss: input": "“Largest loss”",
    "limits: worst_loss: input": "“Largest loss of a column”",
    "limits: analyses: input": "“Smallest overlap of an analysis”",
}
# What belongs to the command line, to Python or to a plan that is written by hand.
_ELSEWHERE = re.compile(
    r"`|--[a-z]|\w=|=\[|\b(Python|in the plan|plan's|YAML|command line|docs/)|\b(schema|tm|Taxonomy|frame)\.\w"
    r"|[:=] ?[\[{(…]|\w: …|\bPass \w+|#\w+\."
)
_INSTEAD = {
    "open": "Open another file, or save this one again.",
    "describe": "Change what is said about the columns.",
    "protect": "Change the method or what must hold.",
    "compare": "Change the methods to try.",
}


class Wording:
    """Says errors as the page would.

    Parameters
    ----------
    folders
        Where files of the page lie: they are named without these.
    names
        The columns of the table.
    """

    def __init__(self, folders: Iterable[Path] = (), names: Iterable[str] = ()) -> None:
        self._folders = sorted({str(one) for one in folders if str(one) != "."}, key=len, reverse=True)
        self._names = tuple(names)

    def __call__(self, kind: str, message: str, hint: str = "", *, step: str | None = None) -> dict[str, Any]:
        """The message, what to do, the step where it is done, and the column that it is about, if it names one.

        >>> said = Wording(names=["dx"])("SchemaError", "attribute 'dx': order must be a list.", "Write order=['a'].")
        >>> said["message"], said["hint"], said["step"], said["column"]
        ("column 'dx': order must be a list.", 'Change what is said about the columns.', 'describe', 'dx')
        """
        message = self._plain(message)
        named = [name for name in self._names if f"{name!r}" in message]
        column = min(named, key=lambda name: message.index(f"{name!r}"), default=None)  # the first that is named
        where = step or _STEPS.get(kind)
        if kind == "DataError" and column is None and step is None:
            where = "protect"  # such as groups that are larger than the table
        if where == "protect" and column is not None and re.match(r"column |attribute ", message):
            where = "describe"
        sentences = [one for one in _sentences(self._plain(hint)) if not _ELSEWHERE.search(one)]
        instead = [] if where is None or sentences else [_INSTEAD[where]]
        if "undecided" in message:
            sentences = ["Choose a role for each of them."]
        return {
            "message": re.sub(r"(^|: )attribute (?=['\"])", r"\1column ", message),
            "hint": " ".join(sentences or instead),
            "step": where,
            "column": column,
        }

    def _plain(self, text: str) -> str:
        for folder in self._folders:
            text = re.sub(re.escape(folder) + r"/([0-9a-f]{16}/)?", "", text)
        for said, meant in _WORDS.items():
            text = text.replace(said, meant)
        return re.sub(r"needs the parameter '(\w+)'", lambda found: f"needs “{_label(found[1])}”", text)


def _label(name: str) -> str:
    """The name of a parameter as it stands above its field."""
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:] if len(text) > 1 else text


def _sentences(text: str) -> list[str]:
    """Sentences, and the parts of those that have a semicolon, each whole."""
    found = []
    for sentence in filter(None, re.split(r"(?<=[.!?])\s+", text)):
        parts = [one for one in re.split(r";\s+", sentence) if not _ELSEWHERE.search(one)]
        if parts:
            joined = "; ".join(parts)
            found.append(
                joined[0].upper() + joined[1:].rstrip(".!?") + (sentence[-1] if sentence[-1] in ".!?" else ".")
            )
    return found
