"""Check that this processor can run the native module, before it is loaded.

Afterwards the system kills the process without a word. The module is compiled for x86-64-v2, as
numpy is (`.cargo/config.toml` says why); other architectures have one baseline. Systems other than
Linux that Python 3.11 runs on want at least such a processor themselves.
"""

import os

#: What x86-64-v2 has beyond the first processors of 64 bits, as Linux calls it
#: (System V ABI, AMD64 supplement, "micro-architecture levels").
NEEDED = ("cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3")


def missing(cpuinfo: str) -> list[str]:
    """Return which of `NEEDED` the first processor of a `/proc/cpuinfo` lacks.

    None where the text does not say, as that of other architectures.
    """
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            flags = value.split()
            return [flag for flag in NEEDED if flag not in flags]
    return []


def check(cpuinfo: str | os.PathLike[str] = "/proc/cpuinfo") -> None:
    """Raise `ImportError` where the native module has instructions that the processor lacks."""
    if not hasattr(os, "uname") or os.uname().machine != "x86_64":
        return
    try:
        # The import of `pathlib` is as slow as that of the native module.
        with open(cpuinfo, "rb", buffering=0) as file:
            # The first of perhaps hundreds of processors is enough.
            text = file.read(8192).decode("ascii", "replace")
    except OSError:
        return
    if lacks := missing(text):
        raise ImportError(
            f"this processor lacks {', '.join(lacks)}: hexgraph is compiled for x86-64-v2 "
            "(Intel since 2008, AMD since 2011). Compile it for this one: "
            "RUSTFLAGS=-Ctarget-cpu=native pip install --no-binary hexgraph hexgraph"
        )


check()
