"""GraphQL over HTTP: requests at /graphql, the schema at /admin."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from ..._native import encode_json
from ...errors import AccessError, Error, SchemaError, StorageError
from .address import Address
from .channel import seconds
from .faults import late, of_text

_SET = """mutation ($schema: String!) {
    updateGQLSchema(input: {set: {schema: $schema}}) { gqlSchema { schema } }
}"""
_GET = "{ getGQLSchema { schema } }"
_UNAUTHORIZED, _FORBIDDEN = 401, 403


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Leaves an answer that names another place as it is: to follow it is to send secrets there."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


class Web:
    """The side of a cluster that answers over HTTP."""

    def __init__(self, address: Address, access_token: Callable[[], str | None]) -> None:
        self._address = address
        self._access_token = access_token

    def ask(  # noqa: PLR0913 - as requests have it
        self,
        text: str,
        variables: dict[str, Any] | None = None,
        *,
        operation: str | None = None,
        headers: dict[str, str] | None = None,
        timeout: float | None = None,
        path: str = "/graphql",
    ) -> dict[str, Any]:
        """Answer a request: "data", and "errors" where there are any."""
        url = self._origin() + path
        body = json.dumps(self.request(text, variables, operation)).encode()
        all_headers = {"Content-Type": "application/json", **self.headers(headers)}
        request = urllib.request.Request(url, body, all_headers)
        try:
            with _OPENER.open(request, timeout=seconds(timeout)) as reply:
                told = reply.read()
        except urllib.error.HTTPError as error:
            with error:
                told = error.read()
            if error.code in (_UNAUTHORIZED, _FORBIDDEN):
                raise AccessError(f"{url} answers {error.code}: {_said(told)}") from None
            if not told.startswith(b"{"):
                raise StorageError(f"{url} answers {error.code} {error.reason}") from None
        except TimeoutError:
            raise late(timeout) from None
        except OSError as error:
            if isinstance(getattr(error, "reason", None), TimeoutError):
                raise late(timeout) from None
            raise StorageError(f"{url} can't be reached: {error}") from None
        try:
            answer = json.loads(told)
        except ValueError:
            raise StorageError(f"what {url} answers is no JSON") from None
        return {key: answer[key] for key in ("errors", "data") if answer.get(key) is not None}

    def request(
        self, text: str, variables: dict[str, Any] | None, operation: str | None
    ) -> dict[str, Any]:
        """Return the body of a request."""
        body: dict[str, Any] = {"query": text}
        if variables is not None:
            body["variables"] = json.loads(encode_json("variables", dict(variables)))
        if operation is not None:
            body["operationName"] = operation
        return body

    def schema(self) -> str | None:
        """Return the schema in force."""
        answer = self._administer(_GET, None)
        found = (answer.get("getGQLSchema") or {}).get("schema")
        return found or None

    def set_schema(self, sdl: str) -> None:
        """Set the schema. Raises SchemaError with all that is wrong with it."""
        self._administer(_SET, {"schema": sdl})

    def headers(self, given: dict[str, str] | None) -> dict[str, str]:
        """Return the headers of a request: the given ones, and the login."""
        address = self._address
        named = {
            "X-Auth-Token": address.key,
            "X-Dgraph-AuthToken": address.auth_token,
            "X-Dgraph-AccessToken": self._access_token(),
            "Authorization": address.authorization,
        }
        own = {name: value for name, value in named.items() if value}
        return {**own, **(given or {})}

    def socket_url(self) -> str:
        """Return where subscriptions are answered."""
        return f"ws{self._origin().removeprefix('http')}/graphql"

    def _origin(self) -> str:
        if self._address.http is None:
            raise Error(
                "GraphQL is asked over HTTP: name the address in the connection string,"
                f" {self._address}?http=HOST:8080"
            )
        return self._address.http

    def _administer(self, text: str, variables: dict[str, Any] | None) -> dict[str, Any]:
        answer = self.ask(text, variables, path="/admin")
        if answer.get("errors"):
            text = "; ".join(error["message"] for error in answer["errors"])
            told = of_text(text)
            raise told if isinstance(told, AccessError) else SchemaError(text)
        data: dict[str, Any] = answer.get("data") or {}
        return data


def _said(told: bytes) -> str:
    """Return the reason in an answer, or nothing."""
    try:
        answer = json.loads(told)
        return "; ".join(str(error["message"]) for error in answer["errors"])
    except (ValueError, TypeError, KeyError):
        return "no reason is given"
