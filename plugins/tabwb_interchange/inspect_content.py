"""What a log of inspect_ai says of an administration: header, samples and their summaries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from tabwb_interchange import ours
from tabwb_interchange.fields import Mean, Scores, scores_of

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
