"""OBO files."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxomask.errors import TaxonomyError
from taxomask.taxonomy import Taxonomy
from taxomask.taxonomy.readers import read_listing
from taxomask.taxonomy.readers.obo import _joined


def edges(listing) -> list[tuple[str, str]]:
    return list(zip(listing.children, listing.parents, strict=True))


def naive(path):
    """Stanza by stanza with regular expressions: ids, names, edges, relations and alternative ids of live terms."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        stanzas = file.read().split("\n\n")
    ids, names, is_a, part_of, others = [], [], [], [], []
    for stanza in stanzas:
        if not stanza.startswith("[Term]") or re.search("^is_obsolete: true", stanza, re.M):
            continue
        ids += re.findall(r"^id: (\S+)$", stanza, re.M)
        names += re.findall(r"^name: (.+)$", stanza, re.M)
        is_a += [(ids[-1], parent) for parent in re.findall(r"^is_a: (\S+)", stanza, re.M)]
        part_of += [(ids[-1], whole) for whole in re.findall(r"^relationship: part_of (\S+)", stanza, re.M)]
        others += [(other, ids[-1]) for other in re.findall(r"^alt_id: (\S+)", stanza, re.M)]
    return ids, names, is_a, part_of, dict(others)


@pytest.fixture(scope="module")
def naive_go(data):
    return naive(data / "go" / "go-basic.obo.gz")


@pytest.fixture(scope="module")
def go(data):
    return read_listing(data / "go" / "go-basic.obo.gz")


def test_go(go, naive_go):
    ids, names, is_a, part_of, others = naive_go
    assert (len(go.ids), len(go.children)) == (42_769, 68_218)
    assert (go.ids, go.labels, edges(go), go.aliases) == (ids, names, is_a, others)
    below = set(go.children)
    roots = {label for concept, label in zip(go.ids, go.labels, strict=True) if concept not in below}
    assert roots == {"biological_process", "molecular_function", "cellular_component"}
    assert len(part_of) == 6_780


def test_go_lines_point_into_the_file(data, go):
    with gzip.open(data / "go" / "go-basic.obo.gz", "rt", encoding="utf-8") as file:
        lines = file.read().split("\n")
    for at in (0, 1000, len(go.ids) - 1):
        assert lines[go.lines[at] - 1 : go.lines[at] + 1] == ["[Term]", f"id: {go.ids[at]}"]
        assert lines[go.edge_lines[at] - 1].startswith(f"is_a: {go.parents[at]} ")


def test_go_with_parts(data, naive_go):
    listing = read_listing(data / "go" / "go-basic.obo.gz", parent=["is_a", "part_of"])
    _, _, is_a, part_of, _ = naive_go
    assert set(edges(listing)) == {*is_a, *part_of}
    assert len(listing.children) == len(set(edges(listing))) > 68_218


def test_doid_agrees_with_obonet(data):
    import obonet

    path = data / "doid" / "doid.obo.gz"
    listing = read_listing(path)
    graph = obonet.read_obo(path)
    assert (len(listing.ids), len(listing.children)) == (11_501, 15_995)
    assert set(listing.ids) == set(graph.nodes)
    assert set(edges(listing)) == {(a, b) for a, b, key in graph.edges(keys=True) if key == "is_a"}
    assert dict(zip(listing.ids, listing.labels, strict=True)) == dict(graph.nodes(data="name"))
    assert set(listing.ids) - set(listing.children) == {"DOID:4"}
    assert listing.aliases["DOID:267"] == "DOID:0001816"


DOCUMENT = """format-version: 1.2
! a comment

[Term]
id: A
name: all \\{things\\} \\! here \\
and there {source="x! y"} ! said somewhere

[Term] ! the second
id: B ! b
name: bee\\:\\Wkeeper
alt_id: B2
alt_id: X
is_a: A {source="me", comment="a \\"quoted\\" } brace"} ! all
is_a: A ! again

[Typedef]
id: part_of
name: part of

[Term]
id: C
alt_id: X
alt_id: B
relationship: part_of B {when="always"} ! bee
is_a: B

[Term]
id: OLD
alt_id: OLDER
is_a: B
is_obsolete: true
"""


def test_comments_escapes_and_modifiers(write):
    listing = read_listing(write(DOCUMENT))
    assert listing.ids == ["A", "B", "C"]
    assert listing.labels == ["all {things} ! here and there", "bee: keeper", ""]
    assert (edges(listing), listing.edge_lines) == ([("B", "A"), ("C", "B")], [14, 26])
    assert listing.lines == [4, 9, 21]


def test_only_aliases_that_mean_one_term_are_kept(write):
    # X stands for B and for C; B is a term itself; OLDER belongs to an obsolete term.
    assert read_listing(write(DOCUMENT)).aliases == {"B2": "B"}


def test_relation_chosen_and_stated_twice(write):
    assert edges(read_listing(write(DOCUMENT), parent=("is_a", "part_of"))) == [("B", "A"), ("C", "B")]
    assert edges(read_listing(write(DOCUMENT), parent="part_of")) == [("C", "B")]


def refused(path, line, *parts, **options) -> None:
    with pytest.raises(TaxonomyError) as error:
        read_listing(path, **options)
    assert str(error.value).startswith(f"{path}, line {line}: " if line else f"{path}: ")
    for part in parts:
        assert part in str(error.value)
    assert error.value.hint


TERM = "format-version: 1.2\n\n[Term]\nid: A\nname: a\n\n"


@pytest.mark.parametrize("header", ["[Term", "[Ter m]", "[]", "[Term]]", "[Term] id: B"])
def test_broken_stanza(write, header):
    refused(write(f"{TERM}{header}\nid: B\n"), 7, repr(header), "is broken")


def test_line_without_colon(write):
    refused(write(f"{TERM}[Term]\nid: B\nname b\n"), 9, "'name b'", "concept 'B'", "no colon")
    refused(write("format-version: 1.2\nnonsense\n"), 2, "'nonsense'")


def test_term_without_id(write):
    refused(write(f"{TERM}[Term]\nname: b\n\n[Term]\nid: C\n"), 7, "no id")
    refused(write(f"{TERM}[Term]\nid: ! nothing\n"), 8, "incomplete")


def test_duplicate_id(write):
    refused(write(f"{TERM}[Term]\nid: A\n"), 7, "'A'", "first on line 3")
    refused(write(f"{TERM}[Term]\nid: B\nid: C\n"), 9, "'B'", "'C'")


def test_incomplete_lines(write):
    refused(write(f"{TERM}[Term]\nid: B\nis_a:\n"), 9, "'is_a'", "'B'")
    refused(write(f"{TERM}[Term]\nid: B\nrelationship: part_of\n"), 9, "'relationship'", "'B'")


def test_term_below_an_obsolete_one(write):
    path = write(f"{TERM}is_obsolete: true\n\n[Term]\nid: B\nis_a: A\n")
    refused(path, 11, "'B'", "'A', which is obsolete")


def test_missing_parents_are_left_for_the_taxonomy_to_refuse(write):
    listing = read_listing(write(f"{TERM}[Term]\nid: B\nis_a: Z\n"))
    assert (listing.ids, edges(listing), listing.edge_lines) == (["A", "B"], [("B", "Z")], [9])


def test_unknown_relation(write):
    path = write(f"{TERM}[Term]\nid: B\nrelationship: part_of A\n")
    refused(path, 0, "no relation 'partof'", "Did you mean 'part_of'?", parent=["is_a", "partof"])


def test_file_without_terms(write):
    refused(write("format-version: 1.2\n"), 0, "holds no concept")
    refused(write("a: b\n"), 0, "holds no concept", format="obo")


def escaped(name: str) -> str:
    return re.sub(r"([\\!{}:])", r"\\\1", name)


@given(st.lists(st.text('ab \\!{}:="n', min_size=1).map(lambda name: " ".join(name.split())), min_size=1, max_size=5))
def test_escaped_names_come_back(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("obo") / "names.obo"
    stanzas = (f'[Term]\nid: {i}\nname: {escaped(name)} {{a="b"}} ! {name}\n' for i, name in enumerate(names))
    path.write_text("\n".join(stanzas), encoding="utf-8")
    assert read_listing(path, format="obo").labels == names


@given(text=st.text(alphabet=st.sampled_from("\\\nax"), max_size=12))
def test_lines_that_go_on_are_joined(text: str) -> None:
    continued = re.compile(r"(?:[^\n]*(?<!\\)\\\n)+[^\n]*")  # the definition; of a long line it takes minutes
    joined = continued.sub(lambda lines: lines[0].replace("\\\n", "") + "\n" * lines[0].count("\n"), text)
    assert _joined(text) == joined


@pytest.mark.parametrize("piece", ["A", " ", "{a=", "}", "{a=b} ", "\\", "!"])
def test_a_long_line_takes_no_time(tmp_path: Path, piece: str) -> None:
    long = piece * (300_000 // len(piece))
    text = f"format-version: 1.2\n[Term]\nid: a\nname: {long}x\ndef: two \\\nlines\n\n[Term]\nid: b\nis_a: a\n"
    (tmp_path / "a.obo").write_text(text)
    assert len(Taxonomy.read(tmp_path / "a.obo")) >= 2
