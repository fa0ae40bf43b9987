"""`Database.delete` takes nodes away with everything."""

import polars
import pytest

import hexgraph
from hexgraph.errors import ConflictError, LimitError, QueryError

LINES = """
<1> <name> "Ada" .
<1> <dgraph.type> "Person" .
<1> <likes> <2> .
<2> <name> "Bob" .
<2> <likes> <1> .
<2> <knows> <1> .
<3> <name> "Cleo" .
<3> <best> <1> (w=1) .
<3> <best> <2> .
"""


def database() -> hexgraph.Database:
    """Return people who know each other: `knows` has reverse edges, the others have none."""
    db = hexgraph.connect()
    db.alter("name: string @index(exact) .\nknows: [uid] @reverse .\nlikes: [uid] .\nbest: [uid] .")
    db.mutate(set=LINES)
    return db


def test_every_form_that_names_nodes() -> None:
    """A query, a root, a uid, several, a column, a result: all delete the same."""
    for name in [
        '{ q(func: eq(name, "Ada")) { likes { name } } }',
        'eq(name, ["Ada", "Nobody"])',
        "has(name) @filter(type(Person))",
        "0x1",
        1,
        ["0x1", 77],
        polars.DataFrame({"uid": ["0x1"]})["uid"],
    ]:
        db = database()
        assert db.delete(name) == (1, 2, 4), name
        left = "{ q(func: has(name)) { name likes { uid } knows { uid } best { uid } } }"
        assert db.query(left).to_dict()["q"] == [
            {"name": "Bob"},
            {"name": "Cleo", "best": [{"uid": "0x2"}]},
        ]
    db = database()
    assert db.delete(db.query('{ q(func: eq(name, "Ada")) { uid name } }')) == (1, 2, 4)
    query = "query q($name: string) { q(func: eq(name, $name)) }"
    assert db.delete(query, {"name": "Bob"}) == (1, 1, 1)
    assert db.delete([1, 2, 5]) == (0, 0, 0)


def test_what_names_no_nodes_is_refused() -> None:
    """Nothing is deleted then, and the error says what to write."""
    db = database()
    for name, error, message in [
        ("{ q(func: uid(1)) p(func: uid(2)) }", QueryError, "one block"),
        ("Ada", ValueError, "no uid and no root"),
        (db.query("{ q(func: has(name)) { name } }"), ValueError, "no uid"),
        (3.5, TypeError, "not 3.5"),
        (-1, ValueError, "-1"),
    ]:
        with pytest.raises(error, match=message):
            db.delete(name)
    with pytest.raises(LimitError):
        db.delete("has(name)", timeout=1e-9)
    assert len(db.query("{ q(func: has(name)) { uid } }")) == 3


def test_many_nodes_go_by_columns() -> None:
    """Thousands of nodes, most with incoming edges: what is left is what a loop leaves."""
    count = 9_000
    db = hexgraph.connect()
    db.alter("number: int @index(int) .\nnext: [uid] @reverse .\nfar: [uid] .")
    every = range(1, count + 1)
    near = [(at, at % count + 1) for at in every]
    far = [(at, 7 * at % count + 1) for at in every]
    lines = [f'<{at}> <number> "{at}" .' for at in every]
    lines += [f"<{one}> <next> <{other}> ." for one, other in near]
    lines += [f"<{one}> <far> <{other}> ." for one, other in far]
    db.mutate(set="\n".join(lines))
    db.compact()
    gone = {at for at in every if at % 3 != 1}
    edges = sum(one in gone or other in gone for one, other in near + far)
    assert db.delete(sorted(gone)) == (len(gone), len(gone), edges)
    query = "{ q(func: has(number)) { number next { uid } ~next { uid } far { number } } }"
    left = db.query(query).to_dict()["q"]
    assert [row["number"] for row in left] == [at for at in every if at not in gone]
    stay = {(row["number"], end["number"]) for row in left for end in row.get("far", [])}
    assert stay == {(one, other) for one, other in far if not gone & {one, other}}
    assert all("next" not in row and "~next" not in row for row in left)


def test_a_transaction_deletes_what_it_sees() -> None:
    """Others see it with the commit, and a discard or an exception takes it back."""
    db = database()
    names = "{ q(func: has(name)) { name best { uid } } }"
    before = db.query(names).to_dict()
    with db.txn() as txn:
        new = txn.mutate(set_json={"uid": "_:n", "name": "Dan", "likes": {"uid": "0x1"}})["n"]
        rows = txn.query('{ q(func: eq(name, ["Ada", "Dan"])) { uid } }')
        assert txn.delete(rows) == (2, 3, 5)
        assert txn.delete(["0x1", new]) == (0, 0, 0)
        assert txn.delete('eq(name, "Nobody")') == (0, 0, 0)
        with pytest.raises(ValueError, match="no uid and no root"):
            txn.delete("Ada")
        with pytest.raises(LimitError):
            txn.delete("has(name)", timeout=1e-9)
        left = [{"name": "Bob"}, {"name": "Cleo", "best": [{"uid": "0x2"}]}]
        assert txn.query(names).to_dict()["q"] == left
        assert db.query(names).to_dict() == before
    assert db.query(names).to_dict()["q"] == left
    with pytest.raises(QueryError, match="already been committed"):
        txn.delete(2)
    txn = db.txn()
    assert txn.delete(2).nodes == 1
    txn.__exit__(ValueError, ValueError(), None)
    txn = db.txn()
    txn.delete(2)
    txn.discard()
    with db.txn(read_only=True) as txn, pytest.raises(QueryError, match="Readonly"):
        txn.delete(2)
    assert db.query(names).to_dict()["q"] == left


@pytest.mark.parametrize(
    "line", ["<3> <likes> <1> .", '<1> <name> "Eve" .', '<1> <nick> "A" .', "<1> <knows> <3> ."]
)
def test_a_transaction_conflicts_with_what_would_be_left(line: str) -> None:
    """What others give to a node that it deletes would be left at a node that is gone."""
    db = database()
    txn = db.txn()
    txn.delete("0x1")
    db.mutate(set=line)
    with pytest.raises(ConflictError):
        txn.commit()
    assert db.query("{ q(func: uid(1)) { likes { uid } } }").to_dict()["q"]
    # `run` tries again, and takes the new one away, too.
    assert db.run(lambda txn: txn.delete("0x1")).nodes == 1
    assert db.delete("0x1") == (0, 0, 0)
