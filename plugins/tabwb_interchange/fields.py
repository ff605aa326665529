"""The columns of a table of answers: what each holds, and the words for what is wrong in one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, sqrt
from typing import Any

from tabwb.battery.problems import Problem
from tabwb.host.settings import TUNINGS, number_of_parameters
from tabwb.plugin_api import Protocol, StopReason
from tabwb.records.errors import UsageError
from tabwb.records.speakers import ORIGINS
from tabwb.records.words import near
from tabwb_interchange.reading import number_of, plain_text, real, whole


@dataclass(slots=True)
class Scores:
    """What one rater says of one response.

    Attributes:
        values: measure to number; None where it is undefined, unparsed or in error.
        reasons: measure to reason, where there is one.
        statuses: measure to status, where it is not ``value``.
    """

    values: dict[str, float | None] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)

    @property
    def explanation(self) -> str:
        """Measures with their reasons, one in a line."""
        return "\n".join(f"{measure}: {reason}" for measure, reason in self.reasons.items())


def scores_of(trial: Mapping[str, Any]) -> dict[str, Scores]:
    """Return the scores of a trial by rater, in the order of its ratings."""
    scores: dict[str, Scores] = {}
    for rating in trial["ratings"]:
        own = scores.setdefault(rating["rater"], Scores())
        measure = rating["measure"]
        own.values[measure] = rating["value"]
        if rating["reason"]:
            own.reasons[measure] = rating["reason"]
        if rating["status"] != "value":
            own.statuses[measure] = rating["status"]
    return scores


@dataclass(slots=True)
class Mean:
    """The mean of the scores of a measure, and its standard error, as they come in.

    >>> mean = Mean()
    >>> for value in (1.0, 0.0, None, 1.0, 1.0): mean.add(value)
    >>> mean.n, mean.missing, mean.value, mean.standard_error
    (4, 1, 0.75, 0.25)
    """

    _values: dict[float, int] = field(default_factory=dict)
    missing: int = 0

    def add(self, value: float | None) -> None:
        """Count a score."""
        if value is None:
            self.missing += 1
        else:
            self._values[value] = self._values.get(value, 0) + 1

    @property
    def n(self) -> int:
        """How many scores have a number."""
        return sum(self._values.values())

    @property
    def value(self) -> float | None:
        """The arithmetic mean; None without scores."""
        n = self.n
        return fsum(value * count for value, count in self._values.items()) / n if n else None

    @property
    def standard_error(self) -> float | None:
        """``sqrt(sum (x - mean)^2 / (n - 1) / n)``; None for fewer than two scores."""
        n, mean = self.n, self.value
        if mean is None or n < 2:
            return None
        squares = fsum((value - mean) ** 2 * count for value, count in self._values.items())
        return sqrt(squares / (n - 1) / n)


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
"""Field to its content. Every other column is kept as metadata of the answer."""
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
    for own, column in names.items():
        if own not in FIELDS:
            problems.append(
                Problem(file, 0, f"--column {own}={column}", "there is no such field", repr(own),
                        ", ".join(FIELDS), near(own, FIELDS))
            )  # fmt: skip
        elif column not in header:
            problems.append(
                Problem(file, line, f"--column {own}={column}", "there is no such column",
                        repr(column), shown, near(column, header))
            )  # fmt: skip
    used = set(names.values())
    found = {own: column for own, column in names.items() if column in header}
    found |= {own: own for own in FIELDS if own in header and own not in found and own not in used}
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
