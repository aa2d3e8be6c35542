"""Level files, as ARX writes them."""

from __future__ import annotations

import pytest

from taxomask.errors import TaxonomyError
from taxomask.taxonomy.readers import read_listing


def above(listing) -> dict[str, str]:
    parents = dict(zip(listing.children, listing.parents, strict=True))
    assert len(parents) == len(listing.children)
    return parents


@pytest.mark.parametrize(
    ("attribute", "values", "depth"),
    [
        *[("age", 100, 5), ("education", 16, 4), ("marital-status", 7, 3), ("native-country", 41, 3)],
        *[("occupation", 14, 3), ("race", 5, 2), ("salary-class", 2, 2), ("sex", 2, 2), ("workclass", 8, 3)],
    ],
)
def test_every_row_of_adult_is_a_path_to_the_root(data, attribute, values, depth):
    path = data / "adult-arx" / f"adult_hierarchy_{attribute}.csv"
    listing = read_listing(path)
    parents = above(listing)
    rows = [line.split(";") for line in path.read_text(encoding="utf-8").splitlines()]
    assert (len(rows), {len(row) for row in rows}) == (values, {depth})
    assert set(listing.ids) == {cell for row in rows for cell in row}
    assert len(listing.ids) == len(set(listing.ids)) == len(listing.children) + 1
    for row in rows:
        walked = [row[0]]
        while walked[-1] in parents:
            walked.append(parents[walked[-1]])
        assert walked == [cell for i, cell in enumerate(row) if i == 0 or cell != row[i - 1]]


def test_header_delimiter_and_lines(write):
    listing = read_listing(write("value,level1,level2\nOslo,Norway,*\nBergen,Norway,*\nRome,Italy,*\n"))
    assert listing.ids == ["Oslo", "Norway", "*", "Bergen", "Rome", "Italy"]
    assert listing.lines == [2, 2, 2, 3, 4, 4]
    assert above(listing)["Bergen"] == "Norway"
    assert listing.edge_lines == [2, 2, 3, 4, 4]


def test_repeated_names_collapse_and_empty_cells_are_left_out(write):
    listing = read_listing(
        write("Oslo;Norway;Europe;*\nEurope;Europe;Europe;*\nRome;;Europe;*\nX;*;;\n"), format="levels"
    )
    assert above(listing) == {"Oslo": "Norway", "Norway": "Europe", "Europe": "*", "Rome": "Europe", "X": "*"}


def test_several_roots_need_the_format_to_be_named(write):
    path = write("Oslo;Norway\nBergen;Norway\nRome;Italy\n")
    assert above(read_listing(path, format="levels")) == {
        "Oslo": "Norway",
        "Bergen": "Norway",
        "Rome": "Italy",
    }
    with pytest.raises(TaxonomyError, match="not recognised"):
        read_listing(path)


def refused(path, line, *parts, **options) -> None:
    with pytest.raises(TaxonomyError) as error:
        read_listing(path, **options)
    assert str(error.value).startswith(f"{path}, line {line}: ")
    for part in parts:
        assert part in str(error.value)
    assert error.value.hint


def test_two_parents(write):
    refused(write("Paris;France;*\nRome;Italy;*\nTexas;Paris;*\n"), 3, "'Paris'", "'France' on line 1", "'*' here")
    refused(write("a;x;u;*\nb;x;v;*\n"), 2, "concept 'x' has two parents", "'u' on line 1", "'v' here")


def test_name_that_comes_back_higher_up(write):
    refused(write("a;b;a;*\n"), 1, "'a' has two parents", "'b' on line 1", "'*' here")


def test_value_with_two_rows(write):
    refused(write("a;x;*\nb;x;*\na;x;*\n"), 3, "'a'", "first on line 1")


def test_ragged_rows(write):
    refused(write("a;x;*\nb;*\n"), 2, "2 cells instead of 3", "may be empty", format="levels")
    refused(write("a;x;*\nb;x;y;*\n"), 2, "4 cells instead of 3", format="levels")


def test_single_column(write):
    refused(write("a\nb\n"), 1, "one cell only", format="levels")
    with pytest.raises(TaxonomyError, match="not recognised"):
        read_listing(write("a\nb\n"))
