"""Queries in Cypher: the result of `Database.cypher` and `Txn.cypher`."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ._native import ArrowTable, Database, Txn, columns_table, run_cypher
from .display import ROWS_SHOWN, rows_to_html

if TYPE_CHECKING:
    import pandas
    import polars

EXACT_MAX = 2**53
"""The largest int up to which every int is a float."""


class CypherResult:
    """The rows of a query in Cypher, in the order of the query.

    A node is a dict with `uid`, `labels` and `properties`; a relationship one with `type`, `start`,
    `end` and `properties`; a path one with `nodes` and `relationships`; a point one with `srid`,
    `x`, `y` and perhaps `z`. Temporal values are texts of ISO 8601.
    """

    def __init__(self, columns: Sequence[str], rows: list[tuple[Any, ...]]) -> None:
        """Store the names of the columns, and the rows."""
        self._columns = list(columns)
        self._rows = rows

    def columns(self) -> list[str]:
        """Return the names of the columns: aliases, or expressions as they are written."""
        return list(self._columns)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows, each a tuple with a value for each column."""
        return list(self._rows)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the rows, each a dict by the names of the columns."""
        return [dict(zip(self._columns, row, strict=True)) for row in self._rows]

    def to_json(self) -> str:
        """Return the rows as text of JSON: an array of objects."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_arrow(self) -> ArrowTable:
        """Return an Arrow table.

        Lists, nodes and other nested values are text of JSON, and so is a column with values of
        several types, for which there is a warning; ints and floats together are floats where no
        digit is lost.
        """
        cells: list[list[Any]] = [[] for _ in self._columns]
        for row in self._rows:
            for column, value in zip(cells, row, strict=True):
                column.append(value)
        columns = list(zip(self._columns, cells, strict=True))
        return columns_table([(name, _plain(name, values)) for name, values in columns])[0]

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas frame, which pyarrow makes of `to_arrow`."""
        import pyarrow

        return pyarrow.table(self.to_arrow()).to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Return a polars frame of `to_arrow`."""
        import polars

        return polars.DataFrame(self.to_arrow())

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows."""
        return iter(self._rows)

    def _repr_html_(self) -> str:
        """Return the first rows as a table of a notebook."""
        return rows_to_html(self._columns, self._rows[:ROWS_SHOWN], len(self._rows))

    def __repr__(self) -> str:
        """Return the columns and the first rows as a table."""
        shown = [[_text(value) for value in row] for row in self._rows[:ROWS_SHOWN]]
        widths = [
            max([len(name), *(len(row[index]) for row in shown)])
            for index, name in enumerate(self._columns)
        ]

        def line(cells: Sequence[str]) -> str:
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            return "  ".join(padded).rstrip()

        lines = [line(self._columns), line(["-" * width for width in widths]), *map(line, shown)]
        if len(self._rows) > ROWS_SHOWN:
            lines.append(f"… {len(self._rows):,} rows")
        return "\n".join(lines)


def cypher(owner: Database | Txn, text: str, params: Any, timeout: float | None) -> CypherResult:
    """Run a query; as `Database.cypher` and `Txn.cypher`."""
    return CypherResult(*run_cypher(owner, text, params, timeout))


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _plain(name: str, values: list[Any]) -> list[Any]:
    """Return the values of a column as those of one type of Arrow."""
    types = {type(value) for value in values} - {type(None)}
    if types <= {bool} or types <= {int} or types <= {float} or types <= {str}:
        return values
    if types == {int, float}:
        ints = (value for value in values if type(value) is int)
        if all(abs(value) <= EXACT_MAX for value in ints):
            return [value if value is None else float(value) for value in values]
    if not types <= {dict} and not types <= {list}:
        names = ", ".join(sorted(it.__name__ for it in types))
        message = f"the column `{name}` has values of several types ({names}): each is text of JSON"
        warnings.warn(message, stacklevel=4)
    return [value if value is None else json.dumps(value, ensure_ascii=False) for value in values]
