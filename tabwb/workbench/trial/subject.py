"""The subject *trial*: administrations are begun, opened and given item by item."""

from __future__ import annotations

from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.workbench.shell.commands import ON_HOME, Command, Situation
from tabwb.workbench.shell.desk_commands import DISCONTINUED, DONE, session_commands, unchangeable
from tabwb.workbench.shell.page import PageSpec, Subject

ASKING = "the model is answering: esc stops it, p pauses after it"
ELSEWHERE = (
    "another item is current: end returns to it; here n writes a note and v declares the item void"
)
NO_ITEM = "no item has been shown yet: space gives the first one"
WHERE = ("trial", "scores")


def _next(now: Situation) -> str | None:
    if now.asking:
        return ASKING
    if _answer(now) is None:
        return f"item {now.item} waits for its answer: enter goes back to it, s skips it"
    return None


def _answer(now: Situation) -> str | None:
    return None if now.kind == "speaker" and now.awaiting and now.running else ""


def _repeat(now: Situation) -> str | None:
    if reason := _closed(now):
        return reason
    if now.elsewhere:
        return ELSEWHERE
    if now.kind != "speaker":
        return None
    if now.answered:
        return "a first answer cannot be asked again: u takes it back, v declares it void"
    if now.awaiting:
        return f"item {now.item} waits for its first answer: enter goes back to it"
    return "a person is not asked twice: space gives the next item"


def _unfinished(now: Situation) -> str | None:
    if now.unfinished:
        return None
    return DISCONTINUED if now.status is AdministrationStatus.DISCONTINUED else DONE


def _stop(now: Situation) -> str | None:
    if now.asking or now.loading:
        return None
    return _unfinished(now) or ""


def _skip(now: Situation) -> str | None:
    if now.elsewhere:
        return _closed(now) or ELSEWHERE
    is_open = now.awaiting or now.state is TrialState.PLANNED
    if is_open and not now.asking and not now.answered and now.unfinished:
        return None
    return _closed(now) or unchangeable(now)


def _void(now: Situation) -> str | None:
    if reason := _closed(now):
        return reason
    if now.elsewhere and now.state is TrialState.PLANNED:
        return f"item {now.item} is not given yet"
    return unchangeable(now) if now.state is TrialState.VOID and not now.awaiting else None


def _closed(now: Situation) -> str | None:
    """Return why no item can be changed now, or None."""
    if now.asking:
        return ASKING
    if now.status is AdministrationStatus.DISCONTINUED:
        return DISCONTINUED
    return NO_ITEM if now.item is None else None


def check(verb: str, now: Situation) -> str | None:
    """Return why a command on the open session cannot be used now, or None.

    >>> now = Situation("trial", status=AdministrationStatus.RUNNING, item=2, answered=True)
    >>> check("skip", now)
    'item 2 is answered: u takes it back, v declares it void'
    >>> check("undo", Situation("trial", status=AdministrationStatus.RUNNING))
    'there is nothing to take back yet'
    """
    match verb:
        case "skip":
            return _skip(now)
        case "void":
            return _void(now)
        case "undo" | "discontinue" if now.asking:
            return ASKING
        case "undo":
            return None if now.undoable else "there is nothing to take back yet"
        case "pause" | "discontinue":
            return _unfinished(now)
    return None


PAGE = (
    Command("administer.next", "Next item", "Next", "space", 1,
            "Give the next item. Paused: continue. After the last one: the results.", _next,
            where=WHERE),
    Command("administer.answer", "Type the answer", "Answer", "enter", 2,
            "Return to the participant's view, with the cursor in the field for the answer.",
            _answer, where=WHERE),
    Command("administer.speaker", "Participant's view", "Participant", "f", 16,
            "Show only what a participant who types sees, on the whole screen; again: the console.",
            lambda now: None if now.kind == "speaker" else "", where=WHERE),
    Command("administer.repeat", "Ask again", "Repeat", "r", 3,
            "Ask this item again: a new attempt; the earlier one stays and the new one counts.",
            _repeat, where=WHERE),
    *session_commands(check, WHERE),
    Command("administer.stop", "Stop this answer", "Stop", "escape", 5,
            "Stop the model in the middle of its answer; the item can be asked again.",
            _stop, where=WHERE, section="whole"),
    Command("administer.auto", "Auto-run on or off", "Auto", "a", 9,
            "Give all remaining items one after the other; again: stop after this one.",
            _unfinished, where=WHERE),
    Command("administer.sent", "Exact prompt as sent", "Sent", "i", 14,
            "Show or hide the exact text that is sent.", where=WHERE, section="show"),
    Command("administer.verdicts", "Show or hide verdicts", "Verdicts", "t", 13,
            "Show or hide verdicts and scores; they are hidden while a person types.", where=WHERE,
            section="show"),
)  # fmt: skip
COMMANDS = (
    Command("file.new", "New administration…", "New", "n", 1,
            "Give a battery to a model (seed, temperature, lesion) or to a person.", also=("f2",),
            where=ON_HOME, section="begin"),
    Command("file.open", "Open…", "Open", "o", 2,
            "Find an administration: continue it, or see its results.", also=("f7",),
            where=ON_HOME, section="begin"),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    commands=COMMANDS,
    pages=(PageSpec("trial", "page:TrialPage", "an administration", PAGE),),
    actions="actions:TrialActions",
    controller="draft:TrialController",
    prefetch=(
        "new_administration",
        "page",
    ),
)
