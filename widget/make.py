"""Makes the front ends: `make widget`. Needs node 20 or later, and npm.

    python widget/make.py [FOLDER]

It checks the types, and writes the bundles: that of the live view into the package, those of the
console and of GraphiQL into the server; or all of them into a folder. Then it notes in
`bundle.sha256` the hashes of what went in and of what came out. What is in the bundle of the live
view is of this folder alone: no library, so that its licence is that of the package. sigma and
graphology, with which it was tried, are 155 kB (38 kB compressed); the whole bundle is a sixth of
that. The bundles of the console have libraries in them, whose licences stand in `licenses.txt`.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "python" / "hexgraph" / "pictures" / "static"
SERVER = HERE.parent / "crates" / "server" / "assets" / "console"
HASHES = HERE / "bundle.sha256"
CONSOLE = (
    "console.css",
    "console.js",
    "graphiql.css",
    "graphiql.html",
    "graphiql.js",
    "index.html",
    "licenses.txt",
)


def made(package: Path = PACKAGE, server: Path = SERVER) -> list[Path]:
    """Return the files that are made."""
    return [package / "graph.js", *(server / name for name in CONSOLE)]


def hashes(files: list[Path]) -> str:
    """Return the hashes of the sources and of the files that were made, one a line."""
    names = ("package.json", "package-lock.json", "build.mjs", "tsconfig.json")
    folders = [*(HERE / "src").iterdir(), *(HERE / "console").iterdir()]
    digest = hashlib.sha256()
    for path in [*(HERE / name for name in names), *sorted(folders)]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    lines = [f"{digest.hexdigest()}  sources"]
    lines += [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in files]
    return "".join(f"{line}\n" for line in lines)


def bundle(package: Path, server: Path) -> list[Path]:
    """Write the bundles into two folders, and return their paths."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("make widget needs npm, which is not installed")
    subprocess.run([npm, "ci", "--ignore-scripts", "--prefer-offline"], cwd=HERE, check=True)
    subprocess.run([npm, "run", "--silent", "check"], cwd=HERE, check=True)
    for folder in (package, server):
        folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "run", "--silent", "bundle", "--", package.resolve(), server.resolve()]
    subprocess.run(command, cwd=HERE, check=True)
    return made(package, server)


def main() -> None:
    """Make the bundles."""
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        bundle(folder, folder)
    else:
        HASHES.write_text(hashes(bundle(PACKAGE, SERVER)))


if __name__ == "__main__":
    main()
