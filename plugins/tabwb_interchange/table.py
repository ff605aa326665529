"""Reads tables of answers: CSV, TSV and JSON lines, ours among them."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tabwb.battery.problems import Problem
from tabwb.battery.task_type import current_study
from tabwb.host.settings import TUNINGS, number_of_parameters
from tabwb.plugin_api import (
    AnswerFile,
    AnswerProblems,
    KnownDecoding,
    Message,
    Protocol,
    RecordedAnswer,
    RecordedRun,
    StopReason,
    TabwbError,
)
from tabwb.records.columns import PARTICIPANT
from tabwb.records.errors import UsageError
from tabwb.records.exchange import REASONING_TOKENS
from tabwb.records.speakers import ORIGINS, Origin
from tabwb.records.trials import check_tag
from tabwb.records.words import near
from tabwb_interchange import ours
from tabwb_interchange.reading import (
    kind_of,
    mapping,
    moment_of,
    number_of,
    parsed,
    plain_text,
    read_bytes,
    real,
    text_of,
    whole,
    words_of,
)

FIELDS: Mapping[str, str] = {
    "response": "the answer, unaltered; an empty cell is an empty answer",
    "text": "a text without a battery, whose prompts become items; in place of the response",
    "item": "id of the item, or SUBTEST/ITEM",
    "subtest": "id of the subtest; needed only where two subtests have an item of this id",
    "prompt": "the message as it was sent; without a column item it finds the item",
    "reasoning": "what a model wrote in its thinking; tags in the answer are read too",
    "options": "the options in the order shown, separated by |",
    "replicate": "number of the repetition of the item",
    "model": "who answered",
    "model_family": "family of the model",
    "model_tuning": ", ".join(TUNINGS),
    "model_parameters": "its number of parameters: 1240000000, 1.24B",
    "participant": "the participant code of a person who answered",
    "source": "of a text: who wrote or said it, where no column says whether model or person",
    "group": "of a text: the group of its source, kept as a tag",
    "language": "of all texts: en, de ...; without it en",
    "origin": ", ".join(ORIGINS),
    "administration": "distinguishes runs of one file",
    "temperature": "0 is greedy",
    "top_p": "above 0 to 1",
    "max_tokens": "token limit of the answer",
    "seed": "of this answer's draw; one that all answers of an administration have is the run's",
    "protocol": ", ".join(Protocol),
    "status": "truncated or refused where the answer is; anything else is found from the text",
    "stop_reason": ", ".join(StopReason),
    "latency": "seconds from prompt to end",
    "date": "day of the session, YYYY-MM-DD",
    "prompt_tokens": "tokens of the prompt",
    "reply_tokens": "tokens of the answer",
    "error": "why there is no answer; the response is empty then",
}
"""Field to its content. Every other column is kept as metadata of the answer.

What a study records of participants is a field too, by its name or, where a field above has it, as
``participant_NAME``; a column that is called so needs no mapping.
"""
ALSO = {
    "latency_s": "latency", "session_date": "date", "examinee": "model", "answer": "response",
    "completion": "response", "output": "response", "subtest_id": "subtest", "item_id": "item",
    "epoch": "replicate", "speaker": "participant", "reasoning_content": "reasoning",
    "thinking": "reasoning",
}  # fmt: skip
"""Other usual names of fields, used where the field itself has no column."""
NEEDED = ("item", "prompt", "text")
"""At least one of these must be there, besides ``response``."""
OF_TEXTS = ("source", "group", "language")
"""Fields that only texts without a battery have."""


@dataclass(slots=True)
class Row:
    """One answer of a table: its cells as text or JSON values, and what is wrong with them.

    Attributes:
        file, line: its place.
        cells: field to value.
        others: further columns.
        names: field to the column's name in the file.
        problems: gets what is wrong.
    """

    file: str
    line: int
    cells: Mapping[str, Any]
    others: Mapping[str, Any]
    names: Mapping[str, str]
    problems: list[Problem] = field(default_factory=list)

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"

    def wrong(
        self, name: str, message: str, value: object, allowed: str, near_to: str = ""
    ) -> None:
        """Note a problem of a cell."""
        column = f"column '{self.names.get(name, name)}'"
        found = repr(value)
        found = found if len(found) <= 60 else found[:59] + "…"
        self.problems.append(
            Problem(self.file, self.line, column, message, found, allowed, near_to)
        )

    def text(self, name: str) -> str:
        """Return a cell as text without outer white space; empty where there is none."""
        value = self.cells.get(name)
        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.wrong(name, "this is not text", value, "text")
            return ""
        return str(value).strip()

    def whole(self, name: str, low: int, high: int = 2**63 - 1) -> int | None:
        """Return a cell as a whole number within the limits; None where it is empty."""
        given = self._number(name)
        number = whole(given, low, high)
        if given is not None and number is None:
            limits = f"a whole number from {low:,}" if low >= 0 else "a whole number"
            self.wrong(name, "this is not allowed", self.cells[name], limits)
        return number

    def real(self, name: str, low: float, high: float = math.inf) -> float | None:
        """Return a cell as a number within the limits; None where it is empty."""
        given = self._number(name)
        number = real(given, low, high)
        if given is not None and number is None:
            to = f" to {high:g}" if high != math.inf else ""
            self.wrong(name, "this is not allowed", self.cells[name], f"a number from {low:g}{to}")
        return number

    def one_of(self, name: str, allowed: Sequence[str]) -> str:
        """Return a cell that holds one of some words; empty where it is empty."""
        text = self.text(name)
        if text and text not in allowed:
            self.wrong(name, "this is not allowed", text, ", ".join(allowed), near(text, allowed))
            return ""
        return text

    def labels(self) -> tuple[tuple[str, str], ...]:
        """Return the family, tuning and size of the model, as a profile has them."""
        parameters = self.text("model_parameters")
        if parameters:
            try:
                parameters = str(number_of_parameters(parameters))
            except UsageError as error:
                self.wrong("model_parameters", error.message, parameters, error.allowed or "")
        found = {
            "family": plain_text(self.text("model_family"), 100),
            "tuning": self.one_of("model_tuning", TUNINGS),
            "parameters": parameters,
        }
        return tuple((name, value) for name, value in found.items() if value)

    def _number(self, name: str) -> float | None:
        value = self.cells.get(name)
        if value is None or value == "":
            return None
        number = number_of(value)
        if number is None:
            self.wrong(name, "this is not a number", value, "a number, or an empty cell")
        return number


def columns_of(
    header: Sequence[str], names: Mapping[str, str], file: str, line: int
) -> dict[str, str]:
    """Return field to column of a table."""
    problems: list[Problem] = []
    shown = ", ".join(header[:20]) + (", …" if len(header) > 20 else "")
    recorded = {f"{PARTICIPANT}{column.name}": column.name for column in current_study().columns}
    names = {
        f"{PARTICIPANT}{own}" if own in recorded.values() and own not in FIELDS else own: column
        for own, column in names.items()
    }
    fields = (*FIELDS, *recorded)
    for own, column in names.items():
        if own not in fields:
            allowed = (*fields, *recorded.values())
            problems.append(
                Problem(file, 0, f"--column {own}={column}", "there is no such field", repr(own),
                        ", ".join(allowed), near(own, allowed))
            )  # fmt: skip
        elif column not in header:
            problems.append(
                Problem(file, line, f"--column {own}={column}", "there is no such column",
                        repr(column), shown, near(column, header))
            )  # fmt: skip
    used = set(names.values())
    found = {own: column for own, column in names.items() if column in header}
    found |= {own: own for own in fields if own in header and own not in found and own not in used}
    for column, own in ALSO.items():
        if column in header and own not in found and column not in used:
            found[own] = column
    if "response" in found:
        found.pop("text", None)
    elif "text" in found:
        found["response"] = found["text"]
    if "text" not in found:
        for own in OF_TEXTS:
            found.pop(own, None)
    if not problems:
        problems += _missing(found, header, shown, file, line)
    for column in dict.fromkeys(header):
        if column and header.count(column) > 1:
            problems.append(Problem(file, line, "", "this column is given twice", repr(column)))
    if problems:
        raise ValueError(problems)
    return found


def _missing(
    found: Mapping[str, str], header: Sequence[str], shown: str, file: str, line: int
) -> list[Problem]:
    problems = []
    if {"rater", "measure", "value"} <= set(header):
        message = "this is a table of ratings, with several rows for one answer"
        allowed = "one row for each answer (export with --format jsonl)"
        return [Problem(file, line, "", message, "", allowed)]
    if "response" not in found:
        message = f"there is no column 'response' (columns: {shown})"
        allowed = "name the column: --column response=NAME"
        problems.append(Problem(file, line, "", message, "", allowed, _near("response", header)))
    if not any(name in found for name in NEEDED):
        message = f"there is no column 'item' and no column 'prompt' (columns: {shown})"
        allowed = "name the column: --column item=NAME or --column prompt=NAME"
        problems.append(Problem(file, line, "", message, "", allowed, _near("item", header)))
    return problems


def _near(field_id: str, header: Sequence[str]) -> str:
    """Return the column that is most like a field or one of its other names, or nothing."""
    words = [field_id, *(word for word, own in ALSO.items() if own == field_id)]
    return next(filter(None, (near(word, header) for word in words)), "")


LINES = (".jsonl", ".ndjson")
SUFFIXES = {".csv": "CSV", ".tsv": "TSV", ".tab": "TSV", **dict.fromkeys(LINES, "JSON lines")}
MOST_CELL = 16 * 2**20
"""The longest cell."""
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
STATUSES = {"truncated": StopReason.LENGTH, "refused": StopReason.REFUSED}
_NOT_METADATA = frozenset({"ratings", "reply", "expected", "tags", "foils", "foil", "options"})
"""Keys of our own export that say what the battery or another key says already."""


class Table:
    """The importer ``table``."""

    def recognises(self, path: Path) -> bool:
        """Return whether the name ends like a table's; standard input is taken for one."""
        return str(path) == "-" or (path.suffix.lower() in SUFFIXES and not path.is_dir())

    def read(self, path: Path, names: Mapping[str, str]) -> AnswerFile:
        """Return the answer of every row.

        Args:
            path: of the table; ``-`` is standard input.
            names: field to column, where it has another name.

        Raises:
            TabwbError: it cannot be read at all.
            AnswerProblems: every problem with its line and column.
        """
        text = text_of(read_bytes(path), str(path))
        if not text.strip():
            raise TabwbError(
                "is empty", where=str(path), allowed="a line with the columns, and answers"
            )
        lines = path.suffix.lower() in LINES or text.lstrip().startswith("{")
        try:
            rows = list((_json_rows if lines else _csv_rows)(path, text, names))
        except ValueError as error:
            raise AnswerProblems(error.args[0]) from error
        if not rows:
            raise TabwbError("there are no answers", where=str(path), allowed="one row for each")
        answers = list(_with_decoding([_answer(row) for row in rows]))
        languages = _languages(rows)
        if problems := [problem for row in rows for problem in row.problems]:
            raise AnswerProblems(problems)
        title = SUFFIXES.get(path.suffix.lower(), "JSON lines" if lines else "CSV")
        files = () if str(path) == "-" else (path,)
        found = rows[0].names
        # Who names the column of texts wants them without a battery.
        texts = "text" in found and ("text" in names or "item" not in found)
        people = [
            (answer.run.participant, told)
            for row, answer in zip(rows, answers, strict=True)
            if (told := ours.stated_in({**row.others, **row.cells}))
            and answer.run.origin != "model"
        ]
        left_out: Counter[str] = Counter()
        for row in rows:
            left_out.update(ours.ratings_left_out(row.others.get("ratings")))
        return AnswerFile(
            f"{title} of {'texts' if texts else 'answers'}",
            tuple(answers),
            files,
            strict=True,
            names=found,
            left_out=dict(left_out),
            texts=texts,
            language=next(iter(languages), "en"),
            people=tuple(one for at, one in enumerate(people) if at == 0 or one != people[at - 1]),
        )


@contextmanager
def _long_cells() -> Iterator[None]:
    before = csv.field_size_limit(MOST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _csv_rows(path: Path, text: str, names: Mapping[str, str]) -> Iterator[Row]:
    file = str(path)
    first = text.lstrip("\r\n").partition("\n")[0]
    tabs = path.suffix.lower() in (".tsv", ".tab")
    delimiter = "\t" if tabs else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    header: list[str] = []
    found: dict[str, str] = {}
    with _long_cells():
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                problem = Problem(file, line, "", f"this is not valid CSV: {error}")
                raise ValueError([problem]) from error
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = [cell.strip() for cell in cells]
                found = columns_of(header, names, file, line)
                continue
            if len(cells) > len(header):
                message = "more cells than columns (a cell that holds the separator needs quotes)"
                problem = Problem(file, line, "", message, str(len(cells)), f"up to {len(header)}")
                raise ValueError([problem])
            # A spreadsheet leaves out the empty cells at the end of a row.
            cells += [""] * (len(header) - len(cells))
            row = dict(zip(header, cells, strict=True))
            fields = {own: row[column] for own, column in found.items()}
            used = set(found.values())
            others = {name: cell for name, cell in row.items() if name and name not in used}
            yield Row(file, line, fields, others, found)


def _json_rows(path: Path, text: str, names: Mapping[str, str]) -> Iterator[Row]:
    file = str(path)
    rows: list[tuple[int, dict[str, Any]]] = []
    header: dict[str, None] = {}
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        where = f"{file}:{line}"
        row = parsed(content, where, "one JSON object per line")
        if not isinstance(row, dict):
            raise TabwbError(
                f"the line is {kind_of(row)}", where=where, allowed="one JSON object per line"
            )
        rows.append((line, row))
        header |= dict.fromkeys(row)
    found = columns_of(list(header), names, file, rows[0][0])
    used = set(found.values())
    for line, row in rows:
        fields = {own: row.get(column) for own, column in found.items()}
        others = {name: value for name, value in row.items() if name not in used}
        read = Row(file, line, fields, others, found)
        if found["response"] not in row:
            read.wrong("response", "this key is missing", None, "text, or null for no answer")
        yield read


def _answer(row: Row) -> RecordedAnswer:
    reply = mapping(row.others.get("reply"))
    said = row.cells["response"]
    if said is not None and not isinstance(said, str):
        row.wrong("response", "this is not text", said, "text")
        said = ""
    error = row.text("error")
    decoding = _decoding(row, reply)
    options = row.cells.get("options")
    prompt = row.cells.get("prompt")
    if prompt is not None and not isinstance(prompt, str):
        row.wrong("prompt", "this is not text", prompt, "text")
        prompt = ""
    status, stop = row.text("status"), row.one_of("stop_reason", [*StopReason])
    reason = STATUSES.get(status, StopReason.END)
    prompt_tokens, reply_tokens = row.whole("prompt_tokens", 0), row.whole("reply_tokens", 0)
    answer = RecordedAnswer(
        where=row.where,
        text=None if said is None or (error and not said) else said,
        run=_run(row, decoding),
        subtest=row.text("subtest"),
        item=row.text("item"),
        prompt=prompt or "",
        messages=(*_system(row), Message("user", prompt)) if prompt else (),
        options=_options(row, options),
        replicate=row.whole("replicate", 0, 10**9),
        decoding=decoding,
        stop_reason=StopReason(stop) if stop else reason,
        latency_s=row.real("latency", 0.0),
        given_at=moment_of(reply.get("recorded_at")),
        prompt_tokens=_else(prompt_tokens, whole(reply.get("prompt_tokens"))),
        reply_tokens=_else(reply_tokens, whole(reply.get("reply_tokens"))),
        error=error or ("there is no answer" if said is None else ""),
        metadata=_metadata(row, reply),
        reasoning=row.text("reasoning"),
    )
    if answer.run.origin not in {None, "model"}:
        return replace(answer, messages=(), reasoning="", stop_reason=StopReason.NONE)
    return answer


def _system(row: Row) -> tuple[Message, ...]:
    """Return the system message of a line of our export."""
    text = words_of(row.others.get("system")) if "reply" in row.others else ""
    return (Message("system", text),) if text else ()


def _else(column: int | None, own: int | None) -> int | None:
    return own if column is None else column


def _options(row: Row, options: object) -> tuple[str, ...]:
    if isinstance(options, str):
        return tuple(part.strip() for part in options.split("|") if part.strip())
    return tuple(map(str, options)) if isinstance(options, Sequence) else ()


def _decoding(row: Row, reply: Mapping[str, Any]) -> KnownDecoding:
    """Return the decoding of the columns, else of our export's key ``reply``."""
    if isinstance(reply.get("decoding"), dict):
        return ours.decoding_of(reply["decoding"])
    top_p = row.real("top_p", 0.0, 1.0)
    if "reply" in row.others:
        # A line of our export: its seed is the run's.
        return KnownDecoding()
    return KnownDecoding(
        max_tokens=row.whole("max_tokens", 1, 10**9),
        temperature=row.real("temperature", 0.0, 10.0),
        top_p=top_p if top_p != 0 else None,
        seed=row.whole("seed", -(2**63)),
    )


def _languages(rows: Sequence[Row]) -> dict[str, None]:
    """Return the language of all texts; a second one is noted as a problem."""
    languages: dict[str, None] = {}
    for row in rows:
        if (language := row.text("language")) and language not in languages:
            if languages:
                row.wrong("language", "this is another language", language, *languages)
            elif not LANGUAGE.fullmatch(language):
                row.wrong("language", "this is not a language", language, "en, de, pt-BR ...")
            languages[language] = None
    return languages


def _tags(row: Row) -> tuple[str, ...]:
    group = "-".join(row.text("group").replace(",", " ").split())
    if not group:
        return ()
    try:
        return (check_tag(group),)
    except UsageError as error:
        row.wrong("group", "this cannot be a tag", group, error.allowed or "")
        return ()


def _run(row: Row, decoding: KnownDecoding) -> RecordedRun:
    kind = row.others.get("kind")
    origin = row.one_of("origin", ORIGINS)
    participant = row.text("participant")
    model = row.text("model")
    if kind == "speaker":
        participant, model = participant or model, ""
        origin = origin or "human"
    if kind == "model":
        origin = origin or "model"
    made_by: Origin | None = next((known for known in ORIGINS if known == origin), None)
    if made_by is None and participant:
        made_by = "human"
    if made_by is None and model:
        made_by = "model"
    if source := row.text("source") if not model and not participant else "":
        # It says who, and not whether a model or a person; the user does where no column does.
        model = participant = source
    date = row.text("date")
    if date and not moment_of(date):
        row.wrong("date", "this is not a date", date, "YYYY-MM-DD")
    exported = "reply" in row.others
    return RecordedRun(
        id=row.text("administration"),
        model=model,
        origin=made_by,
        participant="" if made_by == "model" else participant,
        session_date=moment_of(date)[:10],
        seed=row.whole("seed", -(2**63)) if exported else None,
        decoding=ours.decoding_of(row.others.get("run_decoding"))
        if exported
        else KnownDecoding(temperature=decoding.temperature, top_p=decoding.top_p),
        protocol=Protocol(row.one_of("protocol", [*Protocol]) or Protocol.GENERATE),
        lesion=words_of(row.others.get("lesion")) or None if exported else None,
        prompt_noise=words_of(row.others.get("prompt_noise")) or None if exported else None,
        facts=ours.facts_of(row.others.get("model_facts")) if exported else (),
        labels=ours.labels_of(row.others.get("labels")) if exported else row.labels(),
        exported=exported,
        tags=_tags(row),
    )


def _with_decoding(answers: Sequence[RecordedAnswer]) -> Iterator[RecordedAnswer]:
    """Give each run without a decoding or seed the one that all its answers have.

    In our own export some answers of a run have none: their options were weighed.
    """
    drawn: dict[RecordedRun, set[tuple[float | None, float | None]]] = {}
    seeds: dict[RecordedRun, list[int | None]] = {}
    for answer in answers:
        own, known = answer.decoding, drawn.setdefault(answer.run, set())
        if own.temperature is not None:
            known.add((own.temperature, own.top_p))
        seeds.setdefault(answer.run, []).append(own.seed)
    runs: dict[RecordedRun, RecordedRun] = {}
    for run, known in drawn.items():
        runs[run] = run
        if run.decoding == KnownDecoding() and len(known) == 1:
            temperature, top_p = next(iter(known))
            decoding = KnownDecoding(temperature=temperature, top_p=top_p)
            runs[run] = replace(run, decoding=decoding)
        given = seeds[run]
        if not run.exported and len(given) > 1 and len(set(given)) == 1:
            runs[run] = replace(runs[run], seed=given[0])
    for answer in answers:
        yield replace(answer, run=runs[answer.run])


def _metadata(row: Row, reply: Mapping[str, Any]) -> dict[str, str]:
    exported = "reply" in row.others
    kept = {
        f"source.{plain_text(name, 60)}": plain_text(value)
        for name, value in row.others.items()
        if value not in (None, "") and not (exported and name in _NOT_METADATA | _EXPORTED)
    }
    if (thoughts := whole(reply.get("reasoning_tokens"))) is not None:
        kept[REASONING_TOKENS] = str(thoughts)
    for name in ("model_version", "finish_reason", "cause"):
        if words_of(reply.get(name)):
            kept[name] = reply[name]
    return kept


_EXPORTED = frozenset(
    {
        *("battery", "battery_version", "battery_hash", "kind", "lesion", "effective_status"),
        *(
            "participant_record",
            "system",
            "usable",
            "practice",
            "labels",
            "model_facts",
            "run_decoding",
            "prompt_noise",
        ),
    }
)
"""Keys of our own export that the import finds by itself."""
