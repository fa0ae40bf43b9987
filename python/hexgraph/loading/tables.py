"""Any table as one that the native half takes, and what its columns are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from typing import Any, cast

from .._native import ArrowTable, columns_table
from ..buffers import with_complete_buffers
from ..errors import QueryError
from ..homes import expanded
from .pairs import texts

LATITUDES = ("lat", "latitude", "y", "lat_deg", "latitude_deg")
LONGITUDES = ("lon", "lng", "long", "longitude", "x", "lon_deg", "longitude_deg")


class Prepared:
    """A table for the native half, with its columns and types."""

    def __init__(self, tables: Any, columns: list[str] | None, types: dict[str, str]) -> None:
        self.tables = tables
        """A path, something with `__arrow_c_stream__`, or a list of such."""
        self.columns = columns
        """The names of its columns; None where a file would have to be read for them."""
        self.types = types
        """The types of values that Arrow has none for, by column."""


def prepare(table: Any) -> Prepared:  # noqa: PLR0911 - one for each kind of table
    """Return the table as the native half takes it.

    Frames of pandas become Arrow column by column, lazy ones of polars are computed, and so are
    datasets of pyarrow; Python's own objects become columns in the native half.

    Raises TypeError for what is no table, with column and row where it has them.
    """
    if isinstance(table, (str, os.PathLike)):
        return Prepared(expanded(table), None, {})
    if isinstance(table, Mapping):
        return of_columns(table)
    package = type(table).__module__.partition(".")[0]
    if package == "polars":
        return of_polars(table)
    if package in ("pandas", "geopandas") and hasattr(table, "columns"):
        return of_pandas(table)
    if package == "pyarrow" and hasattr(table, "to_table"):
        table = table.to_table()
    if hasattr(table, "__arrow_c_stream__"):
        table = with_complete_buffers(table) if package == "pyarrow" else table
        return Prepared(table, names_of(table), {})
    if getattr(getattr(table, "dtype", None), "names", None):
        return of_columns({name: table[name] for name in table.dtype.names})
    if isinstance(table, Sequence) and not isinstance(table, (bytes, bytearray)):
        return of_list(table)
    if isinstance(table, Iterable) and not isinstance(table, (bytes, bytearray)):
        return of_list(list(table))
    raise TypeError(
        "a table is a path, a data frame, a list of dicts, a dict of columns, or anything with"
        f" __arrow_c_stream__, not {type(table).__name__}"
    )


def names_of(table: Any) -> list[str] | None:
    """Return the names of the columns of what hands out Arrow; None where it has none."""
    if isinstance(table, ArrowTable):
        return table.column_names
    schema = getattr(table, "schema", None)
    names = getattr(schema, "names", None) or getattr(table, "columns", None)
    if callable(names) or names is None:
        return None
    return [str(name) for name in names]


def of_list(items: Sequence[Any]) -> Prepared:
    """Return the table of a list of rows, or of a list of tables."""
    if items and all(is_row(item) for item in items):
        rows = [row_of(item) for item in items]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return of_columns({name: [row.get(name) for row in rows] for name in names})
    prepared = [prepare_item(item, index) for index, item in enumerate(items)]
    types = {name: kind for one in prepared for name, kind in one.types.items()}
    columns = [one.columns for one in prepared]
    common = columns[0] if columns and all(names == columns[0] for names in columns) else None
    return Prepared([one.tables for one in prepared], common, types)


def prepare_item(item: Any, index: int) -> Prepared:
    """Return a table of a list of tables."""
    if is_row(item) or isinstance(item, (int, float, bool, type(None))):
        raise TypeError(
            f"item {index} of the list is of type {type(item).__name__}: a list has dicts, which"
            " are rows, or tables; edges may be pairs, [(1, 2), (2, 3)]"
        )
    return prepare(item)


def is_row(item: Any) -> bool:
    """Whether an item of a list is a row: a dict, a dataclass, a model or a tuple with names."""
    is_object = is_dataclass(item) and not isinstance(item, type)
    return isinstance(item, Mapping) or is_object or hasattr(item, "_asdict") or is_model(item)


def is_model(item: Any) -> bool:
    """Whether it is an object of a model of pydantic."""
    return hasattr(item, "model_dump") and not isinstance(item, type)


def row_of(item: Any) -> dict[str, Any]:
    """Return a row as a dict with texts as keys."""
    if is_model(item):
        row = item.model_dump()
    elif hasattr(item, "_asdict"):
        row = item._asdict()
    else:
        row = item if isinstance(item, Mapping) else asdict(item)
    return texts(row)


def of_columns(columns: Mapping[Any, Any]) -> Prepared:
    """Return the table of a dict of columns: lists, arrays, or Series."""
    lists = [(str(name), values_of(str(name), values)) for name, values in columns.items()]
    table, types = columns_table(lists)
    return Prepared(table, [name for name, _ in lists], types)


def values_of(name: str, values: Any) -> list[Any]:
    """Return the values of a column as a list of Python's objects."""
    if isinstance(values, list):
        return values
    is_single = isinstance(values, (str, bytes, Mapping, type(None))) or not hasattr(
        values, "__iter__"
    )
    if is_single:
        raise TypeError(
            f"column {name!r} is of type {type(values).__name__}: a dict is a table if its values"
            " are columns, lists or arrays of one length; one row is a list of one dict"
        )
    # In nanoseconds an array gives ints, which are no times any more.
    is_times = getattr(getattr(values, "dtype", None), "kind", "") == "M"
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(values, method) and not is_times:
            result = getattr(values, method)()
            return result if isinstance(result, list) else [result]
    return list(cast(Iterable[Any], values))


def of_polars(frame: Any) -> Prepared:
    """Return a frame of polars, its GeoJSON as text; a lazy one is computed."""
    import polars

    if hasattr(frame, "collect"):
        frame = frame.collect()
    if isinstance(frame, polars.Series):
        frame = frame.to_frame()
    types: dict[str, str] = {}
    for name, kind in frame.schema.items():
        if isinstance(kind, polars.Struct) and {"type", "coordinates"} <= set(kind.to_schema()):
            frame = frame.with_columns(polars.col(name).struct.json_encode())
            types[name] = "geo"
        elif kind == polars.Object or _is_long(kind):
            column, own = columns_table([(name, frame[name].to_list())])
            frame = frame.with_columns(polars.DataFrame(column).to_series().alias(name))
            types.update(own)
    return Prepared(frame, list(frame.columns), types)


def _is_long(kind: Any) -> bool:
    """Whether cells are ints of 128 bits, perhaps in lists, which other libraries do not know."""
    inner = getattr(kind, "inner", None)
    return _is_long(inner) if inner is not None else str(kind) in {"Int128", "UInt128"}


def of_pandas(frame: Any) -> Prepared:
    """Return a frame of pandas; columns of objects, and all where pyarrow is missing, one by one.

    An index with names becomes columns; one without is but the numbers of the rows.
    """
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    try:
        import pyarrow
    except ImportError as error:
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()][0]
            hint = "rename one of them"
            raise QueryError(f'two columns are called "{twice}"', hint=hint) from error
        return of_columns({name: frame[name] for name in frame.columns})
    arrays: list[Any] = []
    types: dict[str, str] = {}
    for index, name in enumerate(frame.columns):
        series = frame.iloc[:, index]
        array = None
        if str(series.dtype) not in ("object", "geometry"):
            # What pyarrow has no type for, such as complex numbers, sparse columns and long
            # doubles, is read cell by cell; what is no value is reported with its row then.
            with suppress(pyarrow.ArrowException):
                array = pyarrow.Array.from_pandas(series)
        if array is None:
            column, own = columns_table([(str(name), series.tolist())])
            array = pyarrow.table(column).column(0)
            types.update(own)
        arrays.append(array)
    names = [str(name) for name in frame.columns]
    return Prepared(with_complete_buffers(pyarrow.table(arrays, names=names)), names, types)


def points_of(
    geo: str | Mapping[str, tuple[str, str]] | None, prepared: Prepared
) -> tuple[list[tuple[str, str, str]], dict[str, str]]:
    """Return the points that pairs of columns make, and the types of columns of geometries.

    `geo` is a predicate, whose columns are recognised by their usual names or which is a column of
    geometries itself, or a dict of predicates with a pair of a column of latitudes and one of
    longitudes.
    """
    if geo is None:
        return [], {}
    if not isinstance(geo, str):
        points = []
        for predicate, pair in geo.items():
            if isinstance(pair, str) or len(pair) != len(("latitude", "longitude")):
                raise TypeError(
                    f"geo[{predicate!r}] is a pair of columns, latitude and longitude, not {pair!r}"
                )
            points.append((predicate, *pair))
        return points, {}
    if prepared.columns is None:
        raise TypeError(f"geo={geo!r}: of a file say both columns, geo={{{geo!r}: ('lat', 'lon')}}")
    if geo in prepared.columns:
        return [], {geo: "geo"}
    names = {name.lower(): name for name in prepared.columns}
    latitude = next((names[name] for name in LATITUDES if name in names), None)
    longitude = next((names[name] for name in LONGITUDES if name in names), None)
    if latitude is None or longitude is None:
        raise TypeError(
            f"geo={geo!r}: no columns are called as latitudes and longitudes are; say both,"
            f" geo={{{geo!r}: ('north', 'east')}}. There are {', '.join(prepared.columns)}"
        )
    return [(geo, latitude, longitude)], {}
