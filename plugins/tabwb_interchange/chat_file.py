"""The lines of a CHAT file: headers, who speaks, gems, and main tiers with their line numbers.

A file that lacks a header or an end is read and what it lacks is told; lines that cannot be put
into their place are problems.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from tabwb.battery.problems import Problem

EXAMINERS = frozenset(
    (
        *("Investigator", "Examiner", "Interviewer", "Observer", "Clinician", "Therapist"),
        *("Teacher", "Mother", "Father", "Camera_Operator", "Media", "Environment", "Narrator"),
    )
)
"""Roles whose speech is not the one that is looked for."""
EXAMINED = frozenset(
    ("Participant", "Target_Adult", "Target_Child", "Patient", "Subject", "Client")
)
"""Roles whose speech it is, where one speaker alone has such a role."""
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_HEADER = re.compile(r"@(?P<name>[A-Za-z0-9][^:\t]*?)(?::[\t ]*(?P<value>.*))?", re.DOTALL)
_MAIN = re.compile(r"\*(?P<code>[^:\s]{1,7}):(?P<gap>[\t ]*)(?P<tier>.*)", re.DOTALL)
_DATE = re.compile(r"(\d{1,2})-([A-Za-z]{3})-(\d{4})")


class Tier(NamedTuple):
    """A main tier.

    Attributes:
        code: of the speaker.
        gem: the gem in which it is; empty outside of gems.
        text: with continuation lines joined.
    """

    line: int
    code: str
    gem: str
    text: str


@dataclass(frozen=True, slots=True)
class Participant:
    """A participant, from ``@Participants`` and ``@ID``.

    Attributes:
        group, age, sex, custom: of ``@ID``; ``custom`` is the aphasia quotient in AphasiaBank.
    """

    code: str
    name: str = ""
    role: str = ""
    group: str = ""
    age: str = ""
    sex: str = ""
    custom: str = ""


@dataclass(slots=True)
class ChatFile:
    """What a file holds.

    Attributes:
        languages: ISO 639-3.
        participants: by code.
        tiers: main tiers of all speakers, in order.
        gems: whether the file has gems.
        ca: ``@Options`` has CA.
        date: of the session, ISO 8601; empty where it is not said.
        dropped: kinds of other lines, to number.
        lacks: what is not as the manual asks.
        problems: lines that cannot be read.
    """

    languages: tuple[str, ...] = ()
    participants: dict[str, Participant] = field(default_factory=dict)
    tiers: list[Tier] = field(default_factory=list)
    gems: bool = False
    ca: bool = False
    date: str = ""
    dropped: Counter[str] = field(default_factory=Counter)
    lacks: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_chat(text: str, where: str) -> ChatFile:
    """Return the headers and main tiers of a file."""
    file = ChatFile()
    headers: Counter[str] = Counter()
    gem, ended = "", False
    for number, line in _lines(text, where, file):
        if ended:
            file.dropped["lines after @End"] += 1
        elif line.startswith("*"):
            if tier := _tier(number, line, gem, where, file):
                file.tiers.append(tier)
        elif line.startswith("%"):
            file.dropped["dependent tiers (%mor, %com, ...)"] += 1
        elif match := _HEADER.fullmatch(line):
            name, value = match["name"].strip(), (match["value"] or "").strip()
            headers[name] += 1
            ended = name == "End"
            if name in ("G", "BG", "Bg"):
                gem, file.gems = _gem(value), True
            elif name in ("EG", "Eg"):
                gem = ""
            else:
                _header(name, value, file)
        else:
            _problem(file, where, number, line, "this header cannot be read", "@NAME: and a value")
    for name in ("UTF8", "Begin", "Participants", "End"):
        if not headers[name]:
            file.lacks.append(f"@{name}")
    return file


def _lines(text: str, where: str, file: ChatFile) -> Iterator[tuple[int, str]]:
    """Yield each line with those that continue it, and the number of the first."""
    held: list[str] = []
    first = 0
    for number, raw in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        line = raw.rstrip()
        if not line:
            continue
        if raw[0] in "\t " and held:
            held.append(line.strip())
        elif raw[0] in "@*%":
            if held:
                yield first, " ".join(held)
            held, first = [line], number
        else:
            _problem(file, where, number, line, "this line has no valid beginning",
                     "@ (header), * (what somebody said), % (dependent tier), or a tab, which "
                     "continues the line before")  # fmt: skip
    if held:
        yield first, " ".join(held)


def _problem(file: ChatFile, where: str, line: int, text: str, message: str, allowed: str) -> None:
    shown = repr(text if len(text) <= 40 else f"{text[:39]}…")
    file.problems.append(Problem(where, line, "", message, shown, allowed))


def _tier(number: int, line: str, gem: str, where: str, file: ChatFile) -> Tier | None:
    match = _MAIN.fullmatch(line)
    if match is None:
        allowed = "* and a speaker's code of up to 7 signs, a colon and a tab: *PAR:"
        _problem(file, where, number, line, "this main tier names no speaker", allowed)
        return None
    if match["gap"] != "\t":
        file.dropped["missing tabs after a speaker's code"] += 1
    return Tier(number, match["code"], gem, match["tier"])


def _gem(value: str) -> str:
    return " ".join(value.replace("_", " ").split()) or "(gem without a name)"


def _header(name: str, value: str, file: ChatFile) -> None:
    match name:
        case "Languages":
            file.languages = tuple(part.strip() for part in value.split(",") if part.strip())
        case "Participants":
            for part in value.split(","):
                if words := part.split():
                    name = " ".join(words[1:-1])
                    role = words[-1] if len(words) > 1 else ""
                    file.participants[words[0]] = Participant(words[0], name, role)
        case "ID":
            _id([part.strip() for part in value.split("|")], file)
        case "Options":
            file.ca = file.ca or re.search(r"\bCA\b", value) is not None
        case "Date":
            file.date = _day(value)


def _id(fields: list[str], file: ChatFile) -> None:
    """Keep language|corpus|code|age|sex|group|SES|role|education|custom|."""
    fields += [""] * (10 - len(fields))
    known = file.participants.get(fields[2], Participant(fields[2]))
    file.participants[fields[2]] = Participant(
        known.code,
        known.name,
        known.role or fields[7],
        group=fields[5],
        age=fields[3],
        sex=fields[4],
        custom=fields[9],
    )


def _day(value: str) -> str:
    """Return a date of CHAT in ISO 8601; empty where it is none.

    >>> _day("09-MAR-2024"), _day("March 2024"), _day("30-FEB-2024")
    ('2024-03-09', '', '')
    """
    match = _DATE.match(value)
    if match is None or match[2].upper() not in MONTHS:
        return ""
    try:
        day = date(int(match[3]), MONTHS.index(match[2].upper()) + 1, int(match[1]))
    except ValueError:
        return ""
    return day.isoformat()


def speakers_of(file: ChatFile) -> Mapping[str, int]:
    """Return the codes on main tiers, each with its number of utterances, the most first."""
    return dict(Counter(tier.code for tier in file.tiers).most_common())


def examinee_of(file: ChatFile) -> str | None:
    """Return the code of the participant whose speech is examined; None where several may be.

    It is the only one who speaks, else ``PAR``, else the only speaker who is examined by role, else
    the only one whose role is not an examiner's.
    """
    codes = speakers_of(file)
    if len(codes) == 1:
        return next(iter(codes))
    if "PAR" in codes:
        return "PAR"
    roles = {code: file.participants.get(code, Participant(code)).role for code in codes}
    examined = [code for code, role in roles.items() if role in EXAMINED]
    others = [code for code, role in roles.items() if role not in EXAMINERS]
    return next((found[0] for found in (examined, others) if len(found) == 1), None)
