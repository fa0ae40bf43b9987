"""Groups, paths, samples, walks and vectors from Python, and graphs of arrays."""

import random
from itertools import pairwise

import pytest

import hexgraph

numpy = pytest.importorskip("numpy")

EDGES = [(1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 6), (6, 4)]


@pytest.fixture
def db():
    db = hexgraph.connect()
    db.alter("knows: [uid] .\nteam: string @index(exact) .")
    quads = [f"<{a}> <knows> <{b}> (w={a + b}) ." for a, b in EDGES]
    quads += [f'<{node}> <team> "{"ab"[node > 3]}" .' for node in range(1, 7)]
    db.mutate(set="\n".join(quads))
    return db


def crowd(seed, nodes=60, edges=300):
    sample = random.Random(seed)
    pairs = {(sample.randrange(nodes), sample.randrange(nodes)) for _ in range(edges)}
    return [(a, b, sample.randrange(1, 9) / 2) for a, b in sorted(pairs) if a != b]


def test_modularity_is_of_groups_of_any_origin(db):
    by_team = db.algo.modularity("knows", groups="team").value
    teams = dict(zip(range(1, 7), "aaabbb", strict=True))
    assert db.algo.modularity("knows", groups=teams).value == by_team
    assert (
        db.algo.modularity("knows", groups={hex(u): g for u, g in teams.items()}).value == by_team
    )
    result = db.algo.leiden("knows")
    assert db.algo.modularity("knows", groups=result, threads=1).value == by_team
    some = db.algo.modularity("knows", groups=teams, nodes=[1, 2, 3]).value
    assert some == db.algo.modularity("knows", groups="team", nodes=[1, 2, 3]).value == 0
    out = db.algo.modularity("knows", groups=teams, direction="out", weight="w", resolution=0.5)
    same = db.algo.modularity("knows", groups="team", direction="out", weight="w", resolution=0.5)
    assert out.value == same.value != by_team
    with pytest.raises(TypeError, match="not int"):
        db.algo.modularity("knows", groups=5)
    with pytest.raises(hexgraph.QueryError, match="did you mean `team`"):
        db.algo.modularity("knows", groups="taem")


def test_modularity_is_that_of_networkx():
    nx = pytest.importorskip("networkx")
    for seed in range(5):
        edges = crowd(seed)
        for directed in (False, True):
            theirs = nx.DiGraph() if directed else nx.Graph()
            for a, b, weight in edges:
                more = theirs[a][b]["weight"] if theirs.has_edge(a, b) else 0
                theirs.add_edge(a, b, weight=weight + more)
            ours = hexgraph.Graph(*zip(*edges, strict=True), directed=directed)
            groups = {node: node % 4 for node in theirs}
            sets = [{n for n in theirs if n % 4 == group} for group in range(4)]
            expected = nx.community.modularity(theirs, sets)
            # A directed graph needs an argument: the default is without directions.
            direction = "out" if directed else "both"
            result = ours.algo.modularity(groups=groups, direction=direction).value
            assert result == pytest.approx(expected)


def test_k_shortest_is_that_of_networkx():
    nx = pytest.importorskip("networkx")
    from itertools import islice

    for seed in range(8):
        edges = crowd(seed, nodes=30, edges=110)
        theirs = nx.DiGraph()
        theirs.add_weighted_edges_from(edges)
        ours = hexgraph.Graph(*zip(*edges, strict=True))
        source, target = edges[0][0], edges[-1][1]
        result = ours.algo.k_shortest(source=source, target=target, k=12).paths()
        if not nx.has_path(theirs, source, target):
            assert result == []
            continue
        paths = islice(nx.shortest_simple_paths(theirs, source, target, weight="weight"), 12)
        lengths = [nx.path_weight(theirs, path, "weight") for path in paths]
        assert [length for length, _ in result] == lengths
        for length, path in result:
            assert nx.path_weight(theirs, path, "weight") == length
            assert len(set(path)) == len(path)
            assert (path[0], path[-1]) == (source, target)


def test_paths_are_tables_and_arrays(db):
    result = db.algo.k_shortest("knows", source=1, target=4, k=5)
    assert result.columns == ["path", "uid", "k_shortest"]
    assert result.rows()[:2] == [(0, "0x1", 0.0), (0, "0x2", 1.0)]
    assert result.to_numpy().tolist() == [[1, 2, 3, 4]]
    assert result.paths() == [(3.0, ["0x1", "0x2", "0x3", "0x4"])]
    nothing = db.algo.k_shortest("knows", source=4, target=1)
    assert (nothing.paths(), nothing.to_numpy().shape, len(nothing)) == ([], (0, 0), 0)
    assert repr(result).splitlines()[0].split() == ["path", "uid", "k_shortest"]
    for run in (result.to_dict, lambda: result.store("x")):
        with pytest.raises(ValueError, match="for each node"):
            run()
    with pytest.raises(ValueError, match="no paths"):
        db.algo.degree("knows").paths()


def test_walks_are_rows_of_uids(db):
    walks = db.algo.walks("knows", length=10, per_node=3, seed=5)
    array = walks.to_numpy()
    assert (array.shape, array.dtype) == ((18, 11), "uint64")
    for walk in array.tolist():
        assert all(step in EDGES for step in pairwise(walk))
    again = db.algo.walks("knows", length=10, per_node=3, seed=5, threads=1).to_numpy()
    assert numpy.array_equal(array, again)
    other = db.algo.walks("knows", length=10, per_node=3, seed=6).to_numpy()
    assert not numpy.array_equal(array, other)
    assert db.algo.walks("knows", source="eq(team, a)", length=1).to_numpy()[:, 0].tolist() == [
        1,
        2,
        3,
    ]


def test_a_sample_is_arrays(db):
    sample = db.sample("knows", source=["0x4", 3, 4], fanouts=[5, 1], direction="both", seed=3)
    assert sample.nodes[:2].tolist() == [4, 3]
    assert sample.sources == 2
    assert sample.layers.sum() == len(sample) == sample.edge_index.shape[1]
    pairs = {frozenset(pair) for pair in EDGES}
    for start, end in sample.edge_index.T.tolist():
        assert frozenset([int(sample.nodes[start]), int(sample.nodes[end])]) in pairs
    assert set(sample.layer(1)[1].tolist()) == {0, 1}
    assert sample.layer(2).shape[1] == sample.layers[1]
    assert len(set(sample.nodes.tolist())) == len(sample.nodes)
    with pytest.raises(IndexError, match="layers 1 to 2"):
        sample.layer(3)
    by_root = db.sample("knows", source='eq(team, "b") @filter(not uid(4))', fanouts=[1])
    assert by_root.nodes[:2].tolist() == [5, 6]
    alone = db.sample("knows", source=[99], fanouts=[2])
    assert (alone.nodes.tolist(), len(alone)) == ([99], 0)
    assert repr(alone) == "<Sample: 1 nodes, edges by layer: none>"
    with pytest.raises(hexgraph.ParseError, match="integers"):
        db.sample("knows", source=[1], fanouts=[0.5])


def test_vectors_are_stored_and_searched(db):
    result = db.algo.fastrp("knows", dimensions=32, seed=7)
    array = result.to_numpy()
    assert (array.shape, array.dtype) == ((6, 32), "float32")
    assert result.columns == ["uid", "fastrp"]
    assert len(result.rows()[0][1]) == 32
    assert len(result.to_polars()["fastrp"][0]) == 32
    result.store("place", index=True)
    assert 'place: float32vector @index(hnsw(metric:"cosine"))' in db.schema().replace(': "', ':"')
    lengths = numpy.linalg.norm(array, axis=1)
    likeness = (array @ array[0]) / lengths / lengths[0]
    nearest = {hex(1 + position) for position in numpy.argsort(-likeness)[:3].tolist()}
    query = db.query("{ q(func: similar_to(place, 3, 0x1)) { uid } }").rows()
    assert {uid for (uid,) in query} == nearest
    for run in (result.histogram, result.top):
        with pytest.raises(ValueError, match="gives vectors"):
            run()
    assert "..." in repr(result)


def test_vectors_of_two_groups_are_apart():
    # Two crowds with one edge between them: those of one crowd are more alike than those of two.
    edges = [(a, b) for a, b, _ in crowd(1)] + [(100 + a, 100 + b) for a, b, _ in crowd(2)]
    graph = hexgraph.Graph(*zip(*edges, (0, 100), strict=True), directed=False)
    array = graph.algo.fastrp(dimensions=256).to_numpy()
    array = array / numpy.linalg.norm(array, axis=1, keepdims=True)
    first = array[graph.nodes < 100]
    second = array[graph.nodes >= 100]
    assert (first @ first.T).mean() > 0.2 + (first @ second.T).mean()


def test_the_greatest_ranks_near_to_nodes(db):
    near = db.algo.pagerank("knows", from_nodes=[1], top=3)
    assert len(near) == 3
    exact = db.algo.pagerank("knows", from_nodes=[1], top=3, method="power")
    assert [row[0] for row in near.rows()] == [row[0] for row in exact.rows()]
    with pytest.raises(hexgraph.QueryError, match="without `from`"):
        db.algo.pagerank("knows", method="push")
    assert len(db.algo.pagerank("knows", top=2)) == 2


def test_a_graph_of_arrays_is_the_graph_of_a_database(db):
    sources, targets = zip(*EDGES, strict=True)
    weights = [a + b for a, b in EDGES]
    graph = hexgraph.Graph(sources, targets, weights)
    assert (len(graph), graph.nodes.tolist()) == (6, [1, 2, 3, 4, 5, 6])
    calls = [
        ("pagerank", {"damping": 0.9, "from_nodes": [1, 2], "iterations": 300}, True),
        ("distances", {"source": 1, "direction": "in"}, True),
        ("degree", {"direction": "both"}, True),
        ("components", {}, False),
        ("leiden", {"seed": 7, "threads": 1}, True),
        ("transitivity", {}, False),
        ("articulation_points", {}, False),
        ("spanning_forest", {}, True),
        ("betweenness", {"source": [1, 4]}, False),
        ("similarity", {"source": [1, 2], "target": [4]}, False),
        ("k_shortest", {"source": 1, "target": 6, "k": 2}, True),
        ("walks", {"length": 5, "seed": 3}, True),
        ("sample", {"source": 1, "fanouts": [1, 2]}, True),
        ("fastrp", {"dimensions": 8, "iteration_weights": [0.5, 1]}, True),
        ("pagerank", {"from_nodes": 1, "top": 2}, True),
        ("bfs", {"source": "0x1", "nodes": [1, 2, 3, 5]}, False),
    ]
    as_node = lambda cell: int(cell, 16) if isinstance(cell, str) else cell  # noqa: E731
    for name, arguments, takes_weights in calls:
        own = {"weight": "w"} if takes_weights else {}
        theirs = getattr(db.algo, name)("knows", **own, **arguments)
        plain = graph if takes_weights else hexgraph.Graph(sources, targets)
        ours = getattr(plain.algo, name)(**arguments)
        assert [tuple(map(as_node, row)) for row in theirs.rows()] == ours.rows(), name
        assert ours.columns == ["node" if it == "uid" else it for it in theirs.columns], name


def test_arrays_of_other_libraries_make_graphs():
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    expected = {10: 0, 20: 0, 30: 1}
    for kind in (list, numpy.array, polars.Series, pyarrow.array):
        graph = hexgraph.Graph(kind([10, 20]), kind([20, 10]), nodes=kind([30]))
        assert graph.algo.components().to_dict() == expected, kind
    assert repr(graph) == "<hexgraph.Graph: 3 nodes, 2 edges, directed>"
    empty = hexgraph.Graph([], [], nodes=[7])
    assert empty.algo.pagerank().to_dict() == {7: 1.0}
    assert len(hexgraph.Graph([], []).algo.pagerank()) == 0


def test_what_is_wrong_with_arrays_is_reported():
    graph = hexgraph.Graph([1, 2], [2, 3])
    for run, kind, said in [
        (lambda: hexgraph.Graph([1, 2], [2]), hexgraph.QueryError, "2 sources and 1 targets"),
        (lambda: hexgraph.Graph([1], [2], [1, 1]), hexgraph.QueryError, "1 targets and 2 weights"),
        (lambda: hexgraph.Graph([1], [2], [float("nan")]), hexgraph.QueryError, "weighs nan"),
        (lambda: hexgraph.Graph([1], [2], [-1]), hexgraph.QueryError, "weighs -1"),
        (lambda: hexgraph.Graph([1], [2], ["a"]), TypeError, "weights are"),
        (lambda: hexgraph.Graph([0.5], [2]), TypeError, "whole numbers"),
        (lambda: hexgraph.Graph([-1], [2]), ValueError, "from 0 on"),
        (lambda: graph.algo.pagerank("follows"), TypeError, "its own edges"),
        (lambda: graph.algo.pagerank(weight="w"), TypeError, "its own edges"),
        (lambda: graph.algo.louvain(direction="out"), ValueError, "it knows both"),
        (lambda: graph.algo.pagerank(damping=2), hexgraph.QueryError, "from 0 to 1"),
        (lambda: graph.algo.pagerank(dampin=2), TypeError, "dampin"),
        (lambda: graph.algo.pagerank().store("x"), TypeError, "no database"),
        (lambda: graph.algo.pagerank().top(1, "name"), TypeError, "no predicates"),
        (lambda: graph.algo.bfs(source="type(Person)"), ValueError, "are numbers"),
    ]:
        with pytest.raises(kind, match=said):
            run()
    assert hexgraph.Graph([1], [2]).algo.bfs(source=1 << 63).to_numpy().tolist() != [0, 0]


def test_arrays_that_numpy_can_not_read_are_named():
    polars = pytest.importorskip("polars")
    wide = polars.Series([1, 2], dtype=polars.Int128)
    with pytest.raises(TypeError, match="Int128 is none that numpy reads: cast them to Int64"):
        hexgraph.Graph(wide, wide)
    with pytest.raises(TypeError, match="weights are one dimension of numbers of 64 bits"):
        hexgraph.Graph([1, 2], [2, 3], weights=wide)
