"""Answers held to the options, and the likelihood of given answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tabwb_transformers.backend import TransformersModel
from tabwb_transformers.prompts import SHIPPED, Prompts, load_template

from tabwb.host.plugins import Plugins
from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Likelihood, Message, Reply, Request
from tabwb.records.states import Protocol, ResponseKind, StopReason
from tests.plugins.conftest import CHAT, answer, asked, model, save_model, save_tokenizer

torch = pytest.importorskip("torch", reason="needs tabwb[local]")
transformers = pytest.importorskip("transformers", reason="needs tabwb[local]")

ANIMALS = ("lion", "drum", "boat", "boathouse")


@pytest.fixture
def opened(base: Path) -> Iterator[TransformersModel]:
    backend = model(base)
    backend.open()
    yield backend
    backend.close()


@pytest.fixture
def chat(chatty: Path) -> Iterator[TransformersModel]:
    backend = model(chatty)
    backend.open()
    yield backend
    backend.close()


def choice(protocol: Protocol, text: str = "Which?", options: tuple[str, ...] = ANIMALS) -> Request:
    return Request((Message("user", text),), Decoding(24), protocol, options)


@cache
def loaded(folder: Path, *, double: bool) -> tuple[Any, Any]:
    """The tokenizer and weights of a folder, read by the library itself."""
    weights = transformers.AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return tokenizer, weights.double() if double else weights


def reference(folder: Path, prompt: str, text: str) -> tuple[float, int]:
    """A second derivation: one reading of everything, in double precision, no memory."""
    tokenizer, weights = loaded(folder, double=True)
    ids = tokenizer(prompt + text, return_tensors="pt")["input_ids"]
    start = len(tokenizer(prompt)["input_ids"]) if prompt else 1
    with torch.inference_mode():
        scores = weights(ids, use_cache=False).logits.log_softmax(-1)
    total = sum(float(scores[0, at - 1, ids[0, at]]) for at in range(start, ids.shape[1]))
    return total, ids.shape[1] - start


def test_an_enforced_answer_is_the_most_probable_of_the_options_at_each_token(
    opened: TransformersModel, base: Path
) -> None:
    for text in ("Which?", "Name one.", "Is it?", "z", "yy", "a", "bb", "ccc"):
        reply = answer(opened, choice(Protocol.ENFORCED, text))
        assert reply.text == greedy_path(base, f"Question: {text}\nAnswer:", ANIMALS)
        assert reply.text in ANIMALS
        assert reply.stop_reason is StopReason.END
        assert 0.0 < float(reply.metadata["allowed_probability"]) <= 1.0
        assert float(reply.metadata["enforced_log_probability"]) <= 0.0
        told = (reply.metadata["protocol"], reply.metadata["sampled"])
        assert told == ("enforced", "no")


def greedy_path(folder: Path, prompt: str, options: tuple[str, ...]) -> str:
    """A second derivation: among all allowed spellings, letter by letter, without a tree."""
    tokenizer, weights = loaded(folder, double=False)
    spelt = {tuple(tokenizer(way)["input_ids"]): o for o in options for way in (o, f" {o}")}
    ends = {0, *tokenizer("\n")["input_ids"]}
    said: tuple[int, ...] = ()
    ids = tokenizer(prompt)["input_ids"]
    while True:
        left = [way for way in spelt if way[: len(said)] == said]
        if left == [said]:
            return spelt[said]
        with torch.inference_mode():
            logits = weights(torch.tensor([[*ids, *said]])).logits[0, -1]
        allowed = {way[len(said)] for way in left if way != said}
        allowed |= ends if said in left else set()
        best = max(allowed, key=lambda token: float(logits[token]))
        if best in ends and said in left:
            return spelt[said]
        said = (*said, best)


def bend(backend: TransformersModel, *texts: str) -> None:
    """Make the model's head prefer, after each letter, the next one of a text."""
    assert backend._opened is not None
    tokenizer, weights = backend._opened.loaded.tokenizer, backend._opened.loaded.model
    follows: dict[int, int] = {}
    for text in texts:
        ids = tokenizer(text)["input_ids"]
        follows |= dict(pairwise(ids))

    def forward(input_ids: Any, past_key_values: Any = None, **_: Any) -> Any:
        logits = torch.zeros(*input_ids.shape, len(tokenizer))
        for row, ids in enumerate(input_ids.tolist()):
            for at, token in enumerate(ids):
                if token in follows:
                    logits[row, at, follows[token]] = 9.0
        return transformers.modeling_outputs.CausalLMOutputWithPast(logits=logits)

    weights.forward = forward


@pytest.mark.parametrize(
    ("template", "cases"),
    [
        ("plain", {":boat\n": "boat", ": boat\n": "boat", ":boath": "boathouse",
                   ": boath": "boathouse"}),
        ("chat", {">boat<eos>": "boat", "> boath": "boathouse", ">boath": "boathouse"}),
    ],
)  # fmt: skip
def test_an_option_within_another_is_ended_by_an_end_token_or_a_stop(
    chatty: Path, template: str, cases: dict[str, str]
) -> None:
    backend = model(chatty, template=template)
    backend.open()
    for written, expected in cases.items():
        bend(backend, written)
        request = choice(Protocol.ENFORCED, options=("boat", "boathouse"))
        assert answer(backend, request).text == expected


def test_a_crowd_mixes_protocols(opened: TransformersModel) -> None:
    requests = [
        choice(protocol, text)
        for text in ("Which?", "Name one.", "z")
        for protocol in (Protocol.GENERATE, Protocol.ENFORCED)
    ]
    found = dict(opened.reply_many(requests, threading.Event()))
    for index, request in enumerate(requests):
        reply = found[index]
        assert isinstance(reply, Reply)
        assert reply.text == answer(opened, request).text
        assert reply.metadata["protocol"] == request.protocol.value


@pytest.mark.parametrize("protocol", [Protocol.ENFORCED, Protocol.LIKELIHOOD])
def test_an_item_without_options_is_generated_and_says_so(
    opened: TransformersModel, protocol: Protocol
) -> None:
    reply = answer(opened, choice(protocol, options=()))
    assert reply.metadata["protocol"] == "generate"
    assert reply.text == answer(opened, choice(Protocol.GENERATE)).text


def test_log_probabilities_are_those_of_one_whole_reading(
    opened: TransformersModel, base: Path
) -> None:
    texts = ["lion", " boathouse", "x", "é and ☃"]
    weighed = opened.likelihood(asked("Which?"), texts, threading.Event())
    for text, one in zip(texts, weighed, strict=True):
        total, tokens = reference(base, "Question: Which?\nAnswer:", text)
        assert one.tokens == tokens
        assert one.log_probability == pytest.approx(total, abs=1e-3)


def test_an_empty_continuation_is_certain_and_cancel_returns_what_was_weighed(
    opened: TransformersModel,
) -> None:
    assert opened.likelihood(asked(), ["", "a"], threading.Event())[0] == Likelihood(0.0, 0)
    cancel = threading.Event()
    cancel.set()
    assert opened.likelihood(asked(), ["a", "b"], cancel) == []
    assert answer(opened, choice(Protocol.LIKELIHOOD), cancel).stop_reason is StopReason.CANCELLED


def test_a_second_call_reads_only_what_is_new(opened: TransformersModel, base: Path) -> None:
    for text in ("What grows here so well?", "What grows here so well? And", "What grows"):
        prompt = f"Question: {text}\nAnswer:"
        (one,) = opened.likelihood(asked(text), [" trees"], threading.Event())
        assert one.log_probability == pytest.approx(reference(base, prompt, " trees")[0], abs=1e-3)


def test_a_form_that_is_filled_in_is_read_once(
    opened: TransformersModel, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert opened._opened is not None
    assert opened._opened.engine.crowd
    forward, counts = opened._opened.loaded.model.forward, []

    def counted(*inputs: Any, **more: Any) -> Any:
        counts.append(more["input_ids"].numel())
        return forward(*inputs, **more)

    monkeypatch.setattr(opened._opened.loaded.model, "forward", counted)
    prompt, written = "Question: Fill in.\nAnswer:", '{"first": '
    for key in ("second", "third", "fourth"):
        counts.clear()
        texts = [f"{written}{label}" for label in (0, 1)]
        weighed = opened.likelihood(asked("Fill in."), texts, threading.Event())
        for text, one in zip(texts, weighed, strict=True):
            total, tokens = reference(base, prompt, text)
            assert one.tokens == tokens
            assert one.log_probability == pytest.approx(total, abs=1e-3)
        if key != "second":
            assert sum(counts) < 25
        written += f'1, "{key}": '


def test_a_text_without_prompt_counts_from_its_second_token(
    opened: TransformersModel, base: Path
) -> None:
    text = "A long text that nobody asked for."
    (one,) = opened.likelihood(Request(()), [text], threading.Event())
    total, tokens = reference(base, "", text)
    assert (one.tokens, tokens) == (len(text) - 1, len(text) - 1)
    assert one.log_probability == pytest.approx(total, abs=1e-3)


def test_a_text_without_prompt_begins_with_the_token_for_that(tmp_path: Path) -> None:
    folder = save_model(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.bos_token = "<eos>"
    tokenizer.save_pretrained(folder)
    backend = model(folder)
    (one,) = backend.likelihood(Request(()), ["abc"], threading.Event())
    assert one.tokens == 3
    assert one.log_probability == pytest.approx(reference(folder, "<eos>", "abc")[0], abs=1e-3)


def test_a_long_text_is_read_in_pieces(tmp_path: Path) -> None:
    folder = save_model(tmp_path, max_position_embeddings=2048)
    text = "One thing after the other. " * 40
    prompt = "Question: Tell.\nAnswer:"
    backend = model(folder)
    one, short = backend.likelihood(asked("Tell."), [text, "short"], threading.Event())
    assert one.tokens == len(text) == 1080
    assert one.log_probability == pytest.approx(reference(folder, prompt, text)[0], rel=1e-4)
    assert short.log_probability == pytest.approx(reference(folder, prompt, "short")[0], abs=1e-3)


def test_beyond_the_models_limit_the_window_moves_by_half(
    opened: TransformersModel, base: Path
) -> None:
    text = "".join(chr(97 + n * 7 % 26) for n in range(600))
    (one,) = opened.likelihood(Request(()), [text], threading.Event())
    # Window 1 reads 256 tokens and so weighs 2 to 257; the next ones keep 128 of what was weighed
    # and weigh 129 more.
    total = reference(base, text[:1], text[1:256])[0]
    total += reference(base, text[:256], text[256])[0]
    at = 257
    while at < len(text):
        total += reference(base, text[at - 128 : at], text[at : at + 129])[0]
        at += 129
    assert one.tokens == 599
    assert one.log_probability == pytest.approx(total, rel=1e-4)


def test_the_most_likely_option_is_the_answer(opened: TransformersModel, base: Path) -> None:
    reply = answer(opened, choice(Protocol.LIKELIHOOD))
    prompt = "Question: Which?\nAnswer:"
    sums = {option: reference(base, prompt, f" {option}") for option in ANIMALS}
    assert reply.text == max(sums, key=lambda option: sums[option][0])
    assert json.loads(reply.metadata["options_weighed"]) == list(ANIMALS)
    told = json.loads(reply.metadata["option_log_probabilities"])
    assert told == pytest.approx([total for total, _ in sums.values()], abs=1e-3)
    assert json.loads(reply.metadata["option_tokens"]) == [n for _, n in sums.values()]
    by_token = max(sums, key=lambda option: sums[option][0] / sums[option][1])
    assert reply.metadata["choice_per_token"] == by_token
    by_character = max(sums, key=lambda option: sums[option][0] / len(option))
    assert reply.metadata["choice_per_character"] == by_character


def test_a_choice_of_options_closer_than_rounding_is_marked(opened: TransformersModel) -> None:
    clear = answer(opened, choice(Protocol.LIKELIHOOD, options=("boat", "a drum and a lion")))
    assert clear.metadata["batch_exact"] == "yes"
    assert opened._opened is not None
    with torch.no_grad():  # every token is as likely as any other
        opened._opened.loaded.model.lm_head.weight.zero_()
    tied = answer(opened, choice(Protocol.LIKELIHOOD, options=("lion", "drum")))
    assert tied.metadata["batch_exact"] == "no"


def test_after_a_chat_template_options_stand_without_a_space(
    chat: TransformersModel, chatty: Path
) -> None:
    reply = answer(chat, choice(Protocol.LIKELIHOOD))
    told = json.loads(reply.metadata["option_log_probabilities"])
    expected = reference(chatty, "<user>Which?<assistant>", "lion")
    assert told[0] == pytest.approx(expected[0], abs=1e-3)
    assert json.loads(reply.metadata["option_tokens"])[0] == expected[1]


def test_a_model_without_a_shared_memory_weighs_one_by_one(tmp_path: Path) -> None:
    folder = save_model(tmp_path, kind="Mamba", state_size=4)
    backend = model(folder)
    prompt = "Question: Which?\nAnswer:"
    for text, one in zip(
        ANIMALS, backend.likelihood(asked("Which?"), ANIMALS, threading.Event()), strict=True
    ):
        assert one.log_probability == pytest.approx(reference(folder, prompt, text)[0], abs=1e-3)


def test_where_memory_runs_out_fewer_texts_are_weighed_together(
    opened: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f" {n}" for n in range(9)]
    expected = opened.likelihood(asked(), texts, threading.Event())
    assert opened._opened is not None
    forward = opened._opened.loaded.model.forward

    def small(*inputs: Any, **more: Any) -> Any:
        if more["input_ids"].shape[0] > 3:
            torch.empty(2**60)
        return forward(*inputs, **more)

    monkeypatch.setattr(opened._opened.loaded.model, "forward", small)
    weighed = opened.likelihood(asked(), texts, threading.Event())
    for one, other in zip(weighed, expected, strict=True):
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)


def test_the_descriptors_say_what_the_models_can(plugins: Plugins) -> None:
    ours = [one for one in plugins.descriptors("models") if one.id in {"bundled", "transformers"}]
    assert len(ours) == 2
    for descriptor in ours:
        assert descriptor.batches and descriptor.likelihood
        assert descriptor.protocols == ("generate", "enforced", "likelihood")


def merging(folder: Path) -> Any:
    """A tokenizer that merges ``ok`` and ``: l`` wherever they stand."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("o", "k"), ("Ġ", "l"), (":", "Ġl")]
    tokens = ["<eos>", *alphabet, "ok", "Ġl", ":Ġl"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<eos>")


def test_a_text_is_tokenised_after_its_prompt_and_no_token_stands_over_the_boundary(
    tmp_path: Path,
) -> None:
    tokenizer = merging(tmp_path)
    prompts = Prompts("test", tokenizer, "plain")
    rendered, ids = prompts.encode(asked("w"))
    after = prompts.after(rendered, ids, "okay")
    assert tokenizer.convert_ids_to_tokens(after) == ["ok", "a", "y"]
    assert ids + after == tokenizer(rendered + "okay")["input_ids"]
    # Of a token over the boundary there is none that the model could write.
    joined = tokenizer.convert_ids_to_tokens(tokenizer(rendered + " lo")["input_ids"])
    assert joined[-2:] == [":Ġl", "o"]
    after = prompts.after(rendered, ids, " lo")
    assert tokenizer.convert_ids_to_tokens(after) == ["Ġl", "o"]
    assert tokenizer.decode(ids + after) == rendered + " lo"


@pytest.mark.parametrize(
    ("chat_template", "ways"),
    [(None, {"lion", "Ġlion"}), (CHAT, {"lion", "Ġlion"}), (CHAT + "\n", {"lion"})],
)
def test_options_may_be_written_with_and_without_a_space(
    tmp_path: Path, chat_template: str | None, ways: set[str]
) -> None:
    tokenizer = save_tokenizer(tmp_path, chat=chat_template)
    if chat_template is not None and chat_template.endswith("\n"):
        tokenizer.chat_template = CHAT + "{{ '\\n' }}"
    prompts = Prompts("test", tokenizer, "auto")
    found = prompts.ways(*prompts.encode(asked()), "lion")
    assert {"".join(tokenizer.convert_ids_to_tokens(way)) for way in found} == ways


def test_examples_of_the_kind_stand_before_the_question(base: Path) -> None:
    backend = model(base, template="examples")
    facts = backend.open()
    assert facts["template"] == "examples-1"
    request = Request(
        (Message("system", "Be brief."), Message("user", "Is ice hot?")),
        Decoding(1),
        kind=ResponseKind.YES_NO,
    )
    assert answer(backend, request).metadata["rendered_prompt"] == (
        "Be brief.\n\n"
        "Question: Answer with one word, Yes or No, and nothing else.\nIs snow warm?\n"
        "Answer: No\n\n"
        "Question: Answer with one word, Yes or No, and nothing else.\nDo fish live in water?\n"
        "Answer: Yes\n\n"
        "Question: Is ice hot?\nAnswer:"
    )


def test_without_a_kind_only_examples_for_all_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        'id = "own"\nsystem = "{content} "\nuser = "Q {content} "\nassistant = "A{content} "\n'
        'opening = "A"\nstop = ["Q"]\n[[example]]\nuser = "1+1"\nassistant = "2"\n'
        '[[example]]\nkind = "choice"\nuser = "a, b"\nassistant = "a"\n'
    )
    template = load_template(path)
    assert template.render([Message("user", "2+2")]) == "Q 1+1 A 2 Q 2+2 A"
    shown = template.render([Message("user", "2+2")], ResponseKind.CHOICE)
    assert shown == "Q 1+1 A 2 Q a, b A a Q 2+2 A"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('kind = "yes-no"', 'kind = "yesno"', ":23: example[3].kind: is not a kind of response"),
        ('assistant = "pencil"', 'assistant = ""', ":20: example[2].assistant: must be a string"),
        ('assistant = "No"', 'answer = "No"', ":25: example[3].answer: unknown key"),
        ('reply = " {content}"', 'reply = "x"', ":8: reply: must be a string that holds {content}"),
        ("[[example]]", "[example]", ":17: cannot overwrite"),
    ],
)
def test_a_malformed_example_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    text = SHIPPED["examples"].read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "own.toml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ComponentError) as caught:
        load_template(path)
    assert f"{path}:" in str(caught.value)
    assert words.lower() in str(caught.value).lower()
