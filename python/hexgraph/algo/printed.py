"""How the result of an algorithm looks at the prompt and in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from ..display import table
from ..errors import Error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._native import ArrowTable, Database

ROWS_SHOWN = 10
"""The rows that are printed."""

NAMES_OF_GROUPS = frozenset((
    "components", "strong_components", "label_propagation", "louvain", "leiden",
    "topological_order",
))  # fmt: skip
"""The algorithms whose numbers name a group or a position, so that the greatest is not the best."""


class Printed(NamedTuple):
    """What is printed of a result."""

    db: Database | None
    table: ArrowTable
    name: str
    """The name of the algorithm, and of the column of its numbers."""
    is_ranked: bool
    """Whether there is a number for each node."""


def to_text(result: Printed) -> str:
    """Return the head of a result as text, and how many rows it has."""
    names, rows, count_line = head(result)
    columns = [[shown(row[at]) for row in rows] for at in range(len(names))]
    widths = [
        max([len(name), *map(len, cells)]) for name, cells in zip(names, columns, strict=True)
    ]
    lines = ["  ".join(name.rjust(width) for name, width in zip(names, widths, strict=True))]
    for row in zip(*columns, strict=True):
        lines.append("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    return "\n".join([*lines, count_line] if count_line else lines)


def to_html(result: Printed) -> str:
    """Return the head of a result as a table."""
    names, rows, count_line = head(result)
    nodes = [dict(zip(names, map(shown, row), strict=True)) for row in rows]
    below = f"<p>{escape(count_line)}</p>" if count_line else ""
    return table(nodes or [dict.fromkeys(names, "")]) + below


def head(result: Printed) -> tuple[list[str], list[tuple[Any, ...]], str]:
    """Return the columns and rows that are printed, and the line below them.

    Numbers of nodes come with the greatest first, as `top` has them; nodes have the label that
    pictures write at them, where there is one.
    """
    arrow, columns, count = result.table, result.table.column_names, len(result.table)
    is_ranked = result.is_ranked and result.name not in NAMES_OF_GROUPS
    is_small = count <= ROWS_SHOWN
    chosen = arrow._greatest(result.name, ROWS_SHOWN) if is_ranked and not is_small else None
    rows = (chosen or arrow._first(ROWS_SHOWN))._with_text_uids().rows()
    if is_ranked and is_small:
        number = columns.index(result.name)
        rows.sort(key=lambda row: (row[number] is None, -(row[number] or 0)))
    remark = "" if count <= len(rows) else f"... {count} rows"
    if is_ranked and remark and len(rows) < ROWS_SHOWN:
        remark += f", {count - len(rows)} without a number"
    return *with_labels(result.db, columns, rows), remark


def with_labels(
    db: Database | None, columns: list[str], rows: list[tuple[Any, ...]]
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return columns and rows with a column of labels after each column of nodes."""
    node_columns = [at for at, name in enumerate(columns) if name in ("uid", "to")]
    if db is None or not node_columns or not rows:
        return columns, rows
    uids = dict.fromkeys(row[at] for at in node_columns for row in rows)
    key, labels = labels_of(db, list(uids), columns)
    if not labels:
        return columns, rows
    names = []
    for name in columns:
        names.append(name)
        names += {"uid": [key], "to": [f"to.{key}"]}.get(name, [])
    widened = []
    for row in rows:
        cells: list[Any] = []
        for at, cell in enumerate(row):
            cells.append(cell)
            cells += [labels.get(cell)] if at in node_columns else []
        widened.append(tuple(cells))
    return names, widened


def labels_of(
    db: Database, uids: Sequence[str], columns: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """Return the predicate that nodes are labelled by, "label" for several, and the labels by uid.

    A result is printed whatever became of the database: there are no labels then.
    """
    from ..pictures.graph import LABELS, values_of

    try:
        fields = " ".join(values_of(db, (), ()))
        answer = db.query(f"{{ q(func: uid({', '.join(uids)})) {{ {fields} }} }}").to_dict()
    except Error:
        return "", {}
    labels, keys = {}, []
    for node in answer["q"]:
        key = next((key for key in LABELS if key in node and key not in columns), None)
        if key is not None:
            keys.append(key)
            value = node[key]
            labels[node["uid"]] = str(value[0] if isinstance(value, list) else value)
    return keys[0] if len(set(keys)) == 1 else "label", labels


def shown(value: Any) -> str:
    """Return the text of a cell."""
    if value is None:
        return "-"
    if isinstance(value, list):
        few = ", ".join(f"{number:.3g}" for number in value[:3])
        return f"[{few}{', ...' if len(value) > len(value[:3]) else ''}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
