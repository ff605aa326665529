"""What the machine says of a response, once it may be shown; before that, why it is not."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from tabwb.workbench.naming.snapshots import NamingNow
from tabwb.workbench.shell.rule_verdicts import verdict_lines
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import QUIET, short_spec


def panel_lines(now: NamingNow, width: int, *, costs: bool) -> Iterator[Content]:
    """The lines for this many columns."""
    machine = now.machine
    if machine is None:
        words = waiting_words(now)
        if words:
            yield Content.styled(words, QUIET)
        return
    by = short_spec(machine.transcriber)
    title = f"Machine transcript (unchecked), {by}" if by else "Machine transcript (unchecked)"
    if machine.by_ear:
        title = "Rules, over what was heard"
    yield Content.styled(title if now.score else f"{title}, shown before your score", QUIET)
    yield from verdict_lines(machine, width, costs=costs)


def waiting_words(now: NamingNow) -> str:
    """Why nothing is shown."""
    if now.listening:
        return now.listening
    if now.hidden:
        return "the machine's words are hidden until you have scored"
    if now.score and not now.transcriber:
        return "nothing transcribes in this administration"
    return ""


class MachinePanel(WidthAwareWidget):
    """The machine's words."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._now: NamingNow | None = None
        self._costs = False

    def show(self, now: NamingNow, *, costs: bool) -> None:
        """Show these."""
        if (now, costs) != (self._now, self._costs):
            self._now, self._costs = now, costs
            self.refresh(layout=True)

    def paint(self, width: int) -> Content:
        """Return the lines."""
        if self._now is None:
            return Content("")
        return Content("\n").join(panel_lines(self._now, width, costs=self._costs))
