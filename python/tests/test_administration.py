"""Namespaces, and the keys of clients."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path

import pytest

import hexgraph

NAMES = "{ q(func: has(name)) { name } }"


def test_namespaces_are_separate(tmp_path: Path) -> None:
    with hexgraph.connect(tmp_path / "db") as db:
        number = db.create_namespace()
        other = db.open_namespace(number)
        assert (db.namespace, other.namespace) == (0, 1)
        assert repr(other).endswith(", namespace 1>")
        db.mutate(set='_:a <name> "zero" .')
        other.mutate(set='_:a <name> "one" .')
        assert db.query(NAMES).to_dict() == {"q": [{"name": "zero"}]}
        assert other.query(NAMES).to_dict() == {"q": [{"name": "one"}]}
    with hexgraph.connect(tmp_path / "db", namespace=1) as db:
        assert db.query(NAMES).to_dict() == {"q": [{"name": "one"}]}
        with pytest.raises(hexgraph.QueryError, match="there is no namespace 2"):
            db.open_namespace(2)
    with pytest.raises(hexgraph.QueryError, match="there is no namespace 7"):
        hexgraph.connect(tmp_path / "db", namespace=7)
    with hexgraph.connect(tmp_path / "db") as db:
        other = db.open_namespace(1)
        db.drop_namespace(1)
        with pytest.raises(hexgraph.QueryError, match="the namespace 1 was dropped"):
            other.stats()
        with pytest.raises(hexgraph.QueryError, match="cannot be deleted"):
            db.drop_namespace(0)


def test_keys_open_a_server() -> None:
    db = hexgraph.connect()
    db.mutate(set='_:a <name> "Ada" .')

    def status(key: str | None, path: str, text: str) -> int:
        url = server.url.rstrip("/") + path
        headers = {"Content-Type": "application/rdf" if "mutate" in path else "application/dql"}
        if key is not None:
            headers["X-Auth-Token"] = key
        request = urllib.request.Request(url, text.encode(), headers)
        try:
            with urllib.request.urlopen(request) as answer:
                assert "errors" not in json.load(answer)
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    with db.serve(port=0) as server:
        assert status(None, "/query", NAMES) == 200
        reader = db.create_key("a reader", role="read-only", expires=timedelta(hours=1))
        writer = db.create_key(role="client")
        assert status(None, "/query", NAMES) == 401
        assert reader.expires is not None
        assert reader.expires - reader.made == timedelta(hours=1)
        set_ = '{ set { _:b <name> "Bob" . } }'
        for key, reads, writes in ((reader, 200, 403), (writer, 200, 200)):
            assert key.secret is not None
            assert key.secret not in repr(key)
            assert status(key.secret, "/query", NAMES) == reads
            assert status(key.secret, "/mutate?commitNow=true", set_) == writes
        db.revoke_key(reader.id)
        assert status(reader.secret, "/query", NAMES) == 401
        assert status(writer.secret, "/query", NAMES) == 200
    listed = db.keys()
    assert [key.id for key in listed if key.revoked is None] == [writer.id]
    assert all(key.secret is None for key in listed)
    with pytest.raises(hexgraph.QueryError, match="expected admin, client or read-only"):
        db.create_key(role="root")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"-1"):
        db.create_key(expires=-1)


def test_a_key_may_hold_for_longer_than_calendars_go() -> None:
    db = hexgraph.connect()
    keys = [db.create_key(expires=seconds) for seconds in (1e12, 1.5e19)]
    for key in keys:
        assert key.expires is not None
        assert key.expires.year == 9999
        assert key.secret is not None
    listed = db.keys()
    assert {key.id: key.expires for key in listed} == {key.id: key.expires for key in keys}
