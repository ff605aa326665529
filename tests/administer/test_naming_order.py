"""Which pictures of a battery are given: the start, basal credit, and when a subtest may end."""

from __future__ import annotations

from tabwb.administer.naming import order
from tabwb.administer.session.session import Session
from tabwb.records.states import AdministrationStatus, TrialState
from tests.administer.conftest import Begin
from tests.administer.naming_parts import shown, take


def _order(session: Session, right: dict[str, bool]) -> list[str]:
    """The items in the order in which the session gives them."""
    given: list[str] = []
    for number in range(5):
        session.spoken.show(shown(10.0 * number))
        if session.status is not AdministrationStatus.RUNNING or session.current is None:
            break
        item = session.current.plan.item
        given.append(item)
        session.spoken.score(
            "right" if right.get(item, True) else "error", take=take(10.0 * number)
        )
    return given


def test_items_before_the_start_are_credited_where_the_basal_is_reached(
    begin_naming: Begin,
) -> None:
    session = begin_naming('start_item = "tree"\nbasal = 1')
    assert _order(session, {}) == ["tree", "house"]
    states = {trial.plan.item: trial.state for trial in session.trials}
    assert states["dog"] is states["cat"] is TrialState.NOT_ADMINISTERED
    assert session.status is AdministrationStatus.DONE


def test_where_the_basal_is_not_reached_earlier_items_are_given_backwards(
    begin_naming: Begin,
) -> None:
    session = begin_naming('start_item = "tree"\nbasal = 1')
    assert _order(session, {"tree": False, "cat": False}) == ["tree", "cat", "dog", "house"]


def test_an_undone_answer_takes_the_credit_back(begin_naming: Begin) -> None:
    session = begin_naming('start_item = "tree"\nbasal = 1')
    _order(session, {})
    session.corrections.undo()
    states = {trial.plan.item: trial.state for trial in session.trials}
    assert states["dog"] is TrialState.PLANNED


def test_the_rule_says_when_a_subtest_may_end_and_a_person_decides(begin_naming: Begin) -> None:
    session = begin_naming("discontinue = { after = 2 }")
    for number in range(2):
        assert order.reason_to_discontinue(session.spoken) == ""
        session.spoken.show(shown(10.0 * number))
        session.spoken.score("error", take=take(10.0 * number))
    assert "2 items in a row" in order.reason_to_discontinue(session.spoken)
    assert session.status is AdministrationStatus.RUNNING
