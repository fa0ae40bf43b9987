"""How does everything grow, from a million edges to a billion?

`python benches/billion.py --edges 1e6 1e7 1e8 1e9` makes a Parquet file of random edges among a twentieth as
many nodes for each size, loads it into a directory, and asks. `--both` loads both directions (`@reverse`).
Each size runs in a process of its own. A billion edges need about 20 GB of disk, which is looked at first.
The files are kept in `--folder`, the database of a size is removed at its end.

One row is printed for each size, then the exponent of growth between neighbours: 1 is linear, 0 is constant.
`load anon` is the highest resident memory during the load that is no mapped file; the script fails where it is
more than `--memory` and 10 %. Answers are compared with what the file was made of.
"""

import argparse
import itertools
import json
import math
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUP = 10_000_000
"""Edges of a row group, so that making a file takes little memory."""

DISK_PER_EDGE = 20
"""Bytes of file, database and what a load spills, with both directions."""

COLUMNS = [
    ("load", "s"),
    ("load anon", "MB"),
    ("disk", "MB"),
    ("open", "ms"),
    ("page", "us"),
    ("two hops", "ms"),
    ("components", "s"),
    ("pagerank", "s"),
    ("pagerank again", "s"),
    ("algorithms anon", "MB"),
]


def chunks(edges: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Make the sources and targets of a row group at a time."""
    nodes = max(edges // 20, 10)
    for at in range(0, edges, GROUP):
        rng = np.random.default_rng(at)
        count = min(GROUP, edges - at)
        # Uids begin at 1.
        yield rng.integers(1, nodes + 1, count), rng.integers(1, nodes + 1, count)


def edges_file(folder: Path, edges: int) -> Path:
    """Write the edges, unless they are there."""
    path = folder / f"billion-{edges}.parquet"
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])
        with pq.ParquetWriter(unfinished, schema, use_dictionary=False) as writer:
            for source, target in chunks(edges):
                writer.write_table(pa.table([source, target], schema=schema))
        unfinished.rename(path)
    return path


def anonymous() -> int:
    """Say how many bytes of this process are resident and no file."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


@contextmanager
def peak(figures: dict[str, float], name: str) -> Iterator[None]:
    """Note the most that was resident and no file, looked at every 20 ms."""
    done = threading.Event()
    most = [anonymous()]

    def watch() -> None:
        while not done.wait(0.02):
            most[0] = max(most[0], anonymous())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        figures[name] = most[0] / 1e6


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Call it, and say how many seconds that took."""
    started = time.perf_counter()
    result = function()
    return time.perf_counter() - started, result


def median(times: list[float]) -> float:
    """Return the middle one."""
    return sorted(times)[len(times) // 2]


def check(edges: int, degree: int, node: int) -> None:
    """Compare a node's edges with those that the file was made of."""
    targets = [target[source == node] for source, target in chunks(edges)]
    expected = len(np.unique(np.concatenate(targets)))
    assert degree == expected, f"node {node} has {degree} edges, {expected} in the file"


def run(path: Path, arguments: argparse.Namespace, edges: int) -> dict[str, float]:
    """Load and ask one size, and return its figures."""
    import hexgraph

    figures: dict[str, float] = {"edges": edges}
    home = arguments.folder / f"billion-{edges}.db"
    shutil.rmtree(home, ignore_errors=True)
    db = hexgraph.connect(home, threads=arguments.threads)
    db.alter(f"e: [uid] {'@reverse' if arguments.both else ''} .")

    def load() -> Any:
        return db.load_edges(path, "e", uid=True, progress=False, memory=arguments.memory)

    with peak(figures, "load anon"):
        figures["load"], report = timed(load)
    print(report, file=sys.stderr)
    db.close()
    figures["disk"] = sum(file.stat().st_size for file in home.iterdir()) / 1e6

    took, db = timed(lambda: hexgraph.connect(home, read_only=True, threads=arguments.threads))
    figures["open"] = took * 1e3
    nodes = max(edges // 20, 10)
    rng = np.random.default_rng(7)
    pages, hops = [], []
    for node in rng.integers(1, nodes, 41).tolist():
        page = f"{{ q(func: has(e), first: 20, after: {node:#x}) {{ uid }} }}"
        pages.append(timed(lambda text=page: db.query(text).rows())[0])
        two = f"{{ q(func: uid({node:#x})) {{ e {{ e {{ uid }} }} }} }}"
        hops.append(timed(lambda text=two: db.query(text).json())[0])
    figures["page"], figures["two hops"] = median(pages) * 1e6, median(hops) * 1e3
    node = int(rng.integers(1, nodes))
    check(edges, db.query(f"{{ q(func: uid({node:#x})) {{ n: count(e) }} }}").rows()[0][0], node)
    db.close()

    limits = {"memory": arguments.algorithms_memory}
    db = hexgraph.connect(home, read_only=True, threads=arguments.threads, limits=limits)
    with peak(figures, "algorithms anon"):
        # The first algorithm makes the compact graph of the edges, too.
        figures["pagerank"], ranks = timed(lambda: db.algo.pagerank("e"))
        figures["pagerank again"], _ = timed(lambda: db.algo.pagerank("e"))
        figures["components"], _ = timed(lambda: db.algo.components("e"))
    total = float(np.sum(ranks.to_numpy()))
    assert abs(total - 1) < 1e-3, f"the ranks sum up to {total}"
    db.close()
    shutil.rmtree(home)
    return figures


def show(rows: list[dict[str, float]], memory: int) -> None:
    """Print the figures and the exponents of their growth."""
    print("edges", *(f"{name} ({unit})" for name, unit in COLUMNS), sep="\t")
    for row in rows:
        cells = (f"{row[name]:.4g}" for name, _ in COLUMNS)
        print(f"{row['edges']:.0e}", *cells, sep="\t")
    for before, after in itertools.pairwise(rows):
        span = math.log(after["edges"] / before["edges"])
        growth = (math.log(after[name] / before[name]) / span for name, _ in COLUMNS)
        print("exponent", *(f"{exponent:.2f}" for exponent in growth), sep="\t")
    for row in rows:
        # Python, numpy and the shared libraries are there before the load.
        assert row["load anon"] * 1e6 <= 1.1 * memory + 150e6, f"{row} is over its memory"


def size_of(text: str) -> int:
    """Read bytes, like 8GiB."""
    units = {"GiB": 1 << 30, "MiB": 1 << 20, "GB": 10**9, "MB": 10**6}
    for unit, bytes_of in units.items():
        if text.endswith(unit):
            return int(float(text.removesuffix(unit)) * bytes_of)
    return int(text)


def main() -> None:
    """Make the files, then run each size in a new process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=float, nargs="+", default=[1e6, 1e7, 1e8, 1e9])
    parser.add_argument("--memory", default="8GiB", help="what a load may take")
    parser.add_argument("--algorithms-memory", default="20GiB")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--both", action="store_true", help="both directions")
    parser.add_argument("--folder", type=Path, default=Path("bench-work"))
    parser.add_argument("--child", type=int)
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    if arguments.child:
        path = edges_file(arguments.folder, arguments.child)
        print(json.dumps(run(path, arguments, arguments.child)))
        return
    rows = []
    for edges in (int(count) for count in arguments.edges):
        needed, free = edges * DISK_PER_EDGE, shutil.disk_usage(arguments.folder).free
        if free < needed:
            sys.exit(
                f"{edges:.0e} edges need {needed / 1e9:.0f} GB of disk, {free / 1e9:.0f} are free"
            )
        edges_file(arguments.folder, edges)
        command = [sys.executable, __file__, *sys.argv[1:], "--child", str(edges)]
        child = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        rows.append(json.loads(child.stdout.splitlines()[-1]))
    show(rows, size_of(arguments.memory))


if __name__ == "__main__":
    main()
