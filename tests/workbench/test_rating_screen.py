"""The rating screen: one key for each feature, saved at once, and nothing that tells the source."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from string import ascii_lowercase

import pytest
from textual.screen import Screen

from tabwb.administer.rating.session import Draft, RaterSession
from tabwb.analysis.agreement import agreement_of
from tabwb.analysis.rating_sets import progress_of
from tabwb.analysis.stored_ratings import rated_set
from tabwb.battery.forms import (
    SOURCE,
    Form,
    Group,
    Question,
    question_keys,
    with_source_question,
)
from tabwb.cli.main import main
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.media.wording import figure
from tabwb.records.columns import ends_of
from tabwb.records.rating_sets import CANNOT_TELL
from tabwb.store.store import Store
from tabwb.workbench.adjudication.page import AdjudicationPage, AdjudicationView
from tabwb.workbench.rating.form import FormGrid, arranged, columns_in, moved
from tabwb.workbench.rating.page import interval_words
from tabwb.workbench.rating.screen import Hand, RatingScreen
from tabwb.workbench.rating.view_models import Reply, Request, Slot, slots_of
from tests.administer.rating.adjudication_parts import JUDGE, disputed_set
from tests.battery.test_new import shipped
from tests.cli.conftest import replayed
from tests.golden.freeze import unpacked
from tests.workbench.rating_parts import (
    FEATURES,
    SECRETS,
    SPOKEN,
    rating,
    rows,
    secret_set,
    strings_from,
)
from tests.workbench.seat import Seat, Sit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


async def test_a_rater_rates_by_keys_and_every_key_is_saved(path: Path) -> None:
    secret_set(path)
    async with rating(path) as rater:
        await rater.reads("sample 1 of 3   learning", "prompt 1", "text 1 text 1")
        await rater.press("n", "a", "2", "enter")
        await rater.reads("last question: 1 a person   2 a machine", "confidence 2 fairly sure")
        await rater.press("1", "enter")
        await rater.reads("Right answers", "1 of 2 as yours", "▣ present  □ absent")
        await rater.press("enter", "A")
        await rater.reads("sample 2 of 3", "Anomia   ? cannot tell", "Words are missing.")
        await rater.press("p", "1")
        await rater.reads("A person")
        await rater.press("u", "p")
        await rater.reads("Person or machine?   · not answered")
        await rater.press("2", "f2", *"why", "enter", "enter")
        await rater.reads("1 feature not looked at. enter again: absent", "Confirm")
        await rater.press("enter")
        await rater.reads("sample 3 of 3")
        await rater.press("z")
        await rater.reads("sample 2 of 3", "note ✓")
        half = rows(path)
        await rater.press("enter")
        await rater.reads("sample 3 of 3")
        await rater.pilot.click("#rating-grid", offset=(4, 0))
        await rater.reads("sample 3 of 3", "Anomia   ▣ present")
    kept = rows(path)
    assert [(row.position, row.complete) for row in kept if row.complete] == [(1, True), (2, True)]
    assert half[-1].answers == {"anomia": CANNOT_TELL, "jargon": 0.0, SOURCE: "machine"}
    assert (half[-1].note, half[0].answers, half[-1].seconds > 0) == ("why", {"jargon": 1.0}, True)
    assert half[-1].confirmed == ("jargon",)
    assert kept[len(half) :][0].answers == {"anomia": 1.0}
    async with rating(path) as rater:  # it continues where it was left, with what was answered
        await rater.reads("sample 3 of 3", "Anomia   ▣ present")
        await rater.press("p", "2", "n", "n", "enter")
        await rater.reads("3 of 3 samples are rated")


async def test_nothing_that_a_screen_holds_or_shows_tells_the_source(path: Path) -> None:
    secret_set(path)
    with Store.open(path) as store:  # the walk finds secrets where they are
        session = RaterSession.open(store, Plugins.load(Configuration()), "pilot", "R1")
        found = {secret for text in strings_from(session) for secret in SECRETS if secret in text}
        assert {"secret-stratum", "R-other"} <= found
        session.close()
    async with rating(path) as rater:
        await rater.press("a", "1", "enter", "1")
        for keys in (("p", "1", "enter"), ("enter", "a"), ("z",), ("question_mark",), ("escape",)):
            await rater.press(*keys)
            await rater.pilot.pause(0.05)
            assert not [secret for secret in SECRETS if secret in rater.text]
        told = [text for text in strings_from(rater.app, rater.screen) if any(
            secret in text for secret in SECRETS)]  # fmt: skip
        assert told == []
        await rater.press("ctrl+p", "f10")  # no palette, and leaving ends the program
    assert rater.app.return_code == 0


async def test_a_held_or_doubled_enter_stores_nothing_and_a_later_one_confirms(path: Path) -> None:
    secret_set(path, replace(FEATURES, min_seconds=3600), n=2, ask_source=False)
    async with rating(path, confirm_s=1e9) as rater:
        await rater.reads("Anomia   · not looked at", "0 of 2 looked at")
        await rater.press(*["enter"] * 5)
        await rater.reads("nothing answered, less than 3600 s. wait, then enter: 2 features absent")
        await rater.press("down")
        await rater.reads("Jargon   · not looked at", "wait, then", "Confirm")
        await rater.press("n")
        await rater.reads("Jargon   ▣ present", "Next")
        assert "Confirm" not in rater.text
        await rater.press("enter")
        await rater.reads("1 feature not looked at, less than 3600 s. enter again: absent")
        await rater.press("up", "minus", "enter")
        await rater.reads("Anomia   □ absent", "less than 3600 s. enter again: complete")
        assert not any(row.complete for row in rows(path))
    async with rating(path) as rater:  # what was asked before is asked again
        await rater.press("delete", "down", "delete", "enter")
        await rater.reads("sample 1 of 2", "nothing answered")
        await rater.press("enter")
        await rater.reads("sample 2 of 2")
        await rater.press("z")
        await rater.reads("sample 1 of 2", "Anomia   · not looked at, confirmed as absent")
    last = rows(path)[-1]
    assert (last.complete, last.answers) == (True, {"anomia": 0.0, "jargon": 0.0})
    assert last.confirmed == ("anomia", "jargon")


async def test_on_a_small_screen_the_definition_is_whole_and_a_key_for_absent_is_shown(
    path: Path,
) -> None:
    long = "Speech that conveys little or no meaning, using nonspecific words, as in this example."
    features = tuple(Question(f"q{at}", f"Question {at}", long) for at in range(12))
    secret_set(path, replace(FEATURES, questions=features), ask_source=False)
    async with rating(path) as rater:
        await rater.reads("this example.", "- Absent", "Next")
        await rater.press("enter")
        await rater.reads("12 features absent", "Confirm")
        assert "this example." not in rater.text, "the question has taken its line"
        await rater.press("minus")
        await rater.reads("this example.")


async def test_words_and_phonemes_are_written_per_attempt(path: Path) -> None:
    secret_set(path, SPOKEN, ask_source=False)
    async with rating(path, (160, 48)) as rater:
        await rater.press("2", "h", *"D XX G", "enter")
        await rater.reads("'XX' is not a phoneme: the 2nd of 3", "error")
        await rater.press("end", "ctrl+u", *"dɔɡ", "enter", "m")
        await rater.reads("ATTEMPT 2", "dɔɡ")
        await rater.press("h", *"k ae t", "enter", "enter")
        await rater.reads("sample 2 of 3")
        # A failed sound leaves the answer on its way.
        rater.screen._saving.unsaved = 1
        rater.screen.post_message(RatingScreen.Told(Reply("failed", words="no sound card")))
        await rater._reads("no sound card", "… saving")
        rater.screen.post_message(RatingScreen.Told(Reply("failed", words="no room", unsaved=True)))
        await rater.reads_unsaved("no room")
    (done,) = [row for row in rows(path) if row.complete]
    assert done.answers == {"correct": "error", "heard#1": "D AO G", "heard#2": "K AE T"}


async def test_the_workbench_lists_sets_and_shows_nothing_else_while_a_person_rates(
    sit: Sit, path: Path
) -> None:
    secret_set(path)
    async with sit() as seat:
        await seat.press("r", reads="open  pilot")
        await seat.reads("R-other", "samples left are")
        await seat.press("enter", reads="Who rates 'pilot'?")
        await seat.press("enter", reads="sample 1 of 3")
        await seat.press("ctrl+p", "f3", "f9", "f8")
        seat.desk.notify("secret-model was judged")
        await seat.press("a", reads="Anomia   ▣ present")
        assert not [secret for secret in SECRETS if secret in seat.text]
        assert seat.news == []
        new = set(vars(RatingScreen(lambda say: lambda request: None))) - set(vars(Screen()))
        own = [vars(seat.app.screen)[name] for name in new if name != "_connect"]
        hand = own.pop(next(at for at, one in enumerate(own) if isinstance(one, Hand)))
        own += [hand.view, hand.sheet]
        assert len(own) > 5  # all that our screen has, without what Textual gives every screen
        told = [text for text in strings_from(*own) if any(one in text for one in SECRETS)]
        await seat.press("f10")
        await seat.until(lambda: seat.news, "what was held back")
        await seat.reads("0/3")
        assert told == []
    assert rows(path)[-1].answers == {"anomia": 1.0}


async def test_a_set_is_planned_and_closed_and_its_links_are_made(sit: Sit, tmp_path: Path) -> None:
    place, model = str(tmp_path / "store.db"), replayed(tmp_path / "answers.jsonl")
    assert main(["run", "tab", "--model", model, "--judge", "none", "-q", "--store", place]) == 0
    async with sit((120, 40)) as seat:
        await seat.press("r", reads="p plans one here")
        await seat.press("p")
        await seat.has("raters")
        seat.fill(name="pilot", raters="R1,R2", again="0")
        await seat.press_button("estimate")
        await seat.reads("pilot: 5 samples of 5 responses")
        with Store.open(seat.store) as store:
            assert not store.sets.all()
        await seat.press_button("begin")
        await seat.reads("rating set 'pilot' made")
        await seat.press("escape", reads="open  pilot")
        await seat.press("L")
        await seat.has("expires")
        await seat.press_button("begin")
        await seat.reads("127.0.0.1:8017/rate#")
        jobs = seat.desk.sessions.jobs.all.values()
        assert "rate#" not in repr([entry.state for entry in jobs])
        seat.fill(what="rate close")
        await seat.has("reason")
        await seat.press_button("begin")
        await seat.reads("rating set 'pilot' is closed")
        await seat.press("escape", reads="closed  pilot")
        with Store.open(seat.store) as store:
            (kept,) = store.sets.all()
            assert [one.rater for one in store.sets.links.all(kept.id)] == ["R1", "R2"]
            assert [one.kind for one in store.sets.events(kept.id)] == ["planned", "closed"]


async def test_the_page_of_sets_says_how_far_people_agree_as_the_command_does(
    sit: Sit, tmp_path: Path
) -> None:
    with Store.open(unpacked("sets", tmp_path)) as store:
        found = agreement_of(rated_set(store, "open"))
        store.sets.links.add(1, "R2", b"0" * 32, expires_at="2020-01-01T00:00:00+00:00")
        assert [one.link_state for one in progress_of(store, store.sets.get(1))] == [
            None, "expired", None,
        ]  # fmt: skip
    (mean,) = found.rows("means", design="main", mean="positive_count_weighted")
    kappas = [row["kappa"] for row in found.measures]
    defined = [kappa for kappa in kappas if kappa is not None]
    assert kappas == sorted(defined) + [None] * (19 - len(defined))
    async with sit((160, 48)) as seat:
        await seat.press("r", reads="link expired")
        await seat.reads(f"kappa {figure(mean['kappa'])} (", f"{found.measures[0]['title']} ")
        await seat.reads(f"lowest: {found.measures[0]['title']} {figure(kappas[0])}")
    few = next(row for row in found.measures if row["few"])
    cells = [few[name] for name in ("both_present", "first_present", "second_present")]
    assert few["kappa_low"] is None
    assert interval_words(few) == "/".join(map(str, [*cells, few["both_absent"]]))
    below = next(row for row in found.measures if (row["kappa_low"] or 0) < 0)
    ends = ends_of(below["kappa_low"], below["kappa_high"], 2)
    assert interval_words(below) == " to ".join(ends)


async def test_what_the_store_refuses_stays_on_the_screen_and_reaches_no_other_sample(
    path: Path,
) -> None:
    secret_set(path, SPOKEN, n=4, ask_source=False)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        async with rating(path) as rater:
            other.execute(
                "CREATE TRIGGER refuse BEFORE INSERT ON sample_ratings"
                " BEGIN SELECT RAISE(ABORT, 'no room'); END"
            )
            await rater.press("1", "2")
            await rater.reads_unsaved("error")
            await rater.press("z")
            await rater.reads_unsaved("sample 1 of 4", "error")
            await rater.press("f10")
            await rater.reads_unsaved("not saved: F10 again leaves without the last answers")
            other.execute("DROP TRIGGER refuse")
            await rater.press("enter")
            await rater.reads("sample 2 of 4")
            other.execute("DELETE FROM assignments WHERE position = 2")  # the speaker is deleted
            assert rater.screen.hand is not None
            visit = rater.screen.hand.view.visit
            await rater.press("1")
            await rater.reads("this sample was removed", "sample 2 of 3", "text 3")
            rater.screen._send(Request("keep", Draft({"correct": "right"}), visit=visit))
            await rater.press("z", "enter")
            await rater.reads("text 3")
    assert [(row.position, row.answers) for row in rows(path)] == [(1, {"correct": "error"})]


SIZES = {"LEXICAL": 4, "FLUENCY": 2, "MORPHOSYNTACTIC": 3, "DISFLUENCY": 4, "PERSEVERATIVE": 2,
         "COHERENCE": 3, "OVERALL": 1}  # fmt: skip
"""The groups of TAB's 19 features (table 5 of the paper)."""
NINETEEN = Form(
    "nineteen",
    "1",
    "Nineteen",
    "MIT",
    "",
    tuple(
        Question(f"q-{letter}", f"Question {letter}", key=letter, group=group)
        for letter, group in zip(
            ascii_lowercase, [name for name, n in SIZES.items() for _ in range(n)], strict=False
        )
    ),
    groups=tuple(Group(name, name) for name in SIZES),
)


def test_nineteen_features_have_room_on_a_small_screen_and_arrows_go_round() -> None:
    slots = slots_of(NINETEEN)
    for most, longest in ((10, 9), (8, 7)):
        made = arranged(NINETEEN, slots, columns_in(slots, 76), most)
        assert (len(made), max(map(len, made))) == (3, longest)
        assert [one for column in made for one in column if isinstance(one, Slot)] == list(slots)
    made = arranged(NINETEEN, slots, 3, 10)
    assert moved(made, slots[-1], 0, 1) == slots[0]
    assert moved(made, slots[0], 0, -1) == slots[-1]
    right = moved(made, slots[0], 1, 0)
    assert right in made[1] and moved(made, right, -1, 0) in made[0]


async def test_definitions_fold_where_rows_are_free(path: Path) -> None:
    form = shipped("tab-19")
    secret_set(path, form, ask_source=False)
    async with rating(path, (160, 48)) as rater:
        questions = rater.screen.query_one("#rating-questions")
        grid = rater.screen.query_one(FormGrid)
        shown: dict[str, list[str]] = {}
        for entry, line in grid._single_rows(grid.content_size.width):
            if isinstance(entry, Slot):
                definition = line.plain[39:].strip()
                shown.setdefault(entry.question.measure, []).append(definition)
        whole = [" ".join(shown[one.measure]) == one.definition for one in form.questions]
        assert sum(whole) >= 10
        # Before, each had one line of 25 characters.
        told = zip(whole, shown.values(), strict=True)
        assert all(of or len(" ".join(lines)) > 25 for of, lines in told)
        assert questions.max_scroll_y == 0 and grid.size.height <= questions.size.height
    async with rating(path) as rater:
        grid = rater.screen.query_one(FormGrid)
        assert not grid.single and [len(column) for column in grid.columns] == [8, 9, 9]


def test_every_question_has_a_key_of_its_own() -> None:
    keys = question_keys(with_source_question(NINETEEN))
    assert len(set(keys.values())) == 20
    assert not set(keys.values()) & {"z", "?", " "}
    assert list(keys.values())[:19] == list(ascii_lowercase[:19])


def _view(seat: Seat) -> AdjudicationView:
    view = seat.desk.query_one(AdjudicationPage)._view
    assert view is not None
    return view


def _parts(value: object) -> Iterator[object]:
    """Everything that can be reached from a value."""
    yield value
    if is_dataclass(value):
        for field in fields(value):
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield from _parts([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _parts(part)


async def test_a_disagreement_is_settled_with_a_reason_and_taken_back(
    sit: Sit, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "store.db") as store:
        disputed_set(store)
    async with sit((80, 24)) as seat:
        await seat.until(lambda: seat.desk.catalogue is not None)
        await seat.press("r")
        await seat.until(lambda: seat.desk.current.rating_set() == 1)
        seat.desk.perform("file.adjudicate")
        await seat.reads("0 of 2 settled", "3 answers: people differ on 2, only judges on 1")
        await seat.reads("-  2 0 -")
        await seat.press("down", reads="Sample 1 · Jargon")
        assert "“1”" in seat.text  # the word that R1 has marked
        assert "text 1" in seat.text
        await seat.press("l")
        await seat.until(lambda: _view(seat).told == "there is no recording to play")
        assert JUDGE in seat.text
        # Nothing that the page got tells the source; it holds plain values alone.
        reached = list(_parts(_view(seat)))
        assert {type(one).__module__.partition(".")[0] for one in reached} <= {"builtins", "tabwb"}
        words = " ".join(str(one) for one in reached if isinstance(one, str))
        assert "severe" not in words and "echo" not in words
        names = {field.name for one in reached if is_dataclass(one) for field in fields(one)}
        assert not names & {"administration", "trial", "attempt", "stratum", "weight", "speaker"}

        await seat.press("enter", reads="Sample 1, Jargon: which value?")
        await seat.press("enter", reads="Sample 1, Jargon: ▣ present")
        await seat.press("enter", reads="a text is needed")
        await seat.type("no such words")
        await seat.press("enter", reads="1 of 2 settled")
        await seat.until(lambda: len(_view(seat).rows) == 2)
        await seat.press("t", reads="settled; consensus counts")
        await seat.reads("no such words")
        await seat.press("x", reads="Nothing is settled.")
        await seat.press("t", "u", reads="0 of 2 settled")
        await seat.press("slash", "down", "enter", reads="all, jargon; consensus counts")
        await seat.press("escape", at="sets")
    with Store.open(tmp_path / "store.db") as store:
        (settled, back) = store.sets.adjudications(1, every=True)
        assert (settled.answer, settled.reason, back.answer) == (1.0, "no such words", None)
