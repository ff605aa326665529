"""The rules judge as a component: a rating for each feature of the battery."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from math import atanh, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr
from tabwb_builtin.columns import COLUMNS, TABLE
from tabwb_builtin.exporters import EXPORTERS
from tabwb_builtin.judges import JUDGES
from tabwb_builtin.plugin import STATISTIC, rank_correlations
from tabwb_builtin.scorers import SCORERS

from tabwb.analysis.administrations import AdministrationData
from tabwb.battery.model import Feature, Item, Subtest
from tabwb.media.documents.document import administration_document
from tabwb.plugin_api import Responses
from tabwb.plugin_api.components import Exporter, Judge, Response, Scorer
from tabwb.records.columns import Column
from tabwb.records.errors import TabwbError
from tabwb.records.ratings import MEASURES_OF_OURS, Rating
from tabwb.records.specs import Spec
from tabwb.records.states import RatingStatus, ResponseKind, ResponseStatus
from tabwb.records.trials import Trial
from tabwb.records.words import FORM_BASED_CAUTION, RESEARCH_ONLY, RULES_CAUTION
from tabwb.scoring.rules.passage import TWO_SIDED
from tabwb.tables.table import table_of
from tests.analysis.given import ANSWERS, BATTERY, SAMPLED, administration, answered, trials, voided

SCORER: dict[str, Scorer] = {one.id: one.factory(Spec(one.id), None) for one in SCORERS}
EXPORTER: dict[str, Exporter] = {
    one.id: one.factory(Spec(one.id), None if one.options is None else one.options()())
    for one in EXPORTERS
}


def score(scorer: str, text: str, item: Item, kind: ResponseKind) -> dict[str, Rating]:
    response = Response(
        text,
        ResponseStatus.OK,
        item.prompt,
        item.prompt,
        kind,
        item.options,
        item.expected,
        item.foils,
    )
    ratings = SCORER[scorer].score(Subtest("s", "S", kind, (item,)), item, response)
    assert all(rating.rater == scorer for rating in ratings)
    return {rating.measure: rating for rating in ratings}


KNIFE = Item("wc4", "Used for cutting?", ("knife", "kite", "lion"), "knife", {"kite": "phon"})
HOUSE = Item("r1", "Please repeat exactly: house.", (), "house.")
TRIP = Item("ct1", "Tell me about a trip.")


def test_the_measures_of_earlier_versions_are_those_of_the_scorers() -> None:
    assert {name: SCORER[name].measures for name in MEASURES_OF_OURS} == MEASURES_OF_OURS


def test_a_choice_names_what_was_read_as_its_reason() -> None:
    lion = score("choice", "Answer: lion. Explanation: correct.", KNIFE, ResponseKind.CHOICE)
    assert (lion["exact"].value, lion["exact"].reason) == (0.0, "no option")
    assert (lion["extracted"].value, lion["extracted"].reason) == (0.0, "lion")
    kite = score("choice", "kite", KNIFE, ResponseKind.CHOICE)
    assert kite["exact"].reason == "kite (foil: phon)"
    both = score("choice", "knife or kite", KNIFE, ResponseKind.CHOICE)
    assert both["extracted"].reason == "ambiguous: knife, kite"
    assert score("choice", " ", KNIFE, ResponseKind.CHOICE)["exact"].reason == "no response"
    assert score("choice", "knife", KNIFE, ResponseKind.CHOICE)["exact"] == Rating(
        "choice", "exact", 1.0, RatingStatus.VALUE
    )


def test_a_repetition_counts_its_errors() -> None:
    echo = score("repetition", "Please repeat exactly: horse.", HOUSE, ResponseKind.VERBATIM)
    assert echo["exact"].value == 0.0
    assert echo["exact"].reason == "substitution 1, carrier-echo 1"
    assert echo["substitution"].value == 1.0
    assert echo["substitution"].reason == "characters"
    assert echo["carrier-echo"].value == 1.0
    assert echo["deletion"].value == 0.0


def test_an_item_without_a_key_is_undefined_and_not_wrong() -> None:
    keyless = Item("x", "Which?", ("a", "b"))
    for scorer in ("choice", "yes-no", "repetition"):
        ratings = score(scorer, "a", keyless, ResponseKind.FREE)
        assert {rating.status for rating in ratings.values()} == {RatingStatus.UNDEFINED}


def test_lexical_measures_say_when_they_are_undefined() -> None:
    short = score("lexical", "We went to the sea.", TRIP, ResponseKind.CONNECTED_TEXT)
    assert short["words"].value == 5.0
    assert short["ttr"].value == 1.0
    assert short["mattr"].reason == "5 words, fewer than the window of 50"
    assert short["mtld"].reason == "5 words, fewer than 50"
    lone = score("lexical", "Sea.", TRIP, ResponseKind.CONNECTED_TEXT)
    assert lone["mattr"].reason == "1 word, fewer than the window of 50"
    assert lone["ttr"].reason == "1 word"
    empty = score("lexical", "", TRIP, ResponseKind.CONNECTED_TEXT)
    assert empty["words"].value == 0.0
    assert empty["ttr"].status is RatingStatus.UNDEFINED


def exported(form: str, out: Path, document: dict[str, Any] | None = None) -> str:
    made = document or administration_document(
        AdministrationData(administration(), BATTERY, trials(ANSWERS))
    )
    EXPORTER[form].export(made, out)
    return out.read_text(encoding="utf-8")


def test_every_counted_response_is_one_line_that_reads_back(tmp_path: Path) -> None:
    given = (*trials(ANSWERS), voided("wc1", "drum"))
    made = administration_document(AdministrationData(administration(), BATTERY, given))
    lines = [
        json.loads(line) for line in exported("jsonl", tmp_path / "out.jsonl", made).splitlines()
    ]
    assert {line["item"]: line["response"] for line in lines} == ANSWERS
    assert len(lines) == len(ANSWERS)
    assert list(lines[0]) == [
        "administration", "subtest", "item", "replicate", "prompt", "response", "status",
        "latency_s", "ratings", "battery", "battery_version", "battery_hash", "examinee", "kind",
        "session_date", "lesion", "seed", "origin", "participant", "replicates", "protocol",
        "prompt_noise", "system_message", "conversation", "item_order", "option_order",
        "part_subtests", "part_items", "part_limit",
        "research_protocol", "created_at", "administration_status", "administration_title",
        "administration_tags", "labels", "model_facts", "run_decoding", "system",
        "reasoning", "effective_status", "usable", "drawn", "options", "expected", "tags", "foils",
        "foil", "stop_reason", "reply", "practice",
    ]  # fmt: skip
    wrong = next(line for line in lines if line["item"] == "wc3")
    assert (wrong["expected"], wrong["foil"]) == ("boot", "phonological")
    assert wrong["foils"] == {"boat": "phonological"}
    assert (wrong["battery"], wrong["battery_version"]) == ("small", "1")
    assert (wrong["battery_hash"], wrong["examinee"]) == ("0" * 64, "bundled")
    by_item = {trial.plan.item: trial for trial in given[:-1]}
    for line in lines:
        trial = by_item[line["item"]]
        assert line["administration"] == administration().uid
        assert line["prompt"] == trial.plan.prompt
        assert len(line["ratings"]) == len(trial.ratings)
    assert [line["item"] for line in lines if line["practice"]] == ["try"]


def test_odd_characters_survive_a_round_trip(tmp_path: Path) -> None:
    text = 'a "b",\r\nc\u2028d\x85e \N{SNOWMAN}\t=1+1'
    made = administration_document(
        AdministrationData(administration(), BATTERY, [answered("ct1", text)])
    )
    out = exported("jsonl", tmp_path / "o.jsonl", made)
    assert out.count("\n") == 1
    assert json.loads(out)["response"] == text
    EXPORTER["csv"].export(made, tmp_path / "o.csv")
    with (tmp_path / "o.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["response"] for row in rows} == {text}


def test_csv_has_one_row_per_rating_with_the_conditions(tmp_path: Path) -> None:
    exported("csv", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert len(set(COLUMNS)) == len(COLUMNS)
    assert len(rows) == sum(len(trial.ratings) for trial in trials(ANSWERS))
    exact = next(row for row in rows if (row["item"], row["measure"]) == ("wc3", "exact"))
    assert (exact["value"], exact["rating_reason"]) == ("0.0", "boat (foil: phonological)")
    assert (exact["model"], exact["seed"], exact["decoding_temperature"]) == ("bundled", "1", "0.0")
    assert json.loads(exact["options"])[0] == "boot"
    unknown = next(row for row in rows if row["rating_status"] == "undefined")
    assert unknown["value"] == ""


def noted(item_id: str, text: str, **metadata: str) -> Trial:
    trial = answered(item_id, text)
    (attempt,) = trial.attempts
    return replace(trial, attempts=(replace(attempt, metadata=metadata),))


def test_every_column_is_declared_and_explained_beside_the_table(tmp_path: Path) -> None:
    exported("csv", tmp_path / "out.csv")
    beside = (tmp_path / "out.csv.README.txt").read_text(encoding="utf-8")
    for column in TABLE:
        assert column.told in beside
        assert column.meaning and not column.meaning.endswith(".")


def test_each_reply_is_exported_with_what_was_sent_for_it(tmp_path: Path) -> None:
    notes = {
        "max_tokens": "64", "temperature": "0.7", "top_p": "0.9", "stop": '["Q:"]',
        "seed": "123456", "model_version": "small-2026-05", "thought_tokens": "17",
        "finish_reason": "stop", "reply_tokens": "20",
    }  # fmt: skip
    given = [noted("wc1", "lion", **notes), noted("wc3", "boat", **{**notes, "seed": "not sent"})]
    asked = replace(administration(), conditions=replace(SAMPLED, token_limits="battery"))
    made = administration_document(AdministrationData(asked, BATTERY, given))
    rows = list(csv.DictReader(exported("csv", tmp_path / "o.csv", made).splitlines()))
    first = next(row for row in rows if row["item"] == "wc1")
    sent = ("max_tokens", "temperature", "top_p", "stop", "seed")
    assert [first[f"decoding_{name}"] for name in sent] == ["64", "0.7", "0.9", '["Q:"]', "123456"]
    assert first["response_model_version"] == "small-2026-05"
    assert (first["response_reasoning_tokens"], first["response_finish_reason"]) == ("17", "stop")
    assert next(row for row in rows if row["item"] == "wc3")["decoding_seed"] == ""
    line = json.loads(exported("jsonl", tmp_path / "o.jsonl", made).splitlines()[0])
    assert line["reply"]["decoding"] == {
        "max_tokens": 64, "temperature": 0.7, "top_p": 0.9, "stop": ["Q:"], "seed": 123456,
    }  # fmt: skip


@pytest.mark.parametrize(
    "notes",
    [
        {"option_log_probabilities": "[-0.5, null]", "options_weighed": '["lion", "drum"]'},
        {"option_log_probabilities": '{"lion": {"sum": -0.5, "tokens": 1}, "drum": null}'},
    ],
)
def test_log_probabilities_of_options_are_exported(notes: dict[str, str], tmp_path: Path) -> None:
    made = administration_document(
        AdministrationData(administration(), BATTERY, [noted("wc1", "lion", **notes)])
    )
    (row, *_) = csv.DictReader(exported("csv", tmp_path / "o.csv", made).splitlines())
    assert json.loads(row["option_log_probabilities"]) == {"lion": -0.5, "drum": None}


def test_a_reply_of_an_earlier_version_has_the_limits_that_held_and_no_seed(tmp_path: Path) -> None:
    old = replace(SAMPLED, token_limits="smaller")
    made = administration_document(
        AdministrationData(
            replace(administration(), conditions=old), BATTERY, [answered("wc1", "lion")]
        )
    )
    line = json.loads(exported("jsonl", tmp_path / "o.jsonl", made))
    assert line["reply"]["decoding"] == {
        "max_tokens": 256, "temperature": 1.0, "top_p": 1.0, "stop": [], "seed": None,
    }  # fmt: skip


def test_several_administrations_go_into_one_file(tmp_path: Path) -> None:
    documents = [
        administration_document(
            AdministrationData(administration(number), BATTERY, trials(ANSWERS))
        )
        for number in (1, 2)
    ]
    text = exported("jsonl", tmp_path / "o.jsonl", {"format": 1, "documents": documents})
    uids = [json.loads(line)["administration"] for line in text.splitlines()]
    assert len(uids) == 2 * len(ANSWERS)
    assert len(set(uids)) == 2


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_the_research_only_sentence_lies_beside_every_export(form: str, tmp_path: Path) -> None:
    exported(form, tmp_path / "out")
    beside = (tmp_path / "out.README.txt").read_text(encoding="utf-8")
    assert RESEARCH_ONLY in beside
    assert BATTERY.disclaimer in beside
    written = sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    assert written == ["out", "out.README.txt"]


def test_a_failed_export_leaves_the_earlier_file_whole(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    before = exported("jsonl", out)
    broken = administration_document(
        AdministrationData(administration(), BATTERY, [answered("ct1", "a \ud800 b")])
    )
    with pytest.raises(TabwbError, match="not valid text"):
        EXPORTER["jsonl"].export(broken, out)
    assert out.read_text(encoding="utf-8") == before
    assert not list(tmp_path.glob(".*"))


def test_a_folder_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(TabwbError, match="cannot be written"):
        exported("csv", tmp_path / "none" / "out.csv")


def test_an_echo_of_the_prompt_is_no_part_of_the_answer() -> None:
    sent = "Answer with one listed word.\nUsed for cutting? (knife, kite, lion)"
    for kind, item, text, right in (
        ("choice", KNIFE, f"{sent}\nknife", 1.0),
        ("choice", KNIFE, sent, 0.0),
        ("yes-no", Item("sc", "Yes or no, is it?", (), "No"), "Yes or no, is it? No.", 1.0),
    ):
        response = Response(
            text,
            ResponseStatus.OK,
            item.prompt,
            sent,
            ResponseKind(kind),
            item.options,
            item.expected,
        )
        subtest = Subtest("s", "S", ResponseKind(kind), (item,))
        ratings = {one.measure: one for one in SCORER[kind].score(subtest, item, response)}
        assert ratings["extracted"].value == right
        assert ratings["exact"].value == 0.0


def test_rows_of_a_lesioned_model_have_the_values_of_the_lesion(tmp_path: Path) -> None:
    under = administration()
    under = replace(
        under,
        tags=("sweep", "control"),
        conditions=replace(under.conditions, lesion="projections:zero:0.1@layers=0-1,seed=7"),
    )
    facts = {"lesion_parameters": "120", "lesion_perplexity": "inf"}
    data = AdministrationData(under, BATTERY, trials(ANSWERS), model_facts=facts)
    text = exported("csv", tmp_path / "out.csv", administration_document(data))
    row = next(csv.DictReader(text.splitlines()))
    assert {name: value for name, value in row.items() if name.startswith("lesion_")} == {
        "lesion_role": "layer control", "lesion_target": "projections", "lesion_operation": "zero",
        "lesion_amount": "0.1", "lesion_factor": "", "lesion_sigma": "", "lesion_bits": "",
        "lesion_layers": "0-1", "lesion_seed": "7",
        "lesion_kind": "projections:zero:*@layers=0-1", "lesion_parameters": "120",
        "lesion_perplexity": "",
    }  # fmt: skip


def feature(name: str) -> Feature:
    return Feature(name, name, name, "")


def rate(text: str, *features: str, status: ResponseStatus = ResponseStatus.OK) -> list[Rating]:
    judge = JUDGES[0].factory(Spec("rules-2"), None)
    response = Response(text, status, "A prompt.", "A prompt.", ResponseKind.CONNECTED_TEXT)
    return list(judge.judge(response, [feature(name) for name in features]))


def test_the_judge_is_found_as_rules_and_stored_as_rules_2() -> None:
    assert (JUDGES[0].id, JUDGES[0].aliases) == ("rules-2", ("rules",))
    judge = JUDGES[0].factory(Spec("rules-2"), None)
    assert isinstance(judge, Judge)
    assert (judge.rater, judge.features, judge.caution) == (
        "rules-2",
        TWO_SIDED,
        FORM_BASED_CAUTION,
    )


def test_the_first_version_stays_for_studies_that_were_judged_with_it() -> None:
    assert (JUDGES[1].id, JUDGES[1].aliases) == ("rules-1", ())
    judge = JUDGES[1].factory(Spec("rules-1"), None)
    assert (judge.rater, judge.features, judge.caution) == ("rules-1", TWO_SIDED, RULES_CAUTION)
    text = "It was the best day of my life... I will never forget it."
    response = Response(text, ResponseStatus.OK, "A.", "A.", ResponseKind.CONNECTED_TEXT)
    (first,) = judge.judge(response, [feature("abandoned-utterances")])
    assert (first.rater, first.value) == ("rules-1", 1.0)
    (second,) = rate(text, "abandoned-utterances")
    assert (second.rater, second.value) == ("rules-2", 0.0)


@pytest.mark.parametrize("status", [each for each in ResponseStatus if not each.usable])
def test_an_unusable_response_has_every_feature_undefined_with_its_status(
    status: ResponseStatus,
) -> None:
    for rating in rate("I loved the ball, the ball, the ball.", *TWO_SIDED, status=status):
        assert (rating.status, rating.value) == (RatingStatus.UNDEFINED, None)
        assert status.value in rating.reason


def test_what_an_absence_covers_is_said_with_it() -> None:
    jargon, perseverations = rate("I like ice cream a lot.", "jargon", "perseverations")
    assert "neologistic jargon (rule)" in jargon.reason
    assert "words that come again" in perseverations.reason


def test_present_is_one_with_the_words_and_absent_is_nought() -> None:
    ratings = rate("I need to buy a blorf from the store.", "neologisms", "retracing")
    assert [(each.measure, each.value, each.reason) for each in ratings] == [
        ("neologisms", 1.0, '"blorf"'),
        ("retracing", 0.0, ""),
    ]
    assert {each.rater for each in ratings} == {"rules-2"}


def test_undefined_says_why() -> None:
    (rating,) = rate("I like ice cream.", "off-topic")
    assert rating.status is RatingStatus.UNDEFINED
    assert rating.reason


def test_only_features_of_the_battery_are_rated_in_its_order() -> None:
    ratings = rate("I like ice cream.", "jargon", "retracing")
    assert [each.measure for each in ratings] == ["jargon", "retracing"]


def test_a_feature_of_another_battery_is_undefined() -> None:
    (rating,) = rate("I like ice cream.", "halting-and-effortful")
    assert rating.status is RatingStatus.UNDEFINED


@pytest.mark.parametrize("name", TWO_SIDED)
def test_an_empty_response_is_undefined_and_not_nought(name: str) -> None:
    (rating,) = rate("", name, status=ResponseStatus.EMPTY)
    assert (rating.status, rating.value) == (RatingStatus.UNDEFINED, None)


PAIRED = (Column("subtest", "", ""), Column("item", "", ""), Column("usable", "", "", "boolean"))
FEATURES = ("anomia", "jargon", "retracing")


def given(items: Sequence[str], judges: dict[str, Any], usable: Sequence[bool] = ()) -> Responses:
    """Responses to items, with the ratings of each judge: (responses, features)."""
    rows = zip(["text"] * len(items), items, usable or [True] * len(items), strict=True)
    ratings = {judge: np.asarray(values, float) for judge, values in judges.items()}
    return Responses(
        BATTERY,
        table_of("responses", PAIRED, rows),
        dict.fromkeys(judges, FEATURES),
        lambda judge, feature: ratings[judge][:, FEATURES.index(feature)],
        dict.fromkeys(judges, FEATURES),
    )


def test_it_is_that_of_scipy_over_the_mean_burdens_of_items() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 2, (2, 40, 3))
    second[::2] = first[::2]
    items = [f"i{at % 10}" for at in range(40)]
    (value,) = rank_correlations(given(items, {"a": first, "b": second}))
    means = [each.sum(axis=1).reshape(4, 10).mean(axis=0) for each in (first, second)]
    expected = spearmanr(*means).statistic
    assert value.of == "a, b" and value.n == 40 and value.value == pytest.approx(expected)
    assert value.low is not None and value.high is not None and value.low < expected < value.high
    half = 1.96 * sqrt((1 + expected**2 / 2) / 7)
    assert atanh(value.high) - atanh(value.low) == pytest.approx(2 * half)


def test_a_response_without_a_burden_by_both_is_left_out() -> None:
    first = np.eye(3)[[0, 0, 1, 2, 1]] * [1, 1, 0]
    second = first.copy()
    second[0, 1] = np.nan
    items, usable = list("abcde"), [True, False, True, True, True]
    (value,) = rank_correlations(given(items, {"a": first, "b": second}, usable))
    assert value.n == 3 and value.low is None and "fewer than 5 items" in value.reason


def test_equal_burdens_have_no_correlation() -> None:
    (value,) = rank_correlations(given(list("abcde"), {"a": np.ones((5, 3)), "b": np.eye(5, 3)}))
    assert value.value is None and "are equal" in value.reason


def test_it_needs_two_judges() -> None:
    assert STATISTIC.judges == 2
    assert list(rank_correlations(given(["a"], {"a": np.ones((1, 3))}))) == []
