"""Names that people bring along from other libraries, and what is called here for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

CONNECT = {
    **dict.fromkeys(("readonly", "ro", "mode", "access_mode"), "read_only"),
    **dict.fromkeys(("num_threads", "n_threads", "max_threads", "workers", "cores"), "threads"),
    **dict.fromkeys(("memory_limit", "max_memory", "memory_map_size"), "memory"),
    **dict.fromkeys(("durability", "fsync", "synchronous"), "sync"),
    **dict.fromkeys(("database", "uri", "url", "directory", "db_path", "file"), "path"),
    **dict.fromkeys(("mmap", "use_mmap"), "map"),
    "timeout": "limits={'timeout': seconds}",
}
"""Arguments of `connect` as others call them."""

IN_TEXT = {
    **dict.fromkeys(("first", "limit", "top"), "first: 10"),
    **dict.fromkeys(("offset", "skip"), "offset: 10"),
    **dict.fromkeys(("orderby", "order_by", "sort", "orderasc"), "orderasc: name"),
    "orderdesc": "orderdesc: name",
    "after": "after: 0x1f",
}
"""What is in the text of a query, and not an argument."""

QUERY = ("timeout", "debug", "strict", "variables", "dql")
"""The arguments of `query`."""

RESULT = {
    **dict.fromkeys(("df", "fetchdf", "fetch_df", "to_df", "toPandas", "pandas"), "to_pandas()"),
    **dict.fromkeys(("pl", "polars"), "to_polars()"),
    **dict.fromkeys(("arrow", "fetch_arrow_table", "to_arrow_table", "fetcharrow"), "to_arrow()"),
    **dict.fromkeys(("fetchall", "fetch_all", "all", "tuples", "to_list", "tolist"), "rows()"),
    **dict.fromkeys(("to_dicts", "to_pylist", "dicts"), "list(result)"),
    **dict.fromkeys(("to_pydict", "data", "dict"), "to_dict()"),
    **dict.fromkeys(("to_json", "dumps"), "json()"),
    **dict.fromkeys(("show", "print", "display", "pprint"), "print(result)"),
    **dict.fromkeys(("fetchone", "fetch_one", "one", "single", "item"), "rows()[0]"),
    **dict.fromkeys(("head", "fetchmany", "limit"), "rows()[:10]"),
    **dict.fromkeys(("shape", "count", "height", "size"), "len(result), result.columns()"),
    **dict.fromkeys(("to_csv", "write_csv"), 'to_pandas().to_csv("file.csv")'),
    **dict.fromkeys(("to_parquet", "write_parquet"), 'to_polars().write_parquet("file.parquet")'),
    **dict.fromkeys(("to_numpy", "numpy", "fetchnumpy"), "to_pandas().to_numpy()"),
    **dict.fromkeys(("keys", "names", "schema", "dtypes"), "result.columns()"),
    **dict.fromkeys(("to_networkx", "plot", "graph", "draw"), "hexgraph.GraphView(result)"),
}
"""What libraries of tables call the things of a result."""

DATABASE = {
    **dict.fromkeys(("execute", "dql", "ask", "query_df", "select", "match"), "query(dql)"),
    **dict.fromkeys(
        ("add", "insert", "create", "add_node", "add_nodes", "put"), "mutate(set_json=...)"
    ),
    **dict.fromkeys(("add_edge", "add_edges", "from_edges"), "load_edges(table, predicate)"),
    **dict.fromkeys(("remove", "remove_node"), "delete(nodes)"),
    **dict.fromkeys(
        ("load_csv", "import_csv", "read_csv", "load_frame"), "load_nodes(table, type)"
    ),
    **dict.fromkeys(("from_pandas", "from_polars", "load_table"), "load_nodes(table, type)"),
    **dict.fromkeys(
        ("from_networkx", "read_graphml", "read_gml", "load_graphml", "add_graph"),
        "load_graph(graph)",
    ),
    **dict.fromkeys(("create_index", "add_index"), 'index(predicate, "term")'),
    **dict.fromkeys(("types", "tables", "labels", "predicates", "info", "summary"), "describe()"),
    **dict.fromkeys(("begin", "transaction", "commit", "session"), "txn()"),
    **dict.fromkeys(("set_schema", "update_schema", "define"), "alter(schema)"),
    **dict.fromkeys(
        ("shortest_path", "shortest_paths", "shortest"),
        "query('{ shortest(from: 0x1, to: 0x2) { edge } }').paths()",
    ),
    **dict.fromkeys(
        ("pagerank", "louvain", "betweenness", "bfs", "degree"), "algo.<name>(predicate)"
    ),
    **dict.fromkeys(
        ("to_networkx", "to_igraph", "graph"), "edges(predicate), and its to_networkx()"
    ),
    **dict.fromkeys(("plot", "draw", "visualize", "show"), "hexgraph.GraphView(db)"),
    **dict.fromkeys(("neighbors", "get", "nodes", "count", "traverse"), "query(dql)"),
    **dict.fromkeys(("disconnect", "shutdown"), "close()"),
}
"""What other databases call the things of a database."""


ALGORITHMS = {
    **dict.fromkeys(("page_rank", "PageRank", "pageRank"), "pagerank(predicate)"),
    **dict.fromkeys(("connected_components", "wcc", "weak_components"), "components(predicate)"),
    **dict.fromkeys(
        ("scc", "strongly_connected_components", "strongly_connected"),
        "strong_components(predicate)",
    ),
    **dict.fromkeys(("breadth_first_search", "levels", "hops"), "bfs(predicate, source=uid)"),
    **dict.fromkeys(
        ("dijkstra", "sssp", "shortest_paths", "shortest_path_length"),
        "distances(predicate, source=uid, weight=facet)",
    ),
    **dict.fromkeys(("yen", "k_shortest_paths"), "k_shortest(predicate, source=uid, target=uid)"),
    **dict.fromkeys(("lpa", "cdlp"), "label_propagation(predicate)"),
    **dict.fromkeys(("communities", "community", "modularity_communities"), "leiden(predicate)"),
    **dict.fromkeys(("k_core", "kcore", "coreness", "core_number"), "core_numbers(predicate)"),
    **dict.fromkeys(("triangle_count", "count_triangles"), "triangles(predicate)"),
    **dict.fromkeys(("mst", "minimum_spanning_tree"), "spanning_forest(predicate)"),
    **dict.fromkeys(("cut_vertices", "cut_nodes"), "articulation_points(predicate)"),
    **dict.fromkeys(("node2vec", "deepwalk", "random_walks"), "walks(predicate)"),
    **dict.fromkeys(("jaccard", "node_similarity"), "similar_nodes(predicate)"),
    **dict.fromkeys(("topological_sort", "toposort"), "topological_order(predicate)"),
    **dict.fromkeys(("embedding", "embeddings"), "fastrp(predicate)"),
}
"""What other libraries call algorithms."""

ARGUMENTS = {
    **dict.fromkeys(("d", "alpha", "damping_factor", "dampening"), "damping"),
    **dict.fromkeys(("max_iter", "max_iterations", "maxiter", "n_iterations"), "iterations"),
    **dict.fromkeys(("tol", "eps", "epsilon"), "tolerance"),
    **dict.fromkeys(("personalization", "reset"), "from_nodes"),
    **dict.fromkeys(("from_", "start", "root", "sources", "pairs"), "source"),
    **dict.fromkeys(("to", "end", "target_node", "targets"), "target"),
    **dict.fromkeys(("weights", "weight_attr", "edge_weight", "cost"), "weight"),
    **dict.fromkeys(("top", "top_k", "n", "limit"), "k"),
    **dict.fromkeys(("depth_limit", "max_depth", "cutoff"), "depth"),
    **dict.fromkeys(("gamma", "resolution_parameter"), "resolution"),
    **dict.fromkeys(("fanout", "num_neighbors", "sizes"), "fanouts"),
    **dict.fromkeys(("walk_length", "steps"), "length"),
    **dict.fromkeys(("walks_per_node", "num_walks"), "per_node"),
    **dict.fromkeys(("dim", "embedding_dimension", "size"), "dimensions"),
    **dict.fromkeys(("mode", "directed", "orientation"), "direction"),
    **dict.fromkeys(("random_state", "random_seed"), "seed"),
    **dict.fromkeys(("n_jobs", "n_threads", "num_threads", "concurrency"), "threads"),
}
"""Arguments of algorithms as others call them."""


def refuse(
    called: str,
    name: str,
    names: Sequence[str],
    others: Mapping[str, str],
    shown: Sequence[str] | None = None,
) -> NoReturn:
    """Refuse an argument: name the one that others call so, or the nearest, or all that are there.

    >>> refuse("load_nodes()", "dtype", ["types", "id"], {"dtype": "types"})
    Traceback (most recent call last):
    TypeError: load_nodes() has no argument 'dtype': did you mean `types`?
    """
    near = _near(name, names)
    meant = others.get(name) or (near[0] if near else None)
    hint = f": did you mean `{meant}`?" if meant else f"; it has {', '.join(shown or names)}"
    raise TypeError(f"{called} has no argument {name!r}{hint}")


def refuse_of_connect(other: Iterable[str], names: list[str]) -> None:
    """Refuse arguments that `connect` does not have, and name those that are likely meant.

    >>> refuse_of_connect(["readonly"], ["read_only"])
    Traceback (most recent call last):
    TypeError: connect() has no argument 'readonly': did you mean `read_only`?
    """
    for name in other:
        refuse("connect()", name, names, CONNECT, ["path", *names])


def refuse_of_query(other: Mapping[str, Any]) -> None:
    """Refuse arguments that `query` does not have; most are variables or belong into the text.

    >>> refuse_of_query({"code": "ZRH"})
    Traceback (most recent call last):
    TypeError: query() has no argument 'code': variables are a dict, query(dql, {'code': 'ZRH'})
    """
    for name, value in other.items():
        near = _near(name, QUERY, 0.75)
        if name in IN_TEXT:
            hint = f"it stands in the text, as in `q(func: has(name), {IN_TEXT[name]})`"
        elif near:
            hint = f"did you mean `{near[0]}`?"
        else:
            shown = repr(value)
            shown = shown if len(shown) <= 40 else "..."  # noqa: PLR2004 - a short line
            hint = f"variables are a dict, query(dql, {{{name!r}: {shown}}})"
        raise TypeError(f"query() has no argument {name!r}: {hint}")


def refuse_of_algorithm(algorithm: str, name: str, names: Iterable[str]) -> None:
    """Refuse an argument that an algorithm does not have.

    >>> refuse_of_algorithm("pagerank", "max_iter", ["damping", "iterations"])
    Traceback (most recent call last):
    TypeError: pagerank has no argument 'max_iter': did you mean `iterations`?
    """
    names = list(names)
    refuse(algorithm, name, names, {other: it for other, it in ARGUMENTS.items() if it in names})


def attribute_error(owner: str, receiver: str, table: Mapping[str, str]) -> Callable[..., Any]:
    """Return a `__getattr__` that names what is called here for what others call `name`."""

    def missing(self: Any, name: str) -> Any:
        text = f"'hexgraph.{owner}' object has no attribute {name!r}"
        if name.startswith("_"):
            raise AttributeError(text, name=name, obj=self)
        if name in table:
            meant = table[name]
            is_complete = "result" in meant or meant.startswith("hexgraph.")
            text += f": write `{meant if is_complete else f'{receiver}.{meant}'}`"
        # Without name and obj, since the interpreter would add a guess of its own to ours.
        near = _near(name, [it for it in dir(self) if not it.startswith("_")])
        if name not in table and near:
            text += f": did you mean `{near[0]}`?"
        raise AttributeError(text)

    missing.__name__ = "__getattr__"
    missing.__qualname__ = f"{owner}.__getattr__"
    return missing


def _near(name: str, names: Iterable[str], cutoff: float = 0.6) -> list[str]:
    """Return the one of some names that is most like another, if any is."""
    # Imported here, since `import hexgraph` would be a twentieth slower otherwise.
    from difflib import get_close_matches

    return get_close_matches(name, list(names), 1, cutoff)
