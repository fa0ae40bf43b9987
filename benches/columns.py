"""How fast are whole columns from Python, beside DuckDB and Polars, in one run?

A million nodes, five million edges of a power law; 25 shapes of analytic questions. Each engine has the same data, answers are
compared before anything is timed, and arguments change from call to call. A shape is fetched as Python objects (`to_dict` here,
`fetchall` and `rows` of the peers) and as Arrow. One process for each number of threads, to which all engines are pinned:

    python benches/columns.py --threads 1 2

prints medians in milliseconds and which engine was the fastest. For scans, the last column has the bytes of the columns that are
read, divided by the time, as a part of what summing an array of that size reaches in this process.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

START = datetime(2020, 1, 1)
DAYS = 1500
WORDS = 400

SCHEMA = """
plain: int .
age: int .
price: float .
score: int @index(int) .
flag: int .
city: string @index(exact) .
grp: string @index(hash) .
name: string @index(exact, term) .
created: datetime @index(day) .
friend: [uid] @reverse @count .
lives_in: uid @reverse .
"""


@dataclass
class Shape:
    """A question in DQL, in SQL, and in Polars' expressions; all take the number of the call."""

    name: str
    dql: Callable
    sql: Callable
    polars: Callable
    scanned: int = 0
    ordered: bool = False


def day(call):
    """The first day of a range that moves with the calls."""
    return START + timedelta(days=call * 37 % (DAYS - 60))


def edges_of(t, end, kept):
    """The edges whose end is one of the nodes that are kept, as Polars joins them."""
    nodes = t.nodes.lazy().filter(kept).select("id")
    return t.edges.lazy().join(nodes, left_on=end, right_on="id", how="semi")


def top_filtered(percent):
    """The shape of the first ten by a column without an index, of the nodes below a bound of another."""

    def bound(call):
        return percent * 10 + call % 5

    def polars(t, pl, call):
        kept = t.nodes.lazy().filter(pl.col("flag") < bound(call))
        return kept.sort("plain", "id").head(10).select("id", "plain").collect()

    return Shape(
        f"top 10 of {percent} %",
        lambda c: (
            "{ q(func: has(plain), orderasc: plain, first: 10)"
            f" @filter(lt(flag, {bound(c)})) {{ uid plain }} }}"
        ),
        lambda c: (
            f"SELECT id, plain FROM nodes WHERE flag < {bound(c)} ORDER BY plain, id LIMIT 10"
        ),
        polars,
        scanned=8,
        ordered=True,
    )


def shapes():
    """All shapes, in the order in which they are printed."""
    return [
        Shape(
            "equality counted",
            lambda c: f'{{ q(func: eq(city, "c{c % 100}")) {{ count(uid) }} }}',
            lambda c: f"SELECT count(*) FROM nodes WHERE city = 'c{c % 100}'",
            lambda t, pl, c: (
                t.nodes.lazy().filter(pl.col("city") == f"c{c % 100}").select(pl.len()).collect()
            ),
        ),
        Shape(
            "scan counted",
            lambda c: f"{{ q(func: has(age)) @filter(ge(age, {c % 80})) {{ count(uid) }} }}",
            lambda c: f"SELECT count(*) FROM nodes WHERE age >= {c % 80}",
            lambda t, pl, c: (
                t.nodes.lazy().filter(pl.col("age") >= c % 80).select(pl.len()).collect()
            ),
            scanned=4,
        ),
        Shape(
            "page of a range",
            lambda c: (
                f"{{ q(func: between(score, {c * 1000}, {c * 1000 + 99_999}), first: 100) {{ uid score }} }}"
            ),
            lambda c: (
                f"SELECT id, score FROM nodes WHERE score BETWEEN {c * 1000} AND {c * 1000 + 99_999} ORDER BY id LIMIT 100"
            ),
            lambda t, pl, c: (
                t.nodes.lazy()
                .filter(pl.col("score").is_between(c * 1000, c * 1000 + 99_999))
                .head(100)
                .select("id", "score")
                .collect()
            ),
            ordered=True,
        ),
        Shape(
            "top 10, index",
            lambda c: (
                f"{{ q(func: ge(score, {c * 1000}), orderasc: score, first: 10) {{ uid score }} }}"
            ),
            lambda c: (
                f"SELECT id, score FROM nodes WHERE score >= {c * 1000} ORDER BY score, id LIMIT 10"
            ),
            lambda t, pl, c: (
                t.nodes.lazy()
                .filter(pl.col("score") >= c * 1000)
                .sort("score", "id")
                .head(10)
                .select("id", "score")
                .collect()
            ),
            ordered=True,
        ),
        Shape(
            "top 10, no index",
            lambda c: (
                f"{{ q(func: has(plain), orderdesc: plain, first: {10 + c % 3}) {{ uid plain }} }}"
            ),
            lambda c: f"SELECT id, plain FROM nodes ORDER BY plain DESC, id LIMIT {10 + c % 3}",
            lambda t, _, c: (
                t.nodes.lazy()
                .sort("plain", "id", descending=[True, False])
                .head(10 + c % 3)
                .select("id", "plain")
                .collect()
            ),
            scanned=4,
            ordered=True,
        ),
        top_filtered(50),
        top_filtered(10),
        top_filtered(1),
        Shape(
            "top 10 by two keys",
            lambda c: (
                f"{{ q(func: has(age), orderasc: age, orderdesc: plain, first: {10 + c % 3}) {{ uid age plain }} }}"
            ),
            lambda c: (
                f"SELECT id, age, plain FROM nodes ORDER BY age, plain DESC, id LIMIT {10 + c % 3}"
            ),
            lambda t, _, c: (
                t.nodes.lazy()
                .sort("age", "plain", "id", descending=[False, True, False])
                .head(10 + c % 3)
                .select("id", "age", "plain")
                .collect()
            ),
            scanned=8,
            ordered=True,
        ),
        Shape(
            "sum, mean, least, most",
            lambda _: (
                "{ var(func: has(plain)) { p as plain } q() { sum(val(p)) avg(val(p)) min(val(p)) max(val(p)) } }"
            ),
            lambda _: "SELECT sum(plain), avg(plain), min(plain), max(plain) FROM nodes",
            lambda t, pl, _: (
                t.nodes.lazy()
                .select(
                    pl.col("plain").sum(),
                    pl.col("plain").mean().alias("b"),
                    pl.col("plain").min().alias("c"),
                    pl.col("plain").max().alias("d"),
                )
                .collect()
            ),
            scanned=4,
        ),
        Shape(
            "groups by one key",
            lambda _: "{ q(func: has(city)) @groupby(city) { count(uid) avg(price) } }",
            lambda _: "SELECT city, count(*), avg(price) FROM nodes GROUP BY city",
            lambda t, pl, _: (
                t.nodes.lazy().group_by("city").agg(pl.len(), pl.col("price").mean()).collect()
            ),
            scanned=12,
        ),
        Shape(
            "median by one key",
            lambda _: "{ q(func: has(city)) @groupby(city) { median(price) } }",
            lambda _: "SELECT city, median(price) FROM nodes GROUP BY city",
            lambda t, pl, _: (
                t.nodes.lazy().group_by("city").agg(pl.col("price").median()).collect()
            ),
            scanned=12,
        ),
        Shape(
            "deviation by one key",
            lambda _: "{ q(func: has(city)) @groupby(city) { stddev(price) } }",
            lambda _: "SELECT city, stddev_samp(price) FROM nodes GROUP BY city",
            lambda t, pl, _: t.nodes.lazy().group_by("city").agg(pl.col("price").std()).collect(),
            scanned=12,
        ),
        Shape(
            "different values by one key",
            lambda _: "{ q(func: has(city)) @groupby(city) { count(distinct age) } }",
            lambda _: "SELECT city, count(DISTINCT age) FROM nodes GROUP BY city",
            lambda t, pl, _: (
                t.nodes.lazy().group_by("city").agg(pl.col("age").n_unique()).collect()
            ),
            scanned=8,
        ),
        Shape(
            "median, 100,000 groups",
            lambda _: "{ q(func: has(grp)) @groupby(grp) { median(price) } }",
            lambda _: "SELECT grp, median(price) FROM nodes GROUP BY grp",
            lambda t, pl, _: t.nodes.lazy().group_by("grp").agg(pl.col("price").median()).collect(),
            scanned=12,
        ),
        Shape(
            "quantile of all",
            lambda _: (
                "{ var(func: has(price)) { p as price } q() { median(val(p)) quantile(val(p), 0.9) } }"
            ),
            lambda _: "SELECT median(price), quantile_cont(price, 0.9) FROM nodes",
            lambda t, pl, _: (
                t.nodes.lazy()
                .select(
                    pl.col("price").median(),
                    pl.col("price").quantile(0.9, "linear").alias("b"),
                )
                .collect()
            ),
            scanned=8,
        ),
        Shape(
            "groups by two keys",
            lambda _: "{ q(func: has(city)) @groupby(city, age) { count(uid) } }",
            lambda _: "SELECT city, age, count(*) FROM nodes GROUP BY city, age",
            lambda t, pl, _: t.nodes.lazy().group_by("city", "age").agg(pl.len()).collect(),
            scanned=8,
        ),
        Shape(
            "100,000 groups",
            lambda _: "{ q(func: has(grp)) @groupby(grp) { count(uid) max(plain) } }",
            lambda _: "SELECT grp, count(*), max(plain) FROM nodes GROUP BY grp",
            lambda t, pl, _: (
                t.nodes.lazy().group_by("grp").agg(pl.len(), pl.col("plain").max()).collect()
            ),
            scanned=8,
        ),
        Shape(
            "groups of a filter",
            lambda c: (
                f"{{ q(func: has(city)) @filter(ge(age, {20 + c % 20})) @groupby(city) {{ count(uid) sum(plain) }} }}"
            ),
            lambda c: (
                f"SELECT city, count(*), sum(plain) FROM nodes WHERE age >= {20 + c % 20} GROUP BY city"
            ),
            lambda t, pl, c: (
                t.nodes.lazy()
                .filter(pl.col("age") >= 20 + c % 20)
                .group_by("city")
                .agg(pl.len(), pl.col("plain").sum())
                .collect()
            ),
            scanned=12,
        ),
        Shape(
            "top groups of edges",
            lambda c: (
                "{ var(func: has(lives_in)) @groupby(lives_in) { n as count(uid) }"
                f" q(func: uid(n), orderdesc: val(n), first: {5 + c % 3}) {{ uid val(n) }} }}"
            ),
            lambda c: (
                f"SELECT lives_in, count(*) AS n FROM nodes GROUP BY lives_in ORDER BY n DESC, lives_in LIMIT {5 + c % 3}"
            ),
            lambda t, pl, c: (
                t.nodes.lazy()
                .group_by("lives_in")
                .agg(pl.len())
                .sort("len", "lives_in", descending=[True, False])
                .head(5 + c % 3)
                .collect()
            ),
            ordered=True,
        ),
        Shape(
            "arithmetic, top 5",
            lambda c: (
                f"{{ var(func: has(plain)) {{ a as plain b as price m as math(a * {c % 7 + 2} + b / 2.0) }}"
                " q(func: uid(m), orderdesc: val(m), first: 5) { uid val(m) } }"
            ),
            lambda c: (
                f"SELECT id, plain * {c % 7 + 2} + price / 2.0 AS m FROM nodes ORDER BY m DESC, id LIMIT 5"
            ),
            lambda t, pl, c: (
                t.nodes.lazy()
                .select("id", (pl.col("plain") * (c % 7 + 2) + pl.col("price") / 2.0).alias("m"))
                .sort("m", "id", descending=[True, False])
                .head(5)
                .collect()
            ),
            scanned=12,
            ordered=True,
        ),
        Shape(
            "degree, top 10",
            lambda c: (
                "{ var(func: has(friend)) { n as count(friend) }"
                f" q(func: uid(n), orderdesc: val(n), first: {10 + c % 3}) {{ uid val(n) }} }}"
            ),
            lambda c: (
                f"SELECT src, count(*) AS n FROM edges GROUP BY src ORDER BY n DESC, src LIMIT {10 + c % 3}"
            ),
            lambda t, pl, c: (
                t.edges.lazy()
                .group_by("src")
                .agg(pl.len())
                .sort("len", "src", descending=[True, False])
                .head(10 + c % 3)
                .collect()
            ),
            ordered=True,
        ),
        Shape(
            "mean over neighbours",
            lambda c: (
                f'{{ var(func: eq(city, "c{c % 100}")) {{ friend {{ p as plain }} m as avg(val(p)) }}'
                " q(func: uid(m)) { uid val(m) } }"
            ),
            lambda c: (
                f"SELECT a.id, avg(b.plain) FROM nodes a JOIN edges e ON e.src = a.id JOIN nodes b ON b.id = e.dst WHERE a.city = 'c{c % 100}' GROUP BY a.id"
            ),
            lambda t, pl, c: (
                edges_of(t, "src", pl.col("city") == f"c{c % 100}")
                .join(t.nodes.lazy().select("id", "plain"), left_on="dst", right_on="id")
                .group_by("src")
                .agg(pl.col("plain").mean())
                .collect()
            ),
        ),
        Shape(
            "distinct neighbours",
            lambda c: (
                f'{{ var(func: eq(city, "c{c % 100}")) {{ f as friend }} q(func: uid(f)) {{ count(uid) }} }}'
            ),
            lambda c: (
                f"SELECT count(DISTINCT dst) FROM edges WHERE src IN (SELECT id FROM nodes WHERE city = 'c{c % 100}')"
            ),
            lambda t, pl, c: (
                edges_of(t, "src", pl.col("city") == f"c{c % 100}")
                .select(pl.col("dst").n_unique())
                .collect()
            ),
        ),
        Shape(
            "two hops from 1,000",
            lambda c: (
                f"{{ var(func: between(score, {c * 1000}, {c * 1000 + 999})) {{ friend {{ f as friend }} }} q(func: uid(f)) {{ count(uid) }} }}"
            ),
            lambda c: (
                "SELECT count(DISTINCT b.dst) FROM edges a JOIN edges b ON a.dst = b.src"
                f" WHERE a.src IN (SELECT id FROM nodes WHERE score BETWEEN {c * 1000} AND {c * 1000 + 999})"
            ),
            lambda t, pl, c: (
                edges_of(t, "src", pl.col("score").is_between(c * 1000, c * 1000 + 999))
                .select("dst")
                .unique()
                .join(t.edges.lazy(), left_on="dst", right_on="src")
                .select(pl.col("dst_right").n_unique())
                .collect()
            ),
        ),
        Shape(
            "semi-join by the far end",
            lambda c: (
                f'{{ var(func: eq(city, "c{c % 100}")) {{ x as ~friend }}'
                " q(func: uid(x)) @filter(ge(age, 50)) { count(uid) } }"
            ),
            lambda c: (
                "SELECT count(*) FROM nodes WHERE age >= 50 AND id IN"
                f" (SELECT src FROM edges WHERE dst IN (SELECT id FROM nodes WHERE city = 'c{c % 100}'))"
            ),
            lambda t, pl, c: (
                t.nodes.lazy()
                .filter(pl.col("age") >= 50)
                .join(
                    edges_of(t, "dst", pl.col("city") == f"c{c % 100}"),
                    left_on="id",
                    right_on="src",
                    how="semi",
                )
                .select(pl.len())
                .collect()
            ),
        ),
        Shape(
            "days counted",
            lambda c: (
                f'{{ q(func: between(created, "{day(c):%Y-%m-%d}", "{day(c) + timedelta(days=29):%Y-%m-%d}")) {{ count(uid) }} }}'
            ),
            lambda c: (
                f"SELECT count(*) FROM nodes WHERE created BETWEEN '{day(c):%Y-%m-%d}' AND '{day(c) + timedelta(days=29):%Y-%m-%d}'"
            ),
            lambda t, pl, c: (
                t.nodes.lazy()
                .filter(pl.col("created").is_between(day(c), day(c) + timedelta(days=29)))
                .select(pl.len())
                .collect()
            ),
        ),
        Shape(
            "prefix counted",
            lambda c: (
                f'{{ q(func: between(name, "w{c % 90 + 10}", "w{c % 90 + 10}~")) {{ count(uid) }} }}'
            ),
            lambda c: f"SELECT count(*) FROM nodes WHERE starts_with(name, 'w{c % 90 + 10}')",
            lambda t, pl, c: (
                t.nodes.lazy()
                .filter(pl.col("name").str.starts_with(f"w{c % 90 + 10}"))
                .select(pl.len())
                .collect()
            ),
        ),
        Shape(
            "a term counted",
            lambda c: f'{{ q(func: anyofterms(name, "w{c % WORDS}")) {{ count(uid) }} }}',
            lambda c: (
                f"SELECT count(*) FROM nodes WHERE regexp_matches(name, '(^| )w{c % WORDS}( |$)')"
            ),
            lambda t, pl, c: (
                t.nodes.lazy()
                .filter(pl.col("name").str.contains(f"(^| )w{c % WORDS}( |$)"))
                .select(pl.len())
                .collect()
            ),
        ),
        Shape(
            "two variables joined",
            lambda _: (
                "{ var(func: has(friend)) { n as count(friend) } var(func: has(plain)) { p as plain }"
                " var(func: uid(n)) { s as math(n * p) } q() { sum(val(s)) } }"
            ),
            lambda _: (
                "SELECT sum(n * plain) FROM (SELECT src, count(*) AS n FROM edges GROUP BY src) JOIN nodes ON id = src"
            ),
            lambda t, pl, _: (
                t.edges.lazy()
                .group_by("src")
                .agg(pl.len().alias("n"))
                .join(t.nodes.lazy().select("id", "plain"), left_on="src", right_on="id")
                .select((pl.col("n").cast(pl.Int64) * pl.col("plain")).sum())
                .collect()
            ),
        ),
    ]


def make(nodes, edges):
    """The data, as two frames; ids are from 1 on, cities have the ids behind them."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(7)
    ids = np.arange(1, nodes + 1)
    first, second = rng.integers(0, WORDS, nodes), rng.integers(0, WORDS, nodes)
    names = np.char.add(np.char.add("w", first.astype(str)), np.char.add(" w", second.astype(str)))
    city = rng.integers(0, 100, nodes)
    table = pl.DataFrame(
        {
            "id": ids,
            "plain": rng.integers(0, 1_000_000, nodes),
            "age": rng.integers(0, 80, nodes),
            "price": rng.integers(0, 4_000_000, nodes) / 4,
            "score": rng.permutation(nodes),
            "flag": rng.integers(0, 1000, nodes),
            "city": np.char.add("c", city.astype(str)),
            "grp": np.char.add("g", rng.integers(0, nodes // 10, nodes).astype(str)),
            "name": names,
            "created": np.datetime64(START, "ms")
            + rng.integers(0, DAYS, nodes).astype("timedelta64[D]"),
            "lives_in": nodes + 1 + city,
        }
    )
    source = (nodes * rng.random(edges) ** 3).astype(np.int64) * 7919 % nodes + 1
    target = (nodes * rng.random(edges) ** 2).astype(np.int64) * 104729 % nodes + 1
    arrows = (
        pl.DataFrame({"src": source, "dst": target}).unique(maintain_order=False).sort("src", "dst")
    )
    return table, arrows


class Hexgraph:
    name = "hexgraph"

    def __init__(self, nodes, edges, threads):
        import hexgraph

        self.db = hexgraph.connect(threads=threads)
        self.db.alter(SCHEMA)
        self.db.load_nodes(nodes.drop("lives_in"), id="id", uid=True, progress=False)
        for frame, predicate, source, target in [
            (edges, "friend", "src", "dst"),
            (nodes.select("id", "lives_in"), "lives_in", "id", "lives_in"),
        ]:
            self.db.load_edges(
                frame, predicate, source=source, target=target, uid=True, progress=False
            )
        self.db.compact()

    def objects(self, shape, call):
        return self.db.query(shape.dql(call)).to_dict()

    def arrow(self, shape, call):
        return self.db.query(shape.dql(call)).to_arrow("q")

    def rows(self, shape, call):
        found = self.objects(shape, call).get("q", [])
        if found and "@groupby" in found[0]:
            found = found[0]["@groupby"]
        if len(found) > 1 and all(len(row) == 1 for row in found):
            # Each aggregate of a block without nodes is an object of its own.
            found = [{key: value for row in found for key, value in row.items()}]
        return [tuple(int(v, 16) if k == "uid" else v for k, v in row.items()) for row in found]


class Duck:
    name = "DuckDB"

    def __init__(self, nodes, edges, threads):
        import duckdb

        self.db = duckdb.connect(config={"threads": threads})
        self.db.register("n", nodes.to_arrow())
        self.db.register("e", edges.to_arrow())
        self.db.execute("CREATE TABLE nodes AS SELECT * FROM n ORDER BY id")
        self.db.execute("CREATE TABLE edges AS SELECT * FROM e ORDER BY src, dst")

    def objects(self, shape, call):
        return self.db.execute(shape.sql(call)).fetchall()

    def arrow(self, shape, call):
        return self.db.sql(shape.sql(call)).to_arrow_table()

    rows = objects


class Polars:
    name = "Polars"

    def __init__(self, nodes, edges, threads):
        import polars as pl

        assert pl.thread_pool_size() == threads
        self.pl, self.nodes, self.edges = pl, nodes, edges

    def objects(self, shape, call):
        return shape.polars(self, self.pl, call).rows()

    def arrow(self, shape, call):
        return shape.polars(self, self.pl, call).to_arrow()

    rows = objects


def plain(rows, ordered):
    """Rows that can be compared: floats with nine digits, in order where the question has none."""

    def value(cell):
        try:
            return f"{float(cell):.9g}"
        except (TypeError, ValueError):
            return str(cell)

    values = [tuple(value(cell) for cell in row) for row in rows]
    return values if ordered else sorted(values)


def bandwidth(size):
    """Bytes a second at which an array of this size is summed, in one thread."""
    import numpy as np

    array = np.ones(max(size // 8, 1), dtype=np.int64)
    times = []
    for _ in range(9):
        began = time.perf_counter()
        array.sum()
        times.append(time.perf_counter() - began)
    return size / statistics.median(times)


def timed(form, shape, seconds):
    """The median time of a call, in milliseconds: at least five calls, for at most some seconds."""
    times = []
    until = time.perf_counter() + seconds
    call = 0
    while len(times) < 5 or (time.perf_counter() < until and len(times) < 300):
        call += 1
        began = time.perf_counter()
        form(shape, call)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e3


def run(options):
    """One process: all engines with one number of threads; a line of JSON for each shape."""
    threads = options.run
    nodes, edges = make(options.nodes, options.edges)
    engines = [kind(nodes, edges, threads) for kind in (Hexgraph, Duck, Polars)]
    for shape in shapes():
        if options.only and options.only not in shape.name:
            continue
        for call in (1, 2, 8):
            answers = [plain(engine.rows(shape, call), shape.ordered) for engine in engines]
            for engine, answer in zip(engines[1:], answers[1:], strict=True):
                if answer != answers[0]:
                    first = next(
                        (
                            pair
                            for pair in zip(answers[0], answer, strict=False)
                            if pair[0] != pair[1]
                        ),
                        "length",
                    )
                    sys.exit(
                        f"{shape.name}: {engine.name} differs: {first}, {len(answers[0])} and {len(answer)} rows"
                    )
        line = {"shape": shape.name, "threads": threads}
        for engine in engines:
            for form in ("objects", "arrow"):
                line[f"{engine.name} {form}"] = timed(getattr(engine, form), shape, options.seconds)
        if shape.scanned:
            size = shape.scanned * options.nodes
            rate = size / (line["hexgraph arrow"] / 1e3)
            line["part of the bandwidth"] = rate / bandwidth(size)
        print(json.dumps(line), flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=5_000_000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--seconds", type=float, default=0.4, help="of a shape, an engine and a form"
    )
    parser.add_argument("--only", help="shapes with this in their name")
    parser.add_argument("--run", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run(options)
        return
    forms = [
        f"{engine} {form}"
        for form in ("objects", "arrow")
        for engine in ("hexgraph", "DuckDB", "Polars")
    ]
    for threads in options.threads:
        print(
            f"\n{threads} threads, ms".ljust(27)
            + "".join(form.rjust(17) for form in forms)
            + "   of bandwidth"
        )
        command = [sys.executable, __file__, *sys.argv[1:], "--run", str(threads)]
        environment = {**os.environ, "POLARS_MAX_THREADS": str(threads)}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
            for text in child.stdout:
                line = json.loads(text)
                cells = []
                for form in ("objects", "arrow"):
                    times = [
                        line[f"{engine} {form}"] for engine in ("hexgraph", "DuckDB", "Polars")
                    ]
                    cells += [f"{t:.3f}{'*' if t == min(times) else ' '}".rjust(17) for t in times]
                part = line.get("part of the bandwidth")
                print(
                    line["shape"].ljust(26) + "".join(cells) + (f"{part:15.2f}" if part else ""),
                    flush=True,
                )
        if child.returncode:
            sys.exit(child.returncode)


if __name__ == "__main__":
    main()
