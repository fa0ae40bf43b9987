"""Queries in Cypher: rows in all forms, parameters, changes, rights to write, limits, errors."""

import asyncio
import datetime
import threading
import time
import zoneinfo

import duckdb
import pandas
import polars
import pyarrow
import pytest

import hexgraph


@pytest.fixture
def people(db):
    db.alter("name: string @index(exact) .\nborn: int .\nknows: [uid] .")
    db.mutate(
        set="""
        <1> <dgraph.type> "Person" .
        <2> <dgraph.type> "Person" .
        <1> <name> "Ada" .
        <1> <born> "1815" .
        <2> <name> "Bob" .
        <1> <knows> <2> (since=2019) .
        <2> <knows> <1> (since=2020) .
        """
    )
    return db


def test_nodes_relationships_and_paths_are_dicts(people):
    result = people.cypher("MATCH p = (a {name: 'Ada'})-[r]->(b) RETURN a, r, p, b.born")
    ada = {"uid": "0x1", "labels": ["Person"], "properties": {"born": 1815, "name": "Ada"}}
    bob = {"uid": "0x2", "labels": ["Person"], "properties": {"name": "Bob"}}
    knows = {"type": "knows", "start": "0x1", "end": "0x2", "properties": {"since": 2019}}
    assert result.columns() == ["a", "r", "p", "b.born"]
    assert result.rows() == [(ada, knows, {"nodes": [ada, bob], "relationships": [knows]}, None)]


def test_rows_come_in_all_forms(people):
    result = people.cypher("MATCH (n) RETURN n.name AS name, n.born AS born ORDER BY name")
    assert result.to_dict() == [{"name": "Ada", "born": 1815}, {"name": "Bob", "born": None}]
    assert result.to_polars().to_dicts() == result.to_dict()
    assert list(result.to_pandas()["name"]) == ["Ada", "Bob"]
    assert result.to_json() == '{"columns":["name","born"],"rows":[["Ada",1815],["Bob",null]]}'
    assert (len(result), list(result)) == (2, [("Ada", 1815), ("Bob", None)])
    assert str(result).splitlines() == ["name  born", "----  ----", "Ada   1815", "Bob   null"]


def test_a_column_of_several_types_is_text_of_json(db):
    mixed = db.cypher("UNWIND [1, 'a', null] AS x RETURN x")
    with pytest.warns(UserWarning, match="`x` has values of several types"):
        assert mixed.to_polars()["x"].to_list() == ["1", '"a"', None]
    assert db.cypher("UNWIND [1, 2.5] AS x RETURN x").to_polars()["x"].to_list() == [1.0, 2.5]
    large = db.cypher("UNWIND [9007199254740993, 0.5] AS x RETURN x")
    with pytest.warns(UserWarning, match="several types"):
        assert large.to_polars()["x"].to_list() == ["9007199254740993", "0.5"]
    nested = db.cypher("RETURN [1, 2] AS l, {a: 1} AS m, [] AS e, [1, 'a'] AS x")
    with pytest.warns(UserWarning, match=r"`x\[\]` has values of several types"):
        assert nested.to_polars().rows() == [([1, 2], {"a": 1}, [], ["1", '"a"'])]
    assert db.cypher("MATCH (n:None) RETURN n.x AS x").to_polars().shape == (0, 1)


def test_nodes_and_relationships_are_structs(people):
    people.mutate(set='<1> <tags> "x" .')
    result = people.cypher("MATCH p = (a {name: 'Ada'})-[r]->(b) RETURN a, r, b, p")
    frame = result.to_polars()
    (row,) = frame.to_dicts()
    ada = {"uid": "0x1", "labels": ["Person"]}
    properties = {"born": 1815, "name": "Ada", "tags": "x"}
    assert row["a"] == {**ada, "properties": properties}
    assert row["b"]["properties"] == {"name": "Bob"}
    assert row["r"] == {
        "type": "knows",
        "start": "0x1",
        "end": "0x2",
        "properties": {"since": 2019},
    }
    # Both nodes of the path have the keys of all.
    assert row["p"]["nodes"][1]["properties"] == {"born": None, "name": "Bob", "tags": None}
    assert row["p"]["relationships"] == [row["r"]]
    assert result.to_pandas()["a"][0]["properties"]["name"] == "Ada"
    assert pyarrow.table(result).to_pylist() == [row]
    assert result.to_arrow().rows()[0][0] == row["a"]
    names = duckdb.sql("SELECT a.properties.name, r.properties.since, len(p.nodes) FROM frame")
    assert names.fetchall() == [("Ada", 2019, 2)]


def test_dates_and_times_have_types(db):
    text = (
        "RETURN date('2020-02-29') AS d, localtime('01:02:03.000004') AS t, "
        "localdatetime('2020-02-29T01:02:03') AS l, datetime('2020-02-29T01:02:03Z') AS u, "
        "datetime('2020-02-29T01:02:03+02:00') AS o, "
        "datetime('2020-02-29T01:02:03[Europe/Berlin]') AS z"
    )
    table = db.cypher(text).to_arrow()
    types = ["date32[day]", "time64[ns]", "timestamp[ns]", "timestamp[ns, tz=UTC]"]
    types += ["timestamp[ns, tz=+02:00]", "timestamp[ns, tz=Europe/Berlin]"]
    assert [str(it) for it in pyarrow.table(table).schema.types] == types
    day, moment = datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 1, 2, 3)
    utc, two = datetime.UTC, datetime.timezone(datetime.timedelta(hours=2))
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    zoned = [moment.replace(tzinfo=zone) for zone in (utc, two, berlin)]
    (row,) = table.rows()
    assert list(row) == [day, datetime.time(1, 2, 3, 4), moment, *zoned]
    assert [it.utcoffset() for it in row[3:]] == [it.utcoffset() for it in zoned]
    frame = table.to_pandas()
    assert [str(it) for it in frame.dtypes[2:]] == [
        "datetime64[ns]",
        "datetime64[ns, UTC]",
        "datetime64[ns, UTC+02:00]",
        "datetime64[ns, Europe/Berlin]",
    ]
    assert [it.to_pydatetime() for it in frame.iloc[0][2:]] == [moment, *zoned]
    assert db.cypher(text).to_polars().select("d", "l", "u", "z").rows() == [
        (day, moment, zoned[0], zoned[2])
    ]
    two_zones = (
        "UNWIND ['2020-01-01T00:00Z', '2020-01-01T01:00+01:00'] AS t RETURN datetime(t) AS t"
    )
    with pytest.warns(UserWarning, match="`t` has times of several zones"):
        assert set(db.cypher(two_zones).to_polars()["t"]) == {
            datetime.datetime(2020, 1, 1, tzinfo=utc)
        }
    assert [row[0] for row in db.cypher(two_zones).rows()][1].endswith("+01:00")
    nan = db.cypher("RETURN 0.0 / 0.0 AS n, [1.0] AS f")
    assert nan.to_json() == '{"columns":["n","f"],"rows":[["NaN",[1.0]]]}'


def test_parameters_have_the_types_of_python(db):
    zone = datetime.timezone(datetime.timedelta(hours=2))
    for value, expected in [
        (None, "NULL"),
        (True, "BOOLEAN NOT NULL"),
        (7, "INTEGER NOT NULL"),
        (2.5, "FLOAT NOT NULL"),
        ("x", "STRING NOT NULL"),
        (datetime.date(2020, 2, 29), "DATE NOT NULL"),
        (datetime.datetime(2020, 2, 29, 1, 2, 3, 4), "LOCAL DATETIME NOT NULL"),
        (datetime.datetime(2020, 2, 29, 1, 2, 3, tzinfo=zone), "ZONED DATETIME NOT NULL"),
        (datetime.timedelta(days=-1, microseconds=5), "DURATION NOT NULL"),
    ]:
        is_of = "RETURN $p IS :: " + expected.removesuffix(" NOT NULL")
        assert db.cypher(is_of, {"p": value}).rows() == [(True,)], value
    deep = {"p": [{"a": [1, "x"]}, []]}
    assert db.cypher("RETURN $p", deep).rows() == [([{"a": [1, "x"]}, []],)]
    moment = datetime.datetime(2020, 2, 29, 1, 2, 3, tzinfo=zone)
    assert db.cypher("RETURN $p", {"p": moment}).rows() == [("2020-02-29T01:02:03+02:00",)]
    with pytest.raises(OverflowError, match="`p` is an int beyond 64 bits"):
        db.cypher("RETURN $p", {"p": 2**64})
    with pytest.raises(TypeError, match="`p` is of type object"):
        db.cypher("RETURN $p", {"p": object()})
    with pytest.raises(TypeError, match="a dict of their values, not list"):
        db.cypher("RETURN 1", [1])
    with pytest.raises(hexgraph.QueryError, match=r"\$other"):
        db.cypher("RETURN $other", {"p": 1})
    endless = []
    endless.append(endless)
    with pytest.raises(TypeError, match="nested deeper"):
        db.cypher("RETURN $p", {"p": endless})


def test_a_query_sees_changes_and_a_transaction_its_own(people):
    people.mutate(set='<3> <name> "Cy" .\n<3> <knows> <3> .')
    loops = "MATCH (a)-[:knows]-(a) RETURN a.name"
    assert people.cypher(loops).rows() == [("Cy",)]
    with people.txn() as txn:
        txn.mutate(delete="<3> <knows> <3> .")
        assert (txn.cypher(loops).rows(), people.cypher(loops).rows()) == ([], [("Cy",)])
    assert people.cypher(loops).rows() == []
    assert asyncio.run(people.acypher("MATCH (n) RETURN count(*)")).rows() == [(3,)]


def test_many_answers_are_those_of_one_after_the_other(people):
    text = (
        "MATCH (a {name: $name})-[:knows]-(b) WHERE $least IS NULL OR b.born > $least "
        "RETURN b.name, b"
    )
    rows = [
        {"name": name, "least": least} for name in ("Ada", "Bob", "Eve") for least in (None, 1800)
    ]
    expected = [
        (number, *found)
        for number, row in enumerate(rows)
        for found in people.cypher(text, row).rows()
    ]
    for table in (rows, iter(rows), polars.DataFrame(rows), pandas.DataFrame(rows)):
        result = people.cypher_many(text, table)
        assert result.columns() == ["row", "b.name", "b"]
        assert result.rows() == expected, type(table)
    assert (
        asyncio.run(people.acypher_many(text, rows, number="question")).columns()[0] == "question"
    )
    none = people.cypher_many(text, [])
    assert (none.columns(), none.rows()) == (["row", "b.name", "b"], [])
    assert people.cypher_many("RETURN $b", [{"b": True}, {"b": 1}]).rows() == [(0, True), (1, 1)]


def test_what_is_wrong_with_many_names_the_row(people):
    with pytest.raises(hexgraph.QueryError, match=r"row 1: .*zero"):
        people.cypher_many("RETURN 1 / $n", [{"n": 1}, {"n": 0}])
    with pytest.raises(hexgraph.QueryError, match=r"row 1: .*\$n"):
        people.cypher_many("RETURN $n", [{"n": 1}, {"m": 0}])
    with pytest.raises(hexgraph.QueryError, match='has a column "row"'):
        people.cypher_many("RETURN 1 AS row", [{}])
    with pytest.raises(hexgraph.QueryError, match="one row of parameters"):
        people.cypher_many("EXPLAIN RETURN 1", [{}])
    with pytest.raises(hexgraph.ParseError):
        people.cypher_many("RETRUN 1", [{}])
    with pytest.raises(TypeError, match="row 1: parameters are a dict"):
        people.cypher_many("RETURN 1", [{}, 5])
    with pytest.raises(TypeError, match="`n` is of type object"):
        people.cypher_many("RETURN $n", [{"n": object()}])
    endless = [{"n": 10**12}] * 3
    with pytest.raises(hexgraph.LimitError):
        people.cypher_many("UNWIND range(1, $n) AS x RETURN count(x)", endless, timeout=0.1)


def test_many_are_from_one_version(people):
    done = threading.Event()

    def change():
        while not done.is_set():
            people.mutate(set='_:x <name> "Cy" .')

    thread = threading.Thread(target=change)
    thread.start()
    counts = people.cypher_many("MATCH (n) RETURN count(n) AS n", [{}] * 300).rows()
    done.set()
    thread.join()
    assert len({count for _, count in counts}) == 1


def test_a_plan_is_an_answer(people):
    text = "MATCH (a)-[:knows]->(b) RETURN b.name ORDER BY b.name"
    plan = people.cypher(f"EXPLAIN {text}")
    assert plan.columns() == ["operator", "detail", "expected"]
    assert plan.rows()[-1][0] == "Sort"
    profile = people.cypher(f"PROFILE {text}")
    assert profile.columns() == ["operator", "detail", "expected", "actual", "ms"]
    assert [row[:3] for row in profile.rows()] == plan.rows()
    assert profile.rows()[-1][3] == len(people.cypher(text).rows())
    with pytest.raises(hexgraph.Error, match="`m`"):
        people.cypher("EXPLAIN MATCH (n) RETURN m")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE (n {name: 'x'})", "mutate"),
        ("MATCH (n) DETACH DELETE n", "delete"),
        ("MATCH (n) RETURN m", "`m`"),
        ("MATCH (n) RETURN nam(n)", "nam"),
        ("MATCH (n RETURN n", "line 1"),
        ("{ q(func: has(name)) { name } }", "line 1"),
    ],
)
def test_what_is_wrong_is_said(people, text, message):
    with pytest.raises(hexgraph.Error) as caught:
        people.cypher(text)
    assert message in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "UNWIND range(0, 1000000000000) AS n RETURN n",
        "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN count(*)",
        "MATCH (a)-[*]-(b)-[*]-(c)-[*]-(d) RETURN collect([a, b, c, d])",
        "RETURN reduce(t = 'x', n IN range(1, 60) | t + t)",
        "RETURN " + "(" * 10_000 + "1" + ")" * 10_000,
    ],
)
def test_limits_stop_what_is_endless(db, text):
    db.mutate(set="\n".join(f"<{a}> <e> <{b}> ." for a in range(1, 9) for b in range(1, 9)))
    started = time.monotonic()
    with pytest.raises(hexgraph.Error):
        db.cypher(text, timeout=1.0)
    assert time.monotonic() - started < 20


def test_a_long_query_is_interrupted_and_leaves_others_alone(db):
    text = "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN count(*)"
    with pytest.raises(hexgraph.LimitError, match="timeout"):
        db.cypher(text, timeout=0.2)

    def other():
        with pytest.raises(hexgraph.LimitError):
            db.cypher(text, timeout=1)

    thread = threading.Thread(target=other)
    thread.start()
    assert db.cypher("RETURN 1").rows() == [(1,)]
    thread.join()


def test_aggregates_agree_with_polars(db):
    polars = pytest.importorskip("polars")
    table = polars.DataFrame(
        {
            "id": range(500),
            "team": [f"t{i % 7}" for i in range(500)],
            "pay": [i * 37 % 101 for i in range(500)],
        }
    )
    db.load_nodes(table, "Worker")
    text = """
        MATCH (w:Worker) WHERE w.pay > 20
        RETURN w.team AS team, count(*) AS n, sum(w.pay) AS total, max(w.pay) AS most
        ORDER BY total DESC, team LIMIT 4
    """
    expected = (
        table.filter(polars.col("pay") > 20)
        .group_by("team")
        .agg(
            polars.len().cast(polars.Int64).alias("n"),
            total=polars.col("pay").sum(),
            most=polars.col("pay").max(),
        )
        .sort(["total", "team"], descending=[True, False])
        .head(4)
    )
    assert db.cypher(text).to_polars().rows() == expected.rows()
