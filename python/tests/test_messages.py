"""Messages for beginners: what is wrong, where, and what to write instead."""

import os
import pickle
import re
import subprocess
import sys
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest

import hexgraph
from hexgraph import guesses, processor

pytestmark = pytest.mark.shared

numpy = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

NAN, INF = float("nan"), float("inf")
EDGES = polars.DataFrame({"a": [1, 2], "b": [2, 3], "w": [0.5, 0.6]})
ENDPOINTS = {"source": "a", "target": "b"}
FIND = '{ q(func: eq(name, "Ada")) { v as uid } }'
HALF = "a\ud800b"
BY_NAME = "query q($n: string) { q(func: eq(name, $n)) { uid } }"

# Each row: what is called with a database and an empty folder, the exception, parts of its text.
CALLS = {
    "a schema file that is absent": (
        lambda db, _: db.alter("films.schema"),
        hexgraph.StorageError,
        ["films.schema", "a schema is its text"],
    ),
    "variables that are a text": (
        lambda db, _: db.query(BY_NAME, "Ada"),
        TypeError,
        ["variables are a dict", '{"name": value}', "not str"],
    ),
    "variables that are a list": (
        lambda db, _: db.upsert(BY_NAME, ["Ada"], set='<1> <name> "x" .'),
        TypeError,
        ["variables are a dict", "not list"],
    ),
    "a variable whose name is a number": (
        lambda db, _: db.query(BY_NAME, {1: "Ada"}),
        TypeError,
        ["the name of a variable is a str", "not int"],
    ),
    "variables by name": (
        lambda db, _: db.query(BY_NAME, n="Ada"),
        TypeError,
        ["query() has no argument 'n'", "query(dql, {'n': 'Ada'})"],
    ),
    "a page beside the query": (
        lambda db, _: db.query("{ q(func: has(name)) { name } }", first=10),
        TypeError,
        ["'first'", "`q(func: has(name), first: 10)`"],
    ),
    "a misspelt argument of a query in a transaction": (
        lambda db, _: db.txn().query("{ q(func: has(name)) { name } }", timout=1),
        TypeError,
        ["'timout'", "did you mean `timeout`?"],
    ),
    "a misnamed argument of connect": (
        lambda _, tmp: hexgraph.connect(tmp, readonly=True),
        TypeError,
        ["connect() has no argument 'readonly'", "did you mean `read_only`?"],
    ),
    "an argument of connect that nobody knows": (
        lambda _, tmp: hexgraph.connect(tmp, colour="red"),
        TypeError,
        ["'colour'", "it has path, read_only, threads"],
    ),
    "a result as a frame of DuckDB": (
        lambda db, _: db.query("{ q(func: has(name)) { name } }").df(),
        AttributeError,
        ["no attribute 'df'", "`result.to_pandas()`"],
    ),
    "a result as a cursor": (
        lambda db, _: db.query("{ q(func: has(name)) { name } }").fetchall(),
        AttributeError,
        ["no attribute 'fetchall'", "`result.rows()`"],
    ),
    "a misspelt method of a result": (
        lambda db, _: db.query("{ q(func: has(name)) { name } }").to_panda(),
        AttributeError,
        ["no attribute 'to_panda'", "did you mean `to_pandas`?"],
    ),
    "a date in another order": (
        lambda db, _: db.mutate(set='<1> <day> "01.08.1948"^^<xs:dateTime> .'),
        hexgraph.QueryError,
        ["`01.08.1948` is no datetime", "`2006-01-02`", "no other order"],
    ),
    "a GraphQL query as DQL": (
        lambda db, _: db.query("{ queryFilm(first: 10) { title } }"),
        hexgraph.ParseError,
        ["looks like GraphQL", "db.graphql(...)"],
    ),
    "a schema path that is absent": (
        lambda db, tmp: db.load(b"", schema=tmp / "films.schema"),
        hexgraph.StorageError,
        ["films.schema", "No such file"],
    ),
    "a schema of another kind": (
        lambda db, _: db.alter(5),
        TypeError,
        ["a schema is a text, the path of a file, a dict, a dataclass", "not int"],
    ),
    "facets by number": (
        lambda db, _: db.load_edges(EDGES, "knows", **ENDPOINTS, facets=5),
        TypeError,
        ["facets is a list of columns", "not int"],
    ),
    "a facet that is no column": (
        lambda db, _: db.load_edges(EDGES, "knows", **ENDPOINTS, facets="x"),
        hexgraph.QueryError,
        ['has no column "x"', '"a", "b", "w"'],
    ),
    "set with a dict": (
        lambda db, _: db.mutate(set={"name": "x"}),
        TypeError,
        ["set is a text of N-Quads, not dict", "set_json"],
    ),
    "delete with a list": (
        lambda db, _: db.mutate(delete=[{"uid": "0x1"}]),
        TypeError,
        ["delete is a text of N-Quads, not list", "delete_json"],
    ),
    "upsert with a dict": (
        lambda db, _: db.upsert(FIND, set={"uid": "uid(v)"}),
        TypeError,
        ["set_json"],
    ),
    "one of many mutations with a dict": (
        lambda db, _: db.upsert(FIND, mutations=[{"set": {"uid": "uid(v)"}}]),
        TypeError,
        ["set_json"],
    ),
    "mutations that are no list": (
        lambda db, _: db.upsert(FIND, mutations={"set": "x"}),
        TypeError,
        ["mutations is a list of dicts, not dict"],
    ),
    "a mutation without a name": (
        lambda db, _: db.mutate('<1> <name> "x" .'),
        TypeError,
        ["by name", 'set="..."'],
    ),
    "a dict without a name": (
        lambda db, _: db.txn().mutate({"name": "x"}),
        TypeError,
        ["by name", "set_json=..."],
    ),
    "NaN": (
        lambda db, _: db.mutate(set_json=[{"uid": "0x1"}, {"friend": [{"h": NAN}]}]),
        ValueError,
        ['set_json[1]["friend"][0]["h"]: NaN'],
    ),
    "NaN of numpy": (
        lambda db, _: db.mutate(set_json={"h": numpy.float32("nan")}),
        ValueError,
        ['set_json["h"]: NaN'],
    ),
    "NaN in a vector": (
        lambda db, _: db.mutate(set_json={"v": numpy.array([1.0, NAN])}),
        ValueError,
        ['set_json["v"][1]: NaN'],
    ),
    "infinity": (
        lambda db, _: db.mutate(set_json={"h": -INF}),
        ValueError,
        ['set_json["h"]: an infinite number'],
    ),
    "an infinite decimal": (
        lambda db, _: db.mutate(set_json={"h": Decimal("Infinity")}),
        ValueError,
        ['set_json["h"]: an infinite number'],
    ),
    "a decimal that is none": (
        lambda db, _: db.mutate(set_json={"h": Decimal("NaN")}),
        ValueError,
        ['set_json["h"]: NaN'],
    ),
    "a missing time to be deleted": (
        lambda db, _: db.mutate(delete_json={"uid": "0x1", "born": pandas.NaT}),
        ValueError,
        ['delete_json["born"]', "None deletes all values"],
    ),
    "a set": (
        lambda db, _: db.mutate(set_json={"name": {1, 2}}),
        TypeError,
        ['set_json["name"]: a value of type set', "pass a list"],
    ),
    "bytes": (
        lambda db, _: db.mutate(set_json={"name": b"x"}),
        TypeError,
        ['set_json["name"]: a value of type bytes', "decode"],
    ),
    "an object": (
        lambda db, _: db.mutate(set_json={"name": object()}),
        TypeError,
        ['set_json["name"]: a value of type object has no form in JSON'],
    ),
    "a generator": (
        lambda db, _: db.mutate(set_json=(it for it in [])),
        TypeError,
        ["set_json: a value of type generator", "list(values)"],
    ),
    "a frame": (
        lambda db, _: db.mutate(set_json=EDGES),
        TypeError,
        ["set_json: a table is loaded by load_nodes"],
    ),
    "a key that is no text": (
        lambda db, _: db.mutate(set_json={"friend": {1: "x"}}),
        TypeError,
        ['set_json["friend"]: a key is no str'],
    ),
    "a latitude beyond the pole": (
        lambda db, _: db.mutate(set_json={"at": {"type": "Point", "coordinates": [2, 95]}}),
        ValueError,
        [
            'set_json["at"]: the latitude 95 of [2, 95]',
            "write the longitude first, then the latitude",
        ],
    ),
    "a latitude of many points": (
        lambda db, _: db.mutate(
            set_json={"at": {"type": "MultiPoint", "coordinates": [(0, 0), (0, 95), (5, 5)]}}
        ),
        ValueError,
        ["the latitude 95 of [0, 95]"],
    ),
    "a great int": (
        lambda db, _: db.mutate(set_json={"n": 2**70}),
        ValueError,
        ['set_json["n"]: the int has more than 64 bits', "pass it as str"],
    ),
    "half a character": (
        lambda db, _: db.mutate(set_json={"name": HALF}),
        ValueError,
        ['set_json["name"]: character 2 is the surrogate \\ud800'],
    ),
    "half a character in a key": (
        lambda db, _: db.mutate(set_json={HALF: "x"}),
        ValueError,
        ["set_json: character 2 is the surrogate \\ud800"],
    ),
    "half a character in N-Quads": (
        lambda db, _: db.mutate(set=f'<1> <name> "{HALF}" .'),
        ValueError,
        ["set: character 14 is the surrogate"],
    ),
    "half a character in a variable": (
        lambda db, _: db.query(BY_NAME, {"n": HALF}),
        ValueError,
        ["variable $n: character 2 is the surrogate"],
    ),
    "a missing time as a variable": (
        lambda db, _: db.query(BY_NAME, {"n": pandas.NaT}),
        ValueError,
        ["variable $n: NaT is no value"],
    ),
    "no value of a variable": (
        lambda db, _: db.query("query q($n: int) { q(func: eq(age, $n)) { uid } }"),
        hexgraph.ParseError,
        ["line 1 column 36: variable $n has no value"],
    ),
    "a condition without @if": (
        lambda db, _: db.upsert(FIND, set="uid(v) <age> '5' .", cond="eq(len(v), 1)"),
        hexgraph.ParseError,
        ["a condition begins with `@if(`", "write `@if(eq(len(v), 1))`"],
    ),
    "a condition with half of @if": (
        lambda db, _: db.upsert(FIND, set="uid(v) <age> '5' .", cond="if (eq(len(v), 1))"),
        hexgraph.ParseError,
        ["write `@if (eq(len(v), 1))`"],
    ),
    "a table as triples": (
        lambda db, tmp: db.load(tmp / "x.csv"),
        hexgraph.QueryError,
        ["x.csv", "load_nodes"],
    ),
    "a frame as triples": (
        lambda db, _: db.load(EDGES),
        TypeError,
        ["DataFrame", "load_nodes"],
    ),
    "nodes within nodes as a table": (
        lambda db, _: db.load_nodes([{"id": 1, "knows": {"id": 2}}]),
        TypeError,
        ['column "knows", row 1: a dict is no value', "set_json"],
    ),
    "a row that is no list of rows": (
        lambda db, _: db.load_nodes({"id": 1, "name": "Ada"}),
        TypeError,
        ["column 'id' is of type int", "one row is a list of one dict"],
    ),
    "a column of two kinds": (
        lambda db, _: db.load_nodes({"id": [1, 2], "v": [1, "x"]}),
        TypeError,
        ['column "v", row 2: it holds numbers and texts'],
    ),
    "a table without a column id": (
        lambda db, _: db.load_nodes([{"iata": "ZRH"}], "Airport"),
        hexgraph.QueryError,
        ["no column 'id'", "id='iata'", "id=None"],
    ),
    "an argument as others call it": (
        lambda db, _: db.load_nodes([{"id": 1}], label="Person"),
        TypeError,
        ["no argument 'label'", "`type`"],
    ),
    "the type before the table": (
        lambda db, _: db.load_nodes("Person", [{"id": 1}]),
        TypeError,
        ["the table comes first"],
    ),
    "an id that no node has": (
        lambda db, _: db.load_edges([{"from": 1, "to": 2}], "knows", missing="raise"),
        hexgraph.QueryError,
        ["2 ends of edges are no nodes", 'missing="skip"'],
    ),
    "a class without types": (
        lambda db, _: db.alter({"name": bytes}),
        TypeError,
        ["name: no predicate holds values of", "str, bool, int"],
    ),
    "an index of no predicate": (
        lambda db, _: db.index("nmae", "term"),
        hexgraph.SchemaError,
        ["no predicate `nmae`", "did you mean `name`?"],
    ),
    "an array of numbers": (
        lambda db, _: db.load(b'[\n {"name": "x"},\n 7\n]'),
        hexgraph.LoadError,
        ["<bytes>:3:2: "],
    ),
    "a type that there is not": (
        lambda db, tmp: db.load_nodes(tmp / "x.csv", types={"age": "integer"}),
        ValueError,
        ['types["age"]: there is no type "integer" (did you mean `int`?)'],
    ),
    "a cell that does not fit": (
        lambda db, tmp: db.load_nodes(tmp / "x.csv", types={"age": "int"}),
        hexgraph.LoadError,
        ['column "age": "old": it is no int', "such as 42"],
    ),
    "an encoding that there is not": (
        lambda db, tmp: db.load_nodes(tmp / "semicolons.csv", id=None, encoding="utf-9"),
        ValueError,
        ["encoding is one of utf-8,", "utf-9"],
    ),
    "a timeout": (
        lambda db, _: db.query("{ q(func: has(name)) { name } }", timeout=0),
        hexgraph.LimitError,
        ["the request took longer than its timeout of 0 s", "raise `timeout`"],
    ),
    "a timeout that is no time": (
        lambda db, _: db.query("{ q(func: has(name)) { name } }", timeout=NAN),
        ValueError,
        ["a timeout is a number of seconds from 0 on, not NaN"],
    ),
    "a column that has no lists": (
        lambda db, _: db.query("{ q(func: has(name)) { name } }").explode("name"),
        hexgraph.QueryError,
        ['column "name" has no lists'],
    ),
    "a block that there is not": (
        lambda db, _: db.query("{ q(func: uid(1)) { name } }")["r"],
        KeyError,
        ["the answer has no block 'r', it has: q"],
    ),
    "a row by its number": (
        lambda db, _: db.query("{ q(func: uid(1)) { name } }")[0],
        KeyError,
        ["the answer has no block 0, it has: q"],
    ),
    "a file as a database": (
        lambda _, tmp: hexgraph.connect(tmp / "x.csv"),
        hexgraph.StorageError,
        ["x.csv: it is a file, and a database is a directory"],
    ),
    "a file as a database to read": (
        lambda _, tmp: hexgraph.connect(tmp / "x.csv", read_only=True),
        hexgraph.StorageError,
        ["x.csv: it is a file, and a database is a directory"],
    ),
    "a GraphQL schema file that is absent": (
        lambda db, _: db.graphql_schema("films.graphql"),
        hexgraph.StorageError,
        ["films.graphql", "a schema is its text"],
    ),
}


@pytest.fixture
def graph(db, tmp_path):
    db.alter("name: string @index(exact) .\nage: int @index(int) .\nfriend: [uid] .\nh: float .")
    db.mutate(set='<1> <name> "Ada" .\n<1> <age> "30" .\n<1> <friend> <2> .\n<2> <age> "4" .')
    (tmp_path / "x.csv").write_text("id,name,age\n1,Ada,30\n2,Bob,old\n")
    (tmp_path / "semicolons.csv").write_text("id;name\n1;Ada\n")
    return db


def state(graph):
    """Return what a call must not change: of a database that there was no commit at all."""
    if isinstance(graph, hexgraph.Database):
        return graph.stats()["commit"]
    everything = "{ q(func: has(age)) { uid name age h friend { uid } } }"
    return graph.query(everything).to_dict(), graph.schema(), graph.graphql_schema()


@pytest.mark.parametrize("name", CALLS)
def test_message(graph, tmp_path, name):
    call, kind, parts = CALLS[name]
    loads = any(used.startswith("load") for used in call.__code__.co_names)
    if loads and not isinstance(graph, hexgraph.Database):
        kind, parts = hexgraph.NotSupportedError, ["load"]
    before = state(graph)
    with pytest.raises(kind) as raised:
        call(graph, tmp_path)
    text = str(raised.value)
    assert [part for part in parts if part not in text] == [], text
    assert state(graph) == before
    assert str(pickle.loads(pickle.dumps(raised.value))) == text


@pytest.mark.embedded("a cluster has other names and misses some")
def test_names_of_other_databases_are_recognised(db):
    for name, meant in {
        "execute": "db.query(dql)",
        "create_index": "db.index(",
        "qury": "query",
    }.items():
        with pytest.raises(AttributeError, match=f"no attribute '{name}'") as caught:
            getattr(db, name)
        assert meant in str(caught.value)
    assert not hasattr(db, "_anything")
    result = db.query("{ q(func: has(name)) { name } }")
    report = {**guesses.DATABASE, **guesses.RESULT}
    methods = {
        match[1] for text in report.values() for match in re.finditer(r"(?:^|\b)(\w+)\(", text)
    }
    existing = {*dir(db), *dir(result), *dir(hexgraph), "GraphView", *dir(polars.DataFrame)}
    assert (
        methods
        - existing
        - {"len", "print", "to_networkx", "to_csv", "to_numpy", "list", "shortest"}
        == set()
    )
    for table, owner in ((guesses.DATABASE, db), (guesses.RESULT, result)):
        assert [name for name in table if name in dir(owner)] == []


@pytest.mark.embedded("a cluster loads no tables")
def test_a_gap_in_a_column_of_numbers(db, tmp_path):
    rows = [f"{number},{number}" for number in range(1500)]
    (tmp_path / "gap.csv").write_text("\n".join(["id,height", *rows, "1500,n/a"]))
    assert db.load_nodes(tmp_path / "gap.csv").nodes == 1501
    assert "height: int ." in db.schema()
    assert db.query("{ q(func: eq(id, 1500)) { id height } }").rows() == [(1500, None)]
    # A frame has its own mark that a value is missing: there it is an error.
    given = [{"id": 1, "height": "n/a"}]
    with pytest.raises(hexgraph.LoadError, match=r'missing value.*on_error="skip"'):
        db.load_nodes(given)
    assert "1 lines skipped" in repr(db.load_nodes(given, on_error="skip"))


@pytest.mark.embedded("a cluster loads no tables")
def test_ids_of_edges_need_an_index(db):
    db.load_nodes([{"code": "CH"}, {"code": "FR"}], "Country", id=None)
    with pytest.raises(hexgraph.SchemaError) as caught:
        db.load_edges([{"from": "CH", "to": "FR"}], "next_to", on="code")
    assert 'in one line: db.index("code", "hash")' in str(caught.value)
    db.index("code", "hash")
    assert db.load_edges([{"from": "CH", "to": "FR"}], "next_to", on="code").triples == 1


@pytest.mark.embedded("a cluster has no algorithms")
def test_nodes_of_algorithms_are_uids_or_roots(graph):
    with pytest.raises(ValueError, match="is no uid and no root of DQL") as caught:
        graph.algo.bfs("friend", source="Ada")
    assert """source='eq(xid, "Ada")'""" in str(caught.value)
    assert len(graph.algo.bfs("friend", source='eq(name, "Ada")')) == 2


@pytest.mark.embedded("a cluster reports no values")
def test_values_that_a_new_type_can_not_show(graph):
    report = graph.alter("name: int .")
    assert report.changed == ["name: int instead of string"]
    assert report.unread == [
        "name: 1 of 1 values can't be read as int: `Ada` of 0x1; asking for them is an error until"
        " they are set anew, or `name` is string again"
    ]
    assert "unread: name: 1 of 1" in repr(report)
    with pytest.raises(hexgraph.QueryError, match="older than the type of its predicate"):
        graph.query("{ q(func: has(name)) { name } }").to_dict()
    assert graph.alter("name: string .").unread == []
    assert graph.query("{ q(func: has(name)) { name } }").rows() == [("Ada",)]


@pytest.mark.embedded("a cluster names its own methods to set a schema")
def test_a_graphql_schema_is_required(db):
    answer = db.graphql("{ queryFilm { title } }")
    said = 'there is no GraphQL schema: set one with db.graphql_schema("...")'
    assert answer == {"errors": [{"message": said}]}


@pytest.mark.embedded("times travel as texts, so an undeclared predicate becomes one of texts")
def test_times_make_predicates_of_times(db):
    node = {
        "uid": "0x1",
        "day": date(1815, 12, 10),
        "moment": datetime(1815, 12, 10, 3, 4, 5),
        "zoned": datetime(1815, 12, 10, tzinfo=UTC),
        "stamp": pandas.Timestamp("1815-12-10"),
        "numpy_day": numpy.datetime64("1815-12-10"),
        "numpy_nanos": numpy.datetime64("1815-12-10T03:04:05", "ns"),
        "many": [date(1815, 12, 10), date(1852, 11, 27)],
        "clock": time(3, 4),
        "text": "1815-12-10",
    }
    db.mutate(set_json=node)
    schema = db.schema().splitlines()
    times = ["day", "moment", "zoned", "stamp", "numpy_day", "numpy_nanos"]
    assert [name for name in times if f"{name}: datetime ." not in schema] == []
    assert {"many: [datetime] .", "clock: string .", "text: string ."} <= set(schema)
    fields = " ".join(node)
    (result,) = db.query(f"{{ q(func: uid(1)) {{ {fields} }} }}")
    midnight = "1815-12-10T00:00:00Z"
    assert result["day"] == result["zoned"] == result["stamp"] == result["numpy_day"] == midnight
    assert result["moment"] == result["numpy_nanos"] == "1815-12-10T03:04:05Z"
    assert sorted(result["many"]) == [midnight, "1852-11-27T00:00:00Z"]
    assert (result["clock"], result["text"]) == ("03:04:00", "1815-12-10")


@pytest.mark.parametrize(
    "missing", [None, pandas.NaT, pandas.NA, numpy.datetime64("NaT")], ids=repr
)
def test_missing_values_are_left_out(db, missing):
    db.alter("born: datetime .")
    db.mutate(set_json={"uid": "0x1", "born": missing, "name": "Ada", "other": missing})
    assert list(db.query("{ q(func: uid(1)) { name born other } }")) == [{"name": "Ada"}]


def test_arrays_are_vectors_or_lists(db):
    db.alter("v: float32vector .\ntags: [string] .\ndays: [datetime] .")
    days = numpy.array(["2020-01-02"], dtype="datetime64[ns]")
    db.mutate(
        set_json={"uid": "0x1", "v": numpy.array([1, 2]), "tags": numpy.array(["a"]), "days": days}
    )
    (result,) = db.query("{ q(func: uid(1)) { v tags days } }")
    assert result == {"v": [1.0, 2.0], "tags": ["a"], "days": ["2020-01-02T00:00:00Z"]}


@pytest.mark.embedded("a cluster loads no tables")
def test_a_name_alone_is_a_facet(db):
    db.load_edges(EDGES, "knows", **ENDPOINTS, facets="w")
    answer = db.query('{ q(func: eq(xid, "1")) { knows @facets { xid } } }')
    assert answer["q"] == [{"knows": [{"xid": 2, "knows|w": 0.5}]}]


@pytest.mark.embedded("a cluster loads no tables")
def test_lazy_frames_are_collected(db):
    assert db.load_nodes(polars.LazyFrame({"id": [1, 2], "n": [3, 4]})).nodes == 2


def test_groups_are_the_rows_of_a_frame(graph):
    groups = graph.query("{ q(func: has(age)) @groupby(age) { count(uid) } }").to_polars()
    assert groups.rows() == [(4, 1), (30, 1)]
    assert groups.columns == ["age", "count"]


def run(*arguments, **options):
    command = [sys.executable, "-m", "hexgraph", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_the_command_line_quotes_the_line(tmp_path):
    with hexgraph.connect(tmp_path / "db") as db:
        db.mutate(set='<1> <name> "Ada" .')
    done = run("query", tmp_path / "db", "{\n  q(func: nonsense(name)) { name }\n}")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith("error: line 2 column 11: ")
    assert lines[1:] == ["      q(func: nonsense(name)) { name }", " " * 14 + "^"]
    schema = tmp_path / "s.schema"
    schema.write_text("name: strin .")
    done = run("load", tmp_path / "db", tmp_path / "x.rdf", "--schema", schema)
    assert done.returncode == 1


def test_a_load_that_fails_leaves_no_folder(tmp_path):
    bad = tmp_path / "bad.rdf"
    bad.write_text("nonsense")
    for file in [bad, tmp_path / "missing.rdf"]:
        done = run("load", tmp_path / "new" / "db", file)
        assert (done.returncode, done.stderr[:6]) == (1, "error:"), done
        assert not (tmp_path / "new").exists()
    # One that was there stays.
    with hexgraph.connect(tmp_path / "old") as db:
        db.mutate(set='<1> <name> "Ada" .')
    assert run("load", tmp_path / "old", bad).returncode == 1
    with hexgraph.connect(tmp_path / "old") as db:
        assert len(db.query("{ q(func: has(name)) { name } }")) == 1


def test_the_demo_has_help():
    done = run("demo", "--help")
    assert done.returncode == 0
    assert "Usage: hexgraph demo" in done.stdout
    assert run("demo", "nonsense").returncode == 2


def test_serving_tables_has_a_hint(tmp_path):
    table = tmp_path / "x.csv"
    table.write_text("id\n1\n")
    done = run("serve", "--port", "0", "--load", table, timeout=60)
    assert done.returncode == 1
    assert "`hexgraph load` takes tables" in done.stderr


def test_types_on_the_command_line(tmp_path):
    table = tmp_path / "x.csv"
    table.write_text("id,age\n1,30\n")
    done = run("load", tmp_path / "db", table, "--cast", "age=integer")
    assert 'there is no type "integer" (did you mean `int`?)' in done.stderr
    assert not Path(tmp_path / "db").exists()


def warned(db, dql):
    return [text.partition(" (")[0] for text in db.query(dql).warnings]


def test_pages_of_what_is_grouped():
    db = hexgraph.connect()
    db.mutate(set='<1> <name> "Ada" .\n<1> <friend> <2> .\n<2> <name> "Bob" .')
    said = "`first` is about the nodes that are grouped, not about groups"
    dql = "{ q(func: has(name), first: 2) @groupby(name) { count(uid) } }"
    assert warned(db, dql) == [f"line 1 column 3: {said}"]
    assert len(db.query(dql, strict=True)) == 2
    inner = "{ q(func: has(name)) { friend (offset: 1) @groupby(name) { count(uid) } } }"
    assert any("`offset` is about" in text for text in warned(db, inner))
    assert not warned(db, "{ q(func: has(name)) @groupby(name) { count(uid) } }")


def test_variables_of_other_nodes():
    db = hexgraph.connect()
    db.alter("height: int .\nlocated_in: uid @reverse .\nname: string .")
    db.mutate(
        set='<1> <name> "AT" .\n<2> <located_in> <1> .\n<3> <located_in> <1> .\n'
        '<2> <height> "10" .\n<3> <height> "30" .'
    )
    mean = "var(func: uid(1)) { ~located_in { e as height } m as avg(val(e)) }"
    wrong = f"{{ {mean} var(func: uid(e)) {{ d as math(e - m) }} q(func: uid(d)) {{ val(d) }} }}"
    assert warned(db, wrong) == [
        "line 1 column 90: `m` has no value at any node of this block, so it counts as 0"
    ]
    right = (
        f"{{ {mean} var(func: uid(e)) {{ located_in {{ n as math(m) }} s as sum(val(n)) }}"
        " var(func: uid(e)) { d as math(e - s) } q(func: uid(d)) { val(d) } }"
    )
    assert not warned(db, right)
    filtered = f"{{ {mean} q(func: uid(e)) @filter(gt(val(m), 0)) {{ uid }} }}"
    assert [text.partition(": ")[2] for text in warned(db, filtered)] == [
        "`m` has no value at any node that this filter asks, so no node passes"
    ]
    first = f"{{ {mean} q(func: uid(e), first: 1) @filter(gt(val(m), 0)) {{ uid }} }}"
    assert len(warned(db, first)) == 1
    inner = f"{{ {mean} q(func: uid(1)) {{ ~located_in @filter(lt(val(m), 5)) {{ uid }} }} }}"
    assert len(warned(db, inner)) == 1
    columns = (
        "{ var(func: has(height)) { h as height } var(func: has(name)) { t as count(~located_in) }"
        " var(func: has(height)) { x as math(h + t) } q() { sum(val(x)) } }"
    )
    assert len(warned(db, columns)) == 1


def test_a_processor_that_is_too_old(tmp_path: Path) -> None:
    """An ImportError instead of a process that is killed by an instruction it does not know."""
    cpuinfo = "processor\t: 0\nflags\t\t: fpu ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm\n"
    second = "\nprocessor\t: 1\nflags\t\t: fpu\n"
    assert processor.missing(cpuinfo + second) == []
    assert processor.missing(cpuinfo.replace(" popcnt", "") + second) == ["popcnt"]
    assert processor.missing("Features\t: fp asimd\n") == []
    old = tmp_path / "cpuinfo"
    old.write_text(cpuinfo.replace(" sse4_2", ""))
    if os.uname().machine == "x86_64":
        with pytest.raises(ImportError, match=r"lacks sse4_2: .* x86-64-v2 .*target-cpu=native"):
            processor.check(old)
    processor.check(tmp_path / "absent")
