"""The state of every item: a strip at the foot, or a list at the left where there is room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from textual.content import Content

from tabwb.workbench.naming.view_models import NamedItem
from tabwb.workbench.shell.width_aware import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, MARKS, QUIET, spread

GAP = 3
_WORDS = {"open": MARKS["open"], "now": "now", "given": f"{MARKS['given']} to score"}


def standing_words(item: NamedItem) -> str:
    """Return what is shown beside an item's name.

    >>> standing_words(NamedItem("bed", "scored", True)), standing_words(NamedItem("dog", "now"))
    ('✓', 'now')
    >>> standing_words(NamedItem("cat", "scored", False, "semantic"))
    'semantic'
    """
    if item.standing == "given" and item.word:
        return item.word
    if item.standing == "scored":
        if item.word:
            return item.word
        return "-" if item.right is None else MARKS["right" if item.right else "wrong"]
    return _WORDS.get(item.standing, MARKS.get(item.standing, ""))


def tally(items: Sequence[NamedItem]) -> str:
    """Return ``2 of 3 right``, of the items that a person scored right or wrong.

    >>> tally([NamedItem("bed", "scored", True), NamedItem("cat", "scored", False)])
    '1 of 2 right'
    >>> tally([NamedItem("bed", "now")])
    ''
    """
    scored = [item for item in items if item.right is not None]
    return f"{sum(bool(item.right) for item in scored)} of {len(scored)} right" if scored else ""


def strip(items: Sequence[NamedItem], width: int) -> Content:
    """Return one line: the items around the present item, and how many are right.

    Args:
        items: all of them.
        width: of the line.

    >>> scored, now = NamedItem("bed", "scored", True), NamedItem("cat", "now")
    >>> strip([scored, now, NamedItem("dog", "open")], 44).plain
    'bed ✓   cat now   dog ·         1 of 1 right'
    >>> strip([scored, now, NamedItem("dog", "open")], 30).plain
    '…   cat now   …   1 of 1 right'
    """
    right = Content.styled(tally(items), "bold")
    room = width - right.cell_length - GAP
    parts = [_piece(item) for item in items]
    at = next((place for place, item in enumerate(items) if item.standing == "now"), None)
    if at is None:
        at = max((place for place, item in enumerate(items) if item.standing != "open"), default=0)
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


def _piece(item: NamedItem) -> Content:
    now = item.standing == "now"
    words = standing_words(item)
    style = ACCENT if now else QUIET if item.standing == "open" else "bold"
    return Content.assemble((item.name, "bold" if now else QUIET), " ", (words, style))


def naming_lines(items: Sequence[NamedItem], width: int) -> Iterator[Content]:
    """Yield a person's scores so far: how many are right, and what the others were.

    Args:
        items: all of them.
        width: of a line.
    """
    scored = [item for item in items if item.standing == "scored"]
    right = [item for item in scored if item.right]
    counted = [item for item in scored if item.right is not None]
    yield spread(
        Content.styled("Right, as a person scored", "bold"),
        Content.styled(f"{len(right)} of {len(counted)}" if counted else "-", "bold"),
        width,
    )
    yield Content("")
    kinds = Counter(item.word or ("right" if item.right else "error") for item in scored)
    for kind, count in kinds.most_common():
        yield spread(Content(kind), Content(str(count)), width)
    left = Counter(item.standing for item in items if item.standing not in {"scored", "now"})
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
        """Show these items."""
        if tuple(items) != self._items:
            self._items = tuple(items)
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return the line."""
        return strip(self._items, width)


class ItemList(WidthAwareWidget):
    """All items, one below the other; scrolled so that the present one is seen."""

    DEFAULT_CSS = "ItemList { height: 1fr; width: 22; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._items: tuple[NamedItem, ...] = ()

    def show(self, items: Sequence[NamedItem]) -> None:
        """Show these items."""
        if tuple(items) != self._items:
            self._items = tuple(items)
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return as many lines as there is room for, around the present item."""
        height = max(self.content_size.height, 1)
        at = next((place for place, item in enumerate(self._items) if item.standing == "now"), 0)
        first = max(0, min(at - height // 2, len(self._items) - height))
        lines = []
        for item in self._items[first : first + height]:
            now = item.standing == "now"
            style = ACCENT if now else QUIET if item.standing == "open" else "bold"
            name = Content.styled(("▸ " if now else "  ") + item.name, "bold" if now else "")
            lines.append(spread(name, Content.styled(standing_words(item), style), width))
        return Content("\n").join(lines)
