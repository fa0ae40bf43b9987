"""How fast, and in how much memory, is a bulk load?

`python benches/load.py edges --count 20000000`: random edges between a twentieth as many nodes, a Parquet
file, into both directions. `--ids uid` takes the numbers as uids, `--ids xid` as external ids.
`python benches/load.py nquads --count 20000000`: N-Quads, half of them names with an index, half edges.
`--memory 512MiB` bounds the load, `--db DIR` keeps the database there. Each load runs in a process of its own;
the peak is that of its resident memory, and of the part of it that is no file.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path


def edges_file(folder: Path, count: int) -> Path:
    """Write random edges, unless they are there."""
    path = folder / f"edges{count}.parquet"
    if not path.exists():
        import numpy as np
        import pyarrow as pa
        import pyarrow.parquet as pq

        rng = np.random.default_rng(1)
        ids = 1000 + np.cumsum(rng.integers(1, 9, count // 20)).astype(np.int64)
        ends = {end: ids[rng.integers(0, len(ids), count)] for end in ("source", "target")}
        pq.write_table(pa.table(ends), path)
    return path


def nquads_file(folder: Path, count: int) -> Path:
    """Write N-Quads, unless they are there."""
    path = folder / f"quads{count}.rdf"
    if not path.exists():
        import random

        draw = random.Random(1)
        nodes = count // 4
        with path.open("w") as out:
            for node in range(1, nodes + 1):
                name = f"{draw.getrandbits(40):x} {node % 997}"
                ends = [draw.randrange(1, nodes + 1) for _ in range(2)]
                out.write(f'<{node:#x}> <name> "{name}" .\n<{node:#x}> <age> "{node % 90}" .\n')
                out.writelines(f"<{node:#x}> <knows> <{end:#x}> .\n" for end in ends)
    return path


def anonymous_peak(peaks: dict[str, int], done: threading.Event) -> None:
    """Look every 20 ms how much of the memory is no file."""
    while not done.wait(0.02):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                peaks["anon"] = max(peaks.get("anon", 0), int(line.split()[1]))


def load(arguments: argparse.Namespace, path: Path) -> None:
    """Load a file and print what it took."""
    import hexgraph

    peaks: dict[str, int] = {}
    done = threading.Event()
    watch = threading.Thread(target=anonymous_peak, args=(peaks, done))
    watch.start()
    more = {"memory": arguments.memory} if arguments.memory else {}
    db = hexgraph.connect(arguments.db) if arguments.db else hexgraph.connect()
    wall, cpu = time.perf_counter(), time.process_time()
    if arguments.what == "edges":
        db.alter("e: [uid] @reverse .")
        db.load_edges(path, "e", uid=arguments.ids == "uid", progress=False, **more)
    else:
        db.alter(
            "name: string @index(term, exact) .\nage: int @index(int) .\nknows: [uid] @reverse ."
        )
        db.load(path, progress=False, **more)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    done.set()
    watch.join()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    figures = {
        "million_per_s": round(arguments.count / wall / 1e6, 2),
        "wall_s": round(wall, 2),
        "cpu_s": round(cpu, 2),
        "peak_mb": peak,
        "peak_anonymous_mb": peaks.get("anon", 0) // 1024,
    }
    print(json.dumps(figures), flush=True)
    if arguments.db:
        db.close()


def main() -> None:
    """Make the file, then load it in a new process each time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["edges", "nquads"])
    parser.add_argument("--count", type=int, default=20_000_000)
    parser.add_argument("--ids", choices=["uid", "xid"], default="uid")
    parser.add_argument("--memory", default="")
    parser.add_argument("--db", default="")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("bench-work"))
    parser.add_argument("--child", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(exist_ok=True)
    make = edges_file if arguments.what == "edges" else nquads_file
    path = make(arguments.folder, arguments.count)
    if arguments.child:
        load(arguments, path)
        return
    for _ in range(arguments.runs):
        subprocess.run(
            [sys.executable, __file__, *sys.argv[1:], "--child"], check=True, env=os.environ
        )


if __name__ == "__main__":
    main()
