"""Stored responses: their results, replies, picture and sound are read, and they are corrected.

What reads and corrects runs in the worker's thread.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from tabwb.analysis.administrations import AdministrationData, is_usable
from tabwb.analysis.statistics.results import Results as GroupResults
from tabwb.battery.model import Battery
from tabwb.operations.trial import RescoreAdministration
from tabwb.records.errors import TabwbError
from tabwb.records.ratings import Judged
from tabwb.records.states import ResponseStatus
from tabwb.records.trials import Administration, Trial
from tabwb.speech.envelope import Envelope, envelope_of
from tabwb.workbench.engine.engine import Engine
from tabwb.workbench.engine.messages import Stored, Told
from tabwb.workbench.engine.presenters import (
    Places,
    counted_mark,
    item_of,
    mark_of,
    places_in_subtests,
)
from tabwb.workbench.engine.session_controller import SessionController
from tabwb.workbench.engine.view_models import Item
from tabwb.workbench.results.written_summary import (
    FirstJudge,
    GridRow,
    Profiles,
    first_judge,
    grid_of,
    profiles_of,
)
from tabwb.workbench.shell.sound import Sound, sound_of, stretch_around

if TYPE_CHECKING:
    from tabwb.administer.session.session import Session
    from tabwb.store.store import Store
    from tabwb.tasks.spoken_naming.scores import Naming
    from tabwb.workbench.results.naming_summary import NamedResponse, NamingResults
    from tabwb.workbench.shell.pictures import Pixels


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """One trial in the results' list."""

    item: Item
    verdict: str
    glyph: str
    notes: tuple[str, ...] = ()
    named: NamedResponse | None = None
    found: tuple[int, int] | None = None
    """Features that the first judge found, and on how many it has a verdict."""


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one administration."""

    administration: Administration
    battery: Battery
    summary: GroupResults
    responses: tuple[ResponseRow, ...]
    profiles: Profiles
    """How often each judge found each feature."""
    grid: tuple[GridRow, ...]
    """The items with a mark for each replicate."""
    naming: NamingResults | None = None
    """Of a battery whose pictures are named aloud."""


def results_of(data: AdministrationData, sessions: Sequence[AdministrationData] = ()) -> Results:
    """Return everything that the results page shows."""
    from tabwb.analysis.statistics.summary import pool  # loads numpy

    summary = pool([data], interval=True)
    naming: NamingResults | None = None
    named: Mapping[int, NamedResponse] = {}
    if summary.named:
        from tabwb.workbench.results.naming_summary import naming_results

        naming, named = naming_results(data, summary.named, sessions)
    from tabwb.analysis.frame import effective_statuses

    statuses = effective_statuses(data.battery, data.trials)
    places = places_in_subtests(data.trials)
    judge = first_judge(summary)
    rows = tuple(
        _row(data, trial, status, named.get(trial.plan.number), places, judge)
        for trial, status in zip(data.trials, statuses, strict=True)
    )
    return Results(
        data.administration,
        data.battery,
        summary,
        rows,
        profiles_of(data.battery, summary),
        grid_of(
            data.battery,
            ((row.item.trial, row.glyph, row.found) for row in rows),
            judge,
        ),
        naming,
    )


STATES = {"open": "not given", "error": "in error", "not-administered": "not administered"}
"""States of a trial in words, where they are not the state's name."""


def _row(
    data: AdministrationData,
    trial: Trial,
    status: ResponseStatus | None,
    named: NamedResponse | None,
    places: Places,
    judge: FirstJudge,
) -> ResponseRow:
    subtest = data.battery.subtest(trial.plan.subtest)
    mark = mark_of(trial, subtest.scorers, data.declarations)
    if named is not None:
        mark = counted_mark(mark, named.item)
    item = item_of(
        data.battery,
        data.administration.conditions,
        trial,
        data.trials,
        places,
        data.declarations,
    )
    verdict = STATES.get(mark, mark)
    text = trial.counting.response if trial.counting is not None else ""
    usable = is_usable(status, subtest.response, text)
    found = judge.found_in(trial, usable=usable) if mark == "given" else None
    return ResponseRow(replace(item, status=status), verdict, mark, trial.notes, named, found)


KEPT = 256
"""So many envelopes are kept in memory."""


def read_results(engine: Engine, number: int) -> Results:
    """Return the results of one administration."""
    from tabwb.analysis.administrations import load_administrations, load_columns

    store, primary = engine.store, engine.plugins.configuration.study.primary_rater
    (data,) = load_administrations(store, (number,), primary=primary)
    given = data.administration
    sessions = [
        other.id
        for other in (store.administrations() if data.battery.coded else ())
        if other.conditions.examinee == given.conditions.examinee
        and other.battery_hash == given.battery_hash
    ]
    held = load_columns(store, sessions, primary=primary) if len(sessions) > 1 else ()
    return results_of(data, held)


def read_replies(engine: Engine, number: int, trial: int) -> tuple[Judged, ...]:
    """Return the calls of judges that ask a model, for one response."""
    return tuple(engine.store.judgements(number, trial))


# ---------------------------------------------------------------- scored again


def rescore(sessions: SessionController, number: int) -> None:
    """Score and judge every counting answer again: in the background, where it is not open."""
    if sessions.holds(number):
        sessions.open_session().corrections.rescore()
        sessions.publish()
        sessions.say(Stored(number))
        sessions.say(Told(f"#{number}: scored again; the earlier ratings stay in the store."))
    else:
        sessions.jobs.begin(RescoreAdministration(administration=number))


# ---------------------------------------------------------------- corrected


def void_trial(sessions: SessionController, number: int, trial: int, reason: str) -> None:
    """Declare one trial of an administration void."""
    with sessions.session_of(number) as session:
        session.corrections.void(reason, trial)
    sessions.tell_corrected(number)


def note_trial(sessions: SessionController, number: int, trial: int, text: str) -> None:
    """Write a note on one trial of an administration."""
    with sessions.session_of(number) as session:
        session.corrections.note(text, trial)
    sessions.say(Stored(number))


def correct(sessions: SessionController, correction: Correction) -> None:
    """Store a new onset or new limits of a response."""
    with sessions.session_of(correction.number) as session:
        correction.apply(session)
    sessions.tell_corrected(correction.number)


def undo_correction(sessions: SessionController, number: int, trial: int) -> None:
    """Take back the latest correction of a response."""
    from tabwb.records.events import Undone
    from tabwb.tasks.spoken_naming.strategy import undo_correction as undo

    with sessions.session_of(number) as session:
        made = undo(session, trial)
    what = next((event.what for event in made if isinstance(event, Undone)), "")
    sessions.tell_corrected(number)
    sessions.say(Told(f"Taken back: {what}. Its record stays in the store."))


@dataclass(frozen=True, slots=True)
class Correction:
    """A new onset, or new limits, of a stored response: seconds of the recording.

    Attributes:
        number: of the administration.
        trial: number of the trial.
        rater: the ID of the person; empty: the one who gave the administration.
        onset_s: where speech begins, or None.
        limits: from where to where the response lies, or None.
    """

    number: int
    trial: int
    rater: str
    onset_s: float | None = None
    limits: tuple[float, float] | None = None

    def apply(self, session: Session) -> None:
        """Store it; ratings by rule follow."""
        from tabwb.tasks.spoken_naming.task import spoken_in

        spoken = spoken_in(session)
        what = "onset" if self.limits is None else "attempt"
        with spoken.listening.to(self.trial, what, listener=self.rater):
            if self.limits is not None:
                spoken.listening.set_limits(*self.limits, reason="")
            elif self.onset_s is not None:
                spoken.listening.set_onset(self.onset_s, reason="")


# ---------------------------------------------------------------- picture and sound


class Heard(NamedTuple):
    """Picture and sound of one response; ``trouble`` says why one of them is missing."""

    pixels: Pixels | None
    sound: Sound | None
    trouble: str = ""


class SoundReader:
    """Reads pictures and recordings; keeps what it has read. Owned by the worker's thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._assets: tuple[str, Mapping[str, bytes]] = ("", {})
        self._envelopes: OrderedDict[tuple[str, float, float], Envelope] = OrderedDict()

    def read(self, number: int, battery: str, naming: Naming, hidden: bool) -> Heard:
        """Return picture and sound of a response."""
        store, pixels, sound, troubles = self._engine.store, None, None, []
        try:
            pixels = self._picture(store, battery, naming.view.item.picture)
        except TabwbError as error:
            troubles.append(str(error))
        try:
            sound = self._sound(store, number, naming, hidden=hidden)
        except TabwbError as error:
            troubles.append(error.message)
        return Heard(pixels, sound, "; ".join(troubles))

    def _picture(self, store: Store, battery: str, name: str) -> Pixels | None:
        if not name:
            return None
        if self._assets[0] != battery:
            self._assets = (battery, store.battery_assets(battery))
        data = self._assets[1].get(name)
        if data is None:
            raise TabwbError(f"the battery holds no picture {name}")
        from tabwb.workbench.shell.pictures import read_picture  # imports numpy

        return read_picture(data, name)

    def _sound(self, store: Store, number: int, naming: Naming, *, hidden: bool) -> Sound | None:
        take = naming.view.take
        if take is None:
            return None
        kept = next(
            (one for one in store.people.recordings(number) if one.uid == take.recording), None
        )
        if kept is None:
            raise TabwbError("the recording is not kept yet")
        stretch = stretch_around(take, kept.seconds)
        key = (kept.sha256, *stretch)
        if key not in self._envelopes:
            path = store.people.recording_path(kept.sha256)
            self._envelopes[key] = envelope_of(path, *stretch)
            if len(self._envelopes) > KEPT:
                self._envelopes.popitem(last=False)
        return sound_of(naming, self._envelopes[key], revealed=not hidden)
