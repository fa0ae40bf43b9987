"""Any table of polars that is loaded, and queried, is the same table.

Tables are random: all types that a predicate can have values of, missing values, the extremes of
each type, texts of any letters. Each goes in as a frame and as a file of each format.
`HEXGRAPH_TABLES=COUNT` tries more of them, and `HEXGRAPH_TABLES_SEED` others.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import os
import random
import struct

import pytest

import hexgraph

pl = pytest.importorskip("polars")

COUNT = int(os.environ.get("HEXGRAPH_TABLES", "12"))
SEED = int(os.environ.get("HEXGRAPH_TABLES_SEED", "1"))

UTC = dt.UTC
NANOS = 10**9
FIRST_DAY, LAST_DAY = dt.date(1, 1, 2), dt.date(9999, 12, 31)
"""The days that a predicate of times and Python both have; DQL prints 0001-01-01 as no time."""

LETTERS = [
    *"abcXYZ019 .,;:|'\"\\/#-_+(){}[]<>@^~%$&*=?!`",
    *"äßÉ木𝄞€\u0301\u200d\u00a0\u2028\u0085\ufeff\t\n\r\x00\x01\x7f",
]

NUMBERS_AS_TEXT = ["007", "7", "-0", "1e5", "1e400", "inf", "NaN", "n/a", "NULL", "null", "none"]
OTHER_TEXT = ["", " ", "true", "false", "2020-01-31", "1234-56-78", "a,b", '"', "''", "x\ny", "#"]


def text_of(rng: random.Random) -> str:
    if rng.random() < 0.3:
        return rng.choice(NUMBERS_AS_TEXT + OTHER_TEXT)
    return "".join(rng.choice(LETTERS) for _ in range(rng.choice([1, 2, 5, 20, 300])))


def int_of(rng: random.Random, bits: int, *, signed: bool) -> int:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    if rng.random() < 0.4:
        return rng.choice([low, high, low + 1, high - 1, 0, 1, -1 if signed else 2])
    return rng.randint(low, high)


def float_of(rng: random.Random) -> float:
    if rng.random() < 0.5:
        return rng.choice([0.0, -0.0, 5e-324, 1.7976931348623157e308, -1e-7, 1e21, 0.1, 2.0**53])
    number = struct.unpack("d", rng.randbytes(8))[0]
    return number if math.isfinite(number) else 0.5


def short_float_of(rng: random.Random) -> float:
    number = struct.unpack("f", rng.randbytes(4))[0]
    return number if math.isfinite(number) else 0.5


def day_of(rng: random.Random) -> dt.date:
    if rng.random() < 0.2:
        return rng.choice([FIRST_DAY, LAST_DAY, dt.date(1970, 1, 1), dt.date(1969, 12, 31)])
    return dt.date.fromordinal(rng.randint(FIRST_DAY.toordinal(), LAST_DAY.toordinal()))


def micros_of(rng: random.Random) -> dt.datetime:
    time = dt.time(rng.randrange(24), rng.randrange(60), rng.randrange(60), rng.randrange(10**6))
    return dt.datetime.combine(day_of(rng), time)


def nanos_of(rng: random.Random) -> int:
    """Return nanoseconds since 1970; 64 bits have those from 1677 to 2262."""
    return rng.choice([0, 1, -1, 2**63 - 1, -(2**63) + 1, rng.randrange(-(2**63) + 1, 2**63)])


def decimal_of(rng: random.Random) -> decimal.Decimal:
    return decimal.Decimal(rng.randrange(-(10**12), 10**12)).scaleb(-3)


INTS = {
    f"{'' if signed else 'U'}Int{bits}": (bits, signed) for bits in (8, 16, 32, 64)
    for signed in (True, False)
    if signed or bits < 64
}  # fmt: skip


def column(rng: random.Random, kind: str, rows: int) -> pl.Series:
    """Return a column of a type, with missing values."""
    missing = rng.choice([0, 0.1, 0.9, 1])
    make, data_type = MAKERS[kind]
    cells = [None if rng.random() < missing else make(rng) for _ in range(rows)]
    if kind == "Datetime[ns]":
        return pl.Series(cells, dtype=pl.Int64).cast(data_type)
    return pl.Series(cells, dtype=data_type)


MAKERS = {
    **{
        name: (lambda rng, of=of: int_of(rng, of[0], signed=of[1]), getattr(pl, name))
        for name, of in INTS.items()
    },
    "Boolean": (lambda rng: rng.random() < 0.5, pl.Boolean),
    "Float64": (float_of, pl.Float64),
    "Float32": (short_float_of, pl.Float32),
    "Decimal": (decimal_of, pl.Decimal(18, 3)),
    "String": (text_of, pl.String),
    "Categorical": (lambda rng: rng.choice(["red", "", "007", "木"]), pl.Categorical),
    "Enum": (lambda rng: rng.choice(["red", "blue"]), pl.Enum(["red", "blue", "green"])),
    "Date": (day_of, pl.Date),
    "Datetime[ms]": (lambda rng: micros_of(rng).replace(microsecond=7000), pl.Datetime("ms")),
    "Datetime[us]": (micros_of, pl.Datetime("us")),
    "Datetime[us, zone]": (
        lambda rng: micros_of(rng).replace(year=rng.randint(1900, 2100), day=3, tzinfo=UTC),
        pl.Datetime("us", "Europe/Zurich"),
    ),
    "Datetime[ns]": (nanos_of, pl.Datetime("ns")),
    "Time": (lambda rng: micros_of(rng).time(), pl.Time),
    "Duration": (lambda rng: rng.randrange(-(10**9), 10**9) * dt.timedelta(milliseconds=1),
                 pl.Duration),
    "Null": (lambda _: None, pl.Null),
    "List[Int64]": (lambda rng: [int_of(rng, 64, signed=True) for _ in range(rng.randrange(4))],
                    pl.List(pl.Int64)),
    "List[String]": (lambda rng: [text_of(rng) for _ in range(rng.randrange(4))],
                     pl.List(pl.String)),
}  # fmt: skip

LISTS = {kind for kind in MAKERS if kind.startswith("List")}


def frame_of(rng: random.Random, kinds: list[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return a frame with some columns, and the type of each."""
    rows = rng.choice([0, 1, 2, 30, 200])
    chosen = [rng.choice(kinds) for _ in range(rng.randint(1, 8))]
    columns = {f"c{n}": column(rng, kind, rows) for n, kind in enumerate(chosen)}
    return pl.DataFrame(columns), chosen


def expected_cell(cell: object, kind: str) -> object:
    """Return a cell as a query gives it."""
    if cell is None:
        return None
    if kind in LISTS:
        # A list is a set of values.
        return sorted(set(cell)) or None
    if kind == "Decimal":
        return float(cell)
    if kind == "Duration":
        return cell.total_seconds()
    return cell.astimezone(UTC) if "zone" in kind else cell


def rows_of(frame: pl.DataFrame, kinds: list[str]) -> list[tuple]:
    times = [
        pl.col(name).cast(pl.Int64).alias(name)
        for name, kind in zip(frame.columns, kinds, strict=True)
        if kind == "Datetime[ns]"
    ]
    rows = frame.with_columns(times).rows()
    return [
        tuple(expected_cell(cell, kind) for cell, kind in zip(row, kinds, strict=True))
        for row in rows
    ]


def nanos(text: str) -> int:
    """Return the nanoseconds since 1970 of a time in UTC."""
    full, _, part = text.removesuffix("Z").partition(".")
    seconds = (dt.datetime.fromisoformat(full) - dt.datetime(1970, 1, 1)) // dt.timedelta(seconds=1)
    return seconds * NANOS + int(part.ljust(9, "0") or 0)


def read_cell(cell: object, kind: str) -> object:  # noqa: PLR0911 - one for each type
    """Return a cell of an answer as `expected_cell` has it."""
    if cell is None:
        return None
    if kind in LISTS:
        return sorted(cell)
    if kind == "Date":
        assert cell.endswith("T00:00:00Z")
        return dt.date.fromisoformat(cell[:10])
    if kind == "Datetime[ns]":
        return nanos(cell)
    if kind == "Time":
        full, _, part = cell.partition(".")
        return dt.time.fromisoformat(full).replace(microsecond=int(part[:6].ljust(6, "0")))
    if kind.startswith("Datetime"):
        time = dt.datetime.fromisoformat(cell)
        return time if "zone" in kind else time.replace(tzinfo=None)
    if kind == "Float32":
        return struct.unpack("f", struct.pack("f", cell))[0]
    return cell


def queried(source: object, columns: list[str], kinds: list[str], **options: object) -> list[tuple]:
    # A column without any value is no predicate.
    db = hexgraph.connect(warnings=False)
    db.load_nodes(source, "T", id=None, **options)
    fields = " ".join(columns)
    nodes = db.query(f"{{ q(func: type(T)) {{ uid {fields} }} }}").to_dict().get("q", [])
    return [
        tuple(read_cell(node.get(name), kind) for name, kind in zip(columns, kinds, strict=True))
        for node in nodes
    ]


def check(result: list[tuple], expected: list[tuple], kinds: list[str]) -> None:
    assert len(result) == len(expected)
    for row, (one, other) in enumerate(zip(result, expected, strict=True)):
        for kind, cell, requested in zip(kinds, one, other, strict=True):
            where = f"row {row}, {kind}: {cell!r} instead of {requested!r}"
            assert cell == requested, where
            assert str(cell) == str(requested), where


def predicate_type(kind: str) -> str:
    """Return the type of the predicate of a column."""
    if "Int" in kind:
        return "int"
    if kind in {"Float64", "Float32", "Decimal"}:
        return "float"
    if kind.startswith(("Date", "Datetime")):
        return "datetime"
    return "bool" if kind == "Boolean" else "string"


def types_of(frame: pl.DataFrame, kinds: list[str]) -> dict[str, str]:
    return {name: predicate_type(kind) for name, kind in zip(frame.columns, kinds, strict=True)}


NUMBERS = pytest.mark.parametrize("number", range(COUNT))


@NUMBERS
def test_a_frame(number):
    frame, kinds = frame_of(random.Random(SEED * 1000 + number), list(MAKERS))
    check(queried(frame, frame.columns, kinds), rows_of(frame, kinds), kinds)


@NUMBERS
@pytest.mark.parametrize("codec", ["zstd", "uncompressed"])
def test_a_parquet_file(number, codec, tmp_path):
    frame, kinds = frame_of(random.Random(SEED * 2000 + number), list(MAKERS))
    path = tmp_path / "t.parquet"
    frame.write_parquet(path, compression=codec, row_group_size=50)
    check(queried(path, frame.columns, kinds), rows_of(frame, kinds), kinds)


@NUMBERS
def test_an_arrow_file(number, tmp_path):
    frame, kinds = frame_of(random.Random(SEED * 3000 + number), list(MAKERS))
    path = tmp_path / "t.arrow"
    frame.write_ipc(path, compression="zstd" if number % 2 else "uncompressed")
    check(queried(path, frame.columns, kinds), rows_of(frame, kinds), kinds)


@NUMBERS
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_csv_file(number, separator, tmp_path):
    """How the file is written is not given, the types of its columns are."""
    rng = random.Random(SEED * 4000 + number)
    frame, kinds = frame_of(rng, [kind for kind in MAKERS if kind not in LISTS | {"Duration"}])
    path = tmp_path / "t.csv"
    style = rng.choice(["necessary", "non_numeric", "always"])
    line_end = rng.choice(["\n", "\r\n"])
    frame.write_csv(path, separator=separator, quote_style=style, line_terminator=line_end)
    # Where all cells are quoted, those of missing values are, too.
    is_quoted = style == "always"
    types = types_of(frame, kinds)
    result = queried(path, frame.columns, kinds, types=types, quoted_null=is_quoted)
    expected = rows_of(frame, kinds)
    if is_quoted:
        expected = [tuple(None if cell == "" else cell for cell in row) for row in expected]
    check(result, expected, kinds)


GAPS = {"", "n/a", "na", "#n/a", "nan", "null", "none", "nil", "-", "--", "?", "unknown", "missing"}


def represents(cell: object, text: str, kind: str) -> bool:
    """Whether a value of a predicate of a type is what a text says."""
    if kind == "string":
        return cell == text
    plain = text.strip()
    if cell is None:
        return plain.lower() in GAPS
    if kind == "datetime":
        return cell[:10] == plain[:10]
    if kind == "bool":
        return str(cell).lower() == plain.lower()
    return cell == (int(plain) if kind == "int" else float(plain))


@NUMBERS
def test_a_csv_file_of_texts_whose_types_are_inferred(number, tmp_path):
    """No type loses what a text says."""
    rng = random.Random(SEED * 6000 + number)
    make = rng.choice([text_of, lambda rng: rng.choice(NUMBERS_AS_TEXT), lambda rng: str(
        rng.choice([float_of(rng), int_of(rng, 64, signed=True), day_of(rng), ""])
    )])  # fmt: skip
    rows = rng.choice([1, 2, 30])
    frame = pl.DataFrame({f"c{n}": [make(rng) for _ in range(rows)] for n in range(3)})
    path = tmp_path / "t.csv"
    frame.write_csv(path, quote_style=rng.choice(["necessary", "non_numeric"]))
    db = hexgraph.connect(warnings=False)
    db.load_nodes(path, "T", id=None, header=True, separator=",", quote='"')
    types = {row["predicate"]: row["type"] for row in db.query("schema {}").to_dict()["schema"]}
    nodes = db.query("{ q(func: type(T)) { uid c0 c1 c2 } }").to_dict().get("q", [])
    assert len(nodes) == len(frame)
    for node, row in zip(nodes, frame.iter_rows(named=True), strict=True):
        for name, text in row.items():
            kind = types.get(name, "string")
            assert represents(node.get(name), text, kind), (kind, text, node.get(name))


@NUMBERS
def test_a_json_file(number, tmp_path):
    kinds = [kind for kind in MAKERS if kind not in {"Duration", "List[Int64]"}]
    frame, kinds = frame_of(random.Random(SEED * 5000 + number), kinds)
    path = tmp_path / "t.jsonl"
    frame.write_ndjson(path)
    # A file without rows has no names of columns.
    types = types_of(frame, kinds) if len(frame) else {}
    result = queried(path, frame.columns, kinds, types=types)
    check(result, rows_of(frame, kinds), kinds)
