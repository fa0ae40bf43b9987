"""Checks that nothing asks for a newer Rust than `rust-version` in Cargo.toml promises.

Each library says from which Rust on it compiles; `cargo metadata` tells. For our own code there is
clippy's lint `incompatible_msrv`, and, where rustup has that Rust, a check with it.
"""

import json
import subprocess
import sys


def main() -> int:
    """Print who needs a newer Rust, and return how the check went."""
    command = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    packages = told["packages"]
    promised = next(p["rust_version"] for p in packages if p["name"] == "hexgraph")
    newer = [p for p in packages if numbers(p["rust_version"] or "1") > numbers(promised)]
    for package in newer:
        name, version, needs = package["name"], package["version"], package["rust_version"]
        print(f"{name} {version} needs Rust {needs}; Cargo.toml promises {promised}")
    if newer:
        return 1
    toolchains = subprocess.run(
        ["rustup", "toolchain", "list"], check=False, capture_output=True, text=True
    ).stdout
    if any(line.startswith(f"{promised}") for line in toolchains.splitlines()):
        check = ["cargo", f"+{promised}", "check", "--locked"]
        return subprocess.run(check, check=False).returncode
    print(f"Rust {promised}: no library needs a newer one; that Rust itself is not installed here")
    return 0


def numbers(version: str) -> tuple[int, ...]:
    """Return 1.90 as (1, 90, 0)."""
    parts = [int(part) for part in version.split(".")]
    return tuple(parts + [0] * (3 - len(parts)))


if __name__ == "__main__":
    sys.exit(main())
