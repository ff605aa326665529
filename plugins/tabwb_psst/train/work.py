"""The work of one training, in a process of its own: sound, rounds, the folder that is read.

    python -m tabwb_psst.train JOB.json [--round N | --measure]

Every line of standard output is a JSON object; the last has ``done`` or ``error``. A job is
continued by the same command. The process ends by itself when standard input does (``--watched``).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tabwb.records.errors import Interrupted, TabwbError, error_text
from tabwb.records.system import NOTHING, PIPE, python, start
from tabwb_psst.train.card import write_result
from tabwb_psst.train.recipe import Recipe
from tabwb_psst.train.sources import Example, document_of, example_of

STOP = "stop"
"""A file of this name beside the job asks to stop after the update in progress."""


@dataclass(frozen=True)
class Job:
    """What was asked for; ``document`` is its file.

    Attributes:
        folder: of the job: sound, rounds, checkpoints.
        out: the folder of the result.
    """

    document: Mapping[str, Any]
    folder: Path
    out: Path
    recipe: Recipe
    examples: tuple[Example, ...]

    @classmethod
    def read(cls, path: Path) -> Job:
        """Read a job."""
        document = json.loads(path.read_text("utf-8"))
        recipe = Recipe.model_validate({**document["recipe"], "sources": document["sources"]})
        plan = recipe.schedule.scaled(document["scale"])
        examples = tuple(map(example_of, document["examples"]))
        return cls(document, path.parent, path.parent.parent,
                   recipe.model_copy(update={"schedule": plan}), examples)  # fmt: skip

    def round(self, number: int) -> Path:
        """Return the folder of a round."""
        return self.folder / f"round-{number}"

    def setting(self, number: int) -> Any:
        """Return what the loop of a round works with."""
        from tabwb_psst.train.loop import Setting

        document = self.document
        return Setting(Path(document["base"]), self.round(number), document["seed"],
                       document["micro_s"])  # fmt: skip


def tell(**fields: Any) -> None:
    """Write one line of progress."""
    print(json.dumps(fields), flush=True)


def main(arguments: Sequence[str]) -> int:
    """Do, continue or measure a job; return the exit status."""
    path = Path(arguments[0])
    if "--watched" in arguments:
        threading.Thread(target=_watch, daemon=True).start()
    try:
        job = Job.read(path)
        _use_threads(job.document["threads"])
        if "--measure" in arguments:
            from tabwb_psst.train.loop import measure

            tell(done=measure(job.recipe, Path(job.document["base"]), job.document["micro_s"]))
        elif "--round" in arguments:
            _train(job, int(arguments[arguments.index("--round") + 1]))
        else:
            tell(done=work(job))
    except Interrupted as stopped:
        tell(stopped=stopped.message)
        return 3
    except TabwbError as error:
        tell(error={"message": error.message, "where": error.where, "hint": error.hint})
        return 1
    except OSError as error:
        tell(error={"message": f"cannot be written or read: {error.strerror}",
                    "where": str(error.filename or ""), "hint": None})  # fmt: skip
        return 1
    except Exception as error:  # noqa: BLE001 - the edge of the process
        import traceback

        traceback.print_exc()
        tell(
            error={"message": f"training failed: {error_text(error)}", "where": None, "hint": None}
        )
        return 1
    return 0


def work(job: Job) -> dict[str, Any]:
    """Do what is left of a job; return what was reached."""
    examples = _prepared(job)
    pool = [one for one in examples if one.labels is None]
    labelled = [one for one in examples if one.labels is not None]
    pseudo = job.recipe.pseudo if pool else None
    best, reached = 0, list[dict[str, Any]]()
    for number in range((pseudo.rounds if pseudo else 0) + 1):
        kept = _pseudo(job, best, pool) if number else []
        if number and not kept:
            tell(note=f"no clip has a mean confidence of {pseudo.threshold if pseudo else 0:g}")
            break
        file = job.round(number) / "examples.json"
        if not file.exists():  # training that is continued reads the same
            file.parent.mkdir(exist_ok=True)
            _write(file, json.dumps([document_of(one) for one in labelled + kept]))
        result = _round(job, number)
        result |= {"round": number, "pseudo_clips": len(kept),
                   "pseudo_hours": sum(one.seconds for one in kept) / 3600}  # fmt: skip
        reached.append(result)
        if number and not _better(result, reached[best]):
            break
        best = number
    from tabwb_psst.train.loop import best_network

    network = best_network(job.recipe, job.setting(best))
    result = write_result(job, network, reached, best, examples)
    for left in (job.folder / "sound", *(job.round(n) for n in range(len(reached)))):
        shutil.rmtree(left, ignore_errors=True)
    return result


def _prepared(job: Job) -> list[Example]:
    """Make the conditioned copies; what cannot be read is left out and told."""
    from tabwb_psst.train.sound import prepare

    impulses = job.document["impulses"]
    longest_s = job.recipe.pseudo.longest_s if job.recipe.pseudo else 0.0
    ready: list[Example] = []
    folder, total = job.folder / "sound", len(job.examples)
    for number, made in prepare(
        folder, job.examples, Path(impulses) if impulses else None, longest_s
    ):
        if isinstance(made, TabwbError):
            tell(problem=str(made))
        else:
            ready += made
        tell(part="sound", done=number + 1, planned=total)
        if (job.folder / STOP).exists():
            raise Interrupted(f"stopped after the sound of {number + 1} of {total} clips")
    return ready


def _round(job: Job, number: int) -> dict[str, Any]:
    """Train one round to its end; several processes by accelerate."""
    result = job.round(number) / "result.json"
    if not result.exists():
        processes = job.document["processes"]
        if processes > 1:
            _launch(job, number, processes)
        else:
            _train(job, number)
    found: dict[str, Any] = json.loads(result.read_text("utf-8"))
    return found


def _launch(job: Job, number: int, processes: int) -> None:
    options = ["--num_processes", str(processes), "--num_machines", "1", "--mixed_precision", "no",
               "--dynamo_backend", "no", "--main_process_port", "0"]  # fmt: skip
    if job.document["cpu"]:
        options.append("--cpu")
    command = python("accelerate.commands.launch", *options, "-m", "tabwb_psst.train",
                     str(job.folder / "job.json"), "--round", str(number))  # fmt: skip
    child = start(command, os.environ, stdin=NOTHING, stdout=PIPE, stderr=2, apart=False)
    assert child.stdout is not None
    failure: dict[str, Any] = {"message": "training ended early", "where": None, "hint": None}
    for line in child.stdout:
        told = json.loads(line) if line.startswith(b"{") else {}
        if "stopped" in told:
            raise Interrupted(told["stopped"])
        if "error" in told:
            failure = told["error"]
        elif told:
            tell(**told)
    if child.wait():
        raise TabwbError(failure["message"], where=failure["where"], hint=failure["hint"])


def _train(job: Job, number: int) -> None:
    from tabwb_psst.train.loop import train

    folder = job.round(number)
    examples = [
        example_of(one) for one in json.loads((folder / "examples.json").read_text("utf-8"))
    ]
    leads = os.environ.get("RANK", "0") == "0"
    found = train(
        job.recipe, job.setting(number), examples,
        partial(tell, part="train", round=number) if leads else lambda **told: None,
        (job.folder / STOP).exists,
    )  # fmt: skip
    if leads:
        _write(folder / "result.json", json.dumps(found))


def _pseudo(job: Job, number: int, pool: Sequence[Example]) -> list[Example]:
    """Return the unlabelled clips that a round's model is sure of, with what it heard."""
    pseudo = job.recipe.pseudo
    assert pseudo is not None
    file = job.round(number) / "pseudo.json"
    if not file.exists():
        from tabwb_psst.train.loop import best_network, heard, training_device

        network, device = best_network(job.recipe, job.setting(number)), training_device()
        network.model.to(device)
        found: list[Any] = []
        for at, _, labels, confidence in heard(network, pool, device, job.document["micro_s"]):
            found.append((at, labels, confidence))
            tell(part="pseudo-labels", round=number, done=len(found), planned=len(pool))
        _write(file, json.dumps(sorted(found)))
    kept = []
    for at, labels, confidence in json.loads(file.read_text("utf-8")):
        if labels and confidence >= pseudo.threshold:
            weight = confidence if pseudo.weighted else 1.0
            kept.append(replace(pool[at], labels=tuple(labels), weight=weight))
    return kept


def _better(result: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return result["per"] is not None and (other["per"] is None or result["per"] < other["per"])


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f"{path.name}.writing")
    draft.write_text(text, "utf-8")
    draft.replace(path)


def _use_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)


def _watch(read: Callable[[], str] | None = None) -> None:
    """End this process and those it has started when whoever started it has ended."""
    (read or sys.stdin.read)()
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
