"""Results to a file or to standard output, for the command line and the workbench."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tabwb.administer.consent import Permit, check_export
from tabwb.extend.components import Exporter
from tabwb.extend.plugins import Plugins
from tabwb.records.errors import StoreError, UsageError
from tabwb.records.standard_streams import is_stdout, write_stdout
from tabwb.records.workfolder import WorkFolder
from tabwb.report.document import export_document
from tabwb.report.load import loaded
from tabwb.report.summary import Json
from tabwb.store import working
from tabwb.store.store import Store


def export(
    store: Store,
    plugins: Plugins,
    references: Sequence[int | str],
    format_id: str,
    out: Path,
    *,
    within_study: bool,
    primary: str = "",
) -> Permit:
    """Write administrations with what belongs to them, and log of whom.

    Args:
        store: where they are.
        plugins: with the exporters and the study's configuration.
        references: numbers or uids; all of the store when there is none.
        format_id: an exporter's.
        out: a file, or a folder where the format makes several, where nothing is yet; ``-`` is
            standard output, for formats of one file.
        primary: the rater whose scores of spoken responses count; empty: the study's.
        within_study: it stays with those who collected the data.

    Returns:
        With the notice that whoever exports is to read, if there is one.

    Raises:
        NoConsent: speakers have not agreed to ``share``; nothing is written.
        TabwbError: it cannot be written.
    """
    exporter = plugins.exporter(format_id)
    primary = primary or plugins.configuration.study.primary_rater
    chosen = loaded(store, references, sound=getattr(exporter, "sound", False), primary=primary)
    given = [one.administration for one in chosen]
    permit = check_export(store, plugins, given, format_id, out, within_study=within_study)
    if permit.acts and store.only_read:
        raise StoreError(
            "people's data are not exported from a store that cannot be written: the export must "
            "be in its log",
            where=store.location,
            hint="allow writing there, or export from the store itself",
        )
    document = export_document(chosen)
    if is_stdout(out):
        _to_stdout(exporter, format_id, document)
    else:
        exporter.export(document, out)
    store.log(*permit.acts)
    return permit


def _to_stdout(exporter: Exporter, format_id: str, document: Json) -> None:
    """Write the file that an exporter makes to standard output, without its explanation.

    Raises:
        UsageError: the format makes a folder.
    """
    if not exporter.suffix:
        raise UsageError(
            f"the format '{format_id}' makes a folder, which standard output cannot hold",
            hint="name a folder with --out",
        )
    with WorkFolder(working.of_user()) as folder:
        file = folder.path / f"export{exporter.suffix}"
        exporter.export(document, file)
        write_stdout(file.read_bytes())
