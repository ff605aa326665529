"""The page of sweeps: what is given, how far it is, what failed, the same as a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Resize
from textual.widgets import Input, Static

from tabwb.administer.sweep.grid import read_grid
from tabwb.battery.loader import load_battery
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.files import expanded
from tabwb.workbench.engine.messages import CurvesWanted, GroupsWanted
from tabwb.workbench.lesions.choices import combo_of_batteries, combo_of_models
from tabwb.workbench.lesions.controller import LesionsController
from tabwb.workbench.lesions.earlier_sweeps import earlier_lines, example_lines
from tabwb.workbench.lesions.messages import SweepState, SweepWish
from tabwb.workbench.lesions.page_words import declared_lines
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ScrollPane, labelled
from tabwb.workbench.shell.drawn import bar
from tabwb.workbench.shell.fields import Fields
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.widgets import Line, Pane, WrappedText
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET, folded, key_lines

SHOWN = 200
"""Conditions of a dry run that are listed."""
GRID_FROM = 116
"""From so many columns of the page the grid is shown beside the state."""
MOST_GRID = 100_000
"""Bytes of a grid's file that is shown."""
WIDEST = 100
"""Columns of text at most."""
FIELD_HELPS = {
    "model": "The model, which is loaded once for each worker; **down** lists those that can be "
    "lesioned.",
    "battery": "The battery that is given under each condition; **down** lists those installed.",
    "grid": "A TOML file with targets, amounts, layers and seeds; docs/lesions.md describes it.",
    "workers": "Number of models that work at one time, each in a separate process.",
}
HELP = """\
# Sweep

The battery is given to the intact model and under every lesion of a grid, in the background: the
workbench can be used meanwhile, and the title bar shows how far the sweep is.

- **D**, a dry run, shows the conditions, the time and the detectable differences
- **space** starts or continues it: stored conditions are not given again
- **x** stops it after the current items; so does leaving the workbench. No answer is lost, and
  **space** (or the command shown) continues
- **g** shows curves and maps, **m** the results by lesion, also while it works
- **y** copies the command line; **tab** goes to the fields, **esc** leaves

Each condition is an administration, tagged with the name of the grid; size-matched controls have
the tag `control`.
"""
_SIGNS = {
    "loading": "…", "running": "▸", "stopping": "…", "done": "✓", "stopped": "‖", "failed": "!",
    "refused": "!", "planned": "✓",
}  # fmt: skip
_WORDS = {
    "stopping": "stopping after the current items",
    "failed": "Conditions failed; all others are stored.",
    "refused": "The sweep stopped with an error.",
}
_CURVES = ("g", "shows curves and maps of what is stored, m the results by lesion")
_NEXT = {
    "running": (_CURVES, ("x", "stops after the current items; no answer is lost")),
    "stopped": (("space", "continues"), _CURVES),
    "failed": (("space", "tries the failed conditions again"), _CURVES),
    "done": (_CURVES,),
    "planned": (("space", "starts the sweep"),),
}
"""Keys for what can be done next, by phase."""
_BEGIN = (
    ("D", "dry run: shows the conditions, the time and the detectable differences"),
    ("space", "gives the battery to the intact model and under every lesion of the grid, in the "
          "background; also continues a stopped sweep"),
    _CURVES,
)  # fmt: skip
FIELDS = Fields("sweep-", FIELD_HELPS, "**esc** returns to the commands.")


class SweepPage(Page):
    """The page."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._state = SweepState("", SweepWish("", "", ""))
        self._problem = ""

    def compose(self) -> ComposeResult:
        """Yield head, fields, state."""
        catalogue, remembered = self.desk.catalogue, self.desk.workbench.remembered
        with Pane(title="Sweep of lesions", id="sweep-head"):
            with Horizontal(classes="lab-row"):
                yield labelled("Model", combo_of_models(FIELDS, catalogue))
                yield labelled(
                    "Battery",
                    combo_of_batteries(FIELDS, catalogue),
                )
                yield labelled(
                    "Workers",
                    FIELDS.text("workers", str(remembered.sweep_workers)),
                )
            yield labelled("Grid", FIELDS.text("grid", remembered.sweep_grid))
            yield Line(id="sweep-command")
        with Horizontal():
            with (
                Pane(title="Progress", id="sweep-progress"),
                ScrollPane(id="sweep-pane", help_text=HELP),
            ):
                yield WrappedText(self._lines, id="sweep-state")
            with (
                Pane(title="Grid", id="sweep-grid-pane"),
                ScrollPane(id="sweep-grid-scroll", help_text=FIELD_HELPS["grid"]),
            ):
                yield Static(id="sweep-grid-text", markup=False)

    def on_mount(self) -> None:
        """Listen to the sweep."""
        self.desk.news.subscribe(self, self._hear)
        self._check()

    def update_page(self) -> None:
        """Show the present state."""
        self._show()

    def on_resize(self, event: Resize) -> None:
        """Show the grid beside the state where there is room."""
        self.set_class(event.size.width >= GRID_FROM, "-beside")

    def focus_inside(self) -> None:
        """Give the keys to the state, or begin with the grid."""
        wish = self._wish()
        self.query_one("#sweep-pane" if wish.grid else "#sweep-grid").focus()

    def foot_rank(self, command: Command) -> int:
        """Return the place in the footer; 0 keeps out what cannot be done now."""
        active = self._state.active
        usable = {
            "administer.start-sweep": not active,
            "administer.dry-run": not active,
            "administer.stop-sweep": active,
            "administer.copy-command": bool(self._wish().grid),
        }
        return super().foot_rank(command) if usable.get(command.id, True) else 0

    def foot_word(self, command: Command) -> str:
        """Return the word of a command in the footer: a sweep that was stopped is continued."""
        stopped = self._state.phase == "stopped" and not self._state.dry
        if command.id == "administer.start-sweep" and stopped:
            return "Continue"
        return super().foot_word(command)

    def open_title(self) -> str | None:
        """Return what the title bar says."""
        return "sweep"

    def show_message(self, words: str) -> None:
        """Show why something cannot be done."""
        self._problem = words
        self._show()

    # ---------------------------------------------------------------- what is shown

    def _hear(self, message: object) -> None:
        if isinstance(message, SweepState):
            self._state, self._problem = message, ""
            self._show()
            self.desk.show_foot()

    def _show(self) -> None:
        state = self._state
        words = f"{state.name} · {state.wish.model}" if state.name else ""
        words += ", dry run" if state.dry else ""
        sign = f"   {_SIGNS[state.phase]} {state.phase}" if state.phase else ""
        style = AMBER if state.phase in {"failed", "refused"} else ""
        title = Content.assemble("Sweep of lesions", (f"   {words}".rstrip(), QUIET), (sign, style))
        self.query_one("#sweep-head", Pane).border_title = title
        wish, line = self._wish(), self.query_one("#sweep-command", Line)
        command = Content.styled(wish.command(self.desk.location) if wish.grid else "", QUIET)
        line.show(command, Content.assemble(("y", f"bold {ACCENT}"), (" copies", QUIET)))
        line.visible = bool(wish.grid)
        self.query_one("#sweep-state", WrappedText).refresh(layout=True)

    def _lines(self, width: int) -> Iterator[Content]:
        state, room = self._state, min(width, WIDEST)
        if self._problem:
            yield from folded(f"! {self._problem}", room, AMBER)
            yield Content("")
        if state.planned and not state.dry:
            done = (state.before + state.given) / state.planned
            yield bar(done, min(room, 60))
            yield Content.assemble((state.summary, "bold"), (f"   {state.time_left}", QUIET))
        words = state.words or _WORDS.get(state.phase, "")
        if words:
            yield from folded(words, room, AMBER if state.phase in {"failed", "refused"} else "")
        yield from self._planned(room)
        if not state.dry:
            yield from key_lines(_NEXT.get(state.phase, ()), room)
        if state.failures:
            yield Content("")
            yield Content.styled("FAILED", f"bold {QUIET}")
            for name, reason in state.failures:
                yield Content.styled(f"! {name}", AMBER).truncate(room, ellipsis=True)
                yield from folded(reason, room, indent=2)
        if state.recent:
            yield Content("")
            yield Content.styled("GIVEN, THE LATEST FIRST", f"bold {QUIET}")
            for name in state.recent:
                yield Content.styled(f"✓ {name}", QUIET).truncate(room, ellipsis=True)
        if not state.phase and not self._problem:
            yield from key_lines(_BEGIN, room)
            yield Content("")
            catalogue = self.desk.catalogue
            yield from earlier_lines(catalogue.administrations if catalogue else (), room)
            if not self._wish().grid:
                yield from example_lines(room)
                yield from declared_lines(room)

    def _planned(self, room: int) -> Iterator[Content]:
        """Yield what a dry run found."""
        state = self._state
        for at, line in enumerate(state.forecast):
            indent = 2 * line.startswith(" ")
            yield from folded(line.strip(), room, "" if at else "bold", indent)
            if not at:
                yield from key_lines(_NEXT["planned"], room)
        if not state.conditions:
            return
        yield Content("")
        yield Content.styled("CONDITIONS", f"bold {QUIET}")
        for role, name in state.conditions[:SHOWN]:
            yield Content.assemble((f"{role:<13}", QUIET), name if role != "intact" else "-")
        if len(state.conditions) > SHOWN:
            yield Content.styled(f"and {len(state.conditions) - SHOWN} more", QUIET)

    # ---------------------------------------------------------------- fields

    def on_input_changed(self, event: Input.Changed) -> None:
        """Check the fields while they are typed."""
        event.stop()
        self._check()
        self.desk.show_foot()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the keys back."""
        self.query_one("#sweep-pane").focus()

    def _check(self) -> None:
        """Read the grid and the number of workers; say what is wrong with them."""
        wish = self._wish()
        self._show_grid(wish)
        try:
            wish.checked()
            read_grid(expanded(wish.grid))
        except UsageError as error:
            empty = not wish.grid and not self._state.phase
            self._problem = "" if empty else _words(error)
        else:
            self._problem = ""
        self._show()

    def _show_grid(self, wish: SweepWish) -> None:
        """Show the file of the grid beside the state, where there is room."""
        text = ""
        with suppress(OSError, ValueError):  # said where the fields are checked
            path = expanded(wish.grid)
            if wish.grid and path.stat().st_size < MOST_GRID:
                text = path.read_text(encoding="utf-8")
        pane = self.query_one("#sweep-grid-pane", Pane)
        pane.border_title = Path(wish.grid).name
        self.set_class(bool(text), "-grid")
        self.query_one("#sweep-grid-text", Static).update(text.rstrip())

    def _wish(self) -> SweepWish:
        texts = (self.query_one(f"#sweep-{name}", Input).value.strip() for name in (
            "battery", "model", "grid", "workers"
        ))  # fmt: skip
        return SweepWish(*texts)

    # ---------------------------------------------------------------- commands

    def start_sweep(self) -> None:
        """Start, or continue."""
        self._begin(dry=False)

    def dry_run(self) -> None:
        """Say what the sweep would give."""
        self._begin(dry=True)

    def _begin(self, *, dry: bool) -> None:
        wish = self._wish()
        if self._state.active:
            what = "a dry run" if self._state.dry else "a sweep"
            self.show_message(f"{what} is running: x stops it")
            return
        try:
            workers = wish.checked()
            read_grid(expanded(wish.grid))
        except UsageError as error:
            self.show_message(_words(error))
            return
        self._problem = ""
        self.desk.workbench.remember(sweep_grid=wish.grid, sweep_workers=workers)
        job = partial(self.desk.controller(LesionsController).start_sweep, wish, dry=dry)
        self.desk.do(job)

    def take(self, battery: str, model: str, grid: str) -> None:
        """Fill in what the laboratory has chosen."""
        for name, value in (("battery", battery), ("model", model), ("grid", grid)):
            self.query_one(f"#sweep-{name}", Input).value = value
        self.query_one("#sweep-pane").focus()

    def stop_sweep(self) -> None:
        """Stop after the current items."""
        if self._state.active:
            self.desk.controller(LesionsController).stop_sweep()
        else:
            self.show_message("no sweep is running")

    def sweep_curves(self) -> None:
        """Show curves and maps of this model and battery, also while the sweep runs."""
        wish = self._wish()
        where = (f"model={wish.model}", f"battery={(battery := _battery(wish.battery))}")
        words = f"{battery} · {wish.model}"
        self.desk.tell(CurvesWanted(where=where, words=words, back="sweep"))

    def sweep_results(self) -> None:
        """Show the results by lesion."""
        self.desk.tell(GroupsWanted("lesion"))

    def copy_command(self) -> None:
        """Copy the command line."""
        self.app.copy_to_clipboard(self._wish().command(self.desk.location))
        self.desk.notify("Copied.", timeout=2)

    async def leave_sweep(self) -> None:
        """Leave a field, or the page; the sweep continues."""
        if isinstance(self.desk.focused, Input):
            self.query_one("#sweep-pane").focus()
            return
        await self.desk.back()


def _battery(name: str) -> str:
    """Return the id of a battery that is named by its id or its file."""
    try:
        return load_battery(Path(name)).id if Path(name).suffix else name
    except TabwbError:  # said where the sweep is started
        return name


def _words(error: TabwbError) -> str:
    return " ".join(str(error).splitlines())
