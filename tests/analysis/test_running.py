"""The scores of a running session are those of the whole summary, whatever has been answered."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tabwb.analysis.running import RunningSummary
from tabwb.analysis.statistics.summary import pool
from tabwb.records.states import TrialState
from tabwb.records.trials import Trial
from tests.analysis.given import BATTERY, CONDITIONS, DECLARED, SAMPLED, answered, data_of, trials

TEXTS = ("lion", "The lion.", "Yes", "No", "", "We went home.", "house.", "I was happy.")
ITEMS = ("ct1", "ct2", "try", "wc1", "wc3", "sc1", "sc2", "r1", "r4")
ANSWERS = st.lists(
    st.tuples(
        st.integers(0, 11),
        st.sampled_from(TEXTS),
        st.sampled_from([(), ("anomia",), ("jargon", "anomia"), None]),
    ),
    max_size=12,
)


@given(items=st.lists(st.sampled_from(ITEMS), min_size=12, max_size=12), answers=ANSWERS,
       sampled=st.booleans())  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_running_scores_are_those_of_the_summary(
    items: list[str], answers: list[tuple[int, str, tuple[str, ...] | None]], sampled: bool
) -> None:
    conditions = SAMPLED if sampled else CONDITIONS
    running = RunningSummary()
    given = [answered(item, "", number=at) for at, item in enumerate(items, start=1)]
    plan = [Trial(trial.plan, TrialState.PLANNED) for trial in given]
    # In any order, and some again: with another text or ratings, or taken back.
    for place, text, features in answers:
        judged = features if items[place].startswith("ct") else None
        made = answered(items[place], text, number=place + 1, features=judged)
        plan[place] = replace(made, state=TrialState.SKIPPED) if text == "No" else made
        source = data_of(BATTERY, tuple(plan), conditions, DECLARED)
        found, whole = running.of(source), pool([source])
        for part, same in zip(found.parts, whole.parts, strict=True):
            assert (part.right.n, part.right.total) == (same.right.n, same.right.total)
            for name in ("planned", "answered"):
                assert part.number(name) == same.number(name)
        assert found.judges == whole.judges


def test_burdens_are_computed_again_only_when_a_judged_response_is_new() -> None:
    running = RunningSummary()
    text = answered("ct1", "We went.", number=1, features=["anomia"])
    choice = answered("wc1", "lion", number=2)
    before = running.of(data_of(BATTERY, (text,), CONDITIONS, DECLARED))
    after = running.of(data_of(BATTERY, (text, choice), CONDITIONS, DECLARED))
    assert after.judges is before.judges
    more = answered("ct2", "I sold bread.", number=3, features=[])
    grown = running.of(data_of(BATTERY, (text, choice, more), CONDITIONS, DECLARED))
    assert grown.judges[0].burden.n_burden == 2


def test_the_unusable_responses_of_a_running_session_are_known() -> None:
    running = RunningSummary()
    same = {"ct1": "I was happy.", "ct2": "I was happy."}
    running.of(data_of(BATTERY, trials(same), CONDITIONS, DECLARED))
    assert running.unusable == frozenset()
    # The third prompt with the same answer makes all three repeated answers.
    answers = trials(same | {"r1": "I was happy.", "wc1": "lion"})
    running.of(data_of(BATTERY, answers, CONDITIONS, DECLARED))
    numbers = {trial.plan.item: trial.plan.number for trial in answers}
    assert running.unusable == {numbers["ct1"], numbers["ct2"], numbers["r1"]}
