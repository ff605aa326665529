"""Live scores are those of the whole summary, whatever has been answered so far."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tabwb.records.trials import Trial
from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.live.summary import LiveSummary
from tabwb.report.summaries.summary import pool
from tests.report.given import BATTERY, CONDITIONS, DECLARED, SAMPLED, answered, trials

TEXTS = ("lion", "The lion.", "Yes", "No", "", "We went home.", "house.", "I was happy.")
ITEMS = ("ct1", "ct2", "try", "wc1", "wc3", "sc1", "sc2", "r1", "r4")
ANSWERS = st.lists(
    st.tuples(
        st.sampled_from(ITEMS),
        st.sampled_from(TEXTS),
        st.integers(0, 1),
        st.sampled_from([(), ("anomia",), ("jargon", "anomia")]),
    ),
    max_size=12,
)


@given(answers=ANSWERS, sampled=st.booleans())
@settings(max_examples=60, deadline=None)
def test_live_scores_are_those_of_the_summary(
    answers: list[tuple[str, str, int, tuple[str, ...]]], sampled: bool
) -> None:
    conditions = SAMPLED if sampled else CONDITIONS
    live = LiveSummary()
    trials: list[Trial] = []
    for number, (item, text, replicate, features) in enumerate(answers, start=1):
        judged = features if item.startswith("ct") else None
        trials.append(answered(item, text, number=number, replicate=replicate, features=judged))
        subtests, judges = live.of(Source(BATTERY, trials, conditions, DECLARED))
        summary = pool([Source(BATTERY, trials, conditions, DECLARED)])
        assert subtests == tuple(subtest.counts for subtest in summary.subtests)
        assert judges == summary.judges


def test_burdens_are_computed_again_only_when_a_judged_response_is_new() -> None:
    live = LiveSummary()
    text = answered("ct1", "We went.", number=1, features=["anomia"])
    choice = answered("wc1", "lion", number=2)
    _, before = live.of(Source(BATTERY, (text,), CONDITIONS, DECLARED))
    _, after = live.of(Source(BATTERY, (text, choice), CONDITIONS, DECLARED))
    assert after is before
    more = answered("ct2", "I sold bread.", number=3, features=[])
    _, grown = live.of(Source(BATTERY, (text, choice, more), CONDITIONS, DECLARED))
    assert grown[0].burden.n_burden == 2


def test_the_unusable_responses_of_a_running_session_are_known() -> None:
    live = LiveSummary()
    same = {"ct1": "I was happy.", "ct2": "I was happy."}
    live.of(Source(BATTERY, trials(same), CONDITIONS, DECLARED))
    assert live.unusable == frozenset()
    # The third prompt with the same answer makes all three repeated answers.
    answers = trials(same | {"r1": "I was happy.", "wc1": "lion"})
    live.of(Source(BATTERY, answers, CONDITIONS, DECLARED))
    numbers = {trial.plan.item: trial.plan.number for trial in answers}
    assert live.unusable == {numbers["ct1"], numbers["ct2"], numbers["r1"]}
