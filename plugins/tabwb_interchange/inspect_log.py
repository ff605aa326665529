"""Reads logs of inspect_ai (``.eval`` and ``.json``, format version 2) as recorded answers.

Written against the schema of inspect_ai 0.3.285. Only what an answer consists of is read: events,
tool calls and attachments of other kinds are left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from tabwb.plugin_api import (
    AnswerFile,
    KnownDecoding,
    Message,
    RecordedAnswer,
    RecordedRun,
    StopReason,
    TabwbError,
)
from tabwb.records.exchange import REASONING_TOKENS
from tabwb.records.files import check_inside
from tabwb_interchange import ours
from tabwb_interchange.reading import (
    Archive,
    list_of,
    mapping,
    moment_of,
    parsed,
    plain_text,
    read_bytes,
    real,
    table_of,
    text_of,
    whole,
    words_of,
)

SAMPLES, HEADER, START = "samples/", "header.json", "_journal/start.json"
VERSION = 2
STOPS = {
    "stop": StopReason.END,
    "max_tokens": StopReason.LENGTH,
    "model_length": StopReason.LENGTH,
    "content_filter": StopReason.REFUSED,
}
"""Stop reason of inspect_ai to ours; any other one is *end*."""
MOST_LOGS = 10_000
"""The most logs of a folder."""
_ATTACHMENT = "attachment://"
_ROLES = ("system", "user", "assistant")


class InspectLog:
    """The importer ``inspect``."""

    def recognises(self, path: Path) -> bool:
        """Return whether it is a log, ``.eval`` or JSON, or a folder of logs."""
        if path.is_dir():
            return next(_logs_in(path), None) is not None
        if path.suffix == ".eval":
            return path.is_file()
        return _is_json_log(path)

    def read(self, path: Path, names: Mapping[str, str]) -> AnswerFile:
        """Return the answer of every sample."""
        ours.refuse_names(names, path, "inspect")
        left_out: Counter[str] = Counter()
        files = sorted(_logs_in(path)) if path.is_dir() else [path]
        if len(files) > MOST_LOGS:
            raise TabwbError("holds too many logs", where=str(path), allowed=f"{MOST_LOGS:,}")
        if path.is_dir():
            check_inside(path, files)
        answers = [answer for file in files for answer in _read(file, left_out)]
        title = f"{len(files)} logs of inspect_ai" if len(files) > 1 else answers[0].run.tool
        return AnswerFile(title, tuple(answers), tuple(files), left_out=dict(left_out))


def _is_json_log(path: Path) -> bool:
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        start = b"".join(file.read(400).split())
    return start.startswith(b'{"version":') and b'"eval":' in start


def _logs_in(folder: Path) -> Iterator[Path]:
    """Yield the logs of a folder, in both forms."""
    yield from folder.glob("*.eval")
    yield from filter(_is_json_log, folder.glob("*.json"))


def _read(path: Path, left_out: Counter[str]) -> list[RecordedAnswer]:
    """Return the answers of one log."""
    if path.suffix == ".eval":
        with Archive.opened(path) as archive:
            run, decoding = _run_of(_header(archive, path), str(path))
            answers = [
                answer
                for sample, where in _samples(archive)
                for answer in _answers(sample, where, run, decoding, left_out)
            ]
    else:
        log = table_of(parsed(text_of(read_bytes(path), str(path)), str(path)), str(path), "it")
        run, decoding = _run_of(log, str(path))
        answers = []
        for number, sample in enumerate(
            list_of(log.get("samples") or [], str(path), "'samples'"), start=1
        ):
            where = f"{path} (sample {number})"
            answers += _answers(table_of(sample, where, "it"), where, run, decoding, left_out)
    if not answers:
        raise TabwbError("the log has no samples", where=str(path))
    return answers


def _header(archive: Archive, path: Path) -> dict[str, Any]:
    # The log of a run that was killed has no header yet.
    name = HEADER if HEADER in archive else START
    if name not in archive:
        raise TabwbError(
            f"has neither {HEADER} nor {START}", where=str(path), allowed="a log of inspect_ai"
        )
    return _json(archive, name)


def _json(archive: Archive, name: str) -> dict[str, Any]:
    where = archive.place(name)
    return table_of(parsed(text_of(archive.read(name), where), where), where, "it")


def _samples(archive: Archive) -> Iterator[tuple[dict[str, Any], str]]:
    for name in archive.names:
        if name.startswith(SAMPLES) and name.endswith(".json"):
            yield _json(archive, name), archive.place(name)


def _run_of(header: Mapping[str, Any], where: str) -> tuple[RecordedRun, KnownDecoding]:
    """Return what the header says of the whole run."""
    version = whole(header.get("version"))
    if version is None or version > VERSION:
        raise TabwbError(
            f"its format version is {header.get('version')!r}",
            where=where,
            allowed=f"up to {VERSION}",
            hint="a newer inspect_ai wrote it: 'inspect log convert --to json' may help",
        )
    spec = table_of(header.get("eval"), where, "'eval'")
    tool = words_of(mapping(spec.get("packages")).get("inspect_ai"))
    task = plain_text(words_of(spec.get("task")) or "unnamed", 200)
    started = mapping(header.get("stats")).get("started_at")
    given = moment_of(started) or moment_of(spec.get("created"))
    model = words_of(spec.get("model"))
    configs = spec.get("model_generate_config"), mapping(header.get("plan")).get("config")
    config = {
        name: part
        for given_config in map(mapping, configs)
        for name, part in given_config.items()
        if part is not None
    }
    decoding = ours.decoding_of({**config, "stop": config.get("stop_seqs")})
    run = RecordedRun(
        id=words_of(spec.get("eval_id")) or words_of(spec.get("run_id")),
        model="" if model == "none/none" else model,
        origin="model" if model and model != "none/none" else None,
        stated=tuple(ours.stated_in(mapping(spec.get("metadata"))).items()),
        session_date=given[:10],
        seed=decoding.seed,
        decoding=decoding,
        tool=f"inspect_ai {tool}".strip() + f", task {task}",
        facts=tuple(
            (f"model_args.{plain_text(name, 60)}", plain_text(value, 300))
            for name, value in mapping(spec.get("model_args")).items()
        ),
    )
    own = mapping(spec.get("metadata")).get(ours.KEY)
    if not isinstance(own, dict):
        return run, decoding
    return ours.run_of(own, run, where), decoding


def _answers(
    sample: Mapping[str, Any],
    where: str,
    run: RecordedRun,
    decoding: KnownDecoding,
    left_out: Counter[str],
) -> Iterator[RecordedAnswer]:
    if sample.get("invalidation"):
        left_out["invalidated samples"] += 1
        return
    epoch = whole(sample.get("epoch"), 1)
    if epoch is None:
        raise TabwbError(
            f"'epoch' is {sample.get('epoch')!r}", where=where, allowed="a whole number from 1"
        )
    resolve = _Attachments(mapping(sample.get("attachments")))
    before, last = _exchange(sample, resolve)
    output = mapping(sample.get("output"))
    text, thought, stop = _completion(output, resolve)
    if text is None:
        text = _content(last, resolve)
    if not thought:
        thought = _thought(last, resolve)
    error = sample.get("error")
    failure = words_of(error.get("message")) or "error" if isinstance(error, dict) else ""
    usage = mapping(output.get("usage"))
    choices = sample.get("choices")
    latency = real(output.get("time"))
    answer = RecordedAnswer(
        where=where,
        text=None if failure and not text else text or "",
        run=run,
        item=plain_text(sample.get("id"), 300) if sample.get("id") is not None else "",
        prompt=ours.prompt_of(before),
        messages=before,
        options=tuple(map(str, choices)) if isinstance(choices, list) else (),
        replicate=epoch - 1,
        decoding=decoding,
        stop_reason=STOPS.get(words_of(stop), StopReason.END),
        latency_s=real(sample.get("working_time")) if latency is None else latency,
        given_at=moment_of(sample.get("completed_at")),
        prompt_tokens=whole(usage.get("input_tokens")),
        reply_tokens=whole(usage.get("output_tokens")),
        error=plain_text(failure, 500),
        metadata=_metadata(sample, output, run),
        reasoning=thought,
    )
    own = mapping(sample.get("metadata")).get(ours.KEY)
    left_out.update(ours.ratings_left_out(mapping(own).get("ratings")))
    yield ours.answer_of(own, answer) if isinstance(own, dict) else answer


class _Attachments:
    """Long texts are kept once in a sample and referred to by their hash."""

    def __init__(self, attached: Mapping[str, Any]) -> None:
        self._attached = attached

    def __call__(self, text: str) -> str:
        if not text.startswith(_ATTACHMENT):
            return text
        kept = self._attached.get(text.removeprefix(_ATTACHMENT))
        return kept if isinstance(kept, str) else text


def _content(value: object, resolve: _Attachments) -> str | None:
    """Return the text of a message, without its reasoning; None where there is none."""
    if isinstance(value, str):
        return resolve(value)
    if not isinstance(value, list):
        return None
    texts = [
        resolve(part["text"])
        for part in value
        if isinstance(part, dict)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
    ]
    return "".join(texts) if texts or not value else ""


def _thought(value: object, resolve: _Attachments) -> str:
    """Return the reasoning of a message: its parts of that type (inspect's ContentReasoning).

    Where the service redacted it, its summary: the rest is encrypted.
    """
    texts = [
        resolve(
            str((not part.get("redacted") and part.get("reasoning")) or part.get("summary") or "")
        )
        for part in (value if isinstance(value, list) else ())
        if isinstance(part, dict) and part.get("type") == "reasoning"
    ]
    return "\n\n".join(text.strip() for text in texts if text.strip())


def _completion(output: Mapping[str, Any], resolve: _Attachments) -> tuple[str | None, str, object]:
    """Return the text of an output, its reasoning, and why it stopped."""
    choices = output.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        given = message.get("content") if isinstance(message, dict) else None
        content = _content(given, resolve)
        if content is not None:
            return content, _thought(given, resolve), choices[0].get("stop_reason")
    completion = output.get("completion")
    text = resolve(completion) if isinstance(completion, str) and completion else None
    return text, "", None


def _exchange(
    sample: Mapping[str, Any], resolve: _Attachments
) -> tuple[tuple[Message, ...], object]:
    """Return the messages before the last answer, and the content of that answer."""
    turns = sample.get("messages")
    if not isinstance(turns, list) or not turns:
        given = sample.get("input")
        turns = [{"role": "user", "content": given}] if isinstance(given, str) else given
    read = [
        (words_of(turn.get("role")), turn.get("content"))
        for turn in (turns if isinstance(turns, list) else ())
        if isinstance(turn, dict)
    ]
    said = None
    if read and read[-1][0] == "assistant":
        said = read.pop()[1]
    before = tuple(
        Message(cast("Any", role), _content(content, resolve) or "")
        for role, content in read
        if role in _ROLES
    )
    return before, said


def _metadata(
    sample: Mapping[str, Any], output: Mapping[str, Any], run: RecordedRun
) -> dict[str, str]:
    kept: dict[str, str] = {}
    thoughts = whole(mapping(output.get("usage")).get("reasoning_tokens"))
    if thoughts:
        kept[REASONING_TOKENS] = str(thoughts)
    model = words_of(output.get("model"))
    if model and model != run.model:
        kept["model_version"] = model
    for name, score in mapping(sample.get("scores")).items():
        if isinstance(score, dict):
            kept[f"source.score.{plain_text(name, 60)}"] = plain_text(score.get("value"), 500)
    for name, value in mapping(sample.get("metadata")).items():
        if name != ours.KEY:
            kept[f"source.{plain_text(name, 60)}"] = plain_text(value, 500)
    return kept
