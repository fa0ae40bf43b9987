import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest

import hexgraph

RDF = '<0x1> <name> "Ada" .\n<0x2> <name> "Bob" .\n'


PROGRAM = os.environ.get("HEXGRAPH_PROGRAM")
"""A program that is run instead of `python -m hexgraph`."""


def run(*arguments, **options):
    program = [PROGRAM] if PROGRAM else [sys.executable, "-m", "hexgraph"]
    command = [*program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.fixture
def loaded(tmp_path):
    (tmp_path / "a.rdf").write_text(RDF)
    (tmp_path / "a.schema").write_text("name: string @index(exact) .")
    path = tmp_path / "db"
    done = run("load", path, tmp_path / "a.rdf", "--schema", tmp_path / "a.schema")
    assert done.returncode == 0, done.stderr
    assert "2 triples, 2 nodes" in done.stdout
    return path


def test_query(loaded):
    dql = "query q($n: string) { q(func: eq(name, $n)) { name } }"
    done = run("query", loaded, dql, "--var", "n=Bob")
    assert json.loads(done.stdout) == {"q": [{"name": "Bob"}]}
    done = run("query", loaded, "-", input="{ q(func: has(name)) { name } }")
    assert len(json.loads(done.stdout)["q"]) == 2


def test_cypher(loaded, tmp_path):
    text = "MATCH (n) WHERE n.name = $n OR $n IS NULL RETURN id(n) AS id, n.name AS name"
    done = run("cypher", loaded, text, "--var", "n=Bob")
    assert json.loads(done.stdout) == {"columns": ["id", "name"], "rows": [[2, "Bob"]]}
    done = run("cypher", loaded, "-", "-v", "n=null", input=text)
    assert json.loads(done.stdout)["rows"] == [[1, "Ada"], [2, "Bob"]]
    done = run("cypher", loaded, text, "-v", "n=Bob", "--format", "table")
    assert done.stdout == "id  name\n 2  Bob\n", done.stdout
    done = run("cypher", loaded, text, "-v", "n=null", "--format", "jsonl")
    assert done.stdout.splitlines() == ['{"id":1,"name":"Ada"}', '{"id":2,"name":"Bob"}']
    (tmp_path / "a.cypher").write_text(text)
    done = run(
        "cypher", loaded, "-f", tmp_path / "a.cypher", "-v", "n=null", "-o", tmp_path / "a.csv"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "a.csv").read_bytes() == b"id,name\r\n1,Ada\r\n2,Bob\r\n"
    done = run("cypher", loaded, "UNWIND [1, 'a'] AS x RETURN x, [x] AS l", "--format", "csv")
    assert "several types" in done.stderr
    assert done.stdout.splitlines()[1] == "1,[1]"
    nested = (
        "RETURN [1] AS l, {a: {b: 1}} AS m, "
        "datetime('2020-01-01T00:00+01:00') AS t, date('2020-01-02') AS d"
    )
    done = run("cypher", loaded, nested, "--format", "jsonl")
    assert json.loads(done.stdout) == {
        "l": [1],
        "m": {"a": {"b": 1}},
        "t": "2020-01-01T00:00:00+01:00",
        "d": "2020-01-02",
    }
    done = run("cypher", loaded, nested, "--format", "csv")
    assert done.stdout.splitlines()[1].startswith('[1],"{""a"":{""b"":1}}",2020-01-01T00:00')


def test_plans_of_cypher(loaded):
    text = "MATCH (n) WHERE n.name = $n RETURN n.name AS name"
    done = run("cypher", loaded, text, "-v", "n=Bob", "--explain")
    assert done.stdout.splitlines()[0].split() == ["operator", "detail", "expected"], done.stderr
    assert "n.name = 'Bob'" in done.stdout
    done = run("cypher", loaded, text, "-v", "n=Bob", "--profile", "--format", "jsonl")
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["operator"], last["detail"], last["actual"]) == ("Project", "n.name AS name", 1)
    # The option decides, and positions are those of the text.
    done = run("cypher", loaded, f"PROFILE {text}", "-v", "n=Bob", "--explain", "--format", "json")
    assert json.loads(done.stdout)["columns"] == ["operator", "detail", "expected"]
    assert "column 18" in run("cypher", loaded, "MATCH (n) RETURN m", "--explain").stderr
    done = run("cypher", loaded, text, "--explain", "--profile")
    assert done.returncode == 2
    assert "cannot be used with" in done.stderr


def test_what_is_wrong_with_cypher(loaded):
    done = run("cypher", loaded, "MATCH (n)\nRETURN m")
    assert done.returncode == 1
    assert "line 2 column 8" in done.stderr
    assert done.stderr.splitlines()[1:3] == ["    RETURN m", "           ^"]
    assert "mutate" in run("cypher", loaded, "CREATE (n)").stderr
    assert "timeout" in run("cypher", loaded, "MATCH (n) RETURN n", "--timeout", "0").stderr
    assert "`$n`" in run("cypher", loaded, "RETURN $n").stderr
    assert "--format cvs" in run("cypher", loaded, "RETURN 1", "--format", "cvs").stderr


def test_rows_are_written_in_all_formats(loaded, tmp_path):
    dql = "{ q(func: has(name)) { uid name } }"
    done = run("query", loaded, dql, "--format", "table")
    assert done.stdout == "uid  name\n0x1  Ada\n0x2  Bob\n"
    assert run("query", loaded, dql, "--format", "csv").stdout == "uid,name\n0x1,Ada\n0x2,Bob\n"
    lines = ['{"uid":"0x1","name":"Ada"}', '{"uid":"0x2","name":"Bob"}']
    assert run("query", loaded, dql, "--format", "jsonl").stdout.splitlines() == lines
    for name in ("a.csv", "a.parquet", "a.arrow", "a.json", "a.jsonl", "a.txt"):
        done = run("query", loaded, dql, "-o", tmp_path / name)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads((tmp_path / "a.json").read_text())["q"][1] == {"uid": "0x2", "name": "Bob"}
    assert (tmp_path / "a.csv").read_bytes() == b"uid,name\r\n0x1,Ada\r\n0x2,Bob\r\n"
    polars = pytest.importorskip("polars")
    rows = [("0x1", "Ada"), ("0x2", "Bob")]
    assert polars.read_parquet(tmp_path / "a.parquet").rows() == rows
    assert polars.read_ipc(tmp_path / "a.arrow").rows() == rows
    assert polars.read_csv(tmp_path / "a.csv").rows() == rows
    assert not list(tmp_path.glob("*.partial"))


def test_settings_come_from_variables_and_a_file(loaded, tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text(f'port = 0\npath = "{loaded}"\n[limit]\ntimeout = "soon"\n')
    environment = {**os.environ, "HEXGRAPH_CONFIG": str(file), "HEXGRAPH_TOKEN": "hunter2"}
    done = run("config", "--limit", "timeout=5s", env=environment)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    lines = done.stdout.splitlines()
    assert f"port = 0  # file {file}:1" in lines
    assert '    "timeout=5s",  # flag' in lines
    assert lines[-1] == "# HEXGRAPH_TOKEN is set: ***"
    done = run("serve", env=environment)
    assert done.returncode == 1
    assert done.stderr.endswith(f"note: --limit is set by the file {file}:4\n"), done.stderr
    done = run("serve", env={**environment, "HEXGRAPH_PORT": "many"})
    assert done.returncode == 2
    assert "note: --port is set by the variable HEXGRAPH_PORT\n" in done.stderr
    environment = {**os.environ, "HEXGRAPH_NAMESPACE": "7"}
    done = run("query", loaded, "{ q(func: has(name)) { name } }", env=environment)
    assert done.returncode == 1
    assert "7" in done.stderr, done.stderr


def test_tables_of_json_and_of_named_columns(tmp_path):
    path = tmp_path / "db"
    (tmp_path / "a.json").write_text('[{"id": 1, "n": "x"}, {"id": 2, "n": "y"}]')
    done = run("load", path, tmp_path / "a.json", "--type", "T", "--filename", "file")
    assert done.returncode == 0, done.stderr
    (tmp_path / "b.csv").write_text("3,z\n")
    named = ("--columns", "id,n", "--type", "T")
    assert run("load", path, tmp_path / "b.csv", *named).returncode == 0
    dql = "{ q(func: type(T), orderasc: id) { id n file } }"
    rows = json.loads(run("query", path, dql).stdout)["q"]
    of_json = str(tmp_path / "a.json")
    assert rows == [
        {"id": 1, "n": "x", "file": of_json},
        {"id": 2, "n": "y", "file": of_json},
        {"id": 3, "n": "z"},
    ]


def test_a_column_of_objects_is_left_out(tmp_path):
    path = tmp_path / "t.json"
    path.write_text('[{"id": 1},\n {"id": 2, "o": {"a": 1}}]')
    done = run("sniff", path)
    assert done.returncode == 0, done.stderr
    assert "an object is no value" in done.stdout
    load = ("load", tmp_path / "db", path, "--type", "T")
    done = run(*load)
    assert done.returncode == 1
    assert 't.json:2:2: column "o" has objects' in done.stderr
    assert "leave it out, with --column" in done.stderr
    done = run(*load, "--column", "o=")
    assert done.returncode == 0, done.stderr
    assert "2 nodes" in done.stdout


def test_sniff(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("First Name\tn\nann\t1\nbob\tx\n")
    done = run("sniff", path, "--rows", "1", "--null-value", "x")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"{path}: tab, header, utf-8, 2 columns"
    assert [line.split() for line in lines[10:13]] == [
        ["column", "predicate", "type"],
        ["First", "Name", "First_Name", "string"],
        ["n", "n", "int"],
    ]
    assert lines[14:16] == ["First Name  n", "ann         1"]
    given = lines[-1].partition(f"{path} ")[2]
    assert given == (
        "--separator $'\\t' --quote '\"' --header true --encoding utf-8 --comment '' --skip 0"
        " --null-value x --cast 'First Name=string' --cast n=int"
    )
    words = [
        *("--separator", "\t", "--quote", '"', "--header", "true", "--encoding", "utf-8"),
        *("--comment", "", "--skip", "0", "--null-value", "x"),
        *("--cast", "First Name=string", "--cast", "n=int"),
    ]
    assert run("load", tmp_path / "db", path, "--no-id", *words).returncode == 0
    assert run("sniff", tmp_path / "none.csv").returncode == 1


def test_what_can_not_be_written_is_reported(loaded, tmp_path):
    both = "{ a(func: has(name)) { name } b(func: uid(1)) { name } }"
    done = run("query", loaded, both, "-o", tmp_path / "a.csv")
    assert done.returncode == 1
    assert "several blocks, choose one: a, b (name one by --block" in done.stderr
    assert not (tmp_path / "a.csv").exists()
    assert run("query", loaded, both, "--format", "csv", "--block", "b").stdout == "name\nAda\n"
    done = run("query", loaded, both, "--format", "cvs")
    assert done.stderr == (
        "error: --format cvs: it is json, table, csv, markdown, jsonl, arrow, parquet\n"
    )
    done = run("query", loaded, both, "-o", tmp_path / "no" / "a.json")
    assert "writing" in done.stderr
    assert "a.json" in done.stderr
    done = run("query", loaded, "{ q(func: has(name)) { nmae } }")
    assert "did you mean `name`?" in done.stderr


def test_texts_come_from_files_and_pipes(loaded, tmp_path):
    file = tmp_path / "who.dql"
    file.write_text("query q($n: string) { q(func: eq(name, $n)) { name } }")
    expected = {"q": [{"name": "Bob"}]}
    for arguments in ([file], ["-f", file], ["--file", file]):
        done = run("query", loaded, *arguments, "-v", "$n=Bob")
        assert json.loads(done.stdout) == expected, done.stderr
    with file.open() as text:
        assert json.loads(run("query", loaded, "-v", "n=Bob", stdin=text).stdout) == expected
    assert "give one of them" in run("query", loaded, "{}", "-f", file).stderr
    assert "no.dql" in run("query", loaded, "-f", tmp_path / "no.dql").stderr


def test_mutate(loaded):
    done = run("mutate", loaded, '_:c <name> "Cleo" .')
    assert (done.returncode, list(json.loads(done.stdout)["uids"])) == (0, ["c"])
    assert run("mutate", loaded, '{"uid": "0x1", "name": "Ada L."}').returncode == 0
    assert run("mutate", loaded, '{ set { <0x2> <name> "Bo" . } }').returncode == 0
    find = '{ v as var(func: eq(name, "Cleo")) }'
    assert run("mutate", loaded, 'uid(v) <name> "Cleopatra" .', "--query", find).returncode == 0
    assert run("mutate", loaded, "-", input='[{"name": "Dido"}]').returncode == 0
    names = run("query", loaded, "{ q(func: has(name)) { name } }", "--format", "csv").stdout
    assert names.split() == ["name", "Ada", "L.", "Bo", "Cleopatra", "Dido"]
    assert run("mutate", loaded, "--delete", "<0x2> <name> * .").returncode == 0
    assert "Bo\n" not in run("query", loaded, "{ q(func: has(name)) { name } }").stdout
    done = run("mutate", loaded, '<0x1> <name "x" .')
    assert done.returncode == 1
    assert "is `>` missing?" in done.stderr
    assert "    ^" in done.stderr


def test_delete(loaded, tmp_path):
    names = "{ q(func: has(name)) { name } }"
    lines = '<2> <knows> <1> .\n<1> <knows> <2> .\n<3> <name> "Cleo" .'
    assert run("mutate", loaded, lines).returncode == 0
    dql = "query q($n: string) { q(func: eq(name, $n)) { knows { name } } }"
    done = run("delete", loaded, dql, "--var", "n=Ada")
    assert json.loads(done.stdout) == {"nodes": 1, "values": 1, "edges": 2}, done.stderr
    rows = json.loads(run("query", loaded, names).stdout)["q"]
    assert rows == [{"name": "Bob"}, {"name": "Cleo"}]
    # The text may come from a pipe; uids may be of both kinds, and of nobody.
    done = run("delete", loaded, "-", input='{ q(func: eq(name, "Bob")) }')
    assert json.loads(done.stdout)["nodes"] == 1
    done = run("delete", loaded, "0x3", "3", "77")
    assert json.loads(done.stdout) == {"nodes": 1, "values": 1, "edges": 0}
    assert json.loads(run("query", loaded, names).stdout) == {"q": []}
    for arguments, said in [
        ((loaded, "{ q(func: uid(1)) p(func: uid(2)) }"), "one block"),
        ((loaded, "0x1", "Ada"), "one query in DQL, or uids"),
        ((loaded, "{ q(func: eq(name, 1) }"), "line 1"),
        ((tmp_path / "missing", "0x1"), "no database"),
    ]:
        done = run("delete", *arguments)
        assert done.returncode != 0, arguments
        assert said in done.stderr, done.stderr
    assert not (tmp_path / "missing").exists()


def test_mutate_makes_no_database(tmp_path):
    done = run("mutate", tmp_path / "no", '<0x1> <name> "Ada" .')
    assert "there is no database (`hexgraph load` makes one)" in done.stderr
    assert not (tmp_path / "no").exists()


def test_graphql(loaded, tmp_path):
    schema = tmp_path / "s.graphql"
    schema.write_text("type Task { id: ID! title: String! @search(by: [exact]) }")
    done = run("graphql", loaded, "--schema", schema)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    add = "mutation m($t: String!) { addTask(input: [{title: $t}]) { task { title } } }"
    done = run("graphql", loaded, add, "-v", "t=Shop")
    assert json.loads(done.stdout) == {"data": {"addTask": {"task": [{"title": "Shop"}]}}}
    find = "query q($t: String) { queryTask(filter: {title: {eq: $t}}) { title } }"
    (tmp_path / "v.json").write_text('\ufeff{"t": "Shop"}', encoding="utf-8")
    done = run("graphql", loaded, find, "--variables-file", tmp_path / "v.json")
    assert json.loads(done.stdout) == {"data": {"queryTask": [{"title": "Shop"}]}}
    done = run("graphql", loaded, "{ nothing }")
    assert done.returncode == 1
    assert "errors" in json.loads(done.stdout)
    assert "Cannot query field" in done.stderr


def test_info_and_schema(loaded, tmp_path):
    done = run("info", loaded)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "2 nodes"
    assert "name       string @index(exact)  2" in done.stdout
    assert run("schema", loaded).stdout == "name: string @index(exact) .\n"
    done = run("info", tmp_path / "nothing")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert "nothing" in done.stderr


def test_algo(loaded, tmp_path):
    edges = tmp_path / "b.rdf"
    edges.write_text("<0x1> <knows> <0x2> (km=3) .\n<0x2> <knows> <0x4> (km=2) .\n")
    assert run("load", loaded, edges).returncode == 0
    done = run("algo", "bfs", loaded, "--on", "knows", "--set", "source=0x1", "--top", 2)
    assert done.stdout == "uid\tbfs\n0x4\t2\n0x2\t1\n"
    weighed = ("--on", "knows", "--weight", "km", "--set", "source=0x1", "--nodes", "has(name)")
    done = run("algo", "distances", loaded, *weighed)
    assert done.stdout == "uid\tdistances\n0x2\t3\n0x1\t0\n"
    done = run("algo", "transitivity", loaded, "--on", "knows")
    assert done.stdout == "transitivity\n0\n"
    done = run("algo", "pagerank", loaded, "--on", "kows")
    assert (done.returncode, done.stdout) == (1, "")
    assert "did you mean `knows`?" in done.stderr
    assert "expected NAME=VALUE" in run("algo", "bfs", loaded, "--on", "x", "--set", "x").stderr
    assert run("algo", "pagerank", loaded).returncode == 2


def test_check(loaded):
    assert run("check", loaded).returncode == 0
    (snapshot,) = loaded.glob("snapshot-*.hxs")
    data = bytearray(snapshot.read_bytes())
    data[len(data) // 2] ^= 1
    snapshot.write_bytes(data)
    done = run("check", loaded)
    assert done.returncode == 1
    assert snapshot.name in done.stderr


def test_errors(loaded, tmp_path):
    done = run("query", loaded, "{ nonsense")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: line 1 column ")
    assert "no database" in run("query", tmp_path / "missing", "{}").stderr
    assert run("query").returncode == 2
    assert run("serve", loaded, "--host", "nowhere").returncode == 2
    assert "hexgraph 0." in run("--version").stdout


def test_demo():
    done = run("demo")
    assert done.returncode == 0, done.stderr
    assert "United States     78\n" in done.stdout, "a table"
    assert "→ Casablanca →" in done.stdout
    assert "What next" in done.stdout
    assert len(done.stdout.splitlines()) <= 60, "it fits on a screen and a half"


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
def test_serve(loaded):
    command = [sys.executable, "-m", "hexgraph", "serve", str(loaded), "--port", "0"]
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            said = process.stdout.readline().split()
            url = next(word for word in said if word.startswith("http"))
            with urllib.request.urlopen(f"{url}/health") as reply:
                assert reply.status == 200
            process.send_signal(number)
            assert process.wait(10) == 0


def test_health():
    with hexgraph.connect() as db:
        server = db.serve(port=0)
        done = run("health", f"{server.url}/")
        assert (done.returncode, done.stdout) == (0, f"{server.url}: healthy\n")
        port = server.url.rpartition(":")[2]
        done = run("health", env={**os.environ, "HEXGRAPH_PORT": port})
        assert (done.returncode, done.stderr) == (0, "")
        urllib.request.urlopen(
            urllib.request.Request(f"{server.url}/admin/draining?enable=true", method="POST"),
            timeout=30,
        ).close()
        done = run("health", server.url)
        assert (done.returncode, "it drains" in done.stderr) == (1, True)
        server.stop()
    done = run("health", server.url)
    assert (done.returncode, done.stdout) == (1, "")
    assert server.url in done.stderr
    assert run("health", "localhost:8080").returncode == 1


def test_serve_until_it_is_shut_down(tmp_path):
    path, exports = tmp_path / "db", tmp_path / "exports"
    command = [sys.executable, "-m", "hexgraph", "serve", str(path), "--port", "0"]
    command += ["--export", str(exports), "--security", "token=secret"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        url = next(word for word in process.stdout.readline().split() if word.startswith("http"))
        set_ada = b'{ set { <1> <name> "Ada" . } }'
        typed = {"Content-Type": "application/rdf"}
        mutation = urllib.request.Request(f"{url}/mutate?commitNow=true", set_ada, typed)
        urllib.request.urlopen(mutation).close()
        urllib.request.urlopen(f"{url}/admin/shutdown", b"").close()
        assert process.poll() is None
        headers = {"X-Dgraph-AuthToken": "secret"}
        shutdown = urllib.request.Request(f"{url}/admin/shutdown", b"", headers)
        urllib.request.urlopen(shutdown).close()
        assert process.wait(10) == 0
    assert exports.is_dir()
    assert "Ada" in run("query", path, "{ q(func: has(name)) { name } }").stdout


def test_load_several_files_and_export_tables(tmp_path):
    (tmp_path / "a.rdf").write_text('<1> <name> "Ada" .\n')
    (tmp_path / "b.rdf").write_text('<2> <name> "Bob" .\n')
    path = tmp_path / "db"
    done = run("load", path, tmp_path / "a.rdf", tmp_path / "b.rdf", "--memory", "16MiB")
    assert "2 triples, 2 nodes" in done.stdout
    done = run("export", path, tmp_path / "all.parquet")
    assert "2 triples" in done.stdout
    done = run("load", tmp_path / "copy", tmp_path / "all.parquet")
    assert "2 triples, 2 nodes" in done.stdout
    done = run("load", path, tmp_path / "a.rdf", tmp_path / "all.parquet/nodes.parquet")
    assert "not of both" in done.stderr


def test_a_file_without_an_extension_is_a_table_where_its_rows_have_a_type(tmp_path):
    path = tmp_path / "part-00000"
    path.write_text("faa,size\nJFK,1\nLGA,2\n")
    done = run("load", tmp_path / "db", path, "--id", "faa", "--type", "Airport")
    assert done.returncode == 0, done.stderr
    assert "2 nodes" in done.stdout + done.stderr


def test_the_column_that_names_nodes_is_proposed_as_options(tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("faa,size\nJFK,1\nLGA,2\n")
    with pytest.raises(hexgraph.QueryError, match='id="faa", or id=None where each row is a new'):
        hexgraph.connect().load_nodes(table, "Airport")
    done = run("load", tmp_path / "db", table, "--type", "Airport")
    assert done.returncode == 1
    assert 'has no column "id"; it has "faa", "size"' in done.stderr
    assert "--id faa, or --no-id where each row is a new node" in done.stderr
    table.write_text("the faa,size\nJFK,1\n")
    assert "--id 'the faa', or --no-id" in run("load", tmp_path / "db", table).stderr
    done = run("load", tmp_path / "db", table, "--id", "the faa", "--type", "Airport")
    assert done.returncode == 0, done.stderr
    # Warnings name options, too.
    table.write_text("id,size\nX,1\n")
    done = run("load", tmp_path / "db", table, "--type", "Hotel")
    assert "shared with Airport; to keep them apart: --column size=Hotel.size or --prefix" in (
        done.stdout + done.stderr
    )
    table.write_text("id,size\nX,1\nY\n")
    assert "--ragged skip leaves such records out" in run("load", tmp_path / "db", table).stderr
    rdf = tmp_path / "a.rdf"
    rdf.write_text('<1> <size> "1" .\n<2> <size> "large" .\n')
    done = run("load", tmp_path / "db", rdf)
    assert "a.rdf:2:12: `large` is no int (`size` of 0x2 is of type int)" in done.stderr
