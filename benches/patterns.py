"""How long does it take to count nine patterns of a social network, compared with DuckDB, Ladybug, NeuG and ArcadeDB, in one run?

The network is generated: people who know each other, forums with posts, comments that reply, tags; its sizes have the proportions
of a social network of a million messages. The patterns are those of LSQB (github.com/ldbc/lsqb): trees, cycles, optional and
absent parts. These are not results of LDBC's benchmark. Counts are compared before times are printed:

    python benches/patterns.py --messages 1000000 --threads 1 2

prints medians in milliseconds, and which engine was the fastest. One process for each number of threads. NeuG and ArcadeDB
take part where they are named: `--engines hexgraph NeuG ArcadeDB`. They need the packages `neug` and `arcadedb-embedded`; the
first one wants another protobuf than the clients of the tests, so both have an environment of their own.
"""

import contextlib
import tempfile
from pathlib import Path

import compare

CYPHER = {
    1: "MATCH (:Country)<-[:isPartOf]-(:City)<-[:isLocatedIn]-(:Person)<-[:hasMember]-(:Forum)"
    "-[:containerOf]->(:Post)<-[:replyOf]-(:Comment)-[:hasTag]->(:Tag)-[:hasType]->(:TagClass)",
    2: "MATCH (a:Person)-[:knows]-(b:Person),"
    " (a)<-[:hasCreator]-(c:Comment)-[:replyOf]->(p:Post)-[:hasCreator]->(b)",
    3: "MATCH (co:Country)"
    " MATCH (a:Person)-[:isLocatedIn]->(:City)-[:isPartOf]->(co)"
    " MATCH (b:Person)-[:isLocatedIn]->(:City)-[:isPartOf]->(co)"
    " MATCH (c:Person)-[:isLocatedIn]->(:City)-[:isPartOf]->(co)"
    " MATCH (a)-[:knows]-(b)-[:knows]-(c)-[:knows]-(a)",
    4: "MATCH (:Tag)<-[:hasTag]-(m:Message)-[:hasCreator]->(:Person),"
    " (m)<-[:likes]-(:Person), (m)<-[:replyOf]-(:Comment)",
    5: "MATCH (t:Tag)<-[:hasTag]-(m:Message)<-[:replyOf]-(c:Comment)-[:hasTag]->(u:Tag)"
    " WHERE t <> u",
    6: "MATCH (a:Person)-[:knows]-(b:Person)-[:knows]-(c:Person)-[:hasInterest]->(:Tag)"
    " WHERE a <> c",
    7: "MATCH (:Tag)<-[:hasTag]-(m:Message)-[:hasCreator]->(:Person)"
    " OPTIONAL MATCH (m)<-[:likes]-(l:Person) OPTIONAL MATCH (m)<-[:replyOf]-(c:Comment)",
    8: "MATCH (t:Tag)<-[:hasTag]-(m:Message)<-[:replyOf]-(c:Comment)-[:hasTag]->(u:Tag)"
    " WHERE t <> u AND NOT (c)-[:hasTag]->(t)",
    9: "MATCH (a:Person)-[:knows]-(b:Person)-[:knows]-(c:Person)-[:hasInterest]->(:Tag)"
    " WHERE a <> c AND NOT (a)-[:knows]-(c)",
}

SQL = {
    1: "is_part_of p JOIN is_located_in l ON l.dst = p.src JOIN has_member m ON m.dst = l.src"
    " JOIN container_of c ON c.src = m.src JOIN comment_reply_of_post r ON r.dst = c.dst"
    " JOIN comment_has_tag t ON t.src = r.src JOIN has_type y ON y.src = t.dst",
    2: "knows k JOIN comment_has_creator c ON c.dst = k.src"
    " JOIN comment_reply_of_post r ON r.src = c.src"
    " JOIN post_has_creator p ON p.src = r.dst AND p.dst = k.dst",
    3: "knows x JOIN knows y ON x.dst = y.src JOIN knows z ON y.dst = z.src AND z.dst = x.src"
    " JOIN country_of a ON a.person = x.src"
    " JOIN country_of b ON b.person = y.src AND b.country = a.country"
    " JOIN country_of c ON c.person = z.src AND c.country = a.country",
    4: "has_tag t JOIN has_creator c ON c.src = t.src JOIN likes l ON l.dst = t.src"
    " JOIN reply_of r ON r.dst = t.src",
    5: "has_tag a JOIN reply_of r ON r.dst = a.src JOIN comment_has_tag b ON b.src = r.src"
    " WHERE a.dst <> b.dst",
    6: "knows x JOIN knows y ON x.dst = y.src JOIN has_interest i ON i.src = y.dst"
    " WHERE x.src <> y.dst",
    7: "has_tag t JOIN has_creator c ON c.src = t.src LEFT JOIN likes l ON l.dst = t.src"
    " LEFT JOIN reply_of r ON r.dst = t.src",
    8: "has_tag a JOIN reply_of r ON r.dst = a.src JOIN comment_has_tag b ON b.src = r.src"
    " WHERE a.dst <> b.dst AND NOT EXISTS"
    " (FROM comment_has_tag h WHERE h.src = r.src AND h.dst = a.dst)",
    9: "knows x JOIN knows y ON x.dst = y.src JOIN has_interest i ON i.src = y.dst"
    " WHERE x.src <> y.dst AND NOT EXISTS (FROM knows k WHERE k.src = x.src AND k.dst = y.dst)",
}

VIEWS = """
CREATE TABLE knows AS SELECT src, dst FROM person_knows_person
    UNION ALL SELECT dst, src FROM person_knows_person ORDER BY 1, 2;
CREATE TABLE has_tag AS FROM comment_has_tag UNION ALL FROM post_has_tag;
CREATE TABLE has_creator AS FROM comment_has_creator UNION ALL FROM post_has_creator;
CREATE TABLE likes AS FROM person_likes_comment UNION ALL FROM person_likes_post;
CREATE TABLE reply_of AS FROM comment_reply_of_comment UNION ALL FROM comment_reply_of_post;
CREATE TABLE is_part_of AS FROM city_is_part_of_country;
CREATE TABLE is_located_in AS FROM person_is_located_in_city;
CREATE TABLE has_member AS FROM forum_has_member_person;
CREATE TABLE container_of AS FROM forum_container_of_post;
CREATE TABLE has_type AS FROM tag_has_type_tag_class;
CREATE TABLE has_interest AS FROM person_has_interest_tag;
CREATE TABLE country_of AS SELECT l.src AS person, p.dst AS country
    FROM is_located_in l JOIN is_part_of p ON p.src = l.dst;
"""


def network(messages, seed=7):
    """Return the ids of each label, and frames of the edges of each (source, name, target)."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(seed)
    sizes = {
        "Country": 111,
        "City": 1_343,
        "TagClass": 71,
        "Tag": 16_080,
        "Person": max(messages // 100, 20),
        "Forum": max(messages // 14, 10),
        "Post": messages * 9 // 20,
        "Comment": messages * 11 // 20,
    }
    ids, start = {}, 1
    for label, size in sizes.items():
        ids[label] = np.arange(start, start + size)
        start += size

    def skewed(label, count, power):
        size = len(ids[label])
        return ids[label][(size * rng.random(count) ** power).astype(np.int64) * 7919 % size]

    def pairs(source, target, count, powers=(1.0, 2.0)):
        return skewed(source, count, powers[0]), skewed(target, count, powers[1])

    people, posts, comments = len(ids["Person"]), len(ids["Post"]), len(ids["Comment"])
    # Most people know those who live near by.
    one, other = pairs("Person", "Person", people * 18, (1.5, 1.5))
    near = np.clip(one + rng.integers(1, 60, len(one)), None, ids["Person"][-1])
    other = np.where(rng.random(len(one)) < 0.6, near, other)
    knows = np.stack([np.minimum(one, other), np.maximum(one, other)])[:, one != other]
    cities = ids["City"][np.arange(people) * 1_343 // people]
    # A comment replies to something older: a post, or a comment before it.
    to_post = rng.random(comments) < 0.5
    to_post[0] = True
    earlier = (rng.random(comments) * np.arange(comments)).astype(np.int64)
    edges = {
        ("City", "isPartOf", "Country"): (ids["City"], skewed("Country", 1_343, 1.5)),
        ("Person", "isLocatedIn", "City"): (ids["Person"], cities),
        ("Person", "knows", "Person"): (knows[0], knows[1]),
        ("Person", "hasInterest", "Tag"): pairs("Person", "Tag", people * 23),
        ("Tag", "hasType", "TagClass"): (ids["Tag"], skewed("TagClass", 16_080, 1.5)),
        ("Forum", "hasMember", "Person"): pairs("Forum", "Person", messages * 3, (1.5, 1.5)),
        ("Forum", "containerOf", "Post"): (skewed("Forum", posts, 1.5), ids["Post"]),
        ("Post", "hasCreator", "Person"): (ids["Post"], skewed("Person", posts, 1.5)),
        ("Comment", "hasCreator", "Person"): (ids["Comment"], skewed("Person", comments, 1.5)),
        ("Comment", "replyOf", "Post"): (
            ids["Comment"][to_post],
            skewed("Post", int(to_post.sum()), 1.5),
        ),
        ("Comment", "replyOf", "Comment"): (
            ids["Comment"][~to_post],
            ids["Comment"][earlier[~to_post]],
        ),
        ("Post", "hasTag", "Tag"): pairs("Post", "Tag", posts * 2),
        ("Comment", "hasTag", "Tag"): pairs("Comment", "Tag", comments * 2),
        ("Person", "likes", "Post"): pairs("Person", "Post", posts, (1.5, 1.5)),
        ("Person", "likes", "Comment"): pairs("Person", "Comment", comments, (1.5, 1.5)),
    }
    frames = {
        key: pl.DataFrame({"src": src, "dst": dst}).unique().sort("src", "dst")
        for key, (src, dst) in edges.items()
    }
    return {label: pl.DataFrame({"id": values}) for label, values in ids.items()}, frames


class Hexgraph:
    name = "hexgraph"

    def __init__(self, nodes, edges, threads):
        import hexgraph

        self.db = hexgraph.connect(threads=threads)
        for label, frame in nodes.items():
            labels = [label, "Message"] if label in ("Post", "Comment") else [label]
            self.db.load_nodes(frame, labels, id="id", uid=True, progress=False)
        names = sorted({name for _, name, _ in edges})
        self.db.alter("".join(f"{name}: [uid] @reverse .\n" for name in names))
        for (_, name, _), frame in edges.items():
            self.db.load_edges(
                frame, name, source="src", target="dst", uid=True, types=False, progress=False
            )
        self.db.compact()

    def count(self, pattern):
        return self.db.cypher(f"{CYPHER[pattern]} RETURN count(*) AS n").rows()[0][0]


class Duck:
    name = "DuckDB"

    def __init__(self, _nodes, edges, threads):
        import duckdb

        self.db = duckdb.connect(config={"threads": threads})
        for (source, name, target), frame in edges.items():
            snake = "".join(f"_{it.lower()}" if it.isupper() else it for it in name)
            words = [source.lower(), snake]
            if not (name in ("hasTag", "hasCreator") and source != "Person"):
                words.append("tag_class" if target == "TagClass" else target.lower())
            self.db.register("frame", frame.to_arrow())
            self.db.execute(f"CREATE TABLE {'_'.join(words)} AS FROM frame ORDER BY src, dst")
        self.db.execute(VIEWS)

    def count(self, pattern):
        return self.db.execute(f"SELECT count(*) FROM {SQL[pattern]}").fetchone()[0]


class Ladybug:
    name = "Ladybug"

    def __init__(self, nodes, edges, threads):
        import ladybug

        database = ladybug.Database(":memory:")
        self.db = ladybug.Connection(database, num_threads=threads)
        for label, frame in nodes.items():
            self.db.execute(f"CREATE NODE TABLE {label}(id INT64 PRIMARY KEY)")
            rows = frame.to_arrow()
            self.db.execute(f"COPY {label} FROM rows")
        for name in sorted({name for _, name, _ in edges}):
            of_name = {key: frame for key, frame in edges.items() if key[1] == name}
            ends = ", ".join(f"FROM {source} TO {target}" for source, _, target in of_name)
            self.db.execute(f"CREATE REL TABLE {name}({ends})")
            for (source, _, target), frame in of_name.items():
                rows = frame.to_arrow()  # noqa: F841 - named in the text
                self.db.execute(f"COPY {name} FROM rows (from='{source}', to='{target}')")

    def count(self, pattern):
        text = CYPHER[pattern].replace(":Message", ":Post:Comment")
        return self.db.execute(f"{text} RETURN count(*) AS n").get_next()[0]


class NeuG:
    name = "NeuG"
    # "invalid intersect key", and answers of one thread: its queries in a process have no other.
    cannot = (3,)

    def __init__(self, nodes, edges, threads):
        import neug

        self.database = neug.Database("", mode="w", max_thread_num=threads)
        self.db = self.database.connect()
        for label, frame in nodes.items():
            self.db.execute(f"CREATE NODE TABLE {label}(id INT64, PRIMARY KEY(id));")
            self.copy(frame, label, "")
        for name in sorted({name for _, name, _ in edges}):
            of_name = {key: frame for key, frame in edges.items() if key[1] == name}
            ends = ", ".join(f"FROM {source} TO {target}" for source, _, target in of_name)
            self.db.execute(f"CREATE REL TABLE {name}({ends});")
            for (source, _, target), frame in of_name.items():
                self.copy(frame, name, f'from="{source}", to="{target}", ')

    def copy(self, frame, table, ends):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            frame.write_csv(path, separator="|")
            self.db.execute(f'COPY {table} FROM "{path}" ({ends}header=true, delimiter="|");')

    def count(self, pattern):
        text = CYPHER[pattern].replace(":Message", ":Post:Comment")
        return next(iter(self.db.execute(f"{text} RETURN count(*) AS n;")))[0]


class ArcadeDB:
    name = "ArcadeDB"

    def __init__(self, nodes, edges, _threads):
        import arcadedb_embedded

        self.folder = tempfile.TemporaryDirectory()
        # Its log goes to the folder of the process.
        with contextlib.chdir(self.folder.name):
            self.db = arcadedb_embedded.create_database(f"{self.folder.name}/db")
        self.db.command("sql", "CREATE VERTEX TYPE Message")
        for label in nodes:
            parent = " EXTENDS Message" if label in ("Post", "Comment") else ""
            self.db.command("sql", f"CREATE VERTEX TYPE {label}{parent}")
        for name in sorted({name for _, name, _ in edges}):
            self.db.command("sql", f"CREATE EDGE TYPE {name}")
        with self.db.graph_batch(expected_edge_count=sum(map(len, edges.values()))) as batch:
            vertices = {}
            for label, frame in nodes.items():
                ids = frame["id"].to_list()
                made = batch.create_vertices(label, [{"id": it} for it in ids])
                vertices.update(zip(ids, made, strict=True))
            for (_, name, _), frame in edges.items():
                for source, target in frame.iter_rows():
                    batch.new_edge(vertices[source], name, vertices[target])

    def count(self, pattern):
        text = f"{CYPHER[pattern]} RETURN count(*) AS n"
        return next(iter(self.db.query("opencypher", text))).get("n")


ENGINES = {engine.name: engine for engine in (Hexgraph, Duck, Ladybug, NeuG, ArcadeDB)}


def run(options):
    """Measure with one number of threads; print a line of JSON for each pattern."""
    nodes, edges = network(options.messages)
    engines = [ENGINES[name](nodes, edges, options.run) for name in options.engines]
    compare.measure(engines, options, lambda engine, pattern: engine.count(pattern))


def main():
    parser = compare.parser(__doc__, CYPHER)
    parser.add_argument("--messages", type=int, default=1_000_000)
    default = ["hexgraph", "DuckDB", "Ladybug"]
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=default)
    options = parser.parse_args()
    compare.main(__file__, options, run, f"{options.messages:,} messages")


if __name__ == "__main__":
    main()
