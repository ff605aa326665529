"""Judges: agreement counted by hand, burdens over what each declared, other measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.judges import JudgeReport, disagreements, judge_report, self_agreement
from tabwb.analysis.statistics.summary import pool
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.media.documents.document import administration_document, summary_json
from tabwb.media.views.judges import judges_document
from tabwb.records.ratings import Declaration, Judged, Judgement, Rating, failed, undefined, valued
from tabwb.records.states import (
    AttemptState,
    RatingStatus,
    ResponseKind,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import Attempt, PlannedTrial, Trial
from tabwb.scoring.intervals import burden_interval
from tabwb.scoring.rules.passage import FEATURES
from tests.analysis.given import (
    BATTERY,
    CONDITIONS,
    DECLARED,
    SAMPLED,
    administration,
    answered,
    data_of,
    summarise,
)


def source(*said: tuple[Rating, ...], begin: int = 0) -> AdministrationData:
    """One connected text after the other, each with these ratings; sets are what is rated."""
    trials = [
        replace(answered("ct1", f"We went to the sea {n}.", number=n + 1, replicate=n), ratings=own)
        for n, own in enumerate(said, start=begin)
    ]
    given = [(one.rater, one.measure) for ratings in said for one in ratings]
    sets = {
        rater: tuple(name for name in ("anomia", "jargon") if (rater, name) in given)
        for rater, _ in given
    }
    declared = {rater: Declaration(rater, features) for rater, features in sets.items()}
    return data_of(BATTERY, trials, SAMPLED, declared)


def by(rater: str, anomia: int, jargon: int) -> tuple[Rating, ...]:
    return valued(rater, "anomia", anomia), valued(rater, "jargon", jargon)


def compared(sources: Sequence[AdministrationData]) -> JudgeReport:
    return judge_report([("", sources)])


def rows(found: JudgeReport, table: str = "pairs") -> list[dict[str, Any]]:
    return found.tables[table].to_dicts()


P, Q, R = "tab-2026:p", "tab-2026:q", "tab-2026+prompt:p"


def test_two_judges_feature_by_feature() -> None:
    # anomia: 1-1, 1-0, 0-0, 0-0; jargon: never, by neither.
    said = [by(P, n < 2, 0) + by(Q, n < 1, 0) for n in range(4)]
    found = compared([source(*said)])
    jargon, anomia = rows(found, "pair-features")
    # po = 3/4; pe = 1/2 * 1/4 + 1/2 * 3/4 = 1/2.
    assert (anomia["n"], anomia["agreement"], anomia["kappa"]) == (4, 0.75, 0.5)
    assert anomia["positive_agreement"] == pytest.approx(2 * 1 / (2 * 1 + 1))
    assert (jargon["agreement"], jargon["kappa"], jargon["ac1"]) == (1.0, None, 1.0)
    # Fewer than ten responses in common are listed, not averaged, as in agreement.
    (pair,) = rows(found)
    assert (pair["kappa"], pair["features"], pair["ac1"], pair["averaged"]) == (
        None, 0, None, False,
    )  # fmt: skip
    (pair,) = rows(compared([source(*[by(P, n < 4, 0) + by(Q, n < 2, 0) for n in range(10)])]))
    # po = .8; pe = .4 * .2 + .6 * .8 = .56.
    assert pair["kappa"] == pytest.approx((0.8 - 0.56) / 0.44) and pair["features"] == 1
    assert (pair["agreement"], pair["agreement_features"], pair["ac1_features"]) == (0.9, 2, 2)


def test_most_judges_decide_and_ties_leave_a_response_out() -> None:
    said = by(P, 1, 0) + by(Q, 1, 0) + by(R, 0, 0), by(P, 1, 1) + by(Q, 0, 1)
    found = compared([source(*said)])
    (one,) = rows(found, "consensus")
    assert (one["judges"], one["n_responses"], one["ties"]) == (3, 1, 1)
    # The second response has a tie on anomia and is left out of the burden: that is said, and
    # what it would be with the tie as present and as absent.
    assert (one["burden"], one["n_tied"]) == (1.0, 1)
    assert (one["ties_present"], one["ties_absent"]) == (1.5, 1.0)
    jargon, anomia = rows(found, "consensus-features")
    assert (anomia["of_burden"], jargon["of_burden"]) == (1, 0)
    assert [anomia[name] for name in ("present", "absent", "ties")] == [1, 0, 1]
    # Its verdict on jargon is not a tie and counts.
    assert [jargon[name] for name in ("present", "absent", "ties", "rate")] == [1, 1, 0, 0.5]


def test_a_verdict_that_is_missing_is_no_absence() -> None:
    gap = (valued(Q, "anomia", 1.0), undefined(Q, "jargon", "unparsed"))
    found = compared([source(by(P, 1, 0) + gap, by(P, 0, 0) + by(Q, 0, 0))])
    assert [row["n"] for row in rows(found, "pair-features")] == [1, 2]
    assert rows(found, "consensus")[0]["n_responses"] == 1


def test_a_rule_repeats_verdicts_of_others_and_has_no_say() -> None:
    # The majority of three people of one mind is not a further vote.
    people = by("R1", 1, 0) + by("R2", 0, 0) + by("R3", 1, 0)
    found = compared([source(people + by("majority", 1, 0) + by(P, 0, 0), by(P, 0, 0))])
    assert {judge.rater for *_, judge in found.rows} == {"R1", "R2", "R3", "majority", P}
    pairs = rows(found)
    assert len(pairs) == 6 and all(pair["n"] for pair in pairs)
    assert "majority" not in {name for pair in pairs for name in (pair["first"], pair["second"])}
    assert rows(found, "consensus")[0]["judges"] == 4
    anomia = rows(found, "consensus-features")[1]
    assert (anomia["present"], anomia["ties"]) == (0, 1)


def under(prompt: str, source: AdministrationData) -> AdministrationData:
    told = {rater: replace(each, prompt_text=prompt) for rater, each in source.declarations.items()}
    return replace(source, declarations=told)


def test_one_rater_under_two_prompts_is_two_judges() -> None:
    old = under("old", source(by(P, 1, 1) + by(Q, 1, 0)))
    new = under("new", source(by(P, 0, 0), by(P, 1, 0), begin=5))
    found = compared([old, new])
    first, second = (sha256(prompt.encode()).hexdigest()[:8] for prompt in ("old", "new"))
    terms = "2 features, connected text, prompt"
    labels = [label for _, label, _ in found.rows]
    assert labels == [f"{P} ({terms} {first})", Q, f"{P} ({terms} {second})"]
    burdens = [judge.burden.symptom_burden.value for *_, judge in found.rows]
    assert burdens == [2.0, 1.0, 0.5]
    # Under the new prompt it saw none of what the others saw.
    pair, *apart = sorted(rows(found), key=lambda row: -row["n"])
    assert (pair["first"], pair["second"], pair["n"]) == (*labels[:2], 1)
    assert [row["reason"] for row in apart] == ["no response in common"] * 2


def test_one_judge_has_no_consensus() -> None:
    found = compared([source(by(P, 1, 0))])
    assert rows(found) == rows(found, "consensus") == judges_document(found)["consensus"] == []


def test_a_judge_whose_replies_cannot_be_read_is_given_as_the_reason_and_has_no_say() -> None:
    lost = tuple(Rating(R, name, None, RatingStatus.UNPARSED) for name in ("anomia", "jargon"))
    found = compared([source(by(P, 1, 0) + by(Q, 1, 1) + lost, by(P, 0, 0) + by(Q, 0, 0) + lost)])
    apart = [row["reason"] for row in rows(found) if not row["n"]]
    why = f"both were given 2 of the same responses, {R} gave no verdict (unparsed 2)"
    assert apart == [why] * 2
    assert rows(found, "consensus")[0]["judges"] == 2
    assert rows(compared([source(by(P, 1, 0) + lost)]), "consensus") == []


def test_unlike_groups_share_no_burden_and_no_consensus() -> None:
    first = source(by(P, 1, 1) + by(Q, 1, 0))
    other = source(by(P, 0, 0) + by(Q, 0, 0), begin=5)
    found = judge_report([("model a", [first]), ("model b (sampled)", [other])])
    told = [(group, label, judge.burden.symptom_burden.value) for group, label, judge in found.rows]
    assert told == [
        ("model a", P, 2.0), ("model a", Q, 1.0),
        ("model b (sampled)", P, 0.0), ("model b (sampled)", Q, 0.0),
    ]  # fmt: skip
    assert [each["n"] for each in rows(found, "pair-features")] == [2, 2], "over both"
    document = judges_document(found)
    assert [one["group"] for one in document["judges"]] == [name for name, *_ in told]
    assert [one["group"] for one in document["consensus"]] == ["model a", "model b (sampled)"]


JUDGE = "tab-2026:model"


def judged(
    trial: int, repeat: int, anomia: int | None, rater: str = JUDGE, call: str = ""
) -> Judged:
    rating = (
        undefined(rater, "anomia", "why") if anomia is None else valued(rater, "anomia", anomia)
    )
    return Judged(
        trial, 1, Judgement((rating,), rater=rater, repeat=repeat, key=f"call {call or trial}")
    )


PAIRS = [judged(n, r, v) for n, pair in enumerate([(1, 1), (0, 0), (1, 0), (0, 0)], 1)
         for r, v in enumerate(pair)]  # fmt: skip
TWINS = [judged(n, repeat, 1, call="same") for n in (1, 2, 3) for repeat in (0, 1)]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        # Two repetitions of four responses. Three of four pairs agree; each verdict counted from
        # both sides, present is 3 of 8: pe = (3/8)^2 + (5/8)^2 = 34/64.
        (PAIRS, (4, 0.75, (0.75 - 34 / 64) / (1 - 34 / 64))),
        # Three repetitions make three pairs; present is 4 of 6: pe = (4/6)^2 + (2/6)^2 = 5/9.
        ([judged(1, n, v) for n, v in enumerate([1, 1, 0])], (3, 1 / 3, (1 / 3 - 5 / 9) / (4 / 9))),
        # What has no verdict is no pair; other judges are left out.
        ([judged(1, 0, 1), judged(1, 1, None), judged(1, 1, 1, "another")], (0, None, None)),
        # Answers of one text are one call, and another prompt is another.
        (TWINS, (1, 1.0, None)),
        ([judged(1, 0, 1, call="old"), judged(1, 1, 0, call="new")], (0, None, None)),
        # A later judgement of the same number stands.
        ([judged(1, 0, 0), judged(1, 0, 1), judged(1, 1, 1)], (1, 1.0, None)),
    ],
)
def test_repetitions_of_a_judge_are_compared(
    rows: list[Judged], found: tuple[int, float | None, float | None]
) -> None:
    (one,) = self_agreement(rows, JUDGE, ["anomia"])
    assert (one.pairs, one.percent, one.kappa) == pytest.approx(found)


def anomia(rater: str, value: float) -> Rating:
    return valued(rater, "anomia", value, f"{rater} says so")


def test_the_most_disputed_response_stands_first_and_agreement_is_left_out() -> None:
    raters = ("one", "two", "likely")
    said = ((1, 1, 1), (1, 0, 1), (0, 0, 0))
    found = disagreements(
        [source(*(tuple(map(anomia, raters, values)) for values in said))], "anomia"
    )
    assert (found.judges, found.compared) == (raters, 3)
    (disputed,) = found.disputed
    assert disputed.response == "We went to the sea 1."
    assert disputed.distance == pytest.approx(2 / 3)
    reasons = [said.verdict.reason for said in disputed.said if said.verdict]
    assert reasons == [f"{rater} says so" for rater in raters]


def test_a_probability_stands_for_its_verdict_and_a_split_comes_before_it() -> None:
    def likely(value: float) -> tuple[Rating, Rating]:
        verdict = anomia("likely", value > 0.5)
        return verdict, valued("likely", "anomia.probability", value)

    given = source((anomia("one", 0), *likely(0.49)), (anomia("one", 1), *likely(0.48)))
    found = disagreements([given], "anomia").disputed
    assert [(round(one.distance, 2), one.split) for one in found] == [(0.52, True), (0.49, False)]


def test_a_failed_verdict_is_no_absence_and_a_judge_of_other_features_takes_no_part() -> None:
    given = source((anomia("one", 1), failed("two", "anomia", "timeout")))
    found = disagreements([given], "anomia")
    assert (found.judges, found.compared, found.disputed) == (("one", "two"), 0, ())
    assert disagreements([source((anomia("one", 1),))], "jargon").judges == ()


MODEL = Declaration(
    "tab-2026:gemini:x",
    FEATURES,
    caution="labels by a language model; have a person check a sample",
    prompt_text='{"system":"You are a speech-language pathologist"}',
)
BOTH = {**DECLARED, MODEL.rater: MODEL}


def with_features(trial: Trial, present: Sequence[str], missing: Sequence[str] = ()) -> Trial:
    """The trial with the model judge's verdicts added."""
    ratings = [
        undefined(MODEL.rater, name, "not in the reply")
        if name in missing
        else valued(MODEL.rater, name, name in present)
        for name in FEATURES
    ]
    return replace(trial, ratings=(*trial.ratings, *ratings))


def given() -> tuple[Trial, ...]:
    """Two connected texts: rules-2 finds 1 and 0 of 7, the model 3 and 1 of 19."""
    return (
        with_features(
            answered("ct1", "We went to the sea.", number=1, features=["retracing"]),
            ["anomia", "off-topic", "retracing"],
        ),
        with_features(answered("ct2", "I sold bread.", number=2), ["meaning-unclear"]),
    )


def document(trials: Sequence[Trial], declarations: Mapping[str, Declaration]) -> Any:
    return administration_document(
        AdministrationData(administration(), BATTERY, trials, declarations=declarations),
        interval=True,
    )


def test_two_judges_over_different_sets_have_two_burdens() -> None:
    rules, model = document(given(), BOTH)["summary"]["judges"]
    assert (rules["rater"], rules["n_features"], rules["symptom_burden"]) == ("rules-2", 7, 0.5)
    assert (model["rater"], model["n_features"], model["symptom_burden"]) == (MODEL.rater, 19, 2.0)
    assert model["features"] == list(FEATURES)
    for judge in (rules, model):
        assert (judge["n_responses"], judge["n_distinct"]) == (2, 2)
        assert judge["scope"] == "connected-text"
        assert judge["declared"] is True
    for judge, values in ((rules, [[1.0], [0.0]]), (model, [[3.0], [1.0]])):
        expected = burden_interval(values, judge["n_features"]).interval
        assert expected is not None
        assert judge["interval"] == [expected.low, expected.high]
    assert (rules["prompt_hash"], model["prompt_hash"]) == (None, MODEL.prompt_hash)


def test_a_feature_of_the_set_that_is_undefined_leaves_no_burden_for_its_judge_only() -> None:
    first, second = given()
    second = with_features(answered("ct2", "I sold bread.", number=2), [], missing=["anomia"])
    rules, model = summarise(BATTERY, (first, second), CONDITIONS, declarations=BOTH).judges
    assert rules.burden.no_burden == {}
    assert (model.burden.n_burden, model.burden.no_burden) == (
        1,
        {"anomia undefined: not in the reply": 1},
    )
    assert model.burden.symptom_burden.value == 3.0


RATER = "surprisal:small"
SMALL = Battery(
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


def rated_by(*ratings: Rating) -> AdministrationData:
    trials = [
        Trial(
            PlannedTrial(n + 1, "text", f"t{n}", 0, (), f"Tell {n}."),
            TrialState.ANSWERED,
            (Attempt(1, f"said {n}", AttemptState.OK, ResponseStatus.OK, StopReason.END, 0.1),),
            (rating,),
        )
        for n, rating in enumerate(ratings)
    ]
    return data_of(SMALL, trials, declarations={RATER: Declaration(RATER, ())})


def test_means_are_over_the_responses_that_have_a_value() -> None:
    summary = pool(
        [
            rated_by(
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
    summary = pool([rated_by(undefined(RATER, "surprisal", "nothing was said"))])
    document = summary_json(summary)["other_measures"]
    assert isinstance(document, list)
    (row,) = document
    assert row["measures"]["surprisal"]["mean"] is None
    assert row["measures"]["surprisal"]["status"] == "undefined"
