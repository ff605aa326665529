"""What listeners of a naming session said, as ratings of a rating set with the form of naming."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tabwb.battery.forms import Form
from tabwb.records.naming import Coded, Heard, Scored, observation_of_json
from tabwb.records.rating_sets import Answer, Sample, SampleRating
from tabwb.records.ratings import PERSON
from tabwb.store.store import Store

_KEYS = {Scored: ("correct", "score"), Heard: ("heard#1", "text"), Coded: ("code#1", "code")}
"""Of each kind of observation the key of the answer, and the field that has it."""


def session_ratings(
    store: Store, samples: Sequence[Sample], form: Form, rated: Collection[tuple[str, int]]
) -> Iterator[SampleRating]:
    """Yield what listeners of the session said of samples that were named aloud.

    A word or a code is that of the first attempt. What a listener rated in the set too is left out:
    what was said there is compared.
    """
    measures = {key: key.partition("#")[0] for key, _ in _KEYS.values()}
    if not {*measures.values()} <= {*form.measures}:
        return
    for number in dict.fromkeys(sample.administration for sample in samples):
        trials = {trial.plan.number: trial for trial in store.history(number).trials}
        for sample in samples:
            if sample.administration != number or sample.trial not in trials:
                continue
            said: dict[str, dict[str, Answer]] = {}
            for text in trials[sample.trial].observations:
                observation = observation_of_json(text)
                if isinstance(observation, Scored | Heard | Coded):
                    key, name = _KEYS[type(observation)]
                    answer: Answer = getattr(observation, name)
                    question = form.question(measures[key])
                    fits = question.kind == "text" or answer in question.values
                    code = observation.by.removeprefix(PERSON)
                    if observation.attempt == sample.attempt and fits:
                        said.setdefault(code, {})[key] = answer
            for code, answers in said.items():
                if (code, sample.number) in rated:
                    continue
                yield SampleRating(code, 0, sample.number, "rate", answers, complete=True)
