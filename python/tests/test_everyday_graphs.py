"""Graphs that people have at hand: packages of a distribution, and the history of a repository.

Each is loaded without a helper column, and compared with what plain Python and git count.
"""

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

PACKAGES = """\
Package: app
Version: 1.2-1
Installed-Size: 120
Section: utils
Depends: libc6 (>= 2.36), libapp | libapp-compat (>= 1.0),
 python3:any
Description: An application
 with a long text

Package: libapp
Version: 1.2-1
Section: libs
Depends: libc6

Package: libc6
Version: 2.36-9
Installed-Size: 12988
Section: libs
"""


def packages_of(text: str) -> tuple[list[dict[str, object]], list[dict[str, str]]]:
    """The packages of a control file, and what each depends on; of alternatives the first."""
    packages, depends = {}, []
    for paragraph in text.split("\n\n"):
        fields: dict[str, str] = {}
        last = ""
        for line in paragraph.splitlines():
            if line[:1] in " \t":
                fields[last] += line.strip()
                continue
            last, _, value = line.partition(":")
            fields[last] = value.strip()
        if "Package" not in fields or fields["Package"] in packages:
            continue
        size = fields.get("Installed-Size")
        packages[fields["Package"]] = {
            "Package": fields["Package"],
            "Version": fields.get("Version"),
            "Section": fields.get("Section"),
            "Installed-Size": int(size) if size else None,
        }
        names = [part.split("|")[0].split("(")[0] for part in fields.get("Depends", "").split(",")]
        names = [name.strip().split(":")[0] for name in names]
        depends += [
            {"from": fields["Package"], "to": name} for name in dict.fromkeys(names) if name
        ]
    return list(packages.values()), depends


def installed() -> str:
    """The packages that are installed here, or those of the sample."""
    status = Path("/var/lib/dpkg/status")
    return status.read_text(encoding="utf-8") if status.is_file() else PACKAGES


@pytest.mark.parametrize("read", [lambda: PACKAGES, installed], ids=["sample", "installed"])
def test_packages_of_a_distribution(db, read):
    packages, depends = packages_of(read())
    existing = {package["Package"] for package in packages}
    unknown = {edge["to"] for edge in depends} - existing

    report = db.load_nodes(packages, "Package", id="Package")
    assert (report.nodes, report.new_nodes) == (len(packages), len(packages))
    report = db.load_edges(depends, "depends", "from", "to")
    assert (report.new_nodes, report.untyped, report.repeated) == (len(unknown), 0, 0)
    assert "leads to Package" in str(report), "the type has the edge as a field"
    assert db.query("{ q(func: has(Installed-Size)) { s as Installed-Size } t() { sum(val(s)) } }")[
        "t"
    ] == [{"sum(val(s))": sum(package["Installed-Size"] or 0 for package in packages)}]

    counted = db.query("{ q(func: type(Package)) { count(uid) } }").rows()
    assert counted == [(len(existing | unknown),)], (
        "what is named by others alone is a package, too"
    )
    used = Counter(edge["to"] for edge in depends)
    db.index("depends", "reverse")
    query = "{ q(func: has(~depends)) { Package count(~depends) } }"
    assert dict(db.query(query).rows()) == dict(used)

    # What comes along with one package, at any distance.
    below: dict[str, list[str]] = {}
    names = [packages[0]["Package"]]
    for edge in depends:
        below.setdefault(edge["from"], []).append(edge["to"])
    visited = set(names)
    for name in names:
        new = [to for to in below.get(name, []) if to not in visited]
        visited.update(new)
        names += new
    query = """query q($name: string) {
        var(func: eq(Package, $name)) @recurse { all as uid depends }
        q(func: uid(all)) { Package }
    }"""
    rows = db.query(query, {"$name": names[0]}).rows()
    assert {name for (name,) in rows} == visited


def git(*arguments: str) -> str:
    """What git prints about the repository of these tests."""
    folder = Path(__file__).parent
    run = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False)
    if run.returncode:
        pytest.skip(run.stderr.decode(errors="replace"))
    return run.stdout.decode(errors="replace")


def test_the_history_of_a_repository(db):
    if not shutil.which("git"):
        pytest.skip("there is no git")
    lines = git("log", "-n", "3000", "--format=%H%x09%an%x09%at%x09%P%x09%s").split("\n")
    fields = [line.split("\t", 4) for line in lines if line]
    commits = [
        {
            "hash": commit,
            "time": int(time),
            "author": author,
            "parents": parents.split(),
            "title": title,
        }
        for commit, author, time, parents, title in fields
    ]
    if not any(commit["parents"] for commit in commits):
        pytest.skip("the history is one commit")
    endpoints = {"author": ("by", "Author", "name"), "parents": "Commit.hash"}
    report = db.load_nodes(commits, "Commit", id="hash", edges=endpoints)
    existing = {commit["hash"] for commit in commits}
    beyond = {parent for commit in commits for parent in commit["parents"]} - existing
    authors = Counter(commit["author"] for commit in commits)
    assert report.new_nodes == len(commits) + len(beyond) + len(authors)
    assert (report.lost, report.untyped, report.warnings) == (0, 0, [])

    db.index("by", "reverse")
    rows = db.query("{ q(func: type(Author)) { name count(~by) } }").rows()
    assert dict(rows) == dict(authors)
    first = commits[0]["hash"]
    # `@recurse` stops at a depth, which this history exceeds; the message names the search.
    distances = db.algo.bfs("parents", source=f'eq(hash, "{first}")').to_dict()
    assert len(distances) == len(existing | beyond)
    merges = sum(len(commit["parents"]) > 1 for commit in commits)
    query = "{ q(func: has(parents)) @filter(ge(count(parents), 2)) { count(uid) } }"
    rows = db.query(query).rows()
    assert rows == [(merges,)]
