"""The subject *comparison*: many administrations side by side, model by model."""

from __future__ import annotations

from pathlib import Path

from tabwb.workbench.shell.commands import Command, PageSpec, Situation, Subject


def _by_model(now: Situation) -> str | None:
    return None if now.stored else ""


def _here(verb: str, title: str, foot: str, key: str, rank: int, words: str) -> Command:
    here = ("models",)
    return Command(f"results.{verb}", title, foot, key, here, rank, words, pages=here)


COMMANDS = (
    Command("results.by-model", "Results by model", "By model", "m",
            ("home", "explorer", "results"), 6,
            "All models side by side: burdens, accuracies, plots, comparisons.", _by_model),
    _here("mark", "Mark or unmark", "Mark", "space", 1,
          "Mark a model, to compare or to export it."),
    _here("compare", "Compare the two marked", "Compare", "c", 2,
          "Two rows side by side (b: two administrations): differences, then what both said."),
    _here("plot", "Table or plots", "Plot", "g", 3,
          "Burdens, mean features per answer and right answers as plots; left and right change."),
    _here("sort", "Sort by the next column", "Sort", "greater_than_sign", 5,
          "Sort by the next column shown (or click a head)."),
    _here("reverse", "Reverse the order", "Reverse", "less_than_sign", 11,
          "From low to high or from high to low."),
    _here("filter", "Filter…", "Filter", "slash", 6,
          "Show only models whose names have these words."),
    _here("group", "Group by…", "Group", "b", 7,
          "Group by another key: administration, seed, temperature, lesion, family, tag ..."),
    _here("basis", "Another judge or rater…", "Rated by", "j", 7,
          "Choose the battery, and the judge, person or rule whose ratings are shown."),
    _here("differ", "Where judges differ…", "Differ", "J", 8,
          "On a feature: the responses on which judges differ most about it."),
    _here("pairs", "Base and instruct…", "Pairs", "P", 10,
          "Base and instruct models of one family and size, with each difference's interval."),
    _here("judges", "Agreement of judges…", "Agreement", "A", 10,
          "How far judges agree, and the burden under each judge (marked models)."),
    _here("below", "Turn the view", "Turn", "t", 9,
          "Burdens or right answers first; in a narrow window, features below the table too."),
    _here("lesions", "Lesions: curves and maps", "Lesions", "L", 10,
          "Curves by the amount of lesions and maps of targets and layers, of the rows shown."),
    _here("export", "Export…", "Export", "e", 4, "Write the responses to a file (JSONL, CSV)."),
    _here("back", "Back", "Back", "escape", 12, "Leave the results."),
)  # fmt: skip
SUBJECT = Subject(
    "comparison",
    pages=(
        PageSpec(
            "models", "tabwb.workbench.comparison.page:ModelsPage", title="the results by model"
        ),
    ),
    commands=COMMANDS,
    actions="tabwb.workbench.comparison.actions:ComparisonActions",
    styles=(Path(__file__).with_name("models.tcss"),),
)
