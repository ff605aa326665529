"""The microphone test: choose one, see its level, record a little and hear it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tabwb.records.errors import TabwbError
from tabwb.workbench.naming.sound import LevelMeter
from tabwb.workbench.naming.view_models import LevelNow
from tabwb.workbench.shell.dialogs import Dialog
from tabwb.workbench.shell.wording import AMBER, QUIET

if TYPE_CHECKING:
    from tabwb.speech.devices import Device
    from tabwb.speech.quality import Quality
    from tabwb.speech.recorder import Recorder

TEST_S = 4.0
"""So much is recorded for a test; it is played and removed."""
TICK_S = 1 / 15


class DeviceList(OptionList):
    """Microphones."""

    HELP = """\
# Microphone test

- **space** records four seconds from the microphone under the cursor and plays them back: say what
  a speaker would say, from where a speaker will sit. Nothing of it is kept
- **enter** takes that microphone; it is remembered
- a level between -20 and -6 dBFS is good; *clipped* means too loud, *quiet* too far away
"""


class MicrophoneScreen(Dialog[str | None]):
    """Returns the name of the microphone that was taken; None when closed with esc.

    Args:
        chosen: the one that is taken now, or empty for the system's own.
    """

    CSS_PATH = "microphone.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "test", "Test", show=False)]

    def __init__(self, chosen: str) -> None:
        super().__init__()
        self._chosen = chosen
        self._devices: tuple[Device, ...] = ()
        self._recorder: Recorder | None = None
        self._testing = False

    def compose(self) -> ComposeResult:
        """Title, devices, level, what was found, keys."""
        with Vertical(classes="dialog"):
            yield Static("Microphone", classes="dialog-title")
            yield DeviceList(id="devices", compact=True)
            yield LevelMeter(id="test-level")
            yield Static("… looking for microphones", id="test-message", markup=False)
            yield Static(
                "space records 4 s and plays them   enter takes it   esc closes",
                classes="dialog-note",
            )

    def on_mount(self) -> None:
        """Look for microphones."""
        self.set_interval(TICK_S, self._tick)
        self.query_one(DeviceList).focus()
        self.run_worker(self._look())

    async def _look(self) -> None:
        from tabwb.speech.devices import inputs, title

        try:
            self._devices = await asyncio.to_thread(inputs)
        except TabwbError as error:
            self._tell(str(error), AMBER)
            return
        listed = self.query_one(DeviceList)
        listed.set_options(
            Option(
                Content.assemble(
                    title(device),
                    (f"   {device.rate / 1000:g} kHz", QUIET),
                    ("   the system's own" if device.default else "", QUIET),
                )
            )
            for device in self._devices
        )
        names = [device.name for device in self._devices]
        default = next((at for at, device in enumerate(self._devices) if device.default), 0)
        listed.highlighted = names.index(self._chosen) if self._chosen in names else default
        none = "no microphone was found; plug one in and come back"
        self._tell("" if self._devices else none, AMBER)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take the chosen device."""
        if self._devices and not self._testing:
            self.dismiss(self._devices[event.option_index].name)

    def action_test(self) -> None:
        """Record a little and play it."""
        at = self.query_one(DeviceList).highlighted
        if at is not None and self._devices and not self._testing:
            self._testing = True
            self.run_worker(self._test(self._devices[at]))

    async def _test(self, device: Device) -> None:
        from tabwb.records.workfolder import WorkFolder
        from tabwb.speech.playback import Playback
        from tabwb.speech.recorder import Recorder
        from tabwb.store import takes

        with WorkFolder(takes.user_work_root()) as folder:
            recorder = Recorder(device, folder.path / "test.wav")
            try:
                self._tell("… opening", QUIET)
                await asyncio.to_thread(recorder.start)
                self._recorder = recorder
                self._tell(f"● recording {TEST_S:g} s: speak as a speaker would", AMBER)
                try:
                    await asyncio.sleep(TEST_S)
                finally:
                    self._recorder = None
                    made = await asyncio.to_thread(recorder.stop)
                test = await asyncio.to_thread(_judge, made.path)
                self._tell(f"▸ playing   {quality_words(test)}", QUIET)
                playback = Playback(made.path)
                await asyncio.to_thread(playback.start)
                await asyncio.to_thread(playback.wait)
                self._tell(quality_words(test), AMBER if test.remarks else QUIET)
            except TabwbError as error:
                self._tell(str(error), AMBER)
            finally:
                self._testing = False

    def _tick(self) -> None:
        recorder = self._recorder
        if recorder is not None:
            level = recorder.level
            self.query_one(LevelMeter).show(LevelNow(level.peak_dbfs, level.clipped))

    def _tell(self, words: str, style: str) -> None:
        if self.is_attached:
            self.query_one("#test-message", Static).update(Content.styled(words, style))


def quality_words(test: Quality) -> str:
    """Return what a test recording was like."""
    good = f"peak {test.peak_dbfs:.0f} dBFS, noise {test.noise_floor_dbfs:.0f} dBFS"
    remarks = "; ".join(test.remarks)
    return f"{good}   ! {remarks}" if remarks else f"{good}   ok"


def _judge(path: Path) -> Quality:
    from tabwb.speech.files import read_clip
    from tabwb.speech.quality import quality

    return quality(*read_clip(path))
