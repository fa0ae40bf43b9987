"""How long do questions to the nodes of one label and the relationships of one type take in Cypher, compared with DuckDB,
and a look-up compared with DQL?

A million people with a name, an age, a payment, one of 200 cities and a moment of birth, and three relationships for each
two people, with stars and a weight. Names, ages and moments have an index; payments and cities have none. Answers are Arrow tables, and are compared before times are printed. `--no-index`
leaves out the indexes, and `--commits 1000` changes so many people first, in as many transactions.

    python benches/one_label.py --people 1000000 --threads 1 2

prints medians in milliseconds. `--look-ups` measures a look-up of one name in Cypher and in DQL instead, each with the
value as a Python int, in microseconds.
"""

import statistics
import time

import compare

TASKS = {
    1: (
        "MATCH (p:Person) WHERE p.age > 98 RETURN p.name, p.age",
        "SELECT name, age FROM person WHERE age > 98",
    ),
    2: (
        "MATCH (p:Person) WHERE p.age > 98 RETURN count(*)",
        "SELECT count(*) FROM person WHERE age > 98",
    ),
    3: (
        "MATCH (p:Person) WHERE p.name IN ['n1', 'n2', 'n77'] RETURN p.name, p.age",
        "SELECT name, age FROM person WHERE name IN ('n1', 'n2', 'n77')",
    ),
    4: (
        "MATCH (p:Person) WHERE p.name STARTS WITH 'n7777' RETURN p.name, p.age",
        "SELECT name, age FROM person WHERE starts_with(name, 'n7777')",
    ),
    5: (
        "MATCH (p:Person) WHERE p.name CONTAINS '7777' RETURN p.name, p.age",
        "SELECT name, age FROM person WHERE contains(name, '7777')",
    ),
    6: (
        "MATCH (p:Person) RETURN p.name, p.age ORDER BY p.age DESC, p.name LIMIT 10",
        "SELECT name, age FROM person ORDER BY age DESC, name LIMIT 10",
    ),
    7: (
        "MATCH (p:Person) RETURN p.name, p.pay ORDER BY p.pay DESC LIMIT 10",
        "SELECT name, pay FROM person ORDER BY pay DESC LIMIT 10",
    ),
    8: (
        "MATCH (p:Person) RETURN p.city, count(*), sum(p.age) ORDER BY p.city",
        "SELECT city, count(*), sum(age)::BIGINT FROM person GROUP BY city ORDER BY city",
    ),
    9: (
        "MATCH (p:Person) WHERE p.age > 50 AND p.pay < 10000"
        " RETURN p.city, count(*), max(p.pay) ORDER BY p.city",
        "SELECT city, count(*), max(pay) FROM person WHERE age > 50 AND pay < 10000"
        " GROUP BY city ORDER BY city",
    ),
    10: (
        "MATCH (p:Person) RETURN max(p.pay), min(p.age), sum(p.age)",
        "SELECT max(pay), min(age), sum(age)::BIGINT FROM person",
    ),
    11: (
        "MATCH (p:Person) RETURN DISTINCT p.city ORDER BY p.city",
        "SELECT DISTINCT city FROM person ORDER BY city",
    ),
    12: (
        "MATCH (p:Person) WHERE p.born >= datetime('1951-01-01') AND p.born < datetime('1951-01-05')"
        " RETURN p.name, p.age",
        "SELECT name, age FROM person WHERE born >= '1951-01-01' AND born < '1951-01-05'",
    ),
    13: (
        "MATCH (p:Person) RETURN p.name, p.age, p.pay, p.city",
        "SELECT name, age, pay, city FROM person",
    ),
    14: (
        "MATCH (p:Person) RETURN p.name, p.pay * 12 / (p.age + 1) AS ratio ORDER BY ratio DESC LIMIT 10",
        "SELECT name, pay * 12 / (age + 1) AS ratio FROM person ORDER BY ratio DESC LIMIT 10",
    ),
    15: (
        "MATCH (p:Person)-[r:likes]->(q:Person) RETURN p.name, r.stars, q.name",
        "SELECT p.name AS a, stars, q.name AS b FROM likes JOIN person p ON p.id = src JOIN person q ON q.id = dst",
    ),
    16: (
        "MATCH (p:Person)-[r:likes]->(q:Person) WHERE r.stars > 3 RETURN count(r)",
        "SELECT count(*) FROM likes WHERE stars > 3",
    ),
    17: (
        "MATCH (p:Person)-[r:likes]->(q:Person) RETURN p.city, avg(r.weight) ORDER BY p.city",
        "SELECT city, avg(weight) FROM likes JOIN person ON id = src GROUP BY city ORDER BY city",
    ),
    18: (
        "MATCH (p:Person)-[r:likes]->(q:Person) RETURN p.name, r.weight, q.name ORDER BY r.weight DESC, id(p), id(q) LIMIT 10",
        "SELECT p.name AS a, weight, q.name AS b FROM likes JOIN person p ON p.id = src JOIN person q ON q.id = dst"
        " ORDER BY weight DESC, src, dst LIMIT 10",
    ),
    19: (
        "MATCH (p:Person)-[r:likes]->(q:Person) WHERE r.stars = 5 AND p.age < q.age RETURN p.name, q.name",
        "SELECT p.name AS a, q.name AS b FROM likes JOIN person p ON p.id = src JOIN person q ON q.id = dst"
        " WHERE stars = 5 AND p.age < q.age",
    ),
    20: (
        "MATCH (p:Person)-[:likes]->(:Person)-[:likes]->(q:Person) WHERE p.age < 1 AND q.pay < 5000 RETURN p.name, q.name",
        "SELECT p.name AS a, q.name AS b FROM person p JOIN likes r ON p.id = r.src JOIN likes s ON r.dst = s.src"
        " JOIN person q ON q.id = s.dst WHERE p.age < 1 AND q.pay < 5000 AND (r.src <> s.src OR r.dst <> s.dst)",
    ),
    21: (
        "MATCH ()-[r:likes]->() RETURN count(r)",
        "SELECT count(*) FROM likes",
    ),
}

INDEXES = (("name", "exact"), ("name", "trigram"), ("age", "int"), ("born", "hour"))


def people(count):
    """Return a frame of people."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(1)
    number = np.arange(1, count + 1)
    frame = pl.DataFrame(
        {
            "id": number,
            "name": [f"n{it * 7_919 % count}" for it in number],
            "age": rng.integers(0, 100, count),
            "pay": rng.random(count) * 1e5,
            "city": [f"c{it % 200}" for it in number],
        }
    )
    minutes = pl.duration(minutes=pl.col("id") * 13 % 30_000_000)
    return frame.with_columns(born=pl.datetime(1950, 1, 1) + minutes)


def likes(count):
    """Return a frame of relationships between so many people, each once."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(2)
    edges = count * 3 // 2
    pairs = {name: rng.integers(1, count + 1, edges) for name in ("src", "dst")}
    stars, weight = rng.integers(1, 6, edges), rng.integers(0, 1 << 20, edges) / (1 << 20)
    frame = pl.DataFrame(pairs | {"stars": stars, "weight": weight})
    return frame.unique(["src", "dst"], keep="first", maintain_order=True)


class Hexgraph:
    name = "hexgraph"

    def __init__(self, frame, edges, threads, indexes):
        import hexgraph

        self.db = hexgraph.connect(threads=threads)
        self.db.load_nodes(frame, "Person", id="id", uid=True, progress=False)
        if edges is not None:
            facets = ["stars", "weight"]
            self.db.load_edges(
                edges, "likes", "src", "dst", facets=facets, uid=True, progress=False
            )
        for name, kind in indexes:
            self.db.index(name, kind)

    def change(self, person):
        self.db.mutate(set=f'<{person}> <age> "50" .')

    def answer(self, task):
        return self.db.cypher(TASKS[task][0]).to_arrow()


class DuckDB:
    name = "DuckDB"

    def __init__(self, frame, edges, threads):
        import duckdb

        self.db = duckdb.connect(config={"threads": threads})
        self.db.register("frame", frame.to_arrow())
        self.db.execute("CREATE TABLE person AS FROM frame")
        self.db.register("edges", edges.to_arrow())
        self.db.execute("CREATE TABLE likes AS FROM edges")

    def change(self, person):
        self.db.execute("UPDATE person SET age = 50 WHERE id = ?", [person])

    def answer(self, task):
        return self.db.sql(TASKS[task][1]).to_arrow_table()


def compared(engine, task, seen):
    """Answer, and return the rows of a table, sorted; they are read for the first answer alone."""
    table = engine.answer(task)
    if (engine.name, task) not in seen:
        import polars as pl

        frame = pl.DataFrame(table)
        frame.columns = [str(at) for at in range(frame.width)]
        seen[engine.name, task] = frame.sort(frame.columns).rows()
    rows = seen[engine.name, task]
    assert table.num_rows == len(rows)
    return rows


def look_ups(frame, threads):
    """Print medians of a look-up by a name, with other names in each call."""
    db = Hexgraph(frame, None, threads, [("name", "exact")]).db
    cypher = "MATCH (p:Person {name: $name}) RETURN p.age AS age"
    dql = "query q($name: string) { q(func: eq(name, $name)) @filter(type(Person)) { age } }"
    runs = {
        "Cypher": lambda name: db.cypher(cypher, {"name": name}).rows()[0][0],
        "DQL": lambda name: db.query(dql, {"$name": name})["q"][0]["age"],
    }
    times = {engine: [] for engine in runs}
    for number in range(3_000):
        name = f"n{number * 37 % len(frame)}"
        for engine, run in runs.items():
            started = time.perf_counter()
            run(name)
            times[engine].append(time.perf_counter() - started)
    medians = {engine: statistics.median(it) * 1e6 for engine, it in times.items()}
    ratio = medians["Cypher"] / medians["DQL"]
    print(*(f"{engine} {it:.1f} µs" for engine, it in medians.items()), f"ratio {ratio:.2f}")


def run(options):
    frame, threads = people(options.people), options.run
    if options.look_ups:
        look_ups(frame, threads)
        return
    edges = likes(options.people)
    engines = [
        Hexgraph(frame, edges, threads, () if options.no_index else INDEXES),
        DuckDB(frame, edges, threads),
    ]
    for engine in engines:
        for at in range(options.commits):
            engine.change(1 + at * 7_919 % options.people)
    seen = {}
    compare.measure(engines, options, lambda engine, task: compared(engine, task, seen))


if __name__ == "__main__":
    parser = compare.parser(__doc__, TASKS)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--commits", type=int, default=0)
    parser.add_argument("--no-index", action="store_true")
    parser.add_argument("--look-ups", action="store_true")
    options = parser.parse_args()
    if options.look_ups:
        compare.pin(options.threads[0])
        options.run = options.threads[0]
        run(options)
    else:
        about = f"{options.people:,} people, {options.commits} commits"
        compare.main(__file__, options, run, about)
