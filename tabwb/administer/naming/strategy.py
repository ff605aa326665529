"""How a session gives items that are answered aloud: cues, marks, scores, transcripts.

A recording is one file from *ready* to *end*; a response is a stretch of it. The caller says when
things happened, in seconds of the recording; the strategy knows no microphone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabwb.administer.naming import order
from tabwb.administer.naming.listening import Listening
from tabwb.administer.naming.recordings import Recordings
from tabwb.administer.naming.responses import rated_text, rating_entries, text_of, write_text
from tabwb.administer.naming.scores import (
    check_score,
    machine_ratings,
    person_ratings,
)
from tabwb.administer.naming.views import (
    UNWRITTEN,
    NamingView,
    is_recorded,
    observations_of,
    observed,
    speech_of,
    spoken_attempt,
)
from tabwb.administer.session.session import Events, Session
from tabwb.battery.naming import listed_forms, listed_words, naming_item
from tabwb.records import events, naming
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.naming import Observation, Score, Take
from tabwb.records.ratings import TAKEN_BACK, Rating, undefined
from tabwb.records.speech import Transcript
from tabwb.records.states import TrialState
from tabwb.records.trials import Attempt, AttemptEntry, Entry, EventEntry, RatingsEntry, Trial
from tabwb.scoring.naming.case import Earlier
from tabwb.store.derive import Undoable
from tabwb.tasks.spoken_naming.rules import NamingItem, NamingRules, cues_of

PERSON = "person"
"""The rater where no study ID of the person who scores is given."""


class SpokenStrategy:
    """How a session gives items that are answered aloud; see :attr:`Session.spoken`.

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
        rules = self.session.battery.subtest(trial.plan.subtest).naming
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

    def waiting(self, *, aloud: bool) -> tuple[Trial, ...]:
        """Return the items that wait to be answered aloud, or typed, in the battery's order."""
        return tuple(
            trial
            for trial in self.session.trials
            if trial.state is TrialState.PLANNED and self.is_spoken(trial) == aloud
        )

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

    def next_typed(self) -> Events:
        """Show the next item that is typed; pause where only others are left."""
        typed = self.waiting(aloud=False)
        if not typed and self.waiting(aloud=True):
            return self.session.pause("the other items are named aloud")
        return self.session.begin_at(typed[0].plan.number) if typed else self.session.next()

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

    # ---------------------------------------------------------------- asked by the session

    def in_turn(self, trial: Trial) -> Trial | None:
        """Return the trial to give next, where ``trial`` is the next one in the plan."""
        if trial.plan.practice or not self.is_spoken(trial) or not self.rules(trial).start_item:
            return trial
        return order.in_turn(self, trial)

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
