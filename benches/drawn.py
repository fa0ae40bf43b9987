"""How fast are graphs drawn and loaded, and in how much memory?

`python benches/drawn.py` draws each kind of `hexgraph.datasets` at about ten million edges, in a process of its
own, three times; the least time counts. Time on the clock is told, and that of all threads together, which
other programs on the machine disturb less. The peak is that of the resident memory, above what there was before.
"""

import json
import resource
import subprocess
import sys
import time

KINDS = {
    "social(1_000_000)": ("social", (1_000_000,), "follows"),
    "kronecker(20)": ("kronecker", (20,), "links"),
    "grid(1600, 1600)": ("grid", (1600, 1600), "road"),
    "temporal(1_000_000, 10_000_000)": ("temporal", (1_000_000, 10_000_000), "called"),
}


def measure(kind: str) -> None:
    """Draw one graph and print what it cost."""
    from hexgraph import datasets

    name, numbers, edges = KINDS[kind]
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    db = getattr(datasets, name)(*numbers)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    stats = db.stats()
    cost = {
        "seconds": seconds,
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak": (after.ru_maxrss - before.ru_maxrss) << 10,
        "nodes": stats["nodes"],
        "edges": stats["predicates"][edges]["values"],
        "bytes": sum(it["bytes"] for it in stats["predicates"].values()),
    }
    print(json.dumps(cost))


def main() -> None:
    """Print the table."""
    print("| | nodes, edges | s | edges a second | s of all threads | data MB | peak MB |")
    print("|---|---|---|---|---|---|---|")
    for kind in KINDS:
        runs = []
        for _ in range(3):
            done = subprocess.run([sys.executable, __file__, kind], capture_output=True, check=True)
            runs.append(json.loads(done.stdout))
        best = min(runs, key=lambda run: run["seconds"])
        rate = best["edges"] / best["seconds"] / 1e6
        print(
            f"| `{kind}` | {best['nodes']:,}, {best['edges']:,} | {best['seconds']:.2f} | {rate:.1f} M"
            f" | {min(run['cpu'] for run in runs):.1f} | {best['bytes'] / 1e6:.0f}"
            f" | {best['peak'] / 1e6:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    measure(sys.argv[1]) if len(sys.argv) > 1 else main()
