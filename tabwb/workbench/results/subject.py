"""The subject *results*: the results of one administration, single responses, export."""

from __future__ import annotations

from pathlib import Path

from tabwb.workbench.results.naming_commands import NAMING_COMMANDS
from tabwb.workbench.results.shown import ResultsShown
from tabwb.workbench.shell.commands import Command, PageSpec, Situation, Subject


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


COMMANDS = (
    Command("results.responses", "Summary or responses", "Responses", "t", ("results",), 3,
            "Change between the summary and the list of responses."),
    Command("results.next", "Next response", "Next", "space", ("results",), 1,
            "Show the next response.", _marked),
    Command("results.filter", "Filter responses…", "Filter", "slash", ("results",), 6,
            "List only responses with certain words.", _listed),
    Command("results.sort", "Sort by the next column", "Sort", "greater_than_sign",
            ("results",), 9, "Sort the responses by the next column.", _listed),
    Command("results.reverse", "Reverse the order", "", "less_than_sign", ("results",), 0,
            "Reverse the order of the responses.", _listed),
    Command("results.exact", "Exact prompt", "Exact", "i", ("results",), 7,
            "Show the text that was sent exactly, or the item's prompt again.", _written),
    Command("results.raw", "Reasons and raw replies", "Replies", "w", ("results",), 7,
            "Show each judge's reasons and raw reply, or the verdicts again.", _written),
    *NAMING_COMMANDS,
    Command("results.void", "Declare void…", "Void", "v", ("results",), 10,
            "Declare the marked response void, with a reason: it stays and does not count.",
            _marked),
    Command("results.note", "Note…", "Note", "n", ("results",), 11,
            "Write a note on the marked response.", _marked),
    Command("results.export", "Export…", "Export", "e", ("results",), 4,
            "Write the responses to a file (JSONL, CSV)."),
    Command("results.rescore", "Score again", "Rescore", "b", ("results",), 8,
            "Score and judge every response again; the earlier ratings stay in the store.",
            _rescore),
    Command("results.back", "Back", "Back", "escape", ("results",), 12,
            "Leave the results."),
)  # fmt: skip
SUBJECT = Subject(
    "results",
    pages=(
        PageSpec(
            "results",
            "tabwb.workbench.results.page:ResultsPage",
            COMMANDS,
            title="the results of an administration",
        ),
    ),
    actions="tabwb.workbench.results.actions:ResultsActions",
    controller="tabwb.workbench.results.controller:ResultsController",
    styles=tuple(Path(__file__).with_name(name) for name in ("screen.tcss", "naming.tcss")),
    prefetch=("tabwb.workbench.results.page",),
)
