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
        ("Give columns that role; or name attributes=[…].", "Give columns that role."),
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


def test_limits_attributes_and_databases_are_said_as_on_the_page() -> None:
    said = Wording(names=["age"])
    over = said("PlanError", "limits: risk: input should be less than or equal to 1; got 5.")
    assert over["message"] == "“Largest risk” should be less than or equal to 1; got 5."
    plan = said("PlanError", "wrong.yaml: attribute 'age': 'rolle' is not known.")
    assert plan["message"] == "wrong.yaml: column 'age': 'rolle' is not known."
    file = said("DataError", "scan.pdf is not a table.", "CSV and SAS files are read, and databases by their address.")
    assert file["hint"] == "CSV and SAS files are read."
    empty = said("PlanError", "analysis 'a' needs the parameter 'response'.")
    assert empty["message"] == "analysis 'a' needs “Response”."


def test_of_several_columns_the_first_that_is_named_is_gone_to() -> None:
    said = Wording(names=["length of stay", "no"])("SchemaError", "the roles are undecided: 'no', 'length of stay'.")
    assert said["column"] == "no"
    assert Wording(names=["DP", "Date d'entrée"])("DataError", 'column "Date d\'entrée": wrong.')["column"] == (
        "Date d'entrée"
    )
