"""Parquet, JSON and Arrow files as tables, read as DuckDB or pyarrow read them."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import json
import uuid

import pytest

import hexgraph

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
duckdb = pytest.importorskip("duckdb")


def loaded(source, fields, **options):
    """Load a table of nodes, and return the values of some predicates in the order of `n`."""
    db = hexgraph.connect()
    report = db.load_nodes(source, "T", id=None, **options)
    query = f"{{ q(func: type(T), orderasc: n) {{ {' '.join(['n', *fields])} }} }}"
    return [tuple(row) for row in db.query(query).rows()], report


def by_duckdb(call, fields):
    names = ", ".join(f'"{name}"' for name in ["n", *fields])
    return duckdb.sql(f"select {names} from {call} order by n").fetchall()


# Parquet

PLAIN = pa.table(
    {
        "n": list(range(2000)),
        "t": [f"text {n % 7}" if n % 5 else None for n in range(2000)],
        "f": [n / 8 for n in range(2000)],
        "b": [n % 3 == 0 for n in range(2000)],
    }
)


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_codecs(tmp_path, codec, version, dictionary):
    path = tmp_path / "a.parquet"
    pq.write_table(
        PLAIN,
        path,
        compression=codec,
        data_page_version=version,
        use_dictionary=dictionary,
        row_group_size=700,
        data_page_size=512,
    )
    rows, _ = loaded(path, ["t", "f", "b"])
    assert rows == by_duckdb(f"'{path}'", ["t", "f", "b"])


@pytest.mark.parametrize(
    "encoding", ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "RLE_DICTIONARY"]
)
def test_encodings_of_texts(tmp_path, encoding):
    path = tmp_path / "a.parquet"
    options = {"use_dictionary": ["t"]}
    if encoding != "RLE_DICTIONARY":
        options = {"use_dictionary": False, "column_encoding": {"t": encoding}}
    pq.write_table(PLAIN, path, **options)
    assert loaded(path, ["t"])[0] == by_duckdb(f"'{path}'", ["t"])


def test_row_groups_are_read_in_ranges_where_memory_is_scarce(tmp_path):
    """Texts of 100 KB by a dictionary: 64 MiB have some hundreds of the 3,000 rows."""
    path = tmp_path / "a.parquet"
    letters = [letter * 100_000 for letter in "xyz"]
    keys = pa.array([n % 3 for n in range(3000)], pa.int32())
    texts = pa.DictionaryArray.from_arrays(keys, pa.array(letters))
    lists = [[n, n + 1] * (n % 4) for n in range(3000)]
    table = pa.table({"n": list(range(3000)), "t": texts, "l": lists})
    pq.write_table(table, path, data_page_size=4096)
    db = hexgraph.connect()
    assert db.load_nodes(path, "T", id=None, memory="64MiB").nodes == 3000
    rows = db.query("{ q(func: type(T), orderasc: n) { n t l } }").to_dict()["q"]
    assert [row["n"] for row in rows] == list(range(3000))
    assert all(row["t"] == letters[row["n"] % 3] for row in rows)
    assert all(sorted(row.get("l", [])) == sorted(set(lists[row["n"]])) for row in rows)


def test_files_without_rows_or_columns(tmp_path):
    none, empty = tmp_path / "none.parquet", tmp_path / "empty.parquet"
    pq.write_table(pa.table({"n": pa.array([], pa.int64())}), none)
    assert loaded(none, [])[1].nodes == 0
    with pq.ParquetWriter(empty, PLAIN.schema) as writer:
        writer.write_table(PLAIN.slice(0, 0))
        writer.write_table(PLAIN.slice(0, 3))
        writer.write_table(PLAIN.slice(0, 0))
        writer.write_table(PLAIN.slice(3, 2))
    assert loaded(empty, ["f"])[0] == by_duckdb(f"'{empty}'", ["f"])


@pytest.mark.parametrize("end", ["parquet", "arrow"])
def test_files_without_columns(tmp_path, end):
    path = tmp_path / f"none.{end}"
    write(pa.table({}), path)
    db = hexgraph.connect()
    assert db.load_nodes(path, "T", id=None).nodes == 0
    assert hexgraph.sniff(path).columns == []
    with pytest.raises(hexgraph.QueryError, match=r"has no column 'id'|it has no columns"):
        db.load_nodes(path, "T")


@pytest.mark.parametrize("end", ["parquet", "arrow", "feather"])
def test_sniff_shows_columns_and_first_rows(tmp_path, end):
    path = tmp_path / f"a.{end}"
    lists = pa.array([[1], [2, 3]])
    objects = pa.array([{"x": 1}] * 2)
    codes = pa.array(["x", None]).dictionary_encode()
    write(pa.table({"n": [1, 2], "an l": lists, "o": objects, "c": codes}), path)
    sniffed = hexgraph.sniff(path)
    assert sniffed.columns[:2] == [("n", "n", "int"), ("an l", "an_l", "[int]")]
    assert sniffed.columns[2][1] == ""
    assert "an object is no value" in sniffed.columns[2][2]
    assert sniffed.rows.rows() == [(1, [1], "x"), (2, [2, 3], None)]
    assert sniffed.arguments == {}


@pytest.mark.parametrize("layout", ["lines", "arrays", "pretty"])
def test_sniff_of_json(tmp_path, layout):
    path = tmp_path / "a.json"
    path.write_text(LAYOUTS[layout])
    sniffed = hexgraph.sniff(path, rows=1)
    assert sniffed.columns == [("n", "n", "int"), ("t", "t", "string")]
    assert sniffed.rows.rows() == [(1, "x")]
    assert loaded(path, ["t"], **sniffed.arguments)[0] == TWO


TYPES = {
    "int8": (pa.array([1, None, -128], pa.int8()), None),
    "uint32": (pa.array([1, None, 2**32 - 1], pa.uint32()), None),
    "float16": (pa.array([1.5, None, 2.5], pa.float32()).cast(pa.float16()), [1.5, None, 2.5]),
    "decimal": (
        pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-7.50")], pa.decimal128(9, 2)),
        [1.25, None, -7.5],
    ),
    "date": (
        pa.array([dt.date(2024, 2, 29), None, dt.date(1969, 12, 31)]),
        ["2024-02-29T00:00:00Z", None, "1969-12-31T00:00:00Z"],
    ),
    "timestamp": (
        pa.array([dt.datetime(2024, 2, 29, 1, 2, 3, 456789), None], pa.timestamp("us")),
        ["2024-02-29T01:02:03.456789Z", None],
    ),
    "large text": (pa.array(["a", None, ""], pa.large_string()), None),
    "text view": (pa.array(["a", None, "longer than twelve bytes"], pa.string_view()), None),
    "dictionary": (pa.array(["a", None, "a"]).dictionary_encode(), ["a", None, "a"]),
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("end", ["parquet", "arrow", "feather"])
def test_types(tmp_path, kind, end):
    column, expected = TYPES[kind]
    path = tmp_path / f"a.{end}"
    table = pa.table({"n": list(range(len(column))), "x": column})
    write(table, path)
    rows, _ = loaded(path, ["x"])
    assert [row[1] for row in rows] == (expected or column.to_pylist())


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([[[1]], [[2]]]), "a list of lists is no value"),
        (pa.array([{"a": 1}, {"a": 2}]), "an object is no value"),
        (pa.array([b"x", b"y"]), "no type of values"),
    ],
)
@pytest.mark.parametrize("end", ["parquet", "arrow"])
def test_columns_without_values_are_refused_by_name_unless_left_out(tmp_path, column, message, end):
    path = tmp_path / f"a.{end}"
    write(pa.table({"n": [1, 2], "x": column}), path)
    with pytest.raises(hexgraph.Error, match="x") as caught:
        loaded(path, [])
    assert message in str(caught.value)
    assert loaded(path, [], columns={"x": None})[0] == [(1,), (2,)]


def write(table, path):
    match path.suffix:
        case ".parquet":
            pq.write_table(table, path)
        case ".arrow":
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
        case _:
            pytest.importorskip("pyarrow.feather").write_feather(table, path)


# Partitions and names of files


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_partitions_are_columns(tmp_path, end):
    for year, part in [(2023, "x"), (2024, "x y"), (2024, "z")]:
        folder = tmp_path / f"year={year}" / f"part={part.replace(' ', '%20')}"
        folder.mkdir(parents=True)
        n = year * 10 + len(part)
        path = folder / f"a.{end}"
        if end == "csv":
            path.write_text(f"n\n{n}\n")
        else:
            pq.write_table(pa.table({"n": [n]}), path)
    expected = by_duckdb(
        f"read_{end}('{tmp_path}/*/*/*.{end}', hive_partitioning=true)", ["year", "part"]
    )
    assert loaded(tmp_path, ["year", "part"])[0] == expected
    assert loaded(f"{tmp_path}/*/*/*.{end}", ["year", "part"])[0] == expected


def test_partitions_with_one_that_is_no_number_are_texts(tmp_path):
    for n, code in enumerate(["007", "8"]):
        (tmp_path / f"code={code}").mkdir()
        pq.write_table(pa.table({"n": [n]}), tmp_path / f"code={code}" / "a.parquet")
    assert loaded(tmp_path, ["code"])[0] == [(0, "007"), (1, "8")]


def test_a_column_of_the_file_comes_before_a_partition(tmp_path):
    (tmp_path / "n=5").mkdir()
    pq.write_table(pa.table({"n": [1]}), tmp_path / "n=5" / "a.parquet")
    assert loaded(tmp_path, [])[0] == [(1,)]


@pytest.mark.parametrize(("given", "name"), [(True, "filename"), ("path", "path")])
def test_the_name_of_the_file_is_a_column_on_request(tmp_path, given, name):
    for n in range(3):
        (tmp_path / f"{n}.jsonl").write_text(json.dumps({"n": n}))
    rows, _ = loaded(tmp_path, [name], filename=given)
    assert rows == [(n, str(tmp_path / f"{n}.jsonl")) for n in range(3)]
    assert "filename" not in schema_of_load(tmp_path)


def schema_of_load(source):
    db = hexgraph.connect()
    db.load_nodes(source, "T", id=None)
    return str(db.schema())


# JSON

TWO = [(1, "x"), (2, "y")]

LAYOUTS = {
    "lines": '{"n": 1, "t": "x"}\n{"n": 2, "t": "y"}\n',
    "lines without an end": '{"n": 1, "t": "x"}\n{"n": 2, "t": "y"}',
    "blank lines": '\n{"n": 1, "t": "x"}\n\n  \n{"n": 2, "t": "y"}\n\n',
    "carriage returns": '{"n": 1, "t": "x"}\r\n{"n": 2, "t": "y"}\r\n',
    "array": '[{"n": 1, "t": "x"}, {"n": 2, "t": "y"}]',
    "array over lines": '[\n  {"n": 1, "t": "x"},\n  {"n": 2, "t": "y"}\n]\n',
    "pretty": json.dumps([{"n": 1, "t": "x"}, {"n": 2, "t": "y"}], indent=4),
    "concatenated": '{"n": 1, "t": "x"}{"n": 2, "t": "y"}',
    "pretty and concatenated": '{\n "n": 1,\n "t": "x"\n}\n{\n "n": 2,\n "t": "y"\n}\n',
    "mark": '\ufeff[{"n": 1, "t": "x"}, {"n": 2, "t": "y"}]',
    "arrays": '[["n", "t"], [1, "x"], [2, "y"]]',
    "arrays over lines": '[\n["n", "t"],\n[1, "x"],\n[2, "y"]\n]',
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("end", [".json", ".jsonl", ".ndjson", ".json.gz"])
def test_layouts_of_json(tmp_path, layout, end):
    path = tmp_path / f"a{end}"
    text = LAYOUTS[layout].encode()
    path.write_bytes(gzip.compress(text) if end.endswith(".gz") else text)
    assert loaded(path, ["t"])[0] == TWO


VALUES = {
    "missing": ('{"n": 1}\n{"n": 2, "x": 7}', "int", [None, 7]),
    "null": ('{"n": 1, "x": null}\n{"n": 2, "x": 7}', "int", [None, 7]),
    "ints and floats": ('{"n": 1, "x": 1}\n{"n": 2, "x": 2.5}', "float", [1.0, 2.5]),
    "exponents": ('{"n": 1, "x": 1e3}\n{"n": 2, "x": -2.5E-1}', "float", [1000.0, -0.25]),
    "bools": ('{"n": 1, "x": true}\n{"n": 2, "x": false}', "bool", [True, False]),
    "texts of numbers": ('{"n": 1, "x": "007"}\n{"n": 2, "x": "8"}', "string", ["007", "8"]),
    "numbers and texts": ('{"n": 1, "x": 7}\n{"n": 2, "x": "a"}', "string", ["7", "a"]),
    "large ints": (
        '{"n": 1, "x": 9223372036854775808}\n{"n": 2, "x": 1}',
        "string",
        ["9223372036854775808", "1"],
    ),
    "escapes": ('{"n": 1, "x": "a\\n\\u00fc\\"["}\n{"n": 2, "x": ""}', "string", ['a\nü"[', ""]),
    "texts of times": ('{"n": 1, "x": "2024-02-29"}', "string", ["2024-02-29"]),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_json(tmp_path, name):
    text, kind, expected = VALUES[name]
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    db = hexgraph.connect()
    db.load_nodes(path, "T", id=None)
    rows = db.query("{ q(func: type(T), orderasc: n) { n x } }").rows()
    assert [row[1] for row in rows] == expected
    assert f"'predicate': 'x', 'type': '{kind}'" in str(db.schema()) or f"x: {kind}" in str(
        db.schema()
    )


def test_types_of_json_may_be_given(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"n": 1, "x": "2024-02-29"}')
    rows, _ = loaded(path, ["x"], types={"x": "datetime"})
    assert rows == [(1, "2024-02-29T00:00:00Z")]


def test_lists_of_json(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"n": 1, "x": [3, 4]}\n{"n": 2, "x": []}\n{"n": 3}\n{"n": 4, "x": 5}')
    db = hexgraph.connect()
    db.load_nodes(path, "T", id=None)
    rows = db.query("{ q(func: type(T), orderasc: n) { x } }").to_dict()["q"]
    assert [sorted(row["x"]) for row in rows] == [[3, 4], [5]]


def test_columns_of_several_files_of_json_have_one_type(tmp_path):
    (tmp_path / "a.json").write_text('{"n": 1, "x": 1, "y": 7, "z": [1]}')
    (tmp_path / "b.json").write_text('{"n": 2, "x": 2.5, "y": "seven", "z": 2}')
    rows, _ = loaded(tmp_path, ["x", "y"])
    assert rows == [(1, 1.0, "7"), (2, 2.5, "seven")]


def test_edges_of_json(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('[{"a": "x", "b": "y", "w": 1}, {"a": "y", "b": "z", "w": 2}]')
    db = hexgraph.connect()
    assert db.load_edges(path, "knows", "a", "b", facets=["w"]).nodes == 3
    assert db.query("{ q(func: has(knows)) { count(uid) } }").to_dict() == {"q": [{"count": 2}]}


FAULTS = [
    ('{"n": 1}\n{"n": 2, "x": {"a": 1}}', r'a\.json:2:1: column "x" has objects, .*db\.load'),
    ('{"n": 1, "x": [[1]]}', r'a\.json:1:1: column "x" has lists of lists'),
    ('{"n": 1, "x": [{"a": 1}]}', r'column "x" has lists of objects'),
    ("[1, 2]", r"a\.json:1:2: each row of a table is an object"),
    ('{"n": 1}\n[1]', r"a\.json:2:1: each row of a table is an object"),
    ('{"n": 1}\n{"n": 2', r"a\.json:2:7: no JSON"),
    ('{"n": 1}\n{"n": nul}', r"a\.json:2:10: no JSON"),
    ('[{"n": 1},\n {"n": 2, "x": {"a": 1}}]', r'a\.json:2:2: column "x" has objects'),
    ('[\n {"n": 1}, {\n   "n": nul}\n]', r"a\.json:3:12: no JSON"),
    ('[["n", "t"], [1, "x", 3]]', r"this row has 3 cells, and the table has 2 columns"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_what_is_no_table_of_json_is_said_with_its_line(tmp_path, text, message):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(hexgraph.LoadError, match=message):
        loaded(path, [])


# Arrow


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("stream", [True, False])
def test_arrow_files(tmp_path, codec, stream):
    path = tmp_path / "a.arrow"
    table = PLAIN.set_column(1, "t", PLAIN["t"].dictionary_encode())
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(path, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(table, 700)
    fields = ["t", "f", "b"]
    assert loaded(path, fields)[0] == list(zip(*PLAIN.to_pydict().values(), strict=True))


@pytest.mark.parametrize("cut", [3, 7, 100, 900])
def test_damaged_arrow_files_are_refused(tmp_path, cut):
    full, path = tmp_path / "whole.arrow", tmp_path / "a.arrow"
    write(PLAIN, full)
    path.write_bytes(full.read_bytes()[:-cut])
    with pytest.raises(hexgraph.Error, match=r"a\.arrow"):
        loaded(path, [])


def test_lengths_of_packed_buffers_are_no_orders(tmp_path):
    """A buffer that says that it becomes 4 EiB."""
    path = tmp_path / "a.arrow"
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(path, PLAIN.schema, options=options) as writer:
        writer.write_table(PLAIN)
    bytes_ = path.read_bytes()
    length = (8 * len(PLAIN)).to_bytes(8, "little")
    assert length in bytes_
    path.write_bytes(bytes_.replace(length, (1 << 62).to_bytes(8, "little")))
    with pytest.raises(hexgraph.LimitError, match="takes"):
        loaded(path, [], memory="64MiB")


# Others


@pytest.mark.parametrize("end", ["xlsx", "xls", "ods"])
def test_workbooks_are_refused_with_what_to_do(tmp_path, end):
    path = tmp_path / f"a.{end}"
    path.write_bytes(b"PK")
    with pytest.raises(hexgraph.QueryError) as caught:
        loaded(path, [])
    assert "read_excel" in str(caught.value) + str(caught.value.hint)


def test_uuids_of_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    one = uuid.UUID("12345678-1234-5678-1234-567812345678")
    duckdb.sql(f"copy (select 1 as n, '{one}'::uuid as x) to '{path}' (format parquet)")
    assert loaded(path, ["x"])[0] == [(1, str(one))]


def test_times_and_durations_of_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table(
        {
            "n": [1],
            "x": pa.array([dt.time(1, 2, 3)]),
            "y": pa.array([dt.timedelta(seconds=90)]),
        }
    )
    pq.write_table(table, path)
    rows, _ = loaded(path, ["x", "y"])
    assert rows == [(1, "01:02:03", 90.0)]
