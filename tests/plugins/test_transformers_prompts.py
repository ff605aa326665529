"""What a model is shown: the boundary of prompt and continuation, templates and their examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tabwb_transformers.prompts import Prompts
from tabwb_transformers.templates import SHIPPED, load_template

from tabwb.records.errors import ComponentError
from tabwb.records.exchange import Decoding, Message, Request
from tabwb.records.states import ResponseKind
from tests.plugins.conftest import CHAT, answer, asked, model, save_tokenizer

transformers = pytest.importorskip("transformers", reason="needs tabwb[local]")

# ---------------------------------------------------------------- the boundary of prompt and text


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


def test_a_text_is_tokenised_after_its_prompt(tmp_path: Path) -> None:
    tokenizer = merging(tmp_path)
    prompts = Prompts("test", tokenizer, "plain")
    rendered, ids = prompts.encode(asked("w"))
    after = prompts.after(rendered, ids, "okay")
    assert tokenizer.convert_ids_to_tokens(after) == ["ok", "a", "y"]
    assert ids + after == tokenizer(rendered + "okay")["input_ids"]


def test_a_token_over_the_boundary_is_none_that_the_model_could_write(tmp_path: Path) -> None:
    tokenizer = merging(tmp_path)
    prompts = Prompts("test", tokenizer, "plain")
    rendered, ids = prompts.encode(asked("w"))
    assert tokenizer.convert_ids_to_tokens(tokenizer(rendered + " lo")["input_ids"])[-2:] == [
        ":Ġl",
        "o",
    ]
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


# ---------------------------------------------------------------- templates


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
