"""What networkx reads of the backend when it is imported: names, and remarks on each.

Nothing is imported here: networkx calls this while it is being imported itself.
"""

from __future__ import annotations

from typing import Any

NOTES = {
    "betweenness_centrality": "Unweighted, without endpoints. With `k` the same nodes are sampled.",
    "closeness_centrality": "Without `distance`.",
    "harmonic_centrality": "Without `distance` and `sources`.",
    "clustering": "Undirected, unweighted.",
    "average_clustering": "Undirected, unweighted.",
    "core_number": "Undirected, without loops.",
    "pagerank": "With `personalization`, `nstart`, `dangling`, or a tolerance above 1: in Python.",
    "shortest_path": (
        "With a source or a target; weights are numbers from 0 on. Without a weight: in Python."
    ),
    "shortest_path_length": "With a source or a target; weights are numbers from 0 on.",
    "louvain_communities": "The communities are others than networkx's, about as good.",
    "leiden_communities": "networkx has none of its own.",
    "average_shortest_path_length": "Unweighted.",
    "eccentricity": "Unweighted, without `sp`.",
    "diameter": "Unweighted, without `e` and bounds.",
    "radius": "Unweighted, without `e` and bounds.",
    "center": "Unweighted, without `e` and bounds.",
    "periphery": "Unweighted, without `e` and bounds.",
    "wiener_index": "Unweighted.",
    "average_neighbor_degree": "Undirected, unweighted.",
}
"""What a function does not accept, or does otherwise."""

FUNCTIONS = (
    "adamic_adar_index",
    "all_pairs_shortest_path_length",
    "ancestors",
    "average_clustering",
    "average_neighbor_degree",
    "average_shortest_path_length",
    "betweenness_centrality",
    "bfs_edges",
    "bfs_layers",
    "bfs_predecessors",
    "bfs_successors",
    "center",
    "closeness_centrality",
    "clustering",
    "connected_components",
    "core_number",
    "degree_centrality",
    "descendants",
    "descendants_at_distance",
    "diameter",
    "dijkstra_path",
    "dijkstra_path_length",
    "eccentricity",
    "edge_betweenness_centrality",
    "eigenvector_centrality",
    "eigenvector_centrality_numpy",
    "global_efficiency",
    "harmonic_centrality",
    "has_path",
    "hits",
    "in_degree_centrality",
    "is_bipartite",
    "is_connected",
    "is_directed_acyclic_graph",
    "is_empty",
    "is_forest",
    "is_isolate",
    "is_k_regular",
    "is_regular",
    "is_strongly_connected",
    "is_tree",
    "is_weakly_connected",
    "isolates",
    "jaccard_coefficient",
    "katz_centrality",
    "katz_centrality_numpy",
    "leiden_communities",
    "louvain_communities",
    "modularity",
    "multi_source_dijkstra_path_length",
    "node_connected_component",
    "number_connected_components",
    "number_of_isolates",
    "number_of_selfloops",
    "number_strongly_connected_components",
    "number_weakly_connected_components",
    "out_degree_centrality",
    "overall_reciprocity",
    "pagerank",
    "periphery",
    "preferential_attachment",
    "radius",
    "reciprocity",
    "resource_allocation_index",
    "s_metric",
    "shortest_path",
    "shortest_path_length",
    "single_source_dijkstra",
    "single_source_dijkstra_path",
    "single_source_dijkstra_path_length",
    "single_source_shortest_path",
    "single_source_shortest_path_length",
    "single_target_shortest_path",
    "single_target_shortest_path_length",
    "strongly_connected_components",
    "to_numpy_array",
    "to_scipy_sparse_array",
    "topological_generations",
    "topological_sort",
    "transitivity",
    "triangles",
    "weakly_connected_components",
    "wiener_index",
)
"""The functions of networkx that this package has, by their names in networkx's dispatching."""

LEAST = 30
"""The nodes from which on a graph of networkx is worth its conversion."""

LEAST_LINEAR = 1000
"""The same for functions that networkx looks at each edge for but once."""

LINEAR = frozenset(
    (
        "ancestors",
        "average_neighbor_degree",
        "bfs_edges",
        "bfs_layers",
        "bfs_predecessors",
        "bfs_successors",
        "connected_components",
        "degree_centrality",
        "descendants",
        "descendants_at_distance",
        "in_degree_centrality",
        "is_bipartite",
        "is_connected",
        "is_directed_acyclic_graph",
        "is_forest",
        "is_k_regular",
        "is_regular",
        "is_strongly_connected",
        "is_tree",
        "is_weakly_connected",
        "isolates",
        "node_connected_component",
        "number_connected_components",
        "number_of_isolates",
        "number_of_selfloops",
        "number_strongly_connected_components",
        "number_weakly_connected_components",
        "out_degree_centrality",
        "overall_reciprocity",
        "reciprocity",
        "s_metric",
        "shortest_path",
        "shortest_path_length",
        "single_source_shortest_path",
        "single_source_shortest_path_length",
        "single_target_shortest_path",
        "single_target_shortest_path_length",
        "strongly_connected_components",
        "to_numpy_array",
        "to_scipy_sparse_array",
        "topological_generations",
        "topological_sort",
        "weakly_connected_components",
    )
)
"""The functions for which networkx takes about as long as a conversion."""

NEAR = frozenset(("has_path", "is_empty", "is_isolate"))
"""The functions for which networkx looks at few nodes."""

BETWEEN = frozenset(("shortest_path", "shortest_path_length"))
"""The functions for which it does so where both endpoints are given: it searches from both."""


def get_info() -> dict[str, Any]:
    """Return what `networkx.backend_info` requests."""
    return {
        "backend_name": "hexgraph",
        "project": "hexgraph",
        "package": "hexgraph",
        "url": "https://github.com/hexgraph/hexgraph",
        "short_summary": "Graph algorithms of the hexgraph engine, on all cores",
        "default_config": {"any_size": False},
        "functions": {
            name: {"additional_docs": NOTES[name]} if name in NOTES else {} for name in FUNCTIONS
        },
    }
