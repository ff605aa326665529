"""Rating: what a rater gets, answers kept one by one, and ratings that a program gives."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

from tabwb.administer.rating.access import check_sending, may_rate
from tabwb.battery.forms import Form, Step, completed, looked_at, missing, step
from tabwb.host.plugins import Plugins
from tabwb.records.errors import StoreError, UsageError
from tabwb.records.rating_sets import (
    Answer,
    Assignment,
    Purpose,
    RatingSet,
    Sample,
    SampleRating,
    SetEvent,
    checked_rater,
)
from tabwb.store.database import now
from tabwb.store.sets import NotAssigned, asked_by, refuse_closed, same, saved_elsewhere
from tabwb.store.store import Store

# -------------------------------------------------------------------- shown


Phase = Literal["rate", "feedback", "over"]
"""A sample is rated; the right answers to a calibration sample are shown; nothing is open."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a rater says of one sample: answers by key, confidence (0 to 3), a note, and the words
    that show it. An answer that is absent or taken away has none.
    """

    answers: Mapping[str, Answer] = field(default_factory=dict)
    confidence: int | None = None
    note: str = ""
    evidence: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kept = {
            key: words
            for key, words in self.evidence.items()
            if words and self.answers.get(key) not in {None, 0.0}
        }
        object.__setattr__(self, "evidence", kept)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a rater has to confirm before a sample is complete.

    Attributes:
        draft: all that the rater says of the sample.
        unmarked: features that were not looked at, and would be absent.
        untouched: no question is answered.
        fast: it took less than the form's minimum.
        again: the second call came too soon after the first one to be a confirmation.
    """

    draft: Draft
    unmarked: tuple[str, ...]
    untouched: bool
    fast: bool
    again: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """What a rater may see and hear of a sample; nothing in it tells the source.

    Attributes:
        text, prompt, context_before, context_after, target: empty where the form does not show
            them.
        calibration: the right answers are shown afterwards.
        seconds: of the recording, or None without one.
    """

    text: str
    prompt: str
    context_before: str
    context_after: str
    target: str
    calibration: bool
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """Place of the sample in the rater's order (from 1; 0 when over), and how many there are.

    ``withheld`` samples are not shown, because the speaker does not agree to rating.
    """

    place: int
    planned: int
    done: int
    withheld: int = 0


def shown_of(sample: Sample, form: Form, *, calibration: bool) -> Shown:
    """Return what a form shows of a sample."""
    parts = set(form.shows)
    audio = sample.audio if "audio" in parts else None
    return Shown(
        text=sample.text if "text" in parts else "",
        prompt=sample.prompt if "prompt" in parts else "",
        context_before=sample.context_before if "text" in parts else "",
        context_after=sample.context_after if "text" in parts else "",
        target=sample.target if "target" in parts else "",
        calibration=calibration,
        seconds=None if audio is None else audio.end_s - audio.start_s,
    )


class Media:
    """The pictures and recordings that a form shows."""

    def __init__(self, store: Store, form: Form) -> None:
        self._store, self._shows = store, frozenset(form.shows)
        self._pictures: dict[str, Mapping[str, bytes]] = {}

    def picture(self, sample: Sample) -> bytes | None:
        """Return the picture of a sample, or None where there is none to show."""
        if sample.picture is None or "picture" not in self._shows:
            return None
        battery = self._store.administration(sample.administration).battery_hash
        if battery not in self._pictures:
            self._pictures[battery] = self._store.battery_assets(battery)
        return self._pictures[battery].get(sample.picture)

    def audio(self, sample: Sample) -> tuple[Path, float, float] | None:
        """Return the file of a sample, with start and end in seconds; None without a recording."""
        if sample.audio is None or "audio" not in self._shows:
            return None
        path = self._store.people.recording_path(sample.audio.sha256)
        return path, sample.audio.start_s, sample.audio.end_s


# -------------------------------------------------------------------- visit


Clock = Callable[[], float]
"""Returns seconds."""


class Visit:
    """Counts the seconds of one visit; pauses are left out.

    >>> at = 0.0
    >>> visit = Visit(lambda: at)
    >>> visit.begin(10); at = 5.0; visit.pause(); at = 99.0
    >>> visit.total(), visit.total(2.5)
    (15.0, 12.5)
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._before = self._spent = 0.0
        self._since: float | None = None

    def begin(self, before: float) -> None:
        """Begin a visit after so many seconds of earlier ones."""
        self._before, self._spent, self._since = before, 0.0, self._clock()

    def end(self) -> None:
        """Count no more: nothing is shown."""
        self._since = None

    def pause(self) -> None:
        """Stop: the rater is away from the screen."""
        self._spent, self._since = self._seconds, None

    def resume(self) -> None:
        """Go on."""
        if self._since is None:
            self._since = self._clock()

    def total(self, seconds: float | None = None) -> float:
        """Return the seconds of all visits; ``seconds`` of this one, where the caller counts."""
        return self._before + (self._seconds if seconds is None else seconds)

    @property
    def _seconds(self) -> float:
        return self._spent + (0.0 if self._since is None else self._clock() - self._since)


# -------------------------------------------------------------------- giving


def give_rating(
    store: Store,
    kept: RatingSet,
    rater: str,
    sample: int,
    answers: Mapping[str, Answer],
    *,
    purpose: Purpose = "rate",
    confidence: int | None = None,
    note: str = "",
    seconds: float = 0.0,
    rest_absent: bool = False,
) -> SampleRating:
    """Save a rater's complete rating of one sample, or replace the one that is there."""
    form = asked_by(kept)
    found = step(form, answers, seconds)
    lacking = found.missing if rest_absent else (*found.missing, *found.unmarked)
    if lacking:
        confirms = not found.missing and " or, where the rater has confirmed it, rest_absent=True"
        raise UsageError(
            f"sample {sample} is not rated in: {', '.join(lacking)}",
            where=f"rating set '{kept.name}', rater {rater}",
            hint=f"give an answer to each question that is not optional{confirms or ''}",
        )
    assigned = [
        one.position
        for one in store.sets.assignments(kept.id, rater)
        if (one.sample, one.purpose) == (sample, purpose)
    ]
    if not assigned:
        raise StoreError(
            f"sample {sample} is not assigned to rater {rater} ({purpose})",
            where=f"rating set '{kept.name}'",
        )
    rows = store.sets.ratings(kept.id, rater, every=True)
    before = [row.id for row in rows if row.position == assigned[0]]
    rating = SampleRating(
        rater,
        assigned[0],
        sample,
        purpose,
        completed(form, answers),
        complete=True,
        confidence=confidence,
        note=note,
        seconds=seconds,
        confirmed=found.unmarked,
        replaces=before[-1] if before else None,
    )
    return store.sets.rate(kept.id, rating)


# -------------------------------------------------------------------- session


CONFIRM_S = 0.75
"""The least seconds between two calls that complete a sample, for the second one to confirm what
the first one asked: longer than a held key waits before it repeats (0.25 to 0.66) [ours]."""
SHORTEST_S = 0.001
"""The shortest time that is stored of a session."""


@dataclass(slots=True)
class _Place:
    assignment: Assignment
    last: SampleRating | None = None

    @property
    def is_done(self) -> bool:
        return self.last is not None and self.last.complete

    @property
    def seconds(self) -> float:
        return 0.0 if self.last is None else self.last.seconds


class RaterSession:
    """One rater's work on one set; made by :meth:`open`."""

    def __init__(
        self, store: Store, plugins: Plugins, kept: RatingSet, rater: str, clock: Clock
    ) -> None:
        self._store, self._plugins, self._kept = store, plugins, kept
        self.rater = rater
        self.form: Form = asked_by(kept)
        self.name, self.uid, self.guidelines = kept.name, kept.uid, kept.guidelines
        self.phase: Phase = "over"
        self._held = ExitStack()
        self._places: list[_Place] = []
        self._withheld: set[int] = set()
        self._at = self.visit = 0
        self._sample: Sample | None = None
        self._earlier: list[Draft] = []
        self._finished: list[int] = []
        self._unsure: dict[int, SampleRating] = {}
        self._media = Media(store, self.form)
        self._visit = Visit(clock)
        self._clock = clock
        self._asked: Asked | None = None
        self._asked_at = 0.0
        self._started_at = ""

    @classmethod
    def open(
        cls,
        store: Store,
        plugins: Plugins,
        ref: int | str,
        rater: str,
        *,
        clock: Clock = time.monotonic,
    ) -> Self:
        """Open a rater's work where it was left, at the first sample that is not complete."""
        kept = store.sets.get(ref)
        checked_rater(rater)
        if rater not in kept.raters:
            raise UsageError(
                f"'{rater}' is not a rater of rating set '{kept.name}'",
                hint="use the code that the study has given you",
            )
        refuse_closed(kept)
        session = cls(store, plugins, kept, rater, clock)
        session._held.enter_context(store.sets.lock(kept.id, rater))
        try:
            session._read()
        except BaseException:
            session.close()
            raise
        return session

    def _read(self) -> None:
        events = self._store.sets.events(self._kept.id)
        mine = {event.kind for event in events if event.who == self.rater}
        self.guidelines_read = "guidelines-read" in mine
        if "begun" not in mine:
            self._store.sets.log(self._kept.id, SetEvent("begun", who=self.rater))
        assigned = self._store.sets.assignments(self._kept.id, self.rater)
        places = {one.position: _Place(one) for one in assigned}
        rows = self._store.sets.ratings(self._kept.id, self.rater, every=True)
        for row in rows:
            places[row.position].last = row
        self._places = list(places.values())
        order = {one.assignment.position: at for at, one in enumerate(self._places)}
        finished = sorted((row.id, order[row.position]) for row in rows if row.complete)
        self._finished = [at for _, at in finished if self._places[at].is_done]
        self._go_on(-1)

    def close(self) -> None:
        """Free the rater's lock; may be called twice."""
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def shown(self) -> Shown | None:
        """What is shown of the sample; None when the work is over."""
        if self._sample is None:
            return None
        purpose = self._place.assignment.purpose
        return shown_of(self._sample, self.form, calibration=purpose == "calibration")

    def picture(self) -> bytes | None:
        """Return the picture of the sample, or None where the form shows none."""
        return None if self._sample is None else self._media.picture(self._sample)

    def audio(self) -> tuple[Path, float, float] | None:
        """Return the file to play, with its start and end in seconds; None without a recording."""
        return None if self._sample is None else self._media.audio(self._sample)

    @property
    def draft(self) -> Draft:
        """What the rater has said of the sample, without what was only confirmed as absent."""
        last = self._place.last if self._sample is not None else None
        if last is None:
            return Draft()
        return Draft(looked_at(self.form, last), last.confidence, last.note, last.evidence)

    @property
    def version(self) -> int:
        """Number of the last row of the sample; 0 before anything was said, or without a sample."""
        last = self._place.last if self._sample is not None else None
        return 0 if last is None else last.id

    @property
    def seconds_before(self) -> float:
        """The seconds on the sample before this visit."""
        return self._visit.total(0.0)

    @property
    def asked(self) -> Asked | None:
        """What the rater is asked to confirm; None where nothing is."""
        return self._asked

    @property
    def confirmed(self) -> tuple[str, ...]:
        """The features of a complete sample that are absent without a look at each."""
        last = self._place.last if self.complete else None
        if last is None:
            return ()
        return tuple(key for key in last.answers if key not in self.draft.answers)

    @property
    def complete(self) -> bool:
        """Whether the sample is complete; a change makes it open until it is completed again."""
        return self._sample is not None and self._place.is_done

    @property
    def missing(self) -> tuple[str, ...]:
        """The measures that still need an answer before the sample can be completed."""
        return missing(self.form, self.draft.answers)

    @property
    def right(self) -> Mapping[str, Answer] | None:
        """The right answers to a calibration sample; None unless the phase is ``feedback``."""
        return self._sample.consensus if self._sample and self.phase == "feedback" else None

    @property
    def progress(self) -> Progress:
        """How far the rater is."""
        done = sum(place.is_done for place in self._places)
        place = 0 if self._sample is None else self._at + 1
        return Progress(place, len(self._places), done, len(self._withheld))

    def refuse_closed(self) -> None:
        """Refuse where the set was closed meanwhile."""
        refuse_closed(self._store.sets.get(self._kept.id))

    def check_sending(self) -> None:
        """Refuse to show the sample on another computer without its speaker's consent."""
        check_sending(self._store, [] if self._sample is None else [self._sample])

    def pause(self) -> None:
        """Stop the clock of the sample: the rater is away from the screen."""
        self._visit.pause()

    def resume(self) -> None:
        """Let the clock run again."""
        self._visit.resume()

    def read_guidelines(self) -> None:
        """Record, once, that the rater was shown the guidelines."""
        if not self.guidelines_read:
            self._store.sets.log(self._kept.id, SetEvent("guidelines-read", who=self.rater))
            self.guidelines_read = True

    def answer(self, key: str, answer: Answer) -> None:
        """Save one answer; see :meth:`keep`."""
        draft = self.draft
        answers = {name: value for name, value in draft.answers.items() if name != key}
        if answer is not None:
            answers[key] = answer
        self.keep(replace(draft, answers=answers))

    def keep(self, draft: Draft, *, seconds: float | None = None) -> None:
        """Save what the rater has said so far; nothing is written where nothing changed.

        After a failure the same call may be made again: nothing is kept twice.
        """
        before = self.draft
        if draft == before:
            return
        self._refuse_changes()
        self._asked = None
        self._save(draft, complete=False, seconds=seconds)
        self._earlier.append(before)

    def finish(self, draft: Draft | None = None, *, seconds: float | None = None) -> None:
        """Complete the sample, and show the right answers or the next sample that is open.

        Where features were not looked at, or it was faster than the form's minimum, the rater is
        asked first (:attr:`asked`), and nothing is saved. A second call with the same answers
        confirms it, if :data:`CONFIRM_S` seconds or more have passed since the call before: a key
        that is held down or pressed twice confirms nothing.
        """
        said = self.draft if draft is None else draft
        if self.complete and said == self.draft:
            self._go_on(self._at)
            return
        self._refuse_changes()
        found = step(self.form, said.answers, self._seconds(seconds))
        if found.missing:
            titles = ", ".join(self.form.question(measure).title for measure in found.missing)
            raise UsageError(f"not answered yet: {titles}")
        if found.asks and not self._confirms(said, found):
            return
        self._asked = None
        self._save(said, complete=True, seconds=seconds, confirmed=found.unmarked)
        self._finished.append(self._at)
        if self._teaches:
            self.phase = "feedback"
        else:
            self._go_on(self._at)

    def _confirms(self, said: Draft, found: Step) -> bool:
        """Return whether this call confirms what was asked before; else the rater is asked."""
        asked, before, now_s = self._asked, self._asked_at, self._clock()
        self._asked_at = now_s
        if asked is not None and asked.draft == said:
            if now_s - before >= CONFIRM_S:
                return True
            self._asked = replace(asked, again=True)
        else:
            self._asked = Asked(said, found.unmarked, found.untouched, found.fast)
        return False

    def go_on(self) -> None:
        """Show the next open sample after the right answers were shown."""
        self._go_on(self._at)

    def show(self, place: int) -> bool:
        """Show the sample at a place of the rater's order, from 1; False where that cannot be."""
        return 0 < place <= len(self._places) and self._show(place - 1)

    def back(self) -> bool:
        """Show the sample before; False at the first one.

        A calibration sample whose right answers were shown is shown with them.
        """
        at = len(self._places) if self._sample is None else self._at
        return any(self._show(earlier) for earlier in reversed(range(at)))

    def undo(self, *, seconds: float | None = None) -> bool:
        """Take back the last change to the sample, else the last completion; False without one.

        What was taken back stays in the store, but counts no more. The visit begins again.
        """
        self._asked = None
        if self._earlier and self.phase == "rate":
            self._save(self._earlier[-1], complete=False, seconds=seconds)
            self._earlier.pop()
            self._visit.begin(self._place.seconds)
            return True
        if not self._finished:
            return False
        at = self._finished[-1]
        place = self._places[at]
        if place.assignment.purpose == "calibration" or place.last is None:
            return False
        if place.is_done:
            place.last = self._store.sets.take_back(self._kept.id, place.last.id)
        self._finished.pop()
        self._show(at)
        return True

    @property
    def _place(self) -> _Place:
        return self._places[self._at]

    @property
    def _teaches(self) -> bool:
        """Whether the right answers to the sample are known, and shown afterwards."""
        learns = self._place.assignment.purpose == "calibration"
        return learns and self._sample is not None and self._sample.consensus is not None

    def _refuse_changes(self) -> None:
        if self._sample is None:
            raise UsageError("no sample is shown that could be rated")
        if self.phase == "feedback":
            raise UsageError("the right answers were shown: this sample cannot be changed")

    def _seconds(self, seconds: float | None) -> float:
        """Return the seconds on the sample; more than 0, which means that they are not known."""
        return max(round(self._visit.total(seconds), 3), SHORTEST_S)

    def _save(
        self,
        draft: Draft,
        *,
        complete: bool,
        seconds: float | None,
        confirmed: tuple[str, ...] = (),
    ) -> None:
        place = self._place
        rating = SampleRating(
            rater=self.rater,
            position=place.assignment.position,
            sample=place.assignment.sample,
            purpose=place.assignment.purpose,
            answers={**draft.answers, **dict.fromkeys(confirmed, 0.0)},
            complete=complete,
            confidence=draft.confidence,
            note=draft.note,
            seconds=self._seconds(seconds),
            started_at=self._started_at,
            confirmed=confirmed,
            replaces=place.last.id if place.last else None,
            evidence=draft.evidence,
        )
        if rating.position in self._unsure:
            place.last = self._settled(self._unsure[rating.position])
            del self._unsure[rating.position]
            if place.is_done == complete and self.draft == draft:
                return
            rating = replace(rating, replaces=place.last.id if place.last else None)
        self._unsure[rating.position] = rating
        try:
            place.last = self._store.sets.rate(self._kept.id, rating)
        except NotAssigned as error:
            self._read()
            raise UsageError(
                "this sample was removed from the set meanwhile: its speaker was deleted",
                hint="the next sample is shown",
            ) from error
        del self._unsure[rating.position]

    def _settled(self, unsure: SampleRating) -> SampleRating | None:
        """Return the last row of the sample after a save of which no reply came."""
        rows = self._store.sets.ratings(self._kept.id, self.rater, every=True)
        here = [row for row in rows if row.position == unsure.position]
        last = here[-1] if here else None
        if (last.id if last else None) != unsure.replaces and not (last and same(last, unsure)):
            raise saved_elsewhere(self.name, unsure)
        return last

    def _go_on(self, after: int) -> None:
        """Show the first open sample after one, else the first open one, else nothing."""
        for at in (*range(after + 1, len(self._places)), *range(after + 1)):
            if not self._places[at].is_done and self._show(at):
                return
        self._sample, self.phase, self._asked = None, "over", None
        self.visit += 1
        self._visit.end()
        self._at = max(len(self._places) - 1, 0)

    def _show(self, at: int) -> bool:
        """Show one sample; False where the speaker does not agree to it."""
        place = self._places[at]
        sample = self._store.sets.sample(self._kept.id, place.assignment.sample)
        if not may_rate(self._store, self._plugins, sample, self.rater):
            self._withheld.add(at)
            return False
        self._withheld.discard(at)
        last = place.last
        self._at, self._sample = at, sample
        self.visit += 1
        self.phase = "feedback" if self._teaches and place.is_done else "rate"
        self._earlier, self._asked = [], None
        self._started_at = last.started_at if last else now()
        self._visit.begin(place.seconds)
        return True
