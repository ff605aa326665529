"""A rating form as frozen plain data: what raters are asked, and what their answers mean.

:mod:`tabwb.battery.form_files` reads one from TOML. A rating set keeps the form as canonical JSON,
so that later changes of a file change no set.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from string import ascii_lowercase
from typing import Any, Literal, get_args

from tabwb.records.errors import TabwbError
from tabwb.records.rating_sets import CANNOT_TELL, Answer, Flag, SampleRating, measure_of
from tabwb.records.ratings import UNSURE, Rating, undefined, valued
from tabwb.records.words import plural

Kind = Literal["present-absent", "scale", "choice", "phonemes", "text"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Unmarked = Literal["absent", "ask"]
Shown = Literal["text", "prompt", "picture", "audio", "target"]
SHOWN: tuple[Shown, ...] = get_args(Shown)
SOURCE = "source"
"""The measure of the last question that a set may ask: a person or a machine?"""
SECONDS_PER_QUESTION, LEAST_SECONDS = 0.25, 1.0
"""The minimum of a form that does not say it: so many seconds for each question, but at least so
many in all [ours]."""


@dataclass(frozen=True, slots=True)
class Option:
    """One allowed answer of a choice, or one named point of a scale.

    Attributes:
        value: what is stored; of a scale the number as text (``"0"``).
        title: for people.
        definition: for people, or empty.
        key: of the keyboard, or empty.
        number: the value in results, or None where the answer has no number.
        incomplete: whether an attempt with this answer is passed over for the answer of the whole
            response, which is that of its first complete attempt.
    """

    value: str
    title: str
    definition: str = ""
    key: str = ""
    number: float | None = None
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Questions that are shown together on the page."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a form.

    Attributes:
        measure: kebab-case id, unique within the form; the measure's name in results.
        title: for people.
        definition: for people.
        example: for people, or empty.
        key: of the keyboard, or empty.
        group: id of a group of the form, or empty.
        kind: the kind of answer.
        options: of a choice its answers; of a scale its named points, or none.
        low, high: ends of a scale, whole numbers; 0 for other kinds.
        cut: the least value of a scale that counts as present, or None where the value itself is
            the number in results.
        cannot_tell: whether a rater may answer so.
        objective: whether the question has a clear criterion (True) or needs a judgement of the
            whole (False); None where the form does not say.
        per_attempt: whether each attempt of a response has its own answer.
        optional: whether a complete rating may lack the answer.
    """

    measure: str
    title: str
    definition: str = ""
    example: str = ""
    key: str = ""
    group: str = ""
    kind: Kind = "present-absent"
    options: tuple[Option, ...] = ()
    low: int = 0
    high: int = 0
    cut: int | None = None
    cannot_tell: bool = False
    objective: bool | None = None
    per_attempt: bool = False
    optional: bool = False

    @property
    def values(self) -> tuple[Answer, ...]:
        """Every allowed answer; of phonemes and text only *cannot tell*, where it is allowed.

        >>> Question("anomia", "Anomia", cannot_tell=True).values
        (1.0, 0.0, 'cannot-tell')
        """
        allowed: tuple[Answer, ...] = ()
        if self.kind == "present-absent":
            allowed = (1.0, 0.0)
        elif self.kind == "scale":
            allowed = tuple(float(value) for value in range(self.low, self.high + 1))
        elif self.kind == "choice":
            allowed = tuple(option.value for option in self.options)
        return (*allowed, CANNOT_TELL) if self.cannot_tell else allowed

    def option(self, value: str) -> Option:
        """Return the option with this value."""
        for option in self.options:
            if option.value == value:
                return option
        raise _not_allowed(self, value)

    def check(self, answer: Answer) -> None:
        """Check one answer; None (not rated) is always allowed."""
        if answer is None or (answer == CANNOT_TELL and self.cannot_tell):
            return
        if self.kind in {"phonemes", "text"}:
            if not isinstance(answer, str) or answer == CANNOT_TELL or not answer.strip():
                raise _not_allowed(self, answer)
            if self.kind == "phonemes":
                from tabwb.phonology.inventory import parse_spoken

                parse_spoken(answer, beyond="allophones")
        elif isinstance(answer, bool) or answer not in self.values:
            raise _not_allowed(self, answer)

    def read(self, text: str) -> Answer:
        """Return the answer that a text stands for; None where it is empty: not rated.

        >>> Question("jargon", "Jargon").read("present"), Question("jargon", "Jargon").read("0")
        (1.0, 0.0)
        """
        given = text.strip()
        answer: Answer = given or None
        if self.kind in {"present-absent", "scale"} and given not in {"", CANNOT_TELL}:
            words = {"present": 1.0, "absent": 0.0} if self.kind == "present-absent" else {}
            try:
                answer = words[given] if given in words else float(given)
            except ValueError:
                raise _not_allowed(self, given) from None
        self.check(answer)
        return answer

    def number(self, answer: Answer) -> float | None:
        """Return what an answer counts in results; None where it has no number.

        A value of a scale is 1.0 from the cut on and 0.0 below; without a cut it is itself.

        >>> scale = Question("jargon", "Jargon", kind="scale", high=4, cut=2)
        >>> scale.number(1.0), scale.number(2.0), scale.number(None)
        (0.0, 1.0, None)
        """
        if answer is None or answer == CANNOT_TELL or self.kind in {"phonemes", "text"}:
            return None
        if self.kind == "choice":
            return self.option(str(answer)).number
        value = float(answer)
        return value if self.cut is None else float(value >= self.cut)

    @property
    def is_feature(self) -> bool:
        """Whether the question decides a feature: present or absent, or a scale with a cut."""
        return self.kind == "present-absent" or (self.kind == "scale" and self.cut is not None)

    @property
    def numbered(self) -> bool:
        """Whether some answer has a number; otherwise each answer is a separate measure."""
        if self.kind == "choice":
            return any(option.number is not None for option in self.options)
        return self.kind in {"present-absent", "scale"}


@dataclass(frozen=True, slots=True)
class Form:
    """What raters are asked about each sample.

    Attributes:
        id, version: name the form.
        title: for people.
        license: SPDX id or text.
        citation: how to cite it, or empty.
        questions: in the order in which they are asked.
        groups: in the order in which they are shown.
        unmarked: what a question of present or absent without a mark means: ``absent``, when the
            rater confirms it in a second step, or ``ask``: the rater must answer.
        shows: the parts of a sample that the rater gets. A rater of ``target`` knows the expected
            word; ``text`` of a spoken response is what was written down of it.
        min_seconds: a rating in less time is flagged; None: :attr:`least_seconds` has the default.
        doi, notes: for people, or empty.
        objective_source: whose division into objective and subjective questions it is, or empty.
    """

    id: str
    version: str
    title: str
    license: str
    citation: str
    questions: tuple[Question, ...]
    groups: tuple[Group, ...] = ()
    unmarked: Unmarked = "ask"
    shows: tuple[Shown, ...] = ("text", "prompt")
    doi: str = ""
    notes: str = ""
    objective_source: str = ""
    min_seconds: float | None = None

    def question(self, measure: str) -> Question:
        """Return the question of a measure."""
        for question in self.questions:
            if question.measure == measure:
                return question
        allowed = ", ".join(question.measure for question in self.questions)
        raise TabwbError(f"form '{self.id}' has no question '{measure}'", allowed=allowed)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of all questions, in order."""
        return tuple(question.measure for question in self.questions)

    @property
    def least_seconds(self) -> float:
        """The seconds below which the rating of a sample is flagged as fast.

        >>> Form("f", "1", "F", "MIT", "", (Question("anomia", "Anomia"),) * 19).least_seconds
        4.75
        """
        if self.min_seconds is not None:
            return self.min_seconds
        return max(LEAST_SECONDS, SECONDS_PER_QUESTION * len(self.questions))

    @property
    def spoken(self) -> bool:
        """Whether raters hear the sample."""
        return "audio" in self.shows

    @property
    def canonical(self) -> str:
        """The canonical JSON: sorted keys, no white space, every value."""
        values = asdict(self)
        if self.min_seconds is None:  # forms of earlier versions keep their hash
            del values["min_seconds"]
        return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) of the canonical JSON."""
        return hashlib.sha256(self.canonical.encode("utf-8")).hexdigest()


def form_from_canonical(canonical: str) -> Form:
    """Return the form that a rating set kept."""
    try:
        table: dict[str, Any] = json.loads(canonical)
        questions = tuple(
            Question(**{**given, "options": tuple(Option(**each) for each in given["options"])})
            for given in table["questions"]
        )
        groups = tuple(Group(**given) for given in table["groups"])
        made = {**table, "questions": questions, "groups": groups, "shows": tuple(table["shows"])}
        return Form(**made)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise TabwbError(
            f"the stored form cannot be read: {error}", hint="run: tabwb store check"
        ) from error


def with_source_question(form: Form) -> Form:
    """Return the form with the last question *person or machine?*, of which no result counts.

    A form that asks it already is returned as it is.
    """
    if SOURCE in form.measures:
        return form
    options = (
        Option("person", "A person", key="1", definition="a person said or wrote this"),
        Option("machine", "A machine", key="2", definition="a language model wrote this"),
    )
    question = Question(
        SOURCE,
        "Person or machine?",
        "Who produced this sample. Answered last, so that it changes no other answer.",
        kind="choice",
        options=options,
        cannot_tell=True,
    )
    return replace(form, questions=(*form.questions, question))


def counted(form: Form) -> str:
    """Return what a form asks, in words: ``19 questions, present or absent``."""
    words = {"present-absent": "present or absent", "scale": "on a scale", "choice": "by choice",
             "phonemes": "in phonemes", "text": "in words"}  # fmt: skip
    kinds = dict.fromkeys(words[question.kind] for question in form.questions)
    return f"{plural(len(form.questions), 'question')}, {', '.join(kinds)}"


COMMAND_LETTERS = "glmnuz"
"""Letters of the screen's own commands, which questions without a key get last."""


def question_keys(form: Form) -> dict[str, str]:
    """Return the key of each question by measure; one without a key gets a free letter.

    The letter is the first of the title that neither a question nor a command has.

    >>> made = (Question("a", "Anomia", key="x"), Question("b", "Neologisms", key="a"),
    ...         Question("c", "Nouns"))
    >>> question_keys(Form("f", "1", "F", "MIT", "", made))
    {'a': 'x', 'b': 'a', 'c': 'o'}
    """
    keys = {question.measure: question.key for question in form.questions if question.key}
    for question in form.questions:
        if not question.key:
            title = [letter for letter in question.title.casefold() if letter in ascii_lowercase]
            last = "z" if question.measure == SOURCE else ""
            wanted = [letter for letter in (*title, *ascii_lowercase) if letter not in last]
            wanted.sort(key=lambda letter: letter in COMMAND_LETTERS)
            free = (letter for letter in wanted if letter not in {*keys.values(), "z"})
            keys[question.measure] = next(free, "")
    return {question.measure: keys[question.measure] for question in form.questions}


def _not_allowed(question: Question, answer: object) -> TabwbError:
    if question.kind == "text":
        allowed = "words"
    elif question.kind == "phonemes":
        allowed = "ARPAbet (D AO G) or IPA (dɔɡ)"
    else:
        values = [f"{one:g}" if isinstance(one, float) else str(one) for one in question.values]
        allowed = ", ".join(
            (["present, absent"] if question.kind == "present-absent" else []) + values
        )
    shown = f"{answer:g}" if isinstance(answer, float) else repr(answer)
    return TabwbError(f"'{question.measure}' cannot be {shown}", allowed=allowed)


MOST_ATTEMPTS = 20
CONFIRMED = "not looked at: confirmed as absent with the rest"
"""The reason of a rating that was confirmed in the second step."""


def of_attempts(question: Question, answers: Mapping[str, Answer]) -> tuple[Answer, ...]:
    """Return the answers of all attempts in order, without trailing ones that are not rated.

    A question that is asked once has one answer, or none.

    >>> heard = Question("heard", "Heard", kind="text", per_attempt=True)
    >>> of_attempts(heard, {"heard#1": "cap", "heard#2": "cat"})
    ('cap', 'cat')
    """
    found = [answers.get(key) for key in _keys(question)]
    while found and found[-1] is None:
        found.pop()
    return tuple(found)


def check_answers(form: Form, answers: Mapping[str, Answer]) -> None:
    """Check that every answer belongs to a question and is one that it allows."""
    for key, answer in answers.items():
        question = form.question(key.partition("#")[0])
        if key not in (keys := _keys(question)):
            allowed = keys[0] if len(keys) == 1 else f"{keys[0]} to {keys[-1]}"
            raise TabwbError(f"form '{form.id}' has no answer '{key}'", allowed=allowed)
        question.check(answer)


@dataclass(frozen=True, slots=True)
class Step:
    """What is between a rater's answers and a complete rating.

    Attributes:
        missing: measures that need an answer of their own.
        unmarked: features that were not looked at, and become absent when the rater confirms it.
        untouched: no question is answered; that of the source does not count.
        fast: it took less than the form's minimum.
    """

    missing: tuple[str, ...]
    unmarked: tuple[str, ...]
    untouched: bool
    fast: bool

    @property
    def asks(self) -> bool:
        """Whether the rater has to confirm the rating in a second step."""
        return bool(self.unmarked) or self.untouched or self.fast


def step(form: Form, answers: Mapping[str, Answer], seconds: float) -> Step:
    """Return what is between a rater's answers and a complete rating.

    >>> asked = (Question("anomia", "Anomia"), Question("jargon", "Jargon"))
    >>> form = Form("two", "1", "Two", "MIT", "", asked, unmarked="absent")
    >>> step(form, {"anomia": 1.0}, 9.0)
    Step(missing=(), unmarked=('jargon',), untouched=False, fast=False)
    >>> step(form, {}, 0.4).asks, step(form, {"anomia": 1.0, "jargon": 0.0}, 9.0).asks
    (True, False)
    """
    fills = form.unmarked == "absent"
    missing, unmarked = [], []
    for question in form.questions:
        if of_attempts(question, answers):
            continue
        if fills and question.kind == "present-absent":
            unmarked.append(question.measure)
        elif not question.optional:
            missing.append(question.measure)
    return Step(
        tuple(missing),
        tuple(unmarked),
        not _said(answers),
        is_fast(form, seconds),
    )


def is_fast(form: Form, seconds: float) -> bool:
    """Return whether a rating took less than the form's minimum; 0 seconds were not measured."""
    return 0 < seconds < form.least_seconds


def missing(form: Form, answers: Mapping[str, Answer]) -> tuple[str, ...]:
    """Return the measures that need an answer of their own; see :func:`step`."""
    return step(form, answers, 0.0).missing


def completed(form: Form, answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Return the answers with *absent* for each unmarked feature, where the form says so."""
    return {**answers, **dict.fromkeys(step(form, answers, 0.0).unmarked, 0.0)}


def looked_at(form: Form, rating: SampleRating) -> dict[str, Answer]:
    """Return the answers without those that were confirmed as absent with the rest.

    Of a complete rating from before version 0.2.0 nobody knows which were: with a form whose
    unmarked features are absent, none of its absent ones counts as looked at.
    """
    left_out: Collection[str] = rating.confirmed or ()
    if rating.confirmed is None and (rating.complete or rating.taken_back):
        left_out = _features(form) if form.unmarked == "absent" else ()
    return {
        key: answer
        for key, answer in rating.answers.items()
        if key not in left_out or answer != 0.0
    }


def flag_of(form: Form, rating: SampleRating) -> Flag:
    """Return why a complete rating is doubtful; empty where it is not.

    >>> form = Form("one", "1", "One", "MIT", "", (Question("anomia", "Anomia"),))
    >>> def rated(answer, seconds, confirmed):
    ...     answers = {"anomia": answer}
    ...     return SampleRating("R1", 1, 1, "rate", answers, True, seconds=seconds,
    ...                         confirmed=confirmed)
    >>> flag_of(form, rated(0.0, 9.0, ("anomia",))), flag_of(form, rated(0.0, 9.0, ()))
    ('untouched', '')
    >>> flag_of(form, rated(0.0, 0.4, None)), flag_of(form, rated(1.0, 0.4, None))
    ('fast-unmarked', '')
    """
    if not rating.complete:
        return ""
    fast = is_fast(form, rating.seconds)
    if rating.confirmed is None:
        return "fast-unmarked" if fast and not _present(form, rating.answers) else ""
    untouched = not _said(looked_at(form, rating))
    if untouched:
        return "untouched-fast" if fast else "untouched"
    return "fast" if fast else ""


def _said(answers: Mapping[str, Answer]) -> bool:
    """Return whether any question but that of the source is answered."""
    return any(answer is not None for key, answer in answers.items() if key != SOURCE)


def _present(form: Form, answers: Mapping[str, Answer]) -> bool:
    """Return whether a feature is marked as present, or a choice made, or words written."""
    return any(
        answer not in {None, CANNOT_TELL} and not _least(form.question(measure_of(key)[0]), answer)
        for key, answer in answers.items()
        if key != SOURCE
    )


def _least(question: Question, answer: Answer) -> bool:
    """Return whether an answer is the one that stands for absent."""
    return question.kind in {"present-absent", "scale"} and answer == float(question.low)


def _features(form: Form) -> frozenset[str]:
    return frozenset(one.measure for one in form.questions if one.kind == "present-absent")


def ratings_of(
    form: Form, rater: str, answers: Mapping[str, Answer], confirmed: Collection[str] = ()
) -> tuple[Rating, ...]:
    """Return the ratings that follow from a rater's answers, in the order of the questions.

    A number is a rating of the measure. Of a choice whose options have no numbers the answer is a
    separate measure: ``code:semantic`` is 1.0. Phonemes, text and the question about the source
    give no rating.
    """
    ratings = []
    for question in form.questions:
        answer = whole_response(question, of_attempts(question, answers))
        if answer is None or question.measure == SOURCE:
            continue
        number = question.number(answer)
        if question.kind == "choice" and not question.numbered and answer != CANNOT_TELL:
            ratings.append(valued(rater, f"{question.measure}:{answer}", 1.0))
        elif number is not None:
            reason = CONFIRMED if question.measure in confirmed else _reason(question, answer)
            ratings.append(valued(rater, question.measure, number, reason))
        elif question.numbered:
            reason = UNSURE if answer == CANNOT_TELL else str(answer)
            ratings.append(undefined(rater, question.measure, reason))
    return tuple(ratings)


def whole_response(question: Question, answers: tuple[Answer, ...]) -> Answer:
    """Return the answer of the whole response: that of its first complete attempt."""
    given = [answer for answer in answers if answer is not None]
    incomplete = {option.value for option in question.options if option.incomplete}
    first = given[0] if given else None
    return next((answer for answer in given if answer not in incomplete), first)


def _keys(question: Question) -> tuple[str, ...]:
    if not question.per_attempt:
        return (question.measure,)
    return tuple(f"{question.measure}#{number}" for number in range(1, MOST_ATTEMPTS + 1))


def _reason(question: Question, answer: Answer) -> str:
    if question.kind == "scale":
        cut = "" if question.cut is None else f", present from {question.cut}"
        return f"{answer:g} of {question.low} to {question.high}{cut}"
    return str(answer) if question.kind == "choice" else ""
