"""Deletes nodes with all values and edges: the argument and the result of `Database.delete`."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._native import Database, Result, Txn, delete_nodes
from .algo.text import _root_of, root_or_uids, uid_number


class Deleted(NamedTuple):
    """The result of a delete."""

    nodes: int
    """The number of nodes that had a value, an edge, or an incoming edge."""

    values: int
    """The number of their values, including types."""

    edges: int
    """The number of their outgoing and incoming edges."""


def delete(owner: Database | Txn, nodes: Any, variables: Any, timeout: float | None) -> Deleted:
    """Delete nodes and return how much is gone; as `Database.delete` and `Txn.delete`."""
    uids, dql = selected(nodes)
    return Deleted(*delete_nodes(owner, uids, dql, variables, timeout))


def selected(nodes: Any) -> tuple[list[int], str | None]:
    """Return the uids that an argument means, or a query in DQL that selects the nodes.

    Raises TypeError and ValueError for what is neither.
    """
    if isinstance(nodes, Result):
        return _uids_of(nodes), None
    if isinstance(nodes, str) and nodes.lstrip().startswith(("{", "query", "#", "fragment")):
        return [], nodes
    given = root_or_uids("nodes", nodes)
    if isinstance(given, str):
        root, rest = _root_of(given)
        return [], f"{{ q(func: {root}) {rest} }}"
    return given, None


def _uids_of(result: Result) -> list[int]:
    """Return the uids of the rows of a result: of its only block, and not of what lies below."""
    blocks = result.to_dict()
    if len(blocks) != 1:
        raise ValueError(f"a delete takes a result of one block, and this one has {len(blocks)}")
    (name, rows), *_ = blocks.items()
    if not all(isinstance(row, dict) and "uid" in row for row in rows):
        query = f"{{ {name}(func: ...) {{ uid }} }}"
        raise ValueError(
            f"the rows of `{name}` have no uid, which a query returns by name: {query}"
        )
    return [uid_number(row["uid"]) for row in rows]
