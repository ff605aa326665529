"""Imported answers: what will be stored or is stored already; rated as in a run, in one commit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tabwb.administer import consent
from tabwb.administer.answers.plan import (
    MADE,
    ImportPlan,
    PlannedAnswer,
    PlannedRun,
    Stated,
    check_names,
    import_conditions,
    plan_import,
    with_battery,
)
from tabwb.administer.participants import Filling, store_records
from tabwb.administer.session import setup
from tabwb.administer.session.exchange import attempt_with_answer, storable
from tabwb.administer.session.raters import Raters, failed_raters
from tabwb.administer.session.session import Observers
from tabwb.administer.session.setup import versions_of
from tabwb.battery.loader import read_assets
from tabwb.battery.model import Battery
from tabwb.host.guarded import recognising
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import AnswerFile, Importer
from tabwb.records import events
from tabwb.records.answers import RecordedAnswer
from tabwb.records.conditions import Conditions, declared
from tabwb.records.declared_conditions import ConditionError
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Reply
from tabwb.records.files import sha256_of
from tabwb.records.ratings import Declaration, FailedRater
from tabwb.records.reasoning import option_of, separated
from tabwb.records.speakers import LogEntry, Value, read_day
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


def noted_file(name: str, digest: str) -> str:
    """Return a file as the note of an import names it."""
    return f"{name} (SHA-256 {digest[:12]}…)"


def check_new(
    store: Store, battery: Battery, runs: Sequence[tuple[Conditions, Mapping[str, str]]]
) -> None:
    """Refuse files that were imported before with the same battery, for the same examinees."""
    digests: dict[str, list[Mapping[str, str]]] = {}
    for given, own in runs:
        if own:
            digests.setdefault(given.examinee, []).append(own)
    known = [
        record
        for record in store.administrations()
        if (record.battery_hash == battery.content_hash or _made(record.battery, battery.id))
        and record.conditions.origin is not None
        and record.conditions.examinee in digests
    ]
    ids = [record.id for record in known]
    for record, facts in zip(known, store.facts(ids) if ids else (), strict=True):
        for own in digests[record.conditions.examinee]:
            if not _is_of(facts.model, facts.notes, own):
                continue
            name, *more = own
            raise UsageError(
                f"these answers of {record.conditions.examinee} are in the store already: "
                f"administration {record.id}",
                where=f"{name} and {len(more)} more" if more else name,
                hint="to store them once more, so that sampled answers count twice: --again "
                "(again=True in Python)",
            )


def _made(*batteries: str) -> bool:
    return all(battery.startswith(MADE) for battery in batteries)


def _is_of(model: Mapping[str, str], notes: Iterable[str], digests: Mapping[str, str]) -> bool:
    if several := model.get("imported_files"):
        return set(json.loads(several).values()) == set(digests.values())
    if len(digests) != 1:
        return False
    ((_, digest),) = digests.items()
    if model:
        return model.get("imported_sha256") == digest
    # Of a person's answers only the note names the file.
    return any(
        note.startswith("Imported from ") and noted_file("", digest).strip() in note
        for note in notes
    )


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
    records: Filling | None = None,
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
        records: of the participants, with what the file says of them.

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
    new = {} if records is None else records.new
    made = [
        _Recording(
            store, plugins, battery, run, given, plan.source.declarations, new.get(given.person, {})
        ).whole(plan, own, rated, (*marks, *changes(Marks(), add=run.run.tags)))
        for run, given, own in zip(plan.runs, conditions, digests, strict=True)
    ]
    assets = read_assets(Path(battery.origin), battery) if battery.assets else {}
    store.keep_battery(battery, assets)
    if records is not None:
        store_records(store, records, ", ".join(name for name, _ in list(every.values())[:1]))
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
        record: Mapping[str, Value],
    ) -> None:
        self._plugins, self._battery, self._theirs = plugins, battery, theirs
        self._features = frozenset(feature.id for feature in battery.features)
        self._planned, self._conditions = planned, conditions
        dialect = str(record.get("dialect", "")) or consent.dialect_of(store, conditions)
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


RATED = "tab"
"""The battery whose features are rated in texts without a battery."""
SHOWN = 5
"""How many places or items one line names."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What is to be imported, as the user says it.

    Attributes:
        path: of the file or folder.
        battery: its id or path; None for texts without a battery.
        stated: who responded.
        columns: of a table: field to the name of its column.
        number_replicates: take further answers to an item as replicates.
        skip_unknown: leave out answers that match no item of the battery.
        judges: specs; empty: those of a run.
        research_protocol: under which a person was given a battery for models.
        date: of the session, where the file does not say it; empty: not known.
    """

    path: Path
    battery: str | None
    stated: Stated
    columns: Mapping[str, str] = field(default_factory=dict)
    number_replicates: bool = False
    skip_unknown: bool = False
    judges: Sequence[str] = ()
    research_protocol: str | None = None
    date: str = ""


@dataclass(frozen=True, slots=True)
class PreparedImport:
    """What :func:`tabwb.administer.answers.importing.import_answers` stores."""

    battery: Battery
    plan: ImportPlan
    conditions: tuple[Conditions, ...]


def importer_of(plugins: Plugins, path: Path, format_id: str | None) -> Importer | None:
    """Return the importer of a file: the one asked for, else the first that knows it, or None."""
    if format_id is not None:
        return plugins.importer(format_id)
    known = plugins.descriptors("importers")
    return recognising((partial(plugins.importer, one.id) for one in known), path)


def prepare_import(plugins: Plugins, importer: Importer, request: ImportRequest) -> PreparedImport:
    """Read a file of answers, and return what will be stored of it; nothing is stored."""
    day = read_day(request.date, "--date") if request.date else ""
    judges = setup.resolved_judges(plugins, checked_judges(request.judges))
    battery = None if request.battery is None else setup.find_battery(plugins, request.battery)
    source = importer.read(request.path, dict(request.columns))
    made = battery is None
    if battery is None:
        source, battery = _texts(plugins, source, request.path)
    elif (
        source.strict
        and not {"item", "prompt"} & source.names.keys()
        and not any(answer.item or answer.prompt for answer in source.answers)
    ):
        raise UsageError(
            f"neither items nor prompts are named, by which the items of '{battery.id}' are found",
            where=str(request.path),
            hint="name the column: --column item=NAME or --column prompt=NAME; or leave "
            "out --battery: texts without a battery make one",
        )
    plan = plan_import(
        source,
        battery,
        number_replicates=request.number_replicates or made,
        lenient=request.skip_unknown,
    )
    if made:  # the items are the prompts: nothing was looked for
        plan = replace(plan, runs=tuple(replace(run, matched={}) for run in plan.runs))
    check_names(plan, request.stated, request.path)
    conditions = (
        import_conditions(
            plugins,
            battery,
            run,
            request.stated,
            source=request.path,
            judges=judges,
            session_date=day,
            research_protocol=request.research_protocol,
        )
        for run in plan.runs
    )
    return PreparedImport(battery, plan, tuple(conditions))


def _texts(plugins: Plugins, source: AnswerFile, path: Path) -> tuple[AnswerFile, Battery]:
    """Return texts without a battery, and a battery made of their prompts."""
    if not source.texts:
        raise UsageError(
            "the battery whose items were answered is not named",
            where=str(path),
            hint="name it with --battery ID; texts without a battery are in a column 'text' "
            "(--column text=NAME)",
        )
    return with_battery(source, setup.find_battery(plugins, RATED))


def stated_records(prepared: PreparedImport) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield what a file says of its participants, by study ID."""
    known: dict[str, dict[str, None]] = {}
    for run, given in zip(prepared.plan.runs, prepared.conditions, strict=True):
        if given.kind == "speaker":
            known.setdefault(run.run.participant, {})[given.person] = None
            if run.run.stated:
                yield given.person, dict(run.run.stated)
    for participant, texts in prepared.plan.source.people:
        for speaker in known.get(participant, ()):
            yield speaker, texts


def columns_of(texts: Sequence[str]) -> dict[str, str]:
    """Return fields by the names of their columns, from texts ``FIELD=NAME``."""
    columns: dict[str, str] = {}
    for text in texts:
        field, sign, name = text.partition("=")
        if not sign or not field or not name:
            raise UsageError(
                f"'{text}' is not FIELD=NAME",
                where="--column",
                allowed="for example response=text, item=question_id",
            )
        if field in columns:
            raise UsageError(f"'{field}' is given twice", where="--column")
        columns[field] = name
    return columns


def planned_lines(run: PlannedRun, given: Conditions, shown: int) -> list[str]:
    """Return what will be stored of a run: who answered, how the items were found, first
    answers.
    """
    date = f", session of {given.session_date}" if given.session_date else ""
    drawn = f"; {given.drawn}" if given.kind == "model" else ""
    lines = [f"{given.examinee} ({given.made_by}): {told(run)}{drawn}{date}"]
    for each in [planned for planned in run.planned if planned.answer][:shown]:
        assert each.answer is not None
        said = " ".join((each.answer.text or "").split())
        said = said if len(said) <= 60 else said[:59] + "…"
        lines.append(f"  {each.trial.subtest}/{each.trial.item} {each.trial.replicate}: {said}")
    if shown and run.answers > shown:
        lines.append(f"  and {run.answers - shown:,} more")
    return lines


def left_out(plan: ImportPlan, battery: str) -> list[str]:
    """Return what of a file is not imported, and which items have no answer, a line for each."""
    lines = [f"left out: {count:,} {reason}" for reason, count in plan.source.left_out.items()]
    if plan.unmatched:
        first = plan.unmatched[0]
        lines.append(
            f"left out: {plural(len(plan.unmatched), 'answer')} to no item of '{battery}', the "
            f"first at {first.answer.where}: {first.column} '{first.value}': {first.message}"
        )
    of_runs = Counter(line for run in plan.runs for line in _left_out_of(run))
    lines += [
        line + (f", in each of {times} administrations" if times > 1 else "")
        for line, times in of_runs.items()
    ]
    return lines


def _left_out_of(run: PlannedRun) -> Iterator[str]:
    if run.repeated:
        yield (
            f"left out: {plural(len(run.repeated), 'second answer')} to an item and replicate "
            f"({_some(run.repeated)})"
        )
    if run.missing:
        yield (
            f"not administered: {plural(len(run.missing), 'item')} without an answer "
            f"({_some(run.missing)})"
        )
    if run.gaps:
        yield f"not administered: {plural(run.gaps, 'replicate')} of items without an answer"


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:SHOWN])}{', …' if len(names) > SHOWN else ''}"


def checked_judges(judges: Sequence[str]) -> tuple[str, ...]:
    """Return the judges of an import: those asked for, ``rules`` by default, none for ``none``."""
    condition = declared("judges")
    try:
        checked: tuple[str, ...] = condition.checked(tuple(judges) or condition.asked)
    except ConditionError as error:
        raise UsageError(error.message, where="--judge", allowed=error.allowed) from None
    return checked
