"""Tables: data frames of several libraries, Parquet and CSV files, and exports."""

import datetime
import gzip
import subprocess
import sys

import pytest

import hexgraph

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

PEOPLE = {
    "id": [7, 8, 9],
    "name": ["Ada", "Bob", None],
    "age": [36, None, 41],
    "height": [1.65, 1.8, float("nan")],
    "born": [datetime.datetime(1815, 12, 10, 1, 2, 3), None, None],
}
KNOWS = {"source": [7, 7, 9, 8], "target": [8, 9, 7, None], "since": [1840, None, 1851, 1]}
SCHEMA = "knows: [uid] @reverse .\nname: string @index(exact) ."
QUERY = "{ q(func: type(Person), orderasc: id) { id name age height born } }"
ROWS = [
    {"id": 7, "name": "Ada", "age": 36, "height": 1.65, "born": "1815-12-10T01:02:03Z"},
    {"id": 8, "name": "Bob", "height": 1.8},
    {"id": 9, "age": 41},
]
FRIENDS = "{ q(func: eq(id, 7)) { knows @facets { id } ~knows { id } } }"
RESULT = [{"knows": [{"id": 8, "knows|since": 1840}, {"id": 9}], "~knows": [{"id": 9}]}]


def plain(rows):
    return [
        {
            k: v.strftime("%Y-%m-%dT%H:%M:%SZ") if hasattr(v, "strftime") else v
            for k, v in row.items()
        }
        for row in rows
    ]


def people_of(kind, folder):
    table = pa.table(PEOPLE)
    return converted(table, kind, folder / "people")


def converted(table, kind, path):  # noqa: PLR0911
    match kind:
        case "pyarrow":
            return table
        case "reader":
            return table.to_reader(max_chunksize=2)
        case "polars":
            return pytest.importorskip("polars").from_arrow(table)
        case "pandas":
            pytest.importorskip("pandas")
            return table.to_pandas()
        case "duckdb":
            return pytest.importorskip("duckdb").from_arrow(table)
        case "parquet":
            pq.write_table(table, f"{path}.parquet", row_group_size=2)
            return f"{path}.parquet"
        case "csv.gz":
            from pyarrow import csv

            csv.write_csv(table, f"{path}.csv")
            packed = path.with_suffix(".csv.gz")
            packed.write_bytes(gzip.compress(path.with_suffix(".csv").read_bytes()))
            return packed
    raise AssertionError(kind)


KINDS = ["pyarrow", "reader", "polars", "pandas", "duckdb", "parquet", "csv.gz"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table(kind, tmp_path):
    db = hexgraph.connect()
    table = people_of(kind, tmp_path)
    report = db.load_nodes(table, type="Person", schema=SCHEMA, progress=False)
    assert (report.nodes, report.skipped) == (3, 0)
    assert plain(db.query(QUERY)["q"]) == ROWS
    table = converted(pa.table(KNOWS), kind, tmp_path / "knows")
    report = db.load_edges(table, "knows", facets=["since"])
    assert (report.nodes, report.triples) == (3, 3)
    assert db.query(FRIENDS)["q"] == RESULT
    assert "type Person" in db.schema()


def test_ids_are_texts_and_uids():
    db = hexgraph.connect()
    table = pa.table({"key": pa.array(["a", "b", "a"]).dictionary_encode(), "n": [1, 2, 3]})
    assert db.load_nodes(table, id="key", xid="code").nodes == 2
    assert db.query('{ q(func: eq(code, "a")) { n } }')["q"] == [{"n": 3}]
    table = pa.table({"source": [1, 2], "target": ["0x5", "0x6"]})
    db.load_edges(table, predicate="to", uid=True)
    assert db.query("{ q(func: has(to)) { uid to { uid } } }")["q"] == [
        {"uid": "0x1", "to": [{"uid": "0x5"}]},
        {"uid": "0x2", "to": [{"uid": "0x6"}]},
    ]
    assert db.load_nodes(pa.table({"m": [1, 1]}), id=None).nodes == 2


def test_two_spaces_of_ids():
    db = hexgraph.connect()
    db.load_nodes(pa.table({"id": [1], "name": ["Ada"]}), xid="person")
    db.load_nodes(pa.table({"id": [1], "name": ["Rome"]}), xid="city")
    table = pa.table({"who": [1], "where": [1]})
    db.load_edges(table, "lives", source="who", target="where", xid=("person", "city"))
    result = db.query("{ q(func: eq(person, 1)) { name lives { name } } }")["q"]
    assert result == [{"name": "Ada", "lives": [{"name": "Rome"}]}]


def test_lists_and_vectors():
    db = hexgraph.connect()
    vectors = pa.array([[1.0, 2.0], [0.0, 1.5]], pa.list_(pa.float32(), 2))
    table = pa.table({"id": ["a", "b"], "tags": [["x", "y"], []], "embedding": vectors})
    db.load_nodes(table)
    assert "tags: [string] ." in db.schema()
    assert "embedding: float32vector ." in db.schema()
    assert sorted(db.query('{ q(func: eq(id, "a")) { tags } }')["q"][0]["tags"]) == ["x", "y"]


def test_columns_are_renamed_and_left_out():
    db = hexgraph.connect()
    table = pa.table({"id": [1], "first name": ["Ada"], "junk": [pa.scalar(b"x")]})
    with pytest.raises(hexgraph.SchemaError, match="junk"):
        db.load_nodes(table)
    db.load_nodes(table, columns={"first name": "name", "junk": None})
    assert db.query("{ q(func: has(name)) { name } }")["q"] == [{"name": "Ada"}]


def test_what_does_not_fit_is_named(tmp_path):
    db = hexgraph.connect()
    db.alter("age: int .")
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [1, 2], "age": ["36", "old"]}), path)
    with pytest.raises(hexgraph.LoadError, match='row 2, column "age": "old"') as caught:
        db.load_nodes(path)
    assert (caught.value.line, caught.value.file) == (2, str(path))
    assert db.stats()["nodes"] == 0
    report = db.load_nodes(path, on_error="skip")
    assert report.skipped == 1
    with pytest.raises(hexgraph.QueryError, match='no column "source"'):
        db.load_edges(path, "knows")
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        db.load_nodes(42)
    with pytest.raises(ValueError, match="no type"):
        db.load_nodes(path, types={"age": "number"})
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(hexgraph.QueryError, match=r"bad\.parquet"):
        db.load_nodes(tmp_path / "bad.parquet")


def test_json_lines_and_packed_triples(tmp_path):
    db = hexgraph.connect()
    path = tmp_path / "a.jsonl"
    path.write_text('{"name": "Ada", "knows": [{"name": "Bob"}]}\n{"uid": "0x5", "name": "Eve"}\n')
    assert db.load(path).triples == 4
    assert db.query("{ q(func: uid(5)) { name } }")["q"] == [{"name": "Eve"}]


@pytest.mark.parametrize("end", [".rdf", ".rdf.gz", ".rdf.zst", ".jsonl", ".jsonl.gz"])
def test_exports_load_back(end, tmp_path, people):
    db = people
    path = tmp_path / f"all{end}"
    count = db.export(path)
    copy = hexgraph.connect()
    assert copy.load(path, tmp_path / "all.schema").triples == count
    assert copy.schema() == db.schema()
    copy.export(tmp_path / "again.rdf")
    db.export(tmp_path / "plain.rdf")
    assert (tmp_path / "again.rdf").read_text() == (tmp_path / "plain.rdf").read_text()
    with pytest.raises(hexgraph.QueryError, match="an export is"):
        db.export(tmp_path / "all.txt")


def test_command_line(tmp_path):
    people, knows = people_of("parquet", tmp_path), tmp_path / "knows.csv"
    knows.write_text("a,b,year\n7,8,1840\n")

    def run(*arguments):
        command = [sys.executable, "-m", "hexgraph", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    db = tmp_path / "db"
    run("load", db, people, "--type", "Person", "--column", "height=", "--column", "born=birth")
    run("load", db, knows, "--edges", "knows", "--source", "a", "--target", "b", "--facet", "year")
    dql = "{ q(func: eq(id, 7)) { height birth knows @facets { name } } }"
    assert '"knows":[{"name":"Bob","knows|year":1840}]' in run("query", db, dql)
    assert "triples" in run("export", db, tmp_path / "all.rdf")
    assert "<knows> <0x10002> (year=1840)" in (tmp_path / "all.rdf").read_text()


def test_a_folder_of_parquet_files_and_back(tmp_path):
    db = hexgraph.connect()
    db.load_nodes(pa.table(PEOPLE), type="Person", schema=SCHEMA)
    db.load_edges(pa.table(KNOWS), "knows", facets=["since"])
    count = db.export(tmp_path / "graph.parquet")
    files = sorted(it.name for it in (tmp_path / "graph.parquet").iterdir())
    assert files == ["edges.knows.parquet", "graph.schema", "nodes.Person.parquet"]
    copy = hexgraph.connect()
    assert copy.load(tmp_path / "graph.parquet", memory="64MiB").triples == count
    assert plain(copy.query(QUERY)["q"]) == ROWS
    assert copy.query(FRIENDS)["q"] == RESULT
    # Each file is a table like any other.
    people = pq.read_table(tmp_path / "graph.parquet/nodes.Person.parquet")
    assert {"uid", "name", "age", "dgraph.type"} <= set(people.column_names)
    third = hexgraph.connect()
    third.alter(db.schema())
    third.load_nodes(tmp_path / "graph.parquet/nodes.Person.parquet", id="uid", uid=True)
    edges = tmp_path / "graph.parquet/edges.knows.parquet"
    third.load_edges(edges, "knows", uid=True, facets=["since"])
    assert third.query(FRIENDS)["q"] == RESULT


def test_several_tables_at_once(tmp_path):
    for number in range(3):
        table = pa.table({"id": [number, number + 1], "age": [number, number + 1]})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    db = hexgraph.connect()
    assert db.load_nodes(f"{tmp_path}/*.parquet").nodes == 4
    assert db.load_nodes([tmp_path, pa.table({"id": [9]})]).nodes == 5
    with pytest.raises(hexgraph.QueryError, match="did you mean `age`"):
        db.load_nodes(tmp_path, columns={"agee": "x"})


def test_cells_are_named_by_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,note,age\n1,"a\nb",2\n2,c,old\n')
    db = hexgraph.connect()
    want = r'a\.csv:4:3: row 2, column "age": "old": .*such as 42'
    with pytest.raises(hexgraph.LoadError, match=want):
        db.load_nodes(path, types={"age": "int"})
