"""Canonical JSON and the content hash: the same content, the same name, and the way back."""

from __future__ import annotations

import hashlib
import json
import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabwb.battery.loader import NamedFiles, battery_from_canonical, canonical_json
from tabwb.battery.new import render
from tabwb.battery.prompts import NOISE_OPERATIONS, PromptNoise, parse_noise, perturbed
from tabwb.battery.rules import validate
from tabwb.records.errors import TabwbError, UsageError
from tabwb.scoring.text import normalised

texts = (
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
    .map(str.strip)
    .filter(normalised)
)
ids = st.from_regex(r"[a-z][a-z0-9]{0,4}(-[a-z0-9]{1,3})?", fullmatch=True)


@st.composite
def items(draw: st.DrawFn, item_id: str) -> dict[str, Any]:
    options = draw(st.lists(texts, min_size=2, max_size=4, unique_by=normalised))
    expected = draw(st.sampled_from(options))
    wrong = [option for option in options if option != expected]
    foils = draw(st.dictionaries(st.sampled_from(wrong), texts, max_size=2))
    item = {"id": item_id, "prompt": draw(texts), "options": options, "expected": expected}
    optional = {"foils": foils, "tags": draw(st.lists(texts, max_size=2))}
    return item | {key: value for key, value in optional.items() if value}


@st.composite
def batteries(draw: st.DrawFn) -> dict[str, Any]:
    head = {key: draw(texts) for key in ("title", "version", "license")}
    head["language"] = draw(st.sampled_from(["en", "de-AT", "zh-Hant"]))
    subtests = [
        {
            "id": subtest_id,
            "title": draw(texts),
            "response": "choice",
            "instructions": {"text": draw(texts), "source": draw(texts)},
            "template": "{instructions} {prompt} {options}",
            "item": [
                draw(items(one)) for one in draw(st.lists(ids, min_size=1, max_size=3, unique=True))
            ],
        }
        for subtest_id in draw(st.lists(ids, min_size=1, max_size=2, unique=True))
    ]
    return {"battery": {"id": draw(ids), **head}, "subtest": subtests}


def canonical_of(tables: dict[str, Any]) -> str:
    file, broken = validate(tables)
    assert broken == []
    assert file is not None
    return canonical_json(file.model_dump(exclude_defaults=True), NamedFiles())


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(one, chance) for one in value] if isinstance(value, list) else value


@given(tables=batteries())
def test_a_battery_comes_back_from_its_canonical_json(tables: dict[str, Any]) -> None:
    canonical = canonical_of(tables)
    battery = battery_from_canonical(canonical)
    assert battery.canonical == canonical
    assert battery.content_hash == hashlib.sha256(canonical.encode()).hexdigest()
    for subtest, table in zip(battery.subtests, tables["subtest"], strict=True):
        for item, given_item in zip(subtest.items, table["item"], strict=True):
            assert (item.prompt, item.expected) == (given_item["prompt"], given_item["expected"])
            assert list(item.options) == given_item["options"]
            assert item.foils == given_item.get("foils", {})


@given(tables=batteries(), seed=st.integers())
def test_the_order_of_keys_and_written_defaults_change_nothing(
    tables: dict[str, Any], seed: int
) -> None:
    other = shuffled(tables, random.Random(seed))
    other["battery"]["examinees"] = ["model", "speaker"]
    other["subtest"][0]["item"][0]["practice"] = False
    assert canonical_of(other) == canonical_of(tables)


@given(tables=batteries())
def test_any_change_of_a_text_changes_the_hash(tables: dict[str, Any]) -> None:
    before = battery_from_canonical(canonical_of(tables)).content_hash
    tables["subtest"][0]["item"][0]["prompt"] += "!"
    assert battery_from_canonical(canonical_of(tables)).content_hash != before


@given(tables=batteries())
def test_toml_and_canonical_json_say_the_same(tables: dict[str, Any]) -> None:
    import tomli

    assert canonical_of(tomli.loads(render(tables))) == canonical_of(tables)


@pytest.mark.parametrize(
    "canonical",
    ["", "{", "[]", "5", '"x"', "{}", '{"battery": 5, "subtest": []}', '{"battery": {}}',
     '{"battery": {"id": "x"}, "subtest": []}', '{"battery": {"system": "x"}, "subtest": []}',
     '{"battery": {}, "subtest": [{"item": 5}]}', "[" * 100_000],
)  # fmt: skip
def test_a_damaged_one_is_one_clear_message(canonical: str) -> None:
    with pytest.raises(TabwbError, match="the stored battery cannot be read"):
        battery_from_canonical(canonical)


def test_the_schema_knows_every_key_of_the_model() -> None:
    from tabwb.battery.toml_schema import json_schema

    schema = json_schema()
    json.dumps(schema, allow_nan=False)
    assert schema["required"] == ["battery", "subtest"]
    assert all(part["additionalProperties"] is False for part in schema["$defs"].values())
    assert len(schema["$defs"]["SourcedTextTable"]["oneOf"]) == 2


SENTENCE = "The old sailor's half-finished boat, painted red, wasn't sold before winter came."
NAME = "repetition/rp1"
NOISES = st.sampled_from(
    [(unit, operation) for unit, known in NOISE_OPERATIONS.items() for operation in known]
)
AMOUNTS = st.floats(0.0, 1.0, exclude_min=True)
SEEDS = st.integers(0, 2**63 - 1)


def noise(unit: str, operation: str, amount: float, seed: int) -> PromptNoise:
    return parse_noise(f"{unit}:{operation}:{amount!r}@seed={seed}")


def words(text: str) -> list[str]:
    return re.findall(r"[\w'-]+", text)


@given(NOISES, AMOUNTS, SEEDS)
def test_text_form_and_parse_are_inverses(what: tuple[str, str], amount: float, seed: int) -> None:
    made = noise(*what, amount, seed)
    assert parse_noise(str(made)) == made
    assert (made.unit, made.operation, made.amount) == (*what, amount)
    assert made.seed == (seed if made.draws else 1)


@given(NOISES, AMOUNTS, SEEDS, st.text(max_size=60))
def test_any_text_is_perturbed_the_same_each_time(
    what: tuple[str, str], amount: float, seed: int, text: str
) -> None:
    made = noise(*what, amount, seed)
    assert perturbed(made, text, NAME) == perturbed(made, text, NAME)
    if what in (("words", "shuffle"), ("characters", "swap")):
        assert sorted(perturbed(made, text, NAME)) == sorted(text)


@given(st.sampled_from(["words", "characters"]), AMOUNTS, AMOUNTS, SEEDS)
def test_a_larger_amount_drops_what_a_smaller_one_drops(
    unit: str, one: float, other: float, seed: int
) -> None:
    less, more = sorted((one, other))
    kept, left = (perturbed(noise(unit, "drop", amount, seed), SENTENCE, NAME)
                  for amount in (less, more))  # fmt: skip
    letters = iter(kept)
    assert all(letter in letters for letter in left)  # a subsequence


@given(AMOUNTS, SEEDS)
def test_the_words_that_are_masked_are_those_below_the_amount(amount: float, seed: int) -> None:
    expected = []
    for number, word in enumerate(words(SENTENCE)):
        draw = f"tabwb-prompt-noise-1\0units\0{seed}\0{NAME}\0{number}".encode()
        bits = int(hashlib.blake2b(draw, digest_size=4).hexdigest(), 16)
        expected.append("___" if bits < round(amount * 2**32) else word)
    found = perturbed(noise("words", "mask", amount, seed), SENTENCE, NAME)
    assert words(found) == expected


@given(AMOUNTS, SEEDS)
def test_words_that_are_shuffled_keep_to_the_places_of_taken_words(
    amount: float, seed: int
) -> None:
    masked = words(perturbed(noise("words", "mask", amount, seed), SENTENCE, NAME))
    mixed = words(perturbed(noise("words", "shuffle", amount, seed), SENTENCE, NAME))
    assert sorted(mixed) == sorted(words(SENTENCE))
    for own, shown, new in zip(words(SENTENCE), masked, mixed, strict=True):
        assert shown == "___" or own == new


@given(SEEDS)
def test_swapped_letters_stay_in_their_word_and_the_rest_of_the_text_as_it_is(seed: int) -> None:
    found = perturbed(noise("characters", "swap", 1.0, seed), SENTENCE, NAME)
    assert [sorted(word) for word in words(found)] == [sorted(word) for word in words(SENTENCE)]
    assert re.sub(r"[A-Za-z]", "x", found) == re.sub(r"[A-Za-z]", "x", SENTENCE)


@given(SEEDS)
def test_replaced_letters_are_others_of_the_text_in_the_same_case(seed: int) -> None:
    found = perturbed(noise("characters", "replace", 1.0, seed), SENTENCE, NAME)
    for own, new in zip(SENTENCE, found, strict=True):
        if own.isalpha():
            assert new != own and new.lower() in SENTENCE.lower()
            assert new.isupper() == own.isupper()
        else:
            assert new == own


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("words:drop", ",,."),
        ("words:lower", "the old sailor's half-finished boat, painted red, wasn't sold before "
                        "winter came."),
        ("words:mask", "___ ___ ___ ___ ___, ___ ___, ___ ___ ___ ___ ___."),
        ("characters:drop", " ' - ,  , '    ."),
    ],
)  # fmt: skip
def test_everything_is_taken_without_an_amount(spec: str, expected: str) -> None:
    found = perturbed(parse_noise(spec), SENTENCE, NAME)
    assert found.split() == expected.split()


def test_marks_stay_with_their_letters() -> None:
    text = "हिन्दी भाषा"
    assert perturbed(parse_noise("words:mask"), text, NAME) == "___ ___"
    swapped = perturbed(parse_noise("characters:swap"), text, NAME)
    assert swapped != text and sorted(swapped) == sorted(text)
    assert not any(part[0] in "िाी्" for part in swapped.split())


def test_another_item_and_another_seed_are_drawn_by_themselves() -> None:
    made = parse_noise("characters:replace:0.5@seed=1")
    other = parse_noise("characters:replace:0.5@seed=2")
    texts = {perturbed(made, SENTENCE, NAME), perturbed(made, SENTENCE, "repetition/rp2"),
             perturbed(other, SENTENCE, NAME)}  # fmt: skip
    assert len(texts) == 3


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("letters:drop", "has the unit 'letters'"),
        ("words", "is not complete"),
        ("words:drop:0.1:2", "is not complete"),
        ("words:swap", "has the operation 'swap'"),
        ("words:drop:0", "has the amount '0'"),
        ("words:drop:1.5", "has the amount '1.5'"),
        ("words:drop:nan", "has the amount 'nan'"),
        ("words:drop:0.1@seed=-1", "has 'seed=-1' after @"),
        ("words:drop:0.1@", "has '' after @"),
        ("words:drop:0.1@seed=9999999999999999999", "after @"),
    ],
)
def test_wrong_specs(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_noise(spec)
