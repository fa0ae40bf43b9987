"""Custom fields of GraphQL, answered by a server of our own."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import hexgraph

SCHEMA = """
type Film {
    title: String! @id
    rating: Float @custom(http: { url: "URL/ratings/$title", method: GET })
    seen: Int @custom(http: { url: "URL/seen", method: POST, mode: BATCH, body: "{ of: $title }" })
}
type Cinema @remote { name: String! city: String }
type Query {
    cinemas(city: String!, first: Int): [Cinema] @custom(http: {
        url: "URL/cinemas/$city?n=$first", method: GET,
        forwardHeaders: ["Authorization"], secretHeaders: ["X-Key:cinemas"] })
}
type Mutation {
    book(film: String!, seats: Int!): Cinema @custom(http: {
        url: "URL/book", method: POST, body: "{ film: $film, order: { seats: $seats } }" })
}
# Dgraph.Secret cinemas "s3cret"
"""
ADD = """mutation { addFilm(input: [{title: "Metropolis"}, {title: "Playtime"}]) { numUids } }"""


class Handler(BaseHTTPRequestHandler):
    """Answers as a few services would, and notes what it was requests."""

    def answer(self):
        length = int(self.headers["Content-Length"] or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.server.requests.append((self.command, self.path, dict(self.headers), body))
        result = {
            "ratings": lambda: 8.3 if "Metropolis" in self.path else None,
            "seen": lambda: [len(film["of"]) for film in body],
            "cinemas": lambda: [{"name": "Babylon", "city": "Berlin"}, {"name": None}],
            "book": lambda: {"name": body["film"], "city": str(body["order"]["seats"])},
        }[self.path.split("/")[1].split("?")[0]]()
        text = json.dumps(result).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = answer  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture
def service():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.requests = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def films(db, service):
    db.graphql_schema(SCHEMA.replace("URL", f"http://127.0.0.1:{service.server_port}"))
    assert db.graphql(ADD)["data"]["addFilm"]["numUids"] == 2
    return db


def test_fields(films, service):
    answer = films.graphql("{ queryFilm { title rating seen } }")
    assert answer["data"]["queryFilm"] == [
        {"title": "Metropolis", "rating": 8.3, "seen": 10},
        {"title": "Playtime", "rating": None, "seen": 8},
    ]
    assert sum(path == "/seen" for _, path, _, _ in service.requests) == 1


def test_queries_and_mutations(films, service):
    text = '{ cinemas(city: "New York", first: 2) { name } }'
    answer = films.graphql(text, headers={"Authorization": "Bearer x"})
    assert answer["data"] == {"cinemas": [{"name": "Babylon"}, None]}
    assert answer["errors"][0]["path"] == ["cinemas", 1, "name"]
    method, path, headers, _ = service.requests.pop()
    assert (method, path) == ("GET", "/cinemas/New%20York?n=2")
    assert (headers["authorization"], headers["x-key"]) == ("Bearer x", "s3cret")
    answer = films.graphql('mutation { book(film: "Ran", seats: 3) { name city } }')
    assert answer == {"data": {"book": {"name": "Ran", "city": "3"}}}
    assert service.requests[-1][3] == {"film": "Ran", "order": {"seats": 3}}


def test_nobody_answers(films, service):
    service.shutdown()
    service.server_close()
    answer = films.graphql("{ queryFilm(first: 1) { title rating } }")
    assert answer["data"]["queryFilm"] == [{"title": "Metropolis", "rating": None}]
    assert "Evaluation of custom field failed" in answer["errors"][0]["message"]


def test_a_schema_of_another_server_is_checked(db):
    url = "http://127.0.0.1:1"
    custom = f'@custom(http: {{ url: "{url}", method: POST, graphql: "query {{ x }}" }})'
    with pytest.raises(hexgraph.SchemaError, match="can't be had"):
        db.graphql_schema(f"type A @remote {{ b: Int }} type Query {{ a: A {custom} }}")
    assert db.graphql_schema() is None
