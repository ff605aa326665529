"""The palette, the table of keys and jump mode."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from threading import Event
from time import perf_counter

import pytest
from textual.command import CommandPalette
from textual.events import Key

from tabwb.workbench.engine.presenters import short_titles
from tabwb.workbench.engine.view_models import Scores, SubtestScore, Work
from tabwb.workbench.shell import palette
from tabwb.workbench.shell.commands import GROUPS, CommandTable, Situation
from tabwb.workbench.shell.dialogs import AskWords, ChoiceScreen
from tabwb.workbench.shell.drawn import compact
from tabwb.workbench.shell.explorer import Finder
from tabwb.workbench.shell.help import JumpScreen, KeysScreen, topics
from tabwb.workbench.shell.keys import SHARED, meaning, meanings
from tabwb.workbench.shell.wording import special_words
from tabwb.workbench.subjects import SUBJECTS
from tabwb.workbench.trial.page import opening
from tests.analysis.given import CONDITIONS
from tests.analysis.given import administration as administration_given
from tests.workbench.seat import LIMIT_S, Seat, Sit
from tests.workbench.test_importing import administration


async def find(seat: Seat, words: str, found: str) -> None:
    """Type words into the palette and wait for an entry."""
    await seat.press("ctrl+p")
    await seat.until(lambda: isinstance(seat.app.screen, CommandPalette))
    await seat.type(words)
    await seat.reads(found)


async def test_the_palette_finds_what_there_is_and_says_what_cannot_be_used(
    sit: Sit, battery: str
) -> None:
    async with sit((100, 30)) as seat:
        await seat.begin(battery=battery, model="echo", seed="7")
        await seat.press("f8")
        await find(seat, "results judge", "▌ results: judge")
        await seat.reads("Not now: only in the results of an administration")
        await seat.press("enter")
        await seat.until(lambda: any("only in the results" in words for words in seat.news))
        await find(seat, "seed 7", "open: #1 small · echo")
        await seat.press("escape", "escape")
        await find(seat, "bundled", "model: bundled")
        await seat.press("escape", "escape")
        await find(seat, "help scores", "help: scores")
        await seat.press("escape", "escape")
        # Of a part that was not imported yet.
        await find(seat, "help laboratory", "help: laboratory")
        await seat.press("escape", "escape")
        await find(seat, "usually worn feet", "item: wc3 Which item is usually worn on the feet?")
        await seat.press("enter", reads="expected  boot")
        await seat.press("escape")
        await find(seat, "theme high", "view: theme high-contrast")
        await seat.press("enter")
        await seat.until(lambda: seat.app.theme == "high-contrast")


async def test_a_screen_is_closed_once_and_its_command_runs_once(sit: Sit, battery: str) -> None:
    async with sit((100, 30)) as seat:
        await seat.begin(battery=battery, model="echo")
        driver = seat.app._driver
        assert driver is not None

        def send(*keys: str) -> None:
            """Send keys that do not wait for each other."""
            for key in keys:
                driver.send_message(Key(key, key if len(key) == 1 else None))

        await seat.press("ctrl+o")
        await seat.until(lambda: isinstance(seat.app.screen, JumpScreen))
        send(*"zzzz")
        await seat.closed()
        send(*("ctrl+p", "escape") * 4, "f10", "escape", "f10", "f10")
        await seat.pilot.pause()
        while seat.asked:
            await seat.press("escape")
        await find(seat, "about tabwb", "about tabwb")
        send("enter", "enter", "enter")
        await seat.until(lambda: isinstance(seat.app.screen, ChoiceScreen))
        assert len(seat.app.screen_stack) == 2


async def test_what_is_typed_at_once_is_found_and_a_covered_dialog_closes_where_it_is(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, told = Event(), list[str | None]()
    monkeypatch.setattr(palette, "topics", lambda: (go_on.wait(LIMIT_S), topics())[1])
    async with sit((100, 30)) as seat:
        await seat.press("ctrl+p", *"about")
        go_on.set()
        await seat.reads("help: about")
        await seat.press("escape", "escape")
        await seat.closed()
        below = AskWords("Below", "words")
        seat.app.push_screen(below, told.append)
        await seat.until(lambda: seat.app.screen is below, "the dialog")
        await seat.press("f1")
        await seat.until(lambda: seat.app.screen is not below, "help")
        over = seat.app.screen
        below.dismiss("yes")
        below.dismiss("no")
        await seat.until(lambda: told, "the answer")
        assert (told, seat.app.screen_stack) == (["yes"], [seat.desk, over])
        await seat.press("escape")
        assert not seat.asked


async def test_the_table_of_keys_has_a_filter_and_a_letter_moves_the_focus(sit: Sit) -> None:
    async with sit() as seat:
        await seat.press("question_mark")
        await seat.reads("This page: the first page", "esc Close", "All keys")
        # A key before a table of keys has its parts is ignored.
        shown = seat.app.screen
        assert isinstance(shown, KeysScreen)
        seat.app.push_screen(KeysScreen(shown._table, shown._situation, shown._title))
        await seat.app._dispatch_message(Key("down", None))
        await seat.press("down", "escape")
        await seat.until(lambda: seat.app.screen is shown, "the table below")
        await seat.type("undo")
        await seat.reads("Take back the last answer")
        assert "This page" not in seat.text
        await seat.press("escape", "question_mark", "question_mark")
        await seat.closed()

        await seat.pilot.resize_terminal(100, 30)
        await seat.until(lambda: seat.app.screen.size.width == 100, "the size")
        await seat.press("semicolon")
        await seat.until(lambda: isinstance(seat.app.screen, JumpScreen), "the letters")
        await seat.press("a")
        await seat.focuses("explorer")
        await seat.press("n")
        await seat.dialog()
        await seat.press("ctrl+o")
        await seat.until(lambda: isinstance(seat.app.screen, JumpScreen), "the letters")
        await seat.press("a")
        await seat.until(lambda: not isinstance(seat.app.screen, JumpScreen), "the dialog")
        assert seat.app.focused is seat.app.screen.focus_chain[0]
        await seat.press("ctrl+o", "escape")
        await seat.until(lambda: not isinstance(seat.app.screen, JumpScreen), "the dialog")
        assert seat.app.screen.query("#begin"), "the dialog is still open"


def test_ten_thousand_administrations_are_searched_within_a_frame() -> None:
    one = administration(1)
    given = [
        replace(one, id=n, conditions=replace(one.conditions, seed=n % 97, examinee=f"m{n % 9}"))
        for n in range(1, 10_001)
    ]
    finder = Finder()
    assert len(finder.ranked(given, "m4")) == 1111
    began = perf_counter()
    found = finder.ranked(given, "m4 done 9999")
    assert perf_counter() - began < 0.25, "0.03 s on an idle machine"
    assert not found, "9999 is of m0"
    assert finder.ranked(given, "m0 done 9999")[0].id == 9999


def test_every_help_text_is_found_once_with_its_title() -> None:
    titles = [topic.title for topic in topics()]
    assert {"Adjudication", "All keys", "Begin", "Laboratory", "Rating sets"} <= set(titles)
    assert len(titles) == len(set(titles))


BAD_KEYS = {"ctrl+h", "ctrl+i", "ctrl+m", "ctrl+j", "ctrl+enter", "ctrl+b", "ctrl+o", "ctrl+s"}
TABLE = CommandTable(command for subject in SUBJECTS for command in subject.all_commands)
PAGES = [page.id for subject in SUBJECTS for page in subject.pages]


def test_every_command_has_a_menu_a_key_that_survives_tmux_and_ssh_and_help() -> None:
    for command in TABLE.commands:
        assert command.group in GROUPS, command.id
        assert command.key and command.key not in BAD_KEYS, command.id
        assert command.key != "ctrl+q" or command.group == "file", "the menu is the second way"
        assert command.help.endswith("."), command.id
        assert command.palette.startswith(f"{command.group}: "), command.id
        assert set(command.pages) <= {*PAGES} & {*command.where}, command.id


def test_every_command_has_a_method_of_its_owner() -> None:
    for subject in SUBJECTS:
        owners = {f"{page.id}-page": page.path for page in subject.pages}
        if subject.actions:
            owners[subject.id] = subject.actions
        for command in subject.all_commands:
            if command.run is None:
                owner = subject.load(owners[command.owner])
                assert callable(getattr(owner, command.method, None)), command.id


def test_ids_and_keys_are_unique_on_every_page() -> None:
    for page in PAGES:
        here = [one for one in TABLE.commands if not one.pages or page in one.pages]
        keys = [
            key
            for one in here
            for key in (*((one.key,) if {page, "everywhere"} & set(one.where) else ()), *one.also)
        ]
        for all_of_them in ([one.id for one in here], keys):
            twice = [name for name, count in Counter(all_of_them).items() if count > 1]
            assert twice == [], page


def test_a_key_has_one_meaning_on_the_first_page_while_giving_and_on_the_others() -> None:
    found = meanings(TABLE.commands)
    several = [
        (key, place, [command.id for command in commands])
        for key, places in found.items()
        for place, commands in places.items()
        if meaning(key, commands) is None
    ]
    assert several == []
    used = {
        one.id.partition(".")[2]
        for places in found.values()
        for own in places.values()
        for one in own
    }
    assert {end for _, ends in SHARED.values() for end in ends.split()} <= used


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
        ["results.compare-with", "results.export", "results.rescore", "results.judge"],
        general,
        ["results.back"],
    ]
    assert len(ids(Situation("models", stored=True))) == 6


TITLES = ("Connected Text", "Word Comprehension", "Sentence Comprehension", "Repetition")
BURDEN = "burden 1.60 over 7"


def tab_scores() -> list[SubtestScore]:
    """TAB in its third item of word comprehension."""
    short = short_titles(TITLES)
    connected, word, sentence, repetition = (
        SubtestScore(title, short[title], planned=5, given=0, scored=0, right=None)
        for title in TITLES
    )
    return [
        replace(connected, given=5),
        replace(word, given=3, scored=3, right=2, current=True),
        sentence,
        repetition,
    ]


def test_scores_fit_into_one_line_or_what_does_not_is_marked() -> None:
    line = compact(tab_scores(), BURDEN, 76, hidden=False).plain
    assert line == "text 5 given   word 2/3   sentence -   repetition -   burden 1.60 over 7"
    given = [replace(one, given=5, scored=5, right=5) for one in tab_scores()[1:]]
    line = compact([tab_scores()[0], *given], "burden 11.60 over 18", 76, hidden=False).plain
    assert [word for word in line.split() if word.isalpha()] == [
        "text", "given", "word", "sentence", "repetition", "burden", "over",
    ]  # fmt: skip
    # The current subtest stays.
    scores = [replace(one, current=one.title == "Repetition") for one in tab_scores()]
    line = compact(scores, BURDEN, 50, hidden=False).plain
    assert line == "text 5 given  repetition -  …  burden 1.60 over 7"


def test_title_and_tags_come_first_in_what_tells_runs_apart() -> None:
    given = administration_given(3, replace(CONDITIONS, seed=7))
    assert special_words(given) == ["seed 7"]
    marked = replace(given, title="First try", tags=("pilot", "a"))
    assert special_words(marked) == ["First try", "pilot", "a", "seed 7"]


def test_a_lesion_is_named_before_the_first_item() -> None:
    lesioned = administration_given(3, replace(CONDITIONS, lesion="mlp:zero:0.3"))
    work = Work(
        lesioned,
        lesioned.status,
        reason="",
        item=None,
        awaiting=False,
        asking=False,
        loading="",
        auto=False,
        undoable=False,
        remaining=3,
        scores=Scores(),
    )
    assert opening(work).plain.splitlines()[1].split() == ["lesion", "mlp:zero:0.3"]
