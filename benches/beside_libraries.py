"""Graph algorithms beside other libraries, on one graph in one run, answers compared before times.

    python benches/beside_libraries.py EDGES [--threads N] [--gapbs DIR] [--only NAME ...] [--rows NAME ...] [--calls N]

EDGES is a Parquet file of the columns `src` and `dst`. Weights are drawn, whole numbers from 1 to 255. Other libraries are measured where they
are installed: igraph, NetworKit, rustworkx, networkx; and the programs of the GAP benchmark suite where `--gapbs` names the folder with them. `--only`
names the libraries to be measured beside hexgraph, `--rows` the algorithms.

For each algorithm it prints the seconds of the least of some calls (of one that takes long), and behind the bar those with the graph made from arrays.
For hexgraph it prints besides when a first call begins, with all nodes and with half of them, and one after a commit of 100 edges, and what `.store()` takes.
It ends with 1 where an answer is another one. `ROWS` says what is compared. Needs numpy and polars.
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

NEAR = 64
"""The nodes that are asked how near they are to all others."""

PAIRED = 100
"""Each of so many nodes is compared with each of as many others."""

STARTS = 16
"""The searches that betweenness is estimated by."""

ALPHA = 0.002
"""What a step counts in Katz's centrality: less than one divided by the greatest eigenvalue of social graphs of a million people."""

ROWS = {
    "bfs": ("graph", "same"),
    "distances": ("weighted", "same"),
    "pagerank": ("graph", "close"),
    "hits": ("graph", "close"),
    "eigenvector": ("graph", "close"),
    "katz": ("graph", "close"),
    "closeness": ("graph", "same"),
    "harmonic": ("graph", "same"),
    "betweenness": ("graph", "same"),
    "components": ("graph", "same"),
    "strong_components": ("graph", "same"),
    "topological_order": ("dag", "same"),
    "articulation_points": ("undirected", "same"),
    "bridges": ("undirected", "same"),
    "spanning_forest": ("undirected", "same"),
    "core_numbers": ("undirected", "same"),
    "transitivity": ("undirected", "same"),
    "clustering": ("undirected", "same"),
    "similarity": ("undirected", "same"),
    "label_propagation": ("undirected", "time"),
    "louvain": ("undirected", "quality"),
    "leiden": ("undirected", "quality"),
}
"""The graph that each algorithm is asked on, and how its answers are compared: they are the same; or the same but for where rounds stop; or the
modularity of communities, which may be half a percent less. Labels are propagated in different ways, of which only the time is compared."""


REMEMBERED = {("igraph", "components"), ("igraph", "strong_components")}
"""What a library remembers of a graph: of a graph in one part igraph knows that after the first call, so only that one counts."""

UNLIKE = {("networkit", "katz")}
"""What a library defines otherwise: its time counts, and its answer is not compared. Plain numpy gives hexgraph's."""


class Edges:
    """The edges of a graph, with and without directions, as numbers of nodes."""

    def __init__(self, path):
        table = polars.read_parquet(path)
        ends = numpy.concatenate([table["src"].to_numpy(), table["dst"].to_numpy()])
        names, numbers = numpy.unique(ends, return_inverse=True)
        self.nodes, half = len(names), len(ends) // 2
        self.sources, self.targets = self._distinct(numbers[:half], numbers[half:])
        # Without directions, and also from the lower to the higher node, which makes no cycles.
        low, high = (
            numpy.minimum(self.sources, self.targets),
            numpy.maximum(self.sources, self.targets),
        )
        self.low, self.high = self._distinct(low, high)
        draws = numpy.random.default_rng(7)
        self.weights = draws.integers(1, 256, len(self.sources))
        self.start = int(numpy.bincount(self.sources).argmax())
        drawn = draws.choice(self.nodes, NEAR + 2 * PAIRED, replace=False)
        self.near, self.some, self.others = numpy.split(drawn, [NEAR, NEAR + PAIRED])
        self.starts = self.near[:STARTS].tolist()
        self.pairs = [(one, other) for one in self.some.tolist() for other in self.others.tolist()]

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


def scaled(scores):
    """Return scores whose sum is 1."""
    scores = numpy.abs(numpy.asarray(scores, dtype="float64"))
    return scores / scores.sum()


def is_order(edges, places):
    """Return whether all edges from the lower to the higher node lead forward."""
    return bool((places[edges.low] < places[edges.high]).all())


def places_of(order):
    """Return the place of each node in an order."""
    places = numpy.empty(len(order), dtype="int64")
    places[numpy.asarray(order)] = numpy.arange(len(order))
    return places


class Made:
    """The graphs of a library, each made when it is first asked for, with the seconds that took."""

    def __init__(self, **makers):
        self._makers, self._made, self.seconds = makers, {}, {}

    def __getattr__(self, kind):
        if kind not in self._made:
            self.seconds[kind], self._made[kind] = timed(self._makers[kind], 1)
        return self._made[kind]


def on_hexgraph(edges, threads):
    """Everything here is asked of a database; `dag` are edges of their own."""
    db = hexgraph.connect()
    table = polars.DataFrame(
        {"src": edges.sources + 1, "dst": edges.targets + 1, "w": edges.weights}
    )
    db.load_edges(table, "e", uid=True, facets=["w"])
    db.load_edges(polars.DataFrame({"src": edges.low + 1, "dst": edges.high + 1}), "low", uid=True)
    ids = lambda nodes: (numpy.asarray(nodes) + 1).tolist()  # noqa: E731
    source = edges.start + 1
    of = lambda name, on="e", **given: getattr(db.algo, name)(on, threads=threads, **given)  # noqa: E731
    some = lambda found: found[~numpy.isnan(found)]  # noqa: E731
    rounds = {"iterations": 200, "tolerance": 1e-8}
    pairs = {"source": ids(edges.some), "target": ids(edges.others), "direction": "both"}
    alike = lambda: of("similarity", **pairs)  # noqa: E731
    return db, {
        "bfs": lambda: reached(of("bfs", source=source).to_numpy()),
        "distances": lambda: reached(of("distances", source=source, weight="w").to_numpy()),
        "pagerank": lambda: of("pagerank", **rounds).to_numpy(),
        "hits": lambda: scaled(of("hits", **rounds).to_numpy()),
        "eigenvector": lambda: scaled(of("eigenvector", **rounds).to_numpy()),
        "katz": lambda: scaled(of("katz", alpha=ALPHA, **rounds).to_numpy()),
        "closeness": lambda: float(some(of("closeness", source=ids(edges.near)).to_numpy()).sum()),
        "harmonic": lambda: float(some(of("harmonic", source=ids(edges.near)).to_numpy()).sum()),
        "betweenness": lambda: float(of("betweenness", source=ids(edges.starts)).to_numpy().sum()),
        "components": lambda: of("components").to_numpy().max() + 1,
        "strong_components": lambda: of("strong_components").to_numpy().max() + 1,
        "topological_order": lambda: is_order(edges, of("topological_order", "low").to_numpy()),
        "articulation_points": lambda: len(of("articulation_points")),
        "bridges": lambda: len(of("bridges")),
        "spanning_forest": lambda: len(of("spanning_forest")),
        "core_numbers": lambda: of("core_numbers").to_numpy().sum(),
        "transitivity": lambda: of("transitivity").value,
        "clustering": lambda: float(of("clustering").to_numpy().sum()),
        "similarity": lambda: int(numpy.count_nonzero(alike().to_numpy())),
        "label_propagation": lambda: of("label_propagation", direction="both"),
        "louvain": lambda: of("louvain"),
        "leiden": lambda: of("leiden"),
    }


def on_igraph(edges, _threads):
    igraph = importlib.import_module("igraph")

    def directed(one, other):
        return igraph.Graph(n=edges.nodes, edges=numpy.stack([one, other], 1), directed=True)

    made = Made(
        graph=lambda: directed(edges.sources, edges.targets),
        weighted=lambda: directed(edges.sources, edges.targets),
        dag=lambda: directed(edges.low, edges.high),
        undirected=lambda: igraph.Graph(
            n=edges.nodes, edges=numpy.stack([edges.low, edges.high], 1)
        ),
    )
    near = {"vertices": edges.near.tolist(), "mode": "in", "normalized": False}
    alike = lambda: made.undirected.similarity_jaccard(pairs=edges.pairs, loops=False)  # noqa: E731
    quality = lambda found: made.undirected.modularity(found.membership)  # noqa: E731
    return made, {
        "bfs": lambda: reached(made.graph.distances(edges.start, mode="out")[0]),
        "distances": lambda: reached(
            made.weighted.distances(edges.start, weights=edges.weights.tolist(), mode="out")[0]
        ),
        "pagerank": lambda: numpy.array(made.graph.pagerank()),
        "hits": lambda: scaled(made.graph.authority_score()),
        "eigenvector": lambda: scaled(made.graph.eigenvector_centrality(directed=True)),
        "closeness": lambda: float(numpy.nansum(made.graph.closeness(**near))),
        "harmonic": lambda: float(numpy.nansum(made.graph.harmonic_centrality(**near))),
        "betweenness": lambda: sum(made.graph.betweenness(sources=edges.starts)),
        "components": lambda: len(made.graph.connected_components("weak")),
        "strong_components": lambda: len(made.graph.connected_components("strong")),
        "topological_order": lambda: is_order(edges, places_of(made.dag.topological_sorting())),
        "articulation_points": lambda: len(made.undirected.articulation_points()),
        "bridges": lambda: len(made.undirected.bridges()),
        "spanning_forest": lambda: len(made.undirected.spanning_tree(return_tree=False)),
        "core_numbers": lambda: sum(made.undirected.coreness()),
        "transitivity": lambda: made.undirected.transitivity_undirected(),  # noqa: PLW0108
        "clustering": lambda: float(
            numpy.sum(made.undirected.transitivity_local_undirected(mode="zero"))
        ),
        "similarity": lambda: int(numpy.count_nonzero(alike())),
        "label_propagation": lambda: made.undirected.community_label_propagation(),  # noqa: PLW0108
        "louvain": lambda: quality(made.undirected.community_multilevel()),
        "leiden": lambda: quality(made.undirected.community_leiden("modularity", n_iterations=2)),
    }


def on_networkit(edges, threads):
    nk = importlib.import_module("networkit")
    nk.setNumberOfThreads(threads)
    ends = (edges.sources, edges.targets)
    made = Made(
        graph=lambda: nk.GraphFromCoo(ends, n=edges.nodes, directed=True),
        weighted=lambda: nk.GraphFromCoo(
            (edges.weights.astype(float), ends), n=edges.nodes, weighted=True, directed=True
        ),
        dag=lambda: nk.GraphFromCoo((edges.low, edges.high), n=edges.nodes, directed=True),
        undirected=lambda: nk.GraphFromCoo((edges.low, edges.high), n=edges.nodes),
    )
    ranks = lambda: nk.centrality.PageRank(  # noqa: E731
        made.graph, 0.85, 1e-8, distributeSinks=nk.centrality.SinkHandling.DistributeSinks
    )

    def quality(found):
        groups = found.run().getPartition()
        return nk.community.Modularity().getQuality(groups, made.undirected)

    def alike():
        index = nk.linkprediction.JaccardIndex(made.undirected)
        return sum(index.run(one, other) > 0 for one, other in edges.pairs)

    def katz():
        found = nk.centrality.KatzCentrality(made.graph, ALPHA, 1.0, 1e-9)
        (found.edgeDirection,) = nk.centrality.EdgeDirection.IN_EDGES
        return scaled(found.run().scores())

    def tree():
        found = nk.graph.SpanningForest(made.undirected)
        return found.run().getForest().numberOfEdges()

    return made, {
        "bfs": lambda: reached(
            nk.distance.BFS(made.graph, edges.start, storePaths=False).run().getDistances()
        ),
        "distances": lambda: reached(
            nk.distance.Dijkstra(made.weighted, edges.start, storePaths=False).run().getDistances()
        ),
        "pagerank": lambda: numpy.array(ranks().run().scores()),
        "eigenvector": lambda: scaled(
            nk.centrality.EigenvectorCentrality(made.graph, 1e-9).run().scores()
        ),
        "katz": katz,
        "components": lambda: (
            nk.components.WeaklyConnectedComponents(made.graph).run().numberOfComponents()
        ),
        "strong_components": lambda: (
            nk.components.StronglyConnectedComponents(made.graph).run().numberOfComponents()
        ),
        "topological_order": lambda: is_order(
            edges, places_of(nk.graphtools.topologicalSort(made.dag))
        ),
        "spanning_forest": tree,
        "core_numbers": lambda: sum(
            nk.centrality.CoreDecomposition(made.undirected).run().scores()
        ),
        "transitivity": lambda: nk.globals.ClusteringCoefficient.exactGlobal(made.undirected),
        "clustering": lambda: sum(
            nk.centrality.LocalClusteringCoefficient(made.undirected, turbo=True).run().scores()
        ),
        "similarity": alike,
        "label_propagation": lambda: (
            nk.community.PLP(made.undirected, maxIterations=10).run().getPartition()
        ),
        "louvain": lambda: quality(nk.community.PLM(made.undirected)),
        "leiden": lambda: quality(nk.community.ParallelLeiden(made.undirected, iterations=2)),
    }


def on_rustworkx(edges, threads):
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    rx = importlib.import_module("rustworkx")

    def filled(kind, one, other, weights=None):
        graph = kind(multigraph=True)
        graph.add_nodes_from(range(edges.nodes))
        columns = [ends.tolist() for ends in (one, other, weights) if ends is not None]
        add = graph.add_edges_from_no_data if weights is None else graph.add_edges_from
        add(list(zip(*columns, strict=True)))
        return graph

    made = Made(
        graph=lambda: filled(rx.PyDiGraph, edges.sources, edges.targets),
        weighted=lambda: filled(rx.PyDiGraph, edges.sources, edges.targets, edges.weights),
        dag=lambda: filled(rx.PyDiGraph, edges.low, edges.high),
        undirected=lambda: filled(rx.PyGraph, edges.low, edges.high),
    )
    listed = lambda found: numpy.array([found[node] for node in range(edges.nodes)])  # noqa: E731
    ways = lambda: rx.dijkstra_shortest_path_lengths(made.weighted, edges.start, float)  # noqa: E731
    layers = lambda: rx.bfs_layers(made.graph, [edges.start])  # noqa: E731
    one = lambda _: 1.0  # noqa: E731
    return made, {
        "bfs": lambda: reached(
            numpy.repeat(
                *zip(*((far, len(layer)) for far, layer in enumerate(layers())), strict=True)
            )
        ),
        # It does not tell the distance of the source.
        "distances": lambda: reached([0, *ways().values()]),
        "pagerank": lambda: listed(rx.pagerank(made.graph, tol=1e-8 / edges.nodes, max_iter=200)),
        "hits": lambda: scaled(listed(rx.hits(made.graph, max_iter=200)[1])),
        "eigenvector": lambda: scaled(listed(rx.eigenvector_centrality(made.graph, max_iter=200))),
        "katz": lambda: scaled(listed(rx.katz_centrality(made.graph, alpha=ALPHA, beta=1.0))),
        "components": lambda: len(rx.weakly_connected_components(made.graph)),
        "strong_components": lambda: len(rx.strongly_connected_components(made.graph)),
        "topological_order": lambda: is_order(edges, places_of(rx.topological_sort(made.dag))),
        "articulation_points": lambda: len(rx.articulation_points(made.undirected)),
        "bridges": lambda: len(rx.bridges(made.undirected)),
        "spanning_forest": lambda: len(rx.minimum_spanning_edges(made.undirected, one)),
        "core_numbers": lambda: sum(rx.core_number(made.undirected).values()),
        "transitivity": lambda: rx.transitivity(made.undirected),
    }


def on_networkx(edges, _threads):
    nx = importlib.import_module("networkx")
    nx.config.backend_priority = []

    def filled(kind, one, other, weights=None):
        graph = kind()
        graph.add_nodes_from(range(edges.nodes))
        columns = [ends.tolist() for ends in (one, other, weights) if ends is not None]
        pairs = zip(*columns, strict=True)
        graph.add_edges_from(pairs) if weights is None else graph.add_weighted_edges_from(
            pairs, weight="w"
        )
        return graph

    made = Made(
        graph=lambda: filled(nx.DiGraph, edges.sources, edges.targets),
        weighted=lambda: filled(nx.DiGraph, edges.sources, edges.targets, edges.weights),
        dag=lambda: filled(nx.DiGraph, edges.low, edges.high),
        undirected=lambda: filled(nx.Graph, edges.low, edges.high),
    )
    listed = lambda found: numpy.array([found[node] for node in range(edges.nodes)])  # noqa: E731
    ways = lambda: nx.single_source_dijkstra_path_length(made.weighted, edges.start, weight="w")  # noqa: E731
    katz = lambda: nx.katz_centrality(made.graph, alpha=ALPHA, beta=1.0)  # noqa: E731
    return made, {
        "bfs": lambda: reached(
            list(nx.single_source_shortest_path_length(made.graph, edges.start).values())
        ),
        "distances": lambda: reached(list(ways().values())),
        "pagerank": lambda: listed(nx.pagerank(made.graph, tol=1e-8 / edges.nodes, max_iter=200)),
        "hits": lambda: scaled(listed(nx.hits(made.graph)[1])),
        "eigenvector": lambda: scaled(listed(nx.eigenvector_centrality(made.graph, max_iter=200))),
        "katz": lambda: scaled(listed(katz())),
        "components": lambda: nx.number_weakly_connected_components(made.graph),
        "strong_components": lambda: nx.number_strongly_connected_components(made.graph),
        "topological_order": lambda: is_order(
            edges, places_of(list(nx.topological_sort(made.dag)))
        ),
        "articulation_points": lambda: len(set(nx.articulation_points(made.undirected))),
        "bridges": lambda: len(list(nx.bridges(made.undirected))),
        "spanning_forest": lambda: len(
            list(nx.minimum_spanning_edges(made.undirected, data=False))
        ),
        "core_numbers": lambda: sum(nx.core_number(made.undirected).values()),
        "transitivity": lambda: nx.transitivity(made.undirected),
        "clustering": lambda: sum(nx.clustering(made.undirected).values()),
        "similarity": lambda: sum(
            it[2] > 0 for it in nx.jaccard_coefficient(made.undirected, edges.pairs)
        ),
    }


LIBRARIES = {
    "igraph": on_igraph,
    "networkit": on_networkit,
    "rustworkx": on_rustworkx,
    "networkx": on_networkx,
}


def is_same(name, one, other):
    """Return whether two answers are the same, as far as they are compared."""
    how = ROWS[name][1]
    if how == "time":
        return True
    if how == "quality":
        return other * 0.995 <= one
    if how == "close":
        return float(numpy.abs(one - other).sum()) < CLOSE
    return bool(numpy.allclose(one, other, rtol=1e-9))


def measure_beginnings(db, edges, calls):
    """Print when a call begins: the first one, one on half of the nodes, the next, and one after a commit."""
    # It needs the graph, and looks at one edge of it.
    near = lambda **given: db.algo.sample("e", source=edges.start + 1, fanouts=[1], **given)  # noqa: E731
    first, _ = timed(near, 1)
    then, _ = timed(near, 10)
    halves = polars.DataFrame(
        {"id": numpy.arange(1, edges.nodes + 1), "half": numpy.arange(edges.nodes) % 2}
    )
    db.load_nodes(halves, id="id", uid=True)
    db.index("half", "int")
    half, _ = timed(lambda: near(nodes="eq(half, 1)"), 1)
    print(
        f"  the first call begins after {1e3 * first:.0f} ms, on half of the nodes after {1e3 * half:.0f}, the next after {1e3 * then:.2f}"
    )
    draws, times = numpy.random.default_rng(11), []
    for _ in range(calls):
        ends = draws.integers(1, edges.nodes, (COMMITTED, 2)).tolist()
        db.mutate(set="\n".join(f"<{source}> <e> <{target}> (w=7) ." for source, target in ends))
        times.append(timed(near, 1)[0])
    print(f"  after a commit of {COMMITTED} edges it begins after {1e3 * min(times):.1f} ms")
    ranks = db.algo.pagerank("e")
    took, _ = timed(lambda: ranks.store("rank"), 1)
    print(f"  .store() of {edges.nodes} values takes {took:.2f} s", flush=True)


def measure_hexgraph(edges, options):
    """Return the answers and the seconds of each algorithm, and print what is hexgraph's own."""
    started = time.perf_counter()
    db, kernels = on_hexgraph(edges, options.threads)
    print(
        f"hexgraph: {edges.nodes} nodes, {len(edges.sources)} edges with weights loaded in {time.perf_counter() - started:.1f} s",
        flush=True,
    )
    made, answers, seconds = {}, {}, {}
    for name, (kind, how) in ROWS.items():
        if name not in options.rows:
            continue
        cold, found = timed(kernels[name], 1)
        least, found = timed(kernels[name], options.calls)
        made.setdefault(kind, max(cold - least, 0.0))
        seconds[name] = (least, least + made[kind])
        print(f"  {name}: {least:.4f} s, the first {cold:.3f}", flush=True)
        # The modularity is told by the algorithm of that name, whose time is not part of it.
        is_quality = how == "quality"
        answers[name] = (
            db.algo.modularity("e", groups=found, direction="both").value if is_quality else found
        )
    if options.beginnings:
        measure_beginnings(on_hexgraph(edges, options.threads)[0], edges, options.calls)
    return answers, seconds


def measure_library(name, edges, options, answers):
    """Return the seconds of each algorithm of another library, and which answers are others."""
    try:
        made, kernels = LIBRARIES[name](edges, options.threads)
    except ImportError as error:
        print(f"{name}: {error}")
        return {}, []
    print(name)
    seconds, faults = {}, []
    for kernel, call in kernels.items():
        if kernel not in options.rows:
            continue
        kind = ROWS[kernel][0]
        getattr(made, kind)
        try:
            least, found = timed(call, 1 if (name, kernel) in REMEMBERED else options.calls)
        except Exception as error:
            print(f"  {kernel}: {error}", flush=True)
            continue
        seconds[kernel] = (least, least + made.seconds[kind])
        print(f"  {kernel}: {least:.3f} s, {made.seconds[kind]:.1f} for the graph", flush=True)
        if (name, kernel) not in UNLIKE and not is_same(kernel, answers[kernel], found):
            faults.append(f"{kernel}: hexgraph {answers[kernel]}, {name} {found}")
    return seconds, faults


def run_gapbs(folder, threads, program, *arguments):
    """Return what a program of the suite prints."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    command = [str(Path(folder) / program), *arguments]
    return subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    ).stdout


def gapbs_plans(edges, calls):
    """Return for each algorithm its program of the GAP benchmark suite, the arguments, what of the text tells the answer, and what that is for hexgraph's."""
    many, few, rounds = ("-n", str(max(calls, 5))), ("-n", "2"), ("-i", "200", "-t", "1e-8")
    start, reaches = ("-r", str(edges.start)), lambda found: found[0]
    return {
        "bfs": ("bfs", (*start, *many), r"BFS Tree has (\d+) nodes", reaches),
        "distances": ("sssp", (*start, *many), r"SSSP Tree reaches (\d+) nodes", reaches),
        "pagerank": ("pr", (*rounds, *many), None, None),
        "betweenness": ("bc", ("-i", str(STARTS), *few), None, None),
        "components": ("cc", many, r"There are (\d+) components", lambda found: found),
        "transitivity": ("tc", few, None, None),
    }


def make_gapbs(edges, kind, options, scratch):
    """Write a graph as the suite reads it, and return its file and the seconds that its converter took to build it."""
    pairs = [edges.low, edges.high] if kind == "undirected" else [edges.sources, edges.targets]
    weights, ends = ([edges.weights], ("wel", "wsg")) if kind == "weighted" else ([], ("el", "sg"))
    text, made = (Path(scratch) / f"{kind}.{end}" for end in ends)
    polars.DataFrame(pairs + weights).write_csv(text, include_header=False, separator=" ")
    more = {"weighted": ("-w",), "undirected": ("-s",)}.get(kind, ())
    told = run_gapbs(
        options.gapbs, options.threads, "converter", "-f", str(text), *more, "-b", str(made)
    )
    text.unlink()
    return str(made), float(re.search(r"Build Time: +([\d.]+)", told)[1])


def measure_gapbs(edges, options, answers):
    """Return the seconds of the programs of the GAP benchmark suite, and which answers are others. Its triangles are counted for the transitivity."""
    seconds, faults, graphs = {}, [], {}
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        for name, (program, arguments, pattern, of) in gapbs_plans(edges, options.calls).items():
            if name not in options.rows:
                continue
            kind = ROWS[name][0]
            if kind not in graphs:
                graphs[kind] = make_gapbs(edges, kind, options, scratch)
            file, took = graphs[kind]
            text = run_gapbs(options.gapbs, options.threads, program, "-f", file, *arguments, "-a")
            least = min(float(found) for found in re.findall(r"Trial Time: +([\d.]+)", text))
            seconds[name] = (least, least + took)
            print(f"  {name}: {least:.4f} s", flush=True)
            found = re.search(pattern, text) if pattern else None
            if pattern and (found is None or int(found[1]) != of(answers[name])):
                faults.append(f"{name}: hexgraph {answers[name]}, gapbs {found and found[1]}")
    return seconds, faults


def print_table(columns):
    """Print the seconds of each algorithm and library."""
    print(f"| algorithm | {' | '.join(columns)} |")
    print(f"|---|{'--:|' * len(columns)}")
    for name in ROWS:
        cells = [column.get(name) for column in columns.values()]
        shown = [f"{cell[0]:.3f} / {cell[1]:.2f}" if cell else "" for cell in cells]
        if any(shown):
            print(f"| {name} | {' | '.join(shown)} |")


def main():
    """Measure hexgraph, then each library, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("edges")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--gapbs", help="folder with the programs of the GAP benchmark suite")
    parser.add_argument("--scratch", help="folder for the files that these read")
    parser.add_argument("--only", nargs="*", default=list(LIBRARIES), choices=list(LIBRARIES))
    parser.add_argument(
        "--rows", nargs="*", default=list(ROWS), choices=list(ROWS), help="the algorithms"
    )
    parser.add_argument(
        "--beginnings", action="store_true", help="also when calls begin, and what `.store()` takes"
    )
    parser.add_argument("--calls", type=int, default=3)
    options = parser.parse_args()
    edges = Edges(options.edges)
    answers, own = measure_hexgraph(edges, options)
    columns, faults = {"hexgraph": own}, []
    if options.gapbs:
        columns["gapbs"], found = measure_gapbs(edges, options, answers)
        faults += found
    for name in options.only:
        gc.collect()
        columns[name], found = measure_library(name, edges, options, answers)
        faults += found
    print_table(columns)
    print("\n".join(faults) or "all answers are the same")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
