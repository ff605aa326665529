"""The subject *comparison*: many administrations side by side, model by model."""

from __future__ import annotations

from tabwb.workbench.shell.commands import Command, Situation, on_page
from tabwb.workbench.shell.page import PageSpec, Subject

TABLE = "models-page"
"""The page runs what only changes what its table and its plots show."""


def _by_model(now: Situation) -> str | None:
    return None if now.stored else ""


PAGE = on_page(
    "models",
    Command("results.mark", "Mark or unmark", "Mark", "space", 1,
            "Mark a model, to compare or to export it.", section="rows", owner=TABLE),
    Command("results.compare", "Compare the two marked", "Compare", "c", 2,
            "Compare two rows (b: two administrations): differences, then both answers.",
            section="reports"),
    Command("results.plot", "Table or plots", "Plot", "g", 3,
            "Burdens, mean features per answer and right answers as plots; left and right change.",
            section="view", owner=TABLE),
    Command("results.sort", "Sort by the next column", "Sort", "greater_than_sign", 5,
            "Sort by the next column shown (or click a head).", section="rows", owner=TABLE),
    Command("results.reverse", "Reverse the order", "Reverse", "less_than_sign", 11,
            "From low to high or from high to low.", section="rows", owner=TABLE),
    Command("results.filter", "Filter…", "Filter", "slash", 6,
            "Show only models whose names have these words.", section="rows", owner=TABLE),
    Command("results.group", "Group by…", "Group", "b", 7,
            "Group by another key: administration, seed, temperature, lesion, family, tag ...",
            section="view"),
    Command("results.basis", "Another judge or rater…", "Rated by", "j", 7,
            "Choose the battery, and the judge, person or rule whose ratings are shown.",
            section="view"),
    Command("results.differ", "Where judges differ…", "Differ", "J", 8,
            "For a feature: the responses on which judges differ most.", section="reports"),
    Command("results.pairs", "Base and instruct…", "Pairs", "P", 10,
            "Base and instruct models of one family and size, with each difference's interval.",
            section="reports"),
    Command("results.judges", "Agreement of judges…", "Agreement", "A", 10,
            "The agreement of judges, and the burden under each judge (marked models).",
            section="reports"),
    Command("results.below", "Change the view", "Turn", "t", 9,
            "Burdens or right answers first; in a narrow window, features below the table too.",
            section="view", owner=TABLE),
    Command("results.lesions", "Lesions: curves and maps", "Lesions", "w", 10,
            "Curves by the amount of lesions and maps of targets and layers, of the rows shown.",
            section="reports"),
    Command("results.export", "Export…", "Export", "e", 4,
            "Write the responses to a file (JSONL, CSV).", section="work"),
    Command("results.back", "Back", "Back", "escape", 12, "Leave the results."),
)  # fmt: skip
COMMANDS = (
    Command("results.by-model", "Results by model", "By model", "m", 6,
            "Compare all models: burdens, accuracies, plots.", _by_model,
            where=("home", "explorer", "results")),
    *PAGE,
)  # fmt: skip
REPORT = (
    Command("results.export-report", "Export…", "Export", "e", 1,
            "Write responses, a report or figures to a file.", section="work"),
    Command("results.leave-report", "Back", "Back", "escape", 12,
            "Return to the results by model."),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    commands=COMMANDS,
    pages=(
        PageSpec("models", "page:ModelsPage", "the results by model"),
        PageSpec("report", "plots:ReportPage", "a report on several models", REPORT),
    ),
    actions="actions:ComparisonActions",
)
