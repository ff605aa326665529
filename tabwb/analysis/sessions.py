"""What a person said to each item, session by session: the steps of a dial of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tabwb.analysis.administrations import AdministrationData, load_administrations
from tabwb.analysis.change import answers_of, days_of, in_order
from tabwb.analysis.frame import Place
from tabwb.analysis.statistics.naming import Speech, naming_item, speech_of
from tabwb.analysis.statistics.summary import named_of
from tabwb.battery.model import Battery, Item
from tabwb.phonology.inventory import SILENT, to_ipa
from tabwb.records.speech import is_typed
from tabwb.records.states import TrialState
from tabwb.records.steps import Session, Step, said_in
from tabwb.records.trials import Trial
from tabwb.scoring.naming.summary import NamedItem
from tabwb.scoring.text import fold_case
from tabwb.scoring.word_difference import word_difference
from tabwb.store.store import Store

RIGHT = "right"
RULES = {
    "correct-any": "Right anywhere (by rule)",
    "correct-first": "First attempt right (by rule)",
}
COMPARED = (
    "Names of pictures are compared with the nearest accepted name: words or phonemes as a "
    "listener heard them, else the phonemes of the transcript (a program's is a draft). Other "
    "answers are compared with the answer of the first session. A difference is not a diagnosis: "
    "it says nothing about a person's condition or care."
)
"""What is compared."""


def titles_of(battery: Battery) -> dict[str, str]:
    """Return the titles of what is said of an answer, by their ids."""
    return {RIGHT: "Right", **RULES, **{one.id: one.title for one in battery.features}}


def session_steps(store: Store, members: Sequence[AdministrationData]) -> tuple[Step, ...]:
    """Return a step for each item and session, items in the battery's order.

    Sessions are administrations of one person and battery, in order of day and number. Practice,
    and items that no session answers, are left out; of an item the first trial with an answer is
    taken.
    """
    ordered = in_order(members)
    numbers = [one.administration.id for one in ordered]
    rights, battery = answers_of(ordered), ordered[0].battery
    parts = {one.administration.id: one.part for one in ordered}
    whole = [replace(one, part=parts[one.administration.id])
             for one in load_administrations(store, numbers)]  # fmt: skip
    raters = [{one.rater for trial in own.trials for one in trial.ratings
               if one.rater.startswith("rules-")} for own in whole]  # fmt: skip
    judge = max(set[str].intersection(*raters), default="")
    days: Sequence[int | None] = days_of([one.administration.session_date for one in ordered])
    days = days or [None] * len(ordered)
    named = [
        {(part.id, item.item): item for part in named_of([one]) for item in part.items}
        for one in ordered
    ]
    speeches = [speech_of(one.speaker, battery.language) for one in ordered]
    trials: dict[tuple[int, Place], Trial] = {}
    for one in whole:
        for trial in one.own_trials:
            key = one.administration.id, (trial.plan.subtest, trial.plan.item)
            if key not in trials or (trial.is_answered and not trials[key].is_answered):
                trials[key] = trial
    given = {place for (_, place), trial in trials.items() if trial.is_answered}
    made = []
    for place, item in (((part.id, one.id), one) for part in battery.subtests for one in part.items
                        if not one.practice and (part.id, one.id) in given):  # fmt: skip
        first: str | None = None
        for at, number in enumerate(numbers):
            session = Session(number, "/".join(place), days[at])
            step = Step("session", at + 1, status="not given", session=session)
            if (number, place) in trials:
                trial = trials[number, place]
                recorded = trial.counting is not None and "recording" in trial.counting.metadata
                session = session._replace(trial=trial.plan.number, recorded=recorded)
                state = "not given" if trial.state is TrialState.PLANNED else trial.state.value
                step = replace(step, status=state, reason=trial.reason, session=session)
                step = said_in(step, trial, judge) if trial.is_answered else step
            if (of := named[at].get(place)) is not None:
                step = _named(step, of, item, speeches[at])
            elif step.answer and first is None:
                first, step = step.answer, replace(step, words=len(step.answer.split()))
            else:
                step = _compared(step, first)
            right = {RIGHT: rights[place][at]} if place in rights else {}
            made.append(replace(step, features={**right, **step.features}))
    return tuple(made)


def _compared(step: Step, other: str | None) -> Step:
    """Return a step with the text with which it is compared, and the words that differ."""
    assert step.session is not None
    if other is None or not step.answer:
        return step
    words = word_difference(other, step.answer).second
    new = tuple(word.text.strip() for word in words if word.differs)
    session = step.session._replace(compared=other)
    return replace(step, words=len(words), new_words=new, session=session)


def _named(step: Step, said: NamedItem, item: Item, speech: Speech) -> Step:
    """Return a step with what a person called a picture, compared with the accepted names."""
    assert step.session is not None
    accepted = naming_item(item).accept
    forms = [_ipa(one.phonemes) for one in accepted]
    answer, source, unit = _ipa(said.phonemes), _transcript_of(said.transcriber), "phonemes"
    if said.heard:
        source, attempts = "as a listener heard it", speech.read(said.heard).attempts
        words = " ".join(one.word for one in attempts if one.words)
        answer = words or _ipa([sound for one in attempts for sound in one.phonemes])
        if words or not answer:
            names = said.target, *(one.word for one in accepted)
            answer, forms = words or said.heard, [fold_case(name) for name in names if name]
            unit = "words"
    status = "ok" if said.status == "answered" else said.status
    if said.transcriber and not answer and status == "ok":
        source = "no speech in the transcript"
    made = replace(
        step, answer=answer, status=status, reason=said.reason,
        features={name: said.rules[name] for name in RULES if name in said.rules},
        session=step.session._replace(
            target=said.target, unit=unit,
            source=source if answer or said.transcriber else "nobody transcribed it",
        ),
    )  # fmt: skip
    nearest = [_compared(made, form) for form in forms]
    return min(nearest, key=lambda one: len(one.new_words), default=made)


def _transcript_of(transcriber: str) -> str:
    """Return what the transcript of a transcriber is.

    >>> _transcript_of("manual:psst"), _transcript_of("bundled-words")
    ('transcript by a person', 'transcript, a draft')
    """
    return "transcript by a person" if is_typed(transcriber) else "transcript, a draft"


def _ipa(phonemes: Sequence[str]) -> str:
    """Return phonemes with spaces between, without silence and noise.

    >>> _ipa(("D", "AO", "<sil>", "G"))
    'd ɔ ɡ'
    """
    return " ".join(to_ipa((one,)) for one in phonemes if one not in SILENT)
