"""The tokenizer: byte-level BPE in which a word has the same pieces in every position.

Ordinary byte-level BPE joins the space to the front of a word, so that a word at the start of an
answer has other pieces than the same word in the question. Here the space belongs to the end of the
word before, and it is merged last: "boot" and "boot " differ in their last piece only, and text
that is repeated consists of the very same tokens.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

PAD, SYSTEM, USER, ASSISTANT, END = SPECIAL_TOKENS = (
    "<|pad|>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|end|>",
)
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ '<|end|>' }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
MAX_POSITIONS = 4096
_SPACE = "Ġ"  # how byte-level BPE writes the space
_APART = r"\p{L}+|\p{N}|[^\s\p{L}\p{N}]+|\s"
_WITH_SPACE = r"\p{L}+ ?|\p{N} ?|[^\s\p{L}\p{N}]+ ?|\s+"


def _splitting(pattern: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def _learn_words(texts: Sequence[str], merges: int) -> Tokenizer:
    """Learn ``merges`` merges inside words, with spaces as tokens of their own."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = _splitting(_APART)
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=256 + merges,
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    return tokenizer


def train_tokenizer(texts: Sequence[str], size: int, merges: int) -> PreTrainedTokenizerFast:
    """Train a vocabulary of ``size`` pieces; ``merges`` of them are pieces of words without space.

    The remaining room goes to the pieces that most often end a word, joined with its space.
    """
    words = _learn_words(texts, merges)
    inner = words.get_vocab()

    state = json.loads(words.to_str())["model"]
    learned: list[tuple[str, str]] = [(a, b) for a, b in state["merges"]]
    endings: Counter[str] = Counter()
    for encoding in words.encode_batch(list(texts)):
        pieces = encoding.tokens
        endings.update(a for a, b in pairwise(pieces) if b == _SPACE and a != _SPACE)
    pieces = [*SPECIAL_TOKENS, *sorted(inner, key=lambda p: inner[p])]
    room = size - len(pieces)
    for piece, _ in sorted(endings.items(), key=lambda item: (-item[1], item[0])):
        if room == 0:
            break
        if piece + _SPACE not in inner:
            pieces.append(piece + _SPACE)
            learned.append((piece, _SPACE))
            room -= 1
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=learned))
    tokenizer.pre_tokenizer = _splitting(_WITH_SPACE)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=END,
        additional_special_tokens=[SYSTEM, USER, ASSISTANT],
        model_max_length=MAX_POSITIONS,
        padding_side="left",
        clean_up_tokenization_spaces=False,
        chat_template=CHAT_TEMPLATE,
    )
