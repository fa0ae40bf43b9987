"""Times functions of networkx on hexgraph beside networkx itself, in one run on one graph.

Usage: python benches/networkx_backend.py [--nodes N] [--edges-a-node M]

The graph is one of preferential attachment (A.-L. Barabási, R. Albert: Emergence of Scaling in Random Networks. Science 286, 1999), with
a weight on each edge. `first` is a call with the conversion of networkx's graph, `again` the next one, which finds it converted; `view`
is a call on `hexgraph.networkx.graph` over a database that has the same edges, for which nothing is converted.
"""

import argparse
import functools
import platform
import random
import time
import warnings

import networkx as nx
import numpy

import hexgraph
import hexgraph.networkx


def components(graph, **how):
    return list(nx.connected_components(graph, **how))


CALLS = {
    "connected_components": (components, (), {}),
    "pagerank": (nx.pagerank, (), {}),
    "triangles": (nx.triangles, (), {}),
    "core_number": (nx.core_number, (), {}),
    "single_source_dijkstra": (nx.single_source_dijkstra, ("start",), {}),
    "single_source_shortest_path_length": (nx.single_source_shortest_path_length, ("start",), {}),
    "betweenness_centrality (k=10)": (nx.betweenness_centrality, (), {"k": 10, "seed": 1}),
    "louvain_communities": (nx.community.louvain_communities, (), {"seed": 1}),
}
"""What is called; `start` stands for a node."""


def timed(call, *args, **kwargs):
    start = time.perf_counter()
    call(*args, **kwargs)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges-a-node", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    graph = nx.barabasi_albert_graph(options.nodes, options.edges_a_node, seed=1)
    draw = random.Random(1)
    for _, _, data in graph.edges(data=True):
        data["weight"] = draw.randrange(1, 10)
    db = hexgraph.connect()
    ends = numpy.array(graph.edges, dtype="uint64") + 1
    weights = [data["weight"] for *_, data in graph.edges(data=True)]
    table = {"from": ends[:, 0].tolist(), "to": ends[:, 1].tolist(), "weight": weights}
    db.load_edges(table, "edge", "from", "to", uid=True, facets="weight")
    made = timed(lambda: hexgraph.networkx.graph(db, "edge", weight="weight", direction="both"))
    view = hexgraph.networkx.graph(db, "edge", weight="weight", direction="both")
    print(f"{len(graph)} nodes, {graph.size()} edges; networkx {nx.__version__}, Python {platform.python_version()}")
    print(f"the view over the database is made in {made:.2f} s")
    print("| function | networkx | first | again | view | networkx / first | networkx / again |")
    print("|---|---|---|---|---|---|---|")
    for name, (function, places, named) in CALLS.items():
        call = functools.partial(function, graph, *(0 for _ in places), **named)
        graph.__networkx_cache__.clear()
        own = timed(call, backend="networkx")
        first = timed(call, backend="hexgraph")
        again = timed(call, backend="hexgraph")
        seen = timed(function, view, *("0x1" for _ in places), **named)
        print(f"| `{name}` | {own:.2f} s | {first:.2f} s | {again:.3f} s | {seen:.3f} s | {own / first:.1f} | {own / again:.0f} |", flush=True)


if __name__ == "__main__":
    main()
