"""How a session gives items that are answered aloud: cues, marks, scores, transcripts.

A recording is one file from *ready* to *end*; a response is a stretch of it. The caller says when
things happened, in seconds of the recording; the strategy knows no microphone. Start item, basal
and discontinuation are rules of the battery (docs/naming-rules.md); they are computed by
:mod:`tabwb.scoring.naming.summary`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.administer import consent
from tabwb.administer.session.exchange import storable
from tabwb.administer.session.session import Events, Session
from tabwb.records import events, naming
from tabwb.records.errors import StoreError, TabwbError, UsageError
from tabwb.records.naming import (
    LimitsSet,
    Observation,
    Score,
    Take,
    TextSet,
    is_recorded,
    observations_of,
)
from tabwb.records.ratings import TAKEN_BACK, Rating, check_own, failed, undefined
from tabwb.records.speakers import KeptRecording
from tabwb.records.speech import Transcript, is_typed
from tabwb.records.states import AdministrationStatus, StopReason, TrialState
from tabwb.records.trials import Attempt, AttemptEntry, Entry, EventEntry, RatingsEntry, Trial
from tabwb.scoring.naming.case import Earlier
from tabwb.scoring.naming.summary import Outcome, next_item, not_needed, should_discontinue
from tabwb.scoring.response_status import response_status
from tabwb.store.database import now
from tabwb.store.derive import Undoable
from tabwb.tasks.spoken_naming.items import listed_forms, listed_words, naming_item
from tabwb.tasks.spoken_naming.scores import (
    check_code,
    check_score,
    machine_ratings,
    named_item,
    naming_of,
    person_ratings,
)
from tabwb.tasks.spoken_naming.task import NamingItem, NamingRules, cues_of
from tabwb.tasks.spoken_naming.views import (
    UNWRITTEN,
    NamingView,
    observed,
    speech_of,
    spoken_attempt,
    with_onset,
)

if TYPE_CHECKING:
    from tabwb.administer.transcription import Job

PERSON = "person"
"""The rater where no study ID of the person who scores is given."""


class SpokenStrategy:
    """How a session gives items that are answered aloud; see :func:`spoken_in`.

    A response window opens with :meth:`show` and closes with :meth:`score` or :meth:`finish`; marks
    and cues lie in it. Every command commits first.

    Attributes:
        listener: who scores by ear from now on (a study ID), where that is another person than at
            the beginning; else empty.
        aloud: whether items that may be answered either way are answered aloud; at first, whether
            the administration has a transcriber.
        speech: how the speaker talks, as recorded last.
        listed, forms: the words of the battery's lists, and their sounds.
        recordings: of the administration.
        listening: what a listener says of a stored response.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.listener = ""
        self.aloud = session.administration.conditions.transcriber is not None
        self.speech = speech_of(session.speaker_record, session.battery.language)
        self.listed = listed_words(session.battery)
        self.forms = listed_forms(session.battery)
        self.recordings = Recordings(session)
        self.listening = Listening(self)
        self._items: dict[tuple[str, str], NamingItem] = {}
        self._said: dict[int, tuple[Trial, Earlier | None]] = {}

    # ---------------------------------------------------------------- state

    @property
    def rater(self) -> str:
        """Who scores by ear, as stored."""
        name = self.listener or self.session.administration.conditions.rater
        return f"{PERSON}:{name}" if name else PERSON

    def rules(self, trial: Trial) -> NamingRules:
        """Return the rules of a trial's subtest."""
        rules = self.session.battery.subtest(trial.plan.subtest).rules
        return rules or NamingRules(response_rule="whole-window")

    def item(self, trial: Trial) -> NamingItem:
        """Return what a trial asks for."""
        if not self.is_spoken(trial):
            raise TabwbError(
                f"item '{trial.plan.item}' is not named aloud",
                hint=f"it is answered by typing: tabwb resume {self.session.administration.id}",
            )
        place = trial.plan.subtest, trial.plan.item
        if place not in self._items:
            self._items[place] = naming_item(self.session.battery.subtest(place[0]).item(place[1]))
        return self._items[place]

    def is_spoken(self, trial: Trial) -> bool:
        """Return whether a trial is answered aloud; others are typed."""
        task = self.session.battery.subtest(trial.plan.subtest).task
        if not (task.spoken and task.typed):
            return task.spoken
        return self.aloud if trial.counting is None else is_recorded(trial)

    def is_coded(self, trial: Trial) -> bool:
        """Return whether a response is scored by ear and coded; else its text counts."""
        return self.session.battery.subtest(trial.plan.subtest).task.coded

    @property
    def unwritten(self) -> tuple[str, ...]:
        """The items that were described aloud and have no text yet."""
        return tuple(
            trial.plan.item
            for trial in self.session.trials
            if trial.counting is not None and trial.counting.metadata.get("cause") == UNWRITTEN
        )

    def view(self, number: int | None = None) -> NamingView | None:
        """Return one trial (the current one) as observed; None before the first, or if typed."""
        trial = self.session.current if number is None else self.session.history.trial(number)
        return None if trial is None or not self.is_spoken(trial) else self.whole_view(trial)

    def view_of(self, trial: Trial) -> NamingView:
        """Return a trial that is answered aloud, without what was said before it."""
        primary = self.session.plugins.configuration.study.primary_rater
        return NamingView(
            trial,
            self.item(trial),
            self.rules(trial),
            observations_of(trial),
            primary=primary,
            speech=self.speech,
            listed=self.listed,
            forms=self.forms,
        )

    def whole_view(self, trial: Trial) -> NamingView:
        """Return a trial with what was said before it: a response may be a perseveration."""
        before = self.session.history.standing[: trial.plan.number - 1]
        spoken = (self._spoken(other) for other in before if self.is_spoken(other))
        return replace(self.view_of(trial), earlier=tuple(filter(None, spoken)))

    def _spoken(self, trial: Trial) -> Earlier | None:
        number = trial.plan.number
        if number not in self._said or self._said[number][0] is not trial:
            self._said[number] = trial, self.view_of(trial).spoken
        return self._said[number][1]

    # ---------------------------------------------------------------- one item

    def show(self, picture: naming.PictureShown) -> Events:
        """Show the next picture; finish when there is none left."""
        made = self.session.next()
        for event in made:
            if isinstance(event, events.TrialStarted):
                return made + self.keep(event.trial.number, picture)
        return made

    def cue(self, at_s: float | None = None) -> Events:
        """Give the item's next cue."""
        trial = self.session.state.open_trial()
        cues = cues_of(self.rules(trial), self.item(trial))
        given = len(self.view_of(trial).cues)
        if given >= len(cues):
            raise TabwbError("this item has no further cue", hint="score it, or skip it")
        cue = cues[given]
        return self.keep(trial.plan.number, naming.Cued(given, cue.kind, cue.counts, at_s))

    def re_prompt(self, at_s: float | None = None) -> Events:
        """Ask again: what comes after it does not belong to the first response."""
        trial = self.session.state.open_trial()
        self.item(trial)
        return self.keep(trial.plan.number, naming.RePrompted(at_s))

    def mark(self, at_s: float) -> Events:
        """Mark the beginning of a new attempt of the speaker."""
        trial, mark = self.current_trial("mark"), naming.Marked(at_s)
        if self.session.awaiting or trial.counting is None:
            return self.keep(trial.plan.number, mark)
        return self.keep(trial.plan.number, mark, self.rated_with(trial, mark))

    def examiner(self, start_s: float, end_s: float) -> Events:
        """Mark a stretch in which the administrator speaks."""
        if end_s <= start_s:
            raise UsageError("the examiner's voice ends after it begins")
        trial = self.current_trial("mark")
        return self.keep(trial.plan.number, naming.ExaminerSpoke(start_s, end_s))

    def score(self, score: Score, *, take: Take | None = None, reason: str = "") -> Events:
        """Store a person's score of the current item; closes its window where that is still
        open.
        """
        check_score(score, reason)
        trial = self.coded_trial("score")
        answer = spoken_attempt(trial, take) if self.session.awaiting else None
        attempt = answer or trial.counting
        if attempt is None:
            raise TabwbError("this item has no response to score", hint="show it first")
        seen = answer is None and self.view_of(trial).revealed
        scored = naming.Scored(attempt.number, score, self.rater, reason.strip(), seen)
        rated = self.person_rated(trial, attempt, scored)
        done = self.keep(trial.plan.number, scored, [rated], answer)
        self.session.state.awaiting = False
        return done

    def finish(self, take: Take | None = None) -> Events:
        """Close the window of an item that is not scored: its response is complete."""
        session, trial = self.session, self.session.state.open_trial()
        self.item(trial)
        if self.is_coded(trial):
            raise TabwbError("this item is closed by its score", hint="score it, or skip it")
        number, answer = trial.plan.number, spoken_attempt(trial, take, coded=False)
        recorded = events.AttemptRecorded(session.administration.id, number, answer)
        done = session.commit([AttemptEntry(number, answer)], recorded)
        session.state.awaiting = False
        return done

    def transcribed(self, number: int, attempt: int, transcript: Transcript) -> Events:
        """Store what a transcriber heard in an attempt, with the ratings that follow.

        Of an item that is described, the words become the text of the response, unless a person
        wrote another text. May be called at any time: the next item never waits for it.
        """
        trial = self.session.history.trial(number)
        heard = next((other for other in trial.attempts if other.number == attempt), None)
        if heard is None:
            raise TabwbError(f"trial {number} has no attempt {attempt}")
        observation = naming.Transcribed(attempt, transcript)
        if self.is_coded(trial):
            ratings = machine_ratings(self.whole_view(trial), [transcript])
            return self.keep(number, observation, rating_entries(trial, heard, ratings))
        made = self.keep(number, observation)
        if (text := text_of(transcript, heard)) is None:
            return made
        return made + write_text(self, trial, attempt, text, transcript.transcriber)

    def waiting(
        self, spec: str, *, by_any: bool = False, typed_again: bool = False,
        lost: set[str] | None = None,
    ) -> tuple[Job, ...]:  # fmt: skip
        """Return the responses that a transcriber has not heard yet, or failed on.

        With ``by_any`` those that no other has heard either, with ``typed_again`` also those of
        which somebody typed what was said. ``lost`` gets why the sound of others cannot be read.
        """
        jobs: list[Job | None] = []
        for trial in self.session.trials:
            view = self.view(trial.plan.number)
            if view is None or view.take is None or view.take.recording in self.recordings.growing:
                continue
            heard = view.transcripts
            good = {transcript.transcriber for transcript in heard if transcript.status != "error"}
            good -= view.outdated
            if spec in good and not (typed_again and is_typed(spec)):
                continue
            if by_any and good - {spec}:
                continue
            try:
                jobs.append(self.job_of(view))
            except StoreError as error:  # lost with the program that recorded it, or damaged
                if lost is not None:
                    lost.add(str(error))
        return tuple(filter(None, jobs))

    def job_of(self, view: NamingView) -> Job | None:
        """Return what is to be transcribed of a trial: its counting response, if recorded."""
        from tabwb.administer.transcription import Job  # loads numpy

        take, attempt = view.take, view.attempt
        if take is None or attempt is None:
            return None
        return Job(
            view.trial.plan.number,
            attempt.number,
            self.recordings.file(take.recording),
            take.start_s,
            take.end_s,
            view.item.accepted,
            view.item.id,
        )

    # ---------------------------------------------------------------- asked by the session

    def in_turn(self, trial: Trial) -> Trial | None:
        """Return the trial to give next, where ``trial`` is the next one in the plan."""
        if trial.plan.practice or not self.is_spoken(trial) or not self.rules(trial).start_item:
            return trial
        return in_turn(self, trial)

    def undoes(self, target: Undoable) -> bool:
        """Return whether :meth:`undo` takes this back, and not the session itself."""
        if target.trial is None or target.what in {"skip", "void", "discontinuation"}:
            return False
        return self.is_spoken(self.session.history.trial(target.trial))

    def undo(self, target: Undoable) -> Events:
        """Take back the latest command of a person on an item; its rows stay, marked.

        A score that closed a window opens it again: the recording continues, so nothing is lost.
        """
        session, number = self.session, target.trial
        assert number is not None  # undoes() says so
        rated = _people_rated(session.history.trial(number))
        entries: list[Entry] = [EventEntry("undone", number, target.what, target.sequence)]
        opens = target.what == "answer"
        history = session.history
        before = history.steps[target.sequence - 2].entry if target.sequence > 1 else None
        scored = target.what == "score"
        if scored and isinstance(before, AttemptEntry) and before.trial == number:
            # A score that closed the window was committed with the answer before it.
            entries.append(EventEntry("undone", number, "answer", target.sequence - 1))
            opens = True
        if opens:
            entries += [
                EventEntry("undone", None, "the end", end) for end in history.endings_with(number)
            ]
        else:
            entries += self.rated_again(history.with_entries(entries).trial(number), of=rated)
        undone = events.Undone(session.administration.id, number, target.what)
        made = session.commit(entries, undone)
        session.state.reopen(number)
        if opens:
            session.state.number, session.state.awaiting = number, True
        return made

    def rated_again(self, trial: Trial, of: Sequence[Rating] = ()) -> list[RatingsEntry]:
        """Return all ratings of a trial's response again."""
        attempt = trial.counting
        if attempt is None:
            return []
        if not self.is_coded(trial):
            unwritten = attempt.metadata.get("cause") == UNWRITTEN
            return [] if unwritten else [rated_text(self.session, trial)]
        view = self.whole_view(trial)
        person = _people_rated(trial)
        left = {one.rater for one in person}
        gone = (
            undefined(one.rater, one.measure, TAKEN_BACK) for one in of if one.rater not in left
        )
        return rating_entries(
            trial, attempt, (*person, *gone, *machine_ratings(view, view.transcripts))
        )

    def keep(
        self,
        number: int | None,
        observation: Observation,
        rated: Sequence[RatingsEntry] = (),
        answer: Attempt | None = None,
    ) -> Events:
        """Store an observation with the answer that it closes and the ratings that follow."""
        session, given = self.session, self.session.administration.id
        entries: list[Entry] = []
        made: list[events.Event] = []
        if answer is not None and number is not None:
            entries.append(AttemptEntry(number, answer))
            made.append(events.AttemptRecorded(given, number, answer))
        made.append(events.Observed(given, number, observation))
        made += [events.Rated(given, entry.trial, entry.attempt, entry.ratings) for entry in rated]
        declared = session.declared([rating for entry in rated for rating in entry.ratings])
        entries += [observed(number, observation), *rated, *declared]
        return session.commit(entries, *made)

    # ---------------------------------------------------------------- for listening

    def current_trial(self, what: str) -> Trial:
        """Return the trial before the speaker, or the last one shown."""
        trial = self.session.state.current_or_error(what)
        self.item(trial)
        return trial

    def coded_trial(self, what: str) -> Trial:
        """Return the current trial, whose response is scored by ear and coded."""
        trial = self.current_trial(what)
        if not self.is_coded(trial):
            hint = "write its text, or rate it with a judge"
            raise TabwbError(f"a description takes no {what}", hint=hint)
        return trial

    def person_rated(
        self, trial: Trial, attempt: Attempt, observation: Observation
    ) -> RatingsEntry:
        """Return the ratings of people that follow from one more observation."""
        ratings = person_ratings([*self.view_of(trial).observations, observation], attempt.number)
        return RatingsEntry(trial.plan.number, attempt.number, ratings)

    def rated_with(self, trial: Trial, observation: Observation) -> list[RatingsEntry]:
        """Return all ratings of a response again, with one more observation."""
        number = trial.plan.number
        history = self.session.history.with_entry(observed(number, observation))
        return self.rated_again(history.trial(number))


def _people_rated(trial: Trial) -> tuple[Rating, ...]:
    attempt = trial.counting
    return () if attempt is None else person_ratings(observations_of(trial), attempt.number)


def instructions_of(session: Session) -> str:
    """Return what is read to the speaker before the coming item's subtest, or nothing."""
    coming = session.next_aloud()
    if coming is None:
        return ""
    instructions = session.battery.subtest(coming.plan.subtest).instructions
    return "" if instructions is None else instructions.text


class Listening:
    """What a listener says of the current response; see :attr:`SpokenStrategy.listening`.

    Every command commits first. Raises ``TabwbError`` where the current item has no response yet.
    """

    def __init__(self, spoken: SpokenStrategy) -> None:
        self.spoken = spoken

    @contextmanager
    def to(
        self, number: int, doing: str, *, listener: str = "", seen: bool = False
    ) -> Iterator[None]:
        """Make an item that has an answer the current one, to score or code it by ear."""
        session, state = self.spoken.session, self.spoken.session.state
        check_own(listener)
        if state.awaiting:
            hint = "score, skip or void it first"
            raise TabwbError("an item still waits for its answer", hint=hint)
        trial = session.history.trial(number)
        self.spoken.item(trial)
        if trial.counting is None:
            raise TabwbError(f"item {number} has no response to look at")
        before = state.number, self.spoken.listener
        state.number, self.spoken.listener = number, listener or self.spoken.listener
        try:
            store, given = session.store, session.administration
            acts = consent.Guard(store, session.plugins, given.conditions).check_listening(
                self.spoken.rater
            )
            of = f", item {trial.plan.item}, {doing}"
            store.people.log(
                *(replace(act, administration=given.id, detail=act.detail + of) for act in acts)
            )
            if seen:
                self.reveal()
            yield
        finally:
            state.number, self.spoken.listener = before

    def hear(self, text: str) -> Events:
        """Store what was heard in the current response: a word, phonemes or a whole description."""
        trial, attempt = self._answered("write down")
        if not self.spoken.is_coded(trial):
            return write_text(self.spoken, trial, attempt.number, text.strip(), self.spoken.rater)
        parsed = self.spoken.speech.read(text)
        pronunciations = tuple(" ".join(form) for form in parsed.pronunciations)
        heard = naming.Heard(
            attempt.number, text.strip(), self.spoken.rater, pronunciations, parsed.word
        )
        view = self.spoken.whole_view(trial)
        view = replace(view, observations=(*view.observations, heard))
        ratings = machine_ratings(view, view.transcripts)
        return self.spoken.keep(trial.plan.number, heard, rating_entries(trial, attempt, ratings))

    def code(self, code: str, flags: Sequence[str] = (), *, reason: str = "") -> Events:
        """Store a person's code of the current response, with flags."""
        check_code(code, flags)
        self.spoken.coded_trial("code")
        trial, attempt = self._answered("code")
        unique = tuple(dict.fromkeys(flags))
        coded = naming.Coded(attempt.number, code, self.spoken.rater, unique, reason.strip(), now())
        return self.spoken.keep(
            trial.plan.number, coded, [self.spoken.person_rated(trial, attempt, coded)]
        )

    def set_onset(self, onset_s: float, *, reason: str = "") -> Events:
        """Move the onset of the current response to this second of the recording."""
        trial, attempt = self._answered("mark")
        take = self._recorded(trial)
        if not take.start_s <= onset_s <= take.end_s:
            raise UsageError(
                f"an onset at {onset_s:g} s is outside of the response",
                allowed=f"{take.start_s:g} to {take.end_s:g} s of the recording",
            )
        onset = naming.OnsetSet(attempt.number, onset_s, self.spoken.rater, reason.strip(), now())
        return self.spoken.keep(trial.plan.number, onset)

    def set_limits(self, start_s: float, end_s: float, *, reason: str = "") -> Events:
        """Set from where to where the current response lies in its recording.

        The onset is measured again in between, and the rules look at what lies there. Transcripts
        made before are cut to it until a transcriber hears the response again.
        """
        trial, attempt = self._answered("mark")
        take = self._recorded(trial)
        limits = LimitsSet(attempt.number, start_s, end_s, self.spoken.rater, reason.strip(), now())
        measured = measured_limits(limits, self.spoken.recordings.file(take.recording))
        return self.spoken.keep(
            trial.plan.number, measured, self.spoken.rated_with(trial, measured)
        )

    def reveal(self) -> Events:
        """Note that the machine's verdict on the current response is shown from now on."""
        trial, attempt = self._answered("reveal")
        if self.spoken.view_of(trial).revealed:
            return ()
        return self.spoken.keep(trial.plan.number, naming.Revealed(attempt.number))

    def _answered(self, what: str) -> tuple[Trial, Attempt]:
        trial = self.spoken.current_trial(what)
        if trial.counting is None:
            raise TabwbError("this item has no response yet", hint="score it first")
        return trial, trial.counting

    def _recorded(self, trial: Trial) -> Take:
        take = self.spoken.view_of(trial).take
        if take is None:
            raise TabwbError("nothing was recorded of this response")
        return take


class Recordings:
    """Stores sound files of a session and finds them; see :attr:`SpokenStrategy.recordings`.

    Attributes:
        growing: files of recordings that are being made, by uid.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.growing: dict[str, Path] = {}

    def keep(self, uid: str, path: Path) -> str:
        """Store a whole sound file as it is, and return the SHA-256 of its bytes."""
        from tabwb.speech.files import info  # numpy, which is not loaded before there is a take

        sound, given = info(path), self.session.administration
        kept = KeptRecording(uid, sound.seconds, sound.rate, sound.channels)
        people = self.session.store.people
        return people.keep_recording(given.id, kept, path, who=given.conditions.rater)

    def file(self, uid: str) -> Path:
        """Return the file of a recording that is stored or being made."""
        if uid in self.growing:
            return self.growing[uid]
        people = self.session.store.people
        for kept in people.recordings(self.session.administration.id):
            if kept.uid == uid:
                return people.recording_path(kept.sha256)
        raise StoreError(f"recording {uid} is not kept yet", hint="end the recording first")


CHANGED = "the text was changed after it was judged"
"""The reason of the ratings of a judge that read another text; it can judge again."""


def text_of(transcript: Transcript, attempt: Attempt) -> str | None:
    """Return the text that a transcript gives a response."""
    if transcript.unit != "words" or transcript.status == "error":
        return None
    by = attempt.metadata.get("text_by", "")
    text = storable(" ".join(segment.phoneme for segment in transcript.segments))
    return None if TextSet.is_person(by) or (by and text == attempt.response) else text


def write_text(spoken: SpokenStrategy, trial: Trial, attempt: int, text: str, by: str) -> Events:
    """Store the text of a response, with the ratings of the scorers and judges.

    Args:
        spoken: of the session.
        trial: of the response.
        attempt: number of the response.
        text: the text.
        by: the transcriber's spec, or the rater.
    """
    session, number, text = spoken.session, trial.plan.number, storable(text)
    status = response_status(
        text,
        StopReason.NONE,
        trial.plan.prompt,
        kind=session.battery.subtest(trial.plan.subtest).task.text_kind,
        language=session.battery.language,
    )
    written = TextSet(attempt, text, status.value, by, now())
    history = session.history.with_entry(observed(number, written))
    return spoken.keep(number, written, [rated_text(session, history.trial(number))])


def rated_text(session: Session, trial: Trial) -> RatingsEntry:
    """Return the ratings of a text; those of judges that read another text are in error."""
    attempt = trial.counting
    assert attempt is not None  # there is a text
    rated = session.raters.rate(trial.plan, attempt, session.history.standing)
    raters = {rating.rater for rating in rated}
    stale = tuple(
        failed(rating.rater, rating.measure, CHANGED)
        for rating in trial.ratings
        if rating.rater not in raters
    )
    return RatingsEntry(trial.plan.number, attempt.number, (*rated, *stale))


def rating_entries(trial: Trial, attempt: Attempt, ratings: Sequence[Rating]) -> list[RatingsEntry]:
    """Return the entry that stores ratings of a response; none without ratings."""
    if not ratings:
        return []
    return [RatingsEntry(trial.plan.number, attempt.number, tuple(ratings))]


def measured_limits(limits: LimitsSet, recording: Path) -> LimitsSet:
    """Return limits with the onset within them."""
    from tabwb.speech.files import info, read_clip
    from tabwb.speech.level import onset

    seconds = info(recording).seconds
    if not 0.0 <= limits.start_s < limits.end_s <= seconds:
        raise UsageError(
            f"{limits.start_s:g} to {limits.end_s:g} s is not a stretch of the recording",
            allowed=f"0 to {seconds:g} s, the start before the end",
        )
    return with_onset(limits, onset(*read_clip(recording, limits.start_s, limits.end_s)))


UNRECORDED = "practice, not recorded"
CREDITED = "before the start item: credited by the basal, not given"


def outcomes(spoken: SpokenStrategy, subtest: str) -> dict[str, Outcome | None]:
    """Return what each item of a subtest that was given counts as, in the order given."""
    given = _given(spoken, subtest)
    named = [named_item(naming_of(spoken.view_of(trial))) for trial in given]
    return {item.item: item.outcome if item.status == "answered" else None for item in named}


def _given(spoken: SpokenStrategy, subtest: str) -> list[Trial]:
    """Return the trials of a subtest that were given, without practice, in the order given."""
    history = spoken.session.history
    begun: dict[int, int] = {}
    for step in history.steps:
        if step.entry.trial is not None:
            begun.setdefault(step.entry.trial, step.sequence)
    given = [
        trial
        for trial in history.standing
        if trial.plan.subtest == subtest
        and not trial.plan.practice
        and trial.state not in {TrialState.PLANNED, TrialState.NOT_ADMINISTERED}
    ]
    return sorted(given, key=lambda trial: begun.get(trial.plan.number, 0))


def in_turn(spoken: SpokenStrategy, trial: Trial) -> Trial | None:
    """Return the trial to give next, in the order that the rules of its subtest ask for.

    Items that the basal credits become *not administered*.
    """
    rules = spoken.rules(trial)
    session = spoken.session
    if session.administration.conditions.item_order == "shuffled":
        return trial
    planned = {
        other.plan.item: other
        for other in session.history.standing
        if other.plan.subtest == trial.plan.subtest
        and other.plan.replicate == trial.plan.replicate
        and not other.plan.practice
    }
    history = outcomes(spoken, trial.plan.subtest)
    chosen = next_item(list(planned), history, rules.start_item, rules.basal)
    if chosen is not None:
        return planned[chosen]
    credited = not_needed(list(planned), history, rules.start_item, rules.basal)
    if not credited:
        return trial
    numbers = (planned[item].plan.number for item in credited)
    session.commit([EventEntry("not-needed", number, CREDITED) for number in numbers])
    following = session.state.first_planned
    return None if following is None else spoken.in_turn(following)


def leave_out(spoken: SpokenStrategy) -> None:
    """Make what recordings from elsewhere need not contain *not administered*.

    That is practice, and what the basal of its subtest credits. The order in which items were given
    is unknown here, so the start item and the end of a subtest ask for nothing more.
    """
    entries: list[EventEntry] = []
    for trial in spoken.session.waiting(aloud=True):
        plan, rules = trial.plan, spoken.rules(trial)
        if plan.practice:
            entries.append(EventEntry("not-needed", plan.number, UNRECORDED))
        elif rules.start_item:
            subtest = spoken.session.battery.subtest(plan.subtest)
            items = [item.id for item in subtest.items if not item.practice]
            history = outcomes(spoken, plan.subtest)
            if plan.item in not_needed(items, history, rules.start_item, rules.basal):
                entries.append(EventEntry("not-needed", plan.number, CREDITED))
    if entries:
        spoken.session.commit(entries)


def reason_to_discontinue(spoken: SpokenStrategy) -> str:
    """Return why the battery's rule says that the current subtest may end, or nothing."""
    trial = spoken.session.current
    if trial is None or not spoken.is_spoken(trial):
        return ""
    if (rule := spoken.rules(trial).discontinue) is None:
        return ""
    last = _last_known(spoken, trial.plan.subtest, rule.after)
    outcomes = [outcome for _, outcome in reversed(last)]
    if not should_discontinue(outcomes, rule.after, rule.counts_cued):
        return ""
    row = "1 item was" if rule.after == 1 else f"{rule.after} items in a row were"
    return f"{row} not right: the battery's rule says to end here"


def _last_known(
    spoken: SpokenStrategy, subtest: str, most: int
) -> list[tuple[Trial, Outcome | None]]:
    """Return the items given last that have an outcome, the last first, and no more than needed."""
    found: list[tuple[Trial, Outcome | None]] = []
    for trial in reversed(_given(spoken, subtest)):
        item = named_item(naming_of(spoken.view_of(trial)))
        if item.status == "answered" and item.outcome is not None:
            found.append((trial, item.outcome))
            if len(found) == most or item.outcome == "right":
                break
    return found


GOES_ON = "not discontinued"
"""Begins the note of an examiner who gives further items although the rule is met."""


def reason_to_end(spoken: SpokenStrategy) -> str:
    """Return why the subtest should end here, where the examiner has to decide it; else nothing.

    The examiner decides between two items. Who went on is asked again after as many items.
    """
    session, trial = spoken.session, spoken.session.current
    if session.status is not AdministrationStatus.RUNNING or session.awaiting or trial is None:
        return ""
    if not any(_is_left(other, trial.plan.subtest) for other in session.history.standing):
        return ""
    rule = spoken.rules(trial).discontinue if spoken.is_spoken(trial) else None
    if rule is None or not (reason := reason_to_discontinue(spoken)):
        return ""
    row = _last_known(spoken, trial.plan.subtest, rule.after)
    decided = any(note.startswith(GOES_ON) for other, _ in row for note in other.notes)
    return "" if decided else reason


def end_subtest(spoken: SpokenStrategy) -> Events:
    """End the current subtest as the battery's rule says; the reason is stored.

    Its other items become *not administered*; without items of other subtests the administration
    is discontinued.
    """
    session, trial = spoken.session, spoken.session.current
    reason = reason_to_end(spoken)
    if trial is None or not reason:
        raise TabwbError("the battery's rule does not say to end here", hint="give the next item")
    standing, subtest = session.history.standing, trial.plan.subtest
    others = (other for other in standing if other.state is TrialState.PLANNED)
    if all(other.plan.subtest == subtest for other in others):
        return session.discontinue(reason)
    numbers = (other.plan.number for other in standing if _is_left(other, subtest))
    return session.commit([EventEntry("not-needed", number, reason) for number in numbers])


def go_on(spoken: SpokenStrategy, why: str = "") -> Events:
    """Store that the examiner gives further items although the rule is met."""
    if not (reason := reason_to_end(spoken)):
        raise TabwbError("the battery's rule does not say to end here", hint="give the next item")
    words = f" ({why.strip()})" if why.strip() else ""
    return spoken.session.corrections.note(f"{GOES_ON}{words}: {reason}")


def _is_left(trial: Trial, subtest: str) -> bool:
    return trial.state is TrialState.PLANNED and trial.plan.subtest == subtest


def undo_correction(session: Session, number: int) -> Events:
    """Take back the latest correction of a response: onset, limits, score, word or code.

    Only the latest command of an administration can be taken back. The response itself, with the
    score that closed its window, stays.
    """
    history = session.history
    target = history.undoable
    what = None if target is None else target.what
    before = None
    if target is not None and target.sequence > 1:
        before = history.steps[target.sequence - 2].entry
    closes = (
        isinstance(before, AttemptEntry) and target is not None and before.trial == target.trial
    )
    if target is None or target.trial is None or what == "answer" or closes:
        raise TabwbError(
            "there is no correction to take back",
            hint="the response itself stays; v declares it void",
        )
    if target.trial != number:
        item = history.trial(target.trial).plan.item
        raise TabwbError(
            f"the latest correction is of item {target.trial}, {item}: {what}",
            hint="mark that response to take it back",
        )
    return session.corrections.undo()
