"""Results of one administration as they are shown: responses, scores, sessions over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tabwb.administer.naming.scores import Naming, named_item
from tabwb.battery.model import Battery
from tabwb.records.counting import rule_of
from tabwb.records.states import ResponseStatus
from tabwb.records.trials import Administration, Trial
from tabwb.report.summaries.counted import effective_statuses
from tabwb.report.summaries.live.summary import summarise
from tabwb.report.summaries.load import AdministrationData
from tabwb.report.summaries.naming import NamedSubtest, named_subtests, namings
from tabwb.report.summaries.summary import Summary
from tabwb.scoring.naming.summary import NamedItem
from tabwb.workbench.engine.presenters import (
    Places,
    counted_mark,
    item_of,
    mark_of,
    named_scores,
    places_in_subtests,
    scores_of,
)
from tabwb.workbench.engine.view_models import Item, Scores
from tabwb.workbench.shell.rule_verdicts import RuleVerdicts, rule_verdicts, score_words
from tabwb.workbench.shell.wording import seconds


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

    def seen_by(self, rater: str) -> NamedResponse:
        """What a rater may see: what others said only once this one has scored too."""
        if rater in self.scored_by or not set(self.said_by) - {rater}:
            return self
        item = self.item
        hidden = NamedItem(item.item, item.target, item.status, latency_s=item.latency_s)
        return replace(self, item=hidden, by_people=(), by_rules=None, flags=())


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """One trial in the results' list."""

    item: Item
    verdict: str
    glyph: str
    notes: tuple[str, ...] = ()
    named: NamedResponse | None = None


@dataclass(frozen=True, slots=True)
class NamingSession:
    """One administration of a naming battery to a speaker."""

    number: int
    at: str
    """When it was held, UTC, ISO 8601."""
    named: tuple[NamedSubtest, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one administration."""

    administration: Administration
    battery: Battery
    summary: Summary
    scores: Scores
    responses: tuple[ResponseRow, ...]
    sessions: tuple[NamingSession, ...]
    """Of a naming battery, with the same speaker, this one among them, oldest first."""


def results_of(data: AdministrationData, others: Sequence[AdministrationData] = ()) -> Results:
    """Return everything that the results page shows.

    Args:
        data: the administration with its battery and trials.
        others: further administrations of a naming battery to the same speaker.
    """
    summary = summarise(data.source, interval=True)
    named: dict[int, NamedResponse] = {}
    sessions: list[NamingSession] = []
    if summary.named:
        named = {
            naming.view.trial.plan.number: _named_response(naming)
            for naming in namings(data.source)
            if naming.view.item.coded
        }
        sessions = [_session(data, summary.named)]
        sessions += [_session(other, named_subtests([other.source])) for other in others]
    counts = [subtest.counts for subtest in summary.subtests]
    person = data.administration.conditions.kind == "speaker"
    scores = scores_of(data.battery, data.trials, counts, summary.judges, person=person)
    statuses = effective_statuses(data.battery, data.trials)
    places = places_in_subtests(data.trials)
    return Results(
        data.administration,
        data.battery,
        summary,
        named_scores(scores, summary.named),
        tuple(
            _row(data, trial, status, named.get(trial.plan.number), places)
            for trial, status in zip(data.trials, statuses, strict=True)
        ),
        tuple(sorted(sessions, key=lambda session: (session.at, session.number))),
    )


def _session(data: AdministrationData, named: tuple[NamedSubtest, ...]) -> NamingSession:
    """Return a session; one of unknown date was held when it was taken in."""
    given = data.administration
    dated = given.conditions.session_date
    at = f"{given.session_date}T00:00:00" if dated else given.created_at
    return NamingSession(given.id, at, named)


def _row(
    data: AdministrationData,
    trial: Trial,
    status: ResponseStatus | None,
    named: NamedResponse | None,
    places: Places,
) -> ResponseRow:
    mark = mark_of(trial, data.battery.subtest(trial.plan.subtest).scorers)
    if named is not None:
        mark = counted_mark(mark, named.item)
    item = item_of(data.battery, data.administration.conditions, trial, data.trials, places)
    verdict = "not given" if mark == "not-administered" else mark
    return ResponseRow(replace(item, status=status), verdict, mark, trial.notes, named)


def _named_response(naming: Naming) -> NamedResponse:
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
    by_people += [("code", f"{code.code}  ({code.by})") for code in view.codes]
    if naming.flags:
        by_people.append(("flags", ", ".join(sorted(naming.flags))))
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
    )
