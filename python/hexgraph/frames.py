"""Tables as data frames. pandas and polars are imported on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ._native import columns_table
from .buffers import with_complete_buffers
from .errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pandas
    import polars

    from ._native import ArrowTable


class ArrowStream(Protocol):
    """An object with Arrow columns: data frames, tables, relations."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a capsule with the stream."""


def to_arrow(table: Any) -> Any:
    """Return an object with the Arrow columns of `table`; those of pandas through pyarrow.

    A lazy frame of polars is collected.
    """
    if type(table).__module__.partition(".")[0] == "polars" and hasattr(table, "collect"):
        return table.collect()
    if type(table).__module__.partition(".")[0] == "pyarrow":
        return with_complete_buffers(table)
    if type(table).__module__.partition(".")[0] != "pandas" or not hasattr(table, "columns"):
        return table
    try:
        import pyarrow
    except ImportError as error:
        raise missing("pyarrow") from error
    # An index without names is but the numbers of the rows.
    has_index = any(name is not None for name in table.index.names)
    made = pyarrow.Table.from_pandas(table, preserve_index=has_index)
    return with_complete_buffers(made)


def rows_of(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a data frame, of columns of Arrow, or of an iterable of dicts."""
    rows = _rows_of(table)
    return rows if isinstance(rows, list) else list(rows)


def each_row_of(table: Any) -> Iterator[dict[str, Any]]:
    """Return the same rows one after the other; those of an iterable are read one at a time."""
    return iter(_rows_of(table))


def _rows_of(table: Any) -> Iterable[dict[str, Any]]:
    if isinstance(table, (dict, str, bytes)):
        raise TypeError(
            "a table is a list of dicts, a data frame, or columns of Arrow,"
            f" not {type(table).__name__}"
        )
    rows: list[dict[str, Any]]
    if type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "columns"):
        rows = table.to_dict("records")
        return rows
    table = to_arrow(table)
    for method in ("to_dicts", "to_pylist"):
        if hasattr(table, method):
            rows = getattr(table, method)()
            return rows
    if hasattr(table, "__arrow_c_stream__"):
        try:
            import pyarrow
        except ImportError as error:
            raise missing("pyarrow") from error
        rows = pyarrow.table(table).to_pylist()
        return rows
    given: Iterable[dict[str, Any]] = table
    return given


def to_polars(table: ArrowTable) -> polars.DataFrame:
    """Return the table as a polars.DataFrame, without a copy where polars needs none."""
    try:
        import polars
    except ImportError as error:
        raise missing("polars") from error
    return polars.DataFrame(table)


def to_pandas(table: ArrowTable) -> pandas.DataFrame:
    """Return the table as a pandas.DataFrame, with nullable types if values are missing."""
    try:
        import pandas
    except ImportError as error:
        raise missing("pandas") from error
    text = pandas.Series([], dtype="str").dtype
    arrow = _with_texts(table, text)
    columns = {}
    for name, kind, *cells in table._frame_columns(arrow is None):
        if kind == "text" and arrow is not None:
            columns[name] = pandas.Series(text.__from_arrow__(arrow[name]), copy=False)
        else:
            columns[name] = series(kind, *cells)
    return pandas.DataFrame(columns, index=pandas.RangeIndex(len(table)), copy=False)


def _with_texts(table: ArrowTable, text: Any) -> Any:
    """Return the table of pyarrow whose texts pandas retains; None where it makes objects of them.

    What pandas makes of `str` depends on its version, its options and whether pyarrow is there.
    """
    if getattr(text, "storage", None) != "pyarrow":
        return None
    if len(set(table.column_names)) < len(table.column_names):
        return None
    import pyarrow

    return pyarrow.table(table)


def series(kind: str, values: Any, missing: Any) -> Any:
    """Return one column.

    The `values` are a bytearray that is not shared, or a list; `missing` is a byte for each of
    them, or None if none is missing.
    """
    import numpy
    import pandas

    if kind == "object":
        return pandas.Series(values, dtype="object")
    if kind == "text":
        return pandas.Series(values, dtype="str")
    gaps = None if missing is None else numpy.frombuffer(missing, dtype="bool")
    # A zone follows the unit: "datetime64[ns, UTC]".
    dtype, _, zone = kind.removesuffix("]").partition(", ")
    plain = numpy.frombuffer(values, dtype=f"{dtype}]" if zone else kind)
    if kind.startswith("datetime64"):
        times = pandas.Series(plain, copy=False)
        times = times if gaps is None else times.mask(gaps)
        return times.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else times
    if gaps is None:
        return pandas.Series(plain, copy=False)
    if kind == "float64":
        return pandas.Series(numpy.where(gaps, numpy.nan, plain), copy=False)
    nullable = {"int64": pandas.arrays.IntegerArray, "bool": pandas.arrays.BooleanArray}
    return pandas.Series(nullable[kind](plain, gaps.copy()), copy=False)


HOP = ["path", "hop", "from", "predicate", "to", "total"]
"""The columns of `Result.paths`, except those of facets."""


def paths_of(data: dict[str, Any]) -> ArrowTable:
    """Return the hops of all paths of an answer as a table; see `Result.paths`."""
    hops: list[dict[str, Any]] = []
    for index, path in enumerate(data.get("_path_", [])):
        total = path.get("_weight_")
        node, number = path, 0
        while node is not None:
            step = next(((key, to) for key, to in node.items() if isinstance(to, dict)), None)
            if step is None:
                break
            predicate, to = step
            hop = {"path": index, "hop": number, "from": node["uid"], "predicate": predicate}
            facets = {
                # One that is called as a column has the name that answers have for it.
                key if key.partition("|")[2] in HOP else key.partition("|")[2]: value
                for key, value in to.items()
                if key.startswith(f"{predicate}|")
            }
            hops.append({**hop, "to": to["uid"], **facets, "total": total})
            node, number = to, number + 1
    names = list(dict.fromkeys(name for hop in hops for name in hop if name != "total"))
    names = [*(names or HOP[:-1]), "total"]
    return columns_table([(name, [hop.get(name) for hop in hops]) for name in names])[0]


def missing(package: str) -> Error:
    """Return the exception for a package that is not installed."""
    return Error(f"this needs {package}: pip install hexgraph[{package}]")
