"""The dial: one prompt, and a slider of a lesion's amount; the answers are computed ahead."""

from __future__ import annotations

import asyncio
import random
import shlex
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click, Resize
from textual.style import Style
from textual.timer import Timer

from tabwb.lesion.spec import parse_numbers
from tabwb.records.errors import TabwbError
from tabwb.records.files import expanded
from tabwb.scoring.word_difference import word_difference
from tabwb.workbench.engine.jobs import JobState
from tabwb.workbench.engine.messages import Playing
from tabwb.workbench.lesions.controller import DEMONSTRATION, LesionsController
from tabwb.workbench.shell.columns import clipped
from tabwb.workbench.shell.commands import Command
from tabwb.workbench.shell.drawn import step as bar_of
from tabwb.workbench.shell.page import Page
from tabwb.workbench.shell.pictures import Picture
from tabwb.workbench.shell.widgets import Pane, WrappedText
from tabwb.workbench.shell.wording import ACCENT, AMBER, LESIONED, QUIET, folded, styled

if TYPE_CHECKING:
    from tabwb.operations.operation import Operation
    from tabwb.records.steps import Step
    from tabwb.workbench.lesions.dial import Dialled, Facts, Setting
    from tabwb.workbench.shell.desk import Desk

WAITS = "░"
"""What is not computed yet."""
BOTH_FROM = 132
"""From so many columns the ladder and the map are beside the text and the features."""
TALL = 32
"""From so many rows the ladder is below the text."""
MOST = 88
"""Columns of an answer at most."""
PLAY_S = 0.5
OF_MODELS = {"dial-part", "dial-most", "store-dial", "compare-dial"}
OF_PEOPLE = {"listen-dial"}
"""Commands that mean nothing for the other one."""
DRAW = 1
"""Seed of the order in which prompts are drawn."""
TITLE = 30
"""Columns of a feature's title."""
GROUPS = ("mlp", "attention")
KEYS = "← → amount   ↑ ↓ seed   tab part   1-5 prompt   r random prompt"
KEYS_OF_SESSIONS = "← → session   ↑ ↓ item   space play in turn   l listen   r random item"
UNDERLINED = "what differs is underlined; not a diagnosis"
NOTE_OF_SESSIONS = (
    "Right: a listener's score, else the battery's rule. Names are compared with the target, other "
    "answers with the first session. Nothing here is a diagnosis."
)
NOTE = "A lesion of numbers, not of a brain; not a diagnosis."
HELP = """\
# The dial

One prompt is asked of the intact model and under a lesion of 20 amounts, and with a control of the
same size for each: as many weights, drawn anywhere in the model. The answers are computed in the
background; ░ is not computed yet. **Nothing is stored.**

- **left**, **right** turn the amount; **home**, **end** go to the ends; **space** plays the steps
- **up**, **down** change the seed, which decides the weights that are taken
- **tab** changes the part that is lesioned, **pageup** and **pagedown** its layer; a click on the
  map takes one projection in one layer, a click on its name all layers
- **1** to **5** ask another prompt, **r** one at random; **z** changes the range of amounts
- **N** stores the answers as the conditions of a sweep; **y** writes one HTML file with a slider
- a click on the slider or on the ladder goes to that amount

Underlined words are not said by the intact model at this place. ▣ a feature is present, □ absent,
· undefined: the answer cannot be rated. *Seeds alike*: of the seeds computed for this part, prompt
and amount, those with the same set of present features. One answer to one prompt is an example: a
sweep measures.
"""


class Drawn(WrappedText):
    """Lines with places that can be clicked."""

    def on_click(self, event: Click) -> None:
        """Do what the place says."""
        page = next(one for one in self.ancestors if isinstance(one, DialPage))
        meta = event.style.meta
        if "step" in meta:
            page.action_turn(meta["step"] - page.place)
        elif "item" in meta:
            page.change(item=meta["item"])
        elif "part" in meta:
            page.change(target=meta["part"][0], layers=meta["part"][1])


Answers = dict[tuple[str, float], "Step"]
"""Role and amount to the answer."""


class DialPage(Page, can_focus=True):
    """The page."""

    EXPLORER_DOCK = False
    HELP = HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn(-1)", show=False),
        Binding("right", "turn(1)", show=False),
        Binding("home", "turn(-100)", show=False),
        Binding("end", "turn(100)", show=False),
        Binding("up", "seed(1)", show=False),
        Binding("down", "seed(-1)", show=False),
        Binding("pageup", "layer(-1)", show=False),
        Binding("pagedown", "layer(1)", show=False),
        Binding("tab", "part(1)", show=False),
        Binding("shift+tab", "part(-1)", show=False),
        *(Binding(str(n), f"prompt({n})", show=False) for n in range(1, 6)),
    ]

    def __init__(self, desk: Desk, page: str) -> None:
        super().__init__(desk, page)
        self.facts: Facts | None = None
        self.setting: Setting | None = None
        self.place = 0
        self._dialled: Dialled | None = None
        self._known: dict[Setting, Answers] = {}
        self._done: set[Setting] = set()
        self._words = ""
        """What is done now, or why nothing is."""
        self._cancel = threading.Event()
        self._loading = threading.Event()
        """Set, it ends the loading of the model."""
        self._playing: Timer | None = None
        self._asked: Mapping[str, str] = {}
        self._after: list[Callable[[], object]] = []
        """What is begun when the first answers are there."""
        self._drawn = 0
        self._turn = False
        """The sessions are played one after the other."""
        self._position: Callable[[], float | None] | None = None
        """Of the sound of a session that is played."""
        self._given: tuple[int, ...] = ()
        """Administrations of a sweep: the intact model, and the first lesion."""

    def compose(self) -> ComposeResult:
        """Yield the slider, what is said, the features, the ladder and the map."""
        yield Pane(Drawn(self._slider, id="dial-slider"), title="The dial", id="dial-head")
        with Horizontal(id="dial-body"):
            with Vertical(id="dial-texts"):
                with Pane(title="Said", id="dial-said", main=True):
                    yield Drawn(self._said)
                    yield Picture(id="dial-picture")
                yield Pane(Drawn(self._ladder), title="The ladder", id="dial-ladder")
            with Vertical(id="dial-side"):
                yield Pane(Drawn(self._features), title="Features", id="dial-features")
                yield Pane(Drawn(self._map), title="Where", id="dial-map")

    def want(self, *wanted: Any) -> None:
        """Take the model, battery, item, target, layers and seed; and what is begun after it."""
        asked, *self._after = wanted
        if self._dialled is None or (asked and asked != self._asked) or "speaker" in asked:
            self._asked = asked
            self.desk.start(self._load, group="dial")
        else:
            self._begin_after()

    def on_mount(self) -> None:
        """Lay out, and listen to the sweep of the demonstration, and to what is played."""
        self.desk.listen(Playing, self._played)
        self.desk.news.subscribe(self, self._hear)
        self._lay_out()

    def on_resize(self, event: Resize) -> None:
        """Lay out again."""
        self._lay_out()
        self.call_after_refresh(self._show)

    def _lay_out(self) -> None:
        self.set_class(self.size.width >= BOTH_FROM, "-both")
        self.set_class(self.size.height >= TALL, "-tall")

    def open_title(self) -> str | None:
        """Return what the title bar says."""
        return "the dial"

    def update_page(self) -> None:
        """Show the present state."""
        self._show()

    # ---------------------------------------------------------------- computing

    @property
    def _answers(self) -> Answers:
        return {} if self.setting is None else self._known.get(self.setting, {})

    @property
    def _amounts(self) -> tuple[float, ...]:
        if self.days:
            return tuple(float(number) for number in range(1, len(self.days) + 1))
        return (0.0, *(() if self.setting is None else self.setting.amounts))

    @property
    def days(self) -> tuple[int | None, ...]:
        """The day of each session of a person; empty: the dial is that of a model."""
        return () if self.facts is None else self.facts.days

    def step_at(self, role: str, amount: float) -> Step | None:
        """Return an answer; None: it is not computed. Intact is that of any part and seed."""
        if self.days:
            role = "session" if role == "lesion" else role
        if amount:
            return self._answers.get((role, amount))
        item = self.setting and self.setting.item
        found = (one.get(("intact", 0.0)) for key, one in self._known.items() if key.item == item)
        return next(filter(None, found), None)

    def alike(self, step: Step) -> tuple[int, int]:
        """Return how many of the computed seeds are like a step, and of how many."""
        from tabwb.records.steps import alike

        same = [key for key in self._known if self.setting and key[:3] == self.setting[:3]]
        return alike(step, [one for key in same for one in self._known[key].values()])

    def _alike(self, step: Step) -> str:
        same, seeds = self.alike(step)
        return f"{same} of {seeds} seeds alike" if seeds > 1 else "not compared with other seeds"

    async def _load(self) -> None:
        from tabwb.workbench.lesions.dial import Setting

        self._close()
        self.facts = self.setting = None
        self._known, self._done, self.place = {}, set(), 0
        if "speaker" in self._asked:
            await self._load_sessions(**self._asked)
            return
        asked = {"model": "bundled", "battery": "tab", **self._asked}
        model = asked.pop("model")
        self._loading = threading.Event()
        self._say(f"… loading {model}")
        controller = self.desk.controller(LesionsController)
        try:
            self._dialled, facts = await self.desk.ask(
                controller.open_dial, model, asked.pop("battery"), self._loading, aside=True
            )
        except TabwbError as error:
            self._say(f"! {error}")
            return
        self.facts, item = facts, asked.pop("item", "")
        first = item if item in facts.items else next(iter(facts.items))
        target = asked.pop("target", "") or next(iter(self.parts), ("mlp", "all"))[0]
        setting = Setting(first, target, asked.pop("layers", "all"), int(asked.pop("seed", 1)))
        self.change(**setting._asdict())
        self.desk.show_foot()

    async def _load_sessions(self, speaker: str, battery: str, item: str) -> None:
        from tabwb.workbench.lesions.dial import Setting, read_sessions

        self._say(f"… reading the sessions of {speaker}")
        try:
            facts, steps = await self.desk.ask(read_sessions, self.desk.engine, speaker, battery)
        except TabwbError as error:
            self._say(f"! {error}")
            return
        for step in steps:
            assert step.session is not None
            setting = Setting(step.session.item, "")
            self._known.setdefault(setting, {})["session", step.amount] = step
            self._done.add(setting)
        self.facts = facts
        first = item if item in facts.items else next(iter(facts.items))
        self.change(item=first, target="")
        self.desk.show_foot()

    async def _picture(self, item: str) -> None:
        """Show the picture of the item of a person."""
        from tabwb.workbench.lesions.dial import read_item_picture

        engine, facts = self.desk.engine, self.facts
        assert facts is not None
        shown, trouble = await self.desk.ask(read_item_picture, engine, facts, item)
        if self.setting is not None and self.setting.item == item:
            picture = self.query_one(Picture)
            picture.show(shown)
            picture.display = shown is not None
            if trouble:
                self._say(f"! {trouble}")

    # ---------------------------------------------------------------- keys

    def action_turn(self, by: int) -> None:
        """Turn the amount; what is played stops."""
        self.stop_playing()
        self.turn_to(self.place + by)

    def action_seed(self, by: int) -> None:
        """Take another seed; of a person the next item."""
        if self.days:
            self.next_item(-by)
        elif self.setting is not None:
            self.change(seed=max(self.setting.seed + by, 1))

    def action_prompt(self, number: int) -> None:
        """Ask another prompt."""
        items = list(self.facts.items) if self.facts else []
        if number <= len(items):
            self.change(item=items[number - 1])

    def next_item(self, by: int) -> None:
        """Go to the next item."""
        if self.facts is not None and self.setting is not None:
            items = list(self.facts.items)
            self.change(item=items[(items.index(self.setting.item) + by) % len(items)])

    @property
    def parts(self) -> list[tuple[str, str]]:
        """What *tab* goes through: the network and attention whole, then each projection."""
        there = [] if self.facts is None else list(self.facts.targets)
        groups = [one for one in GROUPS if any(each.startswith(f"{one}.") for each in there)]
        return [(one, "all") for one in (*groups, *there)]

    def action_part(self, by: int) -> None:
        """Lesion the next part; of a person go to the next item."""
        if self.days:
            self.next_item(by)
        elif self.setting is not None:
            parts, now = self.parts, (self.setting.target, self.setting.layers)
            at = parts.index(now) + by if now in parts else 0
            target, layers = parts[at % len(parts)]
            self.change(target=target, layers=layers)

    def action_layer(self, by: int) -> None:
        """Lesion the next layer of the part; after the last one all."""
        setting, facts = self.setting, self.facts
        if setting is not None and facts is not None and not self.days:
            there = {each for layers in facts.targets.values() for each in layers}
            layers = ["all", *map(str, sorted(there))]
            at = layers.index(setting.layers) + by if setting.layers in layers else 0
            self.change(layers=layers[at % len(layers)])

    def change(self, **values: Any) -> None:
        """Dial something else; what is known of it is shown at once, and the rest computed."""
        from tabwb.workbench.lesions.dial import Setting

        self.stop_playing()
        if self.setting is None:
            self.setting = Setting(**values)
        else:
            self.setting = self.setting._replace(**values)
        self._cancel.set()
        self._cancel = threading.Event()
        self._words = ""
        if self.setting not in self._done:
            self.desk.start(self._compute, self.setting, self._cancel, group="dial")
        self.query_one(Picture).display = False
        if self.days:
            self.desk.start(self._picture, self.setting.item, group="dial-picture")
        self._show()

    async def _compute(self, setting: Setting, cancel: threading.Event) -> None:
        dialled = self._dialled
        if dialled is None:
            return
        answers = self._known.setdefault(setting, {})
        try:
            async for step in self.desk.each(dialled.steps, setting, cancel):
                answers[step.role, step.amount] = step
                self._show()
        except TabwbError as error:
            if not cancel.is_set():
                self._say(f"! {error}")
            return
        if not cancel.is_set():
            self._done.add(setting)
            self._show()
            self._begin_after()

    def _begin_after(self) -> None:
        after, self._after = self._after, []
        for begin in after:
            begin()

    def _hear(self, message: object) -> None:
        """Say that the demonstration's battery was given to both."""
        if not isinstance(message, JobState) or (message.page, message.phase) != ("sweep", "done"):
            return
        swept = message.result
        two = [swept.known[one.conditions].id for one in swept.points
               if one.conditions in swept.known]  # fmt: skip
        if swept.name == DEMONSTRATION and len(two) == 2:
            self._given = tuple(two)
            self._say("intact and lesioned are stored: c compares them")
            self.desk.show_foot()

    def compare_dial(self) -> None:
        """Compare the intact and the lesioned model, as the demonstration stored them."""
        if len(self._given) == 2:
            self.desk.request("comparison", "compare_two", *self._given)
        else:
            self.show_message("The demonstration (d on the first page) stores two to compare.")

    def foot_rank(self, command: Command) -> int:
        """Return the place in the footer; 0 keeps out what cannot be done now."""
        name = command.id.partition(".")[2]
        hidden = name == "compare-dial" and not self._given
        hidden |= name in OF_MODELS if self.days else name in OF_PEOPLE
        return 0 if hidden else super().foot_rank(command)

    def _say(self, words: str) -> None:
        self._words = words
        self._show()

    def _show(self) -> None:
        for one in self.query(Drawn):
            one.refresh(layout=True)
        setting = self.setting
        if setting is None or self.facts is None:
            return
        head = f"The dial   {self.facts.model}   {self.facts.items[setting.item]}"
        self.query_one("#dial-head", Pane).border_title = head
        amount = self._amounts[self.place]
        said = f"Said at {amount:g}" if amount else "Said by the intact model"
        if self.days:
            said = f"Said at {self._session(self.place)}"
        self.query_one("#dial-said", Pane).border_title = said
        ladder = "All sessions" if self.days else "The ladder"
        self.query_one("#dial-ladder", Pane).border_title = ladder
        where = "Items" if self.days else f"Where   {setting.where}"
        self.query_one("#dial-map", Pane).border_title = where

    def _session(self, place: int) -> str:
        day = self.days[place]
        return f"session {place + 1}" + ("" if day is None else f", day {day}")

    # ---------------------------------------------------------------- what is drawn

    def _slider(self, width: int) -> Iterator[Content]:
        setting = self.setting
        if setting is None:
            yield from folded(self._words or "…", width, AMBER if "!" in self._words else QUIET)
            return
        amounts = self._amounts
        where = f"{LESIONED} {setting.where}   seed {setting.seed}"
        left, right, keys = "intact 0 ", f" {setting.most:g}", KEYS
        if self.days:
            where = f"{setting.item}   {self._session(self.place)}"
            left, right, keys = "session 1 ", f" {len(amounts)}", KEYS_OF_SESSIONS
        gaps = self._gaps(width - len(left) - len(right) - 1)
        pieces: list[tuple[str, str | Style] | Content] = [(left, QUIET)]
        for at, amount in enumerate(amounts):
            known = self.step_at("lesion", amount) is not None
            sign = "●" if at == self.place else "━" if known else WAITS
            rest = ("━" if known else WAITS) * (gaps[at] - 1)
            style = f"bold {ACCENT}" if at == self.place else ACCENT if known else QUIET
            cell = Content.assemble((sign, style), (rest, ACCENT if known else QUIET))
            pieces.append(cell.stylize(Style.from_meta({"step": at})))
        yield Content.assemble(*pieces, (right, QUIET))
        state = self._words or (
            UNDERLINED if self.days
            else "nothing stored   N stores" if setting in self._done
            else f"computing, {len(self._answers)} of {2 * len(amounts) - 1}   nothing stored"
        )  # fmt: skip
        style = AMBER if state.startswith("!") else QUIET
        yield Content.assemble((where, "bold"), "   ", (state, style)).truncate(width)
        yield Content.styled(keys, QUIET).truncate(width, ellipsis=True)

    def _gaps(self, width: int) -> list[int]:
        """Return the columns from each step to the next; of sessions in proportion to the days."""
        days = [day for day in self.days if day is not None]
        if not days or days[-1] == days[0]:
            count = len(self._amounts) - 1
            return [max(width // max(count, 1), 1)] * count + [1]
        span = days[-1] - days[0]
        ends = [round((day - days[0]) / span * width) for day in days]
        return [max(after - before, 1) for before, after in pairwise(ends)] + [1]

    def _said(self, width: int) -> Iterator[Content]:
        if self.setting is None:
            return
        room, amount = min(width, MOST), self._amounts[self.place]
        if self.days:
            yield from _session_answer(self.step_at("session", amount), room)
            return
        intact, lesioned = self.step_at("intact", 0.0), self.step_at("lesion", amount)
        more = self._alike(lesioned) if amount and lesioned is not None else ""
        yield from _answer(intact, lesioned, room, more)
        if not amount:
            return
        yield Content("")
        yield Content.styled("control: as many weights, anywhere in the model", f"bold {QUIET}")
        yield from _answer(intact, self.step_at("control", amount), room)

    def _features(self, width: int) -> Iterator[Content]:
        if self.setting is None or self.facts is None:
            return
        amounts, answers = self._amounts, self._answers
        wide = self._wide
        scale = self._scale(len(amounts))
        roles = ("lesion",) if self.days else ("lesion", "control")
        title = min(TITLE, max(width - len(roles) * (wide * len(amounts) + 2) - 3, 8))
        head = "by session" if self.days else "lesion, then control"

        def row(name: str, sign: str, value: Callable[[Step], float | None], style: str) -> Content:
            strips = [piece for role in roles for piece in (self._strip(role, value=value), "  ")]
            mark = f" {sign} ", ACCENT if sign == "▣" else QUIET
            return Content.assemble((clipped(name, title).ljust(title), style), mark, *strips)

        scales = [piece for _ in roles for piece in (scale, "  ")]
        yield Content.assemble((head.ljust(title)[:title], QUIET), "   ", *scales)
        yield (
            row("Right, all items", " ", self._share_right, "")
            if self.days
            else row("New words", " ", _new_share, "")
        )
        found = [one for (role, _), one in answers.items() if role != "control"]

        def first(feature: str) -> float:
            return min((one.amount for one in found if one.features.get(feature)), default=1e9)

        rated = [one for one in self.facts.titles if any(one in step.features for step in found)]
        seen = [one for one in rated if any(s.features.get(one) is not None for s in found)]
        now = self.step_at("lesion", amounts[self.place])
        for feature in seen if self.days else sorted(seen, key=first):
            value = None if now is None else now.features.get(feature)
            sign = "▣" if value else "·" if value is None else "□"
            style = "bold" if value else ""
            yield row(self.facts.titles[feature], sign, partial(_present, feature), style)
        yield Content("")
        yield from folded(NOTE_OF_SESSIONS if self.days else NOTE, width, QUIET)

    def _share_right(self, step: Step) -> float | None:
        """Return the share of items with a verdict that are right at the session of a step."""
        key = "session", step.amount
        known = [one[key].features.get("right") for one in self._known.values() if key in one]
        told = [one for one in known if one is not None]
        return sum(told) / len(told) if told else None

    @property
    def _wide(self) -> int:
        """Columns of a step in a strip."""
        return max(20 // len(self.days), 1) if self.days else 1

    def _scale(self, count: int) -> Content:
        """Return the ends of the amounts above a strip, and where the slider is."""
        most = f"{self._amounts[-1]:g}"
        signs = ["0", *"·" * (count - 1 - len(most)), *most]
        if self.days:
            signs = [f"{number + 1}".ljust(self._wide) for number in range(count)]
        signs[self.place] = "▼".ljust(self._wide)
        pieces = [(one, f"bold {ACCENT}" if "▼" in one else QUIET) for one in signs]
        return Content.assemble(*pieces)

    def _strip(self, role: str, *, value: Callable[[Step], float | None]) -> Content:
        """Return a cell for each amount; that of the slider is marked."""
        pieces = []
        for at, amount in enumerate(self._amounts):
            one = self.step_at(role, amount)
            share = None if one is None else value(one)
            sign = WAITS if one is None else "·" if share is None else bar_of(share)
            sign = (sign * max(self._wide - 1, 1)).ljust(self._wide)
            base = QUIET if role == "control" or not share else ACCENT
            cell = Content.styled(sign, base).stylize(Style.from_meta({"step": at}))
            pieces.append(cell)
        return Content("").join(pieces)

    def _ladder(self, width: int) -> Iterator[Content]:
        amounts = self._amounts
        room = max(self.query_one("#dial-ladder").content_size.height, 3)
        first = min(max(self.place - room // 2, 0), max(len(amounts) - room, 0))
        above: list[str] = []
        for at, amount in list(enumerate(amounts))[first : first + room]:
            one = self.step_at("lesion", amount)
            text = f"{WAITS} not computed yet" if one is None else one.answer or f"[{one.status}]"
            if self.days and one is not None and not one.answer:
                source = one.session.source if one.session is not None else ""
                text = f"[{one.reason or source or one.status}]"
            here, name = at == self.place, f"{amount:<7g}"
            if self.days:
                name = f"{self._session(at):<22}"
            words = text.split()
            shown = " ".join(words)
            if above and not self.days and len(name) + len(shown) >= width:
                shown = _from_difference(words, above)
            above = words
            line = Content.assemble(
                ("▌" if here else " ", ACCENT), (name, "bold" if here else QUIET),
                (shown, QUIET if one is None else ""),
            )  # fmt: skip
            line = line.truncate(max(width, 1), ellipsis=True)
            yield line.stylize(Style.from_meta({"step": at}))

    def _map(self, width: int) -> Iterator[Content]:
        setting, facts = self.setting, self.facts
        if setting is None or facts is None:
            return
        if self.days:
            yield from self._items(width)
            return
        amount = self._amounts[self.place]
        taken = () if setting.layers == "all" else parse_numbers(setting.layers, "layers", "")
        wide = max(map(len, facts.targets), default=0) + 1
        for target, layers in facts.targets.items():
            own = target == setting.target or target.startswith(f"{setting.target}.")
            head = Content.styled(target.ljust(wide), "bold" if own else "")
            pieces = [head.stylize(Style.from_meta({"part": (target, "all")}))]
            for layer in layers[: max((width - wide) // 2, 1)]:
                key = setting._replace(target=target, layers=str(layer))
                one = self._known.get(key, {}).get(("lesion", amount))
                sign = WAITS if one is None else bar_of(_new_share(one) or 0.0)
                chosen = own and (not taken or layer in taken)
                cell = Content.styled(sign, f"bold {ACCENT} reverse" if chosen else QUIET)
                pieces += [
                    cell.stylize(Style.from_meta({"part": (target, str(layer))})),
                    Content(" "),
                ]
            yield Content("").join(pieces)
        yield from folded("layers 0 to the right; a click lesions it; a bar: share of new words",
                          width, QUIET)  # fmt: skip

    def _items(self, width: int) -> Iterator[Content]:
        """Yield a line for each item around the present one: right or not at each session."""
        facts, setting = self.facts, self.setting
        assert facts is not None and setting is not None
        names = list(facts.items)
        at = names.index(setting.item)
        room = max(self.query_one("#dial-map").content_size.height - 1, 3)
        first = min(max(at - room // 2, 0), max(len(names) - room, 0))
        for name in names[first : first + room]:
            here, answers = name == setting.item, self._known[setting._replace(item=name)]
            signs = "  ".join(
                {True: "✓", False: "✗", None: "·"}[one.features.get("right")]
                for one in answers.values()
            )
            line = Content.assemble(
                ("▌" if here else " ", ACCENT), (f"{signs}  ", ""),
                (" ".join(facts.items[name].split()), "bold" if here else ""),
            )  # fmt: skip
            line = line.truncate(max(width, 1), ellipsis=True)
            yield line.stylize(Style.from_meta({"item": name}))
        yield Content.styled("✓ right, ✗ not right, · no verdict, by session", QUIET)

    # ---------------------------------------------------------------- commands

    def turn_to(self, place: int) -> None:
        """Go to an amount."""
        self.place = min(max(place, 0), len(self._amounts) - 1)
        self._show()

    def play_dial(self) -> None:
        """Play the steps, or stop; of a person the sound of each session in turn."""
        if self._playing is not None or self._turn:
            self.stop_playing()
            return
        if self.place == len(self._amounts) - 1:
            self.turn_to(0)
        if self.days:
            self._turn = True
            self._play_sound()
        else:
            self._playing = self.set_interval(PLAY_S, self._play)

    def listen_dial(self) -> None:
        """Play what was recorded at the session that is shown, or stop."""
        step = self.step_at("session", self._amounts[self.place])
        if step is None or step.session is None or not step.session.recorded:
            self.show_message("Nothing was recorded for this item at this session.")
        else:
            given = step.session
            self.desk.request("naming", "playback", given.administration, given.trial)

    def _play_sound(self) -> None:
        """Play the first session from the present one on that has sound."""
        for place in range(self.place, len(self._amounts)):
            step = self.step_at("session", self._amounts[place])
            if step is not None and step.session is not None and step.session.recorded:
                self.turn_to(place)
                self.listen_dial()
                return
        self._turn = False
        if self._position is None:
            self.show_message("Nothing was recorded for this item from here on.")

    def _played(self, message: Playing) -> None:
        """Follow what is played, until the next session."""
        step = self.step_at("session", self._amounts[self.place]) if self.days else None
        given = step and step.session
        if given and (given.administration, given.trial) == (message.number, message.trial):
            self._position = message.position
            if self._turn and self._playing is None:
                self._playing = self.set_interval(PLAY_S / 2, self._follow)

    def _follow(self) -> None:
        if not self.display:  # another page is shown
            self.stop_playing()
            return
        if self._position is None or self._position() is not None:
            return
        if self._playing is not None:
            self._playing.stop()
            self._playing = None
        if self.place < len(self._amounts) - 1:
            self.turn_to(self.place + 1)
            self._play_sound()
        else:
            self._turn = False

    def _play(self) -> None:
        if self.place == len(self._amounts) - 1:
            self.stop_playing()
        else:
            self.turn_to(self.place + 1)

    def stop_playing(self) -> None:
        """Stop what is played, steps or sound."""
        self._turn = False
        if self._position is not None and self._position() is not None:
            self.listen_dial()  # what is played stops
        self._position = None
        if self._playing is not None:
            self._playing.stop()
            self._playing = None

    def dial_part(self) -> None:
        """Lesion the next part."""
        self.action_part(1)

    def random_prompt(self) -> None:
        """Ask the next prompt of all items in an order drawn with a fixed seed."""
        if self.facts is None:
            return
        items = list(self.facts.items)
        drawn = random.Random(DRAW).sample(items, len(items))
        at = self._drawn % len(drawn)
        self._drawn += 1
        self.change(item=drawn[at])
        self._say(f"random: {drawn[at]}   draw {at + 1} of {len(items)}, seed {DRAW}")

    def dial_most(self) -> None:
        """Change the largest amount."""
        from tabwb.workbench.lesions.dial import MOSTS

        if self.setting is not None and not self.days:
            at = MOSTS.index(self.setting.most) + 1
            self.change(most=MOSTS[at % len(MOSTS)])

    def store_dial(self) -> None:
        """Store the answers that are shown."""
        setting = self.setting
        if setting is None or setting not in self._done or self._dialled is None:
            self.show_message("All steps are needed before they can be stored.")
            return
        self.desk.start(self._store, self._dialled.file(setting), setting)

    async def _store(self, file: Path, setting: Setting) -> None:
        controller = self.desk.controller(LesionsController)
        stored = await self.desk.ask(controller.keep_dial, file)
        self._say(f"{stored} stored, tag dial" if stored else "these are stored already")

    def share_dial(self) -> None:
        """Write one HTML file with the slider; copy the command that does the same."""
        if self.days:
            self.app.copy_to_clipboard(self.command())
            self.export_dial()
            return
        if self.setting is None or not self._answers or self.facts is None:
            self.show_message("There is no answer yet.")
            return
        self.app.copy_to_clipboard(self.command())
        name = f"dial-{self.facts.model.partition(':')[0]}-{self.setting.target}.html"
        self.desk.ask_words(
            "Write a page with the slider", "File (the command is copied)",
            partial(self._written, self.setting, list(self._answers.values())), words=name,
        )  # fmt: skip

    def _written(self, setting: Setting, steps: Sequence[Step], name: str) -> None:
        from tabwb.analysis.tables.lesions import dial_table
        from tabwb.host.writing import write_bytes
        from tabwb.media.destination import check_destination
        from tabwb.media.documents.dial_page import dial_page, lesion_facts

        assert self.facts is not None
        facts, prompt = self.facts, self.facts.items[setting.item]
        table = dial_table(steps, facts.titles, (prompt,))
        place = check_destination(expanded(Path(name)))
        about = lesion_facts(facts.model, setting.target, setting.layers, prompt)
        page = dial_page(table, facts.titles, about)
        write_bytes(place, page.encode())
        self.app.call_from_thread(self._say, f"written: {place}")

    def _operation(self) -> Operation:
        """Return the operation that gives the table of what is shown."""
        from tabwb.operations.dial import DialLesion, DialSessions

        facts, setting = self.facts, self.setting
        assert setting is not None and facts is not None
        if self.days:
            return DialSessions(speaker=facts.model, battery=facts.battery)
        return DialLesion(
            model=facts.model, target=setting.target, layers=setting.layers,
            seeds=str(setting.seed), battery=facts.battery, item=setting.item,
            amounts=",".join(f"{one:g}" for one in setting.amounts),
        )  # fmt: skip

    def export_dial(self) -> None:
        """Open the dialog of the operation with what is shown."""
        from tabwb.workbench.shell.operation_dialog import OperationScreen

        if self.setting is None:
            self.show_message("There is nothing to write yet.")
            return
        wanted = self._operation()
        known = {name: value for name, value in vars(wanted).items() if value}
        title = f"Dial of {wanted.about}"
        screen = OperationScreen(self.desk, type(wanted), title, **known, out="dial.html")
        self.app.push_screen(screen)

    def command(self) -> str:
        """Return the command that gives the same table."""
        from tabwb.operations.operation import words_of

        wanted = self._operation()
        first, *names = vars(wanted)
        words = [*wanted.NAME.split(), getattr(wanted, first), *words_of(wanted, names)]
        place = ["--store", self.desk.location] if self.days and self.desk.location else []
        return shlex.join(["tabwb", *words, *place])

    async def leave_dial(self) -> None:
        """End the model and leave the page."""
        if self.facts is not None:
            self._begin_after()
        self._close()
        await self.desk.back()

    def _close(self) -> None:
        self.stop_playing()
        self._cancel.set()
        self._loading.set()
        if (dialled := self._dialled) is not None:
            self._dialled = None
            self.desk.run_worker(asyncio.to_thread(dialled.close))


def _answer(intact: Step | None, one: Step | None, width: int, more: str = "") -> Iterator[Content]:
    """Yield an answer, the words underlined that the intact model does not say, and notes."""
    if one is None:
        yield Content.styled(f"{WAITS} not computed yet", QUIET)
        return
    yield from styled(word_difference(intact.answer if intact else "", one.answer).second, width)
    notes = [one.reason] if one.reason else []
    notes += [] if one.status == "ok" else [one.status]
    notes += ["cut at the token limit"] if one.cut else []
    if one.new_words:
        notes.append(f"{len(one.new_words)} of {one.words} words not said by the intact model")
    if more:
        notes.append(more)
    if notes:
        yield from folded(f"[{', '.join(notes)}]", width, QUIET)


def _session_answer(step: Step | None, width: int) -> Iterator[Content]:
    """Yield what a person said, what differs underlined, and with what it is compared."""
    if step is None or step.session is None:
        return
    given = step.session
    against = step.answer if given.compared is None else given.compared
    yield from styled(word_difference(against, step.answer).second, width)
    notes = [
        f"#{given.administration}",
        step.reason if step.reason or not given.source else given.source,
        "" if step.status in {"ok", "error"} else step.status,
        f"{len(step.new_words)} of {step.words} {given.unit} differ" if given.compared else "",
        "" if given.recorded else "no sound",
    ]
    yield from folded(f"[{', '.join(filter(None, notes))}]", width, QUIET)
    if given.compared is not None:
        yield Content("")
        what = "target" if given.target else "first session"
        yield from folded(f"compared with the {what}: {given.compared}", width, QUIET)


def _from_difference(words: Sequence[str], above: Sequence[str]) -> str:
    """Return an answer from where it differs from the one above it, with two words before.

    >>> above = "I was a cook in a small town".split()
    >>> _from_difference("I was a cook in a smoll tin".split(), above)
    '… in a smoll tin'
    >>> _from_difference(above, above)
    '… as above'
    """
    if words == above:
        return "… as above"
    pairs = enumerate(zip(words, above, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(len(words), len(above)))
    start = same - 2
    return " ".join(words if start < 2 else ["…", *words[start:]])


def _new_share(one: Step) -> float | None:
    return len(one.new_words) / one.words if one.words else None


def _present(feature: str, one: Step) -> float | None:
    value = one.features.get(feature)
    return None if value is None else float(value)
