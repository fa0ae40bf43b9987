"""Replays recorded requests against our server and compares its answers with the recorded ones.

The recordings lie beside the project, in the folder that HEXGRAPH_SHARED names or ../shared.
`known_*.txt` list the cases that are expected to differ, with the reason: one that is not listed
and differs fails the run, and so does one that is listed and agrees.
"""

import os
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from lambdas import lambdas

SUITES = {
    "dql/suite.jsonl": "known_dql.txt",
    "dql/suite_systest.jsonl": "known_systest.txt",
    "dql/suite_alpha.jsonl": "known_alpha.txt",
    "dql/suite_unique.jsonl": "known_unique.txt",
    "dql/suite_vector.jsonl": "known_vector.txt",
}
"""The recordings of requests that change data, with what is known to differ."""

LONG = {"dql/suite_vector_slow.jsonl": "known_vector.txt"}
"""Those that take minutes: with --long."""

LAMBDA = ("--graphql-lambda-url", "LAMBDAS")
"""Schemas have lambdas: LAMBDAS stands for the address of our server of them."""

AUDIENCE = ("--graphql-audience-optional",)
"""Tokens of these recordings name no audience where the schemas do; the reference takes them."""

TOKEN = ("--security", "whitelist=127.0.0.1; token=itIsSecret")
"""Who administers has to name a token."""

TRACES = {
    "graphql/normal.jsonl": ("--graphql-debug", *LAMBDA),
    "graphql/directives.jsonl": ("--graphql-debug", *LAMBDA),
    "graphql/schema.jsonl": LAMBDA,
    "graphql/subscription.jsonl": (),
    "graphql/auth.jsonl": ("--graphql-debug", *AUDIENCE),
    "graphql/auth_closed_by_default.jsonl": ("--graphql-debug", *AUDIENCE),
    "graphql/auth_debug_off.jsonl": AUDIENCE,
    "graphql/poorman_auth.jsonl": TOKEN,
    "graphql/poorman_auth_with_acl.jsonl": (*TOKEN, "--acl", "secret-file=SECRET; access-ttl=3s"),
    "graphql/multi_tenancy.jsonl": ("--acl", "secret-file=SECRET; access-ttl=3000s"),
}
"""The recordings of GraphQL requests, with the arguments of the server that they were made with."""

GUARDED = {
    "graphql/poorman_auth.jsonl",
    "graphql/poorman_auth_with_acl.jsonl",
    "graphql/multi_tenancy.jsonl",
}
"""Those whose server lets nobody drop everything without its token: they begin as it is."""

MESSAGES = {
    "graphql/normal.jsonl": 157,
    "graphql/directives.jsonl": 157,
    "graphql/schema.jsonl": 3,
    "graphql/auth.jsonl": 38,
    "graphql/auth_closed_by_default.jsonl": 9,
    "graphql/auth_debug_off.jsonl": 2,
    "graphql/poorman_auth.jsonl": 4,
    "graphql/poorman_auth_with_acl.jsonl": 6,
    "graphql/multi_tenancy.jsonl": 2,
}
"""So many of the answers with errors have exactly the recorded messages and places; never fewer.
The one that has not, in each of the long traces, proposes names that are equally near: the
reference lists such names in any order. Two in auth.jsonl do not repeat the header that holds
no token, and two more are refusals that known_graphql.txt lists: auth:111 and auth:709."""

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("HEXGRAPH_SHARED") or HERE.parents[2] / "shared")


@contextmanager
def server(*arguments: str) -> Iterator[str]:
    """Run `hexgraph serve` with these arguments, and yield its address."""
    # Recordings change data and take uids by GET, as the reference lets them.
    command = [sys.executable, "-m", "hexgraph", "serve", "--port", "0", "--allow-get-changes"]
    command += arguments
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield address(process)
        finally:
            process.terminate()


def address(process: subprocess.Popen[str]) -> str:
    """Return the address that the server prints when it is ready."""
    assert process.stdout is not None
    for line in process.stdout:
        print(line, end="", flush=True)
        for word in line.split():
            if word.startswith("http://"):
                return word
    sys.exit("the server ended before it was ready")


def replay(url: str, script: str, known: str, *arguments: str) -> bool:
    """Run one replayer and say whether all is as expected."""
    command = [sys.executable, script, "--url", url, "--known", str(HERE / known), *arguments]
    return subprocess.run(command, cwd=SHARED / "conformance", check=False).returncode == 0


def replay_suite(suite: str, known: str) -> bool:
    """Replay one of the suites on a server of its own, which hands out the uids too."""
    with server() as url:
        return replay(url, "dql/replay.py", known, "--zero", url, suite)


def replay_trace(trace: str, arguments: tuple[str, ...]) -> bool:
    """Replay a recording of GraphQL requests on a server of its own."""
    # Requests of the traces write exports.
    with TemporaryDirectory() as folder, lambdas() as functions:
        secret = Path(folder) / "secret"
        secret.write_text(secrets.token_hex(32))
        given = (functions.url if it == "LAMBDAS" else it for it in arguments)
        given = (it.replace("SECRET", str(secret)) for it in given)
        exports = str(Path(folder) / "exports")
        with server("--export", exports, *given) as url:
            functions.database = url
            return replay_graphql(trace, url)


def replay_graphql(trace: str, url: str) -> bool:
    """Replay a recording of GraphQL requests on a server that runs."""
    known = str(HERE / "known_graphql.txt")
    as_it_is = ("--no-drop",) if trace in GUARDED else ()
    command = [sys.executable, "graphql/replay.py", trace, url, "--known", known, *as_it_is]
    done = subprocess.run(
        command, cwd=SHARED / "conformance", check=False, stdout=subprocess.PIPE, text=True
    )
    print(done.stdout, end="", flush=True)
    equal = re.search(r"exact errors incl. locations/path: (\d+)", done.stdout)
    count, wanted = int(equal[1]) if equal else 0, MESSAGES.get(trace, 0)
    if count != wanted:
        print(f"{trace}: {count} answers have exactly the recorded errors, not {wanted}")
    return done.returncode == 0 and wanted <= count


def replay_cypher() -> bool:
    """Replay the read-only scenarios of the openCypher TCK on databases in memory."""
    known = str(HERE / "known_cypher.txt")
    files = ("cypher/read.jsonl", "cypher/rewritten.jsonl")
    command = [sys.executable, "cypher/replay.py", *files, "--known", known]
    return subprocess.run(command, cwd=SHARED / "conformance", check=False).returncode == 0


def main() -> int:
    """Replay everything that there is."""
    if not SHARED.is_dir():
        print(f"conformance skipped: there is no {SHARED}")
        return 0
    data = SHARED / "data"
    film = ("--load", str(data / "film.rdf.gz"), "--schema", str(data / "film.schema"))
    with server(*film) as url:
        cases = ("film/cases_visible.jsonl", "film/fuzz_answers.jsonl.gz")
        films = replay(url, "replay_queries.py", "known_film.txt", *cases)
    suites = SUITES | (LONG if "--long" in sys.argv else {})
    done = [replay_suite(suite, known) for suite, known in suites.items()]
    done += [replay_trace(trace, arguments) for trace, arguments in TRACES.items()]
    done.append(replay_cypher())
    return 0 if films and all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
