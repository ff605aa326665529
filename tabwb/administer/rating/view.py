"""What is shown to a rater: plain frozen values, none of which tells the source.

The rating screen and the page in a browser get a :class:`RatingView`, and nothing else of a sample.
Who or what gave it, its condition and what others say of it are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tabwb.administer.rating.session import Asked, Draft, Phase, RaterSession
from tabwb.battery.forms import Form, Question
from tabwb.records.errors import StoreError, TabwbError
from tabwb.records.rating_sets import CANNOT_TELL, Answer
from tabwb.records.words import plural
from tabwb.speech.envelope import Envelope, envelope_of

SURE = ("guessed", "unsure", "fairly sure", "sure")
"""The confidences 0 to 3 in words."""


@dataclass(frozen=True, slots=True)
class RatingView:
    """One sample and how far the rater is.

    Attributes:
        set_name: of the rating set.
        rater: the rater's own code.
        form: with the questions, the last question of the set included.
        position, planned: the place of the sample in this rater's order, from 1, and their number.
        done: how many of them are complete.
        draft: the rater's own answers so far.
        complete: whether the sample is complete.
        confirmed: of a complete sample the features that are absent without a look at each.
        asked: what the rater has to confirm before it is complete, or None.
        withheld: samples that are not shown because the speaker does not agree.
        text, prompt, context_before, context_after, target: as the set presents them, or empty.
        picture: the file of the picture, or None.
        audio_s: how long the recording is, or None where there is no recording to play.
        loudness: of the recording, its times from 0, or None.
        learning: whether this is a calibration sample.
        right: with the phase *feedback* the right answers by key.
        guidelines: the text of the guidelines file, or empty.
        guidelines_first: whether the rater has not read them yet.
        visit: number of the sample among all that were shown; requests repeat it.
    """

    phase: Phase
    set_name: str
    rater: str
    form: Form
    position: int
    planned: int
    done: int
    draft: Draft
    complete: bool = False
    confirmed: tuple[str, ...] = ()
    asked: Asked | None = None
    withheld: int = 0
    text: str = ""
    prompt: str = ""
    context_before: str = ""
    context_after: str = ""
    target: str = ""
    picture: bytes | None = None
    audio_s: float | None = None
    loudness: Envelope | None = None
    learning: bool = False
    right: Mapping[str, Answer] | None = None
    guidelines: str = ""
    guidelines_first: bool = False
    visit: int = 0

    @property
    def rated(self) -> Mapping[str, Answer]:
        """The answers to the sample, with those that were confirmed as absent."""
        return {**self.draft.answers, **dict.fromkeys(self.confirmed, 0.0)}


def view_of(session: RaterSession) -> RatingView:
    """Return what the screen shows now: of the sample only what the form shows of it."""
    progress, shown = session.progress, session.shown
    base = RatingView(
        phase=session.phase,
        visit=session.visit,
        set_name=session.name,
        rater=session.rater,
        form=session.form,
        position=progress.place,
        planned=progress.planned,
        done=progress.done,
        withheld=progress.withheld,
        draft=session.draft if session.asked is None else session.asked.draft,
        complete=session.complete,
        confirmed=session.confirmed,
        asked=session.asked,
        right=session.right,
        guidelines=session.guidelines,
        guidelines_first=bool(session.guidelines) and not session.guidelines_read,
    )
    if shown is None:
        return base
    return replace(
        base,
        text=shown.text,
        prompt=shown.prompt,
        context_before=shown.context_before,
        context_after=shown.context_after,
        target=shown.target,
        learning=shown.calibration,
        audio_s=shown.seconds,
        loudness=_loudness(session),
        picture=_picture(session),
    )


def _loudness(session: RaterSession) -> Envelope | None:
    try:
        cut = session.audio()
        made = None if cut is None else envelope_of(*cut)
    except TabwbError:
        return None  # playing it says why it cannot be read
    return made and replace(made, start_s=0.0, end_s=made.end_s - made.start_s)


def _picture(session: RaterSession) -> bytes | None:
    try:
        return session.picture()
    except StoreError:
        return None  # 'tabwb store check' says which file is gone; what was said can be rated


# -------------------------------------------------------------------- words


def answer_title(question: Question, answer: Answer, *, confirmed: bool = False) -> str:
    """Return an answer in words.

    >>> scale = Question("jargon", "Jargon", kind="scale", high=4)
    >>> answer_title(scale, 2.0), answer_title(scale, None)
    ('2', 'not answered')
    >>> answer_title(Question("anomia", "Anomia"), None, confirmed=True)
    'not looked at, confirmed as absent'
    """
    if answer == CANNOT_TELL:
        return "cannot tell"
    if question.kind == "present-absent":
        words: Mapping[Answer, str] = {1.0: "present", 0.0: "absent", None: "not looked at"}
        return words[answer] + ", confirmed as absent" * confirmed
    if answer is None:
        return "not answered"
    value = f"{answer:g}" if isinstance(answer, float) else answer
    title = next((one.title for one in question.options if one.value == value), "")
    return f"{value} {title}".rstrip() if question.kind == "scale" else title or value


def asked_words(asked: Asked, form: Form, key: str = "enter") -> str:
    """Return what a rater is asked to confirm, by a key, before a sample is complete.

    >>> form = Form("one", "1", "One", "MIT", "", (Question("anomia", "Anomia"),))
    >>> asked_words(Asked(Draft(), ("anomia",), True, True), form)
    'nothing answered, less than 1 s. enter again: 1 feature absent'
    >>> asked_words(Asked(Draft(), ("anomia",), False, False, again=True), form)
    '1 feature not looked at. wait, then enter: absent'
    """
    features = plural(len(asked.unmarked), "feature")
    said = ["nothing answered"] if asked.untouched else []
    if asked.unmarked and not asked.untouched:
        said.append(f"{features} not looked at")
    said += [f"less than {form.least_seconds:g} s"] * asked.fast
    presses = f"wait, then {key}" if asked.again else f"{key} again"
    absent = f"{features} absent" if asked.untouched else "absent"
    return f"{', '.join(said)}. {presses}: {absent if asked.unmarked else 'complete'}"


def turned(question: Question, answer: Answer) -> Answer:
    """Return the answer after one more press of the question's key.

    >>> anomia = Question("anomia", "Anomia")
    >>> turned(anomia, None), turned(anomia, 1.0), turned(anomia, CANNOT_TELL)
    (1.0, 0.0, 1.0)
    >>> jargon = Question("jargon", "Jargon", kind="scale", high=2)
    >>> turned(jargon, None), turned(jargon, 1.0), turned(jargon, 2.0)
    (0.0, 2.0, 0.0)
    """
    allowed = [value for value in question.values if value != CANNOT_TELL]
    at = allowed.index(answer) + 1 if answer in allowed else 0
    return allowed[at % len(allowed)]
