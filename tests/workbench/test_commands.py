"""The table of commands."""

from __future__ import annotations

from collections import Counter

from tabwb.workbench.shell.commands import COMMANDS, GROUPS, Situation, available, bindings
from tabwb.workbench.shell.desk import Desk

BAD_KEYS = {"ctrl+h", "ctrl+i", "ctrl+m", "ctrl+j", "ctrl+enter", "ctrl+b", "ctrl+o", "ctrl+s"}


def test_every_command_has_a_menu_a_key_help_and_an_action() -> None:
    for command in COMMANDS:
        assert command.group in GROUPS
        assert command.key
        assert command.help.endswith(".")
        assert callable(getattr(Desk, f"action_{command.action}"))
        assert command.palette.startswith(f"{command.group}: ")


def test_ids_are_unique_and_keys_are_unique_in_their_place() -> None:
    assert len({command.id for command in COMMANDS}) == len(COMMANDS)
    for where in ("home", "trial", "naming", "results", "explorer"):
        keys = [
            key
            for command in COMMANDS
            for key in (
                *((command.key,) if {where, "everywhere"} & set(command.where) else ()),
                *command.also,
            )
        ]
        assert [key for key, count in Counter(keys).items() if count > 1] == []


NAMING = {
    "space": "show", "1": "right", "2": "self-corrected", "3": "wrong", "4": "no-response",
    "5": "unscorable", "c": "cue", "e": "re-prompt", "m": "attempt", "x": "examiner",
    "f": "speaker", "s": "skip", "v": "void", "u": "undo", "n": "note", "p": "pause",
    "d": "discontinue",
}  # fmt: skip


def test_the_keys_of_spoken_naming_are_those_that_are_documented() -> None:
    page = {binding.key: binding.action for binding in bindings("naming")}
    for key, verb in NAMING.items():
        assert page[key] == f"screen.administer_{verb.replace('-', '_')}"


def test_keys_survive_tmux_and_ssh() -> None:
    for command in COMMANDS:
        assert command.key not in BAD_KEYS
        if command.key == "ctrl+q":
            assert command.group == "file", "the menu is the second way"


def test_nothing_is_administered_when_nothing_is_open() -> None:
    for command in COMMANDS:
        if command.group in {"administer", "results"}:
            assert not available(command, Situation())
        else:
            assert available(command, Situation())
