"""From matched answers to administrations: who answered, conditions, trials, what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from tabwb.administer.answers.matching import ItemIndex, Match, Unmatched, options_shown
from tabwb.administer.session.exchange import token_limit
from tabwb.administer.session.plan import given_items
from tabwb.administer.session.setup import check_raters
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.battery.problems import Problem
from tabwb.battery.prompts import render_prompt
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.components import AnswerFile, AnswerProblems
from tabwb.records.answers import RecordedAnswer, RecordedRun
from tabwb.records.classes import dataclass, field, replace
from tabwb.records.conditions import IMPORTED, Conditions, ExamineeKind, OptionOrder
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.exchange import Decoding
from tabwb.records.speakers import Origin, check_id
from tabwb.records.specs import parse_spec
from tabwb.records.trials import PlannedTrial
from tabwb.records.words import plural


@dataclass(frozen=True, slots=True)
class Stated:
    """What the user says of the answers.

    Attributes:
        model: a spec, a profile, or any name of a model; None: as in the file.
        speaker: the participant code of a person; None: as in the file.
        origin: who made the answers; None: as in the file.
    """

    model: str | None = None
    speaker: str | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Examinee:
    """The examinee of an administration, as it is stored."""

    examinee: str
    kind: ExamineeKind
    origin: Origin


def examinee_of(run: RecordedRun, stated: Stated, plugins: Plugins, source: Path) -> Examinee:
    """Return who gave the answers of a run."""
    where = str(source)
    _check(run, stated, where)
    said: Origin | None = "model" if stated.model else "human" if stated.speaker else None
    origin = run.origin
    if origin in {None, "unknown"}:
        origin = stated.origin or said or origin
    if origin is None:
        raise UsageError(
            "who gave these answers is not known",
            where=where,
            allowed="--model NAME; --origin human --speaker ID; or --origin unknown, which is "
            "protected as a person's",
            hint="of sources that the file names, --origin human or --origin model is enough"
            if run.participant
            else None,
        )
    known, given = run.participant, stated.speaker or ""
    participant = given or known if run.participant_is_own else known or given
    if origin == "human" and not participant:
        raise UsageError(
            "the participant who gave these answers is not known",
            where=where,
            hint="state it with --speaker ID (a code, never a name)",
        )
    if participant and origin != "model":
        check_id(participant)
        return Examinee(participant, "speaker", origin)
    name = stated.model or run.model
    if not name:
        if origin == "model":
            raise UsageError(
                "the model that gave these answers is not known",
                where=where,
                hint="state it with --model NAME",
            )
        name = "standard-input" if where == "-" else source.stem
    if run.exported and not stated.model and _is_spec(name):
        return Examinee(name, "model", origin)
    return Examinee(spec_of(name, plugins), "model", origin)


def _is_spec(name: str) -> bool:
    """Return whether a name can stay as it is: a back end that is not installed here is kept."""
    try:
        return bool(parse_spec(name)) and name.isprintable() and len(name) <= 300
    except UsageError:
        return False


def _check(run: RecordedRun, stated: Stated, where: str) -> None:
    """Refuse what the user says against the file."""
    recorded = run.origin
    if stated.model and stated.speaker:
        raise UsageError("--model and --speaker exclude each other")
    if recorded == "human" and stated.origin == "model":
        raise UsageError("--origin model: the file says that a person responded", where=where)
    if recorded == "model" and (stated.origin in ("human", "unknown") or stated.speaker):
        option = f"--speaker {stated.speaker}" if stated.speaker else f"--origin {stated.origin}"
        raise UsageError(f"{option}: the file says that a model responded", where=where)
    if recorded == "human" and stated.model:
        raise UsageError(
            f"--model {stated.model}: the file says that a person responded", where=where
        )
    if stated.origin == "human" and stated.model:
        raise UsageError("--origin human and --model exclude each other: give --speaker ID")
    if stated.origin == "model" and stated.speaker:
        raise UsageError("--origin model and --speaker exclude each other: give --model NAME")
    if (
        stated.speaker
        and run.participant not in ("", stated.speaker)
        and not run.participant_is_own
    ):
        raise UsageError(
            f"--speaker {stated.speaker}: according to the file, the responses are those of "
            f"{run.participant}",
            where=where,
            hint="consent and deletion use that ID",
        )


def spec_of(name: str, plugins: Plugins) -> str:
    """Return the spec under which a model's answers are stored.

    A spec of an installed back end is kept, so that imported answers of a model are compared with
    those it gave here. Any other name follows ``imported:``.
    """
    cleaned = name.strip()
    if not cleaned or not cleaned.isprintable() or len(cleaned) > 300:
        raise UsageError(
            f"{cleaned[:60]!r} cannot be the name of a model",
            allowed="up to 300 characters that can be printed",
        )
    try:
        descriptor, spec = plugins.resolve("models", cleaned, used=False)
        if descriptor.made_by is None:
            return str(spec)
    except TabwbError:
        if cleaned.startswith("profile:"):
            raise
    whole = cleaned if cleaned.startswith(IMPORTED) else f"{IMPORTED}{cleaned}"
    try:
        parse_spec(whole)
    except UsageError:
        # A name that only looks as if it had options.
        whole = whole.replace("@", " ")
    return whole


MOST_TRIALS = 1_000_000
"""The largest plan of one administration."""
Key = tuple[str, str, int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PlannedAnswer:
    """A trial, and the answer to it; None where the source has none."""

    trial: PlannedTrial
    answer: RecordedAnswer | None


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One administration that is to be stored.

    Attributes:
        run: what its answers have in common.
        planned: every trial in the order of the battery.
        replicates: how many there are.
        option_order: as the conditions of an administration have it.
        matched: how items were found, to number of answers.
        missing: items without any answer, as ``subtest/item``.
        gaps: numbers of further presentations without an answer.
        repeated: second answers to one item and replicate, which were left out.
        drawn: whether answers to equal requests differ, so that something was drawn.
    """

    run: RecordedRun
    planned: tuple[PlannedAnswer, ...]
    replicates: int
    option_order: str
    matched: Mapping[str, int]
    missing: tuple[str, ...] = ()
    gaps: int = 0
    repeated: tuple[str, ...] = ()
    drawn: bool = False

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return sum(each.answer is not None for each in self.planned)


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What the import of a file would store.

    Attributes:
        source: what was read.
        runs: the administrations.
        unmatched: answers to no item of the battery.
    """

    source: AnswerFile
    runs: tuple[PlannedRun, ...]
    unmatched: tuple[Unmatched, ...] = field(default_factory=tuple)


def plan_import(
    source: AnswerFile, battery: Battery, *, number_replicates: bool = False, lenient: bool = False
) -> ImportPlan:
    """Return the administrations that the answers of a file make."""
    index = ItemIndex(battery)
    runs: dict[RecordedRun, list[Match]] = {}
    unmatched: list[Unmatched] = []
    spoken: Counter[str] = Counter()
    for answer in source.answers:
        match = index.match(answer)
        if isinstance(match, Unmatched):
            unmatched.append(match)
        elif match.subtest.task.coded or not match.subtest.task.typed:
            spoken[match.subtest.id] += 1
        else:
            runs.setdefault(answer.run, []).append(match)
    if source.strict and unmatched and not lenient:
        raise AnswerProblems([_problem(source, each) for each in unmatched])
    if not runs:
        raise _nothing(source, battery, unmatched, spoken)
    planned = tuple(
        _planned(source, battery, run, matches, number_replicates) for run, matches in runs.items()
    )
    if spoken:
        left_out = {**source.left_out, "answers to items that are named aloud": spoken.total()}
        source = replace(source, left_out=left_out)
    return ImportPlan(source, planned, tuple(unmatched))


def _nothing(
    source: AnswerFile, battery: Battery, unmatched: Sequence[Unmatched], spoken: Counter[str]
) -> UsageError:
    if spoken and not unmatched:
        return UsageError(
            f"the items of '{battery.id}' are named aloud",
            hint="import spoken naming from a TextGrid, an EAF or a PSST folder",
        )
    first = unmatched[0]
    return UsageError(
        f"none of {plural(len(source.answers), 'answer')} is to an item of '{battery.id}' "
        f"({battery.title}); the first: {_words(source, first)}",
        where=first.answer.where,
        allowed=first.allowed or None,
        hint="give the battery with --battery; items are found by id, or by prompt",
    )


def _words(source: AnswerFile, unmatched: Unmatched) -> str:
    name = source.names.get(unmatched.column, unmatched.column)
    return f"{name} '{unmatched.value}': {unmatched.message}"


def _problem(source: AnswerFile, unmatched: Unmatched) -> Problem:
    file, line = _place(unmatched.answer)
    column = f"column '{source.names.get(unmatched.column, unmatched.column)}'"
    message, value = unmatched.message, repr(unmatched.value)
    return Problem(file, line, column, message, value, unmatched.allowed, unmatched.suggestion)


def _place(answer: RecordedAnswer) -> tuple[str, int]:
    file, _, line = answer.where.rpartition(":")
    return (file, int(line)) if file and line.isdigit() else (answer.where, 0)


def _planned(
    source: AnswerFile,
    battery: Battery,
    run: RecordedRun,
    matches: Sequence[Match],
    number_replicates: bool,
) -> PlannedRun:
    counted: Counter[tuple[str, str]] = Counter()
    numbered: list[tuple[Match, tuple[str, ...], int]] = []
    for match in matches:
        key = match.subtest.id, match.item.id
        own = match.answer.replicate
        if own is None:
            own = counted[key] if number_replicates else 0
            counted[key] += 1
        numbered.append((match, options_shown(match), own))
    # The source's numbers may begin at 1 and have gaps; ours do not.
    dense = {own: at for at, own in enumerate(sorted({own for _, _, own in numbered}))}
    placed: dict[Key, Match] = {}
    repeated: list[tuple[Match, Match]] = []
    for match, options, own in numbered:
        replicate = 0 if match.item.practice else dense[own]
        place = match.subtest.id, match.item.id, replicate, options
        first = placed.setdefault(place, match)
        if first is not match:
            repeated.append((first, match))
    if repeated and source.strict:
        raise AnswerProblems([_repeated(first, second) for first, second in repeated])
    planned = tuple(_trials(battery, run, placed, len(dense)))
    answered = {(each.trial.subtest, each.trial.item) for each in planned if each.answer}
    absent = [each.trial for each in planned if each.answer is None and not each.trial.practice]
    places = ((trial.subtest, trial.item) for trial in absent)
    missing = dict.fromkeys(f"{s}/{i}" for s, i in places if (s, i) not in answered)
    return PlannedRun(
        run=run,
        planned=planned,
        replicates=len(dense),
        option_order=_option_order(battery, placed),
        matched=dict(Counter(match.how for match in placed.values())),
        missing=tuple(missing),
        gaps=len(absent) - len(missing),
        repeated=tuple(second.answer.where for _, second in repeated),
        drawn=_differs(planned),
    )


def _repeated(first: Match, second: Match) -> Problem:
    file, line = _place(second.answer)
    _, earlier = _place(first.answer)
    numbered = second.answer.replicate is not None
    same = " of the same replicate" if numbered else ""
    return Problem(
        file,
        line,
        "",
        f"a second answer{same} to {second.subtest.id}/{second.item.id}; the first is in line "
        f"{earlier}",
        "",
        "one row for each presentation"
        if numbered
        else "a column replicate; or --number-replicates, which numbers them in their order",
    )


def _trials(
    battery: Battery, run: RecordedRun, placed: Mapping[Key, Match], count: int
) -> Iterator[PlannedAnswer]:
    by_place: dict[tuple[str, str, int], list[tuple[tuple[str, ...], Match]]] = {}
    for (subtest_id, item_id, replicate, options), match in placed.items():
        by_place.setdefault((subtest_id, item_id, replicate), []).append((options, match))
    answered = {place[:2] for place in by_place}
    given_part = _given(battery, run)
    number = 0
    for replicate in range(count):
        for subtest in battery.subtests:
            for item in _in_order(subtest, replicate):
                given = by_place.get((subtest.id, item.id, replicate), [])
                key = subtest.id, item.id
                if not given and key not in answered and (replicate or key not in given_part):
                    continue  # an item without any answer is planned once
                presented: list[tuple[tuple[str, ...], Match | None]] = [*given]
                for options, given_match in presented or [(item.options, None)]:
                    number += 1
                    if number > MOST_TRIALS:
                        raise UsageError(
                            f"the replicates make more than {MOST_TRIALS:,} presentations of items",
                            hint="import the file in parts",
                        )
                    yield _trial(number, subtest, item, replicate, options, given_match)


def _given(battery: Battery, run: RecordedRun) -> frozenset[tuple[str, str]]:
    """Return the items that the run says it gave: all, where it does not say."""
    part = Conditions(
        "",
        "model",
        part_subtests=run.part_subtests,
        part_items=run.part_items,
        part_limit=run.part_limit,
    )
    return frozenset(
        (subtest.id, item.id) for subtest, items in given_items(battery, part) for item in items
    )


def _in_order(subtest: Subtest, replicate: int) -> list[Item]:
    practice = [item for item in subtest.items if item.practice and replicate == 0]
    return practice + [item for item in subtest.items if not item.practice]


def _trial(
    number: int,
    subtest: Subtest,
    item: Item,
    replicate: int,
    options: tuple[str, ...],
    match: Match | None,
) -> PlannedAnswer:
    answer = None if match is None else match.answer
    prompt = answer.prompt if answer is not None else ""
    trial = PlannedTrial(
        number=number,
        subtest=subtest.id,
        item=item.id,
        replicate=replicate,
        options=options,
        prompt=prompt or render_prompt(subtest, item, options),
        practice=item.practice,
    )
    return PlannedAnswer(trial, answer)


def _option_order(battery: Battery, placed: Mapping[Key, Match]) -> str:
    shown = Counter(key[:3] for key in placed)
    if any(count > 1 for count in shown.values()):
        return "rotated"
    usual = all(match.item.options == key[3] for key, match in placed.items())
    return "as-given" if usual else "shuffled"


def _differs(planned: Sequence[PlannedAnswer]) -> bool:
    """Return whether some item has unlike answers to the same request."""
    first: dict[tuple[str, str, object], str | None] = {}
    for each in planned:
        if each.answer is None or each.answer.text is None:
            continue
        sent = each.answer.messages or each.trial.prompt
        key = each.trial.subtest, each.trial.item, sent
        if first.setdefault(key, each.answer.text) != each.answer.text:
            return True
    return False


SEEDS = 2**53
"""Seeds beyond this, positive or negative, are kept as text only."""
NAMED = 5
"""How many models or participants a message names."""


def check_names(plan: ImportPlan, stated: Stated, path: Path) -> None:
    """Refuse one name for answers of several models or people."""
    models = dict.fromkeys(run.run.model for run in plan.runs if run.run.model)
    people = dict.fromkeys(
        run.run.participant for run in plan.runs if not run.run.participant_is_own
    )
    people.pop("", None)
    for option, names, what in (
        (stated.model, models, "models"),
        (stated.speaker, people, "participants"),
    ):
        if option and len(names) > 1:
            raise UsageError(
                f"holds answers of {len(names)} {what}: {', '.join(list(names)[:NAMED])}",
                where=str(path),
                hint="without a model's or a speaker's name each keeps its own",
            )


def import_conditions(
    plugins: Plugins,
    battery: Battery,
    planned: PlannedRun,
    stated: Stated,
    *,
    source: Path,
    judges: Sequence[str] = (),
    session_date: str = "",
    research_protocol: str | None = None,
) -> Conditions:
    """Return the conditions under which the answers of one run are stored."""
    run = planned.run
    examinee = examinee_of(run, stated, plugins, source)
    known = run.decoding
    limit = _limit(battery, planned)
    stops = {each.answer.decoding.stop for each in planned.planned if each.answer}
    stop = next(iter(stops)) if len(stops) == 1 else None
    usual = Decoding()
    seed = run.seed if run.seed is not None and abs(run.seed) <= SEEDS else 1
    decoding = Decoding(
        max_tokens=limit or usual.max_tokens,
        temperature=known.temperature or 0.0,
        top_p=known.top_p or usual.top_p,
        stop=stop or (),
        seed=seed,
    )
    is_model = examinee.kind == "model"
    conditions = Conditions(
        examinee=examinee.examinee,
        kind=examinee.kind,
        seed=seed,
        replicates=planned.replicates,
        protocol=run.protocol,
        decoding=decoding if is_model else usual,
        conversation=run.conversation,
        option_order=cast("OptionOrder", planned.option_order),
        judges=tuple(judges),
        research_protocol=research_protocol,
        lesion=run.lesion if is_model else None,
        prompt_noise=run.prompt_noise if is_model else None,
        labels=_labels(plugins, stated, run) if is_model else {},
        origin=examinee.origin,
        session_date=run.session_date or session_date,
        part_subtests=run.part_subtests,
        part_items=run.part_items,
        part_limit=run.part_limit,
        token_limits="run" if limit and is_model else "battery",
        unknown=_unknown(run) if is_model else (),
    )
    check_raters(plugins, battery, conditions)
    return conditions


def _unknown(run: RecordedRun) -> tuple[str, ...]:
    """Return the conditions of a model's answers that the source does not state."""
    known = {
        "seed": run.seed,
        "temperature": run.decoding.temperature,
        "top_p": run.decoding.top_p,
    }
    if run.decoding.temperature == 0:
        known["top_p"] = 1.0  # nothing was drawn
    return tuple(name for name, value in known.items() if value is None)


def _limit(battery: Battery, planned: PlannedRun) -> int | None:
    """Return the token limit of all answers; None where it is the battery's, or not one."""
    limits = {
        (each.trial.subtest, each.answer.decoding.max_tokens)
        for each in planned.planned
        if each.answer is not None
    }
    usual = Conditions("", "model")
    if all(limit == token_limit(battery.subtest(subtest), usual) for subtest, limit in limits):
        return None
    values = {limit for _, limit in limits}
    return next(iter(values)) if len(values) == 1 else None


def _labels(plugins: Plugins, stated: Stated, run: RecordedRun) -> dict[str, str]:
    """Return the labels of the model: the profile's that is named, over those of the file."""
    named = stated.model or ("" if run.exported else run.model)
    own = {} if stated.model and run.exported else dict(run.labels)
    return {**own, **plugins.labels_of(named)} if named.startswith("profile:") else own
