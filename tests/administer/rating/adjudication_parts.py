"""A rating set in which three people and a judge differ, for the tests of adjudication."""

from __future__ import annotations

from tabwb.battery.forms import Form, Question
from tabwb.records.rating_sets import (
    CANNOT_TELL,
    Answer,
    Assignment,
    RatingSet,
    Sample,
    SampleRating,
)
from tabwb.records.ratings import Declaration, valued
from tabwb.records.trials import AttemptEntry, DeclarationEntry, RatingsEntry
from tabwb.store.store import Store
from tests.store.parts import attempt, begin, set_plan

FORM = Form(
    "two",
    "1",
    "Two questions",
    "MIT",
    "",
    (
        Question("jargon", "Jargon", cannot_tell=True),
        Question("anomia", "Anomia", kind="scale", high=4, cut=1, cannot_tell=True),
    ),
)
JUDGE = "rules-1"
RATERS = ("R1", "R2", "R3")
SAID: dict[str, tuple[dict[str, Answer], ...]] = {
    "R1": (
        {"jargon": 1.0, "anomia": 0.0},
        {"jargon": 0.0, "anomia": 2.0},
        {"jargon": 1.0, "anomia": 3.0},
    ),
    "R2": (
        {"jargon": 0.0, "anomia": 0.0},
        {"jargon": 0.0, "anomia": 0.0},
        {"jargon": CANNOT_TELL, "anomia": 1.0},
    ),
    "R3": ({"jargon": 0.0, "anomia": 0.0}, {"jargon": 0.0}, {"jargon": 1.0, "anomia": 4.0}),
}
"""By rater what they say of samples 1, 2 and 3."""
JUDGED = ({"jargon": 0.0}, {"jargon": 1.0}, {"jargon": 1.0})


def disputed_set(store: Store, *, counts: str = "consensus") -> RatingSet:
    """A set of three responses of one model, rated by three people and a judge."""
    number = begin(store, 3).id
    store.append(number, [AttemptEntry(trial, attempt()) for trial in (1, 2, 3)])
    store.append(number, [DeclarationEntry(Declaration(JUDGE, ("jargon",)))])
    for trial, said in enumerate(JUDGED, start=1):
        ratings = tuple(valued(JUDGE, measure, value) for measure, value in said.items())
        store.append(number, [RatingsEntry(trial, 1, ratings)])
    samples = tuple(
        Sample(n, number, n, 1, f"text {n}", "Say it.", stratum="severe") for n in (1, 2, 3)
    )
    places = tuple(Assignment(rater, n, n) for rater in RATERS for n in (1, 2, 3))
    plan = set_plan("pilot", FORM.canonical, FORM.id, samples, places, raters=RATERS, counts=counts)
    kept = store.sets.create(plan)
    store.sets.rate_all(
        kept.id,
        [
            SampleRating(
                rater,
                n,
                n,
                "rate",
                answers,
                complete=True,
                evidence={"jargon": (1,)} if (rater, n) == ("R1", 1) else {},
            )
            for rater, given in SAID.items()
            for n, answers in enumerate(given, start=1)
        ],
    )
    return kept
