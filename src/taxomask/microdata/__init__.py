"""What a table is: roles and kinds of columns, coded columns, and the way from tables and files and back."""

from __future__ import annotations

from .attribute import Attribute, Kind, Role
from .coding import Note
from .columns import CategoricalColumn, Column, ContinuousColumn, TaxonomicColumn
from .files import Source, open_table, read_table, write_table
from .infer import infer
from .microdata import Microdata
from .schema import Schema

__all__ = [
    "Attribute",
    "CategoricalColumn",
    "Column",
    "ContinuousColumn",
    "Kind",
    "Microdata",
    "Note",
    "Role",
    "Schema",
    "Source",
    "TaxonomicColumn",
    "infer",
    "open_table",
    "read_table",
    "write_table",
]
