"""What the runners of clients need of a server."""

import re
import subprocess


def grpc_address(server: subprocess.Popen[str]) -> str:
    """Reads where the server answers by gRPC."""
    assert server.stdout
    for line in server.stdout:
        if found := re.search(r"by gRPC at (\S+)", line):
            return found[1]
    raise SystemExit("the server did not start")
