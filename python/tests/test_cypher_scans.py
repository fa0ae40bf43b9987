"""Scans and relationships by columns have the rows of DuckDB, also just after changes."""

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


EDGES = 60_000

EDGE_QUESTIONS = """
RETURN p.id, r.stars, q.id;
SELECT src, stars, dst FROM likes

WHERE r.stars > 3 RETURN count(*), count(r), count(r.note), sum(r.stars), max(r.weight);
SELECT count(*), count(*), count(note), sum(stars), max(weight) FROM likes WHERE stars > 3

WHERE r.weight < 0.01 OR r.note IS NULL RETURN p.id, q.id, r.weight, r.note;
SELECT src, dst, weight, note FROM likes WHERE weight < 0.01 OR note IS NULL

RETURN r.stars AS stars, count(*), avg(q.age), min(r.note) ORDER BY stars;
SELECT stars, count(*), avg(b.age), min(note) FROM likes JOIN person b ON b.id = dst
    GROUP BY stars ORDER BY stars

WHERE p.age < q.age AND r.stars = 1 RETURN p.id, q.id;
SELECT src, dst FROM likes JOIN person a ON a.id = src JOIN person b ON b.id = dst
    WHERE a.age < b.age AND stars = 1

RETURN p.id, q.id, r.weight ORDER BY r.weight DESC, p.id, q.id LIMIT 25;
SELECT src, dst, weight FROM likes ORDER BY weight DESC NULLS FIRST, src, dst LIMIT 25

WHERE p.age < 5 MATCH (q)-[s:likes]->(o) WHERE r.stars < s.stars
    RETURN p.id, q.id, o.id, s.stars - r.stars;
SELECT r.src, r.dst, s.dst, s.stars - r.stars FROM likes r JOIN likes s ON r.dst = s.src
    JOIN person a ON a.id = r.src WHERE a.age < 5 AND r.stars < s.stars

MATCH (q)-[s:likes]->(p) RETURN p.id, q.id, r.weight + s.weight;
SELECT r.src, r.dst, r.weight + s.weight FROM likes r JOIN likes s
    ON r.dst = s.src AND s.dst = r.src
"""
"""Questions about `MATCH (p:Person)-[r:likes]->(q:Person)`, each with the same in SQL."""


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


def likes():
    """Relationships without loops, some without a note."""
    random = np.random.default_rng(6)
    frame = pl.DataFrame(
        {
            "src": random.integers(1, COUNT + 1, EDGES),
            "dst": random.integers(1, COUNT // 4, EDGES),
            "stars": random.integers(1, 6, EDGES),
            "weight": random.integers(0, 1 << 20, EDGES) / (1 << 20),
        }
    )
    frame = frame.filter(pl.col("src") != pl.col("dst")).unique(["src", "dst"], keep="first")
    note = pl.concat_str(pl.lit("note "), pl.col("stars"))
    return frame.with_columns(note=pl.when(pl.col("src") % 5 != 0).then(note))


def changed_likes(db, frame):
    """Change some relationships, in small commits: other properties, none, no relationship."""
    rows = frame.gather_every(1_013).sort("src", "dst")
    others, gone = rows.gather_every(2), rows.gather_every(2, offset=1)
    for row in others.iter_rows(named=True):
        db.mutate(set=f"<{row['src']}> <likes> <{row['dst']}> (stars=9) .")
    for row in gone.iter_rows(named=True):
        db.mutate(delete=f"<{row['src']}> <likes> <{row['dst']}> .")
    new = {"src": COUNT, "dst": COUNT - 1, "stars": 2, "weight": 0.25, "note": "new"}
    db.mutate(set=f'<{COUNT}> <likes> <{COUNT - 1}> (stars=2, weight=0.25, note="new") .')
    others = others.with_columns(stars=pl.lit(9, pl.Int64), weight=None, note=None)
    columns = [pl.col(name).cast(kind) for name, kind in frame.schema.items()]
    frame = frame.join(rows, on=["src", "dst"], how="anti")
    return pl.concat([frame, others.select(columns), pl.DataFrame([new], schema=frame.schema)])


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_are_those_of_duckdb(threads):
    db, frame, edges = hexgraph.connect(threads=threads), people(), likes()
    nodes = frame.with_columns(uid=pl.col("id"))
    db.load_nodes(nodes, "Person", id="uid", uid=True, progress=False)
    facets = ["stars", "weight", "note"]
    db.load_edges(edges, "likes", "src", "dst", facets=facets, uid=True, progress=False)
    for before_changes in (True, False):
        if not before_changes:
            frame, edges = changed(db, frame), changed_likes(db, edges)
        connection = duckdb.connect()
        connection.register("frame", frame.to_arrow())
        connection.register("edges", edges.to_arrow())
        connection.execute("CREATE TABLE person AS FROM frame; CREATE TABLE likes AS FROM edges")
        for pattern, questions in (
            ("(p:Person)", QUESTIONS),
            ("(p:Person)-[r:likes]->(q:Person)", EDGE_QUESTIONS),
        ):
            for pair in questions.strip().split("\n\n"):
                question, sql = pair.split(";\n")
                rows = db.cypher(f"MATCH {pattern} {question}").rows()
                expected = connection.execute(sql).fetchall()
                assert_same(rows, expected, is_ordered="ORDER BY" in sql)


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
