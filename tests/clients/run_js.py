"""Runs the tests of JavaScript clients in `js` against a command, given as the argument.

They need node 20 or later and npm, and packages from the registry that npm is configured for; npm
keeps those in the user's cache. Where one of these is missing, they are skipped, which is said.
"""

import hashlib
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NODE_MAJOR_MIN = 20
HERE = Path(__file__).parent / "js"
INSTALLED = HERE / "node_modules" / ".installed"


def main() -> int:
    command = Path(sys.argv[1]).resolve()
    why = why_not() or install()
    if why:
        print(f"skipped: tests of JavaScript clients ({why})")
        return 0
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder) / "secret"
        secret.write_text(secrets.token_hex(32))
        users = {"HEXGRAPH_PASSWORD": "password", "HEXGRAPH_SECRET_FILE": str(secret)}
        tests = ["node", "--test", "--test-timeout=120000"]
        for given, files in (({}, []), (users, ["dgraph.test.js"])):
            environment = os.environ | {"HEXGRAPH": str(command)} | given
            done = subprocess.run([*tests, *files], cwd=HERE, env=environment, check=False)
            status |= done.returncode
    return status


def why_not() -> str:
    """Why they can't run here; empty when they can."""
    if not shutil.which("node") or not shutil.which("npm"):
        return "no node and npm"
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    major = int(re.match(r"v(\d+)", said.stdout)[1])
    return f"node is {major}, not {NODE_MAJOR_MIN}" if major < NODE_MAJOR_MIN else ""


def install() -> str:
    """Installs the packages of the lock file unless they are there; tells why it could not."""
    lock = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    if INSTALLED.exists() and INSTALLED.read_text() == lock:
        return ""
    command = ["npm", "ci", "--prefer-offline"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if " error " in line]
        return f"npm can't install their packages: {lines[0] if lines else done.returncode}"
    INSTALLED.write_text(lock)
    return ""


if __name__ == "__main__":
    sys.exit(main())
