"""Which item of a spoken subtest comes next, which are not needed, and when it may end.

Start item, basal and discontinuation are rules of the battery (docs/naming-rules.md); they are
computed by :mod:`tabwb.scoring.naming.summary`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabwb.administer.naming.scores import named_item, naming_of
from tabwb.records.states import TrialState
from tabwb.records.trials import EventEntry, Trial
from tabwb.scoring.naming.summary import Outcome, next_item, not_needed, should_discontinue

if TYPE_CHECKING:
    from tabwb.administer.naming.strategy import SpokenStrategy

UNRECORDED = "practice, not recorded"
CREDITED = "before the start item: credited by the basal, not given"


def outcomes(spoken: SpokenStrategy, subtest: str) -> dict[str, Outcome | None]:
    """Return what each item of a subtest that was given counts as, in the order given.

    Args:
        spoken: of the session.
        subtest: id of a subtest that is answered aloud.
    """
    history = spoken.session.history
    begun: dict[int, int] = {}
    for step in history.steps:
        if step.entry.trial is not None:
            begun.setdefault(step.entry.trial, step.sequence)
    given = [
        trial
        for trial in history.standing
        if trial.plan.subtest == subtest
        and not trial.plan.practice
        and trial.state not in {TrialState.PLANNED, TrialState.NOT_ADMINISTERED}
    ]
    named = [
        named_item(naming_of(spoken.view_of(trial)))
        for trial in sorted(given, key=lambda trial: begun.get(trial.plan.number, 0))
    ]
    return {item.item: item.outcome if item.status == "answered" else None for item in named}


def in_turn(spoken: SpokenStrategy, trial: Trial) -> Trial | None:
    """Return the trial to give next, in the order that the rules of its subtest ask for.

    Items that the basal credits become *not administered*.

    Args:
        spoken: of the session.
        trial: the next one in the order of the plan; its subtest has a start item.
    """
    rules = spoken.rules(trial)
    session = spoken.session
    if session.administration.conditions.item_order == "shuffled":
        return trial
    planned = {
        other.plan.item: other
        for other in session.history.standing
        if other.plan.subtest == trial.plan.subtest
        and other.plan.replicate == trial.plan.replicate
        and not other.plan.practice
    }
    history = outcomes(spoken, trial.plan.subtest)
    chosen = next_item(list(planned), history, rules.start_item, rules.basal)
    if chosen is not None:
        return planned[chosen]
    credited = not_needed(list(planned), history, rules.start_item, rules.basal)
    if not credited:
        return trial
    numbers = (planned[item].plan.number for item in credited)
    session.commit([EventEntry("not-needed", number, CREDITED) for number in numbers])
    following = session.state.first_planned
    return None if following is None else spoken.in_turn(following)


def leave_out(spoken: SpokenStrategy) -> None:
    """Make what recordings from elsewhere need not contain *not administered*.

    That is practice, and what the basal of its subtest credits. The order in which items were given
    is unknown here, so the start item and the end of a subtest ask for nothing more.
    """
    entries: list[EventEntry] = []
    for trial in spoken.waiting(aloud=True):
        plan, rules = trial.plan, spoken.rules(trial)
        if plan.practice:
            entries.append(EventEntry("not-needed", plan.number, UNRECORDED))
        elif rules.start_item:
            subtest = spoken.session.battery.subtest(plan.subtest)
            items = [item.id for item in subtest.items if not item.practice]
            history = outcomes(spoken, plan.subtest)
            if plan.item in not_needed(items, history, rules.start_item, rules.basal):
                entries.append(EventEntry("not-needed", plan.number, CREDITED))
    if entries:
        spoken.session.commit(entries)


def reason_to_discontinue(spoken: SpokenStrategy) -> str:
    """Return why the battery's rule says that the current subtest may end, or nothing."""
    trial = spoken.session.current
    if trial is None or not spoken.is_spoken(trial):
        return ""
    if (rule := spoken.rules(trial).discontinue) is None:
        return ""
    history = list(outcomes(spoken, trial.plan.subtest).values())
    if not should_discontinue(history, rule.after, rule.counts_cued):
        return ""
    return f"{rule.after} items in a row were not right: the battery's rule says to end here"
