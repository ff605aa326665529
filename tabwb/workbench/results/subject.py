"""The subject of results: its pages and commands, and what they need to be shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tabwb.workbench.shell.commands import Command, Situation, on_page
from tabwb.workbench.shell.page import PageSpec, Subject

if TYPE_CHECKING:
    from tabwb.workbench.results.naming_body import NamingBody
    from tabwb.workbench.shell.desk import Desk


@dataclass(frozen=True, slots=True)
class ResultsShown:
    """What the results page shows.

    Attributes:
        listed: the responses, and not the summary.
        marked: one of them is marked.
        named: they are names of pictures.
        recorded: the marked one was given aloud and recorded.
    """

    listed: bool
    marked: bool
    named: bool
    recorded: bool = False


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
    return None if isinstance(shown, ResultsShown) and shown.recorded else ""


def _of_names(now: Situation) -> str | None:
    shown = now.extension
    return None if isinstance(shown, ResultsShown) and shown.named else ""


def _body(desk: Desk) -> NamingBody:
    from tabwb.workbench.results.naming_body import NamingBody

    return desk.current.query_one(NamingBody)


def _transcribe(desk: Desk) -> None:
    number = desk.current.administration()
    if number is not None:
        desk.request("jobs", "transcribe", number)


def _sessions(desk: Desk) -> None:
    from tabwb.workbench.results.actions import ResultsActions

    actions = desk.actions(ResultsActions)
    given = None if actions.results is None else actions.results.administration
    if given is not None and given.conditions.study_id:
        body, item = _body(desk), ""
        if body.view.row is not None:
            plan = body.view.row.item.trial.plan
            item = f"{plan.subtest}/{plan.item}"
        actions.sessions_dial(given.conditions.study_id, given.battery, item)


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
    Command("results.sessions-dial", "Sessions on the dial", "Dial", "z", 8,
            "What this speaker said to each item, session by session.", _of_names,
            run=_sessions, section="work"),
    Command("results.transcribe", "Transcribe…", "Transcribe", "M", 14,
            "Let a transcriber hear the recordings of this session, in the background.",
            _of_names, run=_transcribe, section="work"),
    Command("results.rater", "Another rater…", "Rater", "R", 9,
            "Score as another rater: what others said is hidden until that rater has scored.",
            _named, run=partial(_say, "rater"), section="score"),
)  # fmt: skip
"""Commands of the results page that are there while a named response is marked."""


def _listed(now: Situation) -> str | None:
    shown = now.extension
    return None if isinstance(shown, ResultsShown) and shown.listed else ""


def _marked(now: Situation) -> str | None:
    shown = now.extension
    return None if isinstance(shown, ResultsShown) and shown.marked else ""


def _noted(now: Situation) -> str | None:
    shown = now.extension
    summary = isinstance(shown, ResultsShown) and not shown.listed
    return "a note is of one response: t shows them" if summary else _marked(now)


def _written(now: Situation) -> str | None:
    shown = now.extension
    return _marked(now) if isinstance(shown, ResultsShown) and not shown.named else ""


def _rescore(now: Situation) -> str | None:
    return None if now.status is None else ""


def _judges(now: Situation) -> str | None:
    if now.asking:
        return "the model is answering: esc stops it, p pauses after it"
    if not now.answered:
        return "there is no answer to judge here"
    return "verdicts are hidden while a person types: t shows them" if now.hidden else None


def _verdicts(desk: Desk) -> None:
    """Show what every judge says of the response on the item pane."""
    work, item = desk.work, desk.current.shown_item()
    if work is not None and item is not None:
        desk.request("results", "show", work.administration.id, item.place[0])


PAGE = (
    Command("results.responses", "Summary or responses", "Responses", "t", 3,
            "Change between the summary and the list of responses.", section="list"),
    Command("results.compare-with", "Compare with…", "Compare", "c", 2,
            "Pick another administration, or a lesion to be given now; both are compared.",
            section="work"),
    Command("results.next", "Next response", "Next", "space", 1,
            "Show the next response.", _marked, section="list"),
    Command("results.filter", "Filter responses…", "Filter", "slash", 6,
            "List only responses with certain words.", _listed, section="list"),
    Command("results.sort", "Sort by the next column", "Sort", "greater_than_sign", 9,
            "Sort the responses by the next column.", _listed, section="list"),
    Command("results.reverse", "Reverse the order", "", "less_than_sign", 0,
            "Reverse the order of the responses.", _listed, section="list"),
    Command("results.exact", "Exact prompt", "Exact", "i", 7,
            "Show the text that was sent exactly, or the item's prompt again.", _written,
            section="response"),
    Command("results.raw", "Reasons and raw replies", "Replies", "W", 7,
            "Show each judge's reasons and raw reply, or the verdicts again.", _written,
            section="response"),
    Command("results.void", "Declare void…", "Void", "v", 10,
            "Declare the marked response void, with a reason: it stays and does not count.",
            _marked, section="mark"),
    Command("results.note", "Note…", "Note", "n", 11,
            "Write a note on the marked response.", _noted, section="mark"),
    *NAMING_COMMANDS,
    Command("results.export", "Export…", "Export", "e", 4,
            "Write the responses to a file (JSONL, CSV).", section="work"),
    Command("results.rescore", "Score again", "Rescore", "B", 8,
            "Score and judge every response again; the earlier ratings stay in the store.",
            _rescore, section="work"),
    Command("results.back", "Back", "Back", "escape", 12,
            "Leave the results."),
)  # fmt: skip
COMMANDS = (
    *on_page(
        "trial",
        Command("administer.judges", "Judges' verdicts", "Judges", "j", 15,
                "Show each judge's verdicts on this response, with reasons and raw replies.",
                _judges, where=("trial", "scores"), run=_verdicts, section="show"),
    ),
    *on_page(
        "results",
        Command("results.judge", "Judge…", "Judge", "j", 5,
                "Let a judge judge these answers: first the estimate, then the progress.",
                section="work"),
    ),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    COMMANDS,
    pages=(PageSpec("results", "page:ResultsPage", "the results of an administration", PAGE),),
    actions="actions:ResultsActions",
    prefetch=("page",),
)
