"""The palette: commands, administrations, models, participants, items and help, found by words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.style import Style

from tabwb.workbench.shell.commands import Command, Situation, key_label
from tabwb.workbench.shell.help import topics
from tabwb.workbench.shell.item_search import ItemEntry, ItemSearch, item_text
from tabwb.workbench.shell.wording import QUIET, glyph_of, name_of, special_words, state_word

if TYPE_CHECKING:
    from tabwb.workbench.shell.app import Workbench
    from tabwb.workbench.shell.desk import Desk

MOST = 20
"""The number of administrations, models, participants, items and topics found, each."""


LATER = 0.3
"""With this share the best match is below every command that can be used."""


class Found(NamedTuple):
    """One entry of the palette.

    Attributes:
        title: in which words are looked for first.
        text: the line below it.
        run: what choosing it does.
        weight: added to how well it matches, so that commands come before what they work on.
        usable: whether it can be used now.
        share: of how well it matches that counts: what cannot be used, and help, come later.
    """

    title: str
    text: str
    run: Callable[[], object]
    weight: float = 0.0
    usable: bool = True
    share: float = 1.0


def match(title: str, words: Sequence[str]) -> float:
    """Return how well a title has all words: 0 without one, at most 1.

    A word at the beginning of one of the title's counts 1, elsewhere 0.6; of two titles that match
    alike the shorter one comes first.

    >>> match("results: judge…", ["judge"]) > match("administer: judges' verdicts", ["judge"]) > 0
    True
    >>> match("results: judge…", ["judge", "again"])
    0.0
    """
    title, total = title.lower(), 0.0
    for word in words:
        at = title.find(word)
        if at < 0:
            return 0.0
        total += 1.0 if not at or not title[at - 1].isalnum() else 0.6
    return max(total / max(len(words), 1) - len(title) / 1000, 0.01)


class Palette(Provider):
    """Finds everything in the workbench."""

    @property
    def _desk(self) -> Desk:
        return cast("Workbench", self.app).desk

    async def startup(self) -> None:
        """Begin to read what is searched besides commands.

        Textual cancels with a search whatever it awaits, also this: so nothing is awaited here,
        and a search shields what it awaits.
        """
        desk = self._desk
        self._topics = asyncio.ensure_future(asyncio.to_thread(topics))
        self._warm = asyncio.ensure_future(
            desk.finder.warm(desk.catalogue.administrations if desk.catalogue else ())
        )
        if desk.started:
            desk.do(desk.controller(ItemSearch).read)

    async def discover(self) -> Hits:
        """Yield what can be used now, before anything is typed: this page's commands first."""
        entries = [entry for entry in self._commands() if entry.usable]
        for entry in sorted(entries, key=lambda entry: -entry.weight):
            yield DiscoveryHit(entry.title, entry.run, help=entry.text)

    async def search(self, query: str) -> Hits:
        """Yield what has all words of a query."""
        words = query.lower().split()
        for entry in self._commands():
            if score := _score(entry, words):
                yield self._hit(entry, words, score)
        await asyncio.shield(self._topics)
        for entries in (self._models(), self._participants(), self._items(), _topics(self._desk)):
            hits = [(_score(entry, words), entry) for entry in entries]
            hits.sort(key=lambda pair: -pair[0])
            for score, entry in hits[:MOST]:
                if score:
                    yield self._hit(entry, words, score)
        await asyncio.shield(self._warm)
        for place, entry in enumerate(self._administrations(query)):
            yield self._hit(entry, words, 0.9 - place / 1000)

    def _hit(self, entry: Found, words: Sequence[str], score: float) -> Hit:
        title = Content.styled(entry.title, "" if entry.usable else QUIET)
        style = self.match_style or Style(underline=True)
        for word in words:
            at = entry.title.lower().find(word)
            if at >= 0:
                title = title.stylize(style, at, at + len(word))
        return Hit(score * entry.share + entry.weight, title, entry.run, entry.title, entry.text)

    # ---------------------------------------------------------------- what there is

    def _commands(self) -> Iterator[Found]:
        desk = self._desk
        situation = desk.situation()
        seen: set[str] = set()
        for one in desk.table.commands:
            command = desk.table.find(one.id, situation.page) or one
            if command.id in seen or command.id == "help.commands":
                continue
            seen.add(command.id)
            reason = why_not(desk, command, situation)
            key = key_label(command.key)
            if reason is None:
                weight = 0.5 if situation.page in command.where else 0.4
                keys = command.keys_on(situation.page)[:1]
                yield Found(
                    command.palette,
                    "   ".join([*map(key_label, keys), command.help]),
                    partial(desk.perform, command.id),
                    weight,
                )
            else:
                tell = partial(desk.call_later, desk.current.show_message, reason)
                yield Found(
                    command.palette,
                    f"{key}   Not now: {reason}",
                    tell,
                    0.1,
                    usable=False,
                    share=LATER,
                )
        for name in desk.workbench.theme_names:
            use = partial(desk.workbench.take_theme, name)
            yield Found(f"view: theme {name}", f"Use the theme {name}.", use, 0.1)

    def _models(self) -> Iterator[Found]:
        desk = self._desk
        for model in desk.catalogue.models if desk.catalogue else ():
            run = partial(desk.request, "trial", "new", model=model.spec)
            text = model.unavailable_reason or f"New administration. {model.title}"
            usable = not model.unavailable_reason
            yield Found(f"model: {model.shape}", text, run, usable=usable)
        for battery in desk.catalogue.batteries if desk.catalogue else ():
            run = partial(desk.request, "trial", "new", battery=battery.id)
            text = (
                battery.problem or f"New administration. {battery.title}, {battery.n_items} items"
            )
            yield Found(f"battery: {battery.id}", text, run, usable=not battery.problem)

    def _participants(self) -> Iterator[Found]:
        desk = self._desk
        sessions: dict[str, int] = {}
        for one in desk.catalogue.administrations if desk.catalogue else ():
            if one.conditions.kind == "speaker":
                code = one.conditions.examinee
                sessions[code] = sessions.get(code, 0) + 1
        for code, count in sessions.items():
            text = f"{count} session{'' if count == 1 else 's'}, consent"
            yield Found(f"participant: {code}", text, partial(desk.open, "participants", code))

    def _items(self) -> Iterator[Found]:
        desk = self._desk
        for item in desk.controller(ItemSearch).items if desk.started else ():
            title = f"item: {item.id} {item.prompt}"
            text = ", ".join([item.battery, item.subtest, *item.options])
            yield Found(title, text, partial(_show_item, desk, item), -0.1)

    def _administrations(self, query: str) -> Iterator[Found]:
        desk = self._desk
        given = desk.catalogue.administrations if desk.catalogue else ()
        for one in desk.finder.ranked(given, query)[:MOST]:
            title = f"open: #{one.id} {name_of(one)}"
            count = f"{glyph_of(one)} {state_word(one)} {one.answered}/{one.planned}"
            text = " · ".join([count, *special_words(one), one.given_at])
            yield Found(title, text, partial(desk.request, "trial", "offer", one.id))


def _score(entry: Found, words: Sequence[str]) -> float:
    return match(entry.title, words) or match(f"{entry.title} {entry.text}", words) / 4


def why_not(desk: Desk, command: Command, situation: Situation) -> str | None:
    """Return None if a command can be used now, else why not, in words for people."""
    reason = command.reason(situation)
    if reason != "":
        return reason
    if command.pages and situation.page not in command.pages:
        titles = {page.id: page.title for subject in desk.subjects for page in subject.pages}
        return f"only in {' and '.join(titles[page] for page in command.pages)}"
    return "it does not apply here"


def _show_item(desk: Desk, item: ItemEntry) -> None:
    def chosen(choice: str | None) -> None:
        if choice == "new":
            desk.request("trial", "new", battery=item.battery)

    from tabwb.workbench.shell.dialogs import ChoiceScreen

    choices = (("close", "Close"), ("new", "New administration…"))
    desk.app.push_screen(ChoiceScreen(f"Item {item.id}", item_text(item), choices), chosen)


def _topics(desk: Desk) -> Iterator[Found]:
    """Yield the help texts of all parts of the workbench."""
    for topic in topics():
        show = partial(_show_help, desk, topic.text)
        yield Found(f"help: {topic.title.lower()}", _first(topic.text), show, share=LATER)


def _first(text: str) -> str:
    """Return the first paragraph of a help text."""
    return " ".join(text.partition("\n\n")[2].partition("\n\n")[0].split()).replace("**", "")


def _show_help(desk: Desk, text: str) -> None:
    from tabwb.workbench.shell.help import HelpScreen

    desk.app.push_screen(HelpScreen(text))
