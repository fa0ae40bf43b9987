"""The DQL text of a call of an algorithm."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import about

if TYPE_CHECKING:
    from .._native import Database

Nodes: TypeAlias = str | int | Iterable[str | int]
"""Nodes: a root of DQL (`type(Person)`, with `@filter(...)` behind it), a uid, or several."""

Argument: TypeAlias = float | int | bool | str | Iterable[float] | None
"""The value of an argument; None for its default."""

Groups: TypeAlias = str | Any
"""Groups of nodes: the name of a predicate, a dict by uid, or the result of another algorithm."""


class Text:
    """The text of one call while it is put together."""

    def __init__(self, name: str, on: tuple[str, ...], weight: str | None) -> None:
        """Begin with the edges: predicates, each with `@filter(...)` of its far end if wanted."""
        for edges in on:
            if not isinstance(edges, str):
                raise TypeError(f"a predicate is a text, not {type(edges).__name__}")
        self.name = name
        self.on = on
        self.weight = weight
        self.values: dict[str, Argument] = {}
        self.lists: dict[str, Nodes] = {}
        self.groups: dict[str, Groups] = {}

    def argument(self, name: str, value: Argument) -> None:
        """Add an argument; None leaves it out."""
        if value is not None:
            self.values[name] = value

    def nodes(self, name: str, nodes: Nodes | None) -> None:
        """Add an argument that is nodes; None leaves it out."""
        if nodes is None:
            return
        if isinstance(nodes, str) and "(" not in nodes and not _is_uid(nodes):
            raise ValueError(
                f"{name}={nodes!r} is no uid and no root of DQL: nodes are found by the predicate"
                f" of their ids, as in {name}='eq(xid, {_quoted(nodes)})'; a uid is written '0x1f'"
            )
        self.lists[name] = nodes

    def dql(self) -> str:
        """Return the whole query."""
        if not self.on:
            name = self.name
            raise TypeError(f'{name} needs the predicate of its edges: {name}("follows")')
        blocks, arguments = [], []
        for name, nodes in self.lists.items():
            if isinstance(nodes, str) and not _is_uid(nodes):
                variable = f"hexgraph_{name}"
                root, rest = _root_of(nodes)
                blocks.append(f"{variable} as var(func: {root}) {rest}")
                arguments.append(f"{name}: uid({variable})")
            else:
                arguments.append(f"{name}: uid({', '.join(map(_uid, listed(nodes)))})")
        arguments += [f"{name}: {written(value)}" for name, value in self.values.items()]
        arguments += [f"{name}: {predicate}" for name, predicate in self.groups.items()]
        facet = "" if self.weight is None else f" @facets({self.weight})"
        edges = " ".join(f"{predicate}{facet}" for predicate in self.on)
        head = f"{self.name}({', '.join(arguments)})"
        return "\n".join(["{", *blocks, f"{head} {{ {edges} }}", "}"])


def written(value: Argument) -> str:
    """Return the value of an argument as a query has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return f"[{', '.join(str(number) for number in value)}]"
    return str(value)


def listed(nodes: Nodes) -> list[str | int]:
    """Return nodes as a list of uids."""
    return [nodes] if isinstance(nodes, (str, int)) else list(nodes)


def _uid(uid: str | int) -> str:
    return uid if isinstance(uid, str) and _is_uid(uid) else hex(uid_number(uid))


def uid_number(uid: str | int) -> int:
    """Return a uid as a number; raise ValueError for what is none."""
    if isinstance(uid, str) and _is_uid(uid):
        return int(uid, 16 if uid.strip().lower().startswith("0x") else 10)
    try:
        number = int(uid)
    except (TypeError, ValueError):
        number = -1
    if number < 0 or isinstance(uid, (str, bool)):
        raise ValueError(f"a uid is a number from 1 on, or a text like '0x1f', not {uid!r}")
    return number


def uids_of(db: Database, nodes: Nodes) -> list[int]:
    """Return the uids of nodes; those of a root of DQL are asked for."""
    if not isinstance(nodes, str) or _is_uid(nodes):
        return [uid_number(uid) for uid in listed(nodes)]
    root, rest = _root_of(nodes)
    with about(f"the nodes {nodes!r}"):
        found = db.query(f"{{ q(func: {root}) {rest} {{ uid }} }}")
    return [uid_number(row["uid"]) for row in found]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_uid(text: str) -> bool:
    digits = text.strip().lower().removeprefix("0x")
    is_hex = text.strip().lower().startswith("0x")
    known = "0123456789abcdef" if is_hex else "0123456789"
    return bool(digits) and all(digit in known for digit in digits)


def _root_of(text: str) -> tuple[str, str]:
    """Return the root function, up to the bracket that closes its first one, and what follows.

    >>> _root_of("type(Person) @filter(ge(age, 18))")
    ('type(Person)', ' @filter(ge(age, 18))')
    >>> _root_of("type(Person")
    Traceback (most recent call last):
    ValueError: the nodes 'type(Person' have a bracket that is never closed
    """
    depth, quote, is_escaped = 0, "", False
    for place, letter in enumerate(text):
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
                return text[: place + 1], text[place + 1 :]
    if depth > 0:
        raise ValueError(f"the nodes {text!r} have a bracket that is never closed")
    return text, ""
