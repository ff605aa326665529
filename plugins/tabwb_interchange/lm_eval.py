"""Reads and writes what lm-evaluation-harness makes with ``--log_samples``.

Written against lm_eval 0.4.13 without importing it: ``samples_TASK_DATE.jsonl`` with one line for
each document and filter, beside ``results_DATE.json``. The answer to a multiple-choice document is
the continuation with the highest log probability. What is written is a folder of a model, and a
task of it is a subtest.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO, cast

from tabwb.plugin_api import (
    AnswerFile,
    Exporter,
    KnownDecoding,
    Message,
    Protocol,
    RecordedAnswer,
    RecordedRun,
    TabwbError,
)
from tabwb.records.files import check_inside, open_private
from tabwb_interchange import ours
from tabwb_interchange.ours import Mean, scores_of
from tabwb_interchange.reading import (
    mapping,
    moment_of,
    new_folder,
    parsed,
    plain_text,
    read_bytes,
    real,
    table_of,
    text_of,
    whole,
    words_of,
)

DEPTH = 3
"""How deep a folder is looked through: OUTPUT/MODEL/FILE."""
MOST_FILES = 2_000
QUESTIONS = ("question", "prompt", "query", "text", "input")
"""Keys of a document that may hold the item's own text."""
IDS = ("item", "item_id", "id", "question_id")
"""Keys of a document that may name the item."""
FACTS = ("model_source", "model_args", "model_dtype", "model_revision", "model_sha", "gen_kwargs")
_ROLES = ("system", "user", "assistant")


class LmEvalSamples:
    """The importer ``lm-eval``."""

    def recognises(self, path: Path) -> bool:
        """Return whether it is a file of samples or results, or a folder with some."""
        if path.is_dir():
            return next(_sample_files(path), None) is not None
        return path.is_file() and (_is_samples(path) or _is_results(path))

    def read(self, path: Path, names: Mapping[str, str]) -> AnswerFile:
        """Return every answer in the files of samples."""
        ours.refuse_names(names, path, "lm-eval")
        files = tuple(_files_of(path))
        if not files:
            raise TabwbError(
                "there are no samples",
                where=str(path),
                allowed="samples_TASK_DATE.jsonl, as lm_eval writes them with --log_samples",
            )
        if path.is_dir():
            check_inside(path, files)
        left_out: Counter[str] = Counter()
        answers = [answer for file in files for answer in _read(file, left_out)]
        if not answers:
            raise TabwbError("the samples hold no answers", where=str(path))
        tools = dict.fromkeys(answer.run.tool for answer in answers)
        title = "; ".join(list(tools)[:3]) + ("; ..." if len(tools) > 3 else "")
        return AnswerFile(title, tuple(_merged(answers)), files, left_out=dict(left_out))


def _is_samples(path: Path) -> bool:
    return path.name.startswith("samples_") and path.suffix == ".jsonl"


def _is_results(path: Path) -> bool:
    return path.name.startswith("results_") and path.suffix == ".json"


def _sample_files(folder: Path, depth: int = DEPTH) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink() and depth > 1:
            yield from _sample_files(entry, depth - 1)
        elif _is_samples(entry) and entry.is_file():
            yield entry


def _files_of(path: Path) -> Iterator[Path]:
    if path.is_dir():
        for number, file in enumerate(_sample_files(path)):
            if number == MOST_FILES:
                raise TabwbError(
                    "holds too many files of samples", where=str(path), allowed=f"{MOST_FILES:,}"
                )
            yield file
    elif _is_results(path):
        date = path.stem.removeprefix("results_")
        yield from sorted(path.parent.glob(f"samples_*_{_escaped(date)}.jsonl"))
    else:
        yield path


def _escaped(text: str) -> str:
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in text)


@dataclass(frozen=True, slots=True)
class _Source:
    """What the file of results beside a file of samples says of the run."""

    task: str
    run: RecordedRun
    closing: str = ""


def _source_of(file: Path) -> _Source:
    task, _, date = file.stem.removeprefix("samples_").rpartition("_")
    beside = file.with_name(f"results_{date}.json")
    results: dict[str, Any] = {}
    if beside.is_file():
        where = str(beside)
        results = table_of(parsed(text_of(read_bytes(beside), where), where), where, "it")
    config = mapping(results.get("config"))
    version = words_of(results.get("lm_eval_version"))
    model = words_of(results.get("model_name"))
    known = {**config, "model_source": results.get("model_source")}
    run = RecordedRun(
        id=date,
        model=model,
        origin="model",
        session_date=moment_of(results.get("date"))[:10],
        seed=whole(config.get("torch_seed")),
        stated=tuple(ours.stated_in(results).items()),
        tool=f"lm_eval {version}".strip(),
        facts=tuple(
            (name, plain_text(known[name], 300)) for name in FACTS if known.get(name) is not None
        ),
    )
    own = results.get(ours.KEY)
    if isinstance(own, dict):
        run = ours.run_of(own, run, str(beside))
    return _Source(task, run, _closing(config))


def _closing(config: Mapping[str, Any]) -> str:
    """Return the option ``think_end_token`` of the model, which ends thinking in its texts."""
    given = config.get("model_args")
    if isinstance(given, str):
        parts = (part.partition("=") for part in given.split(","))
        given = {name.strip(): value for name, _, value in parts}
    token = mapping(given).get("think_end_token")
    return token if isinstance(token, str) else ""


def _read(file: Path, left_out: Counter[str]) -> Iterator[RecordedAnswer]:
    source = _source_of(file)
    text = text_of(read_bytes(file), str(file))
    filters: dict[int, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        sample = table_of(parsed(line, where, "one JSON object per line"), where, "the line")
        doc_id = whole(sample.get("doc_id"))
        if doc_id is None:
            raise TabwbError(
                f"'doc_id' is {sample.get('doc_id')!r:.40}", where=where, allowed="a whole number"
            )
        name = words_of(sample.get("filter"))
        if filters.setdefault(doc_id, name) != name:
            left_out["lines of further filters"] += 1
            continue
        yield from _answers(sample, where, source, left_out)


def _answers(
    sample: Mapping[str, Any], where: str, source: _Source, left_out: Counter[str]
) -> Iterator[RecordedAnswer]:
    doc = table_of(sample.get("doc"), where, "'doc'")
    asked = _arguments(sample, where)
    resps = sample.get("resps")
    if not isinstance(resps, list) or not resps:
        raise TabwbError(f"'resps' is {resps!r:.40}", where=where, allowed="a JSON array")
    identifier = next((str(doc[key]) for key in IDS if isinstance(doc.get(key), str | int)), "")
    base = RecordedAnswer(
        where=where,
        text="",
        run=source.run,
        item=plain_text(identifier, 300),
        question=next((doc[key] for key in QUESTIONS if words_of(doc.get(key))), ""),
        metadata=_metadata(sample, source.task),
    )
    left_out.update(ours.ratings_left_out(mapping(sample.get(ours.KEY)).get("ratings")))
    if asked and isinstance(asked[0][1], str):
        answer = _chosen(base, doc, asked, resps)
        if answer is None:
            left_out["samples without options and likelihoods"] += 1
        else:
            yield _own(sample, answer)
        return
    texts = resps[0] if isinstance(resps[0], list) else resps
    generated = [text for text in texts if isinstance(text, str)]
    if not asked or not generated or len(generated) != len(texts):
        left_out["samples without generated text"] += 1
        return
    decoding = _decoding(asked[0][1])
    messages = _messages(asked[0][0])
    # Tasks that were drawn otherwise are other runs; stop strings and limits belong to the task.
    drawn = KnownDecoding(temperature=decoding.temperature, top_p=decoding.top_p)
    run = replace(source.run, decoding=drawn)
    base = replace(
        base,
        run=source.run if ours.KEY in sample else run,
        prompt=ours.prompt_of(messages),
        messages=messages,
        decoding=decoding,
    )
    for replicate, text in enumerate(generated):
        answer = replace(base, text=text, replicate=replicate, closing=source.closing)
        yield _own(sample, answer)


def _merged(answers: list[RecordedAnswer]) -> Iterator[RecordedAnswer]:
    """Put options that were weighed and texts of one run together, where no item has both.

    The protocol ``likelihood`` weighs options and has all other items answered in free text.
    """
    answers = list(_apart(answers))
    runs: dict[tuple[str, str], dict[RecordedRun, set[tuple[str, str]]]] = {}
    for answer in answers:
        own = runs.setdefault((answer.run.id, answer.run.model), {})
        own.setdefault(answer.run, set()).add((answer.item, answer.question or answer.prompt))
    merged: dict[RecordedRun, RecordedRun] = {}
    for own in runs.values():
        weighed = [run for run in own if run.protocol is Protocol.LIKELIHOOD]
        written = [run for run in own if run.protocol is not Protocol.LIKELIHOOD]
        if len(weighed) == len(written) == 1 and not own[weighed[0]] & own[written[0]]:
            both = replace(written[0], protocol=Protocol.LIKELIHOOD)
            merged |= {weighed[0]: both, written[0]: both}
    for answer in answers:
        yield replace(answer, run=merged.get(answer.run, answer.run))


def _apart(answers: list[RecordedAnswer]) -> Iterator[RecordedAnswer]:
    """Make a separate run of each task of a run whose tasks have the same documents."""
    tasks: dict[RecordedRun, dict[str, set[tuple[str, str]]]] = {}
    for answer in answers:
        own = tasks.setdefault(answer.run, {}).setdefault(
            answer.metadata.get("source.task", ""), set()
        )
        own.add((answer.item, answer.question or answer.prompt))
    shared = {
        run
        for run, by_task in tasks.items()
        if sum(map(len, by_task.values())) > len(set().union(*by_task.values()))
    }
    for answer in answers:
        if answer.run in shared:
            task = answer.metadata.get("source.task", "")
            run = answer.run
            answer = replace(  # noqa: PLW2901 - the same answer, in its own run
                answer, run=replace(run, id=f"{run.id} {task}", tool=f"{run.tool}, task {task}")
            )
        yield answer


def _own(sample: Mapping[str, Any], answer: RecordedAnswer) -> RecordedAnswer:
    own = sample.get(ours.KEY)
    if not isinstance(own, dict):
        return answer
    return ours.answer_of(own, answer)


def _arguments(sample: Mapping[str, Any], where: str) -> list[tuple[str, object]]:
    """Return context and second argument of each request, in order."""
    given = table_of(sample.get("arguments"), where, "'arguments'")
    asked = []
    for number in range(len(given)):
        request = given.get(f"gen_args_{number}")
        if isinstance(request, dict):
            asked.append((words_of(request.get("arg_0")), request.get("arg_1")))
    return asked


def _messages(context: str) -> tuple[Message, ...]:
    """Return what was sent: the turns of a chat, which lm_eval keeps as JSON, or one message."""
    if context.startswith("["):
        try:
            turns = json.loads(context)
        except (ValueError, RecursionError):
            turns = None
        if isinstance(turns, list) and turns and all(_is_turn(turn) for turn in turns):
            return tuple(Message(cast("Any", turn["role"]), turn["content"]) for turn in turns)
    return (Message("user", context),)


def _is_turn(turn: object) -> bool:
    return (
        isinstance(turn, dict)
        and turn.get("role") in _ROLES
        and isinstance(turn.get("content"), str)
    )


def _decoding(given: object) -> KnownDecoding:
    """Return the decoding of ``generation_kwargs``; without sampling the temperature is 0."""
    if not isinstance(given, dict):
        return KnownDecoding()
    until = given.get("until")
    stop = [until] if isinstance(until, str) else until
    temperature = real(given.get("temperature"))
    if given.get("do_sample") is False:
        temperature = 0.0
    limits = (given.get(name) for name in ("max_gen_toks", "max_tokens", "max_new_tokens"))
    return KnownDecoding(
        max_tokens=next((limit for limit in map(whole, limits) if limit), None),
        temperature=temperature,
        top_p=real(given.get("top_p"), 0.0, 1.0),
        stop=tuple(map(str, stop)) if isinstance(stop, list) else None,
        seed=whole(given.get("seed"), -(2**63)),
    )


def _chosen(
    base: RecordedAnswer,
    doc: Mapping[str, Any],
    asked: list[tuple[str, object]],
    resps: list[Any],
) -> RecordedAnswer | None:
    """Return the most likely of several continuations of one context; None where there are none."""
    context = asked[0][0]
    options: list[str] = []
    sums: list[float] = []
    for (given, continuation), replies in zip(asked, resps, strict=False):
        # Further requests without the context normalise the likelihoods.
        if given != context or not isinstance(continuation, str):
            continue
        logarithm = _logarithm(replies)
        if logarithm is None:
            return None
        options.append(continuation.strip())
        sums.append(logarithm)
    if len(options) < 2:
        return None
    choices = doc.get("choices")
    if isinstance(choices, dict):
        choices = choices.get("text")
    spelled = isinstance(choices, list) and len(choices) == len(options)
    if spelled and all(len(option) == 1 for option in options):
        options = [str(choice).strip() for choice in cast("list[Any]", choices)]
    messages = _messages(context)
    return replace(
        base,
        text=options[max(range(len(sums)), key=sums.__getitem__)],
        run=replace(base.run, protocol=Protocol.LIKELIHOOD),
        prompt=ours.prompt_of(messages),
        messages=messages,
        options=tuple(options),
        replicate=0,
        metadata={
            **base.metadata,
            "protocol": Protocol.LIKELIHOOD.value,
            "sampled": "no",
            "options_weighed": json.dumps(options, ensure_ascii=False),
            "option_log_probabilities": json.dumps([round(value, 6) for value in sums]),
        },
    )


def _logarithm(replies: object) -> float | None:
    """Return the log probability in ``[["-1.25", "False"]]``, or None."""
    while isinstance(replies, list) and replies:
        replies = replies[0]
    try:
        return real(float(replies), -float("inf"), 0.0)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _metadata(sample: Mapping[str, Any], task: str) -> dict[str, str]:
    kept = {"source.task": task, "source.doc_id": str(sample.get("doc_id"))}
    metrics = sample.get("metrics")
    for name in metrics if isinstance(metrics, list) else ():
        if isinstance(name, str) and name in sample:
            kept[f"source.metric.{plain_text(name, 60)}"] = plain_text(sample[name], 100)
    return kept


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
            **run.record,
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
