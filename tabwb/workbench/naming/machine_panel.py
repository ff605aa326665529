"""What the machine says of a response, once it may be shown; before that, why it is not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from textwrap import wrap

from textual.content import Content

from tabwb.workbench.naming.alignment import alignment_lines, change_lines, distance_words
from tabwb.workbench.naming.snapshots import MachineSays, NamingNow
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import QUIET, short_spec

GAP = 4
INDENT = 2
LEAST_LEFT = 17
LEAST_RIGHT = 46
LABEL = 13


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
    yield from said_lines(machine, width, costs=costs)


def said_lines(machine: MachineSays, width: int, *, costs: bool) -> Iterator[Content]:
    """Alignment and rules; with ``costs`` then the features that changed."""
    yield from machine_lines(machine, width - INDENT, costs=costs)
    if costs and machine.aligned is not None:
        yield Content("")
        for line in change_lines(machine.aligned):
            yield from _hanging(line, width - INDENT)


def machine_lines(machine: MachineSays, width: int, *, costs: bool) -> Iterator[Content]:
    """The alignment at the left, the rules at the right; one below the other where it is narrow."""
    if machine.aligned is None:
        heard = " ".join(machine.phonemes)
        left = [Content(heard)] if heard else [Content.styled("no speech detected", QUIET)]
    else:
        left = list(alignment_lines(machine.aligned, max(width, LEAST_LEFT), costs=costs))
    own = max((line.cell_length for line in left), default=0)
    indent = " " * INDENT
    if own + GAP + LEAST_RIGHT > width:
        for line in (*left, *_rules(machine, width)):
            yield Content.assemble(indent, line)
        return
    column = max(own, LEAST_LEFT if width >= LEAST_LEFT + GAP + LEAST_RIGHT else 0) + GAP
    right = _rules(machine, width - column)
    for one, other in zip_longest(left, right, fillvalue=Content("")):
        space = " " * (column - one.cell_length) if other else ""
        yield Content.assemble(indent, one, space, other)


def _hanging(line: Content, width: int) -> Iterator[Content]:
    """A line over as many as it needs, the later ones further in."""
    first, *rest = line.wrap(max(width - INDENT, 12))
    yield first.pad_left(INDENT)
    for more in rest:
        yield more.pad_left(2 * INDENT)


def _rules(machine: MachineSays, width: int) -> Iterator[Content]:
    lines = list(machine.lines)
    if machine.aligned is not None:
        proposed = [place for place, one in enumerate(lines) if one[0] == "proposed code"]
        at = proposed[0] if proposed else len(lines)
        lines.insert(at, ("distance from target", distance_words(machine.aligned)))
    for name, words in lines:
        label = f"{name:<{LABEL}}  "
        first, *rest = wrap(words, max(width - len(label), 12)) or [""]
        yield Content.assemble((label, QUIET), first)
        for more in rest:
            yield Content.assemble(" " * len(label), more)


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
        """The lines."""
        if self._now is None:
            return Content("")
        return Content("\n").join(panel_lines(self._now, width, costs=self._costs))
