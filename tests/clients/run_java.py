"""Runs a flow with dgraph4j, the client of Dgraph for Java, against a command.

The command is the argument. It needs Java and Maven, which keeps what it fetches in its own
cache. Where one is missing, it is
skipped, which is said.
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

HERE = Path(__file__).parent / "java"
JAVA_MIN = 17
LIBRARIES = [
    "mvn",
    "--quiet",
    "--batch-mode",
    "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies",
]


def main() -> int:
    command = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        why = why_not() or fetch(folder)
        if why:
            print(f"skipped: the flow of dgraph4j ({why})")
            return 0
        secret = folder / "secret"
        secret.write_text(secrets.token_hex(32))
        status = with_server([command, "serve", "--port", "0"], folder, {})
        users = ["--acl", f"secret-file={secret}"]
        login = {"HEXGRAPH_PASSWORD": "password"}
        return status | with_server([command, "serve", "--port", "0", *users], folder, login)


def why_not() -> str:
    """Why it can't run here; empty when it can."""
    missing = [tool for tool in ("java", "mvn") if not shutil.which(tool)]
    if missing:
        return f"no {' and no '.join(missing)}"
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', said.stderr)
    if not found or int(found[1]) < JAVA_MIN:
        return f"java is not of version {JAVA_MIN} or later"
    return ""


def fetch(folder: Path) -> str:
    """Puts the libraries into a folder; returns why it couldn't."""
    shutil.copy(HERE / "pom.xml", folder)
    out = f"-DoutputDirectory={folder / 'lib'}"
    done = subprocess.run(
        [*LIBRARIES, out], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        first = done.stdout.strip().splitlines()[:1]
        return f"Maven can't fetch its libraries: {' '.join(first)}"
    return ""


def with_server(command: list[str | Path], folder: Path, login: dict[str, str]) -> int:
    """Runs the flow against a server."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            environment = os.environ | {"HEXGRAPH_GRPC": grpc_address(server)} | login
            print(f"dgraph4j{', with a login' if login else ''}", flush=True)
            java = ["java", "-cp", f"{folder / 'lib'}/*", HERE / "Flow.java"]
            return subprocess.run(java, env=environment, check=False).returncode
        finally:
            server.terminate()


if __name__ == "__main__":
    sys.exit(main())
