"""Results that are retained while data change: small ones are copies, large ones hold a version."""

import gc
import os
import sys
from pathlib import Path

import pytest

import hexgraph

RETAINED = 10_000


@pytest.fixture
def db():
    db = hexgraph.connect()
    db.alter("name: string @index(exact) .\nknows: [uid] @reverse .\nborn: int .\ntags: [string] .")
    db.mutate(
        set="""
        <1> <name> "Ada" .
        <1> <born> "1815" .
        <1> <knows> <2> (since=1830) .
        <1> <tags> "a" .
        <1> <tags> "b" .
        <2> <name> "Bob" .
    """
    )
    return db


QUERIES = [
    "{ q(func: has(name)) { uid name born tags knows @facets { name } } }",
    "{ q(func: has(name)) @normalize { n: name knows { k: name } } }",
    "{ q(func: has(name)) @groupby(born) { count(uid) } }",
    "{ var(func: has(born)) { b as born } q() { min(val(b)) max(val(b)) } }",
    "{ q(func: has(name)) { count(uid) } }",
    "{ q(func: uid(9)) { name born knows { name } } }",
    "{ a(func: uid(1)) { name } b(func: uid(2)) { name } }",
    "{ path as shortest(from: 1, to: 2) { knows @facets } q(func: uid(path)) { name } }",
    "schema {}",
    "{ q(func: has(name)) { nmae } }",
    "{ degree(direction: both) { knows } }",
]


def described(result):
    """Everything that a result can return; errors by their texts."""

    def query(run):
        try:
            return run()
        except hexgraph.Error as error:
            return str(error)

    def tables():
        return {name: (table.column_names, table.rows()) for name, table in result.frames().items()}

    return {
        "dict": result.to_dict(),
        "json": result.json(),
        "rdf": query(result.to_rdf),
        "tables": query(tables),
        "columns": query(result.columns),
        "rows": query(result.rows),
        "len": query(lambda: len(result)),
        "bool": bool(result),
        "warnings": result.warnings,
        "repr": repr(result),
        "html": result._repr_html_(),
        "paths": result.paths().rows(),
    }


@pytest.mark.parametrize("dql", QUERIES)
@pytest.mark.filterwarnings("ignore::hexgraph.UnknownNameWarning")
def test_a_copy_has_the_data_of_the_version(db, dql):
    """The same result, once as a copy and once so large that it holds its version."""
    copied = db.query(dql)
    assert copied.memory()["version"] == 0
    # A second block with more than 256 KiB prevents a copy of the first one.
    before = described(copied)
    text = "x" * 300_000
    db.mutate(set=f'<77> <bulk> "{text}" .')
    if dql == "schema {}":
        return
    large = db.query(dql.rstrip().removesuffix("}") + " bulky(func: uid(77)) { bulk } }")
    assert large.memory()["version"] > 0
    for name in ("dict", "warnings"):
        value = described(large)[name]
        if name == "dict":
            assert value.pop("bulky") == [{"bulk": text}]
        assert value == before[name]
    for block, table in copied.frames().items():
        assert large.to_arrow(block).column_names == table.column_names
        assert repr(large.to_arrow(block)) == repr(table)
        assert large.rows(block) == copied.rows(block)


def test_a_copy_stays_as_it_was(db):
    dql = QUERIES[0]
    retained, same = db.query(dql), db.query(dql)
    before = described(same)
    db.mutate(set='<1> <name> "Augusta" .\n<3> <name> "Eve" .', delete="<1> <knows> <2> .")
    db.alter("name: string .\nborn: float .")
    assert described(retained) == before
    db.drop("all")
    db.close()
    assert described(retained) == before


def test_a_large_result_says_what_it_holds_and_survives_close(tmp_path):
    """It retains its version, which stays readable when the database is closed, and removed."""
    rows = [{"id": n, "name": f"node {n}"} for n in range(40_000)]
    with hexgraph.connect(tmp_path / "db") as db:
        db.load_nodes(rows)
        large = db.query("{ q(func: has(name)) { id name } }")
        memory = large.memory()
        assert memory["own"] > 40_000 * 4
        assert memory["version"] > 40_000 * len("node 1")
        small = db.query("{ q(func: has(name), first: 1) { id name } }")
        assert small.memory()["version"] == 0
        assert 0 < small.memory()["own"] < 10_000
    if sys.platform != "win32":
        for file in (tmp_path / "db").iterdir():
            file.unlink()
    assert large.rows() == [(row["id"], row["name"]) for row in rows]
    assert small.rows() == [(0, "node 0")]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the memory from /proc")
def test_retained_rows_hold_nothing_else():
    """During commits, ten thousand retained results of a row need memory for themselves alone.

    Each commit replaces a text of 20 kB, so the versions of all commits have 200 MB of texts.
    """
    db = hexgraph.connect()
    db.mutate(set='<1> <name> "Ada" .')
    retained = []
    for number in range(500):
        db.mutate(set=f'<2> <bulk> "{number}{"x" * 20_000}" .')
        retained.append(db.query("{ q(func: uid(1)) { name } r(func: uid(2)) { count(bulk) } }"))
    start = resident()
    for number in range(RETAINED):
        db.mutate(set=f'<2> <bulk> "{number}{"y" * 20_000}" .')
        retained.append(db.query("{ q(func: uid(1)) { name } }"))
    gc.collect()
    grown = resident() - start
    own = sum(result.memory()["own"] for result in retained)
    assert all(result.memory()["version"] == 0 for result in retained)
    assert own / len(retained) < 2_000
    assert grown < 100 << 20, f"{grown:,} bytes for {own:,}"


def resident():
    """Bytes of memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
