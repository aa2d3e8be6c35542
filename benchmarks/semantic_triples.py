"""The bound of semantic noise over all triples of 600 codes of ICD-9-CM, from the matrix that is drawn from.

    python benchmarks/semantic_triples.py

The largest log P(o | c1) - log P(o | c2), as a share of ε·d(c1, c2), over all codes c1, c2 and o: at most 1.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import taxomask as tm

CODES = 600


def main() -> None:
    icd = tm.Taxonomy.builtin("icd9cm")
    leaves = [code for code in icd if not icd.children(code)]
    codes = np.random.default_rng(1).choice(leaves, CODES, replace=False).tolist()
    schema = tm.Schema([tm.Attribute("dx", role="quasi_identifier", kind="taxonomic", taxonomy="icd9cm")])
    data = tm.Microdata.from_frame(pa.table({"dx": codes}), schema)
    column = data.columns["dx"]
    assert isinstance(column, tm.microdata.TaxonomicColumn)
    apart = column.table[np.ix_(column.codes, column.codes)]
    apart = apart / apart.max()
    for epsilon in (1, 2, 4, 8, 16, 32):
        for sharp in (False, True):
            method = tm.SemanticNoise(epsilon, domain={"dx": codes}, sharp=sharp)
            transition = method.transition(data, "dx")
            assert transition is not None
            places = transition.numbers(column)
            chances = np.log(transition.matrix()[np.ix_(places, places)])
            worst = 0.0
            for one in range(CODES):
                most = (chances[one] - chances).max(axis=1)  # over what is released, for each other code
                others = np.arange(CODES) != one
                worst = max(worst, float((most[others] / (epsilon * apart[one, others])).max()))
            print(f"ε = {epsilon:>2}{', sharp' * sharp:<7} {CODES**3:,} triples: at most {worst:.4f} of the exponent")


if __name__ == "__main__":
    main()
