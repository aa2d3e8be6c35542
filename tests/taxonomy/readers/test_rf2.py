"""SNOMED CT snapshot folders."""

from __future__ import annotations

import gzip
import shutil
from collections import Counter

import pytest

from taxomask.errors import TaxonomyError
from taxomask.taxonomy.readers import read_listing

ROOT = "138875005"


def edges(listing) -> list[tuple[str, str]]:
    return list(zip(listing.children, listing.parents, strict=True))


@pytest.fixture
def release(data, tmp_path):
    return shutil.copytree(data / "rf2_sample", tmp_path / "release")


def part(release, kind):
    return next(release.rglob(f"*{kind}*Snapshot*"))


def rows(path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_bytes().decode().split("\r\n")[1:] if line]


def test_sample(data):
    listing = read_listing(data / "rf2_sample")
    assert (len(listing.ids), len(listing.children)) == (14, 14)
    assert set(listing.ids) - set(listing.children) == {ROOT}
    assert [c for c, count in Counter(listing.children).items() if count > 1] == ["119999999106"]
    active = [row for row in rows(part(data / "rf2_sample", "Concept")) if row[2] == "1"]
    assert listing.ids == [row[0] for row in active]


def test_labels_are_preferred_terms(data):
    listing = read_listing(data / "rf2_sample")
    labels = dict(zip(listing.ids, listing.labels, strict=True))
    assert labels["19999999103"] == "Plant product"  # the full name has "(made-up)" behind
    assert labels[ROOT] == "Root of the made-up sample"  # has a full name only
    assert all(labels.values())
    assert any('"' in label for label in listing.labels)
    assert not any("made-up)" in label or "\r" in label for label in listing.labels)


def test_lines_are_those_of_the_relationship_file(data):
    listing = read_listing(data / "rf2_sample")
    path = part(data / "rf2_sample", "Relationship")
    lines = path.read_bytes().decode().split("\r\n")
    assert listing.where(listing.edge_lines[3]) == f"{path}, line {listing.edge_lines[3]}"
    for child, parent, line in zip(listing.children, listing.parents, listing.edge_lines, strict=True):
        assert lines[line - 1].split("\t")[4:6] == [child, parent]


def test_packed_files_and_unix_line_ends(data, release):
    for path in list(release.rglob("*.txt")):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes().replace(b"\r\n", b"\n")))
        path.unlink()
    listing, plain = read_listing(release), read_listing(data / "rf2_sample")
    assert (listing.ids, listing.labels, edges(listing)) == (plain.ids, plain.labels, edges(plain))


def test_other_relationship(data):
    (other,) = {row[7] for row in rows(part(data / "rf2_sample", "Relationship"))} - {"116680003"}
    assert len(read_listing(data / "rf2_sample", parent=other).children) == 1


def change(path, old: str, new: str) -> None:
    text = path.read_bytes().decode()
    assert text.count(old) >= 1
    path.write_bytes(text.replace(old, new, 1).encode())


def test_extension_beside_the_international_edition(release):
    """The latest row of each component counts, in whichever file it stands."""
    concepts, relationships = part(release, "Concept"), part(release, "Relationship")
    newer = concepts.with_name("sct2_Concept_Snapshot_Ext_20260101.txt")
    header = concepts.read_bytes().split(b"\r\n")[0]
    newer.write_bytes(header + b"\r\n119999999106\t20260101\t0\t9\t9\r\n77\t20260101\t1\t9\t9\r\n")
    extra = relationships.with_name("sct2_Relationship_Snapshot_Ext_20260101.txt")
    header = relationships.read_bytes().split(b"\r\n")[0]
    extra.write_bytes(header + f"\r\n5\t20260101\t1\t9\t77\t{ROOT}\t0\t116680003\t9\t9\r\n".encode())
    listing = read_listing(release)
    assert "119999999106" not in listing.ids
    assert (len(listing.ids), len(listing.children)) == (14, 14 - 2 + 1)
    assert ("77", ROOT) in edges(listing)
    assert listing.origin == str(release)


def refused(path, *parts, **options) -> None:
    with pytest.raises(TaxonomyError) as error:
        read_listing(path, **options)
    for part in parts:
        assert part in str(error.value)
    assert error.value.hint


def test_concept_below_an_inactive_one(release):
    path = part(release, "Concept")
    change(path, "19999999103\t20240101\t1", "19999999103\t20240101\t0")
    relationships = part(release, "Relationship")
    refused(release, f"{relationships}, line 3: ", "'29999999105'", "'19999999103', which is inactive")


def test_concept_that_is_not_listed(release):
    change(part(release, "Relationship"), "\t19999999103\t138875005", "\t555\t138875005")
    refused(release, f"{part(release, 'Relationship')}, line 2: ", "'555'", "not listed")


def test_missing_parents_are_left_for_the_taxonomy_to_refuse(release):
    change(part(release, "Relationship"), "\t19999999103\t138875005", "\t19999999103\t555")
    assert edges(read_listing(release))[0] == ("19999999103", "555")


def test_repeated_concept(release):
    path = part(release, "Concept")
    lines = path.read_bytes().split(b"\r\n")
    path.write_bytes(b"\r\n".join([*lines[:3], lines[1], *lines[3:]]))
    refused(release, f"{path}, line 4: ", f"'{ROOT}'", "second row")


def test_missing_and_wrong_files(release):
    part(release, "Relationship").unlink()
    refused(release, str(release), "no relationship snapshot")
    path = part(release, "Concept")
    refused(path, str(path), "from its folder", "Give the folder")
    path.write_bytes(b"code,label\r\n1,2\r\n")
    refused(release, "no relationship snapshot")


def test_wrong_header_and_short_rows(release):
    path = part(release, "Description")
    change(path, "\ten\t", "\t")
    refused(release, f"{path}, line 2: ", "8 cells instead of 9")
    change(path, "conceptId", "concept")
    refused(release, f"{path}, line 1: ", "not a description snapshot")


def test_term_that_is_not_utf8(release):
    path = part(release, "Description")
    path.write_bytes(path.read_bytes().replace(b"Plant product\t", b"Pl\xe4nt product\t", 1))
    refused(release, f"{path}, line 4: ", "'19999999103'", "not UTF-8")


@pytest.mark.parametrize(("kind", "places"), [("Concept", [0, 4]), ("Relationship", [4, 5]), ("Language", [4, 5])])
def test_rows_that_are_not_utf8(release, kind, places):
    path = part(release, kind)
    lines = path.read_bytes().split(b"\r\n")
    for place in places:
        cells = lines[1].split(b"\t")
        cells[place] = cells[place][:2] + b"\xff" + cells[place][2:]
        path.write_bytes(b"\r\n".join([lines[0], b"\t".join(cells), *lines[2:]]))
        refused(release, f"{path}, line 2: ", "the row is not UTF-8")


def test_unknown_relationship_and_reference_set(data):
    refused(data / "rf2_sample", "type '12345'", "116680003", parent="12345")
    refused(data / "rf2_sample", "no language reference set '7'", "900000000000508004", refset="7")
