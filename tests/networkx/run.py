"""Runs networkx's own tests on hexgraph, as networkx's backends are tested.

Usage: python tests/networkx/run.py [--part] [--processes N]

First with `NETWORKX_TEST_BACKEND=hexgraph` alone: a test that needs a function which hexgraph does
not have counts as expected to fail. Then once more where networkx goes on by itself for these.
Every test that fails stands in known.txt with its reason, and one that stands there fails; each
function is called at least once. With `--part` only some files are run, in the second way.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from hexgraph.networkx.info import FUNCTIONS

HERE = Path(__file__).parent
PART = (
    "networkx.algorithms.components.tests.test_connected",
    "networkx.algorithms.components.tests.test_strongly_connected",
    "networkx.algorithms.centrality.tests.test_degree_centrality",
    "networkx.algorithms.centrality.tests.test_closeness_centrality",
    "networkx.algorithms.centrality.tests.test_eigenvector_centrality",
    "networkx.algorithms.link_analysis.tests.test_pagerank",
    "networkx.algorithms.shortest_paths.tests.test_unweighted",
    "networkx.algorithms.tests.test_core",
    "networkx.algorithms.tests.test_cluster",
    "networkx.algorithms.tests.test_link_prediction",
    "networkx.algorithms.traversal.tests.test_bfs",
)
"""What a part of the tests is: some seconds of them."""


def known():
    lines = (HERE / "known.txt").read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def run(folder, modules, processes, fallback):
    """Run the tests: return the calls, the outcomes, the tests that failed, and that passed."""
    paths = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "NETWORKX_TEST_BACKEND": "hexgraph"}
    environment |= {"HEXGRAPH_NETWORKX_NOTES": folder, "PYTHONPATH": paths}
    environment.pop("NETWORKX_FALLBACK_TO_NX", None)
    if fallback:
        environment["NETWORKX_FALLBACK_TO_NX"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "counting"]
    command += ["-p", "no:cacheprovider", "--tb=short", "-W", "ignore", "--pyargs", *modules]
    if processes > 1 and importlib.util.find_spec("xdist"):
        command += ["-n", str(processes)]
    done = subprocess.run(
        command, cwd=folder, env=environment, check=False, capture_output=True, text=True
    )
    notes = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
    if done.returncode not in (0, 1) or not any("outcomes" in note for note in notes):
        sys.exit(
            f"pytest ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        )
    calls = sum((Counter(note["calls"]) for note in notes), Counter())
    [whole] = [note for note in notes if "outcomes" in note]
    ids = ({short(node) for node in whole[outcome]} for outcome in ("failed", "passed"))
    return calls, whole["outcomes"], *ids, done.stdout


def short(node):
    """Return the name of a test without the folder that networkx is installed in."""
    return node.rpartition("networkx/")[2] if "networkx/" in node else node


def report(title, found, is_whole):
    """Print what came out, and return what is wrong with it."""
    calls, outcomes, failed, passed, said = found
    told = ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))
    print(f"{title}: {told}; {sum(calls.values())} calls of {len(calls)} functions")
    expected = known()
    faults = [f"{node} fails" for node in sorted(failed - expected)]
    if faults:
        print(said[-8000:])
    if is_whole:
        faults += [f"{node} passes: take it out of known.txt" for node in sorted(expected & passed)]
        faults += [f"{name} was never called" for name in FUNCTIONS if not calls[name]]
        for name in FUNCTIONS:
            print(f"  {calls[name]:>7} {name}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="store_true", help="only some files, once")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    modules, whole = (PART, False) if options.part else (("networkx",), True)
    faults = []
    for title, fallback in (("hexgraph alone", False), ("with networkx's own", True)):
        if not fallback and not whole:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = run(folder, modules, options.processes, fallback)
        faults += report(title, found, whole)
    print("\n".join(faults) or "as expected")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
