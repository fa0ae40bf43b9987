"""Calls about groups that are given in Python: a dict by uid, or what an algorithm found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._native import compact_graph, numbers_table
from .found import Found
from .text import Text, uid_number, written

if TYPE_CHECKING:
    from .._native import Database


def grouped(db: Database, text: Text, groups: Any, timeout: float | None) -> Found:
    """Run an algorithm with groups that a query can't name: on the compact graph of its edges."""
    import struct

    values = dict(text.values)
    edges = Text("degree", text.on, text.weight)
    for name, nodes in text.lists.items():
        edges.nodes(name, nodes)
    direction = values.pop("direction", None)
    # The algorithms that are asked about groups take edges without a direction unless told.
    edges.argument("direction", "both" if direction is None else direction)
    graph = compact_graph(db, edges.dql(), timeout)
    uids = struct.unpack(f"={len(graph)}Q", bytes(memoryview(graph.uids())))
    arguments, threads, seed = split(values)
    _, parts, *_ = graph.compute(
        db,
        text.name,
        arguments,
        [("groups", numbered(uids, group_by_uid(groups)))],
        threads=threads,
        seed=seed,
        timeout=timeout,
    )
    return Found(
        db, text.name, numbers_table([(text.name, "float64", bytes(memoryview(parts[0])))])
    )


def split(values: Mapping[str, Any]) -> tuple[list[tuple[str, str]], int | None, int]:
    """Return arguments as texts, the threads, and the seed."""
    rest = {name: value for name, value in values.items() if name not in ("threads", "seed")}
    texts = [(name, written(value).strip("[]")) for name, value in rest.items()]
    return texts, values.get("threads"), values.get("seed") or 0


def group_by_uid(groups: Any) -> dict[int, Any]:
    """Return groups as a dict by the numbers of nodes."""
    given = groups.to_dict() if isinstance(groups, Found) else groups
    if not isinstance(given, Mapping):
        kinds = "a predicate, a dict by uid, or the result of an algorithm"
        raise TypeError(f"groups are {kinds}, not {type(groups).__name__}")
    return {uid_number(uid): group for uid, group in given.items() if group is not None}


def numbered(nodes: Any, groups: Mapping[int, Any]) -> list[int]:
    """Return the number of each node's group; a node without one has a number of its own."""
    known: dict[Any, int] = {}
    return [
        known.setdefault(("of", groups[node]) if node in groups else ("alone", node), len(known))
        for node in nodes
    ]
