"""What a summary counts, derived a second time from trials, one by one: short and slow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from tabwb.analysis.administrations import AdministrationData, is_fixed, is_usable, protocol_of
from tabwb.analysis.statistics.results import Part, Results
from tabwb.battery.model import Battery
from tabwb.records.ratings import Rating
from tabwb.records.states import ResponseStatus, TrialState
from tabwb.records.trials import Attempt, Trial
from tabwb.scoring.burden import REPEATED_PROMPTS
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.text import words

Counts = dict[str, object]


@dataclass
class Row:
    """A response with those that count as it does."""

    place: int
    source: AdministrationData
    trial: Trial
    attempt: Attempt
    status: ResponseStatus | None
    asked: Hashable
    fixed: bool = False
    draw: Hashable = None
    others: list[Row] = field(default_factory=list)

    @property
    def usable(self) -> bool:
        kind = self.source.battery.subtest(self.trial.plan.subtest).response
        return is_usable(self.status, kind, self.attempt.response)

    @property
    def connected(self) -> bool:
        return self.source.battery.subtest(self.trial.plan.subtest).task.connected

    def by(self, rater: str) -> dict[str, Rating]:
        return {one.measure: one for one in self.trial.ratings if one.rater == rater}


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """One counted response, as :func:`repeated_answers` compares it."""

    key: object
    prompt: str
    text: str


def repeated_answers(answers: Iterable[ComparedAnswer]) -> frozenset[object]:
    """Return the keys of the answers whose text was given to three or more different prompts.

    Texts are equal when their words are; a text without a word is none. Source: docs/results.md.
    """
    given = [(answer, text) for answer in answers if (text := " ".join(words(answer.text)))]
    prompts: dict[str, set[str]] = {}
    for answer, text in given:
        prompts.setdefault(text, set()).add(answer.prompt)
    return frozenset(answer.key for answer, text in given if len(prompts[text]) >= REPEATED_PROMPTS)


def statuses_of(battery: Battery, trials: Iterable[Trial]) -> tuple[ResponseStatus | None, ...]:
    """Return the status under which each trial's answer counts; see ``effective_statuses``."""
    tasks = {subtest.id: subtest.task for subtest in battery.subtests}
    items = {(subtest.id, item.id): item for subtest in battery.subtests for item in subtest.items}
    stored: list[ResponseStatus | None] = []
    open_answers: list[ComparedAnswer] = []
    closed: dict[str, list[ComparedAnswer]] = {}
    for place, trial in enumerate(trials):
        attempt = trial.counting if trial.state is TrialState.ANSWERED else None
        stored.append(None if attempt is None else attempt.status)
        plan = trial.plan
        task = tasks[plan.subtest]
        if attempt is None or plan.practice or task.coded:
            continue
        item = items[plan.subtest, plan.item]
        answer = ComparedAnswer(place, item.prompt, attempt.response)
        if task.closed:
            closed.setdefault(plan.subtest, []).append(answer)
        elif item.expected is None or words(item.expected) != words(attempt.response):
            open_answers.append(answer)
    repeated = set(repeated_answers(open_answers))
    for answers in closed.values():
        if len({" ".join(words(answer.text)) for answer in answers}) == 1:
            repeated |= repeated_answers(answers)
    return tuple(
        ResponseStatus.REPEATED_ANSWER
        if place in repeated and status is not None and status.usable
        else status
        for place, status in enumerate(stored)
    )


def every_response(sources: Sequence[AdministrationData]) -> list[Row]:
    """Return the answered trials, with what was asked and drawn."""
    rows = []
    for place, source in enumerate(sources):
        statuses = statuses_of(source.battery, source.trials)
        for trial, status in zip(source.trials, statuses, strict=True):
            attempt, given = trial.counting, source.conditions
            if attempt is None or not trial.is_answered:
                continue
            plan, noted = trial.plan, attempt.metadata
            subtest = source.battery.subtest(plan.subtest)
            protocol = protocol_of(source.protocol, subtest, trial, attempt)
            asked = source.examinee, protocol, plan.subtest, plan.item, attempt.messages
            row = Row(place, source, trial, attempt, status, (asked, plan.prompt))
            rows.append(row)
            if given is None or given.kind != "model":
                continue
            row.fixed = is_fixed(given, protocol, attempt)
            decoding = given.decoding
            if "replayed_line" in noted:
                record = noted.get("replayed_administration") or source.model_facts.get(
                    "file_sha256"
                )
                row.draw = (record, noted["replayed_line"]) if record else None
            elif "seed" in noted:
                row.draw = int(noted["seed"]), decoding.temperature, decoding.top_p
            elif given.origin is None:
                first = decoding.seed + plan.replicate
                row.draw = "shared", first, decoding.temperature, decoding.top_p
    return rows


def counting(sources: Sequence[AdministrationData]) -> list[Row]:
    """Return the responses that count: the same answer or the same draw counts once."""
    rows = every_response(sources)
    kept: list[Row] = []
    same: dict[Hashable, Row] = {}
    drawn: dict[Hashable, Row] = {}
    for place in range(len(sources)):
        own = [row for row in rows if row.place == place]
        again = {
            id(row): drawn[row.asked, row.draw]
            for row in own
            if not row.fixed and row.draw is not None and (row.asked, row.draw) in drawn
        }
        if any(
            again[id(row)].attempt.response != row.attempt.response
            for row in own
            if id(row) in again
        ):
            again = {}  # This back end does not keep to seeds.
        for row in own:
            key = row.asked, row.attempt.response
            first = same.setdefault(key, row) if row.fixed else again.get(id(row), row)
            if first is row:
                kept.append(row)
            else:
                first.others.append(row)
        for row in own:
            if not row.fixed and row.draw is not None:
                drawn.setdefault((row.asked, row.draw), again.get(id(row), row))
    return kept


def recount(sources: Sequence[AdministrationData]) -> Counts:
    """Return what the summary of administrations counts."""
    rows = counting(sources)
    return {
        "n": len(rows),
        "texts": _texts(rows),
        "statuses": Counter(row.status.value for row in rows if row.status),
        "usable": sum(row.usable for row in rows),
        "draws": sum(len(row.others) for row in rows if not row.fixed),
        "subtests": [
            _subtest(
                subtest.id, sources, [row for row in rows if row.trial.plan.subtest == subtest.id]
            )
            for subtest in sources[0].battery.subtests
        ],
        "judges": _judges(sources, rows),
    }


def _texts(rows: Sequence[Row]) -> int | None:
    """Return the number of unlike texts; a usable response without one was named aloud."""
    spoken = [row.usable and not row.attempt.response.strip() for row in rows]
    written = {row.attempt.response for row, aloud in zip(rows, spoken, strict=True) if not aloud}
    return len(written) if written or not rows else None


def _verdict(row: Row, scorer: str, policy: str) -> Rating | None:
    declared = row.source.declarations.get(scorer)
    ours = scorer in {"choice", "yes-no", "repetition"}
    kinds = dict.fromkeys(POLICIES if ours else (), "verdict")
    kinds = kinds if declared is None else dict(declared.measures)
    verdicts = [name for name, kind in kinds.items() if kind == "verdict"]
    if policy == "exact":
        return row.by(scorer).get(verdicts[0]) if verdicts else None
    return row.by(scorer).get(policy) if policy in verdicts else None


def _subtest(name: str, sources: Sequence[AdministrationData], rows: Sequence[Row]) -> Counts:
    battery = sources[0].battery
    planned = [
        trial
        for source in sources
        for trial in source.trials
        if trial.plan.subtest == name and not trial.plan.practice
    ]
    scorer = ""
    for one in reversed(battery.subtest(name).scorers):
        scorer = one if any(_verdict(row, one, "exact") for row in rows) else scorer

    def right(tag: str = "") -> list[tuple[int, int]]:
        tagged = [
            row
            for row in rows
            if not tag or tag in battery.subtest(name).item(row.trial.plan.item).tags
        ]
        given = [[_verdict(row, scorer, policy) for row in tagged] for policy in POLICIES]
        known = [[one.value for one in own if one and one.value is not None] for own in given]
        return [(values.count(1.0), len(values)) for values in known]

    tags = {tag for row in rows for tag in battery.subtest(name).item(row.trial.plan.item).tags}
    return {
        "planned": len(planned),
        "answered": sum(trial.is_answered for trial in planned),
        "n": len(rows),
        "repeated": len(rows) - len({(row.source.examinee, row.trial.plan.item) for row in rows}),
        "right": right(),
        "by tag": {tag: right(tag) for tag in tags},
    }


def _judges(sources: Sequence[AdministrationData], rows: Sequence[Row]) -> dict[object, Counts]:
    features = [feature.id for feature in sources[0].battery.features]
    sets: dict[tuple[int, str], tuple[str, tuple[str, ...], str, str | None]] = {}
    for row in [one for first in rows for one in (first, *first.others)]:
        scorers = sources[0].battery.subtest(row.trial.plan.subtest).scorers
        for rater in {rating.rater for rating in row.trial.ratings}:
            declared = row.source.declarations.get(rater)
            if declared is not None and declared.kind != "scorer" and declared.features:
                own = tuple(name for name in features if name in declared.features)
                terms = rater, own, str(declared.scope), declared.prompt_hash
                sets[row.place, rater] = terms
            elif declared is None and rater not in scorers and set(row.by(rater)) & set(features):
                own = tuple(name for name in features if name in _rated(row.place, rows, rater))
                sets[row.place, rater] = rater, own, "connected-text", None
    judges: dict[object, Counts] = {}
    for terms in sets.values():
        rater, own, scope, _ = terms
        given = [next((one for one in (row, *row.others) if one.by(rater)), row) for row in rows]
        judged = [row for row in given if row.by(rater) or not row.usable]
        seen = [row for row in judged if sets.get((row.place, rater)) == terms]
        inside = [row for row in seen if row.connected or (scope == "all" and row.by(rater))]
        full = [
            [row.by(rater)[name].value for name in own]
            for row in inside
            if row.usable and own and all(name in row.by(rater) for name in own)
        ]
        burdens = [values for values in full if None not in values]
        usable = [len(words(row.attempt.response)) for row in inside if row.usable]
        judges[terms] = {
            "n": len(inside),
            "burdens": len(burdens),
            "present": {
                name: sum(bool(values[at]) for values in burdens) for at, name in enumerate(own)
            },
            "words": sum(usable) / len(usable) if usable else None,
            "not judged": sum(
                row.connected
                for row in given
                if (row.usable and not row.by(rater)) or (row.place, rater) not in sets
            ),
        }
    return judges


def _rated(place: int, rows: Sequence[Row], rater: str) -> set[str]:
    every = [one for first in rows for one in (first, *first.others) if one.place == place]
    given = [
        {name: rating.status.value for name, rating in row.by(rater).items()}
        for row in every
        if row.connected
    ]
    never = {
        name for own in given if "value" in own.values() for name in own if own[name] == "undefined"
    }
    return {name for own in given for name in own} - never


def counts_of(results: Results) -> Counts:
    """Return what results say of the same."""

    def right(part: Part, tag: str = "") -> list[tuple[float, int]]:
        return [(row.total or 0, row.n) for row in part.policies("accuracy", tag).values()]

    return {
        "n": results.number("responses"),
        "texts": results.number("distinct"),
        "statuses": {name: row.value.value for name, row in results.of("status").items()},
        "usable": results.number("usable"),
        "draws": results.number("repeated_draws"),
        "subtests": [
            {
                "planned": one.number("planned"),
                "answered": one.number("answered"),
                "n": one.number("counted"),
                "repeated": one.number("repeated"),
                "right": right(one),
                "by tag": {tag: right(one, tag) for tag in one.of("accuracy")},
            }
            for one in results.parts
        ],
        "judges": {
            (terms.rater, terms.features, str(terms.scope), terms.prompt_hash): {
                "n": results.number("responses", rater=terms),
                "burdens": results.n("burden", rater=terms),
                "present": {
                    name: row.total for name, row in results.of("rate", rater=terms).items()
                },
                "words": results.value("words_mean", rater=terms),
                "not judged": results.number("not_judged", rater=terms),
            }
            for terms in (judge.terms for judge in results.judges)
        },
    }
