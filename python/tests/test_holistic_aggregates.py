"""Medians, quantiles, variances and counts of different values, compared with DuckDB and numpy."""

import math
import random

import pytest

import hexgraph

duckdb = pytest.importorskip("duckdb")
np = pytest.importorskip("numpy")

pytestmark = pytest.mark.shared

SCHEMA = """
i: int @index(int) .
f: float .
s: string @lang .
b: bool .
d: datetime .
g: string @index(exact) .
h: int .
e: [uid] .
"""

FRACTIONS = [0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 0.99, 1]


def number(dice):
    """Return an int and a float of a few, or of many values, with gaps."""
    wide = dice.random() < 0.5
    whole = dice.randint(-(10**15), 10**15) if wide else dice.randint(-3, 3)
    real = dice.gauss(1e6, 1) if wide else dice.choice([0.0, -0.0, 0.5, 1.5])
    return (
        whole if dice.random() < 0.8 else None,
        real if dice.random() < 0.8 else None,
    )


@pytest.fixture(params=range(8), scope="module")
def tables(request):
    """Return a database and the same rows in DuckDB. Half of the databases changed after a load."""
    dice = random.Random(request.param)
    size = dice.choice([1, 3, 40, 400, 2000])
    rows, lines = [], []
    for uid in range(1, size + 1):
        whole, real = number(dice)
        text = dice.choice(["a", "b", "B", "é", None])
        truth = dice.choice([True, False, None])
        day = dice.choice(["2020-01-01", "2021-05-05", None])
        group = dice.choice("xyz") if dice.random() < 0.9 else None
        many = dice.randrange(size)
        row = (uid, whole, real, text, truth, day, group, many)
        rows.append(row)
        for name, value in zip("ifsbdgh", row[1:], strict=True):
            if value is not None:
                shown = str(value).lower() if name == "b" else value
                lines.append(f'<{uid}> <{name}> "{shown}" .')
        lines += [f"<{uid}> <e> <{dice.randint(1, size)}> ." for _ in range(2)]
    db = hexgraph.connect(threads=dice.choice([1, 2, 3]))
    db.alter(SCHEMA)
    if request.param % 2:
        db.load("\n".join(lines).encode())
    else:
        db.mutate(set="\n".join(lines))
    duck = duckdb.connect()
    duck.execute(
        "CREATE TABLE t (id INT, i BIGINT, f DOUBLE, s TEXT, b BOOL, d TEXT, g TEXT, h INT)"
    )
    duck.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    return db, duck


def same(result, expected):
    """Whether two results are equal, floats up to rounding."""
    if result is None or expected is None:
        return result is expected
    return math.isclose(result, expected, rel_tol=1e-9, abs_tol=1e-9)


CALLS = {
    "median({})": "median({})",
    "quantile({}, 0.9)": "quantile_cont({}, 0.9)",
    "quantile({}, 0.25)": "quantile_cont({}, 0.25)",
    "stddev({})": "stddev_samp({})",
    "variance({})": "var_samp({})",
    "count(distinct {})": "count(DISTINCT {})",
}


@pytest.mark.parametrize("name", ["i", "f"])
def test_over_a_variable(tables, name):
    db, duck = tables
    calls = " ".join(f"c{at}: {call.format('val(x)')}" for at, call in enumerate(CALLS))
    result = db.query(f"{{ var(func: has(g)) {{ x as {name} }} q() {{ {calls} }} }}")["q"]
    result = {key: value for row in result for key, value in row.items()}
    sql = ", ".join(call.format(name) for call in CALLS.values())
    expected = duck.execute(f"SELECT {sql} FROM t WHERE g IS NOT NULL").fetchone()
    for at, value in enumerate(expected):
        assert same(result.get(f"c{at}"), value), (list(CALLS)[at], result, expected)


@pytest.mark.parametrize("key", ["g", "h"])
@pytest.mark.parametrize("name", ["i", "f"])
def test_in_groups(tables, key, name):
    db, duck = tables
    calls = " ".join(f"c{at}: {call.format(name)}" for at, call in enumerate(CALLS))
    rows = db.query(f"{{ q(func: has({key})) @groupby({key}) {{ {calls} }} }}")
    groups = [group for row in rows["q"] for group in row["@groupby"]] if rows["q"] else []
    sql = ", ".join(call.format(name) for call in CALLS.values())
    expected = duck.execute(f"SELECT {key}, {sql} FROM t WHERE {key} IS NOT NULL GROUP BY 1")
    expected = {row[0]: row[1:] for row in expected.fetchall()}
    assert {group[key] for group in groups} == set(expected)
    for group in groups:
        for at, value in enumerate(expected[group[key]]):
            assert same(group.get(f"c{at}"), value), (list(CALLS)[at], group)


def test_different_values_of_each_type(tables):
    db, duck = tables
    calls = " ".join(f"{name}: count(distinct {name})" for name in "ifsbd")
    rows = db.query(f"{{ q(func: has(g)) @groupby(g) {{ {calls} count(distinct e) }} }}")["q"]
    result = {group["g"]: group for row in rows for group in row["@groupby"]}
    sql = ", ".join(f"count(DISTINCT {name})" for name in "ifsbd")
    for key, *expected in duck.execute(
        f"SELECT g, {sql} FROM t WHERE g IS NOT NULL GROUP BY 1"
    ).fetchall():
        assert [result[key][name] for name in "ifsbd"] == expected
    for key, group in result.items():
        ends = db.query(
            f'{{ var(func: eq(g, "{key}")) {{ x as e }} q(func: uid(x)) {{ count(uid) }} }}'
        )
        assert group["count(distinct e)"] == ends["q"][0]["count"]


def test_below_an_edge(tables):
    db, _ = tables
    rows = db.query(
        "{ q(func: has(e)) { e { x as i } median(val(x)) count(distinct val(x)) stddev(val(x)) } }"
    )
    for row in rows["q"]:
        values = [end["i"] for end in row.get("e", []) if "i" in end]
        assert row["count(distinct val(x))"] == len(set(values))
        assert same(row.get("median(val(x))"), float(np.median(values)) if values else None)
        spread = float(np.std(np.array(values, dtype=float), ddof=1)) if len(values) > 1 else None
        assert same(row.get("stddev(val(x))"), spread)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 257])
def test_quantiles_are_those_of_numpy(size):
    dice = random.Random(size)
    values = [dice.choice([dice.uniform(-1, 1), dice.uniform(-1e300, 1e300)]) for _ in range(size)]
    db = hexgraph.connect()
    db.alter("f: float .")
    db.mutate(set_json=[{"f": value} for value in values])
    for fraction in FRACTIONS:
        text = "{ var(func: has(f)) { x as f } q() { v: quantile(val(x), $f) } }"
        [row] = db.query(f"query q($f: float) {text}", {"f": fraction})["q"]
        assert row["v"] == pytest.approx(float(np.quantile(values, fraction)), rel=1e-12)


def test_columns_have_types():
    pa = pytest.importorskip("pyarrow")
    db = hexgraph.connect()
    db.alter(SCHEMA)
    db.mutate(set_json=[{"g": "x", "i": 1}, {"g": "x", "i": 2}, {"g": "y", "i": 5}, {"g": "z"}])
    calls = "median(i) stddev(i) count(distinct i)"
    table = pa.table(db.query(f"{{ q(func: has(g)) @groupby(g) {{ {calls} }} }}").to_arrow())
    assert table.column_names == ["g", "median(i)", "stddev(i)", "count(distinct i)"]
    assert [field.type for field in table.schema][1:] == [pa.float64(), pa.float64(), pa.int64()]
    rows = {row["g"]: list(row.values())[1:] for row in table.to_pylist()}
    assert rows == {"x": [1.5, math.sqrt(0.5), 2], "y": [5.0, None, 1], "z": [None, None, 0]}
