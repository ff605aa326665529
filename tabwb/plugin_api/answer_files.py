"""What importers return, and the error that lists every problem of a file of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tabwb.battery.problems import Problem
from tabwb.records.answers import RecordedAnswer
from tabwb.records.errors import TabwbError
from tabwb.records.ratings import Declaration
from tabwb.records.words import plural

MOST_PROBLEMS = 20
"""The number of problems that one message lists."""


class AnswerProblems(TabwbError):
    """A file of answers cannot be imported; nothing was."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        listed = [str(problem) for problem in problems[:MOST_PROBLEMS]]
        if len(problems) > MOST_PROBLEMS:
            listed.append(f"and {plural(len(problems) - MOST_PROBLEMS, 'problem')} more")
        super().__init__("\n".join(listed), hint="nothing was imported")
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """The answers of a file or folder.

    Attributes:
        title: what it is, for people (``inspect_ai log, task words``).
        answers: in the order of the source.
        files: the files that were read.
        strict: whether an answer to no item of the battery is an error; otherwise it is left out
            and counted. Tables are strict, logs of other tasks are not.
        names: field of :class:`~tabwb.records.answers.RecordedAnswer` to what the source calls it.
        left_out: what was read and is not an answer: reason to number.
        texts: whether they are texts without a battery: each prompt becomes an item of connected
            text.
        language: of the texts, BCP 47.
        spoken: whether the texts are transcripts of speech.
        declarations: what the raters declare whose ratings the answers have.
    """

    title: str
    answers: tuple[RecordedAnswer, ...]
    files: tuple[Path, ...]
    strict: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    texts: bool = False
    language: str = "en"
    spoken: bool = False
    declarations: tuple[Declaration, ...] = ()
