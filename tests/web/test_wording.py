"""Errors in the words of the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxomask import Schema
from taxomask.errors import SchemaError, TaxomaskError
from taxomask.plan import Plan
from taxomask.web.wording import Wording

SAY = Wording([Path("/tmp/taxomask-1-x")], ["age", "dx"])


def test_temporary_folders_are_left_out() -> None:
    said = SAY("DataError", "/tmp/taxomask-1-x/0123456789abcdef/people.csv: column 'age', row 3: 'x' is not a number.")
    assert said["message"] == "people.csv: column 'age', row 3: 'x' is not a number."
    assert (said["step"], said["column"]) == ("describe", "age")


@pytest.mark.parametrize(
    ("hint", "kept"),
    [
        ("Check the file. Pass format=edges.", "Check the file."),
        ("Give columns that role, or name attributes=[…].", "Change what is said about the columns."),
        ("Change the method; `taxomask compare` shows what is possible.", "Change the method."),
        ("Write taxonomy: {from: [code, group]}, the column itself first.", "Change what is said about the columns."),
        ("Did you mean 'dx'?", "Did you mean 'dx'?"),
        ("", "Change what is said about the columns."),
    ],
)
def test_what_belongs_elsewhere_is_left_out_of_hints(hint: str, kept: str) -> None:
    assert SAY("SchemaError", "something is wrong.", hint)["hint"] == kept


def test_undecided_columns_and_wrong_parameters() -> None:
    schema = Schema.from_entries([{"name": "age"}, {"name": "dx", "role": "identifier"}])
    with pytest.raises(SchemaError) as undecided:
        schema.check_decided()
    said = SAY("SchemaError", undecided.value.message, undecided.value.hint)
    assert said["hint"] == "Choose a role for each of them."
    assert (said["step"], said["column"]) == ("describe", "age")
    entry = {"name": "age", "role": "quasi_identifier", "kind": "continuous"}
    with pytest.raises(TaxomaskError) as small:
        Plan.from_dict({"attributes": [entry], "method": {"name": "microaggregation", "k": 1}})
    said = SAY(type(small.value).__name__, small.value.message, small.value.hint)
    assert (said["step"], said["column"]) == ("protect", None)
    assert said["hint"] == "Groups of one record protect nobody."
