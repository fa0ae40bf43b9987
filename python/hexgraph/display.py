"""How results look in a notebook and at the prompt."""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

ROWS_SHOWN = 20
TEXT_SHOWN = 2000
"""The characters that are shown of a text."""

CELL_STYLE = "text-align: left; vertical-align: top"
MORE = "…"
"""Stands where rows are left out."""


def to_text(head: dict[str, Any], nodes: dict[str, int], warnings: Sequence[str] = ()) -> str:
    """Return the warnings, the numbers of rows, and the beginning of the data.

    `head` has at least one row more of each list than is shown, where there is one; `nodes` are the
    root nodes of each block.
    """
    counts = ", ".join(
        f"{name}: {count_text(rows, nodes.get(name))}" for name, rows in head.items()
    )
    body = json.dumps(shortened(head), ensure_ascii=False, indent=1).replace(f'"{MORE}"', MORE)
    body = cut(body)
    notes = "".join(f"warning: {warning}\n" for warning in warnings)
    return f"{notes}<hexgraph.Result {counts}>\n{body}"


def to_html(head: dict[str, Any], nodes: dict[str, int], warnings: Sequence[str] = ()) -> str:
    """Return a table for each block, nested nodes as tables within it; as `to_text`."""
    blocks = (block(name, rows, nodes.get(name)) for name, rows in head.items())
    notes = "".join(f"<p>&#9888; {escape(warning)}</p>" for warning in warnings)
    return notes + ("".join(blocks) or "<i>nothing</i>")


def count_text(rows: Any, nodes: int | None) -> str:
    """Return the number of rows of a block, or of how many nodes the first ones are shown."""
    count = row_count(rows)
    return str(count) if count <= ROWS_SHOWN else f"the first {ROWS_SHOWN} of {nodes}"


def block(name: str, rows: Any, nodes: int | None) -> str:
    """Return the table of one block under its name."""
    noun = "row" if row_count(rows) == 1 else "rows"
    return f"<p><b>{escape(name)}</b> ({count_text(rows, nodes)} {noun})</p>{cell(rows)}"


def row_count(rows: Any) -> int:
    """Return the number of rows of a block."""
    return len(rows) if isinstance(rows, list) else 1


def shortened(value: Any) -> Any:
    """Return the value with the first rows of its lists, and a mark where more were left out."""
    if isinstance(value, dict):
        return {key: shortened(inner) for key, inner in value.items()}
    if isinstance(value, str):
        return cut(value)
    if not isinstance(value, list):
        return value
    more = [MORE] if len(value) > ROWS_SHOWN else []
    return [shortened(inner) for inner in value[:ROWS_SHOWN]] + more


def cell(value: Any) -> str:
    """Return the HTML of any value of a result."""
    if isinstance(value, dict):
        return point(value) or table([value])
    if isinstance(value, list):
        shown, more = value[:ROWS_SHOWN], MORE if len(value) > ROWS_SHOWN else ""
        if shown and all(isinstance(item, dict) and not point(item) for item in shown):
            return table(shown) + more
        return ", ".join(cell(item) for item in shown) + (f", {more}" if more else "")
    return escape("" if value is None else cut(str(value)))


def cut(text: str) -> str:
    """Return the beginning of a long text, as `to_text` has it of the full text."""
    return text if len(text) <= TEXT_SHOWN else text[:TEXT_SHOWN] + MORE


def point(value: dict[str, Any]) -> str | None:
    """Return the HTML of a point of GeoJSON, latitude and longitude; None for anything else."""
    coordinates = value.get("coordinates")
    if (
        value.get("type") != "Point"
        or not isinstance(coordinates, list)
        or len(coordinates) < len("xy")
    ):
        return None
    # Predicates may have these names, too, and their values be any text.
    return f"{cell(coordinates[1])}, {cell(coordinates[0])}"


def table(nodes: list[dict[str, Any]]) -> str:
    """Return a table with a row for each node."""
    columns = list(dict.fromkeys(key for node in nodes for key in node))
    head = "".join(f'<th style="{CELL_STYLE}">{escape(column)}</th>' for column in columns)
    rows = "".join(row(node, columns) for node in nodes)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def row(node: dict[str, Any], columns: list[str]) -> str:
    """Return one row; a key that the node does not have leaves its cell empty."""
    cells = (f'<td style="{CELL_STYLE}">{cell(node.get(column))}</td>' for column in columns)
    return f"<tr>{''.join(cells)}</tr>"


def table_to_html(arrow: Any) -> str:
    """Return the first rows of an ArrowTable."""
    return rows_to_html(arrow.column_names, arrow.rows(ROWS_SHOWN), len(arrow))


def rows_to_html(names: Sequence[str], rows: Sequence[Sequence[Any]], count: int) -> str:
    """Return the first of `count` rows as a table."""
    nodes = [dict(zip(names, row, strict=True)) for row in rows]
    more = MORE if count > ROWS_SHOWN else ""
    return f"<p>{count:,} row{'' if count == 1 else 's'}</p>{table(nodes)}{more}"
