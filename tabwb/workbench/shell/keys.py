"""What each key means: on the first page, while a battery is given, on the other pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tabwb.workbench.shell.commands import Command, key_label

FIRST, GIVING, OTHERS = "first page", "while a battery is given", "other pages"
PLACES = {"home": FIRST, "explorer": FIRST, "trial": GIVING, "scores": GIVING, "naming": GIVING}
"""Where the keys of a page belong; those of pages that are not here to the others."""
SHARED = {
    "N": ("a new administration", "new-session administer-lesioned store-dial"),
    "c": ("compare", "compare-with compare compare-dial"),
    "enter": ("open what is marked", "show-job take-value"),
    "escape": ("stop, or back", ""),
    "f": ("the view of who answers", "speaker"),
    "g": ("plots and curves", "plot sweep-curves turn-kind"),
    "j": ("judge", "judge basis"),
    "l": ("listen", "listen listen-dial"),
    "m": ("results side by side", "by-model sweep-results"),
    "r": ("again; on the dial a random prompt", "resume-job read-again random-prompt"),
    "slash": (
        "filter what is shown", "find-participant filter which-question pick-measure"
    ),
    "space": ("the next step: give, show, start; mark a row",
              "next show mark give-item start-sweep start-rating play-dial"),
    "t": ("another view of the page",
          "verdicts detail responses which-answers below turn-view turn-difference dial-part"),
    "u": ("take back", "undo-correction undo-settled"),
    "w": ("sweeps and curves of lesions", "lesions sweeps"),
    "y": ("copy the command; of the dial also a page", "copy-command share-dial"),
    "z": ("the dial, its range", "dial-item dial-most sessions-dial"),
    "x": ("stop or remove", "stop-job delete-participant withdraw stop-sweep"),
}  # fmt: skip
"""What a key means that several commands share, and these, as their ids end; escape leaves."""


def meanings(commands: Sequence[Command]) -> dict[str, dict[str, list[Command]]]:
    """Return the commands of each key, by the places where it works."""
    found: dict[str, dict[str, list[Command]]] = {}
    for command in commands:
        for key in (command.key, *command.also):
            where = command.where if key == command.key else ()
            places = {PLACES.get(page, OTHERS) for page in where if page != "everywhere"}
            everywhere = not places or "everywhere" in where
            for place in (FIRST, GIVING, OTHERS) if everywhere else places:
                found.setdefault(key, {}).setdefault(place, []).append(command)
    return found


def meaning(key: str, commands: Sequence[Command]) -> str | None:
    """Return the one meaning of a key in one kind of place; None where it has several."""
    titles = {command.title.rstrip("…") for command in commands}
    words, shared = SHARED.get(key, ("", ""))
    ends = {command.id.partition(".")[2] for command in commands}
    if len(titles) > 1:
        leaves = key == "escape" and all("back" in title.lower() for title in titles)
        return words if leaves or ends <= {*shared.split()} else None
    return next(iter(titles)).lower() if titles else None


def key_table(commands: Sequence[Command]) -> Iterator[str]:
    """Yield what every key means as lines of Markdown."""
    yield f"| key | {FIRST} | {GIVING} | {OTHERS} |"
    yield "|---|---|---|---|"
    for key, found in sorted(meanings(commands).items(), key=lambda one: one[0].lower()):
        told = [
            meaning(key, found[place]) if place in found else ""
            for place in (FIRST, GIVING, OTHERS)
        ]
        yield f"| `{key_label(key)}` | {' | '.join(words or '' for words in told)} |"
