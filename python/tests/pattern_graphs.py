"""Random graphs and random queries in Cypher, for hexgraph and for Ladybug.

A query is one text. Where the two differ it has «hexgraph's part¦Ladybug's part». ‹Names› of
relationships are for Ladybug, and ⟨names⟩ of paths for hexgraph where it has to match row by row.
"""

import collections
import copy
import json
import re

import hexgraph

LABELS, TYPES = "ABC", "klm"
CHOICES = ["k", "k", "k", "l", "l", "m", "k|l"]
"""The types of a hop."""
SPREAD = {"A": "A", "B": "B", "C": "C", "AB": "A:B", "BC": "B:C"}
"""The labels, and the tables of Ladybug that hold their nodes."""

NUMBERS, STRINGS = "ijf", "st"
COLUMNS = {"i": "INT64", "j": "INT64", "f": "DOUBLE", "s": "STRING", "t": "STRING", "b": "BOOLEAN"}
WORDS = ["", "a", "b", "ab", "ba", "abc", "é"]


def texts(query):
    """Return the texts of a query for hexgraph and for Ladybug."""
    ours, theirs = (re.sub("«([^¦»]*)¦([^»]*)»", rf"\{number}", query) for number in (1, 2))
    theirs = re.sub("[‹›]|⟨[^⟩]*⟩", "", theirs)
    return re.sub("‹[^›]*›|⟨[^⟩]*⟩", "", ours), theirs


def text_by_rows(query):
    """Return the text for hexgraph with names of paths: it matches row by row."""
    text = re.sub("«([^¦»]*)¦[^»]*»", r"\1", query)
    return re.sub("‹[^›]*›|[⟨⟩]", "", text)


class Graph:
    """Nodes with labels and properties, edges with a property, and the changes of both."""

    def __init__(self, dice, size, degree, has_loops):
        self.dice, self.has_loops = dice, has_loops
        self.nodes, self.edges = {}, {}
        for key in range(1, size + 1):
            self.nodes[key] = self.node()
        for _ in range(int(size * degree)):
            self.edges.setdefault(self.edge(), self.weight())

    def node(self):
        label = self.dice.choice("AAABBC")
        return label, {name: self.value(name) for name in COLUMNS if self.dice.random() < 0.8}

    def value(self, name):
        match COLUMNS[name]:
            case "INT64":
                return self.dice.randrange(-2, 6)
            case "DOUBLE":
                return self.dice.randrange(-8, 24) / 4
            case "STRING":
                return self.dice.choice(WORDS)
        return self.dice.random() < 0.5

    def weight(self):
        return self.dice.choice([None, None, *range(5)])

    def edge(self):
        # Some nodes have many edges.
        keys = list(self.nodes)
        start = keys[int(len(keys) * self.dice.random() ** 2)]
        end = self.dice.choice([key for key in keys if self.has_loops or key != start])
        return self.dice.choice("kkklm"), start, end

    def node_lines(self, key):
        label, values = self.nodes[key]
        labels = [name for name, of in SPREAD.items() if label in of]
        yield from (f'<{key:#x}> <dgraph.type> "{name}" .' for name in labels)
        yield f'<{key:#x}> <key> "{key}" .'
        yield from (self.value_line(key, name, value) for name, value in values.items())

    def value_line(self, key, name, value):
        text = value if isinstance(value, str) else json.dumps(value)
        return f'<{key:#x}> <{name}> "{text}" .'

    def edge_line(self, edge):
        name, start, end = edge
        weight = self.edges[edge]
        return f"<{start:#x}> <{name}> <{end:#x}>{'' if weight is None else f' (w={weight})'} ."

    def lines(self):
        for key in self.nodes:
            yield from self.node_lines(key)
        yield from map(self.edge_line, self.edges)

    def smaller(self):
        """Yield graphs without a node, an edge or a value of this one."""
        for key in self.nodes:
            graph = self.copy()
            del graph.nodes[key]
            graph.edges = {edge: w for edge, w in self.edges.items() if key not in edge[1:]}
            yield graph
        for edge in self.edges:
            graph = self.copy()
            del graph.edges[edge]
            yield graph
        for key, (_, values) in self.nodes.items():
            for name in values:
                graph = self.copy()
                del graph.nodes[key][1][name]
                yield graph

    def reduced(self, fails):
        """Return a smaller graph that fails, too, or None if the graph itself does not."""
        if not fails(self):
            return None
        smaller = next(filter(fails, self.smaller()), None)
        return smaller.reduced(fails) if smaller else self

    def copy(self):
        result = copy.copy(self)
        result.nodes = {key: (label, dict(values)) for key, (label, values) in self.nodes.items()}
        result.edges = dict(self.edges)
        return result

    def __str__(self):
        return "\n".join([self.schema(), *self.lines()])

    def schema(self):
        """Return a schema; access paths differ with indexes and lists of reverse edges."""
        some = lambda text: text if self.dice.random() < 0.5 else ""  # noqa: E731
        edges = [f"{name}: [uid] {some('@reverse')} ." for name in TYPES]
        labels = [f"type {name} {{\n key\n}}" for name in SPREAD]
        values = f"""
        key: int {some("@index(int)")} .
        i: int {some("@index(int)")} .
        j: int .
        f: float {some("@index(float)")} .
        s: string {some("@index(exact)")} .
        t: string {some("@index(hash)")} .
        b: bool .
        """
        return "\n".join([values, *edges, *labels])

    def change(self):
        """Change the graph; return the lines that set and that delete the same in hexgraph."""
        sets, deletes, touched = [], [], set()
        for _ in range(self.dice.choice([1, 3, 12])):
            kind, key = self.dice.random(), self.dice.choice(list(self.nodes))
            if key in touched:
                continue
            touched.add(key)
            if kind < 0.4:
                self.change_value(key, sets, deletes)
            elif kind < 0.85:
                edge = self.edge()
                if touched & {edge[1], edge[2]} and edge[2] != key:
                    continue
                touched |= {edge[1], edge[2]}
                if edge in self.edges and self.dice.random() < 0.7:
                    deletes.append(f"<{edge[1]:#x}> <{edge[0]}> <{edge[2]:#x}> .")
                    del self.edges[edge]
                else:
                    self.edges[edge] = self.weight()
                    sets.append(self.edge_line(edge))
            elif kind < 0.95:
                key = max(self.nodes) + 1
                touched.add(key)
                self.nodes[key] = self.node()
                sets.extend(self.node_lines(key))
            elif len(self.nodes) > 3:
                edges = [edge for edge in self.edges if key in edge[1:]]
                if touched & {other for edge in edges for other in edge[1:]} - {key}:
                    continue
                deletes.extend(self.node_lines(key))
                deletes.extend(f"<{a:#x}> <{name}> <{b:#x}> ." for name, a, b in edges)
                for edge in edges:
                    del self.edges[edge]
                del self.nodes[key]
        return "\n".join(sets), "\n".join(deletes)

    def change_value(self, key, sets, deletes):
        name, values = self.dice.choice(list(COLUMNS)), self.nodes[key][1]
        if name in values and self.dice.random() < 0.3:
            del values[name]
            deletes.append(f"<{key:#x}> <{name}> * .")
        else:
            values[name] = self.value(name)
            sets.append(self.value_line(key, name, values[name]))


def of_hexgraph(graph):
    db = hexgraph.connect()
    db.alter(graph.schema())
    db.mutate(set="\n".join(graph.lines()))
    return db


def plain(value):
    """Return a value with its type, floats up to the order of their sum."""
    return (type(value).__name__, round(value, 9) if isinstance(value, float) else value)


def rows_of(rows, is_ordered):
    listed = [tuple(map(plain, row)) for row in rows]
    return listed if is_ordered else collections.Counter(listed)


class Query:
    """A random query. `text` is for both, `is_ordered` whether the order of rows is defined.

    One that is free has all that hexgraph has, whatever Ladybug makes of it.
    """

    def __init__(self, dice, has_loops, is_large=False, is_free=False):
        self.dice, self.has_loops, self.is_large = dice, has_loops, is_large
        self.is_free, self.counter, self.edges = is_free, 0, []
        self.has_counts, self.has_distinct, self.retains_equals = True, False, False
        self.nodes, self.scalars, self.is_ordered = [], {}, False
        if dice.random() < 0.12 and not is_large:
            self.text = self.paths()
        elif dice.random() < 0.1:
            self.text = self.united()
        else:
            self.text = self.single()

    def chance(self, probability):
        return self.dice.random() < probability

    def new(self, prefix):
        self.counter += 1
        return f"{prefix}{self.counter}"

    # Patterns

    def node(self, name, is_bare):
        """Return a node of a pattern, perhaps with a label and a property."""
        label = prop = ""
        if not is_bare and self.chance(0.25):
            label = self.label()
        if not is_bare and self.chance(0.07):
            prop = f" {{i: {self.dice.randrange(-1, 5)}}}"
        elif not is_bare and self.chance(0.05):
            prop = f" {{key: {self.dice.randrange(1, 12)}}}"
        return f"({name}{label}{prop})"

    def label(self):
        name = self.dice.choice(list(SPREAD))
        if len(name) == 1:
            return f":{name}"
        ours = self.dice.choice([name, "|".join(name)])
        return f"«:{ours}¦:{SPREAD[name]}»"

    def pattern(self, scope, hops, is_optional=False, is_subquery=False):
        """Return the paths of a pattern, its new nodes, and what Ladybug has to test besides."""
        paths, local, relationships = [], list(scope), []
        # Ladybug loses and adds rows of several optional paths, and loses some of optional walks.
        # In subqueries it adds rows of several paths, too.
        is_single = (is_optional or is_subquery) and not self.is_free
        self.has_walks = not is_optional or self.is_free
        for number in range(1 if is_single else self.dice.choice([1, 1, 1, 2])):
            is_joined = number > 0 or (scope and self.chance(0.9))
            name, is_old = self.variable(local, 1.0 if is_joined else 0.0)
            length = self.dice.randrange(1 if is_old else 0, hops + 1)
            if not is_old:
                local.append(name)
            path = self.node(name, is_old)
            for _ in range(length):
                is_loop = self.has_loops and self.chance(0.1)
                # Of optional paths between nodes of clauses before it Ladybug loses rows, too.
                outer = scope if is_optional and is_single else ()
                others = [it for it in local if (it != name or is_loop) and it not in outer]
                name, is_old = self.variable(others, 0.3)
                if not is_old:
                    local.append(name)
                path += self.hop(relationships) + self.node(name, is_old)
            paths.append(f"⟨{self.new('p')} = ⟩{path}")
        differ = [
            f"id({one}) <> id({other})"
            for at, (one, of) in enumerate(relationships)
            for other, others in relationships[:at]
            if one and other and set(of.split("|")) & set(others.split("|"))
        ]
        self.dice.shuffle(paths)
        return paths, [name for name in local if name not in scope], differ

    def variable(self, among, joins):
        if among and self.chance(joins):
            return self.dice.choice(among), True
        return self.new("n"), False

    def hop(self, relationships):
        walked = {name for one, of in relationships if not one for name in of.split("|")}
        types = self.dice.choice([it for it in CHOICES if not walked & set(it.split("|"))])
        used = {name for _, of in relationships for name in of.split("|")}
        is_alone = not walked and not used & set(types.split("|"))
        if is_alone and self.has_walks and self.chance(0.12):
            least, most = self.dice.choice([(1, 2), (1, 3), (2, 2), (2, 3), (0, 2)])
            relationships.append(("", types))
            return self.arrow(f":{types}*«¦ TRAIL »{least}..{most}")
        name = self.new("r")
        relationships.append((name, types))
        if self.edges is not None and self.chance(0.1):
            self.edges.append(name)
            return self.arrow(f"{name}:{types}")
        return self.arrow(f"‹{name}›:{types}")

    def arrow(self, inside):
        arrows = ["-[{}]->", "<-[{}]-", "-[{}]-"]
        if self.has_loops and not self.is_free:
            arrows.pop()
        return self.dice.choice(arrows).format(inside)

    def match(self, is_optional=False, hops=3):
        scope = self.nodes
        paths, new, differ = self.pattern(scope, 2 if is_optional else hops, is_optional)
        local = scope + new
        condition = ""
        if self.chance(0.6):
            condition = self.inner(scope, new) if is_optional else self.condition(local)
        self.nodes = local
        if is_optional:
            return f"OPTIONAL MATCH {', '.join(paths)}{self.where(condition, differ)}"
        # Ladybug makes one pattern of several paths and of MATCH after MATCH. There it loses rows,
        # and compares wrong relationships, where a node has a condition; WITH is between them.
        # It loses rows of a later MATCH where the scan of a relationship has a condition, too, and
        # of a path of three hops where a node in it has one.
        is_long = not self.is_free and any(path.count("]") >= 3 for path in paths)
        if is_long:
            paths = [re.sub(r" ?\{[^}]*\}", "", path) for path in paths]
        text = "« ¦ WITH * »MATCH " if scope else "MATCH "
        text += "«, ¦ WITH * MATCH »".join(paths)
        text += "« ¦ WITH *»" if is_long or re.search(r"\br\d+\.w", condition) else ""
        text += self.where(condition, [])
        return text + (f"« ¦ WITH * WHERE {' AND '.join(differ)}»" if differ else "")

    def where(self, condition, differ):
        tests = " AND ".join(differ)
        if condition and tests:
            return f" WHERE ({condition})« ¦ AND {tests}»"
        return f" WHERE {condition}" if condition else f"« ¦ WHERE {tests}»" if tests else ""

    # Conditions

    def number(self, nodes, depth=0):
        kind = self.dice.random()
        scalars = [name for name, kind in self.scalars.items() if kind == "number"]
        if scalars and kind < 0.3:
            return self.dice.choice(scalars)
        if self.edges and kind < 0.5 and set(nodes) >= set(self.nodes):
            return f"{self.dice.choice(self.edges)}.w"
        if kind < 0.75 and nodes:
            return f"{self.dice.choice(nodes)}.{self.dice.choice(NUMBERS)}"
        if kind < 0.85 and depth < 1 and nodes:
            operator = self.dice.choice("+-*")
            return f"({self.number(nodes, 1)} {operator} {self.number(nodes, 1)})"
        return self.dice.choice(["0", "1", "2", "3", "1.5", "-1"])

    def string(self, nodes, is_property=False):
        if is_property or self.chance(0.6):
            return f"{self.dice.choice(nodes)}.{self.dice.choice(STRINGS)}"
        return repr(self.dice.choice(WORDS))

    def inner(self, outer, new, depth=0):
        """Return a condition of OPTIONAL MATCH or of a subquery.

        Ladybug joins by the outer properties of it, and has no match where one is null. So these
        are only in tests that null does not pass, and values of WITH in none.
        """
        if self.is_free:
            return self.condition(outer + new, depth)
        scalars, self.scalars = self.scalars, {}
        if new and self.chance(0.4):
            text = self.condition(new, depth)
        else:
            count = self.dice.choice([1, 1, 2])
            text = " AND ".join(self.comparison(outer + new) for _ in range(count))
        self.scalars = scalars
        return text

    def comparison(self, nodes, _=0):
        operator = self.dice.choice(["<", "<=", ">", ">=", "=", "<>"])
        if len(nodes) > 1 and self.chance(0.3):
            one, other = self.dice.sample(nodes, 2)
            return f"{one}.key {operator} {other}.key"
        if self.chance(0.3):
            return f"{self.string(nodes, True)} {operator} {self.string(nodes)}"
        return f"{self.number(nodes)} {operator} {self.number(nodes)}"

    def condition(self, nodes, depth=0):
        if depth < 2 and self.chance(0.3):
            one, other = self.condition(nodes, depth + 1), self.condition(nodes, depth + 1)
            operator = self.dice.choice(["AND", "AND", "OR", "OR", "XOR"])
            return f"({one} {operator} {other})"
        if depth < 2 and self.chance(0.12):
            return f"NOT ({self.condition(nodes, depth + 1)})"
        kinds = [self.comparison] * 3
        kinds += [self.null_test, self.listed, self.flag, self.search, self.labelled]
        if len(nodes) > 1:
            kinds += [self.comparison, self.same]
        if depth < 2:
            kinds += [self.existing, self.existing, self.hopping]
            kinds += [self.counting] * self.has_counts
        return self.dice.choice(kinds)(nodes, depth)

    def null_test(self, nodes, _):
        value = f"{self.dice.choice(nodes)}.{self.dice.choice(list(COLUMNS))}"
        return f"{value} IS {self.dice.choice(['', 'NOT '])}NULL"

    def listed(self, nodes, _):
        values = self.dice.sample(range(-2, 6), self.dice.choice([1, 3]))
        return f"{self.dice.choice(nodes)}.{self.dice.choice('ij')} IN {values}"

    def flag(self, nodes, _):
        return f"{self.dice.choice(nodes)}.b = {self.dice.choice(['true', 'false'])}"

    def search(self, nodes, _):
        node = self.dice.choice(nodes)
        operator = self.dice.choice(["CONTAINS", "STARTS WITH", "ENDS WITH"])
        if operator == "CONTAINS":
            # No text contains the empty one in Ladybug.
            return f"{node}.s CONTAINS {self.dice.choice(WORDS[1:])!r}"
        return f"{node}.s {operator} {self.string(nodes)}"

    def labelled(self, nodes, _):
        node, label = self.dice.choice(nodes), self.dice.choice(LABELS)
        return f"«{node}:{label}¦label({node}) = '{label}'»"

    def same(self, nodes, _):
        one, other = self.dice.sample(nodes, 2)
        operator = self.dice.choice(["<>", "<>", "<>", "="])
        return f"«{one} {operator} {other}¦id({one}) {operator} id({other})»"

    def hopping(self, nodes, _):
        hop = self.arrow(f":{self.dice.choice(CHOICES)}")
        other = self.dice.choice([*nodes, ""])
        return f"{self.dice.choice(['', 'NOT '])}({self.dice.choice(nodes)}){hop}({other})"

    def counting(self, nodes, depth):
        operator = self.dice.choice(["<", ">", "=", ">="])
        return f"{self.subquery('COUNT', nodes, depth)} {operator} {self.dice.randrange(3)}"

    def existing(self, nodes, depth):
        return f"{self.dice.choice(['', 'NOT '])}{self.subquery('EXISTS', nodes, depth)}"

    def subquery(self, word, nodes, depth):
        edges, self.edges = self.edges, None
        paths, new, differ = self.pattern(nodes, 2, is_subquery=True)
        self.edges = edges
        if word == "COUNT" and not self.is_free:
            # Ladybug counts 1 without a match where the condition reads an outer node that is not
            # of the path.
            nodes = [name for name in nodes if re.search(rf"\({name}\b", paths[0])]
        condition = self.inner(nodes, new, depth + 1) if self.chance(0.4) else ""
        return f"{word} {{ MATCH {', '.join(paths)}{self.where(condition, differ)} }}"

    # Clauses

    def body(self):
        """Return the clauses before RETURN."""
        hops = 3 if not self.is_large else 2
        optional = self.dice.choice([0, 0, 0, 1, 1, 2])
        is_joined, is_continued = self.chance(0.15), self.chance(0.25)
        # Ladybug loses nodes with a count of 0 before a later MATCH.
        self.has_counts = self.is_free or not (optional or is_joined or is_continued)
        clauses = [self.match(hops=hops)]
        if is_joined:
            clauses.append(self.match(hops=2))
        for _ in range(optional):
            clauses.append(self.match(is_optional=True))
        if is_continued:
            clauses.append(self.with_clause())
            if self.nodes and self.chance(0.5):
                clauses.append(self.match(self.chance(0.3) and (optional or self.is_free), hops=1))
        return clauses

    def with_clause(self):
        kept = self.dice.sample(self.nodes, self.dice.choice([1, 1, 2]) % (len(self.nodes) + 1))
        kept = kept or self.nodes[:1]
        aggregate, self.edges = self.aggregate(), []
        if self.chance(0.3) and not self.retains_equals:
            self.nodes, self.has_distinct = kept, True
            return f"WITH DISTINCT {', '.join(kept)}"
        name = self.new("x")
        text = f"WITH {', '.join(kept)}, {aggregate} AS {name}"
        self.nodes, self.scalars = kept, {name: "number"}
        if self.chance(0.5):
            text += f" WHERE {name} {self.dice.choice(['>', '<', '<>'])} {self.dice.randrange(4)}"
        return text

    def aggregate(self, is_number=True):
        node = self.dice.choice(self.nodes)
        name = self.dice.choice(NUMBERS)
        if self.edges and self.chance(0.3):
            edge = self.dice.choice(self.edges)
            return self.dice.choice([f"count({edge}.w)", f"max({edge}.w)", f"count({edge})"])
        kinds = ["count(*)", f"count({node}.{name})", f"count({node})", f"count(DISTINCT {node})"]
        kinds += [f"count(DISTINCT {node}.{name})", f"min({node}.{name})", f"max({node}.{name})"]
        kinds += [
            f"avg({node}.{name})",
            f"«toFloat(sum({node}.{name}))¦coalesce(CAST(sum({node}.{name}) AS DOUBLE), 0.0)»",
        ]
        if not is_number:
            kinds += [f"min({node}.s)", f"max({node}.s)", f"count({node}.t)"]
            kinds += [f"count(DISTINCT {node}.s)", "count(*)"]
        return self.dice.choice(kinds)

    def column(self):
        kinds = ["key", "key", "key", *COLUMNS]
        if self.edges and self.chance(0.4):
            return f"{self.dice.choice(self.edges)}.w"
        if self.scalars and self.chance(0.3):
            return self.dice.choice(list(self.scalars))
        return f"{self.dice.choice(self.nodes)}.{self.dice.choice(kinds)}"

    def result(self):
        kinds = ["rows", "distinct", "count", "group", "group", "ordered", "top"]
        if self.is_large:
            kinds = ["count", "group", "top"]
        if self.has_distinct and not self.is_free:
            # Ladybug orders these by their first key alone.
            kinds = [kind for kind in kinds if kind != "ordered"]
        columns = [self.column() for _ in range(self.dice.choice([1, 2, 3]))]
        match self.dice.choice(kinds):
            case "distinct":
                return f"RETURN DISTINCT {self.aliased(columns)}"
            case "count":
                return f"RETURN {self.aliased([self.aggregate(False), self.aggregate(False)])}"
            case "group":
                aggregates = [self.aggregate(False) for _ in range(self.dice.choice([1, 2]))]
                return f"RETURN {self.aliased(columns[:2] + aggregates)}"
            case "ordered":
                return self.ordered(columns)
            case "top":
                return self.top()
        columns.extend(self.counted())
        return f"RETURN {self.aliased(columns)}"

    def counted(self):
        """Return a count of matches in the result, or none."""
        if not self.is_free or not self.chance(0.15):
            return []
        word = self.dice.choice(["COUNT", "EXISTS"])
        return [self.subquery(word, self.nodes, 1)]

    def ordered(self, columns):
        # Values of relationships have no order among those of the same nodes.
        columns = [it for it in columns if not it.startswith("r")] or ["1"]
        # Nodes of OPTIONAL MATCH have null, which the two order otherwise: -1 is in its place.
        keys = [f"coalesce({node}.key, -1)" for node in self.nodes]
        keys.extend(f"coalesce({name}, -9)" for name in self.scalars)
        keys = [key + self.dice.choice(["", " DESC"]) for key in keys]
        self.dice.shuffle(keys)
        self.is_ordered = True
        names = [f"{column} AS c{at}" for at, column in enumerate(columns)]
        skip = f" SKIP {self.dice.randrange(4)}" if self.chance(0.3) else ""
        carried = [*self.nodes, *self.scalars]
        ordered = f"WITH {', '.join(carried)} ORDER BY {', '.join(keys)}"
        limit = f"{skip} LIMIT {self.dice.choice([1, 3, 10])}"
        if self.chance(0.5):
            return f"RETURN {', '.join(names)} ORDER BY {', '.join(keys)}{limit}"
        self.is_ordered = False
        return f"{ordered}{limit} RETURN {', '.join(names)}"

    def top(self):
        node = self.dice.choice(self.nodes)
        self.is_ordered = True
        aggregate = self.dice.choice(
            ["count(*)", f"count(DISTINCT {self.dice.choice(self.nodes)})"]
        )
        return (
            f"RETURN coalesce({node}.key, -1) AS c0, {aggregate} AS c1"
            f" ORDER BY c1 DESC, c0 LIMIT {self.dice.choice([1, 3, 8])}"
        )

    def aliased(self, columns):
        return ", ".join(f"{column} AS c{at}" for at, column in enumerate(columns))

    def single(self):
        clauses = self.body()
        return "\n".join([*clauses, self.result()])

    def united(self):
        parts, word = [], self.dice.choice(["UNION ALL", "UNION"])
        for number in range(self.dice.choice([2, 2, 3])):
            # Ladybug drops equal rows of later branches where the first one has WITH DISTINCT.
            self.retains_equals = number == 0 and word == "UNION ALL" and not self.is_free
            self.nodes, self.scalars, self.edges = [], {}, []
            clauses = self.body()
            kind = self.dice.choice(["RETURN", "RETURN DISTINCT"])
            column = f"{self.dice.choice(self.nodes)}.{self.dice.choice('ij')}"
            parts.append("\n".join([*clauses, f"{kind} {column} AS c0"]))
        return f"\n{word}\n".join(parts)

    def paths(self):
        """Return a query for the lengths of shortest paths."""
        types = self.dice.choice(CHOICES)
        one, other = self.node("a", False), self.node("b", False)
        arrow = self.arrow("{}")
        inner = arrow.format(f":{types}*«¦ SHORTEST »1..«¦30»")
        condition = "«a <> b¦id(a) <> id(b)»"
        if self.chance(0.4):
            condition += f" AND ({self.condition(['a', 'b'], 1)})"
        self.nodes = ["a", "b"]
        returned = self.dice.choice(
            ["a.key AS c0, b.key AS c1, length(p) AS c2", "length(p) AS c0, count(*) AS c1"]
        )
        ends = f"MATCH {one}, {other} " if self.chance(0.3) else ""
        if ends:
            one, other = "(a)", "(b)"
        return (
            f"{ends}MATCH p = «shortestPath(¦»{one}{inner}{other}«)¦» WHERE {condition}"
            f" RETURN {returned}"
        )
