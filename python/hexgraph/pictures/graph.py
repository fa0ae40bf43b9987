"""A small graph as a picture: nodes with labels and colours, edges between them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._native import Database, layout
from ..errors import QueryError
from ..schemas.describing import term
from ..schemas.suggesting import parts_of
from .drawing import COLOURS, INK, MUTED, OTHER, Picture, canvas, element, shortened, text

LABELS = ("name", "title", "label", "word", "iata", "code", "synset", "id", "xid")
"""The keys that are labels where none is said: the first one that a node has."""

TYPE = "dgraph.type"
NODES_SHOWN, LABELS_SHOWN, NODES_READ = 300, 60, 20_000
NODES_MAX = 5_000
"""The most nodes that places are computed for."""

LABEL_LETTERS = 24
LETTER = 6.6
"""The width of a letter of a label, about."""

MARGIN, LEGEND = 24, 22
LIGHT, DARK = (222, 235, 247), (8, 69, 148)
"""The colours of the least and the greatest number."""


@dataclass
class Node:
    """A node that is drawn."""

    key: str
    values: dict[str, Any] = field(default_factory=dict)
    role: str = ""
    degree: int = 0


@dataclass
class Found:
    """Nodes by their keys, and edges by theirs, in the order in which they were met."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)


class GraphView(Picture):
    r"""A picture of what a query has found, or of a database: nodes, and the edges between them.

    Notebooks show it, `save` writes it to a file, `svg` is its text. The positions are computed in
    Rust, the same for the same graph.

    - `source`, a Result (ask for `uid`, so that a node that is met twice is one), or a Database
    - `label`, the key that is written at nodes; without it the first one of name, title, … that
      they have
    - `color`, the key whose values colour them: texts by kinds, numbers from light to dark.
      Without it nodes of a database have the colour of their type, and those of a result that of
      the block or the edge by which they were met
    - `size`, the key of a number that decides how large they are; without it their edges do
    - `edges`, the predicates of a database that are drawn; all of them without it
    - `nodes`, the most nodes that are drawn: of more, those with the most edges
    - `width` and `height` in pixels

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> _ = db.mutate(set='<1> <name> "Ada" .\n<1> <knows> <2> .\n<2> <name> "Bob" .')
    >>> view = hexgraph.GraphView(db.query("{ q(func: uid(1)) { uid name knows { uid name } } }"))
    >>> view
    <hexgraph.GraphView: 2 nodes, 1 edge>
    >>> view.uids
    ['0x1', '0x2']

    Raises QueryError for more than 5,000 nodes, and for a key that no node has; TypeError for what
    is neither a result nor a database.
    """

    def __init__(  # noqa: PLR0913 - options by keyword
        self,
        source: Any,
        *,
        label: str | None = None,
        color: str | None = None,
        size: str | None = None,
        edges: Sequence[str] | str | None = None,
        nodes: int = NODES_SHOWN,
        width: int = 760,
        height: int = 520,
    ) -> None:
        if not 1 <= nodes <= NODES_MAX:
            raise QueryError(
                f"nodes is {nodes}, and from 1 to {NODES_MAX}: a picture has no room for more"
            )
        is_database = hasattr(source, "query")
        if is_database:
            chosen = [edges] if isinstance(edges, str) else edges
            keys = [key for key in (label, color, size) if key and key != TYPE]
            found = of_database(source, chosen, keys, nodes)
        elif hasattr(source, "to_dict"):
            if edges is not None:
                raise QueryError("edges= chooses those of a database; of a result all are drawn")
            found = of_result(source.to_dict())
        else:
            raise TypeError(f"a view is of a Result or a Database, not {type(source).__name__}")
        self.total = source.stats()["nodes"] if is_database else len(found.nodes)
        """The number of nodes that the database or the result has."""
        keep_most_connected(found, nodes)
        for key in (label, color, size):
            if key and found.nodes and not any(key in it.values for it in found.nodes.values()):
                known = sorted({name for it in found.nodes.values() for name in it.values})
                raise QueryError(
                    f"no node has {key!r}; they have {', '.join(known) or 'no values'}"
                )
        self.uids = [key for key in found.nodes if key.startswith("0x")]
        """The uids of the nodes, in the order in which they were met."""
        self._counts = len(found.nodes), len(found.edges)
        color = color or (TYPE if is_database else None)
        super().__init__(drawn(found, (label, color, size), (width, height), self.total))

    def __repr__(self) -> str:
        nodes, edges = self._counts
        left_out = f" of {self.total:,}" if nodes < self.total else ""
        plural = "" if nodes == 1 else "s"
        told = f"{nodes:,}{left_out} node{plural}, {edges:,} edge{'' if edges == 1 else 's'}"
        return f"<hexgraph.GraphView: {told}>"


def of_result(data: dict[str, Any]) -> Found:
    """Return the nodes and edges of the nested objects of an answer."""
    found = Found()
    ahead: list[tuple[str | None, str, Any]] = []
    for block, rows in data.items():
        ahead += [(None, block, row) for row in (rows if isinstance(rows, list) else [rows])]
    ahead.reverse()
    while ahead and len(found.nodes) < NODES_READ:
        above, role, given = ahead.pop()
        if not isinstance(given, dict) or not is_node(given):
            continue
        key = str(given.get("uid") or json.dumps(scalars(given), sort_keys=True, default=str))
        node = found.nodes.setdefault(key, Node(key, role=role))
        node.values.update(scalars(given))
        if above is not None:
            source, target = (key, above) if role.startswith("~") else (above, key)
            if source != target:
                facets = {
                    name.partition("|")[2]: value
                    for name, value in given.items()
                    if name.startswith(f"{role}|")
                }
                found.edges.setdefault((source, role.lstrip("~"), target), facets)
        inner: list[tuple[str | None, str, Any]] = []
        for name, value in given.items():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict) and not name.startswith("@"):
                    inner.append((key, name, item))
        ahead += reversed(inner)
    return found


def is_node(given: dict[str, Any]) -> bool:
    """Whether an object is a node, and no place, count or group."""
    return not ("coordinates" in given and "type" in given) and bool(scalars(given))


def scalars(given: dict[str, Any]) -> dict[str, Any]:
    """Return the values of an object: no nodes, and no facets of the edge that leads to it."""
    return {
        name: value
        for name, value in given.items()
        if "|" not in name
        and not isinstance(value, dict)
        and not (isinstance(value, list) and any(isinstance(item, dict) for item in value))
    }


def of_database(db: Database, edges: Sequence[str] | None, keys: Sequence[str], most: int) -> Found:
    """Return the most connected nodes of a database, and the edges between them."""
    schema = db.schema()
    known, _ = parts_of(schema)
    described = {line.split(":")[0].strip("<>"): line for line in schema.splitlines()}
    own = [
        name
        for name in known
        if not name.startswith("dgraph.") and "uid" in described.get(name, "").split(" ")[1:2][0]
    ]
    for name in edges or ():
        if name not in own:
            there = ", ".join(own) or "none"
            raise QueryError(f"there are no edges {name!r}; the predicates of edges are {there}")
    chosen = list(edges or own)
    if not chosen:
        return Found()
    values = [name for name in (*LABELS, *keys) if name in known and name not in own]
    # Half of what is drawn are the nodes with the most edges; the others are met from there.
    first = max(1, most // (2 * len(chosen)))
    blocks = []
    for place, name in enumerate(chosen):
        edge = term(name)
        blocks.append(f"var(func: has({edge})) {{ c{place} as count({edge}) }}")
        inner = " ".join(dict.fromkeys(["uid", TYPE, *map(term, values)]))
        targets = " ".join(f"{term(it)} (first: {most}) {{ {inner} }}" for it in chosen)
        blocks.append(
            f"b{place}(func: uid(c{place}), orderdesc: val(c{place}), first: {first})"
            f" {{ {inner} {targets} }}"
        )
    return of_result(db.query("{ " + "\n".join(blocks) + " }").to_dict())


def keep_most_connected(found: Found, most: int) -> None:
    """Count the edges of nodes, and leave out the least connected nodes with their edges."""
    counts: Counter[str] = Counter()
    for source, _, target in found.edges:
        counts.update((source, target))
    if most < len(found.nodes):
        by_count = sorted(found.nodes, key=lambda key: -counts[key])
        kept = set(by_count[:most])
        found.nodes = {key: node for key, node in found.nodes.items() if key in kept}
        found.edges = {
            edge: facets
            for edge, facets in found.edges.items()
            if edge[0] in kept and edge[2] in kept
        }
    for key, node in found.nodes.items():
        node.degree = counts[key]


def drawn(
    found: Found,
    keys: tuple[str | None, str | None, str | None],
    space: tuple[int, int],
    total: int,
) -> str:
    """Return the picture."""
    label, color, size = keys
    width, height = space
    nodes = list(found.nodes.values())
    place = {node.key: at for at, node in enumerate(nodes)}
    pairs = [(place[source], place[target]) for source, _, target in found.edges]
    spots = layout(len(nodes), pairs)
    radii = radii_of(nodes, size)
    colour_of, legend = colours_of(nodes, color)
    top, low = MARGIN, height - MARGIN - LEGEND
    points = [(MARGIN + (width - 2 * MARGIN) * x, top + (low - top) * y) for x, y in spots]
    parts = list(arrows(found, pairs, points, radii))
    for node, (x, y), radius in zip(nodes, points, radii, strict=True):
        told = ", ".join(f"{key}: {value}" for key, value in node.values.items())
        parts.append(
            element(
                "circle",
                element("title", escaped(shortened(told or node.key, 300))),
                cx=x,
                cy=y,
                r=radius,
                fill=colour_of(node),
                stroke="#ffffff",
                stroke_width=1.2,
            )
        )
    parts += labels(nodes, label, points, radii, width)
    parts += legend_parts(legend, height)
    if len(nodes) < total:
        told = f"{len(nodes):,} of {total:,} nodes"
        parts.append(text(told, width - 8, height - 8, text_anchor="end", fill=MUTED, font_size=11))
    if not nodes:
        parts.append(text("there are no nodes", MARGIN, MARGIN + 12, fill=MUTED))
    title = f"a graph of {len(nodes):,} nodes and {len(pairs):,} edges"
    return canvas(width, height, parts, title)


def escaped(words: str) -> str:
    """Return a text as it may stand in an element."""
    from html import escape

    return escape(words)


def radii_of(nodes: Sequence[Node], size: str | None) -> list[float]:
    """Return how large the nodes are: an area for each edge, or by the numbers of a key."""
    numbers = [
        float(node.degree) if size is None else positive(node.values.get(size)) for node in nodes
    ]
    most = max(numbers, default=0) or 1
    widest = 16.0 if len(nodes) <= LABELS_SHOWN else 11.0
    return [3.5 + (widest - 3.5) * math.sqrt(number / most) for number in numbers]


def positive(value: Any) -> float:
    """Return a number that may be a size; 0 for anything else."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return max(0.0, float(value)) if is_number else 0.0


Legend = list[tuple[str, str]]


def colours_of(nodes: Sequence[Node], key: str | None) -> tuple[Callable[[Node], str], Legend]:
    """Return the colour of each node, and what the colours mean."""

    def value(node: Node) -> Any:
        found = node.role if key is None else node.values.get(key)
        return found[0] if isinstance(found, list) and found else found

    found = [it for it in map(value, nodes) if it is not None and it != []]
    numeric = [it for it in found if isinstance(it, (int, float)) and not isinstance(it, bool)]
    if numeric and len(numeric) == len(found) and len(set(numeric)) > len(COLOURS):
        low, high = min(numeric), max(numeric)

        def shade(node: Node) -> str:
            given = value(node)
            return OTHER if given is None else mixed((given - low) / (high - low))

        return shade, [(f"{key}: {low:,}", mixed(0)), (f"{high:,}", mixed(1))]
    common = [name for name, _ in Counter(map(str, found)).most_common(len(COLOURS))]
    colours: dict[str, str] = dict(zip(common, COLOURS, strict=False))
    legend = list(colours.items())
    if len(set(map(str, found))) > len(colours) or len(found) < len(nodes):
        legend.append(("others", OTHER))

    def kind(node: Node) -> str:
        return colours.get(str(value(node)), OTHER)

    return kind, legend if len(legend) > 1 else []


def mixed(share: float) -> str:
    """Return the colour between light and dark."""
    parts = (round(one + (two - one) * share) for one, two in zip(LIGHT, DARK, strict=True))
    return "#" + "".join(f"{part:02x}" for part in parts)


def arrows(
    found: Found,
    pairs: Sequence[tuple[int, int]],
    points: Sequence[tuple[float, float]],
    radii: Sequence[float],
) -> Iterator[str]:
    """Return the edges: lines with a head where there is room for one."""
    crowded = len(pairs) > 4 * NODES_SHOWN
    paler = 0.35 if crowded else 0.6
    for (edge, facets), (one, two) in zip(found.edges.items(), pairs, strict=True):
        (x, y), (to_x, to_y) = points[one], points[two]
        length = math.hypot(to_x - x, to_y - y)
        if length <= radii[one] + radii[two]:
            continue
        turn_x, turn_y = (to_x - x) / length, (to_y - y) / length
        end_x, end_y = to_x - turn_x * radii[two], to_y - turn_y * radii[two]
        path = f"M{x + turn_x * radii[one]:.1f} {y + turn_y * radii[one]:.1f}"
        path += f" L{end_x:.1f} {end_y:.1f}"
        if not crowded and length > radii[one] + radii[two] + 8:
            back_x, back_y = end_x - 6 * turn_x, end_y - 6 * turn_y
            path += f" M{back_x - 3 * turn_y:.1f} {back_y + 3 * turn_x:.1f}"
            path += f" L{end_x:.1f} {end_y:.1f}"
            path += f" L{back_x + 3 * turn_y:.1f} {back_y - 3 * turn_x:.1f}"
        told = ", ".join([edge[1], *(f"{key}: {value}" for key, value in facets.items())])
        yield element(
            "path",
            element("title", escaped(told)),
            d=path,
            fill="none",
            stroke="#8c959f",
            stroke_width=0.9,
            stroke_opacity=paler,
        )


def labels(
    nodes: Sequence[Node],
    key: str | None,
    points: Sequence[tuple[float, float]],
    radii: Sequence[float],
    width: int,
) -> Iterator[str]:
    """Return the labels of the most connected nodes, where they hide no other and no node."""
    taken: list[tuple[float, float, float, float]] = []
    for (x, y), radius in zip(points, radii, strict=True):
        half = radius * 0.7
        taken.append((x - half, y - half, x + half, y + half))
    by_size = sorted(range(len(nodes)), key=lambda at: -radii[at])
    for at in by_size[: 4 * LABELS_SHOWN]:
        words = shortened(label_of(nodes[at], key), LABEL_LETTERS)
        (x, y), radius = points[at], radii[at]
        long = len(words) * LETTER
        for left, base in (
            (x + radius + 3, y + 4),
            (x - radius - 3 - long, y + 4),
            (x - long / 2, y - radius - 4),
            (x - long / 2, y + radius + 12),
        ):
            box = (left, base - 10, left + long, base + 3)
            inside = left >= 0 and left + long <= width
            if words and inside and not any(meet(box, other) for other in taken):
                taken.append(box)
                # A white rim below the letters, so that they can be read on lines.
                rim = {"stroke": "#ffffff", "stroke_width": 2.5, "stroke_linejoin": "round"}
                yield text(words, left, base, font_size=11, fill="#ffffff", **rim)
                yield text(words, left, base, font_size=11, fill=INK)
                break


def meet(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    """Whether two rectangles have a point in common."""
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


def label_of(node: Node, key: str | None) -> str:
    """Return what is written at a node."""
    for name in (key,) if key else LABELS:
        value = node.values.get(name)
        if value is not None and value != []:
            return str(value[0] if isinstance(value, list) else value)
    if key:
        return ""
    texts = (it for name, it in node.values.items() if isinstance(it, str) and name != "uid")
    return next(texts, str(node.values.get("uid", "")))


def legend_parts(legend: Legend, height: int) -> Iterator[str]:
    """Return what the colours mean, in a line."""
    x = float(MARGIN)
    for words, colour in legend:
        told = shortened(words, LABEL_LETTERS)
        yield element("circle", cx=x, cy=height - 12.0, r=5, fill=colour)
        yield text(told, x + 9, height - 8, font_size=11, fill=MUTED)
        x += len(told) * LETTER + 28
