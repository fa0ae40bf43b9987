"""The gate that compares two builds passes equal builds, and fails one that is slower."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

GATE = Path(__file__).parents[2] / "benches" / "gate"

# A package that does nothing, and takes its time where `DELAY` says so.
PACKAGE = """
import contextlib, time, types

__version__ = "0"

class Database(contextlib.AbstractContextManager):
    def __exit__(self, *error): pass
    def alter(self, schema): pass
    def compact(self): pass
    def save(self, path): path.mkdir(parents=True)
    def close(self): pass
    def mutate(self, set, delete=None): time.sleep(DELAY)

DELAY = {delay}

def connect(*arguments, **named):
    return Database()
"""


def build(folder, delay):
    """Write a build whose commits run for so many seconds."""
    (folder / "hexgraph").mkdir(parents=True)
    (folder / "hexgraph" / "__init__.py").write_text(PACKAGE.format(delay=delay))
    return folder


def gate(tmp_path, *builds):
    arguments = ["--group", "commits", "--only", "one value", "--cache", str(tmp_path / "cache")]
    command = [sys.executable, str(GATE / "gate.py"), *map(str, builds), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_build_passes_or_fails_next_to_another(tmp_path):
    pytest.importorskip("polars")
    quick, slow = build(tmp_path / "quick", 0.0002), build(tmp_path / "slow", 0.001)
    passed, failed = gate(tmp_path, slow, quick), gate(tmp_path, quick, slow)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert failed.returncode == 1, failed.stdout + failed.stderr
    assert re.search(r"commits: one value, commit: \d\.\d\d times the baseline", failed.stdout)


def test_a_folder_without_the_package_is_no_build(tmp_path):
    pytest.importorskip("polars")
    (tmp_path / "none").mkdir()
    ended = gate(tmp_path, tmp_path / "none", tmp_path / "none")
    assert ended.returncode != 0
    assert "none has no package hexgraph" in ended.stderr


def test_questions_have_a_name_and_one_text():
    for path in (GATE / "questions").glob("*.toml"):
        group = tomllib.loads(path.read_text())
        names = [question["name"] for question in group["question"]]
        assert len(names) == len(set(names)), path
        for question in group["question"]:
            assert len(question.keys() & {"dql", "graphql", "explain", "set"}) == 1, question
