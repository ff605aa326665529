"""Groups with made-up responses for figures: any number, long names, few usable, undefined."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from tabwb.records.conditions import Conditions
from tabwb.records.ratings import Scope
from tabwb.records.states import ResponseKind
from tabwb.report.summaries.grouping import Group
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.judges import JudgeSummary
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.subtests import Share, SubtestSummary
from tabwb.report.summaries.summary import Answers, Summary
from tabwb.scoring.burden import NONE_COUNTED, RatedResponse, symptom_burden
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.estimate import Estimate
from tabwb.scoring.rules.verdicts import FEATURES, TWO_SIDED
from tests.report.given import BATTERY, administration

SEVEN = tuple(name for name in FEATURES if name in TWO_SIDED)
NAMES = (
    "Llama-3.2-1B", "Llama-3.2-1B-Instruct", "Qwen2.5-0.5B", "Qwen2.5-0.5B-Instruct",
    "pythia-1.4b + mlp.down:zero:0.3@seed=7", "gpt2", "SmolLM2-1.7B",
    "openai:org/a-model-with-a-very-long-name-for-a-figure-2026-07-01-preview@base_url=http://localhost:8000/v1",
    "OLMo-2-0425-1B", "gemma-3-1b-it",
)  # fmt: skip


def judge(
    profiles: Sequence[Sequence[Sequence[str] | None]],
    features: Sequence[str] = SEVEN,
    rater: str = "rules-2",
    scope: Scope = "connected-text",
) -> JudgeSummary:
    """A judge: by item, the features present in each response; None is unusable."""
    rated = [
        RatedResponse(
            ("text", f"ct{item}"),
            f"text {item} {n}",
            12,
            None if present is None else frozenset(present),
            "refused" if present is None else "",
            "refused" if present is None else "",
        )
        for item, responses in enumerate(profiles)
        for n, present in enumerate(responses)
    ]
    return JudgeSummary(rater, scope, symptom_burden(rated, features, interval=True))


def subtest(
    name: str,
    title: str,
    kind: ResponseKind,
    items: Sequence[tuple[int, int]],
    **baselines: float,
) -> SubtestSummary:
    """A subtest: of each item, right responses and responses."""
    share = Share(sum(n for _, n in items), dict.fromkeys(POLICIES, tuple(items)))
    return SubtestSummary(
        name, title, kind, share.n, share.n, share,
        {name: Estimate(value) for name, value in baselines.items()},
    )  # fmt: skip


def grouped(name: str, summary: Summary, number: int = 1) -> Grouped:
    """A group of one administration with a summary."""
    given = administration(number, Conditions(name, "model"))
    return Grouped(Group("model", name, (AdministrationData(given, BATTERY, ()),)), summary)


def group(
    name: str,
    number: int = 1,
    *,
    load: float = 0.2,
    right: float = 0.6,
    usable: float = 1.0,
    judged: bool = True,
    replicates: int = 3,
) -> Grouped:
    """A group whose responses are drawn with the seed ``number``.

    Args:
        name: of the model.
        number: of its administration.
        load: probability of each feature.
        right: probability of a right response.
        usable: probability of a usable response.
        judged: whether a judge has judged.
        replicates: responses to each item.
    """
    drawn = random.Random(number)

    def items(n: int) -> list[tuple[int, int]]:
        return [
            (sum(drawn.random() < right for _ in range(replicates)), replicates) for _ in range(n)
        ]

    profiles = [
        [
            [name for name in SEVEN if drawn.random() < load] if drawn.random() < usable else None
            for _ in range(replicates)
        ]
        for _ in range(5)
    ]
    summary = Summary(
        (
            SubtestSummary("text", "Connected Text", ResponseKind.CONNECTED_TEXT, 15, 15,
                           Share(15, dict.fromkeys(POLICIES, ())), {}),
            subtest("words", "Word Comprehension", ResponseKind.CHOICE, items(5),
                    always_first=1.0, guessing=1 / 6),
            subtest("sentences", "Sentence Comprehension", ResponseKind.YES_NO, items(5),
                    always_yes=0.6, guessing=0.5),
            subtest("repetition", "Repetition", ResponseKind.VERBATIM, items(5)),
        ),
        (judge(profiles),) if judged else (),
        Answers(20 * replicates, 20, Estimate(12.0), {}, 0, usable=NONE_COUNTED),
    )  # fmt: skip
    return grouped(name, summary, number)


def groups(n: int) -> tuple[Grouped, ...]:
    """Groups of which the third, if any, has few usable responses and the fourth no judge."""
    made = []
    for at in range(n):
        name = NAMES[at % len(NAMES)] + (f" ({at // len(NAMES) + 1})" if at >= len(NAMES) else "")
        made.append(
            group(
                name,
                at + 1,
                load=0.05 + 0.4 * (at % 7) / 7,
                right=0.2 + 0.8 * (at % 5) / 5,
                usable=0.3 if at == 2 else 0.95,
                judged=at != 3,
            )
        )
    return tuple(made)


def with_labels(given: Grouped, **labels: str) -> Grouped:
    """The group, its model described by a profile."""
    members = tuple(
        replace(
            member,
            administration=replace(
                member.administration,
                conditions=replace(member.administration.conditions, labels=labels),
            ),
        )
        for member in given.group.members
    )
    return replace(given, group=replace(given.group, members=members))
