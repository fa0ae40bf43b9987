"""Many questions in one call."""

from __future__ import annotations

import os
import threading
import time
import typing

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
        (number, *result) for number, row in enumerate(rows) for result in db.query(DQL, row).rows()
    ]


def test_the_answers_are_those_of_one_after_the_other(numbered: hexgraph.Database) -> None:
    rows = [{"n": f"n{number % 12}", "$most": number % 4 + 1} for number in range(200)]
    table = numbered.query_many(DQL, rows)
    assert table.column_names == ["row", "uid", "name", "age"]
    assert polars.DataFrame(table).rows() == one_by_one(numbered, rows)


def test_tables_of_all_kinds(numbered: hexgraph.Database) -> None:
    columns = {"n": ["n3", "n4", "nobody", "n5"], "most": [2, None, 1, 3]}
    rows = [{"n": "n3", "most": 2}, {"n": "n4"}, {"n": "nobody", "most": 1}, {"n": "n5", "most": 3}]
    expected = one_by_one(numbered, rows)
    frame = polars.DataFrame(columns)
    integers = pandas.DataFrame(columns, dtype=object)
    arrow = pyarrow.table(columns)
    for table in (rows, iter(rows), frame, frame.lazy(), integers, arrow, arrow.to_reader()):
        assert polars.DataFrame(numbered.query_many(DQL, table)).rows() == expected, type(table)


def test_the_column_of_numbers_has_the_name_that_is_requested(numbered: hexgraph.Database) -> None:
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


def test_what_is_wrong_is_reported(numbered: hexgraph.Database) -> None:
    with pytest.raises(TypeError, match="a table is a list of dicts"):
        numbered.query_many(DQL, {"n": "n1"})
    with pytest.raises(TypeError, match="row 1: the variables of a query are a dict, not int"):
        numbered.query_many(DQL, [{"n": "n1"}, 7])
    with pytest.raises(TypeError, match="variable \\$n: a value of type object"):
        numbered.query_many(DQL, [{"n": object()}])
    with pytest.raises(hexgraph.ParseError):
        numbered.query_many("query q($n: string) { q(func: }", [{"n": "n1"}])
    with pytest.raises(hexgraph.LimitError, match="timeout"):
        numbered.query_many(DQL, [{"n": "n1"}] * 50, timeout=0)


def test_a_changed_graph_is_queried_as_it_is(numbered: hexgraph.Database) -> None:
    numbered.mutate(set='<1> <name> "n2" .\n<500> <name> "n2" .')
    rows = [{"n": "n1"}, {"n": "n2", "most": 100}]
    assert polars.DataFrame(numbered.query_many(DQL, rows)).rows() == one_by_one(numbered, rows)


def test_answers_one_after_the_other(numbered: hexgraph.Database) -> None:
    rows = [{"n": f"n{number % 12}", "$most": number % 4 + 1} for number in range(500)]
    expected = [numbered.query(DQL, row).to_dict() for row in rows]
    frame = polars.DataFrame(
        [{name.strip("$"): value for name, value in row.items()} for row in rows]
    )
    for table in (rows, iter(rows), (row for row in rows), frame, frame.lazy(), frame.to_arrow()):
        with numbered.query_each(DQL, table) as answers:
            assert [answer.to_dict() for answer in answers] == expected, type(table)


def test_rows_are_read_as_answers_are_consumed(numbered: hexgraph.Database) -> None:
    read = 0

    def rows() -> typing.Iterator[dict[str, str]]:
        nonlocal read
        while True:
            read += 1
            yield {"n": f"n{read % 10}"}

    with numbered.query_each(DQL, rows()) as answers:
        assert read == 0
        for consumed in range(1, 50):
            assert len(next(answers).to_dict()["q"]) > 0
            assert read <= 2 * consumed, "a source that is slow holds up nobody"
    with pytest.raises(StopIteration):
        next(answers)
    before = read
    assert next(answers, None) is None
    assert read == before, "nobody reads on behind the end"


def test_a_question_that_fails_raises_in_order(numbered: hexgraph.Database) -> None:
    rows = [{"n": "n1"}, {"n": "n2", "most": "many"}, {"n": "n3"}]
    answers = numbered.query_each(DQL, rows)
    assert len(next(answers).rows()) > 0
    with pytest.raises(hexgraph.Error, match="most"):
        next(answers)
    assert next(answers).to_dict() == numbered.query(DQL, {"n": "n3"}).to_dict()
    assert list(answers) == []


def test_a_row_that_can_not_be_read_is_the_last(numbered: hexgraph.Database) -> None:
    def broken() -> typing.Iterator[dict[str, str]]:
        yield {"n": "n1"}
        raise KeyError("gone")

    for rows, error, said in (
        ([{"n": "n1"}, 7, {"n": "n2"}], TypeError, "row 1: the variables of a query are a dict"),
        (broken(), KeyError, "gone"),
    ):
        answers = numbered.query_each(DQL, rows)
        assert len(next(answers).rows()) > 0
        with pytest.raises(error, match=said):
            next(answers)
        assert list(answers) == []
    with pytest.raises(TypeError, match="a table is a list of dicts"):
        numbered.query_each(DQL, {"n": "n1"})
    # A cluster reports it with the first answer.
    with pytest.raises(hexgraph.Error):
        list(numbered.query_each("query q($n: string) { q(func: }", [{"n": "n1"}]))


def test_each_row_has_its_own_timeout(numbered: hexgraph.Database) -> None:
    with pytest.raises(hexgraph.LimitError, match="timeout"):
        list(numbered.query_each(DQL, [{"n": "n1"}], timeout=0))
    answers = numbered.query_each(DQL, [{"n": "n1"}] * 3, timeout=1)
    next(answers)
    time.sleep(1.1)
    assert len(list(answers)) == 2


def test_closing_stops_it(numbered: hexgraph.Database) -> None:
    answers = numbered.query_each(DQL, [{"n": "n1"}] * 1000)
    next(answers)
    answers.close()
    answers.close()
    assert list(answers) == []


def test_two_threads_consume_answers(numbered: hexgraph.Database) -> None:
    answers = numbered.query_each(DQL, iter([{"n": f"n{number % 10}"} for number in range(2000)]))
    read: list[int] = []

    def consume() -> None:
        while True:
            try:
                answer = next(answers, None)
            except ValueError:  # The other thread reads a row.
                continue
            if answer is None:
                return
            read.append(len(answer.rows()))

    threads = [threading.Thread(target=consume) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(read) == 2000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_gets_an_error_for_answers_of_its_parent(numbered: hexgraph.Database) -> None:
    answers = numbered.query_each(DQL, [{"n": "n1"}] * 100)
    next(answers)
    child = os.fork()
    if child == 0:
        try:
            next(answers)
        except hexgraph.QueryError as error:
            os._exit(0 if "parent process" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert len(list(answers)) == 99


@pytest.mark.embedded("the text of a query is not read before it is sent")
def test_a_row_without_a_value(numbered: hexgraph.Database) -> None:
    """A gap in a table is no empty text, which some node may have for its name."""
    numbered.mutate(set='<1000> <name> "" .')
    for gap in ({"n": None}, {"most": 3}):
        with pytest.raises(hexgraph.QueryError, match=r"row 1: .*\$n has no value"):
            numbered.query_many(DQL, [{"n": "n3"}, gap])
    answers = numbered.query_each(DQL, [{"n": "n3"}, {"n": None}, {"n": ""}])
    assert len(next(answers).rows()) == 9
    with pytest.raises(hexgraph.QueryError, match=r"\$n has no value"):
        next(answers)
    assert next(answers).rows() == [("0x3e8", "", None)]


@pytest.mark.embedded("the schema is not read before a query is sent")
def test_columns_that_no_row_has(numbered: hexgraph.Database) -> None:
    dql = """query q($n: string) {
        q(func: eq(name, $n)) { uid name age boss { name } }
    }"""
    numbered.alter("boss: uid .")
    for names in (["nobody"], ["nobody", "n3"]):
        table = polars.DataFrame(numbered.query_many(dql, [{"n": name} for name in names]))
        assert table.columns[:4] == ["row", "uid", "name", "age"]
        assert table.schema["age"] == polars.Int64
    joined = polars.DataFrame({"row": [0]}).join(table, on="row")
    assert joined.select("name", "age").rows() == []


@pytest.mark.embedded
def test_a_column_without_a_variable_is_named(numbered: hexgraph.Database) -> None:
    hint = r"it declares \$n, \$most: leave the column out, rename it, or declare `\$m: string`"
    frame = polars.DataFrame({"n": ["n1"], "m": ["x"]})
    with pytest.raises(hexgraph.QueryError, match='row 0: column "m" of the table has no') as one:
        numbered.query_many(DQL, frame)
    assert one.match(hint)
    with pytest.raises(hexgraph.QueryError, match='row 1: column "m"'):
        list(numbered.query_each(DQL, [{"n": "n1"}, {"n": "n2", "m": "x"}]))
    plain = "{ q(func: has(name), first: 2) { name } }"
    with pytest.raises(hexgraph.QueryError, match=r"declare it: `query name\(\$n: string\)"):
        numbered.query_many(plain, [{"n": "n1"}])
    assert len(numbered.query_many(plain, [{}, {}])) == 4


@pytest.mark.embedded
def test_lists_of_nodes_are_no_rows(numbered: hexgraph.Database) -> None:
    numbered.mutate(set="<1> <near> <2> .\n<1> <near> <3> .")
    dql = "query q($n: string) { q(func: eq(name, $n)) { uid near { uid } } }"
    with pytest.raises(hexgraph.QueryError, match='"near" holds several nodes') as fault:
        numbered.query_many(dql, [{"n": "n1"}])
    assert fault.match(r"`.flatten\(\)` or `.explode\(...\)` of each result of `query_each`")
    (answer,) = numbered.query_each(dql, [{"n": "n1"}])
    assert len(answer.explode("near")) == len(answer.rows()) + 1
