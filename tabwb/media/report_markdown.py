"""A report as Markdown, without figures."""

from __future__ import annotations

from collections.abc import Iterator

from tabwb.media.paper import markdown, markdown_text
from tabwb.media.report import Report
from tabwb.records.visible import visible


def report_markdown(report: Report) -> str:
    """Return a report as Markdown; figures are left out."""
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: Report) -> Iterator[str]:
    yield f"# {markdown_text(report.title)}"
    for sentence in report.disclaimers:
        yield f"> {markdown_text(sentence)}"
    yield "## Methods"
    for paragraph in report.methods.paragraphs:
        yield f"### {markdown_text(paragraph.title)}"
        yield markdown_text(paragraph.text)
    if report.methods.references:
        yield "### References"
        works = enumerate(report.methods.references, 1)
        yield "\n".join(f"{number}. {markdown_text(str(work))}" for number, work in works)
    for section in report.sections:
        yield f"## {markdown_text(section.title)}"
        for shown in section.tables:
            yield markdown(shown).rstrip("\n")
    if report.examples:
        yield "## Examples"
    for example in report.examples:
        place = f"{example.group}: {example.subtest}, {example.item}"
        yield f"### {markdown_text(place)}"
        yield f"Prompt:\n\n{_indented(example.prompt)}"
        yield f"Response ({markdown_text(example.status)}):\n\n{_indented(example.response)}"
        yield "\n".join(f"- {markdown_text(verdict)}" for verdict in example.verdicts)
    yield "## Cautions"
    yield "\n".join(f"- {markdown_text(sentence)}" for sentence in report.cautions)
    yield "## Columns"
    yield "\n".join(
        f"- `{column.name}`: {markdown_text(column.meaning)}"
        + (f" ({markdown_text(column.unit)})" if column.unit else "")
        for column in report.dictionary
    )
    yield "## Reproduction"
    yield _indented("\n".join(report.commands))
    yield ", ".join(f"{markdown_text(name)} {number}" for name, number in report.versions)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in visible(text).split("\n"))
