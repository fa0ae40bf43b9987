"""Answers as tuples and as N-Quads."""

import pytest

import hexgraph

pytestmark = pytest.mark.shared


def test_rows_follow_the_query(people):
    text = "{ q(func: uid(1, 2, 3)) { height name uid nickname } }"
    found = people.query(text)
    assert found.columns() == ["height", "name", "uid", "nickname"]
    first, second, *_ = found.rows()
    assert first == (1.65, "Ada", "0x1", None)
    assert second[2] == "0x2"
    assert {len(row) for row in found.rows()} == {4}


def test_rows_hold_what_is_nested(people):
    text = "{ q(func: uid(1)) { name@* alias friend { uid name } count(friend) } }"
    [row] = people.query(text).rows("q")
    whole = people.query(text).to_dict()["q"][0]
    assert whole["friend"] in row
    assert whole["alias"] in row
    assert "エイダ" in row


def test_rows_of_one_block_among_others(people):
    found = people.query("{ a(func: uid(1)) { name } b(func: uid(1, 2)) { count(uid) } }")
    assert found.rows("a") == [("Ada",)]
    assert found.rows("b") == [(2,)]
    with pytest.raises(hexgraph.QueryError, match="several blocks, choose one: a, b"):
        found.rows()
    with pytest.raises(hexgraph.QueryError, match="has no block"):
        found.columns("c")


def test_rows_grow_with_keys_that_come_later(db):
    db.alter("name: string @lang .")
    db.mutate(set='<1> <name> "a"@en .\n<2> <name> "b"@en .\n<2> <name> "c"@fr .')
    found = db.query("{ q(func: uid(1, 2)) { uid name@* } }")
    assert found.columns() == ["uid", "name@en", "name@fr"]
    assert found.rows() == [("0x1", "a", None), ("0x2", "b", "c")]


NORMALIZED = """{
  q(func: has(friend)) @normalize {
    z: name
    friend @facets { m: name uid }
    a: born
    missing: nobody
  }
}"""


@pytest.mark.filterwarnings("ignore::hexgraph.UnknownNameWarning")
def test_rows_columns_and_frames_have_one_order(people):
    """It is that of the query's text, whatever the JSON has."""
    people.mutate(set="<0x1> <friend> <0x2> (since=1840) .")
    found = people.query(NORMALIZED)
    assert found.columns() == ["z", "friend|since", "m", "uid", "a", "missing"]
    assert found.rows()[0] == ("Ada", 1840, "Bob", "0x2", 1815, None)
    assert {len(row) for row in found.rows()} == {6}
    assert found.to_arrow().column_names == found.columns()
    assert list(found.to_polars().columns) == found.columns()
    assert list(found.to_dict()["q"][0]) == ["a", "friend|since", "m", "uid", "z"]


def test_what_is_not_aliased_has_its_place_too(people):
    found = people.query("{ q(func: uid(1)) @normalize { uid z: name friend { uid a: name } } }")
    assert found.columns() == ["uid", "z", "a"]
    assert found.rows()[0] == (["0x1", "0x2"], "Ada", "Bob")


def test_the_columns_of_a_frame_follow_the_text(people):
    """The first row lacks what stands first in the text."""
    found = people.query("{ q(func: uid(2, 1)) { height boss { name born } name } }")
    assert found.columns() == ["height", "boss", "name"]
    assert found.to_arrow().column_names == ["height", "boss", "name"]
    assert found.flatten().column_names == ["height", "boss.name", "boss.born", "name"]
    found = people.query("{ q(func: uid(2, 3)) { alive born name } }")
    assert found.to_arrow().column_names == ["alive", "born", "name"]


def test_facts_load_again(people):
    lines = people.query("{ q(func: has(name)) { name born friend { name } } }").to_rdf()
    other = hexgraph.connect()
    other.alter("name: string @index(exact) .\nborn: int .\nfriend: [uid] .")
    other.mutate(set=lines)
    again = other.query('{ q(func: eq(name, "Ada")) { uid born friend { name } } }').rows()
    assert again == [("0x1", 1815, [{"name": "Bob"}, {"name": "Eve <b>"}])]


@pytest.mark.parametrize("field", ["count(uid)", "friend @facets { name }"])
def test_what_has_no_place_among_facts(people, field):
    with pytest.raises(hexgraph.QueryError, match="not supported in the RDF output format"):
        people.query(f"{{ q(func: has(name)) {{ {field} }} }}").to_rdf()
