"""Answers as tuples and as N-Quads."""

import pytest

import hexgraph


def test_rows_follow_the_query(people):
    text = "{ q(func: uid(1, 2, 3)) { height name uid nickname } }"
    found = people.query(text)
    assert found.columns() == ["height", "name", "uid", "nickname"]
    first, second, *_ = found.rows()
    assert first == (1.65, "Ada", 1, None)
    assert second[2] == 2
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


def test_rows_grow_with_keys_that_come_later():
    db = hexgraph.connect()
    db.alter("name: string @lang .")
    db.mutate(set='<1> <name> "a"@en .\n<2> <name> "b"@en .\n<2> <name> "c"@fr .')
    rows = db.query("{ q(func: uid(1, 2)) { uid name@* } }").rows()
    assert [len(row) for row in rows] == [4, 4]
    assert rows[0][2:] == ("a", None)
    assert rows[1][2:] == ("b", "c")


def test_facts_load_again(people):
    lines = people.query("{ q(func: has(name)) { name born friend { name } } }").to_rdf()
    other = hexgraph.connect()
    other.alter("name: string @index(exact) .\nborn: int .\nfriend: [uid] .")
    other.mutate(set=lines)
    again = other.query('{ q(func: eq(name, "Ada")) { uid born friend { name } } }').rows()
    assert again == [(1, 1815, [{"name": "Bob"}, {"name": "Eve <b>"}])]


@pytest.mark.parametrize("field", ["count(uid)", "friend @facets { name }"])
def test_what_has_no_place_among_facts(people, field):
    with pytest.raises(hexgraph.QueryError, match="not supported in the RDF output format"):
        people.query(f"{{ q(func: has(name)) {{ {field} }} }}").to_rdf()
