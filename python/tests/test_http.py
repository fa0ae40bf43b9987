import gzip
import http.client
import json
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import pytest

import hexgraph
from hexgraph import _native

DQL = "application/dql"
TYPED = {"Content-Type": DQL}
ADA = '{ q(func: eq(name, "Ada")) { name } }'


class Client:
    """One connection that is kept alive."""

    def __init__(self, url):
        self.connection = http.client.HTTPConnection(urllib.parse.urlparse(url).netloc, timeout=30)

    def send(self, method, path, body=b"", headers=None):
        body = body if isinstance(body, bytes) else body.encode()
        self.connection.request(method, path, body, headers or {})
        reply = self.connection.getresponse()
        return reply, reply.read()

    def post(self, path, body, content_type=None, **headers):
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if content_type:
            given["Content-Type"] = content_type
        reply, text = self.send("POST", path, body, given)
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


def test_the_table_of_algorithms(client):
    reply, text = client.send("GET", "/console/algorithms")
    assert reply.headers["Content-Type"] == "application/json"
    # Two surfaces write the one table.
    assert json.loads(text) == {"algorithms": json.loads(json.dumps(_native.algorithms()))}


def test_query_with_variables(client):
    query = "query q($n: string) { q(func: eq(name, $n)) { name } }"
    body = json.dumps({"query": query, "variables": {"$n": "Bob"}})
    assert client.post("/query", body, "application/json")["data"] == {"q": [{"name": "Bob"}]}


def test_parameters(client):
    path = "/query?debug=true&ro=true&be=true&startTs=0&timeout=10s&respFormat=json"
    assert client.post(path, ADA, DQL)["data"] == {"q": [{"uid": "0x1", "name": "Ada"}]}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/query?ro=maybe", 'while parsing ro as bool: strconv.ParseBool: parsing "maybe"'),
        ("/query?startTs=x", "while parsing startTs as uint64"),
        ("/query?timeout=abc", 'time: invalid duration "abc"'),
        ("/query?respFormat=xml", "invalid value [xml] for parameter respFormat"),
        ("/query?timeout=0s", "longer than its timeout of 0 s"),
    ],
)
def test_bad_parameters(client, path, expected):
    text, code = message(client.post(path, ADA, DQL))
    assert expected in text
    assert code == "ErrorInvalidRequest"


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        (None, ADA, "Unsupported Content-Type"),
        ("text/plain", ADA, "Unsupported Content-Type"),
        (f"{DQL}; charset=latin1", ADA, "charset is not supported"),
        ("application/json", "{", "Error parsing JSON at line 1, character 1"),
        ("application/json", '{"query":"{}","variables":{"$a":1}}', "$a"),
        (DQL, b"\xff", "UTF-8"),
    ],
)
def test_bad_requests(client, content_type, body, expected):
    reply = client.post("/query", body, content_type)
    text, code = message(reply)
    assert expected in text
    assert code == "ErrorInvalidRequest"
    assert "data" not in reply


def test_a_query_that_fails(client):
    reply = client.post("/query", "{ q(func: nonsense(name)) { name } }", DQL)
    assert reply["data"] is None
    assert message(reply)[0].startswith("line 1 column ")


def test_gzip_in_both_directions(client):
    headers = {
        "Content-Type": DQL,
        "Content-Encoding": "gzip",
        "Accept-Encoding": "deflate, gzip",
    }
    reply, body = client.send("POST", "/query", gzip.compress(ADA.encode()), headers)
    assert reply.headers["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(body))["data"] == {"q": [{"name": "Ada"}]}
    bad = client.post("/query", ADA, DQL, Content_Encoding="br")
    assert message(bad)[0] == "Unsupported content encoding"
    assert "gzip" in message(client.post("/query", ADA, DQL, Content_Encoding="gzip"))[0]


def test_headers_and_methods(client):
    reply, _ = client.send("POST", "/query", ADA, {"Content-Type": DQL})
    assert int(reply.headers["Dgraph-Toucheduids"]) > 0
    assert "Access-Control-Allow-Origin" not in reply.headers
    reply, body = client.send("OPTIONS", "/query")
    assert (reply.status, body, reply.headers["Allow"]) == (200, b"", "POST, PUT, OPTIONS")
    reply, body = client.send("GET", "/query")
    assert reply.status == 400
    assert message(json.loads(body)) == ("Invalid method", "ErrorInvalidMethod")
    reply, body = client.send("GET", "/nothing")
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
    ("path", "content_type", "expected"),
    [
        ("/mutate?commitNow=true", "application/json", "Error parsing JSON at line 1"),
        ("/mutate?commitNow=true", "text/plain", "Unsupported Content-Type"),
        ("/commit", None, "startTs parameter is mandatory"),
        ("/commit?startTs=7", None, "Error parsing JSON at line 1"),
        ("/mutate?startTs=999999", "application/rdf", "context deadline exceeded"),
        ("/query?startTs=999999", DQL, "context deadline exceeded"),
        ("/query?startTs=1", DQL, "is too old"),
        ("/assign?what=uids", None, "Nothing to be leased"),
        ("/assign?what=chairs&num=1", None, "Invalid what: [chairs]"),
    ],
)
def test_what_mutate_and_commit_refuse(client, path, content_type, expected):
    assert expected in message(client.post(path, "{ set { } }", content_type))[0]


RDF = "application/rdf"
ABORTED = "rpc error: code = Aborted desc = Transaction has been aborted. Please retry"


def set_name(client, path, name):
    return client.post(path, f'{{ set {{ <0x1> <name> "{name}" . }} }}', RDF)


def name_at(client, start=0):
    query = "{ q(func: uid(1)) { name } }"
    return client.post(f"/query?startTs={start}", query, DQL)["data"]["q"][0]["name"]


def commit(client, txn, keys=None):
    body = json.dumps({"keys": txn.get("keys", []) if keys is None else keys, "preds": []})
    return client.post(f"/commit?startTs={txn['start_ts']}", body)


def test_a_transaction_over_several_requests(client, people):
    start = client.post("/query", ADA, DQL)["extensions"]["txn"]["start_ts"]
    people.mutate(set='<0x2> <name> "Late" .')
    txn = set_name(client, f"/mutate?startTs={start}", "New")["extensions"]["txn"]
    assert (txn["start_ts"], txn["preds"]) == (start, ["1-0-name"])
    assert txn["keys"]
    assert "commit_ts" not in txn
    assert (name_at(client, start), name_at(client)) == ("New", "Ada")
    assert client.post(f"/query?startTs={start}", "{ q(func: uid(2)) { name } }", DQL)["data"] == {
        "q": [{"name": "Bob"}]
    }
    done = commit(client, txn)
    assert done["data"] == {"code": "Success", "message": "Done"}
    assert done["extensions"]["txn"]["commit_ts"] > start
    assert name_at(client) == "New"
    # It has ended: it can't be committed again, and what is changed in it never.
    assert message(commit(client, txn)) == (ABORTED, "ErrorInvalidRequest")
    again = set_name(client, f"/mutate?startTs={start}", "Again")["extensions"]["txn"]
    assert message(commit(client, again))[0] == ABORTED
    assert name_at(client) == "New"


def test_the_first_committer_wins(client):
    one, other = (set_name(client, "/mutate", name)["extensions"]["txn"] for name in "ab")
    assert commit(client, one)["data"]["code"] == "Success"
    assert message(commit(client, other)) == (ABORTED, "ErrorInvalidRequest")
    # Nothing is checked that the client does not name.
    one, other = (set_name(client, "/mutate", name)["extensions"]["txn"] for name in "cd")
    commit(client, one)
    assert commit(client, other, keys=[])["data"]["code"] == "Success"
    assert name_at(client) == "d"
    # What is committed at once is checked too.
    txn = set_name(client, "/mutate", "e")["extensions"]["txn"]
    set_name(client, "/mutate?commitNow=true", "f")
    delayed = set_name(client, f"/mutate?commitNow=true&startTs={txn['start_ts']}", "g")
    assert message(delayed)[0] == ABORTED
    assert name_at(client) == "f"


def test_a_transaction_is_discarded(client):
    txn = set_name(client, "/mutate", "New")["extensions"]["txn"]
    path = f"/commit?startTs={txn['start_ts']}&abort=true"
    assert client.post(path, "") == {"code": "Success", "message": "Done"}
    assert client.post(path, "") == {"code": "Success", "message": "Done"}
    assert name_at(client) == "Ada"
    assert message(commit(client, txn))[0] == ABORTED


def test_commit_now_closes_a_transaction(client):
    txn = set_name(client, "/mutate", "a")["extensions"]["txn"]
    failed = client.post(f"/mutate?startTs={txn['start_ts']}", "{ set { <1> <born> <2> . } }", RDF)
    assert "errors" in failed
    done = set_name(client, f"/mutate?startTs={txn['start_ts']}&commitNow=true", "b")
    assert done["extensions"]["txn"]["commit_ts"] > txn["start_ts"]
    assert "keys" not in done["extensions"]["txn"]
    assert name_at(client) == "b"


def test_a_start_that_nobody_followed_up_commits_nothing(client):
    start = client.post("/query", ADA, DQL)["extensions"]["txn"]["start_ts"]
    assert commit(client, {"start_ts": start})["data"]["code"] == "Success"
    assert commit(client, {"start_ts": start + 1000})["data"]["code"] == "Success"


def test_altering_what_a_transaction_changes(client):
    txn = set_name(client, "/mutate", "New")["extensions"]["txn"]
    altered = client.post("/alter", "name: string @index(hash) @lang .")
    assert message(altered) == ("Pending transactions found. Please retry operation", "Error")
    assert "data" in client.post("/alter", "name: string @index(hash) @lang .")
    assert message(commit(client, txn))[0] == ABORTED


def test_assign(client):
    reply, body = client.send("GET", "/assign?what=uids&num=5")
    assert (reply.status, "--allow-get-changes" in message(json.loads(body))[0]) == (405, True)
    _, body = client.send("POST", "/assign?what=uids&num=5")
    given = json.loads(body)
    assert int(given["endId"]) - int(given["startId"]) == 4
    new = client.post("/mutate?commitNow=true", '{ set { _:a <name> "x" . } }', RDF)
    assert int(new["data"]["uids"]["a"], 16) > int(given["endId"])


def test_names_that_the_schema_does_not_know(client):
    dql = "{ q(func: has(nmae)) { uid }\n r(func: type(Persn)) { name } }"
    assert "warnings" not in client.post("/query", dql, DQL)["extensions"]
    reply = client.post("/query?warnings=true", dql, DQL)
    first = {"message": "there is no predicate `nmae`", "line": 1, "column": 11}
    first |= {"kind": "unknown_predicate"}
    second = {"message": "there is no type `Persn`", "line": 2, "column": 10}
    second |= {"kind": "unknown_type"}
    assert reply["data"] == {"q": [], "r": []}
    assert reply["extensions"]["warnings"] == [
        first | {"hint": "did you mean `name`?"},
        second | {"hint": "did you mean `Person`?"},
    ]
    report, code = message(client.post("/query?strict=true", dql, DQL))
    assert "line 1 column 11: there is no predicate `nmae` (did you mean `name`?)" in report
    assert code
    right = "{ q(func: has(name)) { name } }"
    reply = client.post("/query?strict=true&warnings=true", right, DQL)
    assert (len(reply["data"]["q"]), reply["extensions"]["warnings"]) == (3, [])
    assert "strict" in message(client.post("/query?strict=perhaps", right, DQL))[0]


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
    reply, body = client.send("GET", "/health")
    (health,) = json.loads(body)
    assert reply.status == 200
    assert health["status"] == "healthy"
    assert health["ee_features"] == []


def test_administration_with_a_token(people, tmp_path):
    with people.serve(port=0, security="token=secret", export=tmp_path) as server:
        client = Client(server.url)
        export = json.dumps({"query": "mutation { export(input: {}) { exportedFiles } }"})
        reply = client.post("/admin", export, "application/json")
        assert message(reply) == ("Invalid X-Dgraph-AuthToken", "ErrorUnauthorized")
        reply = client.post("/alter", "a: int .")
        assert message(reply)[0] == "No Auth Token found. Token needed for Admin operations."
        headers = {"X-Dgraph-AuthToken": "secret"}
        reply = client.post("/admin", export, "application/json", **headers)
        files = reply["data"]["export"]["exportedFiles"]
        assert all((tmp_path / file).is_file() for file in files)
        assert client.post("/alter", "a: int .", **headers)["data"]["code"] == "Success"
        client.connection.close()
    with pytest.raises(hexgraph.QueryError, match="setting 2: expected token=SECRET") as wrong:
        people.serve(port=0, security="token=a; tokens=hunter2")
    assert "hunter2" not in str(wrong.value)


def test_pages_of_other_origins(people):
    app = "https://app.example"
    with people.serve(port=0, allow_origin=[app], allow_host=["graph.example"]) as server:
        client = Client(server.url)
        for headers, status in [
            ({}, 200),
            ({"Origin": app}, 200),
            ({"Origin": server.url}, 200),
            ({"Origin": "https://evil.example"}, 403),
            ({"Host": "graph.example"}, 200),
            ({"Host": "evil.example"}, 403),
        ]:
            reply, _ = client.send("POST", "/query", ADA, {"Content-Type": DQL, **headers})
            assert reply.status == status, headers
            allowed = headers.get("Origin") if status == 200 else None
            assert reply.headers["Access-Control-Allow-Origin"] == allowed
        client.connection.close()
    with people.serve(port=0, allow_get_changes=True) as server:
        client = Client(server.url)
        reply, _ = client.send("GET", "/assign?what=uids&num=1")
        assert reply.status == 200
        client.connection.close()
    with pytest.raises(hexgraph.QueryError, match="an allowed origin that is none"):
        people.serve(port=0, allow_origin=["app.example"])


def test_a_server_that_is_shut_down_is_gone(people):
    server = people.serve(port=0)
    client = Client(server.url)
    _, body = client.send("POST", "/admin/shutdown")
    assert json.loads(body) == {"code": "Success", "message": "Server is shutting down"}
    client.connection.close()
    for _ in range(100):
        if "stopped" in repr(server):
            break
        time.sleep(0.1)
    assert "stopped" in repr(server)
    assert people.query(ADA).to_dict() == {"q": [{"name": "Ada"}]}


def test_a_stopped_server_is_gone(people):
    server = people.serve(port=0)
    client = Client(server.url)
    assert client.post("/query", ADA, DQL)
    client.connection.close()
    server.stop()
    server.stop()
    assert "stopped" in repr(server)
    with pytest.raises(OSError):  # noqa: PT011
        Client(server.url).send("GET", "/health")


def test_a_long_query_holds_up_nobody_and_stops_with_the_server(dense, long_query):
    server = dense.serve(port=0)
    with ThreadPoolExecutor(8) as threads:
        long = [
            threads.submit(Client(server.url).send, "POST", "/query", long_query, TYPED)
            for _ in "1234"
        ]
        time.sleep(0.1)
        other = Client(server.url)
        assert other.post("/query", "{ q(func: uid(1)) { uid } }", DQL)["data"]["q"]
        other.connection.close()
        assert [future.exception() or future.result() for future in long if future.done()] == []
        started = time.perf_counter()
        server.stop()
        assert time.perf_counter() - started < 5
        for future in long:
            future.exception(timeout=5)
