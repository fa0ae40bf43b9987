"""Answers on a graph that is changed all the time are those of plain numpy over the same data.

Tests within the engine compare its access paths with each other. Their common code is compared here
with something that has nothing in common with it. A graph of random values and edges is queried and
changed in rounds, by commits of one line and of many. `HEXGRAPH_PLAIN=NODES,ROUNDS,EACH` makes it
larger, with more rounds and more questions of each shape, and `HEXGRAPH_PLAIN_SEED` another one.
"""

import datetime
import itertools
import os
import random

import numpy as np
import pytest

import hexgraph

NODES, ROUNDS, EACH = map(int, os.environ.get("HEXGRAPH_PLAIN", "8000,4,12").split(","))
SEED = int(os.environ.get("HEXGRAPH_PLAIN_SEED", "1"))

CAPACITY = NODES + NODES // 4
"""The nodes that may have values; commits add more and more of them."""

SCHEMA = """
i: int @index(int) .
j: int .
g: int @index(int) .
f: float .
x: float @index(float) .
s: string @index(exact) .
c: string @index(hash) .
t: string .
b: bool @index(bool) .
d: datetime @index(day) .
e: [uid] @reverse @count .
o: uid .
"""

FRACTIONS = dict(zip("ijgfxsctbd", [1, 0.97, 1, 0.9, 0.8, 0.95, 1, 0.6, 0.5, 0.85], strict=True))
"""The fraction of nodes that have each predicate."""

NUMBERS, RANGED, EQUAL = "ijgfx", "ijgfxsd", "ct"
ROOTS = "igxscbd"
FIRST_DAY = datetime.date(2015, 1, 1)

OPERATORS = {"ge": np.greater_equal, "le": np.less_equal, "gt": np.greater, "lt": np.less}


def literal(predicate, value):
    """Return a value as N-Quads and answers write it."""
    if predicate == "d":
        day = FIRST_DAY + datetime.timedelta(days=int(value))
        return f"{day.isoformat()}T00:00:00Z"
    if predicate == "b":
        return str(bool(value)).lower()
    return repr(float(value)) if predicate in "fx" else str(value)


def quoted(predicate, value):
    text = literal(predicate, value)
    return f'"{text}"' if predicate in "sctd" else text


def uid(position):
    return hex(position + 1)


def value_ranges(rows):
    return [int(row["uid"], 16) - 1 for row in rows]


def are_near(result, expected, scale=1.0):
    """Whether numbers differ by no more than the order in which floats were added to `scale`."""
    return result is not None and abs(float(result) - float(expected)) <= 1e-9 * max(1.0, scale)


class Plain:
    """The data of a graph as arrays and dicts, and the graph."""

    def __init__(self, seed, folder):
        self.dice, self.rng = random.Random(seed), np.random.default_rng(seed)
        self.top = NODES
        self.values = {name: self.draw_some(name, CAPACITY) for name in FRACTIONS}
        self.has = {
            name: self.rng.random(CAPACITY) < fraction for name, fraction in FRACTIONS.items()
        }
        for has in self.has.values():
            has[NODES:] = False
        self.edges = {}
        degrees = self.rng.zipf(1.7, NODES).clip(0, NODES // 8) - 1
        for position, degree in enumerate(degrees.tolist()):
            targets = self.rng.integers(0, NODES, degree).tolist()
            self.edges[position] = {target: self.weight() for target in targets}
        self.hubs = sorted(self.edges, key=lambda position: -len(self.edges[position]))[:40]
        self.one = {position: self.dice.randrange(NODES) for position in range(0, NODES, 3)}
        self.db = hexgraph.connect()
        self.db.alter(SCHEMA)
        file = folder / "plain.rdf"
        file.write_text("\n".join(self.lines()))
        self.db.load(file)
        self.look()

    def draw_some(self, name, count):
        """Return random values, some of them alike."""
        if name == "f":
            return np.round(self.rng.normal(0, 100, count), 3)
        most = {"i": 2_000_000, "j": 100_000, "g": 40, "x": 4000, "d": 3650, "b": 2}
        most |= {"s": 400_000, "c": 60, "t": 3000}
        sampled = self.rng.integers(0, most[name], count)
        if name in "sct":
            return np.array([f"{name}{number:06d}" for number in sampled])
        made = {"i": sampled - 1_000_000, "x": sampled / 4.0, "b": sampled == 1}
        return made.get(name, sampled)

    def weight(self):
        # Sums of eighths are exact in any order.
        return self.dice.randrange(1, 1000) / 8

    def lines(self):
        for name, has in self.has.items():
            for position in np.flatnonzero(has):
                yield self.value_line(position, name)
        for start, targets in self.edges.items():
            for target in targets:
                yield self.edge_line(start, target)
        for start, target in self.one.items():
            yield f"<{uid(start)}> <o> <{uid(target)}> ."

    def value_line(self, position, name):
        return f'<{uid(position)}> <{name}> "{literal(name, self.values[name][position])}" .'

    def edge_line(self, start, target):
        return f"<{uid(start)}> <e> <{uid(target)}> (w={self.edges[start][target]!r}) ."

    def look(self):
        """Make arrays of all edges, after a change."""
        endpoints = [(start, target) for start, targets in self.edges.items() for target in targets]
        self.starts, self.targets = np.array(endpoints, dtype=int).T
        weights = itertools.chain.from_iterable(map(dict.values, self.edges.values()))
        self.weights = np.fromiter(weights, float)
        self.degrees = {
            "e": np.bincount(self.starts, minlength=self.top),
            "~e": np.bincount(self.targets, minlength=self.top),
        }

    def change(self, commits):
        """Change values and edges, delete some, and put in new nodes."""
        for _ in range(commits):
            self.sets, self.deletes, self.touched = [], [], set()
            for _ in range(self.dice.choice([1, 4, 100])):
                kind = self.dice.random()
                if kind < 0.6:
                    name = self.dice.choice(list(FRACTIONS))
                    self.change_value(self.dice.randrange(self.top), name)
                elif kind < 0.9:
                    hub = self.dice.choice(self.hubs)
                    self.change_edge(hub if kind < 0.7 else self.dice.randrange(self.top))
                elif kind < 0.95 and self.top < CAPACITY:
                    self.top += 1
                    for name, fraction in FRACTIONS.items():
                        if self.dice.random() < fraction:
                            self.change_value(self.top - 1, name, may_delete=False)
                else:
                    self.change_one(self.dice.randrange(self.top))
            self.db.mutate(set="\n".join(self.sets), delete="\n".join(self.deletes))
        self.look()

    def is_new(self, *what):
        """Whether a commit has not touched it: it may not set and delete the same."""
        is_new = what not in self.touched
        self.touched.add(what)
        return is_new

    def change_value(self, position, name, may_delete=True):
        if not self.is_new(position, name):
            return
        has = self.has[name]
        if may_delete and has[position] and self.dice.random() < 0.25:
            has[position] = False
            self.deletes.append(f"<{uid(position)}> <{name}> * .")
            return
        has[position], self.values[name][position] = True, self.draw_some(name, 1)[0]
        self.sets.append(self.value_line(position, name))

    def change_edge(self, start):
        targets = self.edges.setdefault(start, {})
        is_deleted = targets and self.dice.random() < 0.4
        target = self.dice.choice(list(targets)) if is_deleted else self.dice.randrange(self.top)
        if not self.is_new(start, "e", target):
            return
        if is_deleted:
            del targets[target]
            self.deletes.append(f"<{uid(start)}> <e> <{uid(target)}> .")
        else:
            targets[target] = self.weight()
            self.sets.append(self.edge_line(start, target))

    def change_one(self, start):
        if not self.is_new(start, "o"):
            return
        if start in self.one and self.dice.random() < 0.3:
            del self.one[start]
            self.deletes.append(f"<{uid(start)}> <o> * .")
        else:
            self.one[start] = self.dice.randrange(self.top)
            self.sets.append(f"<{uid(start)}> <o> <{uid(self.one[start])}> .")

    # Conditions: their text, and the nodes that meet them.

    def condition(self, name):
        values, has = self.values[name][: self.top], self.has[name][: self.top]
        sampled = [values[self.dice.randrange(self.top)] for _ in range(3)]
        kinds = ["eq", "any", "has"] if name != "b" else ["eq", "has"]
        if name in RANGED:
            kinds += [*OPERATORS, "between"]
        kind = self.dice.choice(kinds)
        least, most = (quoted(name, value) for value in sorted(sampled[:2]))
        match kind:
            case "has":
                return f"has({name})", has.copy()
            case "eq":
                return f"eq({name}, {quoted(name, sampled[0])})", has & (values == sampled[0])
            case "any":
                texts = ", ".join(quoted(name, value) for value in sampled)
                return f"eq({name}, [{texts}])", has & np.isin(values, sampled)
            case "between":
                is_between = (min(sampled[:2]) <= values) & (values <= max(sampled[:2]))
                return f"between({name}, {least}, {most})", has & is_between
        text = f"{kind}({name}, {quoted(name, sampled[0])})"
        return text, has & OPERATORS[kind](values, sampled[0])

    def tree(self, depth=0):
        kind = self.dice.random()
        if depth == 2 or kind < 0.4:
            return self.condition(self.dice.choice(list(FRACTIONS)))
        text, nodes = self.tree(depth + 1)
        if kind < 0.55:
            return f"NOT ({text})", ~nodes
        other, others = self.tree(depth + 1)
        if kind < 0.8:
            return f"({text} AND {other})", nodes & others
        return f"({text} OR {other})", nodes | others

    def root(self, *has):
        """Return a root, and the nodes that it and a filter select, which have some predicates."""
        text, nodes = self.condition(self.dice.choice(ROOTS))
        tests = [f"has({name})" for name in has]
        if self.dice.random() < 0.6:
            test, passing = self.tree()
            tests.append(f"({test})")
            nodes = nodes & passing
        for name in has:
            nodes = nodes & self.has[name][: self.top]
        self.filter = f"@filter({' AND '.join(tests)})" if tests else ""
        return text, nodes

    def ordered(self, nodes, keys):
        """Return nodes by keys, each a predicate and whether it descends, and then by uid."""
        ranks = [nodes]
        for name, descends in reversed(keys):
            rank = np.unique(self.values[name][nodes], return_inverse=True)[1]
            ranks.append(-rank if descends else rank)
        return nodes[np.lexsort(ranks)]

    def run_query(self, text):
        return self.db.query(text).to_dict()


# Shapes of questions: each returns texts, what their answers say, and what they should.


def counts(plain):
    root, nodes = plain.root()
    text = f"{{ q(func: {root}) {plain.filter} {{ count(uid) }} }}"
    yield text, plain.run_query(text)["q"][0]["count"], int(nodes.sum())


def pages(plain):
    root, nodes = plain.root()
    nodes = np.flatnonzero(nodes)
    after = int(plain.dice.choice(nodes)) if len(nodes) else 0
    first, offset = plain.dice.choice([1, 10, 100]), plain.dice.choice([0, 5, 1000])
    page = f"first: {first}, offset: {offset}, after: {uid(after)}"
    text = f"{{ q(func: {root}, {page}) {plain.filter} {{ uid }} }}"
    expected = nodes[after < nodes][offset : offset + first]
    yield text, value_ranges(plain.run_query(text)["q"]), expected.tolist()


def orders(plain):
    names = plain.dice.sample(RANGED, plain.dice.choice([1, 1, 2, 3]))
    keys = [(name, plain.dice.random() < 0.5) for name in names]
    root, nodes = plain.root(*names)
    order = ", ".join(f"order{'desc' if descends else 'asc'}: {name}" for name, descends in keys)
    first, offset = plain.dice.choice([1, 10, 50]), plain.dice.choice([0, 3, 500])
    text = (
        f"{{ q(func: {root}, {order}, first: {first}, offset: {offset}) {plain.filter} {{ uid }} }}"
    )
    expected = plain.ordered(np.flatnonzero(nodes), keys)[offset : offset + first]
    yield text, value_ranges(plain.run_query(text)["q"]), expected.tolist()


def aggregates(plain):
    name = plain.dice.choice(NUMBERS)
    root, nodes = plain.root(name)
    of = " ".join(f"{kind}: {kind}(val(v))" for kind in ("min", "max", "sum", "avg"))
    text = f"{{ var(func: {root}) {plain.filter} {{ v as {name} }} q() {{ {of} }} }}"
    values = plain.values[name][: plain.top][nodes]
    result = {key: value for row in plain.run_query(text)["q"] for key, value in row.items()}
    if len(values):
        yield text, *near(result, values)


def near(result, values):
    """Return aggregates of the engine, or the plain ones where these are near, and the plain."""
    of = {"min": values.min(), "max": values.max(), "sum": values.sum(), "avg": values.mean()}
    scale = float(np.abs(values).sum())
    same = {kind: are_near(result.get(kind), value, scale) for kind, value in of.items()}
    return {kind: of[kind] if same[kind] else result.get(kind) for kind in of}, of


def groups(plain):
    keys, name = plain.dice.sample("gct", plain.dice.choice([1, 1, 2])), plain.dice.choice("ijfx")
    root, nodes = plain.root(*keys, name)
    of = " ".join(f"{kind}: {kind}({name})" for kind in ("min", "max", "sum", "avg"))
    body = f"@groupby({', '.join(keys)}) {{ count(uid) {of} }}"
    text = f"{{ q(func: {root}) {plain.filter} {body} }}"
    rows = [group for row in plain.run_query(text).get("q", []) for group in row["@groupby"]]
    members = {}
    for node in np.flatnonzero(nodes).tolist():
        key = tuple(literal(key, plain.values[key][node]) for key in keys)
        members.setdefault(key, []).append(node)
    result = {tuple(str(row[key]) for key in keys): row for row in rows}
    yield text, sorted(result), sorted(members)
    for key in plain.dice.sample(sorted(members), min(len(members), 10)):
        yield f"{text} {key}", result[key]["count"], len(members[key])
        yield f"{text} {key}", *near(result[key], plain.values[name][members[key]])


def maths(plain):
    one, other = plain.dice.sample(NUMBERS, 2)
    root, nodes = plain.root(one, other)
    factor, descends = plain.dice.randrange(1, 9), plain.dice.random() < 0.5
    variables = f"a as {one} b as {other} z as math(a * {factor} + b / 2.0)"
    order = f"order{'desc' if descends else 'asc'}: val(z), first: 7"
    variables = f"var(func: {root}) {plain.filter} {{ {variables} }}"
    text = f"{{ {variables} q(func: uid(z), {order}) {{ uid }} }}"
    nodes = np.flatnonzero(nodes)
    values = (
        plain.values[one][nodes].astype(float) * factor
        + plain.values[other][nodes].astype(float) / 2.0
    )
    expected = nodes[np.lexsort([nodes, -values if descends else values])][:7]
    yield text, value_ranges(plain.run_query(text)["q"]), expected.tolist()


def degrees(plain):
    edges = plain.dice.choice(["e", "~e"])
    of, least = plain.degrees[edges], plain.dice.choice([1, 2, 3, 5, 10, 100])
    operator = plain.dice.choice(["ge", "gt"])
    nodes = np.flatnonzero(OPERATORS[operator](of, least))
    text = f"{{ q(func: {operator}(count({edges}), {least})) {{ count(uid) }} }}"
    yield text, plain.run_query(text)["q"][0]["count"], len(nodes)
    text = f"{{ q(func: {operator}(count({edges}), {least}), first: 10) {{ uid }} }}"
    yield text, value_ranges(plain.run_query(text)["q"]), nodes[:10].tolist()
    variable = f"var(func: has({edges})) {{ n as count({edges}) }}"
    text = f"{{ {variable} q(func: uid(n), orderdesc: val(n), first: 5) {{ uid }} }}"
    nodes = np.flatnonzero(of)
    expected = nodes[np.lexsort([nodes, -of[nodes]])][:5]
    yield text, value_ranges(plain.run_query(text)["q"]), expected.tolist()


def targets_of(plain):
    test, passing = plain.condition(plain.dice.choice(ROOTS))
    root, nodes = plain.condition(plain.dice.choice(ROOTS))
    reaches = np.zeros(plain.top, bool)
    reaches[plain.starts[passing[plain.targets]]] = True
    query = f"q(func: {root}) @filter(uid_in(e, uid(f))) {{ count(uid) }}"
    text = f"{{ f as var(func: {test}) {query} }}"
    yield text, plain.run_query(text)["q"][0]["count"], int((reaches & nodes).sum())
    walked = nodes[plain.starts] & passing[plain.targets]
    endpoints = np.unique(plain.targets[walked])
    variable = f"var(func: {root}) {{ e @filter({test}) {{ f as uid }} }}"
    text = f"{{ {variable} q(func: uid(f)) {{ count(uid) }} }}"
    yield text, plain.run_query(text)["q"][0]["count"], len(endpoints)
    text = f"{{ var(func: {root}) {{ n as count(e @filter({test})) }} q() {{ n: sum(val(n)) }} }}"
    if walked.any():
        yield text, plain.run_query(text)["q"][0]["n"], int(walked.sum())
    name = plain.dice.choice("ijgx")
    endpoints = np.unique(plain.targets[nodes[plain.starts]])
    endpoints = endpoints[plain.has[name][endpoints]]
    text = f"{{ var(func: {root}) {{ e {{ v as {name} }} }} q() {{ sum: sum(val(v)) }} }}"
    if len(endpoints):
        result = plain.run_query(text)["q"][0]
        yield text, *(of["sum"] for of in near(result, plain.values[name][endpoints]))


def nested(plain):
    hub = plain.dice.choice(plain.hubs)
    test, passing = plain.condition(plain.dice.choice(list(FRACTIONS)))
    targets = np.array(sorted(plain.edges[hub]), dtype=int)
    name, descends = plain.dice.choice(RANGED), plain.dice.random() < 0.5
    first, after = plain.dice.choice([1, 5, 20]), plain.dice.choice(targets)
    retained = targets[passing[targets]]
    ordered = plain.ordered(retained[plain.has[name][retained]], [(name, descends)])
    order = f"order{'desc' if descends else 'asc'}: {name}"
    for edges, expected in [
        (f"e(first: {first}) @filter({test})", retained),
        (f"e(first: {first}, after: {uid(after)})", targets[after < targets]),
        (f"e(first: {first}, {order}) @filter({test} AND has({name}))", ordered),
    ]:
        text = f"{{ q(func: uid({uid(hub)})) {{ {edges} {{ uid }} }} }}"
        rows = plain.run_query(text)["q"]
        yield text, value_ranges(rows[0]["e"] if rows else []), expected[:first].tolist()


def grouped_edges(plain):
    root, nodes = plain.condition(plain.dice.choice(ROOTS))
    variable = f"var(func: {root}) @groupby(e) {{ n as count(uid) }}"
    text = f"{{ {variable} q(func: uid(n), orderdesc: val(n), first: 5) {{ uid n: val(n) }} }}"
    counts = np.bincount(plain.targets[nodes[plain.starts]], minlength=plain.top)
    endpoints = np.flatnonzero(counts)
    endpoints = endpoints[np.lexsort([endpoints, -counts[endpoints]])][:5]
    rows = plain.run_query(text)["q"]
    result = list(zip(value_ranges(rows), [row["n"] for row in rows], strict=True))
    yield text, result, list(zip(endpoints.tolist(), counts[endpoints].tolist(), strict=True))


def trees(plain):
    root, nodes = plain.root()
    names = plain.dice.sample(list(FRACTIONS), 3)
    body = f"{{ uid {' '.join(names)} o {{ uid c }} }}"
    text = f"{{ q(func: {root}, first: 30) {plain.filter} {body} }}"
    expected = []
    for position in np.flatnonzero(nodes)[:30].tolist():
        row = {"uid": uid(position)} | plain_row(plain, position, names)
        if (end := plain.one.get(position)) is not None:
            row["o"] = {"uid": uid(end)} | plain_row(plain, end, "c")
        expected.append(row)
    yield text, [written(row) for row in plain.run_query(text)["q"]], expected


def plain_row(plain, position, names):
    held = [name for name in names if plain.has[name][position]]
    return {name: literal(name, plain.values[name][position]) for name in held}


def written(row):
    """Return a row with its values as N-Quads write them."""
    texts = {}
    for name, value in row.items():
        match value:
            case dict():
                texts[name] = written(value)
            case datetime.datetime():
                texts[name] = value.strftime("%Y-%m-%dT%H:%M:%SZ")
            case bool():
                texts[name] = str(value).lower()
            case _:
                texts[name] = repr(float(value)) if name in "fx" else str(value)
    return texts


def paths(plain):
    sparse = pytest.importorskip("scipy.sparse")
    edges = (plain.weights, (plain.starts, plain.targets))
    matrix = sparse.csr_matrix(edges, shape=(plain.top, plain.top))
    start = plain.dice.choice(plain.hubs)
    nearest = sparse.csgraph.dijkstra(matrix, indices=start)
    for end in plain.dice.sample(range(plain.top), 2):
        count = plain.dice.choice([1, 2])
        endpoints = f"from: {uid(start)}, to: {uid(end)}, numpaths: {count}"
        text = f"{{ shortest({endpoints}) {{ e @facets(w) }} }}"
        result = plain.run_query(text).get("_path_", [{"_weight_": np.inf}])[0]["_weight_"]
        if start != end:
            yield text, result, float(nearest[end])


SHAPES = [
    counts,
    pages,
    orders,
    aggregates,
    groups,
    maths,
    degrees,
    targets_of,
    nested,
    grouped_edges,
    trees,
    paths,
]


def test_answers_are_those_of_plain_arrays(tmp_path):
    plain = Plain(SEED, tmp_path)
    for step in range(ROUNDS):
        for shape in SHAPES:
            for _ in range(EACH):
                for text, result, expected in shape(plain):
                    assert result == expected, f"round {step} of {SEED}: {text}"
        plain.change([1, 30, 300][step % 3])
