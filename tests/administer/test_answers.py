"""Imported answers: which item they belong to, and the plan that they make."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf, nan
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.administer.answers.importing import ImportRequest, prepare_import
from tabwb.administer.answers.plan import (
    NO_PROMPT,
    ItemIndex,
    Match,
    PlannedRun,
    Stated,
    Unmatched,
    examinee_of,
    options_shown,
    plan_import,
    spec_of,
    with_battery,
)
from tabwb.administer.session.raters import Raters
from tabwb.administer.transcription import Job, Transcribing, checked
from tabwb.battery.loader import load_battery
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.battery.prompts import render_prompt
from tabwb.battery.rules import Scorers, validate
from tabwb.host.plugins import Plugins
from tabwb.host.settings import Configuration
from tabwb.plugin_api.components import AnswerFile
from tabwb.records.answers import RecordedAnswer, RecordedRun
from tabwb.records.errors import ComponentError, UsageError
from tabwb.records.speech import Segment, Transcript
from tabwb.records.states import AttemptState, RatingStatus, ResponseStatus, StopReason
from tabwb.records.trials import Attempt, PlannedTrial, Trial
from tests.builders import DOG

TAB = load_battery(Path(__file__).parents[2] / "batteries" / "tab" / "battery.toml")
INDEX = ItemIndex(TAB)
CHOICES = [(subtest, item) for subtest in TAB.subtests for item in subtest.items if item.options]
MANE = "Which one is an animal with a mane?"
MUSIC = "Which object is typically used to make music?"


def answer(**fields: object) -> RecordedAnswer:
    return replace(RecordedAnswer("a.csv:2", "x"), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "item", "how"),
    [
        ({"subtest": "word-comprehension", "item": "wc1"}, "wc1", "id"),
        ({"item": "wc1"}, "wc1", "id"),
        ({"item": "word-comprehension/wc1"}, "wc1", "id"),
        ({"item": "word-comprehension.wc1"}, "wc1", "id"),
        ({"item": "wc1", "prompt": f"Q: {MANE} A:"}, "wc1", "id"),
        ({"item": "wc1", "prompt": "Which beast has a mane?"}, "wc1", "id alone"),
        ({"item": "wc1", "prompt": MUSIC}, "wc2", "prompt"),
        ({"item": "17", "prompt": f"  {MANE.upper()}\n"}, "wc1", "prompt"),
        ({"prompt": f"Question: {MANE}\nlion, drum"}, "wc1", "prompt within the text"),
        ({"question": MANE, "prompt": f"{MUSIC} violin\n\n{MANE}"}, "wc1", "prompt"),
    ],
)
def test_items_are_found(fields: dict[str, str], item: str, how: str) -> None:
    match = INDEX.match(answer(**fields))
    assert isinstance(match, Match)
    assert (match.item.id, match.how) == (item, how)


@pytest.mark.parametrize(
    ("fields", "column", "message", "suggestion"),
    [
        ({"item": "wc11"}, "item", "'tab' has no such item", "wc1"),
        ({"subtest": "repetiton", "item": "rp1"}, "subtest", "no such subtest", "repetition"),
        ({"subtest": "repetition", "item": "wc1"}, "item", "'repetition' has no such item", ""),
        ({"prompt": "What is the capital of France?"}, "prompt", "has this prompt", ""),
        ({"prompt": f"{MANE} {MUSIC}"}, "prompt", "several items are in it (word-compr", ""),
        ({"prompt": f"{MANE[:-1]}ing?"}, "prompt", "has this prompt", ""),
        ({}, "item", "this is empty", ""),
    ],
)
def test_what_is_no_item_is_said(
    fields: dict[str, str], column: str, message: str, suggestion: str
) -> None:
    unmatched = INDEX.match(answer(**fields))
    assert isinstance(unmatched, Unmatched)
    assert unmatched.column == column
    assert message in unmatched.message
    if suggestion:
        assert unmatched.suggestion == suggestion


@given(st.sampled_from(CHOICES), st.randoms(use_true_random=False))
def test_the_order_of_options_is_read_from_what_was_sent(
    place: tuple[Subtest, Item], random: Random
) -> None:
    subtest, item = place
    options = list(item.options)
    random.shuffle(options)
    prompt = render_prompt(subtest, item, options)
    match = INDEX.match(answer(prompt=prompt))
    assert isinstance(match, Match)
    assert match.item is item
    assert options_shown(match) == tuple(options)


def test_options_that_are_not_all_shown_are_in_the_order_of_the_battery() -> None:
    match = INDEX.match(answer(prompt=f"{MANE} lion or drum?"))
    assert isinstance(match, Match)
    assert options_shown(match) == match.item.options
    other = replace(match, answer=answer(options=("lion", "cat")))
    assert options_shown(other) == match.item.options


def planned(*answers: RecordedAnswer, battery: Battery = TAB) -> tuple[PlannedRun, ...]:
    return plan_import(AnswerFile("test", answers, ()), battery).runs


@given(
    st.lists(
        st.tuples(st.sampled_from(["wc1", "wc2", "rp1"]), st.integers(0, 10**6)),
        min_size=1,
        unique=True,
    )
)
def test_every_answer_is_planned_once_and_numbers_are_places(
    given_answers: list[tuple[str, int]],
) -> None:
    (run,) = planned(*(answer(item=item, replicate=at) for item, at in given_answers))
    assert run.answers == len(given_answers)
    assert [each.trial.number for each in run.planned] == list(range(1, len(run.planned) + 1))
    numbers = sorted({at for _, at in given_answers})
    assert run.replicates == len(numbers)
    dense = {(item, numbers.index(at)) for item, at in given_answers}
    kept = {(each.trial.item, each.trial.replicate) for each in run.planned if each.answer}
    assert kept == dense
    everything = {f"{subtest.id}/{item.id}" for subtest in TAB.subtests for item in subtest.items}
    assert {f"{each.trial.subtest}/{each.trial.item}" for each in run.planned} == everything
    items = {item for item, _ in given_answers}
    assert run.gaps == len(items) * len(numbers) - len(given_answers)
    assert len(run.missing) == len(everything) - len(items)


def test_a_log_with_second_answers_keeps_the_first() -> None:
    (run,) = planned(answer(item="wc1", text="a"), answer(item="wc1", text="b", where="b"))
    assert [each.answer.text for each in run.planned if each.answer] == ["a"]
    assert run.repeated == ("b",)


def test_rotations_are_presentations_of_their_own() -> None:
    options = CHOICES[0][1].options
    turned = (*options[1:], options[0])
    (run,) = planned(answer(item="wc1"), answer(item="wc1", options=turned))
    assert (run.answers, run.option_order, run.repeated) == (2, "rotated", ())
    (run,) = planned(answer(item="wc1", options=turned))
    assert run.option_order == "shuffled"


def test_too_sparse_replicates_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from tabwb.administer.answers import plan

    monkeypatch.setattr(plan, "MOST_TRIALS", 50)
    answers = [answer(item=("wc1", "wc2")[at % 2], replicate=at) for at in range(60)]
    with pytest.raises(UsageError, match="more than 50 presentations"):
        planned(*answers)


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("echo", "echo"),
        ("openai/gpt-4o", "imported:openai/gpt-4o"),
        ("GPT 4", "imported:GPT 4"),
        ("gemini:gemini-2.5-flash", "gemini:gemini-2.5-flash"),
        ("replay:answers.jsonl", "imported:replay:answers.jsonl"),
        ("other:x@y=1", "imported:other:x@y=1"),
        ("a@b=,c", "imported:a b=,c"),
        ("imported:m", "imported:m"),
    ],
)
def test_names_of_models(name: str, spec: str) -> None:
    plugins = Plugins.load()
    try:
        assert spec_of(name, plugins) == spec
        with pytest.raises(UsageError, match="cannot be the name of a model"):
            spec_of("a\x1b[31m", plugins)
    finally:
        plugins.close()


def test_what_the_file_says_counts_before_the_user() -> None:
    plugins = Plugins.load()
    try:
        source = Path("a.csv")
        human = RecordedRun(origin="human", participant="S-1")
        model = RecordedRun(origin="model", model="m")
        unknown = RecordedRun(origin="unknown")
        assert examinee_of(human, Stated(), plugins, source).kind == "speaker"
        assert examinee_of(unknown, Stated(origin="model", model="m"), plugins, source).origin == (
            "model"
        )
        assert examinee_of(unknown, Stated(speaker="S-2"), plugins, source).examinee == "S-2"
        for run, stated in (
            (human, Stated(origin="model")),
            (human, Stated(model="m")),
            (human, Stated(speaker="S-2")),
            (model, Stated(origin="human")),
            (model, Stated(origin="unknown")),
            (model, Stated(speaker="S-1")),
        ):
            with pytest.raises(UsageError):
                examinee_of(run, stated, plugins, source)
    finally:
        plugins.close()


class Lines:
    """An importer whose answers have their items, and whose source has no names of columns."""

    def recognises(self, path: Path) -> bool:
        return True

    def read(self, path: Path, names: Mapping[str, str]) -> AnswerFile:
        return AnswerFile("lines", (answer(text="lion", item="wc1"),), (path,), strict=True)


def test_items_of_a_strict_source_need_no_column() -> None:
    plugins = Plugins.load()
    request = ImportRequest(Path("a.lines"), "tab", Stated("m"))
    (run,) = prepare_import(plugins, Lines(), request).plan.runs
    assert run.matched == {"id": 1}
    plugins.close()


TAB_FILE = Path(__file__).parents[2] / "batteries" / "tab" / "battery.toml"


@pytest.fixture(scope="module")
def tab() -> Battery:
    return load_battery(TAB_FILE)


def source(*prompts: str, **more: object) -> AnswerFile:
    answers = tuple(
        RecordedAnswer(f"t.csv:{n}", f"text {n}", prompt=prompt) for n, prompt in enumerate(prompts)
    )
    return AnswerFile("test", answers, (), texts=True, **more)  # type: ignore[arg-type]


def test_one_item_for_each_distinct_prompt(tab: Battery) -> None:
    found, battery = with_battery(source("What now?", "", " What  now? ", "What then?"), tab)
    assert [answer.item for answer in found.answers] == [
        *("what-now", "no-prompt", "what-now", "what-then")
    ]
    prompts = {item.id: item.prompt for item in battery.subtests[0].items}
    assert prompts == {"no-prompt": NO_PROMPT, "what-now": "What now?", "what-then": "What then?"}
    assert battery.features == tab.features
    assert battery.groupings == tab.groupings


def test_the_same_prompts_in_any_order_make_the_same_battery(tab: Battery) -> None:
    _, one = with_battery(source("A flood", "A cat"), tab)
    _, other = with_battery(source("A cat", "A flood", "A cat"), tab)
    _, german = with_battery(source("A cat", "A flood", language="de"), tab)
    assert (one.id, one.content_hash) == (other.id, other.content_hash)
    assert german.id != one.id


def test_transcripts_of_speech_are_marked_as_such(tab: Battery) -> None:
    _, battery = with_battery(source("A flood", spoken=True), tab)
    assert battery.subtests[0].items[0].metadata == {"spoken": True}


@given(st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc"))), min_size=1, max_size=6))
def test_any_prompts_make_a_valid_battery(prompts: list[str]) -> None:
    import json

    found, battery = with_battery(source(*prompts), load_battery(TAB_FILE))
    file, broken = validate(json.loads(battery.canonical), Scorers(["lexical"]))
    assert (file is not None, broken) == (True, [])
    for prompt, answer in zip(prompts, found.answers, strict=True):
        asked = battery.subtest(answer.subtest).item(answer.item).prompt
        assert asked == (" ".join(prompt.split()) or NO_PROMPT)


@pytest.mark.parametrize("spoken", [True, False])
def test_rules_read_a_transcript_as_speech(tab: Battery, spoken: bool) -> None:
    source_, battery = with_battery(source("A flood", spoken=spoken), tab)
    (answer,) = source_.answers
    plan = PlannedTrial(1, answer.subtest, answer.item, 0, (), "A flood")
    said = "we went there and then he said that it was " * 4
    attempt = Attempt(1, said, AttemptState.OK, ResponseStatus.OK, StopReason.END, None)
    ratings = Raters(Plugins.load(), battery, ("rules",)).rate(plan, attempt, [Trial(plan)])
    abandoned = next(rating for rating in ratings if rating.measure == "abandoned-utterances")
    assert (abandoned.status is RatingStatus.UNDEFINED) == spoken


GOOD = Segment("D", 0.1, 0.2, 1.0)
ODD = """
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.plugin_api.hookspecs import hookimpl
from tabwb.records.speech import Transcript


class Odd:
    unit = "phonemes"

    def __init__(self, name):
        self.name = name

    def open(self):
        return {}

    def transcribe_many(self, clips, cancel):
        if self.name == "raises":
            raise ValueError("boom")
        yield 0, None
        yield 7, Transcript("x", "empty")

    def close(self):
        pass


@hookimpl
def tabwb_register_transcribers(register):
    register(Descriptor("raises", "Raises", lambda spec, options: Odd("raises")))
    register(Descriptor("miscounts", "Miscounts", lambda spec, options: Odd("miscounts")))
"""


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[Plugins]:
    (tmp_path / "pyproject.toml").write_text('[project.entry-points.tabwb]\nodd = "odd_ears"\n')
    (tmp_path / "odd_ears.py").write_text(ODD)
    loaded = Plugins.load(Configuration(plugin_folders=(tmp_path,)))
    yield loaded
    loaded.close()


@pytest.mark.parametrize(
    ("segments", "wrong"),
    [
        ((Segment("d", 0.1, 0.2),), "'d' is not a phoneme"),
        ((Segment("D", nan, 0.2),), "is not a valid stretch"),
        ((Segment("D", 0.3, 0.2),), "is not a valid stretch"),
        ((Segment("D", 0.1, inf),), "is not a valid stretch"),
        ((Segment("D", 0.1, 0.2, nan),), "nan is not a confidence"),
        ((Segment("AO", 0.3, 0.4), GOOD), "not in order of time"),
        ((Segment("D", None, None),), "its values are not valid: TypeError"),  # type: ignore[arg-type]
        ((Segment("D", "0.1", "0.2"),), "its values are not"),  # type: ignore[arg-type]
        (("D", "AO"), "its values are not valid: AttributeError"),
        (None, "its values are not"),
    ],
)
def test_a_transcript_against_the_contract_is_in_error(
    segments: tuple[Segment, ...], wrong: str
) -> None:
    found = checked(Transcript("x", "ok", segments), "y")
    assert (found.transcriber, found.status, found.segments) == ("y", "error", ())
    assert wrong in found.error


def test_what_is_silence_only_is_empty() -> None:
    found = checked(Transcript("x", "ok", (Segment("<sil>", 0.0, 0.4),)), "x")
    assert (found.status, found.phonemes) == ("empty", ("<sil>",))


def test_two_that_begin_together_do_not_take_the_times_of_all() -> None:
    tied = (Segment("B", 0.5, 0.6), Segment("IY", 0.7, 0.7), Segment("Z", 0.7, 0.9))
    assert Transcript("x", "ok", tied, seconds=2.0).timed
    typed = (Segment("B", 0.0, 2.0), Segment("<sil>", 0.0, 0.0), Segment("IY", 0.0, 2.0))
    assert not Transcript("x", "ok", typed, seconds=2.0).timed


def test_one_that_keeps_it_is_left_as_it_is() -> None:
    given = Transcript("y", "ok", (GOOD, Segment("<spn>", 0.2, 0.2)), dropped=Counter(x=1))
    found = checked(given, "y")
    assert found == given
    assert type(found.dropped) is dict  # a Counter cannot be stored


def test_words_are_no_phonemes() -> None:
    given = Transcript("y", "ok", (Segment("dog", 0.1, 0.4),), unit="words")
    assert checked(given, "y") == given


def test_a_transcriber_that_raises_is_named(odd: Plugins) -> None:
    with (
        Transcribing(odd, "raises") as transcribing,
        pytest.raises(ComponentError, match="'raises' failed: ValueError: boom"),
    ):
        list(transcribing.run([Job(1, 1, DOG)], threading.Event()))


def test_one_that_miscounts_is_stopped_after_what_it_gave(odd: Plugins) -> None:
    heard: list[Transcript] = []
    with (
        Transcribing(odd, "miscounts") as transcribing,
        pytest.raises(ComponentError, match="gave the index 7"),
    ):
        heard.extend(said for _, said in transcribing.run([Job(1, 1, DOG)], threading.Event()))
    assert [said.error for said in heard] == ["'miscounts' gave None instead of a Transcript"]
