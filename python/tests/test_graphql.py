"""GraphQL by the module and over HTTP."""

import gzip
import json
import urllib.error
import urllib.parse
import urllib.request

import pytest

import hexgraph

pytestmark = pytest.mark.shared

FILMS = """
type Film { id: ID! title: String! @search(by: [term]) year: Int @search by: Person }
type Person { name: String! @id films: [Film] @hasInverse(field: by) }
"""
ADD = """
mutation($films: [AddFilmInput!]!) { addFilm(input: $films) { film { title } numUids } }
"""
QUERY = "query Ask($y: Int) { queryFilm(filter: {year: {lt: $y}}) { title by { name } } }"


@pytest.fixture
def films(db):
    db.graphql_schema(FILMS)
    lang = {"title": "Metropolis", "year": 1927, "by": {"name": "Lang"}}
    answer = db.graphql(ADD, {"films": [lang, {"title": "Playtime", "year": 1967}]})
    assert answer["data"]["addFilm"]["numUids"] == 3
    return db


def test_a_schema_is_checked(db):
    assert db.graphql_schema() is None
    with pytest.raises(hexgraph.SchemaError, match="Undefined type Foo"):
        db.graphql_schema("type Film { title: Foo }")
    assert db.graphql_schema() is None


@pytest.mark.embedded("a cluster names its own methods to set a schema")
def test_without_a_schema_the_error_says_how_to_set_one(db):
    report = db.graphql("{ queryFilm { title } }")["errors"][0]["message"]
    assert report.startswith("there is no GraphQL schema: set one with db.graphql_schema")


def test_requests(films):
    answer = films.graphql(QUERY, {"y": 1930})
    assert answer == {"data": {"queryFilm": [{"title": "Metropolis", "by": {"name": "Lang"}}]}}
    both = "query A { queryFilm { title } } query B { queryPerson { name } }"
    assert films.graphql(both, operation="B") == {"data": {"queryPerson": [{"name": "Lang"}]}}
    assert "errors" in films.graphql(both)


def test_dql_sees_the_same(films):
    result = films.query("{ q(func: type(Film)) { Film.title Film.by { Person.name } } }")
    assert result["q"][0] == {"Film.title": "Metropolis", "Film.by": {"Person.name": "Lang"}}


def test_a_schema_is_stored_with_the_data(tmp_path):
    with hexgraph.connect(tmp_path / "db") as db:
        db.graphql_schema(FILMS)
    with hexgraph.connect(tmp_path / "db") as db:
        assert db.graphql_schema() == FILMS
        db.drop("data")
        assert db.graphql_schema() == FILMS
        assert db.graphql("{ queryFilm { title } }") == {"data": {"queryFilm": []}}
        db.drop("all")
        assert db.graphql_schema() is None


def post(url, body, content_type="application/json", **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    body = body if isinstance(body, bytes) else body.encode()
    request = urllib.request.Request(url, body, {"Content-Type": content_type} | headers)
    with urllib.request.urlopen(request) as reply:
        text = reply.read()
        if reply.headers["Content-Encoding"] == "gzip":
            text = gzip.decompress(text)
        return json.loads(text), reply.headers


@pytest.mark.embedded("a cluster serves already")
def test_over_http(films):
    with films.serve(port=0) as server:
        url = server.url + "/graphql"
        want = {"queryFilm": [{"title": "Metropolis", "by": {"name": "Lang"}}]}
        body = json.dumps({"query": QUERY, "operationName": "Ask", "variables": {"y": 1930}})
        assert post(url, body)[0]["data"] == want
        packed = gzip.compress(body.encode())
        answer, headers = post(url, packed, Content_Encoding="gzip", Accept_Encoding="gzip")
        assert answer["data"] == want
        assert headers["Content-Encoding"] == "gzip"
        text = "query @cacheControl(maxAge: 15) { queryPerson { name } }"
        answer, headers = post(url, text, "application/graphql")
        assert answer["data"] == {"queryPerson": [{"name": "Lang"}]}
        assert headers["Cache-Control"] == "public,max-age=15"
        parameters = urllib.parse.urlencode({"query": QUERY, "variables": '{"y": 1930}'})
        with urllib.request.urlopen(f"{url}?{parameters}") as reply:
            assert json.load(reply)["data"] == want
        for body, kind in [("[]", "application/json"), ("{", "application/json"), ("x", "text/x")]:
            assert set(post(url, body, kind)[0]) == {"errors"}


@pytest.mark.embedded("a cluster serves already")
def test_administration(films):
    with films.serve(port=0) as server:
        before = json.load(urllib.request.urlopen(server.url + "/probe/graphql"))
        schema = "type Film { title: String! }"
        done, _ = post(server.url + "/admin/schema", schema, "text/plain")
        assert done["data"]["code"] == "Success"
        after = json.load(urllib.request.urlopen(server.url + "/probe/graphql"))
        assert before["schemaUpdateCounter"] < after["schemaUpdateCounter"]
        query = json.dumps({"query": "{ getGQLSchema { schema } }"})
        report, _ = post(server.url + "/admin", query)
        assert report["data"]["getGQLSchema"]["schema"] == schema
        with pytest.raises(urllib.error.HTTPError) as raised:
            post(server.url + "/admin/schema/validate", "type Film { a: Foo }", "text/plain")
        assert raised.value.code == 400
        assert "Undefined type Foo" in json.load(raised.value)["errors"][0]["message"]


def test_values_are_those_of_json(db):
    """Deep answers, too: the fast reader gives up on those."""
    db.graphql_schema("""type Node { id: ID! name: String big: Int64 ratio: Float next: Node
                         place: Point tags: [String] open: Boolean }""")
    name = 'quo"te \\ back\u2028 é 😀 \t'
    values = {"name": name, "big": -(2**63), "ratio": 1e300, "tags": ["", "x"], "open": False}
    point = {"latitude": 1.5, "longitude": -0.25}
    add = "mutation ($n: AddNodeInput!) { addNode(input: [$n]) { node { id } } }"
    added = db.graphql(add, {"n": values | {"place": point}})
    last = added["data"]["addNode"]["node"][0]["id"]
    expected = "name big ratio tags open place { latitude longitude } next { name }"
    (result,) = db.graphql(f"{{ queryNode {{ {expected} }} }}")["data"]["queryNode"]
    assert result == values | {"place": point, "next": None}
    for _ in range(190):
        added = db.graphql(add, {"n": {"next": {"id": last}}})
        last = added["data"]["addNode"]["node"][0]["id"]
    below = "next { " * 190 + "name" + " }" * 190
    text = f'{{ getNode(id: "{last}") {{ {below} }} }}'
    node = db.graphql(text)["data"]["getNode"]
    for _ in range(190):
        node = node["next"]
    assert node == {"name": name}
