"""Random expressions in Cypher have the values that an evaluator in plain Python gives.

Expressions of operators, functions, CASE, comprehensions and quantifiers are computed for rows of
random values, nulls among them: as columns, conditions, keys of order, of DISTINCT and of groups,
and in aggregates. Rows are a parameter, or matches of a pattern. A row for which the evaluator has
no value, such as an overflow, is an error.

`HEXGRAPH_EXPRESSIONS=100000` computes more of them, `HEXGRAPH_EXPRESSIONS_SEED` others.
"""

import collections
import itertools
import json
import math
import os
import random

import pytest
from cypher_expressions import NAMES, STORED, Maker, literal, outcome, same
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


class Listed:
    """Rows of a parameter."""

    names, variables, has_order, nodes = NAMES, ["row"], True, []

    def __init__(self, dice):
        count = dice.choice([0, 1, ROWS, ROWS, ROWS])
        self.db = hexgraph.connect()
        self.rows = [{"row": {**Maker(dice).row(), "id": number}} for number in range(count)]

    def source(self, rows):
        return "UNWIND $rows AS row", {"rows": [row["row"] for row in rows]}


def stored(value):
    """Return a value that a graph can store."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Stored:
    """Matches of a pattern, which aggregates count without listing them.

    The pattern is a walk: names of nodes, and between two of them a direction.
    """

    names, has_order = STORED, False

    WALKS = (
        [["row"]] * 2
        + [["row", direction, "other"] for direction in "<>-"]
        + [["row", ">", ""], ["row", "-", ""], ["row", ">", "", "-", ""]]
        + [["row", ">", "", ">", "other"], ["row", ">", "other", "<", ""]]
        + [["row", "-", "other", "-", "", "-", "row"], ["row", ">", "other", ">", "row"]]
    )

    def __init__(self, dice):
        self.db = hexgraph.connect()
        self.walk = dice.choice(self.WALKS)
        self.is_optional = len(self.walk) > 1 and dice.random() < 0.3
        self.variables = [name for name in ("row", "other") if name in self.walk]
        self.nodes = []
        for number in range(1, 2 * ROWS):
            row = Maker(dice, STORED).row()
            self.nodes.append({**{name: stored(it) for name, it in row.items()}, "id": number})
        ids = [node["id"] for node in self.nodes]
        self.edges = {(dice.choice(ids), dice.choice(ids)) for _ in range(3 * ROWS)}
        self.db.alter(self.schema(dice))
        self.db.mutate(set="\n".join(self.lines()))
        self.rows = [row for node in self.nodes for row in self.matches(node)]

    def schema(self, dice):
        index = dice.choice(["", "@index({})"])
        of = {"i": "int", "k": "int", "f": "float", "s": "string", "b": "bool"}
        by = {"string": "exact"}
        lines = [
            f"{name}: {of[kind]} {index.format(by.get(of[kind], of[kind]))} ."
            for kind, names in STORED.items()
            for name in names
        ]
        return "\n".join([*lines, "id: int .", f"e: [uid] {dice.choice(['', '@reverse'])} ."])

    def lines(self):
        for node in self.nodes:
            for name, value in node.items():
                if value is not None:
                    text = json.dumps(value, ensure_ascii=False)
                    text = text if isinstance(value, str) else f'"{text}"'
                    yield f"<{node['id']:#x}> <{name}> {text} ."
        yield from (f"<{one:#x}> <e> <{other:#x}> ." for one, other in self.edges)

    def matches(self, node):
        """Return the matches of the walk that begin at a node, each with its variables."""
        walks = [([node["id"]], [])]
        for direction in self.walk[1::2]:
            walks = [
                ([*ids, target], [*used, edge])
                for ids, used in walks
                for edge, target in self.steps(ids[-1], direction)
                if edge not in used
            ]
        found = []
        for ids, _ in walks:
            pairs = list(zip(self.walk[::2], ids, strict=True))
            if all(dict(pairs)[name] == id_ for name, id_ in pairs if name):
                found.append({name: self.nodes[id_ - 1] for name, id_ in pairs if name})
        none = {name: {} for name in self.variables}
        return found or ([{**none, "row": node}] if self.is_optional else [])

    def steps(self, node, direction):
        """Return the edges in a direction from a node, each with its other node."""
        steps = [(edge, edge[1]) for edge in self.edges if edge[0] == node and direction != "<"]
        steps += [(edge, edge[0]) for edge in self.edges if edge[1] == node and direction != ">"]
        # A loop is one match.
        return list(dict.fromkeys(steps))

    def source(self, rows):
        arrows = {">": "-[:e]->", "<": "<-[:e]-", "-": "-[:e]-"}
        text = "".join(arrows.get(it, f"({it})") for it in self.walk)
        text = f"MATCH (row) OPTIONAL MATCH {text}" if self.is_optional else f"MATCH {text}"
        if len(rows) == len(self.rows):
            return text, {}
        ids = ", ".join(f"coalesce({name}.id, 0)" for name in self.variables)
        listed = [[row[name].get("id", 0) for name in self.variables] for row in rows]
        text += f" WITH {', '.join(self.variables)} WHERE [{ids}] IN $ids"
        return f"{text} WITH {', '.join(self.variables)}", {"ids": listed}


class Case:
    """A random query over random rows, with the rows for which all its expressions have a value."""

    def __init__(self, source, seed):
        self.source, self.seed, self.dice = source, seed, random.Random(seed)
        self.maker = Maker(self.dice, source.names, source.variables)
        self.rows, self.faulty = source.rows, []

    def make(self, kinds):
        """Return an expression, and drop the rows for which it has no value."""
        made = self.maker.make(self.dice.choice(kinds), self.dice.choice([1, 2, 3, 4]))
        outcomes = [outcome(made, row) for row in self.rows]
        pairs = list(zip(self.rows, outcomes, strict=True))
        self.faulty = [row for row, it in pairs if isinstance(it, Fault)]
        self.rows = [row for row, it in pairs if not isinstance(it, Exception)]
        return made

    def run(self, text, rows=None):
        before, parameters = self.source.source(rows or self.rows)
        self.text = f"{before} {text}"
        return self.source.db.cypher(self.text, {**self.maker.parameters, **parameters}).rows()

    def run_listed(self, text, expression, rows):
        """Compare the values of the last column, in the order of rows if they have one."""
        expected = [expression.run(row) for row in rows]
        result = [row[0] for row in self.run(text)]
        if self.source.has_order:
            is_right = len(result) == len(expected) and all(map(same, result, expected))
        else:
            is_right = are_same(result, expected)
        self.check(is_right, result, expected)

    def check(self, is_right, result, expected):
        if not is_right:
            rows = [
                {f"{of}.{name}": it for of in row for name, it in row[of].items()}
                for row in self.rows
            ]
            rows = [{name: it for name, it in row.items() if name in self.text} for row in rows]
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
    case.run_listed(f"RETURN {made.text} AS r", made, case.rows)
    for row in case.faulty[:1]:
        with pytest.raises(hexgraph.QueryError):
            case.check(False, case.run(f"RETURN {made.text} AS r", [row]), "an error")


def has_values_early(source, condition):
    """Whether a condition has a value before hops: WHERE is evaluated for nodes without them."""
    if source.has_order or source.is_optional:
        return False
    combinations = itertools.product(source.nodes, repeat=len(source.variables))
    rows = (dict(zip(source.variables, nodes, strict=True)) for nodes in combinations)
    return not any(isinstance(outcome(condition, row), Exception) for row in rows)


def conditions(case):
    made, shown = case.make("b"), case.make("isx")
    passing = [row for row in case.rows if made.run(row)]
    variables = ", ".join(case.source.variables)
    is_short = len(case.rows) == len(case.source.rows) and has_values_early(case.source, made)
    text = f"WHERE {made.text}" if is_short else f"WITH {variables} WHERE {made.text}"
    case.run_listed(f"{text} RETURN {shown.text} AS v", shown, passing)


def orders(case):
    keys = [(case.make("iffsbLXxx"), case.dice.random() < 0.5) for _ in range(2)]
    expected = sorted(case.rows, key=lambda row: row["row"]["id"])
    for key, descends in reversed(keys):
        expected.sort(key=lambda row: SORTED(key.run(row)), reverse=descends)
    skip, limit = case.dice.choice([0, 0, 1]), case.dice.choice([1, 3, ROWS])
    expected = [row["row"]["id"] for row in expected][skip : skip + limit]
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
    expected = distinct([made.run(row) for row in case.rows])
    result = [row[0] for row in case.run(f"RETURN DISTINCT {made.text} AS v")]
    counts = (collections.Counter(map(identity, listed)) for listed in (result, expected))
    case.check(len(set(map(frozenset, (it.items() for it in counts)))) == 1, result, expected)


def are_same(result, expected):
    """Whether values in any order are the same."""
    both = [sorted(listed, key=lambda it: (SORTED(it), repr(it))) for listed in (result, expected)]
    return len(result) == len(expected) and all(map(same, *both))


def near(name, result, expected, arguments):
    """Whether an aggregate is the expected one, for the values of its argument."""
    if name in ("min", "max", "percentileDisc"):
        # One of several values that are equal.
        return identity(result) == identity(expected)
    if name == "collect":
        return are_same(result, expected)
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
        group = identity(key.run(row)) if key else None
        members[group].append(argument.run(row))
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
@pytest.mark.parametrize("kind", [Listed, Stored])
def test_random_expressions_have_the_values_of_plain_python(kind, shape):
    counts = collections.Counter()
    for seed in range(SEED, SEED + COUNT // 10):
        if not (seed - SEED) % 10:
            source = kind(random.Random(seed))
        case = Case(source, seed)
        shape(case)
        counts["rows"] += len(case.rows)
        counts["faults"] += len(case.faulty)
    print(kind.__name__, shape.__name__, dict(counts))
