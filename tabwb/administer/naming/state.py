"""What stands of a naming battery given to a person: rules, outcomes, recordings, the next item."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tabwb.administer.naming.scores import named_item, naming_of
from tabwb.administer.naming.views import NamingView, Speech, speech_of, view_of
from tabwb.administer.session.session import Session
from tabwb.administer.session.state import Events
from tabwb.battery.naming import NamingItem, NamingRules, listed_words, naming_item
from tabwb.records import events
from tabwb.records.entries import AttemptEntry, EventEntry
from tabwb.records.errors import StoreError, TabwbError
from tabwb.records.naming import Observation, Take, observation_to_json
from tabwb.records.speakers import KeptRecording
from tabwb.records.states import (
    AttemptState,
    ResponseKind,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import Attempt, Trial
from tabwb.scoring.naming.case import Earlier
from tabwb.scoring.naming.decide import Outcome, next_item, not_needed, should_discontinue

_UNRECORDED = "practice, not recorded"
_CREDITED = "before the start item: credited by the basal, not given"
PERSON = "person"
"""The rater where no study ID of the person who scores is given."""


class NamingStanding(Session):
    """An open administration of a naming battery as it stands.

    :class:`~tabwb.administer.naming.session.NamingSession` moves it on.
    """

    _speech: Speech | None = None
    _listed: frozenset[str] | None = None
    listener = ""
    """Who scores by ear from now on (a study ID), where that is another than at the beginning."""

    @property
    def rater(self) -> str:
        """Who scores by ear, as stored."""
        name = self.listener or self.administration.conditions.rater
        return f"{PERSON}:{name}" if name else PERSON

    def rules(self, trial: Trial) -> NamingRules:
        """The rules of a trial's subtest."""
        return self.battery.subtest(trial.plan.subtest).naming or NamingRules()

    def item(self, trial: Trial) -> NamingItem:
        """What a trial asks for.

        Raises:
            TabwbError: it is answered by typing.
        """
        if not self.is_naming(trial):
            raise TabwbError(
                f"item '{trial.plan.item}' is not named aloud",
                hint=f"it is answered by typing: tabwb resume {self.administration.id}",
            )
        return naming_item(self.battery.subtest(trial.plan.subtest).item(trial.plan.item))

    def is_naming(self, trial: Trial) -> bool:
        """Whether a trial is spoken naming; others are typed or read."""
        return self.battery.subtest(trial.plan.subtest).response is ResponseKind.NAMING

    @property
    def waiting_aloud(self) -> tuple[Trial, ...]:
        """The items that still wait to be named aloud, in the battery's order."""
        return tuple(one for one in self._planned() if self.is_naming(one))

    @property
    def waiting_typed(self) -> tuple[Trial, ...]:
        """The items that still wait for a typed answer, in the battery's order."""
        return tuple(one for one in self._planned() if not self.is_naming(one))

    def view(self, number: int | None = None) -> NamingView | None:
        """All that stands of one trial (the current one).

        None before the first, and of an item that is not named aloud.
        """
        trial = self.current if number is None else self._history.trial(number)
        if trial is None or not self.is_naming(trial):
            return None
        return self._whole_view(trial)

    def _whole_view(self, trial: Trial) -> NamingView:
        item, rules = self.item(trial), self.rules(trial)
        return view_of(
            trial, item, rules, self.earlier(trial), self.primary, self.speech, self.listed
        )

    @property
    def primary(self) -> str:
        """The rater whose scores count, as the study says; empty: whoever scored first."""
        return self.plugins.configuration.study.primary_rater

    @property
    def speech(self) -> Speech:
        """How the speaker talks, as recorded last."""
        if self._speech is None:
            self._speech = speech_of(self.speaker_record)
        return self._speech

    @property
    def listed(self) -> frozenset[str]:
        """The words of the battery's lists."""
        if self._listed is None:
            self._listed = listed_words(self.battery)
        return self._listed

    def earlier(self, trial: Trial) -> tuple[Earlier, ...]:
        """What was said before a trial, oldest first: a response may return (perseveration)."""
        found: list[Earlier] = []
        for one in self._history.standing:
            if one.plan.number >= trial.plan.number:
                break
            if self.is_naming(one):
                said = view_of(
                    one, self.item(one), self.rules(one), (), self.primary, self.speech, self.listed
                ).spoken
                if said is not None:
                    found.append(said)
        return tuple(found)

    def outcomes(self, subtest: str) -> dict[str, Outcome | None]:
        """What each item of a naming subtest that was given counts as, in the order given."""
        given = [
            trial
            for trial in self._history.standing
            if trial.plan.subtest == subtest
            and not trial.plan.practice
            and trial.state not in {TrialState.PLANNED, TrialState.NOT_ADMINISTERED}
        ]
        found: dict[str, Outcome | None] = {}
        for trial in sorted(given, key=self._given_at):
            named = named_item(naming_of(self._view(trial)))
            found[trial.plan.item] = named.outcome if named.status == "answered" else None
        return found

    @property
    def to_discontinue(self) -> str:
        """Why the battery's rule says that the current subtest may end, or empty."""
        trial = self.current
        if trial is None or not self.is_naming(trial):
            return ""
        rule = self.rules(trial).discontinue
        if rule is None:
            return ""
        history = list(self.outcomes(trial.plan.subtest).values())
        if not should_discontinue(history, rule.after, rule.counts_cued):
            return ""
        return f"{rule.after} items in a row were not right: the battery's rule says to end here"

    # ---------------------------------------------------------------- recordings

    def keep_recording(self, uid: str, path: Path) -> str:
        """Keep a whole sound file as it is; the SHA-256 of its bytes.

        Raises:
            TabwbError: it is no sound file, or cannot be kept.
        """
        from tabwb.speech.files import info  # numpy, which is not there before a take is

        sound = info(path)
        kept = KeptRecording(uid, sound.seconds, sound.rate, sound.channels)
        return self.store.keep_recording(
            self.administration.id, kept, path, who=self.administration.conditions.rater
        )

    def recording_path(self, uid: str) -> Path:
        """Where a kept recording lies.

        Raises:
            StoreError: it is not kept, or damaged.
        """
        for kept in self.store.recordings(self.administration.id):
            if kept.uid == uid:
                return self.store.recording_path(kept.sha256)
        raise StoreError(f"recording {uid} is not kept yet", hint="end the recording first")

    @property
    def observations(self) -> tuple[str, ...]:
        """What was observed of the administration as a whole, as JSON."""
        return self._history.observations

    def leave_out(self) -> Events:
        """Leave out what recordings made elsewhere need not hold: it becomes *not administered*.

        That is practice, and what the basal of its subtest credits. In which order they were given
        nobody here knows, so that the start item and the end of a subtest ask for nothing more.
        """
        found: dict[int, str] = {}
        for trial in self.waiting_aloud:
            plan, rules = trial.plan, self.rules(trial)
            if plan.practice:
                found[plan.number] = _UNRECORDED
            elif rules.start_item:
                subtest = self.battery.subtest(plan.subtest)
                items = [item.id for item in subtest.items if not item.practice]
                outcomes = self.outcomes(plan.subtest)
                if plan.item in not_needed(items, outcomes, rules.start_item, rules.basal):
                    found[plan.number] = _CREDITED
        entries = [EventEntry("not-needed", number, reason) for number, reason in found.items()]
        return self._commit(entries) if entries else ()

    # ---------------------------------------------------------------- inside

    def _planned(self) -> Iterator[Trial]:
        return (one for one in self.trials if one.state is TrialState.PLANNED)

    def _next_planned(self) -> Trial | None:
        """The next trial; where a subtest has a start item, in the order that its rules ask for."""
        trial = super()._next_planned()
        if trial is None or trial.plan.practice or not self.is_naming(trial):
            return trial
        rules = self.rules(trial)
        if not rules.start_item or self.administration.conditions.item_order == "shuffled":
            return trial
        planned = {
            one.plan.item: one
            for one in self._history.standing
            if one.plan.subtest == trial.plan.subtest
            and one.plan.replicate == trial.plan.replicate
            and not one.plan.practice
        }
        outcomes = self.outcomes(trial.plan.subtest)
        chosen = next_item(list(planned), outcomes, rules.start_item, rules.basal)
        if chosen is not None:
            return planned[chosen]
        credited = not_needed(list(planned), outcomes, rules.start_item, rules.basal)
        entries = [
            EventEntry("not-needed", planned[item].plan.number, _CREDITED) for item in credited
        ]
        if not entries:
            return trial
        self._commit(entries)
        return self._next_planned()

    def _given_at(self, trial: Trial) -> int:
        """The place in the sequence where a trial was begun first."""
        number = trial.plan.number
        return next(
            (step.sequence for step in self._history.steps if step.entry.trial == number), 0
        )

    def _closing_score(self, sequence: int, number: int) -> int | None:
        """The sequence number of the answer that came with this score, or None."""
        before = self._history.steps[sequence - 2] if sequence > 1 else None
        entry = None if before is None else before.entry
        if isinstance(entry, AttemptEntry) and entry.trial == number:
            return sequence - 1
        return None

    def _view(self, trial: Trial) -> NamingView:
        return view_of(
            trial, self.item(trial), self.rules(trial), (), self.primary, self.speech, self.listed
        )

    def _observe(self, number: int | None, observation: Observation) -> Events:
        return self._commit(
            [observed(number, observation)],
            events.Observed(self.administration.id, number, observation),
        )


def now() -> str:
    """The present time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def instructions_of(session: NamingStanding) -> str:
    """What is read to the speaker before the coming item's subtest; empty where nothing is."""
    coming = next((one for one in session.upcoming(1) if session.is_naming(one)), None)
    if coming is None:
        return ""
    said = session.battery.subtest(coming.plan.subtest).instructions
    return "" if said is None else said.text


def observed(number: int | None, observation: Observation) -> EventEntry:
    """The entry of an observation; ``number`` is the trial's, or None for the whole."""
    return EventEntry("observed", number, observation_to_json(observation))


def spoken(trial: Trial, take: Take | None) -> Attempt:
    """The next attempt of a trial: a stretch of a recording, or nothing recorded at all."""
    return Attempt(
        number=len(trial.attempts) + 1,
        response="",
        state=AttemptState.OK,
        status=ResponseStatus.OK,
        stop_reason=StopReason.NONE,
        latency_s=None if take is None else take.latency_s,
        metadata={} if take is None else take.to_metadata(),
        recorded_at=now(),
    )
