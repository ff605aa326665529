"""The subject *lesions*: the laboratory, and sweeps in the background."""

from __future__ import annotations

from tabwb.workbench.shell.commands import ON_HOME, Command
from tabwb.workbench.shell.page import PageSpec, Subject

PAGE = (
    Command("administer.give-item", "Give the item", "Give", "space", 1,
            "Give the item to the intact model and under the lesion; nothing is stored."),
    Command("administer.give-subtest", "Give the subtest", "Subtest", "G", 2,
            "Give all items of the subtest, intact and lesioned."),
    Command("administer.next-item", "Next item", "Next", "right", 3, "Give the next item."),
    Command("administer.previous-item", "Previous item", "Previous", "left", 0,
            "Give the previous item."),
    Command("administer.turn-lesion", "Lesion on or off", "On/off", "o", 4,
            "Apply the lesion to the loaded model, or restore the model."),
    Command("administer.turn-view", "Parts or answers", "View", "t", 5,
            "Change between the parts of the model and the answers."),
    Command("administer.administer-lesioned", "Administer with this lesion…", "Administer", "N", 6,
            "Open the dialog of an administration with this lesion, which is stored."),
    Command("administer.sweep-lesion", "Sweep with this lesion…", "Sweep this", "s", 7,
            "Write a grid with amounts, layers, seeds and controls of this lesion."),
    Command("administer.sweeps", "Sweeps", "Sweeps", "w", 8, "Open the page of sweeps."),
    Command("administer.dial-item", "Dial this item", "Dial", "z", 7,
            "Turn the amount of this lesion, and see the answer at each step."),
    Command("administer.leave-laboratory", "Stop, or back", "Back", "escape", 12,
            "Stop the current work, leave a field, or leave the laboratory."),
)  # fmt: skip
SWEEP_PAGE = (
    Command("administer.start-sweep", "Start or continue", "Start", "space", 1,
            "Start the sweep in the background; stored conditions are not given again."),
    Command("administer.dry-run", "Dry run", "Dry run", "D", 2,
            "Show the conditions, the time and the detectable differences; store nothing."),
    Command("administer.stop-sweep", "Stop the sweep", "Stop", "x", 3,
            "Stop after the current items; starting again continues."),
    Command("administer.sweep-curves", "Curves and maps", "Curves", "g", 4,
            "Show curves and maps of this model and battery, also while the sweep runs."),
    Command("administer.sweep-results", "Results by lesion", "Results", "m", 5,
            "Show the results of the store by lesion."),
    Command("administer.leave-sweep", "Back", "Back", "escape", 12,
            "Leave a field, or the page; the sweep continues."),
)  # fmt: skip
DIAL_PAGE = (
    Command("administer.play-dial", "Play the steps", "Play", "space", 1,
            "Turn the amount from 0 up, step by step; again: stop."),
    Command("administer.dial-part", "Next part", "Part", "t", 2,
            "Lesion the next part of the model (also tab; a click on the map)."),
    Command("administer.random-prompt", "Random prompt", "Random", "r", 7,
            "Ask an item of the battery, drawn with a fixed seed; which is said."),
    Command("administer.dial-most", "Range of amounts", "Range", "z", 3,
            "Change the amount at the right end of the slider."),
    Command("administer.store-dial", "Store these answers", "Store", "N", 4,
            "Store the answers as the conditions of a sweep with the tag dial."),
    Command("administer.share-dial", "Write a page with the slider…", "Share", "y", 5,
            "Write one HTML file with the slider; the command that does the same is copied."),
    Command("administer.listen-dial", "Listen to this session, or stop", "Listen", "l", 2,
            "Play what was recorded for this item at this session; the log records it."),
    Command("administer.export-dial", "Export…", "Export", "e", 8,
            "Open the dialog of the operation: a file, other steps, or answers that are stored."),
    Command("administer.compare-dial", "Compare the demonstration's two", "Compare", "c", 6,
            "Compare what the demonstration stored: the intact and the lesioned model."),
    Command("administer.leave-dial", "Back", "Back", "escape", 12,
            "End the model and leave the page."),
)  # fmt: skip
CURVES_PAGE = (
    Command("results.turn-kind", "Curves or map", "Curves/map", "g", 1,
            "Change between curves by amount and the map of targets and layers."),
    Command("results.pick-measure", "Measure…", "Measure", "slash", 2,
            "Pick a measure (up and down change it; left and right change the lesion)."),
    Command("results.turn-difference", "Differences or values", "Difference", "t", 3,
            "In a map: differences to the intact model, or values."),
    Command("results.read-again", "Read again", "Read", "r", 4, "Read the store again."),
    Command("results.export-curves", "Export…", "Export", "e", 5,
            "Write responses to a file, or figures (PDF, SVG, PNG)."),
    Command("results.leave-curves", "Back", "Back", "escape", 12,
            "Return to the page before."),
)  # fmt: skip
COMMANDS = (
    Command("file.laboratory", "Laboratory", "Lab", "b", 9,
            "Lesion a model and look at its answers, intact and lesioned.", where=ON_HOME),
    Command("view.dial", "The dial", "Dial", "t", 0,
            "Turn the amount of a lesion and see what the model says at each step.",
            where=ON_HOME),
    Command("file.sweep-page", "Sweeps of lesions", "Sweeps", "w", 0,
            "Start, watch and stop a sweep.", where=ON_HOME),
)  # fmt: skip
SUBJECT = Subject(
    __name__,
    commands=COMMANDS,
    pages=(
        PageSpec("lesions", "page:LesionsPage", "the laboratory", PAGE),
        PageSpec("sweep", "sweep_page:SweepPage", "the sweeps", SWEEP_PAGE),
        PageSpec("dial", "dial_page:DialPage", "the dial", DIAL_PAGE),
        PageSpec("curves", "curves:CurvesPage", "the curves of lesions", CURVES_PAGE),
    ),
    actions="controller:LesionsActions",
    controller="controller:LesionsController",
    needs="tabwb.administer.sweep",
)
