"""How many nodes have how many edges, as a picture."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from ..errors import SchemaError
from ..schemas.definitions import definition_of
from ..schemas.describing import term
from .drawing import COLOURS, INK, LINE, MUTED, canvas, element, text

LABELLED = 30
"""The least width of a bar with a label."""

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 560, 300, 62, 34, 18, 44


def degree_counts(db: Any, predicate: str) -> Counter[int]:
    """Return the number of nodes for each number of edges; `~name` counts the edges back.

    Nodes without an edge are left out. Costs a pass over the nodes that have some.
    """
    schema = db.schema()
    definition = definition_of(schema, predicate.removeprefix("~"))
    if not definition.startswith(("uid", "[uid]")):
        raise SchemaError(f"predicate `{predicate}` has values, and no edges: {definition}")
    if predicate.startswith("~") and "@reverse" not in definition:
        name = predicate.removeprefix("~")
        raise SchemaError(
            f"predicate `{name}` has no edges back: db.index({name!r}, 'reverse') makes them"
        )
    name = term(predicate.removeprefix("~"))
    name = f"~{name}" if predicate.startswith("~") else name
    table = db.query(f"{{ q(func: has({name})) {{ n: count({name}) }} }}").to_arrow()
    ((_, kind, values, _),) = table.columns()
    return Counter(memoryview(values).cast("q")) if kind == "int64" else Counter()


def degrees_svg(counts: Counter[int], predicate: str) -> str:
    """Return the picture: both axes by powers of ten, a bar for each doubling of the degree."""
    bars = binned(counts)
    title = f"edges of {predicate}"
    if not bars:
        return canvas(WIDTH, 60, [text(f"there are no {title}", 16, 34, fill=MUTED)], title)
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    # The last bar is as wide as the others, though it may end before the next power of two.
    last = math.log2(2 * bars[-1][0])
    tallest = math.log10(max(count for _, _, count in bars)) + 0.35

    def x(degree: float) -> float:
        return LEFT + wide * math.log2(degree) / last

    def y(count: float) -> float:
        return TOP + high * (1 - (math.log10(count) + 0.3) / (tallest + 0.3))

    parts = [text(f"{title}: nodes by number of edges", LEFT, 18, font_weight="bold")]
    for power in range(int(tallest) + 1):
        at = y(10**power)
        parts.append(element("path", d=f"M{LEFT} {at:.1f} H{WIDTH - RIGHT}", stroke=LINE))
        parts.append(text(f"{10**power:,}", LEFT - 6, at + 4, text_anchor="end", fill=MUTED))
    for low, up, count in bars:
        left, right = x(low), x(2 * low)
        label = f"{low}" if low == up else f"{low}–{up}"
        nodes = (
            f"{count:,} node{'' if count == 1 else 's'} with {label} edge{'' if up == 1 else 's'}"
        )
        parts.append(
            element(
                "rect",
                element("title", nodes),
                x=left + 1,
                y=y(count),
                width=max(right - left - 2, 1.0),
                height=TOP + high - y(count),
                fill=COLOURS[0],
            )
        )
        if right - left > LABELLED:
            middle = (left + right) / 2
            parts.append(text(f"{count:,}", middle, y(count) - 4, text_anchor="middle", fill=INK))
            below = HEIGHT - BOTTOM + 16
            small = {"text_anchor": "middle", "fill": MUTED, "font_size": 10}
            parts.append(text(label, middle, below, **small))
    parts.append(element("path", d=f"M{LEFT} {TOP + high} H{WIDTH - RIGHT}", stroke=MUTED))
    caption = f"{sum(counts.values()):,} nodes, {sum(n * of for n, of in counts.items()):,} edges,"
    caption += f" at most {max(counts):,} at one"
    parts.append(text(caption, LEFT, HEIGHT - 8, fill=MUTED, font_size=11))
    return canvas(WIDTH, HEIGHT, parts, title)


def binned(counts: Counter[int]) -> list[tuple[int, int, int]]:
    """Return bars: the least and the greatest degree, and the nodes; each spans twice as much."""
    bars = []
    low = 1
    most = max(counts, default=0)
    while low <= most:
        up = min(2 * low - 1, most)
        nodes = sum(count for degree, count in counts.items() if low <= degree <= up)
        if nodes:
            bars.append((low, up, nodes))
        low = up + 1
    return bars
