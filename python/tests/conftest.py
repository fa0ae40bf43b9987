import os
import re
import subprocess
import sys

import pytest

import hexgraph

REAL = os.environ.get("HEXGRAPH_TEST_CLUSTER")
"""The connection string of a cluster. Everything in it is dropped, again and again."""

SCHEMA = """
name: string @index(exact, term) @lang .
born: int @index(int) .
height: float .
alive: bool .
since: datetime @index(year) .
alias: [string] .
boss: uid @reverse .
friend: [uid] @reverse @count .
type Person {
  name
  born
  friend
}
"""

TRIPLES = """
<0x1> <name> "Ada" .
<0x1> <name> "エイダ"@ja .
<0x1> <born> "1815" .
<0x1> <height> "1.65" .
<0x1> <alive> "false" .
<0x1> <since> "1833-06-05T12:00:00Z" .
<0x1> <alias> "Countess" .
<0x1> <alias> "Augusta" .
<0x1> <friend> <0x2> .
<0x1> <friend> <0x3> .
<0x2> <name> "Bob" .
<0x2> <born> "1900" .
<0x2> <boss> <0x1> .
<0x2> <friend> <0x3> .
<0x3> <name> "Eve <b>" .
<0x3> <alive> "true" .
"""


def pytest_generate_tests(metafunc):
    """Run what is marked `shared` over all kinds of connection, but for what is `embedded`."""
    markers = {marker.name for marker in metafunc.definition.iter_markers()}
    if "db" not in metafunc.fixturenames or "shared" not in markers:
        return
    kinds: list[object] = ["database"] if "embedded" in markers else ["database", "served"]
    if REAL and "embedded" not in markers:
        otherwise = metafunc.definition.get_closest_marker("otherwise")
        # A test that begins to pass there has to be reported, too.
        marks = [pytest.mark.xfail(reason=otherwise.args[0], strict=True)] if otherwise else []
        kinds.append(pytest.param("real", marks=marks))
    metafunc.parametrize("db", kinds, indirect=True)


@pytest.fixture(scope="session")
def served():
    """Return the connection string of a `hexgraph serve` in a process of its own."""
    pytest.importorskip("pydgraph", reason="the client `pydgraph` is not installed")
    command = [sys.executable, "-m", "hexgraph", "serve", "--port", "0", "--grpc-port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        said = process.stdout.readline()
        http, grpc = re.search(r"answers at (\S+) and by gRPC at (\S+)", said).groups()
        yield f"dgraph://{grpc}?http={http}"
        process.terminate()


@pytest.fixture
def db(request):
    kind = getattr(request, "param", "database")
    if kind == "database":
        with hexgraph.connect() as database:
            yield database
        return
    position = REAL if kind == "real" else request.getfixturevalue("served")
    with hexgraph.connect(position) as cluster:
        cluster.drop("all")
        yield cluster


@pytest.fixture
def people(db):
    db.alter(SCHEMA)
    db.mutate(set=TRIPLES)
    return db


@pytest.fixture
def dense(db):
    """Return a database of 399 nodes, each with an edge to each."""
    edges = (f"<{a}> <e> <{b}> .\n" for a in range(1, 400) for b in range(1, 400))
    db.load("".join(edges).encode(), schema="e: [uid] .", progress=False)
    return db


@pytest.fixture
def long_query():
    """Return a query of `dense` that computes for minutes.

    Each further path costs a search and a few words of memory: on no machine another limit than
    that of time ends it.
    """
    return "{ p as shortest(from: 1, to: 2, numpaths: 1000000) { e } q(func: uid(p)) { uid } }"
