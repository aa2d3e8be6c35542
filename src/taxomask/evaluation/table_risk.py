"""What a table risks before it is protected: who stands out in it, and by which columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measures.plain import Result
from ..measures.risk import (
    ClassSizes,
    IndividualRisk,
    PopulationUniques,
    SpecialUniques,
    class_sizes,
    individual_risk,
    population_uniques,
    special_uniques,
)
from ..measures.risk.inputs import class_numbers
from ..measures.risk.special_uniques import FRACTION, most_columns
from ..methods import Progress
from ..microdata import Microdata
from ..microdata.class_risk import class_risk, survey_weights

__all__ = ["TableRisk", "table_risk"]


@dataclass(frozen=True, eq=False)
class TableRisk(Result):
    """Who stands out in a table by its quasi-identifiers.

    ``classes``: records that are equal in all of them; ``special_uniques``: who is singled out by few columns, and by
    which. Of a sample whose population is known (`Schema`: ``sampling_weight``, ``population_size``) also
    ``individual``: the chance to find each record in the population, and ``population_uniques``. ``chances`` has the
    chance to find each record: in the population, where that is known, else in the table.
    """

    classes: ClassSizes
    special_uniques: SpecialUniques
    individual: IndividualRisk | None
    population_uniques: PopulationUniques | None
    chances: NDArray[np.float64]

    def worst(self, data: Microdata, most: int = 10) -> list[dict[str, Any]]:
        """The records that are found most easily: their rows, from 1, the chance, and the columns that are enough."""
        order = np.lexsort((-self.special_uniques.score, -self.chances))[:most].tolist()
        return [
            {
                "row": int(data.rows[i]) + 1,
                "chance": float(self.chances[i]),
                "score": float(self.special_uniques.score[i]),
                "columns": list(self.special_uniques.singles_out(i)),
            }
            for i in order
        ]


def table_risk(data: Microdata, progress: Progress | None = None) -> TableRisk:
    """What must be protected in a table, before it is known how.

    Examples
    --------
    >>> import pyarrow as pa, taxomask as tm
    >>> schema = tm.Schema([tm.Attribute(name, role="quasi_identifier", kind="nominal") for name in ("sex", "job")])
    >>> table = pa.table({"sex": ["f", "f", "m", "m"], "job": ["cook", "nurse", "cook", "cook"]})
    >>> data = tm.Microdata.from_frame(table, schema)
    >>> found = table_risk(data)
    >>> found.classes.uniques, found.worst(data, 1)
    (2, [{'row': 1, 'chance': 1.0, 'score': 1.0, 'columns': ['sex', 'job']}])
    """
    classes = class_sizes(data, data)
    weights, size = survey_weights(data), data.schema.population_size
    people = data.n if data.people is None else len(np.unique(data.people))
    if size is None and weights is not None:
        size = max(round(float(people_weights(weights, data.people).sum())), people)
    most = most_columns(len(classes.attributes), data.n)
    special = special_uniques(data, most=most, fraction=people / size if size else FRACTION, progress=progress)
    chances = class_risk(class_numbers(data.columns[name] for name in classes.attributes), data.people, weights)
    return TableRisk(
        classes,
        special,
        None if weights is None else individual_risk(data, data, weights),
        None if size is None else population_uniques(data, size),
        chances,
    )


def people_weights(weights: NDArray[np.float64], people: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """For how many people each person stands: the mean over their records."""
    return weights if people is None else weights / np.bincount(people)[people]
