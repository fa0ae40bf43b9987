"""Scans by columns have the rows of DuckDB, also of a graph that was just changed."""

import datetime

import duckdb
import numpy as np
import polars as pl
import pytest
from test_analysts import assert_same

import hexgraph

COUNT = 20_000

QUESTIONS = """
WHERE p.age > 97 RETURN p.name, p.age;
SELECT name, age FROM person WHERE age > 97

WHERE 10 <= p.age < 12 AND p.pay < 50 RETURN p.id;
SELECT id FROM person WHERE age >= 10 AND age < 12 AND pay < 50

WHERE p.age IS NULL OR p.city = 'c7' RETURN p.id, p.city;
SELECT id, city FROM person WHERE age IS NULL OR city = 'c7'

WHERE NOT (p.age <> 5) RETURN p.id;
SELECT id FROM person WHERE NOT (age <> 5)

WHERE p.name IN ['n1', 'n77', 'nobody'] RETURN p.id;
SELECT id FROM person WHERE name IN ('n1', 'n77', 'nobody')

WHERE p.age IN [1, 2.0, 3.5] RETURN p.id;
SELECT id FROM person WHERE age IN (1, 2)

WHERE p.name STARTS WITH 'n777' RETURN p.id;
SELECT id FROM person WHERE starts_with(name, 'n777')

WHERE p.name CONTAINS '99' AND p.name ENDS WITH '1' RETURN p.id;
SELECT id FROM person WHERE contains(name, '99') AND suffix(name, '1')

WHERE p.born >= datetime('1960-01-01') AND p.born < datetime('1960-03-01') RETURN p.id;
SELECT id FROM person WHERE born >= '1960-01-01' AND born < '1960-03-01'

RETURN p.id, p.pay * 12 / (p.age + 1) AS x, CASE WHEN p.age < 50 THEN 'young' ELSE p.city
    END;
SELECT id, pay * 12 / (age + 1), CASE WHEN age < 50 THEN 'young' ELSE city END FROM person

RETURN p.id, p.age ORDER BY p.age DESC, p.id LIMIT 50;
SELECT id, age FROM person ORDER BY age DESC NULLS FIRST, id LIMIT 50

RETURN p.id, p.pay ORDER BY p.pay, p.id SKIP 5 LIMIT 20;
SELECT id, pay FROM person ORDER BY pay, id LIMIT 20 OFFSET 5

WHERE p.city = 'c3' RETURN p.id ORDER BY p.born DESC, p.id LIMIT 9;
SELECT id FROM person WHERE city = 'c3' ORDER BY born DESC, id LIMIT 9

RETURN p.city, count(*), avg(p.pay), min(p.age), max(p.age) ORDER BY p.city;
SELECT city, count(*), avg(pay), min(age), max(age) FROM person GROUP BY city ORDER BY city

RETURN p.age > 50 AS old, p.city AS city, sum(p.pay), count(p.age) ORDER BY old, city;
SELECT age > 50 AS old, city, sum(pay), count(age) FROM person GROUP BY ALL ORDER BY old,
    city

WHERE p.pay < 10 RETURN count(*), sum(p.age), avg(p.age), max(p.pay), stDev(p.pay);
SELECT count(*), sum(age), avg(age), max(pay), stddev(pay) FROM person WHERE pay < 10

RETURN p.name, count(*) AS n ORDER BY n DESC, p.name LIMIT 5;
SELECT name, count(*) AS n FROM person GROUP BY name ORDER BY n DESC, name LIMIT 5

RETURN count(DISTINCT p.city), count(DISTINCT p.age);
SELECT count(DISTINCT city), count(DISTINCT age) FROM person
"""
"""Questions about `MATCH (p:Person)`, each with the same in SQL."""


def people():
    ids = np.arange(1, COUNT + 1)
    random = np.random.default_rng(5)
    frame = pl.DataFrame({"id": ids, "name": [f"n{it * 7919 % COUNT}" for it in ids]})
    start = pl.datetime(1950, 1, 1)
    return frame.with_columns(
        age=pl.Series(random.integers(0, 100, COUNT)),
        pay=pl.Series(random.integers(0, 8_000, COUNT) / 8),
        city=pl.concat_str(pl.lit("c"), pl.col("id") % 30),
        born=start + pl.duration(hours=pl.col("id") * 13 % 200_000),
    ).with_columns(age=pl.when(pl.col("id") % 11 != 0).then("age"))


def changed(db, frame):
    """Change some people, in small commits: other ages, no pay any more, new people."""
    for uid in range(5, COUNT, 997):
        db.mutate(set_json={"uid": uid, "age": 98}, delete_json={"uid": uid + 1, "pay": None})
    later, same = datetime.datetime(2001, 2, 3), {"name": "new", "age": 5, "pay": 1.5, "city": "c3"}
    news = [{"id": COUNT + it, **same, "born": later} for it in (1, 2)]
    for new in news:
        own = {"uid": new["id"], "dgraph.type": "Person", "born": f"{later.isoformat()}Z"}
        db.mutate(set_json=new | own)
    frame = frame.with_columns(
        age=pl.when(pl.col("id") % 997 == 5).then(98).otherwise("age"),
        pay=pl.when(pl.col("id") % 997 != 6).then("pay"),
    )
    return pl.concat([frame, pl.DataFrame(news, schema=frame.schema)])


@pytest.mark.parametrize("threads", [1, 2])
def test_scans_have_the_rows_of_duckdb(threads):
    db, frame = hexgraph.connect(threads=threads), people()
    db.load_nodes(
        frame.with_columns(uid=pl.col("id")), "Person", id="uid", uid=True, progress=False
    )
    for before_changes in (True, False):
        if not before_changes:
            frame = changed(db, frame)
        connection = duckdb.connect()
        connection.register("frame", frame.to_arrow())
        connection.execute("CREATE TABLE person AS FROM frame")
        for pair in QUESTIONS.strip().split("\n\n"):
            question, sql = pair.split(";\n")
            rows = db.cypher(f"MATCH (p:Person) {question}").rows()
            assert_same(rows, connection.execute(sql).fetchall(), is_ordered="ORDER BY" in sql)


def test_rows_say_what_cells_do_not_decide():
    db = hexgraph.connect()
    frame = pl.DataFrame({"key": range(1, 3_001), "n": [it % 7 for it in range(3_000)]})
    db.load_nodes(frame, "Thing", id="key", uid=True, progress=False)
    with pytest.raises(
        hexgraph.QueryError, match=r"line 1 column \d+: 1 / 0 is a division by zero"
    ):
        db.cypher("MATCH (t:Thing) RETURN sum(1 / t.n)")
    with pytest.raises(hexgraph.QueryError, match="division by zero"):
        db.cypher("MATCH (t:Thing) WHERE 7 / (t.n - 6) < 0 RETURN t.n")
    first = db.cypher("MATCH (t:Thing) WHERE t.n = 0 OR 1 / t.n = 0 RETURN t.n LIMIT 1")
    assert [list(row) for row in first.rows()] == [[0]]
