"""``psst train``: a system of the challenge trained again, or a recipe of one's own."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from tabwb.plugin_api import (
    Arg,
    MissingExtra,
    Operation,
    TabwbError,
    Told,
    Tools,
    UsageError,
)
from tabwb.records.columns import Column
from tabwb.records.errors import Interrupted
from tabwb.records.files import (
    claim,
    make_private_folder,
    release,
    sha256_of,
    write_private,
)
from tabwb.records.system import PIPE, child_environ, kill_group, python, start
from tabwb.records.words import plural, size_text
from tabwb.tables.table import Table, table_of
from tabwb_psst.train.card import DONE
from tabwb_psst.train.recipe import SOURCES_TOLD, Recipe, read_recipe
from tabwb_psst.train.sources import Chosen, choose, document_of, places_of
from tabwb_psst.train.work import STOP, read_json

if TYPE_CHECKING:
    from tabwb.plugin_api import Plugins

WORK = "training"
"""Folder of the unfinished training, inside that of the result."""
SMALL = 50_000_000
"""With fewer parameters one thread is faster than several."""
MICRO_S = {"cpu": 40.0, "gpu": 80.0}
"""Seconds of sound that are computed at once [ours]."""
BARS = "▁▂▃▄▅▆▇█"
ENCODERS = "encoders"


@dataclass(frozen=True, kw_only=True)
class Train(Operation):
    """Train a transcriber of phonemes by a recipe of the PSST challenge.

    psst-a is the baseline, mo1 to mo7 and y1 to y7 are the submissions. The values of a recipe,
    each with its source, are under --dry-run and in the card of the result. Sound is conditioned as
    'transcribe' does. The folder of the result is then a transcriber: wav2vec2:FOLDER. Nothing is
    fetched: the pretrained encoder and the corpora are folders on this computer.

    The same command continues a training that was stopped, from its last checkpoint.
    """

    NAME, TITLE, DOING, TOLD = "psst train", "Train a transcriber", "Training", "update"
    ESTIMATE: ClassVar[str] = (
        "Only print the schedule, hours, updates, memory and the time on this computer."
    )
    SAFE: ClassVar[str] = "a checkpoint is written"
    TABLES: ClassVar[bool] = True
    CONTINUES: ClassVar[str] = "Training continues from the last checkpoint."
    recipe: Annotated[
        str,
        Arg("psst-a, mo1 to mo7, y1 to y7, or a TOML file of your own.", "Recipe",
            metavar="RECIPE"),
    ] = "psst-a"  # fmt: skip
    data: Annotated[
        tuple[str, ...],
        Arg("A folder of PSST, TIMIT or LibriSpeech; or psst:, timit:, librispeech:, unlabelled: "
            "with a folder; or store:, store:KEY=VALUE for responses of the store that a person "
            "transcribed.", "Data", metavar="[KIND:]FOLDER", names=True,
            more="Several with commas between."),
    ]  # fmt: skip
    out: Annotated[Path, Arg("The folder of the trained model.", "Result", metavar="FOLDER",
                             kind="new")]  # fmt: skip
    base: Annotated[
        Path | None,
        Arg("Folder of the pretrained encoder, as save_pretrained() of transformers writes it; "
            "default: that of the recipe, in your data folder.", "Encoder", metavar="FOLDER",
            blank="that of the recipe, in your data folder"),
    ] = None  # fmt: skip
    scale: Annotated[
        float,
        Arg("Multiply the updates of the schedule, and divide the learning rate, up to 0.001.",
            "Scale", low=0, high=10, above=True),
    ] = 1.0  # fmt: skip
    seed: Annotated[
        int | None,
        Arg("Of order, masks, output layer and perturbations; default: the recipe's.", "Seed",
            low=0, high=2**31, blank="the recipe's"),
    ] = None  # fmt: skip
    impulses: Annotated[
        Path | None,
        Arg("Impulse responses of rooms, for recipes with rooms; else rooms are simulated.",
            "Impulses", metavar="FOLDER", blank="simulated rooms"),
    ] = None  # fmt: skip
    threads: Annotated[
        int | None,
        Arg("Threads of the processor; default: 1 for a small encoder, else all.", "Threads",
            low=1, high=1024, short=True, blank="automatic"),
    ] = None  # fmt: skip
    processes: Annotated[
        int | None,
        Arg("GPUs that share each update; default: all.", "GPUs", low=1, high=64, short=True,
            blank="all"),
    ] = None  # fmt: skip

    @property
    def writes(self) -> bool:
        """That recordings of the store were heard is logged."""
        return any(one.partition(":")[0] == "store" for one in self.data)

    @property
    def about(self) -> str:
        """The recipe and the folder."""
        return f"{self.recipe} into {self.out.name}"

    def check(self, plugins: Plugins) -> None:
        """Check the recipe, what it needs, and which data are given."""
        recipe = read_recipe(self.recipe)
        for module in ("torch", "transformers", "accelerate", "soundfile", "scipy"):
            if find_spec(module) is None:
                raise MissingExtra("training", "psst", package=module)
        if any(one.kind in ("pitch", "time") for one in recipe.augment) and not find_spec(
            "python_stretch"
        ):
            raise MissingExtra("perturbing recordings", "psst", package="python_stretch")
        places_of(self.data, recipe)

    def estimate(self, tools: Tools) -> Iterator[Told]:
        """Tell what training would take; the encoder is tried for two passes."""
        recipe = read_recipe(self.recipe)
        yield Told("reading the corpora")
        chosen = self._chosen(tools, recipe)
        plan = recipe.schedule.scaled(self.scale)
        training = sum(one.seconds for one in chosen.examples
                       if one.split == "train" and one.labels is not None)  # fmt: skip
        document = tools.document
        document |= {
            "recipe": recipe.id, "title": recipe.title, "scale": self.scale,
            "updates": plan.updates, "warmup": plan.warmup, "hold": plan.hold, "decay": plan.decay,
            "frozen": plan.frozen, "learning_rate": plan.learning_rate,
            "batch_s": plan.batch_samples / 16_000, "hours": chosen.hours(),
            "epochs": plan.updates * min(plan.batch_samples / 16_000, training) / training,
            "notes": chosen.notes,
            "values": [dict(zip(("key", "value", "source"), fact, strict=True))
                       for fact in recipe.facts()],
        }  # fmt: skip
        document["base"] = str(self._base(recipe, tools))
        base = self._checked_base(recipe, tools)
        yield Told("trying the encoder")
        with TemporaryDirectory(prefix="tabwb-") as folder:
            job = self._document(recipe, chosen, base)
            write_private(Path(folder) / WORK / "job.json", json.dumps(job))
            measured = next(told["done"] for told in _told(Path(folder) / WORK, tools, "--measure")
                            if "done" in told)  # fmt: skip
        rounds = 1 + (recipe.pseudo.rounds if recipe.pseudo else 0)
        valid = sum(one.seconds for one in chosen.examples if one.split == "valid")
        per_update = min(plan.batch_samples / 16_000, training) * measured["seconds"]
        validations = plan.updates // plan.validate_every + 1
        total_s = plan.updates * per_update + validations * valid * measured["seconds"] / 3
        sound = sum(one.seconds for one in chosen.examples) * 32_000
        document |= {
            "parameters": int(measured["parameters"]),
            "memory_bytes": int(measured["fixed_bytes"] + measured["active_bytes"]),
            "disk_bytes": int(sound + measured["fixed_bytes"] * 1.75), "rounds": rounds,
            "seconds_per_update": per_update, "seconds": total_s * rounds,
        }  # fmt: skip

    def run(self, tools: Tools) -> Iterator[Told]:
        """Train, or continue."""
        recipe = read_recipe(self.recipe)
        with _held(self.out) as work:
            yield from self.prepare(tools, work)
            curve: list[float] = []
            per = ""
            for told in _told(work, tools):
                if "problem" in told:
                    yield Told(problem=f"left out: {told['problem']}")
                elif "note" in told:
                    tools.say(told["note"])
                elif told.get("part") == "sound":
                    done, planned = told["done"], told["planned"]
                    yield Told("", done, planned, done, what="clip conditioned")
                elif told.get("part") == "pseudo-labels":
                    done, planned = told["done"], told["planned"]
                    yield Told("", done, planned, done, what="clip labelled")
                elif "begins" in told:
                    curve = [row["loss"] for row in told["rows"]]
                    planned, begins = told["updates"], told["begins"]
                    named = f"round {told['round']}" if recipe.pseudo else "training"
                    words = f"{planned} updates on {told['device']}"
                    words += f", from update {begins} on" if begins else ""
                    yield Told(words, begins, planned, part=named)
                elif "update" in told:
                    row = told["row"]
                    curve.append(row["loss"])
                    if told["best"]:
                        per = f"  PER {_percent(row.get('per', told['best']['per']))}"
                        per += f" (best {_percent(told['best']['per'])})"
                    words = f"loss {row['loss']:.3f} {sparkline(curve)}{per}"
                    yield Told(words, told["update"], planned, told["update"])
                elif "done" in told:
                    tools.document.update(told["done"])
            tools.tables.append((_rates(tools.document), f"Error rates of {self.out.name}"))
            _clear(work)

    def lines(self, document: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the estimate, or what was reached."""
        if "rates" in document:
            yield from _reached(document)
        elif "recipe" in document:
            yield from _estimated(document)

    def brief(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what a dialog shows."""
        return self.lines(document)

    def _base(self, recipe: Recipe, tools: Tools) -> Path:
        """Return the folder of the encoder."""
        if self.base is not None:
            return self.base.absolute()
        name = recipe.encoder.id.rpartition("/")[2]
        return tools.plugins.configuration.data_dir.absolute() / ENCODERS / name

    def _checked_base(self, recipe: Recipe, tools: Tools) -> Path:
        base = self._base(recipe, tools)
        if not (base / "config.json").is_file() or not _weights(base):
            what = "there is no such folder" if not base.is_dir() else "this is not an encoder"
            raise UsageError(
                f"{what}: {recipe.id} begins with {recipe.encoder.name}", where=str(base),
                allowed="a folder with config.json and model.safetensors",
                hint=f"where there is a network: hf download {recipe.encoder.id} --local-dir "
                f"\"{base}\"\nor copy that folder from another computer; tabwb fetches nothing",
            )  # fmt: skip
        return base

    def _chosen(self, tools: Tools, recipe: Recipe) -> Chosen:
        from tabwb_psst.train.stored import stored_examples

        places = places_of(self.data, recipe)
        seed = recipe.schedule.seed if self.seed is None else self.seed
        return choose(recipe, places, seed, lambda where: stored_examples(tools, where))

    def _asked(self, recipe: Recipe, base: Path) -> dict[str, Any]:
        """Return what makes a training the same."""
        return {
            "recipe": recipe.model_dump(mode="json"), "scale": self.scale,
            "seed": recipe.schedule.seed if self.seed is None else self.seed,
            "data": places_of(self.data, recipe), "base_sha256": _hash(base),
            "impulses": None if self.impulses is None else str(self.impulses.absolute()),
        }  # fmt: skip

    def _document(self, recipe: Recipe, chosen: Chosen, base: Path) -> dict[str, Any]:
        gpus = _gpus()
        parameters = sum(one.stat().st_size for one in _weights(base)) / 4
        threads = 1 if parameters < SMALL else os.cpu_count() or 1
        return {
            **self._asked(recipe, base), "sources": recipe.sources, "base": str(base),
            "threads": self.threads or threads, "processes": self.processes or max(gpus, 1),
            "micro_s": MICRO_S["gpu" if gpus else "cpu"], "notes": chosen.notes,
            "hours": chosen.hours(), "examples": [document_of(one) for one in chosen.examples],
        }  # fmt: skip

    def prepare(self, tools: Tools, work: Path) -> Iterator[Told]:
        """Write the job into a folder, or check that the one that is there is the same."""
        recipe = read_recipe(self.recipe)
        base, file = self._checked_base(recipe, tools), work / "job.json"
        done = self.out / DONE
        if done.exists() or file.exists():
            there = read_json(done if done.exists() else file)
            for name, value in self._asked(recipe, base).items():
                if name in there and there[name] != value:
                    raise UsageError(
                        f"another training is there: its {name.replace('_', ' ')} differs",
                        where=str(self.out), hint="give another folder with --out, or the same "
                        "values to continue",
                    )  # fmt: skip
            if done.exists():
                tools.say(f"{self.out} is trained already")
                tools.document.update(there)
                return
        if file.exists():
            from tabwb_psst.train.stored import check_again

            check_again(tools, there["examples"])
            return
        yield Told("reading the corpora")
        chosen = self._chosen(tools, recipe)
        for note in chosen.notes:
            tools.say(note)
        write_private(file, json.dumps(self._document(recipe, chosen, base)))


@contextmanager
def _held(out: Path) -> Iterator[Path]:
    """Hold the folder of a training while it works, so that no other continues it as well."""
    if out.exists() and not out.is_dir():
        raise UsageError("is not a folder", where=str(out))
    ours = (out / DONE).exists() or (out / WORK).is_dir()
    if out.is_dir() and not ours and any(out.iterdir()):
        raise UsageError("the folder is not empty and holds no training", where=str(out),
                         hint="give a new folder")  # fmt: skip
    make_private_folder(out / WORK)
    mark = claim(out / WORK / "lock")
    if mark is None:
        raise TabwbError("another process is training into this folder", where=str(out))
    try:
        yield out / WORK
    finally:
        release(mark, out / WORK / "lock")
        if not (out / WORK / "job.json").exists():
            _clear(out / WORK)


def _clear(work: Path) -> None:
    shutil.rmtree(work, ignore_errors=True)


def _told(work: Path, tools: Tools, *more: str) -> Iterator[dict[str, Any]]:
    """Run the process that trains; yield what it tells. Cancelling stops it after its update."""
    if (work.parent / DONE).exists():
        return
    (work / STOP).unlink(missing_ok=True)
    environ = child_environ(os.environ) | {
        "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1", "TQDM_DISABLE": "1", "PYTHONWARNINGS": "ignore",
    }  # fmt: skip
    ended, over = {}, threading.Event()
    with (work / "log.txt").open("ab") as log:
        command = python("tabwb_psst.train", str(work / "job.json"), "--watched", *more)
        child = start(command, environ, stdin=PIPE, stdout=PIPE, stderr=log)
        threading.Thread(target=_stops, args=(tools, work / STOP, over), daemon=True).start()
        try:
            assert child.stdout is not None
            for line in child.stdout:
                if line.startswith(b"{"):
                    ended = json.loads(line)
                    yield ended
            child.wait()
        finally:
            over.set()
            kill_group(child)
            child.wait()
            for stream in (child.stdin, child.stdout):
                if stream is not None:
                    stream.close()
    if error := ended.get("error"):
        raise TabwbError(**error)
    if "stopped" in ended:
        raise Interrupted(ended["stopped"], hint=f"{tools.same} continues")
    if "done" not in ended:
        raise TabwbError(
            f"the process that trains ended early (status {child.returncode})",
            where=str(work / "log.txt"), hint=f"{tools.same} continues from the last checkpoint",
        )  # fmt: skip


def _stops(tools: Tools, file: Path, over: threading.Event) -> None:
    while not over.is_set():
        if tools.cancel.wait(0.2):
            file.touch()
            return


def _weights(base: Path) -> list[Path]:
    return sorted([*base.glob("*.safetensors"), *base.glob("*.bin")])


def _hash(base: Path) -> str:
    """Return the SHA-256 of an encoder's weights; of several files, of theirs."""
    found = [sha256_of(one) for one in _weights(base)]
    return found[0] if len(found) == 1 else sha256("".join(found).encode()).hexdigest()


def _gpus() -> int:
    """Return how many GPUs of NVIDIA there are, without torch, which stalls the screen."""
    if (chosen := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return len([one for one in chosen.split(",") if one.strip() not in ("", "-1")])
    return len(list(Path("/proc/driver/nvidia/gpus").glob("*")))


def sparkline(values: Sequence[float], width: int = 16) -> str:
    """Return a curve of bars from the least to the largest, on the scale of the logarithm.

    >>> sparkline([100, 10, 1])
    '█▅▁'
    """
    import math

    size = max(math.ceil(len(values) / width), 1)
    parts = [values[at : at + size] for at in range(0, len(values), size)]
    logs = [math.log(max(1e-6, sum(part) / len(part))) for part in parts]  # so nan is 1e-6
    low, high = min(logs, default=0.0), max(logs, default=0.0)
    top = len(BARS) - 1
    return "".join(
        BARS[round((log - low) / (high - low) * top) if high > low else 0] for log in logs
    )


def _percent(share: float | None) -> str:
    return "undefined" if share is None else f"{100 * share:.1f} %"


def _estimated(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"{document['title']} ({document['recipe']})"
    yield (
        f"{document['updates']} updates: {document['warmup']} warm-up, {document['hold']} hold, "
        f"{document['decay']} decay; the first {document['frozen']} train the output layer alone; "
        f"learning rate {document['learning_rate']:g}; {document['batch_s']:g} s an update; "
        f"{document['epochs']:.1f} epochs"
    )
    yield "hours: " + ", ".join(f"{name} {hours:.3g}" for name, hours in document["hours"].items())
    yield from document["notes"]
    yield f"encoder: {document['base']}"
    if "seconds" in document:
        yield (
            f"{document['parameters'] / 1e6:.1f} million parameters; memory "
            f"{size_text(document['memory_bytes'])}, disk {size_text(document['disk_bytes'])}"
        )
        many = f", at most {document['rounds']} rounds" if document["rounds"] > 1 else ""
        yield (
            f"on this computer {document['seconds_per_update']:.2f} s an update, "
            f"{document['seconds'] / 3600:.2f} h in all{many}"
        )
    yield f"values of the recipe ({SOURCES_TOLD}):"
    for fact in document["values"]:
        yield f"  {fact['key']} = {fact['value']}  [{fact['source']}]"


def _reached(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"trained: wav2vec2:{document['folder']}"
    yield f"best on validation after {plural(document['best_update'], 'update')}"


def _rates(document: Mapping[str, Any]) -> Table:
    rows = [
        (split, *(row[name] for name in ("group", "utterances", "phonemes", "per", "fer")))
        for split, rows in document["rates"].items()
        for row in rows
    ]
    columns = [
        Column("split", "Split", "the part of the corpus"),
        Column("severity", "Severity", "by the Aphasia Quotient, or all"),
        Column("utterances", "Utterances", "how many", "integer"),
        Column("phonemes", "Phonemes", "of the references", "integer"),
        Column("per", "PER", "phoneme error rate", "number", "share", 1, percent=True),
        Column("fer", "FER", "feature error rate", "number", "share", 1, percent=True),
    ]
    return table_of("rates", columns, rows)
