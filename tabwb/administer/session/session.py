"""One administration in progress: a synchronous state machine, owned by one thread.

Each command commits first and then returns the events it made (the start of a model's trial is
committed with what comes of it: one commit per answered trial). Models are pulled through it by
:mod:`tabwb.administer.session.drive`; people are pushed into it with :meth:`Session.answer`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tabwb.administer import consent
from tabwb.administer.session.attempts import attempt_in_error, attempt_with_answer, storable
from tabwb.administer.session.state import OVER, Events, Standing
from tabwb.records import events
from tabwb.records.entries import AttemptEntry, Entry, EventEntry, RatingsEntry
from tabwb.records.errors import TabwbError
from tabwb.records.exchange import Decoding, Message, Reply
from tabwb.records.states import AdministrationStatus, StopReason, TrialState
from tabwb.records.trials import Trial

_STATES = {
    TrialState.SKIPPED: "skipped",
    TrialState.VOID: "void",
    TrialState.NOT_ADMINISTERED: "not administered",
}
IDENTITY = (
    "model", "revision", "weights_sha256", "file_sha256", "dtype", "template", "template_sha256",
)  # fmt: skip
"""The facts of a model that must not change between a run and its resumption."""


class Session(Standing):
    """An open administration. Made by :mod:`tabwb.administer.session.setup`; close it when done.

    While it is open it holds the administration's lock: nobody else can write to it. Every command
    raises :class:`~tabwb.records.errors.TabwbError` where it does not fit how things stand, and
    ``StoreError`` where it could not be recorded; the session is then as it was.
    """

    def opened(self, facts: Mapping[str, str]) -> Events:
        """Keep what the back end says of the model it opened (revision, dtype, weights' hash).

        Raises:
            TabwbError: the administration began with another model of the same spec; to mix both
                in one result would make it meaningless.
        """
        earlier = self._history.model_facts
        for key in IDENTITY:
            if earlier.get(key, facts.get(key)) != facts.get(key):
                raise TabwbError(
                    f"the model is not the one this administration began with: {key} was "
                    f"{earlier[key]} and is {facts.get(key, 'unknown')}",
                    hint="restore the recorded answers as they were, or begin a new administration"
                    if key == "file_sha256"
                    else "begin a new administration for the changed model",
                )
        if dict(facts) == dict(earlier):
            return ()
        return self._commit([EventEntry("model-opened", None, json.dumps(facts, sort_keys=True))])

    def next(self) -> Events:
        """Put the next unanswered trial before the examinee; finish when there is none.

        A trial whose attempts failed in this session comes again only after all others; when
        nothing but such trials is left the session pauses, so that a dead back end ends a run.
        """
        self._must_run()
        if self._awaiting:
            raise TabwbError(
                "this item still waits for its answer", hint="answer, skip or void it first"
            )
        trial = self._next_planned()
        if trial is not None:
            return self._start(trial)
        failed = len(self.in_error)
        if failed:
            count = "1 item is" if failed == 1 else f"{failed} items are"
            return self.pause(f"{count} in error and can be asked again")
        return self._finish()

    def begin_at(self, number: int) -> Events:
        """Put one planned trial before the examinee, out of turn: its answer is there already."""
        self._must_run()
        trial = self._history.trial(number)
        if self._awaiting or trial.state is not TrialState.PLANNED:
            raise TabwbError(f"item {number} does not wait to be given")
        return self._start(trial)

    def answer(self, text: str, *, latency_s: float | None = None) -> Events:
        """Record what a person typed.

        Args:
            text: exactly as typed.
            latency_s: seconds from the prompt to the end of the answer; measured from
                :meth:`next` when not given.
        """
        waited = time.monotonic() - self._asked_at
        reply = Reply(text, StopReason.NONE, waited if latency_s is None else latency_s)
        return self.record(reply, ())

    def record(
        self, reply: Reply, messages: Sequence[Message], decoding: Decoding | None = None
    ) -> Events:
        """Record a reply to the current prompt and rate it, in one commit.

        Args:
            reply: what came back.
            messages: exactly what a model was sent; empty for a person.
            decoding: of the request; None for a person.
        """
        if reply.stop_reason is StopReason.CANCELLED:
            return self.fail("stopped before the reply was complete", messages, reply, decoding)
        trial = self._open_trial()
        number = trial.plan.number
        subtest = self.battery.subtest(trial.plan.subtest)
        attempt = attempt_with_answer(
            trial,
            reply,
            messages,
            subtest.item(trial.plan.item).expected,
            decoding=decoding,
            kind=subtest.response,
            language=self.battery.language,
        )
        ratings = self.raters.rate(trial.plan, attempt, self._history.standing)
        made = self._commit(
            [
                AttemptEntry(number, attempt),
                RatingsEntry(number, attempt.number, ratings),
                *self._declared(ratings),
            ],
            events.AttemptRecorded(self.administration.id, number, attempt),
            events.Rated(self.administration.id, number, attempt.number, ratings),
        )
        self._awaiting = False
        self._failed.discard(number)
        return made

    def fail(
        self,
        message: str,
        messages: Sequence[Message] = (),
        partial: Reply | None = None,
        decoding: Decoding | None = None,
        *,
        cause: str = "",
    ) -> Events:
        """Record an attempt in error; the trial stays unanswered.

        Args:
            message: what went wrong.
            messages: exactly what a model was sent; empty for a person.
            partial: what had come before it went wrong, or None.
            decoding: of the request; None for a person.
            cause: kept with the attempt, or empty.
        """
        trial = self._open_trial()
        number = trial.plan.number
        attempt = attempt_in_error(trial, message, messages, partial, decoding)
        if cause:
            attempt = replace(attempt, metadata={**attempt.metadata, "cause": cause})
        made = self._commit(
            [AttemptEntry(number, attempt)],
            events.AttemptRecorded(self.administration.id, number, attempt),
        )
        self._awaiting = False
        self._failed.add(number)
        return made

    def repeat(self) -> Events:
        """Ask the current item again; what was answered before stays and the new answer counts."""
        if self.status is not AdministrationStatus.DONE:
            self._must_run()
        trial = self.current
        if trial is None:
            raise TabwbError("no item has been shown yet", hint="show the first one")
        if self._awaiting:
            raise TabwbError("this item still waits for its answer")
        return self._start(trial)

    def skip(self, reason: str) -> Events:
        """Pass over the current item, for a reason; it can be taken back with :meth:`undo`."""
        self._must_not_be_discontinued()
        trial = self._current_or_error("skip")
        if trial.counting is not None:
            raise TabwbError(
                "this item has an answer already", hint="declare it void if it must not count"
            )
        if not self._awaiting and trial.state is not TrialState.PLANNED:
            raise TabwbError(f"this item is {_STATES[trial.state]} already")
        number = trial.plan.number
        made = self._commit(
            [EventEntry("skipped", number, _words(reason, "skipping"))],
            events.TrialSkipped(self.administration.id, number, reason.strip()),
        )
        self._awaiting = False
        return made

    def void(self, reason: str, number: int | None = None) -> Events:
        """Declare an item void, for a reason: what was recorded stays and does not count.

        Args:
            reason: why; must not be empty.
            number: the trial's number, or None for the current one.
        """
        trial = (
            self._current_or_error("declare void")
            if number is None
            else self._history.trial(number)
        )
        is_open = self._awaiting and trial.plan.number == self._current
        if trial.state in _STATES and trial.state is not TrialState.SKIPPED and not is_open:
            raise TabwbError(f"this item is {_STATES[trial.state]} already")
        made = self._commit(
            [EventEntry("voided", trial.plan.number, _words(reason, "declaring an item void"))],
            events.TrialVoided(self.administration.id, trial.plan.number, reason.strip()),
        )
        if is_open:
            self._awaiting = False
        return made

    def undo(self) -> Events:
        """Take back the latest answer, skip, void or discontinuation; its rows stay, marked.

        A finished administration goes on when an item is unanswered after that.
        """
        target = self._history.undoable
        if target is None:
            raise TabwbError("there is nothing to take back")
        undone = EventEntry("undone", target.trial, target.what, target.sequence)
        entries: list[Entry] = [undone]
        left = self._history.with_entry(undone).trials
        if any(trial.state is TrialState.PLANNED for trial in left):
            entries += [
                EventEntry("undone", None, "the end", sequence)
                for sequence in self._history.endings
            ]
        made = self._commit(
            entries, events.Undone(self.administration.id, target.trial, target.what)
        )
        self._awaiting = False
        self._settled = 0
        if target.trial is not None:
            self._current = target.trial
            self._failed.discard(target.trial)
        return made

    def note(self, text: str, number: int | None = None) -> Events:
        """Write a note on an item (the current one unless ``number`` says which)."""
        where = number if number is not None else self._current
        if where is not None:
            self._history.trial(where)
        return self._commit(
            [EventEntry("noted", where, _words(text, "a note"))],
            events.Noted(self.administration.id, where, text.strip()),
        )

    def rescore(self) -> Events:
        """Rate every counting answer again with the scorers and judges as they are now.

        The earlier ratings stay in the store; the new ones count.
        """
        entries = [entry for trial in self.trials for entry in self._rated_again(trial)]
        made = [
            events.Rated(self.administration.id, entry.trial, entry.attempt, entry.ratings)
            for entry in entries
        ]
        declared = self._declared([rating for event in made for rating in event.ratings])
        return self._commit([*entries, *declared], *made) if entries else ()

    def pause(self, reason: str = "") -> Events:
        """Let the administration rest; an unanswered prompt will be shown again."""
        self._must_not_be_discontinued()
        made: Events = ()
        if self.status is AdministrationStatus.RUNNING:
            made = self._commit(
                [EventEntry("paused", None, storable(reason))],
                events.Paused(self.administration.id, reason),
            )
        self._awaiting = False
        return made

    def resume(self) -> Events:
        """Go on after a pause; nothing that was answered is asked again, what failed is."""
        self._must_not_be_discontinued()
        consent.check_giving(self.store, self.plugins, self.administration.conditions)
        self._failed.clear()
        self._settled = 0
        if self.status is not AdministrationStatus.PAUSED:
            return ()
        return self._commit(
            [EventEntry("resumed", None, "")], events.Resumed(self.administration.id)
        )

    def discontinue(self, reason: str) -> Events:
        """End early, for a reason; what was not given reads *not administered*."""
        if self.status in OVER:
            raise TabwbError(f"this administration is {self.status.value} already")
        made = self._commit(
            [EventEntry("discontinued", None, _words(reason, "discontinuing"))],
            events.Discontinued(self.administration.id, reason.strip()),
        )
        self._awaiting = False
        return made

    def _rated_again(self, trial: Trial) -> list[RatingsEntry]:
        """Ratings of the counting answer by the scorers and judges as they are now."""
        attempt = trial.counting
        if attempt is None:
            return []
        ratings = self.raters.rate(trial.plan, attempt, self._history.standing)
        return [RatingsEntry(trial.plan.number, attempt.number, ratings)]

    def _start(self, trial: Trial) -> Events:
        self.raters.judges()  # one that cannot be used is found before the prompt goes out
        number = trial.plan.number
        started = EventEntry("trial-started", number)
        shown = events.TrialStarted(self.administration.id, trial.plan)
        if self.administration.conditions.kind == "model":
            # One commit per answered trial: the start is written with what comes of it. A model
            # forgets a prompt that never came to an answer; a person does not.
            self._started = started
            made = self._tell(shown)
        else:
            made = self._commit([started], shown)
        self._current, self._awaiting = number, True
        self._asked_at = time.monotonic()
        return made

    def _finish(self) -> Events:
        return self._commit([EventEntry("finished", None)], events.Finished(self.administration.id))


def _words(text: str, what: str) -> str:
    if not text.strip():
        raise TabwbError(f"{what} needs some words", allowed="any text")
    return storable(text.strip())
