"""Which item of a spoken subtest comes next, which are not needed, and when it may end.

Start item, basal and discontinuation are rules of the battery (docs/naming-rules.md); they are
computed by :mod:`tabwb.scoring.naming.summary`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabwb.administer.naming.scores import named_item, naming_of
from tabwb.records.errors import TabwbError
from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.records.trials import EventEntry, Trial
from tabwb.scoring.naming.summary import Outcome, next_item, not_needed, should_discontinue

if TYPE_CHECKING:
    from tabwb.administer.naming.strategy import SpokenStrategy
    from tabwb.administer.session.session import Events

UNRECORDED = "practice, not recorded"
CREDITED = "before the start item: credited by the basal, not given"


def outcomes(spoken: SpokenStrategy, subtest: str) -> dict[str, Outcome | None]:
    """Return what each item of a subtest that was given counts as, in the order given."""
    given = _given(spoken, subtest)
    named = [named_item(naming_of(spoken.view_of(trial))) for trial in given]
    return {item.item: item.outcome if item.status == "answered" else None for item in named}


def _given(spoken: SpokenStrategy, subtest: str) -> list[Trial]:
    """Return the trials of a subtest that were given, without practice, in the order given."""
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
    return sorted(given, key=lambda trial: begun.get(trial.plan.number, 0))


def in_turn(spoken: SpokenStrategy, trial: Trial) -> Trial | None:
    """Return the trial to give next, in the order that the rules of its subtest ask for.

    Items that the basal credits become *not administered*.
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
    last = _last_known(spoken, trial.plan.subtest, rule.after)
    outcomes = [outcome for _, outcome in reversed(last)]
    if not should_discontinue(outcomes, rule.after, rule.counts_cued):
        return ""
    row = "1 item was" if rule.after == 1 else f"{rule.after} items in a row were"
    return f"{row} not right: the battery's rule says to end here"


def _last_known(
    spoken: SpokenStrategy, subtest: str, most: int
) -> list[tuple[Trial, Outcome | None]]:
    """Return the items given last that have an outcome, the last first, and no more than needed."""
    found: list[tuple[Trial, Outcome | None]] = []
    for trial in reversed(_given(spoken, subtest)):
        item = named_item(naming_of(spoken.view_of(trial)))
        if item.status == "answered" and item.outcome is not None:
            found.append((trial, item.outcome))
            if len(found) == most or item.outcome == "right":
                break
    return found


GOES_ON = "not discontinued"
"""Begins the note of an examiner who gives further items although the rule is met."""


def reason_to_end(spoken: SpokenStrategy) -> str:
    """Return why the subtest should end here, where the examiner has to decide it; else nothing.

    The examiner decides between two items. Who went on is asked again after as many items.
    """
    session, trial = spoken.session, spoken.session.current
    if session.status is not AdministrationStatus.RUNNING or session.awaiting or trial is None:
        return ""
    if not any(_is_left(other, trial.plan.subtest) for other in session.history.standing):
        return ""
    rule = spoken.rules(trial).discontinue if spoken.is_spoken(trial) else None
    if rule is None or not (reason := reason_to_discontinue(spoken)):
        return ""
    row = _last_known(spoken, trial.plan.subtest, rule.after)
    decided = any(note.startswith(GOES_ON) for other, _ in row for note in other.notes)
    return "" if decided else reason


def end_subtest(spoken: SpokenStrategy) -> Events:
    """End the current subtest as the battery's rule says; the reason is stored.

    Its other items become *not administered*; without items of other subtests the administration
    is discontinued.
    """
    session, trial = spoken.session, spoken.session.current
    reason = reason_to_end(spoken)
    if trial is None or not reason:
        raise TabwbError("the battery's rule does not say to end here", hint="give the next item")
    standing, subtest = session.history.standing, trial.plan.subtest
    others = (other for other in standing if other.state is TrialState.PLANNED)
    if all(other.plan.subtest == subtest for other in others):
        return session.discontinue(reason)
    numbers = (other.plan.number for other in standing if _is_left(other, subtest))
    return session.commit([EventEntry("not-needed", number, reason) for number in numbers])


def go_on(spoken: SpokenStrategy, why: str = "") -> Events:
    """Store that the examiner gives further items although the rule is met."""
    if not (reason := reason_to_end(spoken)):
        raise TabwbError("the battery's rule does not say to end here", hint="give the next item")
    words = f" ({why.strip()})" if why.strip() else ""
    return spoken.session.corrections.note(f"{GOES_ON}{words}: {reason}")


def _is_left(trial: Trial, subtest: str) -> bool:
    return trial.state is TrialState.PLANNED and trial.plan.subtest == subtest
