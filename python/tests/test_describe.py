"""The description of a database."""

import time
from pathlib import Path

import hexgraph
from hexgraph.schemas import describing


def test_types_predicates_and_edges_are_counted(people):
    people.mutate(set='<0x1> <dgraph.type> "Person" .\n<0x2> <dgraph.type> "Person" .')
    report = people.describe()
    assert report.nodes == 3
    assert report.types.rows() == [("Person", 2, ["name", "born", "friend"])]
    assert ("Person", "born", "int @index(int)", 2, 1.0, None) in report.predicates.rows()
    assert (None, "boss", "uid @reverse", 1, None, None) in report.predicates.rows()
    assert report.edges.rows() == [
        ("Person", "boss", "Person", 1),
        ("Person", "friend", "Person", 1),
        ("Person", "friend", None, 2),
    ]
    assert "Person  born" in repr(report)
    assert "<td" in report._repr_html_()


def test_values_in_languages_alone_are_counted(db):
    db.alter("name: string @lang .\ntype Film {\n  name\n}\ntype Book {\n  name\n}")
    db.mutate(
        set='<1> <name> "M"@de .\n<1> <dgraph.type> "Film" .\n'
        '<2> <name> "N" .\n<2> <dgraph.type> "Film" .\n<3> <dgraph.type> "Film" .\n'
        '<4> <name> "O"@en .\n<4> <dgraph.type> "Book" .'
    )
    report = db.describe()
    assert report.nodes == 3
    counts = {row[0]: (row[3], round(row[4], 2)) for row in report.predicates.rows()}
    assert counts == {"Film": (2, 0.67), "Book": (1, 1.0)}


def test_edges_of_nodes_without_a_type_are_reported(db):
    db.mutate(set="<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <2> .")
    assert db.describe().edges.rows() == [(None, "knows", None, 4)]
    db.alter("type Person {\n  knows\n}")
    db.mutate(set='<3> <dgraph.type> "Person" .')
    rows = db.describe().edges.rows()
    assert rows == [
        ("Person", "knows", None, 2),
        (None, "knows", "Person", 1),
        (None, "knows", None, 1),
    ]


def test_a_union_of_types_is_reported_once(db):
    """Every Message is a Post or a Comment: what is reported of these is not repeated for it."""
    types = ("Person", "Message", "Post", "Comment")
    db.alter("".join(f"type {name} {{\n  likes\n}}\n" for name in types) + "likes: [uid] .")
    lines = ['<1> <dgraph.type> "Person" .', "<1> <likes> <2> .", "<1> <likes> <3> ."]
    for uid, of in ((2, "Post"), (3, "Comment"), (4, "Comment")):
        lines += [f'<{uid}> <dgraph.type> "{name}" .' for name in ("Message", of)]
    lines.append("<4> <likes> <2> .")
    db.mutate(set="\n".join(lines))
    assert db.describe().edges.rows() == [
        ("Comment", "likes", "Post", 1),
        ("Person", "likes", "Comment", 1),
        ("Person", "likes", "Post", 1),
    ]
    # One that is neither, and the Message has more than they do.
    db.mutate(set='<5> <dgraph.type> "Message" .\n<1> <likes> <5> .')
    assert ("Person", "likes", "Message", 3) in db.describe().edges.rows()


def test_nothing_is_reported_of_nothing(db):
    assert repr(db.describe()) == "0 nodes"
    db.alter("knows: [uid] .\ntype Person {\n  knows\n}")
    report = db.describe()
    assert (report.types.rows(), report.edges.rows()) == ([("Person", 0, ["knows"])], [])
    assert report.predicates.rows() == [("Person", "knows", "[uid]", 0, None, None)]


def test_names_of_all_kinds(db):
    db.alter("<http://x.org/a-b>: string .\nFilm.title: string .\ntype Film.A {\n  Film.title\n}")
    db.mutate(set='<1> <Film.title> "M" .\n<1> <dgraph.type> "Film.A" .')
    assert db.describe().types.rows() == [("Film.A", 1, ["Film.title"])]


def test_the_sample(db):
    sample = Path(hexgraph.__file__).parent / "sample"
    db.load(sample / "films.rdf", sample / "films.schema")
    report = db.describe()
    assert report.nodes == db.stats()["nodes"]
    assert report.types.rows()
    rows = report.predicates.rows()
    assert all(0 <= fraction <= 1 for *_, fraction, _ in rows if fraction is not None)
    notes = {row[1]: row[5] for row in rows}
    assert notes["starring"] == "facets billing, role"
    assert notes["name"] == "languages ar, cs, da, de, el, en, es, fa, ..."
    assert notes["born"] is None
    assert "facets billing, role" in repr(report)
    assert "facets billing, role" in report._repr_html_()


def test_notes_of_a_single_edge(db):
    db.alter("boss: uid .\nname: string @lang .\n<a-b>: [uid] .")
    db.mutate(set='<1> <boss> <2> (since=2) .\n<1> <a-b> <2> (w=1, v=2) .\n<1> <name> "x"@en .')
    notes = {row[1]: row[5] for row in db.describe().predicates.rows()}
    assert notes == {"boss": "facets since", "name": "languages en", "a-b": "facets v, w"}


def test_thousands_of_predicates_are_described_in_seconds():
    db = hexgraph.connect()
    db.mutate(set_json={"uid": "0x1", **{f"p{number}": number for number in range(3000)}})
    started = time.monotonic()
    assert len(db.describe().predicates) == 3000
    # A search for each in the entire text of the schema would need twenty seconds and more.
    assert time.monotonic() - started < 10


def test_more_predicates_than_a_query_has_blocks(monkeypatch):
    monkeypatch.setattr("hexgraph.schemas.describing.BLOCKS", 2)
    db = hexgraph.connect()
    people = [{"id": n, "name": f"n{n}", "age": n, "dgraph.type": "P"} for n in range(3)]
    db.load_nodes(people, "P")
    db.load_edges([(0, 1), (1, 2)], "knows", on="id")
    db.alter("empty: int .")
    report = db.describe()
    assert report.nodes == 3
    assert report.edges.rows() == [("P", "knows", "P", 2)]
    have = {row[1]: row[3] for row in report.predicates.rows()}
    assert (have["age"], have["knows"], have["empty"]) == (3, 2, 0)


def test_many_types_and_edges_need_few_queries(monkeypatch):
    query = describing.batched
    blocks = []
    monkeypatch.setattr(
        describing, "batched", lambda txn, more: blocks.extend(more) or query(txn, more)
    )
    db = hexgraph.connect()
    types, edges = 40, 20
    db.alter("\n".join(f"e{number}: [uid] ." for number in range(edges)))
    db.alter("\n".join(f"type T{number} {{\n e{number % edges}\n}}" for number in range(types)))
    facts = [
        f'<{node + 1}> <dgraph.type> "T{node}" .\n<{node + 1}> <e{node % edges}> <{node + 2}> .'
        for node in range(types - 1)
    ]
    db.mutate(set="\n".join([*facts, f'<{types}> <dgraph.type> "T{types - 1}" .']))
    report = db.describe()
    expected = [(f"T{node}", f"e{node % edges}", f"T{node + 1}", 1) for node in range(types - 1)]
    assert report.edges.rows() == sorted(expected)
    # One for each pair of types and each edge would be 32,000.
    assert len(blocks) < 3_000
