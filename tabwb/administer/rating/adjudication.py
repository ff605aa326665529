"""Settle what raters differ on: verdicts side by side, blind to where a sample came from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from tabwb.administer.rating.access import may_rate
from tabwb.administer.rating.disputes import (
    Dispute,
    Verdict,
    by_sample,
    dispute_of,
    judged,
    keys_of,
    most_first,
    session_ratings,
)
from tabwb.administer.rating.session import Media, Shown, shown_of
from tabwb.battery.forms import SOURCE, Question, form_from_canonical
from tabwb.host.plugins import Plugins
from tabwb.records.errors import StoreError, TabwbError
from tabwb.records.rating_sets import (
    CANNOT_TELL,
    Adjudication,
    Answer,
    Sample,
    SampleRating,
    measure_of,
)
from tabwb.records.speakers import operator
from tabwb.store.store import Store

Which = Literal["open", "settled", "all"]
RESTORED = "restored: "
"""Begins the reason of a row that takes another one back, before that of the restored row."""


class Adjudicator:
    """The disagreements of one rating set, and how they are settled.

    Samples of speakers who do not agree to rating are left out, and the log says whose responses
    were shown, as for raters.
    """

    def __init__(self, store: Store, plugins: Plugins, reference: int | str, who: str = "") -> None:
        self._store, self._plugins, self._who = store, plugins, who or operator()
        self.set = store.sets.get(reference)
        self.form = form_from_canonical(self.set.form)
        self._media = Media(store, self.form)
        self._allowed: dict[int, bool] = {}
        every = store.sets.samples(self.set.id)
        self._samples = {one.number: one for one in every if self._may_see(one)}
        self.withheld = len(every) - len(self._samples)
        self._done: list[tuple[int, str]] = []

    # ---------------------------------------------------------------- reading

    def disputes(
        self,
        *,
        which: Which = "open",
        measures: Collection[str] = (),
        samples: Collection[int] = (),
    ) -> tuple[Dispute, ...]:
        """Return what raters differ on: people most first, then people and judges."""
        for measure in measures:
            self.form.question(measure_of(measure)[0])
        found = [
            one
            for one in self._all(samples)
            if (not measures or {one.measure, measure_of(one.measure)[0]} & {*measures})
            and (one.is_disputed or one.settled is not None)
            and (which == "all" or (one.settled is None) == (which == "open"))
        ]
        return tuple(sorted(found, key=most_first))

    def shown(self, number: int) -> Shown:
        """Return a sample without what tells its source."""
        return shown_of(self._sample(number), self.form, calibration=False)

    def audio(self, number: int) -> tuple[Path, float, float] | None:
        """Return the file of a sample, with start and end in seconds; None without a recording."""
        return self._media.audio(self._sample(number))

    def progress(self) -> tuple[int, int]:
        """Return how many of the answers that people differ on are settled, and their number.

        An answer that was settled although nobody differs is among them.
        """
        every = [one for one in self._all(()) if one.people_differ or one.settled is not None]
        return sum(one.settled is not None for one in every), len(every)

    # ---------------------------------------------------------------- settling

    def settle(self, sample: int, measure: str, answer: str | float, reason: str) -> Adjudication:
        """Store the value that settles one answer of one sample."""
        question = self._question(measure)
        if answer != CANNOT_TELL:
            question.check(answer)
        self._sample(sample)
        if not self._rated.get(sample):
            raise StoreError(
                f"nobody has rated sample {sample}", where=f"rating set '{self.set.name}'"
            )
        if not reason.strip():
            raise TabwbError(
                "a settled value needs a reason", hint="say why; in a shell: --reason TEXT"
            )
        made = self._keep(sample, measure, answer, reason.strip().removeprefix(RESTORED))
        self._done.append((sample, measure))
        return made

    def read(self, measure: str, text: str) -> str | float:
        """Return the answer that a text stands for."""
        answer = self._question(measure).read(text)
        if answer is None:
            raise TabwbError(f"'{measure}' needs a value", hint="--undo takes one back")
        return answer

    def words(self, measure: str, answer: Answer) -> str:
        """Return an answer in words."""
        question = self.form.question(measure_of(measure)[0])
        if answer is None:
            return "not rated"
        if answer == CANNOT_TELL:
            return "cannot tell"
        if question.kind == "present-absent":
            return "present" if answer else "absent"
        if question.kind == "choice":
            return question.option(str(answer)).title.casefold()
        return f"{answer:g}" if isinstance(answer, float) else f"'{answer}'"

    def said(self, one: Dispute, verdict: Verdict) -> str:
        """Return who says what in words: ``R1 absent (not looked at)``."""
        not_looked = " (not looked at)" if verdict.looked_at is False else ""
        return f"{verdict.rater} {self.words(one.measure, verdict.answer)}{not_looked}"

    def take_back(self, sample: int, measure: str) -> Adjudication | None:
        """Take back what settles an answer: what settled it before holds again."""
        rows = self.history(sample, measure)
        if not rows or rows[-1].answer is None:
            raise StoreError(
                f"'{measure}' of sample {sample} is not settled",
                where=f"rating set '{self.set.name}'",
            )
        before = _before(rows)
        made = self._keep(
            sample,
            measure,
            None if before is None else before.answer,
            "taken back" if before is None else f"{RESTORED}{before.reason}",
        )
        if (sample, measure) in self._done:
            self._done.remove((sample, measure))
        return None if before is None else made

    def undo(self) -> tuple[int, str] | None:
        """Take back what was settled last here; its sample and measure, or None."""
        if not self._done:
            return None
        last = self._done[-1]
        self._done.pop()
        self.take_back(*last)
        return last

    def history(self, sample: int, measure: str) -> tuple[Adjudication, ...]:
        """Return every row of an answer, oldest first; an answer of None was a withdrawal."""
        return tuple(
            one
            for one in self._store.sets.adjudications(self.set.id, every=True)
            if (one.sample, one.measure) == (sample, measure)
        )

    # ---------------------------------------------------------------- parts

    def _may_see(self, sample: Sample) -> bool:
        number = sample.administration
        if number not in self._allowed:
            self._allowed[number] = may_rate(self._store, self._plugins, sample, self._who)
        return self._allowed[number]

    def _keep(self, sample: int, measure: str, answer: Answer, reason: str) -> Adjudication:
        return self._store.sets.adjudicate(
            self.set.id, Adjudication(sample, measure, answer, reason, self._who)
        )

    def _question(self, measure: str) -> Question:
        name, attempt = measure_of(measure)
        question = self.form.question(name)
        if question.per_attempt and attempt is None:
            raise TabwbError(
                f"'{name}' is asked of each attempt",
                allowed=f"{name}#1 for the first attempt, {name}#2 ...",
            )
        if not question.per_attempt and attempt is not None:
            raise TabwbError(f"'{name}' is asked once of a sample", allowed=name)
        return question

    def _sample(self, number: int) -> Sample:
        if number not in self._samples:
            raise StoreError(
                f"there is no sample {number}",
                where=f"rating set '{self.set.name}'",
                allowed=f"1 to {max(self._samples, default=0)}",
            )
        return self._samples[number]

    @cached_property
    def _rated(self) -> Mapping[int, tuple[SampleRating, ...]]:
        samples = tuple(self._samples.values())
        ratings = self._store.sets.ratings(self.set.id)
        rated = {(one.rater, one.sample) for one in ratings}
        heard = session_ratings(self._store, samples, self.form, rated)
        return by_sample((*heard, *ratings))

    @cached_property
    def _judged(self) -> Mapping[int, Mapping[str, Mapping[str, float]]]:
        return judged(self._store, tuple(self._samples.values()), self.form)

    def _all(self, samples: Collection[int]) -> Iterator[Dispute]:
        settled = {
            (one.sample, one.measure): one for one in self._store.sets.adjudications(self.set.id)
        }
        for one in self._rated_answers:
            if not samples or one.sample in samples:
                held = settled.get((one.sample, one.measure))
                yield one if held is None else replace(one, settled=held)

    @cached_property
    def _rated_answers(self) -> tuple[Dispute, ...]:
        """Every answer as it was rated when this was first read, as if nothing were settled."""
        return tuple(
            dispute_of(question, key, number, given, judges)
            for number, ratings in sorted(self._rated.items())
            if number in self._samples
            for given in [sorted(ratings, key=lambda one: self._order.get(one.rater, -1))]
            for question in self.form.questions
            if question.measure != SOURCE
            for judges in [self._judged.get(number, {}).get(question.measure, {})]
            for key in keys_of(question, given)
        )

    @cached_property
    def _order(self) -> Mapping[str, int]:
        return {rater: place for place, rater in enumerate(self.set.raters)}


def _before(rows: Sequence[Adjudication]) -> Adjudication | None:
    """Return the row that held before the one that holds now; None where none did."""
    held: list[Adjudication] = []
    for row in rows:
        if row.answer is None:
            held = []
        elif row.reason.startswith(RESTORED):
            held.pop()
        else:
            held.append(row)
    return held[-2] if len(held) > 1 else None
