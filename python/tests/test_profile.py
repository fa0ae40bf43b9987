"""What `db.profile()` reports of values, compared with what was stored."""

import re

import pytest

import hexgraph


@pytest.fixture
def shop(tmp_path):
    with hexgraph.connect(tmp_path / "shop") as db:
        db.alter("name: string @lang .\ntags: [string] .\nbuys: [uid] @reverse .\nempty: int .")
        rows = [
            {"id": n, "kind": "abc"[n % 3], "price": n / 2, "sold": f"2024-01-{n + 1:02}"}
            for n in range(12)
        ]
        db.load_nodes(rows, "Item", types={"sold": "datetime"})
        db.load_nodes([{"id": n, "tags": ["x", "y"]} for n in range(100, 104)], "Buyer")
        edges = [
            {"from": buyer, "to": item} for buyer in range(100, 103) for item in range(buyer - 99)
        ]
        db.load_edges(edges, "buys", on="id")
        yield db


def rows_of(table):
    return {row[0]: dict(zip(table.column_names, row, strict=True)) for row in table.rows()}


def test_values(shop):
    report = rows_of(shop.profile().predicates)
    kind = report["kind"]
    assert (kind["types"], kind["nodes"], kind["coverage"]) == (["Item"], 12, 1.0)
    assert (kind["values"], kind["distinct"]) == (12, 3)
    assert (kind["least"], kind["greatest"], kind["mean"]) == ("a", "c", None)
    assert sorted(kind["common"]) == ["a (4)", "b (4)", "c (4)"]
    price = report["price"]
    assert (price["least"], price["greatest"], price["mean"]) == ("0", "5.5", "2.75")
    assert price["histogram"] == [1] * 12
    sold = report["sold"]
    assert (sold["least"], sold["greatest"]) == ("2024-01-01", "2024-01-12")
    assert sum(sold["histogram"]) == 12
    # Values of lists are counted, not grouped; what nobody has is there, too.
    assert (report["tags"]["nodes"], report["tags"]["distinct"]) == (4, None)
    assert (report["empty"]["nodes"], report["empty"]["coverage"]) == (0, None)


def test_degrees_memory_and_disk(shop):
    report = shop.profile()
    degrees = rows_of(report.degrees)
    assert degrees["buys"] == {
        "predicate": "buys",
        "nodes": 3,
        "edges": 6,
        "mean": 2.0,
        "median": 2,
        "most": 3,
    }
    assert (degrees["~buys"]["nodes"], degrees["~buys"]["most"]) == (3, 3)
    memory = rows_of(report.memory)["buys"]
    assert memory["values"] > 0
    assert memory["reverse"] > 0
    assert (
        sum(memory[part] for part in ("values", "indexes", "reverse", "facets")) == memory["bytes"]
    )
    assert sum(row["bytes"] for row in rows_of(report.disk).values()) > 0


def test_how_it_is_shown(shop):
    report = shop.profile()
    text = repr(report)
    assert text.startswith("predicates\n  predicate  definition")
    assert "100%" in text
    assert "disk" in text
    html = report._repr_html_()
    assert html.count("<svg") == 2 + 3
    assert "a (4)<br>" in html
    # What is reported of a predicate is in one cell, so that the pictures are on the page, too.
    head = re.findall(r"<th [^>]*>(.*?)</th>", html)[:6]
    assert head == ["predicate", "nodes", "distinct", "least, greatest", "histogram", "common"]
    assert re.search(r"<b>id</b><br><small[^>]*>\w+</small><br><small[^>]*>@index\(", html)
    assert re.search(r"100% of \w+", html)
    assert html.count("overflow-x: auto") == len(report._parts())
    assert len(report.to_pandas()) == len(report.predicates)


def test_some_of_it(shop):
    assert list(rows_of(shop.profile("Buyer", "kind").predicates)) == ["id", "tags", "buys", "kind"]
    with pytest.raises(hexgraph.SchemaError, match="knd"):
        shop.profile("knd")
    assert repr(hexgraph.connect().profile()) == "there are no predicates"
