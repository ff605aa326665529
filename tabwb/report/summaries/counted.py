"""What summaries read of an administration, and the status under which a response counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tabwb.battery.model import Battery, Subtest
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.rating_sets import Answer
from tabwb.records.ratings import (
    Declaration,
    Judged,
    MeasureKind,
    measures_of,
    verdict_measure,
)
from tabwb.records.reasoning import KEEP, option_of
from tabwb.records.specs import options_that_count, parse_spec
from tabwb.records.states import Protocol, ResponseKind, ResponseStatus, TrialState
from tabwb.records.trials import Attempt, Trial
from tabwb.scoring.burden import ComparedAnswer, repeated_answers
from tabwb.scoring.text import words
from tabwb.tasks.task_type import task_type

if TYPE_CHECKING:
    from tabwb.report.summaries.columns.prepared import Prepared
    from tabwb.report.summaries.parts import Part


Settled = Mapping[tuple[int, int], Mapping[str, Answer]]


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
    return name_of(replace(conditions, examinee=spec_of(conditions)))


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
        part: the responses that are summarised; None: all.
        settled: by numbers of trial and attempt what was settled in rating sets, by question.
    """

    battery: Battery
    trials: Sequence[Trial]
    conditions: Conditions | None = None
    declarations: Mapping[str, Declaration] = field(default_factory=dict)
    judged: Sequence[Judged] = ()
    primary: str = ""
    speaker: Mapping[str, object] = field(default_factory=dict)
    columns: tuple[Prepared, int] | None = None
    part: Part | None = None
    settled: Settled = field(default_factory=dict)

    @property
    def examinee(self) -> str:
        """Who was tested, see :func:`model_of`."""
        return "" if self.conditions is None else model_of(self.conditions)

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
        return self.conditions is not None and self.conditions.kind == "speaker"

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
        return given is None or given.kind != "model" or option_of(given.examinee) == KEEP

    @property
    def protocol(self) -> Protocol:
        """How answers were obtained."""
        return Protocol.GENERATE if self.conditions is None else self.conditions.protocol


def effective_statuses(
    battery: Battery, trials: Iterable[Trial]
) -> tuple[ResponseStatus | None, ...]:
    """Return the status under which each trial's answer counts; None without such an answer.

    It is the stored status, except that a usable answer becomes *repeated-answer* where the same
    text (normalised) was given to three or more different prompts of the administration. Three
    exceptions: an answer that is the expected one is never a repeated answer; a choice or a yes or
    no is one only where *every* answer to its subtest is that text; practice and pictures named
    aloud are left out.
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


def is_usable(status: ResponseStatus | None, kind: ResponseKind, response: str) -> bool:
    """Return whether the features of a response can be rated.

    A repeated choice or yes or no stays usable: its accuracy is counted as scored. A truncated
    response without text, all of whose tokens were reasoning, is not.

    >>> is_usable(ResponseStatus.REPEATED_ANSWER, ResponseKind.YES_NO, "Yes")
    True
    >>> is_usable(ResponseStatus.REPEATED_ANSWER, ResponseKind.CONNECTED_TEXT, "Yes")
    False
    >>> is_usable(ResponseStatus.TRUNCATED, ResponseKind.CONNECTED_TEXT, " ")
    False
    """
    if status is ResponseStatus.TRUNCATED and not response.strip():
        return False
    if status is ResponseStatus.REPEATED_ANSWER and task_type(kind).closed:
        return True
    return status is None or status.usable
