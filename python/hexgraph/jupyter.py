"""Magics of IPython: `%load_ext hexgraph`, then `%%hexgraph`, `%%dql`, `%%graphql`, `%hexgraph`.

Needs IPython, which every notebook has, and is imported by `%load_ext` alone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core import magic_arguments
from IPython.core.completer import SimpleCompletion, context_matcher
from IPython.core.error import UsageError

from ._native import Database
from .errors import Error
from .schemas.suggesting import parts_of

NAMES = ("hexgraph", "dql", "graphql")
"""The names of the cells. The last two are registered where no other extension has them."""

KINDS = ("result", "arrow", "pandas", "polars", "flat", "dict")

FUNCTIONS = (
    "func:", "has(", "eq(", "le(", "lt(", "ge(", "gt(", "between(", "allofterms(", "anyofterms(",
    "alloftext(", "anyoftext(", "ngram(", "regexp(", "match(", "type(", "uid(", "uid_in(",
    "near(", "within(", "contains(", "intersects(", "similar_to(", "count(", "len(", "val(",
    "min(", "max(", "sum(", "avg(", "median(", "quantile(", "stddev(", "variance(", "math(",
    "expand(", "checkpwd(", "shortest(", "floor(",
    "ceil(", "since(", "exp(", "ln(", "sqrt(", "pow(", "logbase(", "dot(", "cond(", "@filter(",
    "@cascade", "@normalize", "@facets", "@groupby(", "@recurse(", "@ignorereflex", "first:",
    "offset:", "after:", "orderasc:", "orderdesc:", "from:", "to:", "numpaths:", "minweight:",
    "maxweight:", "maxfrontiersize:", "depth:",
)  # fmt: skip
"""What a cell is completed by, next to the names of the schema."""

_HEAD = re.compile(r"\bquery\s*\w*\s*\(([^)]*)\)")
_VARIABLE = re.compile(r"\$(\w+)\s*:")


def parser(name: str, *, is_dql: bool) -> Any:
    """Return what reads the options of a cell; `-h` of one prints them."""
    options = magic_arguments.MagicArgumentParser(f"%%{name}")
    options.add_argument("-d", "--db", help="the name of the database; the only one without")
    options.add_argument("-o", "--out", help="the variable that gets the answer")
    text = "name=expression for a variable of the query; others come from the notebook"
    options.add_argument("-v", "--var", action="append", default=[], help=text)
    options.add_argument("--timeout", type=float, help="most seconds for it")
    options.add_argument("--time", action="store_true", help="print its seconds")
    options.add_argument("--silent", action="store_true", help="show nothing")
    if is_dql:
        text = "what the answer becomes"
        options.add_argument("-t", "--to", choices=KINDS, default="result", help=text)
        options.add_argument("--explain", action="store_true", help="show how it is answered")
        options.add_argument("--strict", action="store_true", help="unknown names are errors")
    return options


class Cells:
    """Cells of DQL and GraphQL in a shell."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        """The shell, whose variables they read and set."""

    def dql(self, line: str, cell: str) -> Any:
        """Answer a query in DQL: `%%dql -o films --to polars`."""
        given = parser("dql", is_dql=True).parse_argstring(line)
        db = self.database(given.db)
        variables = self.variables(cell, given.var)
        started = time.perf_counter()
        with plain_errors():
            if given.explain:
                answer = db.explain(cell, variables, timeout=given.timeout)
            else:
                options = {"timeout": given.timeout, "strict": True if given.strict else None}
                answer = converted(db.query(cell, variables, **options), given.to)
        return self.shown(given, answer, started)

    def graphql(self, line: str, cell: str) -> Any:
        """Answer a GraphQL request: `%%graphql -v name=title`."""
        given = parser("graphql", is_dql=False).parse_argstring(line)
        variables = self.variables(cell, given.var)
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

    def variables(self, cell: str, given: list[str]) -> dict[str, Any]:
        """Return the values of the variables that a query declares, as far as there are any."""
        head = _HEAD.search(cell)
        declared = _VARIABLE.findall(head[1]) if head else []
        names = self.shell.user_ns
        values = {name: names[name] for name in declared if name in names}
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
    how: dict[str, Callable[[], Any]] = {
        "result": lambda: result,
        "arrow": result.to_arrow,
        "pandas": result.to_pandas,
        "polars": result.to_polars,
        "flat": result.flatten,
        "dict": result.to_dict,
    }
    return how[kind]()


def is_database(value: Any) -> bool:
    """Whether it is an embedded database or a cluster."""
    return isinstance(value, Database) or type(value).__name__ == "Cluster"


def load(shell: Any) -> None:
    """Register the magics, and the completion of names in their cells."""
    magics = Cells(shell)
    shell.register_magic_function(magics.hexgraph, "line", "hexgraph")
    shell.register_magic_function(magics.dql, "cell", "hexgraph")
    existing = shell.magics_manager.magics["cell"]
    for name in ("dql", "graphql"):
        if name in existing and not is_ours(existing[name]):
            print(f"%%{name} belongs to another extension: use %%hexgraph, which is always ours")
        else:
            shell.register_magic_function(getattr(magics, name), "cell", name)

    @context_matcher()  # type: ignore[untyped-decorator]
    def complete(context: Any) -> dict[str, Any]:
        words: list[str] = []
        if re.match(rf"%%({'|'.join(NAMES)})\b", context.full_text):
            words = names_for(magics, context.token)
        return {"completions": [SimpleCompletion(word) for word in words], "suppress": bool(words)}

    shell.Completer.custom_matchers.append(complete)


def is_ours(magic: Any) -> bool:
    """Whether a magic is one of this extension, which was loaded before."""
    owner = getattr(magic, "__self__", None)
    # A module that was loaded anew has another class of the same name.
    return type(owner).__module__ == __name__ and type(owner).__name__ == "Cells"


def names_for(magics: Cells, start: str) -> list[str]:
    """Return predicates, types and functions that begin so."""
    try:
        predicates, types = parts_of(magics.database(None).schema())
    except UsageError:
        return []
    start = re.split(r"[^\w@.~$]", start)[-1]
    return [name for name in [*predicates, *types, *FUNCTIONS] if start and name.startswith(start)]
