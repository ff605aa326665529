"""The laboratory: the parts of a model, a lesion, intact and lesioned answers side by side."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Resize
from textual.widgets import Input, Static

from tabwb.lesion.declared import TARGETS, Part
from tabwb.lesion.spec import parse_lesions, spec_values
from tabwb.records.errors import TabwbError
from tabwb.records.states import ResponseStatus
from tabwb.records.trials import PlannedTrial
from tabwb.records.words import plural
from tabwb.scoring.word_difference import Piece, word_difference
from tabwb.workbench.lesions.controller import (
    LaboratoryState,
    LesionsController,
    PairsGiven,
)
from tabwb.workbench.lesions.form import GridScreen, LesionForm, problem_of
from tabwb.workbench.lesions.laboratory import Answer, Pair, count_of
from tabwb.workbench.lesions.page_words import (
    BEGIN,
    FIELD_HELPS,
    HELP,
    combo_of_batteries,
    combo_of_models,
    declared_lines,
    item_lines,
)
from tabwb.workbench.lesions.sweep_page import SweepPage
from tabwb.workbench.shell.columns import Column
from tabwb.workbench.shell.desk import Desk
from tabwb.workbench.shell.dialogs import Combo, Fields, Known, ScrollPane, labelled
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.row_list import RowList
from tabwb.workbench.shell.widgets import Pane, WrappedText
from tabwb.workbench.shell.wording import (
    ACCENT,
    AMBER,
    LEAST,
    LESIONED,
    QUIET,
    folded,
    key_lines,
    side_by_side,
    spread,
    styled,
)

BESIDE_FROM = 60
"""From so many columns the two answers are side by side."""
MOST = 72
"""Columns of one answer at most."""
_VERDICTS = {True: ("✓", ACCENT), False: ("✗", AMBER), None: ("-", QUIET)}
NOTE = "underlined words are not in the other answer"


def lines_of(pairs: Sequence[Pair], width: int) -> Iterator[Content]:
    """Yield the answers to items, one below the other."""
    if len(pairs) > 1:
        parts = summary(pairs)
        whole = Content("   ").join(parts)
        one_line = whole.cell_length <= width
        yield from [whole] if one_line else [parts[0], Content("   ").join(parts[1:])]
        yield Content("")
    for pair in pairs:
        yield from _item(pair, width)
        yield Content("")


def summary(pairs: Sequence[Pair]) -> list[Content]:
    """Return how many items were answered differently, and how many are right on each side."""
    both = [pair for pair in pairs if pair.intact is not None and pair.lesioned is not None]
    parts = []
    if both:
        unlike = sum(_text(pair.intact) != _text(pair.lesioned) for pair in both)
        parts.append(f"{unlike} of {len(both)} items answered differently")
    for name, answers in (
        ("intact", [pair.intact for pair in pairs]),
        ("lesioned", [pair.lesioned for pair in pairs]),
    ):
        first = [one.verdicts[0] for one in answers if one is not None and one.verdicts]
        if first:
            right = sum(verdict.right is True for verdict in first)
            parts.append(f"{name} {right} of {len(first)} {first[0].measure}")
    return [Content.styled(part, "bold") for part in parts]


def _item(pair: Pair, width: int) -> Iterator[Content]:
    place = f"{pair.title}  {pair.plan.item}"
    right = f"expected {pair.expected}" if pair.expected else ""
    yield spread(Content.styled(place, f"bold {ACCENT}"), Content.styled(right, QUIET), width)
    yield from folded(pair.plan.prompt.strip(), min(width, 2 * MOST), QUIET)
    width = max(width, LEAST)  # a hidden pane has no columns
    column = min((width - 3) // 2, MOST)
    beside = width >= BESIDE_FROM and bool(pair.lesion)
    room = column if beside else min(width, MOST)
    intact, lesioned = _sides(pair)
    left = _answer("intact", "", pair.intact, intact, room)
    if not pair.lesion:
        yield from left
        return
    right_side = _answer(f"{LESIONED} lesioned", pair.lesion, pair.lesioned, lesioned, room)
    if not beside:
        yield from (*left, *right_side)
    else:
        yield from side_by_side(left, right_side, room)
    if pair.intact is not None and pair.lesioned is not None:
        difference = word_difference(pair.intact.text, pair.lesioned.text)
        words = difference.words.replace("the first", "intact").replace("the second", "lesioned")
        yield from folded(words, width, QUIET)


def _sides(pair: Pair) -> tuple[Sequence[Piece], Sequence[Piece]]:
    first, second = _text(pair.intact), _text(pair.lesioned)
    if pair.intact is None or pair.lesioned is None:  # nothing is marked before both are there
        return [Piece(first, False)], [Piece(second, False)]
    found = word_difference(first, second)
    return found.first, found.second


def _text(answer: Answer | None) -> str:
    return "" if answer is None else answer.text


def _answer(
    name: str, lesion: str, answer: Answer | None, pieces: Sequence[Piece], width: int
) -> list[Content]:
    """Return the lines of one answer: whose it is, verdicts, the text."""
    awaited = Content.styled("…" if answer is None else "", QUIET)
    head = spread(Content.styled(name, f"bold {AMBER}" if lesion else "bold"), awaited, width)
    lines = [head, *styled(pieces, width)]
    if answer is not None:
        notes = [] if answer.status is ResponseStatus.OK else [answer.status.value]
        notes += ["cut at the token limit"] if answer.cut else []
        if notes:
            lines.append(Content.styled(f"[{', '.join(notes)}]", QUIET))
        if answer.verdicts:
            lines.append(Content("  ").join(
                Content.assemble((f"{verdict.measure} ", QUIET), _VERDICTS[verdict.right])
                for verdict in answer.verdicts
            ))  # fmt: skip
    return lines


NOTHING = "no model is loaded"


@dataclass(frozen=True, slots=True)
class Line:
    """The model, a layer or a part.

    Attributes:
        target: of a lesion; empty: any.
        layer: its layer; None: all.
        names: the parts for which it stands.
        parameters: their number; None: not told.
    """

    words: str
    depth: int = 0
    target: str = ""
    layer: int | None = None
    names: frozenset[str] = frozenset()
    parameters: int | None = None
    units: str = ""

    @property
    def folds(self) -> bool:
        """Whether parts are below it."""
        return not self.target and bool(self.names)

    @property
    def key(self) -> tuple[int, str, int | None]:
        """What tells it from others."""
        return self.depth, self.target, self.layer


def part_lines(model: str, parts: Sequence[Part]) -> Iterator[Line]:
    """Yield the model, parts of no layer, then each layer with its parts."""
    if not parts:
        yield Line(NOTHING)
        return
    yield Line(model, names=frozenset(part.name for part in parts))
    layers: dict[int | None, list[Part]] = {}
    for part in sorted(parts, key=lambda one: -1 if one.layer is None else one.layer):
        layers.setdefault(part.layer, []).append(part)
    for layer, own in layers.items():
        depth = 1 if layer is None else 2
        if layer is not None:
            weights = [one.parameters for one in own if TARGETS[one.target].unit == "weight"]
            names = frozenset(one.name for one in own)
            yield Line(f"layer {layer}", 1, "", layer, names, sum(weights))
        for one in own:
            unit = TARGETS[one.target].unit
            units = "" if unit == "weight" else plural(one.units, unit)
            only = frozenset([one.name])
            yield Line(one.target, depth, one.target, layer, only, one.parameters, units)


class PartsList(RowList):
    """The parts; enter puts the one under the cursor into the fields."""

    HELP = """\
# Parts of the model

The parts of the model that can be lesioned, with their numbers of parameters.

- **enter** on a part makes it the target; on a layer, the lesion is limited to that layer; on the
  model it acts in all layers
- **left**, **right** close and open a branch
- **tab** goes to the fields, **space** gives the item
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "fold", show=False),
        Binding("right", "unfold", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="lab-parts", opens=False)
        self._parts: Sequence[Part] = ()
        self._lines: tuple[Line, ...] = (Line(NOTHING),)
        self._open: set[tuple[int, str, int | None]] = set()
        self._marked: frozenset[str] = frozenset()

    def on_mount(self) -> None:
        """Say that there is no model yet."""
        self._fill()

    def show_parts(self, model: str, parts: Sequence[Part]) -> None:
        """Show the parts of a model; the same parts stay as they are."""
        lines = tuple(part_lines(model, parts))
        if lines == self._lines:
            return
        self._lines, self._marked = lines, frozenset()
        self._open = {line.key for line in lines if line.folds and not line.layer}
        self._fill(0)
        self.on_resize()

    def on_resize(self) -> None:
        """Open the first layers, as many as there is room for."""
        room = self.size.height - len(self.rows)
        for line in self._lines:
            if line.folds and line.layer and line.key not in self._open:
                room -= sum(part.layer == line.layer for part in self._lines) - 1
                if room < 0:
                    break
                self._open.add(line.key)
        self._fill()

    def mark(self, names: frozenset[str]) -> None:
        """Mark the parts that a lesion changes, and their layers."""
        if names != self._marked:
            self._marked = names
            self._fill()

    def _fill(self, current: int | None = None) -> None:
        rows = [line for line in self._lines if self._is_seen(line)]
        columns: Sequence[Column[Line]] = (
            Column("", self._titled, least=8, end=True),
            Column("", _parameters, right=True, style=QUIET),
            Column("", lambda line: line.units, rank=1, style=QUIET),
            Column("", self._mark_of, style="bold"),
        )
        self.show(columns, rows, current=current, ids=lambda line: line.key)

    def _is_seen(self, line: Line) -> bool:
        layer = (1, "", line.layer)
        return not line.depth or (
            (0, "", None) in self._open and (line.depth < 2 or layer in self._open)
        )

    def _titled(self, line: Line) -> Content:
        sign = ("▾ " if line.key in self._open else "▸ ") if line.folds else "  "
        return Content.assemble("  " * line.depth, (sign, QUIET), line.words)

    def _mark_of(self, line: Line) -> str:
        return LESIONED if line.depth and line.names & self._marked else ""

    @property
    def line(self) -> Line:
        """The line under the cursor."""
        row: Line = self.rows[max(self.current, 0)]
        return row

    def action_fold(self) -> None:
        """Close the branch, or go to its head."""
        line = self.line
        if line.key in self._open:
            self._open.discard(line.key)
            self._fill()
        elif line.depth:
            self.choose((1, "", line.layer) if line.depth == 2 else (0, "", None))

    def action_unfold(self) -> None:
        """Open the branch."""
        if self.line.folds:
            self._open.add(self.line.key)
            self._fill()


def _parameters(line: Line) -> str:
    return "" if line.parameters is None else f"{line.parameters:,}"


BOTH_FROM = 110
"""From so many columns of the page parts and answers stand side by side."""
COUNT_S = 0.15
"""So long after the last change the parameters are counted."""
FIELDS = Fields("lab-", FIELD_HELPS, "**esc** returns to the commands.")


class LesionsPage(Page):
    """The page."""

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self.state = LaboratoryState("")
        self._items: Sequence[PlannedTrial] = ()
        self._of_battery = ""
        self._pairs: Sequence[Pair] = ()
        self._answered = ""
        """The model that gave the answers."""
        self._answers_shown = False
        self._since = 0.0
        """When loading or asking began."""
        self._counted = ""

    def compose(self) -> ComposeResult:
        """Yield the panes: model and item, lesion, parts, responses."""
        catalogue = self.desk.catalogue
        with Pane(title="Laboratory", id="lab-head"):
            with Horizontal(classes="lab-row"):
                models = combo_of_models(FIELDS, catalogue)
                yield labelled("Model", models, "-two")
                yield labelled("Battery", combo_of_batteries(FIELDS, catalogue))
            yield labelled("Item", FIELDS.combo("item", "", ()))
        with Pane(title="Lesion", id="lab-lesion"):
            yield LesionForm()
            yield Static(id="lab-count", markup=False)
            yield Static(id="lab-note", markup=False)
        with Horizontal(id="lab-body"):
            yield Pane(PartsList(), title="Parts", id="lab-parts-pane")
            with (
                Pane(title="Responses", id="lab-answers-pane"),
                ScrollPane(id="lab-answers", help_text=HELP),
            ):
                yield WrappedText(self._lines, id="lab-pairs")

    def on_mount(self) -> None:
        """Listen to the worker."""
        self.desk.news.subscribe(self, self._hear)
        self.set_interval(0.5, self._tick)
        self._say()
        self._lay_out()

    # ---------------------------------------------------------------- what is shown

    def update_page(self) -> None:
        """Lay out for the present width."""
        self._lay_out()
        self._show_head()

    def on_resize(self, event: Resize) -> None:
        """Lay out again."""
        self._lay_out()

    def open_title(self) -> str | None:
        """Return what the title bar says."""
        return "laboratory"

    def focus_inside(self) -> None:
        """Give the keys to the parts or the answers."""
        shown = self.query_one("#lab-answers-pane").display and self._answers_shown
        (self.query_one("#lab-answers") if shown else self.query_one(PartsList)).focus()

    def _lay_out(self) -> None:
        both = self.size.width >= BOTH_FROM
        self.query_one("#lab-parts-pane").display = both or not self._answers_shown
        self.query_one("#lab-answers-pane").display = both or self._answers_shown
        self.set_class(both, "-both")
        # A short screen has room for the fields or for two answers.
        self.set_class(self._answers_shown and not both, "-answers")

    def _show_head(self) -> None:
        state = self.state
        words = state.words if state.phase != "refused" else ""
        if self._busy:
            words = f"… {words}  {time.monotonic() - self._since:.0f} s   esc stops"
        elif state.parts:
            words = f"{LESIONED} {state.lesion}" if state.lesion else "intact"
        else:
            words = "enter in the field Model loads a model"
        stored = "" if self._busy else ", nothing is stored"
        style = AMBER if state.lesion and not self._busy else QUIET
        title = Content.assemble(f"Laboratory{stored}   ", (words, style))
        self.query_one("#lab-head", Pane).border_title = title

    def _tick(self) -> None:
        if self._busy:
            self._show_head()

    @property
    def _busy(self) -> bool:
        return self.state.phase in {"loading", "asking"}

    def _say(self, words: str = "") -> None:
        note = self.query_one("#lab-note", Static)
        note.display = bool(words)
        note.update(Content.styled(words, AMBER))

    def show_message(self, words: str) -> None:
        """Show why something cannot be done."""
        self._say(words)

    def _lines(self, width: int) -> Sequence[Content]:
        if self._pairs:
            lines = list(lines_of(self._pairs, width))
            return [*lines, Content.styled(NOTE, QUIET)]
        item = item_lines(self._item(), width) if self.state.parts else ()
        return [*item, *key_lines(BEGIN, width), *declared_lines(width)]

    # ---------------------------------------------------------------- news of the worker

    def _hear(self, message: object) -> None:
        match message:
            case LaboratoryState():
                self._renew(message)
            case PairsGiven(pairs=pairs):
                self._pairs, self._answered = pairs, self.state.model
                self._show_answers()

    def _renew(self, state: LaboratoryState) -> None:
        before, self.state = self.state, state
        if self._busy and before.phase != state.phase:
            self._since = time.monotonic()
        if state.parts != before.parts:
            self.query_one(PartsList).show_parts(state.model, state.parts)
            self.query_one(LesionForm).offer(state.parts)
            self._count()
            if state.phase in {"loading", "refused"} and state.model != self._answered:
                self._pairs, self._answers_shown = (), False
                self._lay_out()
            self._show_pairs()
        if state.phase == "refused":
            self._say(state.words)
        elif before.phase == "refused":
            self._say()
        self._show_head()
        self.desk.show_foot()

    def _show_answers(self) -> None:
        self._answers_shown = True
        self._lay_out()
        self._show_pairs()
        self.call_after_refresh(self._keep_focus)

    def _show_pairs(self) -> None:
        self.query_one("#lab-pairs", WrappedText).refresh(layout=True)

    def _keep_focus(self) -> None:
        """Give the keys to the answers where the focused widget has gone from the screen."""
        focused = self.desk.focused
        if self.desk.current is self and (focused is None or not focused.region):
            self.query_one("#lab-answers").focus()

    def _offer_items(self) -> None:
        known = [
            Known(_key(plan), _key(plan), plan.prompt.strip().splitlines()[-1])
            for plan in self._items
        ]
        self.query_one("#lab-item-combo", Combo).offer(known)
        if self._items and self._item() is None:
            self.query_one("#lab-item", Input).value = _key(self._items[0])

    # ---------------------------------------------------------------- fields

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the item that would be given."""
        if event.input.id == "lab-item" and not self._pairs:
            self._show_pairs()

    def on_lesion_form_changed(self, event: LesionForm.Changed) -> None:
        """Count again what the lesion changes; what was said of the one before is over."""
        if self.state.phase != "refused":
            self._say()
        self._count()

    def on_row_list_selected(self, event: PartsList.Selected) -> None:
        """Put a part into the fields."""
        event.stop()
        line = self.query_one(PartsList).line
        if line.names:
            self.query_one(LesionForm).choose(line.target, line.layer)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Load the model, read the battery, or give the item."""
        if event.input.id == "lab-model" and self._text("model") != self.state.model:
            self.load()
        elif event.input.id == "lab-battery" and self._text("battery") != self._of_battery:
            self.desk.start(self._read_items, self._text("battery"))
        else:
            self.give_item()

    @work(group="count", exclusive=True)
    async def _count(self) -> None:
        await asyncio.sleep(COUNT_S)
        form, parts = self.query_one(LesionForm), self.state.parts
        words, style = form.problem, AMBER
        taken: frozenset[str] = frozenset()
        if not words and form.spec and parts:
            try:
                count = await asyncio.to_thread(
                    count_of, form.spec, parts, self.state.model, self.state.parameters
                )
            except TabwbError as error:
                words = problem_of(error)
            else:
                words, style, taken = count.words, "", count.taken
        elif not words:
            words, style = ("" if form.spec else "no lesion: only the intact model is asked"), QUIET
        self._counted = words if style == AMBER else ""
        # The page may have been closed meanwhile, and its parts may be gone before it is.
        for line in self.query("#lab-count").results(Static):
            line.display = bool(words)
            line.update(Content.styled(words, style))
        for tree in self.query(PartsList):
            tree.mark(taken)

    def _text(self, name: str) -> str:
        return self.query_one(f"#lab-{name}", Input).value.strip()

    def _item(self) -> PlannedTrial | None:
        key = self._text("item")
        return next((plan for plan in self._items if _key(plan) == key), None)

    @property
    def _controller(self) -> LesionsController:
        return self.desk.controller(LesionsController)

    # ---------------------------------------------------------------- commands

    def load(self) -> None:
        """Load the model of the field."""
        model, battery = self._text("model"), self._text("battery")
        if not model:
            self._say("a model is needed that runs on this machine")
            return
        self.desk.start(self._load, model, battery)

    async def _load(self, model: str, battery: str) -> None:
        if await self.desk.ask(self._controller.load, model):
            await self._read_items(battery)

    async def _read_items(self, battery: str) -> None:
        """Offer the items of a battery, or say why there are none."""
        problem, items = "", None
        try:
            items = await self.desk.ask(self._controller.items, battery)
        except TabwbError as error:
            problem = str(error)
        if items is not None or problem:
            self._of_battery, self._items = battery, items or ()
            self._offer_items()
            self._say(problem)

    def give_item(self) -> None:
        """Give the item to the intact model and under the lesion."""
        item = self._item()
        self._give([item] if item is not None else [])

    def give_subtest(self) -> None:
        """Give all items of the item's subtest."""
        item = self._item()
        self._give([one for one in self._items if item is not None and one.subtest == item.subtest])

    def next_item(self) -> None:
        """Give the next item."""
        self._step(1)

    def previous_item(self) -> None:
        """Give the previous item."""
        self._step(-1)

    def _step(self, by: int) -> None:
        item = self._item()
        at = 0 if item is None else self._items.index(item) + by
        if self._items:
            self.query_one("#lab-item", Input).value = _key(self._items[at % len(self._items)])
            self.give_item()

    def _give(self, plans: Sequence[PlannedTrial]) -> None:
        form = self.query_one(LesionForm)
        if not self._usable():
            return
        if not plans:
            self._say(
                f"there is no item '{self._text('item')}' in {self._of_battery or 'a battery'}"
            )
            return
        numbers = tuple(plan.number for plan in plans)
        self._say()
        self.desk.do(partial(self._controller.give, self._of_battery, numbers, form.spec))

    def _usable(self) -> bool:
        """Return whether the model can be asked now; say why not."""
        problem = self.query_one(LesionForm).problem or self._counted
        if self._busy:
            doing = "loading" if self.state.phase == "loading" else "answering"
            problem = f"the model is {doing}: esc stops it"
        elif not self.state.parts:
            problem = "no model is loaded: enter in the field Model loads it"
        self._say(problem)
        return not problem

    def turn_lesion(self) -> None:
        """Turn the lesion on or off."""
        spec = "" if self.state.lesion else self.query_one(LesionForm).spec
        if self._usable():
            self.desk.do(partial(self._controller.apply, spec))

    def command(self) -> str:
        """Return the command that shows what the lesion takes."""
        spec = self.query_one(LesionForm).spec
        model = self._text("model")
        return shlex.join(["tabwb", "lesion", "plan", spec, "--model", model])

    def administer_lesioned(self) -> None:
        """Open the dialog of an administration with this lesion."""
        form = self.query_one(LesionForm)
        if form.problem:
            self._say(form.problem)
            return
        battery, model = self._text("battery"), self._text("model")
        self.desk.request("trial", "new", battery=battery, model=model, lesion=form.spec)

    def turn_view(self) -> None:
        """Change between parts and answers."""
        self._answers_shown = not self._answers_shown
        self._lay_out()
        self.focus_inside()

    def sweep_lesion(self) -> None:
        """Write a grid from the lesion; go to the page of sweeps with it."""
        form = self.query_one(LesionForm)
        if form.problem or not form.spec:
            self._say(form.problem or "the field Spec has no lesion")
            return
        battery, model = self._text("battery"), self._text("model")

        async def written(path: str | None) -> None:
            if path is not None:
                await self.desk.go("sweep")
                self.desk.query_one(SweepPage).take(battery, model, path)

        self.app.push_screen(GridScreen(parse_lesions(form.spec)), written)

    def dial_item(self) -> None:
        """Open the dial with this model, item and lesion."""
        form, battery, item = self.query_one(LesionForm), self._text("battery"), self._text("item")
        lesions = () if form.problem or not form.spec else parse_lesions(form.spec)
        target = "+".join(one.target for one in lesions)
        values = spec_values(form.spec) if lesions else {}
        self.desk.request(
            "lesions", "dial", model=self._text("model"), battery=battery, item=item,
            target=target, layers=str(values.get("layers") or "all"),
            seed=str(values.get("seed", 1)),
        )  # fmt: skip

    async def sweeps(self) -> None:
        """Open the page of sweeps."""
        await self.desk.go("sweep")

    async def leave_laboratory(self) -> None:
        """Stop the current work, leave a field, or leave the page."""
        if self._busy:
            self._controller.stop()
        elif isinstance(self.desk.focused, Input):
            self.focus_inside()
        else:
            await self.desk.back()


def _key(plan: PlannedTrial) -> str:
    return f"{plan.subtest}/{plan.item}"
