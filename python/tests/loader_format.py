"""Checks a folder against the format that Dgraph documents for exports and its loaders.

Written from the documents of Dgraph alone (N-Quads with its types, languages and facets; the
language of schemas; the files of an export), without any code of hexgraph.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import gzip
import json
import re
from pathlib import Path

FILES = ("g01.gql_schema.gz", "g01.rdf.gz", "g01.schema.gz")

UID_MAX = 2**64 - 1

# The types of literals that the loaders know, and the type of the schema that each is of.
LITERAL_TYPES = {
    "xs:string": "string",
    "xs:dateTime": "datetime",
    "xs:date": "datetime",
    "xs:int": "int",
    "xs:integer": "int",
    "xs:positiveInteger": "int",
    "xs:boolean": "bool",
    "xs:double": "float",
    "xs:float": "float",
    "xs:base64Binary": "binary",
    "xs:decimal": "bigfloat",
    "xs:password": "password",
    "xs:[]float32": "float32vector",
    "geo:geojson": "geo",
}
SCHEMA_TYPES = {"default", "uid", *LITERAL_TYPES.values()} - {"binary"}
DIRECTIVES = {"@reverse", "@count", "@upsert", "@unique", "@lang", "@noconflict"}

STATEMENT = re.compile(
    r"""
    <(?P<subject>0x[0-9a-f]+)>[ ]
    <(?P<predicate>[^<>"\s{}|\\^`]+)>[ ]
    (?: <(?P<node>0x[0-9a-f]+)>
      | (?P<literal>"(?:[^"\\\x00-\x1f]|\\.)*")
        (?: @(?P<lang>[A-Za-z]+(?:-[A-Za-z0-9]+)*) | \^\^<(?P<type>[^<>\s]+)> )?
    )
    [ ]<(?P<namespace>0x[0-9a-f]+)>
    (?:[ ]\((?P<facets>.*)\))?
    [ ]\.
    """,
    re.VERBOSE,
)
FACET = re.compile(
    r"""
    (?P<key>\w+)=(?:
        (?P<text>"(?:[^"\\]|\\.)*")
      | (?P<truth>true|false)
      | (?P<time>\d{4}-\d\d-\d\dT[^,)\s]+)
      | (?P<number>[-+]?[\d.]+(?:[eE][-+]?\d+)?)
    )(?:,[ ]?|$)
    """,
    re.VERBOSE,
)
DEFINITION = re.compile(
    r"\[0x0\] (?:<(?P<quoted>[^<>\s]+)>|(?P<bare>[\w.\-]+)):\s*"
    r"(?P<list>\[)?(?P<type>\w+)\]?(?P<rest>(?:\s+@\w+(?:\((?:[^()]|\([^()]*\))*\))?)*)\s*\.\s*"
)
TYPE = re.compile(r"\[0x0\] type (?:<([^<>\s]+)>|([\w.\-]+)) \{\n((?:\t\S+\n)*)\}\n")


class FormatError(AssertionError):
    """What the loaders would refuse."""


@dataclasses.dataclass
class Definition:
    type: str
    is_list: bool
    directives: set[str]


def check(folder: Path) -> int:
    """Check all files of an export. Returns the number of statements; raises FormatError."""
    names = sorted(path.name for path in folder.iterdir())
    if names != sorted(FILES):
        raise FormatError(f"the files are {names}, not {sorted(FILES)}")
    definitions = check_schema(unpacked(folder / "g01.schema.gz"))
    check_graphql(unpacked(folder / "g01.gql_schema.gz"))
    return check_data(unpacked(folder / "g01.rdf.gz"), definitions)


def unpacked(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def check_schema(text: str) -> dict[str, Definition]:
    definitions: dict[str, Definition] = {}
    fields: set[str] = set()
    types: set[str] = set()
    at = 0
    while at < len(text):
        line = text[at:].split("\n", 1)[0]
        if match := TYPE.match(text, at):
            name = match[1] or match[2]
            if name in types:
                raise FormatError(f"type {name} is defined twice")
            types.add(name)
            fields |= {field.strip("<>") for field in match[3].split()}
        elif match := DEFINITION.match(text, at):
            name = match["quoted"] or match["bare"]
            directives = set(re.findall(r"@\w+", match["rest"]))
            if name in definitions:
                raise FormatError(f"predicate {name} is defined twice")
            if match["type"] not in SCHEMA_TYPES:
                raise FormatError(f"{line}: there is no type {match['type']}")
            if directives - DIRECTIVES - {"@index"}:
                raise FormatError(f"{line}: unknown directives")
            if name.startswith("dgraph."):
                raise FormatError(f"{line}: the loaders define their own predicates")
            definitions[name] = Definition(match["type"], bool(match["list"]), directives)
        else:
            raise FormatError(f"no definition: {line}")
        at = match.end()
    unknown = {field.removeprefix("~") for field in fields} - definitions.keys() - {"dgraph.type"}
    if unknown:
        raise FormatError(f"types have fields that no predicate is defined for: {sorted(unknown)}")
    return definitions


def check_graphql(text: str) -> None:
    entries = json.loads(text)
    for entry in entries:
        if set(entry) != {"namespace", "schema"} or entry["namespace"] != 0:
            raise FormatError(f"no entry of a GraphQL schema: {entry}")
        if not entry["schema"].strip():
            raise FormatError("a GraphQL schema is empty")
    if len(entries) > 1:
        raise FormatError("namespace 0 has several GraphQL schemas")


def check_data(text: str, definitions: dict[str, Definition]) -> int:
    if text and not text.endswith("\n"):
        raise FormatError("the last statement has no end of line")
    existing = {**definitions, "dgraph.type": Definition("string", True, set())}
    single: set[tuple[str, str, str]] = set()
    lines = text.split("\n")[:-1]
    for line in lines:
        match = STATEMENT.fullmatch(line)
        if match is None:
            raise FormatError(f"no statement: {line}")
        for uid in (match["subject"], match["node"]):
            if uid is not None and not 0 < int(uid, 16) <= UID_MAX:
                raise FormatError(f"no uid: {line}")
        if match["namespace"] != "0x0":
            raise FormatError(f"another namespace: {line}")
        definition = existing.get(match["predicate"])
        if definition is None:
            raise FormatError(f"the schema does not define {match['predicate']}: {line}")
        if (match["node"] is not None) != (definition.type == "uid"):
            raise FormatError(f"a node where a value belongs, or the opposite: {line}")
        check_literal(match, definition, line)
        check_facets(match["facets"], line)
        position = (match["subject"], match["predicate"], match["lang"] or "")
        if not definition.is_list:
            if position in single:
                raise FormatError(f"a second value of what is no list: {line}")
            single.add(position)
    return len(lines)


def check_literal(match: re.Match[str], definition: Definition, line: str) -> None:
    literal, lang, mark = match["literal"], match["lang"], match["type"]
    if literal is None:
        return
    value = json.loads(literal)
    if lang is not None:
        if "@lang" not in definition.directives:
            raise FormatError(f"a language of a predicate without @lang: {line}")
        return
    if mark is None:
        return
    kind = LITERAL_TYPES.get(mark)
    if kind is None:
        raise FormatError(f"no type of literals: {line}")
    if kind not in (definition.type, "string") and definition.type != "default":
        raise FormatError(f"a value of type {kind} where the schema has {definition.type}: {line}")
    try:
        READERS[kind](value)
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"no {kind}: {line} ({error})") from None


def check_facets(text: str | None, line: str) -> None:
    keys: list[str] = []
    at = 0
    while text is not None and at < len(text):
        match = FACET.match(text, at)
        if match is None:
            raise FormatError(f"no facet at {text[at:]!r}: {line}")
        if match["text"] is not None:
            json.loads(match["text"])
        if match["time"] is not None:
            read_time(match["time"])
        keys.append(match["key"])
        at = match.end()
    if len(keys) != len(set(keys)):
        raise FormatError(f"a facet twice: {line}")


def read_int(text: str) -> None:
    if not -(2**63) <= int(text) < 2**63:
        raise ValueError("beyond 64 bits")


def read_bool(text: str) -> None:
    if text not in ("true", "false"):
        raise ValueError(text)


def read_time(text: str) -> None:
    full = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[-+]\d\d:\d\d)", text)
    if full is None:
        raise ValueError(text)
    datetime.datetime.fromisoformat(full[1])


def read_geo(text: str) -> None:
    value = json.loads(text)
    if value["type"] not in ("Point", "Polygon", "MultiPolygon", "MultiPoint", "LineString"):
        raise ValueError(value["type"])
    if not isinstance(value["coordinates"], list):
        raise TypeError("coordinates")


def read_vector(text: str) -> None:
    for number in json.loads(text):
        float(number)


def read_password(text: str) -> None:
    # The loaders read a password as it is stored: a hash of bcrypt.
    if not re.fullmatch(r"\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}", text):
        raise ValueError("no hash")


READERS = {
    "string": str,
    "datetime": read_time,
    "int": read_int,
    "bool": read_bool,
    "float": float,
    "binary": base64.b64decode,
    "bigfloat": float,
    "password": read_password,
    "float32vector": read_vector,
    "geo": read_geo,
}
