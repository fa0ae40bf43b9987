"""Makes the front end of the live view: `make widget`. Needs node 20 or later, and npm.

    python widget/make.py [FOLDER]

It checks the types, and writes the bundle into the package, or into a folder; then it notes in
`bundle.sha256` the hashes of what went in and of what came out. What is in the bundle is of this
folder alone: no library, so that its licence is that of the package. sigma and graphology, with
which it was tried, are 155 kB (38 kB compressed); the whole bundle is a sixth of that.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "python" / "hexgraph" / "pictures" / "static"
HASHES = HERE / "bundle.sha256"


def hashes(bundle: Path) -> str:
    """Return the hashes of the sources and of a bundle, one a line."""
    sources = [HERE / "package.json", HERE / "package-lock.json", *sorted((HERE / "src").iterdir())]
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    made = hashlib.sha256(bundle.read_bytes()).hexdigest()
    return f"{digest.hexdigest()}  sources\n{made}  graph.js\n"


def bundle(folder: Path) -> Path:
    """Write the bundle into a folder, and return its path."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("make widget needs npm, which is not installed")
    subprocess.run([npm, "ci", "--ignore-scripts", "--prefer-offline"], cwd=HERE, check=True)
    subprocess.run([npm, "run", "--silent", "check"], cwd=HERE, check=True)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder.resolve() / "graph.js"
    command = [npm, "run", "--silent", "bundle", "--", f"--outfile={target}"]
    subprocess.run(command, cwd=HERE, check=True)
    return target


def main() -> None:
    """Make the bundle."""
    if len(sys.argv) > 1:
        bundle(Path(sys.argv[1]))
    else:
        HASHES.write_text(hashes(bundle(PACKAGE)))


if __name__ == "__main__":
    main()
