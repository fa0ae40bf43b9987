#!/usr/bin/env python3
"""Time the film queries over HTTP beside the figures recorded from Dgraph.

  beside_dgraph.py [--url http://127.0.0.1:8080] [--runs 200] [--connections 1,4,16]

Needs a server with the film data (`hexgraph serve --load film.rdf.gz --schema film.schema`) and
`../shared/bench`. Compared is server time with server time: the sum that each engine itself gives
in `extensions.server_latency`. Prints a Markdown table.
"""

import argparse
import http.client
import json
import os
import re
import statistics
import threading
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("HEXGRAPH_SHARED", os.path.join(HERE, "../../../shared"))
TARGETS = {
    "groupby_year_all": 100,
    "sort_2keys_offset": 100,
    "agg_all": 500,
    "count_filtered": 500,
    "page_has_offset_deep": 1000,
}


def recorded():
    """The reference's figures by query: client and server milliseconds, medians."""
    figures = {}
    with open(f"{SHARED}/bench/README.md", encoding="utf8") as text:
        for line in text:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) == 7 and all(re.fullmatch(r"[\d.]+", cell) for cell in cells[1:]):
                figures[cells[0]] = (float(cells[1]), float(cells[4]))
    return figures


class Client:
    def __init__(self, url):
        at = urllib.parse.urlparse(url)
        self.connection = http.client.HTTPConnection(at.hostname, at.port, timeout=60)

    def ask(self, query):
        headers = {"Content-Type": "application/dql"}
        self.connection.request("POST", "/query", query.encode(), headers)
        return self.connection.getresponse().read()


def time_query(client, query, runs):
    """Median client and server milliseconds of a query."""
    client_times, server_times = [], []
    for _ in range(runs):
        started = time.perf_counter()
        body = client.ask(query)
        client_times.append((time.perf_counter() - started) * 1e3)
        reply = json.loads(body)
        if reply.get("errors"):
            raise SystemExit(f"{query}: {reply['errors']}")
        server_times.append(reply["extensions"]["server_latency"]["total_ns"] / 1e6)
    return statistics.median(client_times), statistics.median(server_times)


def throughput(url, query, connections, seconds=2.0):
    """Requests per second over so many connections, each in a thread."""
    counts = [0] * connections
    end = time.perf_counter() + seconds

    def work(place):
        client = Client(url)
        while time.perf_counter() < end:
            client.ask(query)
            counts[place] += 1

    threads = [threading.Thread(target=work, args=(place,)) for place in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--connections", default="1,4,16")
    options = parser.parse_args()
    figures = recorded()
    with open(f"{SHARED}/bench/film_queries.jsonl", encoding="utf8") as lines:
        cases = [json.loads(line) for line in lines if line.strip()]
    client = Client(options.url)
    print("| query | client ms | server ms | Dgraph server ms | times faster | wanted | reached |")
    print("|---|--:|--:|--:|--:|--:|---|")
    for case in cases:
        name = case["id"]
        client_ms, server_ms = time_query(client, case["query"], options.runs)
        reference = figures[name][1]
        wanted = TARGETS.get(name, 20)
        ratio = reference / server_ms
        reached = "yes" if wanted <= ratio else "**no**"
        print(f"| {name} | {client_ms:.3f} | {server_ms:.4f} | {reference} | {ratio:.0f} | {wanted} | {reached} |")
    queries = {case["id"]: case["query"] for case in cases}
    for name in ("point_eq_name_lang", "term_any", "hop1_filter"):
        rates = [
            f"{throughput(options.url, queries[name], int(count)):.0f}"
            for count in options.connections.split(",")
        ]
        print(f"requests/s of {name} with {options.connections} connections: {' / '.join(rates)}")


if __name__ == "__main__":
    main()
