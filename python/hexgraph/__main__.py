"""The command line: `hexgraph serve`, `query`, `mutate`, `graphql`, `load`, `check` and others.

`info` and `schema`, like `demo` and `import`, are written in Python.
"""

import os
import sys

from ._native import run_command

IMPORT_ARGUMENTS = 3
"""`import`, a source and a path. Where there are others, the command line reports what is wrong."""

DESCRIBE_ARGUMENTS = 2
"""`info` or `schema`, and a path or the address of a cluster."""


def main() -> int:
    """Run the command that the arguments name, and return the exit status."""
    arguments = sys.argv[1:]
    if arguments == ["demo"]:
        from . import tour

        tour.main()
        return 0
    if arguments[:1] == ["import"] and len(arguments) == IMPORT_ARGUMENTS:
        from .cluster import importing

        return importing.main(arguments[1:])
    if arguments[:1] in (["info"], ["schema"]) and len(arguments) == DESCRIBE_ARGUMENTS:
        return describe(*arguments)
    return run_command(["hexgraph", *arguments])


def describe(what: str, path: str) -> int:
    """Print what is in a database, or its schema, and return the exit status."""
    from .connection import connect
    from .errors import Error

    try:
        with connect(path, read_only=True) as db:
            print(db.describe() if what == "info" else db.schema().rstrip(), flush=True)
    except BrokenPipeError:
        # The reader has enough (`| head`). What is left in the buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
