"""Plans: order, replicates, shuffled and rotated options, all fixed by the seed."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tabwb.administer.session.plan import choices_never_vary, nothing_varies, plan_trials
from tabwb.battery.model import Battery, Item, SourcedText, Subtest
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding
from tabwb.records.states import Protocol, ResponseKind

WORDS = Subtest(
    id="words",
    title="Words",
    response=ResponseKind.CHOICE,
    instructions=SourcedText("Answer with one word.", "ours"),
    template="{instructions}\n{prompt} ({options})",
    items=(
        Item("p1", "Which one flies?", ("bird", "stone"), "bird", practice=True),
        Item("w1", "Which one barks?", ("dog", "tree", "cup"), "dog"),
        Item("w2", "Which one swims?", ("fish", "chair", "wall"), "fish"),
        Item("w3", "Which one {prompt} grows?", ("tree", "plate", "key"), "tree"),
    ),
)
SAYING = Subtest(
    id="saying",
    title="Saying",
    response=ResponseKind.VERBATIM,
    items=(
        Item("s1", "Say: house.", expected="house."),
        Item("s2", "Say: moon.", expected="moon."),
    ),
)
BATTERY = Battery("demo", "Demo", "1", "en", "MIT", (WORDS, SAYING))
GIVEN = Conditions("echo", "model")


def test_the_plan_is_the_battery_in_its_order_with_practice_first() -> None:
    plan = plan_trials(BATTERY, GIVEN)
    assert [trial.item for trial in plan] == ["p1", "w1", "w2", "w3", "s1", "s2"]
    assert [trial.number for trial in plan] == [1, 2, 3, 4, 5, 6]
    assert [trial.practice for trial in plan] == [True] + [False] * 5


def test_the_prompt_is_instructions_prompt_and_options() -> None:
    plan = plan_trials(BATTERY, GIVEN)
    assert plan[1].prompt == "Answer with one word.\nWhich one barks? (dog, tree, cup)"
    assert plan[4].prompt == "Say: house."


def test_braces_in_an_items_prompt_are_sent_as_they_stand() -> None:
    assert "Which one {prompt} grows? (" in plan_trials(BATTERY, GIVEN)[3].prompt


def test_practice_is_given_once_however_many_replicates() -> None:
    plan = plan_trials(BATTERY, replace(GIVEN, replicates=3))
    assert sum(trial.practice for trial in plan) == 1
    assert [trial.replicate for trial in plan if trial.item == "w1"] == [0, 1, 2]


def test_rotated_options_give_each_item_once_per_rotation() -> None:
    plan = plan_trials(BATTERY, replace(GIVEN, option_order="rotated"))
    assert [trial.options for trial in plan if trial.item == "w1"] == [
        ("dog", "tree", "cup"),
        ("tree", "cup", "dog"),
        ("cup", "dog", "tree"),
    ]
    assert sum(trial.item == "s1" for trial in plan) == 1


@given(seed=st.integers(), replicates=st.integers(1, 3))
def test_shuffling_keeps_items_in_their_subtest_and_options_complete(
    seed: int, replicates: int
) -> None:
    conditions = replace(
        GIVEN, seed=seed, replicates=replicates, item_order="shuffled", option_order="shuffled"
    )
    plan = plan_trials(BATTERY, conditions)
    assert plan == plan_trials(BATTERY, conditions)
    for replicate in range(replicates):
        given_now = [trial for trial in plan if trial.replicate == replicate and not trial.practice]
        assert [trial.subtest for trial in given_now] == ["words"] * 3 + ["saying"] * 2
        assert {trial.item for trial in given_now} == {"w1", "w2", "w3", "s1", "s2"}
    for trial in plan:
        if trial.subtest == "words":
            assert sorted(trial.options) == sorted(WORDS.item(trial.item).options)


def test_seeds_give_different_orders() -> None:
    orders = {
        tuple(
            trial.options
            for trial in plan_trials(BATTERY, replace(GIVEN, seed=seed, option_order="shuffled"))
        )
        for seed in range(20)
    }
    assert len(orders) > 10


def test_identical_replicates_are_noticed_before_they_are_run() -> None:
    thrice = replace(GIVEN, replicates=3)
    assert nothing_varies(BATTERY, thrice)
    assert not nothing_varies(BATTERY, GIVEN)
    assert not nothing_varies(BATTERY, replace(thrice, option_order="shuffled"))
    assert not nothing_varies(BATTERY, replace(thrice, decoding=Decoding(temperature=0.7)))
    assert not nothing_varies(BATTERY, replace(thrice, kind="speaker"))
    assert nothing_varies(BATTERY, replace(thrice, item_order="shuffled"))
    talking = replace(thrice, conversation=True)
    assert nothing_varies(BATTERY, talking)
    assert not nothing_varies(BATTERY, replace(talking, item_order="shuffled"))
    assert nothing_varies(BATTERY, replace(thrice, option_order="rotated"))


def test_options_that_are_weighed_vary_with_no_temperature() -> None:
    weighed = replace(
        GIVEN,
        replicates=3,
        decoding=Decoding(temperature=0.9),
        protocol=Protocol.LIKELIHOOD,
    )
    assert choices_never_vary(BATTERY, weighed, ("likelihood",))
    assert not choices_never_vary(BATTERY, weighed, ())
    for other in (
        replace(weighed, replicates=1),
        replace(weighed, decoding=Decoding()),
        replace(weighed, protocol=Protocol.GENERATE),
        replace(weighed, option_order="shuffled"),
        replace(weighed, conversation=True),
    ):
        assert not choices_never_vary(BATTERY, other, ("enforced", "likelihood"))
