"""Administrations for these tests, scored by the real scorers."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console, RenderableType
from tabwb_builtin.raters import SCORERS, RulesJudge

from tabwb.administer.session.raters import declaration_of
from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.statistics.results import Results
from tabwb.analysis.statistics.summary import pool
from tabwb.battery.model import Battery, Category, Feature, Grouping, Item, Subtest
from tabwb.battery.prompts import render_prompt
from tabwb.plugin_api.components import Response, Scorer
from tabwb.records.conditions import Conditions
from tabwb.records.ratings import Declaration, Judged, Rating, undefined, valued
from tabwb.records.specs import Spec
from tabwb.records.states import (
    AdministrationStatus,
    AttemptState,
    ResponseKind,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import Administration, Attempt, PlannedTrial, Trial
from tabwb.scoring.response_status import response_status
from tabwb.scoring.rules.passage import FEATURES, TWO_SIDED

ANIMALS = ("lion", "drum", "violin", "giraffe", "boot", "boat")
FEET = ("boot", "boat", "lion", "drum", "violin", "giraffe")
CUT = ("knife", "kite", "lion", "drum", "violin", "giraffe")
SUN = "The sun rises in the East."
SCORER: dict[str, Scorer] = {
    descriptor.id: descriptor.factory(Spec(descriptor.id), None) for descriptor in SCORERS
}

BATTERY = Battery(
    id="small",
    title="Small Battery",
    version="1",
    language="en",
    license="MIT",
    disclaimer="Not a diagnostic tool.",
    content_hash="0" * 64,
    subtests=(
        Subtest(
            "text",
            "Connected Text",
            ResponseKind.CONNECTED_TEXT,
            (Item("ct1", "Tell me about a trip."), Item("ct2", "Tell me about your job.")),
            scorers=("lexical",),
        ),
        Subtest(
            "words",
            "Word Comprehension",
            ResponseKind.CHOICE,
            (
                Item("try", "Which one flies?", ("kite", "boot"), "kite", practice=True),
                Item("wc1", "A mane?", ANIMALS, "lion", {"giraffe": "semantic"}),
                Item("wc3", "On the feet?", FEET, "boot", {"boat": "phonological"}),
                Item("wc4", "Used for cutting?", CUT, "knife", {"kite": "phonological"}),
            ),
            template="{prompt} ({options})",
            scorers=("choice",),
        ),
        Subtest(
            "sentences",
            "Sentence Comprehension",
            ResponseKind.YES_NO,
            (
                Item("sc1", "Are babies watched by babysitters?", (), "Yes", tags=("passive",)),
                Item("sc2", "Do you cut the grass with an axe?", (), "No"),
                Item("sc4", "Are witnesses questioned by police?", (), "Yes", tags=("passive",)),
            ),
            scorers=("yes-no",),
        ),
        Subtest(
            "repetition",
            "Repetition",
            ResponseKind.VERBATIM,
            (
                Item("r1", "Please repeat exactly: house.", (), "house."),
                Item("r4", f"Please repeat exactly: {SUN}", (), SUN),
            ),
            scorers=("repetition",),
        ),
    ),
    features=tuple(Feature(name, name, name, name) for name in FEATURES),
    groupings=(
        Grouping(
            "table-5",
            "Categories",
            "table 5",
            (
                Category("lexical", "Lexical", ("anomia", "neologisms")),
                Category("fluency", "Fluency", ("short-and-simplified-utterances",)),
                Category(
                    "disfluency",
                    "Disfluency",
                    ("abandoned-utterances", "false-starts", "retracing"),
                ),
                Category("perseverative", "Perseverative", ("perseverations",)),
                Category("coherence", "Coherence", ("jargon", "off-topic")),
                Category("overall", "Overall", ("overall-communication-impairment",)),
            ),
        ),
    ),
)

CONDITIONS = Conditions("bundled", "model")
DECLARED = {"rules-2": declaration_of(RulesJudge())}
SAMPLED = replace(CONDITIONS, decoding=replace(CONDITIONS.decoding, temperature=1.0))


def answered(
    item_id: str,
    text: str,
    *,
    number: int = 1,
    replicate: int = 0,
    options: tuple[str, ...] = (),
    features: Sequence[str] | None = None,
) -> Trial:
    """One trial answered with ``text``, scored; ``features`` are those that rules-2 found."""
    subtest, item = _find(item_id)
    shown = options or item.options
    plan = PlannedTrial(
        number,
        subtest.id,
        item.id,
        replicate,
        shown,
        render_prompt(subtest, item, shown),
        item.practice,
    )
    status = response_status(text, StopReason.END, plan.prompt, item.expected)
    response = Response(
        text,
        status,
        item.prompt,
        plan.prompt,
        subtest.task.text_kind,
        shown,
        item.expected,
        item.foils,
    )
    ratings: list[Rating] = []
    for scorer in subtest.scorers:
        ratings += SCORER[scorer].score(subtest, item, response)
    if subtest.task.connected:
        ratings += _judged(status, features or ())
    noted = {"seed": str(number)}
    attempt = Attempt(1, text, AttemptState.OK, status, StopReason.END, 0.25, metadata=noted)
    return Trial(plan, TrialState.ANSWERED, (attempt,), tuple(ratings))


def planned(item_id: str, number: int = 1) -> Trial:
    """One trial that has not been given."""
    subtest, item = _find(item_id)
    prompt = render_prompt(subtest, item)
    return Trial(PlannedTrial(number, subtest.id, item.id, 0, item.options, prompt, item.practice))


def voided(item_id: str, text: str) -> Trial:
    """One trial whose answer was declared void."""
    trial = answered(item_id, text)
    attempts = tuple(replace(attempt, state=AttemptState.VOID) for attempt in trial.attempts)
    return replace(trial, state=TrialState.VOID, attempts=attempts, reason="interrupted")


def trials(answers: Mapping[str, str], features: Iterable[str] = ()) -> tuple[Trial, ...]:
    """All items of the battery, those in ``answers`` answered."""
    found = tuple(features)
    made = []
    number = 0
    for subtest in BATTERY.subtests:
        for item in subtest.items:
            number += 1
            if item.id in answers:
                made.append(answered(item.id, answers[item.id], number=number, features=found))
            else:
                made.append(planned(item.id, number))
    return tuple(made)


def administration(number: int = 12, conditions: Conditions = CONDITIONS) -> Administration:
    """An administration of the battery."""
    return Administration(
        id=number,
        uid=f"01890000-0000-7000-8000-{number:012d}",
        status=AdministrationStatus.DONE,
        battery=BATTERY.id,
        battery_version=BATTERY.version,
        battery_hash=BATTERY.content_hash,
        battery_title=BATTERY.title,
        conditions=conditions,
        created_at="2026-03-01T10:00:00.000+00:00",
        planned=10,
        answered=10,
        versions={"tabwb": "0.1.0"},
    )


ANSWERS = {
    "try": "boot",
    "ct1": "We went to the sea. The sea was warm and we swam every day until the sun went down.",
    "ct2": "I sold bread in a shop. I liked the smell of the bread and the people of the town.",
    "wc1": "lion",
    "wc3": "boat",
    "wc4": "Answer: lion. Explanation: The answer is correct.",
    "sc1": "Yes",
    "sc2": "Yes",
    "sc4": "Yes.",
    "r1": "House",
    "r4": "The East.",
}


def _judged(status: ResponseStatus, present: Sequence[str]) -> list[Rating]:
    ratings = []
    for feature in FEATURES:
        if status is ResponseStatus.EMPTY or feature not in TWO_SIDED:
            ratings.append(undefined("rules-2", feature, "no text"))
        else:
            ratings.append(valued("rules-2", feature, feature in present))
    return ratings


def _find(item_id: str) -> tuple[Subtest, Item]:
    for subtest in BATTERY.subtests:
        for item in subtest.items:
            if item.id == item_id:
                return subtest, item
    raise KeyError(item_id)


def with_seeds(given: Iterable[Trial], first: int) -> tuple[Trial, ...]:
    """The same trials, their replies drawn with seeds from ``first`` on."""
    return tuple(
        replace(
            trial,
            attempts=tuple(
                replace(attempt, metadata={**attempt.metadata, "seed": str(seed)})
                for attempt in trial.attempts
            ),
        )
        for seed, trial in enumerate(given, start=first)
    )


def changed(
    data: AdministrationData, number: int | None = None, **conditions: Any
) -> AdministrationData:
    """Return an administration under other conditions, with another number."""
    own = data.administration
    made = replace(own, id=number or own.id, conditions=replace(own.conditions, **conditions))
    return replace(data, administration=made)


def data_of(
    battery: Battery,
    trials: Sequence[Trial],
    conditions: Conditions | None = None,
    declarations: Mapping[str, Declaration] | None = None,
    judged: Sequence[Judged] = (),
) -> AdministrationData:
    """An administration with these trials; without conditions a person's."""
    given = administration(conditions=conditions or Conditions("S-001", "speaker"))
    return AdministrationData(
        given, battery, trials, declarations=declarations or {}, judged=judged
    )


def summarise(
    battery: Battery,
    trials: Sequence[Trial],
    conditions: Conditions | None = None,
    *,
    declarations: Mapping[str, Declaration] | None = None,
    judged: Sequence[Judged] = (),
    interval: bool = False,
) -> Results:
    """The results of one administration."""
    source = data_of(battery, trials, conditions, declarations, judged)
    return pool([source], interval=interval)


def printed(view: RenderableType, width: int = 80) -> str:
    """What a terminal shows of a view."""
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(view)
    return out.getvalue()


def unwrapped(text: str) -> str:
    """A text with its lines and spaces as one space."""
    return " ".join(text.split())
