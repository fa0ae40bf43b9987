"""Paths that begin with `~`, which means the home folder to people, and is a name to a system.

A path is what it says everywhere else: the engine, HTTP and the command line, whose shell expands
it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

DEPTH = 16
"""How deep lists of paths may be in each other; the engine refuses what is deeper."""

TAKING = {
    "alter": ("schema",),
    "export": ("path",),
    "graphql_schema": ("sdl",),
    "load": ("source", "schema", "graphql_schema"),
    "save": ("path",),
}
"""The methods of the engine with path arguments, and their first arguments, which these are."""


def expanded(given: Any, within: tuple[int, ...] = ()) -> Any:
    """Return a path with the home folder for a leading `~`; in lists, too. All else is as it was.

    >>> expanded("films"), expanded(b"<1> <name> ."), expanded("~nobody.is.called.so/films")
    ('films', b'<1> <name> .', '~nobody.is.called.so/films')
    >>> expanded("~/films") == os.path.expanduser("~/films") != "~/films"
    True
    """
    if isinstance(given, (list, tuple)) and len(within) < DEPTH and id(given) not in within:
        return [expanded(one, (*within, id(given))) for one in given]
    if not isinstance(given, (str, os.PathLike)):
        return given
    path = os.fspath(given)
    # Texts of schemas come by here, too.
    is_of_home = isinstance(path, str) and path.startswith("~") and "\n" not in path
    return os.path.expanduser(path) if is_of_home else given


def attach_homes(owner: Any) -> None:
    """Let the methods of a class accept paths that begin with `~`."""
    for name, arguments in TAKING.items():
        setattr(owner, name, _expanding(getattr(owner, name), arguments))


def _expanding(method: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        count = len(names)
        paths = {key: expanded(it) if key in names else it for key, it in named.items()}
        return method(self, *map(expanded, given[:count]), *given[count:], **paths)

    return call
