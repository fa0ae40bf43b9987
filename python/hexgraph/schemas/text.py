"""The schema as a text that renders itself."""

from __future__ import annotations

import weakref
from typing import Any

from ..errors import Error


class SchemaText(str):
    """A schema in the language of `Database.alter`; in notebooks also its picture."""

    _db: Any = None

    @classmethod
    def of(cls, db: Any) -> SchemaText:
        """Return the schema of a database."""
        text = cls(db._schema())
        # The text must not hold the database in memory.
        text._db = weakref.ref(db)
        return text

    def svg(self) -> str:
        """Return the picture as SVG: types, predicates and edges, with counts from the database.

        Where the database is closed or gone there are no counts.
        """
        from ..pictures.schema import schema_svg

        db = self._db() if self._db is not None else None
        try:
            description = None if db is None else db.describe()
        except Error:
            description = None
        return schema_svg(str(self), description)

    def _repr_html_(self) -> str:
        from html import escape

        return f"{self.svg()}<details><summary>as text</summary><pre>{escape(self)}</pre></details>"
