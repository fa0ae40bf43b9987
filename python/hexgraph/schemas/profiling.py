"""What the values of a database are like: coverage, distinct values, the commonest, histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._native import columns_table
from ..errors import QueryError
from ..pictures.degrees import degree_counts, degrees_svg
from ..pictures.drawing import COLOURS, element
from .definitions import definition_of
from .describing import CELL, OWN, shown, term
from .suggesting import chosen, parts_of

if TYPE_CHECKING:
    from .._native import ArrowTable

TOP = 5
"""The commonest values that are reported."""

BINS = 12
GROUPED = ("string", "default", "int", "float", "bool", "datetime", "bigfloat")
"""The types whose values are grouped; positions, vectors, passwords and lists are counted alone."""

PARTS = ("values", "indexes", "reverse", "facets")
BAR, BAR_HEIGHT = 10, 26
LETTERS, SHORT = 40, 24
GRID = "display: grid; grid-template-columns: repeat(auto-fill, minmax(380px, 1fr)); gap: 12px"
PREDICATE_KEYS = ("predicate", "nodes", "distinct", "least, greatest", "histogram", "common")
"""The columns of the table of predicates in HTML."""


class Profile:
    """What the values of a database are like; printed, and in notebooks, a table and pictures."""

    def __init__(
        self,
        predicates: ArrowTable,
        degrees: ArrowTable,
        memory: ArrowTable,
        disk: ArrowTable,
        pictures: dict[str, str],
    ) -> None:
        self.predicates = predicates
        """predicate, definition, types, nodes, coverage, values, distinct, least, greatest, mean,
        common (texts with their numbers), histogram (numbers in bins of one width)."""
        self.degrees = degrees
        """predicate (`~name` for edges back), nodes, edges, mean, median, most."""
        self.memory = memory
        """predicate, and the bytes of its values, indexes, reverse edges and facets."""
        self.disk = disk
        """file and bytes, of a database in a directory."""
        self._pictures = pictures

    def to_pandas(self) -> Any:
        """Return the table of predicates as a pandas.DataFrame."""
        return self.predicates.to_pandas()

    def to_polars(self) -> Any:
        """Return the table of predicates as a polars.DataFrame."""
        return self.predicates.to_polars()

    def _parts(self) -> list[tuple[str, ArrowTable]]:
        parts = [("predicates", self.predicates), ("degrees", self.degrees)]
        parts += [("memory", self.memory), ("disk", self.disk)]
        return [(name, table) for name, table in parts if len(table)]

    def __repr__(self) -> str:
        lines: list[str] = []
        for name, table in self._parts():
            shown_columns = [at for at, key in enumerate(table.column_names) if key != "histogram"]
            rows = [[table.column_names[at] for at in shown_columns]]
            names = table.column_names
            rows += [
                [cut(cell_text(names[at], row[at])) for at in shown_columns] for row in table.rows()
            ]
            widths = [max(len(row[column]) for row in rows) for column in range(len(shown_columns))]
            lines += ["", name] if lines else [name]
            for row in rows:
                cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
                lines.append(f"  {'  '.join(cells).rstrip()}")
        return "\n".join(lines) or "there are no predicates"

    def _repr_html_(self) -> str:
        parts = []
        for name, table in self._parts():
            keys = PREDICATE_KEYS if name == "predicates" else table.column_names
            head = "".join(f'<th style="{CELL}">{escape(key)}</th>' for key in keys)
            lines = []
            for row in table.rows():
                own = dict(zip(table.column_names, row, strict=True))
                cells = predicate_cells(own) if name == "predicates" else html_cells(own)
                tags = "".join(f'<td style="{CELL}; white-space: nowrap">{it}</td>' for it in cells)
                lines.append(f"<tr>{tags}</tr>")
            # What is wider than the page moves under it, and nothing is cut off.
            parts.append(
                f'<p><b>{name}</b></p><div style="overflow-x: auto"><table><thead><tr>{head}</tr>'
                f"</thead><tbody>{''.join(lines)}</tbody></table></div>"
            )
            if name == "degrees":
                pictures = "".join(f"<div>{svg}</div>" for svg in self._pictures.values())
                parts.append(f'<div style="{GRID}">{pictures}</div>')
        return "".join(parts) or "<p>there are no predicates</p>"


def value_text(value: Any) -> str:
    """Return a value as text: a time at midnight as a date, numbers without separators."""
    if isinstance(value, datetime):
        words = value.isoformat().replace("+00:00", "Z")
        return words.removesuffix("T00:00:00Z")
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def cell_text(key: str, cell: Any) -> str:
    """Return a cell of a table as text: a coverage as per cent."""
    is_ratio = key == "coverage"
    return str(cell) if isinstance(cell, float) and not is_ratio else shown(cell)


def cut(words: str, most: int = LETTERS) -> str:
    """Return the beginning of a text."""
    return words if len(words) <= most else words[: most - 1] + "…"


def html_cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of a row as HTML."""
    return [escape(cell_text(key, cell)) for key, cell in row.items()]


def predicate_cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of a predicate as HTML, with what belongs together in one.

    The definition stands below the name, a histogram is bars, the commonest values are lines.
    """

    def text(key: str, most: int = LETTERS) -> str:
        return escape(cut(cell_text(key, row[key]), most))

    def below(*lines: str) -> str:
        first, *others = (line for line in lines if line)
        rest = "".join(f'<br><small style="opacity: 0.7">{line}</small>' for line in others)
        return first + rest

    words = row["definition"].split(" @")
    definition = [escape(" @".join(["", *words[at : at + 2]]).lstrip()) for at in (1, 3, 5)]
    definition = [line for line in (escape(words[0]), *definition) if line]
    coverage = (
        f"{cell_text('coverage', row['coverage'])} of {text('types')}" if row["types"] else ""
    )
    times = f"{text('values')} values" if row["values"] != row["nodes"] else ""
    bounds = [text("least", SHORT), text("greatest", SHORT)]
    mean = f"mean {text('mean')}" if row["mean"] is not None else ""
    return [
        below(f"<b>{text('predicate')}</b>", *definition),
        below(text("nodes"), coverage, times),
        text("distinct"),
        below("<br>".join(end for end in bounds if end) or "&nbsp;", mean),
        bars(row["histogram"]) if row["histogram"] else "",
        "<br>".join(escape(cut(item)) for item in row["common"] or ()),
    ]


def bars(counts: Sequence[int]) -> str:
    """Return a small picture of numbers."""
    most = max(counts) or 1
    parts = []
    for at, count in enumerate(counts):
        # What is there is seen, however small it is.
        high = max(1.0, BAR_HEIGHT * count / most) if count else 0.0
        title = element("title", f"{count:,}")
        box = {"x": at * BAR, "y": BAR_HEIGHT - high, "width": BAR - 1, "height": high}
        parts.append(element("rect", title, fill=COLOURS[0], **box))
    size = {"width": BAR * len(counts), "height": BAR_HEIGHT}
    return element("svg", *parts, xmlns="http://www.w3.org/2000/svg", **size)


def profile(db: Any, names: Sequence[str]) -> Profile:
    """Return what the values are like; see `Database.profile`."""
    schema = db.schema()
    predicates, types = parts_of(schema)
    predicates = [name for name in predicates if not name.startswith(OWN)]
    requested = [name for name in chosen(schema, predicates, types, names) if name in predicates]
    stats = db.stats()["predicates"]
    sizes = {
        name: first_count(db, f"type({term(name)})") for name in types if not name.startswith(OWN)
    }
    rows, degrees, pictures = [], [], {}
    for name in requested:
        definition = definition_of(schema, name)
        own = [of for of, fields in types.items() if name in fields and of in sizes]
        rows.append(predicate_row(db, name, definition, (own, sizes), stats.get(name, {})))
        if definition.startswith(("uid", "[uid]")) and name in stats:
            for edges in (name, f"~{name}")[: 2 if "@reverse" in definition else 1]:
                counts = degree_counts(db, edges)
                if counts:
                    degrees.append(degree_row(edges, counts))
                    pictures[edges] = degrees_svg(counts, edges)
    keys = ["predicate", "definition", "types", "nodes", "coverage", "values", "distinct"]
    keys += ["least", "greatest", "mean", "common", "histogram"]
    memory = [
        (name, *(stats[name]["parts"][part] for part in PARTS), stats[name]["bytes"])
        for name in requested
        if name in stats
    ]
    return Profile(
        table(keys, rows),
        table(("predicate", "nodes", "edges", "mean", "median", "most"), degrees),
        table(("predicate", *PARTS, "bytes"), memory),
        table(("file", "bytes"), disk_rows(db)),
        pictures,
    )


def table(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> ArrowTable:
    """Return rows as a table."""
    return columns_table([(name, [row[at] for row in rows]) for at, name in enumerate(names)])[0]


def first_count(db: Any, root: str) -> int:
    """Return the number of nodes of a root."""
    count: int = db.query(f"{{ q(func: {root}) {{ count(uid) }} }}")["q"][0]["count"]
    return count


def predicate_row(
    db: Any, name: str, definition: str, of: tuple[list[str], dict[str, int]], stats: dict[str, Any]
) -> tuple[Any, ...]:
    """Return the row of a predicate."""
    types, sizes = of
    nodes, all_nodes = stats.get("nodes", 0), sum(sizes[name] for name in types)
    coverage = None
    if all_nodes:
        filters = " OR ".join(f"type({term(it)})" for it in types)
        have = f"{{ q(func: has({term(name)})) @filter({filters}) {{ count(uid) }} }}"
        coverage = min(1.0, db.query(have)["q"][0]["count"] / all_nodes)
    groups = groups_of(db, name, definition) if nodes else None
    distinct = None if groups is None else len(groups)
    least, greatest, mean = extent(groups or [])
    common = [
        f"{value_text(value)} ({count:,})"
        for value, count in sorted(groups or [], key=lambda group: -group[1])[:TOP]
        if count > 1
    ]
    head = (name, definition, types, nodes, coverage, stats.get("values", 0), distinct)
    texts = (None if it is None else value_text(it) for it in (least, greatest, mean))
    return (*head, *texts, common, histogram(groups or []))


def groups_of(db: Any, name: str, definition: str) -> list[tuple[Any, int]] | None:
    """Return the different values of a predicate and how many nodes have each, or None."""
    kind = definition.split(" ", 1)[0]
    if kind not in GROUPED or "@lang" in definition:
        return None
    dql = f"{{ q(func: has({term(name)})) @groupby(v: {term(name)}) {{ count(uid) }} }}"
    try:
        rows: list[tuple[Any, int]] = db.query(dql).to_arrow().rows()
    except QueryError:
        # Values that no group is made of.
        return None
    return rows


def extent(groups: Sequence[tuple[Any, int]]) -> tuple[Any, Any, Any]:
    """Return the least and the greatest value, and the mean of numbers."""
    values = [value for value, _ in groups]
    if not values or any(isinstance(value, (bool, dict, list)) for value in values):
        return None, None, None
    try:
        least, greatest = min(values), max(values)
    except TypeError:
        return None, None, None
    mean = None
    if all(isinstance(value, (int, float)) for value in values):
        total = sum(count for _, count in groups)
        mean = f"{sum(value * count for value, count in groups) / total:.6g}"
    return least, greatest, mean


def histogram(groups: Sequence[tuple[Any, int]]) -> list[int]:
    """Return the numbers of values in bins of one width; nothing for what is no number or time."""
    counts: list[int] = []
    points = []
    for value, count in groups:
        if isinstance(value, datetime):
            points.append((value.replace(tzinfo=value.tzinfo or UTC).timestamp(), count))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            points.append((float(value), count))
    if not points or len(points) < len(groups):
        return counts
    low, high = min(points)[0], max(points)[0]
    if not math.isfinite(high - low) or low == high:
        return counts
    width = (high - low) / BINS
    if all(isinstance(value, int) for value, _ in groups):
        # A bin has integers, the same number of them as the others.
        width = -(-(high - low + 1) // BINS)
        counts = [0] * math.ceil((high - low + 1) / width)
    else:
        counts = [0] * BINS
    for value, count in points:
        counts[min(len(counts) - 1, int((value - low) / width))] += count
    return counts


def degree_row(name: str, counts: Any) -> tuple[Any, ...]:
    """Return what there is to say of degrees in numbers."""
    nodes = sum(counts.values())
    edges = sum(degree * count for degree, count in counts.items())
    before, median = 0, 0
    for degree in sorted(counts):
        before += counts[degree]
        if nodes <= 2 * before:
            median = degree
            break
    return name, nodes, edges, round(edges / nodes, 2), median, max(counts)


def disk_rows(db: Any) -> list[tuple[str, int]]:
    """Return the files of a database with their sizes; none of one in memory."""
    folder = getattr(db, "path", None)
    if folder is None or not Path(folder).is_dir():
        return []
    files = (file for file in sorted(Path(folder).rglob("*")) if file.is_file())
    return [(str(file.relative_to(folder)), file.stat().st_size) for file in files]
