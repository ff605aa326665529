"""The page of sweeps: what is given, how far it is, what failed, the same as a command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Resize
from textual.widgets import Input, Static

from tabwb.battery.loader import load_battery
from tabwb.operations.lesion import SweepLesions, Swept
from tabwb.operations.operation import made
from tabwb.records.errors import TabwbError
from tabwb.records.files import expanded
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.lesions.page_words import (
    combo_of_batteries,
    combo_of_models,
    declared_lines,
    earlier_lines,
    example_lines,
)
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import Fields, ScrollPane, labelled
from tabwb.workbench.shell.drawn import bar
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.widgets import Line, Pane, WrappedText
from tabwb.workbench.shell.wording import ACCENT, AMBER, JOB_SIGNS, QUIET, folded, key_lines

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
_NOTHING = JobState(0, "", "", phase="")
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
        self._state = _NOTHING
        """Of the sweep or dry run that was begun last."""
        self._jobs = desk.sessions.jobs
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
        self.query_one("#sweep-pane" if self._text("grid") else "#sweep-grid").focus()

    def foot_rank(self, command: Command) -> int:
        """Return the place in the footer; 0 keeps out what cannot be done now."""
        active = self._state.active
        usable = {
            "administer.start-sweep": not active,
            "administer.dry-run": not active,
            "administer.stop-sweep": active,
            "view.copy-command": bool(self._text("grid")),
        }
        return super().foot_rank(command) if usable.get(command.id, True) else 0

    def foot_word(self, command: Command) -> str:
        """Return the word of a command in the footer: a sweep that was stopped is continued."""
        stopped = self._phase == "stopped" and not self._dry
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

    @property
    def _dry(self) -> bool:
        return self._state.is_dry

    @property
    def _swept(self) -> Swept | None:
        swept = self._state.result
        return swept if isinstance(swept, Swept) else None

    @property
    def _phase(self) -> str:
        """The phase of the job, and of a sweep whether it still loads or conditions failed."""
        state, swept = self._state, self._swept
        if state.phase == "running" and not state.planned:
            return "loading"
        if state.phase == "refused" and swept is not None and swept.failures:
            return "failed"
        return "planned" if state.phase == "done" and self._dry else state.phase

    def _hear(self, message: object) -> None:
        if isinstance(message, JobState) and message.page == SweepLesions.PAGE:
            self._state, self._problem = message, ""
            self._show()
            self.desk.show_foot()

    def _show(self) -> None:
        phase, swept = self._phase, self._swept
        words = f"{swept.name} · {swept.points[0].model}" if swept is not None else ""
        words = ", ".join(filter(None, (words, "dry run" if self._dry else "")))
        sign = f"   {JOB_SIGNS[phase]} {phase}" if phase else ""
        style = AMBER if phase in {"failed", "refused"} else ""
        title = Content.assemble("Sweep of lesions", (f"   {words}".rstrip(), QUIET), (sign, style))
        self.query_one("#sweep-head", Pane).border_title = title
        given, line = bool(self._text("grid")), self.query_one("#sweep-command", Line)
        command = Content.styled(self._command() if given else "", QUIET)
        line.show(command, Content.assemble(("y", f"bold {ACCENT}"), (" copies", QUIET)))
        line.visible = given
        self.query_one("#sweep-state", WrappedText).refresh(layout=True)

    def _lines(self, width: int) -> Iterator[Content]:
        state, swept, phase, room = self._state, self._swept, self._phase, min(width, WIDEST)
        if self._problem:
            yield from folded(f"! {self._problem}", room, AMBER)
            yield Content("")
        if swept is not None and not self._dry:
            yield bar(swept.done / max(len(swept.points), 1), min(room, 60))
            left = swept.time_left(state.seconds) if phase == "running" else ""
            summary = swept.summary(active=state.active)
            yield Content.assemble((summary, "bold"), (f"   {left}", QUIET))
        words = state.words if phase in {"loading", "refused"} else _WORDS.get(phase, "")
        if words:
            yield from folded(words, room, AMBER if phase in {"failed", "refused"} else "")
        if self._dry and swept is not None:
            yield from self._planned(swept, room)
        elif not self._dry:
            yield from key_lines(_NEXT.get(phase, ()), room)
            yield from self._given(swept, room)
        if not phase and not self._problem:
            yield from key_lines(_BEGIN, room)
            yield Content("")
            catalogue = self.desk.catalogue
            yield from earlier_lines(catalogue.administrations if catalogue else (), room)
            if not self._text("grid"):
                yield from example_lines(room)
                yield from declared_lines(room)

    def _given(self, swept: Swept | None, room: int) -> Iterator[Content]:
        """Yield the conditions that failed, and those that were given last."""
        if swept is not None and swept.failures:
            yield Content("")
            yield Content.styled("FAILED", f"bold {QUIET}")
            for name, reason in swept.failures:
                yield Content.styled(f"! {name}", AMBER).truncate(room, ellipsis=True)
                yield from folded(reason, room, indent=2)
        if swept is not None and swept.recent:
            yield Content("")
            yield Content.styled("GIVEN, THE LATEST FIRST", f"bold {QUIET}")
            for name in swept.recent:
                yield Content.styled(f"✓ {name}", QUIET).truncate(room, ellipsis=True)

    def _planned(self, swept: Swept, room: int) -> Iterator[Content]:
        """Yield what a dry run found."""
        if not swept.forecast:
            return
        for at, line in enumerate(swept.forecast):
            indent = 2 * line.startswith(" ")
            yield from folded(line.strip(), room, "" if at else "bold", indent)
            if not at:
                yield from key_lines(_NEXT["planned"], room)
        yield Content("")
        yield Content.styled("CONDITIONS", f"bold {QUIET}")
        for point in swept.points[:SHOWN]:
            name = point.name if point.role != "intact" else "-"
            yield Content.assemble((f"{point.role:<13}", QUIET), name)
        if len(swept.points) > SHOWN:
            yield Content.styled(f"and {len(swept.points) - SHOWN} more", QUIET)

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
        """Read the grid and the other fields; say what is wrong with them."""
        grid = self._text("grid")
        self._show_grid(grid)
        try:
            self._wanted()
        except TabwbError as error:
            empty = not grid and not self._state.phase
            self._problem = "" if empty else _words(error)
        else:
            self._problem = ""
        self._show()

    def _show_grid(self, grid: str) -> None:
        """Show the file of the grid beside the state, where there is room."""
        text = ""
        with suppress(OSError, ValueError):  # said where the fields are checked
            path = expanded(grid)
            if grid and path.stat().st_size < MOST_GRID:
                text = path.read_text(encoding="utf-8")
        pane = self.query_one("#sweep-grid-pane", Pane)
        pane.border_title = Path(grid).name
        self.set_class(bool(text), "-grid")
        self.query_one("#sweep-grid-text", Static).update(text.rstrip())

    def _text(self, name: str) -> str:
        return self.query_one(f"#sweep-{name}", Input).value.strip()

    def _wanted(self) -> SweepLesions:
        """Return the operation, its values and its grid checked."""
        given = {name: self._text(name) or None for name in ("battery", "model")}
        grid = self._text("grid")
        given |= {"grid": str(expanded(grid)) if grid else None, "workers": self._text("workers")}
        made_of = made(SweepLesions, given)
        assert isinstance(made_of, SweepLesions)
        made_of.check_grid()
        return made_of

    def _command(self) -> str:
        """Return the command line that does the same."""
        words = ["tabwb", "lesion", "sweep", self._text("battery")]
        for name in ("model", "grid", "workers"):
            words += [f"--{name}", self._text(name)]
        store = self.desk.location
        return shlex.join([*words, *(["--store", store] if store else [])])

    # ---------------------------------------------------------------- commands

    def start_sweep(self) -> None:
        """Start, or continue."""
        self._begin(dry=False)

    def dry_run(self) -> None:
        """Say what the sweep would give."""
        self._begin(dry=True)

    def _begin(self, *, dry: bool) -> None:
        if self._state.active:
            what = "a dry run" if self._dry else "a sweep"
            self.show_message(f"{what} is running: x stops it")
            return
        try:
            wanted = self._wanted()
        except TabwbError as error:
            self.show_message(_words(error))
            return
        self._problem = ""
        self.desk.workbench.remember(sweep_grid=self._text("grid"), sweep_workers=wanted.workers)
        self.desk.do(partial(self._jobs.begin, wanted, dry=dry))

    def take(self, battery: str, model: str, grid: str) -> None:
        """Fill in what the laboratory has chosen."""
        for name, value in (("battery", battery), ("model", model), ("grid", grid)):
            self.query_one(f"#sweep-{name}", Input).value = value
        self.query_one("#sweep-pane").focus()

    def stop_sweep(self) -> None:
        """Stop after the current items."""
        if self._state.active:
            self._jobs.stop(self._state.number)
        else:
            self.show_message("no sweep is running")

    def sweep_curves(self) -> None:
        """Show curves and maps of this sweep, also while it runs; of all before it has begun."""
        battery, model = _battery(self._text("battery")), self._text("model")
        where = [f"model={model}", f"battery={battery}"]
        words = f"{battery} · {model}"
        if name := self._begun_name():
            where.append(f"tag={name}")
            words += f" · {name}"
        self.desk.request("lesions", "curves", where=tuple(where), words=words, back="sweep")

    def _begun_name(self) -> str:
        """Return the name of the sweep, which is its tag; empty before something was given."""
        catalogue, swept = self.desk.catalogue, None if self._dry else self._swept
        name = "" if swept is None else swept.name
        begun = (
            {tag for one in catalogue.administrations for tag in one.tags} if catalogue else set()
        )
        begun |= {name}
        with suppress(TabwbError):  # said where the fields are checked
            name = self._wanted().check_grid()
        return name if name in begun else ""

    def sweep_results(self) -> None:
        """Show the results by lesion."""
        self.desk.request("comparison", "groups", "lesion")

    def command(self) -> str:
        """Return the command line of the sweep."""
        return self._command()

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
