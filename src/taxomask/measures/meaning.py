"""What each figure is called, what it means in one sentence, and what the papers call it.

Reports, the page, the map and the command line take their words from here, so that a figure means the same everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["HEADLINE", "MEASURES", "Meaning", "headline_meaning", "value_at"]


@dataclass(frozen=True)
class Meaning:
    """The words for one figure.

    Parameters
    ----------
    where
        Where it stands in the plain values of an evaluation (``Evaluation.to_dict``), with dots between the keys; a
        star stands for each column, or each choice of columns.
    title
        What people read.
    about
        Its meaning, in one sentence.
    paper
        Its name in the papers, if it has one.
    """

    where: str
    title: str
    about: str
    paper: str = ""


def value_at(values: Any, where: str) -> Any:
    """The figure at a place of plain values; of several columns, one for each. None if there is none.

    >>> value_at({"a": {"x": {"l": 2}, "y": {"l": 3}}}, "a.*.l"), value_at({"a": None}, "a.b")
    ({'x': 2, 'y': 3}, None)
    """
    key, _, rest = where.partition(".")
    if not key:
        return values
    if not isinstance(values, Mapping):
        return None
    if key == "*":
        return {name: value_at(one, rest) for name, one in values.items()}
    return value_at(values.get(key), rest)


_CLOSE = "The share of original values close to the released one: within 5 % of the ranks, or among the nearest codes."

HEADLINE: dict[str, Meaning] = {
    one.where.removeprefix("headline."): one
    for one in (
        Meaning(
            "headline.risk",
            "risk",
            "The share of records linked rightly by an intruder who holds the original quasi-identifiers.",
        ),
        Meaning(
            "headline.loss",
            "loss",
            "How far values moved, the mean over the protected columns: 0 is not at all, 1 is every value replaced by "
            "the average of its column.",
            "SSE/SST",
        ),
        Meaning("headline.worst_column", "worst column", "The protected column that lost most."),
        Meaning("headline.worst_loss", "worst loss", "The loss of the worst column, on the same scale.", "SSE/SST"),
        Meaning(
            "headline.score",
            "score",
            "The mean of 100 × loss and of the disclosure risk DR, which is 100 × the mean of risk and interval "
            "disclosure; smaller is better.",
            "Score",
        ),
        Meaning(
            "headline.interval_disclosure",
            "interval disclosure",
            _CLOSE,
            "rank-interval disclosure",
        ),
        Meaning("headline.k", "smallest class", "The fewest records that share all released quasi-identifiers.", "k"),
        Meaning(
            "headline.uniques",
            "unique records",
            "Records that share their released quasi-identifiers with no other one.",
        ),
    )
}
"""The figures that sum up a release, by their keys."""


def headline_meaning(name: str) -> Meaning:
    """The words for a figure of a headline, or of a point of a map that somebody made."""
    return HEADLINE.get(name, Meaning(f"headline.{name}", name.replace("_", " "), ""))


_CLASSES = "from the sizes of classes of equal quasi-identifiers"

MEASURES: tuple[Meaning, ...] = (
    Meaning(
        "utility.overall.overall",
        "loss",
        "Squared distance of released to original values, as a share of that to the average; the mean over the "
        "protected columns.",
        "SSE/SST",
    ),
    Meaning(
        "utility.squared_errors.overall",
        "squared errors",
        "The sum of squared distances of released to original values, over all records and columns, units mixed.",
        "SSE",
    ),
    Meaning(
        "utility.root_mean_square_errors.overall",
        "typical error",
        "The root of the mean squared distance of released to original values over all cells, units mixed.",
        "RMSE",
    ),
    Meaning(
        "utility.total_distance.overall",
        "distance of categories",
        "The summed distance of released to original categories and codes, over all records.",
        "Dist",
    ),
    Meaning(
        "utility.entropy.overall",
        "entropy",
        "How many bits about the original categories the released ones leave open, over all records.",
        "EBIL",
    ),
    Meaning(
        "utility.differences.means.overall",
        "means",
        "The mean relative change of the means of columns; of codes, of their least marginality.",
        "Δ(mean)",
    ),
    Meaning(
        "utility.differences.variances.overall",
        "variances",
        "The mean relative change of the variances of columns; of codes, of their marginality.",
        "Δ(variance)",
    ),
    Meaning(
        "utility.differences.covariances.overall",
        "covariances",
        "The mean relative change of the covariances of pairs of numbers, and of pairs of codes.",
        "Δ(covariance)",
    ),
    Meaning(
        "utility.differences_in_samples.means.overall",
        "means in samples",
        "The mean relative change of means for somebody who uses a random tenth of the records, over 100 samples.",
        "Δ̄(mean)",
    ),
    Meaning(
        "utility.differences_in_samples.variances.overall",
        "variances in samples",
        "The mean relative change of variances for somebody who uses a random tenth of the records.",
        "Δ̄(variance)",
    ),
    Meaning(
        "utility.differences_in_samples.covariances.overall",
        "covariances in samples",
        "The mean relative change of covariances for somebody who uses a random tenth of the records.",
        "Δ̄(covariance)",
    ),
    Meaning("utility.information.overall", "information loss of numbers", "100 times the mean of IL1 to IL5.", "IL"),
    Meaning(
        "utility.information.values.overall",
        "values of numbers",
        "The mean change of a number as a share of it; cells with 0 are left out.",
        "IL1",
    ),
    Meaning("utility.information.means.overall", "means of numbers", "The mean relative change of the means.", "IL2"),
    Meaning(
        "utility.information.variances.overall",
        "variances of numbers",
        "The mean relative change of the variances.",
        "IL3",
    ),
    Meaning(
        "utility.information.covariances.overall",
        "covariances of numbers",
        "The mean relative change of the covariances of pairs.",
        "IL4",
    ),
    Meaning(
        "utility.information.correlations.overall",
        "correlations of numbers",
        "The mean absolute change of Pearson's correlations of pairs.",
        "IL5",
    ),
    Meaning(
        "utility.probabilistic.quantiles.overall",
        "quantiles, against chance",
        "How sure it is, from 0 to 1, that quantiles changed by more than the luck of the draw.",
        "PIL(Q)",
    ),
    Meaning(
        "utility.probabilistic.means.overall",
        "means, against chance",
        "How sure it is, from 0 to 1, that means changed by more than the luck of the draw.",
        "PIL(m)",
    ),
    Meaning(
        "utility.probabilistic.variances.overall",
        "variances, against chance",
        "How sure it is, from 0 to 1, that variances changed by more than the luck of the draw.",
        "PIL(m2)",
    ),
    Meaning(
        "utility.probabilistic.covariances.overall",
        "covariances, against chance",
        "How sure it is, from 0 to 1, that covariances changed by more than the luck of the draw.",
        "PIL(m11)",
    ),
    Meaning(
        "utility.probabilistic.correlations.overall",
        "correlations, against chance",
        "How sure it is, from 0 to 1, that correlations changed by more than the luck of the draw.",
        "PIL(r)",
    ),
    Meaning(
        "utility.tables.relative.overall",
        "tables of counts",
        "The relative changes of all counts in tables of one or two categorical columns, summed.",
        "CTBIL'",
    ),
    Meaning(
        "utility.tables.per_cell.overall", "tables of counts, per cell", "The same per cell of a table.", "ACTBIL'"
    ),
    Meaning(
        "utility.semantic_means.overall",
        "middle of codes",
        "How far the middle of categories and codes moved, as a semantic distance; the mean over these columns.",
        "distance of semantic means",
    ),
    Meaning(
        "utility.distance_variances.overall",
        "distance variances",
        "The mean absolute change of how spread out a column is.",
        "|sdVar' − sdVar|",
    ),
    Meaning(
        "utility.distance_correlations.overall",
        "distance correlations",
        "The mean absolute change of the connection of two columns of any kind, over all pairs.",
        "|sdCor' − sdCor|",
    ),
    Meaning(
        "utility.rank_correlations.overall",
        "rank correlations",
        "The mean absolute change of Spearman's rank correlation, over all pairs.",
        "|r_sz − r_sx|",
    ),
    Meaning(
        "utility.regression.overall",
        "regression",
        "How much of the confidence intervals of regressions no longer overlaps: 0 is nothing, 1 is all.",
        "1 − overlap",
    ),
    Meaning(
        "utility.chapters.loss.overall",
        "branches of a taxonomy",
        "The share of records that would have to change the branch, the mean over levels and columns.",
    ),
    Meaning(
        "utility.propensity.overall",
        "propensity",
        "How well a model tells released from original records: 0 is not at all, 1 is always.",
        "pMSE / c(1 − c)",
    ),
    Meaning(
        "risk.linkage.expected.value",
        "linked by all quasi-identifiers",
        "The share of records linked rightly with the nearest original one; of equally near ones one is drawn.",
        "record linkage",
    ),
    Meaning(
        "risk.linkage.unique.value",
        "linked for sure",
        "The share of records whose own original is nearer than any other.",
        "record linkage, unique",
    ),
    Meaning(
        "risk.partial_linkage",
        "linked by some quasi-identifiers",
        "The share linked rightly by an intruder who holds these columns only.",
    ),
    Meaning(
        "risk.intervals.attributes.*.value",
        "disclosed in an interval",
        _CLOSE,
        "rank-interval disclosure",
    ),
    Meaning(
        "risk.rank_correlation.*.value",
        "ranks kept",
        "The rank correlation of original and released values: 1 gives the order away, 0 is a random order.",
        "r_xz",
    ),
    Meaning(
        "risk.change_in_rank.*.mean",
        "change in rank",
        "By how many ranks records moved on average; 0 gives the order away.",
        "change in rank",
    ),
    Meaning(
        "risk.inference",
        "guessed from the nearest record",
        "The share of confidential values guessed rightly from the nearest released record.",
    ),
    Meaning("risk.classes.uniques", "unique records", HEADLINE["uniques"].about),
    Meaning("risk.classes.k", "smallest class", HEADLINE["k"].about, "k"),
    Meaning(
        "risk.reidentification.prosecutor.highest",
        "highest prosecutor risk",
        f"The chance to find the easiest person, known to be in the table, {_CLASSES}.",
        "prosecutor risk",
    ),
    Meaning(
        "risk.reidentification.marketer.value",
        "marketer risk",
        f"The share of all records linked rightly, {_CLASSES}.",
        "marketer risk",
    ),
    Meaning("risk.diversity.*.l", "l-diversity", "The fewest different confidential values in a class.", "l"),
    Meaning(
        "risk.closeness.*.t",
        "t-closeness",
        "The largest distance of the confidential values of a class to those of the table, from 0 to 1.",
        "t",
    ),
    Meaning(
        "risk.individual.expected",
        "people found in the population",
        "How many records of a survey would be found in the population, from the weights.",
    ),
)
"""Every measure of an evaluation."""
