"""Tables of pyarrow whose buffers are as long as they say.

A file of IPC may say that a text extends beyond its buffer. pyarrow knows how long the buffers are,
and who is handed them by the C interface does not; so pyarrow checks it first. What is in the
buffers is not read here.
"""

from __future__ import annotations

from typing import Any


def with_complete_buffers(table: Any) -> Any:
    """Return a table of pyarrow, checked; anything else as it is.

    Raises ValueError for a column whose buffers are shorter than it says.
    """
    import pyarrow

    if isinstance(table, pyarrow.RecordBatchReader):
        batches = (with_complete_buffers(batch) for batch in table)
        return pyarrow.RecordBatchReader.from_batches(table.schema, batches)
    if not isinstance(table, (pyarrow.Table, pyarrow.RecordBatch)):
        return table
    for name, column in zip(table.schema.names, table.columns, strict=True):
        try:
            column.validate()
        except pyarrow.ArrowInvalid as error:
            raise ValueError(f"the column {name!r} of the table is damaged: {error}") from error
        chunks = column.chunks if isinstance(column, pyarrow.ChunkedArray) else [column]
        if any(_has_negative_offset(chunk) for chunk in chunks):
            raise ValueError(f"the column {name!r} of the table is damaged: a text ends before 0")
    return table


def _has_negative_offset(array: Any) -> bool:
    """Return true if the texts of an array end at a number below 0.

    pyarrow finds this only where it reads all texts, and who is handed the array takes that number
    for the length of the buffer.
    """
    import pyarrow

    inner = _inner_of(array)
    if inner:
        return any(_has_negative_offset(each) for each in inner)
    kind = array.type
    is_large = pyarrow.types.is_large_string(kind) or pyarrow.types.is_large_binary(kind)
    is_small = pyarrow.types.is_string(kind) or pyarrow.types.is_binary(kind)
    if not len(array) or not (is_large or is_small):
        return False
    width = 8 if is_large else 4
    at = (array.offset + len(array)) * width
    end = memoryview(array.buffers()[1])[at : at + width]
    return int.from_bytes(end, "little", signed=True) < 0


def _inner_of(array: Any) -> list[Any]:
    """Return the arrays that an array is made of."""
    import pyarrow

    if isinstance(array, pyarrow.ExtensionArray):
        return [array.storage]
    if isinstance(array, pyarrow.DictionaryArray):
        return [array.dictionary]
    if isinstance(array, pyarrow.StructArray):
        return [array.field(index) for index in range(array.type.num_fields)]
    if isinstance(array, pyarrow.MapArray):
        return [array.keys, array.items]
    if isinstance(array, (pyarrow.ListArray, pyarrow.LargeListArray, pyarrow.FixedSizeListArray)):
        return [array.values]
    return []
