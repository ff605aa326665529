"""The model in the tree: small enough, loadable offline, and able to do what its card says."""

from pathlib import Path

import pytest
import torch

from training.bundled.answer import Speaker
from training.bundled.evaluate import answer_in_conversation, is_right
from training.bundled.items import held_out_items, held_out_prompts
from training.bundled.stories import sentences

FOLDER = Path(__file__).parents[2] / "plugins" / "tabwb_bundled" / "model"


@pytest.fixture(scope="module")
def speaker() -> Speaker:
    torch.set_num_threads(1)
    return Speaker(FOLDER)


def test_weights_take_at_most_eight_megabytes() -> None:
    assert (FOLDER / "model.safetensors").stat().st_size <= 8_000_000


@pytest.mark.parametrize(
    "text",
    [
        "3–5 full sentences",
        "we’d",
        "naïve Zürich",
        "日本語 🙂",
        "a  b\n\tc ",
        "<b>&amp;</b>",
        "\x00\x7f",
    ],
)
def test_tokenizer_gives_any_text_back(speaker: Speaker, text: str) -> None:
    ids = speaker.tokenizer(text, add_special_tokens=False)["input_ids"]
    assert speaker.tokenizer.decode(ids) == text


def test_a_repeated_text_has_the_same_tokens_in_question_and_answer(speaker: Speaker) -> None:
    encode = speaker.tokenizer.backend_tokenizer.encode
    answer = encode("The little harbour slept.").ids
    assert encode("Please repeat exactly: The little harbour slept.").ids[-len(answer) :] == answer


def test_chat_template_renders_with_and_without_system(speaker: Speaker) -> None:
    user = {"role": "user", "content": "Hello."}
    turns = [user, {"role": "assistant", "content": "Hi."}, user]
    render = speaker.tokenizer.apply_chat_template
    assert render(turns, tokenize=False, add_generation_prompt=True) == (
        "<|user|>Hello.<|assistant|>Hi.<|end|><|user|>Hello.<|assistant|>"
    )
    system = {"role": "system", "content": "Be kind."}
    assert render([system, user], tokenize=False) == "<|system|>Be kind.<|user|>Hello."


def test_lesion_targets_have_their_ordinary_names(speaker: Speaker) -> None:
    names = dict(speaker.model.named_parameters())
    layers = speaker.model.config.num_hidden_layers
    for part in ("mlp.down_proj", "mlp.up_proj", "self_attn.q_proj", "self_attn.o_proj"):
        assert f"model.layers.{layers - 1}.{part}.weight" in names


def test_held_out_items_of_each_kind_are_answered(speaker: Speaker) -> None:
    items = held_out_items(6)
    answers = speaker.reply([item.user for item in items])
    for group in {item.group for item in items}:
        right = [is_right(i, a) for i, a in zip(items, answers, strict=True) if i.group == group]
        assert sum(right) >= 4, (group, answers)


def test_connected_text_ends_by_itself_and_varies(speaker: Speaker) -> None:
    answers = speaker.reply([item.user for _, item in held_out_prompts(4)])
    assert len(set(answers)) >= 3
    for answer in answers:
        assert 3 <= len(sentences(answer)) <= 5
        assert answer.endswith((".", "!"))


def test_a_conversation_of_mixed_tasks_is_followed(speaker: Speaker) -> None:
    items = [i for i in held_out_items(1) if "11-14" not in i.group]
    answers = answer_in_conversation(speaker, items)
    assert sum(is_right(i, a) for i, a in zip(items, answers, strict=True)) >= 3
