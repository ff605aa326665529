"""Reports and tables to files, for the command line and the workbench: consents, writing, log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.administer.consent import Permit, check_export, logged
from tabwb.media.studied import Studied
from tabwb.plugin_api.writing import write_bytes
from tabwb.records.errors import UsageError
from tabwb.records.standard_streams import is_stdout, write_stdout

if TYPE_CHECKING:
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.trials import Trial
    from tabwb.store.store import Store

ENDINGS = (".html", ".htm", ".md")
"""Ends of names of files of reports."""
DOCUMENTS = {
    "html": "report: methods, tables and figures in one file",
    "md": "report in Markdown, without figures",
    "tex": "table for a paper, LaTeX",
    "values.csv": "every value of the results, CSV",
}
"""Ends of names of files to what is in them, besides the formats of exporters."""


def check_ending(out: Path) -> None:
    """Check that the name of a file says in which format a report is written."""
    if out.suffix.lower() not in ENDINGS:
        raise UsageError(
            f"'{out.name}' does not end in the name of a format of reports",
            allowed=", ".join(ENDINGS),
        )


def write_report(
    store: Store,
    plugins: Plugins,
    about: Studied,
    out: Path,
    *,
    title: str = "",
    command: str = "",
    n_responses: int = 0,
    within_study: bool = False,
) -> Permit:
    """Write a report, and log of whom it is."""
    from tabwb.media.examples import examples_of
    from tabwb.media.methods import with_rating_sets
    from tabwb.media.report import report_of

    def trials_of(number: int) -> Iterator[Trial]:
        return chain.from_iterable(store.trial_parts(number))

    def content() -> bytes:
        examples = examples_of(about, trials_of, n_responses) if n_responses else ()
        told = with_rating_sets(about, store)
        made = report_of(told, title=title, command=command, examples=examples)
        if out.suffix.lower() == ".md":
            from tabwb.media.report_markdown import report_markdown

            return report_markdown(made).encode("utf-8", "backslashreplace")
        from tabwb.media.report_html import report_html

        return report_html(made)

    return _written(store, plugins, about, out, "report", content, within_study=within_study)


def write_document(
    store: Store,
    plugins: Plugins,
    about: Studied,
    out: Path,
    document: str,
    *,
    within_study: bool = False,
) -> Permit:
    """Write one of :data:`DOCUMENTS`, and log of whom it is."""
    if document in ("html", "md"):
        return write_report(store, plugins, about, out, within_study=within_study)

    def content() -> bytes:
        if document == "tex":
            from tabwb.media.paper import compact_of, latex

            text = "\n".join(map(latex, compact_of(about)))
        else:
            from tabwb.media.paper import table_csv
            from tabwb.report.tables.results import results_table

            text = table_csv(results_table(about.printable_rows))
        return text.encode("utf-8", "backslashreplace")

    return _written(store, plugins, about, out, document, content, within_study=within_study)


def _written(
    store: Store,
    plugins: Plugins,
    about: Studied,
    out: Path,
    document: str,
    content: Callable[[], bytes],
    *,
    within_study: bool,
) -> Permit:
    given = [member.administration for member in about.members]
    permit = check_export(store, plugins, given, document, out, within_study=within_study)
    with logged(store, permit.acts):
        if is_stdout(out):
            write_stdout(content())
        else:
            write_bytes(out, content())
    return permit
