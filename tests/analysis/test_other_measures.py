"""What judges without features measure is shown by itself, never as a burden."""

from __future__ import annotations

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.statistics.summary import pool
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.media.documents.summary_json import summary_json
from tabwb.records.ratings import Declaration, Rating, undefined, valued
from tabwb.records.states import (
    AttemptState,
    ResponseKind,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import Attempt, PlannedTrial, Trial
from tests.analysis.given import data_of

RATER = "surprisal:small"
BATTERY = Battery(
    id="talk",
    title="Talk",
    version="1",
    language="en",
    license="MIT",
    subtests=(
        Subtest(
            "text",
            "Text",
            ResponseKind.CONNECTED_TEXT,
            tuple(Item(f"t{n}", f"Tell {n}.") for n in range(3)),
        ),
    ),
    content_hash="one",
)


def source(*ratings: Rating) -> AdministrationData:
    trials = [
        Trial(
            PlannedTrial(n + 1, "text", f"t{n}", 0, (), f"Tell {n}."),
            TrialState.ANSWERED,
            (Attempt(1, f"said {n}", AttemptState.OK, ResponseStatus.OK, StopReason.END, 0.1),),
            (rating,),
        )
        for n, rating in enumerate(ratings)
    ]
    return data_of(BATTERY, trials, declarations={RATER: Declaration(RATER, ())})


def test_means_are_over_the_responses_that_have_a_value() -> None:
    summary = pool(
        [
            source(
                valued(RATER, "surprisal", 2.0),
                valued(RATER, "surprisal", 5.0),
                undefined(RATER, "surprisal", "nothing was said"),
            )
        ]
    )
    assert list(summary.others) == [RATER] and summary.judges == ()
    measured = summary.find("surprisal", rater=RATER)
    assert measured is not None and (measured.value.value, measured.n) == (3.5, 2)
    assert summary.number("undefined", rater=RATER, feature="surprisal") == 1


def test_without_any_value_the_mean_is_undefined() -> None:
    summary = pool([source(undefined(RATER, "surprisal", "nothing was said"))])
    document = summary_json(summary)["other_measures"]
    assert isinstance(document, list)
    (row,) = document
    assert row["measures"]["surprisal"]["mean"] is None
    assert row["measures"]["surprisal"]["status"] == "undefined"
