"""The responses that count into a summary, each once, with the status under which it counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tabwb.battery.model import Battery, Item, Subtest
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.ratings import Declaration, Judged, Rating
from tabwb.records.specs import parse_spec
from tabwb.records.states import Protocol, ResponseKind, ResponseStatus, TrialState
from tabwb.records.trials import Attempt, Trial
from tabwb.report.summaries.draws import Draw, again_drawn, drawn_with, shares_stream
from tabwb.scoring.burden import ComparedAnswer, repeated_answers
from tabwb.scoring.text import words
from tabwb.tasks.task_type import task_type

if TYPE_CHECKING:
    from tabwb.report.summaries.columns.prepared import Prepared


def name_of(conditions: Conditions) -> str:
    """Return who was tested: the spec with its lesion, or the study ID.

    >>> name_of(Conditions("bundled", "model", lesion="noise:0.1"))
    'bundled + noise:0.1'
    """
    return conditions.examinee + (f" + {conditions.lesion}" if conditions.lesion else "")


NO_CONDITIONS = frozenset(
    {"threads", "batch_size", "concurrency", "retries", "timeout_s", "reply_s", "key_env"}
)
"""Options of a model that change no answer: administrations that differ in them are alike."""


def model_of(conditions: Conditions) -> str:
    """Return who was tested as :func:`name_of`, without options that change no answer.

    >>> model_of(Conditions("transformers:m@threads=2,dtype=float32", "model"))
    'transformers:m@dtype=float32'
    """
    if conditions.kind != "model" or "@" not in conditions.examinee:
        return name_of(conditions)
    try:
        spec = parse_spec(conditions.examinee)
    except UsageError:  # stored by an earlier version
        return name_of(conditions)
    kept = {key: value for key, value in spec.options.items() if key not in NO_CONDITIONS}
    if len(kept) == len(spec.options):
        return name_of(conditions)
    return name_of(replace(conditions, examinee=str(replace(spec, options=kept))))


@dataclass(frozen=True, slots=True)
class Source:
    """Trials of one administration.

    Attributes:
        conditions: how they were given; None is taken as sampled free answers.
        declarations: what each rater said of itself, by rater.
        judged: every call of judges that ask a model, oldest first.
        primary: the rater whose scores of spoken responses count; empty: whoever scored first.
        speaker: columns of the speaker's record.
        columns: where its responses are columns: all that were read, and its place among them;
            ``trials`` are empty then.
    """

    battery: Battery
    trials: Sequence[Trial]
    conditions: Conditions | None = None
    declarations: Mapping[str, Declaration] = field(default_factory=dict)
    judged: Sequence[Judged] = ()
    primary: str = ""
    speaker: Mapping[str, object] = field(default_factory=dict)
    columns: tuple[Prepared, int] | None = None

    @property
    def examinee(self) -> str:
        """Who was tested, see :func:`model_of`."""
        return "" if self.conditions is None else model_of(self.conditions)

    @property
    def is_speaker(self) -> bool:
        """Whether a person answered."""
        return self.conditions is not None and self.conditions.kind == "speaker"

    @property
    def protocol(self) -> Protocol:
        """How answers were obtained."""
        return Protocol.GENERATE if self.conditions is None else self.conditions.protocol


@dataclass(frozen=True, slots=True)
class CountedResponse:
    """A response that counts, with its item and ratings.

    Attributes:
        source: place of its source, from 0.
        cluster: (subtest, item), whoever answered: items are the sample; or the speaker where
            several speakers are pooled. Responses in one cluster are not independent.
        status: under which it counts (:func:`effective_statuses`); the stored one is the attempt's.
        duplicates: identical answers that count as this one, because nothing was drawn or because
            they are the same draw; a judge may have judged one of them and not the others.
        representative: of a duplicate: the place of the answer that it counts as.
        fixed: whether nothing was drawn, so that the same request gives the same response.
        shares_stream: whether it was drawn from a random stream that others share
            (:mod:`tabwb.report.summaries.draws`); the replicates are then one cluster.
        deciding: scorer to the measure that decides, of scorers for which it is not ``exact``;
            empty text where a scorer decides nothing.
    """

    source: int
    subtest: Subtest
    item: Item
    trial: Trial
    attempt: Attempt
    cluster: tuple[str, ...]
    status: ResponseStatus | None = None
    duplicates: tuple[CountedResponse, ...] = ()
    representative: tuple[int, int] | None = None
    fixed: bool = False
    shares_stream: bool = False
    deciding: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> tuple[int, int]:
        """Source and trial of the response that counts, also for a duplicate."""
        return self.representative or (self.source, self.trial.plan.number)

    @property
    def usable(self) -> bool:
        """Whether its features can be judged; of a reply cut while it reasoned there is no text."""
        if self.status is ResponseStatus.TRUNCATED and not self.attempt.response.strip():
            return False
        return is_usable(self.status, self.subtest.response)

    @property
    def unusable(self) -> str:
        """The status that makes it unusable; empty for a usable one."""
        return "" if self.usable or self.status is None else self.status.value

    @property
    def options(self) -> tuple[str, ...]:
        """The options in the order shown."""
        return self.trial.plan.options

    def rating(self, rater: str, measure: str) -> Rating | None:
        """Return the rating of a measure, or None where there is none.

        Args:
            rater: who rated.
            measure: its name.
        """
        for rating in self.trial.ratings:
            if rating.measure == measure and rating.rater == rater:
                return rating
        return None

    def verdict(self, rater: str, policy: str = "exact") -> Rating | None:
        """Return a scorer's verdict on the response, or None where it has given none.

        Args:
            rater: the scorer.
            policy: ``exact`` is the scorer's deciding measure, whatever its name.
        """
        name = self.deciding.get(rater, policy) if policy == "exact" else policy
        return self.rating(rater, name)

    def as_rated_by(self, rater: str) -> CountedResponse:
        """Return this response, or its first duplicate, that the rater has rated; else this one."""
        for response in (self, *self.duplicates):
            if any(rating.rater == rater for rating in response.trial.ratings):
                return response
        return self


def effective_statuses(
    battery: Battery, trials: Iterable[Trial]
) -> tuple[ResponseStatus | None, ...]:
    """Return the status under which each trial's answer counts; None without such an answer.

    It is the stored status, except that a usable answer becomes *repeated-answer* where the same
    text (normalised) was given to three or more different prompts of the administration. Three
    exceptions: an answer that is the expected one is never a repeated answer; a choice or a yes or
    no is one only where *every* answer to its subtest is that text; practice and pictures named
    aloud are left out.

    Args:
        battery: what was given.
        trials: of one administration.
    """
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


def is_usable(status: ResponseStatus | None, kind: ResponseKind) -> bool:
    """Return whether the features of a response can be rated.

    A repeated choice or yes or no stays usable: its accuracy is counted as scored.

    Args:
        status: the effective one; None is taken as *ok*.
        kind: of the subtest.

    >>> is_usable(ResponseStatus.REPEATED_ANSWER, ResponseKind.YES_NO)
    True
    >>> is_usable(ResponseStatus.REPEATED_ANSWER, ResponseKind.CONNECTED_TEXT)
    False
    """
    if status is ResponseStatus.REPEATED_ANSWER and task_type(kind).closed:
        return True
    return status is None or status.usable


def _protocol_of(source: Source, subtest: Subtest, trial: Trial, attempt: Attempt) -> Protocol:
    noted = attempt.metadata.get("protocol")
    if noted in set(Protocol):
        return Protocol(noted)
    return source.protocol if trial.plan.options or subtest.task.answers else Protocol.GENERATE


def _is_fixed(conditions: Conditions, protocol: Protocol, attempt: Attempt) -> bool:
    """Return whether a model gives the same response again to the same request."""
    if attempt.metadata.get("replayed_sampled") == "yes":
        return False  # drawn when it was recorded
    drew_nothing = attempt.metadata.get("sampled") == "no"
    return conditions.decoding.greedy or protocol is Protocol.LIKELIHOOD or drew_nothing


def counted(sources: Iterable[Source]) -> list[CountedResponse]:
    """Return the responses that count, in order.

    Practice, skipped and void trials are left out. Where nothing is drawn, identical replicates say
    nothing new and count once, also across administrations of one model; under another protocol
    only what was obtained otherwise counts again. Whoever answers by sampling, and every person,
    counts each time; but a sampled response that another administration of the model drew already,
    with the same seed, counts once (:func:`tabwb.report.summaries.draws.again_drawn`).
    """
    rows: list[CountedResponse] = []
    first: dict[Hashable, int] = {}
    duplicates: dict[int, list[CountedResponse]] = {}
    draws: list[Draw] = []
    given = list(sources)
    pools_speakers = len({source.examinee for source in given if source.is_speaker}) > 1
    for place, source in enumerate(given):
        examinee, conditions = source.examinee, source.conditions
        deciding = {
            rater: next(iter(declaration.features), "")
            for rater, declaration in source.declarations.items()
            if declaration.kind == "scorer"
        }
        items = {
            (subtest.id, item.id): (subtest, item)
            for subtest in source.battery.subtests
            for item in subtest.items
        }
        statuses = effective_statuses(source.battery, source.trials)
        for trial, status in zip(source.trials, statuses, strict=True):
            attempt = trial.counting
            if attempt is None or not trial.is_answered:
                continue
            plan = trial.plan
            subtest, item = items[plan.subtest, plan.item]
            cluster = (
                (examinee,) if pools_speakers and source.is_speaker else (plan.subtest, plan.item)
            )
            row = CountedResponse(
                place, subtest, item, trial, attempt, cluster, status, deciding=deciding
            )
            if conditions is None or conditions.kind != "model":
                rows.append(row)
                continue
            protocol = _protocol_of(source, subtest, trial, attempt)
            fixed = _is_fixed(conditions, protocol, attempt)
            shared = not fixed and shares_stream(conditions, attempt)
            row = replace(row, fixed=fixed, shares_stream=shared)
            question = examinee, protocol, plan.subtest, plan.item, attempt.messages or plan.prompt
            if fixed:
                at = first.setdefault((*question, attempt.response), len(rows))
                if at < len(rows):
                    same = replace(row, representative=rows[at].place)
                    duplicates.setdefault(at, []).append(same)
                    continue
            else:
                draw = drawn_with(conditions, plan, attempt, shared=shared)
                if draw is not None:
                    draws.append((len(rows), place, (*question, draw), attempt.response))
            rows.append(row)
    again = again_drawn(draws)
    for place, at in again.items():
        duplicates.setdefault(at, []).append(replace(rows[place], representative=rows[at].place))
    for at, responses in duplicates.items():
        rows[at] = replace(rows[at], duplicates=tuple(responses))
    return [row for place, row in enumerate(rows) if place not in again]
