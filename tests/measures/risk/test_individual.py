"""Individual and household risk of surveys, against sdcMicro."""

from __future__ import annotations

from math import log

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import taxomask as tm
from taxomask.measures.risk import individual_risk

from .survey import francdat, survey, survey_frame, survey_schema

Float = NDArray[np.float64]


def of_sdcmicro(data: tm.Microdata) -> tuple[NDArray[np.int64], Float]:
    """The sizes of classes and the individual risk as sdcMicro computes it: for f > 2 by p / (f - 1 + p)."""
    rows = list(
        zip(
            *(
                column.numbers().tolist()
                for name, column in data.columns.items()
                if name in data.schema.quasi_identifiers
            ),
            strict=True,
        )
    )
    weights, sums, counts = data.weights, {}, {}
    assert weights is not None
    for row, weight in zip(rows, weights.tolist(), strict=True):
        counts[row], sums[row] = counts.get(row, 0) + 1, sums.get(row, 0.0) + weight
    risks = []
    for row in rows:
        f = counts[row]
        p = f / sums[row]
        q = p / (1 - p)
        risks.append(q * log(1 / p) if f == 1 else q - q**2 * log(1 / p) if f == 2 else p / (f - 1 + p))
    return np.array([counts[row] for row in rows]), np.array(risks)


def test_eight_records_as_in_sdcmicro() -> None:
    data = francdat()
    assert data.weights is not None
    risk = individual_risk(data, data, data.weights)
    expected = [0.017144, 0.022042, 0.022042, 0.177076, 0.011654, 0.297063, 0.402359, 0.017144]
    np.testing.assert_array_equal(np.round(risk.records, 6), expected)
    assert of_sdcmicro(data)[0].tolist() == [2, 2, 2, 1, 1, 1, 1, 2]


def test_the_survey_as_in_sdcmicro() -> None:
    """Its figures to the last digit by its own formula; ours is the exact one, which differs where f > 2 only."""
    data = survey()
    f, theirs = of_sdcmicro(data)
    assert (int((f == 1).sum()), int((f < 3).sum())) == (157, 281)
    np.testing.assert_array_equal(
        [f"{x:.6e}" for x in theirs[:5]],
        ["9.433072e-05", "9.900010e-05", "5.713959e-05", "5.713959e-05", "2.221729e-04"],
    )
    assert (round(theirs.mean(), 8), round(theirs.sum(), 4), round(theirs.max(), 8)) == (
        0.00235334,
        10.7783,
        0.04651687,
    )
    risk = individual_risk(data, data, np.full(data.n, 100.0))
    np.testing.assert_allclose(risk.records[f <= 2], theirs[f <= 2], rtol=1e-12)
    assert round(risk.highest, 8) == 0.04651687
    more = theirs[f > 2] / risk.records[f > 2]
    assert (more > 1).all()
    assert (more - 1 < 1.3 / f[f > 2]).all()  # p/(f-1+p) for p/f·(1 + 1/(f+1)·(1-p) + …)
    assert risk.expected == pytest.approx(10.7783, rel=0.01)
    assert risk.expected < 10.7783


def test_households_as_in_sdcmicro() -> None:
    data = survey(household=True)
    homes = data.households
    assert homes is not None
    _, theirs = of_sdcmicro(data)

    def joined(risk: Float) -> Float:
        none = np.ones(homes.max() + 1)
        np.multiply.at(none, homes, 1 - risk)
        return np.asarray((1 - none)[homes])

    assert [f"{x:.6e}" for x in joined(theirs)[:5]] == ["3.075753e-04"] * 4 + ["8.677802e-04"]
    assert (round(joined(theirs).mean(), 8), round(joined(theirs).sum(), 5)) == (0.01131287, 51.81293)
    risk = individual_risk(data, data, np.full(data.n, 100.0))
    assert risk.household is not None
    np.testing.assert_allclose(risk.household.records, joined(risk.records), rtol=1e-10)
    assert risk.household.expected == pytest.approx(51.81293, rel=0.01)
    given = individual_risk(survey(), survey(), np.full(data.n, 100.0), households=survey_frame()["ori_hid"].to_numpy())
    np.testing.assert_array_equal(given.household.records, risk.household.records)  # type: ignore[union-attr]


def test_household_by_hand() -> None:
    """Two people of one home, alone in their classes among 10 each; a third lives alone."""
    schema = tm.Schema([tm.Attribute("job", role="quasi_identifier", kind="nominal")])
    data = tm.Microdata.from_frame(pa.table({"job": ["cook", "nurse", "priest"]}), schema)
    risk = individual_risk(data, data, [10.0, 10.0, 10.0], households=["x", "x", "y"])
    r = 0.1 / 0.9 * log(10)
    assert risk.household is not None
    np.testing.assert_allclose(risk.household.records, [1 - (1 - r) ** 2] * 2 + [r])
    assert risk.household.highest == pytest.approx(1 - (1 - r) ** 2)
    sure = individual_risk(data, data, [1.0, 1.0, 1.0], households=["x", "x", "y"])
    assert sure.household is not None
    assert sure.household.records.tolist() == [1, 1, 1]
    with pytest.raises(tm.DataError, match="2 households for 3"):
        individual_risk(data, data, [1.0] * 3, households=["x", "y"])


def test_a_person_counts_once() -> None:
    """Two rows of one person in a class are one person, for the weight of one; two classes show the easier one."""
    schema = tm.Schema(
        [tm.Attribute("who", role="identifier"), tm.Attribute("job", role="quasi_identifier", kind="nominal")],
        person="who",
    )
    frame = pa.table({"who": ["a", "a", "a", "b"], "job": ["cook", "cook", "nurse", "nurse"]})
    data = tm.Microdata.from_frame(frame, schema)
    risk = individual_risk(data, data, [10.0] * 4)
    one, p = 0.1 / 0.9 * log(10), 0.1
    two = p / (1 - p) - (p / (1 - p)) ** 2 * log(1 / p)
    np.testing.assert_allclose(risk.records, [one, one, two, two])
    assert risk.expected == pytest.approx(one + two)
    assert risk.mean.n == 2


def test_an_evaluation_takes_weights_from_the_schema() -> None:
    frame, schema = survey_frame(), survey_schema()
    found = tm.evaluate(frame, frame.drop_columns(["ori_hid"]), schema)
    assert found.risk.individual.expected == pytest.approx(
        individual_risk(survey(), survey(), np.full(4580, 100.0)).expected
    )
    assert found.risk.population_uniques["after"].population == 458_000
    assert found.risk.special_uniques["after"].fraction == pytest.approx(0.01)
    titles = {title for _, title, _, _ in found.figures()}
    assert {"people found in the population", "population uniques", "highest SUDA score"} <= titles


def test_the_size_of_the_population_is_enough() -> None:
    schema = tm.Schema([tm.Attribute("job", role="quasi_identifier", kind="nominal")], population_size=30)
    frame = pa.table({"job": ["cook", "nurse", "nurse"]})
    found = tm.evaluate(frame, frame, schema)
    data = tm.Microdata.from_frame(frame, schema)
    np.testing.assert_allclose(found.risk.individual.records, individual_risk(data, data, [10.0] * 3).records)
    assert tm.evaluate(frame, frame, schema.of(schema.values(), population_size=None)).risk.individual is None
