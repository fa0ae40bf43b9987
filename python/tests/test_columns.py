"""Results that are read column by column are those that are read object by object.

A result that was copied out (`memory()` does so with a small one) is written object by object.
"""

import random

import pytest

import hexgraph

SCHEMA = """
age: int @index(int) .
rate: float .
is: bool .
at: datetime .
far: datetime .
city: string .
name: string @index(exact) .
said: string @lang .
plain: default .
tags: [string] .
nums: [int] .
great: bigfloat .
place: geo .
knows: [uid] @reverse .
likes: [uid] .
boss: uid @reverse .
"""

TEXTS = ["a", "", "long enough to be no short text", "žluťoučký", "1"]
VALUES = {
    "age": ["1", "-2", "3000000000", "9223372036854775807"],
    "rate": ["0", "-0.0", "0.5", "1e300"],
    "is": ["true", "false"],
    "at": ["2001-02-03T04:05:06Z", "2001-02-03T05:05:06.5+01:00", "1969-12-31"],
    "far": ["2001-02-03", "0001-01-01T00:00:00Z", "3000-01-01"],
    "city": ["c1", "c2", "c3"],
    "name": TEXTS,
    "said": TEXTS,
    "plain": TEXTS,
    "tags": TEXTS,
    "nums": ["1", "2", "3"],
    "great": ["1", "2.5"],
    "place": ["{'type':'Point','coordinates':[1,2]}"],
}
EDGES = ["knows", "likes", "boss", "~boss", "~knows"]
ROOTS = [
    "has(name)",
    "has(city)",
    "uid(1, 2, 3, 200)",
    "has(name), orderasc: age",
    "has(name), first: 9, offset: 3",
    "has(place)",
    "has(knows)",
]


def statements(nodes: int, count: int, fraction: float, dice: random.Random) -> str:
    lines = []
    for _ in range(count):
        node = dice.randint(1, nodes)
        for edge in EDGES[:3]:
            for _ in range(dice.randrange(3)):
                facet = dice.choice(["", "", "", " (since=1)"])
                lines.append(f"<{node}> <{edge}> <{dice.randint(1, nodes)}>{facet} .")
        for name, values in VALUES.items():
            if dice.random() < fraction:
                lang = dice.choice(["", "@en", "@fr"]) if name == "said" else ""
                lines.append(f'<{node}> <{name}> "{dice.choice(values)}"{lang} .')
    return "\n".join(lines)


def graph(seed: int, dice: random.Random) -> hexgraph.Database:
    """Return a graph that was built and then perhaps changed, also the type of older values."""
    db = hexgraph.connect(threads=1 + seed % 3)
    db.alter(SCHEMA)
    db.mutate(set=statements(60, 80, dice.choice([0.3, 0.8, 1.0]), dice))
    if dice.random() < 0.6:
        db.compact()
        for _ in range(dice.randrange(3)):
            db.mutate(set=statements(70, 6, 0.3, dice))
            db.mutate(delete=f"<{dice.randint(1, 60)}> <{dice.choice(list(VALUES))}> * .")
    if dice.randrange(4) == 0:
        db.alter(dice.choice(["rate: string .", "city: default .", "said: string ."]))
    return db


def fields(depth: int, dice: random.Random) -> str:
    result = []
    for _ in range(dice.randint(1, 5)):
        match dice.randrange(16):
            case 0 | 1:
                field = "uid"
            case 2:
                field = f"count({dice.choice(EDGES[:2])})"
            case 3:
                field = dice.choice(["said@en", "said@en:fr", "said@.", "val(x)", "said@fr"])
            case 4 | 5 | 6 | 7 | 8 if depth:
                part = dice.choice(["", "", "", " (first: 2)", " @filter(has(name))"])
                field = f"{dice.choice(EDGES)}{part} {fields(depth - 1, dice)}"
            case 9:
                field = dice.choice(["tags", "nums", "said@*", "tags @facets"])
            case _:
                field = dice.choice(list(VALUES))
        result.append(dice.choice(["", "", "", f"k{dice.randrange(9)}: "]) + field)
    return "{ " + " ".join(result) + " }"


def report(convert):
    """Return what a conversion gives, or the message of its error."""
    try:
        return convert()
    except hexgraph.Error as error:
        return str(error)


def tables(result: hexgraph.Result):
    pyarrow = pytest.importorskip("pyarrow")
    table = report(lambda: pyarrow.table(result.to_arrow("q")))
    if isinstance(table, str):
        return table
    table.validate(full=True)
    return table.schema, table.to_pylist()


def query(dice: random.Random) -> str:
    form = dice.choice(["", "", "", "", "@cascade", "@normalize", "@ignorereflex"])
    body = "{ v: val(x) " + fields(2, dice)[2:]
    return f"{{ var(func: has(age)) {{ x as age }} q(func: {dice.choice(ROOTS)}) {form} {body} }}"


def check(db: hexgraph.Database, dql: str) -> None:
    copied = db.query(dql)
    copied.memory()
    assert tables(db.query(dql)) == tables(copied), dql
    quick = db.query(dql)
    assert report(lambda: quick.rows("q")) == report(lambda: copied.rows("q")), dql
    assert report(quick.to_dict) == report(copied.to_dict), dql


@pytest.mark.parametrize("part", range(4))
def test_columns_are_the_objects(part):
    same = 0
    for seed in range(20 * part, 20 * part + 20):
        dice = random.Random(seed)
        with graph(seed, dice) as db:
            for _ in range(8):
                dql = query(dice)
                try:
                    db.query(dql)
                except (hexgraph.ParseError, hexgraph.QueryError):
                    # A field stands twice in a selection, mostly.
                    continue
                check(db, dql)
                same += 1
    assert same > 80
