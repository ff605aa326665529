"""The results page says what the command line says, in the same words."""

from __future__ import annotations

from tabwb.report.cautions import cautions
from tabwb.report.load import Loaded
from tabwb.report.summary import summarise
from tabwb.report.tables import administration_view
from tabwb.workbench.describe_results import results_of
from tests.report.given import ANSWERS, BATTERY, CONDITIONS, DECLARED, administration, trials
from tests.report.test_tables import printed, unwrapped

GIVEN = trials({**ANSWERS, "ct2": " ".join(f"word{n}" for n in range(60))})
RESULTS = results_of(Loaded(administration(), BATTERY, GIVEN, declarations=DECLARED))


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
