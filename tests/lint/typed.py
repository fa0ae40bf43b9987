"""Checks types as editors show them: of the package, and of the examples in the documents.

mypy has checked the package already; this is the other checker, whose answers people see in their
editor, and the examples are what they type. Each page becomes a file with its Python at the lines
where it stands in the page, so that an error names the line of the page.

    python tests/lint/typed.py
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SAMPLE = "import hexgraph; db = hexgraph.datasets.films()"
"""What pages ask that make no database of their own, and what each page begins with."""

# Their libraries have no types, or have them wrong: networkx and scipy as of 3.5 and 1.17, ladybug.
UNTYPED = ["python/hexgraph/networkx"]
UNTYPED_PAGES = {"docs/networkx.md", "docs/from-kuzu.md"}

SETTINGS = {
    "typeCheckingMode": "standard",
    "pythonVersion": "3.11",
    "extraPaths": [str(ROOT / "python")],
    # Untyped packages are those that are not installed everywhere.
    "reportMissingModuleSource": False,
    "reportMissingImports": False,
}


def program_of(text: str) -> str:
    """Return the Python of a page at the lines where it stands."""
    lines = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        first = text[: block.start(1)].count("\n")
        for number, line in enumerate(block[1].splitlines()):
            lines[first + number] = line
    # The first line of a page is its title. That a page makes what it asks, where it is no query
    # of the sample, is what the tests see that run it.
    lines[0] = SAMPLE
    return "\n".join(lines)


def check(folder: Path, settings: dict[str, object]) -> int:
    """Check what the settings include, and print what is wrong; 0 where nothing is."""
    path = folder / "pyrightconfig.json"
    path.write_text(json.dumps({**SETTINGS, **settings}))
    command = [sys.executable, "-m", "basedpyright", "-p", str(path), "--level", "error"]
    command += ["--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout.replace(f"{folder}/", "").strip(), done.stderr.strip())
    return done.returncode


def main() -> int:
    """Check the package and the pages."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for page in PAGES:
            place = str(page.relative_to(ROOT))
            text = page.read_text()
            if BLOCK.search(text) and place not in UNTYPED_PAGES:
                target = folder / "pages" / f"{place}.py"
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(program_of(text))
        ignored = [str(ROOT / one) for one in UNTYPED]
        package = {"include": [str(ROOT / "python" / "hexgraph")], "ignore": ignored}
        return check(folder, package) or check(folder, {"include": [str(folder / "pages")]})


if __name__ == "__main__":
    sys.exit(main())
