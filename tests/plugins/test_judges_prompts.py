"""The prompts that come with tabwb: appendix D word for word, and variants of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tabwb_judges.parse import Labels, read_labels

from tabwb.battery.loader import load_battery
from tabwb.plugin_api.judge_prompts.load import load_prompt
from tabwb.plugin_api.judge_prompts.prompt import JudgePrompt, bundled_folder

ROOT = Path(__file__).parents[2]
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
        "late = {'tomli', 'pydantic', 'tabwb.plugin_api.judge_prompts.load'}\n"
        "print(*sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
