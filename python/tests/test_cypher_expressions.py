"""Random expressions in Cypher have the values that an evaluator in plain Python gives.

Expressions of operators, functions, CASE, comprehensions and quantifiers are computed for rows of
random values, nulls among them: as columns, conditions, keys of order, of DISTINCT and of groups,
and in aggregates. A row for which the evaluator has no value, such as an overflow, is an error.

`HEXGRAPH_EXPRESSIONS=100000` computes more of them, `HEXGRAPH_EXPRESSIONS_SEED` others.
"""

import collections
import os
import random

import pytest
from cypher_expressions import Maker, literal, outcome, same
from cypher_values import (
    AGGREGATES,
    SORTED,
    Fault,
    Unsure,
    aggregated,
    distinct,
    identity,
)

import hexgraph

COUNT = int(os.environ.get("HEXGRAPH_EXPRESSIONS", "1200"))
SEED = int(os.environ.get("HEXGRAPH_EXPRESSIONS_SEED", "1"))
ROWS = 8


class Case:
    """A random query over random rows, with the rows for which all its expressions have a value."""

    def __init__(self, db, seed):
        self.db, self.seed, self.dice = db, seed, random.Random(seed)
        self.maker = Maker(self.dice)
        count = self.dice.choice([0, 1, ROWS, ROWS, ROWS])
        self.rows = [{**self.maker.row(), "id": number} for number in range(count)]
        self.faulty = []

    def make(self, kinds):
        """Return an expression, and drop the rows for which it has no value."""
        made = self.maker.make(self.dice.choice(kinds), self.dice.choice([1, 2, 3, 4]))
        outcomes = [outcome(made, {"row": row}) for row in self.rows]
        pairs = list(zip(self.rows, outcomes, strict=True))
        self.faulty = [row for row, it in pairs if isinstance(it, Fault)]
        self.rows = [row for row, it in pairs if not isinstance(it, Exception)]
        return made

    def values(self, expression, rows=None):
        return [expression.run({"row": row}) for row in (self.rows if rows is None else rows)]

    def run(self, text, rows=None):
        self.text = f"UNWIND $rows AS row {text}"
        rows = self.rows if rows is None else rows
        return self.db.cypher(self.text, {**self.maker.parameters, "rows": rows}).rows()

    def check(self, is_right, result, expected):
        if not is_right:
            rows = [
                {name: value for name, value in row.items() if f"row.{name}" in self.text}
                for row in self.rows
            ]
            texts = [
                ", ".join(f"{name}: {literal(it)}" for name, it in row.items()) for row in rows
            ]
            listed = ",\n ".join(f"{{{text}}}" for text in texts)
            query = self.text.replace("$rows", f"\n[{listed}]\n", 1)
            pytest.fail(
                f"seed {self.seed}: {query}\nparameters {self.maker.parameters}\n"
                f"result   {result}\nexpected {expected}"
            )


def values(case):
    made = case.make("iffsbbbLSXx")
    expected = case.values(made)
    result = [row[0] for row in case.run(f"RETURN {made.text} AS r")]
    is_right = len(result) == len(expected) and all(map(same, result, expected))
    case.check(is_right, result, expected)
    for row in case.faulty[:1]:
        with pytest.raises(hexgraph.QueryError):
            case.check(False, case.run(f"RETURN {made.text} AS r", [row]), "an error")


def conditions(case):
    made, shown = case.make("b"), case.make("isx")
    passing = [row for row, value in zip(case.rows, case.values(made), strict=True) if value]
    expected = case.values(shown, passing)
    text = f"WITH row WHERE {made.text} WITH {shown.text} AS v RETURN v"
    result = [row[0] for row in case.run(text)]
    is_right = len(result) == len(expected) and all(map(same, result, expected))
    case.check(is_right, result, expected)


def orders(case):
    keys = [(case.make("iffsbLXxx"), case.dice.random() < 0.5) for _ in range(2)]
    expected = list(case.rows)
    for key, descends in reversed(keys):
        expected.sort(key=lambda row: SORTED(key.run({"row": row})), reverse=descends)
    skip, limit = case.dice.choice([0, 0, 1]), case.dice.choice([1, 3, ROWS])
    expected = [row["id"] for row in expected][skip : skip + limit]
    order = ", ".join(f"{key.text}{' DESC' if descends else ''}" for key, descends in keys)
    page = f"{f'SKIP {skip} ' if skip else ''}LIMIT {limit}"
    text = case.dice.choice(
        [
            f"RETURN row.id AS id ORDER BY {order}, id {page}",
            f"WITH row ORDER BY {order}, row.id {page} RETURN row.id",
        ]
    )
    result = [row[0] for row in case.run(text)]
    case.check(result == expected, result, expected)


def distinct_values(case):
    made = case.make("kxxXLfb")
    expected = [identity(value) for value in distinct(case.values(made))]
    result = [identity(row[0]) for row in case.run(f"RETURN DISTINCT {made.text} AS v")]
    case.check(collections.Counter(result) == collections.Counter(expected), result, expected)


def near(name, result, expected, arguments):
    """Whether an aggregate is the expected one, for the values of its argument."""
    if name in ("min", "max", "percentileDisc"):
        # One of several values that are equal.
        return identity(result) == identity(expected)
    if not isinstance(expected, float) or not isinstance(result, float):
        return same(result, expected)
    scale = sum(abs(float(value)) for value in arguments if value is not None)
    return abs(result - expected) <= 1e-9 * max(scale, 1e-300)


def groups(case):
    key = case.make("kbxxX") if case.dice.random() < 0.7 else None
    name = case.dice.choice(list(AGGREGATES))
    argument = case.make("nnfik" if AGGREGATES[name][1] == "n" else "nsxXb")
    part = [case.dice.choice([0.0, 0.25, 0.5, 0.9, 1.0])] if name.startswith("perc") else []
    is_distinct = case.dice.random() < 0.25
    members = collections.defaultdict(list)
    if not key:
        members[None] = []
    for row in case.rows:
        group = identity(key.run({"row": row})) if key else None
        members[group].append(argument.run({"row": row}))
    inside = f"{'DISTINCT ' if is_distinct else ''}{argument.text}"
    inside += "".join(f", {it}" for it in part)
    columns = [f"{key.text} AS k"] if key else []
    text = f"RETURN {', '.join([*columns, f'{name}({inside}) AS a', 'count(*) AS n'])}"
    try:
        expected = {
            group: (aggregated(name, listed, is_distinct, *part), len(listed))
            for group, listed in members.items()
        }
    except Unsure:
        return
    except Fault:
        with pytest.raises(hexgraph.QueryError):
            case.check(False, case.run(text), "an error")
        return
    rows = case.run(text)
    result = {identity(row[0]) if key else None: row[-2:] for row in rows}
    is_right = len(result) == len(rows) and result.keys() == expected.keys()
    is_right = is_right and all(
        result[group][1] == expected[group][1]
        and near(name, result[group][0], expected[group][0], members[group])
        for group in expected
    )
    case.check(is_right, result, expected)


@pytest.mark.parametrize("shape", [values, conditions, orders, distinct_values, groups])
def test_random_expressions_have_the_values_of_plain_python(shape):
    counts = collections.Counter()
    with hexgraph.connect() as db:
        for seed in range(SEED, SEED + COUNT // 5):
            case = Case(db, seed)
            shape(case)
            counts["rows"] += len(case.rows)
            counts["faults"] += len(case.faulty)
    print(shape.__name__, dict(counts))
    # Most rows have a value.
    assert COUNT < 5 * 50 or counts["rows"] > 2 * (COUNT // 5)
