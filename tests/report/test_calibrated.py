"""Labels of a judge after calibration with the consensus of people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tabwb.administer.rating.judged import judged
from tabwb.battery.forms import Form, Question
from tabwb.records.errors import UsageError
from tabwb.records.rating_sets import Adjudication, Assignment, Sample, SampleRating, SetPlan
from tabwb.records.ratings import Declaration, valued
from tabwb.records.states import ResponseStatus
from tabwb.records.trials import AttemptEntry, DeclarationEntry, RatingsEntry
from tabwb.report.summaries.columns.calibrated import with_calibrated
from tabwb.store.store import Store
from tests.store.parts import attempt, begin

FORM = Form("one", "1", "One", "MIT", "", (Question("jargon", "Jargon"),))
JARGON = valued("rules-1", "jargon", 1)
DECLARED = {"rules-1": Declaration("rules-1", ("jargon", "anomia"))}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.db") as opened:
        yield opened


def _judged(store: Store, verdicts: list[int]) -> int:
    """A number of responses with the judge's verdicts."""
    number = begin(store, len(verdicts)).id
    store.append(number, [DeclarationEntry(DECLARED["rules-1"])])
    numbered = list(enumerate(verdicts, start=1))
    store.append(number, [AttemptEntry(trial, attempt()) for trial, _ in numbered])
    given = [(trial, (valued("rules-1", "jargon", verdict),)) for trial, verdict in numbered]
    store.append(number, [RatingsEntry(trial, 1, ratings) for trial, ratings in given])
    return number


def _study(store: Store, n: int = 30, weight: float = 1.0) -> None:
    """The judge calls 12 of 30 present, of which people call 9 so, and of 18 others 4.

    Two people agree on every sample but the last two, of which one is settled as present: of 18
    then 5 have the feature, and 17 have a consensus.
    """
    verdicts = [1] * 12 + [0] * 18
    people = [1] * 9 + [0] * 3 + [1] * 4 + [0] * 14
    number = _judged(store, verdicts[:n])
    samples = tuple(
        Sample(one, number, one, 1, "text", "?", weight=weight if one == 1 else 1.0)
        for one in range(1, n + 1)
    )
    places = tuple(Assignment(code, one, one) for code in ("R1", "R2") for one in range(1, n + 1))
    kept = store.sets.create(SetPlan("pilot", FORM.canonical, FORM.id, samples, places))
    store.sets.rate_all(
        kept.id,
        [
            SampleRating(
                code, one, one, "rate",
                {"jargon": float(people[one - 1] != (code == "R2" and one > 28))},
                complete=True,
            )
            for code in ("R1", "R2")
            for one in range(1, n + 1)
        ],
    )  # fmt: skip
    if n == 30:
        store.sets.adjudicate(kept.id, Adjudication(30, "jargon", 1.0, "why", "A1"))


def test_a_verdict_stands_for_the_share_of_samples_with_the_feature(store: Store) -> None:
    _study(store)
    other = _judged(store, [1, 0])
    declared = [DECLARED, DECLARED]
    columns, after = with_calibrated(
        store, store.columns([1, other]), declared, "calibrated:rules-1"
    )
    assert set(columns.ratings) >= {"rules-1", "calibrated:rules-1", "R1", "R2"}
    given = columns.ratings["calibrated:rules-1"].measures
    probability = given["jargon.probability"].values
    # Present: 9 of 12, absent: 5 of 17; (k + 1/2) / (n + 1). Row 30 is of no sample.
    assert probability[30:].tolist() == pytest.approx([9.5 / 13, 5.5 / 18])
    assert given["jargon"].values[30:].tolist() == [1.0, 0.0]
    # A sample is left out of its own probability.
    assert probability[[0, 9, 12, 16, 28]].tolist() == pytest.approx(
        [8.5 / 12, 9.5 / 12, 4.5 / 17, 5.5 / 17, 5.5 / 18]
    )
    assert columns.ratings["rules-1"].measures["jargon"].values[0] == 1.0
    own = after[1]["calibrated:rules-1"]
    assert own.features == ("jargon",)
    assert "on 29 samples of each feature; 1 of 2 features" in own.caution
    assert not any(name.startswith("calibrated") for name in store.raters())


def test_unusable_responses_do_not_count(store: Store) -> None:
    number = _judged(store, [1, 1])
    refused = replace(attempt(2), status=ResponseStatus.REFUSED)
    store.append(number, [AttemptEntry(2, refused), RatingsEntry(2, 2, (JARGON,))])
    samples = [Sample(1, number, 1, 1, "text", "?"), Sample(2, number, 2, 2, "text", "?")]
    assert judged(store, samples, FORM) == {1: {"jargon": {"rules-1": 1.0}}}


def test_samples_count_by_their_weights(store: Store) -> None:
    _study(store, weight=30.0)
    other = _judged(store, [1])
    columns, _ = with_calibrated(store, store.columns([other]), [DECLARED], "calibrated:rules-1")
    probability = columns.ratings["calibrated:rules-1"].measures["jargon.probability"]
    # 29 samples, one of which has the weight 30: the mean weight is 2, the sums are halved.
    assert probability.values.tolist() == pytest.approx(
        [((8 + 30) / 2 + 0.5) / ((11 + 30) / 2 + 1)]
    )


@pytest.mark.parametrize(
    ("n", "name", "error"),
    [
        (20, "calibrated:rules-1", "'rules-1' cannot be calibrated"),
        (20, "calibrated:tab-2026", "'tab-2026' has rated none of these"),
    ],
)
def test_too_few_samples_and_unknown_judges_are_refused(
    store: Store, n: int, name: str, error: str
) -> None:
    _study(store, n)
    with pytest.raises(UsageError, match=error):
        with_calibrated(store, store.columns([1]), [DECLARED], name)
