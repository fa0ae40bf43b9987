"""Conditions on an indexed property have the rows that the same values have without an index: for
random values and conditions, before and after commits and inside of a transaction."""

import collections
import random

import pytest

import hexgraph

# Of each property the values are stored twice: with this index, and under `name0` without one.
PROPERTIES = {
    "whole": ("int", "int"),
    "ratio": ("float", "float"),
    "text": ("string", "exact"),
    "chunk": ("string", "trigram"),
    "both": ("string", "hash, trigram"),
    "time": ("datetime", "year"),
    "flag": ("bool", "bool"),
    "place": ("geo", "geo"),
    "T.field": ("string", "exact, trigram"),
    "field": ("int", "int"),
}
NODES = 60
WORDS = ["", "a", "ab", "abc", "Abc", "abcd", "bcd", "xabc", "x\u00e9y\u00e9z", "\U0001f600ab"]
WORDS += ["z~"]
TEXTS = [*WORDS, "1", "abcabc", "a'b"]
PATTERNS = ["abc.*", "(?i)ABC", r"\\w+bcd", ".*", "a(b|c)c?d?", "x.y.z", r"abc|bcd", "", r"\\dabc"]
INTS = [-(2**63), -7, -1, 0, 1, 2, 3, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1]
FLOATS = ["-1e300", "-7.5", "-1.0", "-0.0", "0.5", "1.0", "2.5", "9007199254740992.0", "1e19"]
DAYS = ["1815-12-10", "1969-12-31", "1970-01-01", "1999-03-04", "1999-03-05", "2024-02-29"]
TIMES = ["T00:00:00Z", "T23:59:59.999999999Z", "T12:30:00+05:30"]


def value_of(kind, rng):
    """A value as RDF."""
    place = f"{{'type':'Point','coordinates':[{rng.choice([-179.9, 0, 10, 10.01, 179.95])},"
    return {
        "int": lambda: str(rng.choice(INTS)),
        "float": lambda: rng.choice(FLOATS),
        "string": lambda: rng.choice(TEXTS),
        "datetime": lambda: rng.choice(DAYS) + rng.choice(TIMES),
        "bool": lambda: rng.choice(["true", "false"]),
        "geo": lambda: place + f"{rng.choice([-89.9, 0, 50, 50.005, 89.99])}]}}",
    }[kind]()


def lines_of(node, rng):
    """What a node has, or what it had and is changed."""
    lines = []
    for name, (kind, _) in PROPERTIES.items():
        if rng.random() < 0.75:
            value = value_of(kind, rng).replace("\\", "\\\\").replace('"', '\\"')
            lines += [f'<{node}> <{name}> "{value}" .', f'<{node}> <{name}0> "{value}" .']
    return lines


def literal(kind, rng):
    """A value in Cypher, mostly of a kind."""
    if rng.random() < 0.2:
        kind = rng.choice(["int", "float", "string", "datetime", "bool", "odd"])
    return {
        "int": lambda: rng.choice([*map(str, INTS[1:]), "1.0", "2.5", "-0.0", "1e19", "-1e19"]),
        "float": lambda: rng.choice([*FLOATS, *map(str, INTS[1:])]),
        "string": lambda: repr(rng.choice(TEXTS)) if rng.random() < 0.9 else "$text",
        "datetime": lambda: f"datetime('{rng.choice(DAYS)}{rng.choice(TIMES)}')",
        "bool": lambda: rng.choice(["true", "false"]),
        "geo": lambda: "point({longitude: 10, latitude: 50})",
        "odd": lambda: rng.choice(["null", "0.0 / 0.0", "[1]", "{a: 1}", "date('1999-03-04')"]),
    }[kind]()


def condition(name, kind, rng):
    """A condition on `n.name`."""
    read, value = f"n.{name}", lambda: literal(kind, rng)
    side = lambda: rng.choice(["<", "<=", ">", ">="])  # noqa: E731
    if kind == "geo":
        near = rng.choice([0, 1, 100, 600, 800, 20_000, 3_000_000, 6_000_000, "0.0 / 0.0", -1])
        center = rng.choice(["10, latitude: 50", "180, latitude: 0", "0, latitude: 90"])
        distance = f"point.distance({read}, point({{longitude: {center}}}))"
        return rng.choice([f"{distance} < {near}", f"{near} >= {distance}"])
    choices = [
        lambda: f"{read} = {value()}",
        lambda: f"{read} IN [{', '.join(value() for _ in range(rng.randrange(4)))}]",
        lambda: f"{read} {side()} {value()}",
        lambda: f"{value()} {side()} {read}",
        lambda: f"{value()} < {read} <= {value()}",
        lambda: f"{read} >= {value()} AND {read} < {value()} AND {read} {side()} {value()}",
        lambda: f"{read} IN $list",
        lambda: f"{read} IN null",
    ]
    if kind == "string":
        test = rng.choice(["STARTS WITH", "ENDS WITH", "CONTAINS"])
        choices += 3 * [lambda: f"{read} {test} {value()}"]
        choices += 2 * [lambda: f"{read} =~ '{rng.choice(PATTERNS)}'"]
    return rng.choice(choices)()


def query(name, kind, rng):
    """A query of one property: its condition alone, with others, in a join, or for each row."""
    return rng.choice(
        [
            lambda it: f"MATCH (n:T) WHERE {it} RETURN id(n)",
            lambda it: f"MATCH (n) WHERE {it} AND n.only > 20 RETURN id(n)",
            lambda it: f"MATCH (n:T)-[:to]->(m) WHERE {it} RETURN count(*), min(id(m))",
            lambda it: f"MATCH (n:T)-[:to]->(m) WHERE {it} RETURN id(n), id(m)",
            lambda it: f"MATCH (m:T) WHERE m.only < 9 MATCH (n:T) WHERE {it} RETURN id(m), id(n)",
        ]
    )(condition(name, kind, rng))


def per_row(name, kind, rng):
    """A query whose bounds are those of a row."""
    test = rng.choice(["=", "<", ">=", "IN"])
    value = f"[m.{name}, m.{name}]" if test == "IN" else f"m.{name}"
    if kind == "string" and rng.random() < 0.5:
        test = rng.choice(["STARTS WITH", "CONTAINS"])
        value = f"m.{name}"
    condition = f"n.{name} {test} {value}"
    return f"MATCH (m:T) WHERE m.only < 9 MATCH (n:T) WHERE {condition} RETURN id(m), id(n)"


def answer(source, text):
    """The rows in any order, or that there is an error."""
    params = {"text": "abc", "list": [1, 2.5, "abc", None, True, "ab"]}
    try:
        return collections.Counter(source.cypher(text, params).rows())
    except hexgraph.HexgraphError as error:
        return type(error)


@pytest.fixture
def graph(db):
    schema = [
        f"{name}: {kind} @index({index}) .\n{name}0: {kind} ."
        for name, (kind, index) in PROPERTIES.items()
    ]
    types = "type T {\n  T.field\n  T.field0\n  whole\n  only\n}"
    db.alter("\n".join(schema) + "\nonly: int .\nto: [uid] .\n" + types)
    rng = random.Random(5)
    lines = []
    for node in range(1, NODES + 1):
        lines += [f'<{node}> <only> "{node}" .', f"<{node}> <to> <{rng.randint(1, NODES)}> ."]
        lines += [f'<{node}> <dgraph.type> "T" .'] if rng.random() < 0.9 else []
        lines += lines_of(node, rng)
    db.mutate(set="\n".join(lines))
    return db


def change(source, rng):
    """Other values for some nodes, and none for others."""
    nodes = rng.sample(range(1, NODES + 1), 6)
    names = [name for name in PROPERTIES if rng.random() < 0.5]
    gone = [f"<{it}> <{name}{end}> * ." for it in nodes[3:] for name in names for end in ("", "0")]
    source.mutate(set="\n".join(it for node in nodes[:3] for it in lines_of(node, rng)))
    source.mutate(delete="\n".join(gone))


def test_an_index_loses_no_row_and_adds_none(graph):
    rng, operators, rows = random.Random(11), collections.Counter(), 0
    for round_ in range(6):
        source = graph.txn() if round_ == 5 else graph
        if round_:
            change(source, rng)
        for _ in range(120):
            name = rng.choice([*PROPERTIES, "name"])
            name = "field" if name in ("T.field", "name") else name
            kind = PROPERTIES["T.field" if name == "field" else name][0]
            text = (per_row if kind != "geo" and rng.random() < 0.2 else query)(name, kind, rng)
            plain = text.replace(f".{name}", f".{name}0")
            expected = answer(source, plain)
            assert answer(source, text) == expected, text
            rows += 0 if isinstance(expected, type) else sum(expected.values())
            if round_ == 4 and not isinstance(expected, type):
                params = {"text": "abc", "list": [1, 2.5, "abc", None, True, "ab"]}
                plan = graph.cypher(f"EXPLAIN {text}", params).rows()
                operators.update({step[0].strip().split()[0] for step in plan})
    seeks = ["IndexSeek", "IndexRangeScan", "TrigramSeek", "GeoSeek"]
    assert all(operators[it] for it in seeks), operators
    assert rows > 3000, rows
