"""Imports answers that were given elsewhere: what will be taken first, then the import."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Static

from tabwb.records.conditions import declared, default_text
from tabwb.workbench.engine.view_models import Catalogue
from tabwb.workbench.importing.controller import ImportingController, ImportOutcome, ImportWish
from tabwb.workbench.importing.refusals import LABELS
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import Choice, Dialog, ScrollPane, labelled
from tabwb.workbench.shell.fields import Fields, Known, Selection
from tabwb.workbench.shell.wording import AMBER, QUIET

HELPS = {
    "file": "A table (CSV, TSV, JSON lines) with the columns item and response, "
    "or text and prompt; a log of inspect_ai (`.eval`); samples of lm_eval, or their folder; "
    "spoken naming: a TextGrid, an EAF, a folder of them, a PSST folder, or a folder of recordings "
    "(`ITEM.wav`, `ITEM_2.flac`, or listed in `manifest.tsv`).",
    "battery": "The battery whose items were answered. **down** lists those installed. Texts "
    "without a battery need none: their prompts become the items of one.",
    "by": "A person's answers are protected by consents; so are answers of unknown origin.",
    "name": "The model: a spec, or any name. The person: the participant code, never a name. "
    "Empty: as the file says.",
    "columns": "For a table: fields and their columns, for example `response=text item=id`.",
    "transcriber": "What transcribes a folder of recordings, or `none`. **down** lists those "
    "installed. A file that is imported has its own transcripts.",
    "date": "The day of the session, `2026-03-09`, if the file does not state it.",
}
BY = (
    ("as the file states", "file"),
    ("a model", "model"),
    ("a person", "human"),
    ("not known", "unknown"),
)
SWITCHES = {
    "numbered": "further answers to an item are replicates",
    "skip": "leave out answers that match no item",
    "again": "also answers that are in the store already",
}
NOTE = "Enter shows what will be imported. Nothing is stored before Import."
SAYS_HELP = "# What the file holds\n\nArrows scroll; **tab** moves on."
FIELDS = Fields("import-", HELPS)


class ImportScreen(Dialog[None]):
    """Stays until the answers are imported or it is closed; an import continues then."""

    CSS_PATH = "dialog.tcss"
    AUTO_FOCUS = "#import-file"

    def __init__(self, desk: Desk, catalogue: Catalogue) -> None:
        super().__init__()
        self._desk, self._catalogue = desk, catalogue
        self._controller = desk.controller(ImportingController)
        self._on = dict.fromkeys(SWITCHES, False)
        self._working = False

    def compose(self) -> ComposeResult:
        """Fields, switches, what the file holds, buttons."""
        batteries = [
            Known(battery.id, battery.id, battery.title, battery.problem)
            for battery in self._catalogue.batteries
        ]
        transcribers = [
            Known(one.spec, one.shape, one.title, one.unavailable_reason)
            for one in self._catalogue.transcribers
        ]
        with Vertical(classes="dialog"):
            yield Static("Import answers", classes="dialog-title")
            yield labelled(LABELS["file"], FIELDS.text("file", placeholder="a file or folder"))
            yield labelled(LABELS["battery"], FIELDS.combo("battery", "", batteries))
            with Horizontal(classes="pair"):
                yield labelled(LABELS["by"], FIELDS.selection("by", BY))
                yield labelled(
                    LABELS["name"], FIELDS.text("name", placeholder="as the file states")
                )
            with Horizontal(classes="pair"):
                yield labelled(
                    LABELS["columns"],
                    FIELDS.text("columns", placeholder="as they are named"),
                )
                yield labelled(
                    LABELS["date"], FIELDS.text("date", placeholder="as the file states")
                )
            usual = default_text(declared("transcriber"))
            yield labelled(LABELS["transcriber"], FIELDS.combo("transcriber", usual, transcribers))
            for name in SWITCHES:
                yield Choice(self._switch(name), id=name)
            with ScrollPane(id="import-pane", help_text=SAYS_HELP):
                yield Static(Content.styled(NOTE, QUIET), id="import-message")
            with Horizontal(classes="dialog-buttons"):
                yield Choice("Dry run", id="check")
                yield Choice("Import", id="import")
                yield Choice("Stop", id="import-stop")
                yield Choice("Close", id="close")

    def on_mount(self) -> None:
        """Listen to outcomes."""
        self._show_working(False)
        self._desk.news.subscribe(self, self._hear)

    def _hear(self, message: object) -> None:
        if not isinstance(message, ImportOutcome):
            return
        if message.phase == "done":
            self.dismiss(None)
            return
        self._show_working(message.phase == "running")
        self._mark(message.field)
        sign = {"read": "≈", "running": "…", "refused": "!"}[message.phase]
        words = "\n".join(message.lines)
        self._tell(f"{sign} {words}", AMBER if message.phase == "refused" else "")

    def _mark(self, refused: str) -> None:
        """Mark the label of the field that is refused, and go to the field."""
        for name, label in LABELS.items():
            field = self.query_one(f"#import-{name}")
            words = Content.styled(f"! {label}", AMBER) if name == refused else label
            row = field.query_ancestor(".row", Horizontal)
            row.query_exactly_one(".label", Static).update(words)
            if name == refused:
                field.focus()

    def _tell(self, words: str, style: str) -> None:
        self.query_one("#import-message", Static).update(Content.styled(words, style))
        self.query_one(ScrollPane).scroll_home(animate=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in a field shows what will be taken."""
        self._ask(self._controller.check, "reading")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Dry run, import, close, or turn a switch."""
        match event.button.id:
            case "check":
                self._ask(self._controller.check, "reading")
            case "import":
                self._ask(self._controller.import_all, "importing")
            case "import-stop":
                self._controller.stop()
            case "close":
                self.dismiss(None)
            case str(name):
                self._on[name] = not self._on[name]
                event.button.label = self._switch(name)

    def _ask(self, job: Callable[[ImportWish], None], words: str) -> None:
        if self._working:
            return
        wish = ImportWish(
            self._typed("file"),
            self._typed("battery"),
            self.query_one("#import-by", Selection).value,
            self._typed("name"),
            self._typed("columns"),
            self._typed("date"),
            self._typed("transcriber"),
            numbered=self._on["numbered"],
            skip=self._on["skip"],
            again=self._on["again"],
        )
        if not wish.path:
            self._mark("file")
            self._tell("! a file is needed", AMBER)
            return
        self._show_working(True)
        self._mark("")
        self._tell(f"… {words}", QUIET)
        self._desk.do(partial(job, wish))

    def _show_working(self, working: bool) -> None:
        self._working = working
        self.query_one("#import-stop", Choice).display = working
        self.query_one("#close", Choice).label = "In the background" if working else "Close"

    def _typed(self, name: str) -> str:
        return self.query_one(f"#import-{name}", Input).value.strip()

    def _switch(self, name: str) -> str:
        return f"({'x' if self._on[name] else ' '}) {SWITCHES[name]}"
