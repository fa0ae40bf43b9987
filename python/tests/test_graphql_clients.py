"""The Python client `gql`, unmodified: requests, subscriptions, the schema by introspection."""

import asyncio
import base64
import hashlib
import hmac
import json
import time

import pytest

import hexgraph

gql = pytest.importorskip("gql", reason="the client `gql` is not installed")

from gql.transport.aiohttp import AIOHTTPTransport  # noqa: E402
from gql.transport.aiohttp_websockets import AIOHTTPWebsocketsTransport  # noqa: E402
from gql.transport.exceptions import TransportQueryError  # noqa: E402
from gql.transport.requests import RequestsHTTPTransport  # noqa: E402
from gql.transport.websockets import WebsocketsTransport  # noqa: E402

NEWER, OLDER = "graphql-transport-ws", "graphql-ws"

SCHEMA = """
type Film @withSubscription {
  id: ID!
  title: String! @id
  year: Int @search
  rating: Float
  cast: [Actor!] @hasInverse(field: films)
}
type Actor { name: String! @id films: [Film!] }
type Note @withSubscription @auth(query: { rule: \"\"\"
  query ($USER: String!) { queryNote(filter: { owner: { eq: $USER } }) { id } }
\"\"\" }) {
  id: ID!
  text: String!
  owner: String! @search(by: [hash])
}
# Dgraph.Authorization """

SETTINGS = {
    "VerificationKey": "a secret for tests",
    "Header": "X-Auth",
    "Namespace": "claims",
    "Algo": "HS256",
}

ADD = """
mutation Add($films: [AddFilmInput!]!) {
  addFilm(input: $films) { numUids film(order: {asc: title}) { title cast { name } } }
}
"""

FILMS = [
    {"title": "Metropolis", "year": 1927, "rating": 8.25, "cast": [{"name": "Brigitte Helm"}]},
    {"title": "Faust", "year": 1926},
]

TITLES = "subscription { queryFilm(order: {asc: title}) { title } }"

OWN_NOTES = "subscription { queryNote { text } }"


@pytest.fixture
def url():
    with hexgraph.connect() as db:
        db.graphql_schema(SCHEMA + json.dumps(SETTINGS))
        with db.serve(port=0) as server:
            yield f"{server.url}/graphql"


def request(text, **variables):
    return gql.GraphQLRequest(text, variable_values=variables)


def socket(url, protocol, **payload):
    return WebsocketsTransport(
        url=url.replace("http", "ws", 1), subprotocols=[protocol], init_payload=payload
    )


def token(user, seconds):
    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    claims = {"exp": int(time.time()) + seconds, "claims": {"USER": user}}
    parts = [{"alg": "HS256", "typ": "JWT"}, claims]
    signed = ".".join(part(json.dumps(it).encode()) for it in parts)
    key = SETTINGS["VerificationKey"].encode()
    return f"{signed}.{part(hmac.digest(key, signed.encode(), hashlib.sha256))}"


async def following(answers):
    return await asyncio.wait_for(anext(answers), 20)


def titles(answer):
    return [film["title"] for film in answer["queryFilm"]]


def check_session(execute):
    """What any transport has to do; `execute` takes a request."""
    assert execute(request(ADD, films=FILMS)) == {
        "addFilm": {
            "numUids": 3,
            "film": [
                {"title": "Faust", "cast": []},
                {"title": "Metropolis", "cast": [{"name": "Brigitte Helm"}]},
            ],
        }
    }
    text = """
    query Find($after: Int, $stars: Boolean = false) {
      recent: queryFilm(filter: {year: {gt: $after}}) {
        __typename title rating @include(if: $stars)
      }
      aggregateFilm { count yearMin }
    }
    """
    assert execute(request(text, after=1926, stars=True)) == {
        "recent": [{"__typename": "Film", "title": "Metropolis", "rating": 8.25}],
        "aggregateFilm": {"count": 2, "yearMin": 1926},
    }
    with pytest.raises(TransportQueryError) as report:
        execute(request(ADD, films=[{"title": "Faust"}]))
    (error,) = report.value.errors
    assert "id Faust already exists for field title inside type Film" in error["message"]
    assert error["path"] == ["addFilm"]


def test_requests(url):
    client = gql.Client(transport=RequestsHTTPTransport(url=url), fetch_schema_from_transport=True)
    with client as session:
        check_session(session.execute)
        # The client checks requests by the schema that it has.
        film = client.schema.type_map["Film"]
        assert str(film.fields["cast"].type) == "[Actor!]"
        assert "after" in film.fields["cast"].args
        with pytest.raises(Exception, match="Cannot query field 'what' on type 'Film'"):
            session.execute(request("{ queryFilm { what } }"))


@pytest.mark.parametrize("transport", ["aiohttp", "aiohttp sockets", "sockets"])
def test_asynchronous(url, transport):
    # Some of them look for the running loop when they are made.
    make = {
        "aiohttp": lambda: AIOHTTPTransport(url=url, ssl=False),
        "aiohttp sockets": lambda: AIOHTTPWebsocketsTransport(
            url=url.replace("http", "ws", 1), subprotocols=[NEWER]
        ),
        "sockets": lambda: socket(url, NEWER),
    }[transport]

    async def run():
        loop = asyncio.get_running_loop()
        async with gql.Client(transport=make(), fetch_schema_from_transport=True) as session:

            def execute(query):
                return asyncio.run_coroutine_threadsafe(session.execute(query), loop).result(30)

            await asyncio.to_thread(check_session, execute)
            assert "Film" in session.client.schema.type_map

    asyncio.run(run())


@pytest.mark.parametrize("protocol", [NEWER, OLDER])
def test_subscriptions(url, protocol):
    async def run():
        http = AIOHTTPTransport(url=url, ssl=False)
        async with (
            gql.Client(transport=http) as writer,
            gql.Client(transport=socket(url, protocol)) as reader,
        ):
            films = reader.subscribe(request(TITLES))
            assert titles(await following(films)) == []
            counts = reader.subscribe(request("subscription { aggregateFilm { count } }"))
            assert (await following(counts))["aggregateFilm"] == {"count": 0}
            await writer.execute(request(ADD, films=FILMS))
            assert titles(await following(films)) == ["Faust", "Metropolis"]
            assert (await following(counts))["aggregateFilm"] == {"count": 2}
            await films.aclose()
            text = 'mutation { deleteFilm(filter: {title: {eq: "Faust"}}) { numUids } }'
            await writer.execute(request(text))
            assert (await following(counts))["aggregateFilm"] == {"count": 1}
            await counts.aclose()
            with pytest.raises(TransportQueryError, match="Cannot query field"):
                await following(reader.subscribe(request("subscription { queryActor { name } }")))

    asyncio.run(run())


@pytest.mark.parametrize("protocol", [NEWER, OLDER])
def test_subscriptions_show_what_the_token_permits_until_it_expires(url, protocol):
    async def run():
        notes = [{"text": "hers", "owner": "eve"}, {"text": "his", "owner": "bob"}]
        add = request("mutation($n: [AddNoteInput!]!) { addNote(input: $n) { numUids } }", n=notes)
        async with gql.Client(transport=AIOHTTPTransport(url=url, ssl=False)) as writer:
            await writer.execute(add)
            payload = {"X-Auth": token("bob", 2)}
            async with gql.Client(transport=socket(url, protocol, **payload)) as reader:
                answers = reader.subscribe(request(OWN_NOTES))
                assert await following(answers) == {"queryNote": [{"text": "his"}]}
                with pytest.raises(StopAsyncIteration):
                    await following(answers)
            async with gql.Client(transport=socket(url, protocol)) as nobody:
                answers = nobody.subscribe(request(OWN_NOTES))
                assert await following(answers) == {"queryNote": []}
                await answers.aclose()

    asyncio.run(run())
