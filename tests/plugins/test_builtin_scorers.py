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
from tabwb_builtin.columns import TABLE
from tabwb_builtin.exporters import EXPORTERS
from tabwb_builtin.plugin import STATISTIC, rank_correlations
from tabwb_builtin.raters import JUDGES, SCORERS

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
from tabwb.records.trials import Administration, Trial
from tabwb.records.words import FORM_BASED_CAUTION, RESEARCH_ONLY, RULES_CAUTION
from tabwb.scoring.rules.passage import TWO_SIDED
from tabwb.tables.table import table_of
from tests.analysis.given import ANSWERS, BATTERY, SAMPLED, administration, answered, trials, voided

SCORER: dict[str, Scorer] = {one.id: one.factory(Spec(one.id), None) for one in SCORERS}
EXPORTER: dict[str, Exporter] = {
    one.id: one.factory(Spec(one.id), None if one.options is None else one.options()())
    for one in EXPORTERS
}


def score(
    scorer: str, text: str, item: Item, kind: ResponseKind, *, sent: str | None = None
) -> dict[str, Rating]:
    response = Response(
        text, ResponseStatus.OK, item.prompt, sent or item.prompt, kind, item.options,
        item.expected, item.foils,
    )  # fmt: skip
    ratings = SCORER[scorer].score(Subtest("s", "S", kind, (item,)), item, response)
    assert all(rating.rater == scorer for rating in ratings)
    return {rating.measure: rating for rating in ratings}


KNIFE = Item("wc4", "Used for cutting?", ("knife", "kite", "lion"), "knife", {"kite": "phon"})
HOUSE = Item("r1", "Please repeat exactly: house.", (), "house.")
TRIP = Item("ct1", "Tell me about a trip.")


def test_the_measures_of_earlier_versions_are_those_of_the_scorers() -> None:
    assert {name: SCORER[name].measures for name in MEASURES_OF_OURS} == MEASURES_OF_OURS


@pytest.mark.parametrize(
    ("text", "measure", "value", "reason"),
    [
        ("Answer: lion. Explanation: correct.", "exact", 0.0, "no option"),
        ("Answer: lion. Explanation: correct.", "extracted", 0.0, "lion"),
        ("kite", "exact", 0.0, "kite (foil: phon)"),
        ("knife or kite", "extracted", 0.0, "ambiguous: knife, kite"),
        (" ", "exact", 0.0, "no response"),
        ("knife", "exact", 1.0, ""),
    ],
)
def test_a_choice_names_what_was_read_as_its_reason(
    text: str, measure: str, value: float, reason: str
) -> None:
    rating = score("choice", text, KNIFE, ResponseKind.CHOICE)[measure]
    assert rating == Rating("choice", measure, value, RatingStatus.VALUE, reason)


def test_a_repetition_counts_its_errors_and_without_a_key_nothing_is_wrong() -> None:
    echo = score("repetition", "Please repeat exactly: horse.", HOUSE, ResponseKind.VERBATIM)
    assert (echo["exact"].value, echo["exact"].reason) == (0.0, "substitution 1, carrier-echo 1")
    assert (echo["substitution"].value, echo["substitution"].reason) == (1.0, "characters")
    assert (echo["carrier-echo"].value, echo["deletion"].value) == (1.0, 0.0)
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


def document(
    given: Sequence[Trial] | None = None, of: Administration | None = None, **more: Any
) -> dict[str, Any]:
    """The document of an administration; of those answers where none are given."""
    given = trials(ANSWERS) if given is None else given
    return administration_document(
        AdministrationData(of or administration(), BATTERY, given, **more)
    )


def exported(form: str, out: Path, made: dict[str, Any] | None = None) -> str:
    EXPORTER[form].export(made or document(), out)
    return out.read_text(encoding="utf-8")


def csv_rows(out: Path, made: dict[str, Any] | None = None) -> list[dict[str, str]]:
    exported("csv", out, made)
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_counted_response_is_one_line_that_reads_back(tmp_path: Path) -> None:
    given = (*trials(ANSWERS), voided("wc1", "drum"))
    made = document(given)
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
    made = document([answered("ct1", text)])
    out = exported("jsonl", tmp_path / "o.jsonl", made)
    assert out.count("\n") == 1 and json.loads(out)["response"] == text
    assert {row["response"] for row in csv_rows(tmp_path / "o.csv", made)} == {text}


def test_csv_has_one_row_per_rating_and_each_column_is_explained_beside_it(tmp_path: Path) -> None:
    rows = csv_rows(tmp_path / "out.csv")
    names = [column.name for column in TABLE]
    assert list(rows[0]) == names and len(set(names)) == len(names)
    assert len(rows) == sum(len(trial.ratings) for trial in trials(ANSWERS))
    exact = next(row for row in rows if (row["item"], row["measure"]) == ("wc3", "exact"))
    assert (exact["value"], exact["rating_reason"]) == ("0.0", "boat (foil: phonological)")
    assert (exact["model"], exact["seed"], exact["decoding_temperature"]) == ("bundled", "1", "0.0")
    assert json.loads(exact["options"])[0] == "boot"
    assert {row["value"] for row in rows if row["rating_status"] == "undefined"} == {""}
    beside = (tmp_path / "out.csv.README.txt").read_text(encoding="utf-8")
    for column in TABLE:
        assert column.told in beside
        assert column.meaning and not column.meaning.endswith(".")


def noted(item_id: str, text: str, **metadata: str) -> Trial:
    trial = answered(item_id, text)
    (attempt,) = trial.attempts
    return replace(trial, attempts=(replace(attempt, metadata=metadata),))


def test_each_reply_is_exported_with_what_was_sent_for_it(tmp_path: Path) -> None:
    notes = {
        "max_tokens": "64", "temperature": "0.7", "top_p": "0.9", "stop": '["Q:"]',
        "seed": "123456", "model_version": "small-2026-05", "thought_tokens": "17",
        "finish_reason": "stop", "reply_tokens": "20",
    }  # fmt: skip
    given = [noted("wc1", "lion", **notes), noted("wc3", "boat", **{**notes, "seed": "not sent"})]
    asked = replace(administration(), conditions=replace(SAMPLED, token_limits="battery"))
    made = document(given, asked)
    rows = csv_rows(tmp_path / "o.csv", made)
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
    # A reply of an earlier version has the limits that held, and no seed.
    old = replace(administration(), conditions=replace(SAMPLED, token_limits="smaller"))
    line = json.loads(
        exported("jsonl", tmp_path / "o.jsonl", document([answered("wc1", "lion")], old))
    )
    assert line["reply"]["decoding"] == {
        "max_tokens": 256, "temperature": 1.0, "top_p": 1.0, "stop": [], "seed": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "notes",
    [
        {"option_log_probabilities": "[-0.5, null]", "options_weighed": '["lion", "drum"]'},
        {"option_log_probabilities": '{"lion": {"sum": -0.5, "tokens": 1}, "drum": null}'},
    ],
)
def test_log_probabilities_of_options_are_exported(notes: dict[str, str], tmp_path: Path) -> None:
    (row, *_) = csv_rows(tmp_path / "o.csv", document([noted("wc1", "lion", **notes)]))
    assert json.loads(row["option_log_probabilities"]) == {"lion": -0.5, "drum": None}


def test_several_administrations_go_into_one_file(tmp_path: Path) -> None:
    documents = [document(of=administration(number)) for number in (1, 2)]
    text = exported("jsonl", tmp_path / "o.jsonl", {"format": 1, "documents": documents})
    uids = [json.loads(line)["administration"] for line in text.splitlines()]
    assert len(uids) == 2 * len(ANSWERS) and len(set(uids)) == 2


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
    with pytest.raises(TabwbError, match="not valid text"):
        EXPORTER["jsonl"].export(document([answered("ct1", "a \ud800 b")]), out)
    assert out.read_text(encoding="utf-8") == before and not list(tmp_path.glob(".*"))
    with pytest.raises(TabwbError, match="cannot be written"):
        exported("csv", tmp_path / "none" / "out.csv")


def test_an_echo_of_the_prompt_is_no_part_of_the_answer() -> None:
    sent = "Answer with one listed word.\nUsed for cutting? (knife, kite, lion)"
    for kind, item, text, right in (
        ("choice", KNIFE, f"{sent}\nknife", 1.0),
        ("choice", KNIFE, sent, 0.0),
        ("yes-no", Item("sc", "Yes or no, is it?", (), "No"), "Yes or no, is it? No.", 1.0),
    ):
        ratings = score(kind, text, item, ResponseKind(kind), sent=sent)
        assert (ratings["extracted"].value, ratings["exact"].value) == (right, 0.0)


def test_rows_of_a_lesioned_model_have_the_values_of_the_lesion(tmp_path: Path) -> None:
    under = administration()
    lesion = "projections:zero:0.1@layers=0-1,seed=7"
    conditions = replace(under.conditions, lesion=lesion)
    under = replace(under, tags=("sweep", "control"), conditions=conditions)
    facts = {"lesion_parameters": "120", "lesion_perplexity": "inf"}
    row = csv_rows(tmp_path / "out.csv", document(of=under, model_facts=facts))[0]
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


def test_the_judge_is_found_as_rules_and_the_first_version_stays() -> None:
    assert [(one.id, one.aliases) for one in JUDGES[:2]] == [
        ("rules-2", ("rules",)),
        ("rules-1", ()),
    ]
    text = "It was the best day of my life... I will never forget it."
    response = Response(text, ResponseStatus.OK, "A.", "A.", ResponseKind.CONNECTED_TEXT)
    for made, caution, value in (
        (JUDGES[0], FORM_BASED_CAUTION, 0.0),
        (JUDGES[1], RULES_CAUTION, 1.0),
    ):
        judge = made.factory(Spec(made.id), None)
        assert isinstance(judge, Judge)
        assert (judge.rater, judge.features, judge.caution) == (made.id, TWO_SIDED, caution)
        (rating,) = judge.judge(response, [feature("abandoned-utterances")])
        assert (rating.rater, rating.value) == (made.id, value)


@pytest.mark.parametrize("status", [each for each in ResponseStatus if not each.usable])
def test_an_unusable_response_has_every_feature_undefined_with_its_status(
    status: ResponseStatus,
) -> None:
    said = "" if status is ResponseStatus.EMPTY else "I loved the ball, the ball, the ball."
    ratings = rate(said, *TWO_SIDED, status=status)
    assert [each.measure for each in ratings] == [*TWO_SIDED]
    for rating in ratings:
        assert (rating.status, rating.value) == (RatingStatus.UNDEFINED, None)
        assert status.value in rating.reason


def test_features_are_rated_in_the_order_of_the_battery_with_words_or_reasons() -> None:
    ratings = rate("I need to buy a blorf from the store.", "neologisms", "retracing")
    assert [(each.rater, each.measure, each.value, each.reason) for each in ratings] == [
        ("rules-2", "neologisms", 1.0, '"blorf"'),
        ("rules-2", "retracing", 0.0, ""),
    ]
    jargon, perseverations = rate("I like ice cream a lot.", "jargon", "perseverations")
    assert "neologistic jargon (rule)" in jargon.reason
    assert "words that come again" in perseverations.reason
    # One that rules cannot see, and one of another battery.
    for rating in rate("I like ice cream.", "off-topic", "halting-and-effortful"):
        assert rating.status is RatingStatus.UNDEFINED and rating.reason


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


def test_equal_burdens_or_one_judge_have_no_correlation() -> None:
    (value,) = rank_correlations(given(list("abcde"), {"a": np.ones((5, 3)), "b": np.eye(5, 3)}))
    assert value.value is None and "are equal" in value.reason
    assert STATISTIC.judges == 2
    assert list(rank_correlations(given(["a"], {"a": np.ones((1, 3))}))) == []
