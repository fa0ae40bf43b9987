"""Calls about groups that are given in Python: a dict by uid, or the result of an algorithm."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from .._native import compact_graph, numbers_table
from ..errors import QueryError
from .result import AlgorithmResult
from .text import Text, about_weight, uid_number, written

if TYPE_CHECKING:
    from .._native import Database


def grouped(db: Database, text: Text, groups: Any, timeout: float | None) -> AlgorithmResult:
    """Run an algorithm with groups that a query can't name: on the compact graph of its edges."""
    import struct

    values = dict(text.values)
    edges = Text("degree", text.on, text.weight)
    for name, nodes in text.lists.items():
        edges.nodes(name, nodes)
    direction = values.pop("direction", None)
    # The algorithms for groups use edges without a direction by default.
    edges.argument("direction", "both" if direction is None else direction)
    with about_weight(edges):
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
    return AlgorithmResult(
        db, text.name, numbers_table([(text.name, "float64", bytes(memoryview(parts[0])))])
    )


MOST_THREADS = 4096
"""The most threads that one call may be given."""


def split(values: Mapping[str, Any]) -> tuple[list[tuple[str, str]], int | None, int]:
    """Return arguments as texts, the threads, and the seed.

    What a query says of threads and seeds is said here: the engine takes them as numbers.
    """
    threads = _within(values, "threads", 1, MOST_THREADS, f" to {MOST_THREADS}")
    seed = _within(values, "seed", 0, (1 << 64) - 1, " on")
    rest = {name: value for name, value in values.items() if name not in ("threads", "seed")}
    texts = [(name, written(value).strip("[]")) for name, value in rest.items()]
    return texts, threads, seed or 0


def _within(values: Mapping[str, Any], name: str, least: int, most: int, said: str) -> int | None:
    """Return an argument that is an integer, or raise QueryError."""
    value = values.get(name)
    if value is None:
        return None
    is_integer = hasattr(value, "__index__") and not isinstance(value, bool)
    if not is_integer or not least <= operator.index(value) <= most:
        raise QueryError(
            f"`{name}: {written(value)}` is out of range",
            hint=f"expected an integer from {least}{said}",
        )
    return operator.index(value)


def group_by_uid(groups: Any) -> dict[int, Any]:
    """Return groups as a dict by the numbers of nodes."""
    given = groups.to_dict() if isinstance(groups, AlgorithmResult) else groups
    if not isinstance(given, Mapping):
        kinds = "a predicate, a dict by uid, or the result of an algorithm"
        raise TypeError(f"groups are {kinds}, not {type(groups).__name__}")
    groups_by_number = {uid_number(uid): group for uid, group in given.items() if group is not None}
    for group in groups_by_number.values():
        if not isinstance(group, Hashable):
            raise TypeError(f"a group is a number or a text, not {group!r}")
    return groups_by_number


def numbered(nodes: Any, groups: Mapping[int, Any]) -> list[int]:
    """Return the number of each node's group; a node without one has a number of its own."""
    numbers: dict[Any, int] = {}
    return [
        numbers.setdefault(
            ("of", groups[node]) if node in groups else ("alone", node), len(numbers)
        )
        for node in nodes
    ]
