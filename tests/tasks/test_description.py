"""Kinds of response are declared once; descriptions: their items, text typed or recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tabwb.administer.session import setup
from tabwb.administer.session.session import Session
from tabwb.analysis.administrations import load_administrations
from tabwb.battery.loader import check_battery, load_battery
from tabwb.battery.task_type import task_type, task_types
from tabwb.battery.toml_schema import allowed_keys
from tabwb.host.plugins import Plugins
from tabwb.media.documents.document import administration_document
from tabwb.records.conditions import Conditions
from tabwb.records.errors import TabwbError
from tabwb.records.naming import PictureShown, RecordingBegan, Take
from tabwb.records.ratings import Rating, valued
from tabwb.records.states import RatingStatus, ResponseKind, ResponseStatus, TrialState
from tabwb.records.trials import Attempt, RatingsEntry
from tabwb.store.store import Store
from tabwb.tasks.spoken_naming.giving import create_naming
from tabwb.tasks.spoken_naming.strategy import CHANGED
from tabwb.tasks.spoken_naming.task import spoken_in
from tests.tasks.description_parts import WORDS, description_battery, written

Begin = Callable[..., Session]
TAKE = Take("r1", 1.0, 31.0, 1.0, 2.5, 0.05, "energy-1")


@pytest.fixture
def begin(store: Store, plugins: Plugins, tmp_path: Path) -> Iterator[Begin]:
    with ExitStack() as closing:

        def make(*, aloud: bool, judges: tuple[str, ...] = ("rules-2",)) -> Session:
            battery = load_battery(description_battery(tmp_path / "battery"))
            conditions = setup.resolve(
                plugins, battery, Conditions("S-1", "speaker", judges=judges, rater="R1")
            )
            create = create_naming if aloud else setup.create
            return closing.enter_context(create(store, plugins, battery, conditions))

        yield make


@pytest.fixture
def spoken(begin: Begin) -> Session:
    """The first item has been described aloud; nothing is transcribed."""
    session = begin(aloud=True)
    spoken_in(session).keep(None, RecordingBegan("r1", "r1.wav", "a microphone", 16_000))
    spoken_in(session).show(PictureShown("r1", 1.0, 0.02))
    spoken_in(session).finish(TAKE)
    return session


def answer(session: Session, number: int = 1) -> Attempt:
    attempt = session.history.trial(number).counting
    assert attempt is not None
    return attempt


def ratings(session: Session, number: int = 1) -> dict[tuple[str, str], Rating]:
    return {(one.rater, one.measure): one for one in session.history.trial(number).ratings}


@pytest.mark.parametrize(
    ("old", "new", "key", "said"),
    [
        ('prompt = "Describe your morning."', 'prompt = " "', "item[2]", "nothing to describe"),
        ('"kitchen.png"', '"kitchen.txt"', "item[1].picture", "not a picture file"),
        ('id = "morning"', 'id = "morning"\ntarget = "x"', "item[2].target", "takes no target"),
        ('id = "scenes"', 'id = "scenes"\nrule = "correct-any"', "rule", "no such rule"),
        ('["speaker"]', '["model", "speaker"]', "battery.examinees", "shown no pictures"),
    ],
)
def test_what_an_item_must_hold(tmp_path: Path, old: str, new: str, key: str, said: str) -> None:
    path = description_battery(tmp_path / "battery")
    assert check_battery(path) == ()
    path.write_text(path.read_text().replace(old, new, 1))
    problems = [one for one in check_battery(path) if key in one.key]
    assert any(said in one.message for one in problems)


def test_a_picture_is_an_asset_of_the_battery(tmp_path: Path) -> None:
    battery = load_battery(description_battery(tmp_path / "battery"))
    assert battery.subtests[0].items[0].picture == "kitchen.png"
    assert set(battery.assets) == {"kitchen.png"}


def test_what_is_typed_is_rated_and_judged_as_connected_text(begin: Begin) -> None:
    session = begin(aloud=False)
    assert not session.is_aloud(session.trials[0])
    session.next()
    session.answer(WORDS)
    assert answer(session).response == WORDS
    given = ratings(session)
    assert given["lexical", "words"].value == 11
    assert given["rules-2", "anomia"].status is not RatingStatus.ERROR


def test_a_recorded_description_has_no_text_until_it_is_written(spoken: Session) -> None:
    attempt = answer(spoken)
    assert (attempt.response, attempt.status) == ("", ResponseStatus.EMPTY)
    assert attempt.metadata["cause"] == "not transcribed yet"
    assert attempt.latency_s == pytest.approx(1.5)
    assert ratings(spoken) == {}


def test_the_words_of_a_transcriber_become_the_response(spoken: Session, store: Store) -> None:
    spoken_in(spoken).transcribed(1, 1, written(WORDS))
    attempt = answer(spoken)
    assert (attempt.response, attempt.status) == (WORDS, ResponseStatus.OK)
    assert attempt.metadata["text_by"] == "writes-words"
    assert "cause" not in attempt.metadata
    given = ratings(spoken)
    assert given["lexical", "words"].value == 11
    assert given["rules-2", "anomia"].status is not RatingStatus.ERROR
    assert "rules-2" in spoken.history.declarations
    again = store.history(spoken.administration.id).trial(1).counting
    assert again is not None
    assert again.response == WORDS


def test_a_transcriber_of_phonemes_writes_no_text(spoken: Session) -> None:
    from tests.administer.naming_parts import heard

    spoken_in(spoken).transcribed(1, 1, heard("D AO G"))
    assert answer(spoken).response == ""
    view = spoken_in(spoken).view(1)
    assert view is not None
    assert [one.transcriber for one in view.transcripts] == ["replay"]


def test_who_hears_nothing_writes_an_empty_text(spoken: Session) -> None:
    spoken_in(spoken).transcribed(1, 1, written(""))
    assert answer(spoken).status is ResponseStatus.EMPTY
    assert "cause" not in answer(spoken).metadata


def test_a_persons_text_counts_and_can_be_taken_back(spoken: Session) -> None:
    spoken_in(spoken).transcribed(1, 1, written("the toy takes"))
    spoken_in(spoken).listening.hear("the boy takes a cookie")
    assert answer(spoken).response == "the boy takes a cookie"
    assert answer(spoken).metadata["text_by"] == "person:R1"
    spoken_in(spoken).transcribed(1, 1, written("the buoy", by="other-words"))
    assert answer(spoken).response == "the boy takes a cookie"
    assert ratings(spoken)["lexical", "words"].value == 5
    spoken.corrections.undo()
    assert answer(spoken).response == "the toy takes"
    assert ratings(spoken)["lexical", "words"].value == 3


def test_a_judge_that_read_another_text_has_to_judge_again(spoken: Session) -> None:
    spoken_in(spoken).transcribed(1, 1, written(WORDS))
    spoken.commit([RatingsEntry(1, 1, (valued("model-judge", "anomia", 1.0),))])
    spoken_in(spoken).listening.hear("the boy")
    stale = ratings(spoken)["model-judge", "anomia"]
    assert (stale.status, stale.reason) == (RatingStatus.ERROR, CHANGED)
    assert ratings(spoken)["rules-2", "anomia"].reason != CHANGED


def test_a_description_takes_no_score_and_no_code(spoken: Session) -> None:
    with pytest.raises(TabwbError, match="takes no score"):
        spoken_in(spoken).score("right")
    with pytest.raises(TabwbError, match="takes no code"):
        spoken_in(spoken).listening.code("semantic")


def test_undo_opens_a_finished_description_again(spoken: Session) -> None:
    spoken.corrections.undo()
    assert spoken.awaiting
    spoken_in(spoken).finish(TAKE)
    assert answer(spoken).number == 2


def test_typed_and_spoken_descriptions_of_one_battery(begin: Begin) -> None:
    session = begin(aloud=True)
    spoken_in(session).aloud = False
    session.next()
    session.answer(WORDS)
    assert spoken_in(session).view(1) is None
    spoken_in(session).aloud = True
    assert not session.is_aloud(session.history.trial(1))
    assert session.is_aloud(session.history.trial(2))


def test_results_keep_text_times_and_transcript(spoken: Session, store: Store) -> None:
    spoken_in(spoken).transcribed(1, 1, written(WORDS))
    spoken_in(spoken).show(PictureShown("r1", 40.0))
    spoken_in(spoken).finish(Take("r1", 40.0, 60.0, 40.0, 41.0))
    spoken.next()
    (one,) = load_administrations(store, (spoken.administration.id,))
    document = json.loads(json.dumps(administration_document(one)))
    first, second = document["trials"]
    assert first["response"] == WORDS
    assert first["latency_s"] == pytest.approx(1.5)
    description = first["description"]
    assert (description["start_s"], description["end_s"]) == (1.0, 31.0)
    assert description["text_by"] == "writes-words"
    words = description["transcripts"][0]["words"]
    assert (words[0]["word"], words[1]["start_s"]) == ("the", 0.5)
    assert (second["status"], second["usable"]) == ("empty", False)
    assert "naming" not in first
    summary = document["summary"]
    assert "not transcribed yet" in str(document["notices"])
    assert summary["subtests"][0]["measures"]["words"]["n"] == 1
    assert [judge["rater"] for judge in summary["judges"]] == ["rules-2"]
    assert spoken.history.trial(2).state is TrialState.ANSWERED


def test_every_kind_is_declared() -> None:
    assert [task.kind for task in task_types()] == list(ResponseKind)


@pytest.mark.parametrize("kind", ResponseKind)
def test_a_declaration_is_of_its_kind_and_names_what_exists(kind: ResponseKind) -> None:
    task = task_type(kind)
    assert task.kind is kind
    assert set(task.needs) | set(task.takes) <= set(allowed_keys(("subtest", 0, "item", 0)))
    assert set(task.rules) <= set(allowed_keys(("subtest", 0)))
    assert task.typed or task.spoken
    plugins = Plugins.load()
    try:
        for scorer in task.scorers:
            plugins.resolve("scorers", scorer)
    finally:
        plugins.close()


def test_what_is_rated_as_another_kind_is_rated_as_one_with_rules_of_its_own() -> None:
    kinds = {task_type(kind).text_kind for kind in ResponseKind}
    assert all(task_type(kind).rated_as is None for kind in kinds)
