"""Registers the judges. Imports nothing heavy.

Only the names of prompt files are read here; a file is read when its judge is made.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tabwb.host.judge_prompts import LIKELIHOOD, NULL, prompt_files
from tabwb.plugin_api import (
    ComponentError,
    Descriptor,
    Judge,
    ModelBackend,
    Register,
    Spec,
    hookimpl,
)

if TYPE_CHECKING:
    from tabwb.host.judge_prompts import JudgePrompt

MakeInner = Callable[[], ModelBackend]
DEFAULT = "tab-2026"
"""The prompt that ``likelihood:SPEC`` uses."""


@hookimpl
def tabwb_register_judges(register: Register) -> None:
    """Register three judges of every prompt file, and surprisal.

    Raises:
        ComponentError: the name of a file is wrong; everything else is registered.
    """
    files, wrong = prompt_files()
    for judge, path in files.items():
        _register_prompt(register, judge, path)
    for judge, context in (("surprisal", "by itself"), ("surprisal+prompt", "after what was sent")):
        register(
            Descriptor(
                judge,
                f"Bits per token of a response {context}, under a local model",
                _surprisal,
                name_help="LOCAL-MODEL",
                name_required=True,
                wraps="models",
                remarks="two measures, no features",
            )
        )
    if wrong:
        # Shown by 'tabwb plugins list'.
        raise ComponentError("; ".join(wrong))


def _register_prompt(register: Register, judge: str, path: Path) -> None:
    def chat(spec: Spec, options: None, make_inner: MakeInner) -> Judge:
        from tabwb_judges.chat import ChatJudge

        return ChatJudge(spec, _prompt(path), make_inner)

    def likelihood(spec: Spec, options: None, make_inner: MakeInner) -> Judge:
        from tabwb_judges.likelihood import LikelihoodJudge

        return LikelihoodJudge(spec, _prompt(path), make_inner, calibrated=spec.id.endswith(NULL))

    ways = (
        ("", "In a chat model's own words", chat),
        (LIKELIHOOD, "By log probabilities of a local model", likelihood),
        (NULL, "By log probabilities, calibrated on a null passage", likelihood),
    )
    for ending, how, factory in ways:
        register(
            Descriptor(
                judge + ending,
                f"{how}: the prompt {path.name}",
                factory,
                name_help="LOCAL-MODEL" if ending else "CHAT-MODEL",
                name_required=True,
                aliases=(ending[1:],) if ending and judge == DEFAULT else (),
                wraps="models",
                remarks=f"'tabwb judge show {judge}' prints what is sent",
            )
        )


def _prompt(path: Path) -> JudgePrompt:
    from tabwb.host.judge_prompt_files import load_prompt

    return load_prompt(path)


def _surprisal(spec: Spec, options: None, make_inner: MakeInner) -> Judge:
    from tabwb_judges.likelihood import SurprisalJudge

    return SurprisalJudge(spec, make_inner, after_prompt=spec.id == "surprisal+prompt")
