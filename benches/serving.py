"""How many requests a second a server answers, and what thousands of idle connections cost it.

    python benches/serving.py PATH/TO/hexgraph [--connections 1 16 256 2000] [--seconds 5]
    python benches/serving.py PATH/TO/hexgraph --idle 10000
    python benches/serving.py PATH/TO/hexgraph --soak 600

The server is a process of its own on this machine, asked with keys: `--anonymous off`, so each request names one, and the checks of origins, admission and
memory are on. HTTP is asked by wrk, gRPC by h2load (of nghttp2) and by ghz, where it is there, all on the same cores as the server; the arguments of a query
change from call to call, but with h2load. The graph is made here: 50,000 films of 5,000 directors.
"""

import argparse
import json
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

FILMS, DIRECTORS = 50_000, 5_000
KEY = "a-key-of-a-client"
PROTO = pathlib.Path(__file__).parent.parent / "crates/server/src/http/grpc/api.proto"
SCHEMA = """
seq: int @index(int) .
title: string @index(exact) .
directed_by: [uid] @reverse .
type Film {
  seq
  title
  directed_by
}
"""
GRAPHQL = """
type Film { id: ID! seq: Int @search @dgraph(pred: "seq") title: String @dgraph(pred: "title") }
"""
# For each shape: path, type of the body, and a body in Lua, in which n changes from call to call.
SHAPES = {
    "point": ("/query", "application/dql", """'{ q(func: eq(seq, '..n..')) { seq title } }'"""),
    "two hops": (
        "/query",
        "application/dql",
        """'{ q(func: eq(seq, '..n..')) { title directed_by { title ~directed_by { title } } } }'""",
    ),
    "page by after": (
        "/query",
        "application/dql",
        """'{ q(func: type(Film), first: 10, after: '..n..') { uid title } }'""",
    ),
    "GraphQL": (
        "/graphql",
        "application/json",
        """'{"query":"query($s: Int!) { queryFilm(filter: { seq: { eq: $s } }) { title } }","variables":{"s":'..n..'}}'""",
    ),
}


class Server:
    """A server with the graph, on ports of its own, until the end of a `with`."""

    def __init__(self, program, folder):
        keys = folder / "keys"
        keys.write_text(KEY + "\n")
        (folder / "films.schema").write_text(SCHEMA)
        (folder / "films.graphql").write_text(GRAPHQL)
        with (folder / "films.rdf").open("w") as file:
            for n in range(DIRECTORS):
                file.write(f'<{FILMS + 1 + n:#x}> <title> "Director {n}" .\n')
            for n in range(FILMS):
                film, director = 1 + n, FILMS + 1 + n % DIRECTORS
                file.write(f'<{film:#x}> <seq> "{n}"^^<xs:int> .\n<{film:#x}> <title> "Film {n}" .\n')
                file.write(f'<{film:#x}> <directed_by> <{director:#x}> .\n<{film:#x}> <dgraph.type> "Film" .\n')
        named = ("--load", "films.rdf", "--schema", "films.schema", "--graphql-schema", "films.graphql")
        self.port, self.grpc_port = free_port(), free_port()
        ports = ("--port", str(self.port), "--grpc-port", str(self.grpc_port))
        command = [program, "serve", *ports, *named, "--client-key-file", "keys", "--anonymous", "off"]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{self.port}"
        answer = None
        while answer is None and self.process.poll() is None:
            try:
                answer = self.ask("{ q(func: eq(seq, 7)) { title } }")
            except OSError:
                time.sleep(0.1)
        assert answer is not None, "the server has ended"
        assert answer["data"] == {"q": [{"title": "Film 7"}]}, answer

    def ask(self, query):
        headers = {"Content-Type": "application/dql", "X-Auth-Token": KEY}
        request = urllib.request.Request(self.url + "/query", query.encode(), headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def resident(self):
        """Return the resident memory in MB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1000

    def descriptors(self):
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def asked_by_wrk(server, folder, shape, connections, seconds):
    """Return requests a second, and the median and the 99th percentile of their times in ms."""
    path, kind, body = SHAPES[shape]
    script = folder / "shape.lua"
    script.write_text(
        f'wrk.method = "POST"; wrk.headers["Content-Type"] = "{kind}"; wrk.headers["X-Auth-Token"] = "{KEY}"\n'
        f"local i = 0\n"
        f"request = function() i = i + 1; local n = 1 + i * 7919 % {FILMS - 1}; "
        f'return wrk.format(nil, "{path}", nil, {body}) end\n'
        'done = function(s, l, r) io.write(string.format("RESULT %f %f %f %d\\n", s.requests / s.duration * 1e6, '
        "l:percentile(50) / 1000, l:percentile(99) / 1000, "
        "s.errors.status + s.errors.connect + s.errors.read + s.errors.write + s.errors.timeout)) end\n"
    )
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script, server.url]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate, median, late, wrong = re.search(r"RESULT (\S+) (\S+) (\S+) (\d+)", printed).groups()
    return float(rate), float(median), float(late), int(wrong)


def asked_by_h2load(server, folder, connections, seconds):
    """The same for gRPC."""
    query = b"{ q(func: eq(seq, 77)) { seq title } }"
    message = b"\x22" + bytes([len(query)]) + query + b"\x30\x01\x38\x01"
    body, times = folder / "body", folder / "times"
    body.write_bytes(b"\x00" + len(message).to_bytes(4, "big") + message)
    times.unlink(missing_ok=True)
    headers = ["-H", "content-type: application/grpc", "-H", "te: trailers", "-H", f"auth-token: {KEY}"]
    headers += ["-H", f"x-auth-token: {KEY}"]
    url = f"http://127.0.0.1:{server.grpc_port}/api.Dgraph/Query"
    command = ["h2load", "-t1", f"-c{connections}", "-m1", f"-D{seconds}", "-d", body, f"--log-file={times}", *headers, url]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"([\d.]+) req/s", printed)[1])
    rows = [line.split("\t") for line in times.read_text().splitlines()]
    took = sorted(int(row[2]) / 1000 for row in rows)
    wrong = sum(row[1] != "200" for row in rows)
    return rate, statistics.median(took), took[len(took) * 99 // 100], wrong


def asked_by_ghz(server, connections, seconds):
    """The same by the client of gRPC for Go, which decodes what it gets."""
    query = "{ q(func: eq(seq, {{.RequestNumber}})) { seq title } }"
    data = json.dumps({"query": query, "read_only": True, "best_effort": True})
    many = ["-c", str(connections), "--connections", str(connections), "-z", f"{seconds}s", "--duration-stop", "wait"]
    metadata = json.dumps({"x-auth-token": KEY})
    what = ["--insecure", "--proto", str(PROTO), "--call", "api.Dgraph.Query", "-d", data, "-m", metadata]
    command = ["ghz", *what, *many, "--format", "json", f"127.0.0.1:{server.grpc_port}"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    times = {row["percentage"]: row["latency"] / 1e6 for row in found["latencyDistribution"]}
    wrong = found["count"] - found["statusCodeDistribution"].get("OK", 0)
    return found["rps"], times[50], times[99], wrong


def asked(server, folder, shape, connections, seconds):
    match shape:
        case "gRPC point":
            return asked_by_h2load(server, folder, connections, seconds)
        case "by ghz":
            return asked_by_ghz(server, connections, seconds)
        case _:
            return asked_by_wrk(server, folder, shape, connections, seconds)


def table(server, folder, connections, seconds):
    print(f"{'shape':15}{'connections':>12}{'a second':>10}{'p50 ms':>9}{'p99 ms':>9}{'refused':>9}{'MB':>7}")
    by_ghz = ["by ghz"] if shutil.which("ghz") else []
    for shape in [*SHAPES, "gRPC point", *by_ghz]:
        for count in connections:
            rate, median, late, wrong = asked(server, folder, shape, count, seconds)
            memory = server.resident()
            print(f"{shape:15}{count:12}{rate:10,.0f}{median:9.2f}{late:9.2f}{wrong:9}{memory:7.0f}", flush=True)


def idle(server, count):
    """Open connections that ask once and then nothing, a thousand every 2.6 seconds: after two, buffers are freed and used again."""
    memory, files = server.resident(), server.descriptors()
    head = f"POST /query HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Auth-Token: {KEY}\r\nContent-Type: application/dql\r\n"
    body = "{ q(func: eq(seq, 7)) { title } }"
    request = f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
    held = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(request)
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        held.append(connection)
        if len(held) % 1000 == 0:
            time.sleep(2.6)
    more = server.resident() - memory
    print(f"{count} idle connections: {server.resident():.0f} MB, {more:.0f} of them for the connections,", end=" ")
    print(f"{(server.descriptors() - files) / count:.3f} descriptors each")


def soak(server, folder, seconds):
    """Ask all shapes in turn at full load, and tell the memory all the while."""
    server_end = time.monotonic() + seconds
    began = time.monotonic()
    while time.monotonic() < server_end:
        for shape in SHAPES:
            asked_by_wrk(server, folder, shape, 16, 5)
        asked_by_h2load(server, folder, 16, 5)
        print(f"after {time.monotonic() - began:4.0f} s: {server.resident():.0f} MB, {server.descriptors()} descriptors", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16, 256, 2000])
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--idle", type=int)
    parser.add_argument("--soak", type=int)
    given = parser.parse_args()
    program = str(pathlib.Path(given.program).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with Server(program, folder) as server:
            if given.idle:
                idle(server, given.idle)
            elif given.soak:
                soak(server, folder, given.soak)
            else:
                table(server, folder, given.connections, given.seconds)


if __name__ == "__main__":
    main()
