"""The commands of all subjects."""

from __future__ import annotations

from collections import Counter

import pytest

from tabwb.workbench.shell.commands import GROUPS, CommandTable, Situation
from tabwb.workbench.subjects import SUBJECTS

BAD_KEYS = {"ctrl+h", "ctrl+i", "ctrl+m", "ctrl+j", "ctrl+enter", "ctrl+b", "ctrl+o", "ctrl+s"}
TABLE = CommandTable(command for subject in SUBJECTS for command in subject.all_commands)
PAGES = [page.id for subject in SUBJECTS for page in subject.pages]


def test_every_command_has_a_menu_a_key_and_help() -> None:
    for command in TABLE.commands:
        assert command.group in GROUPS
        assert command.key
        assert command.help.endswith(".")
        assert command.palette.startswith(f"{command.group}: ")


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.id)
def test_every_command_has_a_method_of_its_owner(subject) -> None:  # type: ignore[no-untyped-def]
    owners = {f"{page.id}-page": page.path for page in subject.pages}
    if subject.actions:
        owners[subject.id] = subject.actions
    for command in subject.all_commands:
        if command.run is None:
            assert callable(getattr(subject.load(owners[command.owner]), command.method))


@pytest.mark.parametrize("page", PAGES)
def test_ids_and_keys_are_unique_on_every_page(page: str) -> None:
    here = [one for one in TABLE.commands if not one.pages or page in one.pages]
    assert [name for name, count in Counter(one.id for one in here).items() if count > 1] == []
    keys = [
        key
        for one in here
        for key in (*((one.key,) if {page, "everywhere"} & set(one.where) else ()), *one.also)
    ]
    assert [key for key, count in Counter(keys).items() if count > 1] == []


def test_keys_of_a_page_belong_to_commands_that_the_page_can_use() -> None:
    for command in TABLE.commands:
        for page in command.pages:
            assert page in PAGES
            assert page in command.where


def test_a_key_of_the_first_page_is_told_where_it_works() -> None:
    command = TABLE.find("file.open-import", "home")
    assert command is not None
    assert (command.keys_on("home"), command.keys_on("jobs")) == (("i",), ())
    new = TABLE.find("file.new", "jobs")
    assert new is not None
    assert (new.keys_on("home"), new.keys_on("jobs")) == (("n", "f2"), ("f2",))


NAMING = {
    "space": "show", "1": "right", "2": "self-corrected", "3": "wrong", "4": "no-response",
    "5": "unscorable", "c": "cue", "r": "re-prompt", "m": "attempt", "x": "examiner",
    "f": "speaker", "s": "skip", "v": "void", "u": "undo", "n": "note", "p": "pause",
    "d": "discontinue", "h": "heard", "k": "code", "l": "listen", "t": "detail", "T": "test",
    "I": "notation", "H": "picture-name", "F": "window",
}  # fmt: skip


def test_the_keys_of_spoken_naming_are_those_that_are_documented() -> None:
    page = {one.key: one.id for one in TABLE.commands if "naming" in one.where}
    for key, verb in NAMING.items():
        assert page[key] == f"administer.{verb}"


def test_keys_survive_tmux_and_ssh() -> None:
    for command in TABLE.commands:
        assert command.key not in BAD_KEYS
        if command.key == "ctrl+q":
            assert command.group == "file", "the menu is the second way"


def test_nothing_is_administered_when_nothing_is_open() -> None:
    for command in TABLE.commands:
        unavailable = command.reason(Situation()) is not None
        elsewhere = bool(command.pages) and "home" not in command.pages
        assert unavailable == (command.group in {"administer", "results"} or elsewhere), command.id


def test_the_menu_of_administrations_is_that_of_the_page() -> None:
    naming = [command.id for command in TABLE.listed("administer", "naming")]
    assert naming[:2] == ["administer.show", "administer.right"]
    trial = TABLE.listed("administer", "trial")
    assert trial[0].id == "administer.next"
    assert TABLE.listed("administer", "home") == trial
    assert TABLE.find("administer.skip", "naming") is not TABLE.find("administer.skip", "trial")


def test_a_menu_has_sections_with_what_the_page_can_use_and_leaving_it_last() -> None:
    def ids(now: Situation) -> list[list[str]]:
        return [[one.id for one in section] for section in TABLE.menu("results", now)]

    general = ["results.by-model", "results.plugin-page"]
    assert ids(Situation("home", stored=True)) == [general]
    summary = ids(Situation("results", stored=True))
    assert summary == [
        ["results.responses"],
        ["results.export", "results.rescore", "results.judge"],
        general,
        ["results.back"],
    ]
    assert len(ids(Situation("models", stored=True))) == 6
