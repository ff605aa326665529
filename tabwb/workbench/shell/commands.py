"""Every command of the workbench: one table from which keys, menus, palette, foot and help come.

A command's id is ``group.verb``; its action is the method ``action_group_verb`` of the desk. Keys
are those that survive tmux, ssh and an editor's terminal; every command is in a menu and in the
palette too. *Where* says whose key it is: the item pane owns the keys of a trial, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding

from tabwb.records.states import AdministrationStatus, TrialState

Where = Literal["home", "trial", "naming", "results", "models", "explorer", "everywhere"]
Page = Literal["home", "trial", "naming", "results", "models"]
GROUPS = ("file", "administer", "results", "view", "help")
"""The menus, in order."""


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that can be done.

    Attributes:
        id: ``group.verb``.
        title: in its menu and, in lower case after the group, in the palette.
        foot: the one word at the foot.
        key: the key, as Textual names it.
        where: whose key it is.
        rank: place at the foot, most needed first; 0 keeps it off the foot.
        help: one line for the table of keys.
        also: second keys, which work everywhere.
    """

    id: str
    title: str
    foot: str
    key: str
    where: tuple[Where, ...]
    rank: int
    help: str
    also: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """The menu it stands in."""
        return self.id.partition(".")[0]

    @property
    def action(self) -> str:
        """The method of the desk, without ``action_``."""
        return self.id.replace(".", "_").replace("-", "_")

    @property
    def palette(self) -> str:
        """``group: verb``."""
        return f"{self.group}: {self.title.rstrip('…').lower()}"


_LABELS = {
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "slash": "/",
    "escape": "esc",
    "exclamation_mark": "!",
}


def key_label(key: str) -> str:
    """How a key is written for people.

    >>> key_label("f10"), key_label("question_mark"), key_label("ctrl+p"), key_label("space")
    ('F10', '?', 'ctrl+p', 'space')
    """
    if key in _LABELS:
        return _LABELS[key]
    return key.upper() if key[0] == "f" and key[1:].isdigit() else key


_TRIAL: tuple[Where, ...] = ("trial",)
_NAMING: tuple[Where, ...] = ("naming",)
_GIVING: tuple[Where, ...] = ("trial", "naming")
_ALL: tuple[Where, ...] = ("everywhere",)
_BEGIN: tuple[Where, ...] = ("home", "explorer", "results")
_MODELS: tuple[Where, ...] = ("models",)
_RESULTS: tuple[Where, ...] = ("results", "models")

COMMANDS: tuple[Command, ...] = (
    Command("administer.next", "Next item", "Next", "space", _TRIAL, 1,
            "Give the next item. Paused: continue. After the last one: the results."),
    Command("administer.answer", "Type the answer", "Answer", "enter", _TRIAL, 2,
            "Put the cursor into the answer field (a person who types)."),
    Command("administer.repeat", "Ask again", "Repeat", "r", _TRIAL, 3,
            "Ask this item again: a new attempt; the earlier one stays and the new one counts."),
    Command("administer.skip", "Skip…", "Skip", "s", _GIVING, 4,
            "Pass over this item, with a reason."),
    Command("administer.undo", "Undo", "Undo", "u", _GIVING, 6,
            "Take back the last answer, skip, void or discontinuation. Nothing is erased."),
    Command("administer.note", "Note…", "Note", "n", _GIVING, 7,
            "Write a note on this item."),
    Command("administer.pause", "Pause", "Pause", "p", _GIVING, 8,
            "Pause the administration after the current answer; space resumes it."),
    Command("administer.stop", "Stop this answer", "Stop", "escape", _TRIAL, 5,
            "Stop the model in the middle of its answer; the item can be asked again."),
    Command("administer.auto", "Auto-run on or off", "Auto", "a", _TRIAL, 9,
            "Give all remaining items one after the other; again: stop after this one."),
    Command("administer.void", "Void…", "Void", "v", _GIVING, 10,
            "Declare this item void, with a reason: its answer stays and does not count."),
    Command("administer.discontinue", "Discontinue…", "Discontinue", "d", _GIVING, 11,
            "End the administration early, with a reason."),
    Command("administer.sent", "Exact prompt as sent", "Sent", "i", _TRIAL, 14,
            "Show or hide the exact text that is sent."),
    Command("administer.verdicts", "Show or hide verdicts", "Verdicts", "h", _TRIAL, 13,
            "Show or hide verdicts and scores; they are hidden while a person types."),
    Command("administer.judges", "Judges' verdicts…", "Judges", "k", _TRIAL, 15,
            "What every judge says of this answer, with its reasons and its raw words."),
    Command("administer.results", "Results so far", "Results", "g", _GIVING, 12,
            "Show the results as they stand."),
    Command("administer.show", "Show the picture", "Show", "space", _NAMING, 1,
            "Open the microphone; then show the next picture: zero of latency."),
    Command("administer.right", "Right", "Right", "1", _NAMING, 2,
            "Score the response as right."),
    Command("administer.self-corrected", "Self-corrected", "Self-cor.", "2", _NAMING, 2,
            "Score the response as right after the speaker's own correction."),
    Command("administer.wrong", "Error", "Error", "3", _NAMING, 2,
            "Score the response as an error; the code says of which kind."),
    Command("administer.no-response", "No response", "No resp.", "4", _NAMING, 2,
            "No response: then s silent, d don't know, r refused."),
    Command("administer.unscorable", "Cannot be scored…", "Not scored", "5", _NAMING, 13,
            "Say that the response cannot be scored, with a reason."),
    Command("administer.cue", "Next cue", "Cue", "c", _NAMING, 3,
            "Give the next cue: its words are shown, and it counts as the battery says."),
    Command("administer.re-prompt", "Ask again", "Ask again", "e", _NAMING, 8,
            "You repeat the question; later speech is not scored."),
    Command("administer.attempt", "Mark a new attempt", "Attempt", "m", _NAMING, 9,
            "Mark that a new attempt of the speaker begins now."),
    Command("administer.examiner", "Examiner speaks", "Examiner", "x", _NAMING, 10,
            "Mark that the administrator speaks; again: that this has ended."),
    Command("administer.heard", "Write what was heard", "Heard", "h", _NAMING, 5,
            "Write what was heard: a word, or phonemes."),
    Command("administer.code", "Code of the response…", "Code", "k", _NAMING, 6,
            "Choose a code for the response, with flags."),
    Command("administer.listen", "Listen to the response", "Listen", "l", _NAMING, 7,
            "Play the response back; again: stop."),
    Command("administer.speaker", "Speaker's view", "Speaker", "f", _NAMING, 11,
            "The picture alone; keys still work; f or esc comes back."),
    Command("administer.test", "Microphone test…", "Mic test", "t", _NAMING, 12,
            "Choose a microphone, see its level, record a little and hear it."),
    Command("administer.consent", "Record consent…", "Consent", "y", _NAMING, 15,
            "Record what the speaker has agreed to, where something is lacking."),
    Command("administer.detail", "Costs of the alignment", "Costs", "i", _NAMING, 14,
            "Show or hide what each phoneme costs and which features changed."),
    Command("file.new", "New administration…", "New", "n", _BEGIN, 1,
            "Give a battery to a model or to a person who types.", also=("f2",)),
    Command("file.open", "Open…", "Open", "o", _BEGIN, 2,
            "Find an administration: resume it, or see its results.", also=("f7",)),
    Command("file.models", "Models…", "Models", "l", ("home", "explorer"), 7,
            "Models that can be examined: write profiles, try one."),
    Command("results.responses", "Summary or responses", "Responses", "t", ("results",), 3,
            "Change between the summary and the list of responses."),
    Command("results.export", "Export…", "Export", "e", _RESULTS, 4,
            "Write the responses to a file (JSONL, CSV)."),
    Command("results.rescore", "Score again", "Rescore", "b", ("results",), 8,
            "Score and judge every response again; the earlier ratings stay in the store."),
    Command("results.judge", "Judge…", "Judge", "j", ("results",), 5,
            "Let a judge judge these answers: what it takes first, then with progress."),
    Command("results.back", "Back", "Back", "escape", _RESULTS, 12,
            "Leave the results."),
    Command("results.by-model", "Results by model", "By model", "m",
            ("home", "explorer", "results"), 6,
            "All models side by side: burdens, accuracies, plots, comparisons."),
    Command("results.mark", "Mark or unmark", "Mark", "space", _MODELS, 1,
            "Mark a model, to compare or to export it."),
    Command("results.compare", "Compare the two marked", "Compare", "c", _MODELS, 2,
            "Two models side by side: measures with a test, then what both said."),
    Command("results.plot", "Table or plots", "Plot", "g", _MODELS, 3,
            "Burdens, mean features per answer and accuracies as plots; left and right change."),
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
            "Base and instruct models of one family and size, with each difference's interval."),
    Command("results.judges", "Judges against each other…", "Judges", "a", _MODELS, 10,
            "How far judges agree, and the burden under each judge (marked models)."),
    Command("results.below", "Accuracies or detail", "Below", "t", _MODELS, 9,
            "Change what stands below the table."),
    Command("view.explorer", "Explorer", "Explorer", "f3", _ALL, 22,
            "Show or hide the explorer; below 100 columns it is a drawer.", also=()),
    Command("view.scores", "Scores", "Scores", "f4", _ALL, 21,
            "Show or hide the scores; below 100 columns they are a drawer."),
    Command("view.theme", "Next theme", "Theme", "f5", _ALL, 0,
            "Dark, light, high contrast."),
    Command("view.focus", "Next pane", "Pane", "f6", _ALL, 0,
            "Move between explorer, item and scores."),
    Command("view.explorer-wider", "Explorer wider", "", "right_square_bracket", _ALL, 0,
            "Make the explorer wider (or drag its border)."),
    Command("view.explorer-narrower", "Explorer narrower", "", "left_square_bracket", _ALL, 0,
            "Make the explorer narrower."),
    Command("view.scores-wider", "Scores wider", "", "right_curly_bracket", _ALL, 0,
            "Make the scores wider (or drag their border)."),
    Command("view.scores-narrower", "Scores narrower", "", "left_curly_bracket", _ALL, 0,
            "Make the scores narrower."),
    Command("view.home", "Home", "Home", "f8", _ALL, 0,
            "Leave this page; an open administration is paused."),
    Command("help.focused", "Help for what is focused", "Help", "f1", _ALL, 0,
            "What the focused part is for and what it can do."),
    Command("help.keys", "All keys", "Keys", "question_mark", _ALL, 20,
            "This table."),
    Command("help.menu", "Menu", "Menu", "f10", _ALL, 16,
            "The menus; arrows move, enter chooses."),
    Command("help.commands", "Commands", "Commands", "ctrl+p", _ALL, 18,
            "Find any command by its name."),
    Command("help.about", "About tabwb", "", "f9", _ALL, 0,
            "What tabwb is, what it is not, and where results are kept."),
    Command("file.quit", "Quit", "Quit", "ctrl+q", _ALL, 0,
            "Leave. Everything recorded is safe; an open administration is paused."),
)  # fmt: skip
BY_ID = {command.id: command for command in COMMANDS}


def bindings(where: Where) -> list[Binding]:
    """The key bindings of one place; they run the desk's actions."""
    keys = [
        (command, (command.key if where in command.where else "", *also))
        for command in COMMANDS
        for also in (command.also if where == "everywhere" else (),)
    ]
    return [
        Binding(
            ",".join(filter(None, chosen)),
            f"screen.{command.action}",
            command.foot or command.title,
            show=False,
            id=command.id if where in command.where else f"{command.id}.also",
            priority=command.id == "file.quit",
        )
        for command, chosen in keys
        if any(chosen)
    ]


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides which commands make sense now.

    Attributes:
        page: what stands in the middle.
        kind: of the open administration's examinee, or empty.
        status: of the open administration, or None.
        item: number of the item shown, or None before the first.
        state: what has become of that item, or None.
        awaiting: an item waits for its answer.
        asking: the model is answering, or was asked to.
        loading: a model is being loaded.
        answered: the item shown has an answer that counts.
        undoable: there is something to take back.
        results: results are loaded.
        stored: the store holds administrations.
        recording: the microphone is open.
        scored: a person has scored the response shown.
        upcoming: there is a picture left to show.
        cues: so many cues are left for the item.
        lacking: the speaker has not agreed to something that is needed.
    """

    page: Page = "home"
    kind: str = ""
    status: AdministrationStatus | None = None
    item: int | None = None
    state: TrialState | None = None
    awaiting: bool = False
    asking: bool = False
    loading: bool = False
    answered: bool = False
    undoable: bool = False
    results: bool = False
    stored: bool = False
    recording: bool = False
    scored: bool = False
    upcoming: bool = False
    cues: int = 0
    lacking: bool = False


def listed(group: str, now: Situation) -> tuple[Command, ...]:
    """The commands of a group; of *administer* those of what is given, its own ones first.

    >>> [one.key for one in listed("administer", Situation(page="naming"))][:2]
    ['space', '1']
    """
    found = [one for one in COMMANDS if one.group == group]
    if group == "administer":
        here = "naming" if now.page == "naming" else "trial"
        found = [one for one in found if here in one.where]
        found.sort(key=lambda one: here == "naming" and one.where != _NAMING)
    return tuple(found)


def available(command: Command, now: Situation) -> bool:
    """Whether a command can be used now; the engine has the last word on what it may do."""
    if command.group == "administer":
        if now.page == "naming":
            return "naming" in command.where and _in_naming(command.id, now)
        return now.page == "trial" and "trial" in command.where and _in_trial(command.id, now)
    if command.id == "results.by-model":
        return now.stored
    if "models" in command.where and now.page == "models":
        return True
    if command.group == "results":
        if command.id == "results.rescore":
            return now.page == "results" and now.status is None
        return now.page == "results" and now.results and command.where != _MODELS
    return True


def _in_trial(name: str, now: Situation) -> bool:
    running = now.status is AdministrationStatus.RUNNING
    going = running or now.status is AdministrationStatus.PAUSED
    over = now.status is AdministrationStatus.DISCONTINUED
    person = now.kind == "speaker"
    match name.partition(".")[2]:
        case "next":
            return not now.asking and not (person and now.awaiting and running)
        case "answer":
            return person and now.awaiting and running
        case "repeat":
            return now.item is not None and not now.asking and not over and not person
        case "skip":
            open_ = now.awaiting or now.state is TrialState.PLANNED
            return open_ and not now.asking and not now.answered and going
        case "void":
            void = now.state is TrialState.VOID and not now.awaiting
            return now.item is not None and not now.asking and not over and not void
        case "judges":
            return now.answered and not now.asking
        case "undo":
            return now.undoable and not now.asking
        case "stop":
            return now.asking or now.loading
        case "pause":
            return going
        case "auto":
            return going
        case "discontinue":
            return going and not now.asking
        case _:
            return True


def _in_naming(name: str, now: Situation) -> bool:
    running = now.status is AdministrationStatus.RUNNING
    going = running or now.status is AdministrationStatus.PAUSED
    window = running and now.recording and now.awaiting
    match name.partition(".")[2]:
        case "show":
            return not window
        case "right" | "self-corrected" | "wrong" | "no-response" | "unscorable":
            return window or (now.answered and running)
        case "cue":
            return window and now.cues > 0
        case "re-prompt" | "attempt" | "examiner":
            return window
        case "heard" | "code" | "listen":
            return now.answered
        case "skip":
            open_ = now.awaiting or now.state is TrialState.PLANNED
            return now.item is not None and open_ and not now.answered and going
        case "void":
            return now.item is not None and now.state is not TrialState.VOID
        case "undo":
            return now.undoable
        case "pause" | "discontinue":
            return going
        case "test":
            return not now.recording
        case "consent":
            return now.lacking
        case _:
            return True
