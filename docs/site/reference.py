"""Writes the Python reference: a page for each kind of thing, from signatures and docstrings."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

import hexgraph
from hexgraph.algo import AlgorithmResult, Algorithms

STUB = ast.parse((Path(hexgraph.__file__).parent / "_native.pyi").read_text(encoding="utf-8"))

PAGES = {
    "database": ("Database", ["connect", "Database"]),
    "results": ("Results", ["Result", "ArrowTable", "Answers", "Explanation", "Pages"]),
    "transactions": ("Transactions", ["Txn", "Upsert"]),
    "algorithms": ("Algorithms", ["Algorithms", "AlgorithmResult"]),
    "reports": ("Reports", ["LoadReport", "SchemaReport"]),
    "files": ("Files", ["sniff", "Sniffed"]),
    "serving": ("Serving", ["Server", "Subscription", "ApiKey"]),
    "errors": ("Errors", []),
}
"""The pages, with their titles and names. Errors find their page, and so do names of no page."""

INNER = {"Algorithms": Algorithms, "AlgorithmResult": AlgorithmResult}
"""What the package does not name itself: `db.algo` and what its functions give."""

WIDTH = 88
"""Columns of a signature, before it has an argument a line."""

UNKNOWN = "other"
"""The parameter that collects unknown arguments for an error with a hint. It is not shown."""

MODULES = re.compile(r"\b(?:collections\.abc|typing|hexgraph(?:\._native)?)\.(?=[A-Z])")
"""Modules in front of the names of types, which are not shown."""

SHOWN = ("__getitem__", "__len__", "__iter__", "__arrow_c_stream__")
"""The methods with underscores that a reader has to know."""


def write(folder: Path) -> list[str]:
    """Write all pages into a folder; return the names of the files in their order."""
    placed = {name for _, names in PAGES.values() for name in names}
    others = [name for name in hexgraph.__all__ if name not in placed and name != "__version__"]
    is_error = {name: is_exception(named(name)) for name in others}
    more = [name for name in others if not is_error[name]]
    pages = {page: (title, list(names)) for page, (title, names) in PAGES.items()}
    pages["errors"][1].extend(name for name in others if is_error[name])
    if more:
        pages["more"] = ("More", more)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.md").write_text(overview(pages), encoding="utf-8")
    for page, (title, names) in pages.items():
        parts = [f"# {title}\n", *(section(name, named(name)) for name in names)]
        (folder / f"{page}.md").write_text("\n".join(parts), encoding="utf-8")
    return ["index.md", *(f"{page}.md" for page in pages)]


def named(name: str) -> Any:
    """Return the object with a name of a page."""
    return INNER[name] if name in INNER else getattr(hexgraph, name)


def is_exception(value: Any) -> bool:
    """Whether a name is a class of errors."""
    return isinstance(value, type) and issubclass(value, BaseException)


def overview(pages: dict[str, tuple[str, list[str]]]) -> str:
    """Return the page that lists all names, each with its first sentence."""
    lines = ["# Python reference", "", "From the docstrings; `help(name)` has the same.", ""]
    lines += ["| name | what it is |", "| --- | --- |"]
    for page, (_, names) in pages.items():
        for name in names:
            first = inspect.getdoc(named(name)) or ""
            sentence = " ".join(first.split("\n\n")[0].split()).replace("|", "\\|")
            lines.append(f"| [`{name}`]({page}.md#{name.lower()}) | {sentence} |")
    return "\n".join(lines) + "\n"


def section(name: str, value: Any) -> str:
    """Return what there is to say of a class, a function or a module."""
    parts = [f"## {name}\n"]
    if inspect.isfunction(value):
        parts.append(fenced(signature_of(name, value)[0]))
    elif is_exception(value):
        parts.append(fenced(f"class {name}({value.__bases__[0].__name__})"))
    parts.append(markdown(inspect.getdoc(value) or ""))
    if isinstance(value, type) and not is_exception(value):
        parts.extend(members(name, value))
    if inspect.ismodule(value):
        for inner in getattr(value, "__all__", []):
            parts.extend(function(f"{name}.{inner}", getattr(value, inner)))
    return "\n".join(parts)


def members(name: str, owner: type) -> list[str]:
    """Return a section for each public member of a class that has something to say."""
    stubs = stubs_of(owner.__name__)
    parts = []
    for member in [*stubs, *(name for name in vars(owner) if name not in stubs)]:
        if member.startswith("_") and member not in SHOWN:
            continue
        value = inspect.getattr_static(owner, member, None)
        text = inspect.getdoc(getattr(owner, member, None)) if value is not None else None
        if text:
            # Names such as `__len__` are no emphasis.
            heading = member.replace("__", "\\_\\_")
            parts.append(f"### {name}.{heading}\n")
            parts.append(fenced("\n".join(stubs.get(member) or signature_of(member, value))))
            parts.append(markdown(text))
    return parts


def function(name: str, value: Any) -> list[str]:
    """Return the section of a function, or of a class, of a module."""
    text = inspect.getdoc(value)
    if not text:
        return []
    return [f"### {name}\n", fenced(signature_of(name, value)[0]), markdown(text)]


def stubs_of(name: str) -> dict[str, list[str]]:
    """Return the signatures of a class of the extension by member, as the type stubs have them."""
    signatures: dict[str, list[str]] = {}
    for node in STUB.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for member in node.body:
                if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                    signatures.setdefault(member.name, []).append(signature(member))
    return signatures


def signature(member: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return a signature as one reads it: without `self`, a property without brackets."""
    returns = f" -> {ast.unparse(member.returns)}" if member.returns else ""
    if any(ast.unparse(mark) == "property" for mark in member.decorator_list):
        return f"{member.name}: {ast.unparse(member.returns) if member.returns else 'Any'}"
    member.args.args = [given for given in member.args.args if given.arg not in ("self", "cls")]
    if member.args.kwarg and member.args.kwarg.arg == UNKNOWN:
        member.args.kwarg = None
    is_async = "await " if isinstance(member, ast.AsyncFunctionDef) else ""
    return wrapped(f"{is_async}{member.name}", ast.unparse(member.args), returns)


def signature_of(member: str, value: Any) -> list[str]:
    """Return the signature of a member that is written in Python."""
    if isinstance(value, property):
        return [member]
    try:
        text = str(plain(inspect.signature(value)))
    except (TypeError, ValueError):
        return [member]
    arguments, arrow, returns = text[1:].rpartition(") -> ")
    if not arrow:
        arguments, returns = text[1:-1], ""
    return [wrapped(member, arguments, arrow[1:] + returns)]


class Raw(NamedTuple):
    """An annotation as text, shown without the quotes."""

    text: str

    def __repr__(self) -> str:
        return self.text


def plain(signature: inspect.Signature) -> inspect.Signature:
    """Return a signature without `self`, and without quotes around what annotations are."""

    def shown(annotation: Any) -> Any:
        return Raw(annotation) if isinstance(annotation, str) else annotation

    given = [p.replace(annotation=shown(p.annotation)) for p in signature.parameters.values()]
    given = [parameter for parameter in given if parameter.name not in ("self", UNKNOWN)]
    return signature.replace(parameters=given, return_annotation=shown(signature.return_annotation))


def wrapped(name: str, arguments: str, returns: str) -> str:
    """Return a signature with an argument a line, where it is long."""
    short = f"{name}({arguments}){returns}"
    if len(short) <= WIDTH:
        return short
    depth, cuts, begin = 0, [], 0
    for at, letter in enumerate(arguments):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            cuts.append(arguments[begin:at].strip())
            begin = at + 1
    cuts.append(arguments[begin:].strip())
    return f"{name}(\n" + "".join(f"    {cut},\n" for cut in cuts) + f"){returns}"


def fenced(code: str) -> str:
    """Return code of Python as a block."""
    return f"```python\n{MODULES.sub('', code)}\n```\n"


def markdown(docstring: str) -> str:
    """Return a docstring with its sessions as blocks of code."""
    lines: list[str] = []
    is_session = False
    for line in docstring.splitlines():
        begins = line.startswith(">>> ")
        if begins and not is_session:
            lines += [*([""] if lines and lines[-1] else []), "```pycon"]
            is_session = True
        elif is_session and not line.strip():
            lines.append("```")
            is_session = False
        lines.append(line)
    text = "\n".join([*lines, *(["```"] if is_session else [])])
    # One session that blank lines had parted stays one.
    return re.sub(r"```\n\n```pycon\n", "\n", text) + "\n"
