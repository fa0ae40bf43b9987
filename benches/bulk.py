"""How long do changes of thousands of nodes take: a month of flights deleted, a computed value for all, nodes deleted both ways?

`python benches/bulk.py` makes a graph of the shape of nycflights13 (336,776 flights of a year with 19 columns, 3,322 planes, 105
airports, 16 carriers; edges with and without @reverse), takes the least of `--runs` runs of each change on a fresh copy of
it, and compares what is left with the frames. `--dir` has it in a directory, whose log gets each change as one record.
"""

import argparse
import random
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars

import hexgraph

FLIGHTS, PLANES, AIRPORTS, CARRIERS = 336_776, 3_322, 105, 16
JANUARY, DELAYED, REMOVED = 27_004, 327_346, 1_100

SCHEMA = """
month: int @index(int) .
origin: uid .
dest: uid @reverse .
carrier: uid .
plane: uid @reverse .
"""
DELETE = {"dql": "{ v as var(func: eq(month, 1)) }", "delete": "uid(v) * * ."}
UPDATE = {
    "dql": "{ var(func: has(arr_delay)) { d as dep_delay a as arr_delay g as math(d - a) } }",
    "set": "uid(g) <gain> val(g) .",
}
BOTH = {
    "dql": f"{{ v as var(func: type(Plane), first: {REMOVED}) {{ f as ~plane }} }}",
    "delete": "uid(f) <plane> * .\nuid(v) * * .",
}


def flights() -> polars.DataFrame:
    """Return the flights: a row for each, January's first."""
    dice, start = random.Random(13), datetime(2013, 1, 1, tzinfo=UTC)
    rows = []
    for at in range(FLIGHTS):
        day = 31 * at // JANUARY if at < JANUARY else 31 + 334 * (at - JANUARY) // (FLIGHTS - JANUARY)
        date = start + timedelta(days=day)
        hour, minute, delay = dice.randrange(5, 24), dice.randrange(60), dice.randrange(-20, 120)
        is_known = at % FLIGHTS >= FLIGHTS - DELAYED
        rows.append({
            "number": at,
            "year": 2013,
            "month": date.month,
            "day": date.day,
            "dep_time": 100 * hour + minute if is_known else None,
            "sched_dep_time": 100 * hour,
            "dep_delay": delay if is_known else None,
            "arr_time": (100 * hour + minute + 200) % 2400 if is_known else None,
            "sched_arr_time": (100 * hour + 200) % 2400,
            "arr_delay": delay + dice.randrange(-30, 30) if is_known else None,
            "flight": dice.randrange(1, 8500),
            "tailnum": f"N{dice.randrange(PLANES)}",
            "air_time": dice.randrange(20, 700) if is_known else None,
            "distance": dice.randrange(80, 5000),
            "hour": hour,
            "minute": minute,
            "time_hour": date + timedelta(hours=hour),
        })
    return polars.DataFrame(rows, infer_schema_length=None)


def edges(column: str, kind: str, count: int) -> polars.DataFrame:
    """Return an edge of each flight, by the number of the flight and the name of the target."""
    dice = random.Random(column)
    targets = [f"{kind} {dice.randrange(count)}" for _ in range(FLIGHTS)]
    return polars.DataFrame({"from": range(FLIGHTS), column: targets})


def load(path: str | None, table: polars.DataFrame, links: dict[str, polars.DataFrame]) -> hexgraph.Database:
    """Return a database with the graph."""
    db = hexgraph.connect(path) if path else hexgraph.connect()
    db.alter(SCHEMA)
    db.load_nodes(table, "Flight", id="number")
    for kind, count in [("Plane", PLANES), ("Airport", AIRPORTS), ("Carrier", CARRIERS)]:
        db.load_nodes([{"name": f"{kind} {at}", "seats": at % 400} for at in range(count)], kind, id="name")
    for column, frame in links.items():
        db.load_edges(frame, column, "from", column, on=("number", "name"))
    db.alter("\n".join(["type Flight {", *table.columns, *links, "}"]))
    return db


def count(db: hexgraph.Database, what: str) -> int:
    """Return how many nodes a function selects."""
    return db.query(f"{{ q(func: {what}) {{ count(uid) }} }}").to_dict()["q"][0]["count"]


def check_deleted(db: hexgraph.Database, table: polars.DataFrame, links: dict[str, polars.DataFrame]) -> None:
    """Compare the flights that are left after the first change with the frames."""
    left = table.filter(polars.col("month") != 1)
    for column in table.columns:
        assert count(db, f"has({column})") == left[column].count(), column
    for column in links:
        assert count(db, f"has({column})") == len(left), column
    assert count(db, "eq(month, 1)") == 0
    assert count(db, "eq(month, 2)") == len(left.filter(polars.col("month") == 2))
    back = db.query("{ q(func: type(Plane)) { count(~plane) } }").to_dict()["q"]
    assert sum(row["count(~plane)"] for row in back) == len(left)


def check_updated(db: hexgraph.Database, table: polars.DataFrame) -> None:
    """Compare the computed values with those of the frame."""
    gains = table.select(gain=polars.col("dep_delay") - polars.col("arr_delay"))["gain"].drop_nulls()
    sums = db.query("{ var(func: has(gain)) { g as gain } q() { sum(val(g)) } }").to_dict()["q"][0]
    assert count(db, "has(gain)") == len(gains) == DELAYED
    assert sums["sum(val(g))"] == gains.sum()


def check_both(db: hexgraph.Database) -> None:
    """Compare the planes that are left, and the edges to them."""
    left = count(db, "type(Plane)")
    back = db.query("{ q(func: type(Plane)) { count(~plane) } }").to_dict()["q"]
    assert left == PLANES - REMOVED
    assert count(db, "has(plane)") == sum(row["count(~plane)"] for row in back) < FLIGHTS


def main() -> None:
    """Print the three times."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--dir", action="store_true")
    options = arguments.parse_args()
    table = flights()
    links = {
        "origin": edges("origin", "Airport", 3),
        "dest": edges("dest", "Airport", AIRPORTS),
        "carrier": edges("carrier", "Carrier", CARRIERS),
        "plane": edges("plane", "Plane", PLANES),
    }
    changes = {
        f"delete {JANUARY:,} flights with their edges": (DELETE, lambda db: check_deleted(db, table, links)),
        f"update {DELAYED:,} computed values": (UPDATE, lambda db: check_updated(db, table)),
        f"delete {REMOVED:,} planes both ways": (BOTH, check_both),
    }
    for what, (change, check) in changes.items():
        times = []
        for _ in range(options.runs):
            with tempfile.TemporaryDirectory() as folder:
                db = load(str(Path(folder) / "db") if options.dir else None, table, links)
                began = time.perf_counter()
                db.upsert(**change)
                times.append(time.perf_counter() - began)
                check(db)
                db.close()
        print(f"| {what} | {min(times):.3f} s |", flush=True)


if __name__ == "__main__":
    main()
