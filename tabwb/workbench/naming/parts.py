"""The parts of the naming page: head, items, picture, response, sound, and the page at rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tabwb.workbench.engine.view_models import Work
from tabwb.workbench.naming.item_list import ItemList
from tabwb.workbench.naming.item_pane import HeardField, MachinePanel, head, responded
from tabwb.workbench.naming.meters import TICK_S, LevelMeter, ResponseClock
from tabwb.workbench.naming.rest import rest_title, resting, shown_keys
from tabwb.workbench.naming.view_models import Card, NamingNow
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.pictures import Picture
from tabwb.workbench.shell.sound import Envelope, Sound
from tabwb.workbench.shell.waveform import Waveform
from tabwb.workbench.shell.widgets import Line, Pane, WrappedText

if TYPE_CHECKING:
    from tabwb.tasks.spoken_naming.live import Source

WIDE = 104
"""The least columns of the page for the list of items at the left, and for the keys at rest."""
ITEMS = 34
"""Columns of that list."""
MOST_PICTURE = 0.55
"""The largest share of the page for the picture, beside the list of items."""
WIDEST = 1.6
"""Width over height of a picture for which the pane is widened."""
TALL = 32
"""The least lines of the screen for costs and a tall waveform."""
SHORT_SOUND, MOST_SOUND = 7, 18
"""Lines of the sound where the screen is short, and at most."""


@dataclass(frozen=True, slots=True)
class Choices:
    """How a person wants the page.

    Attributes:
        ipa: phonemes are shown in IPA; else in ARPAbet.
        costs: the costs of the alignment are shown.
        hidden: the name of the picture is hidden, because the participant may read it.
        device: the microphone that was chosen, or empty for the system's default.
    """

    ipa: bool = True
    costs: bool = False
    hidden: bool = True
    device: str = ""


class NamingParts(Vertical):
    """Shows one state of the session; the page has the keys."""

    def __init__(self, commands: Sequence[Command]) -> None:
        super().__init__(id="naming-parts")
        self._commands = commands
        self._heard_so_far: list[float] = []
        self._shown_s: float | None = None

    def compose(self) -> ComposeResult:
        """Yield head, items, picture, response, sound, the page at rest, hint, strip."""
        with Horizontal(id="naming-head"):
            yield Line(id="naming-item")
            yield ResponseClock(id="naming-clock")
        with Horizontal(id="naming-body"):
            with Pane(title="Items", id="naming-items-pane"):
                yield ItemList(id="naming-items")
            with Vertical(id="naming-main"):
                with Horizontal(id="naming-upper"):
                    with Pane(title="Picture", id="naming-picture-pane", main=True):
                        yield Picture(id="naming-picture")
                    with Pane(title="Response", id="naming-response"):
                        yield Static(id="naming-responded", markup=False)
                        with VerticalScroll(id="naming-said", can_focus=False):
                            yield MachinePanel(id="naming-machine")
                        with Horizontal(id="naming-heard-row"):
                            yield Static("heard: ", id="naming-heard-label")
                            yield HeardField(id="naming-heard", compact=True)
                with Horizontal(id="naming-rest"):
                    with (
                        Pane(title="Session", id="naming-rest-pane", main=True),
                        VerticalScroll(can_focus=False),
                    ):
                        yield WrappedText(lambda width: (), id="naming-rest-words")
                    with (
                        Pane(title="Keys", id="naming-keys-pane"),
                        VerticalScroll(can_focus=False),
                    ):
                        yield WrappedText(shown_keys(self._commands), id="naming-keys")
                with Pane(title="Sound", id="naming-sound"):
                    yield LevelMeter(id="naming-level")
                    yield Waveform(id="naming-waveform")
        yield Static(id="naming-hint", markup=False)
        yield ItemList(id="naming-strip", one_line=True)

    def on_mount(self) -> None:
        """Leave the marks of the waveform to the keys of the page."""
        self.query_one(Waveform).can_focus = False

    @property
    def waveform(self) -> Waveform:
        """The sound of the response."""
        return self.query_one(Waveform)

    def show(
        self, work: Work, now: NamingNow, choices: Choices, source: Source | None, *, rests: bool
    ) -> None:
        """Show a state."""
        if now.shown_s != self._shown_s:
            self._heard_so_far, self._shown_s = [], now.shown_s
        self._lay_out(now, rests=rests, sounds=source is not None)
        if rests:
            self.query_one("#naming-rest-pane").border_title = rest_title(work, now)
            words = self.query_one("#naming-rest-words", WrappedText)
            words.show(lambda width: resting(work, now, choices.device, width))
        self._show_head(work, now, choices, source)
        self.query_one(Picture).show(now.card.picture if now.card else None)
        self.waveform.ipa = choices.ipa
        if not now.waits:
            self.waveform.show(now.sound)
        tall = self.app.size.height >= TALL
        self.query_one(LevelMeter).display = source is not None and (
            tall or now.waits or now.card is None
        )
        for listed in self.query(ItemList):
            listed.show(now.items, hidden=choices.hidden)
        self._show_responded(responded(now, work, ipa=choices.ipa))
        self.query_one(MachinePanel).show(now, costs=choices.costs, ipa=choices.ipa)
        self.query_one("#naming-heard-row").display = bool(now.score)

    def _lay_out(self, now: NamingNow, *, rests: bool, sounds: bool) -> None:
        """Give every part its place for the present size."""
        width, tall = self.size.width, self.app.size.height >= TALL
        wide = width >= WIDE
        self.query_one("#naming-rest").display = rests
        self.query_one("#naming-upper").display = not rests
        self.query_one("#naming-head").display = not rests
        self.query_one("#naming-sound").display = sounds or not rests
        self.query_one("#naming-items-pane").display = wide
        self.query_one("#naming-items-pane").styles.width = ITEMS
        self.query_one("#naming-strip").display = not wide
        self.query_one("#naming-keys-pane").display = wide
        sound = min(self.app.size.height // 3, MOST_SOUND) if tall else SHORT_SOUND
        self.query_one("#naming-sound").styles.height = sound
        # The picture is as large as it can be while the response keeps its place.
        rows = self.query_one("#naming-body").size.height - sound - (2 if tall else 1)
        room = width - ITEMS * wide
        picture = now.card.picture if now.card else None
        aspect = 1.0 if picture is None else picture.shape[1] / picture.shape[0]
        columns = round(2 * rows * min(max(aspect, 1.0), WIDEST)) + 4
        most = max(round(room * MOST_PICTURE), 10)
        self.query_one("#naming-picture-pane").styles.width = min(max(columns, 10), most)

    def _show_head(
        self, work: Work, now: NamingNow, choices: Choices, source: Source | None
    ) -> None:
        place = f"item {work.item.place[0]} of {work.item.place[1]}" if work.item else ""
        words = head(now.card, hidden=choices.hidden, ipa=choices.ipa)
        self.query_one("#naming-item", Line).show(words, place)
        clock, shown = self.query_one(ResponseClock), now.shown_s
        limit = now.card.limit_s if now.card else None
        limits = now.sound.limits if now.sound is not None else None
        if now.waits and source is not None and shown is not None:
            clock.run(lambda: max(source.now_s - shown, 0.0), limit)
        elif limits is not None and shown is not None:
            clock.stand(limits[1] - shown, limit)
        else:
            clock.stand(None, limit)

    def _show_responded(self, words: Content) -> None:
        shown = self.query_one("#naming-responded", Static)
        shown.update(words)
        shown.display = bool(words.plain)

    def show_card(self, card: Card, choices: Choices) -> None:
        """Show a picture at once, before the session has recorded it."""
        self.query_one("#naming-rest").display = False
        self.query_one("#naming-upper").display = True
        self.query_one("#naming-head").display = True
        self.query_one(Picture).show(card.picture)
        words = head(card, hidden=choices.hidden, ipa=choices.ipa)
        self.query_one("#naming-item", Line).show(words)
        self._show_responded(Content(""))
        self.waveform.show(None)
        self._heard_so_far = []

    def show_hint(self, words: str, style: str) -> None:
        """Show the state of the session in words, or a message."""
        self.query_one("#naming-hint", Static).update(Content.styled(words, style))

    def hear(self, source: Source, now: NamingNow, *, drawing: bool) -> None:
        """Take in the present level; draw it and what was heard since the picture."""
        level = source.level
        shown = now.shown_s if now.waits and not drawing else None
        if shown is not None:
            self._heard_so_far.append(level.peak_dbfs)
        if not self.screen.is_current:
            return  # drawing behind a dialog would draw the whole screen each time
        self.query_one(LevelMeter).show(level)
        if shown is not None:
            end = max(source.now_s, shown + TICK_S)
            heard = Envelope(shown, end, tuple(self._heard_so_far))
            waiting = now.sound or Sound(heard, picture_s=shown)
            self.waveform.show(replace(waiting, envelope=heard))
