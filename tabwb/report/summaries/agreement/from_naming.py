"""What listeners say of spoken names: score, code, word heard; and what transcribers wrote down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tabwb.administer.naming.scores import listener_codes
from tabwb.administer.naming.views import NamingView, observations_of
from tabwb.agreement.verdicts import MISSING, Verdicts
from tabwb.battery.forms import Kind
from tabwb.battery.naming import naming_item
from tabwb.records.rating_sets import is_rater
from tabwb.records.speech import is_typed
from tabwb.report.summaries.agreement.rated import Answers, Measure
from tabwb.report.summaries.counted import Source
from tabwb.scoring.naming.target import Rule, right_by_score
from tabwb.tasks.spoken_naming.rules import NamingRules

RULES: Mapping[Rule, str] = {
    "correct-any": "Right, a self-correction counts",
    "correct-first": "Right at the first attempt",
}
TITLES: Mapping[str, tuple[str, Kind]] = {
    "code": ("Code", "choice"),
    "heard": ("Word heard", "text"),
    "phonemes": ("Transcript", "phonemes"),
}
"""Measures of listeners besides the score: title and kind of answer."""


@dataclass(slots=True)
class Heard:
    """What listeners said, by measure: rater and sample to what was said.

    Attributes:
        samples: ids of the responses.
        machines: the transcribers that are not people, files of transcripts among them.
        given: measure to (rater, place of the sample) to the text.
        speakers: of each sample.
    """

    samples: list[str] = field(default_factory=list)
    given: dict[str, dict[tuple[str, int], str]] = field(default_factory=dict)
    speakers: list[str] = field(default_factory=list)
    machines: set[str] = field(default_factory=set)

    @property
    def raters(self) -> tuple[str, ...]:
        """Everybody who said anything, in order of appearance."""
        return tuple(dict.fromkeys(rater for given in self.given.values() for rater, _ in given))

    def say(self, measure: str, rater: str, text: str) -> None:
        """Keep what a rater says of the sample that was added last.

        Args:
            measure: of what.
            rater: who says it.
            text: what is said.
        """
        self.given.setdefault(measure, {})[rater, len(self.samples) - 1] = text

    def right(self, raters: Sequence[str]) -> Verdicts:
        """Return whether each name is right by each rule: int8 of (raters, samples, rules)."""
        found = np.full((len(raters), len(self.samples), len(RULES)), MISSING, np.int8)
        for (rater, sample), score in self.given.get("score", {}).items():
            for at, rule in enumerate(RULES):
                right = right_by_score(score, rule)
                if right is not None:
                    found[raters.index(rater), sample, at] = right
        return found

    def answers(self, raters: Sequence[str], before: int = 0) -> tuple[Answers, ...]:
        """Return the other measures as numbers.

        Args:
            raters: in the order of the rows.
            before: samples without names that stand before these.
        """
        n = len(self.samples)
        return tuple(
            answers_of(Measure(name, *TITLES[name]), self.given[name], raters, before, n)
            for name in TITLES
            if name in self.given
        )


def answers_of(
    measure: Measure,
    given: Mapping[tuple[str, int], str],
    raters: Sequence[str],
    before: int,
    samples: int,
) -> Answers:
    """Return texts as places in the list of different texts; words heard in small letters."""
    if measure.kind == "text":
        given = {key: text.strip().casefold() for key, text in given.items()}
    words = tuple(sorted(set(given.values())))
    place = {word: at for at, word in enumerate(words)}
    values = np.full((len(raters), before + samples), np.nan)
    for (rater, sample), text in given.items():
        values[raters.index(rater), before + sample] = place[text]
    return Answers(measure, values, words)


def heard_in(sources: Sequence[Source]) -> Heard:
    """Return what listeners and transcribers said of the naming responses of administrations."""
    found = Heard()
    for source in sources:
        for trial in source.trials:
            subtest = source.battery.subtest(trial.plan.subtest)
            attempt = trial.counting
            if not subtest.task.coded or trial.plan.practice or attempt is None:
                continue
            item = naming_item(subtest.item(trial.plan.item))
            rules = subtest.naming or NamingRules()
            view = NamingView(trial, item, rules, observations_of(trial))
            found.samples.append(f"{trial.plan.item}:{trial.plan.number}:{attempt.number}")
            found.speakers.append(source.examinee)
            for scored in view.scores:
                found.say("score", listener(scored.by), scored.score)
            for by, code in listener_codes(view):
                found.say("code", listener(by), code)
            for heard in view.words_heard:
                found.say("heard", listener(heard.by), heard.text)
            for transcript in view.transcripts:
                if transcript.status != "error":
                    if not by_person(transcript.transcriber):
                        found.machines.add(transcript.transcriber)
                    phonemes = " ".join(view.sounds(transcript).phonemes)
                    found.say("phonemes", listener(transcript.transcriber), phonemes)
    return found


def listener(by: str) -> str:
    """Return the code of a person from a rater or transcriber as it is stored; else its spec.

    >>> listener("person:R1"), listener("person"), listener("manual:R2"), listener("bundled-words")
    ('R1', 'person', 'R2', 'bundled-words')
    >>> listener("manual:ears/typed.tsv")
    'manual:ears/typed.tsv'
    """
    if is_typed(by) and not by_person(by):
        return by
    return by.removeprefix("person:").removeprefix("manual:")


def by_person(transcriber: str) -> bool:
    """Return whether a transcriber is a person whose code is known; a file of transcripts is not.

    >>> by_person("manual:R2"), by_person("manual:ears/typed.tsv"), by_person("bundled-words")
    (True, False, False)
    """
    return is_typed(transcriber) and is_rater(transcriber.partition(":")[2])
