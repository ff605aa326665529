"""Two administrations of a naming battery, item by item."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import load_administrations, load_columns
from tabwb.analysis.change import change_of, sessions_of
from tabwb.analysis.contrast import Difference, members_compared
from tabwb.analysis.selection import Selection, selected_groups
from tabwb.analysis.tables.items import analyse_items
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.media.documents.naming_document import naming_difference_json
from tabwb.media.views.contrasts import difference_view
from tabwb.records.conditions import Conditions
from tabwb.records.errors import UsageError
from tabwb.records.events import AttemptRecorded
from tabwb.records.trials import AttemptEntry
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.giving import create_naming
from tabwb.tasks.spoken_naming.task import spoken_in
from tabwb.tasks.spoken_naming.views import spoken_attempt
from tests.administer.naming_parts import heard, naming_battery, shown, take

Said = dict[str, tuple[str, str]]
BEFORE: Said = {
    "dog": ("error", "K AE T"),
    "cat": ("error", "D AO G"),
    "tree": ("right", "T R IY"),
    "house": ("no-response", ""),
}
AFTER: Said = {
    "dog": ("right", "D AO G"),
    "cat": ("right", "K AE T"),
    "tree": ("right", "T R IY"),
    "house": ("error", "K AE T"),
}


def _give(store: Store, battery_file: Path, answers: Said) -> None:
    plugins = Plugins.load(Configuration())
    battery = setup.find_battery(plugins, str(battery_file))
    conditions = setup.resolve(plugins, battery, Conditions("S-014", "speaker", judges=()))
    with create_naming(store, plugins, battery, conditions) as session:
        for at, _ in enumerate(answers):
            _answer(session, 10.0 * at, answers)
    plugins.close()


def _answer(session: Session, at_s: float, answers: Said) -> None:
    spoken_in(session).show(shown(at_s))
    assert session.current is not None
    score, phonemes = answers[session.current.plan.item]
    if score == "nobody":
        trial = session.state.open_trial()
        attempt = spoken_attempt(trial, take(at_s))
        made = AttemptRecorded(session.administration.id, trial.plan.number, attempt)
        session.commit([AttemptEntry(trial.plan.number, attempt)], made)
        session.state.awaiting = False
    else:
        spoken_in(session).score(score, take=take(at_s))  # type: ignore[arg-type]
    if phonemes != "unheard":
        spoken_in(session).transcribed(
            session.current.plan.number, 1, heard(*[phonemes] * bool(phonemes))
        )


@pytest.fixture
def found(store: Store, tmp_path: Path) -> Difference:
    battery = naming_battery(tmp_path)
    _give(store, battery, BEFORE)
    _give(store, battery, AFTER)
    sides = [load_administrations(store, (number,)) for number in (1, 2)]
    return members_compared(sides[0], sides[1], ("#1", "#2"))


def test_items_are_compared_by_what_was_said_and_what_is_said_of_it(found: Difference) -> None:
    (named,) = found.named
    assert [(pair.item, pair.differs) for pair in named.pairs] == [
        ("dog", True), ("cat", True), ("tree", False), ("house", True),
    ]  # fmt: skip
    plain = naming_difference_json(named)["items"]
    assert isinstance(plain, list)
    dog = plain[0]
    assert [one["phonemes"] for one in (*dog["first"], *dog["second"])] == [
        ["K", "AE", "T"],
        ["D", "AO", "G"],
    ]
    assert [(one["score"], one["correct_any"]) for one in (*dog["first"], *dog["second"])] == [
        ("error", False),
        ("right", True),
    ]
    assert found.items == ()  # nothing of it was answered in text


def test_mcnemar_counts_items_gained_and_lost(found: Difference) -> None:
    by = {each.basis: each for each in found.named[0].changed}
    person = by["person"]
    assert (person.first, person.second, person.items) == (1, 3, 4)
    assert person.test is not None
    # Two gained and none lost: 2 x (1/2)^2, and half of it.
    assert (person.test.gained, person.test.lost) == (2, 0)
    assert (person.test.p, person.test.mid_p) == (0.5, 0.25)
    assert (by["correct-any"].first, by["correct-any"].second) == (1, 3)
    first, second = found.named[0].codes
    assert (first["correct"], second["correct"]) == (1, 3)


def test_change_of_named_items_is_by_the_rule_of_the_battery(store: Store, tmp_path: Path) -> None:
    battery = naming_battery(tmp_path)
    for answers in (BEFORE, AFTER):
        _give(store, battery, answers)
    found = change_of(load_columns(store))
    assert dict(found.answers) == {
        ("nouns", "dog"): (False, True),
        ("nouns", "cat"): (False, True),
        ("nouns", "tree"): (True, True),
        ("nouns", "house"): (False, False),
    }
    assert found.warnings == ()  # a listener scored all
    (items,) = analyse_items(load_columns(store))
    assert [(item.item, item.right, item.n) for item in items.items()] == [
        ("dog", 1, 2), ("cat", 1, 2), ("tree", 2, 2), ("house", 0, 2),
    ]  # fmt: skip


def test_the_battery_with_several_sessions_is_chosen(store: Store, tmp_path: Path) -> None:
    battery = naming_battery(tmp_path)
    _give(store, battery, BEFORE)
    _give(store, battery, AFTER)
    plugins = Plugins.load(Configuration())
    tab = setup.find_battery(plugins, "tab")
    conditions = Conditions("S-014", "speaker", judges=(), research_protocol="P-1")
    with setup.create(store, plugins, tab, conditions) as session:
        session.next()
        session.answer("We went to the sea.")
    plugins.close()
    assert [one.id for one in sessions_of(store, "S-014")] == [1, 2]


def test_sessions_that_are_not_scored_alike_are_named(store: Store, tmp_path: Path) -> None:
    battery = naming_battery(tmp_path)
    _give(store, battery, {item: ("nobody", said) for item, (_, said) in BEFORE.items()})
    _give(store, battery, AFTER)
    found = change_of(load_columns(store))
    assert [(one.by_listener, one.by_rule) for one in found.sessions] == [(0, 4), (4, 0)]
    draft, unlike = found.warnings
    assert draft.startswith("4 of 8 responses are scored by the battery's rule on a transcript")
    assert "session 1: 0 by a listener, 4 by the rule; session 2: 4 by a listener, 0" in unlike


def test_change_without_any_score_says_how_to_score(store: Store, tmp_path: Path) -> None:
    battery = naming_battery(tmp_path)
    for _ in range(2):
        _give(store, battery, dict.fromkeys(BEFORE, ("nobody", "unheard")))
    with pytest.raises(UsageError, match=r"no answer of 'S-014' to .* is scored") as caught:
        change_of(load_columns(store))
    assert "tabwb trial score" in str(caught.value.hint)


def test_several_responses_to_an_item_have_no_mcnemar(store: Store, tmp_path: Path) -> None:
    battery = naming_battery(tmp_path)
    for answers in (BEFORE, BEFORE, AFTER):
        _give(store, battery, answers)
    sides = [load_administrations(store, numbers) for numbers in ((1, 2), (3,))]
    (named,) = members_compared(sides[0], sides[1], ("#1, #2", "#3")).named
    assert named.changed == ()
    assert len(named.pairs[0].first) == 2


def test_the_table_shows_responses_and_the_test(found: Difference, store: Store) -> None:
    (one,) = load_administrations(store, (1,))
    console = Console(width=120, record=True, file=StringIO())
    console.print(difference_view(found, one.battery))
    text = " ".join(console.export_text().split())
    assert "(nothing)" not in text
    assert "McNemar" in text
    assert "/kæt/" in text
    assert "4 items, 1 alike in every respect" in text


def test_groups_of_items_have_the_names_of_these_items_alone(store: Store, tmp_path: Path) -> None:
    battery = naming_battery(tmp_path)
    _give(store, battery, BEFORE)
    _give(store, battery, AFTER)
    rows = selected_groups(store, (), Selection.of("participant,item", items=("dog", "tree")))
    assert [row.label for row in rows] == ["speaker S-014, dog", "speaker S-014, tree"]
    for row, right in zip(rows, (1, 2), strict=True):
        (subtest,) = row.results.named
        assert {item.item for item in subtest.items} == {row.group.values[1].name}
        (share,) = (share for share in subtest.summary.accuracy if share.basis == "outcome")
        assert (share.correct, share.n) == (right, 2)
