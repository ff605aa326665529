"""The state of every item: one below the other, or in one line where it is narrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from textual.content import Content

from tabwb.workbench.naming.view_models import NamedItem
from tabwb.workbench.shell.drawn import MARKS
from tabwb.workbench.shell.widgets import WidthAwareWidget
from tabwb.workbench.shell.wording import ACCENT, QUIET, spread

GAP = 3
NOW = "▸"
LATENCY_FROM = 26
"""The least columns of the list for the latency of each item."""
TOOLTIP = """\
▸ picture shown   ✓ right   ✗ wrong   ● not scored   · to come
› skipped   ∅ void   - not administered   ! in error"""


def standing_words(item: NamedItem) -> str:
    """Return what is shown beside an item's name.

    >>> standing_words(NamedItem("bed", "scored", True)), standing_words(NamedItem("dog", "now"))
    ('✓', '▸')
    >>> standing_words(NamedItem("cat", "scored", False, "semantic"))
    '✗ semantic'
    """
    if item.standing == "now":
        return NOW
    if item.standing == "given":
        return item.word or f"{MARKS['given']} to score"
    if item.standing != "scored":
        return MARKS.get(item.standing, "")
    mark = "-" if item.right is None else MARKS["right" if item.right else "wrong"]
    return f"{mark} {item.word}".rstrip()


def tally(items: Sequence[NamedItem]) -> str:
    """Return ``2 of 3 right``, of the items that a person scored right or wrong.

    >>> tally([NamedItem("bed", "scored", True), NamedItem("cat", "scored", False)])
    '1 of 2 right'
    >>> tally([NamedItem("bed", "now")])
    ''
    """
    scored = [item.right for item in items if item.right is not None]
    return f"{sum(scored)} of {len(scored)} right" if scored else ""


def strip(items: Sequence[NamedItem], width: int, *, hidden: bool) -> Content:
    """Return one line: the items up to the present one, how many are left, how many are right.

    >>> scored, now = NamedItem("bed", "scored", True), NamedItem("cat", "now")
    >>> to_come = NamedItem("dog", "open")
    >>> strip([scored, now, to_come], 44, hidden=True).plain
    '1 bed ✓   2 ▸   1 left          1 of 1 right'
    >>> strip([scored, now, to_come], 35, hidden=False).plain
    '…   2 cat ▸   1 left   1 of 1 right'
    """
    right = Content.styled(tally(items), "bold")
    begun = [at for at, item in enumerate(items) if item.standing != "open"]
    left = len(items) - len(begun)
    parts = [
        Content.assemble(*_titled(at + 1, items[at], hidden=hidden), " ", _standing(items[at]))
        for at in begun
    ]
    end = [Content.styled(f"{left} left", QUIET)] if left else []
    gap = Content(" " * GAP)
    room = width - right.cell_length - GAP
    first = max(len(parts) - 1, 0)
    more = [Content.styled("…", QUIET)]
    while first > 0:
        row = gap.join([*more * (first > 1), *parts[first - 1 :], *end])
        if row.cell_length > room:
            break
        first -= 1
    return spread(gap.join([*more * (first > 0), *parts[first:], *end]), right, width)


def _titled(number: int, item: NamedItem, *, hidden: bool) -> list[tuple[str, str]]:
    """The number of an item and, where it may be read, its name."""
    now = item.standing == "now"
    name = [] if now and hidden else [(f" {item.name}", "bold" if now else "")]
    return [(str(number), QUIET), *name]


def _present(items: Sequence[NamedItem]) -> int:
    begun = [at for at, item in enumerate(items) if item.standing != "open"]
    return next(
        (at for at, item in enumerate(items) if item.standing == "now"), max(begun, default=0)
    )


def _standing(item: NamedItem) -> Content:
    style = {"now": ACCENT, "open": QUIET}.get(item.standing, "bold")
    return Content.styled(standing_words(item), style)


def score_lines(items: Sequence[NamedItem], width: int) -> Iterator[Content]:
    """Yield a person's scores so far: how many are right, the others, and below errors their
    codes.
    """
    scored = [item for item in items if item.standing == "scored"]
    counted = [item.right for item in scored if item.right is not None]
    if not scored:
        return
    share = f"{sum(counted)} of {len(counted)}" if counted else "-"
    yield spread(Content.styled("Right, by ear", "bold"), Content.styled(share, "bold"), width)
    said = [
        (item, item.word if item.word and not item.is_code else "right" if item.right else "error")
        for item in scored
    ]
    kinds = Counter(kind for _, kind in said)
    codes = Counter((kind, item.word) for item, kind in said if item.is_code)
    for kind, count in kinds.most_common():
        yield spread(Content(kind), Content(str(count)), width)
        for (of, code), n in codes.most_common():
            if of == kind:
                yield spread(Content.styled(f"  {code}", QUIET), Content(str(n)), width)
    times = sorted(item.latency_s for item in scored if item.latency_s is not None)
    if times:
        middle = (times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2
        yield spread(Content("median latency"), Content(f"{middle:.2f} s"), width)
    left = Counter(item.standing for item in items if item.standing not in {"scored", "now"})
    for standing, count in left.items():
        words = {"open": "to come", "given": "not scored"}.get(standing, standing)
        yield spread(Content.styled(words, QUIET), Content.styled(str(count), QUIET), width)


def column(items: Sequence[NamedItem], width: int, height: int, *, hidden: bool) -> Content:
    """Return the items in lines, as many as there is room for around the present one.

    Args:
        items: all of them; those to come have no name.
        width: columns; from :data:`LATENCY_FROM` on with latencies in seconds.
        height: lines.
        hidden: whether the name of the picture that is shown is hidden too.
    """
    first = max(0, min(_present(items) - height // 2, len(items) - height))
    digits = len(str(len(items)))
    lines = []
    for number, item in enumerate(items[first : first + height], first + 1):
        readable = item.standing != "open" and not (item.standing == "now" and hidden)
        name = Content.assemble(
            (f"{number:>{digits}} ", QUIET),
            (item.name if readable else "", "bold" if item.standing == "now" else ""),
        )
        right = _standing(item)
        if width >= LATENCY_FROM:
            time = "" if item.latency_s is None else f"{item.latency_s:.2f}"
            right = Content.assemble(right, (f"{time:>6}", QUIET))
        lines.append(spread(name, right, width))
    return Content("\n").join(lines)


class ItemList(WidthAwareWidget):
    """The state of every item: in one line, or one below the other where there is room."""

    DEFAULT_CSS = "ItemList { height: 1fr; width: 1fr; }"

    def __init__(self, *, id: str | None = None, one_line: bool = False) -> None:
        super().__init__(id=id)
        self.tooltip = TOOLTIP
        self._one_line = one_line
        self._shown: tuple[tuple[NamedItem, ...], bool] = (), True

    def show(self, items: Sequence[NamedItem], *, hidden: bool = True) -> None:
        """Show these items."""
        if (shown := (tuple(items), hidden)) != self._shown:
            self._shown = shown
            self.refresh()

    def paint(self, width: int) -> Content:
        """Return the line or lines."""
        items, hidden = self._shown
        if self._one_line:
            return strip(items, width, hidden=hidden)
        height = max(self.content_size.height, 1)
        scores = list(score_lines(items, width))
        if len(items) + len(scores) + 1 > height and len(scores) > height // 2:
            scores = []
        rows = column(items, width, max(height - len(scores) - bool(scores), 1), hidden=hidden)
        return Content("\n").join([rows, *([Content(""), *scores] if scores else [])])
