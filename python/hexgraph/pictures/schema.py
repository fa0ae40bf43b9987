"""A schema as a picture: a box for each type, a row for each predicate, arrows for edges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..schemas.definitions import definition_of
from ..schemas.suggesting import parts_of
from .drawing import COLOURS, INK, LINE, MONO, MONO_WIDTH, MUTED, canvas, element, shortened, text

ROW, HEAD, GAP, MARGIN, ASIDE = 18, 26, 28, 16, 110
"""Heights of a row and of a head, gaps between boxes, round the picture, and between columns."""

SIZE = 11
ROWS_SHOWN, TYPES_SHOWN = 14, 24
OWN = "dgraph."


@dataclass
class Row:
    """A predicate in a box."""

    name: str
    kind: str
    count: str


@dataclass
class Box:
    """A type, or the predicates of none."""

    title: str
    count: str
    rows: list[Row]
    colour: str
    column: int = 0
    x: float = 0
    y: float = 0
    left_out: int = 0
    widths: tuple[int, int, int] = field(init=False)

    def __post_init__(self) -> None:
        """Leave out what is too much, and measure the rest."""
        self.left_out = max(0, len(self.rows) - ROWS_SHOWN)
        self.rows = self.rows[:ROWS_SHOWN]
        columns = [[row.name, row.kind, row.count] for row in self.rows]
        columns.append([self.title, "", self.count])
        widths = [max(len(row[at]) for row in columns) for at in range(3)]
        self.widths = widths[0], widths[1], widths[2]

    @property
    def width(self) -> float:
        """The width of the box."""
        return (sum(self.widths) + 5) * SIZE * MONO_WIDTH + 10

    @property
    def height(self) -> float:
        """The height of the box."""
        return HEAD + ROW * (len(self.rows) + bool(self.left_out)) + 8

    def row_y(self, index: int) -> float:
        """Return the middle of a row."""
        return self.y + HEAD + ROW * index + ROW / 2 + 2


def schema_svg(schema: str, description: Any = None) -> str:
    """Return the picture of a schema; `description` is the Description with the counts, or None."""
    boxes = boxes_of(schema, description)
    edges = edges_of(boxes, description)
    arrange(boxes, edges)
    width = max((box.x + box.width for box in boxes), default=200) + MARGIN
    height = max((box.y + box.height for box in boxes), default=20) + MARGIN
    loops = any(source is target for source, _, target in edges)
    parts = [arrow(*edge) for edge in edges] + [box_svg(box) for box in boxes]
    if not boxes:
        parts.append(text("there are no predicates", MARGIN, MARGIN + 12, fill=MUTED))
    marker = element(
        "defs",
        element(
            "marker",
            element("path", d="M0 0 L8 4 L0 8 z", fill=MUTED),
            id="hexgraph-arrow",
            viewBox="0 0 8 8",
            refX=8,
            refY=4,
            markerWidth=7,
            markerHeight=7,
            orient="auto-start-reverse",
        ),
    )
    return canvas(width + 40 * loops, height, [marker, *parts], "the schema of the database")


def boxes_of(schema: str, description: Any) -> list[Box]:
    """Return a box for each type, and one for the predicates of none."""
    predicates, types = parts_of(schema)
    types = {name: fields for name, fields in types.items() if not name.startswith(OWN)}
    nodes = {} if description is None else {row[0]: row[1] for row in description.types.rows()}
    counts = (
        {} if description is None else {row[:2]: row[3:5] for row in description.predicates.rows()}
    )
    boxes = []
    for index, (name, fields) in enumerate(list(types.items())[:TYPES_SHOWN]):
        rows = [row_of(schema, predicates, key, counts.get((name, key))) for key in fields]
        count = f"{nodes[name]:,}" if name in nodes else ""
        boxes.append(Box(name, count, rows, COLOURS[index % len(COLOURS)]))
    of_types = {key for fields in types.values() for key in fields}
    rest = [key for key in predicates if key not in of_types and not key.startswith(OWN)]
    if rest:
        rows = [row_of(schema, predicates, key, counts.get((None, key))) for key in rest]
        boxes.append(Box("of no type", "", rows, MUTED))
    return boxes


def row_of(
    schema: str, predicates: list[str], key: str, count: tuple[int, float | None] | None
) -> Row:
    """Return the row of a predicate: its type without directives, and how many nodes have it."""
    definition = definition_of(schema, key) if key in predicates else ""
    nodes, coverage = count if count is not None else (None, None)
    count_text = ""
    if nodes is not None:
        count_text = f"{nodes:,}" if coverage is None else f"{coverage:.0%}"
    return Row(shortened(key, 32), shortened(definition.split(" @")[0], 16), count_text)


def edges_of(boxes: list[Box], description: Any) -> list[tuple[Box, int, Box]]:
    """Return the edges: a box, the position of the predicate in it, and the box it points to."""
    by_name = {box.title: box for box in boxes}
    edges = []
    for source, predicate, target, _ in [] if description is None else description.edges.rows():
        one, other = by_name.get(source), by_name.get(target)
        names = [] if one is None else [row.name for row in one.rows]
        if one is not None and other is not None and predicate in names:
            edges.append((one, names.index(predicate), other))
    return edges


def arrange(boxes: list[Box], edges: list[tuple[Box, int, Box]]) -> None:
    """Put each box right of those that point to it, as far as there are no circles."""
    targets = {id(box): [] for box in boxes}  # type: dict[int, list[Box]]
    for source, _, target in edges:
        if source is not target:
            targets[id(source)].append(target)
    entered = {id(target) for source, _, target in edges if source is not target}
    starts = [box for box in boxes if id(box) not in entered] or boxes[:1]
    for start in [*starts, *boxes]:
        follow(start, targets, [])
    columns: dict[int, list[Box]] = {}
    joined = {id(box) for source, _, target in edges for box in (source, target)}
    loose = [box for box in boxes if id(box) not in joined]
    for box in boxes:
        if id(box) in joined:
            columns.setdefault(box.column, []).append(box)
    x = float(MARGIN)
    for number in sorted(columns):
        y = float(MARGIN)
        for box in columns[number]:
            box.x, box.y = x, y
            y += box.height + GAP
        x += max(box.width for box in columns[number]) + ASIDE
    # What nothing is joined to stands below, in rows.
    low = max((box.y + box.height + GAP for box in boxes if id(box) in joined), default=MARGIN)
    x, most = float(MARGIN), max(x, 900.0)
    row = 0.0
    for box in loose:
        if x > MARGIN and x + box.width > most:
            x, low, row = float(MARGIN), low + row + GAP, 0.0
        box.x, box.y = x, low
        x, row = x + box.width + GAP, max(row, box.height)


def follow(box: Box, targets: dict[int, list[Box]], path: list[Box]) -> None:
    """Move what a box points to into the columns after it; a path back stops."""
    for target in targets[id(box)]:
        if target not in path and target.column <= box.column and len(path) < TYPES_SHOWN:
            target.column = box.column + 1
            follow(target, targets, [*path, box])


def box_svg(box: Box) -> str:
    """Return a box."""
    letter = SIZE * MONO_WIDTH
    parts = [
        element(
            "rect",
            x=box.x,
            y=box.y,
            width=box.width,
            height=box.height,
            rx=6,
            fill="#ffffff",
            stroke=LINE,
        ),
        element(
            "path",
            d=f"M{box.x:.1f} {box.y + HEAD:.1f} v{6 - HEAD} q0 -6 6 -6 h{box.width - 12:.1f}"
            f" q6 0 6 6 v{HEAD - 6} z",
            fill=box.colour,
        ),
        text(box.title, box.x + 8, box.y + 17, font_weight="bold", fill="#ffffff"),
        text(box.count, box.x + box.width - 8, box.y + 17, text_anchor="end", fill="#ffffff"),
    ]
    for at, row in enumerate(box.rows):
        y = box.row_y(at) + 4
        font = {"font_family": MONO, "font_size": SIZE}
        kind = box.x + 8 + (box.widths[0] + 2) * letter
        parts.append(text(row.name, box.x + 8, y, **font))
        parts.append(text(row.kind, kind, y, fill=MUTED, **font))
        right = box.x + box.width - 8
        parts.append(text(row.count, right, y, text_anchor="end", fill=INK, **font))
    if box.left_out:
        y = box.row_y(len(box.rows)) + 4
        parts.append(text(f"… {box.left_out} more", box.x + 8, y, fill=MUTED, font_size=SIZE))
    return element("g", *parts)


def arrow(source: Box, at: int, target: Box) -> str:
    """Return the arrow of an edge, from its row to the head of the type that it points to."""
    y, right = source.row_y(at), source.x + source.width
    head = target.y + HEAD / 2
    if source is target:
        path = f"M{right:.1f} {y:.1f} c34 0 34 {head - y:.1f} 0 {head - y:.1f}"
    elif source.x + source.width <= target.x:
        middle = (right + target.x) / 2
        path = f"M{right:.1f} {y:.1f} C{middle:.1f} {y:.1f}"
        path += f" {middle:.1f} {head:.1f} {target.x:.1f} {head:.1f}"
    else:
        # Back to the left, or within a column: from the right side to the right side.
        end = target.x + target.width
        out = max(right, end) + 48
        path = f"M{right:.1f} {y:.1f} C{out:.1f} {y:.1f} {out:.1f} {head:.1f} {end:.1f} {head:.1f}"
    return element(
        "path",
        d=path,
        fill="none",
        stroke=MUTED,
        stroke_width=1.2,
        marker_end="url(#hexgraph-arrow)",
    )
