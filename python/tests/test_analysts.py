"""The questions of analysts have the same rows in Cypher, in SQL and in DQL.

Where DQL can't express a question, a sentence that begins with `DQL has no` says why.
"""

import re
from datetime import date, datetime
from math import isclose

import pytest
from pages import ROOT, blocks_of, run_page

TOPICS = ("airports", "films", "people", "packages")
FEWEST = 50
TOLERANCE = 1e-9
FEWEST_OF_DQL = 14
REASON = re.compile(r"^DQL has no .+\.$", re.MULTILINE)
ORDER = re.compile(r"ORDER BY ([\w.]+)")


def page_of(topic):
    return ROOT / "docs" / f"phrase-book-{topic}.md"


def sections(topic):
    """Return the title and the text of each question of a page."""
    parts = re.split(r"^## ", page_of(topic).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {part.split("\n")[0]: part for part in parts}


def questions(topic):
    """Return the title and the blocks of each question of a page, by their languages."""
    return {
        title: {block.kind: block.text for block in blocks_of(part)}
        for title, part in sections(topic).items()
    }


CASES = [(topic, title) for topic in TOPICS for title in questions(topic)]


@pytest.fixture(scope="module")
def engines():
    """For each topic the graph, and a connection of DuckDB with the tables of the page."""
    pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    result = {}

    def open_topic(topic):
        if topic not in result:
            names = run_page(page_of(topic))
            connection = duckdb.connect()
            for name, frame in names["tables"].items():
                connection.register("given", frame.to_arrow())
                connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
                connection.unregister("given")
            result[topic] = names["db"], connection
        return result[topic]

    return open_topic


def plain(value):
    """Return a value as both engines have it: times in UTC as texts, numbers as floats."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, date):
        return f"{value}T00:00:00"
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        return datetime.fromisoformat(value).replace(tzinfo=None).isoformat()
    is_number = isinstance(value, int | float) or type(value).__name__ == "Decimal"
    return float(value) if is_number and not isinstance(value, bool) else value


def rounded(value):
    """Return a value such that equal ones, within the tolerance, have mostly the same place."""
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return f"{value:.6g}" if isinstance(value, float) else value


def is_equal(one, other):
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_equal, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=TOLERANCE)
    return type(one) is type(other) and one == other


def comparable(rows, is_ordered):
    rows = plain(list(rows))
    return rows if is_ordered else sorted(rows, key=lambda row: repr(rounded(row)))


def assert_same(given, expected, is_ordered):
    given, expected = comparable(given, is_ordered), comparable(expected, is_ordered)
    assert is_equal(given, expected), f"{given[:9]}\n{expected[:9]}"


def column_names(columns):
    """Return the names of columns without the node or the edges before them."""
    return [column.split(".")[-1] for column in columns]


def assert_same_in_dql(columns, rows, names, expected, cypher):
    """Compare rows of DQL, whose columns may have another order.

    An order by `val(x)` has one key: nodes with the same value have any order. So the values of the
    first key of the query in Cypher have its order.
    """
    given = column_names(columns)
    assert sorted(given) == sorted(names)
    rows = [tuple(row[given.index(name)] for name in names) for row in rows]
    assert_same(rows, expected, is_ordered=False)
    key = ORDER.search(cypher.split("RETURN")[-1])
    key = key and column_names([key[1]])[0]
    if key in names:
        at = names.index(key)
        assert_same([row[at] for row in rows], [row[at] for row in expected], is_ordered=True)


each_question = pytest.mark.parametrize(
    ("topic", "title"), CASES, ids=[f"{topic}: {title}" for topic, title in CASES]
)


@each_question
def test_question(topic, title, engines):
    blocks = questions(topic)[title]
    db, connection = engines(topic)
    result = db.cypher(blocks["cypher"])
    rows, expected = result.rows(), connection.execute(blocks["sql"]).fetchall()
    assert rows, "an answer without rows shows nothing"
    is_ordered = "ORDER BY" in blocks["cypher"].split("RETURN")[-1]
    assert_same(rows, expected, is_ordered)
    if "dql" in blocks:
        names, flat = column_names(result.columns()), db.query(blocks["dql"]).flatten()
        assert_same_in_dql(flat.column_names, flat.rows(), names, expected, blocks["cypher"])


@each_question
def test_dql_or_the_reason_is_there(topic, title):
    is_there = "dql" in questions(topic)[title]
    assert is_there != bool(REASON.search(sections(topic)[title]))


def test_no_question_is_lost():
    assert len(CASES) >= FEWEST
    assert len(set(CASES)) == sum(len(questions(topic)) for topic in TOPICS)
    assert sum("dql" in questions(topic)[title] for topic, title in CASES) >= FEWEST_OF_DQL


def test_rows_that_differ_are_noticed():
    same = [(1, "a", 0.1 + 0.2), (2, None, [1.0])]
    assert_same(same, [(2, None, [1]), (1, "a", 0.3)], is_ordered=False)
    for other in ([(1, "a", 0.3)], [(2, None, [1]), (1, "b", 0.3)], [(2, "", [1]), (1, "a", 0.3)]):
        with pytest.raises(AssertionError):
            assert_same(same, other, is_ordered=False)
    with pytest.raises(AssertionError):
        assert_same(same, same[::-1], is_ordered=True)


def test_rows_of_dql_that_differ_are_noticed():
    names, expected, cypher = ["a", "n"], [("x", 2), ("y", 1), ("z", 1)], "RETURN a, n ORDER BY n"
    same = [(2, "x"), (1, "z"), (1, "y")]
    assert_same_in_dql(["n", "q.a"], same, names, expected, cypher)
    for other in (same[:2], same[::-1], [(2, "x"), (1, "z"), (1, "z")]):
        with pytest.raises(AssertionError):
            assert_same_in_dql(["n", "q.a"], other, names, expected, cypher)
    with pytest.raises(AssertionError):
        assert_same_in_dql(["n", "b"], same, names, expected, cypher)
