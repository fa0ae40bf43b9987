"""Many questions in one call."""

from __future__ import annotations

import pandas
import polars
import pyarrow
import pytest

import hexgraph

pytestmark = pytest.mark.shared

DQL = """query q($n: string, $most: int = 9) {
    q(func: eq(name, $n), first: $most) { uid name age }
}"""


@pytest.fixture
def numbered(db: hexgraph.Database) -> hexgraph.Database:
    db.alter("name: string @index(exact) .\nage: int .")
    lines = [f'<{uid}> <name> "n{uid % 10}" .' for uid in range(1, 100)]
    lines += [f'<{uid}> <age> "{uid}" .' for uid in range(1, 100) if uid % 3]
    db.mutate(set="\n".join(lines))
    return db


def one_by_one(db: hexgraph.Database, rows: list[dict]) -> list[tuple]:
    return [
        (number, *found) for number, row in enumerate(rows) for found in db.query(DQL, row).rows()
    ]


def test_the_answers_are_those_of_one_after_the_other(numbered: hexgraph.Database) -> None:
    rows = [{"n": f"n{number % 12}", "$most": number % 4 + 1} for number in range(200)]
    table = numbered.query_many(DQL, rows)
    assert table.column_names == ["row", "uid", "name", "age"]
    assert polars.DataFrame(table).rows() == one_by_one(numbered, rows)


def test_tables_of_all_kinds(numbered: hexgraph.Database) -> None:
    columns = {"n": ["n3", "n4", "nobody", "n5"], "most": [2, None, 1, 3]}
    rows = [{"n": "n3", "most": 2}, {"n": "n4"}, {"n": "nobody", "most": 1}, {"n": "n5", "most": 3}]
    wanted = one_by_one(numbered, rows)
    frame = polars.DataFrame(columns)
    integers = pandas.DataFrame(columns, dtype=object)
    arrow = pyarrow.table(columns)
    for table in (rows, iter(rows), frame, frame.lazy(), integers, arrow, arrow.to_reader()):
        assert polars.DataFrame(numbered.query_many(DQL, table)).rows() == wanted, type(table)


def test_the_column_of_numbers_has_the_name_that_is_wanted(numbered: hexgraph.Database) -> None:
    table = numbered.query_many(DQL, [{"n": "n1"}], number="question")
    assert table.column_names[0] == "question"
    with pytest.raises(hexgraph.QueryError, match='has a key "age"'):
        numbered.query_many(DQL, [{"n": "n1"}], number="age")


def test_no_question_has_no_answer(numbered: hexgraph.Database) -> None:
    assert numbered.query_many(DQL, []).num_rows == 0


def test_a_block_is_chosen(numbered: hexgraph.Database) -> None:
    dql = """query q($n: string) {
        one(func: eq(name, $n)) { uid } two(func: eq(name, $n)) { name }
    }"""
    assert numbered.query_many(dql, [{"n": "n1"}], block="two").column_names == ["row", "name"]
    with pytest.raises(hexgraph.QueryError, match="several blocks, choose one: one, two"):
        numbered.query_many(dql, [{"n": "n1"}])


def test_what_is_wrong_is_told(numbered: hexgraph.Database) -> None:
    with pytest.raises(TypeError, match="a table is a list of dicts"):
        numbered.query_many(DQL, {"n": "n1"})
    with pytest.raises(TypeError, match="row 1: the variables of a question are a dict, not int"):
        numbered.query_many(DQL, [{"n": "n1"}, 7])
    with pytest.raises(TypeError, match="variable \\$n: a value of type object"):
        numbered.query_many(DQL, [{"n": object()}])
    with pytest.raises(hexgraph.ParseError):
        numbered.query_many("query q($n: string) { q(func: }", [{"n": "n1"}])
    with pytest.raises(hexgraph.LimitError, match="timeout"):
        numbered.query_many(DQL, [{"n": "n1"}] * 50, timeout=0)


def test_a_changed_graph_is_asked_as_it_is(numbered: hexgraph.Database) -> None:
    numbered.mutate(set='<1> <name> "n2" .\n<500> <name> "n2" .')
    rows = [{"n": "n1"}, {"n": "n2", "most": 100}]
    assert polars.DataFrame(numbered.query_many(DQL, rows)).rows() == one_by_one(numbered, rows)
