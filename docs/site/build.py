"""Lays the pages of the site out and builds it: `make docs`.

Pages stay where readers of the repository look for them; a README becomes the index of its folder,
and links that leave docs/ point to the repository.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import reference

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DOCS = ROOT / "docs"
WORK = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target" / "docs").resolve()
PAGES = WORK / "pages"
HOME = "https://github.com/hexgraph/hexgraph/blob/main/"
RAW = "https://raw.githubusercontent.com/hexgraph/hexgraph/main/"
"""The addresses of pages and pictures in README, which is also read outside of the repository."""
ADDED = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "ARCHITECTURE.md": "architecture.md",
    "SECURITY.md": "security.md",
}
"""Pages of the repository's root, and their names in the site."""
REFERENCES = {
    "python/hexgraph/algo/calls.py": "reference/algorithms.md",
    "crates/python/src/database.rs": "reference/database.md",
}
"""Sources with docstrings, and the pages of the reference that are made of them."""

LINK = re.compile(r"\]\(([^)\s]+)\)")

BADGE = re.compile(r"^\[?!\[[^\]]*\]\(https://img\.shields\.io/.*\n", re.MULTILINE)
"""A badge of README: the site loads nothing from other servers."""


def page_of(path: Path) -> Path | None:
    """Return the path of a repository file in the site; None if the site does not have it."""
    inside = path.relative_to(ROOT).as_posix()
    if inside in ADDED:
        return PAGES / ADDED[inside]
    if inside in REFERENCES:
        return PAGES / REFERENCES[inside]
    if not path.is_relative_to(DOCS) or path.is_relative_to(HERE):
        return None
    page = PAGES / path.relative_to(DOCS)
    return page.with_name("index.md") if page.name == "README.md" else page


def moved(text: str, path: Path) -> str:
    """Return a page with the links as they are in the site."""

    def link(match: re.Match[str]) -> str:
        target, mark, anchor = match[1].partition("#")
        inside = target.removeprefix(HOME).removeprefix(RAW)
        if not inside or "://" in inside:
            return match[0]
        file = (path.parent / target).resolve() if inside == target else ROOT / inside
        page = page_of(file)
        if not file.exists():
            sys.exit(f"{path.relative_to(ROOT)}: {match[1]} leads nowhere")
        if page is None or not file.is_file():
            return f"]({HOME}{file.relative_to(ROOT).as_posix()}{mark}{anchor})"
        here = page_of(path)
        assert here is not None
        return f"]({relative(page, here.parent)}{mark}{anchor})"

    text = BADGE.sub("", text)
    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    has_diagrams = path.parent.name == "internals" or path.name == "ARCHITECTURE.md"
    for at, part in enumerate(parts):
        if not part.startswith("```"):
            parts[at] = LINK.sub(link, part)
        elif has_diagrams:
            parts[at] = re.sub(r"\A```(?:text)?\n", "``` { .text .diagram }\n", part)
        elif "┌" in part:
            parts[at] = re.sub(r"\A```(\w+)\n", r"``` { .\1 .diagram }\n", part)
    return "".join(parts)


def relative(page: Path, folder: Path) -> str:
    """Return the path of a page as seen from a folder."""
    ups = 0
    while not page.is_relative_to(folder):
        folder, ups = folder.parent, ups + 1
    return "../" * ups + page.relative_to(folder).as_posix()


def lay_out() -> None:
    """Copy the pages and pictures, write the reference and the settings."""
    shutil.rmtree(PAGES, ignore_errors=True)
    sources = [*(ROOT / name for name in ADDED), *sorted(DOCS.rglob("*"))]
    for path in sources:
        page = page_of(path)
        if page is None or not path.is_file():
            continue
        page.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            page.write_text(moved(path.read_text(encoding="utf-8"), path), encoding="utf-8")
        else:
            shutil.copy(path, page)
    written = [f"reference/{name}" for name in reference.write(PAGES / "reference")]
    shutil.copy(HERE / "extra.css", PAGES)
    shutil.copytree(HERE / "overrides", WORK / "overrides", dirs_exist_ok=True)
    settings = (HERE / "zensical.toml").read_text(encoding="utf-8")
    inner = sorted(f"internals/{path.name}" for path in (PAGES / "internals").glob("*.md"))
    existing = set(re.findall(r'"([\w/-]+\.md)"', settings))
    more = sorted(path.name for path in PAGES.glob("*.md") if path.name not in existing)
    for mark, names in (("MORE", more), ("REFERENCE", written), ("INTERNALS", inner)):
        settings = settings.replace(f"#{mark}#", "".join(f'"{name}", ' for name in names))
    (WORK / "zensical.toml").write_text(settings, encoding="utf-8")


def main() -> None:
    """Build the site into the folder html of the working directory."""
    lay_out()
    shutil.rmtree(WORK / "html", ignore_errors=True)
    command = [Path(sys.executable).with_name("zensical"), "build", "--clean", "--strict"]
    status = subprocess.run(command, cwd=WORK, check=False).returncode
    if status != 0:
        sys.exit(status)
    print(f"open {WORK / 'html' / 'index.html'}")


if __name__ == "__main__":
    main()
