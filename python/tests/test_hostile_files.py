"""Small files that become large ones: an error, or a load within its memory."""

import subprocess
import sys
import zlib

import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("peaks of memory are read as Linux reports them", allow_module_level=True)

MIB = 1 << 20
LOAD = """
import resource, sys, hexgraph
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
db = hexgraph.connect()

def peak():
    # That of getrusage begins with the peak of the process before `exec`.
    with open("/proc/self/status") as lines:
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])

before = peak()
try:
    print(db.load_nodes(sys.argv[1], "T", id=None, memory="100MB").nodes)
except hexgraph.Error as error:
    print(type(error).__name__, error)
print((peak() - before) // 1024)
"""


def load(path):
    """Return what a load in a process of its own reports, and by how many MiB the process grew."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD, path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    *lines, grown = done.stdout.splitlines()
    return " ".join(lines), int(grown)


def packed(path, start, fill, mib, end=b""):
    """Write a file of gzip with so many MiB of the same bytes."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    with path.open("wb") as file:
        file.write(packer.compress(start))
        block = fill * (MIB // len(fill))
        for _ in range(mib):
            file.write(packer.compress(block))
        file.write(packer.compress(end) + packer.flush())


@pytest.mark.parametrize(
    ("start", "fill", "expected"),
    [
        (b"id,a\n1,", b"x", ".csv.gz:2:1: a record begins here that is longer than 67108864 bytes"),
        (b"", b"x", ".csv.gz:1:1: the first record begins here, and is longer than 16777216 bytes"),
        (b'id,a\n1,2\n2,"x\n', b"x\n", ".csv.gz:3:1: a record begins here that is longer than"),
        (b"id,a\n" + b"1,2\n" * 100_000 + b"3,", b"x", ".csv.gz:100002:1: a record begins here"),
        (b"", b",", ".csv.gz:1:1: a record begins here that has more than 65536 fields"),
        (b"a,b\n1,2\n", b",", ".csv.gz:3:1: a record begins here that has more than 65536 fields"),
    ],
    ids=["cell", "header", "quote", "late cell", "header of columns", "fields"],
)
def test_records_without_an_end(tmp_path, start, fill, expected):
    path = tmp_path / "a.csv.gz"
    packed(path, start, fill, 1500)
    assert path.stat().st_size < 8 * MIB
    result, grown = load(path)
    assert expected in result
    assert grown < 400, f"{grown} MiB"


def test_long_records_are_read_a_few_at_a_time(tmp_path):
    path = tmp_path / "a.csv.gz"
    packed(path, b"a\n", b"y" * (MIB // 2 - 1) + b"\n", 200)
    result, grown = load(path)
    assert result == "400"
    assert grown < 800, f"{grown} MiB"


def test_a_header_may_be_longer_than_the_sample(tmp_path):
    hexgraph = pytest.importorskip("hexgraph")
    columns = [f"column_with_a_long_name_{number:05}" for number in range(20_000)]
    path = tmp_path / "a.csv"
    path.write_text(",".join(columns) + "\n" + ",".join("7" for _ in columns) + "\n")
    names = {"column_with_a_long_name_00003": "x", "column_with_a_long_name_19999": "y"}
    names = dict.fromkeys(columns) | names
    db = hexgraph.connect()
    assert db.load_nodes(path, "T", id=None, columns=names).nodes == 1
    assert db.query("{ q(func: has(x)) { x y } }").rows() == [(7, 7)]


def large_page(pa):
    """A text of 300 MB."""
    return pa.table({"a": ["x" * 300_000_000]}), {"use_dictionary": False}


def large_dictionary_entry(pa):
    """A text of 1 MB for each of 3,000 rows, once in the file."""
    keys = pa.array([0] * 3000, pa.int32())
    return pa.table({"a": pa.DictionaryArray.from_arrays(keys, pa.array(["x" * 1_000_000]))}), {}


def large_list(pa):
    """A list of 60 million times the same number."""
    items = pa.nulls(60_000_000, pa.int64()).fill_null(7)
    return pa.table(
        {"a": pa.ListArray.from_arrays(pa.array([0, len(items)], pa.int32()), items)}
    ), {
        "data_page_size": 1 << 30,
    }


def common_prefixes(pa):
    """Texts that each have the prefix of the one before: 300 of 1 MB."""
    texts = [f"{'x' * 1_000_000}{number}" for number in range(300)]
    options = {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}}
    return pa.table({"a": texts}), options


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (large_page, "LimitError row 0 of row group 0"),
        (large_dictionary_entry, None),
        (large_list, "LimitError"),
        (common_prefixes, "300"),
    ],
)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_parquet_pages_that_become_large(tmp_path, make, expected, version):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    table, options = make(pa)
    pq.write_table(table, path, compression="zstd", data_page_version=version, **options)
    assert path.stat().st_size < 2 * MIB
    result, grown = load(path)
    assert expected is None or result.startswith(expected), result
    assert grown < 1000, f"{grown} MiB: {result}"
