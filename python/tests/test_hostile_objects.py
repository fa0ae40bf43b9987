"""Objects that lie about themselves, and calls when the interpreter exits: no abort."""

import subprocess
import sys
from collections.abc import Sequence

import pytest

import hexgraph

FAR = 10**11
DQL = "query q($n: string) { q(func: has(name)) @filter(eq(name, $n)) { name } }"


class Long(list):
    """A list that says that it is longer than any memory."""

    def __len__(self):
        return FAR


class Endless(Sequence):
    """A sequence that says so, and has three items."""

    def __init__(self, item):
        self.item = item

    def __len__(self):
        return FAR

    def __getitem__(self, position):
        if position > 2:
            raise IndexError(position)
        return self.item


def test_lists_that_say_that_they_are_long(db):
    db.mutate(set='_:a <name> "x" .')
    assert len(db.query_many(DQL, Long([{"n": "x"}, {"n": "y"}]))) == 1
    result = db.upsert(
        "{ u as var(func: has(name)) }", mutations=Endless({"set": "uid(u) <n> <0x1> ."})
    )
    assert result is not None
    edges = [{"source": 1, "target": 2, "w": 5}]
    assert db.load_edges(edges, "e", facets=Long(["w"]), uid=True).triples == 1
    with pytest.raises(hexgraph.QueryError):
        db.load_edges(edges, "e", facets=Endless("other"), uid=True)
    with pytest.raises(TypeError, match="mutations is a list of dicts, not str"):
        db.upsert("{ u as var(func: has(name)) }", mutations="abc")


AT_EXIT = """
import builtins, hexgraph
db = hexgraph.connect()
class Retained:
    def __del__(self):
        calls = [
            lambda: db.query("{"),
            lambda: db.alter("x: nothing ."),
            lambda: db.load_nodes({"a": [1]}, "T", id="b"),
            lambda: db.mutate(set="<1> <at> x ."),
            db.close,
            lambda: db.query("{ q(func: has(x)) { uid } }"),
        ]
        for call in calls:
            try:
                call()
            except BaseException as error:
                print(type(error).__name__)
builtins.retained = Retained()
"""


def test_errors_when_the_interpreter_exits():
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "ParseError"
    assert done.stdout.split()[-1] == "ClosedError"
