"""The training loop: CTC of an encoder of transformers, exact where it is continued.

It is a loop of our own and not transformers' ``Trainer``: batches by seconds of sound, a frozen
encoder for the first updates and a loss per sentence would all be overridden there, and a
continued run has to compute what an uninterrupted one does. All that is random in an update follows
from the seed and the update's number, so a checkpoint needs weights, optimizer and that number.
"""

from __future__ import annotations

import csv
import math
import os
import pickle
import shutil
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from accelerate import Accelerator
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tabwb_transformers.loading import check_folder, loading_errors, memory_errors
from tabwb_wav2vec2 import ctc

from tabwb.phonology.batch import Scores, score
from tabwb.records.errors import ComponentError, Interrupted, TabwbError
from tabwb.records.files import sync_file, sync_folder
from tabwb.records.words import size_text
from tabwb.speech.condition import RATE
from tabwb.speech.files import read_clip
from tabwb_psst.train.recipe import Recipe, Schedule
from tabwb_psst.train.sound import batches, micro_batches
from tabwb_psst.train.sources import Example

COLUMNS = ("update", "loss", "learning_rate", "valid_loss", "per", "fer")
"""Columns of ``curve.csv``; the last three only where the model was validated."""
CHECKPOINT, BEFORE = "checkpoint.pt", "checkpoint-before.pt"
CONTINUES = "make room; the same command continues from the last checkpoint"
CHECKPOINT_S = 300.0
"""Seconds after which a checkpoint is written between two validations."""
OVERFLOWS = 20
"""Updates in a row whose loss may overflow float16: the scaler of the gradients skips them."""
SHORTEST_FRAMES = 4
"""Frames that a batch has beyond the length of one mask, so that it fits."""

Tell = Callable[..., None]


@dataclass(frozen=True)
class Setting:
    """What a loop works with beside the recipe, whose schedule is scaled already.

    Attributes:
        base: folder of the encoder.
        folder: of checkpoints, the best weights and the curve.
        seed: of output layer, order, masks and dropout.
        micro_s: seconds of sound that are computed at once.
    """

    base: Path
    folder: Path
    seed: int
    micro_s: float


class Network:
    """An encoder with a new output layer, and its front end."""

    def __init__(self, recipe: Recipe, base: Path, seed: int) -> None:
        self.labels = recipe.labels
        self.zero_infinity = recipe.loss.zero_infinity
        self.numbers = {label: number for number, label in enumerate(self.labels) if label}
        drop, mask = recipe.dropout, recipe.mask
        check_folder(base)
        given = {"local_files_only": True, "trust_remote_code": False}
        with loading_errors(str(base), local=True, kind="speech encoder"):
            config = transformers.AutoConfig.from_pretrained(base, **given)
            if type(config) not in transformers.MODEL_FOR_CTC_MAPPING:
                raise ComponentError(
                    f"is a '{config.model_type}', no speech encoder", where=str(base)
                )
            width = int(config.hidden_size)
            changed = {
                "vocab_size": len(self.labels), "pad_token_id": 0,
                "hidden_dropout": drop.hidden, "attention_dropout": drop.attention,
                "activation_dropout": drop.activation, "feat_proj_dropout": drop.projection,
                "final_dropout": drop.final, "layerdrop": drop.layers, "apply_spec_augment": True,
                "mask_time_prob": mask.time_probability, "mask_time_length": mask.time_length,
                "mask_feature_prob": mask.channel_probability,
                "mask_feature_length": min(mask.channel_length, max(width // 4, 1)),
            }  # fmt: skip
            for name, value in changed.items():
                setattr(config, name, value)
            torch.manual_seed(seed)
            self.model, loading = transformers.AutoModelForCTC.from_pretrained(
                base, config=config, ignore_mismatched_sizes=True, weights_only=True,
                dtype=torch.float32, output_loading_info=True, **given,
            )  # fmt: skip
            for key in (*loading["missing_keys"], *(one[0] for one in loading["mismatched_keys"])):
                if not key.startswith("lm_head") and not key.endswith("masked_spec_embed"):
                    message = f"its file holds no weights for '{key}' of the shape in config.json"
                    raise ComponentError(message, where=str(base))
            torch.manual_seed(seed)
            self.model.lm_head.reset_parameters()
            norm = getattr(config, "feat_extract_norm", "layer")
            self.masks = norm == "layer"
            if (base / "preprocessor_config.json").is_file():
                self.front = transformers.AutoFeatureExtractor.from_pretrained(base, **given)
            else:
                self.front = transformers.Wav2Vec2FeatureExtractor(return_attention_mask=self.masks)
        names, rate = self.front.model_input_names, self.front.sampling_rate
        if names[0] != "input_values" or rate != RATE:
            raise ComponentError(
                f"reads {names[0]} at {rate} Hz", where=str(base / "preprocessor_config.json"),
                allowed=f"an encoder that reads input_values at {RATE} Hz",
            )  # fmt: skip
        self.model.freeze_feature_encoder()
        stride = int(np.prod(config.conv_stride))
        self._shortest = (mask.time_length + SHORTEST_FRAMES) * stride

    def trained(self, *, frozen: bool) -> list[tuple[str, torch.nn.Parameter]]:
        """Switch between the output layer alone and all but the convolutions; return which."""
        chosen = []
        for name, parameter in self.model.named_parameters():
            is_head = name.startswith("lm_head")
            parameter.requires_grad = is_head or not (frozen or "feature_extractor" in name)
            if parameter.requires_grad:
                chosen.append((name, parameter))
        return chosen

    def losses(self, examples: Sequence[Example], device: Any) -> tuple[Any, Any, Any]:
        """Return the CTC loss of each example, log probabilities and their frames."""
        sounds = [read_clip(one.path)[0] for one in examples]
        made = self.front(sounds, sampling_rate=RATE, padding=True, return_tensors="pt",
                          return_attention_mask=True)  # fmt: skip
        values, mask = made["input_values"], made["attention_mask"]
        lengths = mask.sum(-1)
        if (lacking := self._shortest - values.shape[1]) > 0:
            values = torch.nn.functional.pad(values, (0, lacking))
            mask = torch.nn.functional.pad(mask, (0, lacking))
        given = {"attention_mask": mask.to(device)} if self.masks else {}
        logits = self.model(values.to(device), **given).logits.float().log_softmax(-1)
        frames = self.model._get_feat_extract_output_lengths(lengths)
        targets = [[self.numbers[label] for label in one.labels or ()] for one in examples]
        losses = torch.nn.functional.ctc_loss(
            logits.transpose(0, 1),
            torch.tensor([one for each in targets for one in each], device=device),
            frames, torch.tensor(list(map(len, targets))), reduction="none",
            zero_infinity=self.zero_infinity,
        )  # fmt: skip
        return losses, logits, frames

    def save(self, folder: Path) -> None:
        """Write the model as ``wav2vec2:FOLDER`` reads it."""
        import json

        reserved = ("<pad>", "<s>", "</s>", "<unk>")
        names = [label or (reserved[at] if at < 4 else f"<unused{at}>")
                 for at, label in enumerate(self.labels)]  # fmt: skip
        self.model.save_pretrained(folder)
        vocabulary = folder / "vocab.json"
        vocabulary.write_text(json.dumps({name: at for at, name in enumerate(names)}), "utf-8")
        tokenizer = transformers.Wav2Vec2CTCTokenizer(
            str(vocabulary), pad_token=names[0], word_delimiter_token=None, do_lower_case=False
        )
        tokenizer.save_pretrained(folder)
        self.front.save_pretrained(folder)


def train(
    recipe: Recipe,
    setting: Setting,
    examples: Sequence[Example],
    tell: Tell,
    stop: Callable[[], bool],
) -> dict[str, Any]:
    """Train to the end of the schedule, or from the last checkpoint on; return the best result."""
    folder = setting.folder
    folder.mkdir(parents=True, exist_ok=True)
    accelerator = _accelerator()
    plan, device = recipe.schedule, accelerator.device
    network = Network(recipe, setting.base, setting.seed)
    model = network.model.to(device)
    training = [one for one in examples if one.split == "train" and one.labels is not None]
    valid = [one for one in examples if one.split == "valid" and one.labels is not None]
    optimizer = torch.optim.Adam(
        [one for _, one in network.trained(frozen=False)], lr=plan.learning_rate,
        betas=plan.betas, eps=plan.epsilon,
    )  # fmt: skip
    half = precision(plan, device)
    scaler = torch.amp.GradScaler(device.type, enabled=half == "float16")
    first, best, rows = 1, dict[str, Any](), list[dict[str, Any]]()
    if kept := _last_checkpoint(folder, tell):
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        if scaler.is_enabled():
            scaler.load_state_dict(kept["scaler"])
        first, best = kept["update"] + 1, kept["best"]
        rows = [row for row in read_curve(folder / "curve.csv") if row["update"] < first]
    if accelerator.is_main_process:
        _rewrite(folder / "curve.csv", rows)
    seconds = [one.seconds for one in training]
    order = islice(batches(seconds, plan.batch_samples / RATE, setting.seed), first - 1, None)
    tell(begins=first - 1, updates=plan.updates, device=str(device), half=half, rows=rows)
    saved_at, overflows = time.monotonic(), 0

    def save(update: int) -> None:
        nonlocal saved_at
        if accelerator.is_main_process:
            kept = {
                "model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "scaler": scaler.state_dict(), "update": update, "best": best,
            }  # fmt: skip
            _atomically(folder / CHECKPOINT, lambda path: torch.save(kept, path), folder / BEFORE)
        accelerator.wait_for_everyone()
        saved_at = time.monotonic()

    for update in range(first, plan.updates + 1):
        batch = next(order)
        parts = micro_batches(batch, seconds, setting.micro_s)
        chosen = network.trained(frozen=update <= plan.frozen)
        for group in optimizer.param_groups:
            group["lr"] = plan.rate(update)
        optimizer.zero_grad()
        model.train()
        total = torch.zeros((), device=device)
        for number in range(accelerator.process_index, len(parts), accelerator.num_processes):
            _seed(setting.seed, update, number)
            some = [training[one] for one in parts[number]]
            weights = torch.tensor([one.weight for one in some], device=device)
            with memory_errors(), _autocast(device, half):
                losses, _, _ = network.losses(some, device)
                loss = (losses * weights).sum() / len(batch)
            scaler.scale(loss).backward()
            total += loss.detach()
        for _, parameter in chosen:
            # A layer that was dropped moves by its momentum, whichever process dropped it.
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            if accelerator.num_processes > 1:
                parameter.grad = accelerator.reduce(parameter.grad, "sum")
        loss_of_all = float(accelerator.reduce(total, "sum"))
        grads = [one.grad for _, one in chosen if one.grad is not None]
        finite = math.isfinite(loss_of_all) and (
            scaler.is_enabled() or bool(torch.nn.utils.get_total_norm(grads).isfinite())
        )
        overflows = 0 if finite else overflows + 1
        if overflows > (OVERFLOWS if scaler.is_enabled() else 0):
            raise TabwbError(
                f"the loss of update {update} or its gradients are not finite",
                where=recipe.id, hint="the last checkpoint is from before. Make a recipe with a "
                "smaller learning_rate" + ("" if half == "no" else " or half = 'no'"),
            )  # fmt: skip
        scaler.step(optimizer)
        scaler.update()
        row: dict[str, Any] = {
            "update": update,
            "loss": loss_of_all,
            "learning_rate": plan.rate(update),
        }
        due = update % plan.validate_every == 0 or update == plan.updates
        if due:
            if accelerator.is_main_process:
                mean, scores = scored(network, valid, device, setting.micro_s, half)
                row |= {"valid_loss": mean, "per": scores.per, "fer": scores.fer}
                if not best or _less(row["per"], best["per"]):
                    best = {key: row[key] for key in ("update", "per", "fer", "valid_loss")}
                    state = {key: value.contiguous() for key, value in model.state_dict().items()}
                    _atomically(folder / "best.safetensors", lambda path: save_file(state, path))  # noqa: B023
            accelerator.wait_for_everyone()
        if accelerator.is_main_process:
            _append(folder / "curve.csv", row)
        tell(update=update, row=row, best=best)
        asked = [float(stop()), float(time.monotonic() - saved_at > CHECKPOINT_S)]
        stops, late = (accelerator.reduce(torch.tensor(asked, device=device), "sum") > 0).tolist()
        if due or stops or late:
            save(update)
        if stops and update < plan.updates:
            raise Interrupted(f"stopped after update {update} of {plan.updates}")
    return best


def heard(
    network: Network, examples: Sequence[Example], device: Any, micro_s: float, half: str = "no"
) -> Iterator[tuple[int, float, tuple[str, ...], float]]:
    """Yield the number of each example, its loss, what is heard, and the mean confidence of that.

    What is heard are the runs of the best label of every frame. The confidence of a run is the mean
    probability of its label, as that of a transcriber's segment.
    """
    network.model.eval()
    seconds = [one.seconds for one in examples]
    # Where the encoder normalises over time, padding would be heard.
    most_s = micro_s if network.masks else 0.0
    for part in micro_batches(range(len(examples)), seconds, most_s):
        with torch.inference_mode(), memory_errors(), _autocast(device, half):
            losses, logits, frames = network.losses([examples[one] for one in part], device)
        rows = zip(part, losses.tolist(), logits.cpu().numpy(), frames.tolist(), strict=True)
        for number, loss, row, count in rows:
            runs = ctc.greedy(row[:count])
            sure = [float(np.exp(row[run.first : run.last + 1, run.label]).mean()) for run in runs]
            labels = tuple(filter(None, (network.labels[run.label] for run in runs)))
            yield number, loss, labels, sum(sure) / len(sure) if sure else 0.0


def scored(
    network: Network, examples: Sequence[Example], device: Any, micro_s: float, half: str = "no"
) -> tuple[float, Scores]:
    """Return the mean loss of a sentence, and the scores."""
    found = sorted(heard(network, examples, device, micro_s, half))
    mean = sum(loss for _, loss, *_ in found) / max(len(found), 1)
    return mean, score([one.labels or () for one in examples], [one[2] for one in found])


def best_network(recipe: Recipe, setting: Setting) -> Network:
    """Return the network with the best weights of a training that has ended."""
    network = Network(recipe, setting.base, setting.seed)
    path = setting.folder / "best.safetensors"
    try:
        network.model.load_state_dict(load_file(path))
    except SafetensorError as error:
        raise TabwbError(
            f"is damaged: {error}", where=str(path), hint=f"remove {path.parent}: the same "
            "command trains this round again",
        ) from error  # fmt: skip
    return network


def training_device() -> Any:
    """Return the device that is trained on."""
    return _accelerator().device


def measure(recipe: Recipe, base: Path, micro_s: float) -> dict[str, float]:
    """Return what one pass forward and back takes here: seconds for a second of sound, and bytes.

    ``fixed_bytes``: weights, gradients and the two moments of Adam; ``active_bytes``: activations.
    """
    device = _accelerator().device
    network = Network(recipe, base, 0)
    network.model.to(device).train()
    network.trained(frozen=False)
    half = precision(recipe.schedule, device)
    length = min(micro_s, 10.0 if device.type == "cpu" else micro_s)
    sound = torch.randn(1, round(length * RATE), device=device)
    before, active, taken = _memory(device), 0, 0.0
    for _ in range(2):
        began = time.perf_counter()
        with memory_errors(), _autocast(device, half):
            loss = network.model(sound).logits.float().square().mean()
            active = max(active, _memory(device) - before)
            loss.backward()
        if device.type == "cuda":
            torch.cuda.synchronize()
        taken = time.perf_counter() - began
    parameters = sum(one.numel() for one in network.model.parameters())
    return {
        "seconds": taken / length, "parameters": float(parameters),
        "fixed_bytes": 16.0 * parameters, "active_bytes": active * micro_s / length,
    }  # fmt: skip


def precision(plan: Schedule, device: Any) -> str:
    """Return the precision of a device: that of the recipe on a GPU, float32 (``no``) on a CPU."""
    return plan.half if device.type == "cuda" else "no"


def _last_checkpoint(folder: Path, tell: Tell) -> dict[str, Any] | None:
    """Return the newest checkpoint that is whole; None where there is none.

    ``torch.load`` does not compare the checksums that ``torch.save`` writes.
    """
    damaged = ""
    for path in (folder / CHECKPOINT, folder / BEFORE):
        try:
            with zipfile.ZipFile(path) as file:
                damaged = file.testzip() or ""
            if not damaged:
                return dict(torch.load(path, map_location="cpu", weights_only=True))
        except FileNotFoundError:
            continue
        except (zipfile.BadZipFile, RuntimeError, EOFError, pickle.UnpicklingError):
            damaged = "all"
        tell(note=f"{path} is damaged; the checkpoint before it is taken")
    if damaged:
        raise TabwbError(
            "its checkpoints are damaged", where=str(folder),
            hint="remove this folder: the same command trains this round from the beginning",
        )  # fmt: skip
    return None


def _accelerator() -> Accelerator:
    return Accelerator(cpu=not torch.cuda.is_available())


def _memory(device: Any) -> int:
    """Return the bytes in use; where the system does not say it, the most that were."""
    if device.type == "cuda":
        return int(torch.cuda.memory_allocated())
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


def read_curve(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a curve; a line that was cut short is left out."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["fer"] is not None]
    return [
        {key: int(value) if key == "update" else float(value)
         for key, value in row.items() if value != ""}
        for row in rows
    ]  # fmt: skip


def _rewrite(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    def write(draft: Path) -> None:
        with draft.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    _atomically(path, write)


def _append(path: Path, row: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)


def _atomically(path: Path, write: Callable[[Path], object], before: Path | None = None) -> None:
    """Write a file whole or not at all; what was there becomes the one ``before``."""
    draft = path.with_name(f"{path.name}.writing")
    if before and path.exists():
        before.unlink(missing_ok=True)  # there may be no room for three
    try:
        write(draft)
        sync_file(draft)
    except (OSError, RuntimeError, SafetensorError) as error:
        draft.unlink(missing_ok=True)
        free = size_text(shutil.disk_usage(path.parent).free)
        raise TabwbError(
            f"cannot be written; its disk has {free} free", where=str(path), hint=CONTINUES
        ) from error
    if before and path.exists():
        path.replace(before)
    draft.replace(path)
    sync_folder(path.parent)


def _seed(*numbers: int) -> None:
    """Seed what an update draws: masks by numpy, dropout and dropped layers by torch."""
    first, second = np.random.SeedSequence(numbers).generate_state(2).tolist()
    np.random.seed(first)
    torch.manual_seed(second)


def _autocast(device: Any, half: str) -> Any:
    if half == "no":
        return nullcontext()
    return torch.autocast(device.type, dtype=getattr(torch, half))


def _less(value: float | None, other: float | None) -> bool:
    return value is not None and (other is None or value < other)
