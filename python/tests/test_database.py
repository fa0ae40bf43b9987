import json
import pathlib
import time
from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hexgraph

pytestmark = pytest.mark.shared

NAMES = "{ q(func: has(name)) { uid name } }"


def names(db):
    return [row["name"] for row in db.query(NAMES).to_dict()["q"]]


def test_query(people):
    result = people.query('{ q(func: eq(name, "Ada")) { uid name born friend { name } } }')
    ada = {
        "uid": "0x1",
        "name": "Ada",
        "born": 1815,
        "friend": [{"name": "Bob"}, {"name": "Eve <b>"}],
    }
    assert result.to_dict() == {"q": [ada]}
    assert json.loads(result.json()) == result.to_dict()
    assert result["q"] == [ada]
    assert len(result) == 1
    assert set(result.latency) == {"parsing", "processing"}


def test_dict_equals_json_for_every_type(people):
    dql = "{ q(func: uid(0x1)) { expand(_all_) name@ja born height alive since alias } }"
    result = people.query(dql)
    assert json.loads(result.json()) == result.to_dict()
    row = result["q"][0]
    assert row["height"] == 1.65
    assert row["alive"] is False
    assert row["since"] == "1833-06-05T12:00:00Z"
    assert row["alias"] == ["Augusta", "Countess"]


def test_length_counts_the_objects_of_the_block(people):
    assert len(people.query("{ p(func: has(name)) { name } }")) == 3
    assert people.query("{ p(func: has(name)) { name } q(func: has(born)) { born } }")
    assert not people.query('{ q(func: eq(name, "Nobody")) { name } }')


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("string", "Ada", True),
        ("int", 1815, True),
        ("int", 1816, False),
    ],
)
def test_variables(people, declared, value, expected):
    field = "name" if declared == "string" else "born"
    dql = f"query q($v: {declared}) {{ q(func: eq({field}, $v)) {{ uid }} }}"
    assert bool(people.query(dql, {"$v": value})) is expected
    assert bool(people.query(dql, {"v": value})) is expected


def test_variables_of_other_types(people):
    dql = "query q($t: string) { q(func: ge(since, $t)) { uid } }"
    assert len(people.query(dql, {"t": date(1833, 1, 1)})) == 1
    assert len(people.query(dql, {"t": datetime(1834, 1, 1, tzinfo=UTC)})) == 0
    dql = "query q($ids: string) { q(func: uid($ids)) { name } }"
    assert len(people.query(dql, {"ids": ["0x1", 2]})) == 2
    with pytest.raises(TypeError, match=r"\$v.*dict"):
        people.query("query q($v: string) { q(func: eq(name, $v)) { uid } }", {"v": {}})


@pytest.mark.parametrize(
    ("declared", "field", "values", "expected"),
    [
        ("string", "name", ["Ada", "Bob", "Nobody"], 2),
        ("string", "name", ("Ada",), 1),
        ("string", "name", {"Ada"}, 1),
        ("string", "name", [], 0),
        ("int", "born", [1815, 1900], 2),
        ("int", "born", range(1800, 1850), 1),
        ("int", "born", np.array([1815, 1900, 7]), 2),
        ("int", "born", np.array([1815], dtype=np.uint16), 1),
        ("int", "born", np.int64(1815), 1),
        ("string", "name", np.array(["Ada", "Bob"]), 2),
        ("string", "name", pd.Series(["Ada"]), 1),
        ("string", "name", pl.Series(["Ada", "Bob"]), 2),
        ("string", "since", [datetime(1833, 6, 5, 12, tzinfo=UTC)], 1),
        ("string", "since", np.array(["1833-06-05T12:00:00"], dtype="datetime64[ns]"), 1),
    ],
)
def test_lists_as_variables(people, declared, field, values, expected):
    """What a list in the text of the query does, a list as the value of a variable does."""
    dql = f"query q($v: {declared}) {{ q(func: eq({field}, $v)) {{ uid }} }}"
    assert len(people.query(dql, {"v": values})) == expected
    dql = f"query q($v: {declared}) {{ q(func: has(name)) @filter(eq({field}, $v)) {{ uid }} }}"
    assert len(people.query(dql, {"v": values})) == expected


def test_lists_of_nodes_and_coordinates(people):
    dql = "query q($ids: string) { q(func: uid($ids)) { name } }"
    assert len(people.query(dql, {"ids": np.array([1, 2])})) == 2
    dql = "query q($ids: string) { q(func: has(friend)) @filter(uid_in(friend, $ids)) { name } }"
    assert len(people.query(dql, {"ids": [2, "0x3"]})) == 2
    people.alter('loc: geo @index(geo) .\nv: float32vector @index(hnsw(metric: "euclidean")) .')
    people.mutate(
        set_json=[
            {"uid": "1", "loc": {"type": "Point", "coordinates": [8.5, 47.4]}, "v": "[1, 0]"},
            {"uid": "2", "loc": {"type": "Point", "coordinates": [9.5, 47.4]}, "v": "[0, 1]"},
        ]
    )
    dql = "query q($p: string) { q(func: near(loc, $p, 1000)) { uid } }"
    assert len(people.query(dql, {"p": (8.5, 47.4)})) == 1
    dql = "query q($p: string) { q(func: within(loc, $p)) { uid } }"
    box = [[[8, 47], [9, 47], [9, 48], [8, 48], [8, 47]]]
    assert len(people.query(dql, {"p": box})) == 1
    dql = "query q($v: float32vector) { q(func: similar_to(v, 1, $v)) { uid } }"
    assert people.query(dql, {"v": np.array([0.9, 0.1])})["q"] == [{"uid": "0x1"}]


@pytest.mark.parametrize(
    ("dql", "value", "error", "message"),
    [
        ("query q($v: int) { q(func: eq(born, $v)) { uid } }", ["x"], hexgraph.ParseError, "`x`"),
        (
            "query q($v: string) { q(func: le(name, $v)) { uid } }",
            ["a", "b"],
            hexgraph.ParseError,
            "takes one value",
        ),
        (
            "query q($v: string) { q(func: type($v)) { uid } }",
            ["a"],
            hexgraph.ParseError,
            r"\$v is a list",
        ),
        (
            "query q($v: string) { q(func: eq(name, $v)) { uid } }",
            [{"a": 1}],
            TypeError,
            r"\$v.*dict",
        ),
        (
            "query q($v: string) { q(func: eq(since, $v)) { uid } }",
            [np.datetime64("NaT")],
            ValueError,
            r"\$v.*NaT.*is no value",
        ),
    ],
)
def test_lists_where_they_do_not_belong(people, dql, value, error, message):
    with pytest.raises(error, match=message):
        people.query(dql, {"v": value})


def test_debug_adds_uids(people):
    rows = people.query("{ q(func: has(born)) { born } }", debug=True).to_dict()["q"]
    assert [row["uid"] for row in rows] == ["0x1", "0x2"]


def test_mutate(people):
    uids = people.mutate(set='_:dan <name> "Dan" .\n_:dan <friend> <0x1> .')
    assert list(uids) == ["dan"]
    assert int(uids["dan"], 16) > 3
    assert names(people)[-1] == "Dan"
    people.mutate(delete=f"<{uids['dan']}> <name> * .")
    assert len(names(people)) == 3


def test_drop(people):
    people.drop("predicate", "born")
    assert "born" not in people.query("{ q(func: uid(0x1)) { name born } }")["q"][0]
    people.drop("data")
    assert names(people) == []
    assert "name: string" in people.schema()
    people.drop("all")
    assert "name: string" not in people.schema()
    with pytest.raises(ValueError, match="drop"):
        people.drop("everything")


def test_schema_text_makes_the_same_schema(people):
    with hexgraph.connect() as other:
        other.alter(people.schema())
        assert other.schema() == people.schema()


@pytest.mark.embedded("a cluster tells no such numbers")
def test_stats(people):
    stats = people.stats()
    assert stats["nodes"] == 3
    assert stats["predicates"]["name"]["nodes"] == 3
    assert stats["predicates"]["friend"]["values"] == 3


def test_pages(people):
    people.mutate(set="".join(f'<{uid}> <name> "N{uid}" .\n' for uid in range(10, 30)))
    pages = [page.to_dict()["q"] for page in people.pages(NAMES, size=10)]
    assert [len(page) for page in pages] == [10, 10, 3]
    assert [row for page in pages for row in page] == people.query(NAMES).to_dict()["q"]
    filtered = "{ q(func: has(name)) @filter(has(born)) { name } }"
    assert [len(page) for page in people.pages(filtered, size=1)] == [1, 1]
    cascade = "{ q(func: has(name)) @cascade { name born } }"
    assert [len(page) for page in people.pages(cascade, size=1)] == [1, 1]


def test_pages_show_one_moment(people):
    pages = people.pages(NAMES, size=2)
    first = next(pages)
    people.mutate(set='<0x9> <name> "Late" .')
    assert [len(first), *map(len, pages)] == [2, 1]


@pytest.mark.parametrize(
    "dql",
    [
        "{ q(func: has(name), first: 1) { name } }",
        "{ q(func: has(name), orderasc: name) { name } }",
        "{ p(func: has(name)) { name } q(func: has(name)) { name } }",
        "{ var(func: has(name)) { name } }",
    ],
)
def test_what_can_not_be_paged(people, dql):
    with pytest.raises(hexgraph.QueryError, match="pages"):
        people.pages(dql)


@pytest.mark.embedded("a cluster keeps its own files")
def test_save_and_open(people, tmp_path):
    path = tmp_path / "people"
    people.save(path)
    with hexgraph.connect(path) as saved:
        assert saved.query(NAMES).to_dict() == people.query(NAMES).to_dict()
        assert saved.schema() == people.schema()
        assert repr(saved) == f"<hexgraph.Database {path}>"


def test_a_directory_stores_what_was_done(tmp_path):
    path = tmp_path / "new"
    with hexgraph.connect(path) as db:
        db.alter("name: string .")
        db.mutate(set='<0x1> <name> "Ada" .')
    with hexgraph.connect(path) as db:
        assert names(db) == ["Ada"]
        db.mutate(set='<0x2> <name> "Bob" .')
    with hexgraph.connect(path, read_only=True) as db:
        assert names(db) == ["Ada", "Bob"]


def test_one_writer_and_many_readers(tmp_path):
    path = tmp_path / "shared"
    with hexgraph.connect(path) as writer:
        writer.load(b'<0x1> <name> "Ada" .', progress=False)
        with (
            hexgraph.connect(path, read_only=True) as one,
            hexgraph.connect(path, read_only=True) as two,
        ):
            assert names(one) == names(two) == ["Ada"]
            with pytest.raises(hexgraph.ReadOnlyError, match="read-only"):
                one.mutate(set='<0x1> <name> "Eve" .')
    hexgraph.connect(path).close()


def test_what_is_no_database(tmp_path):
    with pytest.raises(hexgraph.StorageError, match="no database"):
        hexgraph.connect(tmp_path / "missing", read_only=True)
    (tmp_path / "photo").write_text("")
    with pytest.raises(hexgraph.StorageError, match="no database"):
        hexgraph.connect(tmp_path)
    with pytest.raises(ValueError, match="read_only"):
        hexgraph.connect(read_only=True)


def test_an_address_is_no_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"http://localhost:8080 is no directory: .*dgraph://"):
        hexgraph.connect("http://localhost:8080")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.embedded("a cluster keeps its own files")
def test_a_damaged_snapshot_is_named(people, tmp_path):
    path = tmp_path / "people"
    people.save(path)
    (snapshot,) = path.glob("snapshot-*.hxs")
    snapshot.write_bytes(snapshot.read_bytes()[:100])
    with pytest.raises(hexgraph.CorruptError, match=r"snapshot-1\.hxs"):
        hexgraph.connect(path)


def test_a_closed_database_says_so(people):
    people.close()
    people.close()
    with pytest.raises(hexgraph.ClosedError, match="closed"):
        people.query(NAMES)


def test_repr_and_html(people):
    result = people.query("{ q(func: has(name)) { name friend { name } } }")
    assert repr(result).startswith("<hexgraph.Result q: 3>")
    html = result._repr_html_()
    assert "Eve &lt;b&gt;" in html
    assert html.count("<table>") == 3
    assert repr(hexgraph.connect()) == "<hexgraph.Database :memory:>"


def test_plain_variables_are_read_without_attributes():
    """A short query pays for each attribute that is looked for and missing."""
    requested = []

    class Watched(str):
        __slots__ = ()

        def __getattribute__(self, name):
            requested.append(name)
            return super().__getattribute__(name)

    db = hexgraph.connect()
    db.alter("name: string @index(exact) .")
    db.mutate(set='<1> <name> "Ada" .')
    query = "query q($n: string) { q(func: eq(name, $n)) { name } }"
    assert db.query(query, {"n": Watched("Ada")}).to_dict() == {"q": [{"name": "Ada"}]}
    assert requested == []


def test_a_leading_tilde_is_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.schema").write_text("name: string @index(exact) .")
    (tmp_path / "a.rdf").write_text('<1> <name> "Ada" .')
    (tmp_path / "people.csv").write_text("id,name\n1,Bob\n")
    (tmp_path / "knows.csv").write_text("from,to\n1,2\n")
    with hexgraph.connect("~/t.db") as db:
        assert db.path == tmp_path / "t.db"
        db.alter("~/s.schema")
        assert db.load("~/a.rdf", "~/s.schema").triples == 1
        assert db.load(source=[("~/a.rdf",)], schema=pathlib.Path("~/s.schema")).triples == 1
        assert db.load_nodes("~/people.csv", "Person", schema="~/s.schema").nodes == 1
        assert db.load_nodes(["~/people.csv"], "Person").nodes == 1
        assert db.load_edges("~/knows.csv", "knows", "from", "to", on="id").triples > 0
        assert db.export("~/out.rdf") > 0
        db.save("~/saved")
        db.backup(path="~/backup")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == [
        *("backup", "saved", "t.db"),
    ]
    assert (tmp_path / "out.rdf").exists()
    hexgraph.connect(pathlib.Path("~") / "saved", read_only=True).close()
    own = []
    own += [own, own, own]
    with pytest.raises(ValueError, match="holds itself"), hexgraph.connect() as db:
        db.load(own)


def test_thousands_of_blocks_run_in_linear_time():
    db = hexgraph.connect(threads=2)
    blocks = " ".join(f"b{uid}(func: uid({uid})) {{ count(uid) }}" for uid in range(1, 32_001))
    started = time.monotonic()
    db.query(f"{{ {blocks} }}")
    # A tenth of a second; where each block looked at all that wait it was seven.
    assert time.monotonic() - started < 2
