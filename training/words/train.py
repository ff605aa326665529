"""Train: ``python -m training.words.train SPEECH OUT --synthesised FILE... --minutes 60``.

The length is in minutes, and the learning rate depends on the time, so that a run on a shared
computer finishes its schedule. A second run with the same OUT continues where the first stopped.
The result is the moving average of the weights at the end: no checkpoint is selected.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from torch.optim.swa_utils import AveragedModel
from torch.utils.data import DataLoader
from transformers import Wav2Vec2BertConfig, Wav2Vec2BertForCTC

from training.bundled.muon import Muon
from training.words.augment import Background
from training.words.decode import hear
from training.words.examples import Batch, Clip, Examples
from training.words.features import MELS, STRIDE
from training.words.measure import error_rate, nearest_words
from training.words.pronunciations import BLANK, LABELS, RECORDED_WORDS
from training.words.recordings import Split, of_split, read_recordings, read_samples, silence_files
from training.words.synthesise import load

_KEEP_SECONDS = 120.0
_NEVER = -1e4  # a logarithm; an infinite one makes gradients that are not numbers


@dataclass(frozen=True)
class Plan:
    """The parameters of a run."""

    minutes: float = 60.0
    seed: int = 2026
    width: int = 128
    layers: int = 4
    heads: int = 4
    feed_forward: int = 384
    kernel: int = 11
    dropout: float = 0.0
    batch: int = 64
    rate: float = 2e-3
    muon_rate: float = 0.006
    weight_decay: float = 0.02
    warm_up: float = 0.03
    synthetic_share: float = 0.4
    threads: int = 2
    average: float = 0.998
    dev_from: float = 0.6
    start: str = ""


def build(plan: Plan) -> Wav2Vec2BertForCTC:
    """Make an untrained model."""
    torch.manual_seed(plan.seed)
    config = Wav2Vec2BertConfig(
        vocab_size=len(LABELS),
        hidden_size=plan.width,
        num_hidden_layers=plan.layers,
        num_attention_heads=plan.heads,
        intermediate_size=plan.feed_forward,
        feature_projection_input_dim=STRIDE * MELS,
        conv_depthwise_kernel_size=plan.kernel,
        position_embeddings_type="relative_key",
        left_max_position_embeddings=32,
        right_max_position_embeddings=32,
        hidden_dropout=plan.dropout,
        activation_dropout=plan.dropout,
        attention_dropout=plan.dropout,
        conformer_conv_dropout=plan.dropout,
        feat_proj_dropout=0.0,
        final_dropout=0.1,
        layerdrop=0.0,
        apply_spec_augment=False,
        add_adapter=False,
        pad_token_id=BLANK,
        bos_token_id=None,
        eos_token_id=None,
    )
    return Wav2Vec2BertForCTC(config)


def optimisers(model: torch.nn.Module, plan: Plan) -> list[torch.optim.Optimizer]:
    """Make the optimisers: AdamW, or Muon for the matrices of the layers and AdamW for the rest."""
    muon: list[torch.nn.Parameter] = []
    decayed: list[torch.nn.Parameter] = []
    plain: list[torch.nn.Parameter] = []
    for name, weights in model.named_parameters():
        matrix = weights.ndim == 2 and "layers" in name and "embedding" not in name
        if plan.muon_rate and matrix:
            muon.append(weights)
        elif weights.ndim > 1:
            decayed.append(weights)
        else:
            plain.append(weights)
    groups: list[dict[str, Any]] = [{"params": decayed, "weight_decay": plan.weight_decay}]
    adam = torch.optim.AdamW(
        [*groups, {"params": plain}],
        lr=plan.rate,
        betas=(0.9, 0.98),
        weight_decay=0.0,
    )
    if not muon:
        return [adam]
    return [adam, Muon(muon, plan.muon_rate, weight_decay=plan.weight_decay)]


def rate_at(progress: float, warm_up: float) -> float:
    """Return the share of the full learning rate: a linear rise, then half a cosine to 1 %.

    >>> [round(rate_at(p, 0.1), 3) for p in (0.05, 0.1, 0.55, 1.0)]
    [0.5, 1.0, 0.505, 0.01]
    """
    if progress < warm_up:
        return progress / warm_up
    done = min((progress - warm_up) / (1 - warm_up), 1.0)
    return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done))


def loss_of(model: Wav2Vec2BertForCTC, batch: Batch) -> torch.Tensor:
    """Return the CTC loss per phoneme (connectionist temporal classification), mean over clips.

    Paths with a phoneme where nobody speaks do not count. Otherwise a model with access to the
    whole clip writes all phonemes at its beginning, without usable times.
    """
    logits = model(input_features=batch.features, attention_mask=batch.mask).logits
    phonemes = torch.arange(logits.shape[-1]) != BLANK
    told = logits.log_softmax(-1).masked_fill(~batch.spoken[..., None] & phonemes, _NEVER)
    losses = torch.nn.functional.ctc_loss(
        told.transpose(0, 1),
        batch.labels,
        batch.mask.sum(1),
        batch.lengths,
        blank=BLANK,
        reduction="none",
        zero_infinity=True,
    )
    losses = losses.masked_fill(losses >= -_NEVER, 0.0)  # a word with too few frames of its own
    return (losses / batch.lengths.clamp_min(1)).mean()


def recorded_clips(speech: Path, *splits: Split) -> list[Clip]:
    """Read the recorded words of sides of the split."""
    recordings = read_recordings(speech)
    return [
        (read_samples(r.path), RECORDED_WORDS[r.word])
        for split in splits
        for r in of_split(recordings, split)
    ]


class Run:
    """A model in training, with the state needed to continue after an interruption."""

    def __init__(self, plan: Plan, out: Path, rank: int = 0) -> None:
        self.plan, self.out, self.rank = plan, out, rank
        self.model = build(plan)
        self.optimisers = optimisers(self.model, plan)
        self.full_rates = [[g["lr"] for g in o.param_groups] for o in self.optimisers]
        self.step, self.seconds, self.examples = 0, 0.0, 0
        self.history: list[dict[str, float]] = []
        if plan.start:
            weights = Wav2Vec2BertForCTC.from_pretrained(plan.start).state_dict()
            self.model.load_state_dict(weights)
        self.average = AveragedModel(
            self.model, avg_fn=lambda mean, new, _: torch.lerp(new, mean, plan.average)
        )
        if (out / "state.pt").exists():
            self._resume()

    def _resume(self) -> None:
        state = torch.load(self.out / "state.pt", weights_only=True)
        self.model.load_state_dict(state["model"])
        self.average.load_state_dict(state["average"])
        for optimiser, kept in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(kept)
        self.step, self.seconds = state["step"], state["seconds"]
        self.examples, self.history = state["examples"], state["history"]

    @property
    def progress(self) -> float:
        """The share of the time that is over."""
        return self.seconds / (60 * self.plan.minutes)

    def keep(self) -> None:
        """Write the state that `_resume` reads, atomically."""
        state = {
            "model": self.model.state_dict(),
            "average": self.average.state_dict(),
            "optimisers": [o.state_dict() for o in self.optimisers],
            **{"step": self.step, "seconds": self.seconds, "examples": self.examples},
            "history": self.history,
        }
        torch.save(state, self.out / "state.new")
        (self.out / "state.new").replace(self.out / "state.pt")

    def advance(self, batch: Batch) -> float:
        """Take one step, together with the other processes; return the loss."""
        share = rate_at(self.progress, self.plan.warm_up)
        for optimiser, rates in zip(self.optimisers, self.full_rates, strict=True):
            for group, full in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = share * full
        self.model.train()
        loss = loss_of(self.model, batch)
        torch.autograd.backward(loss)
        self._together()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
        for optimiser in self.optimisers:
            optimiser.step()
            optimiser.zero_grad()
        self.average.update_parameters(self.model)
        self.step += 1
        self.examples += len(batch.lengths) * self.plan.threads
        return loss.item()

    def _together(self) -> None:
        """Replace gradients and clock by their means over the processes."""
        if self.plan.threads == 1:
            return
        found = [p.grad for p in self.model.parameters() if p.grad is not None]
        flat = torch.cat([*(g.flatten() for g in found), torch.tensor([self.seconds])])
        torch.distributed.all_reduce(flat)
        flat /= self.plan.threads
        place = 0
        for gradient in found:
            gradient.copy_(flat[place : place + gradient.numel()].view_as(gradient))
            place += gradient.numel()
        self.seconds = flat[-1].item()

    def judge(self, dev: Sequence[Clip], loss: float, known: bool) -> None:
        """Measure the averaged weights on the dev speakers, and write them.

        ``known``: the dev speakers are training data by now.
        """
        averaged: Any = self.average.module
        heard = hear(averaged, [samples for samples, _ in dev])
        rate = error_rate([said for _, said in dev], heard)
        near = nearest_words(heard)
        right = sum(RECORDED_WORDS.get(w) == said for w, (_, said) in zip(near, dev, strict=True))
        row = {"step": self.step, "minutes": self.seconds / 60, "loss": loss}
        row |= {"dev_per": rate, "dev_words": right / len(dev), "examples": self.examples}
        row |= {"dev_known": 1.0} if known else {}
        self.history.append(row)
        print(json.dumps({k: round(v, 4) for k, v in row.items()}), flush=True)
        averaged.save_pretrained(self.out / "last")
        record: dict[str, object] = {"plan": asdict(self.plan), "torch": torch.__version__}
        record |= {"transformers": transformers.__version__, "history": self.history}
        (self.out / "run.json").write_text(json.dumps(record, indent=1), encoding="utf-8")


def train(
    rank: int, plan: Plan, speech: Path, synthesised: Sequence[Path], out: Path, meeting: str
) -> None:
    """Train for the time of the plan, in its last part on the dev speakers too.

    ``rank`` is the number of this process, and ``meeting`` the file by which they find each other.
    """
    torch.set_num_threads(1)
    if plan.threads > 1:
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{meeting}", rank=rank, world_size=plan.threads
        )
    run = Run(plan, out, rank)
    recorded = [read_samples(path) for path in silence_files(speech)[0]]
    background = Background(recorded, plan.seed)
    made = [clip for path in synthesised for clip in load(path)]
    dev = recorded_clips(speech, "dev")
    phases: tuple[tuple[float, tuple[Split, ...]], ...] = (
        (plan.dev_from, ("train",)),
        (1.0, ("train", "dev")),
    )
    for until, splits in phases:
        if run.progress < until:
            words, size = recorded_clips(speech, *splits), plan.batch // plan.threads
            seed, share = plan.seed + run.step, plan.synthetic_share
            examples = Examples(words, made, background, seed, size, share, rank)
            _phase(run, examples, dev, until, known="dev" in splits)


def _phase(run: Run, examples: Examples, dev: Sequence[Clip], until: float, *, known: bool) -> None:
    loss, kept, last = 0.0, run.seconds, time.monotonic()
    for batch in DataLoader(examples, batch_size=None, num_workers=1, prefetch_factor=16):
        found = run.advance(batch)
        loss += 0.02 * (found - loss) if loss else found
        over = run.progress >= until
        if over or run.seconds - kept > _KEEP_SECONDS:
            if run.rank == 0:
                run.judge(dev, loss, known)
                run.keep()
            kept = run.seconds
        now = time.monotonic()
        run.seconds, last = run.seconds + now - last, now
        if over:
            break


def main() -> None:
    """Read the plan from the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("speech", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--synthesised", type=Path, nargs="+", required=True)
    for name, value in asdict(Plan()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    arguments = vars(parser.parse_args())
    speech, out = arguments.pop("speech"), arguments.pop("out")
    synthesised = arguments.pop("synthesised")
    plan = Plan(**arguments)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        given = (plan, speech, synthesised, out, str(Path(folder) / "meeting"))
        torch.multiprocessing.spawn(  # type: ignore[attr-defined, no-untyped-call]
            train, given, plan.threads
        )


if __name__ == "__main__":
    main()
