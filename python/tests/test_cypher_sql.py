"""Random matches in Cypher have the rows of SQL, which SQLite answers over the same tables."""

import random
import sqlite3
from typing import NamedTuple

import pytest
from test_analysts import assert_same

import hexgraph

SEEDS = range(8)
QUERIES = 40
LABELS = ("A", "B")
TYPES = ("K", "L")
AGGREGATES = (
    ("count(*)", "count(*)"),
    ("count({0})", "count({0}_id)"),
    ("count(DISTINCT {0})", "count(DISTINCT {0}_id)"),
    ("count(DISTINCT {0}.c)", "count(DISTINCT {0}_c)"),
    ("sum({0}.v)", "coalesce(sum({0}_v), 0)"),
    ("min({0}.v)", "min({0}_v)"),
    ("max({0}.c)", "max({0}_c)"),
    ("avg({0}.v)", "avg({0}_v)"),
)
"""Aggregates of a node in Cypher, and of the columns of its row."""


class Hop(NamedTuple):
    """A relationship of a match: from `start` to `end`, backwards (`<`), or in any direction."""

    type: str
    direction: str
    start: str
    end: str

    def cypher(self, variable=""):
        left, right = ("<" if self.direction == "<" else ""), (">" if self.direction == ">" else "")
        return f"{left}-[{variable}:{self.type}]-{right}"

    def table(self):
        """The table of the edges; each edge without direction has two rows, a loop has one."""
        return f"{self.type}_both" if self.direction == "-" else self.type

    def columns(self):
        """The columns of the start and the end."""
        return ("target", "source") if self.direction == "<" else ("source", "target")


def graph(rng):
    """Return a small graph with loops and missing values, and its tables."""
    db, tables = hexgraph.connect(), sqlite3.connect(":memory:")
    size, count = rng.choice([4, 7, 12]), rng.choice([6, 15, 30])
    nodes = [
        {
            "id": n,
            "c": rng.randrange(3),
            "v": rng.choice([None, 1, 2, 2, 3]),
            "label": LABELS[not n % 3],
        }
        for n in range(size)
    ]
    tables.execute("CREATE TABLE node (id, c, v, label)")
    tables.executemany("INSERT INTO node VALUES (:id, :c, :v, :label)", nodes)
    for label in LABELS:
        rows = [
            {key: node[key] for key in ("id", "c", "v")} for node in nodes if node["label"] == label
        ]
        db.load_nodes(rows, label, id="id", types={"v": "int"})
    for name in TYPES:
        pairs = sorted({(rng.randrange(size), rng.randrange(size)) for _ in range(count)})
        db.load_edges([(a, b, {"w": (a * 7 + b) % 5}) for a, b in pairs], name, on="id", facets="w")
        tables.execute(f"CREATE TABLE {name} (edge INTEGER PRIMARY KEY, source, target, w)")
        tables.executemany(
            f"INSERT INTO {name} (source, target, w) VALUES (?, ?, ?)",
            [(a, b, (a * 7 + b) % 5) for a, b in pairs],
        )
        tables.execute(
            f"CREATE TABLE {name}_both AS SELECT * FROM {name} UNION ALL"
            f" SELECT edge, target, source, w FROM {name} WHERE source <> target"
        )
    if rng.random() < 0.5:
        db.alter("K: [uid] @reverse .\nc: int @index(int) .")
    return db, tables


def hops(rng):
    """Return the relationships of a connected pattern, in which nodes may occur again."""
    nodes, result = ["a"], []
    for _ in range(rng.choice([1, 2, 2, 3])):
        start = rng.choice(nodes)
        is_again = result and rng.random() < 0.3
        end = rng.choice(nodes) if is_again else "abcdef"[len(nodes)]
        result.append(Hop(rng.choice("KKL"), rng.choice("><-"), start, end))
        nodes = sorted({*nodes, end})
    return nodes, result


def condition(rng, nodes):
    """Return a condition in Cypher and in SQL."""
    a, b, number = rng.choice(nodes), rng.choice(nodes), rng.randrange(3)
    hop = Hop(rng.choice(TYPES), rng.choice(">-"), a, b)
    edges = f"{hop.table()} x JOIN node z ON z.id = x.target"
    exists = f"EXISTS (SELECT 1 FROM {edges} WHERE x.source = {a}.id"
    cypher, sql = rng.choice(
        [
            (f"{a} <> {b}", f"{a}.id <> {b}.id"),
            (f"{a}.c = {number}", f"{a}.c = {number}"),
            (f"{a}.c = {b}.c", f"{a}.c = {b}.c"),
            (f"{a}.v < {b}.v", f"{a}.v < {b}.v"),
            (f"{a}.v IS NULL", f"{a}.v IS NULL"),
            (f"EXISTS {{ ({a}){hop.cypher()}({b}) }}", f"{exists} AND z.id = {b}.id)"),
            (
                f"EXISTS {{ ({a}){hop.cypher()}(z) WHERE z.c = {number} }}",
                f"{exists} AND z.c = {number})",
            ),
        ]
    )
    return (f"NOT {cypher}", f"NOT ({sql})") if rng.random() < 0.3 else (cypher, sql)


def match(rng):
    """Return a match in Cypher, a common table expression of its rows, and its nodes."""
    nodes, pattern = hops(rng)
    labels = {node: rng.choice(["", "", *LABELS]) for node in nodes}
    parts = [f"({hop.start}){hop.cypher()}({hop.end})" for hop in pattern]
    named = [f"({node}:{label})" for node, label in labels.items() if label]
    where = [f"{node}.label = '{label}'" for node, label in labels.items() if label]
    for n, hop in enumerate(pattern):
        source, target = hop.columns()
        where += [f"e{n}.{source} = {hop.start}.id", f"e{n}.{target} = {hop.end}.id"]
        where += [f"e{n}.edge <> e{m}.edge" for m in range(n) if pattern[m].type == hop.type]
    conditions = [condition(rng, nodes) for _ in range(rng.choice([0, 1, 2]))]
    word = rng.choice([" AND ", " OR "])
    cypher = f"MATCH {', '.join(parts + named)}"
    if conditions:
        cypher += " WHERE " + word.join(it[0] for it in conditions)
        where.append("(" + word.join(it[1] for it in conditions) + ")")
    tables = [f"node {node}" for node in nodes]
    tables += [f"{hop.table()} e{n}" for n, hop in enumerate(pattern)]
    columns = ", ".join(f"{it}.id {it}_id, {it}.c {it}_c, {it}.v {it}_v" for it in nodes)
    sql = f"SELECT {columns} FROM {', '.join(tables)} WHERE {' AND '.join(where)}"
    return cypher, f"WITH matched AS ({sql})", nodes


def optional(rng, nodes):
    """Return an optional match of one relationship, and its join."""
    hop = Hop(rng.choice(TYPES), rng.choice("><-"), rng.choice(nodes), "o")
    source, target = hop.columns()
    extra, also = rng.choice(
        [
            ("", ""),
            (" WHERE o.c = 1", " AND o_c = 1"),
            (f" WHERE o.v > {hop.start}.v", f" AND o_v > {hop.start}_v"),
        ]
    )
    edges = f"{hop.table()} x JOIN node o ON o.id = x.{target}"
    row = f"SELECT x.{source} start, o.id o_id, o.c o_c, o.v o_v FROM {edges}"
    return (
        f" OPTIONAL MATCH ({hop.start}){hop.cypher()}(o){extra}",
        f" LEFT JOIN ({row}) ON start = {hop.start}_id{also}",
    )


def query(rng):
    """Return a query in Cypher and in SQL."""
    cypher, sql, nodes = match(rng)
    join = ""
    if rng.random() < 0.3:
        clause, join = optional(rng, nodes)
        cypher, nodes = cypher + clause, [*nodes, "o"]
    keys = [
        (node, rng.choice(["id", "c", "v"]))
        for node in rng.sample(nodes, rng.choice([0, 1, 1, 2]) % len(nodes))
    ]
    aggregates = [
        tuple(text.format(node) for text in pair)
        for node, pair in (
            (rng.choice(nodes), rng.choice(AGGREGATES)) for _ in range(rng.choice([1, 2, 3]))
        )
    ]
    ours = [f"{node}.{name} AS k{n}" for n, (node, name) in enumerate(keys)]
    ours += [f"{text} AS n{n}" for n, (text, _) in enumerate(aggregates)]
    theirs = [f"{node}_{name}" for node, name in keys] + [text for _, text in aggregates]
    group = f" GROUP BY {', '.join(theirs[: len(keys)])}" if keys else ""
    return (
        f"{cypher} RETURN {', '.join(ours)}",
        f"{sql} SELECT {', '.join(theirs)} FROM matched{join}{group}",
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_random_matches_have_the_rows_of_sql(seed):
    rng = random.Random(seed)
    db, tables = graph(rng)
    filled = 0
    for _ in range(QUERIES):
        cypher, sql = query(rng)
        rows, expected = db.cypher(cypher).rows(), tables.execute(sql).fetchall()
        filled += any(any(row) for row in expected)
        try:
            assert_same(rows, expected, is_ordered=False)
        except AssertionError as error:
            pytest.fail(f"{cypher}\n{sql}\n{error}")
    assert filled >= QUERIES // 4, "many answers have rows with values"
