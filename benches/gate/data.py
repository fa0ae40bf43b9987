"""The graphs that the gate queries. Each is the same in each run and for each build."""

import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import columns

NODES = 1_000_000
HUB = 2_000_000

# Uids of nodes that commits make begin here, so that they are known and can be changed again.
NEW = 3_000_000

MASK = (1 << 64) - 1

PEOPLE = """
score: int @index(int) .
age: int .
height: float .
city: string @index(exact) .
name: string @index(term) .
nick: string .
born: datetime @index(year) .
likes: string @index(hash) .
code: string @index(trigram) .
about: string @index(fulltext) .
place: geo @index(geo) .
label: string @index(exact) @lang .
tags: [string] @index(exact) .
emb: float32vector @index(hnsw(metric: "euclidean")) .
friend: [uid] @reverse @count .
knows: [uid] @reverse .
e: [uid] .
type Person {
  score
  age
  height
  city
  name
  nick
  born
  likes
  code
  about
  place
  label
  tags
  emb
  friend
  knows
}
"""

PEOPLE_GRAPHQL = """type Person {
  id: ID!
  score: Int @search @dgraph(pred: "score")
  age: Int @dgraph(pred: "age")
  city: String @search(by: [exact]) @dgraph(pred: "city")
  name: String @search(by: [term]) @dgraph(pred: "name")
  nick: String @dgraph(pred: "nick")
  friend: [Person] @dgraph(pred: "friend")
}"""

ITEMS_GRAPHQL = """type Item {
  id: ID!
  serial: Int @dgraph(pred: "serial")
  bucket: Int @dgraph(pred: "bucket") @search
  link: [Item] @dgraph(pred: "link")
}"""

STAFF = "pay: float .\nage: int .\ncity: string .\nteam: int .\ns: int .\nt: int .\ne: [uid] .\n"
SCORES = "score: int .\nnext: [uid] .\n"

# Uids of the two nodes with many edges of `items`.
ITEMS_HUB, ITEMS_THIRDS = 0x10, 0x8


def mixed(number):
    """Return a number that looks random and is the same in each run."""
    number = (number + 1) * 0x9E3779B97F4A7C15 & MASK
    number ^= number >> 29
    return (number * 0xBF58476D1CE4E5B9 & MASK) >> 20


def mixed_all(numbers):
    """Return `mixed` of each number of a numpy array."""
    import numpy as np

    numbers = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    numbers ^= numbers >> np.uint64(29)
    return (numbers * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(20)


def person(uid, random, kind):
    """Return the statements of a person: what all have, and by `kind` what some have."""
    r = random
    lines = [
        f'<{uid}> <score> "{r % 1_000_000}" .',
        f'<{uid}> <age> "{r // 7 % 80}" .',
        f'<{uid}> <height> "{1.0 + (r // 17 % 1000) / 1000.0}" .',
        f'<{uid}> <city> "c{r // 11 % 100}" .',
        f'<{uid}> <dgraph.type> "Person" .',
        f'<{uid}> <name> "n{r % 500} m{r // 3 % 500}" .',
        f'<{uid}> <born> "{1940 + r % 80}-{r // 5 % 12 + 1:02}-04" .',
    ]
    if kind % 2 == 0:
        lines.append(f'<{uid}> <nick> "k{r // 19 % 1000}" .')
        lines.append(f'<{uid}> <likes> "l{r // 23 % 1000}" .')
        for edge in range(2):
            other = mixed(r + edge)
            facets = f"(weight={r // 29 % 1000 / 1000.0}, since={1990 + other % 30})"
            lines.append(f"<{uid}> <knows> <{other % NODES + 1}> {facets} .")
    if kind % 4 == 1:
        words = " ".join(
            (f"word{r // 3 % 400} and", f"word{r // 5 % 400} of", f"word{r // 7 % 400}")
        )
        at = f"[{r % 100_000 / 1000.0},{r // 31 % 50_000 / 1000.0}]"
        point = f'{{\\"type\\":\\"Point\\",\\"coordinates\\":{at}}}'
        lines += [
            f'<{uid}> <code> "{mixed(r):x}" .',
            f'<{uid}> <about> "{words}" .',
            f'<{uid}> <place> "{point}"^^<geo:geojson> .',
            f'<{uid}> <label> "e{r // 37 % 1000}"@en .',
            f'<{uid}> <label> "d{r // 41 % 1000}"@de .',
            f'<{uid}> <tags> "t{r // 43 % 500}" .',
            f'<{uid}> <tags> "t{r // 47 % 500}" .',
        ]
    if kind % 100 == 2:
        lines.append(f'<{uid}> <emb> "{[(r >> shift) % 1000 for shift in (0, 7, 13, 19)]}" .')
    return lines


def commit(number):
    """Return what a commit sets and deletes.

    It changes all values of a person and adds a friend. Some commits make a new person, delete a
    person, values or edges, or change the hub; the number 0 does all of it.
    """
    random = mixed(number ^ 0x5555)
    uid = random % NODES + 1
    friend = random // 13 % NODES + 1
    lines = person(uid, random // 3, uid)
    lines.append(f"<{uid}> <friend> <{friend}> .")
    if number % 2 == 0:
        new = NEW + number
        lines += person(new, mixed(random), number // 2)
        lines.append(f"<{new}> <friend> <{friend}> .\n<{friend}> <friend> <{new}> .")
        lines.append(f"<{HUB}> <e> <{new}> .")
    other = mixed(random) % NODES + 1
    deleted = {0: ("*",), 10: ("*",), 5: ("age", "city", "tags"), 15: ("friend", "nick", "knows")}
    names = () if other in (uid, friend) else deleted.get(number % 20, ())
    delete = [f"<{other}> {name if name == '*' else f'<{name}>'} * ." for name in names]
    if number % 100 == 0:
        delete.append(f"<{HUB}> <e> <{other}> .")
    return "\n".join(lines), "\n".join(delete)


def people_file(folder):
    """Write the N-Quads of a million people."""
    path = folder / "people.rdf"
    if not path.exists():
        # Two builds may make it at the same time: each has a file of its own until it is written.
        unfinished = path.with_suffix(f".{os.getpid()}")
        with unfinished.open("w") as file:
            for uid in range(1, NODES + 1):
                random = mixed(uid)
                lines = person(uid, random, uid)
                for edge in range(random % 5):
                    lines.append(f"<{uid}> <friend> <{mixed(uid * 8 + edge) % NODES + 1}> .")
                lines.append(f"<{HUB}> <e> <{uid}> .\n")
                file.write("\n".join(lines))
        unfinished.replace(path)
    return path


def load_people(db, folder):
    db.graphql_schema(PEOPLE_GRAPHQL)
    db.alter(PEOPLE)
    db.load(people_file(folder), progress=False)


def load_wide(db, folder):
    """Load the graph of `columns.py`."""
    import polars as pl

    paths = [folder / "nodes.parquet", folder / "edges.parquet"]
    if not all(path.exists() for path in paths):
        for frame, path in zip(columns.make(NODES, 5 * NODES), paths, strict=True):
            # Two builds may make it at the same time: each has a file of its own until it is written.
            own = path.with_suffix(f".{os.getpid()}")
            frame.write_parquet(own)
            own.replace(path)
    nodes, edges = (pl.read_parquet(path) for path in paths)
    db.alter(columns.SCHEMA)
    db.load_nodes(nodes.drop("lives_in"), id="id", uid=True, progress=False)
    load_edges(db, edges, "friend", ("src", "dst"))
    load_edges(db, nodes.select("id", "lives_in"), "lives_in", ("id", "lives_in"))


def load_edges(db, frame, predicate, ends):
    source, target = ends
    db.load_edges(frame, predicate, source=source, target=target, uid=True, progress=False)


def load_items(db, _):
    """Load a million numbered nodes, and two nodes with edges to all and to every third of them."""
    import numpy as np
    import polars as pl

    number = np.arange(1, NODES + 1)
    ids = number + ITEMS_HUB
    db.graphql_schema(ITEMS_GRAPHQL)
    db.alter("rank: int @index(int) .\nsome: [uid] .")
    rank = number * 7_919 % NODES
    nodes = pl.DataFrame({"id": ids, "serial": number, "bucket": number % 10, "rank": rank})
    db.load_nodes(nodes, "Item", id="id", uid=True, progress=False)
    for source, predicate, step in ((ITEMS_HUB, "link", 1), (ITEMS_THIRDS, "some", 3)):
        targets = ids[step - 1 :: step]
        edges = pl.DataFrame({"from": np.full(len(targets), source), "to": targets})
        load_edges(db, edges, predicate, ("from", "to"))
    db.mutate(set=f'<{ITEMS_HUB}> <dgraph.type> "Item" .')


def load_staff(db, _):
    """Load columns without an index, `age` missing for a tenth, and a node with 300,000 edges."""
    import numpy as np
    import polars as pl

    ids = np.arange(1, NODES + 1)
    random = mixed_all(ids)
    age = pl.Series((random // 7 % 80 + 1).astype(np.int64))
    city = (random // 11 % 200).astype(str)
    columns = {
        "id": ids,
        "pay": (random % 1_000_000).astype(np.float64) / 8,
        "age": pl.select(pl.when(pl.Series(random // 13 % 10 != 0)).then(age)).to_series(),
        "city": np.char.add("c", city),
        "team": (random // 17 % 100_000).astype(np.int64),
    }
    db.alter(STAFF)
    db.load_nodes(pl.DataFrame(columns), id="id", uid=True, progress=False)
    targets = ids[:300_000] + NEW
    ends = {"id": targets, "s": targets}
    db.load_nodes(pl.DataFrame(ends), id="id", uid=True, progress=False)
    tenth = targets[7::10]
    db.load_nodes(pl.DataFrame({"id": tenth, "t": tenth}), id="id", uid=True, progress=False)
    edges = pl.DataFrame({"from": np.full(len(targets), HUB), "to": targets})
    load_edges(db, edges, "e", ("from", "to"))


def load_films(db, _):
    shared = films()
    db.load(shared / "film.rdf.gz", schema=shared / "film.schema", progress=False)


def films():
    """Return the folder of the film data, or `None`."""
    shared = os.environ.get("HEXGRAPH_SHARED") or Path(__file__).parents[3] / "shared"
    folder = Path(shared) / "data"
    return folder if (folder / "film.rdf.gz").exists() else None


def film_queries():
    """Return the queries that lie beside the film data, as questions."""
    lines = (films().parent / "bench" / "film_queries.jsonl").read_text().splitlines()
    queries = [json.loads(line) for line in lines if line.strip()]
    return [{"name": it["id"], "dql": it["query"]} for it in queries]


def load_scores(db, _):
    db.alter(SCORES)


GRAPHS = {
    "people": load_people,
    "wide": load_wide,
    "items": load_items,
    "staff": load_staff,
    "films": load_films,
    "scores": load_scores,
}

# The statements of the commits behind which graphs other than `people` are queried.
TOUCHES = {
    "items": [
        (
            f"<{ITEMS_HUB}> <link> <{ITEMS_HUB}> .\n<{ITEMS_THIRDS}> <some> <500018> .\n"
            '<500016> <bucket> "3" .\n<500016> <rank> "12345678" .',
            f"<{ITEMS_THIRDS}> <some> <{ITEMS_HUB + 3}> .",
        )
    ],
    "staff": [
        (f'<7> <pay> "3.5" .\n<7> <age> "30" .\n<{HUB}> <e> <7> .', "<9> <age> * ."),
        (f'<11> <city> "c7" .\n<{NEW + 3}> <t> "7" .', f"<{HUB}> <e> <{NEW + 1}> ."),
    ],
}


def commit_to(db, graph, numbers):
    """Do commits to a graph, by their numbers."""
    for number in numbers:
        given, deleted = commit(number) if graph == "people" else TOUCHES[graph][number]
        db.mutate(set=given, delete=deleted or None)


def copied(saved, work):
    """Copy the directory of a database."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(saved, work)
    return work
