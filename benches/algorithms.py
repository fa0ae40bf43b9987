"""Graph algorithms on a Kronecker graph and a uniform one, as the GAP suite makes them.

    python benches/algorithms.py [SCALE] [--threads N] [--edges FILE]

2^SCALE nodes (18) and 16 edges drawn for each; weights from 1 to 255. With `--edges` the graph is a Parquet file of the columns `src` and `dst`
instead. Prints for each algorithm the milliseconds of the first call, which makes the graph that it needs, the least of the calls after it, and
the least of calls each of which follows a commit of 100 edges. Needs numpy and polars.
"""

import argparse
import time

import numpy
import polars

import hexgraph

DEGREE = 16
CALLS = 3
COMMITTED = 100

KERNELS = [
    ("pagerank, 20 rounds", "pagerank", {"iterations": 20, "tolerance": 0.0}),
    ("components", "components", {}),
    ("strong_components", "strong_components", {}),
    ("bfs", "bfs", {"source": "SOURCE"}),
    ("distances, weighted", "distances", {"source": "SOURCE", "weight": "w"}),
    ("degree", "degree", {}),
    ("betweenness, 16 starts", "betweenness", {"samples": 16}),
    ("eigenvector", "eigenvector", {}),
    ("bridges", "bridges", {}),
    ("spanning_forest", "spanning_forest", {}),
    ("diameter", "diameter", {}),
    ("core_numbers", "core_numbers", {}),
    ("triangles", "triangles", {}),
    ("label_propagation, 10 rounds", "label_propagation", {}),
    ("louvain", "louvain", {}),
    ("leiden", "leiden", {}),
]


def kronecker(scale, rng):
    """Edges by Graph500's probabilities, their ends permuted."""
    count = DEGREE << scale
    source, target = numpy.zeros(count, dtype="int64"), numpy.zeros(count, dtype="int64")
    for bit in range(scale):
        is_low = rng.random(count) > 0.76
        is_right = rng.random(count) > numpy.where(is_low, 0.19 / 0.24, 0.57 / 0.76)
        source |= is_low.astype("int64") << bit
        target |= is_right.astype("int64") << bit
    order = rng.permutation(1 << scale)
    return order[source], order[target]


def uniform(scale, rng):
    """Edges whose ends are drawn alike."""
    count = DEGREE << scale
    return rng.integers(0, 1 << scale, count), rng.integers(0, 1 << scale, count)


def loaded(source, target, rng):
    """Return a database with the edges, each once, and a node with some."""
    pairs = polars.DataFrame({"source": source + 1, "target": target + 1}).unique()
    table = pairs.with_columns(w=rng.integers(1, 256, len(pairs)))
    db = hexgraph.connect()
    started = time.perf_counter()
    db.load_edges(table, "e", uid=True, facets=["w"])
    took = time.perf_counter() - started
    print(f"  {len(pairs)} edges, loaded in {took:.1f} s")
    return db, int(pairs["source"].mode()[0])


def commit(db, rng, nodes):
    """Commit edges between nodes that are drawn."""
    ends = rng.integers(1, nodes, (COMMITTED, 2)).tolist()
    db.mutate(set="\n".join(f"<{source}> <e> <{target}> (w=7) ." for source, target in ends))


def called(call):
    """Return the milliseconds of a call."""
    started = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - started)


def measure(db, source, threads, nodes):
    """Print the milliseconds of each algorithm."""
    rng = numpy.random.default_rng(11)
    print(f"  {'':<30} {'first':>9} {'then':>9} {'committed':>9}")
    for title, name, arguments in KERNELS:
        given = {k: source if v == "SOURCE" else v for k, v in arguments.items()}

        def call(name=name, given=given):
            getattr(db.algo, name)("e", threads=threads, **given)

        first = called(call)
        then = min(called(call) for _ in range(CALLS))
        after = []
        for _ in range(CALLS):
            commit(db, rng, nodes)
            after.append(called(call))
        print(f"  {title:<30} {first:>9.1f} {then:>9.1f} {min(after):>9.1f}", flush=True)


def main():
    """Measure the graph of a file, or both generated ones."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scale", nargs="?", type=int, default=18)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--edges")
    given = parser.parse_args()
    if given.edges:
        rng = numpy.random.default_rng(7)
        print(given.edges)
        table = polars.read_parquet(given.edges)
        source, target = table["src"].to_numpy(), table["dst"].to_numpy()
        measure(*loaded(source, target, rng), given.threads, int(max(source.max(), target.max())))
        return
    for name, edges in (("kronecker", kronecker), ("uniform", uniform)):
        rng = numpy.random.default_rng(7)
        print(f"{name}, scale {given.scale}")
        measure(*loaded(*edges(given.scale, rng), rng), given.threads, 1 << given.scale)


if __name__ == "__main__":
    main()
