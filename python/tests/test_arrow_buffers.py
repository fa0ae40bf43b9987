"""Columns of Arrow whose buffers hold what their type does not allow: an error, and no crash."""

import struct

import pytest

import hexgraph

pyarrow = pytest.importorskip("pyarrow")


def is_text(*cells):
    """Return a column of texts that are any bytes."""
    return pyarrow.array(cells, pyarrow.binary()).view(pyarrow.string())


def is_view(*cells):
    return pyarrow.array(cells, pyarrow.binary()).cast(pyarrow.binary_view()).view("string_view")


def beyond():
    """Return a column with a view that extends beyond its buffer."""
    views = struct.pack("<i4sii", 13, b"abcd", 0, 0) + struct.pack("<i4sii", 200_000, b"abcd", 0, 0)
    buffers = [None, pyarrow.py_buffer(views), pyarrow.py_buffer(b"abcd" * 10)]
    return pyarrow.Array.from_buffers(pyarrow.string_view(), 2, buffers)


def coded(keys, values):
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(keys, "int32"), values, safe=False)


def packed(values, sizes):
    offsets = [sum(sizes[:position]) for position in range(len(sizes) + 1)]
    return pyarrow.ListArray.from_arrays(pyarrow.array(offsets, "int32"), values)


def from_ipc(column, offsets, wrong):
    """Return a table as a file has it whose offsets were written over."""
    sink = pyarrow.BufferOutputStream()
    table = pyarrow.table({"name": column})
    with pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    raw = sink.getvalue().to_pybytes()
    right = struct.pack(f"<{len(offsets)}i", *offsets)
    assert raw.count(right) == 1
    return pyarrow.ipc.open_file(
        raw.replace(right, struct.pack(f"<{len(wrong)}i", *wrong))
    ).read_all()


UTF8 = "not UTF-8"
COLUMNS = {
    "text": (lambda: is_text(b"ok", b"\xff"), UTF8),
    "large text": (lambda: is_text(b"ok", b"\xff").cast("large_string", safe=False), UTF8),
    "half a letter": (lambda: is_text(b"\xc3", b"\xa9"), UTF8),
    "view": (lambda: is_view(b"ok", b"\xff" * 20), UTF8),
    "short view": (lambda: is_view(b"ok", b"\xff"), UTF8),
    "beyond": (beyond, "behind its buffer"),
    "key": (lambda: coded([0, 7], ["a", "b"]), "key is none of the dictionary"),
    "negative key": (lambda: coded([0, -1], ["a", "b"]), "key is none of the dictionary"),
    "entry": (lambda: coded([1, 0], is_text(b"\xff", b"ok")), UTF8),
    "one of many": (lambda: coded([1, 0], is_text(b"\xff", b"ok", b"x")), UTF8),
    "item": (lambda: packed(is_text(b"ok", b"x", b"\xff"), [1, 2]), UTF8),
    "backwards": (
        lambda: from_ipc(["abcde", "fgh", "i"], [0, 5, 8, 9], [0, 8, 5, 9])["name"],
        "its end is before its start",
    ),
}
ROW_OF = {"half a letter": 1}


@pytest.mark.parametrize("export", ["table", "batch", "reader", "pandas", "little", "spilled"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_cell_that_is_none_is_named(kind, export, db):
    make, report = COLUMNS[kind]
    table = pyarrow.table({"no": list(range(len(make()))), "name": make()})
    if export == "batch":
        [table] = table.to_batches()
    if export == "reader":
        table = table.to_reader()
    if export == "pandas":
        pandas = pytest.importorskip("pandas")
        if "view" in kind or kind == "beyond":
            pytest.skip("pandas makes texts of its own of views")
        table = table.to_pandas(types_mapper=pandas.ArrowDtype)
    other = pyarrow.table({"no": [9], "name": pyarrow.nulls(1, make().type)})
    tables = [other, table] if export == "little" else table
    memory = {"memory": "200MB"} if export == "spilled" else {}
    with pytest.raises(hexgraph.LoadError, match=report) as caught:
        db.load_nodes(tables, "T", id=None, **memory)
    row = ROW_OF.get(kind, 2)
    assert f'row {row}, column "name"' in str(caught.value)
    assert (caught.value.line, caught.value.column) == (row, 2)
    assert db.query("{ q(func: type(T)) { count(uid) } }").to_dict() == {"q": [{"count": 0}]}


@pytest.mark.parametrize("name", ["text", "view", "beyond"])
def test_columns_of_points_facets_ids_and_geometries(name, db):
    make, report = COLUMNS[name]
    db.alter("loc: geo .")
    endpoints = {"a": ["x", "y"], "b": ["y", "x"]}
    calls = [
        lambda: db.load_nodes(
            pyarrow.table({"lat": make(), "lon": ["1", "2"]}),
            "T",
            id=None,
            geo={"spot": ("lat", "lon")},
        ),
        lambda: db.load_nodes(pyarrow.table({"loc": make()}), "T", id=None),
        lambda: db.load_nodes(pyarrow.table({"id": make()}), "T", id="id"),
        lambda: db.load_edges(pyarrow.table({"a": make(), "b": ["x", "y"]}), "e", "a", "b"),
        lambda: db.load_edges(
            pyarrow.table({**endpoints, "w": make()}), "e", "a", "b", facets=["w"]
        ),
    ]
    for call in calls:
        with pytest.raises(hexgraph.LoadError, match=report):
            call()


@pytest.mark.parametrize(
    ("column", "offsets", "wrong"),
    [
        (["abc", "def"], [0, 3, 6], [0, 3, 50_000_000]),
        ([[1, 2], [3]], [0, 2, 3], [0, 2, 50_000_000]),
        (["abc", "def"], [0, 3, 6], [0, 3, -6]),
    ],
)
def test_files_of_ipc_that_end_behind_their_buffers(column, offsets, wrong, db):
    table = from_ipc(column, offsets, wrong)
    for given in (table, table.to_batches()[0], table.to_reader()):
        with pytest.raises((ValueError, hexgraph.Error), match="name"):
            db.load_nodes(given, "T", id=None)


def test_what_no_row_has_may_be_anything(db):
    """Below a null, between lists, in a dictionary: nobody reads it."""
    hidden = is_text(b"a", b"\xff", b"c")
    mask = pyarrow.py_buffer(bytes([0b101]))
    column = pyarrow.Array.from_buffers(pyarrow.string(), 3, [mask, *hidden.buffers()[1:]])
    lists = packed(is_text(b"x", b"\xff", b"y"), [1, 1, 1])
    table = pyarrow.table(
        {
            "name": column,
            "code": coded([0, 0, None], is_text(b"k", b"\xff")),
            "tags": pyarrow.concat_arrays([lists[:1], lists[2:], lists[2:]]),
        }
    )
    db.load_nodes(table, "T", id=None)
    result = db.query("{ q(func: type(T)) { name code tags } }").to_dict()["q"]
    assert result == [
        {"name": "a", "code": "k", "tags": ["x"]},
        {"code": "k", "tags": ["y"]},
        {"name": "c", "tags": ["y"]},
    ]


def test_rows_are_those_of_the_table(db):
    """Whichever chunk they are in, and in whichever part of one."""
    good = pyarrow.array(["ä"] * 70_000)
    chunks = pyarrow.chunked_array([good, good, is_text(*[b"x"] * 9, b"\xff")])
    with pytest.raises(hexgraph.LoadError, match='row 140010, column "name"'):
        db.load_nodes(pyarrow.table({"name": chunks}), "T", id=None)
    long = is_text(*[b"x"] * 70_000, b"\xff")
    with pytest.raises(hexgraph.LoadError, match='row 70001, column "name"'):
        db.load_nodes(pyarrow.table({"name": long}), "T", id=None)
