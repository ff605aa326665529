"""Local models that think: a small model with random weights whose tokens follow a script."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tabwb.records.errors import ComponentError
from tabwb.records.exchange import THOUGHT_AWAY, Reply, Request
from tabwb.records.reasoning import TAKEN_BACK
from tabwb.records.states import Protocol, StopReason
from tests.plugins.conftest import CHAT, answer, asked, model, save_model

pytest.importorskip("transformers", reason="needs tabwb[local]")

THINKS = CHAT.replace(
    "<assistant>",
    "<assistant>{% if enable_thinking is defined and not enable_thinking %}"
    "<think>\n\n</think>\n\n{% elif begins %}<think>\n{% endif %}",
)
"""Thinks by itself; ``begins`` begins the thinking in the prompt, as DeepSeek R1's does."""
Script = Callable[[str], None]


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("thinker"), chat=THINKS)


@pytest.fixture
def script(thinker: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """Make every reply of a model this text, a token for each of its bytes."""
    import transformers
    from tabwb_transformers import generation

    tokenizer = transformers.AutoTokenizer.from_pretrained(thinker)
    tokens: list[int] = []

    def drawn(writings: list[object], logits: object) -> list[int]:
        return [0 if w.tokens >= len(tokens) else tokens[w.tokens] for w in writings]  # type: ignore[attr-defined]

    monkeypatch.setattr(generation, "_drawn", drawn)

    def say(text: str) -> None:
        tokens[:] = tokenizer(text)["input_ids"]

    return say


def many(folder: Path, request: Request, **options: object) -> Reply:
    """Return the reply of a batch of two."""
    backend = model(folder, **options)
    backend.open()
    replies = dict(backend.reply_many([request, request], threading.Event()))
    first, second = replies[0], replies[1]
    assert isinstance(first, Reply) and isinstance(second, Reply)
    assert (first.text, first.reasoning) == (second.text, second.reasoning)
    return first


@pytest.mark.parametrize("begins", [False, True], ids=["model", "template"])
@pytest.mark.parametrize("batch", [False, True], ids=["alone", "batch"])
def test_thinking_is_no_part_of_the_reply(
    thinker: Path, script: Script, *, begins: bool, batch: bool
) -> None:
    opening = "" if begins else "<think>\n"
    script(f"{opening}A mane </think> lion")
    request = asked("Who?", max_tokens=60)
    options = {"chat": {"begins": "true"}} if begins else {}
    found = (
        many(thinker, request, **options) if batch else answer(model(thinker, **options), request)
    )
    assert (found.text, found.reasoning) == ("lion", "A mane")
    assert found.stop_reason is StopReason.END
    assert found.metadata["rendered_prompt"].endswith("<think>\n") == begins
    thought = len(f"{opening}A mane </think>")
    assert found.metadata["thought_tokens"] == str(thought)
    assert found.reply_tokens == thought + len(" lion")


def test_thinking_and_response_have_limits_of_their_own(thinker: Path, script: Script) -> None:
    script("<think>A mane.</think>a lion")
    request = asked("Who?", max_tokens=4)
    shared = answer(model(thinker), request)
    assert (shared.text, shared.reasoning, shared.reply_tokens) == ("", "", 4)
    assert shared.metadata["cause"] == THOUGHT_AWAY
    cut = answer(model(thinker, reasoning_tokens=10), request)
    # The limit of thinking holds from the moment it is known as thinking.
    assert (cut.text, cut.reply_tokens) == ("", 4)
    begun = {"chat": {"begins": "true"}, "reasoning_tokens": 7}
    script("A mane.</think>a lion")
    spent = answer(model(thinker, **begun), request)
    assert (spent.text, spent.reasoning, spent.reply_tokens) == ("", "A mane.", 7)
    assert (spent.stop_reason, spent.metadata["cause"]) == (StopReason.LENGTH, THOUGHT_AWAY)
    enough = answer(model(thinker, **{**begun, "reasoning_tokens": 15}), request)
    assert (enough.text, enough.reasoning) == ("a li", "A mane.")
    assert (enough.reply_tokens, enough.metadata["thought_tokens"]) == (19, "15")
    assert enough.metadata["reasoning_limit"] == "15"
    assert "cause" not in enough.metadata


def test_a_span_that_ends_with_the_limit_leaves_no_response(thinker: Path, script: Script) -> None:
    script("<think>A mane and more")
    found = answer(model(thinker), asked("Who?", max_tokens=12))
    assert (found.text, found.reasoning) == ("", "A man")
    assert found.metadata["cause"] == THOUGHT_AWAY


def test_a_stream_takes_back_thinking_that_only_its_end_marks(
    thinker: Path, script: Script
) -> None:
    script("A mane.</think>a lion")
    backend = model(thinker)
    backend.open()
    *shown, last = backend.reply(asked("Who?", max_tokens=60), threading.Event())
    assert isinstance(last, Reply)
    after = "".join(str(x) for x in shown[shown.index(TAKEN_BACK) + 1 :])
    assert (after, last.text, last.reasoning) == ("a lion", "a lion", "A mane.")


def test_stop_strings_are_those_of_the_response(thinker: Path, script: Script) -> None:
    script("<think>one.two</think>a lion. And more")
    found = answer(model(thinker), asked("Who?", max_tokens=60, stop=(".",)))
    assert (found.text, found.reasoning) == ("a lion", "one.two")
    assert found.stop_reason is StopReason.STOP_STRING


@pytest.mark.parametrize(
    ("option", "text", "reasoning"),
    [
        ("keep", "<think>x</think>lion <plan>y</plan>", ""),
        ("<plan>", "<think>x</think>lion <plan>y</plan>", ""),
        ("<think>", "lion <plan>y</plan>", "x"),
    ],
)
def test_the_option_says_what_reasoning_is(
    thinker: Path, script: Script, option: str, text: str, reasoning: str
) -> None:
    script("<think>x</think>lion <plan>y</plan>")
    found = answer(model(thinker, reasoning=option), asked("Who?", max_tokens=60))
    assert (found.text, found.reasoning) == (text, reasoning)


def test_keywords_reach_the_chat_template(thinker: Path, script: Script) -> None:
    script("lion")
    found = answer(model(thinker, chat={"enable_thinking": "false"}), asked("Who?"))
    assert found.metadata["rendered_prompt"].endswith("<think>\n\n</think>\n\n")
    assert (found.text, found.reasoning) == ("lion", "")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"chat": {"enable_thinkin": "1"}}, "enable_thinkin"),
        ({"chat": {"enable_thinking": "1"}, "template": "plain"}, "plain"),
    ],
)
def test_a_keyword_that_no_template_reads_is_refused(
    thinker: Path, options: dict[str, object], named: str
) -> None:
    with pytest.raises(ComponentError, match=named):
        model(thinker, **options).open()


def test_given_answers_stand_after_the_thinking(thinker: Path) -> None:
    for protocol in (Protocol.ENFORCED, Protocol.LIKELIHOOD):
        request = Request(asked("Who?").messages, protocol=protocol, options=("lion", "drum"))
        found = answer(model(thinker, chat={"begins": "true"}), request)
        assert found.text in request.options
        assert found.metadata["rendered_prompt"].endswith("<think>\n\n</think>\n\n")


def test_a_hub_that_does_not_answer_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers
    from tabwb_transformers import loading

    tried: list[bool] = []

    def missing(*names: object, local_files_only: bool, **more: object) -> None:
        tried.append(local_files_only)
        raise OSError("not there")

    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", missing)
    # An earlier test of this process may have gone offline for good.
    monkeypatch.setattr(loading, "is_offline", lambda: False)
    with pytest.raises(ComponentError, match="hub cannot be reached"):
        model("nobody/nothing").open()
    assert tried == [True]
