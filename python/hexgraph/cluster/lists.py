"""Lists as the values of variables.

Over gRPC a variable is a text. Where a list of nodes, a vector or coordinates are expected, the
text of the list does; `eq` and `uid_in` accept no such text, so there the list is written into the
query.
"""

from __future__ import annotations

import json
import re

from .._native import variable_texts

_CALL = r"\b(eq|uid_in)(\s*\((?:[^()\"]|\([^()]*\))*,\s*)\$%s(?=\s*\))"
_DECLARED = r"\$%s\s*:\s*[\w\[\]]+\s*!?\s*(?:=\s*(?:\"(?:[^\"\\]|\\.)*\"|[-\w.]+)\s*)?"
_UID = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")


def may_be_in(variables: dict[str, object] | None) -> bool:
    """Whether some value is none of the usual single ones."""
    return any(not isinstance(it, (str, int, float)) for it in (variables or {}).values())


def inlined(dql: str, variables: dict[str, object] | None) -> tuple[str, dict[str, str]]:
    """Return the query as it is sent, and the texts of its variables by their names with `$`.

    Raises what the embedded database does for values that have no text.
    """
    texts: dict[str, str] = {}
    for name, text, items in variable_texts(variables):
        if items is not None:
            dql, is_gone = _written(dql, name.removeprefix("$"), items)
            if is_gone:
                continue
        texts[name] = text
    return dql, texts


def _written(dql: str, name: str, items: list[str]) -> tuple[str, bool]:
    """Write a list where its variable stands, and return whether nothing is left of that."""
    if not items:
        return dql, False

    def call(match: re.Match[str]) -> str:
        function, before = match.groups()
        if function == "uid_in":
            if not all(_UID.fullmatch(item) for item in items):
                return match[0]
            return f"{function}{before}[{', '.join(items)}]"
        return f"{function}{before}{json.dumps(items, ensure_ascii=False)}"

    written = re.sub(_CALL % re.escape(name), call, dql)
    if written == dql:
        return dql, False
    declared = _DECLARED % re.escape(name)
    undeclared = re.sub(rf",\s*{declared}|{declared},?\s*", "", written, count=1)
    if re.search(rf"\${re.escape(name)}\b", undeclared):
        return written, False
    # A query that declares nothing has no head.
    return re.sub(r"^\s*query\b[^({]*\(\s*\)\s*", "", undeclared, count=1), True
