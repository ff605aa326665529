"""Judges against each other and with themselves, with numbers counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.judges import JudgeReport, judge_report, self_agreement
from tabwb.battery.model import Battery, Feature, Item, Subtest
from tabwb.media.views.judges import judges_document, judges_view
from tabwb.records.ratings import Declaration, Judged, Judgement, Rating, undefined, valued
from tabwb.records.states import (
    AttemptState,
    RatingStatus,
    ResponseKind,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import Attempt, PlannedTrial, Trial
from tests.report.given import data_of, printed, unwrapped

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
            tuple(Item(f"t{n}", f"Tell {n}.") for n in range(10)),
        ),
    ),
    features=tuple(
        Feature(id=name, key=name, title=name, definition=name) for name in ("anomia", "jargon")
    ),
    content_hash="one",
)


def source(*said: tuple[Rating, ...]) -> AdministrationData:
    trials = [
        Trial(
            PlannedTrial(n + 1, "text", f"t{n}", 0, (), f"Tell {n}."),
            TrialState.ANSWERED,
            (Attempt(1, f"said {n}", AttemptState.OK, ResponseStatus.OK, StopReason.END, 0.1),),
            ratings,
        )
        for n, ratings in enumerate(said)
    ]
    raters = dict.fromkeys(rating.rater for ratings in said for rating in ratings)
    return data_of(
        BATTERY,
        trials,
        declarations={rater: Declaration(rater, ("anomia", "jargon")) for rater in raters},
    )


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
    anomia, jargon = rows(found, "pair-features")
    # po = 3/4; pe = 1/2 * 1/4 + 1/2 * 3/4 = 1/2.
    assert (anomia["n"], anomia["agreement"], anomia["kappa"]) == (4, 0.75, 0.5)
    assert anomia["positive_agreement"] == pytest.approx(2 * 1 / (2 * 1 + 1))
    assert (jargon["agreement"], jargon["kappa"], jargon["ac1"]) == (1.0, None, 1.0)
    # Fewer than ten responses in common are listed, not averaged, as in agreement.
    (pair,) = rows(found)
    assert (pair["kappa"], pair["features"], pair["ac1"], pair["averaged"]) == (
        None,
        0,
        None,
        False,
    )
    (pair,) = rows(compared([source(*[by(P, n < 4, 0) + by(Q, n < 2, 0) for n in range(10)])]))
    # po = .8; pe = .4 * .2 + .6 * .8 = .56.
    assert pair["kappa"] == pytest.approx((0.8 - 0.56) / 0.44) and pair["features"] == 1
    assert (pair["agreement"], pair["agreement_features"], pair["ac1_features"]) == (0.9, 2, 2)


LONG = "openai:llama3.2:1b@base_url=http://localhost:11434/v1"


@pytest.mark.parametrize("width", [66, 80, 108])
def test_five_judges_with_long_specs_are_five_rows_that_can_be_read(width: int) -> None:
    prompts = ("tab-2026", "tab-2026+overall", "tab-2026+binary", "tab-2026+cot", "tab-2026+short")
    raters = [f"{prompt}:{LONG}" for prompt in prompts]
    found = compared(
        [source(*[tuple(one for rater in raters for one in by(rater, 1, n % 2)) for n in range(4)])]
    )
    lines = printed(judges_view(found), width).splitlines()
    assert max(map(len, lines)) <= width
    table = lines[: next(n for n, line in enumerate(lines) if "agreement of every" in line)]
    # No heading is broken or shortened.
    heading = table[2].split("  ")
    assert [words.strip() for words in heading if words.strip()] == [
        "judge", "usable", "burden", "interval", "features", "N",
    ]  # fmt: skip
    # A row for each judge, with its figures beside the name of its prompt.
    rows = [line.split() for line in table if line.split()[:1] and line.split()[0] in prompts]
    assert [row[0] for row in rows] == list(prompts)
    assert {tuple(row[1:5]) for row in rows} == {("4", "of", "4", "1.50")}
    assert {tuple(row[-4:]) for row in rows} == {("2", "4", "of", "4")}
    # The judging model below it is broken between its parts only.
    below = [
        line.strip()
        for line in table
        if line.strip().startswith(("openai", "@base", "11434", "localhost", "v1"))
    ]
    assert "".join(below) == LONG * 5
    assert all(len(line) > 1 and line[-1] in "/:b1" for line in below)
    # Nowhere in the report is a name broken into single letters.
    assert not [line for line in lines if len(line.strip()) == 1]


def test_a_judge_says_why_responses_have_no_burden() -> None:
    gap = (*by(P, 1, 0)[:1], undefined(P, "jargon", "unparsed"))
    text = unwrapped(printed(judges_view(compared([source(by(P, 1, 1), gap)]))))
    assert "1 without a burden (jargon undefined: unparsed)" in text


def test_most_judges_decide_and_ties_leave_a_response_out() -> None:
    said = by(P, 1, 0) + by(Q, 1, 0) + by(R, 0, 0), by(P, 1, 1) + by(Q, 0, 1)
    found = compared([source(*said)])
    (one,) = rows(found, "consensus")
    assert (one["judges"], one["n_responses"], one["ties"]) == (3, 1, 1)
    # The second response has a tie on anomia and is left out of the burden: that is said, and
    # what it would be with the tie as present and as absent.
    assert (one["burden"], one["n_tied"]) == (1.0, 1)
    assert (one["ties_present"], one["ties_absent"]) == (1.5, 1.0)
    anomia, jargon = rows(found, "consensus-features")
    assert (anomia["of_burden"], jargon["of_burden"]) == (1, 0)
    assert [anomia[name] for name in ("present", "absent", "ties")] == [1, 0, 1]
    # Its verdict on jargon is not a tie and counts.
    assert [jargon[name] for name in ("present", "absent", "ties", "rate")] == [1, 1, 0, 0.5]


def test_a_verdict_that_is_missing_is_no_absence() -> None:
    gap = (valued(Q, "anomia", 1.0), undefined(Q, "jargon", "unparsed"))
    found = compared([source(by(P, 1, 0) + gap, by(P, 0, 0) + by(Q, 0, 0))])
    assert [row["n"] for row in rows(found, "pair-features")] == [2, 1]
    assert rows(found, "consensus")[0]["n_responses"] == 1


def test_a_rule_repeats_verdicts_of_others_and_has_no_say() -> None:
    # The majority of three people of one mind is no vote beside theirs.
    people = by("R1", 1, 0) + by("R2", 0, 0) + by("R3", 1, 0)
    found = compared([source(people + by("majority", 1, 0) + by(P, 0, 0), by(P, 0, 0))])
    assert {judge.rater for *_, judge in found.rows} == {"R1", "R2", "R3", "majority", P}
    pairs = rows(found)
    assert len(pairs) == 6 and all(pair["n"] for pair in pairs)
    assert "majority" not in {name for pair in pairs for name in (pair["first"], pair["second"])}
    assert rows(found, "consensus")[0]["judges"] == 4
    anomia = rows(found, "consensus-features")[0]
    assert (anomia["present"], anomia["ties"]) == (0, 1)


def under(prompt: str, source: AdministrationData) -> AdministrationData:
    told = {rater: replace(each, prompt_text=prompt) for rater, each in source.declarations.items()}
    return replace(source, declarations=told)


def test_one_rater_under_two_prompts_is_two_judges() -> None:
    old = under("old", source(by(P, 1, 1) + by(Q, 1, 0)))
    new = under("new", source(by(P, 0, 0), by(P, 1, 0)))
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
    text = printed(judges_view(found), 80)
    assert text.count("not compared:") == 2 and max(map(len, text.splitlines())) <= 80


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


def test_judges_of_different_scopes_say_so() -> None:
    found = compared([source(by(P, 1, 1), by(P, 0, 0))])
    ((group, label, judge),) = found.rows
    other = replace(judge, rater="tab-2026:other:y", scope="all")
    both = replace(found, rows=((group, label, judge), (group, "other", other)))
    text = unwrapped(printed(judges_view(both)))
    assert "scope: connected text" in text and "scope: all" in text
    assert "scope:" not in unwrapped(printed(judges_view(found)))


def test_unlike_groups_share_no_burden_and_no_consensus() -> None:
    first, other = source(by(P, 1, 1) + by(Q, 1, 0)), source(by(P, 0, 0) + by(Q, 0, 0))
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
    return Judged(trial, 1, Judgement(rater, (rating,), repeat, key=f"call {call or trial}"))


def test_pairs_of_verdicts_are_compared() -> None:
    # Two repetitions of four responses: 1-1, 0-0, 1-0, 0-0. Three of four pairs agree; each
    # verdict counted from both sides, present is 3 of 8: pe = (3/8)^2 + (5/8)^2 = 34/64.
    said = [(1, 1), (0, 0), (1, 0), (0, 0)]
    rows = [judged(n, r, v) for n, pair in enumerate(said, 1) for r, v in enumerate(pair)]
    (found,) = self_agreement(rows, JUDGE, ["anomia"])
    assert (found.pairs, found.percent) == (4, 0.75)
    assert found.kappa == pytest.approx((0.75 - 34 / 64) / (1 - 34 / 64))


def test_three_repetitions_make_three_pairs_each() -> None:
    rows = [judged(1, repeat, value) for repeat, value in enumerate([1, 1, 0])]
    (found,) = self_agreement(rows, JUDGE, ["anomia"])
    assert found.pairs == 3
    assert found.percent == pytest.approx(1 / 3)


def test_what_has_no_verdict_is_no_pair_and_others_are_left_out() -> None:
    rows = [judged(1, 0, 1), judged(1, 1, None), judged(1, 1, 1, "another"), judged(2, 0, 1)]
    (found,) = self_agreement(rows, JUDGE, ["anomia"])
    assert (found.pairs, found.percent, found.kappa) == (0, None, None)


def test_answers_of_one_text_are_one_call_and_another_prompt_is_another() -> None:
    twins = [judged(n, repeat, 1, call="same") for n in (1, 2, 3) for repeat in (0, 1)]
    (found,) = self_agreement(twins, JUDGE, ["anomia"])
    assert found.pairs == 1
    other = [judged(1, 0, 1, call="old prompt"), judged(1, 1, 0, call="new prompt")]
    (found,) = self_agreement(other, JUDGE, ["anomia"])
    assert found.pairs == 0


def test_a_later_judgement_of_the_same_number_stands() -> None:
    rows = [judged(1, 0, 0), judged(1, 0, 1), judged(1, 1, 1)]
    (found,) = self_agreement(rows, JUDGE, ["anomia"])
    assert (found.pairs, found.percent, found.kappa) == (1, 1.0, None)
