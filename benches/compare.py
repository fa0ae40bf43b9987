"""Runs tasks on several engines in turns, compares their answers, and prints medians in milliseconds."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time


def pin(threads):
    """Leave this process the first `threads` processors."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def parser(doc, tasks):
    """Return a parser with the options of each such bench."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=2.0, help="of a task and an engine")
    parser.add_argument("--tasks", type=int, nargs="+", default=list(tasks))
    parser.add_argument("--run", type=int, help="only measure, with so many threads, and print JSON")
    return parser


def measure(engines, options, answer):
    """Print a line of JSON for each task; `answer` is called with an engine and a task.

    An engine is left out of the tasks in its `cannot`.
    """
    for task in options.tasks:
        answers, times = {}, {}
        for engine in engines:
            if task in getattr(engine, "cannot", ()):
                continue
            samples = []
            started = time.perf_counter()
            while len(samples) < 3 or (
                len(samples) < 15 and time.perf_counter() - started < options.seconds
            ):
                before = time.perf_counter()
                answers[engine.name] = answer(engine, task)
                samples.append(time.perf_counter() - before)
                if samples[-1] > 10 * options.seconds:
                    break
            times[engine.name] = statistics.median(samples) * 1e3
        first = next(iter(answers.values()))
        assert all(other == first for other in answers.values()), (task, answers)
        print(json.dumps({"task": task, "answer": short(first), "ms": times}), flush=True)


def short(answer):
    text = f"{answer:,}" if isinstance(answer, int) else str(answer)
    return text if len(text) <= 16 else f"{text[:15]}…"


def main(script, options, run, about):
    """Measure in a process for each number of threads, which calls `run`, and print a table of each."""
    if options.run:
        pin(options.run)
        run(options)
        return
    for threads in options.threads:
        command = [sys.executable, script, *sys.argv[1:], "--run", str(threads)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            names = []
            print(f"\n{threads} threads, {about}, ms")
            for line in map(json.loads, child.stdout):
                if not names:
                    names = list(line["ms"])
                    print("task".ljust(8) + "answer".rjust(18), *(it.rjust(12) for it in names))
                least = min(line["ms"].values())
                times = [line["ms"].get(name) for name in names]
                cells = ["- " if ms is None else f"{ms:.2f}{'*' if ms == least else ' '}" for ms in times]
                print(
                    f"{line['task']:<8}{line['answer']:>18}",
                    *(it.rjust(12) for it in cells),
                    flush=True,
                )
        if child.returncode:
            sys.exit(child.returncode)
