"""Graph algorithms beside other libraries, on one graph in one run, answers compared before times.

    python benches/beside_libraries.py EDGES [--threads N] [--gapbs DIR] [--only NAME ...] [--calls N]

EDGES is a Parquet file of the columns `src` and `dst`. Weights are drawn, whole numbers from 1 to 255. Other libraries are measured where they
are installed: igraph, NetworKit, rustworkx, networkx; and the programs of the GAP benchmark suite where `--gapbs` names the folder with them. `--only`
names the libraries to be measured beside hexgraph.

For each algorithm it prints the seconds of the least of some calls (of one that takes long), and behind the bar those with the graph made from arrays. For
hexgraph it prints besides when a first call begins, and one after a commit of 100 edges, and what `.store()` takes.
It ends with 1 where an answer is another one. Needs numpy and polars.
"""

import argparse
import gc
import importlib
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import polars

import hexgraph

COMMITTED = 100
LONG = 5.0
"""The seconds from which on a call is not made again."""

CLOSE = 1e-3
"""By which share floats may differ: libraries stop their rounds at different points."""


class Edges:
    """The edges of a graph, with and without directions, as numbers of nodes."""

    def __init__(self, path):
        table = polars.read_parquet(path)
        ends = numpy.concatenate([table["src"].to_numpy(), table["dst"].to_numpy()])
        names, numbers = numpy.unique(ends, return_inverse=True)
        self.nodes, half = len(names), len(ends) // 2
        self.sources, self.targets = self._distinct(numbers[:half], numbers[half:])
        low, high = numpy.minimum(self.sources, self.targets), numpy.maximum(self.sources, self.targets)
        self.low, self.high = self._distinct(low, high)
        self.weights = numpy.random.default_rng(7).integers(1, 256, len(self.sources))
        self.start = int(numpy.bincount(self.sources).argmax())

    def _distinct(self, one, other):
        key = numpy.unique(one.astype("int64") * self.nodes + other)
        key = key[key // self.nodes != key % self.nodes]
        return key // self.nodes, key % self.nodes


def timed(call, calls):
    """Return the least seconds of some calls, and what the last one gave."""
    least = float("inf")
    for _ in range(calls):
        started = time.perf_counter()
        found = call()
        least = min(least, time.perf_counter() - started)
        if least > LONG:
            break
    return least, found


def reached(distances):
    """Return the number of nodes that were reached, and the sum of their distances."""
    known = numpy.asarray(distances, dtype="float64")
    known = known[numpy.isfinite(known) & (known >= 0) & (known < 1e300)]
    return len(known), float(known.sum())


def on_hexgraph(edges, threads):
    """Everything here is asked of a database: `graph` is one direction, `undirected` the other graph."""
    db = hexgraph.connect()
    table = polars.DataFrame({"src": edges.sources + 1, "dst": edges.targets + 1, "w": edges.weights})
    db.load_edges(table, "e", uid=True, facets=["w"])
    source = edges.start + 1
    of = lambda name, **given: getattr(db.algo, name)("e", threads=threads, **given)  # noqa: E731
    return db, {
        "bfs": lambda: reached(of("bfs", source=source).to_numpy()),
        "pagerank": lambda: of("pagerank", iterations=200, tolerance=1e-8).to_numpy(),
        "components": lambda: of("components").to_numpy().max() + 1,
        "strong_components": lambda: of("strong_components").to_numpy().max() + 1,
        "distances": lambda: reached(of("distances", source=source, weight="w").to_numpy()),
        "core_numbers": lambda: of("core_numbers").to_numpy().sum(),
        "transitivity": lambda: of("transitivity").value,
        "leiden": lambda: of("leiden"),
    }


def on_igraph(edges, _threads):
    igraph = importlib.import_module("igraph")
    made = {}

    def graph():
        if "graph" not in made:
            ends = numpy.stack([edges.sources, edges.targets], 1)
            made["graph"] = igraph.Graph(n=edges.nodes, edges=ends, directed=True)
        return made["graph"]

    def undirected():
        if "undirected" not in made:
            made["undirected"] = igraph.Graph(n=edges.nodes, edges=numpy.stack([edges.low, edges.high], 1))
        return made["undirected"]

    def leiden():
        found = undirected().community_leiden("modularity", n_iterations=2)
        return undirected().modularity(found.membership)

    calls = {
        "bfs": lambda: reached(graph().distances(edges.start, mode="out")[0]),
        "pagerank": lambda: numpy.array(graph().pagerank()),
        "components": lambda: len(graph().connected_components("weak")),
        "strong_components": lambda: len(graph().connected_components("strong")),
        "distances": lambda: reached(graph().distances(edges.start, weights=edges.weights.tolist(), mode="out")[0]),
        "core_numbers": lambda: sum(undirected().coreness()),
        "transitivity": lambda: undirected().transitivity_undirected(),
        "leiden": leiden,
    }
    return (graph, undirected), calls


def on_networkit(edges, threads):
    nk = importlib.import_module("networkit")
    nk.setNumberOfThreads(threads)
    made = {}

    def graph(weighted=False):
        if weighted not in made:
            ends = (edges.sources, edges.targets)
            given = (edges.weights.astype(float), ends) if weighted else ends
            made[weighted] = nk.GraphFromCoo(given, n=edges.nodes, weighted=weighted, directed=True)
        return made[weighted]

    def undirected():
        if "undirected" not in made:
            made["undirected"] = nk.GraphFromCoo((edges.low, edges.high), n=edges.nodes)
        return made["undirected"]

    def leiden():
        found = nk.community.ParallelLeiden(undirected(), iterations=2).run().getPartition()
        return nk.community.Modularity().getQuality(found, undirected())

    calls = {
        "bfs": lambda: reached(nk.distance.BFS(graph(), edges.start, storePaths=False).run().getDistances()),
        "pagerank": lambda: numpy.array(nk.centrality.PageRank(graph(), 0.85, 1e-8, distributeSinks=nk.centrality.SinkHandling.DistributeSinks).run().scores()),
        "components": lambda: nk.components.WeaklyConnectedComponents(graph()).run().numberOfComponents(),
        "strong_components": lambda: nk.components.StronglyConnectedComponents(graph()).run().numberOfComponents(),
        "distances": lambda: reached(nk.distance.Dijkstra(graph(True), edges.start, storePaths=False).run().getDistances()),
        "core_numbers": lambda: sum(nk.centrality.CoreDecomposition(undirected()).run().scores()),
        "transitivity": lambda: nk.globals.ClusteringCoefficient.exactGlobal(undirected()),
        "leiden": leiden,
    }
    return (graph, undirected), calls


def on_rustworkx(edges, threads):
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    rx = importlib.import_module("rustworkx")
    made = {}

    def graph():
        if "graph" not in made:
            made["graph"] = rx.PyDiGraph(multigraph=True)
            made["graph"].add_nodes_from(range(edges.nodes))
            made["graph"].add_edges_from_no_data(list(zip(edges.sources.tolist(), edges.targets.tolist(), strict=True)))
        return made["graph"]

    def undirected():
        if "undirected" not in made:
            made["undirected"] = rx.PyGraph(multigraph=True)
            made["undirected"].add_nodes_from(range(edges.nodes))
            made["undirected"].add_edges_from_no_data(list(zip(edges.low.tolist(), edges.high.tolist(), strict=True)))
        return made["undirected"]

    def pagerank():
        ranks = rx.pagerank(graph(), tol=1e-8 / edges.nodes, max_iter=200)
        return numpy.array([ranks[node] for node in range(edges.nodes)])

    calls = {
        "pagerank": pagerank,
        "components": lambda: len(rx.weakly_connected_components(graph())),
        "strong_components": lambda: len(rx.strongly_connected_components(graph())),
        "core_numbers": lambda: sum(rx.core_number(undirected()).values()),
        "transitivity": lambda: rx.transitivity(undirected()),
    }
    return (graph, undirected), calls


def on_networkx(edges, _threads):
    nx = importlib.import_module("networkx")
    nx.config.backend_priority = []
    made = {}

    def graph():
        if "graph" not in made:
            made["graph"] = nx.DiGraph()
            made["graph"].add_nodes_from(range(edges.nodes))
            columns = (edges.sources.tolist(), edges.targets.tolist(), edges.weights.tolist())
            made["graph"].add_weighted_edges_from(zip(*columns, strict=True), weight="w")
        return made["graph"]

    def undirected():
        if "undirected" not in made:
            made["undirected"] = nx.Graph()
            made["undirected"].add_nodes_from(range(edges.nodes))
            made["undirected"].add_edges_from(zip(edges.low.tolist(), edges.high.tolist(), strict=True))
        return made["undirected"]

    def pagerank():
        ranks = nx.pagerank(graph(), tol=1e-8 / edges.nodes, max_iter=200, weight=None)
        return numpy.array([ranks[node] for node in range(edges.nodes)])

    calls = {
        "bfs": lambda: reached(list(nx.single_source_shortest_path_length(graph(), edges.start).values())),
        "pagerank": pagerank,
        "components": lambda: nx.number_weakly_connected_components(graph()),
        "strong_components": lambda: nx.number_strongly_connected_components(graph()),
        "distances": lambda: reached(list(nx.single_source_dijkstra_path_length(graph(), edges.start, weight="w").values())),
        "core_numbers": lambda: sum(nx.core_number(undirected()).values()),
        "transitivity": lambda: nx.transitivity(undirected()),
    }
    return (graph, undirected), calls


LIBRARIES = {
    "igraph": on_igraph,
    "networkit": on_networkit,
    "rustworkx": on_rustworkx,
    "networkx": on_networkx,
}
UNDIRECTED = ("core_numbers", "transitivity", "leiden")
"""What is asked of the graph without directions."""


def is_same(name, one, other):
    """Return whether two answers are the same, floats but for the point where rounds stop."""
    if name == "leiden":
        return other * 0.995 <= one
    if name == "pagerank":
        return float(numpy.abs(one - other).sum()) < CLOSE
    return bool(numpy.allclose(one, other, rtol=1e-9))


def measure_hexgraph(edges, threads, calls):
    """Return the answers and the seconds of each algorithm, and print what is hexgraph's own."""
    started = time.perf_counter()
    db, kernels = on_hexgraph(edges, threads)
    print(f"hexgraph: {edges.nodes} nodes, {len(edges.sources)} edges with weights loaded in {time.perf_counter() - started:.1f} s")
    # It needs the graph, and looks at one edge of it.
    near = lambda: db.algo.sample("e", source=edges.start + 1, fanouts=[1])  # noqa: E731
    first, _ = timed(near, 1)
    then, _ = timed(near, 10)
    print(f"  the first call begins after {1e3 * (first - then):.0f} ms, the next after {1e3 * then:.2f}")
    answers, seconds = {}, {}
    for name, call in kernels.items():
        cold, _ = timed(call, 1)
        least, found = timed(call, calls)
        answers[name] = found
        seconds[name] = (least, cold)
    # Its modularity is told by the algorithm of that name, whose time is not Leiden's.
    answers["leiden"] = db.algo.modularity("e", groups=answers["leiden"], direction="both").value
    rng = numpy.random.default_rng(11)
    times = []
    for _ in range(calls):
        ends = rng.integers(1, edges.nodes, (COMMITTED, 2)).tolist()
        db.mutate(set="\n".join(f"<{source}> <e> <{target}> (w=7) ." for source, target in ends))
        times.append(timed(near, 1)[0])
    print(f"  after a commit of {COMMITTED} edges it begins after {1e3 * min(times):.1f} ms")
    ranks = db.algo.pagerank("e")
    took, _ = timed(lambda: ranks.store("rank"), 1)
    print(f"  .store() of {edges.nodes} values takes {took:.2f} s", flush=True)
    return answers, seconds


def measure_library(name, edges, options, answers):
    """Return the seconds of each algorithm of another library, and which answers are others."""
    try:
        graphs, kernels = LIBRARIES[name](edges, options.threads)
    except ImportError as error:
        print(f"{name}: {error}")
        return {}, []
    made = [timed(graph, 1)[0] for graph in graphs]
    print(f"{name}: graph made in {made[0]:.1f} s, without directions in {made[1]:.1f} s", flush=True)
    seconds, faults = {}, []
    for kernel, call in kernels.items():
        if kernel in options.skip.split(","):
            continue
        least, found = timed(call, options.calls)
        seconds[kernel] = (least, least + made[kernel in UNDIRECTED])
        print(f"  {kernel}: {least:.3f} s", flush=True)
        if not is_same(kernel, answers[kernel], found):
            faults.append(f"{kernel}: hexgraph {answers[kernel]}, {name} {found}")
    return seconds, faults


def measure_gapbs(edges, options, answers):
    """Return the seconds of the programs of the GAP benchmark suite, and which answers are others."""
    folder = Path(options.gapbs)
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}

    def run(program, *arguments):
        command = [str(folder / program), *arguments]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    def least(text):
        return min(float(found) for found in re.findall(r"Trial Time: +([\d.]+)", text))

    seconds, faults = {}, []
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        columns = {"source": edges.sources, "target": edges.targets, "weight": edges.weights}
        table, out = polars.DataFrame(columns), {"include_header": False, "separator": " "}
        table.select("source", "target").write_csv(f"{scratch}/g.el", **out)
        table.write_csv(f"{scratch}/g.wel", **out)
        pairs = polars.DataFrame({"source": edges.low, "target": edges.high})
        pairs.write_csv(f"{scratch}/u.el", **out)
        made = {}
        for kind, given in {"g.sg": ["g.el"], "u.sg": ["u.el", "-s"], "g.wsg": ["g.wel", "-w"]}.items():
            text = run("converter", "-f", f"{scratch}/{given[0]}", *given[1:], "-b", f"{scratch}/{kind}")
            made[kind] = float(re.search(r"Build Time: +([\d.]+)", text)[1])
        start, trials = str(edges.start), str(max(options.calls, 5))
        rounds = ("-i", "200", "-t", "1e-8")
        plans = {
            "bfs": ("bfs", "g.sg", ("-r", start), r"BFS Tree has (\d+) nodes", lambda found: found[0]),
            "pagerank": ("pr", "g.sg", rounds, None, None),
            "components": ("cc", "g.sg", (), r"There are (\d+) components", lambda found: found),
            "distances": ("sssp", "g.wsg", ("-r", start), r"SSSP Tree reaches (\d+) nodes", lambda found: found[0]),
        }
        for name, (program, kind, arguments, pattern, of) in plans.items():
            text = run(program, "-f", f"{scratch}/{kind}", *arguments, "-n", trials, "-a")
            seconds[name] = (least(text), least(text) + made[kind])
            found = re.search(pattern, text) if pattern else None
            if pattern and (found is None or int(found[1]) != of(answers[name])):
                faults.append(f"{name}: hexgraph {answers[name]}, gapbs {found and found[1]}")
        text = run("tc", "-f", f"{scratch}/u.sg", "-n", "2")
        seconds["triangles"] = (least(text), least(text) + made["u.sg"])
    return seconds, faults


def main():
    """Measure hexgraph, then each library, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("edges")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--gapbs", help="folder with the programs of the GAP benchmark suite")
    parser.add_argument("--scratch", help="folder for the files that these read")
    parser.add_argument("--only", nargs="*", default=list(LIBRARIES), choices=list(LIBRARIES))
    parser.add_argument("--skip", default="", help="algorithms that others are not asked for, with commas")
    parser.add_argument("--calls", type=int, default=3)
    options = parser.parse_args()
    edges = Edges(options.edges)
    answers, own = measure_hexgraph(edges, options.threads, options.calls)
    columns, faults = {"hexgraph": own}, []
    if options.gapbs:
        columns["gapbs"], found = measure_gapbs(edges, options, answers)
        faults += found
    for name in options.only:
        gc.collect()
        columns[name], found = measure_library(name, edges, options, answers)
        faults += found
    print(f"| algorithm | {' | '.join(columns)} |")
    print(f"|---|{'--:|' * len(columns)}")
    names = dict.fromkeys(name for column in columns.values() for name in column)
    for name in names:
        cells = [column.get(name) for column in columns.values()]
        shown = [f"{cell[0]:.3f} / {cell[1]:.2f}" if cell else "" for cell in cells]
        print(f"| {name} | {' | '.join(shown)} |")
    print("\n".join(faults) or "all answers are the same")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
