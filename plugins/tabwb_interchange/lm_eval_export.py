"""Writes what lm-evaluation-harness writes with ``--log_samples``, in a folder.

Written against lm_eval 0.4.13 without importing it: ``MODEL/results_DATE.json``, and for each
subtest ``MODEL/samples_SUBTEST_DATE.jsonl`` with one line for each counted response.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from tabwb.plugin_api import Exporter
from tabwb.records.files import open_private
from tabwb_interchange import ours
from tabwb_interchange.fields import Mean, scores_of
from tabwb_interchange.reading import new_folder

Json = dict[str, Any]
VERSION = "0.4.13"
"""The version of lm_eval whose format this is."""
FILTER = "none"
NOTE = (
    "Output of lm-evaluation-harness with --log_samples, as lm_eval 0.4.13 writes it. A task is a "
    "subtest, and a document is one presentation of an item: replicates are documents of their "
    "own, so that each has its metrics. A metric is MEASURE of the subtest's only scorer, else "
    "SCORER/MEASURE; one that is undefined, unparsed or in error is null and not among 'metrics'. "
    "The results are plain means over documents: identical responses that tabwb counts once are "
    "counted each time. The key 'tabwb' of a line has the ratings with their reasons. Practice "
    "items are left out."
)
_UNSAFE = re.compile(r"[\"<>:/|\\?*\[\]]+")


class LmEvalExporter(Exporter):
    """A folder as lm_eval makes it under ``--output_path``."""

    suffix = ""
    messages = True

    def export_stream(self, documents: Iterable[Mapping[str, Any]], out: Path) -> None:
        """Write the counted responses of documents, each as it is read."""
        with new_folder(out, NOTE) as folder:
            for document in documents:
                _Run(document, folder.path).write()
                folder.tell_of(document)


def model_folder(model: str) -> str:
    """Return a model's name as lm_eval calls its folder.

    >>> model_folder("openai:org/model")
    'openai__org__model'
    """
    return _UNSAFE.sub("__", model)


class _Run:
    """The files of one administration."""

    def __init__(self, document: Mapping[str, Any], out: Path) -> None:
        self._run = ours.ExportedRun(document)
        self._folder = out / model_folder(self._run.model)
        self._date = self._run.given["created_at"].partition("+")[0].replace(":", "-")
        self._means: dict[str, dict[str, Mean]] = {}
        self._counts: dict[str, int] = {}
        self._hashes: dict[str, str] = {}

    def write(self) -> None:
        """Write samples and results."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        while (self._folder / f"results_{self._date}.json").exists():
            self._date += "0"  # two administrations began in one millisecond
        files: dict[str, TextIO] = {}
        try:
            for trial in self._run.trials():
                task = trial["subtest"]
                if task not in files:
                    files[task] = _opened(self._folder / f"samples_{task}_{self._date}.jsonl")
                files[task].write(_json(self._sample(task, trial)) + "\n")
        finally:
            for file in files.values():
                file.close()
        with _opened(self._folder / f"results_{self._date}.json") as file:
            json.dump(self._results(), file, ensure_ascii=False, allow_nan=False, indent=2)
            file.write("\n")

    def _sample(self, task: str, trial: Mapping[str, Any]) -> Json:
        doc = {
            "subtest": task,
            "item": trial["item"],
            "replicate": trial["replicate"],
            "prompt": trial["prompt"],
            "options": list(trial["options"]),
            "expected": trial.get("expected"),
        }
        reply = trial.get("reply") or {}
        target = trial.get("expected") or ""
        context, asked, resps = self._exchange(trial, reply)
        metrics: dict[str, float | None] = {}
        scores = scores_of(trial)
        alone = len(scores) == 1
        for rater, own in scores.items():
            for measure, value in own.values.items():
                metrics[measure if alone else f"{rater}/{measure}"] = value
        means = self._means.setdefault(task, {})
        for name, value in metrics.items():
            means.setdefault(name, Mean()).add(value)
        number = self._counts[task] = self._counts.get(task, -1) + 1
        hashes = [_hash(_json(doc, 2)), _hash(context), _hash(target)]
        self._hashes[task] = _hash(self._hashes.get(task, "") + "".join(hashes))
        return {
            "doc_id": number,
            "doc": doc,
            "target": target,
            "arguments": asked,
            "resps": resps,
            "filtered_resps": [each[0] for each in resps],
            "filter": FILTER,
            "metrics": [name for name, value in metrics.items() if value is not None],
            **dict(zip(("doc_hash", "prompt_hash", "target_hash"), hashes, strict=True)),
            **metrics,
            ours.KEY: ours.answer_block(trial),
        }

    def _exchange(
        self, trial: Mapping[str, Any], reply: Mapping[str, Any]
    ) -> tuple[str, Json, list[Any]]:
        """Return context, arguments and responses: options that were weighed, or a text."""
        turns = [{"role": turn["role"], "content": turn["content"]} for turn in ours.sent(trial)]
        context = turns[0]["content"] if len(turns) == 1 else _json(turns)
        weighed = reply.get("option_log_probabilities") or {}
        if weighed:
            asked = {
                f"gen_args_{at}": {"arg_0": context, "arg_1": f" {option}"}
                for at, option in enumerate(weighed)
            }
            # Whether the model would write the option by itself is not known.
            return context, asked, [[[str(value), "None"]] for value in weighed.values()]
        decoding = reply.get("decoding") or {}
        temperature = decoding.get("temperature")
        settings = {
            "until": decoding.get("stop"),
            "max_gen_toks": decoding.get("max_tokens"),
            "temperature": temperature,
            "top_p": decoding.get("top_p"),
            "seed": decoding.get("seed"),
            "do_sample": None if temperature is None else temperature > 0,
        }
        kept = {name: value for name, value in settings.items() if value is not None}
        asked = {"gen_args_0": {"arg_0": context, "arg_1": kept}}
        return context, asked, [[trial["response"] or ""]]

    def _results(self) -> Json:
        run, given = self._run, self._run.given
        tasks = list(self._counts)
        began = datetime.fromisoformat(given["created_at"]).timestamp()
        ended = datetime.fromisoformat(run.ended).timestamp()
        counts = {task: self._counts[task] + 1 for task in tasks}
        return {
            "results": {task: self._result(task, counts[task]) for task in tasks},
            "group_subtasks": {given["battery"]: tasks},
            "configs": {
                task: {
                    "task": task,
                    "tag": given["battery"],
                    "dataset_path": "tabwb",
                    "dataset_name": f"{given['battery']}/{task}",
                    "output_type": "generate_until",
                    "repeats": 1,
                    "metadata": {
                        "version": given["battery_version"],
                        "battery": given["battery"],
                        "battery_sha256": given["battery_hash"],
                    },
                }
                for task in tasks
            },
            "versions": dict.fromkeys(tasks, given["battery_version"]),
            "n-shot": dict.fromkeys(tasks, 0),
            # Burden and features are counts of symptoms: more is not better.
            "higher_is_better": {task: dict.fromkeys(self._means[task]) for task in tasks},
            "n-samples": {
                task: {"original": counts[task], "effective": counts[task]} for task in tasks
            },
            "config": {
                "model": "tabwb",
                "model_args": {"pretrained": run.model},
                "batch_size": None,
                "device": (given.get("model_facts") or {}).get("device"),
                "limit": None,
                "gen_kwargs": {
                    name: run.decoding[name]
                    for name in ("temperature", "top_p", "max_tokens")
                    if run.decoding.get(name) is not None
                },
                "random_seed": given.get("seed"),
                "numpy_seed": given.get("seed"),
                "torch_seed": given.get("seed"),
                "fewshot_seed": None,
            },
            "git_hash": None,
            "date": began,
            "lm_eval_version": VERSION,
            "tabwb_version": run.versions.get("tabwb"),
            "task_hashes": self._hashes,
            "model_source": "tabwb",
            "model_name": run.model,
            "model_name_sanitized": model_folder(run.model),
            "system_instruction": None,
            "system_instruction_sha": None,
            "fewshot_as_multiturn": None,
            "chat_template": None,
            "chat_template_sha": None,
            "total_evaluation_time_seconds": str(max(0.0, ended - began)),
            ours.KEY: run.block,
        }

    def _result(self, task: str, n: int) -> Json:
        result: Json = {"name": task, "alias": task, "sample_len": n}
        for name, mean in self._means[task].items():
            if mean.value is not None:
                error = mean.standard_error
                result[f"{name},{FILTER}"] = mean.value
                result[f"{name}_stderr,{FILTER}"] = "N/A" if error is None else error
        return result


def _opened(path: Path) -> TextIO:
    descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    return os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="\n")


def _json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
