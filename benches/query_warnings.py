"""What do the warnings of a query cost where none of them applies?

`python benches/query_warnings.py` makes a graph of a million nodes and takes each query in pairs of runs: with `Result.warnings` and
without. It prints the medians and the ratio of each pair. Half of the queries are such that a check looks closer: operands of
different nodes, edges that lead to a node twice. None of them gets a warning, which is checked. Of those that get one, below the
first table, the ratio is to the same query over nodes that have all values.

    python benches/query_warnings.py --against DIR

has another build of the package, in the directory DIR, answer the same queries without warnings, in turns, in a process of its own.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time

NODES, ROUNDS = 1_000_000, 15

SCHEMA = "num: int @index(int) .\nage: int .\npay: int .\nhalf: int .\nrate: float .\npart: float .\nsome: int .\nmost: int .\nw: int .\nout: [uid] .\nchild: [uid] ."


def average(expression: str, root: str = "num", fields: str = "a as age p as pay") -> str:
    """Return the query of the mean of an expression over the nodes that have a predicate."""
    return (
        f"{{ var(func: has({root})) {{ {fields} m as math({expression}) }} q() {{ avg(val(m)) }} }}"
    )


QUIET = {
    "ints, all nodes have both": average("p - a"),
    "floats, all nodes have both": average("p - r", fields="p as pay r as rate"),
    "a comparison": average("p > a"),
    "a variable of more nodes than the block": (
        "{ var(func: has(num)) { r as rate } "
        "var(func: has(half)) { h as half m as math(h - r) } q() { avg(val(m)) } }"
    ),
    "values of the nodes below are added up": (
        "{ var(func: has(out)) { out { p as pay } s as sum(val(p)) } q() { avg(val(s)) } }"
    ),
    "facets are read where edges lead": (
        "{ var(func: has(out)) { out @facets(x as w) } q() { sum(val(x)) } }"
    ),
    "facets of edges to one node each": (
        "{ var(func: has(child)) { child @facets(x as w) s as sum(val(x)) } q() { avg(val(s)) } }"
    ),
    "a variable from above, one node above each": (
        "{ var(func: has(child)) { s as pay child { t as pay r as math(t + s) } } q() { avg(val(r)) } }"
    ),
    "edges with a page and a filter": (
        "{ q(func: has(out), first: 5000) { out (first: 2) @filter(ge(age, 30)) { age } } }"
    ),
    "a page of ten": "{ q(func: has(num), first: 10) { num age } }",
}

TOLD = {
    "ints, half of the nodes lack one": (
        average("h - a", fields="a as age h as half"),
        average("p - a"),
    ),
    "ints, a tenth of the nodes lacks one, a fifth the other": (
        average("s - t", root="num", fields="s as some t as most"),
        average("p - a"),
    ),
    "floats, half of the nodes lack one": (
        average("t - r", fields="r as rate t as part"),
        average("p - r", fields="p as pay r as rate"),
    ),
}


def graph(hexgraph):
    """Return a database of the nodes, three edges from each of a tenth of them, and one edge from another tenth."""
    dice = random.Random(7)
    db = hexgraph.connect()
    db.alter(SCHEMA)
    numbers = range(NODES)
    db.load_nodes(
        {
            "num": list(numbers),
            "age": [dice.randrange(100) for _ in numbers],
            "pay": [dice.randrange(10_000) for _ in numbers],
            "half": [at if at % 2 else None for at in numbers],
            "rate": [dice.random() for _ in numbers],
            "some": [dice.randrange(10**12) if at % 5 else None for at in numbers],
            "most": [dice.randrange(10**12) if at % 10 else None for at in numbers],
            "part": [dice.random() if at % 2 else None for at in numbers],
        },
        "Node",
        id="num",
    )
    tenth = range(NODES // 10)
    ends = [dice.randrange(NODES) for _ in tenth for _ in range(3)]
    db.load_edges(
        {"source": [at for at in tenth for _ in range(3)], "target": ends, "w": ends},
        "out",
        on="num",
    )
    below = [NODES // 2 + at for at in tenth]
    db.load_edges({"source": list(tenth), "target": below, "w": below}, "child", on="num")
    return db


def serve() -> None:
    """Answer queries that come in lines, with the milliseconds of each and the number of its warnings."""
    import hexgraph

    db = graph(hexgraph)
    print("ready", flush=True)
    for line in sys.stdin:
        dql, is_asked = json.loads(line)
        began = time.perf_counter()
        found = db.query(dql)
        found.json()
        told = found.warnings if is_asked else []
        print(json.dumps([(time.perf_counter() - began) * 1e3, len(told)]), flush=True)


class Build:
    """A process with one build of the package."""

    def __init__(self, folder: str | None) -> None:
        environment = os.environ | ({"PYTHONPATH": folder} if folder else {})
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout.readline() == "ready\n"

    def run(self, dql: str, is_asked: bool = False) -> tuple[float, int]:
        """Return how long a query took, and how many warnings it has."""
        self.process.stdin.write(json.dumps([dql, is_asked]) + "\n")
        self.process.stdin.flush()
        return tuple(json.loads(self.process.stdout.readline()))


def medians(runs) -> list[float]:
    """Return the medians of some runs that are made in turns, from either end; the first of each counts for nothing."""
    times = [[] for _ in runs]
    for turn in range(ROUNDS + 1):
        for at in range(len(runs)) if turn % 2 else reversed(range(len(runs))):
            times[at].append(runs[at]())
    return [statistics.median(column[1:]) for column in times]


def main() -> None:
    """Print the tables."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "--against", metavar="DIR", help="a directory with another build of the package"
    )
    arguments.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.serve:
        return serve()
    here = Build(None)
    there = Build(given.against) if given.against else None
    print(
        "| no warning | ms | with warnings | ratio |" + (" other build | ratio |" if there else "")
    )
    print("|---|--:|--:|--:|" + ("--:|--:|" if there else ""))
    for name, dql in QUIET.items():
        assert here.run(dql, True)[1] == 0, f"{name}: a warning"
        runs = [lambda q=dql: here.run(q)[0], lambda q=dql: here.run(q, True)[0]]
        runs += [lambda q=dql: there.run(q)[0]] if there else []
        plain, asked, *other = medians(runs)
        cells = [f"{plain:,.2f}", f"{asked:,.2f}", f"{asked / plain:.2f}"]
        cells += [text for ms in other for text in (f"{ms:,.2f}", f"{plain / ms:.2f}")]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print(
        "\n| a warning | ms | all have it | ratio |" + (" other build | ratio |" if there else "")
    )
    print("|---|--:|--:|--:|" + ("--:|--:|" if there else ""))
    for name, (dql, alike) in TOLD.items():
        assert here.run(dql, True)[1] >= 1, f"{name}: no warning"
        runs = [lambda q=dql: here.run(q, True)[0], lambda q=alike: here.run(q, True)[0]]
        runs += [lambda q=dql: there.run(q)[0]] if there else []
        asked, other_nodes, *other = medians(runs)
        cells = [f"{asked:,.2f}", f"{other_nodes:,.2f}", f"{asked / other_nodes:.2f}"]
        cells += [text for ms in other for text in (f"{ms:,.2f}", f"{asked / ms:.2f}")]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return None


if __name__ == "__main__":
    main()
