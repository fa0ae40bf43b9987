"""Aggregates over random numbers, compared with Python's own exact arithmetic."""

import datetime
import random
import statistics
from fractions import Fraction

import pytest

import hexgraph

pytestmark = pytest.mark.shared

LEAST, GREATEST = -(2**63), 2**63 - 1

SCHEMA = """
i: int @index(int) .
f: float .
t: datetime .
g: string @index(exact) .
e: [uid] .
"""


def numbers(dice: random.Random, size: int) -> list[int]:
    """Return ints of one scale: small, time stamps in nanoseconds, or at the edges."""
    match dice.randrange(4):
        case 0:
            return [dice.randint(-50, 50) for _ in range(size)]
        case 1:
            now = 1_700_000_000_000_000_000
            return [now + dice.randint(-(10**15), 10**15) for _ in range(size)]
        case 2:
            edges = [LEAST, LEAST + 1, -1, 0, 1, GREATEST - 1, GREATEST]
            return [dice.choice(edges) for _ in range(size)]
        case _:
            return [dice.randint(LEAST, GREATEST) for _ in range(size)]


def mean(values: list[int]) -> float:
    return float(Fraction(sum(values), len(values)))


@pytest.fixture(params=range(12))
def graph(request):
    """Return a database with some numbers in groups, and the numbers by group."""
    dice = random.Random(request.param)
    groups = {name: numbers(dice, dice.randint(1, 12)) for name in "abcd"[: dice.randint(1, 4)]}
    lines, uid = [], 0
    for position, (name, values) in enumerate(groups.items()):
        for value in values:
            uid += 1
            lines.append(f'<{uid}> <i> "{value}" .')
            lines.append(f'<{uid}> <g> "{name}" .')
            lines.append(f"<{1000 + position}> <e> <{uid}> .")
    db = hexgraph.connect()
    db.alter(SCHEMA)
    db.mutate(set="\n".join(lines))
    return db, groups


def check(run, values):
    """Query the four aggregates of some ints, and compare them."""
    assert run("min") == min(values)
    assert run("max") == max(values)
    assert run("avg") == pytest.approx(mean(values), rel=1e-14, abs=1e-9)
    if LEAST <= sum(values) <= GREATEST:
        assert run("sum") == sum(values)
    else:
        with pytest.raises(hexgraph.QueryError, match=f"the sum {sum(values)} does not fit"):
            run("sum")


def test_of_a_variable(graph):
    db, groups = graph

    def run(op):
        [row] = db.query(f"{{ var(func: has(i)) {{ x as i }} q() {{ r: {op}(val(x)) }} }}")["q"]
        return row["r"]

    check(run, [value for values in groups.values() for value in values])


def test_of_a_variable_in_the_order_of_a_filter(graph):
    """Values that are not a plain column have another access path."""
    db, groups = graph

    def run(op):
        dql = f"""{{
          var(func: has(i)) @filter(not eq(g, "a")) {{ x as i }}
          q() {{ r: {op}(val(x)) }}
        }}"""
        return db.query(dql)["q"][0]["r"]

    rest = [value for name, values in groups.items() if name != "a" for value in values]
    if rest:
        check(run, rest)
    else:
        assert run("sum") is None


def test_of_groups(graph):
    db, groups = graph
    for name, values in groups.items():

        def run(op, name=name):
            dql = f'{{ q(func: eq(g, "{name}")) @groupby(g) {{ count(uid) r: {op}(i) }} }}'
            [row] = db.query(dql)["q"][0]["@groupby"]
            return row["r"]

        check(run, values)


def test_of_all_groups_at_once(graph):
    db, groups = graph
    [result] = db.query("{ q(func: has(i)) @groupby(g) { avg(i) min(i) count(uid) } }")["q"]
    for row in result["@groupby"]:
        values = groups[row["g"]]
        assert (row["min(i)"], row["count"]) == (min(values), len(values))
        assert row["avg(i)"] == pytest.approx(mean(values), rel=1e-14, abs=1e-9)


def test_of_the_level_below(graph):
    db, groups = graph
    for position, values in enumerate(groups.values()):

        def run(op, position=position):
            dql = f"{{ q(func: uid({1000 + position})) {{ e {{ x as i }} r: {op}(val(x)) }} }}"
            return db.query(dql)["q"][0]["r"]

        check(run, values)


def test_of_a_group_of_nodes(graph):
    """Variables of groups by a node have what all of the group's members have."""
    db, groups = graph
    db.alter("e: [uid] @reverse .")
    dql = "{ var(func: has(i)) @groupby(~e) { a as avg(i) } q(func: uid(a)) { uid val(a) } }"
    result = {row["uid"]: row["val(a)"] for row in db.query(dql)["q"]}
    for position, values in enumerate(groups.values()):
        assert result[hex(1000 + position)] == pytest.approx(mean(values), rel=1e-14, abs=1e-9)


def test_of_floats_and_times(db):
    dice = random.Random(7)
    floats = [dice.uniform(-1e6, 1e6) for _ in range(200)]
    start = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    times = [start + datetime.timedelta(microseconds=dice.randrange(10**15)) for _ in floats]
    db.alter(SCHEMA)
    db.mutate(
        set_json=[
            {"uid": str(position + 1), "f": value, "t": time.isoformat()}
            for position, (value, time) in enumerate(zip(floats, times, strict=True))
        ]
    )
    dql = """{
      var(func: has(f)) { x as f t as t }
      q() {
        sum(val(x)) avg(val(x)) min(val(x)) max(val(x))
        least: min(val(t)) most: max(val(t))
      }
    }"""
    result = {key: value for row in db.query(dql)["q"] for key, value in row.items()}
    assert result["sum(val(x))"] == pytest.approx(float(sum(map(Fraction, floats))), rel=1e-9)
    assert result["avg(val(x))"] == pytest.approx(statistics.fmean(floats), rel=1e-9)
    assert (result["min(val(x))"], result["max(val(x))"]) == (min(floats), max(floats))
    shown = [datetime.datetime.fromisoformat(result[key]) for key in ("least", "most")]
    assert shown == [min(times), max(times)]


@pytest.mark.otherwise("integers wrap around")
@pytest.mark.parametrize(
    ("expression", "right"),
    [("x + 1", GREATEST + 1), ("x * 2", 2 * GREATEST), ("-1 - x - 1", -GREATEST - 2)],
)
def test_math_beyond_the_edge_is_an_error(db, expression, right):
    db.alter(SCHEMA)
    db.mutate(set=f'<1> <i> "{GREATEST}" .')
    with pytest.raises(hexgraph.QueryError, match="does not fit into an int"):
        db.query(f"{{ q(func: uid(1)) {{ x as i r: math({expression}) }} }}")
    [row] = db.query(
        f"{{ q(func: uid(1)) {{ i as i x as math(i * 1.0) r: math({expression}) }} }}"
    )["q"]
    assert row["r"] == pytest.approx(right)


@pytest.mark.otherwise("integers wrap around")
def test_of_graphql(db):
    db.graphql_schema("type N { id: ID! v: Int64 }")
    db.graphql(f"mutation {{ addN(input: [{{v: {GREATEST}}}, {{v: {GREATEST}}}]) {{ numUids }} }}")
    result = db.graphql("{ aggregateN { vAvg vMax } }")["data"]["aggregateN"]
    assert result == {"vAvg": float(GREATEST), "vMax": GREATEST}
    answer = db.graphql("{ aggregateN { vSum count } }")
    assert answer["data"]["aggregateN"] == {"vSum": None, "count": 2}
    assert f"the sum {2 * GREATEST} does not fit" in answer["errors"][0]["message"]
