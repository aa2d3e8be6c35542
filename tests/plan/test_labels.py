"""Value labels, measure levels and user-missing values of files decide on kinds, orders and missing codes."""

import pandas as pd
import pyreadstat
import pytest

import taxomask as tm
from taxomask.microdata.files import open_table
from taxomask.plan.draft import draft_plan, draft_schema

HEALTH = {1.0: "very poor", 2.0: "poor", 3.0: "fair", 4.0: "good", 9.0: "refused"}


def survey():
    return pd.DataFrame(
        {
            "age": [20.0, 21, 35, 36, 50, 51, 70, 71] * 4,
            "health": [1.0, 2, 3, 4, 9, 9, 4, 1] * 4,
            "region": [1.0, 2, 3, 1, 2, 3, 1, 2] * 4,
            "score": [1.5, 2.5, 3.5, -7, 5.5, 6.5, 7.5, 8.5] * 4,
        }
    )


def write_sav(path):
    pyreadstat.write_sav(
        survey(),
        str(path),
        variable_value_labels={"health": HEALTH, "region": {1.0: "north", 2.0: "south", 3.0: "west"}},
        variable_measure={"age": "scale", "health": "ordinal", "region": "nominal", "score": "scale"},
        missing_ranges={"score": [{"lo": -7.0, "hi": -7.0}]},
    )


def write_dta(path):
    frame = survey().astype({"health": int, "region": int})
    labels = {
        "health": {int(value): text for value, text in HEALTH.items()},
        "region": {1: "north", 2: "south", 3: "west"},
    }
    pyreadstat.write_dta(frame, str(path), variable_value_labels=labels, version=14)


def drafted(path):
    source = open_table(path, text=True)
    return draft_schema(source.read(), beside=path, roles={"*": "quasi_identifier"}, source=source)


def test_spss_says_what_is_ordinal_nominal_and_missing(tmp_path):
    path = tmp_path / "survey.sav"
    write_sav(path)
    schema = drafted(path)
    assert (schema["health"].kind, schema["health"].order) == ("ordinal", ("1", "2", "3", "4"))
    assert "9" in schema["health"].missing
    assert schema["region"].kind == "nominal"
    assert schema["score"].kind == "continuous"
    assert "-7" in schema["score"].missing
    assert schema["age"].kind == "continuous"


def test_values_of_stata_that_all_have_labels_are_categories(tmp_path):
    path = tmp_path / "survey.dta"
    write_dta(path)
    schema = drafted(path)
    assert (schema["health"].kind, schema["region"].kind) == ("nominal", "nominal")
    assert "9" in schema["health"].missing
    assert "9 is labelled 'refused': means missing" in schema["health"].note


@pytest.mark.parametrize("suffix", ["sav", "dta"])
@pytest.mark.parametrize("engine", ["memory", "local"])
def test_a_refusal_is_never_averaged(tmp_path, suffix, engine):
    path = tmp_path / f"survey.{suffix}"
    (write_sav if suffix == "sav" else write_dta)(path)
    plan = tmp_path / "plan.yaml"
    text = draft_plan(drafted(path), str(path), tmp_path, tm.Microaggregation(k=4))
    plan.write_text(f"{text}\nengine: {{name: {engine}}}\n", encoding="utf-8")
    tm.run(plan, output=str(tmp_path / f"out.{suffix}"))
    released, about = getattr(pyreadstat, f"read_{suffix}")(str(tmp_path / f"out.{suffix}"), user_missing=True)
    assert set(released["health"]) <= {1, 2, 3, 4, 9}
    known = {int(value): text for value, text in about.variable_value_labels["health"].items()}
    assert known == {value: text for value, text in HEALTH.items() if value in set(released["health"])}


def test_the_label_of_a_column_is_shown_and_tells_its_role(tmp_path):
    """Names such as v12 say nothing; what the file calls the column does."""
    path = tmp_path / "survey.sav"
    frame = pd.DataFrame({"v1": [500.0 + i for i in range(40)], "v2": [1.0, 2, 3, 99] * 10, "v3": [1.5, 2.5] * 20})
    labels = ["Respondent number", "Region of residence", "Trust in parliament"]
    pyreadstat.write_sav(frame, str(path), column_labels=labels, missing_ranges={"v2": [99]})
    source = open_table(path, text=True)
    schema = draft_schema(source.read(), beside=path, source=source)
    assert [str(one.role) for one in schema.values()] == [
        "undecided",
        "identifier",
        "quasi_identifier",
    ]  # v3 comes first
    assert schema["v1"].note.startswith("labelled 'Respondent number'; that suggests the number of a person")
    assert (schema["v2"].kind, schema["v2"].missing) == ("nominal", ("", "99"))
    assert "looks like missing" not in schema["v2"].note
    assert schema["v3"].note == "labelled 'Trust in parliament'"
