"""Every policy and each feature of two sides: families of tests, estimands, what can be shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tabwb.battery.model import Battery, Feature, Item, Subtest
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding
from tabwb.records.ratings import Declaration, Rating, undefined, valued
from tabwb.records.states import AttemptState, ResponseKind, ResponseStatus, StopReason, TrialState
from tabwb.records.trials import Attempt, PlannedTrial, Trial
from tabwb.report.render.difference import ALL_SCORED, lines, notes
from tabwb.report.summaries.compared import ACCURACY, BURDEN, LABELS, RATE, Compared
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.difference import Difference, difference
from tabwb.report.summaries.draws import SHARED
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.detectable import Design, detectable_burden
from tabwb.scoring.estimate import DETERMINISTIC, ONE_RESPONSE, Estimand
from tabwb.scoring.permutation import label_permutation, label_permutation_of_rates, sign_flip_max_t

FEATURES = ("anomia", "jargon", "retracing")
JUDGE = "a-judge"
SAMPLED = Conditions("m", "model", decoding=Decoding(temperature=1.0))
GREEDY = Conditions("m", "model")


def battery(texts: int = 0, words: int = 5, sentences: int = 5) -> Battery:
    def items(letter: str, n: int) -> tuple[Item, ...]:
        return tuple(Item(f"{letter}{at}", f"{letter} {at}?") for at in range(n))

    return Battery(
        id="b",
        title="B",
        version="1",
        language="en",
        license="MIT",
        subtests=(
            Subtest("words", "Words", ResponseKind.CHOICE, items("w", words), scorers=("choice",)),
            Subtest(
                "sentences",
                "Sentences",
                ResponseKind.CHOICE,
                items("s", sentences),
                scorers=("choice",),
            ),
            Subtest("text", "Text", ResponseKind.CONNECTED_TEXT, items("t", texts)),
        ),
        features=tuple(Feature(name, name, name.title(), name) for name in FEATURES),
        content_hash="one",
    )


def ratings(item: str, response: str) -> tuple[Rating, ...]:
    if item.startswith("t"):
        return tuple(valued(JUDGE, name, name in response) for name in FEATURES)
    # "a" is right under every policy, "A" under all but exact.
    return tuple(
        valued("choice", policy, response == "a" or (response == "A" and policy != "exact"))
        for policy in POLICIES
    )


def source(
    given: Battery, said: dict[str, list[str]], conditions: Conditions | None = SAMPLED
) -> Source:
    trials: list[Trial] = []
    for subtest in given.subtests:
        for item in subtest.items:
            for replicate, response in enumerate(said.get(item.id, ())):
                # No text is given twice: repeated answers are unusable.
                text = f"{response} of {item.id}, {replicate}" if item.id[0] == "t" else response
                attempt = Attempt(
                    1,
                    text,
                    AttemptState.OK,
                    ResponseStatus.OK,
                    StopReason.END,
                    0.1,
                    metadata={"seed": str(len(trials))},
                )
                plan = PlannedTrial(
                    len(trials) + 1, subtest.id, item.id, replicate, item.options, item.prompt
                )
                made = Trial(plan, TrialState.ANSWERED, (attempt,), ratings(item.id, response))
                trials.append(made)
    return Source(given, trials, conditions)


def all_say(given: Battery, *responses: str) -> dict[str, list[str]]:
    return {item.id: list(responses) for sub in given.subtests for item in sub.items}


def compare(one: Source, other: Source) -> Difference:
    return difference([one], [other], ("A", "B"))


def of(
    found: Difference, measure: str, *, subtest: str = "", policy: str = "", feature: str = ""
) -> Compared:
    (each,) = (
        each
        for each in found.compared
        if (each.measure, each.subtest, each.policy, each.feature)
        == (measure, subtest, policy, feature)
    )
    return each


def test_ten_items_pooled_show_what_five_never_can() -> None:
    given = battery()
    found = compare(source(given, all_say(given, "a")), source(given, all_say(given, "b")))
    pooled = of(found, ACCURACY, policy="exact")
    assert (pooled.items, pooled.like.p, pooled.smallest_p) == (10, 2**-9, 2**-9)
    words = of(found, ACCURACY, subtest="words", policy="exact")
    assert (words.items, words.like.p, words.smallest_p) == (5, 0.0625, 0.0625)
    # Holm over two subtests: 2 x 0.0625, then the larger of 0.0625 and the former.
    assert (words.like.adjusted, words.like.correction) == (0.125, "Holm")
    assert pooled.like.adjusted is None


def test_every_policy_is_tested() -> None:
    given = battery()
    found = compare(source(given, all_say(given, "A")), source(given, all_say(given, "b")))
    assert of(found, ACCURACY, policy="exact").difference == 0.0
    for policy in ("normalised", "extracted"):
        assert of(found, ACCURACY, policy=policy).difference == 1.0
        assert of(found, ACCURACY, subtest="words", policy=policy).like.p == 0.0625


def test_intervals_name_their_estimand_and_have_a_width() -> None:
    given = battery()
    one, other = source(given, all_say(given, "a", "a")), source(given, all_say(given, "b", "b"))
    words = of(compare(one, other), ACCURACY, subtest="words", policy="exact")
    for tested, estimand in zip((words.like, words.these), Estimand, strict=True):
        assert tested.interval.estimand is estimand
        assert tested.interval.interval is not None
        assert tested.interval.interval.low < tested.interval.interval.high == 1.0


def test_accuracies_on_these_prompts_are_tested_by_labels() -> None:
    given = battery()
    found = compare(source(given, all_say(given, *"aaab")), source(given, all_say(given, *"abbb")))
    words = of(found, ACCURACY, subtest="words", policy="exact").these
    expected = label_permutation_of_rates([(3, 4)] * 5, [(1, 4)] * 5)
    assert expected is not None and words.p == expected
    assert (words.adjusted, words.correction) == (min(1, 2 * expected), "Holm")
    pooled = of(found, ACCURACY, policy="exact").these
    assert pooled.p == label_permutation_of_rates([(3, 4)] * 10, [(1, 4)] * 10)
    assert pooled.adjusted is None


def test_greedy_answers_are_deterministic_for_these_prompts() -> None:
    given = battery()
    greedy = source(given, all_say(given, "a"), GREEDY)
    drawn = source(given, all_say(given, "b"))
    both = of(compare(greedy, greedy), ACCURACY, policy="exact")
    assert both.these.interval.reason == DETERMINISTIC
    assert both.like.interval.interval is not None
    assert of(compare(greedy, drawn), ACCURACY, policy="exact").these.interval.reason == (
        ONE_RESPONSE
    )


def test_one_drawn_subtest_makes_the_pooled_accuracy_drawn() -> None:
    given = battery(words=1, sentences=1)
    mixed = source(given, all_say(given, "a", "b"))
    noted = [
        replace(
            trial,
            attempts=(replace(trial.attempts[0], metadata={"sampled": "no"}),),
        )
        if trial.plan.subtest == "words"
        else trial
        for trial in mixed.trials
    ]
    half = replace(mixed, trials=noted)
    found = compare(half, half)
    assert of(found, ACCURACY, subtest="words", policy="exact").these.interval.deterministic
    assert not of(found, ACCURACY, policy="exact").these.interval.deterministic


ONE = {
    f"t{at}": ["anomia", "anomia jargon", "anomia" if at % 2 else "fine", "anomia"]
    for at in range(9)
}
OTHER = {f"t{at}": ["fine", "jargon", "fine", "retracing"] for at in range(9)}


def profile(response: str) -> list[float]:
    return [float(name in response) for name in FEATURES]


def test_features_of_nine_items_are_corrected_by_max_t_over_items() -> None:
    given = battery(texts=9)
    found = compare(source(given, ONE), source(given, OTHER))
    differences = [
        [
            sum(profile(text)[at] for text in ONE[item]) / 4
            - sum(profile(text)[at] for text in OTHER[item]) / 4
            for item in ONE
        ]
        for at in range(3)
    ]
    expected = sign_flip_max_t(differences)
    assert expected is not None
    for at, name in enumerate(FEATURES):
        rate = of(found, RATE, feature=name)
        assert rate.like.p is not None
        # No less than the p by itself, which is no less than that of the interval.
        adjusted = max(expected.p[at], rate.like.p)
        assert (rate.like.adjusted, rate.like.correction) == (adjusted, "maxT")
        assert rate.these.adjusted is None
        assert rate.difference == pytest.approx(sum(differences[at]) / 9)
    assert expected.p[FEATURES.index("anomia")] == 2**-8


def test_features_of_five_items_are_tested_on_these_prompts() -> None:
    given = battery(texts=5)
    found = compare(source(given, ONE), source(given, OTHER))
    sides = [
        [[profile(text) for text in said[f"t{at}"]] for at in range(5)] for said in (ONE, OTHER)
    ]
    expected = label_permutation(sides[0], sides[1])
    assert expected is not None
    for at, name in enumerate(FEATURES):
        rate = of(found, RATE, feature=name)
        assert (rate.these.p, rate.these.adjusted) == (expected.p[at], expected.adjusted[at])
        assert rate.these.correction == "maxT"
        assert rate.like.correction == "Holm"
        assert rate.like.p is not None and rate.like.p >= 0.0625
    anomia = of(found, RATE, feature="anomia").these.adjusted
    assert anomia is not None and anomia < 0.01
    assert of(found, BURDEN).these.test == LABELS


def test_usable_responses_stand_before_every_burden() -> None:
    given = battery(texts=5)
    # "fine" to every prompt is a repeated answer; the others are different texts.
    same = source(given, ONE)
    trials = [
        replace(
            trial, attempts=(replace(trial.attempts[0], response="It was a fine day, I think."),)
        )
        if trial.plan.replicate < 3
        else trial
        for trial in same.trials
    ]
    found = compare(replace(same, trials=trials), source(given, OTHER))
    burden = of(found, BURDEN)
    assert [(one.usable, one.n) for one in burden.usable] == [(5, 20), (20, 20)]
    made = list(lines(found, given))
    at = next(n for n, line in enumerate(made) if line.name.startswith("symptom burden"))
    assert made[at - 1].name == (
        "a-judge: A usable 5 of 20: 15 repeated (few usable); B usable 20 of 20"
    )


def test_single_answers_have_no_test_of_these_prompts() -> None:
    given = battery(texts=5)
    one = source(given, {item: said[:1] for item, said in ONE.items()})
    other = source(given, {item: said[:1] for item, said in OTHER.items()})
    rate = of(compare(one, other), RATE, feature="anomia")
    assert (rate.these.p, rate.these.adjusted) == (None, None)


def test_the_smallest_difference_comes_from_the_shared_design() -> None:
    given = battery(texts=9)
    burden = of(compare(source(given, ONE), source(given, OTHER)), BURDEN)
    assert burden.sides.first is not None
    expected = detectable_burden(Design(9, 4), len(FEATURES), burden=burden.sides.first)
    assert burden.showable == expected
    few = of(compare(source(battery(texts=5), ONE), source(battery(texts=5), OTHER)), BURDEN)
    assert few.showable.reason == "sign flips over 5 items never reach .05"


def test_the_document_has_both_estimands_and_the_correction() -> None:
    given = battery()
    found = compare(source(given, all_say(given, "a")), source(given, all_say(given, "b")))
    document = found.to_json()["compared"]
    assert isinstance(document, list)
    words = next(one for one in document if one["subtest"] == "words")
    like, these = words["estimates"]
    assert (like["estimand"], like["p_adjusted"], like["correction"]) == (
        "prompts like these", 0.125, "Holm",
    )  # fmt: skip
    assert (these["interval"], these["interval_reason"]) == (None, ONE_RESPONSE)
    assert words["smallest_p"] == 0.0625


def test_policies_that_say_the_same_share_their_lines() -> None:
    given = battery()
    alike = compare(source(given, all_say(given, "a")), source(given, all_say(given, "b")))
    names = [line.name for line in lines(alike, given) if line.leads]
    assert names[0] == f"{ALL_SCORED}, share right (exact, normalised, extracted)"
    unlike = compare(source(given, all_say(given, "A")), source(given, all_say(given, "b")))
    names = [line.name for line in lines(unlike, given) if line.leads]
    assert names[:2] == [
        f"{ALL_SCORED}, share right (exact)",
        f"{ALL_SCORED}, share right (normalised, extracted)",
    ]


def test_each_line_of_figures_names_its_estimand() -> None:
    given = battery(texts=5)
    made = [line.name for line in lines(compare(source(given, ONE), source(given, OTHER)), given)]
    usable, *measures = made
    assert usable == "a-judge: A usable 20 of 20; B usable 20 of 20"
    assert measures[1::3] == ["  prompts like these"] * (len(measures) // 3)
    assert measures[2::3] == ["  these prompts"] * (len(measures) // 3)


def test_features_absent_on_both_sides_are_counted_and_not_shown() -> None:
    given = battery(texts=5)
    healthy = source(given, {f"t{at}": ["fine", "anomia"] for at in range(5)})
    found = compare(healthy, healthy)
    shown = [line.name for line in lines(found, given) if line.leads]
    assert shown == [
        "a-judge: A usable 10 of 10; B usable 10 of 10",
        "symptom burden, a-judge, 3 features, connected text",
        "Anomia, share of responses, a-judge",
    ]
    assert "a-judge: 2 features are absent on both sides and not shown" in list(notes(found))


def test_the_notes_say_what_the_items_can_show() -> None:
    given = battery()
    said = list(
        notes(compare(source(given, all_say(given, "a")), source(given, all_say(given, "b"))))
    )
    assert (
        "smallest p that the items can give, prompts like these: "
        "5 items 0.0625 (never below .05); 10 items 0.00195"
    ) in said
    assert any(one.startswith("smallest difference from A's mean") for one in said)


def without_seeds(given: Source) -> Source:
    """The same as an earlier version stored it: all items of a replicate share one stream."""
    trials = tuple(
        replace(trial, attempts=tuple(replace(one, metadata={}) for one in trial.attempts))
        for trial in given.trials
    )
    return replace(given, trials=trials)


def test_shared_random_streams_say_nothing_for_these_prompts() -> None:
    given = battery(texts=5)
    said = {f"t{at}": ["anomia", "nothing"] for at in range(5)}
    old = without_seeds(source(given, all_say(given, *"aab") | said))
    new = source(given, all_say(given, *"abb") | said)
    for one, other in ((old, new), (new, old), (old, old)):
        found = compare(one, other)
        assert {each.measure for each in found.compared} == {ACCURACY, BURDEN, RATE}
        for each in found.compared:
            assert (each.these.interval.interval, each.these.interval.reason) == (None, SHARED)
            assert (each.these.p, each.these.adjusted) == (None, None)
            assert each.like.interval.interval is not None and each.like.p is not None
    seeded = compare(new, new)
    assert all(each.these.interval.interval is not None for each in seeded.compared)
    assert seeded.shared_streams == ((0, 40), (0, 40))


def test_a_comparison_names_the_side_that_shares_random_streams() -> None:
    given = battery()
    old = without_seeds(source(given, all_say(given, "a", "b")))
    found = compare(source(given, all_say(given, "a", "b")), old)
    assert found.shared_streams == ((0, 20), (20, 20))
    assert found.to_json()["shared_streams"] == {"first": 0, "second": 20}
    said = [note for note in notes(found) if "earlier version" in note]
    assert len(said) == 1 and said[0].startswith("B: 20 of 20 responses were sampled by an earlier")


def test_items_without_a_burden_are_named() -> None:
    # One item of five was left out of the burden and nothing said which.
    given = battery(texts=5)
    said = {f"t{at}": ["anomia"] for at in range(5)}
    one, other = (
        source(given, all_say(given, "a") | said),
        source(given, all_say(given, "a") | said),
    )
    trials = list(one.trials)
    at = next(n for n, trial in enumerate(trials) if trial.plan.item == "t4")
    lacking = (*trials[at].ratings[:2], undefined(JUDGE, FEATURES[2], "not told"))
    trials[at] = replace(trials[at], ratings=lacking)
    declared = {JUDGE: Declaration(JUDGE, FEATURES)}
    other = replace(other, declarations=declared)
    found = compare(replace(one, trials=trials, declarations=declared), other)
    burden = of(found, BURDEN)
    assert (burden.items, burden.items_left_out) == (4, ("t4",))
    assert "a-judge: not compared, no burden on one side or both: t4" in list(notes(found))
    assert of(compare(other, other), BURDEN).items_left_out == ()
