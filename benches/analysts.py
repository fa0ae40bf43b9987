"""How long do nine questions to a social graph take in Cypher, compared with DuckDB and Ladybug, in one run?

100,000 people with ages, cities and interests, 2.4 million edges `Follows` with a power law. Answers are compared before
times are printed. With `--commits 1000` each engine gets so many small transactions first.

    python benches/analysts.py --people 100000 --threads 1 2 --commits 0

prints medians in milliseconds.
"""

import compare

CYPHER = {
    1: "MATCH (:Person)-[:Follows]->(p:Person) WITH p.id AS i, count(*) AS n ORDER BY n DESC LIMIT 3"
    " MATCH (p:Person) WHERE p.id = i RETURN p.id, p.name, n ORDER BY n DESC",
    2: "MATCH (:Person)-[:Follows]->(p:Person) WITH p.id AS i, count(*) AS n ORDER BY n DESC LIMIT 1"
    " MATCH (p:Person)-[:LivesIn]->(c:City) WHERE p.id = i"
    " RETURN p.name, c.city, c.state, c.country, n",
    3: "MATCH (p:Person)-[:LivesIn]->(c:City)-[*1..2]->(o:Country)"
    " WHERE o.country = 'United States' RETURN c.city, avg(p.age) AS m ORDER BY m LIMIT 5",
    4: "MATCH (p:Person)-[:LivesIn]->(:City)-[:CityIn]->(:State)-[:StateIn]->(o:Country)"
    " WHERE p.age >= 30 AND p.age <= 40 RETURN o.country, count(*) AS n ORDER BY n DESC LIMIT 3",
    5: "MATCH (i:Interest)<-[:HasInterest]-(p:Person)-[:LivesIn]->(c:City)"
    " WHERE lower(i.interest) = 'fine dining' AND p.gender = 'male' AND c.city = 'London'"
    " AND c.country = 'United Kingdom' RETURN count(*)",
    6: "MATCH (i:Interest)<-[:HasInterest]-(p:Person)-[:LivesIn]->(c:City)"
    " WHERE lower(i.interest) = 'tennis' AND p.gender = 'female'"
    " RETURN c.city, c.country, count(*) AS n ORDER BY n DESC LIMIT 5",
    7: "MATCH (p:Person)-[:LivesIn]->(:City)-[:CityIn]->(s:State)"
    " WHERE p.age >= 23 AND p.age <= 30 AND s.country = 'United States' WITH p, s"
    " MATCH (p)-[:HasInterest]->(i:Interest) WHERE lower(i.interest) = 'photography'"
    " RETURN s.state, s.country, count(p.id) AS n ORDER BY n DESC LIMIT 1",
    8: "MATCH (:Person)-[:Follows]->(:Person)-[:Follows]->(:Person) RETURN count(*)",
    9: "MATCH (:Person)-[:Follows]->(b:Person)-[:Follows]->(c:Person)"
    " WHERE b.age < 50 AND c.age > 25 RETURN count(*)",
}

SQL = {
    1: "SELECT p.id, p.name, n FROM (SELECT dst, count(*) AS n FROM Follows GROUP BY dst"
    " ORDER BY n DESC LIMIT 3) JOIN Person p ON p.id = dst ORDER BY n DESC",
    2: "SELECT p.name, c.city, c.state, c.country, n FROM (SELECT dst, count(*) AS n FROM Follows"
    " GROUP BY dst ORDER BY n DESC LIMIT 1) JOIN Person p ON p.id = dst"
    " JOIN LivesIn l ON l.src = p.id JOIN City c ON c.id = l.dst",
    3: "SELECT c.city, avg(p.age) AS m FROM Person p JOIN LivesIn l ON l.src = p.id"
    " JOIN City c ON c.id = l.dst JOIN CityIn i ON i.src = c.id JOIN StateIn s ON s.src = i.dst"
    " JOIN Country o ON o.id = s.dst WHERE o.country = 'United States'"
    " GROUP BY c.city ORDER BY m LIMIT 5",
    4: "SELECT o.country, count(*) AS n FROM Person p JOIN LivesIn l ON l.src = p.id"
    " JOIN CityIn i ON i.src = l.dst JOIN StateIn s ON s.src = i.dst JOIN Country o ON o.id = s.dst"
    " WHERE p.age BETWEEN 30 AND 40 GROUP BY o.country ORDER BY n DESC LIMIT 3",
    5: "SELECT count(*) FROM Interest i JOIN HasInterest h ON h.dst = i.id"
    " JOIN Person p ON p.id = h.src JOIN LivesIn l ON l.src = p.id JOIN City c ON c.id = l.dst"
    " WHERE lower(i.interest) = 'fine dining' AND p.gender = 'male' AND c.city = 'London'"
    " AND c.country = 'United Kingdom'",
    6: "SELECT c.city, c.country, count(*) AS n FROM Interest i JOIN HasInterest h ON h.dst = i.id"
    " JOIN Person p ON p.id = h.src JOIN LivesIn l ON l.src = p.id JOIN City c ON c.id = l.dst"
    " WHERE lower(i.interest) = 'tennis' AND p.gender = 'female'"
    " GROUP BY c.city, c.country ORDER BY n DESC LIMIT 5",
    7: "SELECT s.state, s.country, count(*) AS n FROM Person p JOIN LivesIn l ON l.src = p.id"
    " JOIN CityIn y ON y.src = l.dst JOIN State s ON s.id = y.dst"
    " JOIN HasInterest h ON h.src = p.id JOIN Interest i ON i.id = h.dst"
    " WHERE p.age BETWEEN 23 AND 30 AND s.country = 'United States'"
    " AND lower(i.interest) = 'photography' GROUP BY s.state, s.country ORDER BY n DESC LIMIT 1",
    8: "SELECT count(*) FROM Follows a JOIN Follows b ON a.dst = b.src",
    9: "SELECT count(*) FROM Follows a JOIN Person p ON p.id = a.dst JOIN Follows b ON b.src = p.id"
    " JOIN Person c ON c.id = b.dst WHERE p.age < 50 AND c.age > 25",
}

COUNTRIES = ["United States", "United Kingdom", "Canada"]
INTERESTS = ["Fine Dining", "Tennis", "Photography", *(f"Interest {i}" for i in range(38))]


def graph(people, seed=5):
    """Return the frames of nodes by label, and those of edges by (source, name, target)."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(seed)
    cities, states = 7_117, 273
    person = np.arange(1, people + 1)
    base = people + 1
    state_of = rng.integers(0, states, cities)
    country_of = np.minimum(np.arange(states) // 150, 2)
    nodes = {
        "Person": pl.DataFrame(
            {
                "id": person,
                "name": [f"Person {i}" for i in person],
                "gender": np.where(rng.random(people) < 0.5, "male", "female"),
                "age": rng.integers(18, 70, people),
                "isMarried": rng.random(people) < 0.5,
            }
        ),
        "City": pl.DataFrame(
            {
                "id": base + np.arange(cities),
                "city": ["London" if i == 7_000 else f"City {i}" for i in range(cities)],
                "state": [f"State {i}" for i in state_of],
                "country": [COUNTRIES[country_of[i]] for i in state_of],
            }
        ),
        "State": pl.DataFrame(
            {
                "id": base + cities + np.arange(states),
                "state": [f"State {i}" for i in range(states)],
                "country": [COUNTRIES[i] for i in country_of],
            }
        ),
        "Country": pl.DataFrame(
            {"id": base + cities + states + np.arange(3), "country": COUNTRIES}
        ),
        "Interest": pl.DataFrame(
            {"id": base + cities + states + 3 + np.arange(41), "interest": INTERESTS}
        ),
    }
    # London is in the United Kingdom, whatever was drawn.
    kingdom = int(np.flatnonzero(country_of == 1)[0])
    state_of[7_000] = kingdom
    nodes["City"][7_000, "state"] = f"State {kingdom}"
    nodes["City"][7_000, "country"] = COUNTRIES[1]
    follows = people * 24
    lives = (cities * rng.random(people) ** 1.5).astype(np.int64) * 3_559 % cities
    lives[: people // 50] = 7_000
    edges = {
        ("Person", "Follows", "Person"): (
            person[rng.integers(0, people, follows)],
            person[(people * rng.random(follows) ** 3).astype(np.int64) * 7_919 % people],
        ),
        ("Person", "LivesIn", "City"): (person, base + lives),
        ("Person", "HasInterest", "Interest"): (
            person[rng.integers(0, people, people * 5 // 2)],
            base + cities + states + 3 + rng.integers(0, 41, people * 5 // 2),
        ),
        ("City", "CityIn", "State"): (base + np.arange(cities), base + cities + state_of),
        ("State", "StateIn", "Country"): (
            base + cities + np.arange(states),
            base + cities + states + country_of,
        ),
    }
    return nodes, {
        key: pl.DataFrame({"src": src, "dst": dst})
        .filter(pl.col("src") != pl.col("dst"))
        .unique()
        .sort("src", "dst")
        for key, (src, dst) in edges.items()
    }


class Hexgraph:
    name = "hexgraph"

    def __init__(self, nodes, edges, threads):
        import hexgraph

        self.db = hexgraph.connect(threads=threads)
        for label, frame in nodes.items():
            # The column is both the uid and a property.
            with_uids = frame.with_columns(uid=frame["id"])
            self.db.load_nodes(with_uids, label, id="uid", uid=True, progress=False)
        schema = "".join(f"{name}: [uid] @reverse .\n" for _, name, _ in edges)
        # The other engines have a key or an index of small tables.
        self.db.alter(schema + "id: int @index(int) .")
        for (_, name, _), frame in edges.items():
            self.db.load_edges(
                frame, name, source="src", target="dst", uid=True, types=False, progress=False
            )
        self.db.compact()

    def follow(self, source, target, age):
        self.db.mutate(set_json=[{"uid": hex(source), "Follows": [{"uid": hex(target)}], "age": age}])

    def rows(self, question):
        return [tuple(row) for row in self.db.cypher(CYPHER[question]).rows()]


class Duck:
    name = "DuckDB"

    def __init__(self, nodes, edges, threads):
        import duckdb

        self.db = duckdb.connect(config={"threads": threads})
        for label, frame in nodes.items():
            self.db.register("frame", frame.to_arrow())
            self.db.execute(f"CREATE TABLE {label} AS FROM frame")
        for (_, name, _), frame in edges.items():
            self.db.register("frame", frame.to_arrow())
            self.db.execute(f"CREATE TABLE {name} AS FROM frame")

    def follow(self, source, target, age):
        self.db.execute("BEGIN")
        self.db.execute(f"INSERT INTO Follows VALUES ({source}, {target})")
        self.db.execute(f"UPDATE Person SET age = {age} WHERE id = {source}")
        self.db.execute("COMMIT")

    def rows(self, question):
        return self.db.execute(SQL[question]).fetchall()


class Ladybug:
    name = "Ladybug"

    def __init__(self, nodes, edges, threads):
        import ladybug

        database = ladybug.Database(":memory:")
        self.db = ladybug.Connection(database, num_threads=threads)
        types = {"Int64": "INT64", "Int32": "INT64", "Boolean": "BOOL"}
        for label, frame in nodes.items():
            columns = ", ".join(
                f"{name} {types.get(str(kind), 'STRING')}" for name, kind in frame.schema.items()
            )
            self.db.execute(f"CREATE NODE TABLE {label}({columns}, PRIMARY KEY (id))")
            rows = frame.to_arrow()
            self.db.execute(f"COPY {label} FROM rows")
        for (source, name, target), frame in edges.items():
            self.db.execute(f"CREATE REL TABLE {name}(FROM {source} TO {target})")
            rows = frame.to_arrow()  # noqa: F841 - named in the text
            self.db.execute(f"COPY {name} FROM rows")

    def follow(self, source, target, age):
        self.db.execute(
            f"MATCH (a:Person {{id: {source}}}), (b:Person {{id: {target}}})"
            f" CREATE (a)-[:Follows]->(b) SET a.age = {age}"
        )

    def rows(self, question):
        found = self.db.execute(CYPHER[question])
        rows = []
        while found.has_next():
            rows.append(tuple(found.get_next()))
        return rows


def run(options):
    """Measure with one number of threads; print a line of JSON for each question."""
    import numpy as np

    nodes, edges = graph(options.people)
    engines = [engine(nodes, edges, options.run) for engine in (Hexgraph, Duck, Ladybug)]
    rng = np.random.default_rng(11)
    there = set(edges["Person", "Follows", "Person"].iter_rows()) if options.commits else set()
    commits = 0
    while commits < options.commits:
        source, target = (int(it) for it in rng.integers(1, options.people + 1, 2))
        if source == target or (source, target) in there:
            continue
        there.add((source, target))
        for engine in engines:
            engine.follow(source, target, commits % 52 + 18)
        commits += 1
    compare.measure(
        engines, options, lambda engine, question: comparable(question, engine.rows(question))
    )


def comparable(question, rows):
    """Return rows with floats of nine digits, since the order of a sum differs.

    Of question 6 only the counts, since cities with the same count are in any order.
    """
    if question == 6:
        return [row[-1] for row in rows]
    rows = [tuple(round(it, 9) if isinstance(it, float) else it for it in row) for row in rows]
    return rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else rows


def main():
    parser = compare.parser(__doc__, CYPHER)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--commits", type=int, default=0, help="small transactions beforehand")
    options = parser.parse_args()
    about = f"{options.people:,} people, {options.commits:,} commits"
    compare.main(__file__, options, run, about)


if __name__ == "__main__":
    main()
