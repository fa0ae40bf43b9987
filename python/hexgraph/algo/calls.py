"""The algorithms as methods: `db.algo.pagerank("follows", damping=0.9)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from .._native import run_algorithm
from ..guesses import ALGORITHMS, attribute_error, refuse_of_algorithm
from .grouped import grouped
from .result import AlgorithmResult
from .text import Argument, Groups, Nodes, Text, about_weight

if TYPE_CHECKING:
    from .._native import Database

Direction = Literal["out", "in", "both"]

Variant = Literal["standard", "graphalytics"]

Measure = Literal["jaccard", "overlap", "cosine", "common_neighbours", "adamic_adar"]


class Common(TypedDict, total=False):
    """The arguments of all algorithms."""

    nodes: Nodes
    """The nodes of the graph; default: all endpoints of the edges."""
    direction: Direction
    """Whether edges are followed as stored, reversed, or without a direction."""
    threads: int
    """The maximum number of threads; default: all of the database. The result is the same."""
    seed: int
    """The seed of random numbers."""
    timeout: float
    """Seconds after which LimitError is raised."""


class Algorithms:
    r"""Graph algorithms on the edges of predicates, on the newest version.

    Each takes the names of one or more predicates (`"follows"`, or `"~follows"` for the reversed
    edges), optionally with a filter of the target nodes: `"follows @filter(ge(age, 18))"`. Further
    arguments are the same for all:

    - `nodes`: the nodes of the graph, as a root of DQL (`"type(Person)"`, `"has(name)
      @filter(ge(age, 18))"`) or as uids; default: all endpoints of the edges. Edges to other nodes
      are left out, and nodes without edges are included
      @filter(ge(age, 18))"`) or as uids; else all that the edges join. Edges to others are left
      out, and nodes without edges are in
    - `weight`: the facet with the weight of an edge, if the algorithm supports weights. An edge
      without it weighs 1; the weights of parallel edges are added
    - `direction`: "out", "in", or "both" for edges without a direction
    - `threads`, `seed`, `timeout` in seconds

    No preparation is needed: the first call builds the graph, which is cached and updated after
    commits. Returns an `AlgorithmResult`.

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> _ = db.mutate(set="<1> <follows> <2> .\n<2> <follows> <3> .\n<3> <follows> <2> .")
    >>> [(row["uid"], round(row["pagerank"], 3)) for row in db.algo.pagerank("follows").top(2)]
    [('0x2', 0.486), ('0x3', 0.464)]

    Raises QueryError for invalid predicates, weights or arguments; LimitError.
    """

    def __init__(self, db: Database) -> None:
        """Store the database that the algorithms read."""
        self._db = db

    def pagerank(  # noqa: PLR0913 -- the arguments of networkx
        self,
        *on: str,
        damping: float = 0.85,
        iterations: int = 100,
        tolerance: float = 1e-6,
        from_nodes: Nodes | None = None,
        top: int | None = None,
        method: Literal["auto", "power", "push"] = "auto",
        variant: Variant = "standard",
        weight: str | None = None,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return how often a walk that follows edges at random is at each node; the sum is 1.

        With probability `damping` the walk continues, otherwise it restarts: at any node, or at one
        of `from_nodes`. It stops after `iterations` rounds, or when a round changes the sum of all
        ranks by less than `tolerance`. `variant="graphalytics"` runs all rounds.

        `top` returns only the nodes with the greatest ranks. With `from_nodes` they are computed
        from there outward (`method="push"`), whose cost does not grow with the graph. These ranks
        are approximate; a smaller `tolerance` makes them more exact. If rounds over all edges cost
        less, they are used.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <follows> <2> .\n<3> <follows> <2> .")
        >>> db.algo.pagerank("follows", damping=0.5)
        uid  pagerank
        0x2       0.5
        0x1      0.25
        0x3      0.25
        >>> [uid for uid, _ in db.algo.pagerank("follows", from_nodes=1, top=2).rows()]
        ['0x1', '0x2']
        """
        text = Text("pagerank", on, weight)
        text.nodes("from", from_nodes)
        return self._run(
            text,
            common,
            damping=damping,
            iterations=iterations,
            tolerance=tolerance,
            top=top,
            method=None if method == "auto" else method,
            variant=None if variant == "standard" else variant,
        )

    def components(self, *on: str, **common: Unpack[Common]) -> AlgorithmResult:
        r"""Return the connected component of each node, numbered from 0 in the order of uids.

        Two nodes are in one component if edges of any direction connect them.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <follows> <2> .\n<3> <follows> <4> .")
        >>> db.algo.components("follows").to_dict()
        {'0x1': 0, '0x2': 0, '0x3': 1, '0x4': 1}
        """
        return self._run(Text("components", on, None), common)

    def strong_components(self, *on: str, **common: Unpack[Common]) -> AlgorithmResult:
        r"""Return the strongly connected component of each node.

        The numbers are a topological order: an edge between two components points to the greater
        one.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <follows> <2> .\n<2> <follows> <1> .\n<2> <follows> <3> .")
        >>> db.algo.strong_components("follows").to_dict()
        {'0x1': 0, '0x2': 0, '0x3': 1}
        """
        return self._run(Text("strong_components", on, None), common)

    def bfs(
        self, *on: str, source: Nodes, depth: int | None = None, **common: Unpack[Common]
    ) -> AlgorithmResult:
        r"""Return the number of edges on the shortest path from `source` to each node.

        With several sources, the nearest counts. Nodes that are unreachable, or farther than
        `depth`, have None.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <follows> <2> .\n<2> <follows> <3> .\n<4> <follows> <1> .")
        >>> db.algo.bfs("follows", source="0x1").to_dict()
        {'0x1': 0, '0x2': 1, '0x3': 2, '0x4': None}
        """
        text = Text("bfs", on, None)
        text.nodes("source", source)
        return self._run(text, common, depth=depth)

    def distances(
        self, *on: str, source: Nodes, weight: str | None = None, **common: Unpack[Common]
    ) -> AlgorithmResult:
        r"""Return the smallest sum of weights on a path from `source` to each node.

        With several sources, the nearest counts. Unreachable nodes have None.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <2> (km=5) .\n<2> <road> <3> (km=1.5) .")
        >>> db.algo.distances("road", source="0x1", weight="km").to_dict()
        {'0x1': 0.0, '0x2': 5.0, '0x3': 6.5}
        """
        text = Text("distances", on, weight)
        text.nodes("source", source)
        return self._run(text, common)

    def degree(
        self,
        *on: str,
        normalized: bool = False,
        weight: str | None = None,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return the number of edges of each node, or the sum of their weights.

        Counts outgoing edges; with `direction="in"` incoming ones, with "both" all (two nodes with
        edges in both directions are neighbours once). `normalized` divides by the number of other
        nodes.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.degree("knows", direction="both").to_dict()
        {'0x1': 2.0, '0x2': 2.0, '0x3': 3.0, '0x4': 1.0}
        """
        text = Text("degree", on, weight)
        return self._run(text, common, normalized=normalized)

    def hits(
        self,
        *on: str,
        score: Literal["authority", "hub"] = "authority",
        iterations: int = 100,
        tolerance: float = 1e-8,
        weight: str | None = None,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return the score of each node as an authority, or as a hub; the sum is 1.

        Good hubs point to good authorities, and good authorities have edges from good hubs. It
        stops after `iterations` rounds, or when a round changes the sum of the hub scores by less
        than `tolerance`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.hits("knows", score="hub").top(1)
        [{'uid': '0x3', 'hits': 0.9999999962747098}]
        """
        text = Text("hits", on, weight)
        return self._run(text, common, score=score, iterations=iterations, tolerance=tolerance)

    def closeness(
        self,
        *on: str,
        source: Nodes | None = None,
        normalized: bool = False,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return one divided by the sum of the distances from the nodes with a path to a node.

        `normalized` multiplies it by the number of those nodes, and by their fraction of all
        others. With `source` only these nodes have a number. Each costs a breadth-first search.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.closeness("knows", direction="both", normalized=True).top(1)
        [{'uid': '0x3', 'closeness': 1.0}]
        """
        text = Text("closeness", on, None)
        text.nodes("source", source)
        return self._run(text, common, normalized=normalized)

    def harmonic(
        self,
        *on: str,
        source: Nodes | None = None,
        normalized: bool = False,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return the sum of 1/distance over the nodes with a path to a node.

        `normalized` divides it by the number of other nodes. With `source` only these nodes have
        a number. Each costs a breadth-first search.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.harmonic("knows", direction="both").top(1)
        [{'uid': '0x3', 'harmonic': 3.0}]
        """
        text = Text("harmonic", on, None)
        text.nodes("source", source)
        return self._run(text, common, normalized=normalized)

    def betweenness(
        self,
        *on: str,
        samples: int | None = None,
        source: Nodes | None = None,
        normalized: bool = False,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return the number of shortest paths between other nodes that pass through each node.

        If two nodes have several shortest paths, each counts as its fraction. Searching from each
        node is exact. `samples` searches from that many random nodes, chosen by `seed`, and scales
        the result. `source` names the start nodes, and the result counts only their paths.
        `normalized` divides by the number of pairs of other nodes.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.betweenness("knows", direction="both").top(1)
        [{'uid': '0x3', 'betweenness': 2.0}]
        """
        text = Text("betweenness", on, None)
        text.nodes("source", source)
        return self._run(text, common, samples=samples, normalized=normalized)

    def label_propagation(
        self, *on: str, iterations: int = 10, **common: Unpack[Common]
    ) -> AlgorithmResult:
        r"""Return the community of each node by label propagation.

        In each of `iterations` synchronous rounds, all nodes adopt the most frequent label of their
        neighbours, the smallest of several (as defined by LDBC Graphalytics). Fast, and rough: see
        `leiden`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.label_propagation("knows").to_dict()
        {'0x1': 0, '0x2': 0, '0x3': 0, '0x4': 0}
        """
        return self._run(Text("label_propagation", on, None), common, iterations=iterations)

    def louvain(
        self, *on: str, resolution: float = 1.0, weight: str | None = None, **common: Unpack[Common]
    ) -> AlgorithmResult:
        r"""Return the community of each node, with as many edges within communities as possible.

        It maximizes modularity. A greater `resolution` gives smaller communities.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "12 23 31 45 56 64 14"
        >>> quads = [f"<{a}> <knows> <{b}> ." for a, b in edges.split()]
        >>> _ = db.mutate(set="\n".join(quads))
        >>> [group for _, group in db.algo.louvain("knows").rows()]
        [0, 0, 0, 1, 1, 1]
        """
        return self._run(Text("louvain", on, weight), common, resolution=resolution)

    def leiden(
        self,
        *on: str,
        resolution: float = 1.0,
        iterations: int = 2,
        weight: str | None = None,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return the community of each node, as `louvain`, but connected and usually better.

        `iterations` is the number of passes; each starts from the result of the previous
        one.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "12 23 31 45 56 64 14"
        >>> quads = [f"<{a}> <knows> <{b}> ." for a, b in edges.split()]
        >>> _ = db.mutate(set="\n".join(quads))
        >>> [group for _, group in db.algo.leiden("knows", seed=7).rows()]
        [0, 0, 0, 1, 1, 1]
        """
        text = Text("leiden", on, weight)
        return self._run(text, common, resolution=resolution, iterations=iterations)

    def core_numbers(self, *on: str, **common: Unpack[Common]) -> AlgorithmResult:
        r"""Return for each node the greatest k such that it is in the k-core.

        In the k-core each node has at least k neighbours in the core.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.core_numbers("knows").to_dict()
        {'0x1': 2, '0x2': 2, '0x3': 2, '0x4': 1}
        """
        return self._run(Text("core_numbers", on, None), common)

    def triangles(self, *on: str, **common: Unpack[Common]) -> AlgorithmResult:
        r"""Return for each node the number of pairs of its neighbours that are neighbours.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.triangles("knows").to_dict()
        {'0x1': 1, '0x2': 1, '0x3': 1, '0x4': 0}
        """
        return self._run(Text("triangles", on, None), common)

    def clustering(
        self, *on: str, variant: Variant = "standard", **common: Unpack[Common]
    ) -> AlgorithmResult:
        r"""Return the fraction of the pairs of neighbours of a node that are neighbours.

        With `variant="graphalytics"` and `direction="out"` it is the fraction of the ordered pairs
        of nodes that have an edge with the node, in either direction.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.clustering("knows").to_numpy().mean().round(4).item()
        0.5833
        """
        text = Text("clustering", on, None)
        return self._run(text, common, variant=None if variant == "standard" else variant)

    def transitivity(self, *on: str, **common: Unpack[Common]) -> AlgorithmResult:
        r"""Return the fraction of all pairs of neighbours of a node that are neighbours.

        It is one number for the entire graph: `.value`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.transitivity("knows").value
        0.6
        """
        return self._run(Text("transitivity", on, None), common)

    def similarity(
        self,
        *on: str,
        source: Nodes,
        target: Nodes | None = None,
        measure: Measure = "jaccard",
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return the similarity of each of `source` to each of `target` by their target nodes.

        Without `target` it compares all pairs of `source`, each once. The rows are pairs.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.similarity("knows", source=1, target=[2, 4]).rows()
        [('0x1', '0x2', 0.3333333333333333), ('0x1', '0x4', 0.5)]
        """
        text = Text("similarity", on, None)
        text.nodes("source", source)
        text.nodes("target", target)
        return self._run(text, common, measure=measure)

    def similar_nodes(
        self,
        *on: str,
        source: Nodes | None = None,
        k: int = 10,
        measure: Measure = "jaccard",
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return the `k` nodes that are most similar to each node, by their target nodes.

        The rows are pairs of nodes with something in common, the most similar first. With `source`
        only these nodes are compared with others.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.similar_nodes("knows", source=1, k=1).rows()
        [('0x1', '0x4', 0.5)]
        """
        text = Text("similar_nodes", on, None)
        text.nodes("source", source)
        return self._run(text, common, k=k, measure=measure)

    def eigenvector(
        self,
        *on: str,
        iterations: int = 1000,
        tolerance: float = 1e-6,
        weight: str | None = None,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return a score of each node, in proportion to the scores of its predecessors.

        The squares add up to 1. It stops after `iterations` rounds, or when a round changes the sum
        of all scores by less than `tolerance`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .")
        >>> db.algo.eigenvector("knows").to_numpy().round(3).tolist()
        [0.577, 0.577, 0.577]
        """
        text = Text("eigenvector", on, weight)
        return self._run(text, common, iterations=iterations, tolerance=tolerance)

    def katz(  # noqa: PLR0913 -- the arguments of networkx
        self,
        *on: str,
        alpha: float = 0.1,
        beta: float = 1.0,
        iterations: int = 1000,
        tolerance: float = 1e-6,
        normalized: bool = True,
        weight: str | None = None,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return the number of walks to each node, where each step multiplies by `alpha`.

        The score of a node is `beta` plus `alpha` times the sum of the scores of its predecessors.
        `alpha` must be less than 1 divided by the greatest eigenvalue. It stops after `iterations`
        rounds, or when a round changes a score by less than `tolerance` on average. `normalized`
        scales the scores so that their squares add up to 1.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .")
        >>> db.algo.katz("knows", alpha=0.5, normalized=False).to_numpy().round(3).tolist()
        [2.0, 2.0, 2.0]
        """
        text = Text("katz", on, weight)
        return self._run(
            text,
            common,
            alpha=alpha,
            beta=beta,
            iterations=iterations,
            tolerance=tolerance,
            normalized=normalized,
        )

    def articulation_points(self, *on: str, **common: Unpack[Common]) -> AlgorithmResult:
        r"""Return the nodes whose removal disconnects a component of the graph.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.articulation_points("knows").rows()
        [('0x3',)]
        """
        return self._run(Text("articulation_points", on, None), common)

    def bridges(self, *on: str, **common: Unpack[Common]) -> AlgorithmResult:
        r"""Return the edges whose removal disconnects a component of the graph.

        The number of an edge is the number of nodes on its smaller side.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.bridges("knows").rows()
        [('0x3', '0x4', 1.0)]
        """
        return self._run(Text("bridges", on, None), common)

    def topological_order(self, *on: str, **common: Unpack[Common]) -> AlgorithmResult:
        r"""Return the position of each node in an order in which all edges point forward.

        Nodes in cycles, and nodes reachable from them, have None.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<3> <needs> <2> .\n<2> <needs> <1> .")
        >>> db.algo.topological_order("needs").to_dict()
        {'0x1': 2, '0x2': 1, '0x3': 0}
        """
        return self._run(Text("topological_order", on, None), common)

    def spanning_forest(
        self, *on: str, weight: str | None = None, **common: Unpack[Common]
    ) -> AlgorithmResult:
        r"""Return the edges of a minimum spanning forest.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> roads = "<1> <road> <2> (km=5) .\n<2> <road> <3> (km=1) .\n<3> <road> <1> (km=2) ."
        >>> _ = db.mutate(set=roads)
        >>> db.algo.spanning_forest("road", weight="km").rows()
        [('0x1', '0x3', 2.0), ('0x2', '0x3', 1.0)]
        """
        return self._run(Text("spanning_forest", on, weight), common)

    def distances_among(
        self, *on: str, source: Nodes, weight: str | None = None, **common: Unpack[Common]
    ) -> AlgorithmResult:
        r"""Return the smallest sum of weights on a path between each pair of `source`.

        Pairs without a path are left out.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <2> (km=5) .\n<2> <road> <3> (km=1.5) .")
        >>> db.algo.distances_among("road", source=[1, 3], weight="km").rows()
        [('0x1', '0x3', 6.5)]
        """
        text = Text("distances_among", on, weight)
        text.nodes("source", source)
        return self._run(text, common)

    def diameter(self, *on: str, sweeps: int = 10, **common: Unpack[Common]) -> AlgorithmResult:
        r"""Estimate the greatest number of edges on a shortest path.

        Each of `sweeps` searches starts at the farthest node of the previous one, the first at the
        node with most edges. The result is a distance in the graph, usually the greatest: `.value`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.diameter("knows").value
        2.0
        """
        return self._run(Text("diameter", on, None), common, sweeps=sweeps)

    def truss_numbers(self, *on: str, **common: Unpack[Common]) -> AlgorithmResult:
        r"""Return for each edge the greatest k such that it is in the k-truss.

        In the k-truss each edge is in at least k - 2 triangles of the truss.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.truss_numbers("knows").rows()[2:]
        [('0x2', '0x3', 3.0), ('0x3', '0x4', 2.0)]
        """
        return self._run(Text("truss_numbers", on, None), common)

    def modularity(
        self,
        *on: str,
        groups: Groups,
        resolution: float = 1.0,
        weight: str | None = None,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return the modularity of a partition into groups, as `.value`.

        `groups` is a predicate, whose values identify the groups, a dict of groups by uid, or the
        result of another algorithm. A node without a group is one of its own.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "12 23 31 45 56 64 14"
        >>> quads = [f"<{a}> <knows> <{b}> ." for a, b in edges.split()]
        >>> _ = db.mutate(set="\n".join(quads))
        >>> round(db.algo.modularity("knows", groups=db.algo.leiden("knows")).value, 4)
        0.3571
        >>> db.algo.modularity("knows", groups=dict.fromkeys(range(1, 7), "one")).value
        0.0
        """
        text = Text("modularity", on, weight)
        text.groups["groups"] = groups
        return self._run(text, common, resolution=resolution)

    def k_shortest(
        self,
        *on: str,
        source: Nodes,
        target: Nodes,
        k: int = 3,
        weight: str | None = None,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return the `k` paths of least weight from one node to another that visit no node twice.

        The rows are the nodes of the first path, then of the second, with their distances from
        `source`; `.paths()` has a list for each path. Of paths with the same weight, the one with
        fewer edges comes first, and of these the one whose nodes have lesser uids, from the start
        on.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> roads = "<1> <road> <2> (km=5) .\n<2> <road> <3> (km=1) .\n<1> <road> <3> (km=9) ."
        >>> _ = db.mutate(set=roads)
        >>> db.algo.k_shortest("road", source=1, target=3, weight="km").paths()
        [(6.0, ['0x1', '0x2', '0x3']), (9.0, ['0x1', '0x3'])]
        """
        text = Text("k_shortest", on, weight)
        text.nodes("source", source)
        text.nodes("target", target)
        return self._run(text, common, k=k)

    def sample(
        self,
        *on: str,
        source: Nodes,
        fanouts: Sequence[int] = (10, 5),
        replace: bool = False,
        weight: str | None = None,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Sample neighbours of nodes, then neighbours of these, and so on by layers.

        `fanouts` is the number of neighbours of a node to sample in each layer, with probabilities
        by weight. The rows are pairs: a node, one of its neighbours, and the number of the layer.
        `db.sample` returns the same as arrays for graph neural networks.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.sample("knows", source=2, fanouts=[1, 2]).rows()
        [('0x2', '0x3', 1.0), ('0x3', '0x1', 2.0), ('0x3', '0x4', 2.0)]
        """
        text = Text("sample", on, weight)
        text.nodes("source", source)
        return self._run(text, common, fanouts=fanouts, replace=replace)

    def walks(  # noqa: PLR0913 -- they have names
        self,
        *on: str,
        source: Nodes | None = None,
        length: int = 80,
        per_node: int = 1,
        p: float = 1.0,
        q: float = 1.0,
        weight: str | None = None,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return random walks along edges, `per_node` from each node.

        Edges are chosen in proportion to their weight. A walk has at most `length` edges, and stops
        earlier at a node without outgoing edges. A step straight back has the factor 1 / `p`, one
        to a neighbour of the previous node 1, any other 1 / `q` (node2vec). `.to_numpy()` is an
        array of uids with a row for each walk, padded with 0.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <knows> <2> .\n<2> <knows> <3> .")
        >>> db.algo.walks("knows", length=2).to_numpy().tolist()
        [[1, 2, 3], [2, 3, 0], [3, 0, 0]]
        """
        text = Text("walks", on, weight)
        text.nodes("source", source)
        return self._run(text, common, length=length, per_node=per_node, p=p, q=q)

    def fastrp(
        self,
        *on: str,
        dimensions: int = 128,
        iteration_weights: Sequence[float] = (0.0, 1.0, 1.0),
        normalization_strength: float = 0.0,
        weight: str | None = None,
        **common: Unpack[Common],
    ) -> AlgorithmResult:
        r"""Return an embedding: nodes with similar neighbourhoods have similar vectors.

        `iteration_weights` are the weights of nodes one step away, two steps, and so on. A node
        counts with its degree to the power of `normalization_strength`. `.to_numpy()` is an array
        with a row for each node. `.store("embedding", index=True)` stores a predicate for
        `similar_to`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> db.algo.fastrp("knows", dimensions=16).to_numpy().shape
        (4, 16)
        """
        text = Text("fastrp", on, weight)
        return self._run(
            text,
            common,
            dimensions=dimensions,
            iteration_weights=iteration_weights,
            normalization_strength=normalization_strength,
        )

    def _run(self, text: Text, common: Common, **arguments: Argument) -> AlgorithmResult:
        prepare(text, common, arguments)
        timeout = common.get("timeout")
        groups = text.groups.get("groups")
        if groups is not None and not isinstance(groups, str):
            return grouped(self._db, text, groups, timeout)
        with about_weight(text):
            table, how = run_algorithm(self._db, text.dql(), timeout)
        return AlgorithmResult(self._db, text.name, table, how)


# Not in the class: type checkers would accept any name for a method then.
setattr(Algorithms, "__getattr__", attribute_error("Algorithms", "db.algo", ALGORITHMS))  # noqa: B010


def prepare(text: Text, common: Common, arguments: dict[str, Argument]) -> None:
    """Add the arguments of a call to its text; raise TypeError for one that there is not."""
    for name in common:
        if name not in Common.__annotations__:
            refuse_of_algorithm(text.name, name, [*_arguments(text.name), *Common.__annotations__])
    for name, value in arguments.items():
        text.argument(name, value)
    text.nodes("nodes", common.get("nodes"))
    text.argument("direction", common.get("direction"))
    text.argument("threads", common.get("threads"))
    text.argument("seed", common.get("seed"))


def _arguments(algorithm: str) -> list[str]:
    """Return the names of the arguments that an algorithm has for itself."""
    method = getattr(Algorithms, algorithm)
    return [name for name in method.__annotations__ if name not in ("on", "common", "return")]
