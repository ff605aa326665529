"""Writes logs of inspect_ai: one ``.eval`` file for each administration.

Written against the schema of inspect_ai 0.3.285 (log format version 2) without importing it: a zip
archive with ``header.json``, ``summaries.json`` and one member for each sample. One response is one
sample; its replicate, counted from 1, is the epoch.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from tabwb.plugin_api import ComponentError, Exporter, write_with
from tabwb.records.files import open_private
from tabwb.records.words import RESEARCH_ONLY
from tabwb_interchange import ours
from tabwb_interchange.ours import Mean, Scores, scores_of
from tabwb_interchange.reading import new_folder

Json = dict[str, Any]
VERSION = 2
PACKAGE = "0.3.285"
"""The version of inspect_ai whose format this is."""
STOPS = {
    "end": "stop",
    "stop-string": "stop",
    "none": "stop",
    "length": "max_tokens",
    "refused": "content_filter",
}
"""Our stop reason to that of inspect_ai; any other one is ``unknown``."""
_THIN = 1000
"""The longest text of a summary."""


class LogContent:
    """The parts of a log of one administration."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._run = ours.ExportedRun(document)
        given, decoding = self._run.given, self._run.decoding
        self._samples = 0
        self._ids: dict[str, None] = {}
        self._means: dict[tuple[str, str], Mean] = {}
        self._usage = [0, 0]
        self._epochs = 1
        config = {name: decoding.get(name) for name in ("max_tokens", "temperature", "top_p")}
        config |= {"seed": given.get("seed"), "stop_seqs": decoding.get("stop") or None}
        self._config = {
            key: value for key, value in config.items() if value is not None and given["model"]
        }

    @property
    def spec(self) -> Json:
        """``eval`` of the header."""
        given, versions = self._run.given, self._run.versions
        return {
            "eval_id": given["uid"],
            "run_id": given["uid"],
            "created": given["created_at"],
            "task": given["battery"],
            "task_id": f"{given['battery']}@{given['battery_version']}",
            "task_version": given["battery_version"],
            "task_display_name": given["battery_title"],
            "task_attribs": {},
            "task_args": {},
            "task_args_passed": {},
            "dataset": {
                "name": given["battery"],
                "shuffled": given.get("item_order") == "shuffled",
            },
            "model": self._run.model,
            "model_generate_config": self._config,
            "model_args": {},
            "config": {"epochs": given.get("replicates") or 1, "log_samples": True},
            "packages": {
                "inspect_ai": PACKAGE,
                **{name: version for name, version in versions.items() if name != "python"},
            },
            "metadata": {
                "tabwb_version": versions.get("tabwb"),
                ours.KEY: self._run.block,
                **self._run.record,
            },
        }

    @property
    def plan(self) -> Json:
        """``plan`` of the header: one call of the model."""
        step = {"solver": "generate", "params": {}, "params_passed": {}}
        return {"name": "plan", "steps": [step], "config": self._config}

    def samples(self) -> Iterator[Json]:
        """Yield the samples; afterwards the header is known."""
        rotations: dict[tuple[str, str, int], int] = {}
        for trial in self._run.trials():
            place = trial["subtest"], trial["item"], trial["replicate"]
            rotation = rotations[place] = rotations.get(place, 0) + 1
            more = f".r{rotation}" if rotation > 1 else ""
            sample = self._sample(trial, f"{trial['subtest']}.{trial['item']}{more}")
            self._samples += 1
            self._ids[sample["id"]] = None
            self._epochs = max(self._epochs, sample["epoch"])
            yield sample

    def _sample(self, trial: Mapping[str, Any], name: str) -> Json:
        model, reply = self._run.model, trial.get("reply") or {}
        uid = f"{self._run.given['uid']}/{trial['number']}"
        sent = ours.sent(trial)
        turns = [
            {"id": _id(uid, at), "content": turn["content"], "source": "input",
             "role": turn["role"]}
            for at, turn in enumerate(sent)
        ]  # fmt: skip
        said = {
            "id": _id(uid, "reply"),
            "content": _content(trial),
            "source": "generate",
            "role": "assistant",
            "model": model,
        }
        scores = scores_of(trial)
        for rater, own in scores.items():
            for measure, value in own.values.items():
                self._means.setdefault((rater, measure), Mean()).add(value)
        ended = ours.counting(trial).get("recorded_at")
        latency = trial["latency_s"]
        usage = self._usage_of(reply)
        return {
            "id": name,
            "epoch": trial["replicate"] + 1,
            "input": sent,
            **({"choices": list(trial["options"])} if trial["options"] else {}),
            "target": trial.get("expected") or "",
            "messages": [*turns, said],
            "output": {
                "model": reply.get("model_version") or model,
                "choices": [
                    {
                        "message": said,
                        "stop_reason": STOPS.get(trial["stop_reason"] or "", "unknown"),
                    }
                ],
                "completion": trial["response"] or "",
                **({"usage": usage} if usage else {}),
                **({"time": latency} if latency is not None else {}),
            },
            "scores": {rater: _score(trial, own) for rater, own in scores.items()},
            "metadata": {
                "subtest": trial["subtest"],
                "item": trial["item"],
                "status": trial.get("effective_status"),
                "tags": list(trial.get("tags") or ()),
                ours.KEY: ours.answer_block(trial),
            },
            "store": {},
            "events": [],
            "model_usage": {model: usage} if usage else {},
            **_times(ended, latency),
            "uuid": _id(uid, "sample"),
            "attachments": {},
        }

    def _usage_of(self, reply: Mapping[str, Any]) -> Json:
        counted = reply.get("prompt_tokens"), reply.get("reply_tokens")
        if counted == (None, None):
            return {}
        tokens = [int(part or 0) for part in counted]
        self._usage = [before + more for before, more in zip(self._usage, tokens, strict=True)]
        return _tokens(tokens)

    def header(self) -> Json:
        """Return ``header.json``, once all samples are written."""
        given = self._run.given
        ids = list(self._ids)
        spec = self.spec
        spec["dataset"] |= {"samples": len(ids), "sample_ids": ids}
        spec["config"]["epochs"] = self._epochs
        raters = dict.fromkeys(rater for rater, _ in self._means)
        spec["scorers"] = [{"name": rater, "options": {}, "metadata": {}} for rater in raters]
        usage = _tokens(self._usage)
        done = given["status"] == "done"
        return {
            "version": VERSION,
            "status": "success" if done else "cancelled",
            "eval": spec,
            "plan": self.plan,
            "results": {
                "total_samples": self._samples,
                "completed_samples": self._samples,
                "scores": [
                    _metrics(rater, measure, mean) for (rater, measure), mean in self._means.items()
                ],
                "metadata": {"tabwb_summary": self._run.document.get("summary")},
            },
            "stats": {
                "started_at": given["created_at"],
                "completed_at": self._run.ended,
                "model_usage": {self._run.model: usage} if any(self._usage) else {},
                "role_usage": {},
                "connection_limit_history": [],
            },
            "invalidated": False,
        }


def _tokens(counted: Sequence[int]) -> Json:
    return {"input_tokens": counted[0], "output_tokens": counted[1], "total_tokens": sum(counted)}


def _metrics(rater: str, measure: str, mean: Mean) -> Json:
    values = {"mean": mean.value, "stderr": mean.standard_error}
    return {
        "name": measure,
        "scorer": rater,
        "scored_samples": mean.n,
        "unscored_samples": mean.missing,
        "params": {},
        "metrics": {
            name: {"name": name, "value": value, "params": {}}
            for name, value in values.items()
            if value is not None
        },
    }


def _score(trial: Mapping[str, Any], own: Scores) -> Json:
    return {
        "value": dict(own.values),
        "answer": trial["response"],
        "explanation": own.explanation or None,
        "metadata": {"status": dict(own.statuses)} if own.statuses else {},
        "history": [],
    }


def summary_of(sample: Mapping[str, Any]) -> Json:
    """Return the summary of a sample, for ``summaries.json``."""
    keys = (
        *("id", "epoch", "choices", "target", "scores", "model_usage"),
        *("started_at", "completed_at", "total_time", "working_time", "uuid"),
    )
    thin = {key: sample[key] for key in keys if key in sample}
    thin["input"] = _shortened(sample["input"][-1]["content"])
    thin["scores"] = {
        rater: {
            **score,
            "answer": _shortened(score["answer"] or ""),
            "explanation": score["explanation"] and _shortened(score["explanation"]),
        }
        for rater, score in sample["scores"].items()
    }
    metadata = sample["metadata"]
    thin["metadata"] = {key: metadata[key] for key in ("subtest", "item", "status", "tags")}
    return {
        **thin,
        "role_usage": {},
        "completed": True,
        "message_count": len(sample["messages"]),
        "retries": 0,
    }


def _shortened(text: str) -> str:
    return text if len(text) <= _THIN else text[: _THIN - 3] + "..."


def _times(ended: str | None, latency: float | None) -> Json:
    if not ended:
        return {}
    times: Json = {"completed_at": ended}
    if latency is not None:
        started = datetime.fromisoformat(ended) - timedelta(seconds=min(latency, 10**9))
        times |= {
            "started_at": started.isoformat(timespec="milliseconds"),
            "total_time": latency,
            "working_time": latency,
        }
    return times


def _id(*parts: object) -> str:
    """Return an id that depends on the parts alone, so that an export is the same every time."""
    text = "/".join(map(str, parts))
    return hashlib.sha256(text.encode()).hexdigest()[:22]


def _content(trial: Mapping[str, Any]) -> str | list[Json]:
    """Return what the model wrote, its reasoning as a part of its own."""
    response = trial["response"] or ""
    if not trial.get("reasoning"):
        return response
    return [
        {"type": "reasoning", "reasoning": trial["reasoning"]},
        {"type": "text", "text": response},
    ]


NOTE = (
    "A log of inspect_ai (format version 2, as inspect_ai 0.3.285 writes it): inspect view, or "
    "inspect_ai.log.read_eval_log. A sample is one counted response, its epoch the replicate from "
    "1. A score has the numbers of one scorer or judge by measure; a measure that is undefined, "
    "unparsed or in error is null, with its status in the score's metadata. The metrics are plain "
    "means over samples: identical responses that tabwb counts once are counted each time. tabwb's "
    "own summary, with intervals, is in the metadata of the results. Practice items are left out."
)
_MOMENT = (1980, 1, 1, 0, 0, 0)
_SPOOLED = 4 * 2**20


class InspectExporter(Exporter):
    """One ``.eval`` file, or a folder of them where the name does not end in ``.eval``."""

    suffix = ".eval"
    messages = True

    def export_stream(self, documents: Iterable[Mapping[str, Any]], out: Path) -> None:
        """Write the counted responses of documents, each as it is read."""
        if out.suffix == ".eval":
            rest = iter(documents)
            first = next(rest, None)
            if first is None:
                raise ComponentError("there are no administrations", where=str(out))
            _write(first, out)
            if next(rest, None) is not None:
                out.unlink(missing_ok=True)
                out.with_name(f"{out.name}.README.txt").unlink(missing_ok=True)
                raise ComponentError(
                    "a .eval file holds one administration",
                    where=str(out),
                    hint="name a new folder with --out, and each gets its own file in it",
                )
            return
        with new_folder(out, NOTE) as folder:
            for document in documents:
                with _opened(folder.path / _file_name(document["administration"])) as file:
                    _archive(document, file)
                folder.tell_of(document)


def _file_name(administration: Mapping[str, Any]) -> str:
    """Return the name of a log: when the administration began, its battery, its uid."""
    created = administration["created_at"].replace(":", "-").replace("+", "-").replace(".", "-")
    return f"{created}_{administration['battery']}_{administration['uid']}.eval"


def _write(document: Mapping[str, Any], out: Path) -> None:
    notes = list(dict.fromkeys([RESEARCH_ONLY, *document["notices"], NOTE]))

    def write(path: Path) -> None:
        with _opened(path) as file:
            _archive(document, file)

    write_with(out, write, notes)


def _opened(path: Path) -> IO[bytes]:
    return os.fdopen(open_private(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), "w+b")


def _archive(document: Mapping[str, Any], file: IO[bytes]) -> None:
    log = LogContent(document)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        start = {"version": VERSION, "eval": log.spec, "plan": log.plan}
        _member(archive, "_journal/start.json", start)
        with SpooledTemporaryFile(_SPOOLED) as summaries:
            for sample in log.samples():
                name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
                _member(archive, name, sample)
                summaries.write(b"," if summaries.tell() else b"[")
                summaries.write(_json(summary_of(sample)))
            summaries.write(b"]" if summaries.tell() else b"[]")
            summaries.seek(0)
            with archive.open(_info("summaries.json"), "w", force_zip64=True) as member:
                copyfileobj(summaries, member)
        _member(archive, "header.json", log.header())


def _member(archive: zipfile.ZipFile, name: str, value: object) -> None:
    archive.writestr(_info(name), _json(value))


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _MOMENT)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


def _json(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")
