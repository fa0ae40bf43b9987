"""Definitions of predicates and types from Python's own: dicts, dataclasses, models of pydantic."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from difflib import get_close_matches
from enum import EnumType
from functools import lru_cache
from typing import Any
from uuid import UUID

from ..errors import SchemaError

SCALARS: dict[Any, str] = {
    str: "string",
    bool: "bool",
    int: "int",
    float: "float",
    datetime: "datetime",
    date: "datetime",
    Decimal: "bigfloat",
    UUID: "string",
    Any: "default",
}

LISTS = (list, set, frozenset, tuple, Sequence)

FLAGS = ("reverse", "count", "lang", "upsert", "unique")
"""Directives without arguments, which `Database.index` accepts besides tokenizers."""

TYPE_OF_INDEX = {
    **dict.fromkeys(("exact", "hash", "term", "fulltext", "trigram"), "string"),
    **dict.fromkeys(("year", "month", "day", "hour"), "datetime"),
    **dict.fromkeys(("int", "float", "bool", "bigfloat", "geo"), None),
}
"""The type that a predicate without one gets for an index; None for that of the index's name."""

USUAL_INDEX = {
    "string": "exact",
    "default": "exact",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "bigfloat": "bigfloat",
    "datetime": "day",
    "geo": "geo",
    "float32vector": "hnsw",
    "uid": "reverse",
}


class Definitions:
    """Collects definitions, and writes them in the schema language."""

    def __init__(self) -> None:
        self.predicates: dict[str, str] = {}
        self.types: dict[str, list[str]] = {}
        self.classes: dict[str, type] = {}

    def text(self) -> str:
        """Return all of them, a line each."""
        lines = [f"{named(name)}: {definition} ." for name, definition in self.predicates.items()]
        for name, own in self.types.items():
            lines += [f"type {named(name)} {{", *(f"  {named(field)}" for field in own), "}"]
        return "\n".join(lines)

    def predicate(self, name: str, definition: str) -> None:
        """Add a predicate, which another type may have defined alike."""
        definition = definition.strip().removesuffix(".").strip()
        existing = self.predicates.setdefault(name, definition)
        if existing != definition:
            raise ValueError(
                f"{name!r} is defined twice, as `{existing}` and as `{definition}`: types have"
                " common predicates, so give one of them another name"
            )

    def given(self, given: Any) -> None:
        """Add what was given to `alter`."""
        if isinstance(given, Mapping):
            for name, definition in given.items():
                self.entry(str(name), definition)
        elif isinstance(given, type):
            self.add_class(given)
        elif isinstance(given, (list, tuple)):
            self.classes.update({one.__name__: one for one in given if isinstance(one, type)})
            for one in given:
                self.given(one)
        elif isinstance(given, str):
            raise TypeError("a schema is one text, or a list of classes: not a list of texts")
        else:
            raise TypeError(
                "a schema is a text, the path of a file, a dict, a dataclass, a model of pydantic,"
                f" or a list of these, not {type(given).__name__}"
            )

    def entry(self, name: str, definition: Any) -> None:
        """Add an entry of a dict: a type where its value has fields, else a predicate."""
        if isinstance(definition, Mapping):
            self.types[name] = [str(field) for field in definition]
            for field, inner in definition.items():
                self.predicate(str(field), written(inner, f"{name}.{field}"))
        elif isinstance(definition, (list, tuple, set, frozenset)) and all(
            isinstance(field, str) for field in definition
        ):
            self.types[name] = [str(field) for field in definition]
        else:
            self.predicate(name, written(definition, name))

    def add_class(self, given: type) -> None:
        """Add the fields of a class, and those of the types that it points to."""
        name = given.__name__
        model: Any = getattr(given, "model_fields", None)
        if not is_dataclass(given) and model is None and not hasattr(given, "__annotations__"):
            raise TypeError(f"{name} has no fields: a type is a dataclass or a model of pydantic")
        if name in self.types:
            return
        self.classes[name] = given
        try:
            hints = typing.get_type_hints(given, localns=dict(self.classes), include_extras=True)
        except NameError as error:
            raise TypeError(f"{name}: {error}; pass both classes, alter([{name}, ...])") from None
        hints = {field: hint for field, hint in hints.items() if field != "uid"}
        extras = extras_of(given, model)
        self.types[name] = []
        for field, hint in hints.items():
            if typing.get_origin(hint) is typing.ClassVar or field.startswith("_"):
                continue
            self.types[name].append(field)
            parts = [written(hint, f"{name}.{field}"), *extras.get(field, [])]
            self.predicate(field, " ".join(dict.fromkeys(parts)))
        for hint in hints.values():
            for inner in classes_in(hint):
                self.add_class(inner)


def text_of(given: Any) -> str:
    """Return the text of a schema that is given as a dict, a class, or a list of classes.

    >>> from dataclasses import dataclass
    >>> from typing import Annotated
    >>> @dataclass
    ... class Airport:
    ...     iata: Annotated[str, "@index(hash) @upsert @unique"]
    ...     name: str
    ...     runways: list[int]
    >>> print(text_of(Airport))
    iata: string @index(hash) @upsert @unique .
    name: string .
    runways: [int] .
    type Airport {
      iata
      name
      runways
    }
    """
    definitions = Definitions()
    definitions.given(given)
    return definitions.text()


def named(name: str) -> str:
    """Return a name as the schema language has it."""
    return name if re.fullmatch(r"~?[A-Za-z_][\w.]*", name) else f"<{name}>"


def extras_of(given: type, model: Any) -> dict[str, list[str]]:
    """Return directives that are in the metadata of fields of a dataclass or of a model."""
    if model is not None:
        metadata = {
            name: getattr(field, "json_schema_extra", None) for name, field in model.items()
        }
    elif is_dataclass(given):
        metadata = {field.name: field.metadata for field in fields(given)}
    else:
        metadata = {}
    extras: dict[str, list[str]] = {}
    for name, extra in metadata.items():
        if not isinstance(extra, Mapping):
            continue
        directives = [f"@{flag}" for flag in FLAGS if extra.get(flag)]
        index = extra.get("index")
        if index:
            tokenizers = [index] if isinstance(index, str) else index
            directives.insert(0, f"@index({', '.join(tokenizers)})")
        extras[name] = directives
    return extras


def classes_in(hint: Any) -> list[type]:
    """Return the classes of nodes that a type of Python points to."""
    own = [hint] if is_node(hint) else []
    return own + [inner for part in typing.get_args(hint) for inner in classes_in(part)]


def is_node(hint: Any) -> bool:
    """Whether a type of Python is one of nodes."""
    return isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "model_fields"))


def written(hint: Any, location: str) -> str:  # noqa: PLR0911 - one for each kind of type
    """Return the definition of a predicate whose values are of a type of Python."""
    if isinstance(hint, str):
        return hint
    if isinstance(hint, typing.ForwardRef) or is_node(hint):
        return "uid"
    if isinstance(hint, (list, tuple)) and len(hint) == 1:
        return f"[{written_item(hint[0], location)}]"
    if isinstance(hint, type) or hint is Any:
        scalar = SCALARS.get(hint)
        if scalar is not None:
            return scalar
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        directives = [extra for extra in typing.get_args(hint)[1:] if isinstance(extra, str)]
        return " ".join([written(arguments[0], location), *directives])
    if origin in (typing.Union, types.UnionType):
        some = [inner for inner in arguments if inner is not type(None)]
        kinds = list(dict.fromkeys(written(inner, location) for inner in some))
        if len(kinds) == 1:
            return kinds[0]
        raise TypeError(f"{location} may be of several types, and a predicate has one: {hint}")
    if origin is typing.Literal:
        return written(type(arguments[0]), location)
    if origin in LISTS:
        inner = [one for one in arguments if one is not Ellipsis]
        return f"[{written_item(inner[0], location)}]" if inner else "[string]"
    if isinstance(hint, EnumType):
        first: Any = next(iter(hint))
        return SCALARS.get(type(first.value), "string")
    if isinstance(hint, type) and hint in LISTS:
        return "[string]"
    names = ", ".join(kind.__name__ for kind in SCALARS if kind is not Any)
    raise TypeError(
        f"{location}: no predicate holds values of {hint!r}; there are {names}, lists of them, and"
        ' definitions as a text: "geo @index(geo)"'
    )


def written_item(hint: Any, location: str) -> str:
    """Return the type of the items of a list; a text is the name of a type of nodes."""
    if isinstance(hint, str) and hint not in USUAL_INDEX:
        return "uid"
    item = written(hint, location)
    if item.startswith("[") or " " in item:
        raise TypeError(f"{location}: a list has plain values or nodes, not {item}")
    return item


def definition_of(schema: str, predicate: str) -> str:
    """Return the definition of a predicate in the text of a schema, after its colon."""
    definitions = definitions_in(schema)
    if predicate in definitions:
        return definitions[predicate]
    near = get_close_matches(predicate, definitions, 1)
    hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(definitions) or 'none'}"
    raise SchemaError(f"there is no predicate `{predicate}`", hint=hint)


@lru_cache(maxsize=4)
def definitions_in(schema: str) -> dict[str, str]:
    r"""Return the definition of each predicate in the text of a schema, in its order.

    The last texts are remembered, since all predicates of one are requested one by one.

    >>> definitions_in("age: int .\n<first name>: string @index(exact) .")
    {'age': 'int', 'first name': 'string @index(exact)'}
    """
    definitions = {}
    for line in schema.splitlines():
        # A schema is written with brackets around names that need them.
        name, colon, definition = line.partition(">: " if line.startswith("<") else ": ")
        if colon and not line.startswith(("type ", "\t")):
            definitions[name.removeprefix("<")] = definition.rstrip(" .")
    return definitions


def indexed(definition: str, requested: Sequence[str]) -> str:
    """Return a definition with more tokenizers and directives; what it has already stays.

    What has no type yet gets the one of its first index.
    """
    kind = definition.split(" ", maxsplit=1)[0].strip("[]")
    requested = requested or [USUAL_INDEX.get(kind, "exact")]
    if kind == "default":
        typed = [TYPE_OF_INDEX[name] or name for name in requested if name in TYPE_OF_INDEX]
        if typed:
            definition = definition.replace("default", typed[0], 1)
    for name in requested:
        directive = name.removeprefix("@")
        if directive in FLAGS:
            if f"@{directive}" not in definition.split(" "):
                definition += f" @{directive}"
            continue
        have = re.search(r"@index\(([^()]*(?:\([^()]*\)[^()]*)*)\)", definition)
        if have is None:
            # Directives have no order, but @index comes first as the engine writes it.
            head, _, rest = definition.partition(" ")
            definition = f"{head} @index({name}) {rest}".rstrip()
            continue
        own = [one.strip() for one in re.findall(r"[^,()]+(?:\([^()]*\))?", have[1])]
        base = name.partition("(")[0]
        if base == name and base in [one.partition("(")[0] for one in own]:
            continue
        remaining = [one for one in own if one.partition("(")[0] != base]
        definition = definition.replace(have[0], f"@index({', '.join([*remaining, name])})")
    return definition


def index(db: Any, predicate: str, tokenizers: Sequence[str]) -> Any:
    """Build indexes of a predicate; see `Database.index`."""
    definition = indexed(definition_of(db.schema(), predicate), tokenizers)
    return db.alter(f"{named(predicate)}: {definition} .")
