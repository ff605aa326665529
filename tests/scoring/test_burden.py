"""Burdens of responses, and answers that are repeated."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.scoring.burden import (
    NO_FEATURES,
    ComparedAnswer,
    repeated_answers,
)
from tabwb.scoring.intervals import burden_interval, rate_interval
from tests.scoring.rated_responses import RatedResponse, symptom_burden

FEATURES = ("retracing", "jargon", "false-starts")
CATEGORIES = {
    "disfluency": ("retracing", "false-starts", "conduite-d-approche"),
    "coherence": ("jargon", "off-topic"),
    "overall": ("overall-communication-impairment",),
}


def response(item: str, *present: str, text: str = "We went there.") -> RatedResponse:
    return RatedResponse(("model", item), text, len(text.split()), frozenset(present))


def silence(item: str) -> RatedResponse:
    return RatedResponse(("model", item), "", 0, None, "no-response")


def test_a_category_has_a_count_and_a_rate_over_the_features_of_the_set() -> None:
    burden = symptom_burden(
        [response("a", "retracing", "false-starts"), response("b")], FEATURES, CATEGORIES
    )
    disfluency = burden.categories["disfluency"]
    assert (disfluency.count.value, disfluency.rate.value, disfluency.of) == (1.0, 0.5, 2)
    overall = burden.categories["overall"]
    assert (overall.count.value, overall.of) == (None, 0)


RESPONSES = st.lists(
    st.builds(
        lambda item, present: response(item, *present),
        st.sampled_from("abcde"),
        st.sets(st.sampled_from(FEATURES)),
    ),
    min_size=1,
    max_size=20,
)


@given(RESPONSES)
def test_the_counts_of_dividing_categories_add_up_to_the_burden(
    responses: list[RatedResponse],
) -> None:
    burden = symptom_burden(responses, FEATURES, CATEGORIES)
    counts = [category.count.value or 0.0 for category in burden.categories.values()]
    assert sum(counts) == pytest.approx(burden.symptom_burden.value)
    for category in burden.categories.values():
        if category.count.value is not None and category.rate.value is not None:
            assert category.rate.value <= category.count.value <= category.of


def test_a_burden_without_an_interval_needs_no_numpy() -> None:
    code = (
        "import sys; from tests.scoring.rated_responses import RatedResponse, symptom_burden; "
        "symptom_burden([RatedResponse('a', 'x', 1, frozenset())], ['jargon']); "
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_category_has_the_intervals_of_a_burden_and_of_a_rate() -> None:
    profiles = [{"retracing"}, {"retracing", "jargon"}, set(), {"anomia"}]
    responses = [
        RatedResponse(("a", str(at % 2)), str(at), 9, frozenset(one))
        for at, one in enumerate(profiles)
    ]
    categories = {"fluency": ("retracing", "jargon"), "none": ("other",)}
    found = symptom_burden(responses, ["retracing", "jargon", "anomia"], categories, interval=True)
    count, rate = (found.category_intervals("fluency", rate=of)[0] for of in (False, True))
    # Item 0 has 1 and 0 of the two, item 1 has 2 and 0.
    assert count == burden_interval([[1.0, 0.0], [2.0, 0.0]], 2)
    assert rate == rate_interval([1, 1], [2, 2])
    assert found.category_intervals("none", rate=True) == ()


def test_the_burden_is_the_mean_number_of_features_present() -> None:
    """An empty response has no burden, and is no healthy one."""
    given_ = [response("a", "retracing", "jargon"), response("b"), response("c", "jargon")]
    burden = symptom_burden([*given_, silence("d"), silence("e")], FEATURES)
    assert burden.symptom_burden.value == 1.0
    assert burden.features == FEATURES
    assert burden.present == {"retracing": 1, "jargon": 2, "false-starts": 0}
    assert burden.rate("jargon").value == 2 / 3
    assert (burden.n_responses, burden.n_burden, burden.n_distinct) == (5, 3, 2)
    assert burden.no_burden == {"no-response": 2}
    assert burden.words_mean.value == 9 / 5


def test_where_nothing_has_a_burden_it_is_undefined() -> None:
    burden = symptom_burden([silence("a")], FEATURES, CATEGORIES, interval=True)
    assert burden.symptom_burden.value is None
    assert (burden.interval, burden.interval_reason) == (None, "no item has a value")
    assert burden.categories["coherence"].count.value is None
    assert burden.rate("jargon").value is None
    burden = symptom_burden([response("a"), response("b")], (), interval=True)
    assert (burden.symptom_burden.reason, burden.interval) == (NO_FEATURES, None)


@pytest.mark.parametrize(
    ("texts", "repeated"),
    [
        (("I like the sea.", "I like the sea.", "I like the sea.", "We had a dog."), {0, 1, 2}),
        # Case, punctuation and white space make no other text.
        (("I like the sea.", " i like  the sea", "“I like the sea!”"), {0, 1, 2}),
        (("I like the sea.", "I like the sea.", "No."), set()),
        # Replicates are of one prompt; those of a repeated answer are repeated too.
        (("I like the sea.", "No.", "Yes.") * 3, set()),
        (("I like the sea.",) * 6, set(range(6))),
        (("", " ", "..."), set()),
    ],
)
def test_one_text_for_three_prompts_is_a_repeated_answer(
    texts: tuple[str, ...], repeated: set[int]
) -> None:
    answers = [ComparedAnswer(at, f"prompt {at % 3}", text) for at, text in enumerate(texts)]
    assert repeated_answers(answers) == repeated
