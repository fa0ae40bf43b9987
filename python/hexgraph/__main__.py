"""The command line: `hexgraph serve`, `query`, `load`, `check`, and `demo`."""

import sys

from ._native import run_command


def main() -> int:
    """Run the command that the arguments name, and return the exit status."""
    arguments = sys.argv[1:]
    if arguments == ["demo"]:
        from . import tour

        tour.main()
        return 0
    return run_command(["hexgraph", *arguments])


if __name__ == "__main__":
    sys.exit(main())
