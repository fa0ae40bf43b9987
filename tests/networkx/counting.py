"""A plugin of pytest: counts the calls of each function of the backend, and notes which tests fail.

HEXGRAPH_NETWORKX_NOTES is the folder that the notes are written to, a file for each process.
"""

import json
import os
from collections import Counter
from functools import wraps
from pathlib import Path

from hexgraph.networkx import backend  # noqa: F401 - registers the functions
from hexgraph.networkx.registry import FUNCTIONS

calls = Counter()
outcomes = Counter()
failed, passed = [], []


def counted(name, function):
    @wraps(function)
    def call(*args, **kwargs):
        calls[name] += 1
        return function(*args, **kwargs)

    return call


FUNCTIONS.update({name: counted(name, function) for name, function in FUNCTIONS.items()})


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        outcomes["xfailed" if hasattr(report, "wasxfail") else report.outcome] += 1
    if report.outcome == "failed":
        failed.append(report.nodeid)
    elif report.when == "call" and report.outcome == "passed":
        passed.append(report.nodeid)


def pytest_sessionfinish(session):
    notes = {"calls": calls}
    if not hasattr(session.config, "workerinput"):  # the one that has the reports of all
        notes |= {"outcomes": outcomes, "failed": failed, "passed": passed}
    folder = Path(os.environ["HEXGRAPH_NETWORKX_NOTES"])
    (folder / f"{os.getpid()}.json").write_text(json.dumps(notes))
