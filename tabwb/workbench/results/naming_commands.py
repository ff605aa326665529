"""Commands on a stored response that was named aloud: listen, score, code, correct."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tabwb.workbench.engine.messages import TranscribingWanted
from tabwb.workbench.results.shown import ResultsShown
from tabwb.workbench.shell.commands import Command, Situation

if TYPE_CHECKING:
    from tabwb.workbench.results.naming_body import NamingBody
    from tabwb.workbench.shell.desk import Desk

TITLES = {
    "right": "Score: right",
    "self-corrected": "Score: self-corrected",
    "error": "Score: error",
    "no-response": "Score: no response",
    "not-scorable": "Score: cannot be scored…",
}
"""In the order of their keys, which is that of ``tabwb.records.naming.SCORES``; importing that here
would delay the first frame."""


def _named(now: Situation) -> str | None:
    shown = now.extension
    return None if isinstance(shown, ResultsShown) and shown.marked and shown.named else ""


def _recorded(now: Situation) -> str | None:
    shown = now.extension
    return None if isinstance(shown, ResultsShown) and shown.marked and shown.recorded else ""


def _of_names(now: Situation) -> str | None:
    shown = now.extension
    return None if isinstance(shown, ResultsShown) and shown.named else ""


def _body(desk: Desk) -> NamingBody:
    from tabwb.workbench.results.naming_body import NamingBody

    return desk.current.query_one(NamingBody)


def _transcribe(desk: Desk) -> None:
    number = desk.current.administration()
    if number is not None:
        desk.tell(TranscribingWanted(number))


def _say(what: str, desk: Desk) -> None:
    _body(desk).say(what)


NAMING_COMMANDS = (
    Command("results.listen", "Listen, or stop", "Listen", "l", 2,
            "Play the marked response, or stop; the log records it as heard.", _recorded,
            section="response"),
    *(
        Command(f"results.score-{score}", title, "", str(key), 0,
                "Score the marked response by ear; earlier scores stay in the store.", _named,
                run=partial(_say, score), section="score")
        for key, (score, title) in enumerate(TITLES.items(), 1)
    ),
    Command("results.heard", "Write what was heard…", "Heard", "h", 4,
            "Write what you hear: a word, ARPAbet or IPA; a comma separates attempts.", _named,
            run=partial(_say, "heard"), section="score"),
    Command("results.code", "Choose a code…", "Code", "k", 5,
            "Choose the code of the marked response, with flags.", _named,
            run=partial(_say, "code"), section="score"),
    Command("results.undo-correction", "Take the correction back", "Undo", "u", 7,
            "Take back the latest onset, limit, score, word or code of the marked response.",
            _named, run=lambda desk: _body(desk).undo(), section="score"),
    Command("results.notation", "IPA or ARPAbet", "IPA", "I", 13,
            "Show phonemes in ARPAbet, or in IPA again.", _of_names,
            run=lambda desk: _body(desk).turn_notation(), section="response"),
    Command("results.transcribe", "Transcribe…", "Transcribe", "M", 14,
            "Let a transcriber hear the recordings of this session, in the background.",
            _of_names, run=_transcribe, section="work"),
    Command("results.rater", "Another rater…", "Rater", "R", 9,
            "Score as another rater: what others said is hidden until that rater has scored.",
            _named, run=partial(_say, "rater"), section="score"),
)  # fmt: skip
"""Commands of the results page that are there while a named response is marked."""
