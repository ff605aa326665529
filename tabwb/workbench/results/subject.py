"""The subject *results*: the results of one administration, single responses, export."""

from __future__ import annotations

from tabwb.workbench.results.naming_commands import NAMING_COMMANDS
from tabwb.workbench.results.shown import ResultsShown
from tabwb.workbench.shell.commands import Command, Situation
from tabwb.workbench.shell.page import PageSpec, Subject


def _listed(now: Situation) -> str | None:
    shown = now.extension
    return None if isinstance(shown, ResultsShown) and shown.listed else ""


def _marked(now: Situation) -> str | None:
    shown = now.extension
    return None if isinstance(shown, ResultsShown) and shown.marked else ""


def _written(now: Situation) -> str | None:
    shown = now.extension
    return _marked(now) if isinstance(shown, ResultsShown) and not shown.named else ""


def _rescore(now: Situation) -> str | None:
    return None if now.status is None else ""


PAGE = (
    Command("results.responses", "Summary or responses", "Responses", "t", 3,
            "Change between the summary and the list of responses.", section="list"),
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
    Command("results.raw", "Reasons and raw replies", "Replies", "w", 7,
            "Show each judge's reasons and raw reply, or the verdicts again.", _written,
            section="response"),
    Command("results.void", "Declare void…", "Void", "v", 10,
            "Declare the marked response void, with a reason: it stays and does not count.",
            _marked, section="mark"),
    Command("results.note", "Note…", "Note", "n", 11,
            "Write a note on the marked response.", _marked, section="mark"),
    *NAMING_COMMANDS,
    Command("results.export", "Export…", "Export", "e", 4,
            "Write the responses to a file (JSONL, CSV).", section="work"),
    Command("results.rescore", "Score again", "Rescore", "b", 8,
            "Score and judge every response again; the earlier ratings stay in the store.",
            _rescore, section="work"),
    Command("results.back", "Back", "Back", "escape", 12,
            "Leave the results."),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    pages=(PageSpec("results", "page:ResultsPage", "the results of an administration", PAGE),),
    actions="actions:ResultsActions",
    controller="controller:ResultsController",
    prefetch=("page",),
)
