"""The subject *naming*: pictures are named aloud, recorded, scored and coded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.workbench.naming.view_models import NamingNow
from tabwb.workbench.shell.commands import (
    DISCONTINUED,
    DONE,
    Command,
    Situation,
    session_commands,
    unchangeable,
)
from tabwb.workbench.shell.subject import PageSpec, Subject

NO_ITEM = "no picture has been shown yet: space shows the first one"
MICROPHONE_CLOSED = "the microphone is closed: space opens it"
NO_RESPONSE = "there is no response yet: score it first"


def _waits(now: Situation, naming: NamingNow) -> bool:
    """Return whether the response window is open."""
    return now.running and naming.microphone == "open" and now.awaiting


def _over(now: Situation) -> str | None:
    if now.status is AdministrationStatus.DISCONTINUED:
        return DISCONTINUED
    return DONE if now.status is AdministrationStatus.DONE else None


def _closed(now: Situation, naming: NamingNow) -> str | None:
    """Return why no response can be given now, or None."""
    if reason := _over(now):
        return reason
    if naming.microphone != "open":
        return MICROPHONE_CLOSED
    return NO_ITEM if now.item is None else None


def _show(now: Situation, naming: NamingNow) -> str | None:
    if _waits(now, naming):
        if _described(naming):
            return f"item {now.item} is being described: 1 ends it, or s skips it"
        return f"item {now.item} waits for its score: 1 to 5, or s skips it"
    return None


def _score(now: Situation, naming: NamingNow) -> str | None:
    if _waits(now, naming) or (now.answered and now.running):
        return None
    return _closed(now, naming) or NO_RESPONSE


def _described(naming: NamingNow) -> bool:
    return naming.card is not None and not naming.card.coded


def _other_score(now: Situation, naming: NamingNow) -> str | None:
    if _described(naming):
        return "a description takes no score: 1 ends it"
    return _score(now, naming)


def _mark(now: Situation, naming: NamingNow) -> str | None:
    if _waits(now, naming):
        return None
    return _closed(now, naming) or f"the response to item {now.item} is closed: u opens it again"


def _cue(now: Situation, naming: NamingNow) -> str | None:
    if reason := _mark(now, naming):
        return reason
    if len(naming.cues) > naming.cues_given:
        return None
    return "this item has no further cue: score it, or repeat the question (e)"


def _answered(now: Situation, naming: NamingNow) -> str | None:
    if now.answered:
        return None
    if now.status is AdministrationStatus.DISCONTINUED:
        return DISCONTINUED
    return NO_ITEM if now.item is None else NO_RESPONSE


def _code(now: Situation, naming: NamingNow) -> str | None:
    if _described(naming):
        return "a description takes no code: h corrects its text"
    return _answered(now, naming)


def _change(now: Situation, *, possible: bool) -> str | None:
    """Return why the item shown cannot be skipped or declared void, or None."""
    if now.item is not None and possible:
        return None
    return _over(now) or (NO_ITEM if now.item is None else unchangeable(now))


def _skip(now: Situation, naming: NamingNow) -> str | None:
    is_open = now.awaiting or now.state is TrialState.PLANNED
    return _change(now, possible=is_open and not now.answered and now.unfinished)


def _void(now: Situation, naming: NamingNow) -> str | None:
    return _change(now, possible=now.state is not TrialState.VOID)


def _undo(now: Situation, naming: NamingNow) -> str | None:
    return None if now.undoable else "nothing to take back yet"


def _unfinished(now: Situation, naming: NamingNow) -> str | None:
    return _over(now)


def _test(now: Situation, naming: NamingNow) -> str | None:
    if naming.microphone != "open":
        return None
    return _over(now) or "the microphone is recording: p pauses and closes it"


def _consent(now: Situation, naming: NamingNow) -> str | None:
    if naming.lacking:
        return None
    return _over(now) or "the speaker has agreed to all that is needed"


_CHECKS: dict[str, Callable[[Situation, NamingNow], str | None]] = {
    "show": _show,
    "right": _score,
    "self_corrected": _other_score,
    "wrong": _other_score,
    "no_response": _other_score,
    "unscorable": _other_score,
    "cue": _cue,
    "re_prompt": _mark,
    "attempt": _mark,
    "examiner": _mark,
    "heard": _answered,
    "code": _code,
    "listen": _answered,
    "skip": _skip,
    "void": _void,
    "undo": _undo,
    "pause": _unfinished,
    "discontinue": _unfinished,
    "test": _test,
    "consent": _consent,
}


def check(verb: str, now: Situation) -> str | None:
    """Return why a command cannot be used now, or None.

    Args:
        verb: of the command, as the name of a method.
        now: the situation.
    """
    naming = now.extension
    if not isinstance(naming, NamingNow):
        return ""
    return _CHECKS[verb](now, naming) if verb in _CHECKS else None


def _command(verb: str, title: str, foot: str, key: str, rank: int, text: str) -> Command:
    method = verb.replace("-", "_")
    return Command(
        f"administer.{verb}", title, foot, key, ("naming",), rank, text, partial(check, method)
    )


COMMANDS = (
    _command("show", "Show the picture", "Show", "space", 1,
             "Open the microphone; then show the next picture: zero of latency."),
    _command("right", "Right", "Right", "1", 2,
             "Score the response as right."),
    _command("self-corrected", "Self-corrected", "Self-cor.", "2", 2,
             "Score the response as right after the speaker's own correction."),
    _command("wrong", "Error", "Error", "3", 2,
             "Score the response as an error; the code says of which kind."),
    _command("no-response", "No response", "No resp.", "4", 2,
             "No response: then s silent, d don't know, r refused."),
    _command("unscorable", "Cannot be scored…", "Not scored", "5", 13,
             "Say that the response cannot be scored, with a reason."),
    _command("cue", "Next cue", "Cue", "c", 3,
             "Give the next cue: its words are shown, and it counts as the battery says."),
    _command("re-prompt", "Ask again", "Ask again", "e", 8,
             "You repeat the question; later speech is not scored."),
    _command("attempt", "Mark a new attempt", "Attempt", "m", 9,
             "Mark that a new attempt of the speaker begins now."),
    _command("examiner", "Examiner speaks", "Examiner", "x", 10,
             "Mark that the administrator speaks; again: that this has ended."),
    _command("heard", "Write what was heard", "Heard", "h", 5,
             "Write what was heard: a word, or phonemes."),
    _command("code", "Code of the response…", "Code", "k", 6,
             "Choose a code for the response, with flags."),
    _command("listen", "Listen to the response", "Listen", "l", 7,
             "Play the response back; again: stop."),
    _command("speaker", "Speaker's view", "Speaker", "f", 11,
             "The picture alone; keys still work; f or esc comes back."),
    _command("test", "Microphone test…", "Mic test", "t", 12,
             "Choose a microphone, see its level, record a little and hear it."),
    _command("consent", "Record consent…", "Consent", "y", 15,
             "Record what the speaker has agreed to, where something is lacking."),
    _command("detail", "Costs of the alignment", "Costs", "i", 14,
             "Show or hide what each phoneme costs and which features changed."),
    *session_commands(("naming",), check),
)  # fmt: skip
SUBJECT = Subject(
    "naming",
    pages=(PageSpec("naming", "tabwb.workbench.naming.page:NamingPage", COMMANDS),),
    actions="tabwb.workbench.naming.actions:NamingActions",
    controller="tabwb.workbench.naming.controller:NamingController",
    styles=(Path(__file__).with_name("screen.tcss"),),
)
