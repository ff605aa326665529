"""What raters differ on, and how it is settled: with a trail, blind to where a sample came from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tabwb.administer.rating.adjudication import Adjudicator, consensus, difference, value_by
from tabwb.administer.rating.session import CONFIRM_S, Draft, RaterSession
from tabwb.battery.forms import Form, Question, flag_of, form_from_canonical
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import StoreError, TabwbError
from tabwb.records.rating_sets import (
    CANNOT_TELL,
    Adjudication,
    Answer,
    Assignment,
    Sample,
    SampleRating,
)
from tabwb.records.ratings import Open, Rule
from tabwb.records.speakers import Consent
from tabwb.records.trials import AttemptEntry
from tabwb.store.store import Store
from tests.administer.rating.adjudication_parts import FORM, JUDGE, disputed_set
from tests.store.parts import FORM as STORED_FORM
from tests.store.parts import attempt, begin, rated_set, set_plan


@pytest.fixture
def adjudicator(store: Store, plugins: Plugins) -> Adjudicator:
    disputed_set(store)
    return Adjudicator(store, plugins, "pilot", "A1")


def test_where_people_differ_most_comes_first_then_where_judges_do(
    adjudicator: Adjudicator,
) -> None:
    found = adjudicator.disputes()
    # Two of three pairs differ on jargon of sample 1; both who rated anomia of sample 2 differ.
    assert [(one.sample, one.measure, one.people_differ, one.judges_differ) for one in found] == [
        (2, "anomia", 1.0, None),
        (1, "jargon", pytest.approx(2 / 3), pytest.approx(1 / 3)),
        (2, "jargon", 0.0, 1.0),
    ]
    first, second, third = found
    assert [(said.rater, said.answer) for said in first.verdicts] == [
        ("R1", 2.0), ("R2", 0.0), ("R3", None)
    ]  # fmt: skip
    assert (first.majority, second.majority) == (None, 0.0)
    assert third.judges == ((JUDGE, 1.0),)
    # Raters differ on the scale alone, on one side of the cut: the same in results.
    assert not adjudicator.disputes(samples=[3])


def test_a_value_is_settled_with_a_trail_and_taken_back(
    adjudicator: Adjudicator, store: Store
) -> None:
    before = store.sets.ratings(1)
    assert adjudicator.progress() == (0, 2)
    made = adjudicator.settle(1, "jargon", 1.0, " two of the words are no words ")
    assert (made.answer, made.who, made.reason) == (1.0, "A1", "two of the words are no words")
    assert made.recorded_at
    assert adjudicator.progress() == (1, 2)
    assert [one.sample for one in adjudicator.disputes(which="settled")] == [1]
    adjudicator.settle(1, "jargon", 0.0, "they are names")
    assert adjudicator.take_back(1, "jargon") == adjudicator.disputes(which="settled")[0].settled
    assert adjudicator.disputes(which="settled")[0].settled.answer == 1.0  # type: ignore[union-attr]
    assert adjudicator.take_back(1, "jargon") is None
    assert adjudicator.disputes(which="settled") == ()
    trail = adjudicator.history(1, "jargon")
    assert [row.answer for row in trail] == [1.0, 0.0, 1.0, None]
    assert [row.reason for row in trail][2:] == [
        "restored: two of the words are no words",
        "taken back",
    ]
    with pytest.raises(StoreError, match="'jargon' of sample 1 is not settled"):
        adjudicator.take_back(1, "jargon")
    assert store.sets.ratings(1) == before


def test_undo_takes_back_what_was_settled_last_here(adjudicator: Adjudicator) -> None:
    assert adjudicator.undo() is None
    adjudicator.settle(1, "jargon", 1.0, "a")
    adjudicator.settle(2, "anomia", 2.0, "b")
    assert adjudicator.undo() == (2, "anomia")
    assert adjudicator.undo() == (1, "jargon")
    assert adjudicator.progress() == (0, 2)


@pytest.mark.parametrize(
    ("sample", "measure", "answer", "reason", "error"),
    [
        (1, "jargon", 1.0, " ", "a settled value needs a reason"),
        (1, "jargon", 2.0, "why", "'jargon' cannot be 2"),
        (1, "pauses", 1.0, "why", "form 'two' has no question 'pauses'"),
        (9, "jargon", 1.0, "why", "there is no sample 9"),
        (1, "jargon#1", 1.0, "why", "'jargon' is asked once"),
    ],
)
def test_what_cannot_be_settled_is_refused(
    adjudicator: Adjudicator, sample: int, measure: str, answer: float, reason: str, error: str
) -> None:
    with pytest.raises(TabwbError, match=error):
        adjudicator.settle(sample, measure, answer, reason)
    assert not adjudicator.disputes(which="settled")


@pytest.mark.parametrize(
    ("measure", "text", "answer"),
    [
        ("jargon", "present", 1.0),
        ("jargon", "0", 0.0),
        ("anomia", "3", 3.0),
        ("jargon", "cannot-tell", CANNOT_TELL),
    ],
)
def test_a_value_is_read_as_the_question_has_it(
    adjudicator: Adjudicator, measure: str, text: str, answer: Answer
) -> None:
    assert adjudicator.read(measure, text) == answer
    with pytest.raises(TabwbError, match="allowed: "):
        adjudicator.read(measure, "7")


def test_samples_of_speakers_who_do_not_agree_to_rating_are_withheld(
    store: Store, plugins: Plugins
) -> None:
    number = begin(store, conditions=Conditions("S-1", "speaker")).id
    store.append(number, [AttemptEntry(1, attempt())])
    store.people.keep_consents([Consent("S-1", "rate", False, "2026-11-01")])
    plan = set_plan(
        "told", FORM.canonical, FORM.id, (Sample(1, number, 1, 1, "said", "?"),),
        (Assignment("R1", 1, 1),),
    )  # fmt: skip
    kept = store.sets.create(plan)
    store.sets.rate(kept.id, SampleRating("R1", 1, 1, "rate", {"jargon": 1.0}, complete=True))
    adjudicator = Adjudicator(store, plugins, "told")
    assert (adjudicator.withheld, adjudicator.disputes()) == (1, ())
    with pytest.raises(StoreError, match="there is no sample 1"):
        adjudicator.shown(1)


def test_what_the_adjudicator_sees_does_not_tell_the_source(adjudicator: Adjudicator) -> None:
    found = repr([adjudicator.disputes(), adjudicator.shown(1)])
    assert "text 1" in found
    for source in ("severe", "echo", "administration", "stratum", "trial"):
        assert source not in found


@pytest.mark.parametrize(
    ("rule", "jargon", "anomia"),
    [
        ("majority", 0.0, Open("no majority")),
        ("adjudicated", 1.0, Open("not settled")),
        ("consensus", 1.0, Open("no majority")),
    ],
)
def test_the_value_that_counts_by_each_rule(
    store: Store, rule: Rule, jargon: Answer, anomia: Answer | Open
) -> None:
    disputed_set(store)
    settled = [Adjudication(1, "jargon", 1.0, "why", "A1")]
    found = consensus(FORM, store.sets.ratings(1), rule, settled)
    assert found[1] == {"jargon": jargon, "anomia": 0.0}
    assert found[2] == {"jargon": 0.0, "anomia": anomia}
    assert found[3] == {"jargon": 1.0, "anomia": 1.0}


def test_what_was_settled_as_cannot_tell_is_open() -> None:
    settled = Adjudication(1, "jargon", CANNOT_TELL, "inaudible", "A1")
    question = FORM.question("jargon")
    assert value_by("consensus", question, [1.0, 1.0, 0.0], settled) == Open("cannot tell")
    assert value_by("consensus", question, [None, CANNOT_TELL]) is None


def test_difference_is_over_pairs_and_on_a_scale_by_distance() -> None:
    scale = Question("effort", "Effort", kind="scale", high=4)
    # |0-4| = 4, |0-2| = 2, |4-2| = 2 of 4: (1 + 1/2 + 1/2) / 3
    assert difference(scale, [0.0, 4.0, None, 2.0]) == pytest.approx(2 / 3)
    assert difference(scale, [1.0]) is None


QUESTIONS = tuple(Question(name, name, cannot_tell=True) for name in ("anomia", "jargon", "empty"))
BOXES = Form("boxes", "1", "Boxes", "MIT", "", QUESTIONS, unmarked="absent", min_seconds=5.0)


class Rater:
    """A rater with a clock that stands still until it is told otherwise."""

    def __init__(self, store: Store, plugins: Plugins, rater: str = "R1") -> None:
        self.at = 0.0
        self.session = RaterSession.open(store, plugins, "pilot", rater, clock=lambda: self.at)

    def enter(self, after: float, answers: dict[str, Answer] | None = None) -> None:
        """Press enter so many seconds later."""
        self.at += after
        draft = self.session.draft if answers is None else Draft(answers)
        self.session.finish(draft)


@pytest.fixture
def boxes(store: Store) -> Store:
    """A store with the set ``pilot``: three samples, R1 and R2, three boxes."""
    number = begin(store).id
    store.append(number, [AttemptEntry(trial, attempt()) for trial in (1, 2, 3)])
    rated_set(store, number, form=BOXES.canonical)
    return store


def stored(store: Store) -> list[tuple[int, tuple[str, ...] | None, str]]:
    return [(row.sample, row.confirmed, flag_of(BOXES, row)) for row in store.sets.ratings(1, "R1")]


def test_enter_on_an_untouched_sample_asks_and_a_later_enter_confirms(
    boxes: Store, plugins: Plugins
) -> None:
    rater = Rater(boxes, plugins)
    rater.enter(1.0)
    asked = rater.session.asked
    assert asked is not None and asked.unmarked == ("anomia", "jargon", "empty")
    assert (asked.untouched, asked.fast, asked.again) == (True, True, False)
    for _ in range(50):  # a held key
        rater.enter(CONFIRM_S * 0.99)
    assert rater.session.asked is not None and rater.session.asked.again
    assert boxes.sets.ratings(1, every=True) == ()
    rater.enter(CONFIRM_S)
    assert stored(boxes) == [(1, ("anomia", "jargon", "empty"), "untouched")]
    rater.enter(1.0)
    rater.enter(1.0)
    assert stored(boxes)[1] == (2, ("anomia", "jargon", "empty"), "untouched-fast")
    rater.session.close()


def test_what_is_answered_between_the_two_steps_is_asked_anew(
    boxes: Store, plugins: Plugins
) -> None:
    rater = Rater(boxes, plugins)
    rater.enter(9.0)
    rater.session.answer("jargon", 1.0)
    rater.enter(9.0)
    asked = rater.session.asked
    assert asked is not None and asked.unmarked == ("anomia", "empty")
    assert (asked.untouched, asked.fast) == (False, False)
    rater.session.undo()
    assert rater.session.asked is None
    rater.enter(9.0, {"jargon": 1.0, "empty": CANNOT_TELL})
    rater.enter(9.0, {"jargon": 1.0, "empty": CANNOT_TELL})
    assert stored(boxes) == [(1, ("anomia",), "")]
    # All looked at: one step, and no flag; but two where it was too fast.
    rater.enter(9.0, {"jargon": 0.0, "empty": 0.0, "anomia": 0.0})
    rater.enter(1.0, {"jargon": 0.0, "empty": 0.0, "anomia": 0.0})
    assert stored(boxes)[1:] == [(2, (), "")]
    rater.enter(1.0, {"jargon": 0.0, "empty": 0.0, "anomia": 0.0})
    assert stored(boxes)[2:] == [(3, (), "fast")]
    rater.session.close()


def test_states_survive_back_undo_a_new_window_and_adjudication(
    boxes: Store, plugins: Plugins
) -> None:
    rater = Rater(boxes, plugins)
    rater.session.answer("anomia", 0.0)
    rater.enter(9.0)
    rater.session.close()  # while it was asked
    rater = Rater(boxes, plugins)
    assert (rater.session.draft.answers, rater.session.asked) == ({"anomia": 0.0}, None)
    rater.enter(9.0)
    rater.enter(9.0)
    assert rater.session.back() and rater.session.complete
    assert rater.session.draft.answers == {"anomia": 0.0}
    assert rater.session.confirmed == ("jargon", "empty")
    rater.enter(9.0)
    assert rater.session.progress.place == 2, "looked at again, and nothing kept"
    assert rater.session.undo()
    assert rater.session.draft.answers == {"anomia": 0.0}
    assert not rater.session.confirmed and not rater.session.complete
    rater.enter(9.0)
    assert rater.session.asked is not None, "what was taken back is asked again"
    rater.enter(9.0)
    other = SampleRating("R2", 1, 1, "rate", {"jargon": 1.0}, True, confirmed=())
    boxes.sets.rate(1, other)
    adjudicator = Adjudicator(boxes, plugins, "pilot", "A1")
    (dispute,) = adjudicator.disputes(measures=["jargon"])
    assert [one.looked_at for one in dispute.verdicts] == [False, True]
    adjudicator.settle(1, "jargon", 1.0, "heard")
    assert stored(boxes) == [(1, ("jargon", "empty"), "")]
    rater.session.close()


def test_ratings_from_before_are_flagged_by_time_and_are_not_taken_for_looked_at(
    boxes: Store, plugins: Plugins
) -> None:
    none: dict[str, Answer] = dict.fromkeys(BOXES.measures, 0.0)
    for sample, (answers, seconds) in enumerate(
        [(none, 4.9), ({**none, "jargon": 1.0}, 4.9), (none, 5.0)], start=1
    ):
        boxes.sets.rate(
            1, SampleRating("R1", sample, sample, "rate", answers, True, seconds=seconds)
        )
    assert stored(boxes) == [(1, None, "fast-unmarked"), (2, None, ""), (3, None, "")]
    rater = Rater(boxes, plugins)
    assert rater.session.back() and rater.session.back() and rater.session.complete
    assert rater.session.draft.answers == {"jargon": 1.0}
    rater.session.answer("anomia", 1.0)
    rater.enter(9.0)
    assert rater.session.asked is not None and rater.session.asked.unmarked == ("empty",)
    rater.session.close()


def test_forms_without_boxes_are_guarded_by_time_only(store: Store, plugins: Plugins) -> None:
    number = begin(store).id
    store.append(number, [AttemptEntry(trial, attempt()) for trial in (1, 2, 3)])
    rated_set(store, number)  # its questions need an answer each; at least 1 second
    rater = Rater(store, plugins)
    answers: dict[str, Answer] = {"jargon": 0.0, "anomia": 0.0}
    rater.enter(0.9, answers)
    asked = rater.session.asked
    assert asked is not None and (asked.unmarked, asked.fast) == ((), True)
    rater.enter(CONFIRM_S, answers)
    rater.enter(1.0, answers)
    form = form_from_canonical(STORED_FORM)
    assert [flag_of(form, row) for row in store.sets.ratings(1)] == ["", ""]
    rater.session.close()


def test_a_feature_that_is_not_absent_cannot_be_confirmed_as_absent(boxes: Store) -> None:
    from tabwb.records.errors import StoreError

    wrong = SampleRating("R1", 1, 1, "rate", {"jargon": 1.0}, True, confirmed=("jargon",))
    with pytest.raises(StoreError, match="'jargon' is not absent"):
        boxes.sets.rate(1, wrong)


def test_the_minimum_is_the_forms_or_follows_from_its_questions(tmp_path: Path) -> None:
    assert BOXES.least_seconds == 5.0
    assert replace(BOXES, min_seconds=None).least_seconds == 1.0
    assert replace(BOXES, min_seconds=0.0).least_seconds == 0.0
    assert form_from_canonical(BOXES.canonical) == BOXES
    assert "min_seconds" not in replace(BOXES, min_seconds=None).canonical
