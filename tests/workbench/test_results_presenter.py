"""What the results page and the scores show of an administration."""

from __future__ import annotations

from dataclasses import replace

from tabwb.analysis.administrations import AdministrationData
from tabwb.records.states import RatingStatus
from tabwb.report.summaries.summary import pool
from tabwb.workbench.engine.presenters import scores_of
from tabwb.workbench.engine.scored import _unjudged
from tabwb.workbench.engine.transcript import row_of
from tabwb.workbench.results.presenter import results_of
from tabwb.workbench.results.written_detail import Shown, detail_lines
from tabwb.workbench.trial.live_scores import LiveView, live_lines
from tests.report.given import (
    ANSWERS,
    BATTERY,
    DECLARED,
    SAMPLED,
    administration,
    answered,
    summarise,
    trials,
)


def test_features_are_counted_among_the_responses_that_have_a_burden() -> None:
    unjudged = replace(answered("ct2", "I sold bread.", number=3), ratings=())
    given = (
        answered("ct1", "We went.", number=1, features=["retracing"]),
        answered("ct2", "", number=2),
        unjudged,
    )
    summary = summarise(BATTERY, given, SAMPLED, declarations=DECLARED)
    counts = [subtest.counts for subtest in summary.subtests]
    scores = scores_of(BATTERY, given, counts, summary.judges)
    said = [" ".join(line.plain.split()) for line in live_lines(LiveView(scores, ()), 40)]
    assert any(line.endswith("1/2 usable") for line in said)
    assert "retracing 1/1" in said
    # Nothing usable: undefined, not 0 of 0.
    summary = summarise(BATTERY, given[1:2], SAMPLED, declarations=DECLARED)
    scores = scores_of(BATTERY, given[1:2], counts, summary.judges)
    said = [" ".join(line.plain.split()) for line in live_lines(LiveView(scores, ()), 40)]
    assert "symptom burden -" in said and "retracing -" in said


def test_a_feature_without_a_verdict_has_no_bar() -> None:
    seen = [
        answered("ct1", "We went.", number=1, features=["retracing"]),
        answered("ct2", "We sold bread.", number=2),
    ]
    unknown = [
        replace(one, value=None, status=RatingStatus.UNDEFINED)
        if one.measure == "retracing"
        else one
        for one in seen[1].ratings
    ]
    given = (*seen, replace(seen[1], plan=replace(seen[1].plan, number=3), ratings=tuple(unknown)))
    summary = summarise(BATTERY, given, SAMPLED, declarations=DECLARED)
    counts = [subtest.counts for subtest in summary.subtests]
    scores = scores_of(BATTERY, given, counts, summary.judges)
    rows = [row_of(BATTERY, trial, {}) for trial in given]
    lines = [line.plain for line in live_lines(LiveView(scores, rows), 48)]
    drawn = {
        line.split()[0]: line[-10:-7] for line in lines if line.startswith(("retr", "jarg", "sym"))
    }
    # Present, absent, undefined; a burden needs a verdict on every feature.
    assert drawn == {"retracing": "█▁ ", "jargon": "▁▁▁", "symptom": "▃▁ "}
    scores = replace(scores, unusable=frozenset({1}))
    (retracing,) = [
        line.plain[-10:-7]
        for line in live_lines(LiveView(scores, rows), 48)
        if line.plain.startswith("retracing")
    ]
    assert retracing == " ▁ "


def test_an_unusable_response_says_so_and_keeps_its_verdicts() -> None:
    # One text for three prompts, two of them repetitions: stored as ok, counted as repeated.
    same = {**ANSWERS, "ct1": "I was happy.", "ct2": "I was happy.", "r1": "I was happy."}
    results = results_of(
        AdministrationData(administration(), BATTERY, trials(same), declarations=DECLARED)
    )
    row = next(one for one in results.responses if one.item.trial.plan.item == "ct1")
    attempt = row.item.attempt
    assert attempt is not None
    assert (attempt.status, row.item.status) == ("ok", "repeated-answer")
    assert any(rating.rater in DECLARED for rating in row.item.trial.ratings)
    said = " ".join(str(line) for line in detail_lines(results, row, Shown(), 100))
    assert "not usable (repeated answer): its features are undefined; verdicts are kept" in said
    assert "retracing" in said


def test_a_judge_that_stopped_before_the_end_has_responses_left() -> None:
    judged = answered("ct1", "We went.", number=1, features=["retracing"])
    left = replace(answered("ct2", "I sold bread.", number=2), ratings=())
    given = administration(2, replace(SAMPLED, judges=()))
    for second, expected in ((left, [("rules-2", 1)]), (replace(left, ratings=judged.ratings), [])):
        data = AdministrationData(given, BATTERY, (judged, second), declarations=DECLARED)
        assert list(_unjudged(data, pool([data]))) == expected
