"""Queries in Cypher: the result of `Database.cypher` and `Txn.cypher`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ._native import run_cypher, run_cypher_many
from .display import ROWS_SHOWN, rows_to_html
from .errors import warn_of

if TYPE_CHECKING:
    import pandas
    import polars

    from ._native import ArrowTable, CypherAnswer, Database, Txn


class CypherResult:
    """The rows of a query in Cypher, in the order of the query.

    A node is a dict with `uid`, `labels` and `properties`; a relationship one with `type`, `start`,
    `end` and `properties`; a path one with `nodes` and `relationships`; a point one with `srid`,
    `x`, `y` and perhaps `z`. Temporal values are texts of ISO 8601.
    """

    def __init__(self, answer: CypherAnswer) -> None:
        """Wrap the answer, which is converted on request."""
        self._answer = answer
        self._rows: list[tuple[Any, ...]] | None = None

    def columns(self) -> list[str]:
        """Return the names of the columns: aliases, or expressions as they are written."""
        return self._answer.columns()

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows, each a tuple with a value for each column."""
        return list(self._all())

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the rows, each a dict by the names of the columns."""
        columns = self.columns()
        return [dict(zip(columns, row, strict=True)) for row in self._all()]

    def to_json(self) -> str:
        """Return JSON text as `POST /cypher` has it: an object with `columns` and `rows`.

        `NaN`, `Infinity` and `-Infinity`, which JSON has no numbers for, are texts.
        """
        return self._answer.to_json()

    def to_arrow(self) -> ArrowTable:
        """Return an Arrow table.

        Nodes, relationships, paths, maps and points are structs with the keys of the rows, lists
        are lists, dates and times have the types of Arrow. What Arrow has no type for is text:
        durations, and times of day with an offset. A column, a key or a list with values of several
        types is text of JSON; ints and floats together are floats where no digit is lost. A column
        that loses something comes with a `UserWarning`.
        """
        table, warnings = self._answer.to_arrow()
        warn_of(UserWarning(warning) for warning in warnings)
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas frame of `to_arrow`; structs are dicts."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Return a polars frame of `to_arrow`."""
        return self.to_arrow().to_polars()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._answer)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows."""
        return iter(self._all())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a capsule with the stream of `to_arrow`, which every Arrow library reads."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """Return the first rows as a table of a notebook."""
        return rows_to_html(self.columns(), self._answer.rows(ROWS_SHOWN), len(self))

    def __repr__(self) -> str:
        """Return the columns and the first rows as a table."""
        columns = self.columns()
        shown = [[_text(value) for value in row] for row in self._answer.rows(ROWS_SHOWN)]
        widths = [
            max([len(name), *(len(row[index]) for row in shown)])
            for index, name in enumerate(columns)
        ]

        def line(cells: Sequence[str]) -> str:
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            return "  ".join(padded).rstrip()

        lines = [line(columns), line(["-" * width for width in widths]), *map(line, shown)]
        if len(self) > ROWS_SHOWN:
            lines.append(f"… {len(self):,} rows")
        return "\n".join(lines)

    def _all(self) -> list[tuple[Any, ...]]:
        if self._rows is None:
            self._rows = self._answer.rows()
        return self._rows


def cypher(owner: Database | Txn, text: str, params: Any, timeout: float | None) -> CypherResult:
    """Run a query; as `Database.cypher` and `Txn.cypher`."""
    return CypherResult(run_cypher(owner, text, params, timeout))


def cypher_many(
    database: Database, text: str, table: Any, number: str, timeout: float | None
) -> CypherResult:
    """Run a query for each row of a table; as `Database.cypher_many`."""
    return CypherResult(run_cypher_many(database, text, table, number, timeout))


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
