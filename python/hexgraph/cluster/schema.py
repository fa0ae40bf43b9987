"""The schema of a cluster: the answer to `schema {}` as text that declares it again."""

from __future__ import annotations

import dataclasses
from typing import Any

RESERVED = "dgraph."
"""Begins the names of Dgraph's internal predicates."""

_DIRECTIVES = {
    "reverse": "@reverse",
    "count": "@count",
    "upsert": "@upsert",
    "unique": "@unique",
    "lang": "@lang",
    "no_conflict": "@noconflict",
}


@dataclasses.dataclass(frozen=True)
class Predicate:
    """What the schema says of a predicate, as far as reading it needs."""

    name: str
    type: str
    is_list: bool
    has_languages: bool


def is_reserved(name: str) -> bool:
    """Whether a name is one of Dgraph's own, whose definition can't be changed."""
    return name.startswith(RESERVED)


def predicates(answer: dict[str, Any]) -> list[Predicate]:
    """Return the predicates of the answer, Dgraph's own included, sorted by name."""
    predicates_read = [
        Predicate(
            name=entry["predicate"],
            type=entry.get("type", "default"),
            is_list=bool(entry.get("list")),
            has_languages=bool(entry.get("lang")),
        )
        for entry in answer.get("schema", ())
    ]
    return sorted(predicates_read, key=lambda predicate: predicate.name)


def definitions(answer: dict[str, Any]) -> list[str]:
    """Return a definition for each predicate and type that is not Dgraph's own."""
    own = [_predicate(it) for it in answer.get("schema", ()) if not is_reserved(it["predicate"])]
    return own + [_type(it) for it in answer.get("types", ()) if not is_reserved(it["name"])]


def _predicate(entry: dict[str, Any]) -> str:
    kind = entry.get("type", "default")
    words = [f"<{entry['predicate']}>:", f"[{kind}]" if entry.get("list") else kind]
    # The indexes of vectors have specifications besides their names.
    indexes = [name for name in entry.get("tokenizer", ()) if "(" not in name]
    indexes += [_specification(it) for it in entry.get("index_specs", ())]
    indexes = [name for index, name in enumerate(indexes) if name not in indexes[:index]]
    if any("(" in name for name in indexes):
        bare = {name.partition("(")[0] for name in indexes if "(" in name}
        indexes = [name for name in indexes if name not in bare]
    if indexes:
        words.append(f"@index({', '.join(indexes)})")
    words += [word for flag, word in _DIRECTIVES.items() if entry.get(flag)]
    return " ".join([*words, "."])


def _specification(entry: dict[str, Any]) -> str:
    options = entry.get("options", ())
    shown = ", ".join(f'{option["key"]}: "{option["value"]}"' for option in options)
    return f"{entry['name']}({shown})" if shown else str(entry["name"])


def _type(entry: dict[str, Any]) -> str:
    fields = "".join(f"\t<{field['name']}>\n" for field in entry.get("fields", ()))
    return f"type <{entry['name']}> {{\n{fields}}}"
