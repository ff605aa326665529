"""The naming page: picture, sound of the response, a person's score, the machine's words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.timer import Timer
from textual.widgets import Input, Static

from tabwb.speech.envelope import Envelope
from tabwb.workbench.engine.messages import Playing
from tabwb.workbench.engine.view_models import Work
from tabwb.workbench.naming.controller import NamingController
from tabwb.workbench.naming.dialogs import CodeScreen, MicrophoneScreen
from tabwb.workbench.naming.item_pane import (
    NO_RESPONSES,
    OVER,
    TICK_S,
    HeardField,
    ItemList,
    LevelMeter,
    MachinePanel,
    ResponseClock,
    consent_words,
    head,
    hint,
    responded,
    rest_title,
    resting,
    shown_keys,
    space_word,
)
from tabwb.workbench.naming.pictures import SpeakerSheet
from tabwb.workbench.naming.view_models import Card, NamingNow
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import ChoiceScreen
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.pictures import Picture
from tabwb.workbench.shell.sound import Sound, Waveform
from tabwb.workbench.shell.widgets import Line, Pane, WrappedText
from tabwb.workbench.shell.wording import AMBER

if TYPE_CHECKING:
    from tabwb.administer.session.session import Events
    from tabwb.tasks.spoken_naming.live import Source
    from tabwb.tasks.spoken_naming.strategy import SpokenStrategy


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


DRAWN_S = 0.05
"""How exactly it is known when a picture was drawn: a frame of ours and one of the terminal's."""
CLOCK_S = 0.5
"""So often the time of the recording is shown."""
SOUND_KEYS = {one.key: one.action for one in Binding.make_bindings(Waveform.BINDINGS)}
"""Keys of the waveform, which this page passes on because it keeps the focus."""


class NamingPage(Page, can_focus=True):
    """One naming administration, picture by picture."""

    KEYS_IN_TURN = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "screen.command('administer.re-prompt')", show=False),
        Binding("down,pagedown", "scroll_said(3)", show=False),
        Binding("up,pageup", "scroll_said(-3)", show=False),
    ]
    HELP = """\
# Spoken naming

**space** opens the microphone; then each **space** shows the next picture, which is zero of
latency. Everything from ready to a pause is in one recording; items are marks in it, so a wrong key
loses nothing.

- **1** right, **2** self-corrected, **3** error, **4** no response (then **s** silent, **d** don't
  know, **r** refused), **5** cannot be scored: each closes the response; a further one corrects it.
  Right and no response are codes too; **k** gives an error its code
- **c** next cue, **r** you repeat the question (later speech is not scored)
- **m** a new attempt begins, **x** examiner speaks (on, off)
- **h** what was heard, **k** its code, **l** listen
- **left** and **right** move the onset by 10 ms, with **shift** by 50 ms; **o** changes to the
  beginning and the end of the response; **+** and **-** zoom, **ctrl+left** and **ctrl+right** show
  another part. Marks can be dragged, and the wheel zooms
- **t** the cost of each phoneme and the features that changed; **up** and **down** scroll; **I**
  IPA or ARPAbet
- **H** shows the name of the picture while it is named; else it is hidden until the score
- **f** the picture alone for the participant; keys still work. **F** the same in a window
- **s** skip, **v** void, **u** undo, **n** note, **p** pause, **d** discontinue

Where the battery's rule says to end the subtest, **space** asks whether it ends.
At the time limit nothing is cut: the answer is kept and flagged *late*. What the machine says is
hidden until you have scored, where the battery does not say otherwise.
"""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self._work: Work | None = None
        self._now: NamingNow | None = None
        self._source: Source | None = None
        self._ticking: Timer | None = None
        self._alarm = ""
        self._message = ""
        self._asks_kind = False
        self._costs: bool | None = None
        self._opening = False
        """The microphone is being opened."""
        self._drawing = False
        """A picture is being drawn; its time is recorded afterwards."""
        self._sheet = SpeakerSheet()

    def compose(self) -> ComposeResult:
        """Yield the parts."""
        commands = self.desk.table.commands
        yield NamingParts([command for command in commands if "naming" in command.where])

    async def on_mount(self) -> None:
        """Mount the speaker's view, and start the timers."""
        self.set_interval(CLOCK_S, self._show_time)
        await self.desk.mount(self._sheet)
        self.desk.listen(Playing, self._playing)
        self._ticking = self.set_interval(TICK_S, self._tick, pause=True)

    def on_resize(self) -> None:
        """Lay out again; the width is known only now."""
        self.update_page()

    @property
    def _parts(self) -> NamingParts:
        return self.query_one(NamingParts)

    def update_page(self) -> None:
        """Show the open administration, to the speaker too."""
        work = self.desk.work
        if work is None or not isinstance(now := work.extension, NamingNow):
            return
        if self._now is None or now.card != self._now.card or not now.waits:
            self._asks_kind = False
        self._work, self._now = work, now
        self._source = self._controller.source
        self._message = ""
        if self._ticking is not None:
            (self._ticking.pause if self._source is None else self._ticking.resume)()
        scored = now.card is not None and now.score and work.status not in OVER
        rests = not now.waits and not scored and (now.microphone != "open" or now.card is None)
        if not self._drawing:
            self._parts.show(work, now, self._choices, self._source, rests=rests)
            self._show_field(now)
            self._sheet.show(now.card.picture if now.card and now.waits else None)
        self._tick()
        self._show_hint()
        self.desk.set_class(now.microphone == "open", "-recording")

    def _show_time(self) -> None:
        if self.display:
            self.desk.show_frame()

    def state_words(self) -> str:
        """Return ``REC 04:12`` while the microphone is open."""
        source = self._controller.source if self.desk.started else None
        if source is None:
            return ""
        minutes, seconds = divmod(int(source.now_s), 60)
        return f"REC {minutes:02d}:{seconds:02d}"

    def escape(self) -> bool:
        """Leave the speaker's view."""
        if not self._sheet.is_open:
            return False
        self._sheet.turn()
        return True

    def keys_done(self) -> bool:
        """Return whether the picture that the last key asked for is drawn."""
        return not (self._drawing and self.screen.is_current)

    def refuses_keys(self) -> bool:
        """Ignore keys while the microphone is being opened, and say so."""
        self._opening = self._opening and not self.desk.settled
        if self._opening:
            self.show_message(
                "the microphone is being opened: press the key again when it is ready"
            )
        return self._opening

    @property
    def _choices(self) -> Choices:
        remembered = self.desk.workbench.remembered
        waits = self._drawing or (self._now is not None and self._now.waits)
        tall = self.app.size.height >= TALL
        return Choices(
            ipa=not remembered.arpabet,
            costs=tall if self._costs is None else self._costs,
            hidden=waits and not remembered.names_shown,
            device=self._chosen_microphone,
        )

    def foot_word(self, command: Command) -> str:
        """Return the word of a command in the footer: what space does now."""
        work, now = self._work, self._now
        if command.key != "space" or work is None or now is None:
            return command.foot
        return space_word(work, now)

    def _show_field(self, now: NamingNow) -> None:
        field = self.query_one(HeardField)
        if not field.has_focus:
            field.value = now.heard
        elif not now.score:
            self.focus()

    def _show_hint(self) -> None:
        work, now = self._work, self._now
        if work is None or now is None:
            return
        if self._message:
            words, style = self._message, AMBER
        elif self._alarm:
            words, style = f"! {self._alarm}", f"bold {AMBER}"
        else:
            words, style = hint(work, now, asks_kind=self._asks_kind)
        self._parts.show_hint(words, style)

    def show_message(self, words: str) -> None:
        """Show a message in place of the hint, until something changes or a key is pressed."""
        self._message = words
        self._show_hint()

    def _tick(self) -> None:
        source, now = self._source, self._now
        if source is None or now is None:
            return
        alarm = source.alarm or ""
        if alarm != self._alarm:
            self._alarm = alarm
            self._show_hint()
            if alarm:  # shown at once, also in the speaker's view
                self.escape()
                self.desk.notify(alarm, title="Sound", severity="error", timeout=8, markup=False)
        self._parts.hear(source, now, drawing=self._drawing)

    def _playing(self, message: Playing) -> None:
        """Show in the waveform which second is heard."""
        work = self._work
        item = work.item if work is not None else None
        played = message.number, message.trial
        if work and item and played == (work.administration.id, item.trial.plan.number):
            self._parts.waveform.follow(message.position)

    # ---------------------------------------------------------------- commands

    @property
    def _controller(self) -> NamingController:
        return self.desk.controller(NamingController)

    @property
    def _chosen_microphone(self) -> str:
        """The microphone that was chosen, or empty for the system's default."""
        return self.desk.workbench.remembered.microphone

    def show(self) -> None:
        """Open the microphone, show the next picture, or end."""
        desk, work, now = self.desk, self._work, self._now
        if work is None or now is None:
            return
        if now.microphone == "opening" or self._drawing:
            self.show_message("one moment")
        elif work.status in OVER:
            desk.request("results", "show", work.administration.id)
        elif now.microphone == "closed":
            if now.left_over:
                desk.do(self._controller.take_in)
            self._opening = True
            desk.workbench.keys.waiting.clear()
            desk.do(partial(self._controller.ready, self._chosen_microphone))
        elif now.ends:
            self._ask_to_end(now.ends)
        elif now.upcoming is None:
            desk.do(desk.sessions.next)
        else:
            self._show_card(now.upcoming)

    def _ask_to_end(self, reason: str) -> None:
        """Ask whether the subtest ends as the battery's rule says, which is the default."""

        def chosen(name: str | None) -> None:
            if name is not None:
                self.desk.do(partial(self._controller.end_subtest, ends=name == "end"))

        choices = (("end", "End the subtest"), ("continue", "Give further items"))
        text = f"{reason}. Items that were not given get the state 'not administered'."
        self.app.push_screen(ChoiceScreen("The battery's rule", text, choices), chosen)

    def _show_card(self, card: Card) -> None:
        source = self._controller.source
        if source is None:
            return
        self._drawing = True
        self.desk.do(partial(self._controller.expose, card.number))
        self._parts.show_card(card, self._choices)
        self._sheet.show(card.picture)

        def drawn() -> None:
            # The frame that holds the picture has been written: zero of latency.
            at, about = source.now_s, DRAWN_S + source.uncertainty_s
            self.desk.do(partial(self._controller.show_picture, card.number, at, about))
            self._drawing = False

        self.desk.call_after_refresh(drawn)

    def speaker(self) -> None:
        """Show the picture alone, or everything again."""
        self._sheet.turn()

    def detail(self) -> None:
        """Show or hide the costs of the alignment."""
        self._costs = not self._choices.costs
        self.update_page()

    def picture_name(self) -> None:
        """Show the name of the picture while it is named, or hide it."""
        self._remember(names_shown=not self.desk.workbench.remembered.names_shown)

    def notation(self) -> None:
        """Show phonemes in ARPAbet, or in IPA again."""
        self._remember(arpabet=not self.desk.workbench.remembered.arpabet)

    def _remember(self, **settings: bool) -> None:
        self.desk.workbench.remember(**settings)
        self.update_page()
        self._parts.waveform.refresh()

    def no_response(self) -> None:
        """Ask of which kind no response is; the next key scores it."""
        self._asks_kind = True
        self._show_hint()

    def unscorable(self) -> None:
        """Ask for the reason why the response cannot be scored."""
        job = partial(self._controller.score, "not-scorable")
        self.desk.ask_words("This response cannot be scored", "Reason", job)

    def _record(self, command: Callable[[SpokenStrategy], Events]) -> None:
        self.desk.do(partial(self._controller.record, command))

    def heard(self) -> None:
        """Put the cursor into the field of what was heard."""
        self.query_one(HeardField).focus()

    def code(self) -> None:
        """Ask for the code of the response."""
        now = self._now
        if now is None:
            return

        def chosen(code: tuple[str, tuple[str, ...]] | None) -> None:
            if code is not None:
                self._record(lambda spoken: spoken.listening.code(*code))

        target = now.card.target if now.card else ""
        self.app.push_screen(CodeScreen(target, now.code, now.flags), chosen)

    def consent(self) -> None:
        """Ask for the form by which the speaker has agreed to what is lacking."""
        if self._work is None or self._now is None:
            return
        self.desk.ask_words(
            f"{self._work.administration.conditions.person} has agreed today to",
            "Where the signed form is",
            self._controller.keep_consent,
            consent_words(self._now.lacking),
            optional=True,
        )

    def test(self) -> None:
        """Choose a microphone and test it."""

        def chosen(name: str | None) -> None:
            if name is not None:
                self.desk.workbench.remember(microphone=name)
                self.desk.current.update_page()

        self.app.push_screen(MicrophoneScreen(self._chosen_microphone), chosen)

    # ---------------------------------------------------------------- keys

    def action_scroll_said(self, lines: int) -> None:
        """Scroll what the machine says, where it is longer than its place."""
        self.query_one("#naming-said", VerticalScroll).scroll_relative(y=lines, animate=False)

    async def on_key(self, event: Key) -> None:
        """After *no response* the next key says of which kind it was; others move marks."""
        self._message = ""
        if not self.has_focus:
            return
        if not self._asks_kind:
            if (action := SOUND_KEYS.get(event.key)) is not None:
                event.stop()
                event.prevent_default()
                await self._parts.waveform.run_action(action)
            return
        self._asks_kind = False
        if event.key != "escape" or not self._sheet.is_open:  # esc leaves the speaker's view too
            event.stop()
            event.prevent_default()
        if event.key in NO_RESPONSES:
            self.desk.do(partial(self._controller.score, "no-response", NO_RESPONSES[event.key]))
        self._show_hint()

    def on_waveform_limits_moved(self, event: Waveform.LimitsMoved) -> None:
        """Record the limits of the response that a person has moved."""
        event.stop()
        self._record(lambda spoken: spoken.listening.set_limits(event.start_s, event.end_s))

    def on_waveform_onset_moved(self, event: Waveform.OnsetMoved) -> None:
        """Record the onset that a person has moved."""
        event.stop()
        self._record(lambda spoken: spoken.listening.set_onset(event.at_s))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep what was heard."""
        event.stop()
        if words := event.value.strip():
            self._record(lambda spoken: spoken.listening.hear(words))
        self.focus()
