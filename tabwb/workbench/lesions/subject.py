"""The subject *lesions*: the laboratory, and sweeps in the background."""

from __future__ import annotations

from pathlib import Path

from tabwb.workbench.shell.commands import Command, PageSpec, Subject

LAB, SWEEP, CURVES = ("lesions",), ("sweep",), ("curves",)
PAGE = (
    Command("administer.give-item", "Give the item", "Give", "space", LAB, 1,
            "Give the item to the intact model and under the lesion; nothing is stored."),
    Command("administer.give-subtest", "Give the subtest", "Subtest", "a", LAB, 2,
            "Give all items of the subtest, intact and lesioned."),
    Command("administer.next-item", "Next item", "Next", "right", LAB, 3, "Give the next item."),
    Command("administer.previous-item", "Previous item", "Previous", "left", LAB, 0,
            "Give the previous item."),
    Command("administer.turn-lesion", "Lesion on or off", "On/off", "o", LAB, 4,
            "Apply the lesion to the loaded model, or restore the model."),
    Command("administer.turn-view", "Parts or answers", "View", "t", LAB, 5,
            "Change between the parts of the model and the answers."),
    Command("administer.administer-lesioned", "Administer with this lesion…", "Administer", "N",
            LAB, 6, "Open the dialog of an administration with this lesion, which is stored."),
    Command("administer.sweep-lesion", "Sweep with this lesion…", "Sweep this", "g", LAB, 7,
            "Write a grid with amounts, layers, seeds and controls of this lesion."),
    Command("administer.sweeps", "Sweeps", "Sweeps", "w", LAB, 8, "Open the page of sweeps."),
    Command("administer.copy-spec", "Copy the spec", "Copy", "y", LAB, 9,
            "Copy the spec of the lesion."),
    Command("administer.leave-laboratory", "Stop, or back", "Back", "escape", LAB, 12,
            "Stop what is under way, leave a field, or leave the laboratory."),
)  # fmt: skip
SWEEP_PAGE = (
    Command("administer.start-sweep", "Start or continue", "Start", "space", SWEEP, 1,
            "Start the sweep in the background; what the store has is not given again."),
    Command("administer.dry-run", "Dry run", "Dry run", "D", SWEEP, 2,
            "Say what would be given, how long it takes and what it can show; store nothing."),
    Command("administer.stop-sweep", "Stop the sweep", "Stop", "x", SWEEP, 3,
            "Stop after the present items; starting again continues."),
    Command("administer.sweep-curves", "Curves and maps", "Curves", "g", SWEEP, 4,
            "Show curves and maps of this model and battery, also while the sweep runs."),
    Command("administer.sweep-results", "Results by lesion", "Results", "m", SWEEP, 5,
            "Show the results of the store by lesion."),
    Command("administer.copy-command", "Copy the command", "Copy", "y", SWEEP, 6,
            "Copy the command line that does the same."),
    Command("administer.leave-sweep", "Back", "Back", "escape", SWEEP, 12,
            "Leave a field, or the page; the sweep goes on."),
)  # fmt: skip
CURVES_PAGE = (
    Command("results.turn-kind", "Curves or map", "Curves/map", "g", CURVES, 1,
            "Change between curves by amount and the map of targets and layers."),
    Command("results.pick-measure", "Measure…", "Measure", "slash", CURVES, 2,
            "Pick a measure (up and down change it; left and right change the lesion)."),
    Command("results.turn-difference", "Differences or values", "Difference", "t", CURVES, 3,
            "In a map: differences to the intact model, or values."),
    Command("results.read-again", "Read again", "Read", "R", CURVES, 4, "Read the store again."),
    Command("results.export-curves", "Export…", "Export", "e", CURVES, 5,
            "Write responses to a file, or figures (PDF, SVG, PNG)."),
    Command("results.copy-table-command", "Copy the command", "Copy", "y", CURVES, 6,
            "Copy the command line that gives the same numbers."),
    Command("results.leave-curves", "Back", "Back", "escape", CURVES, 12,
            "Return to the page before."),
)  # fmt: skip
COMMANDS = (
    Command("file.laboratory", "Laboratory", "Lab", "b", ("home", "explorer"), 9,
            "Lesion a model and look at its answers, intact and lesioned."),
    Command("file.sweep-page", "Sweeps of lesions", "Sweeps", "w", ("home", "explorer"), 0,
            "Start, watch and stop a sweep."),
)  # fmt: skip
SUBJECT = Subject(
    "lesions",
    pages=(
        PageSpec(
            "lesions", "tabwb.workbench.lesions.page:LesionsPage", PAGE, title="the laboratory"
        ),
        PageSpec(
            "sweep", "tabwb.workbench.lesions.sweep_page:SweepPage", SWEEP_PAGE, title="the sweeps"
        ),
        PageSpec(
            "curves",
            "tabwb.workbench.lesions.curves_page:CurvesPage",
            CURVES_PAGE,
            title="the curves of lesions",
        ),
    ),
    commands=COMMANDS,
    actions="tabwb.workbench.lesions.actions:LesionsActions",
    controller="tabwb.workbench.lesions.controller:LesionsController",
    styles=(Path(__file__).with_name("pages.tcss"),),
)
