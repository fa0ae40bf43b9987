"""Is a build as fast as another, and are its answers the same?

    python benches/gate/gate.py BASELINE [CANDIDATE] [--group columns …] [--only WORD]

A build is a wheel, a folder that has the package `hexgraph`, or a commit of this repository, whose wheel is built once and kept under
`--cache`. Without CANDIDATE it is the package that is installed. Each build is a process, both have the same graphs, and each question is
asked of both in turns. Answers are compared before times. Questions are texts in `questions`, a file for each group.

A question fails whose median is more than 1.10 times the baseline's, and more than half a microsecond above it, and is so in three
repetitions, too. A group fails whose geometric mean of the ratios is above 1.03. The exit code is 1 where something fails.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import data

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# What is allowed, and how often a question that exceeds it is asked again.
RATIO, NANOSECONDS, GROUP_RATIO, REPETITIONS = 1.10, 500, 1.03, 3

# Each build has so many turns of so many milliseconds, as in `changes`.
TURNS, MILLISECONDS = 4, 35

# The numbers of the calls whose answers are compared.
COMPARED = (0, 7, 31)


class Worker:
    """A build as a process."""

    def __init__(self, package, folder, cache):
        environment = {**os.environ, "PYTHONPATH": str(package)}
        command = [sys.executable, str(HERE / "worker.py"), str(folder), str(cache)]
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.file = self.receive()["file"]
        if not Path(self.file).is_relative_to(package):
            sys.exit(f"{package} has no package hexgraph: {self.file} was imported instead")

    def send(self, do, **request):
        self.process.stdin.write(json.dumps({"do": do, **request}) + "\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"the process of a build ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            sys.exit(answer["error"])
        return answer

    def ask(self, do, **request):
        self.send(do, **request)
        return self.receive()


@dataclass
class Case:
    """A question of a group, at one state of the graph."""

    group: str
    question: dict
    commits: int
    threads: int
    form: str

    def __str__(self):
        parts = [self.question["name"]]
        if self.commits:
            parts.append(f"{self.commits:,} commits")
        if self.threads:
            parts.append(f"{self.threads} threads")
        return ", ".join([*parts, self.form])


def cases(names, only):
    """Return the cases of all groups, those of one state of a graph together."""
    for path in sorted((HERE / "questions").glob("*.toml")):
        group = tomllib.loads(path.read_text())
        if (names and path.stem not in names) or (group["data"] == "films" and not data.films()):
            continue
        questions = group["question"]
        if group["data"] == "films":
            questions = data.film_queries() + questions
        questions = [it for it in questions if not only or only in it["name"]]
        for commits in group.get("commits", [0]):
            for threads in group["threads"]:
                for question in questions:
                    for form in group["forms"]:
                        yield group["data"], Case(path.stem, question, commits, threads, form)


def package(build, cache):
    """Return the folder that has the package of a build."""
    path = Path(build)
    if path.is_dir():
        return path.resolve()
    if path.suffix == ".whl":
        folder = cache / "wheels" / path.stem / f"{path.stat().st_mtime_ns:x}"
        return unpacked(path, folder)
    commit = git("rev-parse", "--verify", f"{build}^{{commit}}")
    folder = cache / "commits" / commit[:12]
    return folder if folder.exists() else built(commit, folder, cache)


def unpacked(wheel, folder):
    if not folder.exists():
        zipfile.ZipFile(wheel).extractall(folder.with_suffix(".new"))
        folder.with_suffix(".new").rename(folder)
    return folder


def built(commit, folder, cache):
    """Build the wheel of a commit."""
    with tempfile.TemporaryDirectory(dir=cache) as work:
        tree = Path(work) / "tree"
        git("worktree", "add", "--detach", str(tree), commit)
        try:
            command = [sys.executable, "-m", "maturin", "build", "--release", "--out", work]
            environment = {**os.environ, "CARGO_TARGET_DIR": str(cache / "target")}
            subprocess.run(command, check=True, cwd=tree, env=environment)
            return unpacked(next(Path(work).glob("*.whl")), folder)
        finally:
            git("worktree", "remove", "--force", str(tree))


def git(*arguments):
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def installed():
    """Return the folder of the package that is installed."""
    code = "import hexgraph, pathlib; print(pathlib.Path(hexgraph.__file__).parents[1])"
    command = [sys.executable, "-c", code]
    text = subprocess.run(command, check=True, capture_output=True, text=True, cwd="/").stdout
    return Path(text.strip())


def compare(workers, case):
    """Stop where the builds have different answers."""
    for number in COMPARED:
        answers = [
            it.ask("answer", question=case.question, form=case.form, number=number)
            for it in workers
        ]
        if answers[0]["hash"] != answers[1]["hash"]:
            texts = "\n".join(answer["text"] for answer in answers)
            return f"{case}: the answers differ\n{texts}"
    return None


def medians(workers, case):
    """Return the median nanoseconds of both builds, which are asked in turns."""
    times = [[], []]
    for turn in range(TURNS):
        # Who comes first changes, so that neither always meets the other's caches.
        for build in (0, 1) if turn % 2 == 0 else (1, 0):
            request = {"question": case.question, "form": case.form, "first": turn * 13}
            answer = workers[build].ask("time", milliseconds=MILLISECONDS, **request)
            times[build] += answer["times"]
    return [statistics.median(it) for it in times]


def exceeds(baseline, candidate):
    return candidate > RATIO * baseline and candidate > baseline + NANOSECONDS


def measure(workers, case):
    """Return the medians of a case, and whether it fails: each repetition exceeds what is allowed."""
    baseline, candidate = medians(workers, case)
    for _ in range(REPETITIONS):
        if not exceeds(baseline, candidate):
            return baseline, candidate, False
        baseline, candidate = medians(workers, case)
    return baseline, candidate, exceeds(baseline, candidate)


def run(workers, options):
    """Measure all cases; return their rows, and what failed."""
    rows, failures = [], []
    for graph, case in cases(options.group, options.only):
        for worker in workers:
            worker.send("open", graph=graph, commits=case.commits, threads=case.threads)
        for worker in workers:
            worker.receive()
        if difference := compare(workers, case):
            failures.append(difference)
            continue
        baseline, candidate, fails = measure(workers, case)
        rows.append((case, baseline, candidate))
        ratio = candidate / baseline
        mark = " !" if fails else ""
        print(
            f"{case.group:13} {case!s:58} {baseline / 1e3:12.1f} {candidate / 1e3:12.1f} {ratio:6.2f}{mark}",
            flush=True,
        )
        if fails:
            failures.append(f"{case.group}: {case}: {ratio:.2f} times the baseline")
    return rows, failures


def totals(rows):
    """Print the geometric mean of each group; return what failed."""
    failures = []
    for group in dict.fromkeys(case.group for case, _, _ in rows):
        ratios = [new / old for case, old, new in rows if case.group == group]
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        worst = max(ratios)
        print(f"{group}: {len(ratios)} cases, geometric mean {mean:.3f}, worst {worst:.2f}")
        if mean > GROUP_RATIO:
            failures.append(f"{group}: the geometric mean is {mean:.3f}")
    return failures


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("baseline")
    parser.add_argument("candidate", nargs="?")
    parser.add_argument("--group", nargs="+", help="the groups of questions")
    parser.add_argument("--only", help="questions with this in their name")
    parser.add_argument("--json", type=Path, help="write the medians to this file")
    home = Path.home() / ".cache" / "hexgraph" / "gate"
    parser.add_argument("--cache", type=Path, default=home, help="builds and graphs")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    builds = [package(options.baseline, options.cache)]
    builds.append(package(options.candidate, options.cache) if options.candidate else installed())
    with tempfile.TemporaryDirectory() as work:
        folders = [Path(work) / name for name in ("baseline", "candidate")]
        workers = [
            Worker(build, folder, options.cache)
            for build, folder in zip(builds, folders, strict=True)
        ]
        rows, failures = run(workers, options)
        for worker in workers:
            worker.process.stdin.close()
            worker.process.wait()
    failures += totals(rows)
    if options.json:
        lines = [[case.group, str(case), old, new] for case, old, new in rows]
        options.json.write_text(json.dumps(lines, indent=1))
    print("\n".join(["", "Failed:", *failures] if failures else ["", "Nothing failed."]))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
