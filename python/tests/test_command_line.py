import json
import signal
import subprocess
import sys
import urllib.request

import pytest

RDF = '<0x1> <name> "Ada" .\n<0x2> <name> "Bob" .\n'


def run(*arguments, **options):
    command = [sys.executable, "-m", "hexgraph", *map(str, arguments)]
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
    assert "triples about" in done.stdout


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
