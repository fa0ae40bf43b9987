"""The command line: `hexgraph serve`, `query`, `load`, `import`, `check`, and `demo`."""

import sys

from ._native import run_command

IMPORT_ARGUMENTS = 3
"""`import`, a source and a path. Where there are others, the command line tells what is wrong."""


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
    return run_command(["hexgraph", *arguments])


if __name__ == "__main__":
    sys.exit(main())
