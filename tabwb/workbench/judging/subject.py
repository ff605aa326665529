"""The subject *judging*: judges judge stored answers; their verdicts on one response."""

from __future__ import annotations

from tabwb.workbench.shell.commands import Command, Situation, on_page
from tabwb.workbench.shell.page import Subject


def _judges(now: Situation) -> str | None:
    if now.asking:
        return "the model is answering: esc stops it, p pauses after it"
    if not now.answered:
        return "there is no answer to judge here"
    return "verdicts are hidden while a person types: h shows them" if now.hidden else None


COMMANDS = (
    *on_page(
        "trial",
        Command("administer.judges", "Judges' verdicts", "Judges", "j", 15,
                "Show each judge's verdicts on this response, with reasons and raw replies.",
                _judges, where=("trial", "scores"), section="show"),
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
    commands=COMMANDS,
    actions="actions:JudgingActions",
)
