"""One build of hexgraph as a process. It reads requests as lines of JSON from its input, and answers each with a line.

`PYTHONPATH` decides which build it is. Nothing but the Python API is used, so that old builds work, too.
"""

import json
import math
import sys
import time
import warnings
from hashlib import sha256
from pathlib import Path

import data

import hexgraph

# A question is called so often in a turn at least, as in `changes`.
CALLS = 3


def filled(question, key, number):
    """Return the text of a question with the number of a call."""
    digits = str(40 + number % 60)
    text = question[key].replace("#", digits)
    lines = question.get("lines")
    if lines is None:
        return text
    return "\n".join(text.replace("@", str(line + 1)) for line in range(lines))


def rounded(value):
    """Return a value in which floats have twelve digits: sums may be added in another order."""
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


class Build:
    """The state of a process: one open graph."""

    def __init__(self, folder, cache):
        self.folder, self.cache = Path(folder), Path(cache)
        self.db, self.opened = None, None

    def open(self, graph, commits, threads):
        """Open a graph behind so many commits, which are not compacted."""
        if self.opened == (graph, commits, threads):
            return {}
        self.close()
        began = time.perf_counter()
        work = self.folder / f"{graph}-{commits}"
        if not work.exists():
            self.change(self.saved(graph), work, graph, commits)
        self.db = hexgraph.connect(work, threads=threads, fold="manual", map=False, sync="never")
        self.opened = (graph, commits, threads)
        return {"seconds": time.perf_counter() - began}

    def saved(self, graph):
        """Return the directory of a graph, made by this build."""
        saved = self.folder / graph
        if not saved.exists():
            db = hexgraph.connect()
            data.GRAPHS[graph](db, self.cache)
            db.compact()
            db.save(saved)
            db.close()
        return saved

    def change(self, saved, work, graph, commits):
        data.copied(saved, work)
        settings = {"fold": "manual", "map": False, "sync": "never", "checkpoint": "64GiB"}
        with hexgraph.connect(work, **settings) as db:
            data.commit_to(db, graph, range(commits))

    def close(self):
        if self.db is not None:
            self.db.close()
        self.db = self.opened = None

    def call(self, question, form, number):
        """Do one call, and return what it gives."""
        if "graphql" in question:
            return self.db.graphql(filled(question, "graphql", number))
        if "explain" in question:
            return self.db.explain(filled(question, "explain", number))
        if "set" in question:
            return self.db.mutate(set=filled(question, "set", number))
        result = self.db.query(filled(question, "dql", number))
        match form:
            case "objects":
                return result.to_dict()
            case "arrow":
                return result.to_arrow("q")
            case _:
                return result.json()

    def answer(self, question, form, number):
        """Return a hash of an answer, and its beginning. Plans are not compared."""
        if "explain" in question or "set" in question:
            return {"hash": "", "text": ""}
        if "graphql" in question:
            answer = self.call(question, form, number)
        else:
            answer = self.db.query(filled(question, "dql", number)).to_dict()
        text = json.dumps(rounded(answer), default=str)
        return {"hash": sha256(text.encode()).hexdigest(), "text": text[:400]}

    def time(self, question, form, first, milliseconds):
        """Return the nanoseconds of each call of one turn."""
        clock, times = time.perf_counter_ns, []
        # The first call of a turn finds the caches of the other build.
        self.call(question, form, first)
        until = clock() + milliseconds * 1_000_000
        number = first
        while len(times) < CALLS or clock() < until:
            number += 1
            began = clock()
            answer = self.call(question, form, number)
            times.append(clock() - began)
            del answer
        return {"times": times}


def main():
    # Old builds print what new ones do not.
    warnings.simplefilter("ignore")
    build = Build(*sys.argv[1:])
    print(json.dumps({"version": hexgraph.__version__, "file": hexgraph.__file__}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(build, request.pop("do"))(**request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
