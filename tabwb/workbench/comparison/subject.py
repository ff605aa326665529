"""The subject *comparison*: many administrations side by side, model by model."""

from __future__ import annotations

from tabwb.workbench.shell.commands import Command, Situation, on_page
from tabwb.workbench.shell.subject import PageSpec, Subject


def _by_model(now: Situation) -> str | None:
    return None if now.stored else ""


_MODELS = ("models",)
COMMANDS = (
    Command("results.by-model", "Results by model", "By model", "m",
            ("home", "explorer", "results"), 6,
            "All models side by side: burdens, accuracies, plots, comparisons.", _by_model),
    *on_page(
        "models",
        Command("results.mark", "Mark or unmark", "Mark", "space", _MODELS, 1,
                "Mark a model, to compare or to export it."),
        Command("results.compare", "Compare the two marked", "Compare", "c", _MODELS, 2,
                "Two models side by side: measures with a test, then what both said."),
        Command("results.plot", "Table or plots", "Plot", "g", _MODELS, 3,
                "Burdens, mean features per answer and accuracies as plots; left and right "
                "change."),
        Command("results.sort", "Sort by the next column", "Sort", "s", _MODELS, 5,
                "Sort by burden, name, N, distinct, words (or click a head)."),
        Command("results.reverse", "Reverse the order", "Reverse", "r", _MODELS, 11,
                "From low to high or from high to low."),
        Command("results.filter", "Filter…", "Filter", "slash", _MODELS, 6,
                "Show only models whose names have these words."),
        Command("results.basis", "Another judge…", "Judge shown", "k", _MODELS, 7,
                "Choose the battery and judge whose burdens are shown."),
        Command("results.differ", "Where judges differ…", "Differ", "d", _MODELS, 8,
                "On a feature: the responses on which judges differ most about it."),
        Command("results.pairs", "Base and instruct…", "Pairs", "p", _MODELS, 10,
                "Base and instruct models of one family and size, with each difference's "
                "interval."),
        Command("results.judges", "Judges against each other…", "Judges", "a", _MODELS, 10,
                "How far judges agree, and the burden under each judge (marked models)."),
        Command("results.below", "Accuracies or detail", "Below", "t", _MODELS, 9,
                "Change what stands below the table."),
        Command("results.export", "Export…", "Export", "e", _MODELS, 4,
                "Write the responses to a file (JSONL, CSV)."),
        Command("results.back", "Back", "Back", "escape", _MODELS, 12,
                "Leave the results."),
    ),
)  # fmt: skip
SUBJECT = Subject(
    "comparison",
    pages=(PageSpec("models", "tabwb.workbench.comparison.page:ModelsPage"),),
    commands=COMMANDS,
    actions="tabwb.workbench.comparison.actions:ComparisonActions",
)
