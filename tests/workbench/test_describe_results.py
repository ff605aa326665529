"""The results page says what the command line says, in the same words."""

from __future__ import annotations

from dataclasses import replace

from tabwb.report.render.tables import administration_view
from tabwb.report.summaries.cautions import cautions
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.summary import summarise
from tabwb.workbench.engine.describe import scores_of
from tabwb.workbench.results.describe import results_of
from tabwb.workbench.results.response import ResponseScreen
from tabwb.workbench.trial.score_panel import ScoreSheet
from tests.report.given import (
    ANSWERS,
    BATTERY,
    CONDITIONS,
    DECLARED,
    SAMPLED,
    administration,
    answered,
    trials,
)
from tests.report.test_tables import printed, unwrapped

GIVEN = trials({**ANSWERS, "ct2": " ".join(f"word{n}" for n in range(60))})
RESULTS = results_of(AdministrationData(administration(), BATTERY, GIVEN, declarations=DECLARED))


def test_a_mean_says_of_how_many_responses_it_is() -> None:
    (row, *_) = RESULTS.subtests
    assert "MATTR 1.00 (1 of 2)" in dict(row.notes)["mean"]


def test_both_faces_say_the_same_beside_the_results() -> None:
    summary = summarise(BATTERY, GIVEN, CONDITIONS, declarations=DECLARED)
    text = unwrapped(printed(administration_view(administration(), BATTERY, summary), width=200))
    for row in RESULTS.subtests:
        assert row.right in text
        for what, figures in row.notes:
            assert f"{what}: {figures}" in text
    assert RESULTS.cautions == tuple(cautions(BATTERY, summary, model=True))
    for sentence in RESULTS.cautions:
        assert sentence in text


def test_features_are_counted_among_the_responses_that_have_a_burden() -> None:
    unjudged = replace(answered("ct2", "I sold bread.", number=3), ratings=())
    given = (
        answered("ct1", "We went.", number=1, features=["retracing"]),
        answered("ct2", "", number=2),
        unjudged,
    )
    summary = summarise(BATTERY, given, SAMPLED, declarations=DECLARED)
    (burden,) = scores_of(BATTERY, given, summary).burdens
    assert (burden.n_responses, burden.n_burden, burden.not_judged) == (2, 1, 1)
    assert burden.without == ()
    assert (burden.usable, burden.few) == ("usable 1 of 2: 1 empty", False)
    sheet = ScoreSheet()
    scores = scores_of(BATTERY, given, summary)
    sheet.show(scores, hidden=False, title="SCORES", present=True)
    said = str(sheet.paint(40))
    assert "FEATURES PRESENT (of 1 answers)\n" in said
    assert "not judged yet: 1" in said


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
    screen = ResponseScreen(row, (12, 1), listen=lambda: None, by_ear=lambda *_: None, rater="")
    said = screen._text().plain
    assert "not usable (repeated answer): its features are undefined; verdicts are kept" in said
    assert "retracing" in said
