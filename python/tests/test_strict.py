"""Names in queries that the schema does not know."""

import warnings

import pytest

import hexgraph

NO_X, NO_Y = "there is no predicate `x`", "there is no predicate `y`"

EDGE = (
    "`friend` is an edge and has no value of its own (select fields of its targets, as in"
    " `friend { uid }`, or write `count(friend)`)"
)

UNFILTERED = (
    "filter the rows of the answer; or begin at the nodes that make the groups, and count:"
    " `n as count(~month)` in one block, `q(func: uid(n)) @filter(gt(val(n), 100))` in the next"
)
NESTED_KEY = (
    "groups are made by predicates of the nodes themselves: `@groupby(friend)` has a row for each"
    " node at the other end; or begin at those: `{ q(func: has(name)) { name count(~friend) } }`"
)

# Each row: the query, and the warnings.
CASES = [
    ("{ q(func: has(name)) { name born friend { name } } }", []),
    ("{ q(func: has(nmae)) { name } }", ["there is no predicate `nmae` (did you mean `name`?)"]),
    ("{ q(func: has(name)) { nmae } }", ["there is no predicate `nmae` (did you mean `name`?)"]),
    ("{ q(func: type(Persn)) { name } }", ["there is no type `Persn` (did you mean `Person`?)"]),
    ("{ q(func: uid(1)) { expand(Human) } }", ["there is no type `Human`"]),
    ("{ q(func: uid(1)) @filter(not has(x)) { name } }", [NO_X]),
    ("{ q(func: uid(1)) { friend @filter(type(X)) { uid } } }", ["there is no type `X`"]),
    ("{ q(func: uid(1)) { count(x) y x } }", [NO_X, NO_Y]),
    ("{ q(func: uid(1)) @groupby(x) { count(uid) } }", [NO_X]),
    ("{ q(func: uid(1)) { friend { x { y } } } }", [NO_X, NO_Y]),
    ("{ q(func: uid(1)) { name friend } }", [EDGE]),
    ("{ q(func: uid(1)) { friend { friend } } }", [EDGE]),
    # What other languages have, and what is written instead.
    (
        "{ q(func: uid(1)) @filter(gt(count, 3)) { name } }",
        ["there is no predicate `count` (a number of edges is compared by `gt(count(friend), 3)`)"],
    ),
    (
        "{ q(func: uid(1)) @groupby(name) @filter(gt(count, 3)) { count(uid) } }",
        [f"there is no predicate `count` ({UNFILTERED})"],
    ),
    (
        "{ q(func: uid(1)) @groupby(friend.name) { count(uid) } }",
        [f"there is no predicate `friend.name` ({NESTED_KEY})"],
    ),
    (
        "{ q(func: uid(1)) { friend.name } }",
        ["there is no predicate `friend.name` (an edge is followed in braces: `friend { name }`)"],
    ),
    # Elsewhere the edge alone says what is requested.
    ("{ q(func: uid(1)) { name count(friend) } }", []),
    ("{ q(func: uid(1)) @recurse(depth: 2) { name friend } }", []),
    ("{ q(func: uid(1)) @cascade { name friend } }", []),
    ("{ f as var(func: uid(1)) { g as friend } q(func: uid(f, g)) { name } }", []),
]


@pytest.mark.parametrize(("dql", "messages"), CASES)
def test_warnings(people, dql, messages):
    result = [warning.split(": ", 1)[1] for warning in people.query(dql).warnings]
    assert result == messages
    if not messages:
        assert people.query(dql, strict=True).rows()
        return
    with pytest.raises(hexgraph.QueryError) as caught:
        people.query(dql, strict=True)
    message, _, hint = messages[0].partition(" (")
    assert (caught.value.message, caught.value.hint) == (message, hint.removesuffix(")"))
    assert caught.value.line == 1


@pytest.mark.shared
def test_a_cluster_is_strict_on_request(people):
    with pytest.raises(hexgraph.QueryError, match="no predicate `nmae`"):
        people.query("{ q(func: has(name)) { nmae } }", strict=True)
    assert people.query("{ q(func: has(name)) { name } }", strict=True).rows()


def test_a_connection_is_strict():
    with hexgraph.connect(strict=True) as db:
        db.alter("name: string .")
        with pytest.raises(hexgraph.QueryError, match="no predicate `nmae`"):
            db.query("{ q(func: has(nmae)) { uid } }")
        with db.txn() as txn, pytest.raises(hexgraph.QueryError, match="no predicate `nmae`"):
            txn.query("{ q(func: has(nmae)) { uid } }")
        assert list(db.query("{ q(func: has(nmae)) { uid } }", strict=False)) == []


def test_warnings_are_of_the_version_and_not_of_the_plan(db):
    dql = "{ q(func: has(name)) { name } }"
    assert db.query(dql).warnings
    db.alter("name: string .")
    assert db.query(dql).warnings == []


def test_warnings_are_shown(db):
    result = db.query("{ q(func: has(name)) { name } }")
    assert repr(result).startswith("warning: line 1 column 11: there is no predicate `name`\n")
    assert "there is no predicate `name`" in result._repr_html_()


@pytest.mark.parametrize(
    "convert",
    [
        lambda result: result.rows(),
        lambda result: result.to_dict(),
        lambda result: result.to_arrow(),
        lambda result: result.to_pandas(),
        lambda result: result.to_polars(),
        lambda result: result.flatten(),
        lambda result: result.frames(),
        lambda result: result.__arrow_c_stream__(),
    ],
)
def test_rows_and_tables_warn_of_them(people, convert):
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    result = people.query("{ q(func: has(nmae)) { name } }")
    with pytest.warns(hexgraph.UnknownNameWarning, match="no predicate `nmae`") as caught:
        convert(result)
    # Once, and at the line that has made the table.
    assert [it.filename for it in caught] == [__file__]
    # As errors, which pytest makes of warnings here.
    with pytest.raises(hexgraph.UnknownNameWarning):
        convert(result)
    convert(people.query("{ q(func: has(name)) { name } }"))
    # What has a field for them, or is text, is silent.
    assert list(result) == result["q"] == []
    assert result.json() == '{"q":[]}'


def test_a_connection_without_warnings():
    pytest.importorskip("polars")
    dql = "{ q(func: type(Flihgt)) { name } }"
    with hexgraph.connect(warnings=False) as db:
        db.load_nodes([{"name": "a"}], "Flight", id=None)
        result = db.query(dql)
        assert result.rows() == []
        assert result.to_dict() == {"q": []}
        assert result.to_polars().height == 0
        (report,) = result.warnings
        assert "there is no type `Flihgt` (did you mean `Flight`?)" in report
        with db.txn(read_only=True) as txn:
            assert txn.query(dql).rows() == []
        for page in db.pages("{ q(func: has(name)) { nmae } }"):
            page.rows()


def test_without_a_schema_no_name_is_misspelt(db):
    dql = "{ q(func: has(name)) { name } }"
    assert db.query(dql).rows() == []
    db.alter("nmae: string .")
    with pytest.warns(hexgraph.UnknownNameWarning, match="did you mean `nmae`"):
        assert db.query(dql).rows() == []


def test_each_warning_has_the_category_of_its_kind(db):
    db.load_nodes([{"n": 1, "x": 1, "y": 2}, {"n": 2, "y": 3}], id=None)
    dql = "{ q(func: has(n)) { v as x w as y sum: math(v + w) nmae } }"
    with pytest.warns(hexgraph.QueryWarning) as caught:
        db.query(dql).rows()
    report = [(it.category, it.message.kind) for it in caught]
    assert report == [
        (hexgraph.QueryWarning, "missing_values"),
        (hexgraph.UnknownNameWarning, "unknown_predicate"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hexgraph.UnknownNameWarning)
        with pytest.raises(hexgraph.QueryWarning, match="`v` has no value at 1 of the 2 nodes"):
            db.query(dql).to_dict()


def test_an_algorithm_in_dql_warns_that_it_did_not_converge(db):
    db.mutate(set="<1> <e> <2> .\n<2> <e> <3> .\n<3> <e> <1> .\n<3> <e> <4> .")
    dql = "{ r as pagerank(iterations: 2) { e } q(func: uid(r)) { uid val(r) } }"
    result = db.query(dql)
    (report,) = result.warnings
    assert "`pagerank` did not converge: after 2 rounds" in report
    with pytest.warns(hexgraph.NotConvergedWarning, match="after 2 rounds"):
        result.rows("q")
    assert db.query(dql.replace("iterations: 2", "iterations: 1000")).warnings == []
