"""What a connection string says: dgraph://user:password@host:port?argument=value."""

from __future__ import annotations

import dataclasses
import urllib.parse

SCHEME = "dgraph://"

_ARGUMENTS = (
    "sslmode",
    "apikey",
    "bearertoken",
    "namespace",
    "http",
    "key",
    "authtoken",
)
_FORM = "dgraph://user:password@host:9080?argument=value"


@dataclasses.dataclass(frozen=True)
class Address:
    """The address of a cluster, and the login. Its secrets are not in its repr."""

    host: str
    port: int
    user: str | None = None
    password: str | None = dataclasses.field(default=None, repr=False)
    namespace: int = 0
    """The namespace to log into."""
    encrypted: bool = False
    """Whether gRPC goes over TLS, with the certificates that the machine trusts."""
    authorization: str | None = dataclasses.field(default=None, repr=False)
    """The value of the header `authorization`: an API key, or `Bearer` with a token."""
    key: str | None = dataclasses.field(default=None, repr=False)
    """A key of `hexgraph serve`, sent as `x-auth-token`."""
    auth_token: str | None = dataclasses.field(default=None, repr=False)
    """The token that the cluster requires for changes of the schema, sent as `auth-token`."""
    http: str | None = None
    """The origin that answers GraphQL, such as http://host:8080."""

    def __str__(self) -> str:
        """Return the address without secrets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{SCHEME}{host}:{self.port}"

    @property
    def target(self) -> str:
        """Host and port as gRPC takes them."""
        return str(self).removeprefix(SCHEME)


def parse(text: str) -> Address:
    """Read a connection string.

    Raises ValueError for what it can't mean. No message repeats what may be a secret: one that has
    a `/` or `@` in it and was not quoted looks like another part.
    """
    try:
        parts = urllib.parse.urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError(f"the port is a number from 1 to 65535: write {_FORM}") from None
    if parts.scheme != "dgraph" or not parts.hostname:
        raise ValueError(f"this names no host: write {_FORM}")
    if not port:
        raise ValueError(f"this names no port, which is 9080 as a rule: write {_FORM}")
    if parts.path not in ("", "/") or parts.fragment:
        raise ValueError(
            f"nothing stands between the port and `?`: write {_FORM}, and quote what is special in"
            " a password (%2F for /, %40 for @, %23 for #)"
        )
    given = _arguments(parts.query)
    user = _unquoted(parts.username)
    password = _unquoted(parts.password)
    if user and not password:
        raise ValueError(f"a user needs a password: write {_FORM}")
    authorization, encrypted = _authorization(given)
    return Address(
        host=parts.hostname,
        port=port,
        user=user,
        password=password,
        namespace=_namespace(given.get("namespace"), user),
        encrypted=encrypted,
        authorization=authorization,
        key=given.get("key"),
        auth_token=given.get("authtoken"),
        http=_origin(given.get("http"), encrypted=encrypted, is_secret=authorization is not None),
    )


def _arguments(query: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in urllib.parse.parse_qsl(query, keep_blank_values=True):
        if name not in _ARGUMENTS:
            names = ", ".join(_ARGUMENTS)
            raise ValueError(f"there is no argument {name[:30]!r}: it is one of {names}")
        if name in given:
            raise ValueError(f"the argument {name!r} is given twice")
        if not value:
            raise ValueError(f"the argument {name!r} has no value")
        given[name] = value
    return given


def _unquoted(text: str | None) -> str | None:
    return urllib.parse.unquote(text) if text else None


def _authorization(given: dict[str, str]) -> tuple[str | None, bool]:
    """Return the header `authorization`, and whether the connection is encrypted."""
    mode = given.get("sslmode", "disable")
    if mode == "require":
        raise ValueError(
            "sslmode=require would trust any certificate, which pydgraph does not do: write"
            " sslmode=verify-ca"
        )
    if mode not in ("disable", "verify-ca"):
        raise ValueError("sslmode is disable or verify-ca")
    key, token = given.get("apikey"), given.get("bearertoken")
    if key and token:
        raise ValueError("apikey and bearertoken exclude each other")
    if key or token:
        if given.get("sslmode") == "disable":
            raise ValueError("apikey and bearertoken go over TLS only: leave sslmode=disable out")
        return key or f"Bearer {token}", True
    return None, mode == "verify-ca"


def _namespace(given: str | None, user: str | None) -> int:
    if given is None:
        return 0
    if not given.isascii() or not given.isdigit():
        raise ValueError("namespace is a number from 0 on")
    if not user:
        raise ValueError(f"a namespace is logged into, with a user and a password: write {_FORM}")
    return int(given)


def _origin(given: str | None, *, encrypted: bool, is_secret: bool) -> str | None:
    if given is None:
        return None
    text = given if "://" in given else f"{'https' if encrypted else 'http'}://{given}"
    fault = ValueError("http is where GraphQL is answered: http=host:8080 or http=https://host")
    try:
        parts = urllib.parse.urlsplit(text)
        _ = parts.port
    except ValueError:
        raise fault from None
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or parts.username
        or parts.query
        or parts.fragment
        or parts.path not in ("", "/")
    ):
        raise fault
    if is_secret and parts.scheme == "http":
        raise ValueError("apikey and bearertoken go over TLS only: write http=https://host")
    return f"{parts.scheme}://{parts.netloc}"
