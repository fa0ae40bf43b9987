"""What only connections to a cluster have: addresses, logins, what can't be done there."""

import http.server
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import hexgraph

pytest.importorskip("pydgraph", reason="the client `pydgraph` is not installed")

from hexgraph.cluster import importing, lists, paging
from hexgraph.cluster.wire import address
from hexgraph.cluster.wire.web import Web

NAMES = "{ q(func: has(name)) { name } }"


@pytest.fixture
def cluster(served):
    with hexgraph.connect(served) as cluster:
        cluster.drop("all")
        yield cluster


@pytest.fixture
def crowd(cluster):
    cluster.alter("name: string @index(exact, trigram) .\nage: int .")
    cluster.mutate(set="".join(f'<{n}> <name> "n{n}" .\n' for n in range(1, 11)))
    return cluster


def test_an_address_is_read():
    result = address.parse(
        "dgraph://ann%40x:p%2Fw@db.example.org:9080?sslmode=verify-ca&namespace=5&http=a:8080"
        "&key=k&authtoken=t"
    )
    assert str(result) == "dgraph://db.example.org:9080"
    assert (result.user, result.password, result.namespace) == ("ann@x", "p/w", 5)
    assert (result.encrypted, result.http, result.authorization) == (True, "https://a:8080", None)
    assert (result.key, result.auth_token) == ("k", "t")
    assert address.parse("dgraph://h:1?http=http://[::1]:8080").http == "http://[::1]:8080"
    assert address.parse("dgraph://h:1?http=a:8080").http == "http://a:8080"
    assert address.parse("dgraph://[::1]:9080").target == "[::1]:9080"
    bearer = address.parse("dgraph://h:443?bearertoken=secret")
    assert (bearer.authorization, bearer.encrypted) == ("Bearer secret", True)
    assert address.parse("dgraph://h:443?apikey=secret").authorization == "secret"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("dgraph://", "names no host"),
        ("dgraph://hidden", "names no port"),
        ("dgraph://h:0", "names no port"),
        ("dgraph://u:hidden@h:port", "the port is a number"),
        ("dgraph://u:hid/den@h:9080", "the port is a number"),
        ("dgraph://u:1/hidden@h:9080", "quote what is special in a password"),
        ("dgraph://u:#hidden@h:9080", "names no port"),
        ("dgraph://h:9080/hidden", "quote what is special in a password"),
        ("dgraph://u@h:9080", "a user needs a password"),
        ("dgraph://h:9080?namespace=1", "logged into"),
        ("dgraph://u:hidden@h:9080?namespace=-1", "a number from 0 on"),
        ("dgraph://h:9080?sslmode=require", "sslmode=verify-ca"),
        ("dgraph://h:9080?sslmode=hidden", "disable or verify-ca"),
        ("dgraph://h:9080?apikey=hidden&bearertoken=hidden", "exclude each other"),
        ("dgraph://h:9080?apikey=hidden&sslmode=disable", "TLS only"),
        ("dgraph://h:9080?apikey=hidden&http=http://h", "TLS only"),
        ("dgraph://h:9080?bearertoken=hidden&http=http://h:8080", "TLS only"),
        ("dgraph://h:9080?apikey=", "'apikey' has no value"),
        ("dgraph://h:9080?apikey=hidden&apikey=hidden", "given twice"),
        ("dgraph://h:9080?colour=hidden", "no argument 'colour'"),
        ("dgraph://h:9080?http=ftp://hidden", "http is where GraphQL is answered"),
        ("dgraph://h:9080?http=http://u:hidden@h", "http is where GraphQL is answered"),
        ("dgraph://h:9080?http=h:hidden", "http is where GraphQL is answered"),
    ],
)
def test_addresses_that_mean_nothing_are_refused_without_their_secrets(text, fault):
    with pytest.raises(ValueError, match=fault) as refused:
        hexgraph.connect(text)
    assert "hidden" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_secrets_are_not_shown(served):
    with pytest.raises(hexgraph.AccessError, match="invalid username or password") as refused:
        hexgraph.connect(served.replace("dgraph://", "dgraph://groot:hidden@"))
    assert "hidden" not in repr(refused.value)
    with hexgraph.connect(f"{served}&key=hidden&authtoken=hidden") as cluster:
        session = cluster._session
        shown = [repr(cluster), repr(vars(cluster)), repr(vars(session)), str(session.address)]
        assert "hidden" not in "".join(shown)
    full = address.parse("dgraph://u:hidden@h:1?bearertoken=hidden&key=hidden")
    assert "hidden" not in repr(full)


def test_other_settings_mean_nothing(served):
    for settings in ({"sync": "never"}, {"threads": 2}, {"memory": "1GB"}):
        with pytest.raises(ValueError, match="of the arguments it takes read_only"):
            hexgraph.connect(served, **settings)


@pytest.mark.parametrize("missing", ["pydgraph", "grpc"])
def test_without_pydgraph_the_extra_is_named(missing):
    script = f"""
import sys
import time
sys.modules["{missing}"] = None
import hexgraph
hexgraph.connect().close()
try:
    hexgraph.connect("dgraph://h:9080")
except hexgraph.Error as error:
    print(error)
"""
    command = [sys.executable, "-c", script]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert said == "a connection to a cluster needs pydgraph: pip install 'hexgraph[dgraph]'\n"


def test_an_embedded_database_does_not_import_it():
    script = "import hexgraph, sys; hexgraph.connect(); sys.exit('pydgraph' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], timeout=60, check=False).returncode == 0


def test_it_has_every_method_of_a_database(cluster):
    names = [name for name in dir(hexgraph.Database) if not name.startswith("_")]
    assert [name for name in names if not hasattr(type(cluster), name)] == []


@pytest.mark.parametrize(
    "method",
    [
        *("load", "load_nodes", "load_edges", "explain", "slow_queries", "stats", "export"),
        *(
            "save",
            "backup",
            "checkpoint",
            "compact",
            "refresh",
            "serve",
            "edges",
            "matrix",
            "sample",
        ),
        *("namespaces", "create_namespace", "drop_namespace", "open_namespace"),
        *("keys", "create_key", "revoke_key"),
    ],
)
def test_what_can_not_be_had_says_so(cluster, method):
    with pytest.raises(hexgraph.NotSupportedError, match=rf"^{method}: \w+ "):
        getattr(cluster, method)()


def test_recovery_can_not_be_had(cluster):
    with pytest.raises(hexgraph.NotSupportedError, match=r"^recovery: "):
        _ = cluster.recovery
    assert cluster.namespace == 0


def test_a_delete_says_what_does_it(cluster):
    """At once and in a transaction, which goes on."""
    with cluster.txn() as txn:
        for delete in (cluster.delete, txn.delete):
            with pytest.raises(hexgraph.NotSupportedError, match=r"delete: .*an upsert.*uid\(v\)"):
                delete("0x1")
        assert txn.is_open


def test_a_connection_that_only_reads(crowd, served):
    with hexgraph.connect(served, read_only=True) as reader:
        assert repr(reader).endswith(", read-only>")
        assert len(reader.query(NAMES)) == 10
        for change in (
            lambda: reader.alter("a: int ."),
            lambda: reader.drop("all"),
            lambda: reader.mutate(set='<1> <name> "x" .'),
            lambda: reader.upsert("{ q(func: uid(1)) { v as uid } }", set='uid(v) <name> "x" .'),
            lambda: reader.txn().mutate(set='<1> <name> "x" .'),
            lambda: reader.assign_uids(1),
            lambda: reader.graphql_schema("type A { b: Int }"),
            lambda: reader.graphql("mutation { deleteA { msg } }"),
        ):
            with pytest.raises(hexgraph.ReadOnlyError, match="read-only"):
                change()
    assert len(crowd.query(NAMES)) == 10


def test_graphql_needs_an_address(served):
    with hexgraph.connect(served.split("?")[0]) as cluster:
        for run in (
            lambda: cluster.graphql("{ a }"),
            cluster.graphql_schema,
            lambda: cluster.graphql_subscribe("subscription { a }"),
        ):
            with pytest.raises(hexgraph.Error, match=r"\?http=HOST:8080"):
                run()


def test_nobody_answers():
    with hexgraph.connect("dgraph://127.0.0.1:1?http=127.0.0.1:1") as cluster:
        with pytest.raises(
            hexgraph.StorageError, match=r"dgraph://127\.0\.0\.1:1 can't be reached"
        ):
            cluster.query(NAMES)
        with pytest.raises(hexgraph.StorageError, match="can't be reached"):
            cluster.graphql("{ a }")
        with pytest.raises(hexgraph.StorageError, match="can't be reached"):
            cluster.graphql_subscribe("subscription { a }")


def test_keys_of_a_server_are_named_in_the_address():
    db = hexgraph.connect()
    db.graphql_schema("type Film @withSubscription { title: String! }")
    with db.serve(port=0, grpc_port=0, security="admin-key=root; client-key=app") as server:
        position = f"dgraph://{server.grpc_address}?http={server.url}"
        with hexgraph.connect(position) as nobody, pytest.raises(hexgraph.AccessError):
            nobody.query(NAMES)
        with hexgraph.connect(f"{position}&key=app") as client:
            assert client.query(NAMES)["q"] == []
            assert client.graphql("{ queryFilm { title } }") == {"data": {"queryFilm": []}}
            with client.graphql_subscribe("subscription { queryFilm { title } }") as answers:
                assert next(answers) == {"data": {"queryFilm": []}}
            for refused in (lambda: client.alter("a: int ."), client.graphql_schema):
                with pytest.raises(hexgraph.AccessError):
                    refused()
        with hexgraph.connect(f"{position}&key=root") as admin:
            admin.alter("a: int .")
            assert "Film" in admin.graphql_schema()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_secrets_are_not_sent_to_where_an_answer_points(status):
    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            report.append((self.path, self.headers["X-Auth-Token"]))
            self.send_response(status)
            self.send_header("Location", f"{position}/elsewhere")
            self.end_headers()

        do_POST = do_GET  # noqa: N815 - as the server looks for it

        def log_message(self, *_):
            pass

    report = []
    with http.server.HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        position = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        web = Web(address.parse(f"dgraph://h:1?http={position}&key=k"), lambda: None)
        with pytest.raises(hexgraph.StorageError, match=f"answers {status}"):
            web.send("{ a }")
        server.shutdown()
    assert report == [("/graphql", "k")]


def test_a_change_that_fails_closes_a_transaction(crowd):
    txn = crowd.txn()
    txn.mutate(set='<1> <name> "changed" .')
    with pytest.raises(hexgraph.ParseError):
        txn.query("{ q(func: ")
    assert txn.is_open
    with pytest.raises(hexgraph.QueryError, match="is no int"):
        txn.mutate(set='<1> <age> "old" .')
    assert not txn.is_open
    with pytest.raises(hexgraph.QueryError, match="already been committed or discarded"):
        txn.commit()
    assert crowd.query("{ q(func: uid(1)) { name } }")["q"] == [{"name": "n1"}]


def test_upsert_blocks_are_no_part_of_a_transaction(crowd):
    block = (
        'upsert { query { q(func: uid(1)) { v as uid } } mutation { set { uid(v) <age> "1" . } } }'
    )
    with crowd.txn() as txn, pytest.raises(hexgraph.NotSupportedError, match="outside of"):
        txn.upsert(block)
    assert crowd.upsert(block).result.to_dict() == {"q": [{"uid": "0x1"}]}


def test_a_schema_that_others_changed_refuses_nothing(crowd, served):
    eq = "{ q(func: eq(age, 5)) { uid age } }"
    with pytest.raises(hexgraph.QueryError, match="age"):
        crowd.query(eq)
    with hexgraph.connect(served) as other:
        other.alter("age: int @index(int) .")
        other.mutate(set='<5> <age> "5" .')
    assert crowd.query(eq).rows() == [("0x5", 5)]
    assert "age: int @index(int)" in crowd.schema()


def test_answers_and_changes_may_be_long(cluster):
    """By itself gRPC takes no more than 4 MiB."""
    cluster.alter("text: string .")
    text = "x" * (6 << 20)
    cluster.mutate(set_json={"uid": "0x1", "text": text})
    assert cluster.query("{ q(func: has(text)) { text } }")["q"] == [{"text": text}]


def test_many_threads_use_one_connection(crowd):
    def visit(number):
        def work(txn):
            (node,) = txn.query("{ q(func: uid(1)) { age } }")["q"] or [{"age": 0}]
            txn.mutate(set_json={"uid": "0x1", "age": node["age"] + 1})
            return number

        return crowd.run(work, retries=100)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(visit, range(12))) == list(range(12))
    assert crowd.query("{ q(func: uid(1)) { age } }")["q"] == [{"age": 12}]


def test_closed(crowd):
    txn = crowd.txn()
    crowd.close()
    crowd.close()
    for run in (lambda: crowd.query(NAMES), lambda: txn.query(NAMES), crowd.schema):
        with pytest.raises(hexgraph.ClosedError, match="closed"):
            run()


PAGED = [
    "{ q(func: has(name)) { name } }",
    "query named { q(func: has(name)) { name } }",
    "{ # a comment with { and (\n q(func: has(name)) { name } }",
    '{ q(func: has(name)) @filter(not eq(name, "a) { b")) { name } }',
    "{ q(func: has(name)) @filter(regexp(name, /^n[(){}\\/0-9]+$/i)) { name } }",
    "{ var(func: has(name)) { a as age } q(func: has(name)) { name math: math(1 / 2) val(a) } }",
    "{ q(func: has(name)) { ...f } } fragment f { name }",
    "query q($n: string) { q(func: has(name)) @filter(not eq(name, $n)) { name } }",
]


@pytest.mark.parametrize("dql", PAGED)
def test_pages_of_any_text(crowd, dql):
    variables = {"n": "n3"} if "$n" in dql else None
    full = crowd.query(dql, variables)["q"]
    assert len(full) >= 9
    pages = list(crowd.pages(dql, 4, variables))
    assert [node for page in pages for node in page] == full
    assert [len(page) for page in pages] == [4, 4, len(full) - 8]
    assert pages[0].columns() == crowd.query(dql, variables).columns()
    assert len(pages[0].to_arrow()) == 4


def test_a_page_begins_behind_no_uid_of_its_own(crowd):
    with pytest.raises(hexgraph.NotSupportedError, match="`after`"):
        crowd.pages("{ q(func: has(name), after: 0x2) { name } }")


def test_a_query_is_split_at_the_end_of_its_root():
    result = paging.split("{ x as q(func: has(a)) { b } var(func: uid(1)) { c } } fragment f { d }")
    assert result.head == "{ x as q(func: has(a)"
    assert result.variable == "x"
    assert result.text(5, 16).startswith("{ x as q(func: has(a), first: 5, after: 0x10) { b }")
    assert "fragment" not in result.tail


INLINED = [
    (
        "query q($v: string) { q(func: eq(name, $v)) { uid } }",
        '{ q(func: eq(name, ["a", "b\\"c"])) { uid } }',
        {},
    ),
    (
        'query q($v: string = "x", $n: int) { q(func: eq(name, $v), first: $n) { uid } }',
        'query q($n: int) { q(func: eq(name, ["a", "b\\"c"]), first: $n) { uid } }',
        {"$n": "3"},
    ),
    (
        "query q($n: int, $v: string) { q(func: uid(1), first: $n) "
        "@filter(eq(count(b), $v)) { a } }",
        "query q($n: int) { q(func: uid(1), first: $n) "
        '@filter(eq(count(b), ["a", "b\\"c"])) { a } }',
        {"$n": "3"},
    ),
    (
        "query q($v: string) { q(func: uid($v)) @filter(eq(name, $v)) { uid } }",
        'query q($v: string) { q(func: uid($v)) @filter(eq(name, ["a", "b\\"c"])) { uid } }',
        {"$v": '[a, b"c]'},
    ),
]


@pytest.mark.parametrize(("dql", "expected", "texts"), INLINED)
def test_lists_are_written_where_the_text_of_one_does_not_do(dql, expected, texts):
    variables = {"v": ["a", 'b"c']} | ({"n": 3} if "$n" in dql else {})
    assert lists.inlined(dql, variables) == (expected, texts)


def test_uids_of_a_list_are_uids():
    dql = "query q($v: string) { q(func: has(a)) @filter(uid_in(b, $v)) { a } }"
    assert lists.inlined(dql, {"v": [1, "0x2"]})[0].count("uid_in(b, [1, 0x2])") == 1
    assert lists.inlined(dql, {"v": ["1) or has(c"]}) == (dql, {"$v": "[1) or has(c]"})


EVERY_TYPE = """
text: string @index(exact) @lang .
time: datetime .
texts: [string] .
times: [datetime] .
int: int .
float: float .
truth: bool .
price: bigfloat .
place: geo .
v: float32vector .
undeclared: default .
to: uid .
"""
EVERY_VALUE = """
<1> <text> "2020-01-02T03:04:05Z" .
<1> <text> "2021-01-02T03:04:05Z"@en .
<1> <time> "2020-01-02T03:04:05.25+01:00" .
<1> <texts> "2020-01-02T03:04:05Z" .
<1> <times> "2020-01-02T03:04:05Z" .
<1> <int> "9223372036854775807" .
<1> <float> "0.1234567890123456789" .
<1> <truth> "true" .
<1> <price> "1.25" .
<1> <place> "{'type':'Point','coordinates':[1.5,2.5]}"^^<geo:geojson> .
<1> <v> "[0.5, 2]" .
<1> <undeclared> "word" .
<1> <to> <2> (since=2020-01-02T03:04:05Z, weight=2.5) .
<2> <text> "b" .
<2> <time> "0001-01-01T00:00:00Z" .
<2> <float> "3" .
<3> <int> "7" .
"""
TABLES = [
    "{ q(func: uid(1, 2, 3)) { uid text text@en time int float truth price undeclared } }",
    "{ q(func: uid(1, 2, 3)) { float texts times place v } }",
    "{ q(func: uid(1)) { alias: text when: time other: texts to @facets { name: text time } } }",
    "{ q(func: uid(1, 2, 3)) { text@* x as int sum: math(x + 0.5) } }",
    "{ q(func: uid(1)) @normalize { a: text to @facets(w: weight) { b: text } } }",
    "{ q(func: uid(1, 2, 3)) { c: count(to) } }",
    "{ q(func: uid(9)) { text } }",
]


@pytest.mark.parametrize("dql", TABLES)
def test_tables_are_those_of_an_embedded_database(cluster, dql):
    polars = pytest.importorskip("polars")
    with hexgraph.connect() as embedded:
        for db in (embedded, cluster):
            db.alter(EVERY_TYPE)
            db.mutate(set=EVERY_VALUE)
        one, other = embedded.query(dql), cluster.query(dql)
        assert other.to_dict() == one.to_dict()
        assert (other.columns(), other.rows()) == (one.columns(), one.rows())
        assert repr(other.to_arrow()) == repr(one.to_arrow())
        frames = [polars.DataFrame(it) if len(it) else None for it in (one, other)]
        assert frames[0] is frames[1] is None or frames[0].equals(frames[1])
        assert other.to_pandas().equals(one.to_pandas())
        assert (len(other), bool(other)) == (len(one), bool(one))
        # JSON has no point in a float without a fraction.
        assert repr(other) == repr(one).replace('"float": 3.0', '"float": 3')
        assert other._repr_html_() == one._repr_html_().replace(">3.0<", ">3<")


@pytest.fixture
def guarded(tmp_path):
    """Return the connection string of a server with users, without one; the first is groot."""
    secret = tmp_path / "secret"
    secret.write_text("0123456789abcdef0123456789abcdef")
    command = [sys.executable, "-m", "hexgraph", "serve", "--port", "0", "--grpc-port", "0"]
    command += ["--acl", f"secret-file={secret}; access-ttl=3s"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        said = process.stdout.readline()
        http, grpc = re.search(r"answers at (\S+) and by gRPC at (\S+)", said).groups()
        yield f"dgraph://{{}}{grpc}?http={http}"
        process.terminate()


def test_a_user_logs_in(guarded, tmp_path):
    with hexgraph.connect(guarded.format("")) as nobody, pytest.raises(hexgraph.AccessError):
        nobody.query(NAMES)
    with pytest.raises(hexgraph.AccessError, match="invalid username or password") as refused:
        hexgraph.connect(guarded.format("groot:hidden@"))
    assert "hidden" not in repr(refused.value)
    with hexgraph.connect(guarded.format("groot:password@")) as db:
        db.alter("name: string .")
        db.mutate(set='<1> <name> "Ada" .')
        assert db.graphql_schema("type Film @withSubscription { title: String! }")
        assert db.graphql("{ queryFilm { title } }") == {"data": {"queryFilm": []}}
        with db.graphql_subscribe("subscription { queryFilm { title } }") as answers:
            assert next(answers) == {"data": {"queryFilm": []}}
        # The token runs out, and is renewed: before a request over HTTP, and after a refused call.
        time.sleep(3.5)
        assert db.graphql("{ queryFilm { title } }") == {"data": {"queryFilm": []}}
        assert "Film" in db.graphql_schema()
        with db.txn() as txn:
            txn.mutate(set='<1> <name> "Ann" .')
            time.sleep(3.5)
            txn.mutate(set='<2> <name> "Bob" .')
        assert db.query(NAMES).rows() == [("Ann",), ("Bob",)]
        schema = db.schema()
    # Users and groups are the cluster's own.
    imported = importing.bring_back(guarded.format("groot:password@"), tmp_path / "back")
    assert (imported.report.triples, imported.warnings) == (2, [])
    with hexgraph.connect(tmp_path / "back") as back:
        assert back.query(NAMES).rows() == [("Ann",), ("Bob",)]
        assert (back.schema(), "Film" in back.graphql_schema()) == (schema, True)
