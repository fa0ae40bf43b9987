"""How a database is served: at a file, with users, with an audit log."""

import http.client
import json
import os
import socket
import stat
import warnings

import pytest

import hexgraph


class AtFile(http.client.HTTPConnection):
    """A connection by a Unix domain socket."""

    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(os.fspath(self.path))


@pytest.fixture
def films():
    db = hexgraph.connect()
    db.alter("title: string @index(exact) .\nbudget: int .")
    db.mutate(set='_:m <title> "Metropolis" .\n_:m <budget> "5" .')
    return db


@pytest.fixture
def connect():
    """Opens connections to servers, and closes them at the end."""
    opened = []

    def connect(server):
        by_file = server.url.startswith("unix:")
        address = server.url.removeprefix("http://")
        made = AtFile(server.unix_socket) if by_file else http.client.HTTPConnection(address)
        opened.append(made)
        return made

    yield connect
    for connection in opened:
        connection.close()


def post(connection, path, body, **headers):
    kind = "application/json" if path in ("/admin", "/graphql") else "application/dql"
    connection.request("POST", path, body, {"Content-Type": kind, **headers})
    return json.loads(connection.getresponse().read())


def login(connection, user, password):
    query = f'login(userId: "{user}", password: "{password}")'
    text = f"mutation {{ {query} {{ response {{ accessJWT }} }} }}"
    answer = post(connection, "/admin", json.dumps({"query": text}))
    return answer["data"]["login"]["response"]["accessJWT"]


FILMS = "{ q(func: has(title)) { title budget } }"


def test_a_file_without_a_port(films, connect, tmp_path):
    path = tmp_path / "films.sock"
    with films.serve(port=None, unix_socket=path) as server:
        assert server.unix_socket == path
        assert server.url == f"unix:{path}"
        assert server.grpc_address is None
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        answer = post(connect(server), "/query", FILMS)
        assert answer["data"]["q"] == [{"title": "Metropolis", "budget": 5}]
        with pytest.raises(hexgraph.QueryError, match="another server answers at"):
            films.serve(port=None, unix_socket=path)
    assert not path.exists()


def test_a_file_next_to_a_port(films, tmp_path):
    path = tmp_path / "films.sock"
    with films.serve(port=0, unix_socket=path, unix_socket_mode=0o660) as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
    with pytest.raises(ValueError, match="unix_socket_mode must be permissions"):
        films.serve(port=0, unix_socket=path, unix_socket_mode=10_000)


def test_nowhere_to_listen(films):
    with pytest.raises(hexgraph.QueryError, match="neither a port nor a file"):
        films.serve(port=None)


def test_half_of_what_tls_needs(films, tmp_path):
    with pytest.raises(ValueError, match="both tls_cert and tls_key"):
        films.serve(port=0, tls_cert=tmp_path / "cert.pem")
    with pytest.raises(hexgraph.StorageError, match=r"cert\.pem"):
        films.serve(port=0, tls_cert=tmp_path / "cert.pem", tls_key=tmp_path / "key.pem")


def test_nobody_without_a_key(films, connect):
    with films.serve(port=0, anonymous=False) as server:
        connection = connect(server)
        refused = post(connection, "/query", FILMS)
        assert refused["errors"][0]["extensions"]["code"] == "ErrorUnauthorized"
        key = films.create_key("notebook")
        answer = post(connection, "/query", FILMS, **{"X-Auth-Token": key.secret})
        assert answer["data"]["q"][0]["title"] == "Metropolis"


def test_users_and_the_audit_log(films, connect, tmp_path):
    secret, log = tmp_path / "secret", tmp_path / "audit.jsonl"
    secret.write_text("0123456789abcdef0123456789abcdef\n")
    acl = f"secret-file={secret}; access-ttl=1h"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        server = films.serve(port=0, acl=acl, acl_initial_password="film noir", audit_log=log)
    connection = connect(server)
    refused = post(connection, "/query", FILMS)
    assert "no accessJwt available" in refused["errors"][0]["message"]
    token = login(connection, "groot", "film noir")
    answer = post(connection, "/query", FILMS, **{"X-Service-AccessToken": token})
    assert answer["data"]["q"] == [{"title": "Metropolis", "budget": 5}]
    # The program that serves is bound by no rights.
    assert films.query(FILMS).rows() == [("Metropolis", 5)]
    with pytest.raises(hexgraph.QueryError, match="enabled already"):
        films.serve(port=0, acl=acl)
    server.stop()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) >= 3
    assert "film noir" not in log.read_text()
    # Users stay with the next server.
    with films.serve(port=0) as server:
        connection = connect(server)
        assert "no accessJwt available" in post(connection, "/query", FILMS)["errors"][0]["message"]


def test_the_password_that_everybody_knows(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("0123456789abcdef0123456789abcdef")
    db = hexgraph.connect()
    with pytest.raises(hexgraph.QueryError, match="lets others connect"):
        db.serve(port=0, host="0.0.0.0", acl=f"secret-file={secret}")
    db = hexgraph.connect()
    with pytest.warns(UserWarning, match="the password that everybody knows"):
        db.serve(port=0, acl=f"secret-file={secret}").stop()
    with pytest.raises(hexgraph.QueryError, match="expected secret-file=FILE"):
        hexgraph.connect().serve(port=0, acl="secret_file=x")
    with pytest.raises(hexgraph.StorageError, match="reading a secret"):
        hexgraph.connect().serve(port=0, acl="secret-file=/nowhere")
