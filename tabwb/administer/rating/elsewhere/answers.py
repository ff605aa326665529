"""Ratings of a file as answers to a form, and as the assignments that they fulfil."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tabwb.administer.rating.elsewhere.labels import (
    Labels,
    Sheet,
    answer_of,
    filled,
    plain,
)
from tabwb.administer.rating.elsewhere.mapping import FileMapping
from tabwb.battery.forms import Form, Question, check_answers
from tabwb.battery.problems import Problem
from tabwb.plugin_api.components import AnswerProblems
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.rating_sets import (
    ADJUDICATED,
    Adjudication,
    Answer,
    Assignment,
    Purpose,
    SampleRating,
    answer_key,
    checked_rater,
)
from tabwb.records.words import near

_PLACE = tuple[str, str, str]


@dataclass(slots=True)
class Given:
    """What a file says, as answers to a form.

    Attributes:
        ratings: of each rater, response and occasion, in the order of the file.
        settled: answer and reason by response and key of the answer.
        sheets: notes and times of the ratings.
        confirmed: of a rating the measures that were confirmed as absent together; a rating of
            which nothing says it is not there.
        raters: codes, in the order of the file.
        responses: in the order of the file.
    """

    ratings: dict[_PLACE, dict[str, Answer]] = field(default_factory=dict)
    settled: dict[tuple[str, str], tuple[Answer, str]] = field(default_factory=dict)
    sheets: dict[_PLACE, Sheet] = field(default_factory=dict)
    confirmed: dict[_PLACE, list[str]] = field(default_factory=dict)
    raters: dict[str, None] = field(default_factory=dict)
    responses: dict[str, None] = field(default_factory=dict)

    @property
    def answered(self) -> int:
        """The number of answers."""
        given = (answer for answers in self.ratings.values() for answer in answers.values())
        return sum(answer is not None for answer in given)


def answers_of(labels: Labels, form: Form, mapping: FileMapping, known: Mapping[str, str]) -> Given:
    """Return the answers that the ratings of a file are."""
    given = Given()
    problems: list[Problem] = []
    _refuse_one_code(labels, mapping)
    for label in labels.labels:
        file, line = _place(label.where)
        try:
            rater = _code(label.rater, mapping)
            if not rater:
                whose = f"of {label.rater}" if label.rater else "without a rater"
                labels.leave_out(f"answers {whose}")
                continue
            name, _, attempt = label.measure.partition("#")
            measure = known.get(plain(name))
            if measure is None:
                raise TabwbError(
                    f"form '{form.id}' has no question '{name}'", allowed=", ".join(form.measures)
                )
            question = form.question(measure)
            value = mapping.value(measure, label.value)
            answer = answer_of(question, value)
            key = answer_key(measure, 1) if question.per_attempt and not attempt else measure
            key = f"{measure}#{attempt}" if attempt else key
            check_answers(form, {key: answer})
            if not label.response:
                raise TabwbError("the response is not named")
            place = rater, label.response, label.occasion
            _keep(given, place, key, answer, label.note)
            if label.looked_at:
                confirmed = given.confirmed.setdefault(place, [])
                confirmed += [key] * _was_confirmed(label.looked_at, question, answer)
        except TabwbError as error:
            near_to = (
                near(label.measure, form.measures)
                if known.get(plain(label.measure)) is None
                else ""
            )
            problems.append(
                Problem(file, line, label.measure, error.message, "", error.allowed or "", near_to)
            )
    if problems:
        raise AnswerProblems(problems)
    for (name, response, occasion), sheet in labels.sheets.items():
        if not (rater := _code(name, mapping)):
            continue
        place = rater, response, occasion
        given.sheets[place] = sheet
        if sheet.unmarked:
            given.raters[rater] = given.responses[response] = None
            listed = given.ratings.get(place, {})
            given.ratings[place] = filled(form, listed)
            unlisted = [key for key in given.ratings[place] if listed.get(key) is None]
            given.confirmed.setdefault(place, []).extend(unlisted)
    if not given.ratings:
        raise UsageError("there is no rating in it", where=str(labels.path))
    return given


def _was_confirmed(looked_at: str, question: Question, answer: Answer) -> bool:
    """Return whether an answer was confirmed with the rest; only *absent* can be."""
    if looked_at not in ("yes", "no"):
        raise TabwbError(f"'{looked_at}' does not say whether it was looked at", allowed="yes, no")
    if looked_at == "no" and (question.kind != "present-absent" or answer != 0.0):
        raise TabwbError("what was not looked at can only be absent", allowed="looked_at yes")
    return looked_at == "no"


def _place(where: str) -> tuple[str, int]:
    file, _, line = where.rpartition(":")
    return (file, int(line)) if line.isdigit() else (where, 0)


def _code(name: str, mapping: FileMapping) -> str:
    """Return the code of a rater; empty for one who is left out."""
    if name == ADJUDICATED and name not in mapping.raters:
        return ADJUDICATED
    code = mapping.raters.get(name, _usual(name))
    if not code:
        return ""
    try:
        return checked_rater(code)
    except UsageError as error:
        raise TabwbError(
            f"{error.message}: give a code under [raters] of a mapping file; an empty one leaves "
            "the rater out",
            allowed=error.allowed,
        ) from error


def _refuse_one_code(labels: Labels, mapping: FileMapping) -> None:
    """Refuse two raters of a file that would have one code, unless both were given it."""
    named: dict[str, str] = {}
    for name in dict.fromkeys(label.rater for label in labels.labels):
        code = mapping.raters.get(name, _usual(name))
        other = named.setdefault(code, name)
        if code and other != name and not {name, other} <= mapping.raters.keys():
            raise UsageError(
                f"raters '{other}' and '{name}' would both be {code}",
                where=str(labels.path),
                hint="give each its own code under [raters] of a mapping file",
            )


def _usual(name: str) -> str:
    """Return the code of a rater whom the file numbers: codes say more than a number alone."""
    return f"R{name}" if name.isdigit() else name


def _keep(given: Given, place: _PLACE, key: str, answer: Answer, note: str) -> None:
    rater, response, _ = place
    given.responses[response] = None
    if rater == ADJUDICATED:
        if answer is not None:
            if (response, key) in given.settled:
                raise TabwbError(f"'{key}' of response '{response}' is settled twice")
            given.settled[response, key] = answer, note or "settled elsewhere"
        return
    given.raters[rater] = None
    answers = given.ratings.setdefault(place, {})
    if key in answers:
        raise TabwbError(f"{rater} has rated '{key}' of response '{response}' twice; a column "
                         "'occasion' tells repeated ratings apart")  # fmt: skip
    answers[key] = answer


def rated(
    given: Given, samples: Mapping[str, int]
) -> tuple[list[Assignment], list[SampleRating], list[Adjudication]]:
    """Return the assignments that the ratings fulfil, the ratings, and what was settled.

    The first rating of a response by a rater is its rating, later ones are given again.
    """
    assignments: list[Assignment] = []
    ratings: list[SampleRating] = []
    positions: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    for place, said in given.ratings.items():
        rater, response, _ = place
        answers = {key: answer for key, answer in said.items() if answer is not None}
        if not answers:
            continue
        purpose: Purpose = "again" if (rater, response) in seen else "rate"
        seen.add((rater, response))
        position = positions[rater] = positions.get(rater, 0) + 1
        sheet = given.sheets.get(place, Sheet())
        confirmed = given.confirmed.get(place)
        number = samples[response]
        assignments.append(Assignment(rater, position, number, purpose))
        ratings.append(
            SampleRating(
                rater, position, number, purpose, answers, True, sheet.confidence, note=sheet.note,
                seconds=sheet.seconds,
                confirmed=None if confirmed is None else tuple(confirmed),
            )
        )  # fmt: skip
    settled = [
        Adjudication(samples[response], key, answer, reason, "import")
        for (response, key), (answer, reason) in given.settled.items()
    ]
    return assignments, ratings, settled
