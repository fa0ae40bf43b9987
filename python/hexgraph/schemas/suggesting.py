"""Which indexes a database likely needs, judged by some of its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ..errors import SchemaError
from .definitions import definition_of, definitions_in, indexed, named

SAMPLE = 1000
"""The number of values of a predicate that are looked at."""

FEW_WORDS, MANY_WORDS = 1.5, 12
"""Mean words of a text: below, it is a name or a code; above, it is prose."""


class Suggestion(str):
    """Definitions in the schema language, with the reason after each; `alter` takes them."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self) if self else "# nothing is missing"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def suggest(db: Any, names: tuple[str, ...]) -> Suggestion:
    """Return definitions that add indexes; see `Database.suggest`."""
    schema = db.schema()
    predicates, types = parts_of(schema)
    lines = []
    for name in chosen(schema, predicates, types, names):
        definition = definition_of(schema, name)
        missing = missing_of(db, name, definition)
        if missing is not None:
            more, why = missing
            lines.append(f"{named(name)}: {indexed(definition, more)} .  # {why}")
    return Suggestion("\n".join(lines))


def chosen(
    schema: str, predicates: Sequence[str], types: Mapping[str, Sequence[str]], names: Sequence[str]
) -> list[str]:
    """Return the predicates that names of predicates and types represent, each once.

    Without names these are all of the schema. Raises SchemaError for a name that is neither.
    """
    result: list[str] = []
    for name in names or predicates:
        if name in types:
            result += types[name]
        elif name in predicates:
            result.append(name)
        else:
            definition_of(schema, name)
            raise SchemaError(f"there is no predicate and no type `{name}`")
    return list(dict.fromkeys(result))


def parts_of(schema: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the predicates of a schema, and the fields of each type."""
    types: dict[str, list[str]] = {}
    fields: list[str] | None = None
    for line in schema.splitlines():
        if line.startswith("type "):
            fields = types.setdefault(line.split()[1].strip("<>"), [])
        elif line.startswith("}"):
            fields = None
        elif fields is not None:
            field = line.strip().strip("<>")
            if field and not field.startswith("~"):
                fields.append(field)
    return list(definitions_in(schema)), types


def missing_of(db: Any, name: str, definition: str) -> tuple[list[str], str] | None:
    """Return what a predicate lacks, and why it would want that; None for nothing."""
    kind = definition.split(" ", maxsplit=1)[0].strip("[]")
    if name.startswith("dgraph."):
        return None
    if kind == "uid":
        has_reverse = "@reverse" in definition.split(" ")
        return None if has_reverse else (["reverse"], f"`~{name}` goes back along the edge")
    if "@index(" in definition or kind in ("password",):
        return None
    if kind in ("string", "default"):
        return of_texts(sample(db, name, definition))
    missing = {
        "int": ("int", "ranges, equality and order"),
        "float": ("float", "ranges and order"),
        "bigfloat": ("bigfloat", "ranges and order"),
        "bool": ("bool", "equality"),
        "datetime": ("day", "ranges of time"),
        "geo": ("geo", "near, within, contains, intersects"),
        "float32vector": ("hnsw", "similar_to"),
    }.get(kind)
    return None if missing is None else ([missing[0]], missing[1])


def sample(db: Any, name: str, definition: str) -> list[str]:
    """Return some values of a predicate of texts, of any language."""
    lang = "@." if "@lang" in definition.split(" ") else ""
    dql = f"{{ q(func: has(<{name}>), first: {SAMPLE}) {{ value: <{name}>{lang} }} }}"
    values: list[str] = []
    for (value,) in db.query(dql).rows():
        values += value if isinstance(value, list) else [] if value is None else [value]
    return [str(value) for value in values]


def of_texts(values: list[str]) -> tuple[list[str], str] | None:
    """Return which index suits texts like these."""
    if not values:
        return None
    words = sum(len(value.split()) for value in values) / len(values)
    distinct = len(set(values))
    reason = f"{distinct:,} of {len(values):,} looked at differ, {words:.1f} words each"
    if words >= MANY_WORDS:
        return ["fulltext"], reason
    if words >= FEW_WORDS:
        return ["term", "exact"], reason
    if distinct == len(values) > 1:
        return ["hash"], f"{reason}: eq finds the one node"
    return ["exact"], f"{reason}: eq, groups, order"
