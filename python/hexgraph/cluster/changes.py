"""`mutate` and `upsert`, which a connection and a transaction have with the same arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import requests
from .answers import Upsert
from .requests import Json


class Upserting(NamedTuple):
    """A call of `upsert`."""

    dql: str
    variables: dict[str, Any] | None
    arguments: dict[str, Any]
    """What is changed, as it was given."""
    messages: list[Any]
    """What is changed, as the cluster takes it."""
    timeout: float | None


class Changes(ABC):
    """Reads the arguments of changes. Subclasses send them."""

    def mutate(
        self,
        *given: object,
        set: str | None = None,  # noqa: A002 - as DQL calls it
        delete: str | None = None,
        set_json: Json | None = None,
        delete_json: Json | None = None,
    ) -> dict[str, str]:
        """Delete and set: in one commit, or in the transaction that it is called on.

        Returns the uids of new nodes by their blank nodes.
        """
        self._check_open()
        requests.refuse_unnamed(given)
        return self._mutate(
            {
                "set": set,
                "delete": delete,
                "set_json": set_json,
                "delete_json": delete_json,
            }
        )

    def upsert(  # noqa: PLR0913 - as the embedded one
        self,
        dql: str,
        variables: dict[str, Any] | None = None,
        *,
        set: str | None = None,  # noqa: A002 - as DQL calls it
        delete: str | None = None,
        set_json: Json | None = None,
        delete_json: Json | None = None,
        cond: str = "",
        mutations: Sequence[dict[str, Any]] | None = None,
        timeout: float | None = None,
    ) -> Upsert:
        """Run a query, and change its results: in one commit, or in the transaction."""
        self._check_open()
        arguments: dict[str, Any] = {
            "set": set,
            "delete": delete,
            "set_json": set_json,
            "delete_json": delete_json,
            "cond": cond,
            "mutations": mutations,
        }
        messages = requests.mutations(**arguments)
        return self._upsert(Upserting(dql, variables, arguments, messages, timeout))

    def _check_open(self) -> None:  # noqa: B027 - a connection needs no check
        """Raise where no further request may be sent."""

    @abstractmethod
    def _mutate(self, arguments: dict[str, Any]) -> dict[str, str]:
        """Send the statements that `mutate` was called with."""

    @abstractmethod
    def _upsert(self, given: Upserting) -> Upsert:
        """Send the query and the statements that `upsert` was called with."""
