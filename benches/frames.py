"""How fast do rows become tables, frames and Python objects, and tables become nodes, beside DuckDB and Polars?

`python benches/frames.py` makes a million rows of four columns (an int, a float, a text of 1,000 kinds, a time) in all
three engines, and takes the least of five runs of each step; what is fetched is compared by its number of rows. The
start (import, connect, first query) is that of a new process, also the least of five. `load_nodes` makes nodes whose id
is unique and indexed, beside DuckDB's `create table` with a primary key, and without one.
"""

import random
import subprocess
import sys
import time
from datetime import datetime, timedelta

import duckdb
import pandas
import polars

import hexgraph

ROWS, RUNS = 1_000_000, 5

STARTS = {
    "hexgraph": ("import hexgraph", "db = hexgraph.connect()", "db.query('{ q(func: uid(1)) { uid } }').rows()"),
    "DuckDB": ("import duckdb", "db = duckdb.connect()", "db.sql('select 1').fetchall()"),
    "Polars": ("import polars", "db = polars.DataFrame({'a': [1]})", "db.select('a').rows()"),
}


def least(step) -> float:
    """Return the least time of some runs, in milliseconds."""
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        step()
        times.append((time.perf_counter() - began) * 1e3)
    return min(times)


def starts() -> None:
    """Print how long a new process takes to import, to connect, and to answer for the first time."""
    for name, steps in STARTS.items():
        lines = ["import time", "t = [time.perf_counter()]"]
        for step in steps:
            lines += [step, "t.append(time.perf_counter())"]
        lines.append("print(*(1e3 * (b - a) for a, b in zip(t, t[1:])))")
        runs = []
        for _ in range(RUNS):
            done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
            runs.append([float(word) for word in done.stdout.split()])
        told = ["/".join(f"{min(column):.1f}" for column in zip(*runs, strict=True))]
        print(f"| {name}: import / connect / first query, ms | {told[0]} |")


def frame() -> polars.DataFrame:
    """Return the rows."""
    dice = random.Random(3)
    start = datetime(2020, 1, 1)
    return polars.DataFrame({
        "id": range(ROWS),
        "price": [dice.random() for _ in range(ROWS)],
        "city": [f"city {dice.randrange(1000)}" for _ in range(ROWS)],
        "seen": [start + timedelta(seconds=at) for at in range(ROWS)],
    })


def row(what: str, *times: float | None) -> None:
    """Print a row of the table."""
    print(f"| {what} | " + " | ".join("-" if it is None else f"{it:,.1f}" for it in times) + " |", flush=True)


def main() -> None:
    """Print the tables."""
    print(f"hexgraph {hexgraph.__version__}, DuckDB {duckdb.__version__}, Polars {polars.__version__}, pandas {pandas.__version__}")
    starts()
    rows = frame()
    db, duck = hexgraph.connect(), duckdb.connect()
    db.load_nodes(rows, "Row", id="id")
    duck.sql("create table rows as select * from rows")
    dql = "{ q(func: type(Row)) { id price city seen } }"
    sql = "select id, price, city, seen from rows"
    assert len(db.query(dql).to_arrow()) == len(duck.sql(sql).to_arrow_table()) == ROWS
    print("| a million rows of four columns, ms | hexgraph | DuckDB | Polars |\n|---|---|---|---|")
    row("to Arrow", least(lambda: db.query(dql).to_arrow()), least(lambda: duck.sql(sql).to_arrow_table()), least(rows.to_arrow))
    row("to pandas", least(lambda: db.query(dql).to_pandas()), least(lambda: duck.sql(sql).df()), least(rows.to_pandas))
    row("to Polars", least(lambda: db.query(dql).to_polars()), least(lambda: duck.sql(sql).pl()), None)
    row("rows as tuples", least(lambda: db.query(dql).rows()), least(lambda: duck.sql(sql).fetchall()), least(rows.rows))
    row("rows as dicts", least(lambda: db.query(dql).to_dict()), None, least(rows.to_dicts))
    load = [
        least(lambda: hexgraph.connect().load_nodes(rows, "Row", id="id")),
        least(lambda: copied(rows)),
        least(lambda: keyed(rows)),
    ]
    print(f"| from a frame of Polars: load_nodes {load[0]:,.0f} ms; DuckDB {load[1]:,.0f} ms, with a primary key {load[2]:,.0f} ms |")
    dice = random.Random(4)
    edges = [{"from": at % 100_000, "to": dice.randrange(100_000)} for at in range(1_000_000)]
    people = hexgraph.connect()
    people.load_nodes([{"id": at} for at in range(100_000)], "Person", id="id")
    people.load_edges(edges, "knows", "from", "to", on="id")
    nested = "{ q(func: type(Person)) { id knows { id } } }"
    table = people.query(nested).to_arrow()
    values = len(table) + len(table.flatten())
    took = least(lambda: people.query(nested).to_arrow())
    print(f"| nested to Arrow: {values:,} values in {took:.0f} ms, {values / took / 1e3:.1f} M values/s |")


def copied(rows: polars.DataFrame) -> None:  # noqa: ARG001 - DuckDB reads it by its name
    """Load rows into a table of DuckDB."""
    duckdb.connect().sql("create table t as select * from rows")


def keyed(rows: polars.DataFrame) -> None:  # noqa: ARG001 - DuckDB reads it by its name
    """Load rows into a table of DuckDB whose ids are unique and indexed."""
    duck = duckdb.connect()
    duck.sql("create table t (id bigint primary key, price double, city varchar, seen timestamp)")
    duck.sql("insert into t select * from rows")


if __name__ == "__main__":
    main()
