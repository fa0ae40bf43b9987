"""The runner of the pages finds what is wrong in them, and writes what is right."""

import pytest
from pages import run_page

RIGHT = """
```dql
{ q(func: eq(name, "Ran"), first: 1) { name runtime } }
```

| name | runtime |
| --- | --- |
| Ran | 162 |

```dql
{ q(func: eq(name, "Ran"), first: 1) { directed_by { name } } }
```

```json
{"q": [{"directed_by": [{"name": "Akira Kurosawa"}]}]}
```

```dql
{ q(func: eq(runtim, 3)) }
```

```json
{"q": []}
```

```python
1 + 1   # 2
[1,
 2]
# [1,
#  2]
print("two\\nlines")
# two
# lines
```
"""
PAGE = RIGHT.replace("runtim,", "runtime,")


def page(folder, text):
    path = folder / "page.md"
    path.write_text(text)
    return path


def test_right_answers_pass(tmp_path):
    run_page(page(tmp_path, PAGE))


def test_answers_are_written(tmp_path):
    wrong = PAGE.replace("| 162 |", "|  |").replace("Akira Kurosawa", "?").replace("# 2", "# ?")
    path = page(tmp_path, wrong)
    run_page(path, update=True)
    written = path.read_text()
    assert "| Ran | 162 |\n" in written
    assert "Akira Kurosawa" in written
    run_page(path)
    run_page(path, update=True)
    assert path.read_text() == written


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("| 162 |", "| 161 |"),
        ("Kurosawa", "kurosawa"),
        ("# 2", "# 3"),
        ("#  2]", "#  3]"),
        ("# lines", "# line"),
        ("| Ran | 162 |\n", ""),
        ("   # 2", ""),
        ('```json\n{"q": []}\n```\n', ""),
        ('```json\n{"q": []}', "```text\nQueryError: no"),
        ("(runtime", "(runtim"),  # an unknown name, which is a warning of the result
    ],
)
def test_a_wrong_answer_fails(tmp_path, right, wrong):
    assert right in PAGE
    path = page(tmp_path, PAGE.replace(right, wrong))
    with pytest.raises(AssertionError):
        run_page(path)
