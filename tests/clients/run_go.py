"""Runs the tests of dgo, the client of Dgraph for Go, against a command, given as the argument.

Each of its major versions is a module of its own, so the same tests run with each in a copy. They
need Go, and modules from the proxy that it is configured for, which it keeps in its cache. Where
one is missing, they are skipped, which is said.
"""

import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from server import grpc_address

HERE = Path(__file__).parent / "go"
GO_MIN = (1, 24)
VERSIONS = ["v230", "v240", "v250"]
"""The major versions; for each `go` has the files `VERSION.mod` and `VERSION.sum`."""
WRITTEN = "v250"
"""The one that stands in the tests."""


def main() -> int:
    command = Path(sys.argv[1]).resolve()
    why = why_not()
    if why:
        print(f"skipped: tests of Go clients ({why})")
        return 0
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder) / "secret"
        secret.write_text(secrets.token_hex(32))
        for users in ([], ["--acl", f"secret-file={secret}"]):
            copies = Path(folder) / ("users" if users else "anybody")
            copies.mkdir()
            status |= with_server([command, "serve", "--port", "0", *users], copies, bool(users))
    return status


def with_server(command: list[str | Path], folder: Path, users: bool) -> int:
    """Runs the tests with all versions against a server, after a login where it has users."""
    password = {"HEXGRAPH_PASSWORD": "password"} if users else {}
    status = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            environment = {"HEXGRAPH_GRPC": grpc_address(server)} | password
            for version in VERSIONS:
                status |= run(version, environment, folder)
        finally:
            server.terminate()
    return status


def why_not() -> str:
    """Why they can't run here; empty when they can."""
    if not shutil.which("go"):
        return "no go"
    said = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=True)
    found = re.match(r"go(\d+)\.(\d+)", said.stdout)
    if not found or (int(found[1]), int(found[2])) < GO_MIN:
        return f"go is {said.stdout.strip()}, not {GO_MIN[0]}.{GO_MIN[1]}"
    return ""


def run(version: str, given: dict[str, str], folder: Path) -> int:
    """Runs the tests with a version of dgo, in a folder of its own."""
    copy = folder / version
    copy.mkdir()
    text = (HERE / "flow_test.go").read_text().replace(f"dgo/{WRITTEN}", f"dgo/{version}")
    (copy / "flow_test.go").write_text(text)
    for ending in ("mod", "sum"):
        shutil.copy(HERE / f"{version}.{ending}", copy / f"go.{ending}")
    environment = os.environ | given | {"GOFLAGS": "-mod=readonly"}
    download = ["go", "mod", "download"]
    fetched = subprocess.run(
        download, cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    if fetched.returncode:
        last = fetched.stderr.strip().splitlines()[-1:]
        print(f"skipped: tests of dgo {version} (go can't fetch its modules: {' '.join(last)})")
        return 0
    print(f"dgo {version}{', with a login' if 'HEXGRAPH_PASSWORD' in given else ''}", flush=True)
    tests = ["go", "test", "-count=1", "-timeout=120s", "./..."]
    return subprocess.run(tests, cwd=copy, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
