"""Ratings that people gave elsewhere, kept as a rating set of stored responses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tabwb.administer.answers.importing import RATED, checked_judges, import_answers
from tabwb.administer.answers.plan import (
    ImportPlan,
    Stated,
    check_names,
    import_conditions,
    plan_import,
    with_battery,
)
from tabwb.administer.consent import Guard
from tabwb.administer.rating.access import refuse_program
from tabwb.administer.rating.elsewhere.reading import (
    FileMapping,
    LabelledText,
    Labels,
    Sheet,
    answer_of,
    filled,
    measures_by_name,
    plain,
    read_labels,
    read_mapping,
)
from tabwb.administer.rating.elsewhere.study import (
    NEEDED,
    RATINGS,
    Study,
    is_study,
    read_study,
)
from tabwb.administer.rating.presentation import presented
from tabwb.administer.session import setup
from tabwb.battery.forms import SOURCE, Form, Question, check_answers, with_source_question
from tabwb.battery.model import Battery
from tabwb.battery.problems import Problem
from tabwb.host.forms import open_form
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import AnswerFile, AnswerProblems
from tabwb.records.answers import RecordedAnswer, RecordedRun
from tabwb.records.conditions import Conditions
from tabwb.records.errors import StoreError, TabwbError, UsageError
from tabwb.records.files import sha256_of
from tabwb.records.rating_sets import (
    ADJUDICATED,
    Adjudication,
    Answer,
    Assignment,
    Presentation,
    Purpose,
    RatingSet,
    Sample,
    SampleRating,
    SetEvent,
    SetPlan,
    answer_key,
    checked_rater,
    checked_set_name,
)
from tabwb.records.ratings import Declaration, Rating
from tabwb.records.speakers import LogEntry
from tabwb.records.trials import Trial, check_tag
from tabwb.records.words import near, plural
from tabwb.store.store import Store

ID = "source.id"
"""Metadata of an attempt: the id of a text in the file from which it was imported."""
_REFERENCE = re.compile(r"(?P<administration>[0-9]+|[0-9a-f-]{36})/(?P<trial>\d+)(?:/(?P<n>\d+))?")


@dataclass(frozen=True, slots=True)
class Found:
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


def stored_responses(
    store: Store, responses: Collection[str], texts: Mapping[str, LabelledText], where: str
) -> dict[str, Found]:
    """Return the responses that the store has: by reference, or by the id of an imported text."""
    found: dict[str, Found] = {}
    wanted = set(responses)
    for response in wanted:
        if (match := _REFERENCE.fullmatch(response)) and (one := _referred(store, match)):
            if match["administration"].isdigit() and (text := texts.get(response)) is not None:
                _check_alike(response, text, one)
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
                text = texts.get(response)
                place = trial.plan.subtest, trial.plan.item
                one = Found(record.id, trial.plan.number, attempt.number, attempt.response, place)
                if text is not None and text.text != attempt.response:
                    raise _other_text(response, text, one)
                if (known := found.setdefault(response, one)) != one:
                    raise UsageError(
                        f"several stored texts have the id '{response}': {known.reference} and "
                        f"{one.reference}",
                        where=where,
                        hint="name the one that was rated: ADMINISTRATION/TRIAL",
                    )
    return found


def _check_alike(response: str, text: LabelledText, one: Found) -> None:
    """Refuse a reference whose text is another one: numbers are those of one store only."""
    policy = Presentation("lower", "none")
    if presented(text.text, policy) != presented(one.text, policy):
        raise _other_text(response, text, one)


def _other_text(response: str, text: LabelledText, one: Found) -> UsageError:
    return UsageError(
        f"response '{response}' is another text in the store (administration {one.administration})",
        where=text.where,
        hint="give the texts of this file other ids",
    )


def _referred(store: Store, match: re.Match[str]) -> Found | None:
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


def _attempt_of(administration: int, trial: Trial, number: str | None) -> Found | None:
    counting = trial.counting
    wanted = int(number) if number else counting.number if counting else 0
    place = trial.plan.subtest, trial.plan.item
    for attempt in trial.attempts:
        if attempt.number == wanted:
            return Found(administration, trial.plan.number, wanted, attempt.response, place)
    return None


_PLACE = tuple[str, str, str]


@dataclass(slots=True)
class Given:
    """What a file says, as answers to a form.

    Attributes:
        ratings: of each rater, response and occasion, in the order of the file.
        settled: answer and reason by response and key of the answer.
        sheets: notes and times of the ratings.
        confirmed: of a rating the measures that were confirmed as absent together; a rating of
            which nothing says it is not there.
        evidence: of a rating the words of the text that show an answer.
        raters: codes, in the order of the file.
        responses: in the order of the file.
    """

    ratings: dict[_PLACE, dict[str, Answer]] = field(default_factory=dict)
    settled: dict[tuple[str, str], tuple[Answer, str]] = field(default_factory=dict)
    sheets: dict[_PLACE, Sheet] = field(default_factory=dict)
    confirmed: dict[_PLACE, list[str]] = field(default_factory=dict)
    evidence: dict[_PLACE, dict[str, tuple[int, ...]]] = field(default_factory=dict)
    raters: dict[str, None] = field(default_factory=dict)
    responses: dict[str, None] = field(default_factory=dict)

    @property
    def answered(self) -> int:
        """The number of answers."""
        given = (answer for answers in self.ratings.values() for answer in answers.values())
        return sum(answer is not None for answer in given)


def answers_of(labels: Labels, form: Form, mapping: FileMapping, known: Mapping[str, str]) -> Given:
    """Return the answers that the ratings of a file are."""
    given = Given()
    problems: list[Problem] = []
    _refuse_one_code(labels, mapping)
    for label in labels.labels:
        file, line = _place(label.where)
        try:
            rater = _code(label.rater, mapping)
            if not rater:
                whose = f"of {label.rater}" if label.rater else "without a rater"
                labels.leave_out(f"answers {whose}")
                continue
            name, _, attempt = label.measure.partition("#")
            measure = known.get(plain(name))
            if measure is None:
                raise TabwbError(
                    f"form '{form.id}' has no question '{name}'", allowed=", ".join(form.measures)
                )
            question = form.question(measure)
            value = mapping.value(measure, label.value)
            answer = answer_of(question, value)
            key = answer_key(measure, 1) if question.per_attempt and not attempt else measure
            key = f"{measure}#{attempt}" if attempt else key
            check_answers(form, {key: answer})
            if not label.response:
                raise TabwbError("the response is not named")
            place = rater, label.response, label.occasion
            _keep(given, place, key, answer, label.note)
            if label.looked_at:
                confirmed = given.confirmed.setdefault(place, [])
                confirmed += [key] * _was_confirmed(label.looked_at, question, answer)
            if label.words:
                given.evidence.setdefault(place, {})[key] = _words(label.words)
        except TabwbError as error:
            near_to = (
                near(label.measure, form.measures)
                if known.get(plain(label.measure)) is None
                else ""
            )
            problems.append(
                Problem(file, line, label.measure, error.message, "", error.allowed or "", near_to)
            )
    if problems:
        raise AnswerProblems(problems)
    for (name, response, occasion), sheet in labels.sheets.items():
        if not (rater := _code(name, mapping)):
            continue
        place = rater, response, occasion
        given.sheets[place] = sheet
        if sheet.unmarked:
            given.raters[rater] = given.responses[response] = None
            listed = given.ratings.get(place, {})
            given.ratings[place] = filled(form, listed)
            unlisted = [key for key in given.ratings[place] if listed.get(key) is None]
            given.confirmed.setdefault(place, []).extend(unlisted)
    if not given.ratings:
        raise UsageError("there is no rating in it", where=str(labels.path))
    return given


def _was_confirmed(looked_at: str, question: Question, answer: Answer) -> bool:
    """Return whether an answer was confirmed with the rest; only *absent* can be."""
    if looked_at not in ("yes", "no"):
        raise TabwbError(f"'{looked_at}' does not say whether it was looked at", allowed="yes, no")
    if looked_at == "no" and (question.kind != "present-absent" or answer != 0.0):
        raise TabwbError("what was not looked at can only be absent", allowed="looked_at yes")
    return looked_at == "no"


def _words(text: str) -> tuple[int, ...]:
    """Return the numbers of words that show an answer."""
    try:
        return tuple(map(int, text.split()))
    except ValueError:
        allowed = "numbers from 0 with blanks between"
        raise TabwbError(f"'{text}' does not name words", allowed=allowed) from None


def _place(where: str) -> tuple[str, int]:
    file, _, line = where.rpartition(":")
    return (file, int(line)) if line.isdigit() else (where, 0)


def _code(name: str, mapping: FileMapping) -> str:
    """Return the code of a rater; empty for one who is left out."""
    if name == ADJUDICATED and name not in mapping.raters:
        return ADJUDICATED
    code = mapping.raters.get(name, _usual(name))
    if not code:
        return ""
    try:
        return checked_rater(code)
    except UsageError as error:
        raise TabwbError(
            f"{error.message}: give a code under [raters] of a mapping file; an empty one leaves "
            "the rater out",
            allowed=error.allowed,
        ) from error


def _refuse_one_code(labels: Labels, mapping: FileMapping) -> None:
    """Refuse two raters of a file that would have one code, unless both were given it."""
    named: dict[str, str] = {}
    for name in dict.fromkeys(label.rater for label in labels.labels):
        code = mapping.raters.get(name, _usual(name))
        other = named.setdefault(code, name)
        if code and other != name and not {name, other} <= mapping.raters.keys():
            raise UsageError(
                f"raters '{other}' and '{name}' would both be {code}",
                where=str(labels.path),
                hint="give each its own code under [raters] of a mapping file",
            )


def _usual(name: str) -> str:
    """Return the code of a rater whom the file numbers: codes say more than a number alone."""
    return f"R{name}" if name.isdigit() else name


def _keep(given: Given, place: _PLACE, key: str, answer: Answer, note: str) -> None:
    rater, response, _ = place
    given.responses[response] = None
    if rater == ADJUDICATED:
        if answer is not None:
            if (response, key) in given.settled:
                raise TabwbError(f"'{key}' of response '{response}' is settled twice")
            given.settled[response, key] = answer, note or "settled elsewhere"
        return
    given.raters[rater] = None
    answers = given.ratings.setdefault(place, {})
    if key in answers:
        raise TabwbError(f"{rater} has rated '{key}' of response '{response}' twice; a column "
                         "'occasion' tells repeated ratings apart")  # fmt: skip
    answers[key] = answer


def rated(
    given: Given, samples: Mapping[str, int]
) -> tuple[list[Assignment], list[SampleRating], list[Adjudication]]:
    """Return the assignments that the ratings fulfil, the ratings, and what was settled.

    The first rating of a response by a rater is its rating, later ones are given again.
    """
    assignments: list[Assignment] = []
    ratings: list[SampleRating] = []
    positions: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    for place, said in given.ratings.items():
        rater, response, _ = place
        answers = {key: answer for key, answer in said.items() if answer is not None}
        if not answers:
            continue
        purpose: Purpose = "again" if (rater, response) in seen else "rate"
        seen.add((rater, response))
        position = positions[rater] = positions.get(rater, 0) + 1
        sheet = given.sheets.get(place, Sheet())
        confirmed = given.confirmed.get(place)
        number = samples[response]
        assignments.append(Assignment(rater, position, number, purpose))
        ratings.append(
            SampleRating(
                rater, position, number, purpose, answers, True, sheet.confidence, note=sheet.note,
                seconds=sheet.seconds,
                confirmed=None if confirmed is None else tuple(confirmed),
                evidence=given.evidence.get(place, {}),
            )
        )  # fmt: skip
    settled = [
        Adjudication(samples[response], key, answer, reason, "import")
        for (response, key), (answer, reason) in given.settled.items()
    ]
    return assignments, ratings, settled


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
