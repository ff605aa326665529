"""Administrations as analyses read them: from the store or from memory, with their batteries.

Also the status under which a response counts, and whether its features can be rated; and raters
that are computed when results are read: the majority, consensus and adjudicated verdicts. These
have their own ids and are never stored. They are computed from the ratings of people, and from what
was settled in rating sets (docs/rating.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.analysis.plain import Json, picked
from tabwb.battery.loader import battery_from_canonical
from tabwb.battery.model import Battery, Subtest
from tabwb.battery.task_type import current_study, task_type
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.ratings import (
    CALIBRATED,
    CANNOT,
    PRIMARY,
    RULES,
    Declaration,
    Judged,
    MeasureKind,
    Open,
    PluginVersion,
    RaterKind,
    Rating,
    Rule,
    counting_value,
    is_derived,
    measures_of,
    rule_of,
    undefined,
    valued,
    verdict_measure,
)
from tabwb.records.reasoning import KEEP, option_of
from tabwb.records.speakers import KeptRecording, Value
from tabwb.records.specs import options_that_count, parse_spec
from tabwb.records.states import Protocol, ResponseStatus
from tabwb.records.trials import IDENTITY, Administration, Attempt, PlannedTrial, Trial
from tabwb.scoring.choice import POLICIES
from tabwb.store.store import Store

if TYPE_CHECKING:
    from tabwb.battery.forms import Form
    from tabwb.plugin_api.extensions import Statistic
    from tabwb.records.rating_sets import Answer, RatingSet
    from tabwb.store.columns import Frame, Ints

Response = tuple[int, int]
"""Numbers of the trial and of the attempt."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """How the derived raters of one administration are computed.

    Attributes:
        rules: each gives one rater.
        settled: by response and measure the number that was settled; None: nobody can tell.
        answers: by response what was settled of its questions, as answered.
        sets: by whose ratings count (``majority``, ``primary:R1``) the names of rating sets.
    """

    rules: tuple[Rule, ...] = ()
    settled: Mapping[Response, Mapping[str, float | None]] = field(default_factory=dict)
    answers: Mapping[Response, Mapping[str, Answer]] = field(default_factory=dict)
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def declarations(self, declared: Mapping[str, Declaration]) -> Mapping[str, Declaration]:
        """Return the declarations of an administration with those of the derived raters."""
        people = people_of(declared)
        found = dict(declared)
        for counts, names in self.sets.items():
            code = counts.removeprefix(PRIMARY)
            if code in people:
                found[code] = replace(declared[code], caution=_that_counts(names))
        features = dict.fromkeys(one for code in people for one in declared[code].features)
        for rule in self.rules if people else ():
            names = self.sets.get(rule, ())
            of = f"computed from those of {', '.join(people)}"
            caution = f"{of}; {_that_counts(names)}" if names else of
            found[rule] = Declaration(rule, tuple(features), kind="person", caution=caution)
        return found

    def with_derived(self, trial: Trial, people: Collection[str]) -> Trial:
        """Return a trial with the ratings of the derived raters after those of others."""
        attempt = trial.counting
        if attempt is None or not self.rules or not people:
            return trial
        settled = self.settled.get((trial.plan.number, attempt.number), {})
        made = tuple(
            rating
            for rule in self.rules
            for rating in derived(rule, trial.ratings, people, settled)
        )
        return replace(trial, ratings=(*trial.ratings, *made)) if made else trial


def _that_counts(sets: Sequence[str]) -> str:
    return f"they count in rating set {', '.join(sets)}"


def people_of(declared: Mapping[str, Declaration]) -> tuple[str, ...]:
    """Return the people whose declared features the rules take, in the order declared."""
    return tuple(
        rater
        for rater, one in declared.items()
        if one.kind == "person" and one.features and not is_derived(rater)
    )


def derived(
    rule: Rule,
    ratings: Sequence[Rating],
    people: Collection[str],
    settled: Mapping[str, float | None],
) -> tuple[Rating, ...]:
    """Return the ratings of one response by a rule, in the order in which people gave theirs.

    >>> given = [valued("R1", "jargon", 1), valued("R2", "jargon", 1), valued("R3", "jargon", 0)]
    >>> [(one.rater, one.value) for one in derived("majority", given, ("R1", "R2", "R3"), {})]
    [('majority', 1.0)]
    """
    given: dict[str, list[float]] = {}
    for rating in ratings:
        if rating.rater in people and ":" not in rating.measure:
            values = given.setdefault(rating.measure, [])
            if rating.value is not None:
                values.append(rating.value)
    made = []
    for measure, values in given.items():
        decided: float | Open | None = settled.get(measure, None)
        if measure in settled and decided is None:
            decided = CANNOT
        found = counting_value(rule, values, decided)
        if found is None:
            found = CANNOT
        if isinstance(found, Open):
            made.append(undefined(rule, measure, found.reason))
        else:
            made.append(valued(rule, measure, found))
    return tuple(made)


def derivations(
    store: Store, administrations: Collection[int], counts: str = ""
) -> Mapping[int, Derivation]:
    """Return how derived raters are computed, by number of the administration.

    An administration in no rating set has the rule that is asked for, if it is one; one in rating
    sets has those of the sets too.
    """
    asked = rule_of(counts)
    rules = {number: {asked} if asked else set[Rule]() for number in administrations}
    settled: dict[int, dict[Response, dict[str, float | None]]] = {}
    answers: dict[int, dict[Response, dict[str, Answer]]] = {}
    named: dict[int, dict[str, tuple[str, ...]]] = {}
    for kept in store.sets.all() if store.has_sets else ():
        samples = {
            one.number: one for one in store.sets.samples(kept.id) if one.administration in rules
        }
        for number in {one.administration for one in samples.values()}:
            if (rule := rule_of(kept.counts)) is not None:
                rules[number].add(rule)
            of = named.setdefault(number, {})
            of[kept.counts] = (*of.get(kept.counts, ()), kept.name)
        for number, given, numbers in _settled(store, kept, samples.keys()):
            sample = samples[number]
            place = sample.trial, sample.attempt
            settled.setdefault(sample.administration, {}).setdefault(place, {}).update(numbers)
            answers.setdefault(sample.administration, {}).setdefault(place, {}).update(given)
    return {
        number: Derivation(
            tuple(rule for rule in RULES if rule in rules[number]),
            settled.get(number, {}),
            answers.get(number, {}),
            named.get(number, {}),
        )
        for number in rules
        if rules[number] or number in named
    }


def _settled(
    store: Store, kept: RatingSet, samples: Collection[int]
) -> list[tuple[int, dict[str, Answer], dict[str, float | None]]]:
    """Return, of samples with settled answers, their answers by question and their numbers."""
    if not samples:
        return []
    found: dict[int, dict[str, Answer]] = {}
    for one in store.sets.adjudications(kept.id):
        if one.sample in samples:
            found.setdefault(one.sample, {})[one.measure] = one.answer
    if not found:
        return []
    from tabwb.battery.forms import form_from_canonical

    form = form_from_canonical(kept.form)
    return [(sample, _of_response(given), _numbers(form, given)) for sample, given in found.items()]


def _of_response(given: Mapping[str, Answer]) -> dict[str, Answer]:
    """Return settled answers by question; of one about each attempt that of the first attempt."""
    from tabwb.records.rating_sets import CANNOT_TELL, measure_of

    found: dict[str, Answer] = {}
    for key in sorted(given, key=lambda key: measure_of(key)[1] or 0):
        answer = given[key]
        found.setdefault(measure_of(key)[0], None if answer == CANNOT_TELL else answer)
    return found


def _numbers(form: Form, given: Mapping[str, Answer]) -> dict[str, float | None]:
    return {
        key: form.question(key).number(answer)
        for key, answer in given.items()
        if "#" not in key and form.question(key).numbered
    }


def name_of(conditions: Conditions) -> str:
    """Return who was tested: the spec with its lesion, or the study ID.

    >>> name_of(Conditions("bundled", "model", lesion="noise:0.1"))
    'bundled + noise:0.1'
    """
    return conditions.examinee + (f" + {conditions.lesion}" if conditions.lesion else "")


def model_of(conditions: Conditions) -> str:
    """Return who was tested as :func:`name_of`, without options that change no answer.

    >>> model_of(Conditions("transformers:m@threads=2,dtype=float32", "model"))
    'transformers:m@dtype=float32'
    """
    return spec_of(conditions) + (f" + {conditions.lesion}" if conditions.lesion else "")


def spec_of(conditions: Conditions) -> str:
    """Return the examinee, a model's without options that change no answer and without a lesion."""
    if conditions.kind != "model" or "@" not in conditions.examinee:
        return conditions.examinee
    try:
        spec = parse_spec(conditions.examinee)
    except UsageError:  # stored by an earlier version
        return conditions.examinee
    kept = options_that_count(spec)
    if len(kept) == len(spec.options):
        return conditions.examinee
    return str(replace(spec, options=kept))


Cell = tuple[str, str, int]
"""Subtest, item and replicate."""
Plan = Mapping[Cell, int]
"""Number of planned trials, practice not counted, of each cell."""
Place = tuple[str, str]
"""Subtest and item."""


@dataclass(frozen=True, slots=True)
class Part:
    """Which responses of one administration are summarised: those of items and replicates.

    ``planned`` is the number of planned trials by subtest, practice not counted.
    """

    places: frozenset[Place]
    replicates: frozenset[int]
    planned: Mapping[str, int] = field(default_factory=dict)

    @property
    def subtests(self) -> frozenset[str]:
        """The subtests of which it has an item."""
        return frozenset(subtest for subtest, _ in self.places)

    def has(self, plan: PlannedTrial) -> bool:
        """Return whether a planned trial belongs to it."""
        return plan.replicate in self.replicates and (plan.subtest, plan.item) in self.places

    def rows(self, columns: Frame, start: int, stop: int) -> Ints:
        """Return the rows of an administration, ``start`` to ``stop`` - 1, that belong to it."""
        import numpy as np

        wanted = [at for at, place in enumerate(columns.places) if place in self.places]
        chosen = np.isin(columns.items[start:stop], wanted)
        chosen &= np.isin(columns.replicates[start:stop], sorted(self.replicates))
        return np.flatnonzero(chosen) + start


def part_of(plan: Plan, cells: Iterable[Cell]) -> Part:
    """Return the part of an administration that has these cells."""
    places: set[Place] = set()
    replicates: set[int] = set()
    planned: dict[str, int] = {}
    for cell in cells:
        subtest, item, replicate = cell
        places.add((subtest, item))
        replicates.add(replicate)
        planned[subtest] = planned.get(subtest, 0) + plan[cell]
    return Part(frozenset(places), frozenset(replicates), planned)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recording that is kept, and where its bytes lie; None where that was not asked for."""

    kept: KeptRecording
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class AdministrationData:
    """One administration with its battery and all its trials."""

    administration: Administration
    battery: Battery
    trials: Sequence[Trial]
    model_facts: Mapping[str, str] = field(default_factory=dict)  # from the back end
    notes: tuple[str, ...] = ()  # on the administration as a whole
    declarations: Mapping[str, Declaration] = field(default_factory=dict)  # by rater
    judged: Sequence[Judged] = ()  # every call of judges that ask a model, oldest first
    recordings: tuple[Recorded, ...] = ()  # of a person's voice, oldest first
    primary: str = ""  # whose scores of spoken responses count; empty: whoever scored first
    speaker: Mapping[str, Value] = field(
        default_factory=dict
    )  # the record, and what follows from it
    # Its responses in a frame, and its place among the frame's administrations; trials are empty.
    columns: tuple[Frame, int] | None = None
    part: Part | None = None  # the responses that are summarised; None: all
    plan: Plan | None = None  # where it was asked for
    derivation: Derivation | None = None  # how the derived raters are computed

    @property
    def conditions(self) -> Conditions:
        """How it was given."""
        return self.administration.conditions

    @property
    def planned_cells(self) -> Plan:
        """The planned trials of each item and replicate that belong to ``part``, without
        practice.
        """
        plan = self.plan
        if plan is None:
            if self.columns is not None and not self.trials:
                raise ValueError("the planned trials were not read")
            given = (trial.plan for trial in self.trials if not trial.plan.practice)
            plan = Counter((one.subtest, one.item, one.replicate) for one in given)
        part = self.part
        if part is None:
            return plan
        return {
            cell: n
            for cell, n in plan.items()
            if cell[:2] in part.places and cell[2] in part.replicates
        }

    @property
    def identity(self) -> Mapping[str, str]:
        """The facts of the model that must be alike for its responses to be pooled."""
        return {name: self.model_facts[name] for name in IDENTITY if name in self.model_facts}

    @property
    def settled(self) -> Mapping[tuple[int, int], Mapping[str, Answer]]:
        """What was settled in rating sets: by numbers of trial and attempt, by question."""
        return {} if self.derivation is None else self.derivation.answers

    @property
    def examinee(self) -> str:
        """Who was tested, see :func:`model_of`."""
        return model_of(self.conditions)

    @property
    def own_trials(self) -> Sequence[Trial]:
        """Its trials, only those of the part."""
        part = self.part
        if part is None:
            return self.trials
        return tuple(trial for trial in self.trials if part.has(trial.plan))

    @property
    def is_speaker(self) -> bool:
        """Whether a person answered."""
        return self.conditions.kind == "speaker"

    def measures_of(self, scorer: str) -> Mapping[str, MeasureKind]:
        """Return what the values of a scorer's measures are, as declared."""
        return measures_of(scorer, self.declarations.get(scorer))

    def verdict_measure(self, scorer: str, policy: str = "exact") -> str:
        """Return the measure whose values are a scorer's verdicts; empty where it gives none."""
        return verdict_measure(self.measures_of(scorer), policy)

    @property
    def keeps_reasoning(self) -> bool:
        """Whether tags of thinking are words of a response: a person's, or by the option."""
        given = self.conditions
        return given.kind != "model" or option_of(given.examinee) == KEEP

    @property
    def protocol(self) -> Protocol:
        """How answers were obtained."""
        return self.conditions.protocol


def subtests_of(sources: Iterable[AdministrationData]) -> frozenset[str] | None:
    """Return the subtests of which a part is summarised; None: all of the battery."""
    chosen: set[str] = set()
    for source in sources:
        if source.part is None:
            return None
        chosen |= source.part.subtests
    return frozenset(chosen)


_PROTOCOLS = frozenset(Protocol)


def protocol_of(given: Protocol, subtest: Subtest, trial: Trial, attempt: Attempt) -> Protocol:
    """Return how a response was obtained."""
    noted = attempt.metadata.get("protocol")
    if noted in _PROTOCOLS:
        return Protocol(noted)
    return given if trial.plan.options or subtest.task.answers else Protocol.GENERATE


def is_fixed(conditions: Conditions, protocol: Protocol, attempt: Attempt) -> bool:
    """Return whether a model gives the same response again to the same request."""
    if attempt.metadata.get("replayed_sampled") == "yes":
        return False  # drawn when it was recorded
    drew_nothing = attempt.metadata.get("sampled") == "no"
    return conditions.decoding.greedy or protocol is Protocol.LIKELIHOOD or drew_nothing


def is_usable(status: ResponseStatus | None, kind: str, response: str) -> bool:
    """Return whether the features of a response can be rated.

    A repeated choice or yes or no stays usable: its accuracy is counted as scored. A truncated
    response without text, all of whose tokens were reasoning, is not.

    >>> is_usable(ResponseStatus.REPEATED_ANSWER, "yes-no", "Yes")
    True
    >>> is_usable(ResponseStatus.REPEATED_ANSWER, "connected-text", "Yes")
    False
    >>> is_usable(ResponseStatus.TRUNCATED, "connected-text", " ")
    False
    """
    if status is ResponseStatus.TRUNCATED and not response.strip():
        return False
    if status is ResponseStatus.REPEATED_ANSWER and task_type(kind).closed:
        return True
    return status is None or status.usable


def load_administrations(
    store: Store,
    references: Sequence[int | str] = (),
    *,
    sound: bool = False,
    primary: str = "",
) -> tuple[AdministrationData, ...]:
    """Return the administrations that numbers or uids name, each once; without any, all."""
    chosen = chosen_administrations(store, references)
    made = derivations(store, [record.id for record in chosen], primary)
    return _with_trials(store, chosen, made, sound=sound, primary=primary)


def load_columns(
    store: Store,
    references: Sequence[int | str] = (),
    *,
    primary: str = "",
    statistics: tuple[Statistic, ...] = (),
    judge: str = "",
) -> tuple[AdministrationData, ...]:
    """Return administrations whose responses are columns; of speakers who name, with trials too.

    Summaries of both are the same; columns take less time and memory.
    """
    outlined = outlines(store, references)
    return with_columns(store, outlined, primary=primary, statistics=statistics, judge=judge)


def with_columns(
    store: Store,
    outlined: Sequence[AdministrationData],
    *,
    primary: str = "",
    statistics: tuple[Statistic, ...] = (),
    explained: Collection[str] = (),
    judge: str = "",
) -> tuple[AdministrationData, ...]:
    """Return administrations with their responses, as :func:`load_columns` does."""
    from tabwb.analysis.frame import prepare

    known = sorted(outlined, key=lambda data: data.administration.id)
    spoken = [
        data.administration
        for data in known
        if data.administration.conditions.kind == "speaker" and data.battery.coded
    ]
    numbers = [data.administration.id for data in known]
    made = derivations(store, numbers, primary)
    named = {
        data.administration.id: data
        for data in _with_trials(store, spoken, made, sound=False, primary=primary)
    }
    loaded = [
        named.get(data.administration.id) or _derived(data, made.get(data.administration.id))
        for data in known
    ]
    declared = {id(one): one for data in loaded for one in data.declarations.values()}
    deciding = {verdict_measure(one.measures) for one in declared.values()}
    columns = store.columns(numbers, {*POLICIES, *deciding, *explained} - {""})
    if made:
        from tabwb.analysis.derived import with_derived_columns

        columns = with_derived_columns(columns, [data.declarations for data in loaded], made)
    if judge.startswith(CALIBRATED):
        from tabwb.analysis.derived import with_calibrated

        before = [data.declarations for data in loaded]
        columns, after = with_calibrated(store, columns, before, judge)
        loaded = [replace(one, declarations=own) for one, own in zip(loaded, after, strict=True)]
    prepared = replace(prepare(columns, loaded), statistics=statistics)
    return tuple(replace(data, columns=(prepared, place)) for place, data in enumerate(loaded))


def _derived(data: AdministrationData, how: Derivation | None) -> AdministrationData:
    """Return an administration with the derived raters, and what was settled of its responses."""
    if how is None:
        return data
    people = people_of(data.declarations)
    trials = data.trials
    if trials and how.rules and people:
        trials = [how.with_derived(trial, people) for trial in trials]
    declared = how.declarations(data.declarations)
    return replace(data, declarations=declared, trials=trials, derivation=how)


def outlines(store: Store, references: Sequence[int | str] = ()) -> tuple[AdministrationData, ...]:
    """Return administrations with battery, facts of the model and speaker, without responses."""
    administrations = sorted(
        chosen_administrations(store, references), key=lambda record: record.id
    )
    batteries = _batteries(store, administrations)
    facts = store.facts([record.id for record in administrations])
    return tuple(
        AdministrationData(
            record,
            batteries[record.battery_hash],
            (),
            known.model,
            known.notes,
            known.declarations,
            speaker=_record_of(store, record),
        )
        for record, known in zip(administrations, facts, strict=True)
    )


def _record_of(store: Store, administration: Administration) -> Mapping[str, Value]:
    person = administration.conditions.study_id
    versions = store.people.speaker_versions(person) if person else ()
    return current_study().values_of(versions[-1].values) if versions else {}


def chosen_administrations(store: Store, references: Sequence[int | str]) -> list[Administration]:
    """Return the administrations that numbers or uids name, each once; without any, all."""
    if not references:
        return list(store.administrations())
    return list({record.id: record for record in map(store.administration, references)}.values())


def batteries_of(store: Store, administrations: Iterable[Administration]) -> tuple[Battery, ...]:
    """Return the different batteries of administrations, in order."""
    return tuple(_batteries(store, administrations).values())


def _batteries(store: Store, administrations: Iterable[Administration]) -> dict[str, Battery]:
    return {
        content_hash: battery_from_canonical(store.battery_canonical(content_hash))
        for content_hash in dict.fromkeys(record.battery_hash for record in administrations)
    }


def _with_trials(
    store: Store,
    administrations: Sequence[Administration],
    made: Mapping[int, Derivation],
    *,
    sound: bool,
    primary: str,
) -> tuple[AdministrationData, ...]:
    batteries = _batteries(store, administrations)
    loaded: list[AdministrationData] = []
    for administration in administrations:
        history = store.history(administration.id)
        conditions = administration.conditions
        is_speaker = conditions.kind == "speaker"
        speaker = store.people.speaker(conditions.examinee) if is_speaker else None
        data = AdministrationData(
            administration,
            batteries[administration.battery_hash],
            history.trials,
            history.model_facts,
            history.notes,
            history.declarations,
            store.judgements(administration.id) if history.declarations else (),
            recordings_of(store, administration, sound=sound),
            primary,
            {} if speaker is None else current_study().values_of(speaker.values),
        )
        loaded.append(_derived(data, made.get(administration.id)))
    return tuple(loaded)


def recordings_of(
    store: Store, administration: Administration, *, sound: bool = False
) -> tuple[Recorded, ...]:
    """Return the recordings of a person's administration, none for a model's."""
    if administration.conditions.kind != "speaker":
        return ()
    return tuple(
        Recorded(kept, store.people.recording_path(kept.sha256) if sound else None)
        for kept in store.people.recordings(administration.id)
    )


# ------------------------------------------------------------------------------ raters

NOT_RECORDED = "version not recorded"


@dataclass(frozen=True, slots=True)
class RaterSummary:
    """A scorer or judge that rated."""

    rater: str
    kind: RaterKind
    measures: Mapping[str, MeasureKind]  # of a scorer; empty: it did not declare them
    plugins: tuple[PluginVersion | None, ...]  # oldest first; None where one is not recorded

    @property
    def versions(self) -> str:
        """The plugins as text.

        >>> made = None, PluginVersion("my-words", "0.2.0", "ab12cd34ef")
        >>> RaterSummary("my-words", "scorer", {}, made).versions
        'version not recorded, then my-words 0.2.0 (ab12cd34)'
        """
        return ", then ".join(NOT_RECORDED if one is None else str(one) for one in self.plugins)

    def to_json(self) -> Json:
        """Return plain data; a plugin that is not recorded is null."""
        return {
            **picked(self, "rater", "kind"),
            "measures": dict(self.measures),
            "plugins": [
                None if one is None else picked(one, "distribution", "version", "sha256")
                for one in self.plugins
            ],
        }


def raters_of(
    sources: Sequence[AdministrationData], rated: Mapping[str, Collection[int]]
) -> tuple[RaterSummary, ...]:
    """Return the scorers and judges that gave ratings, scorers first."""
    scorers = {name for one in sources for part in one.battery.subtests for name in part.scorers}
    made = []
    for rater, places in rated.items():
        given = [sources[place].declarations.get(rater) for place in sorted(places)]
        declared = [one for one in given if one is not None]
        kinds = {one.kind for one in declared} or ({"scorer"} if rater in scorers else set())
        if not kinds or "person" in kinds:
            continue
        kind: RaterKind = "scorer" if "scorer" in kinds else "judge"
        plugins = dict.fromkeys(
            plugin
            for one in given
            for plugin in ((None,) if one is None else (*one.earlier, one.plugin))
        )
        # A measure that was declared in two ways is a number.
        measures: dict[str, MeasureKind] = {}
        for one in given:
            for name, what in measures_of(rater, one).items():
                measures[name] = what if measures.get(name, what) == what else "number"
        made.append(RaterSummary(rater, kind, measures, tuple(plugins)))
    return tuple(sorted(made, key=lambda one: (one.kind != "scorer", one.rater)))


def declared_raters(declared: Mapping[str, Declaration]) -> dict[str, str]:
    """Return the versions of the plugins of raters, as text, by rater; not of people."""
    return {
        rater: RaterSummary(rater, one.kind, {}, (*one.earlier, one.plugin)).versions
        for rater, one in declared.items()
        if one.kind != "person"
    }
