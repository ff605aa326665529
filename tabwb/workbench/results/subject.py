"""The subject *results*: the results of one administration, single responses, export."""

from __future__ import annotations

from tabwb.workbench.shell.commands import Command, PageSpec, Situation, Subject


def _rescore(now: Situation) -> str | None:
    return None if now.status is None else ""


COMMANDS = (
    Command("results.responses", "Summary or responses", "Responses", "t", ("results",), 3,
            "Change between the summary and the list of responses."),
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
    pages=(PageSpec("results", "tabwb.workbench.results.page:ResultsPage", COMMANDS),),
    actions="tabwb.workbench.results.actions:ResultsActions",
    controller="tabwb.workbench.results.controller:ResultsController",
    prefetch=("tabwb.workbench.results.page",),
)
