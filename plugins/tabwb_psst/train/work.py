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
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabwb.records.errors import Interrupted, TabwbError, error_text
from tabwb.records.files import write_private
from tabwb.records.system import python, start
from tabwb.records.words import plural
from tabwb_psst.train.card import write_result
from tabwb_psst.train.recipe import Recipe
from tabwb_psst.train.sources import Example, document_of, example_of

if TYPE_CHECKING:
    import subprocess

STOP = "stop"
"""A file of this name beside the job asks to stop after the update in progress."""
STOPPED = 3
"""The exit status of a process that was asked to stop."""


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
        document = read_json(path)
        recipe = Recipe.model_validate({**document["recipe"], "sources": document["sources"]})
        plan = recipe.schedule.scaled(document["scale"])
        examples = tuple(map(example_of, document["examples"]))
        return cls(document, path.parent, path.parent.parent,
                   recipe.model_copy(update={"schedule": plan}), examples)  # fmt: skip

    def round(self, number: int) -> Path:
        """Return the folder of a round."""
        return self.folder / f"round-{number}"

    @property
    def prepared(self) -> Path:
        """The file of the examples as conditioned copies, and of what was left out."""
        return self.folder / "prepared.json"

    def setting(self, number: int) -> Any:
        """Return what the loop of a round works with."""
        from tabwb_psst.train.loop import Setting

        document = self.document
        return Setting(Path(document["base"]), self.round(number), document["seed"],
                       document["micro_s"])  # fmt: skip


def tell(**fields: Any) -> None:
    """Write one line of progress."""
    sys.stdout.write(json.dumps(fields) + "\n")  # at once: processes share the stream
    sys.stdout.flush()


def read_json(path: Path) -> Any:
    """Return what a file of a training holds."""
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise TabwbError(
            f"is damaged: {error}", where=str(path),
            hint="remove this file: the same command makes it again",
        ) from error  # fmt: skip


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
        return STOPPED
    except TabwbError as error:
        tell_error(error)
        return 1
    except OSError as error:
        where = str(error.filename or path.parent)
        tell_error(TabwbError(f"cannot be written or read: {error.strerror}", where=where))
        return 1
    except Exception as error:  # noqa: BLE001 - the edge of the process
        import traceback

        traceback.print_exc()
        tell_error(TabwbError(f"training failed: {error_text(error)}"))
        return 1
    return 0


def tell_error(error: TabwbError) -> None:
    """Write the last line of a process that failed: what the error is made of."""
    tell(error={key: getattr(error, key) for key in ("message", "where", "allowed", "hint")})


def work(job: Job) -> dict[str, Any]:
    """Do what is left of a job; return what was reached."""
    examples, notes = _prepared(job)
    pool = [one for one in examples if one.labels is None]
    pseudo = job.recipe.pseudo if pool else None
    best, reached = 0, list[dict[str, Any]]()
    for number in range((pseudo.rounds if pseudo else 0) + 1):
        kept = _pseudo(job, best, pool) if number else []
        if number and not kept:
            tell(note=f"no clip has a mean confidence of {pseudo.threshold if pseudo else 0:g}")
            break
        result = _round(job, number)
        result |= {"round": number, "pseudo_clips": len(kept),
                   "pseudo_hours": sum(one.seconds for one in kept) / 3600}  # fmt: skip
        reached.append(result)
        if number and not _better(result, reached[best]):
            break
        best = number
    from tabwb_psst.train.loop import best_network

    network = best_network(job.recipe, job.setting(best))
    result = write_result(job, network, reached, best, examples, notes)
    for left in (job.folder / "sound", *(job.round(n) for n in range(len(reached)))):
        shutil.rmtree(left, ignore_errors=True)
    return result


def _prepared(job: Job) -> tuple[list[Example], list[str]]:
    """Make the conditioned copies; what cannot be read is left out, told, and noted.

    Training that is continued takes the same ones, wherever the corpora are by then.
    """
    from tabwb_psst.train.sound import prepare

    if job.prepared.exists():
        document = read_json(job.prepared)
        return list(map(example_of, document["examples"])), document["notes"]
    impulses = job.document["impulses"]
    longest_s = job.recipe.pseudo.longest_s if job.recipe.pseudo else 0.0
    ready, wrong = list[Example](), 0
    folder, total = job.folder / "sound", len(job.examples)
    for number, made in prepare(
        folder, job.examples, Path(impulses) if impulses else None, longest_s
    ):
        if isinstance(made, TabwbError):
            tell(problem=str(made))
            wrong += 1
        else:
            ready += made
        tell(part="sound", done=number + 1, planned=total)
        if (job.folder / STOP).exists():
            raise Interrupted(f"stopped after the sound of {number + 1} of {total} clips")
    if not any(one.split == "train" and one.labels is not None for one in ready):
        raise TabwbError("no clip can be trained on", where=str(folder))
    notes = [f"{plural(wrong, 'clip')} left out: the sound cannot be read"] if wrong else []
    documents = [document_of(one) for one in ready]
    write_private(job.prepared, json.dumps({"examples": documents, "notes": notes}))
    return ready, notes


def _round(job: Job, number: int) -> dict[str, Any]:
    """Train one round to its end; several processes by accelerate."""
    result = job.round(number) / "result.json"
    if not result.exists():
        processes = job.document["processes"]
        if processes > 1:
            _launch(job, number, processes)
        else:
            _train(job, number)
    found: dict[str, Any] = read_json(result)
    return found


def _launch(job: Job, number: int, processes: int) -> None:
    """Train a round in several processes, as accelerate finds them in the environment.

    They are of this process's group and end with it; those that torch starts would not. One that
    fails ends the others, which would wait for it.
    """
    port = free_port()
    command = python("tabwb_psst.train", str(job.folder / "job.json"), "--round", str(number))
    reading, writing = os.pipe()
    children = []
    for rank in range(processes):
        environ = {**os.environ, **shared(rank, processes, port)}
        children.append(start(command, environ, stdout=writing, stderr=2, apart=False))
    os.close(writing)
    for child in children:
        threading.Thread(target=_end_together, args=(child, children), daemon=True).start()
    failure: TabwbError | None = None
    with os.fdopen(reading, "rb") as lines:
        for told in (json.loads(line) for line in lines if line.startswith(b"{")):
            if "stopped" in told:
                failure = Interrupted(told["stopped"])
            elif "error" in told:  # the others then fail for want of this process
                failure = failure or TabwbError(**told["error"])
            else:
                tell(**told)
    if any(child.wait() for child in children):
        log = str(job.folder / "log.txt")
        raise failure or TabwbError("a process that trains ended early", where=log)


def free_port() -> int:
    """Return a port of this computer that nobody listens to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def shared(rank: int, processes: int, port: int) -> dict[str, str]:
    """Return the environment by which accelerate finds the other processes."""
    return {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(processes),
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}  # fmt: skip


def _end_together(
    child: subprocess.Popen[bytes], others: Sequence[subprocess.Popen[bytes]]
) -> None:
    if child.wait() not in (0, STOPPED):
        for other in others:
            other.kill()


def _train(job: Job, number: int) -> None:
    from tabwb_psst.train.loop import train

    examples, _ = _prepared(job)
    pool = [one for one in examples if one.labels is None]
    examples += _pseudo(job, number - 1, pool) if number else []
    leads = os.environ.get("RANK", "0") == "0"
    found = train(
        job.recipe, job.setting(number), examples,
        partial(tell, part="train", round=number) if leads else lambda **told: None,
        (job.folder / STOP).exists,
    )  # fmt: skip
    if leads:
        write_private(job.round(number) / "result.json", json.dumps(found))


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
        write_private(file, json.dumps(sorted(found)))
    kept = []
    for at, labels, confidence in read_json(file):
        if labels and confidence >= pseudo.threshold:
            weight = confidence if pseudo.weighted else 1.0
            kept.append(replace(pool[at], labels=tuple(labels), weight=weight))
    return kept


def _better(result: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return result["per"] is not None and (other["per"] is None or result["per"] < other["per"])


def _use_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)


def _watch(read: Callable[[], str] | None = None) -> None:
    """End this process and those it has started when whoever started it has ended."""
    (read or sys.stdin.read)()
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
