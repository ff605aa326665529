"""The subject *naming*: pictures are named aloud, recorded, scored and coded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.workbench.naming.view_models import NamingNow
from tabwb.workbench.shell.commands import Command, Situation
from tabwb.workbench.shell.desk_commands import DISCONTINUED, DONE, session_commands, unchangeable
from tabwb.workbench.shell.page import PageSpec, Subject

if TYPE_CHECKING:
    from tabwb.administer.session.session import Events
    from tabwb.records.naming import Score
    from tabwb.tasks.spoken_naming.live import Live
    from tabwb.workbench.naming.controller import NamingController
    from tabwb.workbench.shell.desk import Desk

NO_ITEM = "no picture has been shown yet: space shows the first one"
MICROPHONE_CLOSED = "the microphone is closed: space opens it"
NO_RESPONSE = "there is no response yet: score it first"


def _waits(now: Situation, naming: NamingNow) -> bool:
    return now.running and naming.microphone == "open" and now.awaiting


def _over(now: Situation, naming: NamingNow) -> str | None:
    if now.status is AdministrationStatus.DISCONTINUED:
        return DISCONTINUED
    return DONE if now.status is AdministrationStatus.DONE else None


def _closed(now: Situation, naming: NamingNow) -> str | None:
    if reason := _over(now, naming):
        return reason
    if naming.microphone != "open":
        return MICROPHONE_CLOSED
    return NO_ITEM if now.item is None else None


def _show(now: Situation, naming: NamingNow) -> str | None:
    if _waits(now, naming):
        if _described(naming):
            return f"item {now.item} is being described: 1 ends it, or s skips it"
        return f"item {now.item} waits for its score: 1 to 5, or s skips it"
    if naming.lacking and naming.microphone == "closed" and not _over(now, naming):
        return f"not agreed to: {', '.join(naming.lacking)}; y records the consent"
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
    return "this item has no further cue: score it, or repeat the question (r)"


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


def _change(now: Situation, naming: NamingNow, *, possible: bool) -> str | None:
    if now.item is not None and possible:
        return None
    return _over(now, naming) or (NO_ITEM if now.item is None else unchangeable(now))


def _skip(now: Situation, naming: NamingNow) -> str | None:
    is_open = now.awaiting or now.state is TrialState.PLANNED
    return _change(now, naming, possible=is_open and not now.answered and now.unfinished)


def _void(now: Situation, naming: NamingNow) -> str | None:
    return _change(now, naming, possible=now.state is not TrialState.VOID)


def _undo(now: Situation, naming: NamingNow) -> str | None:
    return None if now.undoable else "there is nothing to take back yet"


def _test(now: Situation, naming: NamingNow) -> str | None:
    if naming.microphone != "open":
        return None
    return _over(now, naming) or "the microphone is recording: p pauses and closes it"


def _consent(now: Situation, naming: NamingNow) -> str | None:
    if naming.lacking:
        return None
    return _over(now, naming) or "all required consents are recorded"


def _always(now: Situation, naming: NamingNow) -> str | None:
    return None


Rule = Callable[[Situation, NamingNow], str | None]
"""Returns why a command cannot be used now, or None."""
_OF_SESSIONS: dict[str, Rule] = {
    "skip": _skip, "void": _void, "undo": _undo, "pause": _over, "discontinue": _over,
}  # fmt: skip


def _checked(rule: Rule, now: Situation) -> str | None:
    return rule(now, now.extension) if isinstance(now.extension, NamingNow) else ""


def _check_session(verb: str, now: Situation) -> str | None:
    return _checked(_OF_SESSIONS.get(verb, _always), now)


def controller(desk: Desk) -> NamingController:
    """Return the controller of spoken naming."""
    from tabwb.workbench.naming.controller import NamingController

    return desk.controller(NamingController)


def _scores(score: Score) -> Callable[[Desk], object]:
    return lambda desk: desk.do(partial(controller(desk).score, score))


def _presses(command: Callable[[Live], Events]) -> Callable[[Desk], object]:
    return lambda desk: desk.do(partial(controller(desk).press, command))


def _command(
    verb: str,
    title: str,
    foot: str,
    key: str,
    rank: int,
    rule: Rule,
    text: str,
    run: Callable[[Desk], object] | None = None,
) -> Command:
    name, check = f"administer.{verb}", partial(_checked, rule)
    return Command(name, title, foot, key, rank, text, check, run=run)


PAGE = (
    _command("show", "Show the picture", "Show", "space", 1, _show,
             "Open the microphone; then show the next picture: zero of latency."),
    _command("right", "Right", "Right", "1", 2, _score,
             "Score the response as right.", _scores("right")),
    _command("self-corrected", "Self-corrected", "Self-cor.", "2", 2, _other_score,
             "Score the response as right after the speaker's own correction.",
             _scores("self-corrected")),
    _command("wrong", "Error", "Error", "3", 2, _other_score,
             "Score the response as an error; the code gives its kind.", _scores("error")),
    _command("no-response", "No response", "No resp.", "4", 2, _other_score,
             "No response: then s silent, d don't know, r refused."),
    _command("unscorable", "Cannot be scored…", "Not scored", "5", 13, _other_score,
             "Record that the response cannot be scored, with a reason."),
    _command("cue", "Next cue", "Cue", "c", 3, _cue,
             "Give the next cue: its words are shown, and it counts as the battery says.",
             _presses(lambda live: live.cue())),
    _command("re-prompt", "Ask again", "Ask again", "r", 8, _mark,
             "You repeat the question; later speech is not scored.",
             _presses(lambda live: live.re_prompt())),
    _command("attempt", "Mark a new attempt", "Attempt", "m", 9, _mark,
             "Mark that a new attempt of the speaker begins now.",
             _presses(lambda live: live.mark())),
    _command("examiner", "Examiner speaks", "Examiner", "x", 10, _mark,
             "Mark that the administrator speaks; again: that this has ended.",
             _presses(lambda live: live.examiner())),
    _command("heard", "Write what was heard", "Heard", "h", 5, _answered,
             "Write what was heard: a word, or phonemes."),
    _command("code", "Code of the response…", "Code", "k", 6, _code,
             "Choose a code for the response, with flags."),
    _command("listen", "Listen to the response", "Listen", "l", 7, _answered,
             "Play the response back; again: stop.",
             lambda desk: desk.do(controller(desk).play)),
    _command("speaker", "Speaker's view", "Speaker", "f", 11, _always,
             "Show the picture alone; keys still work; f or esc returns. In a second terminal: "
             "tabwb --speaker-view."),
    _command("window", "Picture window", "Window", "F", 18, _always,
             "The picture in its own window, full screen, outside of the terminal; again: "
             "close it.", lambda desk: desk.do(controller(desk).picture_window)),
    _command("test", "Microphone test…", "Mic test", "T", 12, _test,
             "Choose a microphone, check its level, make a test recording and play it."),
    _command("consent", "Record consent…", "Consent", "C", 1, _consent,
             "Record the speaker's missing consents."),
    _command("detail", "Costs of the alignment", "Costs", "t", 14, _always,
             "Show or hide the cost of each phoneme and the features that changed."),
    _command("picture-name", "Name of the picture", "Name", "H", 16, _always,
             "Show or hide the name of the picture while it is being named."),
    _command("notation", "IPA or ARPAbet", "IPA", "I", 17, _always,
             "Show phonemes in ARPAbet, or in IPA again."),
    *session_commands(_check_session),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    pages=(PageSpec("naming", "page:NamingPage", "spoken naming", PAGE),),
    actions="controller:NamingActions",
    controller="controller:NamingController",
    needs="tabwb.tasks.spoken_naming",
)
