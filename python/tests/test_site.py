"""What the site of the documentation is made of, as far as can be checked without building it."""

import importlib.util
import re

import pytest
from pages import ROOT

import hexgraph

SITE = ROOT / "docs" / "site"


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The pages of the Python reference, by name."""
    spec = importlib.util.spec_from_file_location("reference", SITE / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path_factory.mktemp("reference")
    return {name: (folder / name).read_text() for name in module.write(folder)}


def test_each_public_name_has_a_section_with_a_text(reference):
    pages = "\n".join(reference.values())
    for name in hexgraph.__all__:
        if name != "__version__":
            below = pages.split(f"\n## {name}\n")
            assert len(below) == 2, f"{name} has {len(below) - 1} sections"
            assert len(below[1].split("\n## ")[0].split()) > 3, f"{name} has no text"


def test_each_public_method_has_a_signature_and_a_text(reference):
    for name, page in reference.items():
        for part in re.split(r"^### ", page, flags=re.MULTILINE)[1:]:
            heading, code, text = re.match(
                r"(.*)\n\n```python\n(.*?)```\n(.*)", part, re.DOTALL
            ).groups()
            assert heading.replace("\\", "").split(".")[1] in code, f"{name}: {heading}"
            assert "__" not in heading, "it would be bold"
            assert text.strip(), f"{name}: {heading} has no text"
    assert reference["database.md"].count("\n### Database.") > 40


def test_sessions_of_docstrings_are_blocks_of_code(reference):
    for name, page in reference.items():
        prose = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
        assert ">>>" not in prose, name
        assert page.count("```") % 2 == 0, name


def test_the_navigation_has_each_page_of_a_folder():
    settings = (SITE / "zensical.toml").read_text()
    for folder in ("learn", "dql"):
        for path in (ROOT / "docs" / folder).glob("*.md"):
            name = "index.md" if path.name == "README.md" else path.name
            assert f'"{folder}/{name}"' in settings, path
