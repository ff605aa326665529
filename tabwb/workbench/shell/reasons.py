"""Why a key of the item pane does nothing now, and what would work. Pure; no widget."""

from __future__ import annotations

from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.workbench.shell.commands import Situation

_TOLD = {"next", "repeat", "skip", "void", "undo", "pause", "auto", "discontinue", "judges"}


def why_not(name: str, now: Situation) -> str:
    """One line on a command of an administration that cannot be used; empty where none is due.

    Args:
        name: the command's id, ``administer.skip``.
        now: how things stand.

    >>> now = Situation("trial", status=AdministrationStatus.RUNNING, item=2, answered=True)
    >>> why_not("administer.skip", now)
    'item 2 is answered: u takes it back, v declares it void'
    >>> why_not("administer.undo", Situation("trial", status=AdministrationStatus.RUNNING))
    'nothing to take back yet'
    """
    group, _, verb = name.partition(".")
    if now.page == "naming" and group == "administer" and now.status is not None:
        return _why_not_in_naming(verb, now)
    if group != "administer" or verb not in _TOLD or now.page != "trial" or now.status is None:
        return ""
    if now.asking:
        return "the model is answering: esc stops it, p pauses after it"
    if verb == "judges":
        return "no answer stands here: judges have nothing to judge"
    if verb == "undo":
        return "nothing to take back yet"
    if now.status is AdministrationStatus.DISCONTINUED:
        return "discontinued: u takes that back, space shows the results"
    if verb in {"pause", "auto", "discontinue"}:
        return "done: nothing is left to give; space shows the results"
    if verb == "next":
        return f"item {now.item} waits for its answer: enter goes back to it, s skips it"
    if now.item is None:
        return "no item has been shown yet: space gives the first one"
    if verb == "repeat":
        return _not_again(now)
    return _already(now)


def _not_again(now: Situation) -> str:
    if now.answered:
        return "a first answer is not asked for again: u takes it back, v declares it void"
    if now.awaiting:
        return f"item {now.item} waits for its first answer: enter goes back to it"
    return "a person is not asked again: space gives the next item"


def _already(now: Situation) -> str:
    if now.answered:
        return f"item {now.item} is answered: u takes it back, v declares it void"
    if now.state in {TrialState.SKIPPED, TrialState.VOID}:
        return f"item {now.item} is {now.state.value} already: u takes that back"
    return f"item {now.item} cannot be changed now: space continues"


_SCORING = {"right", "self-corrected", "wrong", "no-response", "unscorable"}


def _why_not_in_naming(verb: str, now: Situation) -> str:
    if verb == "undo":
        return "nothing to take back yet"
    if now.status is AdministrationStatus.DISCONTINUED:
        return "discontinued: u takes that back, space shows the results"
    if now.status is AdministrationStatus.DONE and verb not in {"heard", "code", "listen"}:
        return "done: nothing is left to give; space shows the results"
    if verb == "consent":
        return "the speaker has agreed to all that is needed"
    if verb == "test":
        return "the microphone is recording: p pauses and closes it"
    if not now.recording and verb in {*_SCORING, "cue", "re-prompt", "attempt", "examiner"}:
        return "the microphone is closed: space opens it"
    if verb == "show":
        return f"item {now.item} waits for its score: 1 to 5, or s skips it"
    if now.item is None:
        return "no picture has been shown yet: space shows the first one"
    if verb == "cue" and now.awaiting:
        return "this item has no further cue: score it, or repeat the question (e)"
    if verb in {"cue", "re-prompt", "attempt", "examiner"}:
        return f"the response to item {now.item} is closed: u opens it again"
    if verb in {"heard", "code", "listen", *_SCORING}:
        return "there is no response yet: score it first"
    return _already(now)
