"""Checks the built site and the pages behind it: links, anchors, what is loaded, spelling.

`make docs-check` runs it. Each fault is a line, and the exit status is 1 when there is one.
"""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WORK = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target" / "docs").resolve()
HTML = WORK / "html"
BASE = "/hexgraph/"
"""The path of the site's address; links of its error page begin with it."""

SPELLED = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "docs",
    "benches/README.md",
]


class Page(HTMLParser):
    """The links of a page, what it loads, and the anchors that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, loads or names."""
        given = {name: value for name, value in attrs if value}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(given.get("href", ""))
        elif tag in ("script", "img", "iframe") and "src" in given:
            self.loaded.append(given["src"])


def read(path: Path) -> Page:
    """Return the links and anchors of a page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def target_of(path: Path, link: str) -> Path:
    """Return the target file of a link within the site."""
    page = unquote(urlsplit(link).path)
    if page.startswith("/"):
        file = HTML / page.removeprefix(BASE).lstrip("/")
    else:
        file = (path.parent / page).resolve() if page else path
    return file / "index.html" if file.is_dir() else file


def faults_of_links(pages: dict[Path, Page]) -> list[str]:
    """Return the links that lead nowhere, and what pages load from elsewhere."""
    faults = []
    for path, page in pages.items():
        where = path.relative_to(HTML)
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded:
                    faults.append(f"{where}: loads {link} from another server")
                continue
            file = target_of(path, link)
            anchor = unquote(urldefrag(link).fragment)
            if not file.is_file():
                faults.append(f"{where}: {link} leads nowhere")
            elif anchor and file in pages and anchor not in pages[file].anchors:
                faults.append(f"{where}: {link} has no such heading")
    return faults


def faults_of_navigation() -> list[str]:
    """Return the pages that the navigation does not have."""
    settings = (WORK / "zensical.toml").read_text(encoding="utf-8")
    names = [path.relative_to(WORK / "pages").as_posix() for path in WORK.glob("pages/**/*.md")]
    return [f"{name}: the navigation lacks it" for name in names if f'"{name}"' not in settings]


def faults_of_spelling() -> list[str]:
    """Return the words that are common misspellings; words.txt has those that are right here."""
    command = [Path(sys.executable).with_name("codespell"), "--ignore-words", HERE / "words.txt"]
    # Codes in capitals, such as those of airports, are no words.
    skipped = ["--skip", "*.svg,*.png,*.css,*.toml,*.rs,*.py", "--ignore-regex", r"\b[A-Z]{2,4}\b"]
    run = subprocess.run(
        [*command, *skipped, *SPELLED], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert not run.stderr, run.stderr
    return run.stdout.splitlines()


def main() -> int:
    """Print the faults; return the exit status."""
    pages = {path.resolve(): read(path) for path in HTML.glob("**/*.html")}
    assert pages, f"{HTML} has no page: run build.py first"
    faults = [*faults_of_links(pages), *faults_of_navigation(), *faults_of_spelling()]
    print("\n".join(faults) or f"{len(pages)} pages: no fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
