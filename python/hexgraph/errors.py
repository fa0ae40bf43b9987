"""What can go wrong, named by what you can do about it.

All exceptions of hexgraph derive from `Error` and can be pickled, so they cross process pools.
"""


class Error(Exception):
    """The base of all exceptions of hexgraph."""


class ParseError(Error):
    """The text is not valid DQL, schema or RDF. Fix the text."""

    message: str
    """What is wrong."""
    line: int
    """The line, from 1."""
    column: int
    """The byte within the line, from 0."""
    hint: str
    """What to write instead; empty when there is nothing to propose."""
    source: str
    """The line of the text that is wrong."""

    def __init__(
        self, message: str, line: int = 1, column: int = 0, hint: str = "", source: str = ""
    ) -> None:
        super().__init__(message, line, column, hint, source)
        self.message = message
        self.line = line
        self.column = column
        self.hint = hint
        self.source = source

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        text = f"line {self.line} column {self.column}: {self.message}{hint}"
        if not self.source:
            return text
        before = self.source.encode()[: self.column].decode(errors="replace")
        indent = "".join("\t" if letter == "\t" else " " for letter in before)
        return f"{text}\n    {self.source}\n    {indent}^"


class SchemaError(Error):
    """The schema forbids it. Fix the request, or alter the schema."""


class QueryError(Error):
    """The request is well formed but can't be carried out. Fix the request."""


class LimitError(Error):
    """A limit was reached, the timeout of a query for instance. Ask for less, or raise it."""


class ConflictError(Error):
    """Another transaction changed the same data first. Try again."""


class LoadError(Error):
    """A file holds something that can't be stored. Fix the file, or load with on_error="skip"."""

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
    """A snapshot is damaged, cut short or not ours. Restore it, or build it anew."""

    message: str
    """Where it is damaged, and how."""
    path: str
    """The file."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message, path)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class StorageError(Error, OSError):
    """The operating system refused. `errno` says why, where the system gave a number."""

    message: str
    """What was being done, and the reason."""

    def __init__(self, message: str, errno: int | None = None) -> None:
        super().__init__(message, errno)
        self.args = (message, errno)
        self.message = message
        self.errno = errno

    def __str__(self) -> str:
        return self.message
