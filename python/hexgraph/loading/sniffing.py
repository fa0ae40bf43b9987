"""How a file would be read as a table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import guesses
from .arguments import OTHER_NAMES, PLAIN_OPTIONS, TEXT_OPTIONS

if TYPE_CHECKING:
    from .._native import ArrowTable


@dataclass(frozen=True)
class Sniffed:
    """How a file is read as a table: what `hexgraph.sniff` returns. Printed, it is all of that."""

    file: str
    """The file."""
    description: str
    """What it is, in one line: `semicolon, header, utf-8, 2 columns`."""
    arguments: dict[str, Any]
    """The arguments with which `load_nodes` and `load_edges` read it so. `types` is among
    them where all cells were looked at."""
    columns: list[tuple[str, str, str]]
    """The columns: the name, the predicate that a load makes of it, and its type. A column without
    a predicate has the reason instead of the type."""
    rows: ArrowTable = field(compare=False)
    """The first rows."""
    warnings: list[str]
    """What is likely not meant: that no separator gives the lines the same number of fields."""
    is_whole: bool
    """Whether the types are those of all cells. A load looks at all of them in any case."""
    text: str = field(repr=False)
    """All of this as a text."""

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        call = ", ".join(filter(None, [repr(self.file), given]))
        return f"{self.text}\nload_nodes({call})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002 - as IPython calls it
        printer.text(str(self))


def sniff(  # noqa: PLR0913 - options by keyword
    file: str | os.PathLike[str],
    *,
    rows: int = 5,
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    quote: str | None = None,
    escape: str | None = None,
    comment: str | None = None,
    skip: int | None = None,
    null_values: Sequence[str] | None = None,
    quoted_null: bool = False,
    ragged: str = "error",
    names: str = "clean",
    columns: Sequence[str] | None = None,
    **other: Any,
) -> Sniffed:
    r"""Find out how a file is read as a table, without loading it.

    It is any file that `load_nodes` takes: delimited text, JSON, Parquet, Arrow. The result has
    what was detected, the columns with their types, the first `rows` rows, and the arguments that
    read the file so whatever its beginning shows. The other arguments are those of
    `load_nodes`, and overrule what is recognised.

    >>> import hexgraph, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "stations.csv"
    >>> _ = file.write_text("# May 2026\nCode;Mean Temp\nZRH;11.5\nGVA;n/a\n")
    >>> sniffed = hexgraph.sniff(file)
    >>> sniffed.description
    'semicolon, comments behind #, header, utf-8, 2 columns'
    >>> sniffed.columns
    [('Code', 'Code', 'string'), ('Mean Temp', 'Mean_Temp', 'float')]
    >>> sniffed.rows.rows()
    [('ZRH', 11.5), ('GVA', None)]
    >>> db = hexgraph.connect()
    >>> db.load_nodes(file, "Station", id="Code", **sniffed.arguments).nodes
    2

    Raises LoadError or QueryError for a file that is no table.
    """
    from .._native import sniff_file

    options = [*TEXT_OPTIONS, "rows", "types", "separator", "encoding", "columns"]
    for name in other:
        guesses.refuse("sniff()", name, options, OTHER_NAMES["load_nodes"])
    native = {
        **PLAIN_OPTIONS,
        "header": header,
        "quote": quote,
        "escape": escape,
        "comment": comment,
        "skip": skip,
        "null_values": null_values,
        "quoted_null": quoted_null,
        "ragged": ragged,
        "names": names,
        "types": dict(types or {}),
        "separator": separator,
        "encoding": encoding,
        "column_names": None if columns is None else list(columns),
    }
    return Sniffed(**sniff_file(os.fspath(file), native, rows))
