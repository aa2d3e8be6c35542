"""What a reader finds in a taxonomy file, before it is checked and put in order."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Listing"]


@dataclass
class Listing:
    """Concepts and is-a edges as they stand in a file, in the order of the file.

    Parameters
    ----------
    origin
        The file (or folder), for messages.
    ids, labels, codes, lines
        One entry per concept: its identifier, its name, its notation (such as a dotted ICD code)
        and the line that declares it. ``""`` stands for no name or notation, line 0 for unknown.
    children, parents, edge_lines
        One entry per is-a edge: the identifiers of both ends and the line that states it.
    aliases
        Alternative identifiers and the identifier that each stands for.
    """

    origin: str
    ids: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    edge_lines: list[int] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)

    def add(self, concept: str, *, label: str = "", code: str = "", line: int = 0) -> None:
        """Declare a concept."""
        self.ids.append(concept)
        self.labels.append(label)
        self.codes.append(code)
        self.lines.append(line)

    def link(self, child: str, parent: str, *, line: int = 0) -> None:
        """State that child is a parent (an is-a edge)."""
        self.children.append(child)
        self.parents.append(parent)
        self.edge_lines.append(line)

    def where(self, line: int) -> str:
        """The place of a line, for messages: ``"go.obo, line 12"``."""
        return f"{self.origin}, line {line}" if line else self.origin
