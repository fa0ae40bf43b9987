"""How a database is served to other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .homes import expanded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from ._native import Server

    Path = str | PathLike[str]


class ServingMethods:
    """What `attach` puts on `Database`."""

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
        """Answer over HTTP from threads in the background, until the server is stopped.

        Where it listens:

        - `port`: that of HTTP; 0 takes any that is free, None takes none, where there is a
          `unix_socket`.
        - `host`: the address, by default of this machine only; "0.0.0.0" lets others in.
        - `grpc_port`: the port for the clients of Dgraph, by gRPC; 0 takes any that is free.
        - `unix_socket`: a file at which programs on this machine are answered, by HTTP and gRPC;
          `unix_socket_mode`, its permissions, say whose.
        - `tls_cert`, `tls_key`: files in PEM by which the ports speak TLS; with `tls_client_ca` all
          clients show a certificate that an authority in this file has signed.

        Who may ask:

        - `security`: this machine may alter and administer. "whitelist=10.0.0.0/8" lets others,
          and "token=secret" has all of them name a token; with `;` between both.
          "client-key=secret" and "admin-key=secret" have all requests name one of the keys in the
          header X-Auth-Token.
        - `anonymous`: False answers nobody without a key, be there any or not.
        - `acl`: users with rights to predicates, from then on: "secret-file=FILE" names a file
          with the secret that tokens are signed with; with `;` between, also access-ttl=6h,
          refresh-ttl=30d and jwt-alg=HS256. The first user is groot with `acl_initial_password`;
          as long as the password is the one that everybody knows, only this machine can connect,
          unless `acl_allow_default_password` lets others. This handle is bound by no rights.
        - `allow_host`: names of this server; requests name it in the header Host by an address, by
          `localhost`, or by one of these.
        - `allow_origin`: pages of browsers may ask that are of the server's own origin or of one of
          these, such as "https://app.example.org".
        - `allow_get_changes`: whether GraphQL mutations may come by GET.

        What is written:

        - `export`: the folder for exports and backups that are asked for at /admin; None allows
          none.
        - `audit_log`: a file that gets a line of JSON for each request, and gives way to a new one
          at `audit_log_size`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> with db.serve(port=0) as server:
        ...     server.url.startswith("http://127.0.0.1:")
        True

        Raises StorageError when a port or a file cannot be had, QueryError and ValueError for a
        setting that is wrong.
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
