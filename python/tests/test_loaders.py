"""Exports for Dgraph's loaders: their format, and that they come back as what they were."""

import gzip
import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import loader_format
import pytest

import hexgraph
from hexgraph.cluster import importing

SCHEMA = """
name: string @index(exact, term) @lang .
born: int @index(int) .
height: float .
alive: bool .
since: datetime @index(year) .
price: bigfloat .
place: geo @index(geo) .
secret: password .
v: float32vector @index(hnsw(metric: "euclidean", exponent: "4")) .
alias: [string] @count .
boss: uid @reverse .
friend: [uid] @reverse @count .
email: string @index(hash) @upsert @unique .
plain: default .
<http://example.org/is-a>: string .
type Person {
  name
  born
  friend
  <~boss>
  <http://example.org/is-a>
}
type Empty {
}
"""

SDL = 'type Film { id: ID! title: String! @search(by: [hash]) "quoted" year: Int }\n# é\n'

STATEMENTS = r"""
<0x1> <dgraph.type> "Person" .
<0x1> <name> "Ada \"the\" \\ first\n\tline\u0001 é" (since=1815-12-10T00:00:00Z, f=1.5) .
<0x1> <name> "エイダ"@ja (source="a, b) (c", old=true) .
<0x1> <born> "-9223372036854775808" .
<0x1> <height> "1e300" .
<0x1> <alive> "false" .
<0x1> <since> "1833-06-05T12:00:00.123456789+02:00" .
<0x1> <price> "123456789.125" .
<0x1> <place> "{'type':'Polygon','coordinates':[[[0,0],[2,0],[2,2],[0,0]]]}"^^<geo:geojson> .
<0x1> <secret> "countess" .
<0x1> <v> "[0.1, 2.5, -3]" .
<0x1> <alias> "b" (nth=2) .
<0x1> <alias> "a" .
<0x1> <friend> <0x2> (close=true, w=0.5, n=7, text="x") .
<0x1> <friend> <0xffffffffffffff> .
<0x2> <boss> <0x1> (s=1) .
<0x2> <email> "bob@example.org" .
<0x2> <plain> "5"^^<xs:int> .
<0x3> <plain> "word" .
<0x3> <http://example.org/is-a> "example" .
"""


def make(db: hexgraph.Database) -> None:
    db.alter(SCHEMA)
    db.mutate(set=STATEMENTS)
    db.graphql_schema(SDL)
    added = db.graphql('mutation { addFilm(input: [{title: "M", year: 1931}]) { numUids } }')
    assert "errors" not in added


@pytest.fixture
def full() -> hexgraph.Database:
    db = hexgraph.connect()
    make(db)
    return db


def facts(db: hexgraph.Database, folder: Path) -> list[str]:
    """Return all statements."""
    path = folder / "facts.rdf"
    db.export(path)
    return path.read_text().splitlines()


def test_an_export_has_the_documented_format(full, tmp_path):
    count = full.export(tmp_path / "out", format="dgraph")
    assert loader_format.check(tmp_path / "out") == count == len(facts(full, tmp_path))
    (entry,) = json.loads(loader_format.unpacked(tmp_path / "out" / "g01.gql_schema.gz"))
    assert entry == {"namespace": 0, "schema": SDL}
    with pytest.raises(hexgraph.StorageError, match="exists already"):
        full.export(tmp_path / "out", format="dgraph")
    with pytest.raises(ValueError, match='format is "dgraph"'):
        full.export(tmp_path / "other", format="rdf")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["facts.graphql", "facts.rdf", "facts.schema", "out"]


@pytest.mark.parametrize("end", [".rdf.gz", ".jsonl", ".parquet"])
def test_the_graphql_schema_is_in_all_exports(end, tmp_path, db):
    db.graphql_schema(SDL)
    added = db.graphql('mutation { addFilm(input: [{title: "M", year: 1931}]) { numUids } }')
    assert "errors" not in added
    path = tmp_path / f"all{end}"
    db.export(path)
    copy = hexgraph.connect()
    if end == ".parquet":
        copy.load(path)
    else:
        with pytest.raises(hexgraph.SchemaError):
            copy.load(path, tmp_path / "all.schema", graphql_schema="type Film { id: Id! }")
        assert copy.stats()["nodes"] == 0
        copy.load(path, tmp_path / "all.schema", graphql_schema=tmp_path / "all.graphql")
    assert (copy.graphql_schema(), copy.schema()) == (SDL, db.schema())
    send = "{ queryFilm { title year } }"
    assert copy.graphql(send)["data"] == db.graphql(send)["data"]
    assert facts(copy, tmp_path) == facts(db, tmp_path)


def test_the_command_loads_the_graphql_schema(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "hexgraph", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with hexgraph.connect(tmp_path / "db") as db:
        make(db)
    report = run("export", tmp_path / "db", tmp_path / "all.rdf")
    assert report.endswith("all.schema; " + str(tmp_path / "all.graphql") + "\n")
    schemas = ("--schema", tmp_path / "all.schema", "--graphql-schema", tmp_path / "all.graphql")
    run("load", tmp_path / "copy", tmp_path / "all.rdf", *schemas)
    with hexgraph.connect(tmp_path / "copy") as copy:
        assert copy.graphql_schema() == SDL
        assert copy.graphql("{ queryFilm { title } }") == {"data": {"queryFilm": [{"title": "M"}]}}


def test_an_empty_database_has_an_export_too(db, tmp_path):
    assert db.export(tmp_path / "out", format="dgraph") == 0
    assert loader_format.check(tmp_path / "out") == 0
    importing.bring_back(tmp_path / "out", tmp_path / "back")
    with hexgraph.connect(tmp_path / "back") as back:
        assert (back.schema(), back.graphql_schema()) == (db.schema(), None)


DAMAGE = [
    ("g01.rdf.gz", " <0x0> .", " .", "no statement"),
    ("g01.rdf.gz", "<0x0> .", "<0x1> .", "another namespace"),
    ("g01.rdf.gz", "<0x2> <0x0>", "<0x0> <0x0>", "no uid"),
    ("g01.rdf.gz", "<alias>", "<nick>", "does not define"),
    ("g01.rdf.gz", "xs:[]float32", "xs:vector", "no type of literals"),
    ("g01.rdf.gz", '"false"^^', '"no"^^', "no bool"),
    ("g01.rdf.gz", "1833-06-05T12", "1833-06-35T12", "no datetime"),
    ("g01.rdf.gz", "$2a$", "plain", "no password"),
    ("g01.rdf.gz", "n=7", "n=", "no facet"),
    ("g01.rdf.gz", "^^<xs:int>", "^^<xs:boolean>", "where the schema has int"),
    ("g01.schema.gz", "[0x0] alias: [string]", "[0x0] alias: string", "no list"),
    ("g01.schema.gz", " @lang", "", "without @lang"),
    ("g01.schema.gz", "born: int", "born: integer", "no type integer"),
    ("g01.schema.gz", "[0x0] born", "born", "no definition"),
    ("g01.schema.gz", "\tborn", "\tborne", "no predicate is defined"),
    ("g01.gql_schema.gz", '"namespace":0', '"namespace":1', "no entry"),
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_the_checker_finds_what_is_wrong(full, tmp_path, damage):
    file, before, after, fault = damage
    full.export(tmp_path / "out", format="dgraph")
    path = tmp_path / "out" / file
    text = loader_format.unpacked(path)
    assert before in text
    path.write_bytes(gzip.compress(text.replace(before, after).encode()))
    with pytest.raises(loader_format.FormatError, match=fault):
        loader_format.check(tmp_path / "out")


def test_an_export_comes_back_equal(full, tmp_path):
    full.export(tmp_path / "out", format="dgraph")
    imported = importing.bring_back(tmp_path / "out", tmp_path / "back")
    assert imported.warnings == []
    with hexgraph.connect(tmp_path / "back") as back:
        assert facts(back, tmp_path) == facts(full, tmp_path)
        assert back.schema() == full.schema()
        assert back.graphql_schema() == SDL
        query = '{ q(func: uid(1)) { checkpwd(secret, "countess") } }'
        assert back.query(query)["q"] == [{"checkpwd(secret)": True}]


def test_internal_data_of_a_cluster_stays_there(full, tmp_path):
    """An export of a real cluster has predicates, types and nodes of its own."""
    full.export(tmp_path / "out", format="dgraph")
    more = {
        "g01.rdf.gz": '<0x9> <dgraph.xid> "groot"^^<xs:string> <0x0> .\n'
        '<0x9> <dgraph.type> "dgraph.type.User"^^<xs:string> <0x0> .\n'
        '<0x3> <plain> "a <dgraph.xid> in a text" <0x0> .\n',
        "g01.schema.gz": "[0x0] <dgraph.xid>:string @index(exact) @upsert @unique . \n"
        "[0x0] type <dgraph.type.User> {\n\tdgraph.xid\n}\n"
        "[0x0] <late>:[string] @index(exact) . \n",
    }
    for name, text in more.items():
        path = tmp_path / "out" / name
        path.write_bytes(gzip.compress((loader_format.unpacked(path) + text).encode()))
    # Another group of servers.
    other = tmp_path / "out" / "g02.rdf.gz"
    other.write_bytes(gzip.compress(b'<0x3> <late> "x"^^<xs:string> <0x0> .\n'))
    importing.bring_back(tmp_path / "out", tmp_path / "back")
    with hexgraph.connect(tmp_path / "back") as back:
        result = back.query("{ q(func: uid(3, 9)) { uid plain late dgraph.type } }")["q"]
        assert result == [
            {"uid": "0x3", "plain": "a <dgraph.xid> in a text", "late": ["x"]},
            {"uid": "0x9"},
        ]


@pytest.mark.parametrize("end", ["rdf.gz", "rdf", "jsonl.gz", "jsonl"])
def test_a_plain_export_comes_back(full, tmp_path, end):
    """As /admin writes it: packed or not, its schemas are plain files."""
    (tmp_path / "out").mkdir()
    is_json = end.startswith("json")
    if is_json:
        full.drop("predicate", "secret")
    full.export(tmp_path / "out" / f"g01.{end}")
    assert importing.bring_back(tmp_path / "out", tmp_path / "back").warnings == []
    with hexgraph.connect(tmp_path / "back") as back:
        assert (back.schema(), back.graphql_schema()) == (full.schema(), SDL)
        expected, result = facts(full, tmp_path), facts(back, tmp_path)
        if is_json:
            # A text of type default.
            expected = [line.replace('"word" .', '"word"^^<xs:string> .') for line in expected]
        assert result == expected


def test_what_admin_exports_comes_back(full, tmp_path):
    full.drop("predicate", "secret")
    with full.serve(port=0, export=tmp_path) as server:
        for kind in ("rdf", "json"):
            query = f'mutation {{ export(input: {{format: "{kind}"}}) {{ exportedFiles }} }}'
            request = urllib.request.Request(
                f"{server.url}/admin",
                json.dumps({"query": query}).encode(),
                {"Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=60) as reply:
                files = json.load(reply)["data"]["export"]["exportedFiles"]
            folder = (tmp_path / files[0]).parent
            done = run("import", folder, tmp_path / f"{kind}.db")
            assert done.returncode == 0, done.stderr
            with hexgraph.connect(tmp_path / f"{kind}.db") as back:
                assert (back.schema(), back.graphql_schema()) == (full.schema(), SDL)
                send = "{ queryFilm { title year } }"
                assert back.graphql(send) == full.graphql(send)
            shutil.rmtree(folder)


DGRAPH_JSON = r"""[
  {"uid":"0x1","namespace":"0x0","dgraph.type":"Person"},
  {"uid":"0x1","namespace":"0x0","name":"Ada, \"the\" first","name|f":1.5},
  {"uid":"0x1","namespace":"0x0","name@ja":"エイダ"},
  {"uid":"0x1","namespace":"0x0","born":-9223372036854775808},
  {"uid":"0x1","namespace":"0x0","alive":"false"},
  {"uid":"0x1","namespace":"0x0","place":"{\"type\":\"Point\",\"coordinates\":[8.5,47.4]}"},
  {"uid":"0x1","namespace":"0x0","alias":"a"},
  {"uid":"0x1","namespace":"0x0","alias":"b"},
  {"uid":"0x1","namespace":"0x0","friend":[{"uid":"0x2","friend|close":true}]},
  {"uid":"0x9","namespace":"0x0","dgraph.type":"dgraph.type.User"},
  {"uid":"0x9","namespace":"0x0","dgraph.xid":"groot"}
]
"""


@pytest.mark.parametrize("is_packed", [False, True])
def test_an_export_of_dgraph_in_json(tmp_path, is_packed):
    folder = tmp_path / "out"
    folder.mkdir()

    def write(name, text):
        data = text.encode()
        path = folder / (f"{name}.gz" if is_packed else name)
        path.write_bytes(gzip.compress(data) if is_packed else data)

    write("g01.json", DGRAPH_JSON)
    write("g02.json", '[\n  {"uid":"0x2","namespace":"0x0","born":1815}\n]\n')
    text = re.sub(r"^(?=[^\s}])", "[0x0] ", SCHEMA.strip(), flags=re.MULTILINE)
    write("g01.schema", f"{text}\n[0x0] <dgraph.xid>:string @index(exact) @upsert . \n")
    write("g01.gql_schema", json.dumps([{"namespace": 0, "schema": SDL}]))
    (warning,) = importing.bring_back(folder, tmp_path / "back").warnings
    assert warning.startswith("JSON has no passwords: nobody's is right in secret ")
    with hexgraph.connect(tmp_path / "back") as back:
        query = "{ q(func: uid(1)) { name name@ja born alive place alias dgraph.type"
        query += " friend @facets { uid born } } none(func: uid(9)) { expand(_all_) } }"
        assert back.query(query).to_dict() == {
            "q": [
                {
                    "name": 'Ada, "the" first',
                    "name@ja": "エイダ",
                    "born": -9223372036854775808,
                    "alive": False,
                    "place": {"type": "Point", "coordinates": [8.5, 47.4]},
                    "alias": ["a", "b"],
                    "dgraph.type": ["Person"],
                    "friend": [{"uid": "0x2", "born": 1815, "friend|close": True}],
                }
            ],
            "none": [],
        }
        assert back.graphql_schema() == SDL
    write("g03.json", '[\n  {"uid":"0x2","namespace":"0x5","born":1815}\n]\n')
    with pytest.raises(hexgraph.QueryError, match=r"other namespaces than 0 \(0x5\)"):
        importing.bring_back(folder, tmp_path / "other")
    write("g03.json", '[{"born":1815}]')
    with pytest.raises(hexgraph.StorageError, match=r"g03\.json\S*:1: no object"):
        importing.bring_back(folder, tmp_path / "other")


def test_folders_that_are_no_exports(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(hexgraph.QueryError, match=r"an export has files g01\.rdf\.gz"):
        importing.bring_back(tmp_path / "empty", tmp_path / "back")
    (tmp_path / "empty" / "namespace-2").mkdir()
    with pytest.raises(hexgraph.QueryError, match="give the folder of one"):
        importing.bring_back(tmp_path / "empty", tmp_path / "back")
    (tmp_path / "empty" / "g01.rdf.gz").write_bytes(b"no gzip")
    with pytest.raises(hexgraph.StorageError, match=r"g01\.rdf\.gz"):
        importing.bring_back(tmp_path / "empty", tmp_path / "back")
    (tmp_path / "empty" / "g01.rdf.gz").write_bytes(gzip.compress(b"<0x1> nonsense\n"))
    with pytest.raises(hexgraph.LoadError, match=r"g01\.rdf:1"):
        importing.bring_back(tmp_path / "empty", tmp_path / "back")
    (tmp_path / "empty" / "g01.schema.gz").write_bytes(gzip.compress(b"[0x5] <a>:int .\n"))
    with pytest.raises(hexgraph.QueryError, match=r"other namespaces than 0 \(0x5\)"):
        importing.bring_back(tmp_path / "empty", tmp_path / "back")
    (tmp_path / "empty" / "g01.schema.gz").write_bytes(b"no gzip")
    with pytest.raises(hexgraph.StorageError, match=r"g01\.schema\.gz"):
        importing.bring_back(tmp_path / "empty", tmp_path / "back")
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]
    with pytest.raises(hexgraph.StorageError, match="not empty"):
        importing.bring_back(tmp_path / "empty", tmp_path / "empty")


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hexgraph", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_command_line(full, tmp_path):
    full.save(tmp_path / "db")
    done = run("export", tmp_path / "db", tmp_path / "out", "--format", "dgraph")
    assert (done.returncode, done.stderr) == (0, "")
    count = loader_format.check(tmp_path / "out")
    assert f"{count} triples" in done.stdout
    done = run("import", tmp_path / "out", tmp_path / "back")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{count} triples" in done.stdout
    done = run("import", tmp_path / "out", tmp_path / "back")
    assert (done.returncode, done.stdout) == (1, "")
    assert "not empty" in done.stderr
    assert run("import", tmp_path / "out").returncode == 2


def test_the_folder_of_an_export_is_not_loaded_without_its_schema(full, tmp_path):
    full.export(tmp_path / "out", format="dgraph")
    with hexgraph.connect() as db:
        with pytest.raises(hexgraph.QueryError, match="hexgraph import FOLDER DATABASE"):
            db.load(tmp_path / "out")
        (tmp_path / "plain").mkdir()
        full.export(tmp_path / "plain" / "g01.rdf")
        with pytest.raises(hexgraph.QueryError, match="hexgraph import FOLDER DATABASE"):
            db.load(tmp_path / "plain")
        assert db.load(tmp_path / "out", str(full.schema())).triples > 0


def test_the_folder_of_an_export_needs_no_pydgraph(full, tmp_path):
    full.export(tmp_path / "out", format="dgraph")
    script = """
import sys
sys.modules["pydgraph"] = sys.modules["grpc"] = None
from hexgraph.cluster import importing
sys.exit(importing.main(sys.argv[1:]))
"""
    command = [sys.executable, "-c", script, str(tmp_path / "out"), str(tmp_path / "back")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


LOST = {
    # JSON has one kind of numbers and no types: see docs/cluster.md.
    '<0x1> <secret> "': None,
    '<0x2> <plain> "5"^^<xs:int> .': '<0x2> <plain> "5"^^<xs:string> .',
    '<0x3> <plain> "word" .': '<0x3> <plain> "word"^^<xs:string> .',
}


def of_json(lines: list[str]) -> list[str]:
    """Return the statements of a cluster's answers about these."""
    report = []
    for line in lines:
        lost = [begins for begins in LOST if line.startswith(begins)]
        expected = LOST[lost[0]] if lost else line
        if expected is not None:
            report.append(expected)
    return report


def test_the_data_of_a_cluster_comes_back(full, tmp_path):
    pytest.importorskip("pydgraph")
    with full.serve(port=0, grpc_port=0) as server:
        position = f"dgraph://{server.grpc_address}"
        imported = importing.bring_back(position, tmp_path / "back")
        with pytest.raises(hexgraph.StorageError, match="not empty"):
            importing.bring_back(position, tmp_path / "back")
        done = run("import", f"{position}?http={server.url}", tmp_path / "by_command")
    assert done.returncode == 0
    (warning,) = imported.warnings
    assert warning.startswith("the passwords of secret (1 nodes) can't be read")
    assert done.stderr == f"warning: {warning}\n"
    for name in ("back", "by_command"):
        with hexgraph.connect(tmp_path / name) as back:
            assert facts(back, tmp_path) == of_json(facts(full, tmp_path))
            assert back.schema() == full.schema()
            assert back.graphql_schema() == SDL


def test_many_nodes_and_edges_come_back_in_pages(db, tmp_path, monkeypatch):
    pytest.importorskip("pydgraph")
    monkeypatch.setattr(importing, "PAGE_NODES", 7)
    db.alter("name: string @lang .\nfriend: [uid] .")
    nodes = range(1, 101)
    lines = [f'<{n}> <name> "n{n}"{"@en" if n % 3 else ""} .' for n in nodes]
    lines += [f"<{n}> <friend> <{m}> (w={n}) ." for n in nodes for m in range(1, 1 + n % 20)]
    db.mutate(set="\n".join(lines))
    with db.serve(port=0, grpc_port=0) as server:
        importing.bring_back(f"dgraph://{server.grpc_address}", tmp_path / "back")
    with hexgraph.connect(tmp_path / "back") as back:
        assert facts(back, tmp_path) == facts(db, tmp_path)


def test_a_node_whose_edges_are_more_than_one_answer(tmp_path):
    """The cluster finds pages of 1000 nodes, and then the node alone, too long."""
    pytest.importorskip("pydgraph")
    with hexgraph.connect(limits={"result": 60_000}) as db:
        db.alter("friend: [uid] .")
        lines = [f"<1> <friend> <{n}> (w={n}) ." for n in range(2, 4000)]
        lines += [f"<{n}> <friend> <1> ." for n in range(2, 4000)]
        db.mutate(set="\n".join(lines))
        with db.serve(port=0, grpc_port=0) as server:
            importing.bring_back(f"dgraph://{server.grpc_address}", tmp_path / "back")
        with hexgraph.connect(tmp_path / "back") as back:
            assert facts(back, tmp_path) == facts(db, tmp_path)


def test_nothing_is_left_of_an_import_that_fails(full, tmp_path):
    pytest.importorskip("pydgraph")
    with pytest.raises(hexgraph.StorageError, match="can't be reached"):
        importing.bring_back("dgraph://127.0.0.1:1", tmp_path / "back")
    with full.serve(port=0, grpc_port=0, security="client-key=app") as server:
        with pytest.raises(hexgraph.AccessError):
            importing.bring_back(f"dgraph://{server.grpc_address}", tmp_path / "back")
        position = f"dgraph://{server.grpc_address}?key=app"
        report = importing.bring_back(position, tmp_path / "allowed")
    assert any("GraphQL schema" in warning for warning in report.warnings)
    assert [path.name for path in tmp_path.iterdir()] == ["allowed"]
