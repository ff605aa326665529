"""Reasoning is told from the response by where its tags stand; both are kept whole."""

from __future__ import annotations

import itertools
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tabwb.records.errors import UsageError
from tabwb.records.exchange import THOUGHT_AWAY, Reply
from tabwb.records.reasoning import (
    AUTO,
    KEEP,
    ReasoningStream,
    Split,
    check_option,
    closing_of,
    holds_reasoning,
    opened_by,
    separated,
    split_reasoning,
)
from tabwb.records.states import StopReason
from tests.builders import every

HARMONY = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant"
SPANS = {
    "think": ("<think>\nA mane.\n</think>\n\nlion", "A mane."),
    "thinking": ("<thinking>A mane.</thinking>lion", "A mane."),
    "upper case": ("<THINK>A mane.</THINK>\nlion", "A mane."),
    "thought": ("<thought>A mane.</thought> lion", "A mane."),
    "reasoning": ("<reasoning>A mane.</reasoning>\nlion", "A mane."),
    "attribute": ('<thinking effort="low">A mane.</thinking>\nlion', "A mane."),
    "seed": ("<seed:think>A mane.</seed:think>lion", "A mane."),
    "longcat": ("<longcat_think>A mane.</longcat_think>\nlion", "A mane."),
    "mistral": ("[THINK]A mane.[/THINK]lion", "A mane."),
    "kimi": ("◁think▷A mane.◁/think▷lion", "A mane."),
    "apertus": ("<|inner_prefix|>A mane.<|inner_suffix|>lion", "A mane."),
    "gemma": ("<|channel>thought\nA mane.<channel|>lion", "A mane."),
    "cohere": (
        "<|START_THINKING|>A mane.<|END_THINKING|><|START_RESPONSE|>lion<|END_RESPONSE|>",
        "A mane.",
    ),
    "open thoughts": (
        "<|begin_of_thought|>A mane.<|end_of_thought|>\n\n<|begin_of_solution|>lion"
        "<|end_of_solution|>",
        "A mane.",
    ),
    "granite": ("Here is my thought process: A mane.\nHere is my response: lion", "A mane."),
    "hunyuan": ("<think>\nA mane.\n</think>\n<answer>\nlion\n</answer>", "A mane."),
    "gpt-oss": (HARMONY.format("A mane.") + "<|channel|>final<|message|>lion", "A mane."),
    "gpt-oss to the end": (
        HARMONY.format("A mane.") + "<|channel|>final<|message|>lion<|return|>",
        "A mane.",
    ),
    "gpt-oss commentary": (
        HARMONY.format("A mane.")
        + "<|channel|>commentary to=functions.x <|constrain|>json<|message|>{}<|call|>"
        + "<|start|>assistant<|channel|>final<|message|>lion",
        "A mane.\n\n{}",
    ),
    "gpt-oss without special tokens": ("analysisA mane.assistantfinallion", "A mane."),
    "only the end": ("A mane.\n</think>\n\nlion", "A mane."),
    "only the end, no line": ("A mane.</think>lion", "A mane."),
    "only the end, a space": ("A mane.</think> lion", "A mane."),
    "empty": ("<think>\n\n</think>\n\nlion", ""),
    "empty, only the end": ("\n</think>\n\nlion", ""),
    "two": ("<think>A mane.</think><think>Four feet.</think>lion", "A mane.\n\nFour feet."),
    "nested": ("<think>A <think>mane</think>.</think>lion", "A <think>mane</think>."),
    "its own tag in words": ("<think>I write <think> first.</think>lion", "I write <think> first."),
    "its own end in words": (
        "<think>Then </think> comes. Done.</think>lion",
        "Then </think> comes. Done.",
    ),
    "only the end, danda": ("उसकी अयाल है। </think> lion", "उसकी अयाल है।"),
    "only the end, Arabic": ("هل له لبدة؟ </think> lion", "هل له لبدة؟"),
    "one line": ("<think> A mane. </think> lion", "A mane."),
    "the end of another tag": ("<thinking>A mane.</think>\nlion", "A mane."),
    "the end of another tag, upper case": ("<think>A mane.</THINKING>lion", "A mane."),
    "another span inside": (
        "<thinking>A <think>mane</think>.</thinking>lion",
        "A <think>mane</think>.",
    ),
    "other tags inside": ("<think>It says [THINK] here.</think>lion", "It says [THINK] here."),
}
WORDS = (
    "lion",
    "",
    " lion\n",
    "a < b, b > c, [c] and <d>",
    "The tag <think> begins it.",
    "The tag </think> ends it.",
    "The closing tag is </think>",
    "I put <think> and </think> around it.",
    "<think> and </think> are tags.",
    "Use `<think>` and `</think>`.",
    "我用<think>和</think>。",
    "मैं <think> और </think> लिखता हूँ।",
    'First "<think>", last "</think>".',
    "Models write <think>...</think> before they answer.",
    "I wrote <think>hello</think> in my prompt.",
    "He wrote (<think>) there.",
    "It ends at a </think>-tag.",
    "```xml\n<think>\nA mane.\n</think>\n```\nis an example.",
    "~~~xml\n<think>\nA mane.\n</think>\n~~~\nis an example.",
    "Mistral has [THINK] and [/THINK].",
    "I was lost [THINK about it].",
    "gpt-oss writes <|channel|>analysis<|message|> first.",
    "<answer>lion</answer>",
    "I am thinking of a lion.",
    "analysis of the text",
    "Here is my response: lion",
    "Sure.\nHere's my response: lion",
)


@pytest.mark.parametrize(("text", "reasoning"), SPANS.values(), ids=SPANS)
def test_a_span_of_thinking_is_no_part_of_the_response(text: str, reasoning: str) -> None:
    assert split_reasoning(text) == Split(reasoning, "lion")
    assert holds_reasoning(text)


@pytest.mark.parametrize("text", WORDS)
def test_an_answer_that_only_names_a_tag_is_an_answer(text: str) -> None:
    assert split_reasoning(text) == Split("", text)
    assert not holds_reasoning(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>A mane", Split("A mane", "", unclosed=True)),
        ("<think>", Split("", "", unclosed=True)),
        ("[THINK]A mane", Split("A mane", "", unclosed=True)),
        ("<|channel|>analysis<|message|>A mane", Split("A mane", "", unclosed=True)),
        ("<|channel|>analysis", Split("", "", unclosed=True)),
        ("<|channel|>analysis<|message|>A<|end|><|start|>assist", Split("A", "", unclosed=True)),
        (HARMONY.format("A") + "<|chan", Split("A", "", unclosed=True)),
        ("lion\n<think>\nA mane", Split("A mane", "lion", unclosed=True)),
        ("<thinking>a<think>b</think>c", Split("a<think>b</think>c", "", unclosed=True)),
        ("<think>An </thinking> is", Split("An </thinking> is", "", unclosed=True)),
        ("<think>A</think>lion<think>mane", Split("A", "lion<think>mane")),
        ("<think>A</think>lion\n<think>\nmane", Split("A\n\nmane", "lion", unclosed=True)),
    ],
)
def test_a_span_without_an_end_is_unclosed(text: str, expected: Split) -> None:
    assert split_reasoning(text) == expected


def test_a_fence_beside_a_tag_does_not_quote_it() -> None:
    text = "<think>```py\nx\n```</think>```json\n{}\n```"
    assert split_reasoning(text) == Split("```py\nx\n```", "```json\n{}\n```")


def test_several_spans_leave_everything_that_stands_between_them() -> None:
    text = "<think>a</think>one <think>b</think>two"
    assert split_reasoning(text) == Split("a\n\nb", "one two")
    after = "<think>a</think>The tag </think> ends it."
    assert split_reasoning(after) == Split("a", "The tag </think> ends it.")


@pytest.mark.parametrize(
    ("prompt", "opened", "closing"),
    [
        ("<|user|>Hi<|assistant|>\n<think>\n", "<think>", "</think>"),
        ("Hi[THINK]", "[THINK]", "[/THINK]"),
        ("Hi<|channel>thought\n", "<|channel>thought", "<channel|>"),
        ("Hi<|START_THINKING|>", "<|START_THINKING|>", "<|END_THINKING|>"),
        ("<|assistant|>\n<think>\n\n</think>\n\n", "", None),
        ("Why is <think> a tag?\n<|assistant|>\n", "", None),
    ],
)
def test_a_prompt_can_begin_the_thinking(prompt: str, opened: str, closing: str | None) -> None:
    assert opened_by(prompt) == opened
    if closing is not None:
        assert closing_of(opened) == closing
        # Then even an end among words is one, and a text without an end is all thinking.
        text = f"It ends {closing} lion"
        assert split_reasoning(text, opened=opened) == Split("It ends", "lion")
        assert split_reasoning("It", opened=opened) == Split("It", "", unclosed=True)
        again = f"{opened}\nA mane.{closing}lion"
        assert split_reasoning(again, opened=opened) == Split("A mane.", "lion")


def test_tags_of_ones_own_and_no_tags() -> None:
    text = "<plan>x</plan>lion <think>y</think>"
    assert split_reasoning(text, "<plan>") == Split("x", "lion <think>y</think>")
    assert split_reasoning("[[x]]lion", "[[...]]") == Split("x", "lion")
    assert split_reasoning("##x##!lion", "##...##!") == Split("x", "lion")
    assert split_reasoning("<p>x</p><q>y</q>lion", "<p> <q>") == Split("x\n\ny", "lion")
    kept = "<think>x</think>lion"
    assert split_reasoning(kept, KEEP) == Split("", kept)
    assert split_reasoning("x", KEEP, opened="<think>") == Split("", "x")
    assert closing_of("[[", "[[...]]") == "]]"


@pytest.mark.parametrize("value", ["", " ", "plan", "<think", "...", "a...", "</think>"])
def test_a_value_that_names_no_tags_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="reasoning"):
        check_option(value)


def streamed(pieces: list[str]) -> tuple[str, str]:
    """Return what a stream has shown of the response before its end, and after it."""
    stream, shown = ReasoningStream(), ""
    for piece in pieces:
        sure = stream.feed(piece)
        shown = sure if stream.taken_back() else shown + sure
    before = shown
    rest = stream.rest_of(stream.finish().response)
    return before, rest if stream.taken_back() else shown + rest


@every([*(text for text, _ in SPANS.values()), *WORDS])
def test_pieces_show_no_thinking_and_end_as_the_whole_text_does(text: str) -> None:
    only_end = not text.lstrip().startswith(("<", "[", "◁", "Here", "analysis"))
    for size in (1, 2, 3, 7, 1000):
        shown, whole = streamed([text[at : at + size] for at in range(0, len(text), size)])
        assert whole == split_reasoning(text).response
        assert only_end or "mane" not in shown or "mane" in whole


@pytest.mark.parametrize(
    "text", ["It has a mane.</think>\nlion", "It has a mane. </think> lion", "獅子。</think>lion"]
)
def test_what_was_shown_before_an_end_alone_is_taken_back_wherever_it_is_cut(text: str) -> None:
    for at in range(len(text)):
        assert streamed([text[:at], text[at:]])[1] == "lion"


PARTS = st.sampled_from(
    ["<think>", "</think>", "[THINK]", "[/THINK]", "`", "```", "\n", " ", ".", "a", "lion ", '"',
     " and ", "\ufeff", "<answer>", "</answer>", "<|channel|>", "analysis", "final",
     "<|message|>", "<|end|>", "assistant", "<thi", "nk>", "Here is my response:"]
)  # fmt: skip


@given(st.lists(PARTS, max_size=12))
@example(["<thi", "<think>", "a", "</think>", "nk>", "b", "</think>", "c"])
def test_a_response_has_no_thinking_left_in_it(parts: list[str]) -> None:
    once = split_reasoning("".join(parts))
    if once.response != "".join(parts):
        assert split_reasoning(once.response) == Split("", once.response)


@given(st.lists(PARTS, max_size=12), st.lists(st.integers(1, 9), min_size=1))
def test_a_text_in_any_pieces_ends_as_the_whole_text_does(
    parts: list[str], sizes: list[int]
) -> None:
    text, at, cut = "".join(parts), 0, list[str]()
    for size in itertools.cycle(sizes):
        cut.append(text[at : at + size])
        at += size
        if at >= len(text):
            break
    assert streamed(cut)[1] == split_reasoning(text).response


@given(st.text(alphabet="<think>/ a\n`.[]|THINK", max_size=60))
def test_any_text_is_split_without_loss(text: str) -> None:
    split = split_reasoning(text)
    assert len(split.response) + len(split.reasoning) <= len(text) + 2
    assert set(split.response) <= set(text)
    assert split.reasoning or split.response == text or "hink" in text.lower()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>A</think></think>x", Split("A", "x")),
        ("<think>A</think>\n</think>\nx", Split("A", "x")),
        ("<think>A</think>lion</think>", Split("A", "lion")),
        ("<think>A</think>B</think>C", Split("A</think>B", "C")),
    ],
)
def test_an_end_too_many_is_no_part_of_the_response(text: str, expected: Split) -> None:
    assert split_reasoning(text) == expected


@pytest.mark.parametrize("blank", ["\ufeff", "\u200b", " \u2060\n"])
def test_characters_without_width_before_a_tag_are_white_space(blank: str) -> None:
    assert split_reasoning(f"{blank}<think>A</think>{blank}x") == Split("A", "x")
    assert split_reasoning(f"{blank}<think>A") == Split("A", "", unclosed=True)
    channel = f"{blank}<|channel|>analysis<|message|>A<|end|>"
    assert (
        split_reasoning(f"{channel}<|start|>assistant<|channel|>final<|message|>x").response == "x"
    )


@pytest.mark.parametrize("text", ["<thin", "[TH", "◁thi", "<|chan", "<think>A</think>\n<thi"])
def test_a_reply_cut_inside_an_opening_tag_began_to_think(text: str) -> None:
    cut = separated(Reply(text, StopReason.LENGTH, 0.1))
    assert (cut.text, cut.metadata["cause"]) == ("", THOUGHT_AWAY)
    whole = separated(Reply(text, StopReason.END, 0.1))
    assert text.endswith(whole.text) and whole.text and "cause" not in whole.metadata


@pytest.mark.parametrize("text", ["<", "a <", "lion [T", "The tag <thi", "<b"])
def test_a_cut_reply_that_did_not_begin_to_think_is_text(text: str) -> None:
    reply = Reply(text, StopReason.LENGTH, 0.1)
    assert separated(reply) == reply


@pytest.mark.parametrize("tag", ["<think>", "</think>", "<think> x </think> ", "<|channel|>"])
def test_a_model_that_repeats_a_tag_is_read(tag: str) -> None:
    assert streamed([tag] * 1_500)[1] == split_reasoning(tag * 1_500).response


def test_a_reply_that_thinking_used_up_says_so() -> None:
    cut = Reply("<think>A mane", StopReason.LENGTH, 0.1)
    assert separated(cut).metadata["cause"] == THOUGHT_AWAY
    assert (separated(cut).text, separated(cut).reasoning) == ("", "A mane")
    spent = Reply("<think>A mane.</think>", StopReason.LENGTH, 0.1)
    assert separated(spent).metadata["cause"] == THOUGHT_AWAY
    done = Reply("<think>A mane.</think>lion", StopReason.LENGTH, 0.1)
    assert "cause" not in separated(done).metadata
    apart = Reply("The tag <think>x</think>", StopReason.END, 0.1, reasoning="A mane.")
    assert separated(apart) == apart
    assert separated(cut, KEEP) == cut
    ended = separated(Reply("a [END] b [END] c", StopReason.END, 0.1), AUTO, closing="[END]")
    assert (ended.reasoning, ended.text) == ("a [END] b", "c")


def test_a_million_pieces_of_one_character_take_linear_time() -> None:
    for option in (AUTO, KEEP):
        stream, began = ReasoningStream(option), process_time()
        shown = sum(len(stream.feed("a ,b"[at % 4])) for at in range(1_000_000))
        assert process_time() - began < 20  # in quadratic time a minute and more
        assert (shown, len(stream.finish().response), stream.said) == (1_000_000,) * 2 + (True,)
