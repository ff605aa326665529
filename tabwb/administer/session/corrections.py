"""What a person changes of an administration: skips, voids, undo, notes, titles and tags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tabwb.administer.session.exchange import attempt_with_answer, in_words
from tabwb.records import events
from tabwb.records.errors import TabwbError
from tabwb.records.exchange import REASONING_TOKENS, RESPLIT, Reply
from tabwb.records.ratings import Rating
from tabwb.records.reasoning import opened_by, option_of, separated
from tabwb.records.states import RatingStatus, TrialState
from tabwb.records.trials import (
    Attempt,
    AttemptEntry,
    EventEntry,
    Marks,
    RatingsEntry,
    Trial,
    changes,
)
from tabwb.store.store import Store

if TYPE_CHECKING:
    from tabwb.administer.session.session import Events, Session


STATES = {
    TrialState.SKIPPED: "skipped",
    TrialState.VOID: "void",
    TrialState.NOT_ADMINISTERED: "not administered",
}


class Corrections:
    """Changes trials of a session; see :attr:`Session.corrections`. Every command commits first."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def skip(self, reason: str) -> Events:
        """Pass over the current item, for a reason; it can be taken back with :meth:`undo`."""
        session = self.session
        session.state.must_not_be_discontinued()
        trial = session.state.current_or_error("skip")
        if trial.counting is not None:
            raise TabwbError(
                "this item has an answer already", hint="declare it void if it must not count"
            )
        if not session.awaiting and trial.state is not TrialState.PLANNED:
            raise TabwbError(f"this item is {STATES[trial.state]} already")
        number = trial.plan.number
        made = session.commit(
            [EventEntry("skipped", number, in_words(reason, "skipping"))],
            events.TrialSkipped(session.administration.id, number, reason.strip()),
        )
        session.state.awaiting = False
        return made

    def void(self, reason: str, number: int | None = None) -> Events:
        """Declare an item void, for a reason: what was recorded stays and does not count."""
        session = self.session
        trial = (
            session.state.current_or_error("declare void")
            if number is None
            else session.history.trial(number)
        )
        is_open = session.awaiting and trial.plan.number == session.state.number
        if trial.state in STATES and trial.state is not TrialState.SKIPPED and not is_open:
            raise TabwbError(f"this item is {STATES[trial.state]} already")
        made = session.commit(
            [EventEntry("voided", trial.plan.number, in_words(reason, "declaring an item void"))],
            events.TrialVoided(session.administration.id, trial.plan.number, reason.strip()),
        )
        if is_open:
            session.state.awaiting = False
        return made

    def undo(self) -> Events:
        """Take back the latest answer, skip, void or discontinuation; its rows stay, marked.

        A finished administration continues when an item is unanswered after that.
        """
        session = self.session
        target = session.history.undoable
        if target is None:
            raise TabwbError("there is nothing to take back")
        if session.strategy is not None and session.strategy.undoes(target):
            return session.strategy.undo(target)
        entries = [EventEntry("undone", target.trial, target.what, target.sequence)]
        left = session.history.with_entry(entries[0]).trials
        if any(trial.state is TrialState.PLANNED for trial in left):
            ends = session.history.endings_with(target.trial)
            entries += [EventEntry("undone", None, "the end", sequence) for sequence in ends]
        undone = events.Undone(session.administration.id, target.trial, target.what)
        made = session.commit(entries, undone)
        session.state.awaiting = False
        session.state.reopen(target.trial)
        if target.trial is not None:
            session.state.number = target.trial
        return made

    def note(self, text: str, number: int | None = None) -> Events:
        """Write a note on an item, or on the administration before the first."""
        session = self.session
        where = session.state.number if number is None else number
        if where is not None:
            session.history.trial(where)
        return session.commit(
            [EventEntry("noted", where, in_words(text, "a note"))],
            events.Noted(session.administration.id, where, text.strip()),
        )

    def rescore(self, progress: Callable[[int], None] | None = None) -> Events:
        """Rate every counting answer again; earlier ratings stay stored, the new ones count.

        A model's response with its reasoning in it, as earlier versions stored it, is recorded
        anew without: the new attempt counts, and verdicts on the earlier one stay and do not.
        """
        session = self.session
        entries: list[AttemptEntry | RatingsEntry] = []
        standing = list(session.trials)
        for done, trial in enumerate(session.trials):
            if progress is not None:
                progress(done)
            again = self._rated_again(trial, standing)
            for entry in again:
                if isinstance(entry, RatingsEntry):
                    self._check_kept(trial, entry.ratings)
            entries += again
        if not entries:
            return ()
        number = session.administration.id
        made = [
            events.AttemptRecorded(number, entry.trial, entry.attempt)
            if isinstance(entry, AttemptEntry)
            else events.Rated(number, entry.trial, entry.attempt, entry.ratings)
            for entry in entries
        ]
        rated = [entry for entry in entries if isinstance(entry, RatingsEntry)]
        declared = session.declared([rating for entry in rated for rating in entry.ratings])
        return session.commit([*entries, *declared], *made)

    def _check_kept(self, trial: Trial, ratings: Sequence[Rating]) -> None:
        failed = {one.rater for one in trial.ratings if one.status is RatingStatus.ERROR}
        rated = {one.rater for one in trial.ratings} - failed
        for one in ratings:
            if one.status is not RatingStatus.ERROR or one.rater not in rated:
                continue
            declared = self.session.history.declarations.get(one.rater)
            made = None if declared is None else declared.plugin
            hint = f"earlier ratings are by the plugin {made}" if made else None
            if one.rater in self.session.raters.missing:
                hint = "install its plugin again" + (f": {made}" if made else "")
            raise TabwbError(
                f"'{one.rater}' cannot rate trial {trial.plan.number} again: {one.reason}; nothing "
                "was changed",
                hint=hint,
            )

    def _rated_again(
        self, trial: Trial, standing: list[Trial]
    ) -> Sequence[AttemptEntry | RatingsEntry]:
        """Return what is recorded anew of a trial; ``standing`` gets its new attempt."""
        session = self.session
        if session.strategy is not None and session.strategy.is_spoken(trial):
            return session.strategy.rated_again(trial)
        attempt = trial.counting
        if attempt is None:
            return []
        number = trial.plan.number
        made: list[AttemptEntry | RatingsEntry] = []
        if (apart := self._without_reasoning(trial, attempt)) is not None:
            attempt = apart
            made.append(AttemptEntry(number, attempt))
            standing[number - 1] = replace(trial, attempts=(*trial.attempts, attempt))
        ratings = session.raters.rate(trial.plan, attempt, standing)
        return [*made, RatingsEntry(number, attempt.number, ratings)]

    def _without_reasoning(self, trial: Trial, attempt: Attempt) -> Attempt | None:
        """Return a stored response without the model's reasoning, as a new attempt, or None."""
        session = self.session
        conditions, battery = session.administration.conditions, session.battery
        if conditions.kind != "model" or attempt.reasoning:
            return None
        option = option_of(conditions.examinee)
        prompt = attempt.metadata.get("rendered_prompt", "")
        # Tokens of thinking are counted where it was taken away, also where it was empty.
        is_split = REASONING_TOKENS in attempt.metadata
        opened = "" if is_split else opened_by(prompt, option)
        reply = Reply(attempt.response, attempt.stop_reason, attempt.latency_s or 0.0)
        apart = separated(reply, option, opened=opened)
        if apart.text == attempt.response:
            return None
        subtest = battery.subtest(trial.plan.subtest)
        item, kind = subtest.item(trial.plan.item), subtest.task.text_kind
        noted = {**attempt.metadata, **apart.metadata, RESPLIT: str(attempt.number)}
        made = attempt_with_answer(
            trial, replace(apart, metadata=noted), None, item.expected, kind=kind,
            language=battery.language, answers=subtest.allowed_answers(item),
        )  # fmt: skip
        return replace(made, latency_s=attempt.latency_s, messages=attempt.messages)


def no_longer_rated(before: Sequence[Trial], after: Sequence[Trial]) -> dict[str, int]:
    """Return the raters whose verdicts count no longer, to the number of responses.

    They rated the text with the model's reasoning in it, and are not run here.
    """
    lost: dict[str, int] = {}
    for earlier, now in zip(before, after, strict=True):
        left = {rating.rater for rating in now.ratings}
        for rater in dict.fromkeys(rating.rater for rating in earlier.ratings):
            if rater not in left:
                lost[rater] = lost.get(rater, 0) + 1
    return lost


def change_marks(
    store: Store,
    references: Iterable[int | str],
    *,
    title: str | None = None,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> None:
    """Change the titles and tags of administrations: of all, or of none."""
    records = {record.id: record for record in map(store.administration, references)}
    for known in records.values():  # before anything is changed
        changes(Marks(known.title, known.tags), title=title, add=add, remove=remove)
    for number in records:
        with store.lock(number):
            known = store.administration(number)
            marks = Marks(known.title, known.tags)
            if made := changes(marks, title=title, add=add, remove=remove):
                store.append(number, made)


def take_back_mark(store: Store, number: int) -> bool:
    """Take back the latest change of title and tags; return whether there was one."""
    with store.lock(number):
        latest = store.latest_marks(number)
        if latest:
            store.append(number, [EventEntry("undone", None, "", mark) for mark in latest])
    return bool(latest)
