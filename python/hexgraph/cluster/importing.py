"""Brings back what lies in a cluster, or in an export of one, as a new database.

A cluster is queried predicate by predicate, in pages, within one read-only transaction: so all that
comes back is of one snapshot. Pages become lines of JSON in a temporary folder, which are loaded at
once. JSON has less than the store, see docs/cluster.md; an export has all.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .._native import Database, LoadReport, open_database
from ..errors import Error, LimitError, QueryError, StorageError
from ..homes import expanded
from . import schema
from .wire.address import SCHEME

if TYPE_CHECKING:
    from .connection import Cluster
    from .transaction import Txn

PAGE_NODES = 1000
"""The nodes of a page, or the edges of one node: half as many where the cluster finds it long."""

NODE_TYPE = "dgraph.type"

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""

_GROUPS = "g[0-9]*"
_KINDS = (".rdf", ".jsonl", ".json")
"""Data as N-Quads, as lines of JSON, and as an array of JSON, which Dgraph writes."""

_JSON_HEAD = re.compile(rb'(\{"uid":"0x[0-9a-f]+"),"namespace":"0x([0-9a-f]+)"')
_NAMESPACE = re.compile(r"^\[0x([0-9a-f]+)\] ?", re.MULTILINE)
_RESERVED = re.compile(
    r"^(?:type\s+<?dgraph\.[^{]*\{[^}]*\}|<?dgraph\.[^\n]*)\n?",
    re.MULTILINE,
)
_OBJECT_BEGINS = re.compile(r"[\s,]*")


@dataclasses.dataclass(frozen=True)
class Imported:
    """What came back."""

    report: LoadReport
    warnings: list[str]
    """What could not be brought back, or is not what it was."""


def bring_back(source: str | os.PathLike[str], path: str | os.PathLike[str]) -> Imported:
    """Make a new database at `path` of a cluster (dgraph://...) or of the folder of an export.

    The export is one of Dgraph, or one that `/admin` of `hexgraph serve` has written.

    Raises StorageError when there is something at `path`. When it fails, nothing is left there.
    """
    source = source if isinstance(source, str) and source.startswith(SCHEME) else expanded(source)
    location = Path(expanded(path))
    if location.exists() and (not location.is_dir() or any(location.iterdir())):
        raise StorageError(f"{location}: an import makes a new database, and this is not empty")
    is_new = not location.exists()
    # Next to the database, where there is space for it.
    location.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=f"{location.name}.import-", dir=location.parent
    ) as folder:
        try:
            database = open_database(
                os.fspath(location), False, (0, None), [], None, ("always", "64MiB", True, "auto")
            )
            try:
                if isinstance(source, str) and source.startswith(SCHEME):
                    return _of_cluster(source, database, Path(folder))
                return _of_export(Path(source), database, Path(folder))
            finally:
                database.close()
        except BaseException:
            _remove(location, is_new=is_new)
            raise


def _remove(location: Path, *, is_new: bool) -> None:
    shutil.rmtree(location, ignore_errors=True)
    if not is_new:
        location.mkdir(exist_ok=True)


def _of_cluster(source: str, database: Database, folder: Path) -> Imported:
    from .connection import Cluster

    warnings: list[str] = []
    with Cluster(source, read_only=True) as cluster:
        text = cluster.schema()
        with cluster.txn(read_only=True) as snapshot:
            files = []
            for number, predicate in enumerate(cluster.predicates()):
                if schema.is_reserved(predicate.name) and predicate.name != NODE_TYPE:
                    continue
                if predicate.type == "password":
                    warnings += _about_passwords(snapshot, predicate.name)
                    continue
                file = folder / f"{number}.jsonl.gz"
                with gzip.open(file, "wt", encoding="utf-8", newline="\n", compresslevel=1) as out:
                    _write(snapshot, predicate, out)
                files.append(file)
            sdl, untold = _graphql_schema(cluster, snapshot)
            warnings += untold
        report = database.load(list(files), text or None, progress=None)
        if sdl:
            database.graphql_schema(sdl)
    return Imported(report, warnings)


def _about_passwords(snapshot: Txn, name: str) -> list[str]:
    rows = snapshot.query(f"{{ q(func: has(<{name}>)) {{ count(uid) }} }}").to_dict()["q"]
    count = rows[0]["count"] if rows else 0
    if not count:
        return []
    return [
        f"the passwords of {name} ({count} nodes) can't be read from a cluster: import an export"
        " for them"
    ]


def _graphql_schema(cluster: Cluster, snapshot: Txn) -> tuple[str | None, list[str]]:
    if cluster.has_web:
        return cluster.graphql_schema(), []
    name = "dgraph.graphql.schema"
    rows = snapshot.query(f"{{ q(func: has({name})) {{ {name} }} }}").to_dict().get("q")
    if rows is None:
        # A block is absent where its root may not be read.
        return None, [
            "the GraphQL schema, if there is one, can be read by administrators alone: import as"
            " one, or set it by `graphql_schema`"
        ]
    return (rows[0].get(name) or None) if rows else None, []


def _write(snapshot: Txn, predicate: schema.Predicate, out: IO[str]) -> None:
    """Write all that nodes have of a predicate, a line of JSON for each."""
    name = f"<{predicate.name}>"
    field = f"{name}@*" if predicate.has_languages else name
    body = f"{field} @facets {{ uid }}" if predicate.type == "uid" else f"{field} @facets"
    # Without a mark `has` finds nodes with an untagged value only.
    root = f"{name}@." if predicate.has_languages else name
    after, size = 0, PAGE_NODES
    while True:
        page = f"{{ q(func: has({root}), first: {size}, after: {after:#x}) {{ uid {body} }} }}"
        try:
            text = snapshot.query(page).json()
        except LimitError:
            if size > 1:
                size //= 2
                continue
            after = _write_great(snapshot, predicate, after, out)
            if not after:
                return
            size = PAGE_NODES
            continue
        last = 0
        for line, node in _objects(text):
            last = int(node["uid"], 16)
            _put(predicate, line, node, out)
        if not last:
            return
        if last <= after:
            raise StorageError(f"the cluster answers the same nodes of {predicate.name} again")
        after = last


def _write_great(snapshot: Txn, predicate: schema.Predicate, after: int, out: IO[str]) -> int:
    """Write the edges of one node in pages, and return its uid; 0 when there is none."""
    name = f"<{predicate.name}>"
    if predicate.type != "uid":
        raise LimitError(f"one value of {predicate.name} is more than the cluster answers at once")
    root = f"{{ q(func: has({name}), first: 1, after: {after:#x}) {{ uid }} }}"
    rows = snapshot.query(root).to_dict()["q"]
    if not rows:
        return 0
    uid = rows[0]["uid"]
    behind = 0
    while True:
        edges = f"{name} (first: {PAGE_NODES}, after: {behind:#x}) @facets {{ uid }}"
        text = snapshot.query(f"{{ q(func: uid({uid})) {{ uid {edges} }} }}").json()
        targets: list[dict[str, Any]] = []
        for line, node in _objects(text):
            targets = node.get(predicate.name, [])
            if targets:
                _put(predicate, line, node, out)
        if not targets:
            return int(uid, 16)
        furthest = max(int(target["uid"], 16) for target in targets)
        if furthest <= behind:
            raise StorageError(f"the cluster answers the same edges of {predicate.name} again")
        behind = furthest


def _put(predicate: schema.Predicate, line: str, node: dict[str, Any], out: IO[str]) -> None:
    if predicate.name == NODE_TYPE:
        given = node.get(NODE_TYPE, [])
        types = given if isinstance(given, list) else [given]
        own = [it for it in types if not schema.is_reserved(str(it))]
        if not own:
            # A node of the cluster's own, such as the one with the GraphQL schema.
            return
        line = json.dumps({"uid": node["uid"], NODE_TYPE: own}, ensure_ascii=False)
    elif predicate.type == "float32vector":
        line = json.dumps({key: _vectors(key, it, predicate) for key, it in node.items()})
    if len(node) > 1:
        out.write(line)
        out.write("\n")


def _vectors(key: str, value: object, predicate: schema.Predicate) -> object:
    """Return the value of a key with its vectors as texts, as statements have them."""
    if key != predicate.name or not isinstance(value, list):
        return value
    return [json.dumps(it) for it in value] if predicate.is_list else json.dumps(value)


def _objects(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the objects of the block q, each as it is written and as it is read.

    The text goes on to the loader, so that no number loses digits.
    """
    decoder = json.JSONDecoder()
    at = text.find("[") + 1
    while at:
        begins = _OBJECT_BEGINS.match(text, at)
        at = begins.end() if begins else at
        if text[at : at + 1] != "{":
            return
        node, end = decoder.raw_decode(text, at)
        yield text[at:end], node
        at = end


def _of_export(source: Path, database: Database, folder: Path) -> Imported:
    """Load the files that an export wrote, those of all groups of servers."""
    kind = next((kind for kind in _KINDS if _files(source, kind)), None)
    if kind is None:
        what = "an export has files g01.rdf.gz, or g01.json.gz, and g01.schema.gz, packed or not"
        several = any(source.glob("namespace-*"))
        hint = " (this one has several namespaces: give the folder of one)" if several else ""
        raise QueryError(f"{source}: {what}{hint}")
    text = "".join(_schema_text(path) for path in _files(source, ".schema"))
    files = [_without_reserved(path, kind, folder) for path in _files(source, kind)]
    report = database.load(list(files), text or None, progress=None)
    for path in _files(source, ".gql_schema", ".graphql"):
        sdl = _exported_sdl(path)
        if sdl:
            database.graphql_schema(sdl)
    return Imported(report, [] if kind == ".rdf" else _about_json(text))


def _files(source: Path, *suffixes: str) -> list[Path]:
    """Return the files of all groups whose names have one of the endings, one for each name."""
    paths: dict[str, Path] = {}
    for end in suffixes:
        plain, packed = source.glob(_GROUPS + end), source.glob(f"{_GROUPS}{end}.gz")
        for path in sorted(plain) + sorted(packed):
            paths.setdefault(path.name.removesuffix(".gz"), path)
    return [paths[name] for name in sorted(paths)]


def _without_reserved(path: Path, kind: str, folder: Path) -> Path:
    """Copy a file with data to the folder, without Dgraph's internal data."""
    own = folder / path.name.removesuffix(".gz")
    with _opened(path) as given:
        lines: Iterator[bytes] = (line for line in given if _is_own(line))
        if kind == ".json":
            own = own.with_suffix(".jsonl")
            lines = _json_lines(path, given)
        elif kind == ".jsonl":
            lines = iter(given)
        with own.open("wb") as out:
            try:
                out.writelines(lines)
            except (gzip.BadGzipFile, EOFError) as error:
                raise StorageError(f"reading {path}: {error}") from None
    return own


def _opened(path: Path) -> gzip.GzipFile | BufferedReader:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def _json_lines(path: Path, given: Iterable[bytes]) -> Iterator[bytes]:
    """Return the objects of an array as Dgraph writes it: one in a line, with one predicate.

    They stay texts, so that no number loses digits.
    """
    for number, line in enumerate(given, 1):
        text = line.strip().rstrip(b",")
        if text in (b"", b"[", b"]"):
            continue
        head = _JSON_HEAD.match(text)
        if head is None:
            raise StorageError(f"{path}:{number}: no object as an export of Dgraph has them")
        _refuse_others(path, {int(head[2], 16)})
        rest = text[head.end() :]
        is_type = rest.startswith(b',"dgraph.type":')
        if not rest.startswith(b',"dgraph.') or (is_type and b':"dgraph.' not in rest):
            yield head[1] + rest + b"\n"


def _about_json(text: str) -> list[str]:
    names = re.findall(r"^<?([^\s<>:]+)>?\s*:\s*password\b", text, re.MULTILINE)
    if not names:
        return []
    shown = ", ".join(names)
    return [f"JSON has no passwords: nobody's is right in {shown} (an export as rdf has them)"]


def _refuse_others(path: Path, namespaces: set[int]) -> None:
    others = namespaces - {0}
    if others:
        shown = ", ".join(f"{number:#x}" for number in sorted(others))
        raise QueryError(
            f"{path}: it has data of other namespaces than 0 ({shown}): export one namespace"
        )


def _schema_text(path: Path) -> str:
    """Return the definitions of a file without those that are Dgraph's own."""
    text = _unpacked(path)
    _refuse_others(path, {int(number, 16) for number in _NAMESPACE.findall(text)})
    return _RESERVED.sub("", _NAMESPACE.sub("", text))


def _is_own(line: bytes) -> bool:
    """Whether a statement is not about Dgraph's internal data."""
    _, separator, rest = line.partition(b" <dgraph.")
    if not separator:
        return True
    # The name is in the predicate of few statements, and in the text of fewer.
    subject, _, predicate = line.partition(b" ")
    if not predicate.startswith(b"<dgraph.") or not subject.startswith(b"<"):
        return True
    return rest.startswith(b"type> ") and not rest.startswith(b'type> "dgraph.')


def _exported_sdl(path: Path) -> str | None:
    """Return the GraphQL schema of namespace 0: an array has it, or it is the bare text."""
    text = _unpacked(path)
    try:
        entries = json.loads(text) if text.strip() else []
    except ValueError:
        return text or None
    for entry in entries:
        if entry.get("namespace", 0) == 0:
            return entry.get("schema") or None
    return None


def _unpacked(path: Path) -> str:
    try:
        with _opened(path) as given:
            return given.read().decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise StorageError(f"reading {path}: {error}") from None


def main(arguments: list[str]) -> int:
    """Run `hexgraph import SOURCE PATH`, and return the exit status."""
    import sys

    source, path = arguments
    try:
        imported = bring_back(source, path)
    except (Error, ValueError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: nothing is left of the import\n")
        return INTERRUPTED
    for warning in imported.warnings:
        sys.stderr.write(f"warning: {warning}\n")
    report = imported.report
    sys.stdout.write(
        f"{path}: {report.triples} triples, {report.nodes} nodes, {report.seconds:.1f} s\n"
    )
    return 0
