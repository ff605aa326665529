"""The marked response to a picture, beside the list: picture, facts, waveform, rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from tabwb.workbench.results.naming_detail import fact_lines, rule_lines
from tabwb.workbench.results.presenter import ResponseRow
from tabwb.workbench.shell.dialogs import ScrollPane
from tabwb.workbench.shell.pictures import Picture, Pixels
from tabwb.workbench.shell.sound import Sound
from tabwb.workbench.shell.waveform import Waveform
from tabwb.workbench.shell.widgets import WrappedText
from tabwb.workbench.shell.wording import QUIET

BESIDE = 52
"""From so many columns on the picture is beside the facts."""
WIDE = 84
"""From so many columns on the picture may be larger."""
ROWS = 18
"""From so many rows on the picture is larger; below them it is small, and only beside the facts."""
TALL = 40
"""From so many rows on picture and waveform are larger."""
HELP = """\
# Response

The picture (small on a low screen), who says what of the response, its sound, and what the rules
say of it, phoneme by phoneme.

- **l** plays the response, **1** to **5** score it, **h** takes what you heard, **k** a code. A new
  score is shown at once, marked as given after the transcript was seen where there is one
- **R** sets another rater, from whom earlier scores are hidden until they have scored
- **tab** goes to the waveform, where the onset and the limits can be moved: latency, attempts and
  what the rules say follow. **u** takes the latest correction back
- **I** changes between IPA and ARPAbet
- **v** declares the item void, **n** writes a note, **esc** goes back to the list

Every earlier value stays in the store.
"""


class NamedDetail(ScrollPane):
    """One response."""

    def __init__(self) -> None:
        super().__init__(id="named-detail", help_text=HELP)
        self._row: ResponseRow | None = None
        self._rater, self._arpabet = "", False

    def compose(self) -> ComposeResult:
        """Yield picture and facts, the waveform, the rules."""
        with Container(id="named-top"):
            yield Picture(id="named-picture")
            yield WrappedText(self._facts, id="named-facts")
        yield Waveform(id="named-wave")
        yield Static(id="named-trouble", markup=False)
        yield WrappedText(self._rules, id="named-rules")

    def show(
        self,
        row: ResponseRow | None,
        rater: str = "",
        *,
        arpabet: bool = False,
        new: bool = True,
    ) -> None:
        """Show a response."""
        self._row, self._rater, self._arpabet = row, rater, arpabet
        wave = self.query_one(Waveform)
        wave.ipa = not arpabet
        wave.refresh()
        for text in self.query(WrappedText):
            text.refresh(layout=True)
        if new:
            self.show_sound(None, None)
            self.scroll_home(animate=False)

    def show_sound(self, pixels: Pixels | None, sound: Sound | None, trouble: str = "") -> None:
        """Show picture and sound of the response."""
        self.query_one(Picture).show(pixels)
        recorded = self._row is not None and self._row.named is not None
        self.set_class(pixels is None and (bool(trouble) or not recorded), "-unpictured")
        wave, words = self.query_one(Waveform), self.query_one("#named-trouble", Static)
        wave.show(sound)
        wave.display = recorded and (sound is not None or not trouble)
        words.display = bool(trouble)
        words.update(Content.styled(trouble, QUIET))

    def follow(self, position: Callable[[], float | None]) -> None:
        """Show the second that is played."""
        self.query_one(Waveform).follow(position)

    def on_resize(self, event: Resize) -> None:
        """Show the picture as large as there is room for it."""
        self.set_class(event.size.height >= ROWS, "-pictured")
        self.set_class(event.size.height >= TALL, "-tall")
        self.set_class(event.size.width >= BESIDE, "-beside")
        self.set_class(event.size.width >= WIDE, "-wide")

    def _facts(self, width: int) -> Iterator[Content]:
        return (
            iter(())
            if self._row is None
            else fact_lines(self._row, self._rater, width, arpabet=self._arpabet)
        )

    def _rules(self, width: int) -> Iterator[Content]:
        return (
            iter(()) if self._row is None else rule_lines(self._row, width, arpabet=self._arpabet)
        )
