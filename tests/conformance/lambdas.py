"""The functions that schemas of the recordings call by `@lambda`, as a small server.

They are written anew from what the recorded answers show.
"""

import json
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Parent = dict[str, Any]


class Lambdas(ThreadingHTTPServer):
    """A server of functions; `database` is the address that they ask in turn."""

    daemon_threads = True
    database = ""

    @property
    def url(self) -> str:
        """The address for `--graphql-lambda-url`."""
        return f"http://127.0.0.1:{self.server_port}/graphql-worker"

    def call(self, resolver: str, request: dict[str, Any]) -> object:
        """Carry out one function: for each parent, or once with the arguments."""
        arguments = request.get("args") or {}
        match resolver:
            case "Author.rank":
                return ranks(request["parents"])
            case "Query.authorsByName":
                return self.authors(arguments["name"])
            case "Mutation.newAuthor":
                return self.new_author(arguments["name"])
            case _:
                return [OF_PARENT[resolver](parent) for parent in request["parents"]]

    def authors(self, name: str) -> object:
        """Find authors by their name, in DQL."""
        for prefix in ("Author.", "test.dgraph.author."):
            wanted = " ".join(f"{it}: {prefix}{it}" for it in ("name", "dob", "reputation"))
            query = (
                f"query q($name: string) {{ q(func: has({prefix}name)) "
                f"@filter(eq({prefix}name, $name)) {{ {wanted} }} }}"
            )
            body = {"query": query, "variables": {"$name": name}}
            found = self.post("/query", body)["data"]["q"]
            if found:
                return found
        return []

    def new_author(self, name: str) -> object:
        """Add an author of little reputation, and return its ID."""
        query = (
            "mutation ($name: String!) { addAuthor(input: [{name: $name, reputation: 3.0}]) "
            "{ author { id } } }"
        )
        body = {"query": query, "variables": {"name": name}}
        return self.post("/graphql", body)["data"]["addAuthor"]["author"][0]["id"]

    def post(self, path: str, body: object) -> dict[str, Any]:
        """Send JSON to the database and return what it answers."""
        headers = {"Content-Type": "application/json"}
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.database + path, data, headers)
        with urllib.request.urlopen(request) as answer:
            found: dict[str, Any] = json.load(answer)
            return found


class Handler(BaseHTTPRequestHandler):
    """Reads a call, and answers with its result."""

    server: Lambdas

    def do_POST(self) -> None:
        """Carry out a function."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            status, found = 200, self.server.call(request["resolver"], request)
        except KeyError as missing:
            status, found = 404, {"errors": [{"message": f"there is no {missing}"}]}
        body = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def ranks(parents: list[Parent]) -> list[int]:
    """Number authors from the best reputation down."""
    best = sorted(parents, key=lambda parent: -parent["reputation"])
    return [best.index(parent) + 1 for parent in parents]


def astronaut(parent: Parent) -> str:
    """Describe an astronaut as JavaScript would write it."""
    age = parent.get("age", "undefined")
    active = str(parent["isActive"]).lower()
    return f"Name - {parent['name']}, Age - {age}, isActive - {active}"


OF_PARENT: dict[str, Callable[[Parent], object]] = {
    "Author.bio": lambda it: f"My name is {it['name']} and I was born on {it['dob']}.",
    "Character.bio": lambda it: f"My name is {it['name']}.",
    "Human.bio": lambda it: f"My name is {it['name']}. I have {it['totalCredits']:g} credits.",
    "Droid.bio": lambda it: (
        f"My name is {it['name']}. My primary function is {it['primaryFunction']}."
    ),
    "Book.summary": lambda _: "hi",
    "Astronaut.bio": astronaut,
}


@contextmanager
def lambdas() -> Iterator[Lambdas]:
    """Run the server."""
    with Lambdas(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
