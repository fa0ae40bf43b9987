"""Loads of N-Quads that call nodes by names."""

import gzip
import random
import subprocess
import sys

import pytest

import hexgraph

NODES = 3_000
EDGES = 40_000


def lines_of(generator, names):
    """Return edges and values of random nodes, in any order, about 4 MB of text."""
    lines = [f'{name} <number> "{at}"^^<xs:int> .' for at, name in enumerate(names)]
    for _ in range(EDGES):
        one, other = generator.randrange(NODES), generator.randrange(NODES)
        lines.append(f"{names[one]} <knows> {names[other]} (w={(one + other) % 7}) .")
    generator.shuffle(lines)
    return lines


def graph_of(db):
    result = db.query("{ q(func: has(number)) { number knows @facets(w) { number } } }").to_dict()[
        "q"
    ]
    nodes = {}
    for node in result:
        edges = [(it["number"], it["knows|w"]) for it in node.get("knows", [])]
        nodes[node["number"]] = sorted(edges)
    return nodes


@pytest.fixture(scope="module")
def both():
    names = [f"<http://example.org/people/{at}?a=b#{at % 97}é>" for at in range(NODES)]
    uids = [f"<{at + 1:#x}>" for at in range(NODES)]
    named = lines_of(random.Random(7), names)
    plain = hexgraph.connect()
    plain.load("\n".join(lines_of(random.Random(7), uids)).encode(), schema="knows: [uid] .")
    return named, graph_of(plain)


@pytest.mark.parametrize("memory", [None, "16MiB"])
def test_names_in_packed_files_make_the_graph_that_uids_make(both, tmp_path, memory):
    zstd = pytest.importorskip("pyarrow").Codec("zstd")
    named, graph = both
    parts = [named[at::3] for at in range(3)]
    texts = ["\n".join(part).encode() for part in parts]
    (tmp_path / "1.rdf").write_bytes(texts[0])
    (tmp_path / "2.rdf.gz").write_bytes(gzip.compress(texts[1]))
    (tmp_path / "3.rdf.zst").write_bytes(zstd.compress(texts[2], asbytes=True))
    db = hexgraph.connect()
    report = db.load(tmp_path, schema="knows: [uid] .", xid="xid", memory=memory)
    assert (report.new_nodes, report.triples) == (NODES, len(named) + NODES)
    assert report.warnings == [] or "facets" in report.warnings[0]
    assert graph_of(db) == graph
    # All are recognised, in several loads, among them small ones that are commits.
    for text in (texts[2], b"\n".join(texts[0].split(b"\n")[:5])):
        report = db.load(text, xid="xid")
        assert report.new_nodes == 0
    assert graph_of(db) == graph


def test_a_name_of_a_mutation_is_resolved(db):
    db.alter("xid: string @index(exact) .\nname: string .")
    db.mutate(set='_:a <xid> "alice" .\n_:a <name> "Alice" .')
    report = db.load(b"<alice> <knows> <bob> .", xid="xid")
    assert report.new_nodes == 1
    assert db.query('{ q(func: eq(xid, "bob")) { xid } }').rows() == [("bob",)]
    for refused in ('<alice> <name> "x" .', "<0x1> <knows> <alice> ."):
        with pytest.raises(hexgraph.ParseError, match="is no uid"):
            db.mutate(set=refused)


def test_names_without_a_predicate_are_reported(db):
    report = db.load([b"<alice> <knows> <bob> .", b'<bob> <name> "Bob" .'])
    assert report.new_nodes == 2
    assert "such as <alice>" in report.warnings[0]
    assert "xid=" in report.warnings[0]
    assert "such as <alice>" in repr(report)


def test_lines_with_names_that_are_wrong_are_skipped(db):
    lines = b'<alice> <name> "A" .\n<a b> <name> "x" .\n<0> <name> "x" .\n<\\ud800> <name> "x" .\n'
    report = db.load(lines, xid="xid", on_error="skip")
    assert (report.triples, report.skipped) == (2, 3)
    assert [line for line, _ in report.skipped_lines] == [2, 3, 4]


def test_an_export_of_tables_has_no_names(db, tmp_path):
    db.load(b"<alice> <knows> <bob> .", xid="xid")
    db.export(tmp_path / "out.parquet")
    with pytest.raises(ValueError, match="leave it out"):
        hexgraph.connect().load(tmp_path / "out.parquet", xid="xid")


def test_the_command_line_stores_names(tmp_path):
    (tmp_path / "a.rdf").write_text("<alice> <knows> <bob> .\n")
    (tmp_path / "b.rdf").write_text('<bob> <name> "Bob" .\n')

    def load(*arguments):
        command = [sys.executable, "-m", "hexgraph", "load", tmp_path / "db", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True)

    load(tmp_path / "a.rdf", "--xid", "xid")
    done = load(tmp_path / "b.rdf", "--xid", "xid")
    assert "`xid` had 1 of these values before, 0 are new" in done.stderr
    assert "warning" in load(tmp_path / "b.rdf").stderr
    db = hexgraph.connect(tmp_path / "db")
    result = db.query('{ q(func: eq(xid, "alice")) { knows { name xid } } }').to_dict()
    assert result == {"q": [{"knows": [{"name": "Bob", "xid": "bob"}]}]}
