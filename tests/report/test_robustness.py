"""Judges against each other, with numbers counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import pytest

from tabwb.battery.model import Battery, Feature, Item, Subtest
from tabwb.records.ratings import Declaration, Rating, undefined, valued
from tabwb.records.states import (
    AttemptState,
    RatingStatus,
    ResponseKind,
    ResponseStatus,
    StopReason,
    TrialState,
)
from tabwb.records.trials import Attempt, PlannedTrial, Trial
from tabwb.report.render.printing import print_view
from tabwb.report.render.robustness import robustness_view
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.robustness import Robustness, robustness
from tests.report.test_tables import printed, unwrapped

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


def source(*said: tuple[Rating, ...]) -> Source:
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
    return Source(
        BATTERY,
        trials,
        declarations={rater: Declaration(rater, ("anomia", "jargon")) for rater in raters},
    )


def by(rater: str, anomia: int, jargon: int) -> tuple[Rating, ...]:
    return valued(rater, "anomia", anomia), valued(rater, "jargon", jargon)


def compared(sources: Sequence[Source]) -> Robustness:
    return robustness([("", sources)])


P, Q, R = "tab-2026:p", "tab-2026:q", "tab-2026+prompt:p"


def test_two_judges_feature_by_feature() -> None:
    # anomia: 1-1, 1-0, 0-0, 0-0; jargon: never, by neither.
    found = compared(
        [
            source(
                by(P, 1, 0) + by(Q, 1, 0),
                by(P, 1, 0) + by(Q, 0, 0),
                by(P, 0, 0) + by(Q, 0, 0),
                by(P, 0, 0) + by(Q, 0, 0),
            )
        ]
    )
    (pair,) = found.pairs
    anomia, jargon = pair.features
    # po = 3/4; pe = 1/2 * 1/4 + 1/2 * 3/4 = 1/2.
    assert (anomia.samples, anomia.percent, anomia.kappa) == (4, 0.75, 0.5)
    # 2 * 1 / (2 * 1 + 1)
    assert anomia.positive == pytest.approx(2 / 3)
    assert (jargon.percent, jargon.kappa, jargon.ac1, jargon.positive) == (1.0, None, 1.0, None)
    # Fewer than ten responses in common are listed, not averaged, as in agreement.
    assert pair.kappa == pair.percent == pair.ac1 == (None, 0)
    more = [source(*[by(P, n < 4, 0) + by(Q, n < 2, 0) for n in range(10)])]
    (pair,) = compared(more).pairs
    # po = .8; pe = .4 * .2 + .6 * .8 = .56.
    assert pair.kappa[0] == pytest.approx((0.8 - 0.56) / 0.44) and pair.kappa[1] == 1
    assert pair.percent == (0.9, 2)
    assert pair.ac1[1] == 2


LONG = "openai:llama3.2:1b@base_url=http://localhost:11434/v1"


@pytest.mark.parametrize("width", [66, 80, 108])
def test_five_judges_with_long_specs_are_five_rows_that_can_be_read(width: int) -> None:
    prompts = ("tab-2026", "tab-2026+overall", "tab-2026+binary", "tab-2026+cot", "tab-2026+short")
    raters = [f"{prompt}:{LONG}" for prompt in prompts]
    found = compared(
        [source(*[tuple(one for rater in raters for one in by(rater, 1, n % 2)) for n in range(4)])]
    )
    lines = printed(robustness_view(found, {}), width).splitlines()
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


def test_a_judge_says_why_responses_have_no_burden_and_under_which_terms_it_judged() -> None:
    old = under("old", source(by(P, 1, 1), (*by(P, 1, 0)[:1], undefined(P, "jargon", "unparsed"))))
    new = under("new", source(by(P, 0, 0)))
    text = unwrapped(printed(robustness_view(compared([old, new]), {})))
    assert "1 without a burden (jargon undefined: unparsed)" in text
    first, second = (sha256(prompt.encode()).hexdigest()[:8] for prompt in ("old", "new"))
    assert first in text and second in text


def test_most_judges_decide_and_ties_leave_a_response_out() -> None:
    found = compared(
        [
            source(
                by(P, 1, 0) + by(Q, 1, 0) + by(R, 0, 0),
                by(P, 1, 1) + by(Q, 0, 1),
            )
        ]
    )
    consensus = found.groups[0].consensus
    assert consensus is not None
    assert (consensus.judges, consensus.n_responses, consensus.ties) == (3, 1, 1)
    assert consensus.burden.value == 1.0
    assert consensus.present == {"anomia": 1, "jargon": 0}
    # The second response has a tie on anomia and is left out of the burden: that is said, and
    # what it would be with the tie as present and as absent.
    assert consensus.n_tied == 1
    assert (consensus.ties_present.value, consensus.ties_absent.value) == (1.5, 1.0)
    anomia, jargon = consensus.by_feature
    assert (anomia.present, anomia.absent, anomia.ties) == (1, 0, 1)
    # Its verdict on jargon is not a tie and counts.
    assert (jargon.present, jargon.absent, jargon.ties) == (1, 1, 0)
    assert jargon.rate.value == 0.5
    text = unwrapped(printed(robustness_view(found, {}), width=200))
    assert "1 response with 1 tie left out: a biased part" in text
    assert "sensitivity: 1.50 with ties as present, 1.00 with ties as absent, N 2" in text


def test_a_verdict_that_is_missing_is_no_absence() -> None:
    gap = (valued(Q, "anomia", 1.0), undefined(Q, "jargon", "unparsed"))
    found = compared([source(by(P, 1, 0) + gap, by(P, 0, 0) + by(Q, 0, 0))])
    jargon = found.pairs[0].features[-1]
    assert jargon.samples == 1
    assert found.groups[0].consensus is not None and found.groups[0].consensus.n_responses == 1


def test_a_rule_repeats_verdicts_of_others_and_has_no_say() -> None:
    # The majority of three people of one mind is no vote beside theirs.
    people = by("R1", 1, 0) + by("R2", 0, 0) + by("R3", 1, 0)
    found = compared([source(people + by("majority", 1, 0) + by(P, 0, 0), by(P, 0, 0))])
    assert {judge.rater for _, _, judge in found.rows} == {"R1", "R2", "R3", "majority", P}
    assert len(found.pairs) == 6
    assert "majority" not in {name for pair in found.pairs for name in (pair.first, pair.second)}
    consensus = found.groups[0].consensus
    assert consensus is not None
    assert consensus.judges == 4
    assert (consensus.by_feature[0].present, consensus.by_feature[0].ties) == (0, 1)
    assert found.left_out == ()


def under(prompt: str, source: Source) -> Source:
    told = {rater: replace(each, prompt_text=prompt) for rater, each in source.declarations.items()}
    return replace(source, declarations=told)


def test_one_rater_under_two_prompts_is_two_judges() -> None:
    old = under("old", source(by(P, 1, 1) + by(Q, 1, 0)))
    new = under("new", source(by(P, 0, 0), by(P, 1, 0)))
    found = compared([old, new])
    first, second = (sha256(prompt.encode()).hexdigest()[:8] for prompt in ("old", "new"))
    terms = "2 features, connected text, prompt"
    assert found.groups[0].labels == (f"{P} ({terms} {first})", Q, f"{P} ({terms} {second})")
    assert [judge.burden.symptom_burden.value for judge in found.groups[0].judges] == [
        2.0,
        1.0,
        0.5,
    ]
    # Under the new prompt it saw none of what the others saw.
    (pair,) = found.pairs
    assert (pair.first, pair.second) == found.groups[0].labels[:2]
    assert [each.samples for each in pair.features] == [1, 1]
    assert [why for _, _, why in found.left_out] == ["no response in common"] * 2


def test_the_printed_report_keeps_every_judge_apart(capsys: pytest.CaptureFixture[str]) -> None:
    old = under("old", source(by("tab-2026:gemini:x", 1, 1) + by(Q, 1, 0)))
    new = under("new", source(by("tab-2026:gemini:x", 0, 0)))
    print_view(robustness_view(compared([old, new]), {}))
    shown = capsys.readouterr().out
    assert "gemini:x" in shown
    assert "2.00" in shown and "0.00" in shown
    assert shown.count("not compared:") == 2
    assert max(map(len, shown.splitlines())) <= 80


def test_one_judge_has_no_consensus() -> None:
    found = compared([source(by(P, 1, 0))])
    assert (found.pairs, found.groups[0].consensus) == ((), None)
    assert found.to_json()["consensus"] == []


def test_a_judge_whose_replies_cannot_be_read_is_given_as_the_reason_and_has_no_say() -> None:
    lost = tuple(Rating(R, name, None, RatingStatus.UNPARSED) for name in ("anomia", "jargon"))
    found = compared([source(by(P, 1, 0) + by(Q, 1, 1) + lost, by(P, 0, 0) + by(Q, 0, 0) + lost)])
    assert {why for *_, why in found.left_out} == {
        f"both were given 2 of the same responses, {R} gave no verdict (unparsed 2)"
    }
    assert len(found.left_out) == 2
    assert found.groups[0].consensus is not None
    assert found.groups[0].consensus.judges == 2
    assert compared([source(by(P, 1, 0) + lost)]).groups[0].consensus is None


def test_judges_of_different_scopes_say_so() -> None:
    # A burden over all answers stood beside one over connected text, and nothing told them apart.
    found = compared([source(by(P, 1, 1), by(P, 0, 0))])
    (judge,) = found.groups[0].judges
    other = replace(judge, rater="tab-2026:other:y", scope="all")
    both = replace(
        found,
        groups=(replace(found.groups[0], judges=(judge, other), labels=("one", "other")),),
    )
    text = unwrapped(printed(robustness_view(both, {})))
    assert "scope: connected text" in text and "scope: all" in text
    assert "scope:" not in unwrapped(printed(robustness_view(found, {})))


def test_unlike_groups_share_no_burden_and_no_consensus() -> None:
    first, other = source(by(P, 1, 1) + by(Q, 1, 0)), source(by(P, 0, 0) + by(Q, 0, 0))
    found = robustness([("model a", [first]), ("model b (sampled)", [other])])
    rows = [(group.name, label, judge.burden.symptom_burden.value) for group, label, judge
            in found.rows]  # fmt: skip
    assert rows == [
        ("model a", P, 2.0), ("model a", Q, 1.0),
        ("model b (sampled)", P, 0.0), ("model b (sampled)", Q, 0.0),
    ]  # fmt: skip
    assert [each.samples for each in found.pairs[0].features] == [2, 2], "over both"
    document = found.to_json()
    assert document["estimand"] == "prompts like these"
    assert [one["group"] for one in document["judges"]] == [name for name, *_ in rows]
    assert [one["group"] for one in document["consensus"]] == ["model a", "model b (sampled)"]
    text = unwrapped(printed(robustness_view(found, {})))
    assert "of model a" in text and "for prompts like these" in text
