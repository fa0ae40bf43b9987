"""The graphs that come with the package, and those that are generated."""

import json
import subprocess
import sys

import pytest

import hexgraph
from hexgraph import datasets
from hexgraph.datasets import real


@pytest.mark.parametrize("name", datasets.names())
def test_a_graph_is_what_its_list_says(name):
    report = datasets.info(name)
    assert report["sha256"] == real._content_hash(name)
    assert report["about"]
    assert report["licence"]
    db = getattr(datasets, name)()
    if name != "films":
        assert len(report["terms"]) > 500
        assert db.stats()["nodes"] == report["nodes"]
        assert sum(row[3] for row in db.describe().edges.rows()) == report["edges"]
    # Every node has a type, so that pictures and descriptions have all of them.
    assert sum(row[1] for row in db.describe().types.rows()) == db.stats()["nodes"]
    db.mutate(set='_:a <note> "it may be changed" .')


def test_graphs_of_two_datasets_in_one_database():
    """Nodes are new ones, or those that have the unique value; definitions that are there stay."""
    db = hexgraph.connect()
    db.alter("nick: string @index(exact) .")
    db.mutate(set='_:a <nick> "Ada" .')
    for name in datasets.names():
        assert getattr(datasets, name)(db) is db
    counts = {row[0]: row[1] for row in db.describe().types.rows()}
    assert (counts["Airport"], counts["Word"], counts["Film"]) == (1784, 2263, 177)
    # Countries of airports and of languages are the same ones, by their code; films have their own.
    codes = {row[0] for row in db.query("{ q(func: has(code)) { code } }").rows()}
    assert counts["Country"] == len(codes) + 32
    names = [db.query(f"{{ q(func: eq({key})) {{ {seen} }} }}").rows() for key, seen in SEEN]
    assert names == [[("Zurich Airport",)], [("Schweiz",)], [(["Person"],)], [("Ada",)]]
    assert "type Country {\n\tcode\n\tname\n\tspeaks\n}" in db.schema().replace("\r", "")


SEEN = [
    ('iata, "ZRH"', "name"),
    ('code, "CH"', "name@de"),
    ('name, "Akira Kurosawa"', "t: dgraph.type"),
    ('nick, "Ada"', "nick"),
]


def test_a_name_that_there_is_not():
    for run in (datasets.info, datasets.path):
        with pytest.raises(hexgraph.QueryError, match="airports, films, languages, words"):
            run("airprts")


def test_the_cache(tmp_path, monkeypatch):
    """A directory is built once, and several processes that are first agree on it."""
    monkeypatch.setenv("HEXGRAPH_CACHE", str(tmp_path / "cache"))
    code = "from hexgraph import datasets; print(datasets.path('languages'))"
    command = [sys.executable, "-c", code]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    result = {process.communicate()[0].strip() for process in started}
    assert [process.returncode for process in started] == [0, 0, 0]
    path = datasets.path("languages")
    assert result == {str(path)}
    assert list((tmp_path / "cache").iterdir()) == [path]
    assert hexgraph.__version__ in path.name
    before = path.stat().st_mtime_ns
    assert datasets.path("languages").stat().st_mtime_ns == before
    with hexgraph.connect(path, read_only=True) as db:
        assert db.stats()["nodes"] == datasets.info("languages")["nodes"]
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEXGRAPH_CACHE", str(tmp_path / "file"))
    with pytest.raises(OSError, match="file"):
        datasets.path("languages")


def test_the_near_are_near():
    """The distances that are stored are those of the coordinates."""
    db = datasets.airports()
    dql = "{ q(func: type(Airport)) { iata place near @facets { iata } } }"
    airports = db.query(dql)["q"]
    positions = {airport["iata"]: airport["place"]["coordinates"] for airport in airports}
    assert all(len(airport["near"]) == 5 for airport in airports)
    for airport in airports[:50]:
        for other in airport["near"]:
            result = real_km(positions[airport["iata"]], positions[other["iata"]])
            assert abs(result - other["near|km"]) <= 2


def real_km(one, two):
    from math import acos, cos, radians, sin

    (a, b), (c, d) = (map(radians, reversed(position)) for position in (one, two))
    return 6371.0088 * acos(min(1.0, sin(a) * sin(c) + cos(a) * cos(c) * cos(b - d)))


GENERATED = {
    "social": (lambda **it: datasets.social(500, follows=4, **it), "follows", 500),
    "kronecker": (lambda **it: datasets.kronecker(8, edges=4, **it), "links", None),
    "grid": (lambda **it: datasets.grid(20, 15, **it), "road", 300),
    "temporal": (lambda **it: datasets.temporal(200, 2000, **it), "called", 200),
}


def edges_of(db, predicate):
    dql = f"{{ q(func: has({predicate})) {{ uid {predicate} @facets {{ uid }} }} }}"
    return json.loads(db.query(dql).json())["q"]


@pytest.mark.parametrize("kind", GENERATED)
def test_a_seed_decides(kind):
    sample, predicate, nodes = GENERATED[kind]
    one, same, other = sample(seed=1), sample(seed=1), sample(seed=2)
    assert edges_of(one, predicate) == edges_of(same, predicate) != edges_of(other, predicate)
    if nodes is not None:
        assert one.stats()["nodes"] == nodes
    for row in edges_of(one, predicate) if kind != "kronecker" else ():
        assert row["uid"] not in [target["uid"] for target in row[predicate]]


def test_a_graph_in_addition_to_another():
    db = datasets.social(100, seed=1)
    datasets.grid(5, 4, db=db)
    datasets.temporal(30, 100, db=db)
    counts = {row[0]: row[1] for row in db.describe().types.rows()}
    assert counts == {"Person": 130, "Crossing": 20}


def test_roads_are_as_long_in_both_directions():
    db = datasets.grid(4, 3, seed=5)
    roads = {}
    for row in edges_of(db, "road"):
        for target in row["road"]:
            roads[row["uid"], target["uid"]] = target["road|metres"]
    assert len(roads) == 2 * (3 * 3 + 4 * 2)
    assert all(roads[to, fro] == metres for (fro, to), metres in roads.items())
    assert all(50 <= metres < 150 for metres in roads.values())


def test_a_single_node():
    assert datasets.social(1).stats()["nodes"] == 1
    assert datasets.grid(1, 1).stats()["nodes"] == 1
    assert datasets.kronecker(0).stats()["nodes"] <= 1
    assert datasets.temporal(2, 0).stats()["nodes"] == 2


WRONG = [
    (lambda: datasets.social(0), "people is 0, and at least 1"),
    (lambda: datasets.temporal(1, 5), "people is 1, and at least 2"),
    (lambda: datasets.grid(0, 5), "width is 0, and at least 1"),
    (lambda: datasets.grid(1 << 20, 1 << 20), "nodes are too many"),
    (lambda: datasets.kronecker(40), "scale is 40, and at most 31"),
    (lambda: datasets.social(1 << 30, follows=1 << 40), "too many edges"),
]


@pytest.mark.parametrize(("generate", "message"), WRONG)
def test_what_can_not_be_generated(generate, message):
    with pytest.raises(hexgraph.QueryError, match=message):
        generate()


def test_what_is_no_number():
    for wrong in (-1, 1 << 65, "ten"):
        with pytest.raises((OverflowError, TypeError)):
            datasets.social(wrong)
