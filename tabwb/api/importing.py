"""``import_answers``, ``import_naming``, ``import_ratings``, ``transcribe``: from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal

from tabwb.api.engine import (
    Place,
    Progress,
    named,
    open_store,
    opened_plugins,
    python_names,
    tools_of,
    worked,
)
from tabwb.api.running import Administration, Stored, stored_in
from tabwb.operations.importing import NAMING, ImportFile
from tabwb.operations.operation import made
from tabwb.operations.transcribing import TranscribeFiles
from tabwb.records.errors import UsageError


def import_answers(
    path: str | PathLike[str],
    battery: str | PathLike[str] | None = None,
    *,
    model: str | None = None,
    speaker: str | None = None,
    origin: Literal["human", "model", "unknown"] | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    number_replicates: bool = False,
    skip_unknown: bool = False,
    judges: str | Sequence[str] | None = None,
    research_protocol: str | None = None,
    date: str | None = None,
    again: bool = False,
    store: Place = None,
) -> list[Administration]:
    """Return the administrations of answers that were given elsewhere, after they are scored.

    A table (CSV, TSV, JSON lines) with the columns item and response, or text and prompt; a log of
    inspect_ai, samples of lm-evaluation-harness, or CHAT transcripts. All answers of a file are
    stored, or none. What is left out is a warning. The options are those of ``tabwb import``.

    Args:
        path: of the file or folder.
        battery: an id or path: the battery whose items were answered; None for texts without one,
            whose prompts become the items of one.
        model: who answered: a spec, or any name; None: as in the file.
        speaker: the participant code of a person; None: as in the file.
        origin: who answered; ``unknown`` is protected as a person's. None: as in the file.
        format: ``table``, ``chat``, ``inspect`` or ``lm-eval``; None: as the file looks.
        columns: of a table: field to the name of its column (``{"response": "text"}``); of CHAT
            ``participant``, ``pauses`` and ``unit``.
        number_replicates: of a table: take further answers to an item as replicates.
        skip_unknown: of a table: leave out answers that match no item of the battery.
        judges: specs of judges; empty: no judge. Default: ``rules``.
        research_protocol: under which a person was given a battery for models.
        date: the day of the session, ``2026-03-09``; None: as in the file.
        again: store them although the store has the answers of this file already.
        store: a path, a URL, or None for the configured store; it is made where there is none.

    Raises:
        UsageError: the file cannot be read as answers, or an option cannot be used, or
            the store has the answers of the file already.
        NoConsent: a registered speaker has not agreed; nothing was stored.
        TabwbError: a scorer or judge failed (all responses are stored).
    """
    given = {
        **locals(), "battery": None if battery is None else named(battery), "judge": _judges(judges)
    }  # fmt: skip
    return _administrations(*_imported(given, store, "answers"))


def import_ratings(
    path: str | PathLike[str],
    name: str | None = None,
    *,
    form: str | PathLike[str] | None = None,
    mapping: str | PathLike[str] | None = None,
    model: str | None = None,
    speaker: str | None = None,
    origin: Literal["human", "model", "unknown"] | None = None,
    judges: str | Sequence[str] | None = None,
    counts: str | None = None,
    store: Place = None,
) -> str:
    """Return the name of the rating set that is made of ratings given elsewhere.

    A table with the columns response, rater, measure and value, Label Studio's JSON, or a REDCap
    table with a mapping file, as ``tabwb import --set`` reads them. The responses are stored ones;
    texts of the file that the store lacks are imported. What is left out is a warning.

    Args:
        path: of the file, or of a folder that ``tabwb rate export`` wrote.
        name: of the set; there is none of this name yet. None: as the folder says.
        form: an id or path: the form that the ratings answer. None: that of the folder, else
            ``tab-19``.
        mapping: path of a file that maps columns, raters and values.
        model: who gave the texts of the file; None: as in the file.
        speaker: the participant code of a person who gave them.
        origin: who gave them; ``unknown`` is protected as a person's.
        judges: specs of judges of these texts; empty: no judge. Default: ``rules``.
        counts: whose ratings count: ``primary:CODE``, ``majority``, ``consensus``,
            ``adjudicated``. None: as the folder says, else the majority.
        store: a path, a URL, or None for the configured store; it is made where there is none.

    Raises:
        UsageError: the file cannot be used, a response is not stored, or the name is taken.
        NoConsent: a registered speaker has not agreed to rating; nothing was stored.
    """
    given = {
        **locals(), "set": name or "", "form": None if form is None else named(form),
        "judge": _judges(judges),
    }  # fmt: skip
    document, _ = _imported(given, store, "ratings")
    found: str = document["rating_set"]["name"]
    return found


def import_naming(
    path: str | PathLike[str],
    battery: str | PathLike[str],
    *,
    speaker: str | None = None,
    origin: Literal["human", "model", "unknown"] | None = None,
    session: str | None = None,
    rater: str = "",
    tiers: Mapping[str, str] | None = None,
    research_protocol: str | None = None,
    date: str | None = None,
    again: bool = False,
    store: Place = None,
) -> list[Administration]:
    """Return the administrations of pictures that were named elsewhere, with their recordings.

    A TextGrid, an EAF, a folder of them, or a folder with ``utterances.tsv``, with the sound files
    beside them; as ``tabwb import`` reads them. What is to be known of a session is a warning.

    Args:
        path: of the file or folder.
        battery: an id or path: the battery whose pictures were named.
        speaker: the participant code; None: as in the source.
        origin: who responded; ``unknown`` is protected as a person's. None: as the source says.
        session: only this session of several.
        rater: who transcribed and scored; empty: as the source says, else ``import``.
        tiers: our name of a tier to its name in the file (``{"item": "Wort"}``); an empty name
            leaves it out.
        research_protocol: under which a person was given a battery for models.
        date: the day of the session, ``2026-03-09``; None: as in the source.
        again: store also sessions that the store has.
        store: a path, a URL, or None for the configured store; it is made where there is none.

    Raises:
        UsageError: the source cannot be read, does not fit the battery, or does not say who spoke.
        NoConsent: a registered speaker has not agreed to ``record``.
        TabwbError: a recording could not be stored; its administration is paused; the same import
            continues it.
    """
    given = {**locals(), "battery": named(battery), "tier": tiers, "format": NAMING}
    return _administrations(*_imported(given, store, "spoken naming"))


def transcribe(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    transcriber: str = "bundled-words",
    keep_conditioned: str | PathLike[str] | None = None,
    accept: str | Sequence[str] = (),
    speaker: str | None = None,
    store: Place = None,
    progress: Progress = False,
) -> dict[str, Any]:
    """Return the transcripts of sound files, and of those in folders, as phonemes.

    Transcripts are a draft until a trained listener has heard the recording. Stored responses are
    transcribed by :meth:`tabwb.Study.transcribe`.

    Args:
        files: WAV, FLAC, OGG, MP3 or AIFF of any rate, or folders of them.
        transcriber: a spec, such as ``wav2vec2:PATH-OR-ID``.
        keep_conditioned: a folder for the conditioned copies: high-passed, levelled, 16 kHz mono.
        accept: pronunciations (``"D AO G"``, ``"dɔɡ"``): the log likelihood ratio of the best of
            these to free decoding is given, of transcribers with likelihoods.
        speaker: who speaks, whose consents are checked; required if a transcriber needs a network.
        store: that has the consents: a path, a URL, or None for the configured store.
        progress: True for a line on stderr, or a function that gets each event.

    Returns:
        The document of ``tabwb transcribe --json``; a file that cannot be transcribed has the
        status ``error``.

    Raises:
        UsageError: there is no such transcriber, or a value cannot be used.
        NoConsent: the speaker has not agreed to ``transcribe`` or ``remote``.
    """
    operation = made(TranscribeFiles, locals())
    with python_names(), opened_plugins() as plugins:
        operation.check(plugins)
        return worked(operation, tools_of(plugins, store), progress)


def _imported(given: Mapping[str, Any], place: Place, kind: str) -> tuple[dict[str, Any], Stored]:
    """Import a file of one kind; return the document of the operation and the store's place."""
    operation = made(ImportFile, given)
    assert isinstance(operation, ImportFile)
    with python_names(), opened_plugins() as plugins:
        operation.check(plugins)
        if operation.kind != kind:
            raise UsageError(
                f"these are not {kind} but {operation.kind}", where=str(operation.path),
                hint="see import_answers, import_naming, import_ratings",
            )  # fmt: skip
        with open_store(place, plugins.configuration, create=True) as opened:
            document = worked(operation, tools_of(plugins, lent=opened))
            return document, stored_in(opened, plugins.configuration, place)


def _administrations(document: Mapping[str, Any], where: Stored) -> list[Administration]:
    return [Administration(made["id"], where) for made in document["administrations"]]


def _judges(judges: str | Sequence[str] | None) -> Sequence[str]:
    """Return the specs of judges; no names at all are ``none``."""
    if judges is None:
        return ()
    return (judges,) if isinstance(judges, str) else tuple(judges) or ("none",)
