"""``import_answers``, ``import_naming``, ``import_ratings``: what was done elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tabwb.api.engine import Place, named, open_store, opened_plugins, warn
from tabwb.api.operations import judge_later
from tabwb.api.study import Administration, stored_in
from tabwb.records.errors import TabwbError, UsageError

if TYPE_CHECKING:
    pass


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
    from tabwb.administer.answers import importing
    from tabwb.administer.answers.examinee import Stated
    from tabwb.administer.answers.prepared import (
        ImportRequest,
        importer_of,
        left_out,
        prepare_import,
    )
    from tabwb.administer.consent import Guard

    place = _existing(path)
    with opened_plugins() as plugins:
        importer = importer_of(plugins, place, format)
        if importer is None:
            raise UsageError(
                "is in no format of answers",
                where=str(place),
                allowed=", ".join(one.id for one in plugins.descriptors("importers")),
                hint="spoken naming is imported by tabwb.import_naming",
            )
        request = ImportRequest(
            place, None if battery is None else named(battery), Stated(model, speaker, origin),
            columns=dict(columns or {}),
            number_replicates=number_replicates, skip_unknown=skip_unknown, date=date or "",
            judges=_judges(judges), research_protocol=research_protocol,
        )  # fmt: skip
        prepared = prepare_import(plugins, importer, request)
        conditions = prepared.conditions
        with open_store(store, plugins.configuration, create=True) as opened:
            imported = importing.import_answers(
                opened, plugins, prepared.battery, prepared.plan, conditions,
                again=again,
            )  # fmt: skip
            warn(*left_out(prepared.plan, prepared.battery.id))
            warn(*Guard.notices_of(Guard(opened, plugins, one) for one in conditions))
            # The judges that ask a model, now that every answer is stored.
            specs = imported[0].administration.conditions.judges
            later = [one for one in specs if plugins.resolve("judges", one)[0].wraps is not None]
            numbers = [one.administration.id for one in imported]
            judge_later(plugins, opened, numbers, later)
            where = stored_in(opened, plugins.configuration, store)
    failed = dict.fromkeys(str(rater) for one in imported for rater in one.failed)
    if failed:
        raise TabwbError(
            "\n".join(failed),
            hint=f"every response is stored (administrations {', '.join(map(str, numbers))}); "
            "after the cause is removed: tabwb trial rescore",
        )
    return [Administration(number, where) for number in numbers]


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
    from tabwb.administer.answers.examinee import Stated
    from tabwb.administer.rating.elsewhere.into_set import (
        LabelRequest,
        import_labels,
        prepare_labels,
    )
    from tabwb.records.rating_sets import checked_counts

    place = _existing(path)
    request = LabelRequest(
        place, name, None if form is None else named(form),
        None if mapping is None else Path(mapping),
        Stated(model, speaker, origin), _judges(judges),
        None if counts is None else checked_counts(counts),
    )  # fmt: skip
    with opened_plugins() as plugins:
        prepared = prepare_labels(plugins, request)
        warn(*(f"left out: {n:,} {what}" for what, n in prepared.labels.left_out.items()))
        with open_store(store, plugins.configuration, create=True) as opened:
            return import_labels(opened, plugins, prepared).name


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

    A TextGrid, an EAF, a folder of them, or a PSST folder, with the sound files beside them; as
    ``tabwb import`` reads them. What the study has to know of a session is a warning.

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
    from tabwb.tasks.spoken_naming.giving import NamingImport, import_sessions, prepare_sessions

    place = _existing(path)
    request = NamingImport(
        place, named(battery), speaker=speaker, origin=origin, session=session, rater=rater,
        tiers=dict(tiers or {}), research_protocol=research_protocol, date=date or "",
    )  # fmt: skip
    with opened_plugins() as plugins:
        prepared = prepare_sessions(plugins, request)
        warn(*prepared.notes)
        with open_store(store, plugins.configuration, create=True) as opened:
            made = import_sessions(opened, plugins, prepared, warn, again=again)
            numbers = [number for number, _ in made]
            where = stored_in(opened, plugins.configuration, store)
    return [Administration(number, where) for number in numbers]


def _existing(path: str | PathLike[str]) -> Path:
    if not Path(path).exists():
        raise UsageError("there is no such file or folder", where=str(Path(path)))
    return Path(path)


def _judges(judges: str | Sequence[str] | None) -> Sequence[str]:
    """Return the specs of judges; no names at all are ``none``."""
    if judges is None:
        return ()
    return (judges,) if isinstance(judges, str) else tuple(judges) or ("none",)
