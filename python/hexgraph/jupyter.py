"""Magics of IPython after `%load_ext hexgraph`.

Cells are `%%hexgraph`, `%%dql`, `%%cypher` and `%%graphql`, lines `%cypher` and `%hexgraph`.

Needs IPython, which every notebook has, and is imported by `%load_ext` alone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from IPython.core import magic_arguments
from IPython.core.completer import SimpleCompletion, context_matcher
from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand

from ._native import Database, algorithms, cypher_functions, dql_keywords
from .errors import Error
from .lexer import FUNCTIONS
from .schemas.suggesting import parts_of

NAMES = ("hexgraph", "dql", "cypher", "graphql")
"""The names of the cells. All but the first are registered where no other extension has them."""

KINDS = ("result", "arrow", "pandas", "polars", "flat", "dict")

CYPHER_KINDS = tuple(kind for kind in KINDS if kind != "flat")

_DQL = dql_keywords()

DQL_WORDS = (
    *(f"{name}(" for name in FUNCTIONS),
    "shortest(",
    *_DQL["directive"],
    *(f"{name}:" for name in _DQL["argument"]),
)
"""What a cell is completed by, next to the names of the schema."""

CYPHER_WORDS = (
    "MATCH", "OPTIONAL MATCH", "WHERE", "WITH", "UNWIND", "RETURN", "DISTINCT", "ORDER BY", "SKIP",
    "OFFSET", "LIMIT", "UNION", "CALL", "YIELD", "EXISTS", "COUNT", "COLLECT", "AND", "OR", "XOR",
    "NOT", "IN", "IS NULL", "IS NOT NULL", "STARTS WITH", "ENDS WITH", "CONTAINS", "CASE", "WHEN",
    "THEN", "ELSE", "END", "AS", "ASC", "DESC", "NULLS FIRST", "NULLS LAST", "FILTER", "LET", "FOR",
    "db.labels()", "db.relationshipTypes()", "db.propertyKeys()",
    "shortestPath(", "allShortestPaths(",
    *(f"{name}(" for name in cypher_functions()),
    *(f"algo.{row['name']}(" for row in algorithms()),
)  # fmt: skip
"""What a cell of Cypher is completed by, next to the names of the schema."""

_PARAMETER = re.compile(r"\$(\w+)")
_HEAD = re.compile(r"\bquery\s*\w*\s*\(([^)]*)\)")
_VARIABLE = re.compile(r"\$(\w+)\s*:")


def parser(name: str, kinds: Sequence[str] = ()) -> Any:
    """Return what reads the options of a cell; `-h` of one prints them.

    The answer can become one of `kinds`, if there are some.
    """
    options = magic_arguments.MagicArgumentParser(f"%%{name}")
    options.add_argument("-d", "--db", help="the name of the database; the only one without")
    options.add_argument("-o", "--out", help="the variable that gets the answer")
    text = "name=expression for a variable of the query; others come from the notebook"
    options.add_argument("-v", "--var", action="append", default=[], help=text)
    options.add_argument("--timeout", type=float, help="most seconds for it")
    options.add_argument("--time", action="store_true", help="print its seconds")
    options.add_argument("--silent", action="store_true", help="show nothing")
    if kinds:
        text = "what the answer becomes"
        options.add_argument("-t", "--to", choices=kinds, default="result", help=text)
    if name == "dql":
        options.add_argument("--explain", action="store_true", help="plan it without running")
        options.add_argument("--profile", action="store_true", help="run it and show its plan")
        options.add_argument("--strict", action="store_true", help="unknown names are errors")
    return options


class Cells:
    """Cells of DQL, Cypher and GraphQL in a shell."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        """The shell, whose variables they read and set."""

    def dql(self, line: str, cell: str) -> Any:
        """Answer a query in DQL: `%%dql -o films --to polars`."""
        given = parser("dql", KINDS).parse_argstring(line)
        db = self.database(given.db)
        variables = self.variables(declared(cell), given.var)
        started = time.perf_counter()
        with plain_errors():
            if given.explain or given.profile:
                options = {"analyze": given.profile, "timeout": given.timeout}
                answer = db.explain(cell, variables, **options)
            else:
                options = {"timeout": given.timeout, "strict": True if given.strict else None}
                answer = converted(db.query(cell, variables, **options), given.to)
        return self.shown(given, answer, started)

    # A `$name` of the line is a parameter, and braces are a map.
    @no_var_expand  # type: ignore[untyped-decorator]
    def cypher(self, line: str, cell: str | None = None) -> Any:
        """Answer a query in Cypher: `%%cypher --to polars`, or `%cypher RETURN 1` on one line."""
        options, text = (line, cell) if cell is not None else ("", line)
        given = parser("cypher", CYPHER_KINDS).parse_argstring(options)
        db = self.database(given.db)
        params = self.variables(_PARAMETER.findall(text), given.var)
        started = time.perf_counter()
        with plain_errors():
            answer = converted(db.cypher(text, params, timeout=given.timeout), given.to)
        return self.shown(given, answer, started)

    def graphql(self, line: str, cell: str) -> Any:
        """Answer a GraphQL request: `%%graphql -v name=title`."""
        given = parser("graphql").parse_argstring(line)
        variables = self.variables(declared(cell), given.var)
        db, started = self.database(given.db), time.perf_counter()
        with plain_errors():
            answer = db.graphql(cell, variables, timeout=given.timeout)
        return self.shown(given, answer, started)

    def hexgraph(self, line: str) -> Any:
        """Describe a database: `%hexgraph`, or `%hexgraph db`."""
        return self.database(line.strip() or None).describe()

    def database(self, name: str | None) -> Any:
        """Return the database of a name, or the only one of the notebook.

        Raises UsageError where there is none, or more than one.
        """
        names = self.shell.user_ns
        if name is not None:
            if not hasattr(names.get(name), "query"):
                raise UsageError(f"{name} is no database: db = hexgraph.connect() makes one")
            return names[name]
        databases = {
            key: value
            for key, value in names.items()
            if not key.startswith("_") and is_database(value)
        }
        if len({id(value) for value in databases.values()}) == 1:
            return next(iter(databases.values()))
        if "db" in databases:
            return databases["db"]
        if not databases:
            raise UsageError("there is no database: db = hexgraph.connect() makes one")
        raise UsageError(f"there are several databases, say which with -d: {', '.join(databases)}")

    def variables(self, used: list[str], given: list[str]) -> dict[str, Any]:
        """Return the values of the variables of a query, as far as the notebook has them."""
        names = self.shell.user_ns
        values = {name: names[name] for name in used if name in names}
        for pair in given:
            name, equals, expression = pair.partition("=")
            if not equals:
                raise UsageError(f"--var {pair}: write it as name=expression")
            values[name.lstrip("$")] = self.shell.ev(expression)
        return values

    def shown(self, given: Any, answer: Any, started: float) -> Any:
        """Store an answer, and return what the cell shows."""
        if given.time:
            print(f"{time.perf_counter() - started:.4f} s")
        if given.out:
            self.shell.user_ns[given.out] = answer
            return None
        return None if given.silent else answer


def declared(cell: str) -> list[str]:
    """Return the variables that a query in DQL or GraphQL declares."""
    head = _HEAD.search(cell)
    return _VARIABLE.findall(head[1]) if head else []


@contextmanager
def plain_errors() -> Iterator[None]:
    """Let an error of the engine be shown by its words alone.

    The text that is wrong is that of the cell, which they quote: the frames are those of this file.
    `%tb` and `%debug` have them.
    """
    try:
        yield
    except Error as error:
        lines = [f"{type(error).__name__}: {error}"]
        # What IPython calls of an exception before it formats frames.
        setattr(error, "_render_traceback_", lambda: lines)  # noqa: B010
        raise


def converted(result: Any, kind: str) -> Any:
    """Return a result as one of `KINDS`."""
    how = {
        "arrow": "to_arrow",
        "pandas": "to_pandas",
        "polars": "to_polars",
        "flat": "flatten",
        "dict": "to_dict",
    }
    return getattr(result, how[kind])() if kind in how else result


def is_database(value: Any) -> bool:
    """Whether it is an embedded database or a cluster."""
    return isinstance(value, Database) or type(value).__name__ == "Cluster"


def load(shell: Any) -> None:
    """Register the magics, and the completion of names in their cells."""
    magics = Cells(shell)
    shell.register_magic_function(magics.hexgraph, "line", "hexgraph")
    shell.register_magic_function(magics.dql, "cell", "hexgraph")
    existing = shell.magics_manager.magics["cell"]
    alternatives = {
        "dql": "%%hexgraph, which is always ours",
        "cypher": "db.cypher(text)",
        "graphql": "db.graphql(text)",
    }
    for name, alternative in alternatives.items():
        if name in existing and not is_ours(existing[name]):
            print(f"%%{name} belongs to another extension: use {alternative}")
        else:
            kind = "line_cell" if name == "cypher" else "cell"
            shell.register_magic_function(getattr(magics, name), kind, name)

    @context_matcher()  # type: ignore[untyped-decorator]
    def complete(context: Any) -> dict[str, Any]:
        words: list[str] = []
        if cell := re.match(rf"%%({'|'.join(NAMES)})\b|%(cypher)\b", context.full_text):
            is_cypher = "cypher" in cell.groups()
            words = completed(magics, context, CYPHER_WORDS if is_cypher else DQL_WORDS)
        return {"completions": [SimpleCompletion(word) for word in words], "suppress": bool(words)}

    shell.Completer.custom_matchers.append(complete)


def is_ours(magic: Any) -> bool:
    """Whether a magic is one of this extension, which was loaded before."""
    owner = getattr(magic, "__self__", None)
    # A module that was loaded anew has another class of the same name.
    return type(owner).__module__ == __name__ and type(owner).__name__ == "Cells"


def completed(magics: Cells, context: Any, words: Sequence[str]) -> list[str]:
    """Return what may stand for the token at the cursor: predicates, types and some words."""
    try:
        predicates, types = parts_of(magics.database(None).schema())
    except UsageError:
        return []
    start = re.split(r"[^\w@.~$]", context.text_until_cursor)[-1]
    # The `@` of a directive is before the token.
    before = len(start.removesuffix(context.token))
    names = [name for name in [*predicates, *types, *words] if start and name.startswith(start)]
    return [name[before:] for name in names]
