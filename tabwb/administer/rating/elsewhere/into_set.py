"""Ratings that people gave elsewhere, kept as a rating set of stored responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tabwb.administer.answers.importing import RATED, checked_judges, import_answers
from tabwb.administer.answers.matching import with_battery
from tabwb.administer.answers.plan import (
    ImportPlan,
    Stated,
    check_names,
    import_conditions,
    plan_import,
)
from tabwb.administer.consent import Guard
from tabwb.administer.rating.access import refuse_program
from tabwb.administer.rating.elsewhere.answers import Given, answers_of, rated
from tabwb.administer.rating.elsewhere.labels import LabelledText, Labels, measures_by_name
from tabwb.administer.rating.elsewhere.mapping import FileMapping, read_mapping
from tabwb.administer.rating.elsewhere.reading import read_labels
from tabwb.administer.rating.elsewhere.stored import ID, Found, stored_responses
from tabwb.administer.rating.elsewhere.study import (
    NEEDED,
    RATINGS,
    Study,
    is_study,
    read_study,
)
from tabwb.administer.rating.presentation import presented
from tabwb.administer.session import setup
from tabwb.battery.forms import SOURCE, Form, with_source_question
from tabwb.battery.model import Battery
from tabwb.host.forms import open_form
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import AnswerFile
from tabwb.records.answers import RecordedAnswer, RecordedRun
from tabwb.records.classes import dataclass, field, replace
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.files import sha256_of
from tabwb.records.rating_sets import (
    Assignment,
    Presentation,
    RatingSet,
    Sample,
    SetEvent,
    SetPlan,
    checked_set_name,
)
from tabwb.records.ratings import Declaration, Rating
from tabwb.records.speakers import LogEntry
from tabwb.records.trials import check_tag
from tabwb.records.words import plural
from tabwb.store.store import Store

SHOWN = 5


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """What is to be imported, as the user says it.

    Attributes:
        path: of the file of ratings, or of the folder of a set.
        name: of the set to make; None: as the folder says.
        form: id or path; None: that of the folder, else ``tab-19``.
        mapping: a mapping file, or None.
        stated: who gave the texts, where the file does not say it.
        judges: specs, for texts that are imported with the ratings.
        counts: whose ratings count; None: as the folder says, else the majority.
    """

    path: Path
    name: str | None = None
    form: str | None = None
    mapping: Path | None = None
    stated: Stated = field(default_factory=Stated)
    judges: Sequence[str] = ()
    counts: str | None = None


@dataclass(frozen=True, slots=True)
class PreparedLabels:
    """Ratings that were read and checked; nothing is stored yet.

    ``ask_source`` says that a table has answers to "person or machine?" as its measure ``source``.
    """

    request: LabelRequest
    name: str
    form: Form
    labels: Labels
    given: Given
    study: Study | None = None
    ask_source: bool = False

    @property
    def told(self) -> str:
        """What the file holds, in words."""
        return (
            f"{self.labels.title}: {plural(self.given.answered, 'answer')} of "
            f"{plural(len(self.given.raters), 'rater')} ({', '.join(self.given.raters)}) on "
            f"{plural(len(self.given.responses), 'response')}, form {self.form.id}"
        )


def prepare_labels(plugins: Plugins, request: LabelRequest) -> PreparedLabels:
    """Read and check a file of ratings."""
    if request.path.is_dir():
        return _prepared_study(request)
    name = checked_set_name(request.name or "")
    form = open_form(request.form or "tab-19", plugins.find_battery)
    mapping = read_mapping(request.mapping)
    known = measures_by_name(form, mapping.measures)
    labels = read_labels(request.path, mapping, known)
    ask_source = any(label.measure == SOURCE for label in labels.labels)
    if ask_source:
        asked = with_source_question(form)
        given = answers_of(labels, asked, mapping, measures_by_name(asked, mapping.measures))
    else:
        given = answers_of(labels, form, mapping, known)
    for rater in given.raters:
        refuse_program(plugins, rater)
    return PreparedLabels(request, name, form, labels, given, ask_source=ask_source)


def _prepared_study(request: LabelRequest) -> PreparedLabels:
    """Read the folder of a rating set."""
    if not is_study(request.path):
        raise UsageError(
            "is not the folder of a rating set", where=str(request.path),
            allowed=f"a folder with {', '.join(NEEDED)} (tabwb rate export)",
        )  # fmt: skip
    for given, flag in ((request.form, "--form"), (request.mapping, "--mapping")):
        if given is not None:
            raise UsageError(
                f"{flag}: the folder of a rating set defines it", where=str(request.path)
            )
    study, labels = read_study(request.path)
    form = study.asked
    answered = answers_of(labels, form, FileMapping(), measures_by_name(form, {}))
    answered.responses = dict.fromkeys(study.samples)
    name = checked_set_name(request.name or study.kept.name)
    return PreparedLabels(request, name, study.form, labels, answered, study)


def import_labels(store: Store, plugins: Plugins, prepared: PreparedLabels) -> RatingSet:
    """Store ratings as a rating set; texts of the file that the store lacks are stored first."""
    store.sets.refuse_taken(prepared.name)
    found = stored_responses(
        store, prepared.given.responses, prepared.labels.texts, str(prepared.labels.path)
    )
    lacking = [response for response in prepared.given.responses if response not in found]
    texts = prepared.labels.texts
    unknown = [one for one in lacking if one not in texts or not texts[one].text]
    if unknown:
        raise _not_stored(prepared, unknown)
    if lacking:
        found |= _imported(store, plugins, prepared, lacking)
    acts = _checked(store, plugins, prepared, {one.administration for one in found.values()})
    batteries: dict[int, Battery] = {}
    samples = []
    for number, response in enumerate(prepared.given.responses, start=1):
        one = found[response]
        battery = batteries.get(one.administration)
        if battery is None:
            battery = batteries[one.administration] = _battery(store, one.administration)
        samples.append(_sample(number, response, one, battery, prepared))
    numbers = {
        response: one.number
        for response, one in zip(prepared.given.responses, samples, strict=True)
    }
    assignments, ratings, settled = rated(prepared.given, numbers)
    plan = _plan(prepared, samples, assignments)
    event = SetEvent("imported", _noted(prepared.request.path))
    store.people.log(*acts)  # before: whatever is there must be in the log, also after a crash
    return store.sets.create(plan, ratings=ratings, settled=settled, events=[event])


def _plan(
    prepared: PreparedLabels, samples: Sequence[Sample], assignments: Sequence[Assignment]
) -> SetPlan:
    form, study, counts = prepared.form, prepared.study, prepared.request.counts
    if study is None:
        kept = RatingSet(
            prepared.name, form.canonical, form.id, raters=tuple(prepared.given.raters),
            ask_source=prepared.ask_source,
        )  # fmt: skip
    else:
        kept = replace(study.kept, name=prepared.name)
    kept = replace(kept, counts=counts or kept.counts)
    return SetPlan(kept, tuple(samples), tuple(assignments))


def _noted(path: Path) -> str:
    digest = sha256_of(path / RATINGS if path.is_dir() else path)
    return f"{path.name} (SHA-256 {digest[:12]}…)"


def _battery(store: Store, administration: int) -> Battery:
    from tabwb.battery.loader import battery_from_canonical

    record = store.administration(administration)
    return battery_from_canonical(store.battery_canonical(record.battery_hash))


def _sample(
    number: int, response: str, one: Found, battery: Battery, prepared: PreparedLabels
) -> Sample:
    subtest, item = one.item
    shows, asked = prepared.form.shows, battery.subtest(subtest).item(item)
    sample = Sample(
        number, one.administration, one.trial, one.attempt,
        presented(one.text, Presentation()) if "text" in shows else "",
        asked.prompt if "prompt" in shows else "",
        picture=asked.picture or None if "picture" in shows else None,
        target=str(asked.extra.get("target", "")) if "target" in shows else "",
    )  # fmt: skip
    if prepared.study is None:
        return sample
    facts, shown = prepared.study.samples[response], prepared.labels.texts[response]
    return replace(sample, text=shown.text, prompt=shown.prompt, **facts)


def _not_stored(prepared: PreparedLabels, unknown: Sequence[str]) -> UsageError:
    listed = ", ".join(f"'{response}'" for response in unknown[:SHOWN])
    more = ", …" if len(unknown) > SHOWN else ""
    return UsageError(
        f"{plural(len(unknown), 'response')} of {len(prepared.given.responses):,} "
        f"{'is' if len(unknown) == 1 else 'are'} not in the store: {listed}{more}",
        where=str(prepared.labels.path),
        allowed="the id of an imported text, or ADMINISTRATION/TRIAL",
        hint="import the texts first (tabwb import texts.csv, with these ids in a column 'id'), or "
        "add a column 'text'; 'tabwb agreement FILE' reads a table of ratings without texts",
    )


def _checked(
    store: Store, plugins: Plugins, prepared: PreparedLabels, administrations: set[int]
) -> list[LogEntry]:
    """Check consent to rating; return a log entry for each rater and administration."""
    acts = []
    for number in sorted(administrations):
        guard = Guard(store, plugins, store.administration(number).conditions)
        for rater in prepared.given.raters:
            acts += [replace(act, administration=number) for act in guard.check_listening(rater)]
    return acts


def _imported(
    store: Store, plugins: Plugins, prepared: PreparedLabels, lacking: Sequence[str]
) -> dict[str, Found]:
    """Store the texts that the store lacks, one administration for each source."""
    request = prepared.request
    judged = {} if prepared.study is None else prepared.study.judged
    source = AnswerFile(
        f"texts of a {prepared.labels.title}",
        tuple(
            _recorded(response, prepared.labels.texts[response], judged.get(response, ()))
            for response in lacking
        ),
        (prepared.labels.path,), texts=True, declarations=tuple(_declared(judged)),
    )  # fmt: skip
    source, battery = with_battery(source, setup.find_battery(plugins, RATED))
    plan = plan_import(source, battery, number_replicates=True)
    check_names(plan, request.stated, request.path)
    wanted = request.judges or (("none",) if judged else ())
    judges = setup.resolved_judges(plugins, checked_judges(wanted))
    conditions = [
        import_conditions(
            plugins, battery, run, request.stated, source=request.path, judges=judges
        )
        for run in plan.runs
    ]  # fmt: skip
    for given in conditions:
        _check_rating(store, plugins, given, prepared)
    made = import_answers(store, plugins, battery, plan, conditions, again=True)
    return dict(_places(plan, [one.administration.id for one in made]))


def _check_rating(
    store: Store, plugins: Plugins, given: Conditions, prepared: PreparedLabels
) -> None:
    for rater in prepared.given.raters:
        Guard(store, plugins, given).check_listening(rater)


def _declared(judged: Mapping[str, Sequence[Rating]]) -> Iterator[Declaration]:
    """Yield what each judge of a folder declares: the features that it rated."""
    features: dict[str, dict[str, None]] = {}
    for ratings in judged.values():
        for rating in ratings:
            features.setdefault(rating.rater, {})[rating.measure] = None
    for rater, measures in features.items():
        yield Declaration(rater, tuple(measures), scope="all")


def _recorded(response: str, text: LabelledText, ratings: tuple[Rating, ...]) -> RecordedAnswer:
    run = RecordedRun(
        model=text.model or text.source,
        participant=text.speaker or text.source,
        origin="human" if text.speaker else "model" if text.model else None,
        tags=(check_tag("-".join(text.group.replace(",", " ").split())),) if text.group else (),
    )
    return RecordedAnswer(
        text.where, text.text, run, prompt=text.prompt, metadata={ID: response}, ratings=ratings
    )


def _places(plan: ImportPlan, numbers: Sequence[int]) -> Iterator[tuple[str, Found]]:
    for run, number in zip(plan.runs, numbers, strict=True):
        for each in run.planned:
            if each.answer is not None and each.answer.text is not None:
                place = each.trial.subtest, each.trial.item
                found = Found(number, each.trial.number, 1, each.answer.text, place)
                yield each.answer.metadata[ID], found
