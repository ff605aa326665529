"""Results of pictures named aloud: single responses, figures of a subtest, sessions over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.statistics.naming import (
    Confusions,
    CueEffect,
    Latencies,
    NamedSubtest,
    confusions,
    cue_effects,
    latencies,
    named_subtests,
    namings,
)
from tabwb.records.errors import UsageError
from tabwb.records.naming import LimitsSet, OnsetSet
from tabwb.records.ratings import rule_of
from tabwb.scoring.naming.summary import NamedItem
from tabwb.scoring.naming.target import right_by_score
from tabwb.tasks.spoken_naming.scores import Naming, named_item
from tabwb.tasks.spoken_naming.views import NamingView
from tabwb.workbench.shell.rule_verdicts import RuleVerdicts, rule_verdicts, score_words
from tabwb.workbench.shell.wording import seconds

if TYPE_CHECKING:
    from tabwb.analysis.change import Change


@dataclass(frozen=True, slots=True)
class NamedResponse:
    """One response to a picture.

    Attributes:
        item: what everybody says of it.
        shown: picture and accepted pronunciations, in words.
        by_people: (name, words) of each person's score, of what they heard, of their codes.
        facts: (name, words) of cues, latency, sound.
        by_rules: what the rules say, or None where nothing was transcribed.
        flags: a person's, beside their code.
        listed: whether the list of results shows what the rules say.
        naming: the trial as the rules read it.
        hidden: what others said is hidden from the one who listens.
        corrections: (what, who, when, why) of onset, limits and codes, oldest first.
        transcripts: (transcriber, what was heard) beside the one that is scored.
        scored_by: the IDs of those who scored it; empty for somebody without one.
        said_by: the IDs of those who scored, coded or wrote down a word.
    """

    item: NamedItem
    shown: str
    by_people: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    by_rules: RuleVerdicts | None
    flags: tuple[str, ...]
    listed: bool
    scored_by: tuple[str, ...]
    said_by: tuple[str, ...]
    naming: Naming
    hidden: bool = False
    corrections: tuple[tuple[str, ...], ...] = ()
    transcripts: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def seen_by(self, rater: str) -> NamedResponse:
        """What a rater may see: what others said only once this one has scored too."""
        if rater in self.scored_by or not set(self.said_by) - {rater}:
            return self
        item = self.item
        hidden = NamedItem(item.item, item.target, item.status, latency_s=item.latency_s)
        return replace(
            self,
            item=hidden,
            by_people=(),
            by_rules=None,
            flags=(),
            hidden=True,
            corrections=(),
            transcripts=(),
        )


@dataclass(frozen=True, slots=True)
class NamingPart:
    """The figures of one naming subtest of an administration."""

    subtest: NamedSubtest
    latencies: Latencies
    cues: tuple[CueEffect, ...]
    confusions: Confusions


@dataclass(frozen=True, slots=True)
class NamingSession:
    """One administration of a naming battery to a speaker.

    Attributes:
        at: when it was held, UTC, ISO 8601; one of unknown date: when it was taken in.
        named: its naming subtests, as those of :attr:`NamingResults.parts`.
    """

    number: int
    at: str
    named: tuple[NamedSubtest, ...]


@dataclass(frozen=True, slots=True)
class NamingResults:
    """What the page of a naming administration shows besides its responses.

    Attributes:
        sessions: of the speaker with this battery, oldest first, with this one.
        change: item by item, with a set for each subtest and tag; None: one session, or no name is
            scored.
        unchanged: why there is no change, or empty.
    """

    parts: tuple[NamingPart, ...]
    sessions: tuple[NamingSession, ...]
    change: Change | None = None
    unchanged: str = ""


def naming_results(
    data: AdministrationData,
    named: Sequence[NamedSubtest],
    sessions: Sequence[AdministrationData],
) -> tuple[NamingResults, Mapping[int, NamedResponse]]:
    """Return the results of a naming administration, and each named response by its trial."""
    spoken = [naming for naming in namings(data) if naming.view.item.coded]
    responses = {naming.view.trial.plan.number: _response(naming) for naming in spoken}
    parts = tuple(
        NamingPart(
            subtest,
            latencies(subtest.items),
            cue_effects(subtest.items),
            confusions(one for one in spoken if one.view.trial.plan.subtest == subtest.id),
        )
        for subtest in named
    )
    held = [_session(each, named_subtests([each])) for each in sessions]
    held = held or [_session(data, tuple(named))]
    held.sort(key=lambda session: (session.at, session.number))
    change, reason = _change(sessions)
    return NamingResults(parts, tuple(held), change, reason), responses


def _session(data: AdministrationData, named: tuple[NamedSubtest, ...]) -> NamingSession:
    given = data.administration
    dated = given.conditions.session_date
    at = f"{given.session_date}T00:00:00" if dated else given.created_at
    return NamingSession(given.id, at, named)


def _change(sessions: Sequence[AdministrationData]) -> tuple[Change | None, str]:
    if len(sessions) < 2:
        return None, ""
    from tabwb.analysis.change import change_of, sets_of_tags, tags_as_sets

    subtests = [one for one in sessions[0].battery.subtests if one.task.coded]
    sets = {one.id: tuple((one.id, item.id) for item in one.items) for one in subtests}
    try:
        return change_of(sessions, sets | sets_of_tags(subtests, tags_as_sets(subtests))), ""
    except UsageError as error:
        return None, error.message


def _not_counted(naming: Naming) -> str:
    """Return why a response that a person scored right does not count as right, or nothing."""
    view, outcome = naming.view, named_item(naming).outcome
    by_ear = view.score is not None and right_by_score(view.score.score, view.rules.rule)
    if not by_ear or outcome == "right":
        return ""
    if outcome == "right-after-cue":
        return "after a cue that does not count"
    limit = view.rules.time_limit
    return "" if limit is None else f"late (limit {limit:g} s)"


def _response(naming: Naming) -> NamedResponse:
    view = naming.view
    item, take = view.item, view.take
    by_people: list[tuple[str, str]] = []
    for score in view.scores:
        after = "after the machine's words were shown" if score.after_reveal else ""
        counts = "this one counts" if len(view.scores) > 1 and score == view.score else ""
        words = score_words(score.score, score.reason)
        by_people.append(("score", ", ".join(filter(None, (words, score.by, after, counts)))))
    if (rule := rule_of(view.primary)) is not None and view.scores:
        held = view.score
        words = "open" if held is None else score_words(held.score, held.reason)
        by_people.append(("counts", f"{words}, by the rule '{rule}'"))
    by_people += [("heard", f"{word.text}  ({word.by})") for word in view.words_heard]
    by_people += [
        ("code", f"{', '.join((code.code, *code.flags))}  ({code.by})") for code in view.codes
    ]
    own = () if view.code is None else view.code.flags
    if ruled := naming.flags.difference(own):
        by_people.append(("by rule", ", ".join(sorted(ruled))))
    if words := _not_counted(naming):
        by_people.append(("not counted", words))
    facts = [
        ("cue", f"{cue.kind}, {'counts' if cue.counts else 'does not count'}") for cue in view.cues
    ]
    if view.latency_s is not None:
        facts.append(("latency", f"{seconds(view.latency_s)}  ({view.onset_by})"))
    if take is not None and take.remarks:
        facts.append(("sound", take.remarks))
    accepted = ", ".join(" ".join(form) for form in item.accepted)
    known = bool(naming.transcript or naming.proposal)
    return NamedResponse(
        named_item(naming),
        f"{item.picture}   {item.target}   accepted {accepted}",
        tuple(by_people),
        tuple(facts),
        rule_verdicts(naming) if known else None,
        () if view.code is None else view.code.flags,
        known,
        tuple(score.by.partition(":")[2] for score in view.scores),
        tuple(by.partition(":")[2] for by in view.raters),
        naming,
        corrections=tuple(_corrections(view)),
        transcripts=tuple(
            (other.transcriber, other.phonemes)
            for other in naming.transcripts
            if naming.transcript is not None and other.transcriber != naming.transcript.transcriber
        ),
    )


def _corrections(view: NamingView) -> Iterator[tuple[str, ...]]:
    for made in view.corrections:
        match made:
            case OnsetSet():
                words = f"onset {made.onset_s:.2f} s"
            case LimitsSet():
                words = f"limits {made.start_s:.2f} to {made.end_s:.2f} s"
            case _:
                words = ", ".join((f"code {made.code}", *made.flags))
        yield words, made.by, made.at[:16].replace("T", " "), made.reason
