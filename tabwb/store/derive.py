"""The history of an administration: appended entries folded into trials and a status, without SQL.

Both the reader and the engine use :class:`History`.

- An entry is *effective* unless an effective ``undone`` event names it.
- An answer counts when its attempt is ``ok``, effective, and recorded after the last effective
  ``voided`` or ``skipped`` of its trial; of several the last counts. Answers that do not count
  any more are shown in state ``void`` with the reason in ``error``.
- A rater's ratings of an attempt are those it gave last, and its declaration the one it made last.
- A response is the text that was set last of it (``text-set``), where one was.
- ``not-needed`` makes a trial *not administered*: the battery's rules credit it (a basal) or end
  its subtest.
- ``finished`` makes an administration done, else ``discontinued`` discontinued, else the last of
  ``paused`` and ``resumed`` decides; after a discontinuation what was not given reads
  *not administered*.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Self, TypeVar, overload

from tabwb.records.errors import StoreError
from tabwb.records.ratings import Declaration, Rating
from tabwb.records.states import AdministrationStatus, AttemptState, ResponseStatus, TrialState
from tabwb.records.trials import (
    Attempt,
    AttemptEntry,
    DeclarationEntry,
    Entry,
    EventEntry,
    EventKind,
    NumberedEntry,
    PlannedTrial,
    RatingsEntry,
    Trial,
)

if TYPE_CHECKING:
    from tabwb.records.naming import TextSet

T = TypeVar("T")
SIZE = 256
"""Items in a block of :class:`Blocks`."""


class Blocks(Sequence[T]):
    """An immutable sequence in blocks; a copy shares all blocks but those in which it differs.

    A tuple of 40,000 trials, copied for every answer, cost more than scoring and storing it.

    >>> first = Blocks(range(1000))
    >>> second = first.changed({3: -3}, [1000])
    >>> first[3], second[3], second[-1], len(first), len(second)
    (3, -3, 1000, 1000, 1001)
    """

    __slots__ = ("_blocks", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        whole = tuple(items)
        self._length = len(whole)
        self._blocks: tuple[tuple[T, ...], ...] = tuple(
            whole[start : start + SIZE] for start in range(0, len(whole), SIZE)
        )

    def changed(self, items: Mapping[int, T], added: Sequence[T] = ()) -> Self:
        """Return a copy with other items at some places (0 and up) and more items at its end."""
        blocks = list(self._blocks)
        opened: dict[int, list[T]] = {}
        for place, item in items.items():
            block, within = divmod(place, SIZE)
            if block not in opened:
                opened[block] = list(blocks[block])
            opened[block][within] = item
        for block, content in opened.items():
            blocks[block] = tuple(content)
        if added:
            last = blocks.pop() if self._length % SIZE else ()
            tail = (*last, *added)
            blocks += [tail[start : start + SIZE] for start in range(0, len(tail), SIZE)]
        copy = type(self)()
        copy._blocks = tuple(blocks)
        copy._length = self._length + len(added)
        return copy

    def differing(self, other: Blocks[T]) -> Iterator[int]:
        """Yield the places at which another sequence of the same length holds another object.

        >>> first = Blocks(range(1000))
        >>> list(first.differing(first.changed({3: -3, 700: -7})))
        [3, 700]
        """
        for block, (mine, theirs) in enumerate(zip(self._blocks, other._blocks, strict=True)):
            if mine is not theirs:
                for within, (one, another) in enumerate(zip(mine, theirs, strict=True)):
                    if one is not another:
                        yield block * SIZE + within

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        if isinstance(place, slice):
            return tuple(self[at] for at in range(*place.indices(self._length)))
        at = place + self._length if place < 0 else place
        if not 0 <= at < self._length:
            raise IndexError(place)
        block, within = divmod(at, SIZE)
        return self._blocks[block][within]

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self._blocks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Blocks) and self._blocks == other._blocks

    __hash__ = None  # type: ignore[assignment]  # equal by content, and the content may be large


RatingsByRater = Mapping[str, tuple[Rating, ...]]
_UNDOABLE = {"skipped": "skip", "voided": "void", "discontinued": "discontinuation"}
_LIFECYCLE = frozenset({"finished", "discontinued", "paused", "resumed", "undone"})


@dataclass(frozen=True, slots=True)
class Step:
    """An entry with its number in the administration's sequence."""

    sequence: int
    entry: NumberedEntry


@dataclass(frozen=True, slots=True)
class Undoable:
    """The entry that one undo takes back: its number, its trial if any, and what it is called."""

    sequence: int
    trial: int | None
    what: str


def taken_back(undone: Sequence[tuple[int, int]]) -> frozenset[int]:
    """Return which sequence numbers are taken back.

    >>> sorted(taken_back([(5, 4)])), sorted(taken_back([(5, 4), (6, 5)]))
    ([4], [5])
    """
    back: set[int] = set()
    for sequence, target in reversed(undone):
        if sequence not in back:
            back.add(target)
    return frozenset(back)


def trial_of(
    plan: PlannedTrial,
    steps: Iterable[Step],
    ratings: Mapping[int, RatingsByRater],
    back: frozenset[int],
    *,
    discontinued: bool,
) -> Trial:
    """Return a trial with what was appended to it."""
    attempts: list[Attempt] = []
    notes: list[str] = []
    observations: list[str] = []
    state, reason = TrialState.PLANNED, ""
    for step in steps:
        effective = step.sequence not in back
        match step.entry:
            case AttemptEntry(attempt=attempt):
                if attempt.state is AttemptState.OK:
                    if effective:
                        state, reason = TrialState.ANSWERED, ""
                    else:
                        attempt = _voided(attempt, "undone")
                attempts.append(attempt)
            case EventEntry(kind="skipped" | "voided" as kind, text=text) if effective:
                state = TrialState.SKIPPED if kind == "skipped" else TrialState.VOID
                reason = text
                attempts = [_voided(attempt, text or kind) for attempt in attempts]
            case EventEntry(kind="not-needed", text=text) if effective:
                state, reason = TrialState.NOT_ADMINISTERED, text
            case EventEntry(kind="noted", text=text) if effective:
                notes.append(text)
            case EventEntry(kind="observed", text=text) if effective:
                from tabwb.records.naming import text_set  # many records of what is said aloud

                observations.append(text)
                if (written := text_set(text)) is not None:
                    attempts = [_with_text(attempt, written) for attempt in attempts]
    if discontinued and state is TrialState.PLANNED:
        state = TrialState.NOT_ADMINISTERED
    given: RatingsByRater = {}
    if ratings:
        counting = next((a.number for a in reversed(attempts) if a.state is AttemptState.OK), None)
        given = ratings.get(counting, {}) if counting is not None else {}
    return Trial(
        plan,
        state,
        tuple(attempts),
        tuple(rating for ratings in given.values() for rating in ratings),
        reason,
        tuple(notes),
        tuple(observations),
    )


def _with_text(attempt: Attempt, written: TextSet) -> Attempt:
    if attempt.number != written.attempt:
        return attempt
    kept = {name: value for name, value in attempt.metadata.items() if name != "cause"}
    return replace(
        attempt,
        response=written.text,
        status=ResponseStatus(written.status),
        metadata={**kept, "text_by": written.by},
    )


def _voided(attempt: Attempt, reason: str) -> Attempt:
    if attempt.state is not AttemptState.OK:
        return attempt
    return replace(attempt, state=AttemptState.VOID, error=reason)


def status_of(
    steps: Iterable[Step], back: frozenset[int] = frozenset()
) -> tuple[AdministrationStatus, str]:
    """Return the status of an administration and the reason of its pause or discontinuation."""
    last = {
        step.entry.kind: (step.sequence, step.entry.text)
        for step in steps
        if isinstance(step.entry, EventEntry) and step.sequence not in back
    }
    if "finished" in last:
        return AdministrationStatus.DONE, ""
    if "discontinued" in last:
        return AdministrationStatus.DISCONTINUED, last["discontinued"][1]
    if "paused" in last and last["paused"] > last.get("resumed", (0, "")):
        return AdministrationStatus.PAUSED, last["paused"][1]
    return AdministrationStatus.RUNNING, ""


@dataclass(frozen=True, slots=True)
class _Line:
    """What was appended to one trial: its steps in order, and by attempt who rated it how."""

    steps: tuple[Step, ...] = ()
    ratings: Mapping[int, RatingsByRater] = field(default_factory=dict)


@dataclass(frozen=True)
class History:
    """An administration's plan with all that was appended to it, folded. Never changed in place."""

    standing: Blocks[Trial]  # the current state of every trial, in the order planned
    status: AdministrationStatus = AdministrationStatus.RUNNING
    reason: str = ""  # why it is paused or was discontinued
    declarations: Mapping[str, Declaration] = field(default_factory=dict)  # by rater
    _steps: Blocks[Step] = field(default_factory=Blocks)
    _lines: Blocks[_Line] = field(default_factory=Blocks)
    _index: Mapping[int, int] = field(default_factory=dict)
    _back: frozenset[int] = frozenset()

    @classmethod
    def of(cls, plan: Iterable[PlannedTrial], entries: Iterable[Entry] = ()) -> Self:
        """Fold all ``entries`` at once; the same as :meth:`with_entry` for each."""
        trials = Blocks(Trial(planned) for planned in plan)
        index = {trial.plan.number: at for at, trial in enumerate(trials)}
        lines = Blocks([_Line()] * len(trials))
        return cls(trials, _lines=lines, _index=index).with_entries(entries)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The current state of every trial, in the order planned."""
        return tuple(self.standing)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every numbered entry."""
        return tuple(self._steps)

    def with_entry(self, entry: Entry) -> Self:
        """Return the history with one more entry at its end."""
        return self.with_entries((entry,))

    def with_entries(self, entries: Iterable[Entry]) -> Self:
        """Return the history with more entries at its end."""
        new: list[Step] = []
        lines: dict[int, _Line] = {}
        changed: set[int] = set()
        declared: dict[str, Declaration] = {}
        lifecycle = False
        for entry in entries:
            if isinstance(entry, DeclarationEntry):
                rater = entry.declaration.rater
                before = declared.get(rater) or self.declarations.get(rater)
                declared[rater] = entry.declaration.after(before)
                continue
            at = None if entry.trial is None else self._place(entry.trial)
            if at is not None:
                changed.add(at)
                lines.setdefault(at, self._lines[at])
            if isinstance(entry, RatingsEntry):
                at = self._place(entry.trial)
                lines[at] = _rated(lines[at], entry)
                continue
            step = Step(len(self._steps) + len(new) + 1, entry)
            new.append(step)
            if at is not None:
                lines[at] = replace(lines[at], steps=(*lines[at].steps, step))
            if isinstance(entry, EventEntry):
                lifecycle |= entry.kind in _LIFECYCLE
                if entry.undoes is not None and not 0 < entry.undoes < step.sequence:
                    raise StoreError(
                        f"there is no step {entry.undoes} to take back",
                        allowed=f"1 to {step.sequence - 1}",
                    )
        steps = self._steps.changed({}, new)
        kept = self._lines.changed(lines)
        back, status, reason = self._back, self.status, self.reason
        if lifecycle:
            undone = [
                (step.sequence, step.entry.undoes)
                for step in steps
                if isinstance(step.entry, EventEntry) and step.entry.undoes is not None
            ]
            back = taken_back(undone)
            status, reason = status_of(steps, back)
            changed |= {
                self._index[trial]
                for sequence in back ^ self._back
                if (trial := steps[sequence - 1].entry.trial) is not None
            }
        over = AdministrationStatus.DISCONTINUED
        if (status is over) != (self.status is over):
            changed |= set(self._index.values())
        trials = {
            at: trial_of(
                self.standing[at].plan,
                kept[at].steps,
                kept[at].ratings,
                back,
                discontinued=status is over,
            )
            for at in changed
        }
        return replace(
            self,
            standing=self.standing.changed(trials),
            status=status,
            reason=reason,
            declarations={**self.declarations, **declared} if declared else self.declarations,
            _steps=steps,
            _lines=kept,
            _back=back,
        )

    def trial(self, number: int) -> Trial:
        """Return the trial with this number."""
        return self.standing[self._place(number)]

    @property
    def answered(self) -> int:
        """Number of trials answered, practice not counted."""
        return sum(
            trial.state is TrialState.ANSWERED and not trial.plan.practice
            for trial in self.standing
        )

    @property
    def pause_reason(self) -> str:
        """Why the administration is paused; empty when it is not, or without a reason."""
        return self.reason if self.status is AdministrationStatus.PAUSED else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the administration as a whole."""
        return tuple(event.text for _, event in self._events("noted") if event.trial is None)

    @property
    def observations(self) -> tuple[str, ...]:
        """What was observed of the administration as a whole and not taken back, as JSON."""
        return tuple(event.text for _, event in self._events("observed") if event.trial is None)

    @property
    def model_facts(self) -> Mapping[str, str]:
        """What the back end said of the model when it was opened last; empty before."""
        for step in reversed(self._steps):
            if isinstance(step.entry, EventEntry) and step.entry.kind == "model-opened":
                facts: dict[str, str] = json.loads(step.entry.text)
                return facts
        return {}

    @property
    def undoable(self) -> Undoable | None:
        """What one undo takes back: the latest effective command of a person."""
        for step in reversed(self._steps):
            if step.sequence in self._back:
                continue
            match step.entry:
                case AttemptEntry(trial=trial, attempt=attempt):
                    if attempt.state is AttemptState.OK:
                        return Undoable(step.sequence, trial, "answer")
                case EventEntry(kind=kind, trial=trial) if kind in _UNDOABLE:
                    return Undoable(step.sequence, trial, _UNDOABLE[kind])
                case EventEntry(kind="observed", trial=trial, text=text):
                    from tabwb.records.naming import undoable_observation

                    if what := undoable_observation(text):
                        return Undoable(step.sequence, trial, what)
        return None

    @property
    def endings(self) -> tuple[int, ...]:
        """Sequence numbers of effective ``finished`` and ``not-needed`` events."""
        return tuple(sequence for sequence, _ in self._events("finished", "not-needed"))

    def endings_with(self, trial: int | None) -> tuple[int, ...]:
        """Return those of :attr:`endings` that are taken back with an answer.

        That are the end of the administration, and the items of the same subtest that were not
        needed.
        """
        subtest = None if trial is None else self.trial(trial).plan.subtest
        return tuple(
            sequence
            for sequence, entry in self._events("finished", "not-needed")
            if entry.trial is None or self.trial(entry.trial).plan.subtest == subtest
        )

    def _events(self, *kinds: EventKind) -> Iterator[tuple[int, EventEntry]]:
        """Yield the effective events of these kinds with their sequence numbers."""
        for step in self._steps:
            entry = step.entry
            if (
                isinstance(entry, EventEntry)
                and entry.kind in kinds
                and step.sequence not in self._back
            ):
                yield step.sequence, entry

    def _place(self, number: int) -> int:
        if number not in self._index:
            raise StoreError(f"there is no trial {number}", allowed=f"1 to {len(self.standing)}")
        return self._index[number]


def _rated(line: _Line, entry: RatingsEntry) -> _Line:
    recorded = {
        step.entry.attempt.number for step in line.steps if isinstance(step.entry, AttemptEntry)
    }
    if entry.attempt not in recorded:
        raise StoreError(f"trial {entry.trial} has no attempt {entry.attempt} to rate")
    new: dict[str, list[Rating]] = {}
    for rating in entry.ratings:
        new.setdefault(rating.rater, []).append(rating)
    of_attempt = dict(line.ratings.get(entry.attempt, {}))
    of_attempt.update({rater: tuple(given) for rater, given in new.items()})
    return replace(line, ratings={**line.ratings, entry.attempt: of_attempt})
