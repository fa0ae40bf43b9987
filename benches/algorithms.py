"""Graph algorithms on a Kronecker graph and a uniform one, as the GAP suite makes them.

    python benches/algorithms.py [SCALE]

2^SCALE nodes (18) and 16 edges drawn for each; weights from 1 to 255. Prints for each algorithm the milliseconds of the first call, which makes
the graph that it needs, and the least of the calls after it. Needs numpy and polars.
"""

import sys
import time

import numpy
import polars

import hexgraph

DEGREE = 16
CALLS = 3

KERNELS = [
    ("pagerank, 20 rounds", "pagerank", {"iterations": 20, "tolerance": 0.0}),
    ("components", "components", {}),
    ("strong_components", "strong_components", {}),
    ("bfs", "bfs", {"source": "SOURCE"}),
    ("distances, weighted", "distances", {"source": "SOURCE", "weight": "w"}),
    ("degree", "degree", {}),
    ("betweenness, 4 starts", "betweenness", {"samples": 4}),
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


def measure(db, source):
    """Print the milliseconds of each algorithm."""
    print(f"  {'':<30} {'first':>9} {'then':>9}")
    for title, name, arguments in KERNELS:
        given = {k: source if v == "SOURCE" else v for k, v in arguments.items()}
        times = []
        for _ in range(1 + CALLS):
            started = time.perf_counter()
            getattr(db.algo, name)("e", **given)
            times.append(1e3 * (time.perf_counter() - started))
        print(f"  {title:<30} {times[0]:>9.1f} {min(times[1:]):>9.1f}", flush=True)


def main():
    """Measure both graphs."""
    scale = int(sys.argv[1]) if len(sys.argv) > 1 else 18
    for name, edges in (("kronecker", kronecker), ("uniform", uniform)):
        rng = numpy.random.default_rng(7)
        print(f"{name}, scale {scale}")
        measure(*loaded(*edges(scale, rng), rng))


if __name__ == "__main__":
    main()
