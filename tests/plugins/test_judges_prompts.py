"""The prompts that come with tabwb: appendix D word for word, and variants of it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tabwb_judges.chat import Labels, Unreadable, read_labels

from tabwb.battery.loader import load_battery
from tabwb.host.judge_prompt_files import load_prompt
from tabwb.host.judge_prompts import JudgePrompt, bundled_folder
from tests.builders import ROOT

PRINTED: Any = json.loads(
    (ROOT / "tests" / "data" / "tab_2026_appendix_d.json").read_text(encoding="utf-8")
)
VARIANTS = ("tab-2026+overall", "tab-2026+prompt")
OVERALL = "Overall communication impairment"


def prompt(name: str = "tab-2026") -> JudgePrompt:
    return load_prompt(bundled_folder() / f"{name}.toml")


def user(name: str = "tab-2026", transcript: str = "TRANSCRIPT", asked: str = "ASKED") -> str:
    return prompt(name).messages(transcript, asked)[-1].content


def test_the_system_message_is_d1() -> None:
    (system, _) = prompt().messages("", "")
    assert (system.role, system.content) == ("system", PRINTED["D.1"])


def test_the_definitions_are_those_of_d2_in_its_order() -> None:
    definitions = [f"{name}: {text}\nExample: {example}" for name, text, example in PRINTED["D.2"]]
    assert len(definitions) == 18
    assert "\n\n".join(definitions) in user()


def test_the_examples_are_those_of_d3() -> None:
    for number, example in enumerate(PRINTED["D.3"], start=1):
        shown = (
            f"Example {number}:\n\nTranscript Passage:\n\n“{example['transcript']}”\n\n"
            f"Associated JSON Output:\n\n{example['json']}\n\n"
        )
        assert shown in user()


def test_the_recap_is_d4() -> None:
    *steps, last = PRINTED["D.4"]
    assert "\n".join(steps) + "\n\n" + last in user()


def test_texts_stand_in_the_papers_order_and_the_transcript_last() -> None:
    parts = [PRINTED["D.2"][0][1], PRINTED["D.3"][0]["json"], PRINTED["D.4"][0], "“TRANSCRIPT”"]
    places = [user().index(part) for part in parts]
    assert places == sorted(places)
    assert user().endswith("“TRANSCRIPT”\n\nAssociated JSON Output:")


@pytest.mark.parametrize("number", [0, 1])
def test_the_two_examples_read_as_the_papers_labels(number: int) -> None:
    published = json.loads(
        (ROOT / "tests" / "data" / "rules_published.json").read_text(encoding="utf-8")
    )["judged"][number]
    keys = prompt().keys
    read = read_labels(PRINTED["D.3"][number]["json"], list(keys))
    assert isinstance(read, Labels) and not read.extra
    assert {keys[key] for key, value in read.values.items() if value} == set(published["present"])
    assert prompt().examples[number].transcript == published["text"]


def test_features_and_keys_are_those_of_the_battery() -> None:
    battery = load_battery(ROOT / "batteries" / "tab" / "battery.toml")
    assert prompt().keys == {feature.key: feature.id for feature in battery.features}
    assert list(prompt().keys) == list(json.loads(PRINTED["D.3"][0]["json"]))


def test_the_known_gaps_are_there_and_are_stated() -> None:
    assert f"{OVERALL}:" not in user()
    assert "ASKED" not in user()
    first, second = prompt().known_gaps
    assert "18 of the 19" in first and OVERALL in first
    assert "Off-topic" in second


def test_the_variant_with_the_prompt_differs_in_nothing_else() -> None:
    line = "The speaker was given this prompt:\n\n“ASKED”\n\n"
    assert user("tab-2026+prompt").replace(line, "") == user()
    assert line in user("tab-2026+prompt")


def test_the_variant_with_the_definition_differs_in_nothing_else() -> None:
    table_4 = (
        "Rated independently based on the overall intelligibility and communicative adequacy "
        "of the passage."
    )
    line = f"\n\n{OVERALL}: {table_4}"
    assert line in user("tab-2026+overall")
    assert user("tab-2026+overall").replace(line, "") == user()


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_share_features_and_have_texts_of_their_own(name: str) -> None:
    assert prompt(name).keys == prompt().keys
    assert prompt(name).canonical != prompt().canonical
    assert prompt(name).id == name


def test_a_response_is_put_in_once_and_never_read_as_a_template() -> None:
    assert user(transcript="say {recap} and {prompt}").count("say {recap} and {prompt}") == 1
    assert "ASKED" not in user("tab-2026", "{prompt}")


def test_the_canonical_text_holds_all_that_is_put_to_the_model() -> None:
    content = json.loads(prompt().canonical)
    sent = [[each.role, each.content] for each in prompt().messages("{transcript}", "{prompt}")]
    assert content["messages"] == sent
    assert content["decoding"] == {"max_tokens": 2048, "temperature": 0.0}
    assert "{problem}" in content["repair"]


def test_the_schema_asks_for_every_key_in_order() -> None:
    schema = json.loads(prompt().json_schema)
    assert schema["required"] == list(schema["properties"]) == list(prompt().keys)
    assert schema["additionalProperties"] is False


def test_registering_reads_no_file_and_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom tabwb_judges.plugin import tabwb_register_judges\nids = []\n"
        "tabwb_register_judges(lambda each: ids.append(each.id))\n"
        "assert 'tab-2026+likelihood+null' in ids, ids\n"
        "late = {'tomli', 'pydantic', 'tabwb.host.judge_prompt_files'}\n"
        "print(*sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


KEYS = ["Anomia", "Off-topic", "Conduite d'approche"]
GOOD = {"Anomia": 1, "Off-topic": 0, "Conduite d'approche": 0}
PROSE = st.text(st.characters(exclude_characters="{}`", codec="utf-8"))


def problem(text: str) -> str:
    read = read_labels(text, KEYS)
    assert isinstance(read, Unreadable)
    return read.problem


@given(st.lists(st.integers(0, 1), min_size=3, max_size=3), st.permutations(range(3)))
def test_labels_are_read_whatever_their_order(labels: list[int], order: list[int]) -> None:
    said = dict(zip(KEYS, labels, strict=True))
    text = json.dumps({KEYS[at]: said[KEYS[at]] for at in order}, ensure_ascii=False, indent=2)
    assert read_labels(text, KEYS) == Labels(said, extra=False)


@given(PROSE, PROSE)
def test_prose_around_the_object_is_allowed_and_told(before: str, after: str) -> None:
    read = read_labels(before + json.dumps(GOOD) + after, KEYS)
    assert read == Labels(GOOD, extra=bool((before + after).strip()))


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", "```JSON\n{}```\n"])
def test_a_code_fence_is_no_extra_text(fence: str) -> None:
    assert read_labels(fence.replace("{}", json.dumps(GOOD)), KEYS) == Labels(GOOD, extra=False)


ANYTHING: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from([*KEYS, "Jargon", "anomia"]), st.sampled_from([0, 1]) | ANYTHING
    )
)
def test_only_exactly_these_keys_with_0_or_1_are_read(said: dict[str, Any]) -> None:
    read = read_labels(json.dumps(said), KEYS)
    right = set(said) == set(KEYS) and all(
        isinstance(value, int) and not isinstance(value, bool) and value in (0, 1)
        for value in said.values()
    )
    assert isinstance(read, Labels) == right
    if isinstance(read, Labels):
        assert read.values == said


@given(st.text())
def test_no_text_is_too_much(text: str) -> None:
    read = read_labels(text, KEYS)
    assert isinstance(read, Unreadable) or set(read.values) == set(KEYS)


@given(st.integers(0, len(json.dumps(GOOD)) - 1))
def test_a_reply_that_was_cut_says_nothing(length: int) -> None:
    assert problem(json.dumps(GOOD)[:length]) == "it holds no complete JSON object"


@pytest.mark.parametrize("value", ["true", '"1"', "0.0", "1.0", "2", "-1", "null", "[1]", "1e0"])
def test_a_value_that_is_not_the_number_0_or_1_is_named(value: str) -> None:
    text = json.dumps(GOOD).replace('"Off-topic": 0', f'"Off-topic": {value}')
    shown = {"[1]": "an array", "1e0": "1.0"}.get(value, value)
    assert problem(text) == f"the value of 'Off-topic' is {shown}, not 0 or 1"


def test_missing_and_further_keys_are_named() -> None:
    text = json.dumps({"Anomia": 1, "Off topic": 0, "Conduite d'approche": 0})
    assert problem(text) == "missing: 'Off-topic'; not asked for: 'Off topic'"


def test_a_key_that_stands_twice_is_refused_even_if_both_agree() -> None:
    text = json.dumps(GOOD).replace('{"Anomia": 1', '{"Anomia": 1, "Anomia": 1')
    assert problem(text) == "'Anomia' is given twice"


def test_two_objects_are_refused_even_if_both_are_good() -> None:
    text = json.dumps(GOOD)
    assert problem(f"{text}\nor rather\n{text}") == "it holds 2 JSON objects instead of one"


@pytest.mark.parametrize("text", ["{" * 100_000, '{"a":' * 100_000, '{"a": ' + "9" * 5_000 + "}"])
def test_hostile_replies_are_given_up(text: str) -> None:
    assert problem(text) == "it holds no complete JSON object"
