"""Draws docs/films.svg: the largest part of the sample that hangs together, and a path through it.

`python docs/site/picture.py docs/films.svg` writes it; it needs numpy. Films and those who directed
or played in two films or more are the nodes. Places are found by stress majorization (E. Gansner,
Y. Koren, S. North: Graph Drawing by Stress Majorization. GD 2004): distances on paper come near to
the numbers of edges between nodes.
"""

import sys
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import hexgraph

WIDTH, HEIGHT, MARGIN, RIM = 1200, 640, 46, 6
SMALL, LARGE = 11, 13
"""Sizes of letters."""
ENDS = ("Humphrey Bogart", "Michelle Yeoh")
DECADES = ("#3b4cc0", "#5977e3", "#5fa8d3", "#4fb286", "#9bc53d", "#e9b949", "#f2884b", "#d1495b")
"""Colours of films, from the oldest to the newest."""
PATH, INK, LINE, PERSON = "#111827", "#1f2937", "#c3cad5", "#8b95a5"

GRAPH = """
{
  films(func: type(Film)) {
    uid name release_date
    people: directed_by { uid name }
    cast: starring { uid name }
  }
}
"""
WAY = """
query way($from: string, $to: string) {
  a as var(func: eq(name, $from))
  b as var(func: eq(name, $to))
  path as shortest(from: uid(a), to: uid(b)) { starring ~starring }
  steps(func: uid(path)) { uid }
}
"""


class Node(NamedTuple):
    """A film with the year of its release, or a person with none."""

    name: str
    year: int | None


class Box(NamedTuple):
    """Where a label stands: two corners."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Whether both have anything in common."""
        beside = self.left >= other.right or other.left >= self.right
        return not (beside or self.top >= other.bottom or other.top >= self.bottom)


def graph() -> tuple[dict[str, Node], set[tuple[str, str]], list[str]]:
    """Return the nodes and edges of the largest part, and the uids of the path."""
    sample = files("hexgraph") / "sample"
    db = hexgraph.connect()
    schema = (sample / "films.schema").read_text(encoding="utf-8")
    db.load((sample / "films.rdf").read_bytes(), schema=schema, progress=False)
    nodes, edges = {}, set()
    for film in db.query(GRAPH)["films"]:
        nodes[film["uid"]] = Node(film["name"], int(film["release_date"][:4]))
        for person in film.get("people", []) + film.get("cast", []):
            nodes[person["uid"]] = Node(person["name"], None)
            edges.add((film["uid"], person["uid"]))
    counts: dict[str, int] = {}
    for _, person in edges:
        counts[person] = counts.get(person, 0) + 1
    edges = {edge for edge in edges if counts[edge[1]] > 1}
    steps = db.query(WAY, dict(zip(("from", "to"), ENDS, strict=True)))["steps"]
    path = [step["uid"] for step in steps]
    edges |= {
        pair if pair[0] in nodes and nodes[pair[0]].year else pair[::-1] for pair in pairwise(path)
    }
    part = around(path[0], edges)
    return {uid: nodes[uid] for uid in sorted(part)}, {e for e in edges if e[0] in part}, path


def around(start: str, edges: set[tuple[str, str]]) -> set[str]:
    """Return the nodes that edges join with one."""
    near: dict[str, set[str]] = {}
    for one, other in edges:
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    found, waiting = {start}, [start]
    while waiting:
        new = near[waiting.pop()] - found
        found |= new
        waiting.extend(new)
    return found


def places(names: list[str], edges: set[tuple[str, str]]) -> Any:
    """Return the places of nodes, as an array of pairs."""
    at = {name: index for index, name in enumerate(names)}
    count = len(names)
    far = np.full((count, count), np.inf)
    np.fill_diagonal(far, 0)
    for one, other in edges:
        far[at[one], at[other]] = far[at[other], at[one]] = 1
    for middle in range(count):
        far = np.minimum(far, far[:, [middle]] + far[[middle], :])
    weights = 1 / np.maximum(far, 1) ** 2
    np.fill_diagonal(weights, 0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    spot = np.random.default_rng(7).normal(size=(count, 2)) * [2, 1]
    for _ in range(600):
        gap = spot[:, None, :] - spot[None, :, :]
        length = np.sqrt((gap**2).sum(axis=2))
        ratio = np.divide(far, length, out=np.zeros_like(far), where=length > 0)
        pull = -weights * ratio
        np.fill_diagonal(pull, -pull.sum(axis=1))
        spot = inverse @ (pull @ spot)
    spot = (spot - spot.mean(axis=0)) @ np.linalg.svd(spot - spot.mean(axis=0))[2].T
    # The middle is crowded: what is near to it is drawn further out.
    reach = np.sqrt((spot**2).sum(axis=1, keepdims=True))
    spot = spot / np.maximum(reach, 1e-9) ** 0.42
    low, high = spot.min(axis=0), spot.max(axis=0)
    return MARGIN + (spot - low) / (high - low) * (np.array([WIDTH, HEIGHT]) - 2 * MARGIN)


def colour(year: int) -> str:
    """Return the colour of a film of a year."""
    return DECADES[min(max((year - 1930) // 11, 0), len(DECADES) - 1)]


def label(spot: Any, name: str, size: int, taken: list[Box]) -> str:
    """Return a label beside a node where there is room for it; nothing where there is none."""
    wide, tall = 0.56 * size * len(name), size
    x, y = spot
    sides = [(-wide / 2, -9 - tall), (-wide / 2, 9), (9, -tall / 2), (-9 - wide, -tall / 2)]
    corners = [(right, down) for right in (6, -6 - wide) for down in (-6 - tall, 6)]
    farther = [(right, down) for right in (-wide / 2, 16, -16 - wide) for down in (-20 - tall, 20)]
    for dx, dy in sides + corners + (farther if size > SMALL else []):
        box = Box(x + dx, y + dy, x + dx + wide, y + dy + tall)
        is_inside = (
            box.left > RIM
            and box.right < WIDTH - RIM
            and box.top > RIM
            and box.bottom < HEIGHT - RIM
        )
        if is_inside and not any(box.meets(other) for other in taken):
            taken.append(box)
            weight = ' font-weight="600"' if size > SMALL else ""
            place = f'x="{box.left:.1f}" y="{box.bottom - 2:.1f}" font-size="{size}"{weight}'
            return f"<text {place}>{escape(name)}</text>"
    return ""


def drawn() -> str:
    """Return the picture."""
    nodes, edges, path = graph()
    names = list(nodes)
    spots = dict(zip(names, places(names, edges), strict=True))
    way = {frozenset(pair) for pair in pairwise(path)}
    lines, marks = [], []
    for edge in sorted(edges, key=lambda edge: (frozenset(edge) in way, edge)):
        (ax, ay), (bx, by) = (spots[uid] for uid in edge)
        look = f'stroke="{PATH}" stroke-width="3"' if frozenset(edge) in way else f'stroke="{LINE}"'
        lines.append(f'<line x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{by:.1f}" {look}/>')
    degree = {uid: sum(uid in edge for edge in edges) for uid in names}
    # Labels of the path may hide small nodes; other labels hide nothing.
    taken = [Box(x - 5, y - 5, x + 5, y + 5) for x, y in (spots[uid] for uid in path)]
    longest = sorted(path, key=lambda uid: -len(nodes[uid].name))
    texts = [label(spots[uid], nodes[uid].name, LARGE, taken) for uid in longest]
    taken += [Box(x - 5, y - 5, x + 5, y + 5) for x, y in spots.values()]
    for uid in names:
        x, y = spots[uid]
        year, on_way = nodes[uid].year, uid in path
        size = (4 + degree[uid] ** 0.5 if year else 3) + (2 if on_way else 0)
        edge = f' stroke="{PATH}" stroke-width="2"' if on_way else ' stroke="#fff"'
        fill = colour(year) if year else PERSON
        told = escape(f"{nodes[uid].name} ({year})" if year else nodes[uid].name)
        marks.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" fill="{fill}"{edge}>'
            f"<title>{told}</title></circle>"
        )
    for uid in sorted(names, key=lambda uid: (-degree[uid], uid)):
        if uid not in path and nodes[uid].year:
            texts.append(label(spots[uid], nodes[uid].name, SMALL, taken))
    films = sum(1 for node in nodes.values() if node.year)
    title = f"{films} films and {len(nodes) - films} people, and the path from {' to '.join(ENDS)}"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="system-ui, sans-serif" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="#f8fafc"/>',
        *lines, *marks,
        '<g paint-order="stroke" stroke="#f8fafc" stroke-width="3">',
        *(text for text in texts if text), "</g>", "</svg>", "",
    ])  # fmt: skip


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(drawn(), encoding="utf-8")
