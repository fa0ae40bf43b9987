"""Graphs in files and in Python, as a table of nodes and a table of edges."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from .. import guesses
from .._native import load_graph
from ..errors import QueryError
from ..frames import missing
from ..homes import expanded
from .arguments import PLAIN_OPTIONS, names_of_types
from .pairs import equal_keys, graph_edges, is_graph, texts
from .tables import of_columns

OTHER_NAMES = {
    **dict.fromkeys(("label", "labels", "kind", "node_type", "node_label"), "type"),
    **dict.fromkeys(("edge", "edges", "relation", "rel_type", "edge_type"), "predicate"),
    **dict.fromkeys(("id", "key", "on"), "xid"),
}
"""Arguments as others call them, and what they are called here."""

ENDPOINTS = ("source", "target")

SHOWN = 60
"""The most characters of an id that a message shows."""

LEFT_OUT_SHOWN = 10
"""The most names of what is not stored that a warning has."""

NODE_LINK_KEYS = ("nodes", "directed", "multigraph", "graph")
"""The keys of node-link JSON that have a meaning, with that of the edges."""


class Parts:
    """A graph as rows, with what is to be said of it."""

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        """What messages call it: the path of a file."""
        self.kind = kind
        self.ids: list[Any] = []
        self.nodes: list[dict[str, Any]] = []
        """The attributes of nodes, by their position among the ids."""
        self.endpoints: tuple[list[Any], list[Any]] = ([], [])
        self.edges: list[dict[str, Any]] = []
        self.is_directed = False
        self.left_out: list[str] = []
        """What the graph has that is not stored."""

    def add_node(self, identifier: Any, data: Mapping[Any, Any]) -> None:
        """Add a node with its attributes."""
        self.ids.append(self.checked(identifier, f"node {len(self.ids)}"))
        self.nodes.append(flat(data))

    def add_edge(self, source: Any, target: Any, data: Mapping[Any, Any]) -> None:
        """Add an edge with its attributes."""
        location = f"edge {len(self.edges)}"
        self.endpoints[0].append(self.checked(source, location))
        self.endpoints[1].append(self.checked(target, location))
        self.edges.append(flat(data))

    def checked(self, identifier: Any, location: str) -> int | str:
        """Return an id, or raise QueryError for what can be none."""
        if hasattr(identifier, "__index__") and not isinstance(identifier, bool):
            # Ints of numpy among them.
            return int(identifier)
        is_id = isinstance(identifier, str)
        if not is_id or identifier == "":
            raise QueryError(
                f"{self.name}: {location} has the id {shown(identifier)}, and an id is a whole"
                " number or a text that is not empty",
                hint="name the nodes by texts: str(id), or networkx.relabel_nodes(graph, str)",
            )
        return cast(str, identifier)

    def tables(self) -> tuple[Any, Any]:
        """Return the table of nodes and that of edges, whose first columns are ids."""
        if any(
            isinstance(identifier, str)
            for identifier in (*self.ids, *self.endpoints[0], *self.endpoints[1])
        ):
            # Of two kinds of ids all are texts: 7 and "7" are one node in these formats.
            self.ids = [str(identifier) for identifier in self.ids]
            self.endpoints = (
                [str(end) for end in self.endpoints[0]],
                [str(end) for end in self.endpoints[1]],
            )
        nodes = table([("id", self.ids)], self.nodes)
        edges = table(list(zip(ENDPOINTS, self.endpoints, strict=True)), self.edges)
        return nodes, edges

    def check(self, refuses_missing: bool) -> list[str]:
        """Return warnings of what is not stored, and of endpoints that are no nodes."""
        nodes = {str(identifier) for identifier in self.ids}
        warnings = []
        if self.left_out:
            more = len(self.left_out) - LEFT_OUT_SHOWN
            names = ", ".join(self.left_out[:LEFT_OUT_SHOWN])
            warnings.append(f"not stored: {names}{f' and {more} more' if more > 0 else ''}")
        lost = [end for end in (*self.endpoints[0], *self.endpoints[1]) if str(end) not in nodes]
        if lost and refuses_missing:
            raise QueryError(f"{self.name}: {shown(lost[0])} is an end of an edge and no node")
        if lost:
            warnings.append(
                f"endpoints of edges that are no nodes of the graph: {len(lost)}, such as"
                f' {shown(lost[0])}; nodes were made (missing="raise" refuses them)'
            )
        return warnings

    def note(self) -> str:
        """Return what the graph is, as a line."""
        undirected = "undirected, each edge leads from its source to its target"
        kind = "directed" if self.is_directed else undirected
        return f"{self.name}: {self.kind}, {kind}, {len(self.ids)} nodes, {len(self.edges)} edges"


def refuse(other: Mapping[str, Any], names: list[str]) -> None:
    """Refuse arguments that there are not, and name those that are likely meant."""
    for name in other:
        guesses.refuse("load_graph()", name, names, OTHER_NAMES)


def load(db: Any, graph: Any, type: Any, options: dict[str, Any]) -> Any:  # noqa: A002
    """Load a graph; see `Database.load_graph`."""
    for name in ("predicate", "xid"):
        if not isinstance(options[name], str):
            raise TypeError(f"{name} is the name of a predicate, a str, not {options[name]!r}")
    given = {name: options[name] for name in ("on_error", "progress", "memory")}
    native = {
        "table": {**PLAIN_OPTIONS, **given, "schema": expanded(options["schema"])},
        "node_types": names_of_types(type),
        "predicate": options["predicate"],
        "xid": options["xid"],
        "missing": options["missing"],
        "notes": [],
        "warnings": [],
    }
    if isinstance(graph, (str, os.PathLike)):
        path = Path(expanded(graph))
        if plain_name(path).endswith(".graphml"):
            return load_graph(db, path, native)
        parts = of_file(path)
    elif isinstance(graph, Mapping):
        parts = of_node_link(graph, "<dict>")
    elif is_graph(graph):
        parts = of_networkx(graph, "<graph>", "networkx")
    else:
        raise TypeError(
            "a graph is the path of a .graphml, .gml or .json file, a dict of nodes and links, or a"
            f" graph of networkx, not {graph.__class__.__name__}"
        )
    native["warnings"] = parts.check(options["missing"] == "raise")
    native["notes"] = [parts.note()]
    return load_graph(db, parts.tables(), native)


def plain_name(path: Path) -> str:
    """Return the name of a file in lower case, without the end that says that it is packed."""
    return path.name.lower().removesuffix(".gz").removesuffix(".zst")


def of_file(path: Path) -> Parts:
    """Return the graph of a file of GML or node-link JSON."""
    name = plain_name(path)
    if name.endswith((".xlsx", ".xls", ".xlsb", ".ods")):
        raise QueryError(
            f"{path}: a workbook is no graph",
            hint="read its sheets with pandas.read_excel or polars.read_excel, and pass the data"
            " frames to load_nodes and load_edges",
        )
    if name.endswith(".gml"):
        return of_gml(path)
    if not name.endswith(".json"):
        raise QueryError(
            f"{path}: a graph is read from .graphml, .gml or .json",
            hint="tables of nodes and of edges are loaded by load_nodes and load_edges",
        )
    try:
        data = json.loads(read(path))
    except RecursionError:
        raise QueryError(f"{path}: its values are too deep in others") from None
    except ValueError as error:
        raise QueryError(f"{path}: this is no JSON: {error}") from error
    if not isinstance(data, Mapping):
        raise QueryError(f"{path}: node-link JSON is an object with nodes and links, not a list")
    return of_node_link(data, str(path))


def read(path: Path) -> bytes:
    """Return the bytes of a file, unpacked."""
    if path.suffix.lower() == ".zst":
        raise QueryError(f"{path}: unpack it first, or pack it as .gz")
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def of_gml(path: Path) -> Parts:
    """Return the graph of a file of GML, whose ids name the nodes, as networkx reads it."""
    try:
        import networkx
    except ImportError as error:
        raise missing("networkx") from error
    text = read(path).decode("utf-8-sig", errors="replace")
    try:
        graph = networkx.parse_gml(text, label="id")
    except RecursionError:
        raise QueryError(f"{path}: its lists are too deep in others") from None
    except (networkx.NetworkXException, ValueError) as error:
        raise QueryError(f"{path}: networkx can't read it: {error}") from error
    return of_networkx(graph, str(path), "GML")


def of_networkx(graph: Any, name: str, kind: str) -> Parts:
    """Return a graph of networkx as rows."""
    parts = Parts(name, kind)
    parts.is_directed = bool(graph.is_directed())
    for node, data in graph.nodes(data=True):
        parts.add_node(node, data)
    for source, target, data in graph_edges(graph):
        parts.add_edge(source, target, data)
    parts.left_out = of_graph(getattr(graph, "graph", {}))
    return parts


def of_graph(attributes: Any) -> list[str]:
    """Return the attributes of a graph as texts; readers of networkx leave empty ones."""
    pairs = attributes.items() if isinstance(attributes, Mapping) else [(attributes, attributes)]
    return [f"{shown(name)} of the graph" for name, value in pairs if value not in ({}, [], None)]


def of_node_link(data: Mapping[str, Any], name: str) -> Parts:
    """Return a graph of node-link JSON as rows: `nodes`, and `links` or `edges`.

    Where no node has an id, endpoints are the positions of nodes, as in networkx and older d3.
    """
    parts = Parts(name, "node-link JSON")
    parts.is_directed = bool(data.get("directed", False))
    links = next((key for key in ("links", "edges") if key in data), None)
    if "nodes" not in data or links is None:
        raise QueryError(
            f"{name}: node-link JSON is an object with `nodes`, and `links` or `edges`; this has"
            f" {', '.join(map(repr, list(data)[:10])) or 'nothing'}"
        )
    for index, node in enumerate(rows_of(data, "nodes", name)):
        parts.add_node(node.get("id", index), {key: it for key, it in node.items() if key != "id"})
    for index, link in enumerate(rows_of(data, links, name)):
        if any(end not in link for end in ENDPOINTS):
            raise QueryError(f"{name}: {links}[{index}] lacks `source` or `target`")
        source, target = (link[end] for end in ENDPOINTS)
        parts.add_edge(
            source, target, {key: it for key, it in link.items() if key not in ENDPOINTS}
        )
    other = [shown(key) for key in data if key not in {*NODE_LINK_KEYS, links}]
    parts.left_out = [*of_graph(data.get("graph", {})), *other]
    return parts


def rows_of(data: Mapping[str, Any], key: str, name: str) -> Iterable[Mapping[str, Any]]:
    """Return the objects of a list."""
    rows = data[key]
    is_list = isinstance(rows, (list, tuple))
    wrong = next((it for it in rows if not isinstance(it, Mapping)), None) if is_list else rows
    if wrong is not None:
        raise QueryError(f"{name}: `{key}` is a list of objects, and this is none: {shown(wrong)}")
    return list(rows)


def flat(data: Mapping[Any, Any]) -> dict[str, Any]:
    """Return attributes with texts as names; those of an object in it are prefixed with its name.

    >>> flat({"name": "a", "at": {"x": 1, "y": {"z": 2}}, 3: [4]})
    {'name': 'a', '3': [4], 'at.x': 1, 'at.y.z': 2}
    """
    if not any(isinstance(value, Mapping) for value in data.values()):
        return texts(data)
    row: dict[str, Any] = {}
    inner: list[tuple[str, Mapping[Any, Any]]] = [("", data)]
    while inner:
        prefix, values = inner.pop(0)
        for name, value in values.items():
            if isinstance(value, Mapping):
                inner.append((f"{prefix}{name}.", value))
            elif f"{prefix}{name}" in row:
                raise equal_keys(f"{prefix}{name}")
            else:
                row[f"{prefix}{name}"] = value
    return row


def table(first: list[tuple[str, list[Any]]], rows: list[dict[str, Any]]) -> Any:
    """Return the table of these columns and those of the attributes of rows."""
    own = dict.fromkeys(name for row in rows for name in row)
    columns: dict[str, Any] = {}
    for name, values in first:
        # An attribute may be called so, too: the engine recognises ids by their position.
        free = name
        while free in own:
            free += "_"
        columns[free] = values
    columns |= {name: [row.get(name) for row in rows] for name in own}
    return of_columns(columns).tables


def shown(value: Any) -> str:
    """Return a value as messages show it."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
