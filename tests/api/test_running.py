"""``tabwb.run`` and ``tabwb.resume``: models, conditions, what stops a run, what is recorded."""

from __future__ import annotations

import inspect
import json
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import tabwb
from tabwb.plugin_api import Request
from tabwb.records import declared_conditions as declared
from tabwb.records.events import AttemptRecorded, Event, Finished
from tabwb.store.store import Store
from tests.cli.conftest import Run, replayed

ANSWERS = {"barks": "dog", "swims": "wall", "house": "house."}


def listener(prompt: str) -> str:
    return next(answer for word, answer in ANSWERS.items() if word in prompt)


@pytest.fixture
def give(battery_file: Path, tmp_path: Path) -> Callable[..., tabwb.Administration]:
    def given_to(model: object = listener, **options: object) -> tabwb.Administration:
        given = {"judges": [], "store": tmp_path / "s.db", **options}
        return tabwb.run(battery_file, model, **given)  # type: ignore[arg-type]

    return given_to


def test_a_function_answers_every_item(give: Callable[..., tabwb.Administration]) -> None:
    given = give()
    assert (given.id, given.status) == (1, "done")
    assert given.record.conditions.examinee == "python:listener"
    trials = given.to_dict()["trials"]
    assert [trial["response"] for trial in trials] == ["dog", "wall", "house."]
    assert repr(given) == "<Administration 1: small 1, python:listener, done, 3 of 3>"


def test_a_function_gets_what_is_sent(give: Callable[..., tabwb.Administration]) -> None:
    seen: list[tuple[str, Request]] = []

    def asked(prompt: str, *, request: Request) -> str:
        seen.append((prompt, request))
        return "dog"

    give(asked, temperature=0.5, seed=7, max_tokens=9, stop="\n")
    prompts = [prompt for prompt, _ in seen]
    assert prompts[0] == "Which one barks? (dog, tree, cup)"
    decoding = seen[0][1].decoding
    assert (decoding.temperature, decoding.max_tokens, decoding.stop) == (0.5, 9, ("\n",))
    assert len({request.decoding.seed for _, request in seen}) == 3


def test_what_a_function_does_not_take_is_recorded_as_not_sent(
    give: Callable[..., tabwb.Administration],
) -> None:
    sent = give().to_dict()["trials"][0]["reply"]["decoding"]
    assert set(sent.values()) == {None}


def test_a_part_of_the_battery_can_be_given(give: Callable[..., tabwb.Administration]) -> None:
    assert give(subtests=["words"], limit=1).responses()["item"].to_list() == ["w1"]
    assert give(items="words/w2,s1").responses()["item"].to_list() == ["w2", "s1"]


def test_a_name_and_labels_are_recorded(give: Callable[..., tabwb.Administration]) -> None:
    labels = {"family": "Made up", "tuning": "base", "parameters": 1000}
    conditions = give(lambda prompt: "dog", name="made-up-1", labels=labels).record.conditions
    assert conditions.examinee == "python:made-up-1"
    assert dict(conditions.labels) == {k: str(v) for k, v in labels.items()}


REFUSED: tuple[tuple[dict[str, object], str], ...] = (
    ({"replicates": 0}, "replicates"),
    ({"replicates": 1.5}, "replicates"),
    ({"temperature": "hot"}, "temperature"),
    ({"temperature": float("nan")}, "temperature"),
    ({"top_p": 0}, "top_p"),
    ({"option_order": "random"}, "option_order"),
    ({"limit": 0}, "part_limit"),
    ({"workers": 0}, "workers"),
    ({"items": "w9"}, "no item 'w9'"),
    ({"protocol": "guess"}, "protocol"),
    ({"judges": "no-such-judge"}, "no-such-judge"),
    ({"model": 3}, "model"),
    ({"model": "no-such-model"}, "no-such-model"),
    ({"model": "echo", "name": "x"}, "name"),
    ({"model": "echo", "labels": {"family": "F"}}, "labels"),
    ({"labels": {"size": 3}}, "family, tuning, parameters"),
    ({"labels": {"tuning": "tuned"}}, "base, instruct"),
    ({"labels": {"parameters": "many"}}, "1240000000, 1.24B"),
    ({"protocol": "likelihood"}, "allowed: generate"),
)


def test_what_cannot_be_used_is_named_and_nothing_is_begun(
    give: Callable[..., tabwb.Administration], tmp_path: Path
) -> None:
    for options, where in REFUSED:
        with pytest.raises(tabwb.UsageError) as caught:
            give(**options)
        assert where in str(caught.value)
    assert not (tmp_path / "s.db").exists()


def test_run_has_every_condition_that_the_command_has() -> None:
    conditions = {
        condition.id
        for condition in declared.CONDITIONS
        if "model" in condition.given_to
        and any(option.command == "run" for option in condition.options)
    }
    given = {
        {"subtests": "part_subtests", "items": "part_items", "limit": "part_limit"}.get(name, name)
        for name in inspect.signature(tabwb.run).parameters
    }
    own = {"battery", "model", "name", "labels", "store", "batch_size", "perplexity", "workers",
           "max_requests", "max_cost", "offline", "progress"}  # fmt: skip
    assert given - own == conditions


def test_a_failing_function_pauses_and_a_run_can_be_resumed(
    run: Run, give: Callable[..., tabwb.Administration], tmp_path: Path
) -> None:
    def broken(prompt: str) -> str:
        if "swims" in prompt:
            raise RuntimeError("no water")
        return listener(prompt)

    with pytest.raises(tabwb.Interrupted, match=r"resume\(store, 1, FUNCTION\)"):
        give(broken)
    with pytest.raises(tabwb.UsageError, match="'python:broken'"):
        tabwb.resume(tmp_path / "s.db", 1)
    refused = run("resume", 1, "--store", tmp_path / "s.db")
    assert refused.status == 2 and "tabwb.resume(STORE, ID, FUNCTION)" in refused.err
    resumed = tabwb.resume(tmp_path / "s.db", 1, listener)
    trials = resumed.to_dict()["trials"]
    assert resumed.status == "done"
    assert [len(trial["attempts"]) for trial in trials] == [1, 2, 1]
    assert "RuntimeError: no water" in trials[1]["attempts"][0]["error"]
    assert tabwb.resume(tmp_path / "s.db", 1).status == "done"  # nothing is left


def test_calls_in_parallel_give_the_same_answers(give: Callable[..., tabwb.Administration]) -> None:
    together = threading.Barrier(3, timeout=30)  # passes only where three calls run at one time

    def slow(prompt: str) -> str:
        together.wait()
        return listener(prompt)

    trials = give(slow, workers=3, temperature=1.0, replicates=2).to_dict()["trials"]
    assert [trial["response"] for trial in trials] == ["dog", "wall", "house."] * 2


def test_a_failure_among_calls_in_parallel_is_asked_again(
    give: Callable[..., tabwb.Administration], tmp_path: Path
) -> None:
    def broken(prompt: str) -> str:
        if "swims" in prompt:
            raise RuntimeError("no water")
        return listener(prompt)

    with pytest.raises(tabwb.Interrupted, match="paused"):
        give(broken, workers=2)
    resumed = tabwb.resume(tmp_path / "s.db", 1, listener, workers=2)
    assert [len(trial["attempts"]) for trial in resumed.to_dict()["trials"]] == [1, 2, 1]


def test_an_interrupt_keeps_what_was_answered(
    give: Callable[..., tabwb.Administration], tmp_path: Path
) -> None:
    def stop(event: Event) -> None:
        if isinstance(event, AttemptRecorded) and event.trial == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        give(progress=stop)
    assert "tabwb.resume(store, 1, FUNCTION)" in caught.value.__notes__[0]
    with Store.open(tmp_path / "s.db") as store:
        record = store.administration(1)
    assert (record.status.value, record.answered) == ("paused", 2)


def test_a_function_that_returns_no_text_is_an_error(
    give: Callable[..., tabwb.Administration], tmp_path: Path
) -> None:
    with pytest.raises(tabwb.Interrupted):
        give(lambda prompt: None)
    with Store.open(tmp_path / "s.db") as store:
        assert "returned NoneType" in store.trials(1)[0].attempts[0].error


def test_events_are_told_in_order(give: Callable[..., tabwb.Administration]) -> None:
    told: list[Event] = []
    give(progress=told.append)
    recorded = [event.trial for event in told if isinstance(event, AttemptRecorded)]
    assert recorded == [1, 2, 3]
    assert isinstance(told[-1], Finished)


def test_advice_is_a_warning(give: Callable[..., tabwb.Administration]) -> None:
    with pytest.warns(tabwb.TabwbWarning, match="greedy decoding and nothing that varies") as given:
        give(replicates=3)
    assert given[0].filename == __file__


def test_nothing_is_printed(
    give: Callable[..., tabwb.Administration], capfd: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        give()
    assert capfd.readouterr() == ("", "")
    give(progress=True)
    out, err = capfd.readouterr()
    assert out == "" and err.endswith("\ritem 3 of 3\n")


def test_a_recorded_export_gives_its_own_replicates(
    give: Callable[..., tabwb.Administration], tmp_path: Path
) -> None:
    give(temperature=0.5, replicates=2)
    with tabwb.open(tmp_path / "s.db") as study:
        file = study.export(1, out=tmp_path / "answers.jsonl")
    again = give(f"replay:{file}")
    assert again.record.conditions.replicates == 2
    assert [trial["response"] for trial in again.to_dict()["trials"]] == [
        "dog",
        "wall",
        "house.",
    ] * 2


def test_the_document_is_the_one_of_the_command_line(
    run: Run, give: Callable[..., tabwb.Administration], tmp_path: Path
) -> None:
    document = give().to_dict()
    to = ("--store", tmp_path / "s.db")
    assert json.loads(json.dumps(document)) == run("results", 1, "--json", *to).document
    model = replayed(tmp_path / "answers.jsonl")
    run("run", "tab", "--model", model, "--judge", "rules-1", "--judge", "rules-2", *to)
    with tabwb.open(tmp_path / "s.db") as study:
        judged = study.document(2)
    assert judged["summary"]["statistics"]
    assert json.loads(json.dumps(judged)) == run("results", 2, "--json", *to).document


LABELS: dict[str, str | int] = {"family": "F", "tuning": "base", "parameters": 1000}


def answer(prompt: str) -> str:
    return "dog" if "barks" in prompt else "house."


@pytest.mark.parametrize("name", ["lines.jsonl", "log.eval", "samples"])
@pytest.mark.parametrize("temperature", [None, 0.0])
def test_a_round_trip_keeps_the_model_and_counts_once(
    name: str, temperature: float | None, battery_file: Path, tmp_path: Path
) -> None:
    place, file = tmp_path / "s.db", tmp_path / name
    format_id = {".jsonl": "jsonl", ".eval": "inspect"}.get(file.suffix, "lm-eval")
    given = tabwb.run(
        battery_file, answer, name="mine", labels=LABELS, temperature=temperature, judges=[],
        store=place,
    )  # fmt: skip
    with tabwb.open(place) as study:
        study.export([given.id], format=format_id, out=file)
        before = study.results(by="model")
    (again,) = tabwb.import_answers(file, battery_file, judges=[], store=place)
    with tabwb.open(place) as study:
        after = study.results(by="model")
    first, second = given.record.conditions, again.record.conditions
    assert second.examinee == first.examinee == "python:mine"
    assert dict(second.labels) == dict(first.labels) == {k: str(v) for k, v in LABELS.items()}
    assert (second.unknown, second.drawn, second.origin) == (first.unknown, first.drawn, "model")
    assert list(after.rows()) == list(before.rows())


def test_lines_keep_what_the_back_end_said(battery_file: Path, tmp_path: Path) -> None:
    place, file = tmp_path / "s.db", tmp_path / "lines.jsonl"
    given = tabwb.run(battery_file, "echo", judges=[], store=place)
    with tabwb.open(place) as study:
        study.export([given.id], out=file)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert all(line["model_facts"]["model"] == "echo" for line in lines)
    facts = {"model": "echo", "dtype": "bfloat16", "template": "chat", "weights_sha256": "ab"}
    text = "".join(json.dumps(line | {"model_facts": facts}) + "\n" for line in lines)
    file.write_text(text, encoding="utf-8")
    (again,) = tabwb.import_answers(file, battery_file, judges=[], store=place)
    with Store.open(place) as store:
        kept = store.history(again.id).model_facts
    assert {name: kept[name] for name in facts} == facts
    assert kept["imported_file"] == "lines.jsonl"


def test_the_decoding_of_a_function_is_known_where_it_is_told_or_stated(
    battery_file: Path, tmp_path: Path
) -> None:
    def asks(prompt: str, *, request: object) -> str:
        return answer(prompt)

    place = tmp_path / "s.db"
    for function, temperature, words in (
        (answer, None, "decoding not known"),
        (answer, 0.7, "temperature 0.7"),
        (asks, None, "greedy"),
    ):
        given = tabwb.run(battery_file, function, temperature=temperature, judges=[], store=place)
        assert given.record.conditions.drawn == words
    with tabwb.open(place) as study:
        said = study.methods([1])
    assert "Responses were given by a Python function whose decoding is not known." in said
    assert "greedily" not in said and "token limit" not in said and "seed" not in said
