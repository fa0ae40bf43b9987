"""A long result in pages: the query is given `first`, `after`, and a block with the uids of a page.

A query is read only as far as it takes to find the one block that is shown: its name, and the end
of the arguments of its root.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Self

from ..errors import NotSupportedError, QueryError
from .answers import Result
from .requests import json_of

_UIDS = "hexgraph_uids"
"""The block with the uids of the nodes of a page."""
_NODES = "hexgraph_nodes"
"""The variable that holds them, where the block has none."""

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+ | \#[^\n]*)
  | (?P<text>"(?:[^"\\\n]|\\.)*")
  | (?P<name>[A-Za-z_][\w.]*)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\n]|\\.)+/[a-z]*")
_AFTER = re.compile(r"\bafter\s*:")


@dataclasses.dataclass(frozen=True)
class Paged:
    """A query around the position where its page is written."""

    head: str
    """Up to the end of the arguments of the root."""
    tail: str
    """From there to the end of the last block."""
    rest: str
    """The bracket that closes the query, and fragments after it."""
    variable: str

    def text(self, size: int, after: int) -> str:
        """Return the query of one page: the `size` nodes after the uid `after`."""
        page = f", first: {size}, after: {after:#x}"
        uids = f"{_UIDS}(func: uid({self.variable})) {{ uid }}"
        return f"{self.head}{page}{self.tail}\n{uids}\n{self.rest}"


class Pages:
    """An iterator of results, a page each."""

    def __init__(self, paged: Paged, size: int, query: Callable[[str], Result]) -> None:
        self._paged = paged
        self._size = size
        self._query = query
        self._after = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Result:
        page = self._query(self._paged.text(self._size, self._after))
        data = page.to_dict()
        uids = data.pop(_UIDS, [])
        if not uids:
            raise StopIteration
        # With `@cascade` the variable holds all nodes that pass, not those of the page alone.
        self._after = sorted(int(node["uid"], 16) for node in uids)[: self._size][-1]
        return Result(json_of(data), page.latency, page.sent)


def split(dql: str) -> Paged:
    """Find the one block of a query that is shown, and split the query there.

    The embedded engine has checked already that there is such a block.
    """
    tokens = _tokens(dql)
    depth = 0
    block: tuple[int, int, str | None] | None = None
    end = 0
    for index, (kind, text, start) in enumerate(tokens):
        if text in ("{", "(", "["):
            depth += 1
        elif text in ("}", ")", "]"):
            depth -= 1
            # Behind the query there may be fragments.
            if depth == 0 and text == "}" and not end:
                end = start
        elif block is None and depth == 1 and kind == "name" and _is_block(tokens, index):
            block = _root(tokens, index)
    if block is None:
        raise QueryError("pages: the query must have exactly one block that is not var")
    begin, close, variable = block
    if _AFTER.search(dql, begin, close):
        raise NotSupportedError("pages: on a cluster a block can't have `after` of its own")
    mark = "" if variable else f"{_NODES} as "
    head = f"{dql[:begin]}{mark}{dql[begin:close]}"
    return Paged(head, dql[close:end], dql[end:], variable or _NODES)


def _tokens(dql: str) -> list[tuple[str, str, int]]:
    """Return kind, text and position of what the query is made of, without blanks and comments."""
    tokens: list[tuple[str, str, int]] = []
    calls: list[str] = []
    at = 0
    while at < len(dql):
        # A slash divides, but for one in the arguments of regexp.
        regex = _REGEX.match(dql, at) if dql[at] == "/" and calls[-1:] == ["regexp"] else None
        if regex:
            at = regex.end()
            continue
        match = _TOKEN.match(dql, at)
        assert match is not None, "the last alternative takes any letter"
        kind, text = str(match.lastgroup), match[0]
        if kind != "skip":
            if text == "(":
                calls.append(tokens[-1][1] if tokens else "")
            elif text == ")" and calls:
                calls.pop()
            tokens.append((kind, text, at))
        at = match.end()
    return tokens


def _is_block(tokens: list[tuple[str, str, int]], index: int) -> bool:
    """Whether a name begins the arguments of a block that is shown."""
    following = tokens[index + 1 : index + 2]
    is_call = bool(following) and following[0][1] == "("
    before = tokens[index - 1][1] if index else ""
    # A directive of a block has arguments, too.
    return is_call and before != "@" and tokens[index][1] not in ("var", "shortest")


def _root(tokens: list[tuple[str, str, int]], index: int) -> tuple[int, int, str | None]:
    """Return where a block begins, where the arguments of its root end, and its variable."""
    depth = 0
    close = len(tokens) - 1
    for at in range(index + 1, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[at][1], 0)
        if depth == 0:
            close = at
            break
    variable = None
    if index > 1 and tokens[index - 1][1] == "as":
        variable = tokens[index - 2][1]
    return tokens[index][2], tokens[close][2], variable
