"""A graph that is small enough for a picture: read from a result, or from a database."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from .._native import Database
from ..errors import QueryError
from ..schemas.describing import term
from ..schemas.suggesting import parts_of

LABELS = ("name", "title", "label", "word", "iata", "code", "synset", "id", "xid")
"""The keys that are labels where none is said: the first one that a node has."""

TYPE = "dgraph.type"
NODES_READ = 20_000
NODES_MAX = 20_000
"""The most nodes that positions are computed for."""

EDGES_MAX = 100_000
"""The most edges of a picture; of more, those that were met first."""

NEW_MOST = 40
"""The most neighbours that a node gets at once for each kind of edge."""

EXPAND_SECONDS = 5.0
"""How long the neighbours of a node may be looked for."""

TARGETS_READ = 120_000
"""How many targets of edges are read from a database, about."""


@dataclass
class Node:
    """A node of a picture."""

    key: str
    values: dict[str, Any] = field(default_factory=dict)
    role: str = ""
    degree: int = 0


@dataclass
class Subgraph:
    """Nodes by their keys, and edges by theirs, in the order in which they were met."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    total_nodes: int = 0
    total_edges: int = 0
    is_cut: bool = False
    """Whether there are more than were read."""


def of_result(data: dict[str, Any]) -> Subgraph:
    """Return the nodes and edges of the nested objects of an answer."""
    subgraph = Subgraph()
    stack: list[tuple[str | None, str, Any]] = []
    for block, rows in data.items():
        stack += [(None, block, row) for row in (rows if isinstance(rows, list) else [rows])]
    stack.reverse()
    while stack and len(subgraph.nodes) < NODES_READ:
        above, role, given = stack.pop()
        if not isinstance(given, dict) or not is_node(given):
            continue
        key = str(given.get("uid") or json.dumps(scalars(given), sort_keys=True, default=str))
        node = subgraph.nodes.setdefault(key, Node(key, role=role))
        node.values.update(scalars(given))
        if above is not None:
            source, target = (key, above) if role.startswith("~") else (above, key)
            # Without uids, objects that look alike are one node, which has no edge to itself.
            if source != target or "uid" in given:
                facets = {
                    name.partition("|")[2]: value
                    for name, value in given.items()
                    if name.startswith(f"{role}|")
                }
                subgraph.edges.setdefault((source, role.lstrip("~"), target), facets)
        inner: list[tuple[str | None, str, Any]] = []
        for name, value in given.items():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict) and not name.startswith("@"):
                    inner.append((key, name, item))
        stack += reversed(inner)
    subgraph.total_nodes, subgraph.total_edges = len(subgraph.nodes), len(subgraph.edges)
    subgraph.is_cut = bool(stack)
    return subgraph


def is_node(given: dict[str, Any]) -> bool:
    """Whether an object is a node, and no position, count or group."""
    return not ("coordinates" in given and "type" in given) and bool(scalars(given))


def scalars(given: dict[str, Any]) -> dict[str, Any]:
    """Return the values of an object: no nodes, and no facets of the edge that points to it."""
    return {
        name: value
        for name, value in given.items()
        if "|" not in name
        and not isinstance(value, dict)
        and not (isinstance(value, list) and any(isinstance(item, dict) for item in value))
    }


def edges_of(db: Database, chosen: Sequence[str] | None) -> dict[str, bool]:
    """Return the predicates of edges, and whether each has edges back: the chosen ones, or all.

    Raises QueryError for a chosen one that there is not.
    """
    definitions = {}
    for line in str(db.schema()).splitlines():
        name, _, definition = line.partition(": ")
        if not line.startswith((" ", "type ")) and not name.strip("<>").startswith("dgraph."):
            definitions[name.strip("<>")] = definition
    own = {
        name: "@reverse" in definition
        for name, definition in definitions.items()
        if definition.split(" ")[0] in ("uid", "[uid]")
    }
    for name in chosen or ():
        if name not in own:
            there = ", ".join(own) or "none"
            raise QueryError(f"there are no edges {name!r}; the predicates of edges are {there}")
    return {name: own[name] for name in chosen or own}


def values_of(db: Database, keys: Sequence[str], edges: Iterable[str]) -> list[str]:
    """Return what is read of each node: labels as far as there are any, and the keys."""
    existing, _ = parts_of(db.schema())
    chosen = set(edges)
    names = [name for name in (*LABELS, *keys) if name in existing and name not in chosen]
    return list(dict.fromkeys(["uid", TYPE, *map(term, names)]))


def of_database(
    db: Database, edges: Sequence[str] | None, keys: Sequence[str], most: int
) -> Subgraph:
    """Return the most connected nodes of a database, and the edges between them."""
    chosen = list(edges_of(db, edges))
    if not chosen:
        return Subgraph()
    inner = " ".join(values_of(db, keys, edges_of(db, None)))
    # Half of the picture are the nodes with the most edges; the others are met from there.
    first = max(1, most // (2 * len(chosen)))
    targets_read = min(most, max(8, TARGETS_READ // (first * len(chosen) ** 2)))
    targets = " ".join(f"{term(it)} (first: {targets_read}) {{ {inner} }}" for it in chosen)
    blocks = []
    for index, name in enumerate(chosen):
        edge = term(name)
        blocks.append(f"var(func: has({edge})) {{ c{index} as count({edge}) }}")
        blocks.append(
            f"b{index}(func: uid(c{index}), orderdesc: val(c{index}), first: {first})"
            f" {{ {inner} {targets} }}"
        )
    return of_result(db.query("{ " + "\n".join(blocks) + " }").to_dict())


def around(
    db: Database,
    uid: str,
    existing: dict[str, list[str]],
    edges: Sequence[str] | None,
    keys: Sequence[str],
) -> Subgraph:
    """Return a node with neighbours, at most `NEW_MOST` for each kind of edge.

    `existing` are those that are not requested again: the uids by the edge, `~` before it for those
    back.
    """
    chosen = edges_of(db, edges)
    inner = " ".join(values_of(db, keys, edges_of(db, None)))
    fields = []
    for name in [*chosen, *(f"~{name}" for name, has_back in chosen.items() if has_back)]:
        edge = f"~{term(name[1:])}" if name.startswith("~") else term(name)
        there = ", ".join(existing.get(name, ()))
        without = f" @filter(not uid({there}))" if there else ""
        fields.append(f"{edge} (first: {NEW_MOST}){without} {{ {inner} }}")
    dql = f"{{ q(func: uid({uid})) {{ {inner} {' '.join(fields)} }} }}"
    return of_result(db.query(dql, timeout=EXPAND_SECONDS).to_dict())


def limit_to_most_connected(subgraph: Subgraph, most: int) -> None:
    """Count the edges of nodes, and leave out the least connected nodes with their edges.

    Of more than `EDGES_MAX` edges those are left out that were met last.
    """
    counts: Counter[str] = Counter()
    for source, _, target in subgraph.edges:
        counts.update((source, target))
    if most < len(subgraph.nodes):
        by_count = sorted(subgraph.nodes, key=lambda key: -counts[key])
        chosen = set(by_count[:most])
        subgraph.nodes = {key: node for key, node in subgraph.nodes.items() if key in chosen}
        subgraph.edges = {
            edge: facets
            for edge, facets in subgraph.edges.items()
            if edge[0] in chosen and edge[2] in chosen
        }
    if len(subgraph.edges) > EDGES_MAX:
        subgraph.edges = dict(islice(subgraph.edges.items(), EDGES_MAX))
    for key, node in subgraph.nodes.items():
        node.degree = counts[key]
