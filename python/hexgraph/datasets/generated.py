"""Generated graphs of any size."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._native import generate
from ..connection import connect

if TYPE_CHECKING:
    from .._native import Database

Progress = bool | Callable[[dict[str, Any]], object] | None


def social(
    people: int,
    seed: int = 0,
    *,
    follows: int = 10,
    db: Database | None = None,
    progress: Progress = None,
) -> Database:
    """Return people who follow others, by preferential attachment.

    The numbers of followers follow a power law (the model of Barabási and Albert). `Person` has
    name and born; edges are `follows`, with reverse edges. Each person follows up to `follows`
    earlier people; repeated choices count once, and the first person follows nobody.

    The same arguments and `seed` generate the same graph everywhere. The graph is added to `db`, or
    to a new database in memory. `progress` is as for `load_nodes`.

    >>> from hexgraph import datasets
    >>> db = datasets.social(1000, seed=7)
    >>> db.describe().types.rows()
    [('Person', 1000, ['name', 'born', 'follows'])]

    Raises QueryError for fewer than one person, and for more nodes or edges than fit.
    """
    return _generated("social", (people, follows, seed), db, progress)


def kronecker(
    scale: int,
    seed: int = 0,
    *,
    edges: int = 16,
    db: Database | None = None,
    progress: Progress = None,
) -> Database:
    """Return a Kronecker graph of `2**scale` nodes, as in the benchmark Graph 500.

    Skewed, with a small diameter. `edges` edges are sampled for each node; repeated ones count
    once. Nodes have no values, and those without an edge do not exist; edges are `links`. The other
    arguments are as for `social`.

    >>> from hexgraph import datasets
    >>> db = datasets.kronecker(10, seed=1)
    >>> 10_000 < db.stats()["predicates"]["links"]["values"] <= 16 * 1024
    True

    Raises QueryError for a scale above 31.
    """
    return _generated("kronecker", (scale, edges, seed), db, progress)


def grid(
    width: int,
    height: int,
    seed: int = 0,
    *,
    db: Database | None = None,
    progress: Progress = None,
) -> Database:
    """Return a grid of crossings, `width` by `height`, with roads in both directions.

    `Crossing` has x and y, from 0; edges are `road` with the facet metres, from 50 to 149. For
    shortest paths. The other arguments are as for `social`.

    >>> from hexgraph import datasets
    >>> db = datasets.grid(3, 2)
    >>> db.stats()["nodes"], db.stats()["predicates"]["road"]["values"]
    (6, 14)

    Raises QueryError for a width or height below 1.
    """
    return _generated("grid", (width, height, seed), db, progress)


def temporal(
    people: int,
    events: int,
    seed: int = 0,
    *,
    db: Database | None = None,
    progress: Progress = None,
) -> Database:
    """Return people who call each other, one call each second.

    `Person` has name; edges are `called` with the facet at, the time of the last call between the
    two, from 2024 on. A few people have most of the calls, usually with others of similar numbers.
    The other arguments are as for `social`.

    >>> from hexgraph import datasets
    >>> db = datasets.temporal(100, 1000)
    >>> dql = '{ q(func: has(called)) { called @facets(ge(at, "2024-01-01T00:16:00Z")) { uid } } }'
    >>> 0 < len(db.query(dql).flatten()) <= 40
    True

    Raises QueryError for fewer than two people.
    """
    return _generated("temporal", (people, events, seed), db, progress)


def _generated(
    kind: str, numbers: tuple[int, int, int], db: Database | None, progress: Progress
) -> Database:
    db = connect() if db is None else db
    generate(db, kind, numbers, progress)
    return db
