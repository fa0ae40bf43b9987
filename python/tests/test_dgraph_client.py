"""pydgraph, the client of Dgraph for Python, unmodified, over gRPC: what programs do with it."""

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import hexgraph

pydgraph = pytest.importorskip("pydgraph", reason="the client `pydgraph` is not installed")

import grpc  # noqa: E402

SCHEMA = """
name: string @index(exact) .
balance: int .
email: string @index(exact) @upsert .
knows: [uid] @reverse .
"""
NAMES = "{ q(func: has(name), orderasc: name) { name } }"


@pytest.fixture
def db() -> Iterator[hexgraph.Database]:
    with hexgraph.connect() as db:
        db.alter(SCHEMA)
        yield db


@pytest.fixture
def address(db: hexgraph.Database) -> Iterator[str]:
    with db.serve(port=0, grpc_port=0) as server:
        assert server.grpc_address
        yield server.grpc_address


@pytest.fixture
def client(address: str) -> Iterator[pydgraph.DgraphClient]:
    client = pydgraph.open(f"dgraph://{address}")
    yield client
    client.close()


def query_rows(client: pydgraph.DgraphClient, text: str) -> object:
    return json.loads(client.txn(read_only=True).query(text).json)


def test_altering_and_dropping(client: pydgraph.DgraphClient) -> None:
    client.alter(pydgraph.Operation(schema="colour: string @index(exact) ."))
    assert "colour" in str(query_rows(client, "schema {}"))
    client.alter(pydgraph.Operation(drop_attr="colour"))
    assert "colour" not in str(query_rows(client, "schema {}"))
    client.alter(pydgraph.Operation(drop_all=True))
    assert "balance" not in str(query_rows(client, "schema {}"))
    assert client.check_version().startswith("v25.2.0+hexgraph.")


def test_a_transaction_sees_itself(db: hexgraph.Database, client: pydgraph.DgraphClient) -> None:
    txn = client.txn()
    ann = {"uid": "_:ann", "name": "Ann", "knows": [{"uid": "_:bob", "name": "Bob"}]}
    uids = txn.mutate(set_obj=ann).uids
    assert json.loads(txn.query(NAMES).json) == {"q": [{"name": "Ann"}, {"name": "Bob"}]}
    assert query_rows(client, NAMES) == {"q": []}
    txn.commit()
    # In this process too.
    assert db.query(NAMES).to_dict() == {"q": [{"name": "Ann"}, {"name": "Bob"}]}
    client.txn().mutate(del_nquads=f"<{uids['bob']}> <name> * .", commit_now=True)
    assert query_rows(client, NAMES) == {"q": [{"name": "Ann"}]}
    discarded = client.txn()
    discarded.mutate(set_nquads='_:c <name> "Cid" .')
    discarded.discard()
    assert query_rows(client, NAMES) == {"q": [{"name": "Ann"}]}


def test_variables_rdf_and_best_effort(client: pydgraph.DgraphClient) -> None:
    done = client.txn().mutate(set_nquads='_:a <name> "Ann" .\n_:b <name> "Bob" .', commit_now=True)
    text = "query q($name: string) { q(func: eq(name, $name)) { name } }"
    txn = client.txn(read_only=True, best_effort=True)
    assert json.loads(txn.query(text, variables={"$name": "Bob"}).json) == {"q": [{"name": "Bob"}]}
    report = client.txn(read_only=True).query(text, variables={"$name": "Ann"}, resp_format="RDF")
    assert report.rdf.decode() == f'<{done.uids["a"]}> <name> "Ann" .\n'
    with pytest.raises(Exception, match="read-only"):
        client.txn(best_effort=True)


def test_upserts(client: pydgraph.DgraphClient) -> None:
    def upsert() -> int:
        txn = client.txn()
        mutation = txn.create_mutation(
            set_nquads='_:n <email> "ann@example.org" .', cond="@if(eq(len(v), 0))"
        )
        text = '{ q(func: eq(email, "ann@example.org")) { v as uid } }'
        request = txn.create_request(query=text, mutations=[mutation], commit_now=True)
        return len(txn.do_request(request).uids)

    assert [upsert(), upsert()] == [1, 0]
    assert query_rows(client, "{ q(func: has(email)) { count(uid) } }") == {"q": [{"count": 1}]}


def test_conflicts_are_retried(client: pydgraph.DgraphClient) -> None:
    uid = client.txn().mutate(set_obj={"uid": "_:a", "balance": 0}, commit_now=True).uids["a"]
    text = f"{{ q(func: uid({uid})) {{ balance }} }}"

    def add(txn: pydgraph.Txn) -> None:
        balance = json.loads(txn.query(text).json)["q"][0]["balance"]
        txn.mutate(set_obj={"uid": uid, "balance": balance + 1})
        txn.commit()

    early = client.txn()
    early.query(text)
    add(client.txn())
    with pytest.raises(pydgraph.AbortedError):
        add(early)

    def until_it_succeeds(_: int) -> None:
        while True:
            try:
                return add(client.txn())
            except pydgraph.AbortedError:
                pass

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(until_it_succeeds, range(8)))
    assert query_rows(client, text) == {"q": [{"balance": 9}]}


def test_any_text_is_run(client: pydgraph.DgraphClient) -> None:
    client.run_dql('{ set { _:a <name> "Ann" . } }')
    assert json.loads(client.run_dql(NAMES).json) == {"q": [{"name": "Ann"}]}
    start, end = client.allocate_uids(10)
    assert end - start in (9, 10)


def test_errors_have_codes(client: pydgraph.DgraphClient) -> None:
    with pytest.raises(grpc.RpcError) as wrong:
        client.txn(read_only=True).query("{ q(func: ")
    assert wrong.value.code() == grpc.StatusCode.UNKNOWN
    assert "line 1 column" in wrong.value.details()
    with pytest.raises(grpc.RpcError) as refused:
        client.login("groot", "password")
    assert refused.value.details() == "invalid username or password"
    # Paths through a graph in which each node knows each other one.
    quads = (f"<{one}> <knows> <{other}> ." for one in range(1, 61) for other in range(1, 61))
    client.txn().mutate(set_nquads="\n".join(quads), commit_now=True)
    paths = (
        "{ p as shortest(from: 1, to: 60, numpaths: 1000000) { knows } q(func: uid(p)) { uid } }"
    )
    with pytest.raises(grpc.RpcError) as delayed:
        client.txn(read_only=True).query(paths, timeout=0.3)
    assert delayed.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED


def test_keys_are_named_in_metadata(db: hexgraph.Database) -> None:
    with db.serve(port=0, grpc_port=0, security="admin-key=root; client-key=app") as server:
        stub = pydgraph.DgraphClientStub(server.grpc_address)
        client = pydgraph.DgraphClient(stub)
        with pytest.raises(grpc.RpcError) as nobody:
            client.txn(read_only=True).query(NAMES)
        assert nobody.value.code() == grpc.StatusCode.UNAUTHENTICATED
        app = [("x-auth-token", "app")]
        assert client.txn(read_only=True).query(NAMES, metadata=app).json == b'{"q":[]}'
        with pytest.raises(grpc.RpcError) as refused:
            client.alter(pydgraph.Operation(drop_all=True), metadata=app)
        assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
        client.alter(pydgraph.Operation(drop_all=True), metadata=[("x-auth-token", "root")])
        stub.close()


def test_calls_that_do_not_block(address: str) -> None:
    async def work() -> object:
        stub = pydgraph.AsyncDgraphClientStub(address)
        client = pydgraph.AsyncDgraphClient(stub)
        txn = client.txn()
        await txn.mutate(set_obj={"name": "Ann"})
        await txn.commit()
        query = [client.txn(read_only=True).query(NAMES) for _ in range(20)]
        report = await asyncio.gather(*query)
        await stub.close()
        return [json.loads(one.json) for one in report]

    assert asyncio.run(work()) == [{"q": [{"name": "Ann"}]}] * 20


def test_a_server_without_the_port(db: hexgraph.Database) -> None:
    with db.serve(port=0) as server:
        assert server.grpc_address is None
