"""Stores imported answers: rated as in a run, all administrations of a file in one commit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tabwb.administer import consent
from tabwb.administer.answers.plan import ImportPlan, PlannedAnswer, PlannedRun
from tabwb.administer.answers.repeated import check_new, noted_file
from tabwb.administer.session.exchange import attempt_with_answer, storable
from tabwb.administer.session.raters import Raters, failed_raters
from tabwb.administer.session.setup import versions_of
from tabwb.administer.session.state import Observers
from tabwb.battery.loader import read_assets
from tabwb.battery.model import Battery
from tabwb.host.plugins import Plugins
from tabwb.records import events
from tabwb.records.answers import RecordedAnswer
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Reply
from tabwb.records.files import sha256_of
from tabwb.records.ratings import Declaration, FailedRater
from tabwb.records.reasoning import option_of, separated
from tabwb.records.speakers import LogEntry
from tabwb.records.states import ResponseKind, StopReason, TrialState
from tabwb.records.trials import (
    Administration,
    Attempt,
    AttemptEntry,
    DeclarationEntry,
    Entry,
    EventEntry,
    Marks,
    RatingsEntry,
    Trial,
    changes,
)
from tabwb.records.words import plural
from tabwb.store.store import Store
from tabwb.store.write import WholeAdministration

DRAWN = "replayed_sampled"
"""Metadata of an answer that was drawn: each replicate is a separate draw."""
Tell = Callable[[int], None]
"""Is called with the number of answers that were rated since the last call."""


@dataclass(frozen=True, slots=True)
class Imported:
    """An administration that was stored, and the raters that failed."""

    administration: Administration
    failed: tuple[FailedRater, ...]


def import_answers(
    store: Store,
    plugins: Plugins,
    battery: Battery,
    plan: ImportPlan,
    conditions: Sequence[Conditions],
    rated: Tell = lambda count: None,
    *,
    again: bool = False,
    marks: Sequence[EventEntry] = (),
) -> tuple[Imported, ...]:
    """Rate the answers of a file and store them: all of them, or nothing.

    Judges that ask a model are not run here.

    Args:
        store: where they are kept.
        plugins: with scorers, judges and observers.
        battery: whose items were answered.
        plan: what is to be stored.
        conditions: of each run of the plan.
        rated: is told of each answer that was rated.
        again: store them also where the store has the answers of these files.
        marks: a title and tags for each administration.

    Raises:
        UsageError: the store has the answers of these files.
        NoConsent: a registered speaker has not agreed; nothing was stored.
        StoreError: it cannot be stored; nothing was.
    """
    for given in conditions:
        consent.Guard(store, plugins, given).check_giving()
    every = {str(path): (path.name, sha256_of(path)) for path in plan.source.files}
    digests = [dict([every[run.run.file]] if run.run.file else every.values()) for run in plan.runs]
    check = partial(check_new, store, battery, list(zip(conditions, digests, strict=True)))
    if not again:
        check()
    made = [
        _Recording(store, plugins, battery, run, given, plan.source.declarations).whole(
            plan, own, rated, (*marks, *changes(Marks(), add=run.run.tags))
        )
        for run, given, own in zip(plan.runs, conditions, digests, strict=True)
    ]
    assets = read_assets(Path(battery.origin), battery) if battery.assets else {}
    store.keep_battery(battery, assets)
    # Another program may have stored them meanwhile.
    stored = store.add_whole(battery, [whole for whole, _ in made], None if again else check)
    for administration, (whole, _) in zip(stored, made, strict=True):
        _tell(store, plugins, battery, administration, whole)
    return tuple(
        Imported(administration, failed)
        for administration, (_, failed) in zip(stored, made, strict=True)
    )


class _Recording:
    """Rates the answers of one run."""

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        battery: Battery,
        planned: PlannedRun,
        conditions: Conditions,
        theirs: Sequence[Declaration],
    ) -> None:
        self._plugins, self._battery, self._theirs = plugins, battery, theirs
        self._features = frozenset(feature.id for feature in battery.features)
        self._planned, self._conditions = planned, conditions
        dialect = consent.dialect_of(store, conditions)
        self._raters = Raters(plugins, battery, conditions.judges, dialect=dialect)
        self._trials = [Trial(each.trial) for each in planned.planned]
        self._declared: set[str] = set()
        self._drawn = "temperature" in conditions.unknown and planned.drawn

    def whole(
        self,
        plan: ImportPlan,
        digests: dict[str, str],
        rated: Tell,
        marks: Sequence[EventEntry],
    ) -> tuple[WholeAdministration, tuple[FailedRater, ...]]:
        """Return everything that is to be stored, and the raters that failed."""
        conditions = self._conditions
        entries: list[Entry] = []
        if conditions.kind == "model":
            facts = json.dumps(self._facts(digests), sort_keys=True, ensure_ascii=False)
            entries.append(EventEntry("model-opened", None, storable(facts)))
        notes = _provenance(plan, self._planned, digests, self._drawn)
        entries += [EventEntry("noted", None, storable(note)) for note in notes]
        entries += marks
        name = ", ".join(list(digests)[:2]) or "standard input"
        for each in self._planned.planned:
            entries += self._entries(each, f"not in {name}")
            rated(1 if each.answer is not None else 0)
        entries.append(EventEntry("finished", None))
        acts = [LogEntry("imported", conditions.person, detail=self._battery.id)]
        whole = WholeAdministration(
            conditions,
            [each.trial for each in self._planned.planned],
            versions_of(self._plugins),
            entries,
            acts if conditions.guarded else (),
        )
        return whole, failed_raters(self._trials, self._raters.later)

    def _facts(self, digests: dict[str, str]) -> dict[str, str]:
        run = self._planned.run
        first = next(iter(digests.items()), None) if len(digests) == 1 else None
        several = json.dumps(digests, ensure_ascii=False) if len(digests) > 1 else ""
        return {
            "model": run.model or self._conditions.examinee,
            **dict(run.facts),
            **({"source": run.tool} if run.tool else {}),
            **({"imported_file": first[0], "imported_sha256": first[1]} if first else {}),
            **({"imported_files": several} if several else {}),
        }

    def _entries(self, each: PlannedAnswer, absent: str) -> Iterator[Entry]:
        plan, answer = each.trial, each.answer
        if answer is None:
            yield EventEntry("not-needed", plan.number, absent)
            return
        if answer.text is None:
            reason = answer.error or "there is no answer"
            yield EventEntry("skipped", plan.number, storable(reason))
            return
        attempt = self._attempt(Trial(plan), answer, answer.text)
        theirs = (rating for rating in answer.ratings if rating.measure in self._features)
        ratings = (*self._raters.rate(plan, attempt, self._trials), *theirs)
        self._trials[plan.number - 1] = Trial(plan, TrialState.ANSWERED, (attempt,), ratings)
        yield AttemptEntry(plan.number, attempt)
        yield RatingsEntry(plan.number, attempt.number, ratings)
        raters = {rating.rater for rating in ratings}
        declared = (each for each in self._theirs if each.rater in raters)
        for declaration in (*self._raters.declarations(ratings), *declared):
            if declaration.rater not in self._declared:
                self._declared.add(declaration.rater)
                yield DeclarationEntry(declaration)

    def _attempt(self, trial: Trial, answer: RecordedAnswer, text: str) -> Attempt:
        subtest = self._battery.subtest(trial.plan.subtest)
        item = subtest.item(trial.plan.item)
        is_model = self._conditions.kind == "model"
        stop = answer.stop_reason
        if not is_model and stop is StopReason.END:
            stop = StopReason.NONE
        reply = Reply(
            text,
            stop,
            answer.latency_s or 0.0,
            prompt_tokens=answer.prompt_tokens,
            reply_tokens=answer.reply_tokens,
            metadata={**(self._sent(answer) if is_model else {}), **answer.metadata},
        )
        if is_model:
            option = option_of(self._conditions.examinee)
            reply = separated(reply, option, closing=answer.closing, apart=answer.reasoning)
        kind: ResponseKind = subtest.task.text_kind
        attempt = attempt_with_answer(
            trial,
            reply,
            None,
            item.expected,
            kind=kind,
            language=self._battery.language,
            answers=subtest.allowed_answers(item),
        )
        return replace(
            attempt,
            latency_s=answer.latency_s,
            messages=tuple(
                replace(message, content=storable(message.content)) for message in answer.messages
            )
            if is_model
            else (),
            recorded_at=answer.given_at or attempt.recorded_at,
        )

    def _sent(self, answer: RecordedAnswer) -> dict[str, str]:
        """Return what is known of the decoding of an answer, as an attempt keeps it."""
        known = answer.decoding
        stated: dict[str, str] = {}
        if known.max_tokens is not None:
            stated["max_tokens"] = str(known.max_tokens)
        if known.temperature is not None:
            stated["temperature"] = str(float(known.temperature))
        if known.stop is not None:
            stated["stop"] = json.dumps(known.stop, ensure_ascii=False)
        if known.temperature != 0.0:  # otherwise nothing was drawn
            for name in ("top_p", "seed"):
                if (value := getattr(known, name)) is not None:
                    stated[name] = str(value)
        return {**stated, **({DRAWN: "yes"} if self._drawn else {})}


def _provenance(
    plan: ImportPlan, planned: PlannedRun, digests: dict[str, str], drawn: bool
) -> tuple[str, ...]:
    """Return the notes that say where the answers of an administration are from."""
    shown = [noted_file(name, digest) for name, digest in list(digests.items())[:2]]
    if len(digests) > 2:
        shown.append(f"{len(digests) - 2} more files")
    tool = planned.run.tool or plan.source.title
    files = " and ".join(shown) or "standard input"
    said = [f"Imported from {files}: {tool}. {told(planned)}."]
    if drawn:
        said.append(
            "The source does not say the temperature. Answers to equal requests differ, so each "
            "counts as a separate draw."
        )
    if not any(each.answer and each.answer.prompt for each in planned.planned):
        said.append("The source does not say what was sent: the prompts are the battery's.")
    return (*said, *planned.run.notes)


def told(planned: PlannedRun) -> str:
    """Return how many answers there are and how their items were found, in words."""
    found = ", ".join(f"{count:,} by {how}" for how, count in planned.matched.items())
    several = f" in {planned.replicates:,} replicates" if planned.replicates > 1 else ""
    how = f", items found: {found}" if found else ""
    parts = [f"{plural(planned.answers, 'answer')}{several}{how}"]
    if planned.missing:
        parts.append(f"{plural(len(planned.missing), 'item')} without an answer")
    if planned.gaps:
        parts.append(f"{plural(planned.gaps, 'replicate')} of other items without an answer")
    if planned.repeated:
        parts.append(f"{plural(len(planned.repeated), 'repeated answer')} left out")
    return "; ".join(parts)


def _tell(
    store: Store,
    plugins: Plugins,
    battery: Battery,
    administration: Administration,
    whole: WholeAdministration,
) -> None:
    """Tell observers of what was stored."""
    subtests = {trial.number: trial.subtest for trial in whole.plan}
    observers = Observers(plugins, battery, administration, store.location, subtests.__getitem__)
    number = administration.id
    for entry in whole.entries:
        match entry:
            case AttemptEntry(trial=trial, attempt=attempt) if plugins.observes(
                events.AttemptRecorded
            ):
                observers.tell(events.AttemptRecorded(number, trial, attempt))
            case RatingsEntry(trial=trial, attempt=at, ratings=ratings) if plugins.observes(
                events.Rated
            ):
                observers.tell(events.Rated(number, trial, at, ratings))
    observers.tell(events.Finished(number))
