"""Results of spoken naming as they are shown: what each response was, sessions over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tabwb.administer.naming.scores import Naming, named_item
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.naming import NamedSubtest, named_subtests, namings
from tabwb.scoring.naming.summary import NamedItem
from tabwb.workbench.shell.rule_verdicts import RuleVerdicts, rule_verdicts, score_words
from tabwb.workbench.shell.wording import seconds

CLOSE = 0.04
"""Sessions nearer together than this share of the whole time would stand in one column."""


@dataclass(frozen=True, slots=True)
class NamedResponse:
    """One response to a picture.

    Attributes:
        item: what everybody says of it.
        shown: picture and accepted pronunciations, in words.
        said: (name, words) of each person's score, of what they heard, of their codes.
        facts: (name, words) of cues, latency, sound.
        machine: what the machine says, or None where nothing was transcribed.
        flags: a person's, beside their code.
        listed: whether what the machine says stands in the list of results.
        scored_by: the IDs of those who scored it; empty for somebody without one.
    """

    item: NamedItem
    shown: str
    said: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    machine: RuleVerdicts | None
    flags: tuple[str, ...]
    listed: bool = False
    scored_by: tuple[str, ...] = ()

    def seen_by(self, rater: str) -> NamedResponse:
        """What a rater may see: what others said only once this one has scored too."""
        if not self.scored_by or rater in self.scored_by:
            return self
        item = replace(
            self.item,
            code="",
            proposed="",
            heard="",
            score="",
            person=None,
            other_scores=(),
            rules={},
            phonemes=(),
            transcriber="",
            flags=(),
        )
        return replace(self, item=item, said=(), machine=None, flags=())


@dataclass(frozen=True, slots=True)
class Session:
    """One administration of the battery to the speaker.

    Attributes:
        number: of the administration.
        at: when it was held, UTC, ISO 8601.
        named: its naming subtests.
    """

    number: int
    at: str
    named: tuple[NamedSubtest, ...]

    @property
    def day(self) -> str:
        """The day on which it began."""
        return self.at[:10]


@dataclass(frozen=True, slots=True)
class NamingResults:
    """Spoken naming in an administration.

    Attributes:
        number: of the administration.
        speaker: study id.
        named: its naming subtests.
        sessions: the same battery given to the same speaker, this one among them, oldest first.
        responses: by number of the trial.
        only: nothing else was given.
    """

    number: int
    speaker: str
    named: tuple[NamedSubtest, ...]
    sessions: tuple[Session, ...]
    responses: Mapping[int, NamedResponse]
    only: bool


def naming_results(
    one: AdministrationData,
    named: Sequence[NamedSubtest],
    others: Sequence[AdministrationData] = (),
) -> NamingResults | None:
    """What is shown of spoken naming; None where nothing was to be named.

    Args:
        one: the administration.
        named: its naming subtests, summarised.
        others: further administrations of the same battery to the same speaker.
    """
    if not named:
        return None
    given = one.administration
    sessions = [Session(given.id, _when(one), tuple(named))]
    for other in others:
        began = other.administration
        if began.id != given.id:
            sessions.append(Session(began.id, _when(other), named_subtests([other.source])))
    return NamingResults(
        given.id,
        given.conditions.examinee,
        tuple(named),
        tuple(sorted(sessions, key=lambda each: (each.at, each.number))),
        {
            naming.view.trial.plan.number: response_of(naming)
            for naming in namings(one.source)
            if naming.view.item.coded
        },
        len(named) == len(one.battery.subtests),
    )


def _when(one: AdministrationData) -> str:
    """When a session was held; of unknown date: when it was taken in."""
    administration = one.administration
    if not administration.conditions.session_date:
        return administration.created_at
    return f"{administration.session_date}T00:00:00"


def response_of(naming: Naming) -> NamedResponse:
    """One response to a picture, with everything that was said of it."""
    view = naming.view
    item, take = view.item, view.take
    facts: list[tuple[str, str]] = []
    said: list[tuple[str, str]] = []
    for score in view.scores:
        after = "after the machine's words were shown" if score.after_reveal else ""
        counts = "this one counts" if len(view.scores) > 1 and score == view.score else ""
        words = score_words(score.score, score.reason)
        said.append(("score", ", ".join(filter(None, (words, score.by, after, counts)))))
    said += [("heard", f"{each.text}  ({each.by})") for each in view.words_heard]
    said += [("code", f"{each.code}  ({each.by})") for each in view.codes]
    if naming.flags:
        said.append(("flags", ", ".join(sorted(naming.flags))))
    for cue in view.cues:
        counts = "counts" if cue.counts else "does not count"
        facts.append(("cue", f"{cue.kind}, {counts}"))
    if view.latency_s is not None:
        facts.append(("latency", f"{seconds(view.latency_s)}  ({view.onset_by})"))
    if take is not None and take.remarks:
        facts.append(("sound", take.remarks))
    accepted = ", ".join(" ".join(form) for form in item.accepted)
    known = bool(naming.transcript or naming.proposal)
    return NamedResponse(
        named_item(naming),
        f"{item.picture}   {item.target}   accepted {accepted}",
        tuple(said),
        tuple(facts),
        rule_verdicts(naming) if known else None,
        () if view.code is None else view.code.flags,
        known,
        tuple(each.by.partition(":")[2] for each in view.scores),
    )


def places(times_s: Sequence[float]) -> tuple[tuple[float, ...], bool]:
    """Where sessions stand along the time, 0 to 1, and whether that is to scale.

    Sessions that would stand in one column are set one after the other instead.

    >>> places([0.0, 10.0, 40.0])
    ((0.0, 0.25, 1.0), True)
    >>> places([0.0, 1.0, 1000.0])
    ((0.0, 0.5, 1.0), False)
    """
    span = times_s[-1] - times_s[0]
    if len(times_s) < 2:
        return (0.0,) * len(times_s), False
    if span > 0 and min(b - a for a, b in pairwise(times_s)) >= CLOSE * span:
        return tuple((each - times_s[0]) / span for each in times_s), True
    return tuple(at / (len(times_s) - 1) for at in range(len(times_s))), False
