"""Files of the package, and of the front end of live views, import each other in one direction."""

import ast
import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "python" / "hexgraph"
WIDGET = REPOSITORY / "widget" / "src"

Imports = dict[str, set[str]]
"""For each file the files that it imports."""


def imports_of(sources: dict[str, str]) -> Imports:
    """Return what modules import of each other, by the texts of the modules.

    Imports inside functions and for types count: files that need them are read together, too. A
    package hands names on, so its `__init__` is passed through to the module that has the name.
    """
    packages = {name for name in sources if any(it.startswith(f"{name}.") for it in sources)}
    bound = {
        module: {
            alias.asname or alias.name: (target, alias.name)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.ImportFrom)
            for target in [absolute(module, node, is_package=module in packages)]
            for alias in node.names
        }
        for module, text in sources.items()
    }

    def owner(module: str, name: str, depth: int = 0) -> str:
        """Return the module that a name which is imported from a module is defined in."""
        if f"{module}.{name}" in sources:
            return f"{module}.{name}"
        if module in packages and name in bound[module] and depth < 9:
            return owner(*bound[module][name], depth + 1)
        return module

    return {
        module: {
            target
            for target in (owner(*it) for it in names.values())
            if target in sources and not is_part(module, target) and not is_part(target, module)
        }
        for module, names in bound.items()
    }


def is_part(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def absolute(module: str, node: ast.ImportFrom, *, is_package: bool) -> str:
    """Return the module that an import names, from the root."""
    if node.level == 0:
        return node.module or ""
    steps = module.split(".")
    base = steps[: len(steps) - node.level + is_package]
    return ".".join([*base, *([node.module] if node.module else [])])


def circles(imports: Imports) -> list[list[str]]:
    """Return the sets of files that import each other."""
    visited: Imports = {}
    for start in imports:
        todo, seen = list(imports[start]), set[str]()
        while todo:
            at = todo.pop()
            if at not in seen and at in imports:
                seen.add(at)
                todo += imports[at]
        visited[start] = seen
    result = {tuple(sorted(it for it in seen if at in visited[it])) for at, seen in visited.items()}
    return sorted(list(circle) for circle in result if circle)


def python_sources() -> dict[str, str]:
    paths = sorted(PACKAGE.rglob("*.py"))
    steps = [path.relative_to(PACKAGE.parent).with_suffix("").parts for path in paths]
    names = [".".join(it for it in parts if it != "__init__") for parts in steps]
    return {name: path.read_text() for name, path in zip(names, paths, strict=True)}


def test_modules_import_each_other_in_one_direction() -> None:
    imports = imports_of(python_sources())
    assert "hexgraph.cluster.session" in imports["hexgraph.cluster.transaction"]
    assert circles(imports) == []


def test_the_front_end_imports_in_one_direction() -> None:
    pattern = re.compile(r"""from "\./([\w.]+)";""")
    sources = {path.stem: path.read_text() for path in WIDGET.glob("*.ts")}
    imports = {name: set(pattern.findall(text)) for name, text in sources.items()}
    assert "painter" in imports["canvas"]
    assert circles(imports) == []


def test_circles_are_reported() -> None:
    sources = {
        "p": "from .a import A",
        "p.a": "from . import b\nimport os",
        "p.b": "if TYPE_CHECKING:\n    from . import A",
        "p.c": "from p.d.e import E",
        "p.d": "",
        "p.d.e": "def later():\n    from ..c import C",
        "p.f": "from .a import A",
    }
    assert circles(imports_of(sources)) == [["p.a", "p.b"], ["p.c", "p.d.e"]]
