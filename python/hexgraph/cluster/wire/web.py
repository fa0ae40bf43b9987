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
from .faults import of_text, timed_out

_SET = """mutation ($schema: String!) {
    updateGQLSchema(input: {set: {schema: $schema}}) { gqlSchema { schema } }
}"""
_GET = "{ getGQLSchema { schema } }"
_UNAUTHORIZED, _FORBIDDEN = 401, 403


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Leaves an answer that names another address as it is: following it sends secrets there."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


class Web:
    """The side of a cluster that answers over HTTP."""

    def __init__(self, address: Address, access_token: Callable[[], str | None]) -> None:
        self._address = address
        self._access_token = access_token

    def send(  # noqa: PLR0913 - as requests have it
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
                content = reply.read()
        except urllib.error.HTTPError as error:
            with error:
                content = error.read()
            if error.code in (_UNAUTHORIZED, _FORBIDDEN):
                raise AccessError(f"{url} answers {error.code}: {_said(content)}") from None
            if not content.startswith(b"{"):
                raise StorageError(f"{url} answers {error.code} {error.reason}") from None
        except TimeoutError:
            raise timed_out(timeout) from None
        except OSError as error:
            if isinstance(getattr(error, "reason", None), TimeoutError):
                raise timed_out(timeout) from None
            raise StorageError(f"{url} can't be reached: {error}") from None
        try:
            answer = json.loads(content)
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
        text = (answer.get("getGQLSchema") or {}).get("schema")
        return text or None

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
                "GraphQL requests go over HTTP: name the address in the connection string,"
                f" {self._address}?http=HOST:8080"
            )
        return self._address.http

    def _administer(self, text: str, variables: dict[str, Any] | None) -> dict[str, Any]:
        answer = self.send(text, variables, path="/admin")
        if answer.get("errors"):
            text = "; ".join(error["message"] for error in answer["errors"])
            exception = of_text(text)
            raise exception if isinstance(exception, AccessError) else SchemaError(text)
        data: dict[str, Any] = answer.get("data") or {}
        return data


def _said(body: bytes) -> str:
    """Return the reason in an answer, or nothing."""
    try:
        answer = json.loads(body)
        return "; ".join(str(error["message"]) for error in answer["errors"])
    except (ValueError, TypeError, KeyError):
        return "no reason is given"
