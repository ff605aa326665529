"""Results to a file or to standard output, for the command line and the workbench."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tabwb.administer.consent import Permit, check_export
from tabwb.plugin_api.components import Exporter
from tabwb.plugin_api.registry.guarded import error_words, plugin_code
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.plugin_api.writing import draft_of, is_explanation
from tabwb.records.errors import ComponentError, StoreError, TabwbError, UsageError
from tabwb.records.standard_streams import is_stdout, write_stdout
from tabwb.records.workfolder import WorkFolder
from tabwb.report.documents.document import export_document
from tabwb.report.plain import Json
from tabwb.report.summaries.load import load_administrations
from tabwb.store import takes
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
        within_study: it stays with those who collected the data.
        primary: the rater whose scores of spoken responses count; empty: the study's.

    Returns:
        With the notice that whoever exports is to read, if there is one.

    Raises:
        NoConsent: speakers have not agreed to ``share``; nothing is written.
        StoreError: people's data would be exported from a store that cannot log it.
        TabwbError: it cannot be written.
    """
    exporter = plugins.exporter(format_id)
    primary = primary or plugins.configuration.study.primary_rater
    chosen = load_administrations(
        store, references, sound=getattr(exporter, "sound", False), primary=primary
    )
    given = [data.administration for data in chosen]
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
        _to_place(exporter, format_id, document, out)
    store.people.log(*permit.acts)
    return permit


def _to_place(exporter: Exporter, format_id: str, document: Json, out: Path) -> None:
    """Let an exporter write beside ``out`` and then replace it: a failure changes nothing."""
    if exporter.suffix == "" and out.exists():
        # A folder: its exporter says what may be there, and writes into it.
        _call(exporter, format_id, document, out)
        return
    try:
        with draft_of(out) as draft:
            draft.mkdir(mode=0o700)
            _call(exporter, format_id, document, draft / out.name, place=out)
            made = sorted(draft.iterdir(), key=lambda path: path.name == out.name)
            _check_replaced(out, made)
            for path in made:  # the export itself last: it never is there without its explanation
                path.replace(out.with_name(path.name))
    except OSError as error:
        raise _unwritable(out, error) from error


def _check_replaced(out: Path, made: Sequence[Path]) -> None:
    for path in made:
        place = out.with_name(path.name)
        if path.name != out.name and place.exists() and not is_explanation(place):
            raise TabwbError(
                "is a file that tabwb did not write",
                where=str(place),
                hint="the explanation of an export goes there: move it, or choose another name",
            )


def _call(
    exporter: Exporter, format_id: str, document: Json, out: Path, place: Path | None = None
) -> None:
    place = place or out
    try:
        with plugin_code:
            exporter.export(document, out)
    except TabwbError as error:
        error.where = error.where and error.where.replace(str(out), str(place))
        raise
    except OSError as error:
        raise _unwritable(place, error) from error
    except Exception as error:
        raise ComponentError(
            f"the exporter '{format_id}' failed: {error_words(error)}",
            where=str(place),
            hint="nothing was written; choose another format, or report it to the plugin's author",
        ) from error
    if not out.exists():
        raise ComponentError(f"the exporter '{format_id}' wrote nothing", where=str(place))


def _unwritable(out: Path, error: OSError) -> TabwbError:
    problem = f"cannot be written: {error.strerror or error}"
    return TabwbError(problem, where=str(out), hint="choose another place")


def _to_stdout(exporter: Exporter, format_id: str, document: Json) -> None:
    if not exporter.suffix:
        raise UsageError(
            f"the format '{format_id}' makes a folder, which standard output cannot hold",
            hint="name a folder with --out",
        )
    with WorkFolder(takes.user_work_root()) as folder:
        file = folder.path / f"export{exporter.suffix}"
        _call(exporter, format_id, document, file, place=Path("standard output"))
        write_stdout(file.read_bytes())
