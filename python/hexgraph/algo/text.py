"""The DQL text of a call of an algorithm."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..errors import ParseError, QueryError, about

if TYPE_CHECKING:
    from .._native import Database

Nodes: TypeAlias = str | int | Iterable[str | int]
"""Nodes: a root of DQL (`type(Person)`, with `@filter(...)` after it), a uid, or several."""

Argument: TypeAlias = float | int | bool | str | Iterable[float] | None
"""The value of an argument; None for its default."""

Groups: TypeAlias = str | Any
"""Groups of nodes: the name of a predicate, a dict by uid, or the result of another algorithm."""


class Text:
    """The text of one call while it is put together."""

    def __init__(self, name: str, on: tuple[str, ...], weight: str | None) -> None:
        """Begin with the edges: predicates, each with an optional `@filter(...)`."""
        for edges in on:
            if not isinstance(edges, str):
                raise TypeError(f"a predicate is a text, not {type(edges).__name__}")
        self.name = name
        self.on = on
        self.weight = weight
        self.values: dict[str, Argument] = {}
        self.lists: dict[str, str | list[int]] = {}
        self.groups: dict[str, Groups] = {}

    def argument(self, name: str, value: Argument) -> None:
        """Add an argument; None leaves it out."""
        if value is not None:
            self.values[name] = value

    def nodes(self, name: str, nodes: Nodes | None) -> None:
        """Add an argument that is nodes; None leaves it out."""
        if nodes is not None:
            self.lists[name] = root_or_uids("from_nodes" if name == "from" else name, nodes)

    def dql(self) -> str:
        """Return the entire query."""
        if not self.on:
            raise TypeError(without_predicate(self.name, f'{self.name}("follows")'))
        blocks, arguments = [], []
        for name, nodes in self.lists.items():
            if isinstance(nodes, str):
                variable = f"hexgraph_{name}"
                root, rest = _root_of(nodes)
                blocks.append(f"{variable} as var(func: {root}) {rest}")
                arguments.append(f"{name}: uid({variable})")
            else:
                arguments.append(f"{name}: uid({', '.join(map(hex, nodes))})")
        arguments += [f"{name}: {written(value)}" for name, value in self.values.items()]
        arguments += [f"{name}: {predicate}" for name, predicate in self.groups.items()]
        facet = "" if self.weight is None else f" @facets({self.weight})"
        edges = " ".join(f"{predicate}{facet}" for predicate in self.on)
        head = f"{self.name}({', '.join(arguments)})"
        return "\n".join(["{", *blocks, f"{head} {{ {edges} }}", "}"])


@contextmanager
def about_weight(text: Text) -> Iterator[None]:
    """Let the error of a weight that not all predicates have say how only some of them weigh."""
    try:
        yield
    except QueryError as error:
        names = [re.sub(r"^\s*~?<?|[>\s@].*", "", edges, flags=re.DOTALL) for edges in text.on]
        lacks = [error.message.startswith(f"no edge of `{name}` has the facet") for name in names]
        if text.weight is None or not any(lacks) or all(lacks):
            raise
        facet = f" @facets({text.weight})"
        given = (f'"{on}{"" if no else facet}"' for on, no in zip(text.on, lacks, strict=True))
        hint = f"say which edges weigh: {', '.join(given)}, and no weight="
        raise QueryError(error.message, hint=hint) from None


def written(value: Argument) -> str:
    """Return the value of an argument as a query has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return f"[{', '.join(str(number) for number in value)}]"
    return str(value)


def without_predicate(name: str, example: str) -> str:
    """Return errors of a call that names no edges."""
    return f"{name} needs the predicate of its edges: {example}"


def root_or_uids(name: str, nodes: Nodes) -> str | list[int]:
    """Return the nodes of an argument: a root of DQL as it is, uids as numbers.

    Raises TypeError and ValueError for what is neither.
    """
    if isinstance(nodes, str):
        # A text that was read from a file may begin with a byte order mark.
        nodes = nodes.removeprefix("\ufeff")
    if isinstance(nodes, str) and not _is_uid(nodes):
        if "(" in nodes:
            return nodes
        raise ValueError(
            f"{name}={nodes!r} is no uid and no root of DQL: nodes are found by the predicate"
            f" of their ids, as in {name}='eq(xid, {_quoted(nodes)})'; a uid is written '0x1f'"
        )
    if isinstance(nodes, Mapping):
        raise TypeError(
            f"{name} is a list of nodes, which all count the same: weights of them, as"
            f" {type(nodes).__name__} has, are not supported; {name}=list(...) takes its keys"
        )
    given: Any = nodes
    # Arrays give numbers of Python all at once. A number of numpy is one, too.
    given = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(given, (str, bool)) or hasattr(given, "__index__"):
        return [uid_number(given)]
    if isinstance(given, (bytes, bytearray, memoryview)) or not isinstance(given, Iterable):
        raise TypeError(
            f"{name} is a root of DQL like 'type(Person)', a uid, or several, not {given!r}"
        )
    return [uid_number(uid) for uid in given]


def uid_number(uid: Any) -> int:
    """Return a uid as a number; raise TypeError and ValueError for what is none."""
    if isinstance(uid, str) and _is_uid(uid):
        number = int(uid, 16 if uid.strip().lower().startswith("0x") else 10)
    elif hasattr(uid, "__index__") and not isinstance(uid, bool):
        number = operator.index(cast(Any, uid))
    else:
        kind = ValueError if isinstance(uid, str) else TypeError
        raise kind(f"a uid is a whole number, or a text like '0x1f', not {uid!r}")
    if number < 0:
        raise ValueError(f"a uid is a number from 1 on, or a text like '0x1f', not {uid!r}")
    if number >> 64:
        raise ParseError(f"the uid `{uid}` is too large (uids have 64 bits)")
    return number


def uids_of(db: Database, name: str, nodes: Nodes) -> list[int]:
    """Return the uids of the nodes of an argument; those of a root of DQL are requested."""
    given = root_or_uids(name, nodes)
    if not isinstance(given, str):
        return given
    root, rest = _root_of(given)
    with about(f"the nodes {nodes!r}"):
        rows = db.query(f"{{ q(func: {root}) {rest} {{ uid }} }}")
    return [uid_number(row["uid"]) for row in rows]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_uid(text: str) -> bool:
    digits = text.strip().lower().removeprefix("0x")
    is_hex = text.strip().lower().startswith("0x")
    allowed = "0123456789abcdef" if is_hex else "0123456789"
    return bool(digits) and all(digit in allowed for digit in digits)


def _root_of(text: str) -> tuple[str, str]:
    """Return the root function, up to the bracket that closes its first one, and what follows.

    >>> _root_of("type(Person) @filter(ge(age, 18))")
    ('type(Person)', ' @filter(ge(age, 18))')
    >>> _root_of("type(Person")
    Traceback (most recent call last):
    ValueError: the nodes 'type(Person' have a bracket that is never closed
    """
    depth, quote, is_escaped = 0, "", False
    for index, letter in enumerate(text):
        if quote:
            if is_escaped:
                is_escaped = False
            elif letter == "\\":
                is_escaped = True
            elif letter == quote:
                quote = ""
        elif letter == '"':
            quote = letter
        elif letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
            if depth == 0:
                return text[: index + 1], text[index + 1 :]
    if depth > 0:
        raise ValueError(f"the nodes {text!r} have a bracket that is never closed")
    return text, ""
