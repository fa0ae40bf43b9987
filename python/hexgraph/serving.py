"""The server of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .homes import expanded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from ._native import Server

    Path = str | PathLike[str]


class ServingMethods:
    """The methods that `attach` adds to `Database`."""

    def serve(  # noqa: PLR0913 - options by keyword
        self,
        port: int | None = 8080,
        host: str = "127.0.0.1",
        *,
        security: str = "",
        export: Path | None = None,
        allow_host: Sequence[str] = (),
        allow_origin: Sequence[str] = (),
        allow_get_changes: bool = False,
        grpc_port: int | None = None,
        unix_socket: Path | None = None,
        unix_socket_mode: int = 0o600,
        metrics_address: str | None = None,
        otlp_endpoint: str | None = None,
        tls_cert: Path | None = None,
        tls_key: Path | None = None,
        tls_client_ca: Path | None = None,
        anonymous: bool = True,
        acl: str | None = None,
        acl_initial_password: str | None = None,
        acl_allow_default_password: bool = False,
        audit_log: Path | None = None,
        audit_log_size: str = "100MiB",
    ) -> Server:
        """Serve HTTP and gRPC from background threads, until the server is stopped.

        Listening:

        - `port`: the HTTP port; 0 chooses any free port, None disables it, if there is a
          `unix_socket`.
        - `host`: the address, by default of this machine only; "0.0.0.0" allows others.
        - `grpc_port`: the gRPC port for the clients of Dgraph; 0 chooses any free port.
        - `unix_socket`: the path of a Unix domain socket for HTTP and gRPC; `unix_socket_mode`, its
          permissions, control who may connect.
        - `metrics_address`: an address and port, such as "127.0.0.1:9100", that serves `/metrics`
          alone, without a key.
        - `otlp_endpoint`: the URL of an OpenTelemetry collector, such as "http://localhost:4318",
          that a span of each request is sent to.
        - `tls_cert`, `tls_key`: PEM files that enable TLS on the ports; with `tls_client_ca` all
          clients must present a certificate signed by an authority in this file.

        Access:

        - `security`: by default only this machine may alter and administer. "whitelist=10.0.0.0/8"
          allows others, and "token=secret" requires a token; separate both with `;`.
          "client-key=secret" and "admin-key=secret" require one of the keys in the header
          X-Auth-Token of all requests.
        - `anonymous`: False refuses requests without a key, even before a key exists.
        - `acl`: enables users with rights to predicates: "secret-file=FILE" names a file with the
          secret that signs tokens; further settings, separated by `;`, are access-ttl=6h,
          refresh-ttl=30d and jwt-alg=HS256. The first user is groot with `acl_initial_password`.
          With the default password only this machine can connect, unless
          `acl_allow_default_password`. This handle is not restricted by rights.
        - `allow_host`: names of this server; the header Host of a request must contain an address,
          `localhost`, or one of these.
        - `allow_origin`: origins whose web pages may send requests, in addition to the server's
          own, such as "https://app.example.org".
        - `allow_get_changes`: whether GraphQL mutations are allowed by GET.

        Output:

        - `export`: the folder for exports and backups requested at /admin; None refuses them.
        - `audit_log`: a file that gets a line of JSON for each request; it is rotated at
          `audit_log_size`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> with db.serve(port=0) as server:
        ...     server.url.startswith("http://127.0.0.1:")
        True

        Raises StorageError if a port or a file is not available, QueryError and ValueError for an
        invalid setting.
        """
        settings = {
            "port": port,
            "host": host,
            "security": security,
            "export": export,
            "allow_host": list(allow_host),
            "allow_origin": list(allow_origin),
            "allow_get_changes": allow_get_changes,
            "grpc_port": grpc_port,
            "unix_socket": unix_socket,
            "unix_socket_mode": unix_socket_mode,
            "metrics_address": metrics_address,
            "otlp_endpoint": otlp_endpoint,
            "tls_cert": tls_cert,
            "tls_key": tls_key,
            "tls_client_ca": tls_client_ca,
            "anonymous": anonymous,
            "acl": acl,
            "acl_initial_password": acl_initial_password,
            "acl_allow_default_password": acl_allow_default_password,
            "audit_log": audit_log,
            "audit_log_size": audit_log_size,
        }
        paths = ("export", "unix_socket", "tls_cert", "tls_key", "tls_client_ca", "audit_log")
        settings.update({name: expanded(settings[name]) for name in paths})
        server: Server = cast(Any, self)._serve(settings)
        return server
