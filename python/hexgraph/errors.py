"""What can go wrong, named by what you can do about it.

All exceptions of hexgraph derive from `Error` and can be pickled, so they cross process pools.
"""

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_PACKAGE = __name__.partition(".")[0] + "."
"""What the names of the modules of this package begin with."""

_SHOWN = 66
"""The most characters of a line of text that a message shows."""


class Error(Exception):
    """The base of all exceptions of hexgraph.

    >>> import hexgraph
    >>> try:
    ...     hexgraph.connect().query("{ q(func: has(name)) { name }")
    ... except hexgraph.Error as error:
    ...     print(type(error).__name__, error, sep=": ")
    ParseError: line 1 column 1: `{` is never closed (add `}`)
        { q(func: has(name)) { name }
        ^
    """


class _TextError(Error):
    """An error at a position of a text."""

    message: str
    """What is wrong."""
    line: int
    """The line, from 1; 0 if the position is unknown."""
    column: int
    """The byte within the line, from 1; 0 if the position is unknown."""
    hint: str
    """What to write instead; empty if there is no proposal."""
    source: str
    """The line of the text with the error."""

    def __init__(
        self, message: str, line: int = 0, column: int = 0, hint: str = "", source: str = ""
    ) -> None:
        super().__init__(message, line, column, hint, source)
        self.message = message
        self.line = line
        self.column = column
        self.hint = hint
        self.source = source

    def __str__(self) -> str:
        position = f"line {self.line} column {self.column}: " if self.line else ""
        hint = f" ({self.hint})" if self.hint else ""
        text = f"{position}{self.message}{hint}"
        return f"{text}\n{self._marked()}" if self.line and self.source else text

    def _marked(self) -> str:
        """Return the line, cut to the width of a terminal, and below it a mark at the position."""
        before = self.source.encode()[: max(0, self.column - 1)].decode(errors="replace")
        start = max(0, len(before) - _SHOWN // 2) if len(self.source) > _SHOWN else 0
        shown = self.source[start : start + _SHOWN]
        head = "..." if start else ""
        tail = "..." if start + _SHOWN < len(self.source) else ""
        indent = "".join("\t" if letter == "\t" else " " for letter in before[start:])
        return f"    {head}{shown}{tail}\n    {' ' * len(head)}{indent}^"


@contextmanager
def about(what: str) -> Iterator[None]:
    """Make errors of a generated query name the caller's argument, and no position.

    >>> with about("the fields 'nmae('"):
    ...     raise ParseError("unexpected `(`", 1, 25, "remove it", "{ q(func: uid(1)) { nmae( } }")
    Traceback (most recent call last):
    hexgraph.errors.ParseError: the fields 'nmae(': unexpected `(` (remove it)
    """
    try:
        yield
    except _TextError as error:
        raise type(error)(f"{what}: {error.message}", hint=error.hint) from None


class ParseError(_TextError):
    """The text is not valid DQL, schema or RDF. Fix the text.

    >>> import hexgraph
    >>> try:
    ...     hexgraph.connect().query("{ q(func: has(name) { name } }")
    ... except hexgraph.ParseError as error:
    ...     error.line, error.column, error.message
    (1, 21, 'found `{` while `(` is open')
    """


class SchemaError(_TextError):
    """The schema forbids it. Fix the request, or alter the schema.

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> try:
    ...     db.index("nmae", "term")
    ... except hexgraph.SchemaError as error:
    ...     error.message, error.hint
    ('there is no predicate `nmae`', 'there are none')
    """


class QueryError(_TextError):
    """The request is well formed but can't be executed. Fix the request.

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> _ = db.alter("name: string .")
    >>> try:
    ...     db.query('{ q(func: eq(name, "Ada")) { name } }')
    ... except hexgraph.QueryError as error:
    ...     error.message, error.hint.split(",")[0]
    ('predicate `name` has no index of its values', 'add `@index(exact)` to the schema of `name`')
    """


class LimitError(Error):
    """A limit was reached, such as the timeout of a query. Request less, or raise the limit.

    >>> import hexgraph
    >>> db = hexgraph.datasets.social(10_000, seed=1)
    >>> try:
    ...     db.query("{ q(func: type(Person)) { follows { follows { name } } } }", timeout=1e-6)
    ... except hexgraph.LimitError as error:
    ...     print(error)
    the request took longer than its timeout of 0.000001 s: request less, or raise `timeout`
    """


class ConflictError(Error):
    """Another transaction changed the same data first. Try again.

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> one, other = db.txn(), db.txn()
    >>> _ = one.mutate(set='<1> <name> "Ada" .'), other.mutate(set='<1> <name> "Bob" .')
    >>> one.commit()
    >>> try:
    ...     other.commit()
    ... except hexgraph.ConflictError as error:
    ...     print(error)
    Transaction has been aborted. Please retry
    """


class ClosedError(Error):
    """The database was closed. Open it again.

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> db.close()
    >>> try:
    ...     db.stats()
    ... except hexgraph.ClosedError as error:
    ...     print(error)
    the database is closed
    """


class AccessError(Error):
    """The login failed, or lacks a right. Log in as a user with the right."""


class NotSupportedError(Error):
    """A cluster does not support this. The message names an alternative."""


class ReadOnlyError(Error):
    """The database is read-only here. Open it for writing, in one process only.

    >>> import hexgraph, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "films"
    >>> hexgraph.connect(folder).close()
    >>> try:
    ...     hexgraph.connect(folder, read_only=True).alter("name: string .")
    ... except hexgraph.ReadOnlyError as error:
    ...     print(str(error).removeprefix(str(folder)))
     is open read-only
    """


class LoadError(Error):
    r"""A file holds something that can't be stored. Fix the file, or load with on_error="skip".

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> try:
    ...     db.load(b'<1> <age> "36" .\n<2> <age> "old" .', schema="age: int .")
    ... except hexgraph.LoadError as error:
    ...     error.line, error.message
    (2, '`old` is no int (`age` of 0x2 is of type int)')
    >>> db.query("{ q(func: has(age)) { age } }").rows()
    []
    """

    message: str
    """The reason."""
    file: str
    """The name of the file, or "<bytes>"."""
    line: int
    """The line, from 1."""
    column: int
    """The byte within the line, from 1."""

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message, file, line, column)
        self.message = message
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


class CorruptError(Error):
    """A snapshot is damaged, truncated or not a hexgraph file. Restore it, or rebuild it.

    >>> import hexgraph, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "films"
    >>> db = hexgraph.connect()
    >>> _ = db.mutate(set='<1> <name> "Ada" .')
    >>> db.save(folder)
    >>> [file] = folder.glob("*.hxs")
    >>> _ = file.write_bytes(file.read_bytes()[:-9])
    >>> try:
    ...     hexgraph.connect(folder)
    ... except hexgraph.CorruptError as error:
    ...     print(error.path.removeprefix(str(folder)))
    /snapshot-1.hxs
    """

    message: str
    """The position and the kind of the damage."""
    path: str
    """The file."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message, path)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class InternalError(Error):
    """A bug of hexgraph. Please report it, with its text."""

    message: str
    """The violated assumption."""
    location: str
    """The position in the source of hexgraph, as file:line:column; empty if unknown."""

    def __init__(self, message: str, location: str = "") -> None:
        super().__init__(message, location)
        self.message = message
        self.location = location

    def __str__(self) -> str:
        location = f" ({self.location})" if self.location else ""
        return f"a fault of hexgraph, please report it: {self.message}{location}"


class StorageError(Error, OSError):
    """The operating system reported an error. `errno` is its number, if there is one.

    >>> import hexgraph
    >>> try:
    ...     hexgraph.connect().load("/no/such/file.rdf")
    ... except hexgraph.StorageError as error:
    ...     print(error)
    opening /no/such/file.rdf: No such file or directory (os error 2)
    """

    message: str
    """The operation, and the reason."""

    def __init__(self, message: str, errno: int | None = None) -> None:
        super().__init__(message, errno)
        self.args = (message, errno)
        self.message = message
        self.errno = errno

    def __str__(self) -> str:
        return self.message


class QueryWarning(UserWarning):
    """A query succeeded, but likely has a mistake: see `Result.warnings`.

    Python shows it once for each line of a program. `warnings.simplefilter("ignore",
    hexgraph.QueryWarning)` silences all of its kinds, "error" instead makes them exceptions,
    and `connect(..., warnings=False)` disables them. `kind` is the name that the server uses, as
    "missing_values".

    >>> import hexgraph, warnings
    >>> db = hexgraph.connect()
    >>> _ = db.load_nodes([{"name": "a", "x": 1, "y": 2}, {"name": "b", "y": 3}], id=None)
    >>> dql = "{ q(func: has(name), orderasc: name) { v as x w as y sum: math(v + w) } }"
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     _ = db.query(dql).rows()
    >>> caught[0].category.__name__, caught[0].message.kind
    ('QueryWarning', 'missing_values')
    """

    kind: str = ""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


class UnknownNameWarning(QueryWarning):
    """A query uses a name that the schema does not have: see `Result.warnings`.

    It is not emitted while the schema is empty. `db.query(..., strict=True)` refuses such queries.

    >>> import hexgraph, warnings
    >>> db = hexgraph.connect()
    >>> _ = db.mutate(set='_:a <name> "Ada" .')
    >>> result = db.query("{ q(func: has(nmae)) { uid } }")
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     _ = result.rows()
    >>> caught[0].category.__name__, str(caught[0].message)
    ('UnknownNameWarning', 'line 1 column 11: there is no predicate `nmae` (did you mean `name`?)')
    """


class NotConvergedWarning(QueryWarning):
    """An algorithm did not converge within its rounds: see `AlgorithmResult.converged`.

    >>> import hexgraph, warnings
    >>> graph = hexgraph.Graph([1, 2, 3, 3], [2, 3, 1, 4], directed=False)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     result = graph.algo.eigenvector(iterations=2)
    >>> result.converged, caught[0].category.__name__
    (False, 'NotConvergedWarning')
    """


class LossWarning(UserWarning):
    """A mutation has stored a value that the type of its predicate does not hold in full.

    Mutations cut such values as Dgraph does, where loads refuse them. `count` is the number of
    such values in the call; the message shows the first of them. The change is made, also where a
    filter of `warnings` makes an exception of this. `connect(..., warnings=False)` gives none.

    >>> import hexgraph, warnings
    >>> db = hexgraph.connect()
    >>> _ = db.alter("age: int .")
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     _ = db.mutate(set_json={"uid": "0x1", "age": 2.75})
    >>> caught[0].message.count, str(caught[0].message).partition(":")[0]
    (1, 'a value was converted with loss, and 2 is stored')
    """

    count: int = 0

    def __init__(self, message: str, count: int = 1) -> None:
        super().__init__(message)
        self.count = count


CATEGORIES: dict[str, type[QueryWarning]] = {
    "unknown_predicate": UnknownNameWarning,
    "unknown_type": UnknownNameWarning,
    "not_converged": NotConvergedWarning,
}
"""The categories of kinds that have a separate category."""


def warn_of_query(noticed: Iterable[tuple[str, str]]) -> None:
    """Warn of likely mistakes in a query: the text and the kind of each."""
    warn_of(CATEGORIES.get(kind, QueryWarning)(text, kind) for text, kind in noticed)


def warn_of_losses(message: str, count: int) -> None:
    """Warn of values that a mutation has stored as less than they are."""
    warn_of([LossWarning(message, count)])


def warn_of(noticed: Iterable[Warning]) -> None:
    """Warn at the first line of Python outside of this package."""
    # `skip_file_prefixes` of `warnings.warn` needs Python 3.12.
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    for warning in noticed:
        warnings.warn(warning, stacklevel=level)
