"""What is in a database: types, predicates, and which types edges connect."""

from __future__ import annotations

from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any

from .._native import columns_table
from .definitions import definition_of, named
from .suggesting import parts_of

if TYPE_CHECKING:
    from .._native import ArrowTable

OWN = "dgraph."
"""Predicates and types of the engine begin so."""

LOOKED_AT = 100
"""The nodes of each predicate whose languages and facets are looked at."""

LANGUAGES_SHOWN = 8
"""The languages of a predicate that are reported."""

UNTYPED = "NOT has(dgraph.type)"
"""The condition that a node has no type."""

BLOCKS = 400
"""The blocks of a query: what a block costs grows with their number."""

CELL = "text-align: left; vertical-align: top"


class Description:
    """The types, predicates and edges of a database, each as a table; printed, all of them."""

    def __init__(
        self, nodes: int, types: ArrowTable, predicates: ArrowTable, edges: ArrowTable
    ) -> None:
        self.nodes = nodes
        """The number of nodes."""
        self.types = types
        """type, nodes, fields."""
        self.predicates = predicates
        """type (None for all nodes), predicate, definition, nodes that have it, their fraction of
        these, and notes: the languages of values and the facets of edges, as the first hundred
        nodes have them."""
        self.edges = edges
        """from, predicate, to, edges; from and to are types, None for nodes without one. A type all
        of whose nodes have narrower types, too, has no rows but those of these."""

    def _parts(self) -> list[tuple[str, ArrowTable]]:
        parts = [("types", self.types), ("predicates", self.predicates), ("edges", self.edges)]
        return [(name, table) for name, table in parts if len(table)]

    def __repr__(self) -> str:
        lines = [f"{self.nodes:,} nodes"]
        for name, table in self._parts():
            rows = shown_rows(table)
            widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
            lines += ["", name]
            for row in rows:
                cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
                lines.append(f"  {'  '.join(cells).rstrip()}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{self.nodes:,} nodes</b></p>"]
        for name, table in self._parts():
            keys, *cells = shown_rows(table)
            head = "".join(f'<th style="{CELL}">{escape(key)}</th>' for key in keys)
            rows = "".join(
                "<tr>"
                + "".join(f'<td style="{CELL}">{escape(cell)}</td>' for cell in row)
                + "</tr>"
                for row in cells
            )
            parts.append(
                f"<p>{name}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            )
        return "".join(parts)


def shown_rows(table: ArrowTable) -> list[list[str]]:
    """Return the names of the columns and the cells as text; a column of notes if there are any."""
    rows = table.rows()
    has_notes = any(row[-1] is not None for row in rows)
    names = table.column_names
    width = len(names) - (names[-1] == "notes" and not has_notes)
    return [names[:width], *([shown(cell) for cell in row[:width]] for row in rows)]


def shown(cell: Any) -> str:
    """Return a cell as text: numbers with separators, a fraction as per cent."""
    if cell is None:
        return ""
    if isinstance(cell, list):
        return ", ".join(map(str, cell))
    if isinstance(cell, float):
        return f"{cell:.0%}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def describe(db: Any) -> Description:
    """Return what is in a database; see `Database.describe`."""
    schema = db.schema()
    predicates, types = parts_of(schema)
    predicates = [name for name in predicates if not name.startswith(OWN)]
    types = {name: fields for name, fields in types.items() if not name.startswith(OWN)}
    edges = [
        name for name in predicates if definition_of(schema, name).startswith(("uid", "[uid]"))
    ]
    # All questions are about one version.
    with db.txn(read_only=True) as txn:
        totals = counts(txn, {name: had(schema, name) for name in predicates}, types, edges)
        unions = unions_of(txn, list(types), totals)
        notes = notes_of(txn, schema, predicates, edges)
    own = columns_table(
        [
            ("type", list(types)),
            ("nodes", [totals[f"t{index}"] for index in range(len(types))]),
            ("fields", [list(fields) for fields in types.values()]),
        ]
    )[0]
    return Description(
        totals["all"],
        own,
        predicate_table(schema, predicates, types, totals, notes),
        edge_table(list(types), edges, totals, unions),
    )


def batched(txn: Any, blocks: list[str]) -> dict[str, Any]:
    """Return the answers to blocks that do not need each other, some hundred in a query."""
    answers: dict[str, Any] = {}
    for start in range(0, len(blocks), BLOCKS):
        answers |= txn.query("{ " + "\n".join(blocks[start : start + BLOCKS]) + " }").to_dict()
    return answers


def had(schema: str, name: str) -> str:
    """Return the condition that a node has a predicate, in whatever language."""
    any_language = "@." if "@lang" in definition_of(schema, name).split() else ""
    return f"has({term(name)}{any_language})"


def counts(
    txn: Any, predicates: dict[str, str], types: dict[str, list[str]], edges: list[str]
) -> dict[str, int]:
    """Query all numbers: of nodes by type and predicate, of edges between types.

    `predicates` are these with the condition that a node has one. Nodes without a type come after
    the types.

    Most edges leave nodes of one type or two, so targets are requested where a type has the edge at
    all: a block for each pair of types and each edge would be millions where there are some hundred
    types.
    """
    blocks = []
    for number, has in enumerate(predicates.values()):
        blocks.append(f"p{number}(func: {has}) {{ count(uid) }}")
    for index, (name, fields) in enumerate(types.items()):
        blocks.append(f"t{index}(func: type({term(name)})) {{ count(uid) }}")
        for number, field in enumerate(fields):
            has = f"@filter({predicates.get(field, f'has({term(field)})')})"
            blocks.append(f"f{index}_{number}(func: type({term(name)})) {has} {{ count(uid) }}")
        for number, edge in enumerate(edges):
            has = f"@filter(has({term(edge)}))"
            blocks.append(f"h{index}_{number}(func: type({term(name)})) {has} {{ count(uid) }}")
    for number, edge in enumerate(edges):
        none = f"(func: has({term(edge)})) @filter({UNTYPED})"
        blocks.append(f"h{len(types)}_{number}{none} {{ count(uid) }}")
    totals = {"all": 0} | numbers(txn, blocks)
    blocks = []
    conditions = [f"type({term(name)})" for name in types]
    for index, number in product(range(len(types) + 1), range(len(edges))):
        if not totals[f"h{index}_{number}"]:
            continue
        edge = term(edges[number])
        of_type = index < len(types)
        root = conditions[index] if of_type else f"has({edge})"
        only = "" if of_type else f"@filter({UNTYPED})"
        for other, condition in enumerate([*conditions, UNTYPED]):
            if other < len(types) and not totals[f"t{other}"]:
                continue
            key = f"{index}_{number}_{other}"
            blocks.append(
                f"var(func: {root}) {only} {{ c{key} as count({edge} @filter({condition})) }}"
                f" e{key}() {{ n: sum(val(c{key})) }}"
            )
    totals |= numbers(txn, blocks)
    have = [has for number, has in enumerate(predicates.values()) if totals[f"p{number}"]]
    if have:
        totals["all"] = txn.query(f"{{ {all_nodes(have)} }}").to_dict()["all"][0]["count"]
    return totals


def numbers(txn: Any, blocks: list[str]) -> dict[str, int]:
    """Return the number that each block counts or sums up."""
    totals = {}
    for key, rows in batched(txn, blocks).items():
        row = rows[0] if rows else {}
        # The sum over no nodes is null.
        totals[key] = int(row.get("count", row.get("n")) or 0)
    return totals


def unions_of(txn: Any, types: list[str], totals: dict[str, int]) -> set[int]:
    """Return the types of edges all of whose nodes have narrower types, too, by their positions.

    What such a type is connected with is reported of the narrower ones, which would be said twice.
    """
    sides = [key[1:].split("_") for key, count in totals.items() if key[0] == "e" and count]
    endpoints = sorted({int(side) for key in sides for side in (key[0], key[2])} - {len(types)})
    sizes = {index: totals[f"t{index}"] for index in endpoints}
    pairs = [
        (wide, small) for wide, small in product(endpoints, endpoints) if sizes[small] < sizes[wide]
    ]
    blocks = [
        f"s{wide}_{small}(func: type({term(types[small])}))"
        f" @filter(type({term(types[wide])})) {{ count(uid) }}"
        for wide, small in pairs
    ]
    shared = numbers(txn, blocks)
    narrower: dict[int, list[str]] = {}
    for wide, small in pairs:
        if shared[f"s{wide}_{small}"] == sizes[small]:
            narrower.setdefault(wide, []).append(f"type({term(types[small])})")
    blocks = [
        f"w{wide}(func: type({term(types[wide])})) @filter(NOT ({' OR '.join(own)}))"
        " { count(uid) }"
        for wide, own in narrower.items()
    ]
    return {int(key[1:]) for key, count in numbers(txn, blocks).items() if not count}


def all_nodes(conditions: list[str]) -> str:
    """Return the blocks that count the nodes for which any condition holds."""
    parts = [f"n{index} as var(func: {it})" for index, it in enumerate(conditions)]
    names = ", ".join(f"n{index}" for index in range(len(conditions)))
    return f"{' '.join(parts)} all(func: uid({names})) {{ count(uid) }}"


def term(name: str) -> str:
    """Return a name as queries have it."""
    text = named(name)
    return text if text.startswith("<") or "." not in text else f"<{text}>"


def notes_of(txn: Any, schema: str, predicates: list[str], edges: list[str]) -> dict[str, str]:
    """Return what the schema does not say of predicates: the languages, and facets of edges."""
    tagged = [name for name in predicates if "@lang" in definition_of(schema, name).split()]
    blocks = [
        f"l{index}(func: has({term(name)}@.), first: {LOOKED_AT}) {{ {term(name)}@* }}"
        for index, name in enumerate(tagged)
    ]
    blocks += [
        f"e{index}(func: has({term(name)}), first: {LOOKED_AT})"
        f" {{ {term(name)} (first: 10) @facets {{ uid }} }}"
        for index, name in enumerate(edges)
    ]
    answer = batched(txn, blocks)
    notes = {}
    for index, name in enumerate(tagged):
        keys = sorted({key for row in answer[f"l{index}"] for key in row} - {name})
        languages = [key.removeprefix(f"{name}@") for key in keys]
        if languages:
            more = ", ..." if len(languages) > LANGUAGES_SHOWN else ""
            notes[name] = f"languages {', '.join(languages[:LANGUAGES_SHOWN])}{more}"
    for index, name in enumerate(edges):
        start = f"{name}|"
        nodes = [end for row in answer[f"e{index}"] for end in targets(row, name)]
        facets = sorted({key.removeprefix(start) for end in nodes for key in end if start in key})
        if facets:
            notes[name] = "facets " + ", ".join(facets)
    return notes


def targets(row: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the targets of an edge, with the facets in them, or in the row of a single one."""
    nodes = row.get(name, [])
    return [*nodes, row] if isinstance(nodes, list) else [nodes, row]


def predicate_table(
    schema: str,
    predicates: list[str],
    types: dict[str, list[str]],
    totals: dict[str, int],
    notes: dict[str, str],
) -> ArrowTable:
    """Return the table of predicates, those of each type first, then those of none."""
    rows: list[tuple[Any, ...]] = []
    for index, (name, fields) in enumerate(types.items()):
        nodes = totals[f"t{index}"]
        for number, field in enumerate(fields):
            have = totals[f"f{index}_{number}"]
            coverage = have / nodes if nodes else None
            definition = definition_of(schema, field)
            rows.append((name, field, definition, have, coverage, notes.get(field)))
    of_types = {field for fields in types.values() for field in fields}
    for number, name in enumerate(predicates):
        if name not in of_types:
            definition = definition_of(schema, name)
            rows.append((None, name, definition, totals[f"p{number}"], None, notes.get(name)))
    names = ("type", "predicate", "definition", "nodes", "coverage", "notes")
    return columns_table([(name, [row[at] for row in rows]) for at, name in enumerate(names)])[0]


def edge_table(
    types: list[str], edges: list[str], totals: dict[str, int], unions: set[int]
) -> ArrowTable:
    """Return the table of the existing edges between types, except `unions`."""
    rows = []
    endpoints = [(index, name) for index, name in enumerate([*types, None]) if index not in unions]
    for (index, name), (number, edge), (other, target) in product(
        endpoints, enumerate(edges), endpoints
    ):
        count = totals.get(f"e{index}_{number}_{other}", 0)
        if count:
            rows.append((name, edge, target, count))
    names = ("from", "predicate", "to", "edges")
    return columns_table([(name, [row[at] for row in rows]) for at, name in enumerate(names)])[0]
