"""Algorithms that queries in Cypher call, compared with networkx and with `db.algo`."""

import random
import warnings

import pytest

import hexgraph

networkx = pytest.importorskip("networkx")


@pytest.fixture(scope="module")
def graphs():
    """Return a random graph with weights: as a database, and as one of networkx."""
    rng = random.Random(7)
    graph = networkx.gnp_random_graph(60, 0.06, seed=7, directed=True)
    for edge in graph.edges.values():
        edge["km"] = rng.randint(1, 9)
    db = hexgraph.connect()
    db.load_nodes([{"id": node, "n": node} for node in graph], "Person")
    edges = [(one, other, {"km": edge["km"]}) for (one, other), edge in graph.edges.items()]
    db.load_edges(edges, "knows", facets=["km"])
    return db, graph


def test_pagerank_is_that_of_networkx(graphs):
    db, graph = graphs
    text = """
    CALL algo.pagerank('knows', {labels: 'Person', weight: 'km', tolerance: 1e-12, iterations: 500})
    YIELD node, score RETURN node.n, score
    """
    expected = networkx.pagerank(graph, weight="km", tol=1e-12, max_iter=500)
    assert dict(db.cypher(text).rows()) == pytest.approx(expected, abs=1e-9)
    first = (
        "CALL algo.pagerank('knows') YIELD node, score RETURN node.n ORDER BY score DESC LIMIT 5"
    )
    best = sorted(networkx.pagerank(graph, weight=None, tol=1e-12).items(), key=lambda it: -it[1])
    assert [n for (n,) in db.cypher(first)] == [n for n, _ in best[:5]]


def test_distances_are_those_of_networkx(graphs):
    db, graph = graphs
    text = """
    MATCH (start:Person {n: $n})
    CALL algo.distances('knows', {source: start, weight: 'km'}) YIELD node, distance
    RETURN node.n, distance
    """
    expected = networkx.single_source_dijkstra_path_length(graph, 3, weight="km")
    assert dict(db.cypher(text, {"n": 3}).rows()) == expected


def test_betweenness_is_that_of_networkx(graphs):
    db, graph = graphs
    text = """
    CALL algo.betweenness('knows', {labels: 'Person'}) YIELD node, score WHERE score > 0
    RETURN node.n, score
    """
    scores = networkx.betweenness_centrality(graph, normalized=False)
    expected = {node: score for node, score in scores.items() if score > 0}
    assert dict(db.cypher(text).rows()) == pytest.approx(expected)


def test_paths_are_those_of_networkx(graphs):
    db, graph = graphs
    text = """
    MATCH (one:Person {n: 3}), (other:Person {n: 20})
    CALL algo.k_shortest('knows', {source: one, target: other, k: 4, weight: 'km'})
    YIELD nodes, distances RETURN [it IN nodes | it.n] AS path, last(distances) AS km
    """
    rows = db.cypher(text).rows()
    paths = networkx.shortest_simple_paths(graph, 3, 20, weight="km")
    lengths = [networkx.path_weight(graph, next(paths), "km") for _ in range(4)]
    assert [km for _, km in rows] == lengths
    assert [networkx.path_weight(graph, path, "km") for path, _ in rows] == lengths


def test_communities_are_groups(graphs):
    db, _ = graphs
    text = """
    CALL algo.leiden('knows', {seed: 5}) YIELD node, community
    RETURN community, count(*) AS people, collect(node.n) AS members ORDER BY people DESC
    """
    rows = db.cypher(text).rows()
    groups = db.algo.leiden("knows", seed=5)
    assert sum(people for _, people, _ in rows) == len(groups)
    assert sorted(community for community, _, _ in rows) == sorted({it for _, it in groups.rows()})


def test_a_name_without_relationships_is_a_warning(graphs):
    db, _ = graphs
    with pytest.warns(match="there is no relationship type `know`.*did you mean `knows`"):
        assert db.cypher("CALL algo.degree('know')").rows() == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(db.cypher("CALL algo.degree('knows')")) == len(db.algo.degree("knows"))


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ("algo.pagerank('knows', {dampng: 0.5})", "no option `dampng`.*did you mean `damping`"),
        ("algo.pagerank('knows', {damping: 2})", "`damping` can't be 2.*from 0 to 1"),
        ("algo.pagerank('knows', $options)", "no option `dampng`"),
        ("algo.pageranks('knows')", "did you mean `algo.pagerank`"),
        ("algo.bfs('knows')", "needs the option `source`"),
        ("algo.bfs('knows', {source: 'Ada'})", "`source` can't be 'Ada'"),
        ("algo.bfs('knows', {source: -1})", "`source` can't be -1"),
        (
            "algo.distances('knows', {source: 1, weight: 'miles'})",
            "no edge of `knows` has the facet",
        ),
    ],
)
def test_what_is_wrong_with_a_call_is_said(graphs, call, fault):
    db, _ = graphs
    with pytest.raises(hexgraph.Error, match=f"(?s){fault}"):
        db.cypher(f"CALL {call} YIELD node RETURN node", {"options": {"dampng": 0.5}})


def test_many_start_nodes_and_little_memory(graphs):
    _, graph = graphs
    db = hexgraph.connect(limits={"memory": "64MiB"})
    db.load_edges(list(graph.edges), "knows")
    text = "CALL algo.bfs('knows', {source: range(1, $most)}) YIELD node RETURN count(*)"
    with pytest.raises(hexgraph.LimitError):
        db.cypher(text, {"most": 100_000_000})
    nodes = "CALL algo.components('knows') YIELD node RETURN count(*)"
    assert db.cypher(nodes).rows() == [(len(db.algo.components("knows")),)]
