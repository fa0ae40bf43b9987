"""Answers as tuples and as N-Quads."""

import json

import pytest

import hexgraph

pytestmark = pytest.mark.shared


def test_rows_follow_the_query(people):
    people.alter("nickname: string .")
    text = "{ q(func: uid(1, 2, 3)) { height name uid nickname } }"
    result = people.query(text)
    assert result.columns() == ["height", "name", "uid", "nickname"]
    first, second, *_ = result.rows()
    assert first == (1.65, "Ada", "0x1", None)
    assert second[2] == "0x2"
    assert {len(row) for row in result.rows()} == {4}


def test_rows_hold_what_is_nested(people):
    text = "{ q(func: uid(1)) { name@* alias friend { uid name } count(friend) } }"
    [row] = people.query(text).rows("q")
    full = people.query(text).to_dict()["q"][0]
    assert full["friend"] in row
    assert full["alias"] in row
    assert "エイダ" in row


def test_rows_of_one_block_among_others(people):
    result = people.query("{ a(func: uid(1)) { name } b(func: uid(1, 2)) { count(uid) } }")
    assert result.rows("a") == [("Ada",)]
    assert result.rows("b") == [(2,)]
    with pytest.raises(hexgraph.QueryError, match="several blocks, choose one: a, b"):
        result.rows()
    with pytest.raises(hexgraph.QueryError, match="has no block"):
        result.columns("c")


def test_rows_grow_with_keys_that_come_later(db):
    db.alter("name: string @lang .")
    db.mutate(set='<1> <name> "a"@en .\n<2> <name> "b"@en .\n<2> <name> "c"@fr .')
    result = db.query("{ q(func: uid(1, 2)) { uid name@* } }")
    assert result.columns() == ["uid", "name@en", "name@fr"]
    assert result.rows() == [("0x1", "a", None), ("0x2", "b", "c")]


def test_uids_are_numbers_on_request(people):
    result = people.query("{ q(func: uid(1)) { who: uid name friend { uid name } } }")
    [(uid, name, friends)] = result.rows(uids=int)
    [(text, _, others)] = result.rows(uids=str)
    assert (uid, name, text) == (1, "Ada", "0x1")
    assert friends == [{**other, "uid": int(other["uid"], 16)} for other in others]
    with pytest.raises(ValueError, match="uids are of type str or int, not <class 'float'>"):
        result.rows(uids=float)


def test_uids_of_groups_and_of_lists_are_numbers_too(people):
    people.mutate(set="<1> <friend> <2> .")
    groups = people.query("{ q(func: has(friend)) @groupby(friend) { count(uid) } }")
    assert [(int(uid, 16), count) for uid, count in groups.rows()] == groups.rows(uids=int)
    assert groups.rows(uids=int)
    joined = people.query("{ q(func: uid(1)) @normalize { of: uid friend { uid } } }")
    texts, numbers = joined.rows(), joined.rows(uids=int)
    assert texts[0][0] == "0x1"
    assert numbers == [tuple(int(cell, 16) for cell in row) for row in texts]


@pytest.mark.embedded
def test_texts_are_read_as_they_were_written():
    """Those of few nodes and of many, that are contiguous or apart, and of changed ones."""
    names = ["", "Ada", "žluťoučký", "\u30a8\u30a4\u30c0 \U0001f600", "x" * 300]
    db = hexgraph.connect()
    db.alter("name: string .\ncity: string .\nnote: string .")
    expected = {}
    for uid in range(1, 4001):
        note = None if uid % 7 == 0 else f"note {uid} {names[uid % 4]}"
        expected[uid] = (f"{names[uid % 5]}{uid % 3}", f"City{uid % 150:03}", note)
    lines = [
        f'<{uid}> <{key}> "{text}" .'
        for uid, texts in expected.items()
        for key, text in zip(("name", "city", "note"), texts, strict=True)
        if text is not None
    ]
    db.mutate(set="\n".join(lines))
    db.compact()
    for changed in (False, True):
        if changed:
            db.mutate(set='<9> <name> "Bob" .\n<3000> <city> "another" .')
            db.mutate(delete="<8> <note> * .")
            expected[9] = ("Bob", *expected[9][1:])
            expected[3000] = (expected[3000][0], "another", expected[3000][2])
            expected[8] = (*expected[8][:2], None)
        for uids in (range(1, 21), range(1, 4001), range(1, 4001, 3), range(5, 3999, 97)):
            query = f"{{ q(func: uid({','.join(map(str, uids))})) {{ uid name city note }} }}"
            result = db.query(query)
            assert result.rows(uids=int) == [(uid, *expected[uid]) for uid in uids]
            assert result.rows() == [(hex(uid), *expected[uid]) for uid in uids]
            nodes = [dict(zip(result.columns(), row, strict=True)) for row in result.rows()]
            retained = [{key: it for key, it in node.items() if it is not None} for node in nodes]
            assert retained == result.to_dict()["q"] == json.loads(result.json())["q"]
            assert result.to_arrow().rows() == result.rows()


@pytest.mark.embedded
def test_long_texts_are_read_behind_changes():
    """They are read where they lie: all of them changed, and some of them."""
    db = hexgraph.connect()
    db.alter("text: string .")
    texts = {uid: f"{uid} {'y' * (200 + uid)}" for uid in range(1, 401)}
    db.mutate(set="\n".join(f'<{uid}> <text> "{text}" .' for uid, text in texts.items()))
    for changed in (3, 17, 390):
        for query in (
            "{ q(func: has(text)) { uid text } }",
            "{ q(func: uid(3, 17, 40, 390)) { uid text } }",
        ):
            result = db.query(query)
            requested = [int(row[0], 16) for row in result.rows()]
            assert len(requested) == (400 if "has" in query else 4)
            assert result.rows(uids=int) == [(uid, texts[uid]) for uid in requested]
            assert json.loads(result.json())["q"] == result.to_dict()["q"]
            assert [row["text"] for row in result.to_dict()["q"]] == [
                texts[uid] for uid in requested
            ]
        db.compact()
        texts[changed] = "z" * 300
        db.mutate(set=f'<{changed}> <text> "{texts[changed]}" .')


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
    result = people.query(NORMALIZED)
    assert result.columns() == ["z", "friend|since", "m", "uid", "a", "missing"]
    assert result.rows()[0] == ("Ada", 1840, "Bob", "0x2", 1815, None)
    assert {len(row) for row in result.rows()} == {6}
    assert result.to_arrow().column_names == result.columns()
    assert list(result.to_polars().columns) == result.columns()
    assert list(result.to_dict()["q"][0]) == ["a", "friend|since", "m", "uid", "z"]


def test_what_is_not_aliased_has_its_position_too(people):
    result = people.query("{ q(func: uid(1)) @normalize { uid z: name friend { uid a: name } } }")
    assert result.columns() == ["uid", "z", "a"]
    assert result.rows()[0] == (["0x1", "0x2"], "Ada", "Bob")


def test_the_columns_of_a_frame_follow_the_text(people):
    """The first row lacks what stands first in the text."""
    result = people.query("{ q(func: uid(2, 1)) { height boss { name born } name } }")
    assert result.columns() == ["height", "boss", "name"]
    assert result.to_arrow().column_names == ["height", "boss", "name"]
    assert result.flatten().column_names == ["height", "boss.name", "boss.born", "name"]
    result = people.query("{ q(func: uid(2, 3)) { alive born name } }")
    assert result.to_arrow().column_names == ["alive", "born", "name"]


def test_facts_load_again(people):
    lines = people.query("{ q(func: has(name)) { name born friend { name } } }").to_rdf()
    other = hexgraph.connect()
    other.alter("name: string @index(exact) .\nborn: int .\nfriend: [uid] .")
    other.mutate(set=lines)
    again = other.query('{ q(func: eq(name, "Ada")) { uid born friend { name } } }').rows()
    assert again == [("0x1", 1815, [{"name": "Bob"}, {"name": "Eve <b>"}])]


@pytest.mark.parametrize("field", ["count(uid)", "friend @facets { name }"])
def test_what_has_no_position_among_facts(people, field):
    with pytest.raises(hexgraph.QueryError, match="not supported in the RDF output format"):
        people.query(f"{{ q(func: has(name)) {{ {field} }} }}").to_rdf()


def test_dictionaries_are_as_deep_as_the_recursion():
    """Neither the walk nor what makes dictionaries of it needs a stack."""
    levels = 5_000
    with hexgraph.connect(limits={"levels": levels + 10}) as db:
        db.load_edges([(at, at + 1) for at in range(1, levels)], "next", uid=True)
        dql = f"{{ q(func: uid(1)) @recurse(depth: {levels + 5}) {{ uid next }} }}"
        (node,) = db.query(dql)["q"]
        depth = 0
        while node is not None:
            depth += 1
            assert node["uid"] == hex(depth)
            below = node.pop("next", None)
            node = below[0] if below else None
        assert depth == levels


def test_the_first_instant_of_the_year_1_is_a_date_in_rows_as_in_frames(db):
    """JSON has an empty text, as DQL does, and so have dicts."""
    db.alter("at: datetime .\nats: [datetime] .\nto: [uid] .\nnote: string .")
    first, later = "0001-01-01T00:00:00Z", "2020-01-02T00:00:00Z"
    db.mutate(
        set=f'''<1> <at> "{first}" .
<2> <at> "{later}" .
<1> <ats> "{first}" .
<1> <ats> "{later}" .
<2> <to> <1> .
<1> <note> "" .'''
    )
    result = db.query("{ q(func: has(at)) { at ats note to { at } } }")
    assert result.rows() == [
        (first, [first, later], "", None),
        (later, None, None, [{"at": first}]),
    ]
    assert result.to_dict()["q"][0]["at"] == "" == json.loads(result.json())["q"][0]["at"]
    assert next(iter(result))["at"] == ""
    assert result.to_arrow().rows()[0][0].year == 1
    groups = db.query("{ q(func: has(at)) @groupby(at) { count(uid) } }")
    assert sorted(groups.rows()) == [(first, 1), (later, 1)]
    flat = db.query("{ q(func: has(at)) @normalize { when: at } }")
    assert sorted(flat.rows()) == [(first,), (later,)]
