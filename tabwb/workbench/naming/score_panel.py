"""How every item stands: a strip at the foot, or a list at the left where there is room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from textual.content import Content

from tabwb.workbench.naming.view_models import NamedItem
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, MARKS, QUIET, spread

GAP = 3
_WORDS = {"open": MARKS["open"], "now": "now", "given": f"{MARKS['given']} to score"}


def standing_words(one: NamedItem) -> str:
    """What stands beside an item's name.

    >>> standing_words(NamedItem("bed", "scored", True)), standing_words(NamedItem("dog", "now"))
    ('✓', 'now')
    >>> standing_words(NamedItem("cat", "scored", False, "semantic"))
    'semantic'
    """
    if one.standing == "scored":
        if one.word:
            return one.word
        return "-" if one.right is None else MARKS["right" if one.right else "wrong"]
    return _WORDS.get(one.standing, MARKS.get(one.standing, ""))


def tally(items: Sequence[NamedItem]) -> str:
    """``2 of 3 right``: of those that a person scored right or wrong.

    >>> tally([NamedItem("bed", "scored", True), NamedItem("cat", "scored", False)])
    '1 of 2 right'
    >>> tally([NamedItem("bed", "now")])
    ''
    """
    scored = [one for one in items if one.right is not None]
    return f"{sum(bool(one.right) for one in scored)} of {len(scored)} right" if scored else ""


def strip(items: Sequence[NamedItem], width: int) -> Content:
    """One line: items around the present one, and how many are right.

    >>> scored, now = NamedItem("bed", "scored", True), NamedItem("cat", "now")
    >>> strip([scored, now, NamedItem("dog", "open")], 44).plain
    'bed ✓   cat now   dog ·         1 of 1 right'
    >>> strip([scored, now, NamedItem("dog", "open")], 30).plain
    '…   cat now   …   1 of 1 right'
    """
    right = Content.styled(tally(items), "bold")
    room = width - right.cell_length - GAP
    parts = [_piece(one) for one in items]
    at = next((place for place, one in enumerate(items) if one.standing == "now"), None)
    if at is None:
        at = max((place for place, one in enumerate(items) if one.standing != "open"), default=0)
    first, last = at, at + 1
    while True:
        grown = [(first - 1, last), (first, last + 1)]
        fitting = [
            (low, high)
            for low, high in grown
            if low >= 0 and high <= len(parts) and _row(parts, low, high).cell_length <= room
        ]
        if not fitting:
            break
        # What is done matters more than what is still to come.
        first, last = fitting[0]
    return spread(_row(parts, first, last), right, width)


def _row(parts: Sequence[Content], first: int, last: int) -> Content:
    shown = list(parts[first:last])
    if first > 0:
        shown.insert(0, Content.styled("…", QUIET))
    if last < len(parts):
        shown.append(Content.styled("…", QUIET))
    return Content(" " * GAP).join(shown)


def _piece(one: NamedItem) -> Content:
    now = one.standing == "now"
    words = standing_words(one)
    style = ACCENT if now else QUIET if one.standing == "open" else "bold"
    return Content.assemble((one.name, "bold" if now else QUIET), " ", (words, style))


def naming_lines(items: Sequence[NamedItem], width: int) -> Iterator[Content]:
    """A person's scores so far: how many are right, and what the others were."""
    scored = [one for one in items if one.standing == "scored"]
    right = [one for one in scored if one.right]
    counted = [one for one in scored if one.right is not None]
    yield spread(
        Content.styled("Right, as a person scored", "bold"),
        Content.styled(f"{len(right)} of {len(counted)}" if counted else "-", "bold"),
        width,
    )
    yield Content("")
    kinds = Counter(one.word or ("right" if one.right else "error") for one in scored)
    for kind, count in kinds.most_common():
        yield spread(Content(kind), Content(str(count)), width)
    left = Counter(one.standing for one in items if one.standing not in {"scored", "now"})
    if kinds and left:
        yield Content("")
    for standing, count in left.items():
        words = {"open": "still to come", "given": "not scored yet"}.get(standing, standing)
        yield spread(Content.styled(words, QUIET), Content.styled(str(count), QUIET), width)


class ScoreStrip(WidthAwareWidget):
    """All items in one line."""

    DEFAULT_CSS = "ScoreStrip { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._items: tuple[NamedItem, ...] = ()

    def show(self, items: Sequence[NamedItem]) -> None:
        """Show these."""
        if tuple(items) != self._items:
            self._items = tuple(items)
            self.refresh()

    def paint(self, width: int) -> Content:
        """One line."""
        return strip(self._items, width)


class ItemList(WidthAwareWidget):
    """All items, one below the other; scrolled so that the present one is seen."""

    DEFAULT_CSS = "ItemList { height: 1fr; width: 22; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._items: tuple[NamedItem, ...] = ()

    def show(self, items: Sequence[NamedItem]) -> None:
        """Show these."""
        if tuple(items) != self._items:
            self._items = tuple(items)
            self.refresh()

    def paint(self, width: int) -> Content:
        """As many lines as there is room for, around the present item."""
        height = max(self.content_size.height, 1)
        at = next((place for place, one in enumerate(self._items) if one.standing == "now"), 0)
        first = max(0, min(at - height // 2, len(self._items) - height))
        lines = []
        for one in self._items[first : first + height]:
            now = one.standing == "now"
            style = ACCENT if now else QUIET if one.standing == "open" else "bold"
            name = Content.styled(("▸ " if now else "  ") + one.name, "bold" if now else "")
            lines.append(spread(name, Content.styled(standing_words(one), style), width))
        return Content("\n").join(lines)
