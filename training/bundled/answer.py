"""Greedy answers of a trained model, as in the workbench."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from training.bundled.corpus import SYSTEM
from training.bundled.tokenizer import ASSISTANT, END

Message = dict[str, str]


class Speaker:
    """A model and its tokenizer, loaded from a folder without any network."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
        self.model.eval()

    def _generate(self, histories: Sequence[Sequence[Message]]) -> list[str]:
        rendered = [
            self.tokenizer.apply_chat_template(
                list(history), tokenize=False, add_generation_prompt=True
            )
            for history in histories
        ]
        inputs = self.tokenizer(
            rendered, return_tensors="pt", padding=True, add_special_tokens=False
        )
        with torch.inference_mode():
            out = self.model.generate(
                input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]
            )
        width = inputs["input_ids"].shape[1]
        return [self.tokenizer.decode(row[width:], skip_special_tokens=False) for row in out]

    def answer(self, histories: Sequence[Sequence[Message]], size: int = 50) -> list[str]:
        """Answer the last message of each history; an answer that does not end keeps no text.

        Answers cut at the limit are returned with ``ASSISTANT`` after them, so that they
        count as wrong everywhere.
        """
        order = sorted(range(len(histories)), key=lambda i: len(str(histories[i])))
        answers = [""] * len(histories)
        for start in range(0, len(order), size):
            chosen = order[start : start + size]
            for i, text in zip(chosen, self._generate([histories[i] for i in chosen]), strict=True):
                said, end, _ = text.partition(END)
                answers[i] = said if end else said + ASSISTANT
        return answers

    def reply(self, users: Sequence[str], system: str | None = SYSTEM) -> list[str]:
        """Answer single messages, each in a conversation of its own."""
        return self.answer([with_system(system, [user_says(text)]) for text in users])


def user_says(text: str) -> Message:
    """Make a message of the user."""
    return {"role": "user", "content": text}


def with_system(system: str | None, messages: Sequence[Message]) -> list[Message]:
    """Put the system message, if any, before the others."""
    first = [] if system is None else [{"role": "system", "content": system}]
    return [*first, *messages]
