"""Two administrations of one naming battery as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from tabwb.records.words import plural
from tabwb.report.render.naming import BASES, code_of, said, score_of
from tabwb.report.render.printing import table
from tabwb.report.render.wording import NONE, chance
from tabwb.report.summaries.naming_difference import Changed, NamedDifference, NamedPair
from tabwb.scoring.naming.summary import NamedItem, right_by

TEST = (
    "gained: wrong in A and right in B; lost: right in A and wrong in B; p: McNemar's exact test, "
    "two-sided; mid-p: with half the chance of the observed split"
)


def naming_difference_views(
    found: NamedDifference, *, everything: bool
) -> Iterator[RenderableType]:
    """Everything that is said of one naming subtest on both sides."""
    made = table("A right", "B right", "items", "gained", "lost", "p", "mid-p", first=found.title)
    for each in found.changed:
        made.add_row(*_row(each))
    yield made
    if left := max((each.left_out for each in found.changed), default=0):
        yield Text(
            f"left out, as a side has no verdict: at most {plural(left, 'item')}", style="dim"
        )
    yield Text(TEST, style="dim")
    codes = table("A", "B", first="code (a person's, else proposed)")
    for code in dict.fromkeys((*found.codes[0], *found.codes[1])):
        codes.add_row(code, *(str(side.get(code, 0)) for side in found.codes))
    if found.codes[0] or found.codes[1]:
        yield codes
    shown = [pair for pair in found.pairs if everything or pair.differs]
    alike = len(found.pairs) - sum(pair.differs for pair in found.pairs)
    yield Text(f"{plural(len(found.pairs), 'item')}, {alike} alike in every respect", style="dim")
    if shown:
        yield _items(shown)


def _row(each: Changed) -> Iterator[str | Text]:
    yield BASES[each.basis]
    yield str(each.first)
    yield str(each.second)
    yield str(each.items)
    if each.test is None:
        yield from (NONE,) * 4
        return
    yield str(each.test.gained)
    yield str(each.test.lost)
    yield Text(chance(each.test.p), style="bold")
    yield chance(each.test.mid_p)


def _items(pairs: list[NamedPair]) -> Table:
    made = Table(box=SIMPLE_HEAD, expand=True, pad_edge=False, padding=(0, 1, 0, 0))
    made.add_column("item", no_wrap=True)
    made.add_column("A", ratio=1, overflow="fold")
    made.add_column("B", ratio=1, overflow="fold")
    for pair in pairs:
        made.add_row(pair.item, _side(pair.first), _side(pair.second))
    return made


def _side(responses: tuple[NamedItem, ...]) -> Text:
    if not responses:
        return Text("not given", style="dim")
    return Text("\n").join(_response(one) for one in responses)


def _response(one: NamedItem) -> Text:
    right = right_by(one, "outcome")
    mark = {True: "✓ ", False: "✗ ", None: "? "}[right] if one.status == "answered" else ""
    facts = (said(one), score_of(one), code_of(one))
    return Text.assemble((mark, "bold"), ", ".join(each for each in facts if each != NONE) or NONE)
