"""Each question of the phrase book has the same answer in all its languages."""

import re
from datetime import date, datetime

import pytest
from pages import ROOT, blocks_of, films, run_page

import hexgraph

PAGES = [ROOT / "docs" / name for name in ("phrase-book.md", "phrase-book-groups.md")]
TABLES = ("film", "person", "genre", "country")
PAIRS = {
    "starring": "starring",
    "directed_by": "directed_by",
    "film_genre": "in_genre",
    "film_country": "made_in",
}
"""The tables of pairs, and what they are called in Ladybug."""

LADYBUG = """
CREATE NODE TABLE Film(id STRING PRIMARY KEY, name STRING, release_date TIMESTAMP, runtime INT64);
CREATE NODE TABLE Person(id STRING PRIMARY KEY, name STRING, born TIMESTAMP);
CREATE NODE TABLE Genre(id STRING PRIMARY KEY, name STRING);
CREATE NODE TABLE Country(id STRING PRIMARY KEY, name STRING);
CREATE REL TABLE starring(FROM Film TO Person, billing INT64, role STRING);
CREATE REL TABLE directed_by(FROM Film TO Person);
CREATE REL TABLE in_genre(FROM Film TO Genre);
CREATE REL TABLE made_in(FROM Film TO Country);
"""
DIALECT = (
    (":genre]", ":in_genre]"),  # no label and relationship have the same name there
    (":country]", ":made_in]"),
    ("datetime(", "timestamp("),
    ("p <> me", "id(p) <> id(me)"),
)
"""What openCypher and Ladybug write differently."""

NOT_IN_LADYBUG = ("shortestPath", "percentileCont")
CHANGES = re.compile(r"\b(CREATE|SET|MERGE|DELETE)\b")
FEWEST = {"sql": 30, "py": 24, "cypher": 25}
"""How many sections have a block in the language, at least."""


@pytest.fixture(scope="module")
def names():
    pytest.importorskip("polars")
    return run_page(PAGES[0])


def sections(language):
    """Yield title, block in a language and the other blocks of each section with the block."""
    text = "\n".join(page.read_text() for page in PAGES)
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        blocks = {chunk.kind: chunk.text for chunk in blocks_of(part)}
        if language in blocks:
            yield part.split("\n")[0], blocks[language], blocks


def value_of(value):
    """Return a value as all engines have it: days as text, numbers as floats."""
    if isinstance(value, datetime | date):
        return value.isoformat()[:10]
    if isinstance(value, int | float):
        return round(float(value), 6)
    return value


def comparable(rows, ordered):
    rows = [tuple(value_of(value) for value in row) for row in rows]
    return rows if ordered else sorted(rows, key=repr)


def check(language, names, run, sql=None):
    """Run all blocks of a language, and compare with DQL, or with SQL where DQL has no block."""
    faults, query = [], 0
    for title, block, others in sections(language):
        given = run(block)
        if given is None:
            continue
        query += 1
        is_ordered = "ORDER BY" in block.split("OVER")[0] or ".sort(" in block
        if "dql" in others:
            rows = names["fresh"].query(others["dql"]).flatten().rows()
        elif sql:
            rows = sql.execute(others["sql"]).fetchall()
        else:
            continue
        expected = comparable(rows, is_ordered)
        if comparable(given, is_ordered) != expected:
            faults.append(f"{title}\n{block}{comparable(given, is_ordered)[:9]}\n{expected[:9]}")
    assert not faults, "\n\n".join(faults)
    assert query >= FEWEST[language]


@pytest.fixture(scope="module")
def fresh(names):
    """The names of the page and the films as they were before the page changed them."""
    return {**names, "fresh": films()}


@pytest.fixture
def sql(fresh):
    """A connection of DuckDB with the tables."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    for table in (*TABLES, *PAIRS):
        connection.register("given", fresh[table].to_arrow())
        connection.execute(f"CREATE TABLE {table} AS SELECT * FROM given")
        connection.unregister("given")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def test_polars(fresh):
    import polars as pl

    check("py", fresh, lambda block: eval(block.strip(), {**fresh, "pl": pl}).rows())


def test_sql(fresh, sql):
    check("sql", fresh, lambda block: sql.execute(block).fetchall())


def test_cypher(fresh, sql):
    def run(block):
        if not CHANGES.search(block):
            return fresh["fresh"].cypher(block).rows()
        with pytest.raises(hexgraph.ParseError, match="changes data"):
            fresh["fresh"].cypher(block)
        return None

    check("cypher", fresh, run, sql)


def test_ladybug(fresh, sql):
    ladybug = pytest.importorskip("ladybug")
    connection = ladybug.Connection(ladybug.Database(":memory:"))
    connection.execute(LADYBUG)
    for table in TABLES:
        given = fresh[table]
        connection.execute(f"COPY {table.title()} FROM given")
    for table, relationship in PAIRS.items():
        given = fresh[table]
        connection.execute(f"COPY {relationship} FROM given")
    assert given.height

    def run(block):
        for ours, theirs in DIALECT:
            block = block.replace(ours, theirs)
        if any(name in block for name in NOT_IN_LADYBUG) or CHANGES.search(block):
            return None
        return connection.execute(block).get_all()

    check("cypher", fresh, run, sql)
