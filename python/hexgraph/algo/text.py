"""The DQL text of a call of an algorithm."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Nodes: TypeAlias = str | int | Iterable[str | int]
"""Nodes: a root of DQL (`type(Person)`, with `@filter(...)` behind it), a uid, or several."""

Argument: TypeAlias = float | int | bool | str | None
"""The value of an argument; None for its default."""


class Text:
    """The text of one call while it is put together."""

    def __init__(self, name: str, on: tuple[str, ...], weight: str | None) -> None:
        """Begin with the edges: predicates, each with `@filter(...)` of its far end if wanted."""
        if not on:
            raise TypeError(f'{name} needs the predicate of its edges: {name}("follows")')
        for edges in on:
            if not isinstance(edges, str):
                raise TypeError(f"a predicate is a text, not {type(edges).__name__}")
        facet = "" if weight is None else f" @facets({weight})"
        self.name = name
        self.edges = " ".join(f"{edges}{facet}" for edges in on)
        self.blocks: list[str] = []
        self.arguments: list[str] = []

    def argument(self, name: str, value: Argument) -> None:
        """Add an argument; None leaves it out."""
        if isinstance(value, bool):
            value = str(value).lower()
        if value is not None:
            self.arguments.append(f"{name}: {value}")

    def nodes(self, name: str, nodes: Nodes | None) -> None:
        """Add an argument that is nodes; None leaves it out."""
        if nodes is None:
            return
        if isinstance(nodes, str) and "(" not in nodes and not _is_uid(nodes):
            raise ValueError(
                f"{name}={nodes!r} is no uid and no root of DQL: nodes are found by the predicate"
                f" of their ids, as in {name}='eq(xid, {_quoted(nodes)})'; a uid is written '0x1f'"
            )
        if isinstance(nodes, str) and not _is_uid(nodes):
            variable = f"hexgraph_{name}"
            end = _root_end(nodes)
            self.blocks.append(f"{variable} as var(func: {nodes[:end]}) {nodes[end:]}")
            self.arguments.append(f"{name}: uid({variable})")
            return
        uids = [nodes] if isinstance(nodes, (str, int)) else list(nodes)
        self.arguments.append(f"{name}: uid({', '.join(_uid(uid) for uid in uids)})")

    def dql(self) -> str:
        """Return the whole query."""
        head = f"{self.name}({', '.join(self.arguments)})"
        return "\n".join(["{", *self.blocks, f"{head} {{ {self.edges} }}", "}"])


def _uid(uid: str | int) -> str:
    if isinstance(uid, str) and _is_uid(uid):
        return uid
    try:
        number = int(uid)
    except (TypeError, ValueError):
        number = -1
    if number < 0 or isinstance(uid, (str, bool)):
        raise ValueError(f"a uid is a number from 1 on, or a text like '0x1f', not {uid!r}")
    return hex(number)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_uid(text: str) -> bool:
    digits = text.strip().lower().removeprefix("0x")
    is_hex = text.strip().lower().startswith("0x")
    known = "0123456789abcdef" if is_hex else "0123456789"
    return bool(digits) and all(digit in known for digit in digits)


def _root_end(text: str) -> int:
    """Return where the root function ends: behind the bracket that closes its first one."""
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
                return place + 1
    return len(text)
