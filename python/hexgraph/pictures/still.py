"""A small graph as a picture that stays as it is: SVG."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .drawing import COLOURS, INK, MUTED, OTHER, canvas, element, escape, shortened, text
from .graph import LABELS, Node, Subgraph

NODES_SHOWN, LABELS_SHOWN = 300, 60
LABEL_LETTERS = 24
LETTER = 6.6
"""The width of a letter of a label, about."""

MARGIN, LEGEND = 24, 22
FLAT = 1e-3
"""An extent that is none, of positions from 0 to 1."""

HUBS = 10
"""The most connected nodes, whose labels may hide lesser nodes."""

LIGHT, DARK = (222, 235, 247), (8, 69, 148)
"""The colours of the least and the greatest number."""


def graph_svg(
    subgraph: Subgraph,
    spots: Sequence[tuple[float, float]],
    keys: tuple[str | None, str | None, str | None],
    space: tuple[int, int],
    left_out: str,
) -> str:
    """Return the picture of nodes at their positions, with what is said of those left out."""
    label, color, size = keys
    width, height = space
    nodes = list(subgraph.nodes.values())
    number = {node.key: at for at, node in enumerate(nodes)}
    pairs = [(number[source], number[target]) for source, _, target in subgraph.edges]
    radii = radii_of(nodes, size)
    colour_of, legend = colours_of(nodes, color)
    top, low = MARGIN, height - MARGIN - LEGEND
    points = [
        (MARGIN + (width - 2 * MARGIN) * x, top + (low - top) * y) for x, y in stretched(spots)
    ]
    parts = list(arrows(subgraph, pairs, points, radii))
    for node, (x, y), radius in zip(nodes, points, radii, strict=True):
        caption = ", ".join(f"{key}: {value}" for key, value in node.values.items())
        parts.append(
            element(
                "circle",
                element("title", escape(shortened(caption or node.key, 300))),
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
    if left_out:
        parts.append(
            text(left_out, width - 8, height - 8, text_anchor="end", fill=MUTED, font_size=11)
        )
    if not nodes:
        parts.append(text("there are no nodes", MARGIN, MARGIN + 12, fill=MUTED))
    title = f"a graph of {len(nodes):,} nodes and {len(pairs):,} edges"
    return canvas(width, height, parts, title)


def stretched(spots: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return positions scaled to 0 to 1 on both axes; what has no extent on one is in the middle.

    A layout has its shape within a square, and so leaves half of it empty where it is flat.
    """
    axes = []
    for numbers in zip(*spots, strict=True):
        low, high = min(numbers), max(numbers)
        wide = high - low
        axes.append([(it - low) / wide if wide > FLAT else 0.5 for it in numbers])
    return list(zip(*axes, strict=True))


def radii_of(nodes: Sequence[Node], size: str | None) -> list[float]:
    """Return how large the nodes are: an area for each edge, or by the numbers of a key."""
    numbers = [
        float(node.degree) if size is None else positive(node.values.get(size)) for node in nodes
    ]
    most = max(numbers, default=0) or 1
    widest = 16.0 if len(nodes) <= LABELS_SHOWN else 11.0
    # Of very many each is smaller, so that there is space between them.
    shrunk = max(0.4, min(1.0, math.sqrt(1_000 / max(1, len(nodes)))))
    return [shrunk * (3.5 + (widest - 3.5) * math.sqrt(number / most)) for number in numbers]


def positive(value: Any) -> float:
    """Return a number that may be a size; 0 for anything else."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return max(0.0, float(value)) if is_number else 0.0


Legend = list[tuple[str, str]]


def colours_of(nodes: Sequence[Node], key: str | None) -> tuple[Callable[[Node], str], Legend]:
    """Return the colour of each node, and what the colours mean."""

    def value(node: Node) -> Any:
        given = node.role if key is None else node.values.get(key)
        return given[0] if isinstance(given, list) and given else given

    present = [it for it in map(value, nodes) if it is not None and it != []]
    numeric = [it for it in present if isinstance(it, (int, float)) and not isinstance(it, bool)]
    if numeric and len(numeric) == len(present) and len(set(numeric)) > len(COLOURS):
        low, high = min(numeric), max(numeric)

        def shade(node: Node) -> str:
            given = value(node)
            return OTHER if given is None else mixed((given - low) / (high - low))

        return shade, [(f"{key}: {low:,}", mixed(0)), (f"{high:,}", mixed(1))]
    common = [name for name, _ in Counter(map(str, present)).most_common(len(COLOURS))]
    colours: dict[str, str] = dict(zip(common, COLOURS, strict=False))
    legend = list(colours.items())
    if len(set(map(str, present))) > len(colours) or len(present) < len(nodes):
        legend.append(("others", OTHER))

    def kind(node: Node) -> str:
        return colours.get(str(value(node)), OTHER)

    return kind, legend if len(legend) > 1 else []


def mixed(ratio: float) -> str:
    """Return the colour between light and dark."""
    parts = (round(one + (two - one) * ratio) for one, two in zip(LIGHT, DARK, strict=True))
    return "#" + "".join(f"{part:02x}" for part in parts)


def arrows(
    subgraph: Subgraph,
    pairs: Sequence[tuple[int, int]],
    points: Sequence[tuple[float, float]],
    radii: Sequence[float],
) -> Iterator[str]:
    """Return the edges: lines with a head where there is space for one."""
    crowded = len(pairs) > 4 * NODES_SHOWN
    paler = 0.35 if crowded else 0.6
    for (edge, facets), (one, two) in zip(subgraph.edges.items(), pairs, strict=True):
        (x, y), (to_x, to_y) = points[one], points[two]
        title = ", ".join([edge[1], *(f"{key}: {value}" for key, value in facets.items())])
        if one == two:
            yield line(loop(x, y, radii[one]), title, paler)
            continue
        length = math.hypot(to_x - x, to_y - y)
        if length <= radii[one] + radii[two]:
            continue
        unit_x, unit_y = (to_x - x) / length, (to_y - y) / length
        end_x, end_y = to_x - unit_x * radii[two], to_y - unit_y * radii[two]
        path = f"M{x + unit_x * radii[one]:.1f} {y + unit_y * radii[one]:.1f}"
        path += f" L{end_x:.1f} {end_y:.1f}"
        if not crowded and length > radii[one] + radii[two] + 8:
            back_x, back_y = end_x - 6 * unit_x, end_y - 6 * unit_y
            path += f" M{back_x - 3 * unit_y:.1f} {back_y + 3 * unit_x:.1f}"
            path += f" L{end_x:.1f} {end_y:.1f}"
            path += f" L{back_x + 3 * unit_y:.1f} {back_y - 3 * unit_x:.1f}"
        yield line(path, title, paler)


def loop(x: float, y: float, radius: float) -> str:
    """Return the path of an edge from a node to itself: a bow above it, with a head.

    At the upper border it is one below.
    """
    side, far = radius * 0.6, radius + 16
    down = 1 if y < MARGIN + 2 * far else -1
    start_x, end_x, foot = x - side, x + side, y + down * radius * 0.8
    top = y + down * (radius + far)
    path = f"M{start_x:.1f} {foot:.1f}"
    path += f" C{x - far:.1f} {top:.1f} {x + far:.1f} {top:.1f} {end_x:.1f} {foot:.1f}"
    path += f" M{end_x - 1:.1f} {foot + down * 6:.1f} L{end_x:.1f} {foot:.1f}"
    return path + f" L{end_x + 6:.1f} {foot + down * 3:.1f}"


def line(path: str, title: str, opacity: float) -> str:
    """Return an edge along a path."""
    return element(
        "path",
        element("title", escape(title)),
        d=path,
        fill="none",
        stroke="#8c959f",
        stroke_width=0.9,
        stroke_opacity=opacity,
    )


def labels(
    nodes: Sequence[Node],
    key: str | None,
    points: Sequence[tuple[float, float]],
    radii: Sequence[float],
    width: int,
) -> Iterator[str]:
    """Return the labels of the most connected nodes, where they hide no other and no node.

    Hubs lie in the middle, where labels overlap: those of the greatest may hide lesser nodes.
    """
    by_size = sorted(range(len(nodes)), key=lambda at: -radii[at])
    of_nodes = []
    for at in by_size:
        (x, y), half = points[at], radii[at] * 0.7
        of_nodes.append((x - half, y - half, x + half, y + half))
    written: list[tuple[float, float, float, float]] = []
    for rank, at in enumerate(by_size[: 4 * LABELS_SHOWN]):
        hidden = of_nodes[: rank + 1] if rank < HUBS else of_nodes
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
            if not words or not inside or any(meet(box, other) for other in written):
                continue
            if not any(meet(box, other) for other in hidden):
                written.append(box)
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
        label = shortened(words, LABEL_LETTERS)
        yield element("circle", cx=x, cy=height - 12.0, r=5, fill=colour)
        yield text(label, x + 9, height - 8, font_size=11, fill=MUTED)
        x += len(label) * LETTER + 28
