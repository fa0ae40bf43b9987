"""What the embedded engine knows of a request without any data.

A mirror is an empty database with the schema of the cluster. It has the columns of a query, and
why a request is refused: in the words of the embedded database, with line, column and a hint. A
request goes to the cluster first in any case, so a mirror that is out of date refuses nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .._native import Database, SchemaReport, open_database
from .._native import Result as NativeResult
from ..errors import Error, ParseError
from . import schema


class Mirror:
    """An empty database, made when it is first needed, and anew when the schema has changed."""

    def __init__(self, fetch: Callable[[], dict[str, Any]]) -> None:
        self._fetch = fetch
        self._lock = threading.Lock()
        self._database: Database | None = None
        self._answer: dict[str, Any] = {}

    def database(self) -> Database:
        """Return the empty database."""
        with self._lock:
            if self._database is None:
                self._answer = self._fetch()
                self._database = _empty(schema.definitions(self._answer))
            return self._database

    def forget(self) -> None:
        """Read the schema again when it is next needed."""
        with self._lock:
            self._database = None

    def predicates(self) -> list[schema.Predicate]:
        """Return what the schema says of predicates."""
        self.database()
        return schema.predicates(self._answer)

    def result(self, dql: str, variables: dict[str, Any] | None) -> NativeResult | None:
        """Return the answer without data, or None where the embedded engine refuses the query."""
        try:
            return self.database().query(dql, variables)
        except Error:
            return None

    def parse_fault(self, dql: str, variables: dict[str, Any] | None) -> ParseError | None:
        """Return errors of the text of a query, or of lists in its variables."""
        try:
            self.database().query(dql, variables)
        except ParseError as error:
            return error
        except Error:
            return None
        return None

    def refusal(self, run: Callable[[Database], object]) -> Error | None:
        """Return how the embedded database refuses what `run` does, if it does."""
        self.forget()
        try:
            run(self.database())
        except Error as error:
            return error
        return None

    def altered(self, text: str, before: Database) -> SchemaReport:
        """Return what a change of the schema did to the one `before`."""
        try:
            return before.alter(text)
        except Error:
            # The cluster accepted what the embedded engine does not know.
            return before.alter("")


def _empty(definitions: list[str]) -> Database:
    database = open_database(None, False, (1, None), [], None, ("always", "64MiB", True, "auto"))
    try:
        database.alter("\n".join(definitions))
    except Error:
        # One that the embedded engine does not know leaves the others as they are.
        for definition in definitions:
            try:
                database.alter(definition)
            except Error:
                continue
    return database
