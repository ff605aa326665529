"""Differences on the same items: families of tests, estimands, designs, what is not compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from scipy import stats

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.contrast import Difference, against, baseline_of, members_compared
from tabwb.analysis.draws import SHARED
from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.measures import ACCURACY, BURDEN, FEATURE_RATE
from tabwb.analysis.paired import LABELS, PAIRED_T, Contrast
from tabwb.analysis.statistics.results import Terms
from tabwb.battery.model import Battery, Feature, Item, Subtest
from tabwb.media.documents.contrasts import against_table, difference_json
from tabwb.plugin_api.extensions import Statistic
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.exchange import Decoding
from tabwb.records.ratings import Declaration, Rating, undefined, valued
from tabwb.records.states import AttemptState, ResponseKind, ResponseStatus, StopReason, TrialState
from tabwb.records.trials import Attempt, PlannedTrial, Trial
from tabwb.scoring.choice import POLICIES
from tabwb.scoring.permutation import (
    holm,
    label_permutation,
    label_permutation_of_rates,
    sign_flip_max_t,
)
from tests.analysis.given import BATTERY, DECLARED, administration, answered, data_of
from tests.analysis.given import SAMPLED as DRAWN

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
) -> AdministrationData:
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
    return data_of(given, trials, conditions)


def all_say(given: Battery, *responses: str) -> dict[str, list[str]]:
    return {item.id: list(responses) for sub in given.subtests for item in sub.items}


def compare(one: AdministrationData, other: AdministrationData) -> Difference:
    return members_compared([one], [other], ("A", "B"))


def of(
    found: Difference, measure: Statistic, *, subtest: str = "", policy: str = "", feature: str = ""
) -> Contrast:
    (each,) = (
        each
        for each in found.found.rows
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
        rate = of(found, FEATURE_RATE, feature=name)
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
        rate = of(found, FEATURE_RATE, feature=name)
        assert (rate.these.p, rate.these.adjusted) == (expected.p[at], expected.adjusted[at])
        assert rate.these.correction == "maxT"
        assert rate.like.correction == "Holm"
        assert rate.like.p is not None and rate.like.p >= 0.0625
    anomia = of(found, FEATURE_RATE, feature="anomia").these.adjusted
    assert anomia is not None and anomia < 0.01
    assert of(found, BURDEN).these.test == LABELS


def without_seeds(given: AdministrationData) -> AdministrationData:
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
        assert {each.measure for each in found.found.rows} == {ACCURACY, BURDEN, FEATURE_RATE}
        for each in found.found.rows:
            assert (each.these.interval.interval, each.these.interval.reason) == (None, SHARED)
            assert (each.these.p, each.these.adjusted) == (None, None)
            assert each.like.interval.interval is not None and each.like.p is not None
    seeded = compare(new, new)
    assert all(each.these.interval.interval is not None for each in seeded.found.rows)
    assert seeded.found.shared_streams == ((0, 40), (0, 40))


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
    assert of(compare(other, other), BURDEN).items_left_out == ()


@pytest.mark.parametrize(
    ("one", "other", "means", "items"),
    [
        ({f"w{at}": ["a"] for at in range(4)}, {f"w{at}": ["b"] for at in range(4)}, (1, 0, 1), 4),
        # Responses to an item are averaged first, and only shared items count.
        ({"w0": ["a", "b"], "w1": ["a"], "w2": ["a"]}, {"w0": ["b"], "w1": ["a"]},
         (0.75, 0.5, 0.25), 2),
        ({"w0": ["a"]}, {"w1": ["a"]}, (None, None, None), 0),
    ],
)  # fmt: skip
def test_means_are_over_shared_items_and_undefined_without_any(
    one: dict[str, list[str]], other: dict[str, list[str]], means: tuple[Any, ...], items: int
) -> None:
    given = battery(words=4, sentences=0)
    found = compare(source(given, one), source(given, other))
    row = of(found, ACCURACY, subtest="words", policy="exact")
    assert (row.first, row.second, row.difference, row.items) == (*means, items)
    if row.like.test != PAIRED_T:
        assert row.like.p == (2 / 16 if items else None)  # of all signs
    status = difference_json(found)["compared"][0]["status"]
    assert status == ("value" if items else "undefined")


def test_a_burden_of_two_items_has_the_p_of_its_interval() -> None:
    given = battery(texts=2)
    one, other = {"t0": ["anomia jargon"], "t1": ["anomia"]}, {"t0": ["anomia"], "t1": ["fine"]}
    burden = of(compare(source(given, one), source(given, other)), BURDEN)
    assert burden.terms == Terms(JUDGE, FEATURES, "connected-text", None)
    assert (burden.first, burden.second) == (1.5, 0.5)
    # Sign flips say 2/4. By hand, of the interval: t = 1 / sqrt((1.5 + .25) / 2 + (.5 + .25) / 2).
    assert burden.like.p == pytest.approx(2 * stats.t.sf(1 / 1.25**0.5, 1), rel=0.1)


def judged(said: dict[str, list[str]], prompt: str) -> AdministrationData:
    told = Declaration(JUDGE, FEATURES, prompt_text=prompt)
    return replace(source(battery(texts=2), said), declarations={JUDGE: told})


def test_only_burdens_under_the_same_terms_are_compared() -> None:
    old, new = judged({"t0": ["anomia jargon"]}, "old"), judged({"t0": ["anomia"]}, "new")
    found = compare(old, new).found
    assert found.rows == ()
    hashes = [sha256(prompt.encode()).hexdigest()[:8] for prompt in ("old", "new")]
    terms = [f"3 features, connected text, prompt {each}" for each in hashes]
    assert found.left_out == ((JUDGE, f"judged under other terms: {terms[0]} / {terms[1]}"),)
    several = members_compared([old, new], [judged({"t0": ["fine"]}, "new")], ("A", "B"))
    # Not 1.5: the response judged under the old prompt is none of this burden's.
    assert of(several, BURDEN).difference == 1.0
    alone = compare(source(battery(texts=2), {"t0": ["x"]}), source(battery(), {"w0": ["a"]}))
    assert alone.found.left_out == ((JUDGE, "judged only one side"),)


def test_different_batteries_are_refused() -> None:
    given = battery()
    other = replace(given, version="2", content_hash="two")
    with pytest.raises(UsageError, match="b 1 and b 2"):
        compare(source(given, {"w0": ["a"]}), source(other, {"w0": ["a"]}))


KEYS = {
    "wc1": "lion", "wc3": "boot", "wc4": "knife", "sc1": "Yes", "sc2": "No", "sc4": "Yes",
    "r1": "house.", "r4": "The sun rises in the East.",
}  # fmt: skip
ALL, NONE = [1] * 8, [0] * 8


def model(
    number: int, right: Sequence[int], present: Sequence[str] = (), **changed: Any
) -> AdministrationData:
    """A model: whether each of the eight scored items is right, and features of its texts."""
    trials = [
        answered(item, key if ok else f"pear {number}", number=at)
        for at, ((item, key), ok) in enumerate(zip(KEYS.items(), right, strict=True), start=1)
    ]
    for at, text in enumerate(("ct1", "ct2"), start=9):
        trials.append(answered(text, f"We went there {at} times.", number=at, features=present))
    conditions = replace(DRAWN, examinee=f"local:m{number}", **changed)
    return AdministrationData(
        administration(number, conditions), BATTERY, tuple(trials), declarations=DECLARED
    )


GIVEN = [model(1, ALL), model(2, NONE, ["retracing"]), model(3, [1, 1, 1, 1, 0, 0, 1, 1])]


def groups(*given: AdministrationData) -> tuple[Grouped, ...]:
    return summarised(grouped(given or GIVEN, "model"))


def test_pooled_accuracies_are_corrected_by_max_t_over_groups() -> None:
    baseline, _, found = against(groups(), "local:m1")
    assert (baseline.label, [one.first for one in found]) == ("m1", ["m2", "m3"])
    pooled = [row for one in found for row in one.rows if not (row.subtest or row.terms)]
    assert [row.difference for row in pooled] == [-1.0, -0.25]
    assert [row.like.p for row in pooled] == [2**-7, 0.5]
    tested = sign_flip_max_t([[-1.0] * 8, [0, 0, 0, 0, -1.0, -1.0, 0, 0]])
    assert tested is not None and tuple(row.like.adjusted for row in pooled) == tested.p
    assert {row.like.correction for row in pooled} == {"maxT"}
    assert {row.smallest_p for row in pooled} == {2**-7}


def test_subtests_are_one_family_over_groups_and_subtests() -> None:
    table = against_table(groups(), "local:m1")
    alone = [row for row in table.to_dicts() if row["part"]]
    parts = ["words", "words", "sentences", "sentences", "repetition", "repetition"]
    assert [row["part"] for row in alone] == parts
    assert [row["p_adjusted"] for row in alone] == list(holm([row["p"] for row in alone]))
    assert {row["correction"] for row in alone} == {"Holm over groups and subtests"}


def test_burdens_of_groups_are_compared_if_judged_alike() -> None:
    burdens = against_table(groups(), "local:m1").where(measure="burden").to_dicts()
    assert [row["difference"] for row in burdens] == [1.0, 0.0]
    assert {row["correction"] for row in burdens} == {"Holm over groups"}
    unjudged = replace(model(4, ALL), declarations={}, trials=model(4, ALL).trials[:8])
    _, _, (found,) = against(groups(GIVEN[0], unjudged), "local:m1")
    assert found.left_out == (("rules-2", "judged only one side"),)
    shuffled = model(5, ALL, option_order="shuffled")
    _, _, (found,) = against(groups(GIVEN[0], shuffled), "local:m1")
    assert [name for name, *_ in found.unlike] == ["options"]


def test_a_baseline_is_one_group() -> None:
    assert baseline_of(groups(), "m3").label == "m3"
    assert baseline_of(groups(), "local:m2").label == "m2"
    with pytest.raises(UsageError, match="several groups are named 'local'"):
        baseline_of(groups(), "local")
    with pytest.raises(UsageError, match="no group is named 'gemma'"):
        against(groups(), "gemma")
    with pytest.raises(UsageError, match="no other group of this battery"):
        against(groups(GIVEN[0]), "local:m1")
    # What one key calls a group comes before a part of a name.
    both = summarised(grouped([model(12, ALL), model(1, ALL)], "model,temperature"))
    assert baseline_of(both, "m1") is both[1]
