"""Imported answers: which item they belong to, and the plan that they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.administer.answers.examinee import Stated, examinee_of, spec_of
from tabwb.administer.answers.matching import ItemIndex, Match, Unmatched, options_shown
from tabwb.administer.answers.plan import PlannedRun, plan_import
from tabwb.administer.answers.prepared import ImportRequest, prepare_import
from tabwb.battery.loader import load_battery
from tabwb.battery.model import Battery, Item, Subtest
from tabwb.battery.prompts import render_prompt
from tabwb.plugin_api.answer_files import AnswerFile
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.answers import RecordedAnswer, RecordedRun
from tabwb.records.errors import UsageError

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
