import json
from datetime import date
from decimal import Decimal

import pytest

import hexgraph

pytestmark = pytest.mark.shared


def rows(db, dql):
    return db.query(dql).to_dict()["q"]


def test_dicts_are_nodes(people):
    node = {
        "uid": "_:dan",
        "name": "Dan",
        "name@ja": "ダン",
        "born": 1990,
        "height": 1.8,
        "alive": True,
        "since": date(2001, 2, 3),
        "alias": ["D", "Danny"],
        "boss": {"uid": "0x1"},
        "friend": [{"uid": 2, "friend|since": "2010"}, {"name": "New"}],
        "nothing": None,
    }
    uids = people.mutate(set_json=node)
    assert set(uids) > {"dan"}
    dql = (
        '{ q(func: eq(name, "Dan")) { name name@ja born height alive since alias boss { uid } '
        "friend @facets { name } } }"
    )
    [dan] = rows(people, dql)
    # The values of a list are a set.
    dan["alias"].sort()
    assert [dan] == [
        {
            "name": "Dan",
            "name@ja": "ダン",
            "born": 1990,
            "height": 1.8,
            "alive": True,
            "since": "2001-02-03T00:00:00Z",
            "alias": ["D", "Danny"],
            "boss": {"uid": "0x1"},
            "friend": [
                {"name": "Bob", "friend|since": "2010-01-01T00:00:00Z"},
                {"name": "New"},
            ],
        }
    ]


def test_lists_and_json_text_are_accepted_too(people):
    people.mutate(set_json=[{"uid": "0x10", "name": "A"}, {"uid": "0x11", "name": "B"}])
    people.mutate(set_json=json.dumps({"uid": "0x12", "name": "C"}))
    people.mutate(set='<0x13> <name> "D" .', set_json={"uid": "0x13", "born": 4})
    result = rows(people, "{ q(func: uid(0x10, 0x11, 0x12, 0x13)) { name born } }")
    assert result == [{"name": "A"}, {"name": "B"}, {"name": "C"}, {"name": "D", "born": 4}]
    assert people.mutate() == {}
    assert people.mutate(set_json=[]) == {}


def test_deletes(people):
    people.mutate(delete_json={"uid": "0x1", "born": None, "alias": ["Countess"], "name@ja": None})
    people.mutate(delete_json=[{"uid": "0x1", "friend": [{"uid": "0x2"}], "height": 9.9}])
    dql = "{ q(func: uid(0x1)) { name name@ja born height alias friend { uid } } }"
    (ada,) = rows(people, dql)
    assert ada == {"name": "Ada", "height": 1.65, "alias": ["Augusta"], "friend": [{"uid": "0x3"}]}
    people.mutate(set_json={"uid": "0x1", "dgraph.type": "Person"})
    people.mutate(delete_json={"uid": "0x1"})
    assert rows(people, dql) == [{"height": 1.65, "alias": ["Augusta"]}]


def test_values_of_other_kinds(db):
    db.alter("v: float32vector .\nprice: bigfloat .\nplace: geo .")

    class Point:
        __geo_interface__ = {"type": "Point", "coordinates": (1.5, 2.5)}  # noqa: RUF012

    class Vector:
        def tolist(self):
            return [1.0, 2.0]

    node = {"uid": "0x1", "v": Vector(), "price": Decimal("1.25"), "place": Point()}
    db.mutate(set_json=node)
    (result,) = rows(db, "{ q(func: uid(0x1)) { v price place } }")
    assert result["v"] == [1.0, 2.0]
    assert result["price"] == 1.25
    assert result["place"] == {"type": "Point", "coordinates": [1.5, 2.5]}
    with pytest.raises(TypeError, match="object has no form in JSON"):
        db.mutate(set_json={"uid": "0x1", "name": object()})
    with pytest.raises(ValueError, match=r'set_json\["price"\]: NaN is no number'):
        db.mutate(set_json={"uid": "0x1", "price": float("nan")})


def test_errors_quote_the_json_and_nothing_is_changed(people):
    text = '[{"uid": "0x20", "name": "A"},\n {"uid": "nobody", "name": "B"}]'
    with pytest.raises(hexgraph.ParseError) as raised:
        people.mutate(set_json=text)
    assert (raised.value.line, raised.value.column) == (2, 10)
    assert raised.value.source == ' {"uid": "nobody", "name": "B"}]'
    with pytest.raises(hexgraph.QueryError, match="is no int"):
        people.mutate(set_json=[{"uid": "0x20", "name": "A"}, {"uid": "0x20", "born": "late"}])
    with pytest.raises(hexgraph.SchemaError, match="is an edge, and this is a value"):
        people.mutate(set_json=[{"uid": "0x20", "name": "A"}, {"uid": "0x20", "friend": "Bob"}])
    with pytest.raises(hexgraph.ParseError, match="an object to be deleted"):
        people.mutate(delete_json={"name": "Ada"})
    assert rows(people, "{ q(func: uid(0x20)) { name } }") == []


FIND = "query q($name: string) { q(func: eq(name, $name)) { v as uid name } }"


def test_upsert_makes_a_node_once(people):
    node = {"uid": "uid(v)", "name": "Zoe", "born": 2000}
    first = people.upsert(FIND, {"name": "Zoe"}, set_json=node)
    assert list(first.uids) == ["uid(v)"]
    assert first.result.to_dict() == {"q": []}
    assert repr(first).startswith("<hexgraph.Upsert: 1 new node")
    second = people.upsert(FIND, {"name": "Zoe"}, set_json={**node, "born": 2001})
    assert second.uids == {}
    assert second.result.to_dict() == {"q": [{"uid": first.uids["uid(v)"], "name": "Zoe"}]}
    assert rows(people, "{ q(func: ge(born, 2000)) { born } }") == [{"born": 2001}]


def test_an_upsert_reports_what_it_did():
    db = hexgraph.connect()
    node = {"uid": "uid(v)", "name": "Zoe", "born": 2000}
    db.alter("name: string @index(exact) .")
    done = db.upsert(FIND, {"name": "Zoe"}, set_json=node)
    assert repr(done) == "<hexgraph.Upsert: 1 new node, 2 values set>"
    done = db.upsert(FIND, {"name": "Zoe"}, set_json={**node, "born": 2001})
    assert repr(done) == "<hexgraph.Upsert: 1 value set>"
    db = hexgraph.connect()
    db.mutate(set="<1> <near> <2> (km=1) .\n<1> <near> <3> (km=9) .\n<2> <near> <3> (km=2) .")
    far = "{ var(func: has(near)) { f as uid near @facets(gt(km, 5)) { g as uid } } }"
    # Each f with each g: the edge from 2 to 3 goes as well, which the query did not walk.
    done = db.upsert(far, delete="uid(f) <near> uid(g) .")
    assert repr(done) == "<hexgraph.Upsert: 2 edges deleted>"
    assert (done.edges_deleted, done.edges_set) == (2, 0)
    assert (done.values_deleted, done.values_set) == (0, 0)
    assert db.upsert(far, delete="uid(f) <near> uid(g) .").edges_deleted == 0
    with db.txn() as txn:
        find = "{ v as var(func: uid(1)) }"
        done = txn.upsert(find, set='uid(v) <name> "A" .\nuid(v) <near> <2> .\nuid(v) <near> <3> .')
        assert repr(done) == "<hexgraph.Upsert: 1 value set, 1 edge set>"
        done = txn.upsert(find, delete="uid(v) <name> * .\nuid(v) <near> * .\nuid(v) <born> * .")
        assert repr(done) == "<hexgraph.Upsert: 1 value deleted, 2 edges deleted>"
        done = txn.upsert(find, delete="uid(v) <name> * .")
        assert repr(done) == "<hexgraph.Upsert: nothing changed>"
    block = 'upsert { query { v as var(func: uid(1)) } mutation { set { uid(v) <name> "B" . } } }'
    assert db.upsert(block).values_set == 1
    assert repr(db.upsert(block)) == "<hexgraph.Upsert: nothing changed>"


def test_conditions_and_several_mutations(people):
    def touch():
        return people.upsert(
            '{ q(func: eq(name, "Kim")) { v as uid } }',
            cond="@if(eq(len(v), 0))",
            set='uid(v) <name> "Kim" .\nuid(v) <born> "1" .',
            mutations=[
                {"cond": "@if(gt(len(v), 0))", "set_json": {"uid": "uid(v)", "alias": "again"}},
                {"cond": "@if(gt(len(v), 0))", "delete": "uid(v) <born> * ."},
            ],
        )

    assert list(touch().uids) == ["uid(v)"]
    assert rows(people, '{ q(func: eq(name, "Kim")) { born alias } }') == [{"born": 1}]
    assert touch().uids == {}
    assert rows(people, '{ q(func: eq(name, "Kim")) { born alias } }') == [{"alias": ["again"]}]


def test_values_of_variables(people):
    people.upsert(
        "{ q as var(func: has(born)) { b as born next as math(b + 1) } }",
        set="uid(q) <born> val(next) .",
    )
    assert rows(people, "{ q(func: has(born)) { born } }") == [{"born": 1816}, {"born": 1901}]


def test_upsert_blocks(people):
    block = """upsert {
      query { q(func: eq(name, "Bob")) { v as uid } }
      mutation @if(eq(len(v), 1)) { set { uid(v) <alias> "Robert" . } delete { uid(v) <born> * . } }
    }"""
    done = people.upsert(block)
    assert done.result.to_dict() == {"q": [{"uid": "0x2"}]}
    assert rows(people, "{ q(func: uid(0x2)) { alias born } }") == [{"alias": ["Robert"]}]
    assert people.upsert('{ set { _:x <name> "X" . } }').result is None


@pytest.mark.parametrize(
    ("arguments", "error", "expected"),
    [
        (
            {"set": "uid(w) <friend> uid(v) ."},
            hexgraph.ParseError,
            "`w` is used in a mutation but not defined",
        ),
        ({"set": '<0x1> <name> "x" .'}, hexgraph.ParseError, "`v` is defined but not used"),
        ({"set": 'uid(v) <name> "x"'}, hexgraph.ParseError, "has no end"),
        ({"set_json": {"uid": "uid(v"}}, hexgraph.ParseError, "brackets"),
        ({"set": 'uid(v) <born> "x" .'}, hexgraph.QueryError, "is no int"),
        ({"set": 'uid(v) <a> "x" .', "cond": "@if(eq(len(v), 1)"}, hexgraph.ParseError, "line 1"),
        ({"set": 'uid(v) <a> "x" .', "cond": "@if(has(name))"}, hexgraph.QueryError, "condition"),
        ({"mutations": [{"sets": ""}]}, TypeError, "no key"),
    ],
)
def test_what_upsert_refuses(people, arguments, error, expected):
    before = people.query("{ q(func: has(name)) { expand(_all_) name } }").to_dict()
    with pytest.raises(error, match=expected):
        people.upsert('{ q(func: eq(name, "Ada")) { v as uid } }', **arguments)
    assert people.query("{ q(func: has(name)) { expand(_all_) name } }").to_dict() == before


def test_unique_values(db):
    db.alter("email: string @index(exact) @unique .")
    db.mutate(set_json=[{"uid": "0x1", "email": "a"}, {"uid": "0x2", "email": "b"}])
    with pytest.raises(hexgraph.QueryError, match=r"another node has the value|duplicate value"):
        db.mutate(set_json={"email": "a"})
    db.mutate(set_json=[{"uid": "0x1", "email": "b"}, {"uid": "0x2", "email": "a"}])
    assert rows(db, "{ q(func: has(email)) { email } }") == [{"email": "b"}, {"email": "a"}]


class Growing:
    """A value whose text is made by code that changes what it is in."""

    def __init__(self, within):
        self.within = within

    def isoformat(self):
        self.within["more"] = 1
        return "2024-01-01"


def test_dicts_that_change_while_they_are_read(db):
    node = {}
    node |= {"born": Growing(node), "name": "Ada"}
    with pytest.raises(RuntimeError, match="dictionary changed size"):
        db.mutate(set_json=node)
    values = {}
    values |= {"a": Growing(values), "b": "x"}
    text = "query q($a: string, $b: string) { q(func: has(name)) { uid } }"
    with pytest.raises(RuntimeError, match="dictionary changed size"):
        db.query(text, values)


def test_a_byte_order_mark_is_no_part_of_a_text(db):
    mark = "\ufeff"
    db.alter(f"{mark}name: string @index(exact) .")
    db.mutate(set=f'{mark}<1> <name> "x" .\n<2> <name> "y" .')
    db.mutate(set_json=f'{mark}{{"uid": "0x3", "name": "z"}}')
    db.mutate(delete=f"{mark}<2> <name> * .")
    text = f"{mark}{{ q(func: has(name)) {{ name }} }}"
    assert db.query(text).rows() == [("x",), ("z",)]
    block = "{ q(func: eq(name, x)) { v as uid } }"
    db.upsert(mark + block, set=f'{mark}uid(v) <name> "w" .', cond=f"{mark}@if(eq(len(v), 1))")
    assert db.query(text).rows() == [("w",), ("z",)]
    with pytest.raises(hexgraph.ParseError, match="line 2 column 1"):
        db.mutate(set=f'<1> <name> "x" .\n{mark}<2> <name> "y" .')


def test_all_types_of_literals_are_proposed(db):
    with pytest.raises(hexgraph.ParseError) as caught:
        db.mutate(set='<1> <a> "x"^^<zzzzzzzz> .')
    for name in ("xs:positiveInteger", "xs:base64Binary", "#gYear", "#gYearMonth"):
        assert name in str(caught.value)
