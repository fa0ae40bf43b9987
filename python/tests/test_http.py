import gzip
import http.client
import json
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import pytest

DQL = "application/dql"
TYPED = {"Content-Type": DQL}
ADA = '{ q(func: eq(name, "Ada")) { name } }'


class Client:
    """One connection that is kept alive."""

    def __init__(self, url):
        self.connection = http.client.HTTPConnection(urllib.parse.urlparse(url).netloc, timeout=30)

    def ask(self, method, path, body=b"", headers=None):
        body = body if isinstance(body, bytes) else body.encode()
        self.connection.request(method, path, body, headers or {})
        reply = self.connection.getresponse()
        return reply, reply.read()

    def post(self, path, body, content_type=None, **headers):
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if content_type:
            given["Content-Type"] = content_type
        reply, text = self.ask("POST", path, body, given)
        assert reply.status == 200
        assert reply.headers["Content-Type"] == "application/json"
        return json.loads(text)


@pytest.fixture
def client(people):
    with people.serve(port=0) as server:
        client = Client(server.url)
        yield client
        client.connection.close()


def message(reply):
    (error,) = reply["errors"]
    return error["message"], error["extensions"]["code"]


@pytest.mark.parametrize("content_type", [DQL, "application/graphql+-", f"{DQL}; charset=utf-8"])
def test_query(client, content_type):
    reply = client.post("/query", ADA, content_type)
    assert reply["data"] == {"q": [{"name": "Ada"}]}
    latency = reply["extensions"]["server_latency"]
    assert latency["total_ns"] >= latency["processing_ns"] > 0
    assert reply["extensions"]["txn"]["start_ts"] > 0
    assert reply["extensions"]["metrics"]["num_uids"]["_total"] > 0


def test_query_with_variables(client):
    query = "query q($n: string) { q(func: eq(name, $n)) { name } }"
    body = json.dumps({"query": query, "variables": {"$n": "Bob"}})
    assert client.post("/query", body, "application/json")["data"] == {"q": [{"name": "Bob"}]}


def test_parameters(client):
    path = "/query?debug=true&ro=true&be=true&startTs=0&timeout=10s&respFormat=json"
    assert client.post(path, ADA, DQL)["data"] == {"q": [{"uid": "0x1", "name": "Ada"}]}


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/query?ro=maybe", 'while parsing ro as bool: strconv.ParseBool: parsing "maybe"'),
        ("/query?startTs=x", "while parsing startTs as uint64"),
        ("/query?timeout=abc", 'time: invalid duration "abc"'),
        ("/query?respFormat=xml", "invalid value [xml] for parameter respFormat"),
        ("/query?timeout=0s", "deadline exceeded"),
    ],
)
def test_bad_parameters(client, path, wanted):
    text, code = message(client.post(path, ADA, DQL))
    assert wanted in text
    assert code == "ErrorInvalidRequest"


@pytest.mark.parametrize(
    ("content_type", "body", "wanted"),
    [
        (None, ADA, "Unsupported Content-Type"),
        ("text/plain", ADA, "Unsupported Content-Type"),
        (f"{DQL}; charset=latin1", ADA, "charset is not supported"),
        ("application/json", "{", "Error parsing JSON at line 1, character 1"),
        ("application/json", '{"query":"{}","variables":{"$a":1}}', "$a"),
        (DQL, b"\xff", "UTF-8"),
    ],
)
def test_bad_requests(client, content_type, body, wanted):
    reply = client.post("/query", body, content_type)
    text, code = message(reply)
    assert wanted in text
    assert code == "ErrorInvalidRequest"
    assert "data" not in reply


def test_a_query_that_fails(client):
    reply = client.post("/query", "{ q(func: nonsense(name)) { name } }", DQL)
    assert reply["data"] is None
    assert message(reply)[0].startswith("line 1 column ")


def test_gzip_both_ways(client):
    headers = {
        "Content-Type": DQL,
        "Content-Encoding": "gzip",
        "Accept-Encoding": "deflate, gzip",
    }
    reply, body = client.ask("POST", "/query", gzip.compress(ADA.encode()), headers)
    assert reply.headers["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(body))["data"] == {"q": [{"name": "Ada"}]}
    bad = client.post("/query", ADA, DQL, Content_Encoding="br")
    assert message(bad)[0] == "Unsupported content encoding"
    assert "gzip" in message(client.post("/query", ADA, DQL, Content_Encoding="gzip"))[0]


def test_headers_and_methods(client):
    reply, _ = client.ask("POST", "/query", ADA, {"Content-Type": DQL})
    assert int(reply.headers["Dgraph-Toucheduids"]) > 0
    assert reply.headers["Access-Control-Allow-Origin"] == "*"
    reply, body = client.ask("OPTIONS", "/query")
    assert (reply.status, body) == (200, b"")
    assert "X-Dgraph-AccessToken" in reply.headers["Access-Control-Allow-Headers"]
    reply, body = client.ask("GET", "/query")
    assert reply.status == 400
    assert message(json.loads(body)) == ("Invalid method", "ErrorInvalidMethod")
    reply, body = client.ask("GET", "/nothing")
    assert (reply.status, body) == (404, b"404 page not found\n")


def test_mutate(client):
    rdf = '{ set { _:dan <name> "Dan" . } delete { <0x1> <born> * . } }'
    reply = client.post("/mutate?commitNow=true", rdf, "application/rdf")
    assert reply["data"]["code"] == "Success"
    assert set(reply["data"]["uids"]) == {"dan"}
    assert reply["extensions"]["txn"]["commit_ts"] > 0
    born = client.post("/query", "{ q(func: has(born)) { uid } }", DQL)["data"]
    assert born == {"q": [{"uid": "0x2"}]}


def test_mutate_in_json(client):
    body = json.dumps(
        {
            "query": '{ q(func: eq(name, "Bob")) { v as uid } }',
            "cond": "@if(eq(len(v), 1))",
            "set": {"uid": "uid(v)", "born": 1},
            "mutations": [
                {"set": [{"uid": "_:new", "name": "New", "boss": {"uid": "uid(v)"}}]},
                {"delete": {"uid": "0x1", "born": None}, "cond": "@if(gt(len(v), 1))"},
            ],
        }
    )
    reply = client.post("/mutate?commitNow=true", body, "application/json")
    data = reply["data"]
    assert (data["code"], data["message"]) == ("Success", "Done")
    assert data["queries"] == {"q": [{"uid": "0x2"}]}
    assert set(data["uids"]) == {"new"}
    born = client.post("/query", "{ q(func: has(born)) { born ~boss { name } } }", DQL)["data"]["q"]
    assert born == [
        {"born": 1815, "~boss": [{"name": "Bob"}]},
        {"born": 1, "~boss": [{"name": "New"}]},
    ]
    empty = client.post("/mutate?commitNow=true", "{}", "application/json")
    assert "empty request" in message(empty)[0]


def test_upsert_in_rdf(client):
    block = (
        'upsert { query { q(func: eq(name, "Zoe")) { v as uid } } '
        'mutation @if(eq(len(v), 0)) { set { uid(v) <name> "Zoe" . } } }'
    )
    reply = client.post("/mutate?commitNow=true", block, "application/rdf")
    assert list(reply["data"]["uids"]) == ["uid(v)"]
    assert reply["data"]["queries"] == {"q": []}
    reply = client.post("/mutate?commitNow=true", block, "application/rdf")
    assert reply["data"]["uids"] == {}
    query = client.post("/mutate?commitNow=true", ADA, "application/rdf")["data"]
    assert (query["queries"], query["uids"]) == ({"q": [{"name": "Ada"}]}, None)


@pytest.mark.parametrize(
    ("path", "content_type", "wanted"),
    [
        ("/mutate", "application/rdf", "not supported yet: open transactions"),
        ("/mutate?commitNow=true", "application/json", "Error parsing JSON at line 1"),
        ("/mutate?commitNow=true", "text/plain", "Unsupported Content-Type"),
        ("/commit", None, "startTs parameter is mandatory"),
        ("/commit?startTs=7", None, "not supported yet: open transactions"),
    ],
)
def test_what_mutate_and_commit_refuse(client, path, content_type, wanted):
    assert wanted in message(client.post(path, "{ set { } }", content_type))[0]


def test_alter(client, people):
    done = {"data": {"code": "Success", "message": "Done"}}
    assert client.post("/alter", "nick: string .") == done
    assert client.post("/alter", '{"schema": "nack: string ."}') == done
    assert "nick" in people.schema()
    assert "nack" in people.schema()
    assert client.post("/alter", '{"drop_attr": "nick"}') == done
    assert "nick" not in people.schema()
    assert client.post("/alter", '{"drop_all": true}') == done
    assert people.stats()["nodes"] == 0
    assert message(client.post("/alter", "nonsense"))[1] == "Error"
    assert "nothing to do" in message(client.post("/alter", "{}"))[0]


def test_health(client):
    reply, body = client.ask("GET", "/health")
    (health,) = json.loads(body)
    assert reply.status == 200
    assert health["status"] == "healthy"
    assert health["ee_features"] == []


def test_a_stopped_server_is_gone(people):
    server = people.serve(port=0)
    client = Client(server.url)
    assert client.post("/query", ADA, DQL)
    client.connection.close()
    server.stop()
    server.stop()
    assert "stopped" in repr(server)
    with pytest.raises(OSError):  # noqa: PT011
        Client(server.url).ask("GET", "/health")


LONG = (
    "{"
    + " ".join(f"b{n}(func: has(e)) {{ e {{ e {{ e {{ uid }} }} }} }}" for n in range(3000))
    + "}"
)


@pytest.fixture
def dense(db):
    edges = (f"<{a}> <e> <{b}> .\n" for a in range(1, 400) for b in range(1, 400))
    db.load("".join(edges).encode(), schema="e: [uid] .", progress=False)
    return db


def test_a_long_query_holds_up_nobody_and_ends_with_the_server(dense):
    server = dense.serve(port=0)
    with ThreadPoolExecutor(8) as threads:
        long = [
            threads.submit(Client(server.url).ask, "POST", "/query", LONG, TYPED) for _ in "1234"
        ]
        time.sleep(0.2)
        other = Client(server.url)
        assert other.post("/query", "{ q(func: uid(1)) { uid } }", DQL)["data"]["q"]
        other.connection.close()
        assert not any(future.done() for future in long)
        started = time.perf_counter()
        server.stop()
        assert time.perf_counter() - started < 5
        for future in long:
            future.exception(timeout=5)
