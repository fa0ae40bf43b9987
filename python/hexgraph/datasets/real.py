"""Real graphs, which come with the package as Parquet."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._native import __version__
from ..connection import connect
from ..errors import QueryError
from ..schemas.suggesting import parts_of

if TYPE_CHECKING:
    from .._native import Database

DATA = Path(__file__).parent / "data"

FILMS = {
    "about": "Well-known films, the people who made them, their roles, and what all of these are"
    " called in English, German, French, Spanish, Japanese and Arabic.",
    "source": "written for hexgraph",
    "licence": "Apache-2.0",
}


def names() -> list[str]:
    """Return the names of the real graphs.

    >>> from hexgraph import datasets
    >>> datasets.names()
    ['airports', 'films', 'languages', 'words']
    """
    return sorted([*_manifest(), "films"])


def info(name: str) -> dict[str, Any]:
    """Describe a graph: "about", "source", "licence", and the "sha256" of its files.

    The text of the licence is in "terms".

    >>> from hexgraph import datasets
    >>> details = datasets.info("airports")
    >>> details["licence"], details["source"]
    ('MIT', 'airportsdata 20260905')

    Raises QueryError for an unknown name.
    """
    _check(name)
    details = dict(FILMS if name == "films" else _manifest()[name])
    for inner in ("tables", "links"):
        details.pop(inner, None)
    details.setdefault("sha256", _content_hash(name))
    licence = DATA / f"{name}.LICENSE.txt"
    if licence.exists():
        details["terms"] = licence.read_text(encoding="utf-8")
    return details


def airports(db: Database | None = None) -> Database:
    """Return international airports and those of Europe: 1,784 of them in 201 countries.

    `Airport` has iata, name, city, elevation (in feet), zone and place; `located_in` is the edge to
    a `Country` with its code, and `near` the edges to the five nearest airports, with the facet
    `km`. The graph is added to `db`, or to a new database in memory.

    >>> from hexgraph import datasets
    >>> db = datasets.airports()
    >>> dql = '{ q(func: eq(iata, "ZRH")) { near @facets(orderasc: km) (first: 1) { iata } } }'
    >>> db.query(dql)["q"][0]["near"]
    [{'iata': 'EML', 'near|km': 45}]
    """
    return _loaded("airports", db)


def films(db: Database | None = None) -> Database:
    """Return well-known films, and the people who made them, as used by `python -m hexgraph demo`.

    `Film` has name (in several languages), release_date and runtime; edges are `directed_by`,
    `starring` with the facets role and billing, `genre` and `country`.

    >>> from hexgraph import datasets
    >>> db = datasets.films()
    >>> dql = '{ q(func: eq(name, "Seven Samurai")) { name directed_by { name } } }'
    >>> db.query(dql).flatten().rows()
    [('Seven Samurai', 'Akira Kurosawa')]
    """
    return _loaded("films", db)


def languages(db: Database | None = None) -> Database:
    """Return countries and territories, and the languages that are spoken there.

    `Country` has code, `Language` has tag, both name in four languages; `speaks` has the facets
    percent (of the people; the numbers of a country may add up to more than 100) and status
    ("official", "de_facto_official", "official_regional").

    >>> from hexgraph import datasets
    >>> db = datasets.languages()
    >>> dql = '{ q(func: eq(code, "CH")) { speaks @facets(eq(status, "official")) { name } } }'
    >>> sorted(row[0] for row in db.query(dql).flatten().rows())
    ['French', 'German', 'Italian']
    """
    return _loaded("languages", db)


def words(db: Database | None = None) -> Database:
    """Return the mammals of WordNet: words, what they mean, and what is a kind of what.

    `Word` has word, `means` is the edge to a `Meaning`, which has `kind_of` to the more general
    one.

    >>> from hexgraph import datasets
    >>> db = datasets.words()
    >>> dql = '{ q(func: eq(word, "dachshund")) { means { kind_of { ~means { word } } } } }'
    >>> db.query(dql).flatten().rows()
    [('hunting dog',)]
    """
    return _loaded("words", db)


def path(name: str) -> Path:
    """Return the directory of a graph as a database. It is built once, in the cache of the user.

    Use it where a database is opened by its path: `connect(path, read_only=True)`, which is fast
    and whose memory processes have in common, and the command line. The name of the directory has
    a hash of the content and the version of hexgraph. The cache is `XDG_CACHE_HOME`, or its
    equivalent of the system; `HEXGRAPH_CACHE` names another folder.

    >>> import hexgraph
    >>> from hexgraph import datasets
    >>> with hexgraph.connect(datasets.path("words"), read_only=True) as db:
    ...     db.query('{ q(func: type(Meaning)) { count(uid) } }').rows()
    [(1182,)]

    Raises QueryError for an unknown name, and OSError if the cache can't be written.
    """
    _check(name)
    folder = _cache() / f"{name}-{_content_hash(name)[:12]}-{__version__}"
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Built in a temporary directory and renamed, so that no process opens an incomplete database.
    temporary = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder.parent))
    try:
        with connect(temporary / "db") as db:
            _loaded(name, db)
        try:
            (temporary / "db").rename(folder)
        except OSError:
            # Another process was first.
            if not folder.exists():
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _loaded(name: str, db: Database | None) -> Database:
    db = connect() if db is None else db
    if name == "films":
        sample = DATA.parents[1] / "sample"
        schema = (sample / "films.schema").read_text("utf-8")
        db.load(sample / "films.rdf", schema=_added(db, schema), progress=False)
        return db
    details = _manifest()[name]
    folder = DATA / name
    db.alter(_added(db, (folder / "graph.schema").read_text("utf-8")))
    for table in details["tables"]:
        # Nodes have unique external ids, so existing ones get the values.
        geo = {"place": ("lat", "lon")} if table["type"] == "Airport" else None
        columns = {"lat": None, "lon": None} if geo else None
        file = folder / table["file"]
        db.load_nodes(file, table["type"], id=table["id"], geo=geo, columns=columns)
    for edges in details["links"]:
        one, other = edges["on"]
        file, facets = folder / edges["file"], edges["facets"]
        db.load_edges(file, edges["predicate"], "from", "to", on=(one, other), facets=facets)
    return db


def _added(db: Database, schema: str) -> str:
    """Return the definitions that a database lacks; those of types with the fields that it has."""
    existing, types = parts_of(db.schema())
    lines = [
        line
        for line in schema.splitlines()
        if ":" in line and line.split(":")[0].strip() not in existing
    ]
    for name, fields in parts_of(schema)[1].items():
        all_fields = dict.fromkeys([*types.get(name, []), *fields])
        lines += [f"type {name} {{", *all_fields, "}"]
    return "\n".join(lines)


def _manifest() -> dict[str, dict[str, Any]]:
    manifest: dict[str, dict[str, Any]] = json.loads((DATA / "datasets.json").read_text("utf-8"))
    return manifest


def _check(name: str) -> None:
    if name not in names():
        raise QueryError(f"there is no graph {name!r}; there are {', '.join(names())}")


def _content_hash(name: str) -> str:
    """Return the SHA-256 of the files of a graph, with their names, in the order of these."""
    if name == "films":
        files = sorted((DATA.parents[1] / "sample").glob("films.*"))
    else:
        files = sorted((DATA / name).iterdir())
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\n{file.stat().st_size}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _cache() -> Path:
    given = os.environ.get("HEXGRAPH_CACHE")
    if given:
        return Path(given).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = home / "Library" / "Caches"
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return folder / "hexgraph" / "datasets"
