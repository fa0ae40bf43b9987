"""Files of JSON, Parquet, Arrow and graphs, and names of columns: one case for each trait.

Each case writes a file and says which columns with which types and which rows it gives.
`test_text_files.py` does this for delimited text. DuckDB and Polars read the same rows where
`oracles` names them, which a test compares.
"""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import hexgraph

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

INT, FLOAT, TEXT, BOOL, TIME = "int", "float", "string", "bool", "datetime"


@dataclass
class Case:
    name: str
    end: str
    write: Callable[[Path], Any]
    columns: dict[str, str]
    rows: list[tuple[Any, ...]]
    oracles: str
    options: dict[str, Any] = field(default_factory=dict)


def text(content: str | bytes) -> Callable[[Path], Any]:
    data = content if isinstance(content, bytes) else content.encode()
    return lambda path: path.write_bytes(data)


def as_json(name, content, predicates, rows, *, end=".json", oracles="duckdb", **options):  # noqa: PLR0913
    write = content if callable(content) else text(content)
    return Case(name, end, write, predicates, rows, oracles, options)


def parquet(name, table, predicates, rows, *, oracles="duckdb polars", **options):
    arguments = options.pop("written", {})
    write = table if callable(table) else lambda path: pq.write_table(table, path, **arguments)
    return Case(name, ".parquet", write, predicates, rows, oracles, options)


NT = {"n": INT, "t": TEXT}
TWO = [(1, "x"), (2, "y")]
OBJECTS = [{"n": 1, "t": "x"}, {"n": 2, "t": "y"}]
TABLE = pa.table({"n": [1, 2], "t": ["x", "y"]})
ID = uuid.UUID("12345678-1234-5678-1234-567812345678")

JSON = [
    as_json("an array in a line", json.dumps(OBJECTS), NT, TWO, oracles="duckdb polars"),
    as_json("an array in several lines", json.dumps(OBJECTS, indent=2), NT, TWO,
            oracles="duckdb polars"),
    as_json("an object in several lines", json.dumps(OBJECTS[0], indent=2), NT, TWO[:1]),
    as_json("objects in several lines", "\n".join(json.dumps(it, indent=1) for it in OBJECTS), NT,
            TWO),
    as_json("concatenated", "".join(map(json.dumps, OBJECTS)), NT, TWO),
    as_json("lines", "\n".join(map(json.dumps, OBJECTS)), NT, TWO, oracles="duckdb"),
    as_json("lines in .jsonl", "\n".join(map(json.dumps, OBJECTS)), NT, TWO, end=".jsonl"),
    as_json("lines in .ndjson", "\n".join(map(json.dumps, OBJECTS)), NT, TWO, end=".ndjson"),
    as_json("an array of arrays", '[["n", "t"],\n [1, "x"],\n [2, "y"]]', NT, TWO, oracles=""),
    as_json("arrays without names", '[[1, "x"], [2, "y"]]', NT, TWO, oracles="",
            columns=["n", "t"]),
    as_json("packed lines", gzip.compress("\n".join(map(json.dumps, OBJECTS)).encode()), NT, TWO,
            end=".jsonl.gz"),
    as_json("a packed array", gzip.compress(json.dumps(OBJECTS, indent=1).encode()), NT, TWO,
            end=".json.gz"),
    as_json("a byte order mark", "\ufeff" + json.dumps(OBJECTS), NT, TWO, oracles=""),
    as_json("keys that are not everywhere", '{"n": 1}\n{"t": "y", "n": 2}', NT,
            [(1, None), (2, "y")]),
    as_json("null", '{"n": 1, "t": null}\n{"n": 2, "t": "y"}', NT, [(1, None), (2, "y")]),
    as_json("ints and floats", '[{"n": 1}, {"n": 2.5}]', {"n": FLOAT}, [(1.0,), (2.5,)],
            oracles="duckdb polars"),
    as_json("a float late", '{"n": 1}\n' * 30_000 + '{"n": 2.5}', {"n": FLOAT},
            [(1.0,)] * 30_000 + [(2.5,)], oracles=""),
    as_json("a key late", '{"n": 1}\n' * 30_000 + '{"n": 1, "t": "x"}', NT,
            [(1, None)] * 30_000 + [(1, "x")], oracles=""),
    as_json("digits in texts", '[{"t": "007"}, {"t": "8"}]', {"t": TEXT}, [("007",), ("8",)],
            oracles="polars"),
    as_json("truth values", '[{"b": true}, {"b": false}]', {"b": BOOL}, [(True,), (False,)],
            oracles="duckdb polars"),
    as_json("escapes", '[{"t": "a\\n\\u00fc\\ud834\\udd1e"}]', {"t": TEXT}, [("a\nü𝄞",)],
            oracles="duckdb polars"),
    as_json("lists", '[{"l": [2, 1]}, {"l": []}]', {"l": "[int]"}, [([1, 2],), (None,)],
            oracles=""),
    as_json("no rows", "[]", {}, [], oracles=""),
]  # fmt: skip


def row_groups(path):
    with pq.ParquetWriter(path, TABLE.schema) as writer:
        for part in (TABLE.slice(0, 0), TABLE.slice(0, 1), TABLE.slice(0, 0), TABLE.slice(1)):
            writer.write_table(part)


def uuids(path):
    duckdb = pytest.importorskip("duckdb")
    duckdb.sql(f"copy (select '{ID}'::uuid as t) to '{path}' (format parquet)")


def one(name, array, kind, cells, **options):
    rows = [(cell,) for cell in cells]
    return parquet(name, pa.table({"a": array}), {"a": kind}, rows, **options)


PARQUET = [
    *(parquet(f"packed by {codec}", TABLE, NT, TWO, written={"compression": codec})
      for codec in ("none", "snappy", "gzip", "brotli", "lz4", "zstd")),
    parquet("no rows", TABLE.slice(0, 0), NT, []),
    parquet("no columns", pa.table({}), {}, [], oracles=""),
    parquet("empty row groups", row_groups, NT, TWO),
    parquet("uuids", uuids, {"t": TEXT}, [(str(ID),)], oracles=""),
    one("decimals", pa.array([decimal.Decimal("1.25"), None], pa.decimal128(9, 2)), FLOAT,
        [1.25, None]),
    one("times of a day", pa.array([dt.time(1, 2, 3), None]), TEXT, ["01:02:03", None],
        oracles=""),
    one("durations", pa.array([dt.timedelta(seconds=90), None]), FLOAT, [90.0, None], oracles=""),
    one("dates", pa.array([dt.date(2024, 2, 29), dt.date(1, 1, 2)]), TIME,
        ["2024-02-29T00:00:00Z", "0001-01-02T00:00:00Z"], oracles=""),
    one("nanoseconds", pa.array([1, None], pa.timestamp("ns")), TIME,
        ["1970-01-01T00:00:00.000000001Z", None], oracles=""),
    one("times with a zone", pa.array([0], pa.timestamp("s", "Europe/Zurich")), TIME,
        ["1970-01-01T00:00:00Z"], oracles=""),
    one("lists", pa.array([[2, 1], None]), "[int]", [[1, 2], None], oracles=""),
    parquet("lists of lists that are left out", pa.table({"n": [1], "a": [[[1]]]}), {"n": INT},
            [(1,)], oracles="", columns={"a": None}),
    one("dictionaries", pa.array(["a", None, "a"]).dictionary_encode(), TEXT, ["a", None, "a"]),
    one("large texts", pa.array(["a", None], pa.large_string()), TEXT, ["a", None]),
    one("views", pa.array(["a", "longer than twelve bytes"], pa.string_view()), TEXT,
        ["a", "longer than twelve bytes"]),
    one("small ints", pa.array([-128, 127], pa.int8()), INT, [-128, 127]),
    one("unsigned ints", pa.array([0, 2**32 - 1], pa.uint32()), INT, [0, 2**32 - 1]),
    one("halves", pa.array([1.5], pa.float32()).cast(pa.float16()), FLOAT, [1.5], oracles="polars"),
    one("only nulls", pa.array([None, None], pa.int64()), INT, [None, None]),
]  # fmt: skip


def arrow(path):
    with pa.ipc.new_file(path, TABLE.schema) as writer:
        writer.write_table(TABLE)


def stream(path):
    with pa.ipc.new_stream(path, TABLE.schema) as writer:
        writer.write_table(TABLE)


EDGES = {"column0": INT, "column1": INT}
PAIRS = [(1, 2), (2, 3)]

OTHERS = [
    Case("blanks in .txt", ".txt", text("1 2\n2 3\n"), EDGES, PAIRS, ""),
    Case("tabs in .txt", ".txt", text("1\t2\n2\t3\n"), EDGES, PAIRS, "duckdb"),
    Case("comments in .txt", ".txt", text("# Nodes: 3\n# a b\n1\t2\n2\t3\n"),
         {"a": INT, "b": INT}, PAIRS, ""),
    Case("blanks in .edges", ".edges", text("1  2\n2 3\n"), EDGES, PAIRS, ""),
    Case("weights in .edges", ".edges", text("1 2 0.5\n2 3 1\n"), {**EDGES, "column2": FLOAT},
         [(1, 2, 0.5), (2, 3, 1.0)], ""),
    Case("packed edges", ".edges.gz", text(gzip.compress(b"1 2\n2 3\n")), EDGES, PAIRS, ""),
    Case(".jsonl", ".jsonl", text("\n".join(map(json.dumps, OBJECTS))), NT, TWO, "duckdb"),
    Case(".ndjson", ".ndjson", text("\n".join(map(json.dumps, OBJECTS))), NT, TWO, "duckdb"),
    Case(".arrow", ".arrow", arrow, NT, TWO, "polars"),
    Case("a stream in .arrow", ".arrow", stream, NT, TWO, ""),
    Case(".feather", ".feather", lambda path: feather.write_feather(TABLE, path), NT, TWO,
         "polars"),
    Case("packed .feather", ".feather",
         lambda path: feather.write_feather(TABLE, path, compression="zstd"), NT, TWO, "polars"),
]  # fmt: skip


def names(name, header, columns, **options):
    rows = [tuple(range(1, len(columns) + 1))]
    content = f"{header}\n{','.join(str(cell) for cell in rows[0])}\n"
    types = dict.fromkeys(columns, INT)
    return Case(name, ".csv", text(content), types, rows, "duckdb polars", options)


NAMES = [
    names("blanks", "First Name,Last  Name", ["First_Name", "Last_Name"]),
    names("blanks around", " a , b ", ["a", "b"]),
    names("dots", "a.b,c", ["a.b", "c"]),
    names("other signs", "a<b>,c|d,e@f", ["a_b", "c_d", "e_f"]),
    names("empty names", "a,,c", ["a", "column1", "c"]),
    names("equal names", "x,x,x", ["x", "x_2", "x_3"]),
    names("a made name that is there", "x,x,x_2", ["x", "x_3", "x_2"]),
    names("letters of other scripts", "größe,木,имя", ["größe", "木", "имя"]),
    names("names that are unchanged", "a,b", ["a", "b"], names="keep"),
]

CASES = {"JSON": JSON, "Parquet": PARQUET, "others": OTHERS, "names": NAMES}

# The traits that files have, each with cases. The tests at the end show those that are errors,
# several files or graphs.
TRAITS = {
    "JSON": {
        "arrays over several lines": ["an array in several lines", "a packed array"],
        "objects over several lines": ["an object in several lines", "objects in several lines"],
        "concatenated": ["concatenated"],
        "arrays of arrays": ["an array of arrays", "arrays without names"],
        "lines": ["lines", "lines in .jsonl", "lines in .ndjson"],
        "packed": ["packed lines", "a packed array"],
        "types over all rows": ["a float late", "a key late", "ints and floats"],
        "missing keys": ["keys that are not everywhere", "null"],
    },
    "Parquet": {
        "codecs": [f"packed by {it}" for it in ("snappy", "gzip", "brotli", "lz4", "zstd")],
        "no columns": ["no columns"],
        "no rows": ["no rows", "only nulls"],
        "empty row groups": ["empty row groups"],
        "uuid": ["uuids"],
        "decimal": ["decimals"],
        "time": ["times of a day", "dates", "nanoseconds", "times with a zone"],
        "duration": ["durations"],
        "list of lists": ["lists of lists that are left out"],
        "dictionary": ["dictionaries"],
        "view and large types": ["views", "large texts"],
    },
    "others": {
        "edge lists": ["blanks in .txt", "tabs in .txt", "comments in .txt", "blanks in .edges"],
        "JSON lines": [".jsonl", ".ndjson"],
        "Arrow": [".arrow", "a stream in .arrow", ".feather", "packed .feather"],
    },
    "names": {
        "blanks": ["blanks", "blanks around"],
        "dots": ["dots"],
        "other signs": ["other signs"],
        "empty": ["empty names"],
        "equal": ["equal names", "a made name that is there"],
        "kept": ["names that are unchanged"],
    },
}


ALL = [pytest.param(it, id=f"{group}: {it.name}") for group, them in CASES.items() for it in them]
"""All cases."""


@pytest.mark.parametrize("group", CASES)
def test_each_trait_has_a_case(group):
    existing = [it.name for it in CASES[group]]
    assert len(existing) == len(set(existing))
    for trait, shown in TRAITS[group].items():
        assert shown, trait
        assert set(shown) <= set(existing), trait


def type_names(db):
    lines = (line for line in db.schema().splitlines() if ": " in line and "dgraph." not in line)
    parts = (line.partition(": ") for line in lines)
    return {name.strip("<>"): kind.split()[0] for name, _, kind in parts}


@pytest.mark.parametrize("it", ALL)
def test_a_file_gives_its_rows(it, tmp_path):
    path = tmp_path / f"t{it.end}"
    it.write(path)
    db = hexgraph.connect()
    report = db.load_nodes(path, "T", id=None, **it.options)
    assert report.nodes == len(it.rows)
    assert type_names(db) == it.columns
    fields = " ".join(f"c{n}: <{name}>" for n, name in enumerate(it.columns))
    nodes = db.query(f"{{ q(func: type(T)) {{ uid {fields} }} }}").to_dict().get("q", [])
    cells = [tuple(node.get(f"c{n}") for n in range(len(it.columns))) for node in nodes]
    sorted_lists = [
        tuple(sorted(cell) if isinstance(cell, list) else cell for cell in row) for row in cells
    ]
    assert sorted_lists == it.rows


def by_duckdb(path):
    duckdb = pytest.importorskip("duckdb")
    of = {"parquet": "read_parquet", "csv": "read_csv", "txt": "read_csv"}
    end = path.name.removesuffix(".gz").rpartition(".")[2]
    return duckdb.sql(f"select * from {of.get(end, 'read_json')}('{path}')").fetchall()


def by_polars(path):
    pl = pytest.importorskip("polars")
    of = {".parquet": pl.read_parquet, ".csv": pl.read_csv, ".json": pl.read_json}
    return of.get(path.suffix, pl.read_ipc)(path).rows()


ORACLES = {"duckdb": by_duckdb, "polars": by_polars}
READ_BY = [
    pytest.param(it, oracle, id=f"{group}: {it.name}, {oracle}")
    for group, them in CASES.items()
    for it in them
    for oracle in it.oracles.split()
]


@pytest.mark.parametrize(("it", "oracle"), READ_BY)
def test_others_read_the_same_rows(it, oracle, tmp_path):
    path = tmp_path / f"t{it.end}"
    it.write(path)
    rows = ORACLES[oracle](path)
    plain = [
        tuple(float(cell) if isinstance(cell, decimal.Decimal) else cell for cell in row)
        for row in rows
    ]
    assert plain == it.rows


def test_nested_objects_are_an_error_that_says_what_to_do(tmp_path):
    path = tmp_path / "t.json"
    path.write_text('[{"n": 1, "o": {"a": 1}}]')
    with pytest.raises(hexgraph.LoadError, match=r'column "o" has objects.*db\.load'):
        hexgraph.connect().load_nodes(path, "T", id=None)


@pytest.mark.parametrize("cell", ['{"a": 1}', "[[1]]", '[{"a": 1}]'])
@pytest.mark.parametrize("row", ['{{"n": {}, "o": {}}}', "[{}, {}]"])
def test_a_column_of_what_is_no_value_is_left_out(cell, row, tmp_path):
    path = tmp_path / "t.json"
    path.write_text(f"[{row.format(1, 'null')},\n {row.format(2, cell)}]")
    nested, plain = ("o", "n") if row[0] == "{" else ("column1", "column0")
    db = hexgraph.connect()
    with pytest.raises(hexgraph.LoadError, match=rf"t\.json:2:2: .*{nested}.*`columns`"):
        db.load_nodes(path, "T", id=None)
    assert db.load_nodes(path, "T", id=None, columns={nested: None}).nodes == 2
    assert db.query(f"{{ q(func: type(T)) {{ {plain} }} }}").rows() == [(1,), (2,)]
    [reason] = [it for name, _, it in hexgraph.sniff(path).columns if name == nested]
    assert "is no value" in reason


def test_sniff_shows_uuids_and_names_columns_that_can_not_be_read(tmp_path):
    path = tmp_path / "t.parquet"
    uuids(path)
    assert str(ID) in str(hexgraph.sniff(path))
    before_midnight = pa.array([-1], pa.int32()).view(pa.time32("ms"))
    pq.write_table(pa.table({"n": [7], "t": before_midnight}), path)
    sniffed = hexgraph.sniff(path)
    assert pa.table(sniffed.rows).column("n").to_pylist() == [7]
    assert [it for it in sniffed.warnings if it.startswith('column "t": ')] == sniffed.warnings
    assert len(sniffed.warnings) == 1


def test_arrays_without_a_cell_are_rows(tmp_path):
    path = tmp_path / "t.json"
    path.write_text("[[], [], []]")
    assert hexgraph.connect().load_nodes(path, "T", id=None).nodes == 3


def test_lists_of_lists_are_an_error_that_names_the_column(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"n": [1], "a": [[[1]]]}), path)
    with pytest.raises(hexgraph.Error, match='"a": a list of lists is no value'):
        hexgraph.connect().load_nodes(path, "T", id=None)


@pytest.mark.parametrize("end", ["parquet", "json", "csv"])
def test_partitions_and_names_of_files_are_columns(end, tmp_path):
    for year in (2023, 2024):
        path = tmp_path / f"year={year}" / f"a.{end}"
        path.parent.mkdir()
        match end:
            case "parquet":
                pq.write_table(pa.table({"n": [year - 2000]}), path)
            case "json":
                path.write_text(json.dumps([{"n": year - 2000}]))
            case _:
                path.write_text(f"n\n{year - 2000}\n")
    for source in (tmp_path, str(tmp_path / "*" / f"*.{end}")):
        db = hexgraph.connect()
        db.load_nodes(source, "T", id=None, filename="file")
        rows = db.query("{ q(func: type(T), orderasc: n) { n year file } }").rows()
        files = [str(tmp_path / f"year={year}" / f"a.{end}") for year in (2023, 2024)]
        assert rows == [(23, 2023, files[0]), (24, 2024, files[1])]


@pytest.mark.parametrize("end", ["xlsx", "xls", "ods"])
def test_workbooks_get_a_hint(end, tmp_path):
    path = tmp_path / f"t.{end}"
    path.write_bytes(b"PK")
    with pytest.raises(hexgraph.QueryError) as caught:
        hexgraph.connect().load_nodes(path, "T", id=None)
    assert "read_excel" in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("form", ["graphml", "gml", "json"])
def test_graphs_of_networkx_are_read_as_it_reads_them(form, tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_node(1, size=7)
    graph.add_node(2, size=8)
    graph.add_edge(1, 2, weight=0.5)
    path = tmp_path / f"t.{form}"
    match form:
        case "graphml":
            networkx.write_graphml_xml(graph, path)
        case "gml":
            networkx.write_gml(graph, path)
        case _:
            path.write_text(json.dumps(networkx.node_link_data(graph, edges="links")))
    db = hexgraph.connect()
    report = db.load_graph(path, "T", xid="key")
    assert report.new_nodes == 2
    query = "{ q(func: type(T), orderasc: size) { size edge @facets { size } } }"
    assert db.query(query).to_dict()["q"] == [
        {"size": 7, "edge": [{"size": 8, "edge|weight": 0.5}]},
        {"size": 8},
    ]


def test_made_names_are_in_the_report(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("First Name,x,x\n1,2,3\n")
    report = hexgraph.connect().load_nodes(path, "T", id=None)
    assert report.notes[:2] == [
        'column "First Name" is the predicate First_Name',
        'column "x" is the predicate x_2',
    ]
    with pytest.raises(hexgraph.Error, match="First Name"):
        hexgraph.connect().load_nodes(path, "T", id=None, names="error")
