"""How results look in a notebook and at the prompt."""

import json
from html import escape
from typing import Any

ROWS_SHOWN = 20
TEXT_SHOWN = 2000
CELL_STYLE = "text-align: left; vertical-align: top"


def to_text(data: dict[str, Any]) -> str:
    """Return the numbers of rows and the beginning of the data."""
    counts = ", ".join(f"{name}: {row_count(rows)}" for name, rows in data.items())
    head = {name: head_of(rows) for name, rows in data.items()}
    body = json.dumps(head, ensure_ascii=False, indent=1)
    if len(body) > TEXT_SHOWN:
        body = body[:TEXT_SHOWN] + "…"
    return f"<hexgraph.Result {counts}>\n{body}"


def to_html(data: dict[str, Any]) -> str:
    """Return a table for each block, nested nodes as tables within it."""
    return "".join(block(name, rows) for name, rows in data.items()) or "<i>nothing</i>"


def block(name: str, rows: Any) -> str:
    """Return the table of one block under its name."""
    count = row_count(rows)
    shown = f", the first {ROWS_SHOWN} shown" if count > ROWS_SHOWN else ""
    noun = "row" if count == 1 else "rows"
    return f"<p><b>{escape(name)}</b> ({count} {noun}{shown})</p>{cell(head_of(rows))}"


def row_count(rows: Any) -> int:
    """Return the number of rows of a block."""
    return len(rows) if isinstance(rows, list) else 1


def head_of(rows: Any) -> Any:
    """Return the first rows."""
    return rows[:ROWS_SHOWN] if isinstance(rows, list) else rows


def cell(value: Any) -> str:
    """Return the HTML of any value of a result."""
    if isinstance(value, dict):
        return table([value])
    if isinstance(value, list):
        nodes = [item for item in value if isinstance(item, dict)]
        if nodes and len(nodes) == len(value):
            more = f"<i>and {len(nodes) - ROWS_SHOWN} more</i>" if len(nodes) > ROWS_SHOWN else ""
            return table(nodes[:ROWS_SHOWN]) + more
        return ", ".join(cell(item) for item in value)
    return escape("" if value is None else str(value))


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
