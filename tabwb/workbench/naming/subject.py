"""The subject *naming*: pictures are named aloud, recorded, scored and coded."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tabwb.records.states import AdministrationStatus, TrialState
from tabwb.workbench.naming.view_models import NamingNow
from tabwb.workbench.shell.commands import Command, Situation, on_page
from tabwb.workbench.shell.session_commands import session_commands
from tabwb.workbench.shell.subject import PageSpec, Subject

SCORING = {"right", "self_corrected", "wrong", "no_response", "unscorable"}
IN_WINDOW = {"cue", "re_prompt", "attempt", "examiner"}
AFTERWARDS = {"heard", "code", "listen"}


def check(verb: str, now: Situation) -> str | None:
    """Return why a command cannot be used now, or None.

    Args:
        verb: of the command.
        now: the situation.
    """
    naming = now.extension
    if not isinstance(naming, NamingNow):
        return ""
    return None if _possible(verb, now, naming) else _reason(verb, now, naming)


def _possible(verb: str, now: Situation, naming: NamingNow) -> bool:
    window = now.running and naming.microphone == "open" and now.awaiting
    match verb:
        case "show":
            return not window
        case "right" | "self_corrected" | "wrong" | "no_response" | "unscorable":
            return window or (now.answered and now.running)
        case "cue":
            return window and len(naming.cues) > naming.cues_given
        case "re_prompt" | "attempt" | "examiner":
            return window
        case "heard" | "code" | "listen":
            return now.answered
        case "skip":
            is_open = now.awaiting or now.state is TrialState.PLANNED
            return now.item is not None and is_open and not now.answered and now.unfinished
        case "void":
            return now.item is not None and now.state is not TrialState.VOID
        case "undo":
            return now.undoable
        case "pause" | "discontinue":
            return now.unfinished
        case "test":
            return naming.microphone != "open"
        case "consent":
            return bool(naming.lacking)
        case _:
            return True


def _reason(verb: str, now: Situation, naming: NamingNow) -> str:
    if verb == "undo":
        return "nothing to take back yet"
    if now.status is AdministrationStatus.DISCONTINUED:
        return "discontinued: u takes that back, space shows the results"
    if now.status is AdministrationStatus.DONE and verb not in AFTERWARDS:
        return "done: nothing is left to give; space shows the results"
    if verb == "consent":
        return "the speaker has agreed to all that is needed"
    if verb == "test":
        return "the microphone is recording: p pauses and closes it"
    if naming.microphone != "open" and verb in SCORING | IN_WINDOW:
        return "the microphone is closed: space opens it"
    if verb == "show":
        return f"item {now.item} waits for its score: 1 to 5, or s skips it"
    if now.item is None:
        return "no picture has been shown yet: space shows the first one"
    if verb == "cue" and now.awaiting:
        return "this item has no further cue: score it, or repeat the question (e)"
    if verb in IN_WINDOW:
        return f"the response to item {now.item} is closed: u opens it again"
    if verb in SCORING | AFTERWARDS:
        return "there is no response yet: score it first"
    if now.answered:
        return f"item {now.item} is answered: u takes it back, v declares it void"
    if now.state in {TrialState.SKIPPED, TrialState.VOID}:
        return f"item {now.item} is {now.state.value} already: u takes that back"
    return f"item {now.item} cannot be changed now: space continues"


def _command(verb: str, title: str, foot: str, key: str, rank: int, text: str) -> Command:
    method = verb.replace("-", "_")
    return Command(
        f"administer.{verb}", title, foot, key, ("naming",), rank, text, partial(check, method)
    )


COMMANDS = on_page(
    "naming",
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
    pages=(PageSpec("naming", "tabwb.workbench.naming.page:NamingPage"),),
    commands=COMMANDS,
    actions="tabwb.workbench.naming.actions:NamingActions",
    controller="tabwb.workbench.naming.controller:NamingController",
    styles=(Path(__file__).with_name("screen.tcss"),),
)
