"""Stores spoken naming that was recorded elsewhere, each session as an administration."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tabwb.administer.answers.repeated import noted_file
from tabwb.administer.consent import Guard
from tabwb.administer.naming.imports import TIERS, ImportedSession, Step, read_sessions
from tabwb.administer.naming.repeated import continues, holder_of, stored_already
from tabwb.administer.naming.run import import_session
from tabwb.administer.session import setup
from tabwb.battery.model import Battery
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.speakers import Origin, losses_beside, origins_beside, read_day
from tabwb.records.trials import Administration, EventEntry
from tabwb.records.words import plural
from tabwb.store.store import Store

IMPORTED_BY = "import"
"""The rater of scores whose rater the source does not name."""


@dataclass(frozen=True, slots=True)
class NamingImport:
    """What is to be imported, as the user says it.

    Attributes:
        path: an annotation file, a folder of them, or a PSST folder.
        battery: its id or path.
        speaker, origin, session, date: where they are not as in the source.
        rater: who transcribed and scored; empty: as the source says, else ``import``.
        tiers: our name of a tier to the file's own.
        research_protocol: under which a person was given a battery for models.
    """

    path: Path
    battery: str
    speaker: str | None = None
    origin: Origin | None = None
    session: str | None = None
    rater: str = ""
    tiers: Mapping[str, str] = field(default_factory=dict)
    research_protocol: str | None = None
    date: str = ""


@dataclass(frozen=True, slots=True)
class PreparedSessions:
    """The sessions of a source with their conditions, and what the user is to know of them."""

    battery: Battery
    sessions: tuple[tuple[ImportedSession, Conditions], ...]
    notes: tuple[str, ...] = ()


def prepare_sessions(
    plugins: Plugins, request: NamingImport, step: Step = lambda: None
) -> PreparedSessions:
    """Read the sessions of a source, and return what will be stored; nothing is stored."""
    battery = setup.find_battery(plugins, request.battery)
    origin, participant = _made_by(request)
    for ours in request.tiers:
        if ours not in TIERS:
            raise UsageError(f"'{ours}' is not a tier", allowed=", ".join(TIERS))
    sessions = _chosen(read_sessions(request.path, battery, request.tiers, step), request)
    day = read_day(request.date, "--date") if request.date else ""
    made = []
    notes = [f"{request.path}: not in this export: {lost}" for lost in losses_beside(request.path)]
    for imported in sessions:
        source = imported.source
        raters = sorted({response.rater for response in imported.responses} - {""})
        rater = request.rater or (raters[0] if len(raters) == 1 else IMPORTED_BY)
        if len(raters) > 1 and not request.rater:
            notes.append(
                f"{source}: scores by {', '.join(raters)} are stored as those of one rater, "
                f"'{IMPORTED_BY}'; --rater ID names another"
            )
        if not day and not imported.date:
            notes.append(f"{source}: the date of the session is not known; give it with --date")
        speaker = request.speaker or participant or imported.speaker
        if not speaker:
            raise UsageError("the speaker of these responses is not known: give --speaker ID")
        if origin == "unknown":
            notes.append(
                f"{source}: who responded is not known (no README.txt of an export is beside it): "
                f"the responses are protected as those of {speaker}. Say it with --origin human "
                "and --speaker ID, or with --origin model"
            )
        conditions = Conditions(
            examinee=speaker,
            kind="speaker",
            judges=(),
            rater=rater,
            research_protocol=request.research_protocol,
            origin=origin,
            session_date=day or imported.date,
        )
        made.append((imported, setup.resolve(plugins, battery, conditions)))
    return PreparedSessions(battery, tuple(made), tuple(notes))


def import_sessions(
    store: Store,
    plugins: Plugins,
    prepared: PreparedSessions,
    tell: Callable[[str], object],
    marks: Sequence[EventEntry] = (),
    step: Step = lambda: None,
    *,
    again: bool = False,
) -> Iterator[tuple[int, str]]:
    """Store the sessions of a source; yield the number of each administration and what it holds.

    A session that the store has is left out; one that an import began is continued.
    """
    holders = [None] * len(prepared.sessions) if again else _holders(store, prepared)
    known = [given for given in holders if given is not None and not continues(given, None)]
    if known and len(known) == len(holders):
        raise stored_already(known[0])
    for (imported, conditions), given in zip(prepared.sessions, holders, strict=True):
        step()
        if given in known:
            yield given.id, f"{conditions.examinee}, in the store already"
            continue
        if given is None:
            opened = setup.create_naming(store, plugins, prepared.battery, conditions)
        else:
            opened = setup.resume_naming(store, plugins, given.id)
        with opened as session:
            for notice in Guard(store, plugins, conditions).notices():
                tell(notice)
            if given is None:
                session.commit((*marks, *_noted(imported)))
            number = session.administration.id
            try:
                import_session(session, imported, conditions.rater or IMPORTED_BY)
            except BaseException:
                tell(f"administration {number} holds only a part of {imported.source}")
                raise
        held = plural(len(imported.responses), "response")
        yield number, f"{held} of {conditions.examinee}"


def _holders(store: Store, prepared: PreparedSessions) -> list[Administration | None]:
    """Return for each session the administration that has it, or its first part."""
    found: list[Administration | None] = []
    for imported, conditions in prepared.sessions:
        note = next((entry.text for entry in _noted(imported)), "")
        others = {given.id for given in found if given is not None}
        sounds = _sounds(imported)
        found.append(holder_of(store, prepared.battery, conditions, sounds, note=note, but=others))
    return found


def _sounds(imported: ImportedSession) -> set[Path]:
    return {response.sound for response in imported.responses if response.sound is not None}


def _noted(imported: ImportedSession) -> tuple[EventEntry, ...]:
    """Return the note by which responses without a recording are known again."""
    if _sounds(imported):
        return ()
    digest = hashlib.sha256(repr(imported.responses).encode()).hexdigest()
    return (EventEntry("noted", None, f"Imported from {noted_file(imported.source.name, digest)}"),)


def _made_by(request: NamingImport) -> tuple[Origin, str]:
    """Return who made the answers: what an export says of itself counts before the user's word."""
    path, asked, speaker = request.path, request.origin, request.speaker
    exports = [export for export in origins_beside(path) if path.is_dir() or path.stem == export[0]]
    exports = exports or list(origins_beside(path))
    origins = {origin for _, origin, _ in exports}
    people = {participant for _, _, participant in exports if participant}
    if asked == "model" and origins - {"model"}:
        raise UsageError(
            "--origin model: the export says that a person, or an unknown examinee, responded",
            where=str(path),
        )
    if speaker and people and speaker not in people:
        raise UsageError(
            f"--speaker {speaker}: according to the export, the responses are those of "
            f"{', '.join(sorted(people))}",
            where=str(path),
            hint="consent and deletion use that ID",
        )
    recorded: Origin = next(iter(origins)) if len(origins) == 1 else "unknown"
    if asked is not None and recorded != "human":
        recorded = asked
    return recorded, next(iter(people)) if len(people) == 1 else ""


def _chosen(sessions: Sequence[ImportedSession], request: NamingImport) -> list[ImportedSession]:
    """Return those that are asked for; several are not all of the one speaker who is named."""
    names = ", ".join(session.speaker for session in sessions if session.speaker)
    asked = request.session
    chosen = [session for session in sessions if asked in {None, session.speaker}]
    if not chosen:
        raise UsageError(f"there is no session '{asked}'", allowed=names or "none is named here")
    if len(chosen) > 1 and request.speaker:
        raise UsageError(
            f"the source has {len(chosen)} sessions: {names}",
            hint="select the speaker's with --session NAME; "
            "without --speaker each session keeps its own",
        )
    return chosen
