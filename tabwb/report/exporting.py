"""Results to a file: the same road for the command line and the workbench."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tabwb.administer.consent import Permit, check_export
from tabwb.extend.plugins import Plugins
from tabwb.report.document import export_document
from tabwb.report.load import loaded
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
        out: a file, or a folder where the format makes several; nothing stands there yet.
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
    exporter.export(export_document(chosen), out)
    store.log(*permit.acts)
    return permit
