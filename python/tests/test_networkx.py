"""networkx's functions on hexgraph: the results of networkx, on views and on conversions."""

import copy
import doctest
import inspect
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import pytest

import hexgraph
import hexgraph.networkx as hxn

nx = pytest.importorskip("networkx")
np = pytest.importorskip("numpy")
pytest.importorskip("scipy")


from hexgraph.networkx import backend, convert, info, registry, views  # noqa: E402

numbers = convert._numbers
REGISTERED = nx.utils.backends._registered_algorithms


def public(name):
    """Return the function as users have it, with all that its decorators do."""
    return getattr(nx, name, None) or getattr(nx.community, name)


pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")


def random_graph(seed, count, edges, *kind, loops=True):
    """Return a graph whose nodes are of several kinds, in no order, with weights on most edges."""
    sample = random.Random(seed)
    names = [[n, f"n{n}", (n, "x"), n + 0.5, frozenset({n})][n % 5] for n in range(count)]
    sample.shuffle(names)
    made = nx.DiGraph() if "directed" in kind else nx.Graph()
    made.add_nodes_from(names)
    for _ in range(edges):
        a, b = sample.randrange(count), sample.randrange(count)
        if "acyclic" in kind and a >= b:
            continue
        if a != b or loops:
            made.add_edge(names[a], names[b], cost=sample.choice([1, 2, 5, 9]))
    if "connected" in kind:
        made.add_edges_from(pairwise(names), cost=3)
        made.add_edge(names[-1], names[0], cost=4)
    if made.edges:
        del next(iter(made.edges(data=True)))[2]["cost"]
    return made


GRAPHS = {
    "sparse": random_graph(1, 40, 45),
    "dense": random_graph(2, 25, 120),
    "connected": random_graph(3, 30, 50, "connected"),
    "plain": random_graph(4, 35, 60, loops=False),
    "bipartite": nx.complete_bipartite_graph(4, 6),
    "tree": nx.balanced_tree(2, 4),
    "cycle": nx.cycle_graph(9),
    "single": nx.path_graph(1),
    "no edges": nx.empty_graph(4),
    "directed": random_graph(5, 40, 70, "directed"),
    "directed dense": random_graph(6, 20, 150, "directed"),
    "directed connected": random_graph(7, 30, 60, "directed", "connected"),
    "acyclic": random_graph(8, 40, 160, "directed", "acyclic"),
}

PAIRS_GIVEN = (
    *("adamic_adar_index", "resource_allocation_index", "jaccard_coefficient"),
    "preferential_attachment",
)
ARGUMENTS = {
    "betweenness_centrality": [{}, {"normalized": False}, {"k": 7, "seed": 3}],
    "edge_betweenness_centrality": [{}, {"normalized": False}, {"k": 5, "seed": 3}],
    "closeness_centrality": [{}, {"wf_improved": False}, {"u": 1}],
    "harmonic_centrality": [{}, {"nbunch": 2}],
    "pagerank": [{"weight": "cost"}, {"alpha": 0.5, "tol": 1e-9}, {"personalization": 1}],
    "katz_centrality": [{"alpha": 0.02}, {"alpha": 0.01, "weight": "cost", "normalized": False}],
    "katz_centrality_numpy": [{"alpha": 0.02}, {"alpha": 0.01, "weight": "cost"}],
    "eigenvector_centrality": [
        {"max_iter": 5000, "tol": 1e-9},
        {"max_iter": 5000, "weight": "cost"},
    ],
    "triangles": [{}, {"nodes": 1}, {"nodes": 2}],
    "clustering": [{}, {"nodes": 1}, {"nodes": 2}],
    "average_clustering": [{}, {"count_zeros": False}],
    "single_source_shortest_path_length": [{"source": 1}, {"source": 1, "cutoff": 2}],
    "single_target_shortest_path_length": [{"target": 1}, {"target": 1, "cutoff": 1}],
    "single_source_shortest_path": [{"source": 1}, {"source": 1, "cutoff": 2}],
    "single_target_shortest_path": [{"target": 1}],
    "all_pairs_shortest_path_length": [{}, {"cutoff": 2}],
    "shortest_path": [{"source": 1}, {"target": 1}],
    "shortest_path_length": [
        *({"source": 1}, {"target": 1}, {"source": 1, "target": 3}),
        *({"source": 1, "weight": "cost"}, {"target": 1, "weight": "cost"}),
        {"source": 1, "target": 3, "weight": "cost"},
    ],
    "has_path": [{"source": 1, "target": 3}],
    "single_source_dijkstra_path_length": [
        *({"source": 1}, {"source": 1, "weight": "cost"}),
        {"source": 1, "weight": "cost", "cutoff": 6},
    ],
    "multi_source_dijkstra_path_length": [{"sources": 2, "weight": "cost"}],
    "dijkstra_path_length": [{"source": 1, "target": 3, "weight": "cost"}],
    "descendants": [{"source": 1}],
    "ancestors": [{"source": 1}],
    "descendants_at_distance": [{"source": 1, "distance": 2}],
    "bfs_edges": [{"source": 1}, {"source": 1, "depth_limit": 2}, {"source": 1, "reverse": True}],
    "bfs_predecessors": [{"source": 1}],
    "bfs_successors": [{"source": 1}],
    "bfs_layers": [{"sources": 1}, {"sources": 2}],
    "eccentricity": [{}, {"v": 1}],
    "node_connected_component": [{"n": 1}],
    "is_isolate": [{"n": 1}],
    "is_k_regular": [{"k": 2}],
    "reciprocity": [{}, {"nodes": 2}],
    "to_scipy_sparse_array": [{}, {"weight": "cost"}, {"nodelist": 2, "dtype": float}],
    "to_numpy_array": [{}, {"weight": "cost", "nonedge": -1}, {"nodelist": 2}],
    "average_neighbor_degree": [{}, {"nodes": 2}],
    **{name: [{}, {"ebunch": 4}] for name in PAIRS_GIVEN},
}
"""What functions are called with: for a node or for nodes a number, see `filled`."""

PATHS = (
    "shortest_path",
    "single_target_shortest_path",
    "single_source_dijkstra",
    "single_source_dijkstra_path",
    "dijkstra_path",
)
"""Of several paths of the same weight another one may be returned than by networkx."""

SAMPLES = ("louvain_communities", "leiden_communities", "modularity")


def filled(given, graph):
    """Put nodes of the graph for the numbers that stand for them."""
    nodes = list(graph)
    some = nodes[:: max(1, len(nodes) // 3)]
    made = dict(given)
    for name in {"source", "target", "u", "v", "n"} & set(made):
        made[name] = nodes[made[name] % len(nodes)]
    for name in {"nbunch", "sources", "nodelist", "nodes"} & set(made):
        made[name] = some if made[name] == 2 else some[0]
    if "personalization" in made:
        made["personalization"] = {node: position + 1 for position, node in enumerate(some)}
    if "ebunch" in made:
        made["ebunch"] = [(a, b) for a in nodes[:4] for b in nodes[4:8]]
    return made


def outcome(function, *args, **kwargs):
    """Return what a call gives, or the kind of the exception."""
    try:
        result = function(*args, **kwargs)
        return list(result) if isinstance(result, Iterator) else result
    except NotImplementedError as error:
        return error if isinstance(error, nx.NetworkXException) else "not implemented"
    except Exception as error:
        return error


def same(one, other, position=""):
    """Assert that results agree: numbers within what rounding does, all else exactly."""
    if isinstance(other, Exception):
        assert type(one) is type(other), f"{position}: {one!r}, {other!r}"
    elif isinstance(other, Mapping):
        assert list(one) == list(other) or set(one) == set(other), position
        for key, value in other.items():
            same(one[key], value, f"{position}[{key!r}]")
    elif isinstance(other, (list, tuple)):
        assert len(one) == len(other), f"{position}: {one}, {other}"
        for number, value in enumerate(other):
            same(one[number], value, f"{position}[{number}]")
    elif isinstance(other, np.ndarray):
        assert one.dtype == other.dtype
        assert np.allclose(one, other, equal_nan=True), position
    elif hasattr(other, "toarray"):
        assert one.dtype == other.dtype
        assert one.format == other.format
        assert np.allclose(one.toarray(), other.toarray()), position
    elif isinstance(other, float) and not isinstance(one, bool):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-5, nan_ok=True), position
    else:
        assert one == other, f"{position}: {one!r}, {other!r}"


def calls():
    for name in info.FUNCTIONS:
        if name not in (*PATHS, *SAMPLES):
            for position, given in enumerate(ARGUMENTS.get(name, [{}])):
                yield pytest.param(name, given, id=f"{name}-{position}")


@pytest.mark.parametrize(("name", "given"), list(calls()))
@pytest.mark.filterwarnings("ignore")
def test_results_are_those_of_networkx(name, given):
    function = public(name)
    ran = 0
    for kind, graph in GRAPHS.items():
        arguments = filled(given, graph)
        if backend.can_run(name, (graph,), arguments) is not True:
            continue
        own = outcome(function, graph, backend="hexgraph", **arguments)
        if isinstance(own, str):
            continue
        theirs = outcome(function, graph, **arguments)
        if isinstance(theirs, (TypeError, AttributeError)):
            continue  # networkx stumbles over such a graph
        if name == "hits" and nx.is_bipartite(graph):
            continue  # of the two sides any is the greatest
        if name == "bfs_layers":
            own, theirs = (list(map(set, layers)) for layers in (own, theirs))
        if isinstance(theirs, list) and name in PAIRS_GIVEN and "ebunch" not in arguments:
            # networkx walks a set: the order is anybody's.
            same(by_pair(own), by_pair(theirs), f"{name} {kind}")
        elif name == "strongly_connected_components" and isinstance(theirs, list):
            assert sorted(map(sorted_labels, own)) == sorted(map(sorted_labels, theirs))
        else:
            same(own, theirs, f"{name} {kind} {arguments}")
        if isinstance(theirs, dict) and isinstance(own, dict) and "cutoff" not in arguments:
            values = list(theirs.values())
            # Where networkx walks the nodes, or goes by distance, the keys have its order.
            if len(theirs) == len(graph) and list(theirs) == list(graph):
                assert list(own) == list(theirs), f"{name} {kind}: the order of keys"
            elif "length" in name:
                assert list(own.values()) == sorted(values), f"{name} {kind}: by distance"
        ran += not isinstance(theirs, nx.NetworkXNotImplemented)
    assert ran > 0, "it was called on none of the graphs"


def by_pair(rows):
    return {frozenset(row[:2]): row[2] for row in rows}


def sorted_labels(part):
    return sorted(map(repr, part))


def weight_of(graph, path):
    return sum(graph[a][b].get("cost", 1) for a, b in pairwise(path))


@pytest.mark.parametrize("name", ["shortest_path", "dijkstra_path", "single_source_dijkstra"])
@pytest.mark.parametrize("kind", ["sparse", "connected", "directed", "directed dense"])
def test_paths_are_as_short_as_those_of_networkx(name, kind):
    graph = GRAPHS[kind]
    nodes = list(graph)
    for source in nodes[:4]:
        lengths = nx.single_source_dijkstra_path_length(graph, source, weight="cost")
        for target in nodes:
            result = outcome(public(name), graph, source, target, weight="cost", backend="hexgraph")
            if target not in lengths:
                assert isinstance(result, nx.NetworkXNoPath)
                continue
            if name == "single_source_dijkstra":
                assert result[0] == lengths[target]
                result = result[1]
            assert (result[0], result[-1]) == (source, target)
            assert weight_of(graph, result) == lengths[target]


def test_trees_of_paths_are_as_short_as_those_of_networkx():
    for kind in ("sparse", "connected", "directed"):
        graph = GRAPHS[kind]
        source = next(iter(graph))
        own = nx.single_source_dijkstra(graph, source, weight="cost", backend="hexgraph")
        theirs = nx.single_source_dijkstra(graph, source, weight="cost")
        assert own[0] == theirs[0]
        assert list(own[0].values()) == sorted(theirs[0].values())
        assert list(own[1]) == list(own[0])
        for target, path in own[1].items():
            assert weight_of(graph, path) == theirs[0][target]
        paths = nx.single_source_dijkstra_path(graph, source, 6, "cost", backend="hexgraph")
        assert set(paths) == {node for node, length in theirs[0].items() if length <= 6}


@pytest.mark.parametrize("directed", [False, True])
def test_paths_over_fractions_are_as_short_as_those_of_networkx(directed):
    """The sum of a path is no integer: the path is recovered by the same sums."""
    sample = random.Random(9)
    graph = nx.gnm_random_graph(400, 1600, seed=3, directed=directed)
    for _, _, data in graph.edges(data=True):
        data["cost"] = sample.choice([0.1, 0.2, sample.random(), sample.random() * 1e6, 1e-9])
    own = nx.single_source_dijkstra(graph, 0, weight="cost", backend="hexgraph")
    theirs = nx.single_source_dijkstra(graph, 0, weight="cost")
    assert own[0] == pytest.approx(theirs[0], rel=1e-12)
    assert set(own[1]) == set(theirs[1])
    for target, path in own[1].items():
        assert weight_of(graph, path) == own[0][target]


def test_communities_are_about_as_good():
    graph = nx.planted_partition_graph(6, 40, 0.4, 0.01, seed=4)
    theirs = nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=1))
    for find in (nx.community.louvain_communities, nx.community.leiden_communities):
        own = find(graph, seed=1, backend="hexgraph")
        assert own == find(graph, seed=1, backend="hexgraph"), "the seed decides"
        assert set().union(*own) == set(graph)
        assert sum(map(len, own)) == len(graph)
        assert nx.community.modularity(graph, own) >= theirs * 0.995


@pytest.mark.parametrize("kind", ["sparse", "connected", "directed", "directed dense"])
def test_modularity_is_that_of_networkx(kind):
    graph = GRAPHS[kind]
    nodes = list(graph)
    parts = [set(nodes[:5]), set(nodes[5:18]), set(nodes[18:])]
    for options in ({}, {"weight": "cost"}, {"weight": None, "resolution": 0.4}):
        own = nx.community.modularity(graph, parts, backend="hexgraph", **options)
        assert own == pytest.approx(nx.community.modularity(graph, parts, **options))
    with pytest.raises(nx.NetworkXException):
        nx.community.modularity(graph, parts[:2], backend="hexgraph")


def test_the_table_is_what_there_is():
    assert sorted(info.FUNCTIONS) == sorted(backend.FUNCTIONS)
    assert len(info.FUNCTIONS) >= 40
    for name, function in backend.FUNCTIONS.items():
        own = inspect.signature(function).parameters.values()
        theirs = inspect.signature(REGISTERED[name].orig_func).parameters.values()
        assert [(it.name, it.default) for it in own] == [(it.name, it.default) for it in theirs]
    existing = nx.utils.backends.backend_info["hexgraph"]
    assert set(existing["functions"]) == set(info.FUNCTIONS)


@pytest.fixture
def db():
    db = hexgraph.connect()
    db.alter("name: string @index(exact) .\nroad: [uid] .")
    db.mutate(
        set="""<1> <name> "a" .\n<2> <name> "b" .\n<3> <name> "c" .\n<9> <name> "z" .
        <1> <road> <2> (km=5) .\n<2> <road> <3> (km=1.5) .\n<3> <road> <3> (km=1) ."""
    )
    return db


def test_a_view_is_a_graph_of_networkx(db):
    view = hxn.graph(db, "road", weight="km")
    assert isinstance(view, nx.DiGraph)
    assert isinstance(view, hxn.DiGraph)
    assert list(view) == ["0x1", "0x2", "0x3"]
    assert list(view.edges(data=True))[1] == ("0x2", "0x3", {"km": 1.5})
    assert (len(view), view.size(), view.number_of_edges("0x1", "0x2")) == (3, 3, 1)
    assert dict(view.in_degree()) == {"0x1": 0, "0x2": 1, "0x3": 2}
    assert list(view.predecessors("0x3")) == ["0x2", "0x3"]
    assert "0x2" in view
    assert not view.has_edge("0x2", "0x1")
    both = hxn.graph(db, "road", weight="km", direction="both")
    assert type(both) is hxn.Graph
    assert sorted(both["0x3"]) == ["0x2", "0x3"]
    assert both.number_of_edges() == 3
    assert dict(both.degree(weight="km"))["0x3"] == 3.5
    assert str(both) == "Graph named 'road' with 3 nodes and 3 edges"


def test_functions_accept_a_view_without_a_conversion(db, monkeypatch):
    view = hxn.graph(db, "road", weight="km", direction="both")
    monkeypatch.setattr(type(view), "to_networkx", None)
    assert nx.shortest_path(view, "0x1", "0x3", weight="km") == ["0x1", "0x2", "0x3"]
    assert nx.shortest_path_length(view, "0x1", "0x3", weight="km") == 6.5
    assert nx.shortest_path_length(view, "0x1", "0x3") == 2
    assert nx.is_connected(view)
    assert list(nx.pagerank(view)) == ["0x1", "0x2", "0x3"]
    assert nx.to_numpy_array(view, weight="km").tolist() == [[0, 5, 0], [5, 0, 1.5], [0, 1.5, 1]]


def test_names_nodes_and_what_is_wrong_with_them(db):
    view = hxn.graph(db, "road", key="name", nodes="has(name)")
    assert list(view.edges) == [("a", "b"), ("b", "c"), ("c", "c")]
    assert list(nx.isolates(view)) == ["z"]
    db.mutate(set='<9> <name> "a" .')
    with pytest.raises(hexgraph.QueryError, match="'a' for more than one node"):
        hxn.graph(db, "road", key="name", nodes="has(name)")
    with pytest.raises(hexgraph.QueryError, match="did you mean `road`"):
        hxn.graph(db, "rood")
    db.alter("nick: [string] .")
    db.mutate(set='<1> <nick> "x" .\n<1> <nick> "y" .')
    with pytest.raises(hexgraph.QueryError, match="no name: use texts"):
        hxn.graph(db, "road", key="nick")
    with pytest.raises(AttributeError, match="grap"):
        hxn.grap  # noqa: B018


def test_a_view_stays_what_it_is(db):
    view = hxn.graph(db, "road", direction="both")
    db.mutate(set="<3> <road> <9> .")
    assert nx.number_connected_components(view) == 1
    assert len(view) == 3
    assert len(hxn.graph(db, "road")) == 4


def test_a_view_can_not_be_changed_but_copied(db):
    view = hxn.graph(db, "road", weight="km", direction="both")
    for change in (
        lambda: view.add_node("0x9"),
        lambda: view.add_edge("0x1", "0x3"),
        lambda: view.remove_edge("0x1", "0x2"),
        view.clear,
    ):
        with pytest.raises(nx.NetworkXError, match="read-only"):
            change()
    with pytest.raises(TypeError):
        view["0x1"]["0x2"]["km"] = 3
    for own in (
        view.copy(),
        view.to_networkx(),
        copy.deepcopy(view),
        pickle.loads(pickle.dumps(view)),
    ):
        assert type(own) is nx.Graph
        assert list(own.edges(data=True)) == list(view.edges(data=True))
        own.add_edge("0x1", "0x7", km=1)
    assert type(view.subgraph(["0x1", "0x2"]).copy()) is nx.Graph
    assert list(view.subgraph(["0x1", "0x2"]).edges) == [("0x1", "0x2")]
    transposed = hxn.graph(db, "road").reverse()
    assert type(transposed) is nx.DiGraph
    assert transposed.has_edge("0x2", "0x1")


def test_other_functions_read_a_view_where_networkx_may_go_on(db):
    view = hxn.graph(db, "road", direction="both")
    with pytest.raises(NotImplementedError):
        nx.square_clustering(view)
    with nx.config(fallback_to_nx=True):
        assert nx.square_clustering(view) == {"0x1": 0, "0x2": 0, "0x3": 0}
        assert nx.betweenness_centrality(view, endpoints=True)["0x2"] == 1
    assert nx.square_clustering.orig_func(view) == {"0x1": 0, "0x2": 0, "0x3": 0}


def test_conversions_are_cached_until_the_graph_changes(monkeypatch):
    graph = nx.path_graph(4)
    converted = []
    original = backend.convert_from_nx
    monkeypatch.setattr(
        backend, "convert_from_nx", lambda *a, **k: converted.append(1) or original(*a, **k)
    )
    for _ in range(3):
        assert nx.number_connected_components(graph, backend="hexgraph") == 1
    assert nx.triangles(graph, backend="hexgraph")[0] == 0
    assert len(converted) == 1
    graph.add_edge(7, 8)
    assert nx.number_connected_components(graph, backend="hexgraph") == 2
    assert len(converted) == 2


def _any_size():
    return nx.config.backends.hexgraph(any_size=True)


VIEWS = {
    "subgraph": lambda graph: graph.subgraph(list(graph)[:-1]),
    "edge_subgraph": lambda graph: graph.edge_subgraph(list(graph.edges)[:-1]),
    "subgraph_view": nx.subgraph_view,
    "restricted_view": lambda graph: nx.restricted_view(graph, [0], []),
    "to_directed": lambda graph: graph.to_directed(as_view=True),
    "to_undirected": lambda graph: graph.to_directed().to_undirected(as_view=True),
    "reverse": lambda graph: nx.reverse_view(graph.to_directed(as_view=True)),
    "subgraph of a view": lambda graph: nx.subgraph_view(graph.to_directed(as_view=True)).subgraph(
        graph
    ),
    "view of a subgraph": lambda graph: graph.subgraph(graph).to_directed(as_view=True),
    "generic": nx.graphviews.generic_graph_view,
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_answer_for_the_graph_as_it_is_now(name):
    """A view has a cache of its own, which changes of its graph do not clear."""
    graph = nx.path_graph(1500)
    view = VIEWS[name](graph)
    base = view
    while getattr(base, "_graph", None) is not None:
        base = base._graph
    count = (
        nx.number_strongly_connected_components
        if view.is_directed()
        else nx.number_connected_components
    )
    for change in (
        lambda: None,
        lambda: base.remove_edges_from([(10, 11), (11, 10)]),
        lambda: base.add_edge(10, 11),
        lambda: base.add_edge(11, 10),
        lambda: base.remove_node(700),
        base.clear_edges,
    ):
        change()
        assert count(view, backend="hexgraph") == count(view, backend="networkx")


def test_conversions_of_views_are_cached_until_the_graph_changes(monkeypatch):
    """What was made of a view counts until its graph changes; filters of the caller always."""
    made = []
    monkeypatch.setattr(convert, "_numbers", lambda *given: made.append(given) or numbers(*given))
    graph = nx.path_graph(50)
    nx.set_edge_attributes(graph, 2, "cost")
    view = graph.subgraph(range(40))

    def far(view):
        return nx.dijkstra_path_length(view, 0, 39, "cost", backend="hexgraph")

    assert (far(view), far(view), len(made)) == (78, 78, 1)
    graph.add_edge(0, 39, cost=3)
    assert (far(view), far(view), len(made)) == (3, 3, 2)
    with nx.config(cache_converted_graphs=False):
        assert (far(view), len(made)) == (3, 3)
    is_open = True
    chosen = nx.subgraph_view(graph, filter_edge=lambda a, b: is_open or {a, b} != {0, 39})
    assert far(chosen) == 3
    is_open = False
    assert far(chosen) == 78


@pytest.mark.parametrize("ends", [(2**53 + 1,), (2**53 - 1, 2), (2**63, 1), (2**53 + 1, 0.5)])
def test_int_weights_beyond_floats_are_left_to_networkx(ends):
    """The engine adds up floats: a sum beyond their precision would lose digits."""
    graph = nx.path_graph(len(ends) + 1)
    nx.set_edge_attributes(graph, dict(zip(graph.edges, ends, strict=True)), "weight")
    for name in ("dijkstra_path_length", "shortest_path_length", "single_source_dijkstra"):
        for end in (1, len(ends)):
            arguments = {"source": 0, "target": end, "weight": "weight"}
            with pytest.raises(NotImplementedError):
                public(name)(graph, **arguments, backend="hexgraph")
            with nx.config.backend_priority(algos=["hexgraph"]), _any_size():
                given = public(name)(graph, **arguments)
            assert given == public(name)(graph, **arguments, backend="networkx")


def test_what_can_not_run_is_done_by_networkx():
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, {(0, 1): -1, (1, 2): 2}, "weight")
    for name, arguments in [
        ("betweenness_centrality", {"endpoints": True}),
        ("clustering", {"weight": "weight"}),
        ("closeness_centrality", {"distance": "weight"}),
        ("shortest_path", {}),
        ("single_source_dijkstra", {"source": 0, "weight": lambda *_: 1}),
        ("average_shortest_path_length", {"weight": "weight"}),
        ("bfs_edges", {"source": 0, "sort_neighbors": sorted}),
        ("louvain_communities", {"max_level": 1}),
        ("to_numpy_array", {"multigraph_weight": min}),
    ]:
        assert isinstance(backend.can_run(name, (graph,), arguments), str), name
    assert isinstance(backend.can_run("is_connected", (nx.MultiGraph(),), {}), str)

    class Complement(nx.Graph):
        def neighbors(self, n):
            return iter(set(self) - set(self[n]) - {n})

    assert "Complement" in backend.can_run("is_connected", (Complement([(0, 1)]),), {})
    assert backend.can_run("is_connected", (graph.subgraph([0, 1]),), {}) is True
    assert isinstance(backend.can_run("pagerank", (graph,), {"alfa": 1}), str)
    with nx.config.backend_priority(algos=["hexgraph"]), _any_size():
        assert nx.pagerank(nx.MultiGraph([(0, 1), (0, 1)])) == {0: 0.5, 1: 0.5}
        assert nx.betweenness_centrality(graph, endpoints=True)[0] == 0.5
        # Weights below 0, and none that are numbers, are refused when the graph is read.
        nx.pagerank(nx.Graph([(0, 1, {"weight": 1}), (1, 2, {"weight": 2})]))
        with pytest.raises(ValueError, match="Contradictory"):
            nx.single_source_dijkstra_path_length(graph, 0)
        zero = nx.Graph([(0, 1, {"weight": 0}), (1, 2, {"weight": 0})])
        assert nx.dijkstra_path(zero, 0, 2) == [0, 1, 2]
    with pytest.raises(NotImplementedError):
        nx.pagerank(nx.Graph([(0, 1, {"weight": "far"})]), backend="hexgraph")


def test_small_graphs_are_left_to_networkx(monkeypatch):
    calls = []
    for name in ("pagerank", "connected_components", "has_path", "shortest_path"):
        called = registry.FUNCTIONS[name]
        noted = lambda *args, called=called, **kwargs: (  # noqa: E731
            calls.append(called.__name__),
            called(*args, **kwargs),
        )[1]
        monkeypatch.setitem(registry.FUNCTIONS, name, noted)

    def all_called(graph):
        calls.clear()
        nx.pagerank(graph)
        list(nx.connected_components(graph))
        nx.has_path(graph, 0, 1)
        nx.shortest_path(graph, 0, 1)
        nx.shortest_path(graph, 0)
        return calls.copy()

    linear = ["connected_components", "shortest_path"]
    with nx.config.backend_priority(algos=["hexgraph"]):
        assert all_called(nx.path_graph(info.LEAST - 1)) == []
        assert all_called(nx.path_graph(info.LEAST)) == ["pagerank"]
        assert all_called(nx.path_graph(info.LEAST_LINEAR)) == ["pagerank", *linear]
        with _any_size():
            full = ["pagerank", "connected_components", "has_path", *["shortest_path"] * 2]
            assert all_called(nx.path_graph(2)) == full
    small = nx.path_graph(3)
    report = registry.should_run("pagerank", (small,), {})
    assert "3 nodes" in report
    assert f"{info.LEAST} are worth it" in report
    assert "any_size" in report
    assert "few nodes" in registry.should_run("has_path", (small, 0, 1), {})
    # Who names the backend in the call gets it.
    calls.clear()
    assert nx.has_path(small, 0, 1, backend="hexgraph") is True
    assert calls == ["has_path"]
    assert set(info.FUNCTIONS) >= info.LINEAR | info.NEAR | info.BETWEEN


def test_exceptions_are_those_of_networkx():
    graph = nx.Graph([(0, 1), (2, 3)])
    for kind, call in [
        (nx.NodeNotFound, lambda: nx.shortest_path(graph, 0, 9, backend="hexgraph")),
        (nx.NodeNotFound, lambda: nx.single_source_dijkstra(graph, 9, backend="hexgraph")),
        (nx.NetworkXNoPath, lambda: nx.shortest_path(graph, 0, 3, backend="hexgraph")),
        (nx.NetworkXNoPath, lambda: nx.dijkstra_path_length(graph, 0, 3, backend="hexgraph")),
        (nx.NetworkXError, lambda: nx.diameter(graph, backend="hexgraph")),
        (nx.NetworkXPointlessConcept, lambda: nx.is_connected(nx.Graph(), backend="hexgraph")),
        (
            nx.PowerIterationFailedConvergence,
            lambda: nx.pagerank(nx.star_graph(9), max_iter=1, backend="hexgraph"),
        ),
        (
            nx.PowerIterationFailedConvergence,
            lambda: nx.eigenvector_centrality(nx.star_graph(9), max_iter=1, backend="hexgraph"),
        ),
        (
            nx.NetworkXUnfeasible,
            lambda: list(nx.topological_sort(nx.DiGraph([(0, 1), (1, 0)]), backend="hexgraph")),
        ),
    ]:
        with pytest.raises(kind):
            call()


def test_the_examples_in_docstrings_run():
    result = doctest.testmod(views)
    assert result.attempted > 0
    assert result.failed == 0


def test_a_part_of_the_tests_of_networkx_passes():
    """All of them are run by `make test-networkx`."""
    runner = Path(__file__).parents[2] / "tests" / "networkx" / "run.py"
    done = subprocess.run(
        [sys.executable, str(runner), "--part"],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "as expected" in done.stdout


def test_what_networkx_refuses_is_refused_in_its_words():
    graph = nx.path_graph(5)
    nx.set_edge_attributes(graph, dict.fromkeys(graph.edges, 1.5), "w")
    for call in (
        lambda **to: nx.shortest_path(graph, 0, "Nope", weight="w", **to),
        lambda **to: nx.shortest_path(graph, "Nope", 0, weight="w", **to),
        lambda **to: nx.shortest_path_length(graph, 0, "Nope", weight="w", **to),
        lambda **to: nx.center(nx.Graph(), **to),
        lambda **to: nx.center(nx.DiGraph(), **to),
        lambda **to: nx.to_numpy_array(graph, weight="huge", nonedge=-1, **to),
        lambda **to: nx.to_numpy_array(graph, weight="huge", dtype="int8", **to),
        lambda **to: nx.to_scipy_sparse_array(graph, weight="huge", dtype=int, **to),
    ):
        nx.set_edge_attributes(graph, 1e300, "huge")
        said = []
        for backend_name in ("hexgraph", "networkx"):
            with pytest.raises(Exception) as caught:  # noqa: PT011
                call(backend=backend_name)
            said.append((type(caught.value), str(caught.value)))
        assert said[0][0] is said[1][0]
        assert said[0] == said[1]


def test_a_bound_between_two_lengths_takes_the_greater_one():
    graph = nx.path_graph(9)
    for name in ("single_source_shortest_path_length", "single_target_shortest_path_length"):
        run = getattr(nx, name)
        assert run(graph, 0, cutoff=2.5, backend="hexgraph") == run(graph, 0, cutoff=2.5)
        assert len(run(graph, 0, cutoff=2.5)) == 4


def test_a_matrix_without_edges_is_of_floats():
    graph = nx.star_graph(4)
    for nodes in ([1, 2], [0, 1]):
        one, other = (
            nx.to_scipy_sparse_array(graph, nodelist=nodes, backend=name)
            for name in ("hexgraph", "networkx")
        )
        assert one.dtype == other.dtype
        assert one.toarray().tolist() == other.toarray().tolist()


@pytest.mark.parametrize("few", [0, 3, 10**9])
def test_levels_are_walked_alike_in_lists_and_in_arrays(few, monkeypatch):
    """A walk goes over from lists to arrays, and back, as levels have few edges or many."""
    monkeypatch.setattr("hexgraph.networkx.arrays.FEW", few)
    for graph in GRAPHS.values():
        start = next(iter(graph))
        names = ["bfs_edges", "bfs_successors", "bfs_layers"]
        calls = [(getattr(nx, name), (start,)) for name in names]
        calls.append((nx.edge_betweenness_centrality, ()))
        if nx.is_directed_acyclic_graph(graph):
            calls += [(nx.topological_sort, ()), (nx.topological_generations, ())]
        for run, arguments in calls:
            same(*(outcome(run, graph, *arguments, backend=b) for b in ("hexgraph", "networkx")))


def test_a_level_costs_what_it_has():
    """A path has as many levels as nodes: no level may look at all of them."""
    import time

    path = nx.path_graph(20_000, create_using=nx.DiGraph)
    start = time.perf_counter()
    assert len(list(nx.topological_sort(path, backend="hexgraph"))) == len(path)
    assert len(nx.shortest_path(path, 0, len(path) - 1, backend="hexgraph")) == len(path)
    # If each looked at all nodes, or cost some calls of numpy, it would run for four seconds.
    assert time.perf_counter() - start < 2


@pytest.mark.filterwarnings("ignore")
def test_the_page_lists_what_runs_in_the_engine(monkeypatch):
    from hexgraph.arrays.compact import Compact

    page = (Path(__file__).parents[2] / "docs" / "networkx.md").read_text()
    report = set(re.findall(r"`(\w+)` †", page))
    ran, native = set(), Compact.compute
    given = {
        "modularity": lambda graph: {"communities": [set(graph)]},
        **dict.fromkeys(PATHS, lambda graph: {"source": next(iter(graph)), "weight": "cost"}),
        "dijkstra_path": lambda graph: dict(zip(("source", "target"), graph, strict=False)),
        "single_target_shortest_path": lambda graph: {"target": next(iter(graph))},
    }
    for name in info.FUNCTIONS:

        def compute(*args, name=name, **named):
            ran.add(name)
            return native(*args, **named)

        monkeypatch.setattr(Compact, "compute", compute)
        for graph in GRAPHS.values():
            made = given[name](graph) if name in given else None
            each = ARGUMENTS.get(name, [{}]) if made is None else [made]
            for arguments in each:
                filled_in = filled(arguments, graph) if made is None else arguments
                outcome(public(name), graph, backend="hexgraph", **filled_in)
    # Of this one only the components are the engine's.
    assert report == set(info.FUNCTIONS) - ran | {"eigenvector_centrality_numpy"}
