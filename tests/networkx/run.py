"""Runs networkx's own tests on hexgraph, as networkx's backends are tested.

Usage: python tests/networkx/run.py [--part] [--only PATTERN] [--processes N] [--limit SECONDS]

First with `NETWORKX_TEST_BACKEND=hexgraph` alone: a test that needs a function which hexgraph does
not have counts as expected to fail. Then once more where networkx goes on by itself for these. The
first way leaves out most tests, since networkx's own generators of graphs are such functions; the
second has every function called, and tells how often. Every test that fails stands in known.txt
with its reason, and one that stands there fails where the second way comes to it. The folders of
networkx are run one after the other, each within the limit. With `--part` only some files are run,
in the second way; `--only` runs the folders whose name has the pattern in it, in both.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
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

LIMIT = 900
"""The seconds that a folder may take: ten times what the slowest took when this was written."""


def known():
    lines = (HERE / "known.txt").read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def home():
    """Return the folder that networkx is installed in."""
    [found] = importlib.util.find_spec("networkx").submodule_search_locations
    return Path(found)


def folders():
    """Return the folders with tests in them. One of them is no package, so they are paths."""
    return sorted(str(path) for path in home().rglob("tests") if path.is_dir())


def run(modules, options, fallback):
    """Run some tests: return the calls, the outcomes, and the tests that failed, and passed."""
    with tempfile.TemporaryDirectory() as folder:
        return run_in(folder, modules, options, fallback)


def run_in(folder, modules, options, fallback):
    paths = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "NETWORKX_TEST_BACKEND": "hexgraph"}
    environment |= {"HEXGRAPH_NETWORKX_NOTES": folder, "PYTHONPATH": paths}
    environment.pop("NETWORKX_FALLBACK_TO_NX", None)
    if fallback:
        environment["NETWORKX_FALLBACK_TO_NX"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "counting"]
    command += ["-p", "no:cacheprovider", "--tb=short", "--disable-warnings", "--pyargs", *modules]
    # The names of tests begin there, whatever is run. An environment within this repository would
    # get its settings, by which any warning is an error.
    settings = Path(folder) / "pytest.ini"
    settings.write_text("[pytest]\n")
    command += ["--rootdir", str(home()), "-c", str(settings)]
    if options.processes > 1 and importlib.util.find_spec("xdist"):
        command += ["-n", str(options.processes)]
    kept = {"cwd": folder, "env": environment, "capture_output": True, "text": True}
    try:
        done = subprocess.run(command, check=False, timeout=options.limit, **kept)
    except subprocess.TimeoutExpired:
        sys.exit(f"{' '.join(modules)}: not done after {options.limit} s, the limit")
    notes = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
    if done.returncode not in (0, 1) or not any("outcomes" in note for note in notes):
        sys.exit(
            f"pytest ended with {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        )
    calls = sum((Counter(note["calls"]) for note in notes), Counter())
    [whole] = [note for note in notes if "outcomes" in note]
    ids = ({short(node) for node in whole[outcome]} for outcome in ("failed", "passed"))
    return calls, Counter(whole["outcomes"]), *ids, done.stdout


def run_folders(modules, options, fallback):
    """Run folders one after the other: return what `run` does, of all of them."""
    calls, outcomes, failed, passed, said = Counter(), Counter(), set(), set(), ""
    for module in modules:
        start = time.monotonic()
        more = run([module], options, fallback)
        calls += more[0]
        outcomes += more[1]
        failed |= more[2]
        passed |= more[3]
        said += more[4] if more[2] - known() else ""
        told = ", ".join(f"{number} {outcome}" for outcome, number in sorted(more[1].items()))
        name = Path(module).parent.relative_to(home().parent)
        print(f"  {time.monotonic() - start:6.0f} s  {name}: {told}", flush=True)
    return calls, outcomes, failed, passed, said


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
    parser.add_argument("--only", help="the folders whose name has this in it")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for each folder")
    options = parser.parse_args()
    faults = []
    if options.part:
        found = run(PART, options, fallback=True)
        faults += report("with networkx's own", found, is_whole=False)
    else:
        modules = [module for module in folders() if (options.only or "") in module]
        for title, fallback in (("hexgraph alone", False), ("with networkx's own", True)):
            print(f"{title}:")
            found = run_folders(modules, options, fallback)
            faults += report(title, found, is_whole=fallback and not options.only)
    print("\n".join(faults) or "as expected")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
