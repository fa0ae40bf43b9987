"""How the report of a load looks at the prompt and in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._native import LoadReport


LOST_SHOWN = 5
"""The most ids without a node that a report has."""


def lines(report: LoadReport) -> list[tuple[str, str, str]]:
    """Return the entries of a report: name, number, remark. What did not happen is left out."""
    existing = max(report.nodes - report.new_nodes, 0)
    untyped = f", {report.untyped:,} of them without a type" if report.untyped else ""
    entries = [
        ("nodes", report.nodes, f"{report.new_nodes:,} made{untyped}, {existing:,} found"),
        ("values and edges", report.triples, f"in {report.seconds:.2f} s"),
    ]
    if report.repeated:
        entries.append(
            ("edges repeated", report.repeated, "two nodes have one edge of a predicate")
        )
    if report.replaced:
        entries.append(("values replaced", report.replaced, "which were stored and differ"))
    if report.duplicate_ids:
        entries.append(
            ("duplicate ids", report.duplicate_ids, "rows with the id of an earlier row")
        )
    if report.lost:
        more = " …" if len(report.lost_ids) == LOST_SHOWN else ""
        entries.append(("ends not found", report.lost, ", ".join(report.lost_ids) + more))
    if report.skipped:
        entries.append(("left out", report.skipped, "see skipped_lines"))
    rows = [(name, f"{number:,}", remark) for name, number, remark in entries]
    rows += [("note", "", note) for note in report.notes]
    return rows + [("warning", "", warning) for warning in report.warnings]


def to_text(report: LoadReport) -> str:
    """Return the report as lines of three columns."""
    rows = lines(report)
    name_width, number_width = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "\n".join(
        f"{name:{name_width}}  {number:>{number_width}}  {remark}".rstrip()
        for name, number, remark in rows
    )


def to_html(report: LoadReport) -> str:
    """Return the report as a table."""
    style = "text-align: left; vertical-align: top"
    rows = "".join(
        f'<tr><th style="{style}">{escape(name)}</th><td style="text-align: right">{number}</td>'
        f'<td style="{style}">{escape(remark)}</td></tr>'
        for name, number, remark in lines(report)
    )
    return f"<table><tbody>{rows}</tbody></table>"
