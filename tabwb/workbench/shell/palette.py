"""The command palette: every command as ``group: verb``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from tabwb.workbench.shell import themes
from tabwb.workbench.shell.commands import key_label

if TYPE_CHECKING:
    from tabwb.workbench.shell.app import Workbench


class Commands(Provider):
    """The commands that can be used now, then the themes by name."""

    def _entries(self) -> list[tuple[str, str, object]]:
        app = cast("Workbench", self.app)
        desk = app.desk
        situation = desk.situation()
        entries: list[tuple[str, str, object]] = [
            (
                command.palette,
                f"{key_label(command.key)}   {command.help}",
                partial(desk.perform, command.id),
            )
            for command in desk.table.commands
            if command.id != "help.commands" and command.reason(situation) is None
        ]
        entries += [
            (f"view: theme {name}", f"Use the theme {name}.", partial(app.take_theme, name))
            for name in themes.NAMES
        ]
        return entries

    async def discover(self) -> Hits:
        """Yield all of them, before anything is typed."""
        for title, text, run in self._entries():
            yield DiscoveryHit(title, run, help=text)  # type: ignore[arg-type]

    async def search(self, query: str) -> Hits:
        """Yield those that match."""
        matcher = self.matcher(query)
        for title, text, run in self._entries():
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, matcher.highlight(title), run, help=text)  # type: ignore[arg-type]
