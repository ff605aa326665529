"""A naming battery given to a person: pictures shown, cues given, responses heard and scored.

What is recorded is one file from *ready* to *end*; a response is a stretch of it. The session knows
times and files, never a microphone: who drives it (the workbench, or a folder of files) says when
things happened, in seconds of the recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from tabwb.administer import consent
from tabwb.administer.naming.raters import machine_ratings, person_ratings
from tabwb.administer.naming.responses import check_code, check_score, measured_limits, taken_up
from tabwb.administer.naming.state import NamingStanding, now, observed, spoken
from tabwb.administer.session.state import Events
from tabwb.battery.naming import cues_of
from tabwb.records import events
from tabwb.records.entries import AttemptEntry, Entry, EventEntry, RatingsEntry
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.naming import (
    Coded,
    Cued,
    ExaminerSpoke,
    Heard,
    LimitsSet,
    Marked,
    Observation,
    OnsetSet,
    PictureShown,
    RecordingBegan,
    RecordingEnded,
    RePrompted,
    Revealed,
    Score,
    Scored,
    Take,
    Transcribed,
)
from tabwb.records.speech import Transcript
from tabwb.records.trials import Attempt, Trial
from tabwb.scoring.naming.heard import parse_heard


class NamingSession(NamingStanding):
    """An open administration of a naming battery. Made by :mod:`tabwb.administer.session.setup`.

    A response window opens with :meth:`show` and closes with :meth:`score` or :meth:`re_prompt`;
    marks and cues lie in it. Every command commits first.
    """

    # ---------------------------------------------------------------- recordings

    def ready(self, began: RecordingBegan) -> Events:
        """The microphone is open, or a file is taken up: everything from here on is in it."""
        return self._observe(None, began)

    def end(self, ended: RecordingEnded) -> Events:
        """A recording is whole and kept."""
        return self._observe(None, ended)

    def take_up_unheard(self, number: int) -> Events:
        """A response of which no recording is at hand, only what others wrote down of it."""
        return self.take_up(number, None, None, None)

    def take_up(
        self,
        number: int,
        began: RecordingBegan | None,
        take: Take | None,
        ended: RecordingEnded | None,
    ) -> Events:
        """A response that was recorded elsewhere: all of it in one commit.

        An answer that the item has already becomes void: this take follows it. A recording that
        holds several responses is told of with each.
        """
        self._must_run()
        trial = self._history.trial(number)
        entries, made = taken_up(self.administration.id, trial, began, take, ended)
        done = self._commit(entries, *made)
        self._current, self._awaiting = number, False
        return done

    # ---------------------------------------------------------------- one item

    def next_typed(self) -> Events:
        """Put the next item that is typed before the speaker; pause where only others are left."""
        typed = self.waiting_typed
        if not typed and self.waiting_aloud:
            return self.pause("the other items are named aloud")
        return self.begin_at(typed[0].plan.number) if typed else self.next()

    def show(self, picture: PictureShown) -> Events:
        """Put the next picture before the speaker; finish when there is none left."""
        made = self.next()
        started = [event for event in made if isinstance(event, events.TrialStarted)]
        if not started:
            return made
        return made + self._observe(started[0].trial.number, picture)

    def cue(self, at_s: float | None = None) -> Events:
        """Give the item's next cue.

        Raises:
            TabwbError: the item has none left.
        """
        trial = self._open_trial()
        cues = cues_of(self.rules(trial), self.item(trial))
        given = len(self._view(trial).cues)
        if given >= len(cues):
            raise TabwbError("this item has no further cue", hint="score it, or skip it")
        cue = cues[given]
        return self._observe(trial.plan.number, Cued(given, cue.kind, cue.counts, at_s))

    def re_prompt(self, at_s: float | None = None) -> Events:
        """Ask again: what comes after it does not belong to the first response."""
        return self._observe(self._open_spoken().plan.number, RePrompted(at_s))

    def mark(self, at_s: float) -> Events:
        """Say that a new attempt of the speaker begins here."""
        trial = self._spoken_or_error("mark")
        if self._awaiting or trial.counting is None:
            return self._observe(trial.plan.number, Marked(at_s))
        number = trial.plan.number
        entry = observed(number, Marked(at_s))
        rated = self._rated_again(self._history.with_entries([entry]).trial(number))
        return self._commit(
            [entry, *rated],
            events.Observed(self.administration.id, number, Marked(at_s)),
            *self._told(trial, rated),
        )

    def examiner(self, start_s: float, end_s: float) -> Events:
        """Say that what is heard here is the administrator.

        Raises:
            UsageError: the end does not follow the start.
        """
        if end_s <= start_s:
            raise UsageError("the examiner's voice ends after it begins")
        trial = self._spoken_or_error("mark")
        return self._observe(trial.plan.number, ExaminerSpoke(start_s, end_s))

    def score(self, score: Score, *, take: Take | None = None, reason: str = "") -> Events:
        """A person's score of the current item; closes its window where that is still open.

        Args:
            score: see :data:`tabwb.records.naming.Score`.
            take: the response's stretch of the recording; needed while the window is open and
                something is recorded.
            reason: needed for ``not-scorable``, any text; of ``no-response`` what kind it was
                (:data:`tabwb.scoring.naming.codes.NO_RESPONSE_KINDS`); of others none.

        Raises:
            UsageError: the score, or its reason, is not one of those allowed.
            TabwbError: it cannot be scored now.
        """
        check_score(score, reason)
        trial = self._spoken_or_error("score")
        number = trial.plan.number
        entries: list[Entry] = []
        made: list[events.Event] = []
        attempt = trial.counting
        if self._awaiting:
            attempt = spoken(trial, take)
            entries.append(AttemptEntry(number, attempt))
            made.append(events.AttemptRecorded(self.administration.id, number, attempt))
        if attempt is None:
            raise TabwbError("this item has no response to score", hint="show it first")
        seen = any(
            isinstance(each, Revealed) and each.attempt == attempt.number
            for each in self._view(trial).observations
        )
        said = Scored(attempt.number, score, self.rater, reason.strip(), seen)
        entries.append(observed(number, said))
        made.append(events.Observed(self.administration.id, number, said))
        rated = self._person_rated(trial, attempt, [said])
        entries.append(rated)
        made.append(events.Rated(self.administration.id, number, attempt.number, rated.ratings))
        done = self._commit(entries, *made)
        self._awaiting = False
        return done

    def hear(self, text: str) -> Events:
        """Write down what was heard in the current response: a plain word, or phonemes.

        Raises:
            TabwbError: it can be neither.
        """
        trial, attempt = self._scored("write down")
        said = parse_heard(text, self.speech.notation)
        pronunciations = tuple(" ".join(form) for form in said.pronunciations)
        heard = Heard(attempt.number, text.strip(), self.rater, pronunciations, said.word)
        entry = observed(trial.plan.number, heard)
        rated = self._machine_rated(trial, attempt, heard=heard)
        entries: list[Entry] = [entry, *rated]
        return self._commit(
            entries,
            events.Observed(self.administration.id, trial.plan.number, heard),
            *self._told(trial, rated),
        )

    def code(self, code: str, flags: Sequence[str] = (), *, reason: str = "") -> Events:
        """A person's code of the current response, with flags.

        Args:
            code: of :data:`tabwb.scoring.naming.codes.CODES`.
            flags: of :data:`tabwb.scoring.naming.codes.FLAGS`.
            reason: why an earlier code is corrected, or empty.

        Raises:
            UsageError: no such code or flag; the message lists those that are.
        """
        check_code(code, flags)
        trial, attempt = self._scored("code")
        kept = tuple(dict.fromkeys(flags))
        said = Coded(attempt.number, code, self.rater, kept, reason.strip(), now())
        rated = self._person_rated(trial, attempt, [said])
        number = trial.plan.number
        return self._commit(
            [observed(number, said), rated],
            events.Observed(self.administration.id, number, said),
            events.Rated(self.administration.id, number, attempt.number, rated.ratings),
        )

    def set_onset(self, onset_s: float, *, reason: str = "") -> Events:
        """A person moves the onset of the current response to this second of the recording.

        Raises:
            UsageError: it lies outside of the response; the message says from where to where.
        """
        trial, attempt = self._scored("mark")
        take = self._recorded(trial)
        if not take.start_s <= onset_s <= take.end_s:
            raise UsageError(
                f"an onset at {onset_s:g} s is outside of the response",
                allowed=f"{take.start_s:g} to {take.end_s:g} s of the recording",
            )
        said = OnsetSet(attempt.number, onset_s, self.rater, reason.strip(), now())
        return self._observe(trial.plan.number, said)

    def set_limits(self, start_s: float, end_s: float, *, reason: str = "") -> Events:
        """A person says from where to where the current response lies in its recording.

        The onset is measured anew in between, and the rules look at what lies there. Transcripts
        made before are cut to it until a transcriber hears the response again.

        Raises:
            UsageError: this is no stretch of the recording.
        """
        trial, attempt = self._scored("mark")
        take = self._recorded(trial)
        number = trial.plan.number
        said = LimitsSet(attempt.number, start_s, end_s, self.rater, reason.strip(), now())
        measured = measured_limits(said, self.recording_path(take.recording))
        entry = observed(number, measured)
        rated = self._rated_again(self._history.with_entries([entry]).trial(number))
        return self._commit(
            [entry, *rated],
            events.Observed(self.administration.id, number, measured),
            *self._told(trial, rated),
        )

    def reveal(self) -> Events:
        """What the machine says of the current response is shown from now on."""
        trial, attempt = self._scored("reveal")
        if self._view(trial).revealed:
            return ()
        return self._observe(trial.plan.number, Revealed(attempt.number))

    def transcribed(self, number: int, attempt: int, transcript: Transcript) -> Events:
        """Keep what a transcriber heard in an attempt, with the machine's ratings of it.

        May come at any time, for any trial: the next item never waits for it.

        Raises:
            TabwbError: the trial has no such attempt.
        """
        trial = self._history.trial(number)
        said = Transcribed(attempt, transcript)
        taken = next((one for one in trial.attempts if one.number == attempt), None)
        if taken is None:
            raise TabwbError(f"trial {number} has no attempt {attempt}")
        entries: list[Entry] = [observed(number, said)]
        rated = self._machine_rated(trial, taken, transcript=transcript)
        return self._commit(
            [*entries, *rated],
            events.Observed(self.administration.id, number, said),
            *self._told(trial, rated),
        )

    def undo(self) -> Events:
        """Take back the latest command of a person; its rows stay, marked.

        A score that closed a window opens it again: the recording continues, so nothing is lost.

        Raises:
            TabwbError: there is nothing to take back.
        """
        target = self._history.undoable
        if target is None:
            raise TabwbError("there is nothing to take back")
        number = target.trial
        if number is None or target.what in {"skip", "void", "discontinuation"}:
            return super().undo()
        if not self.is_naming(self._history.trial(number)):
            return super().undo()
        entries: list[Entry] = [EventEntry("undone", number, target.what, target.sequence)]
        reopened = self._closing_score(target.sequence, number)
        if reopened is not None:
            entries.append(EventEntry("undone", number, "answer", reopened))
        history = self._history.with_entries(entries)
        if target.what == "answer" or reopened is not None:
            entries += [
                EventEntry("undone", None, "the end", sequence)
                for sequence in self._history.endings
            ]
        else:
            entries += self._rated_again(history.trial(number))
        made = self._commit(entries, events.Undone(self.administration.id, number, target.what))
        self._settled = 0
        self._failed.discard(number)
        if target.what == "answer" or reopened is not None:
            self._current, self._awaiting = number, True
        return made

    # ---------------------------------------------------------------- afterwards

    @contextmanager
    def looking_at(
        self, number: int, doing: str, *, listener: str = "", seen: bool = False
    ) -> Iterator[None]:
        """For this while an item that has an answer is the current one, to score or code it by ear.

        Args:
            number: of its trial.
            doing: what for (score, heard, code); the log keeps it.
            listener: who listens (a study ID), where that is another than who began.
            seen: whether what the machine says of it stands before the listener's eyes.

        Raises:
            NoConsent: the speaker has not agreed that people rate what was said.
            TabwbError: an item waits for its answer, or this one has none.
        """
        if self._awaiting:
            raise TabwbError(
                "an item still waits for its answer", hint="score, skip or void it first"
            )
        trial = self._history.trial(number)
        self.item(trial)  # one that is named aloud
        if trial.counting is None:
            raise TabwbError(f"item {number} has no response to look at")
        before = self._current, self.listener
        self._current, self.listener = number, listener or self.listener
        try:
            given = self.administration
            acts = consent.check_listening(self.store, self.plugins, given.conditions, self.rater)
            of = f", item {trial.plan.item}, {doing}"
            self.store.log(
                *(replace(act, administration=given.id, detail=act.detail + of) for act in acts)
            )
            if seen:
                self.reveal()
            yield
        finally:
            self._current, self.listener = before

    # ---------------------------------------------------------------- inside

    def _spoken_or_error(self, what: str) -> Trial:
        trial = self._current_or_error(what)
        self.item(trial)
        return trial

    def _open_spoken(self) -> Trial:
        trial = self._open_trial()
        self.item(trial)
        return trial

    def _scored(self, what: str) -> tuple[Trial, Attempt]:
        trial = self._spoken_or_error(what)
        attempt = trial.counting
        if attempt is None:
            raise TabwbError("this item has no response yet", hint="score it first")
        return trial, attempt

    def _recorded(self, trial: Trial) -> Take:
        take = self._view(trial).take
        if take is None:
            raise TabwbError("nothing was recorded of this response")
        return take

    def _person_rated(
        self, trial: Trial, attempt: Attempt, more: Sequence[Observation]
    ) -> RatingsEntry:
        said = [*self._view(trial).observations, *more]
        ratings = person_ratings(said, attempt.number)
        return RatingsEntry(trial.plan.number, attempt.number, ratings)

    def _machine_rated(
        self,
        trial: Trial,
        attempt: Attempt,
        *,
        transcript: Transcript | None = None,
        heard: Heard | None = None,
    ) -> list[RatingsEntry]:
        """What the rules say of a new transcript, or of all transcripts once a word is known."""
        view = self._whole_view(trial)
        if heard is not None:
            view = replace(view, observations=(*view.observations, heard))
        heard_by = view.transcripts_of(attempt.number)
        ratings = machine_ratings(view, [transcript] if transcript is not None else heard_by)
        return [RatingsEntry(trial.plan.number, attempt.number, ratings)] if ratings else []

    def _rated_again(self, trial: Trial) -> list[RatingsEntry]:
        """The ratings of a trial once more: one of its observations was taken back, or all are."""
        if not self.is_naming(trial):
            return super()._rated_again(trial)
        attempt = trial.counting
        if attempt is None:
            return []
        view = self._whole_view(trial)
        person = person_ratings(view.observations, attempt.number)
        ratings = (*person, *machine_ratings(view, view.transcripts_of(attempt.number)))
        return [RatingsEntry(trial.plan.number, attempt.number, ratings)] if ratings else []

    def _told(self, trial: Trial, rated: Sequence[RatingsEntry]) -> list[events.Event]:
        return [
            events.Rated(self.administration.id, trial.plan.number, entry.attempt, entry.ratings)
            for entry in rated
        ]
