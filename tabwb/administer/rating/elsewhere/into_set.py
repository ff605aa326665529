"""Ratings that people gave elsewhere, kept as a rating set of stored responses."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tabwb.administer.answers.examinee import Stated
from tabwb.administer.answers.importing import check_names, import_answers, import_conditions
from tabwb.administer.answers.plan import ImportPlan, plan_import
from tabwb.administer.answers.prepared import RATED, checked_judges
from tabwb.administer.answers.texts import with_battery
from tabwb.administer.consent import Guard
from tabwb.administer.rating.elsewhere.answers import Given, answers_of, rated
from tabwb.administer.rating.elsewhere.labels import LabelledText, Labels, measures_by_name
from tabwb.administer.rating.elsewhere.mapping import FileMapping, read_mapping
from tabwb.administer.rating.elsewhere.reading import read_labels
from tabwb.administer.rating.presentation import presented
from tabwb.administer.session import setup
from tabwb.battery.forms import Form
from tabwb.battery.model import Battery
from tabwb.plugin_api.answer_files import AnswerFile
from tabwb.plugin_api.forms import open_form
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.answers import RecordedAnswer, RecordedRun
from tabwb.records.conditions import Conditions
from tabwb.records.errors import StoreError, UsageError
from tabwb.records.marks import check_tag
from tabwb.records.rating_sets import (
    Presentation,
    RatingSet,
    Sample,
    SetEvent,
    SetPlan,
    checked_set_name,
)
from tabwb.records.speakers import LogEntry
from tabwb.records.trials import Trial
from tabwb.records.words import plural
from tabwb.store.store import Store

ID = "source.id"
"""Metadata of an attempt: the id of a text in the file from which it was imported."""
SHOWN = 5
_REFERENCE = re.compile(r"(?P<administration>[0-9]+|[0-9a-f-]{36})/(?P<trial>\d+)(?:/(?P<n>\d+))?")


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """What is to be imported, as the user says it.

    Attributes:
        path: of the file of ratings.
        name: of the set to make.
        form: id or path.
        mapping: a mapping file, or None.
        stated: who gave the texts, where the file does not say it.
        judges: specs, for texts that are imported with the ratings.
        counts: whose ratings count.
    """

    path: Path
    name: str
    form: str = "tab-19"
    mapping: Path | None = None
    stated: Stated = field(default_factory=Stated)
    judges: Sequence[str] = ()
    counts: str = "majority"


@dataclass(frozen=True, slots=True)
class PreparedLabels:
    """Ratings that were read and checked; nothing is stored yet."""

    request: LabelRequest
    form: Form
    labels: Labels
    given: Given

    @property
    def told(self) -> str:
        """What the file holds, in words."""
        return (
            f"{self.labels.title}: {plural(self.given.answered, 'answer')} of "
            f"{plural(len(self.given.raters), 'rater')} ({', '.join(self.given.raters)}) on "
            f"{plural(len(self.given.responses), 'response')}, form {self.form.id}"
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """The stored attempt of a response."""

    administration: int
    trial: int
    attempt: int
    text: str
    item: tuple[str, str]

    @property
    def reference(self) -> str:
        """How a file of ratings can name it."""
        return f"{self.administration}/{self.trial}"


def prepare_labels(plugins: Plugins, request: LabelRequest) -> PreparedLabels:
    """Read and check a file of ratings.

    Args:
        plugins: with the batteries of forms.
        request: what is to be imported.

    Raises:
        UsageError: the form or an option cannot be used.
        TabwbError: the file cannot be read.
        AnswerProblems: every problem of the file with its place.
    """
    checked_set_name(request.name)
    form = open_form(request.form, plugins.find_battery)
    mapping: FileMapping = read_mapping(request.mapping)
    known = measures_by_name(form, mapping.measures)
    labels = read_labels(request.path, mapping, known)
    return PreparedLabels(request, form, labels, answers_of(labels, form, mapping, known))


def import_labels(store: Store, plugins: Plugins, prepared: PreparedLabels) -> RatingSet:
    """Store ratings as a rating set; texts of the file that the store lacks are stored first.

    Args:
        store: where they are kept.
        plugins: with scorers and judges, for texts.
        prepared: the ratings.

    Raises:
        UsageError: a response is not stored and its text is not in the file, or who gave it is not
            known.
        NoConsent: a speaker has not agreed to rating; nothing was stored.
        StoreError: the name of the set is taken.
    """
    _check_name(store, prepared.request.name)
    found = _stored(store, prepared)
    lacking = [response for response in prepared.given.responses if response not in found]
    unknown = [response for response in lacking if response not in prepared.labels.texts]
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
        samples.append(_sample(number, one, battery, prepared.form))
    numbers = {
        response: one.number
        for response, one in zip(prepared.given.responses, samples, strict=True)
    }
    assignments, ratings, settled = rated(prepared.given, numbers)
    plan = SetPlan(
        prepared.request.name, prepared.form.canonical, prepared.form.id, tuple(samples),
        tuple(assignments), tuple(prepared.given.raters), counts=prepared.request.counts,
    )  # fmt: skip
    event = SetEvent("imported", _noted(prepared.request.path))
    made = store.sets.create(plan, ratings=ratings, settled=settled, events=[event])
    store.people.log(*acts)
    return made


def _check_name(store: Store, name: str) -> None:
    if any(one.name == name for one in store.sets.all()):
        raise UsageError(f"there is a rating set '{name}' already", hint="give another name: --set")


def _noted(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{path.name} (SHA-256 {digest[:12]}…)"


def _battery(store: Store, administration: int) -> Battery:
    from tabwb.battery.loader import battery_from_canonical

    record = store.administration(administration)
    return battery_from_canonical(store.battery_canonical(record.battery_hash))


def _sample(number: int, one: _Found, battery: Battery, form: Form) -> Sample:
    subtest, item = one.item
    asked = battery.subtest(subtest).item(item)
    shown = presented(one.text, Presentation()) if "text" in form.shows else ""
    return Sample(
        number, one.administration, one.trial, one.attempt, shown,
        asked.prompt if "prompt" in form.shows else "",
        picture=asked.picture or None if "picture" in form.shows else None,
        target=str(asked.extra.get("target", "")) if "target" in form.shows else "",
    )  # fmt: skip


def _stored(store: Store, prepared: PreparedLabels) -> dict[str, _Found]:
    """Return the responses of the file that the store has: by reference, or by the id of a text."""
    found: dict[str, _Found] = {}
    wanted = set(prepared.given.responses)
    for response in wanted:
        if (match := _REFERENCE.fullmatch(response)) and (one := _referred(store, match)):
            found[response] = one
    wanted -= found.keys()
    for record in store.administrations() if wanted else ():
        if record.conditions.origin is None:
            continue
        for trial in store.trials(record.id):
            for attempt in trial.attempts:
                response = attempt.metadata.get(ID, "")
                if response not in wanted:
                    continue
                text = prepared.labels.texts.get(response)
                if text is not None and text.text != attempt.response:
                    raise UsageError(
                        f"response '{response}' is another text in the store (administration "
                        f"{record.id})",
                        where=text.where,
                        hint="give the texts of this file other ids",
                    )
                place = trial.plan.subtest, trial.plan.item
                one = _Found(record.id, trial.plan.number, attempt.number, attempt.response, place)
                if (known := found.setdefault(response, one)) != one:
                    raise UsageError(
                        f"several stored texts have the id '{response}': {known.reference} and "
                        f"{one.reference}",
                        where=str(prepared.labels.path),
                        hint="name the one that was rated: ADMINISTRATION/TRIAL",
                    )
    return found


def _referred(store: Store, match: re.Match[str]) -> _Found | None:
    """Return the attempt of ``ADMINISTRATION/TRIAL`` or ``ADMINISTRATION/TRIAL/ATTEMPT``."""
    reference = match["administration"]
    try:
        record = store.administration(int(reference) if reference.isdigit() else reference)
    except StoreError:
        return None
    for trial in store.trials(record.id):
        if trial.plan.number == int(match["trial"]):
            return _attempt_of(record.id, trial, match["n"])
    return None


def _attempt_of(administration: int, trial: Trial, number: str | None) -> _Found | None:
    counting = trial.counting
    wanted = int(number) if number else counting.number if counting else 0
    place = trial.plan.subtest, trial.plan.item
    for attempt in trial.attempts:
        if attempt.number == wanted:
            return _Found(administration, trial.plan.number, wanted, attempt.response, place)
    return None


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
) -> dict[str, _Found]:
    """Store the texts that the store lacks, one administration for each source."""
    request = prepared.request
    source = AnswerFile(
        f"texts of a {prepared.labels.title}",
        tuple(_recorded(response, prepared.labels.texts[response]) for response in lacking),
        (request.path,), texts=True,
    )  # fmt: skip
    source, battery = with_battery(source, setup.find_battery(plugins, RATED))
    plan = plan_import(source, battery, number_replicates=True)
    check_names(plan, request.stated, request.path)
    judges = setup.resolved_judges(plugins, checked_judges(request.judges))
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


def _recorded(response: str, text: LabelledText) -> RecordedAnswer:
    run = RecordedRun(
        model=text.model or text.source,
        participant=text.speaker or text.source,
        origin="human" if text.speaker else "model" if text.model else None,
        tags=(check_tag("-".join(text.group.replace(",", " ").split())),) if text.group else (),
    )
    return RecordedAnswer(text.where, text.text, run, prompt=text.prompt, metadata={ID: response})


def _places(plan: ImportPlan, numbers: Sequence[int]) -> Iterator[tuple[str, _Found]]:
    for run, number in zip(plan.runs, numbers, strict=True):
        for each in run.planned:
            if each.answer is not None and each.answer.text is not None:
                place = each.trial.subtest, each.trial.item
                found = _Found(number, each.trial.number, 1, each.answer.text, place)
                yield each.answer.metadata[ID], found
