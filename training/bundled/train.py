"""Train the bundled model: ``python -m training.bundled.train --out FOLDER --tokens N``."""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional
from transformers import (
    AutoTokenizer,
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from training.bundled.batches import Batch, BatchStream
from training.bundled.corpus import MIXED, assert_clean, draw_conversation
from training.bundled.muon import Muon
from training.bundled.tokenizer import MAX_POSITIONS, train_tokenizer

MAX_MEGABYTES = 8.0
SAVE_EVERY_MINUTES = 8.0


@dataclass(frozen=True)
class Plan:
    """All parameters of the result, except the versions of the libraries."""

    seed: int = 20
    start: str | None = None
    tokens: int = 12_000_000
    minutes: float | None = None
    threads: int = 1
    batch_tokens: int = 2048
    copying: float = 0.15
    vocabulary: int = 1024
    word_merges: int = 480
    layers: int = 5
    width: int = 128
    heads: int = 4
    inner_width: int = 384
    matrix_rate: float = 0.004
    other_rate: float = 0.003


@dataclass(frozen=True)
class Record:
    """The record of a training run, written beside the weights as ``training.json``.

    ``before`` is the record of the run that gave the initial weights.
    """

    plan: Plan
    tokens: int
    steps: int
    minutes: float
    parameters: int
    vocabulary: int
    torch: str
    before: dict[str, Any] | None = None


def build_tokenizer(plan: Plan) -> PreTrainedTokenizerFast:
    """Train the tokenizer on a sample of the text that the model will be trained on."""
    rng = random.Random(plan.seed)
    sample = [draw_conversation(rng, MIXED) for _ in range(10_000)]
    assert_clean(sample)
    texts = [text for c in sample for turn in c.turns for text in (turn.user, turn.assistant)]
    return train_tokenizer(texts, plan.vocabulary, plan.word_merges)


def build_model(plan: Plan, tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Build a small Llama with tied embeddings and random weights."""
    config = LlamaConfig(
        vocab_size=plan.vocabulary,
        hidden_size=plan.width,
        intermediate_size=plan.inner_width,
        num_hidden_layers=plan.layers,
        num_attention_heads=plan.heads,
        num_key_value_heads=plan.heads,
        max_position_embeddings=MAX_POSITIONS,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.05,
    )
    return LlamaForCausalLM(config)


def loss_of(model: LlamaForCausalLM, batch: Batch) -> torch.Tensor:
    """Return the weighted mean of the negative log likelihood, in nats per weighted token.

    Logits are computed only for weighted tokens. Padding is on the right, so the causal mask alone
    hides it.
    """
    hidden = model.model(input_ids=batch.ids, use_cache=False).last_hidden_state[:, :-1]
    weights, targets = batch.weights[:, 1:], batch.ids[:, 1:]
    chosen = weights > 0
    losses = functional.cross_entropy(
        model.lm_head(hidden[chosen]), targets[chosen], reduction="none"
    )
    return (losses * weights[chosen]).sum() / weights.sum()


def rate_factor(progress: float) -> float:
    """Scale the learning rate: a short rise, a plateau, and a straight fall to zero.

    >>> [round(rate_factor(p), 2) for p in (0.0, 0.01, 0.3, 0.7, 1.0)]
    [0.02, 0.5, 1.0, 0.5, 0.0]
    """
    return min(1.0, max(0.02, progress / 0.02), max(0.0, (1.0 - progress) / 0.6))


def make_optimisers(model: LlamaForCausalLM, plan: Plan) -> list[torch.optim.Optimizer]:
    """Use Muon for the matrices of the layers and AdamW for embeddings and norms."""
    layers = [p for p in model.model.layers.parameters() if p.ndim == 2]
    ids = {id(p) for p in layers}
    others = [p for p in model.parameters() if id(p) not in ids]
    return [
        Muon(layers, lr=plan.matrix_rate),
        torch.optim.AdamW(others, lr=plan.other_rate, betas=(0.9, 0.98), weight_decay=0.0),
    ]


class Clock:
    """The progress of the training, by tokens or by minutes."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._start = time.monotonic()

    def minutes(self) -> float:
        """Return the minutes since the start."""
        return (time.monotonic() - self._start) / 60

    def progress(self, tokens: int) -> float:
        """Return the share of the training that is done, in [0, 1]."""
        if self._plan.minutes is not None:
            return min(1.0, self.minutes() / self._plan.minutes)
        return min(1.0, tokens / self._plan.tokens)


def begin(
    plan: Plan,
) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast, dict[str, Any] | None]:
    """Make a new model and tokenizer, or load those that the plan starts from."""
    if plan.start is None:
        tokenizer = build_tokenizer(plan)
        return build_model(plan, tokenizer), tokenizer, None
    folder = Path(plan.start)
    before = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    model = LlamaForCausalLM.from_pretrained(folder, local_files_only=True)
    return model, AutoTokenizer.from_pretrained(folder, local_files_only=True), before


def train(plan: Plan, out: Path) -> None:
    """Run the whole training, print its progress, and save to ``out`` regularly and at the end."""
    torch.set_num_threads(plan.threads)
    torch.manual_seed(plan.seed)
    model, tokenizer, before = begin(plan)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters:,} parameters, {len(tokenizer)} pieces", flush=True)
    optimisers = make_optimisers(model, plan)
    rates = [o.param_groups[0]["lr"] for o in optimisers]
    stream = BatchStream(
        tokenizer, plan.seed + 1, plan.batch_tokens, plan.copying, refining=before is not None
    )
    clock, tokens, steps, smooth = Clock(plan), 0, 0, 0.0
    saved = 0.0

    def keep() -> None:
        minutes = clock.minutes()
        pieces, version = len(tokenizer), torch.__version__
        # The record travels with the model, so it names no place on the disk.
        told = replace(plan, start=plan.start and Path(plan.start).name)
        record = Record(told, tokens, steps, minutes, parameters, pieces, version, before)
        save(model, tokenizer, record, out)

    model.train()
    for batch in stream:
        progress = stream.progress = clock.progress(tokens)
        if progress >= 1.0:
            break
        for optimiser, rate in zip(optimisers, rates, strict=True):
            optimiser.param_groups[0]["lr"] = rate * rate_factor(progress)
        loss = loss_of(model, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimiser in optimisers:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        tokens, steps = tokens + batch.ids.numel(), steps + 1
        smooth = loss.item() if steps == 1 else 0.98 * smooth + 0.02 * loss.item()
        if steps % 50 == 0:
            spent = clock.minutes()
            left = spent / max(clock.progress(tokens), 1e-6) - spent
            print(
                f"{clock.progress(tokens):6.1%}  step {steps:5d}  {tokens / 1e6:6.2f} M tokens  "
                f"loss {smooth:.4f}  {tokens / spent / 60:6.0f} tokens/s  "
                f"{spent:5.1f} min, {left:5.1f} min left",
                flush=True,
            )
            if clock.minutes() - saved > SAVE_EVERY_MINUTES:
                saved = clock.minutes()
                keep()
    keep()


def save(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, record: Record, out: Path
) -> None:
    """Write all files to a folder beside ``out`` and move them in one by one, weights first."""
    model.generation_config = GenerationConfig(
        do_sample=False,
        max_new_tokens=256,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent) as name:
        staged = Path(name)
        model.save_pretrained(staged)
        tokenizer.save_pretrained(staged)
        text = json.dumps(asdict(record), indent=2)
        (staged / "training.json").write_text(text + "\n", encoding="utf-8")
        megabytes = (staged / "model.safetensors").stat().st_size / 1e6
        if megabytes > MAX_MEGABYTES:
            raise ValueError(f"the weights take {megabytes:.1f} MB, at most {MAX_MEGABYTES} fit")
        for path in sorted(staged.iterdir(), key=lambda p: p.name != "model.safetensors"):
            path.chmod(0o644)
            path.replace(out / path.name)
    print(f"written to {out}, weights {megabytes:.2f} MB", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Read the options, train and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the model")
    parser.add_argument("--start", help="folder of a model to refine with a second run")
    parser.add_argument("--seed", type=int, default=Plan.seed)
    parser.add_argument("--tokens", type=int, default=Plan.tokens, help="training tokens")
    parser.add_argument(
        "--minutes", type=float, help="stop by the clock instead; not reproducible to the bit"
    )
    parser.add_argument("--threads", type=int, default=Plan.threads)
    parser.add_argument("--layers", type=int, default=Plan.layers)
    parser.add_argument("--width", type=int, default=Plan.width)
    parser.add_argument("--matrix-rate", type=float, default=Plan.matrix_rate)
    parser.add_argument(
        "--copying", type=float, default=Plan.copying, help="share of copying first"
    )
    parser.add_argument("--batch-tokens", type=int, default=Plan.batch_tokens)
    options = vars(parser.parse_args(arguments))
    out = options.pop("out")
    train(Plan(**options), out)


if __name__ == "__main__":
    main()
