"""Dialogs of the naming page: the code of a response with flags, and the microphone test."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tabwb.records.errors import TabwbError
from tabwb.scoring.naming.target import CODES, FLAGS
from tabwb.workbench.naming.item_pane import TICK_S, LevelMeter
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.dialogs import Dialog
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.wording import ACCENT, AMBER, QUIET, wrapped

if TYPE_CHECKING:
    from tabwb.speech.finding import Quality
    from tabwb.speech.process import Device
    from tabwb.speech.recorder import Recorder


FLAG = "flag:"
NAME, MEANING = 20, 48
"""Columns of a name and of its meaning; a longer meaning is continued below."""
CODE_KEYS: Mapping[str, str] = {
    "c": "correct", "s": "semantic", "f": "formal", "m": "mixed", "u": "unrelated",
    "n": "nonword-related", "w": "nonword-unrelated", "p": "perseveration", "g": "morphological",
    "i": "picture-part", "v": "visual", "b": "blend", "d": "description", "a": "fragment",
    "r": "no-response", "o": "other", "e": "undecided",
}  # fmt: skip
"""The letter of each code, the same wherever the cursor is."""
FLAG_KEYS: Mapping[str, str] = {
    "S": "self-corrected", "L": "late", "A": "after-cue", "D": "dialect", "N": "number",
    "C": "carrier", "F": "filler", "T": "false-start", "R": "repeated", "O": "conduite",
    "K": "dont-know", "P": "repeats", "J": "rejected", "G": "guessed-sound", "M": "mapped-sound",
    "E": "embedded",
}  # fmt: skip
"""The letter of each flag, with shift."""
LETTERS: Mapping[str, str] = {name: key for key, name in (*CODE_KEYS.items(), *FLAG_KEYS.items())}


class CodeList(OptionList):
    """Codes, then flags."""

    HELP = """\
# Code

One code says what kind of response it was; flags say under which circumstances.

- the letter before a code goes to it, wherever the cursor is; **enter** takes it, with the flags
  that are marked
- **shift** and the letter before a flag marks it, so does **space**; **esc** closes
"""


class CodeScreen(Dialog[tuple[str, tuple[str, ...]] | None]):
    """Returns the code with its flags; None when closed with esc."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "mark", "Mark", show=False)]

    def __init__(self, target: str, code: str, flags: tuple[str, ...]) -> None:
        super().__init__()
        self._target, self._code = target, code
        self._flags = set(flags)

    def compose(self) -> ComposeResult:
        """Yield title, list and keys."""
        with Vertical(classes="dialog"):
            yield Static(id="response", classes="dialog-title", markup=False)
            yield CodeList(id="codes", compact=True)
            keys = "letter Code   enter Take it   shift+letter Mark a flag   esc Close"
            yield Static(keys, classes="dialog-note")

    def on_mount(self) -> None:
        """Fill the list and highlight the present code."""
        self._fill()
        codes = list(CODES)
        at = codes.index(self._code) if self._code in codes else 0
        self.query_one(CodeList).highlighted = at

    def _fill(self) -> None:
        marked = ", ".join(flag for flag in FLAGS if flag in self._flags)
        words = f"Response to {self._target}" + (f"   flags: {marked}" if marked else "")
        self.query_one("#response", Static).update(words)
        listed = self.query_one(CodeList)
        kept = listed.highlighted
        codes = (
            Option(_line(name, name, code.definition), id=name) for name, code in CODES.items()
        )
        flags = (
            Option(_line(name, self._marked(name), definition), id=FLAG + name)
            for name, definition in FLAGS.items()
        )
        listed.set_options([*codes, None, *flags])
        listed.highlighted = kept

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take a code, or mark a flag."""
        name = event.option.id or ""
        if name.startswith(FLAG):
            self.action_mark()
        else:
            self.dismiss((name, tuple(flag for flag in FLAGS if flag in self._flags)))

    def _marked(self, flag: str) -> str:
        return f"[{'x' if flag in self._flags else ' '}] {flag}"

    def action_mark(self) -> None:
        """Mark the highlighted flag, or not."""
        option = self.query_one(CodeList).highlighted_option
        if option is not None and (option.id or "").startswith(FLAG):
            self._turn((option.id or "").removeprefix(FLAG))

    def _turn(self, flag: str) -> None:
        self._flags ^= {flag}
        self._fill()

    def on_key(self, event: Key) -> None:
        """Go to the code of a letter; mark the flag of a capital."""
        key = event.character or ""
        if key in CODE_KEYS:
            self.query_one(CodeList).highlighted = list(CODES).index(CODE_KEYS[key])
        elif key in FLAG_KEYS:
            self._turn(FLAG_KEYS[key])


def _line(name: str, words: str, definition: str) -> Content:
    key = LETTERS.get(name, " ")
    meaning = f"\n{' ' * (NAME + 2)}".join(wrapped(definition, MEANING))
    return Content.assemble((key, f"bold {ACCENT}"), " ", words.ljust(NAME), (meaning, QUIET))


TEST_S = 4.0
"""So much is recorded for a test; it is played and removed."""


def _title(device: Device) -> str:
    from tabwb.speech.process import title

    return title(device)


DEVICES: Sequence[Column[Device]] = (
    Column("", _title, least=20),
    Column("", lambda one: f"{one.rate / 1000:g} kHz", right=True, style=QUIET),
    Column("", lambda one: "the system's default" if one.default else "", style=QUIET),
)


class DeviceList(RowList):
    """Microphones."""

    AT_ONCE = True
    HELP = """\
# Microphone test

- **space** records four seconds from the microphone under the cursor and plays them back: say what
  a speaker would say, from where a speaker will sit. Nothing is kept
- **enter** takes that microphone; it is remembered
- a level between -20 and -6 dBFS is good; *clipped* means too loud, *quiet* too far away
"""


class MicrophoneScreen(Dialog[str | None]):
    """Returns the name of the microphone that was taken; None when closed with esc."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "test", "Test", show=False)]

    def __init__(self, chosen: str) -> None:
        super().__init__()
        self._chosen = chosen
        self._devices: tuple[Device, ...] = ()
        self._recorder: Recorder | None = None
        self._testing = False

    def compose(self) -> ComposeResult:
        """Yield title, devices, level, message and keys."""
        with Vertical(classes="dialog"):
            yield Static("Microphone", classes="dialog-title")
            yield DeviceList(id="devices", opens=False)
            yield LevelMeter(id="test-level")
            yield Static("… looking for microphones", id="test-message", markup=False)
            keys = "space Record 4 s and play them   enter Take it   esc Close"
            yield Static(keys, classes="dialog-note")

    def on_mount(self) -> None:
        """Look for microphones."""
        self.set_interval(TICK_S, self._tick)
        self.query_one(DeviceList).focus()
        self.run_worker(self._look())

    async def _look(self) -> None:
        from tabwb.speech.process import inputs

        try:
            self._devices = await asyncio.to_thread(inputs)
        except TabwbError as error:
            self._tell(str(error), AMBER)
            return
        names = [device.name for device in self._devices]
        default = next((at for at, device in enumerate(self._devices) if device.default), 0)
        at = names.index(self._chosen) if self._chosen in names else default
        self.query_one(DeviceList).show(DEVICES, self._devices, current=at)
        none = "no microphone was found; plug one in and come back"
        self._tell("" if self._devices else none, AMBER)

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Take the chosen device."""
        self.dismiss(event.value.name)

    def action_test(self) -> None:
        """Record a little and play it."""
        at = self.query_one(DeviceList).current
        if self._devices and not self._testing:
            self._testing = True
            self.run_worker(self._test(self._devices[at]))

    async def _test(self, device: Device) -> None:
        from tabwb.records.files import WorkFolder
        from tabwb.speech.playback import Playback
        from tabwb.speech.recorder import Recorder
        from tabwb.store import takes

        with WorkFolder(takes.user_work_root()) as folder:
            recorder = Recorder(device, folder.path / "test.wav")
            try:
                self._tell("… opening", QUIET)
                await asyncio.to_thread(recorder.start)
                self._recorder = recorder
                self._tell(f"◉ recording {TEST_S:g} s: speak as a speaker would", AMBER)
                try:
                    await asyncio.sleep(TEST_S)
                finally:
                    self._recorder = None
                    made = await asyncio.to_thread(recorder.stop)
                test = await asyncio.to_thread(_quality_of, made.path)
                self._show_peak(test.peak_dbfs)
                self._tell(f"▸ playing   {_quality_words(test)}", QUIET)
                playback = Playback(made.path)
                await asyncio.to_thread(playback.start)
                await asyncio.to_thread(playback.wait)
                self._tell(_quality_words(test), AMBER if test.remarks else QUIET)
            except TabwbError as error:
                self._tell(str(error), AMBER)
            finally:
                self._testing = False

    def _show_peak(self, peak_dbfs: float) -> None:
        """Show the level that the message judges, not that of the last block."""
        from tabwb.speech.level import Level

        for meter in self.query("#test-level").results(LevelMeter):  # none once it is closed
            meter.show(Level(peak_dbfs))

    def _tick(self) -> None:
        recorder = self._recorder
        if recorder is not None:
            self.query_one(LevelMeter).show(recorder.level)

    def _tell(self, words: str, style: str) -> None:
        for line in self.query("#test-message").results(Static):  # none once it is closed
            line.update(Content.styled(words, style))


def _quality_words(test: Quality) -> str:
    good = f"peak {test.peak_dbfs:.0f} dBFS, noise {test.noise_floor_dbfs:.0f} dBFS"
    remarks = "; ".join(test.remarks)
    return f"{good}   ! {remarks}" if remarks else f"{good}   ok"


def _quality_of(path: Path) -> Quality:
    from tabwb.speech.files import read_clip
    from tabwb.speech.finding import quality

    return quality(*read_clip(path))
