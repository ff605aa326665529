"""The generated training text: reproducible, balanced, and free of the battery's items."""

import itertools
import random
from collections import Counter
from pathlib import Path

import pytest
import torch

from training.bundled import choice, repetition, stories, tab_items, yes_no
from training.bundled.answer import Speaker
from training.bundled.batches import draw_pool
from training.bundled.corpus import (
    COPYING_FIRST,
    LONG,
    MIXED,
    QUESTIONS_FIRST,
    LeakedItemError,
    Mixture,
    assert_clean,
    assert_no_battery_item,
    normalise,
    stream,
)
from training.bundled.evaluate import answer_in_conversation, is_right
from training.bundled.items import battery_items, held_out_items, held_out_prompts
from training.bundled.stories import sentences
from training.bundled.turns import Conversation, Turn
from training.bundled.words import HELD_OUT_WORDS


@pytest.mark.parametrize("mixture", [COPYING_FIRST, MIXED, QUESTIONS_FIRST, LONG])
def test_same_seed_gives_the_same_conversations(mixture: Mixture) -> None:
    first = list(itertools.islice(stream(5, mixture), 40))
    assert first == list(itertools.islice(stream(5, mixture), 40))
    assert first != list(itertools.islice(stream(6, mixture), 40))


def test_no_battery_item_in_a_sample_found_by_a_second_search() -> None:
    pool = draw_pool(random.Random(3), MIXED, long=0.05)
    turns = [turn for conversation in pool for turn in conversation.turns]
    everything = "\n".join(normalise(f"{turn.user}\n{turn.assistant}") for turn in turns)
    for item in battery_items():
        assert normalise(item.user.partition("\n")[2]) not in everything
        if " " in item.expected:
            assert normalise(item.expected) not in everything
    repeated = {
        normalise(turn.assistant).rstrip(".") for turn in turns if turn.task == "repetition"
    }
    assert repeated
    assert not repeated & {"house", "breakfast", "catastrophe"}


def _planted() -> list[Turn]:
    turns = [Turn("connected", f"Please.\n{p.upper()}", "Yes.") for p in tab_items.CONNECTED]
    for question, options in tab_items.CHOICE:
        turns.append(Turn("choice", question.replace(" ", "  "), "lion"))
        shuffled = tuple(reversed(options.split(", ")))
        turns.append(Turn("choice", "Which one?", shuffled[0], "Which one?", shuffled))
    turns += [Turn("yes_no", q.replace("'", "’"), "No") for q, _ in tab_items.YES_NO]
    for target in tab_items.REPETITION:
        turns.append(Turn("repetition", f"Please repeat exactly: {target}", "x"))
        turns.append(Turn("repetition", "Say it.", target))
        turns.append(Turn("repetition", "Say it.", target.rstrip(".").upper()))
        if " " in target:
            turns.append(Turn("connected", "Tell me.", f"I slept. {target} I woke up."))
    turns.append(Turn("connected", "Tell me.", f"I saw a {HELD_OUT_WORDS[0]}."))
    return turns


@pytest.mark.parametrize("turn", _planted(), ids=lambda t: f"{t.task}: {t.user} {t.assistant}"[:60])
def test_a_planted_item_stops_the_training(turn: Turn) -> None:
    with pytest.raises(LeakedItemError):
        assert_no_battery_item(turn)
    with pytest.raises(LeakedItemError):
        assert_clean([Conversation(None, (Turn("small_talk", "Hi!", "Hello!"), turn))])


def test_items_as_printed_are_those_of_the_battery_file() -> None:
    printed = {normalise(p) for p in tab_items.TAB_PROMPTS}
    assert {normalise(i.user.partition("\n")[2]).split(" (")[0] for i in battery_items()} == printed


def test_choice_has_its_key_once_and_at_every_place_equally_often() -> None:
    rng = random.Random(1)
    items = [choice.generate(rng) for _ in range(2500)]
    for item in items:
        assert item.options.count(item.assistant) == 1
        assert len(set(item.options)) == len(item.options)
        assert all(option in item.user for option in item.options)
    six = [i for i in items if len(i.options) == 6]
    places = Counter(i.options.index(i.assistant) for i in six)
    assert all(abs(places[p] / len(six) - 1 / 6) < 0.04 for p in range(6))


def test_yes_and_no_are_about_equally_frequent() -> None:
    rng = random.Random(2)
    answers = Counter(yes_no.generate(rng).assistant for _ in range(3000))
    assert set(answers) == {"Yes", "No"}
    assert 0.45 < answers["Yes"] / 3000 < 0.55


def test_repetition_target_stands_at_the_end_of_the_request() -> None:
    rng = random.Random(3)
    for _ in range(500):
        turn = repetition.generate(rng)
        assert turn.user.endswith(turn.assistant)


def test_every_text_has_three_to_five_sentences_and_no_open_slot() -> None:
    rng = random.Random(4)
    for _ in range(800):
        topic, turn = stories.draw(rng)
        assert 3 <= len(stories.sentences(turn.assistant)) <= 5, turn.assistant
        assert "{" not in turn.user + turn.assistant
        assert topic in stories.topics_of(turn.assistant)


def test_held_out_items_are_disjoint_from_the_training_text() -> None:
    held = {normalise(i.user.partition("\n")[2] or i.user) for i in held_out_items(60)}
    held |= {normalise(i.user.rpartition("\n")[2]) for _, i in held_out_prompts(60)}
    for conversation in itertools.islice(stream(8, MIXED), 800):
        for turn in conversation.turns:
            assert normalise(turn.user.partition("\n")[2] or turn.user) not in held


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
