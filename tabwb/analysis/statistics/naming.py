"""Naming subtests in figures: names that are right, codes, latency, cues, phonemes, differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.measures import CODE, LATENCY, PROPOSED_CODE
from tabwb.analysis.plain import Json
from tabwb.analysis.statistics.results import Result
from tabwb.records.naming import CORRECT, is_recorded, observations_of
from tabwb.records.trials import Trial
from tabwb.scoring.estimate import (
    Estimand,
    Estimate,
    EstimatedInterval,
    Interval,
    clopper_pearson,
    median_interval,
    quantile,
)
from tabwb.scoring.naming.case import Earlier
from tabwb.scoring.naming.summary import (
    RATING_SOURCES,
    NamedItem,
    NamingAccuracy,
    NamingSummary,
    RatingSource,
    accuracy,
    code_shares,
    cue_counts,
    right_by,
    summarise,
)
from tabwb.scoring.participant_tests import McNemar, mcnemar
from tabwb.tasks.spoken_naming.items import listed_forms, listed_words
from tabwb.tasks.spoken_naming.items import naming_item as naming_item  # noqa: PLC0414
from tabwb.tasks.spoken_naming.scores import Naming as Naming  # noqa: PLC0414
from tabwb.tasks.spoken_naming.scores import listener_codes, named_item, naming_of
from tabwb.tasks.spoken_naming.task import NamingRules
from tabwb.tasks.spoken_naming.views import NamingView as NamingView  # noqa: PLC0414
from tabwb.tasks.spoken_naming.views import Speech as Speech  # noqa: PLC0414
from tabwb.tasks.spoken_naming.views import speech_of as speech_of  # noqa: PLC0414


def namings(source: AdministrationData) -> tuple[Naming, ...]:
    """Return every naming trial of an administration in order, with the responses before it."""
    battery = source.battery
    speech, listed = speech_of(source.speaker, battery.language), listed_words(battery)
    forms = listed_forms(battery)
    made: list[Naming] = []
    earlier: list[Earlier] = []
    for trial in source.trials:
        subtest = battery.subtest(trial.plan.subtest)
        if not subtest.task.coded and not (subtest.task.spoken and is_recorded(trial)):
            continue
        rules = subtest.rules or NamingRules()
        view = NamingView(
            trial,
            naming_item(subtest.item(trial.plan.item)),
            rules,
            observations_of(trial),
            tuple(earlier),
            source.primary,
            speech,
            listed,
            _settled(source, trial),
            forms,
        )
        made.append(naming_of(view))
        if view.spoken is not None:
            earlier.append(view.spoken)
    return tuple(made)


def _settled(source: AdministrationData, trial: Trial) -> Mapping[str, object] | None:
    """Return what was settled of the response that counts, by the questions of a naming form."""
    attempt = trial.counting
    given = None if attempt is None else source.settled.get((trial.plan.number, attempt.number))
    if not given:
        return None
    return {"score" if name == CORRECT else name: answer for name, answer in given.items()}


@dataclass(frozen=True, slots=True)
class NamedSubtest:
    """One naming subtest.

    Attributes:
        items: in the order given, practice left out, administration by administration.
        primary: the rater or the rule whose scores count; empty: whoever scored first.
        tags: of items that have some, by the item's id.
    """

    id: str
    title: str
    rules: NamingRules
    items: tuple[NamedItem, ...]
    summary: NamingSummary
    primary: str = ""
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def by_tag(self) -> Mapping[str, NamingAccuracy]:
        """The names that count as right, by tag of the item (trained, untrained ...)."""
        names = dict.fromkeys(tag for tags in self.tags.values() for tag in tags)
        found = {
            name: accuracy([one for one in self.items if name in self.tags.get(one.item, ())],
                           "outcome")
            for name in names
        }  # fmt: skip
        return {name: share for name, share in found.items() if share.n}

    def results(self) -> Iterator[Result]:
        """Yield its results: names that are right, codes and latency."""
        items, shares = self.items, list[tuple[str, str, NamingAccuracy]]()
        shares += [(one.basis, "", one) for one in self.summary.accuracy]
        shares[1:1] = [(one.basis, tag, one) for tag, one in self.by_tag.items()]
        shares += [(CODE.id, *one) for one in code_shares(items, lambda item: item.code).items()]
        proposed = code_shares(items, lambda item: item.proposed_open)
        shares += [(PROPOSED_CODE.id, *one) for one in proposed.items()]
        for measure, feature, share in shares:
            yield Result(
                measure,
                share.value,
                self.id,
                feature=feature,
                n=share.n,
                n_items=share.n_items,
                total=share.correct,
                ends=partial(_ends, share),
            )
        own = latencies(items)
        timed = {item.item for item in items if item.outcome == "right" and is_timed(item)}
        yield Result(
            LATENCY.id,
            Estimate(own.median, "" if own.right else "no right name has a latency"),
            self.id,
            n=len(own.right),
            n_items=len(timed),
            ends=partial(_ends, own) if own.right else tuple,
        )


def _ends(of: NamingAccuracy | Latencies) -> tuple[EstimatedInterval]:
    return (of.estimated,)


def named_subtests(sources: Sequence[AdministrationData]) -> tuple[NamedSubtest, ...]:
    """Return the naming subtests of administrations of one battery."""
    speakers = {source.examinee for source in sources}
    scored = [
        (naming, source.examinee if len(speakers) > 1 else "")
        for source in sources
        for naming in namings(source)
    ]
    named: list[NamedSubtest] = []
    for subtest in sources[0].battery.subtests:
        if not subtest.task.coded:
            continue
        items = tuple(
            replace(named_item(naming), cluster=speaker)
            for naming, speaker in scored
            if not naming.view.trial.plan.practice and naming.view.trial.plan.subtest == subtest.id
        )
        rules, primary = subtest.rules or NamingRules(), sources[0].primary
        tags = {item.id: item.tags for item in subtest.items if item.tags}
        named.append(
            NamedSubtest(subtest.id, subtest.title, rules, items, summarise(items), primary, tags)
        )
    return tuple(named)


@dataclass(frozen=True, slots=True)
class NamedPair:
    """One item on both sides, with the responses of each side in order of time."""

    item: str
    target: str
    first: tuple[NamedItem, ...]
    second: tuple[NamedItem, ...]

    @property
    def differs(self) -> bool:
        """Whether the sides differ in what was said or in what is said of it."""
        return list(map(facts_of, self.first)) != list(map(facts_of, self.second))


@dataclass(frozen=True, slots=True)
class Changed:
    """Right answers by one basis on both sides, over the items that have one verdict on each.

    Attributes:
        first, second: right ones among them.
        left_out: items with no verdict, or several responses, on a side.
    """

    basis: RatingSource
    items: int
    first: int
    second: int
    test: McNemar | None
    left_out: int


@dataclass(frozen=True, slots=True)
class NamedDifference:
    """One naming subtest on both sides, and how often each code was given, or else proposed.

    ``changed`` has one for each basis that says anything on both sides.
    """

    id: str
    title: str
    pairs: tuple[NamedPair, ...]
    changed: tuple[Changed, ...]
    codes: tuple[Mapping[str, int], Mapping[str, int]]


def naming_difference(
    first: Sequence[AdministrationData], second: Sequence[AdministrationData]
) -> tuple[NamedDifference, ...]:
    """Compare two sides of one naming battery."""
    found = []
    for one, other in zip(named_subtests(first), named_subtests(second), strict=True):
        both = (*one.items, *other.items)
        pairs = [
            NamedPair(
                name,
                next(item.target for item in both if item.item == name),
                *(tuple(item for item in side.items if item.item == name) for side in (one, other)),
            )
            for name in dict.fromkeys(item.item for item in both)
        ]
        changed = (_changed(pairs, basis) for basis in RATING_SOURCES)
        codes = _codes(one.items), _codes(other.items)
        kept = tuple(change for change in changed if change.items)
        found.append(NamedDifference(one.id, one.title, tuple(pairs), kept, codes))
    return tuple(found)


def _changed(pairs: Sequence[NamedPair], basis: RatingSource) -> Changed:
    verdicts = [(_only(pair.first, basis), _only(pair.second, basis)) for pair in pairs]
    known = [(a, b) for a, b in verdicts if a is not None and b is not None]
    before, after = [a for a, _ in known], [b for _, b in known]
    test = mcnemar(before, after) if known else None
    return Changed(basis, len(known), sum(before), sum(after), test, len(pairs) - len(known))


def _only(responses: Sequence[NamedItem], basis: RatingSource) -> bool | None:
    answered = [item for item in responses if item.status == "answered"]
    return right_by(answered[0], basis) if len(answered) == 1 else None


def _codes(items: Sequence[NamedItem]) -> Mapping[str, int]:
    codes = (item.code or item.proposed for item in items if item.status == "answered")
    return dict(Counter(filter(None, codes)).most_common())


def facts_of(item: NamedItem) -> Json:
    """Return what was said to a picture and what is said of it."""
    return {
        "status": item.status,
        "heard": item.heard or None,
        "phonemes": list(item.phonemes),
        "score": item.score or None,
        "right": right_by(item, "outcome"),
        "correct_any": item.rules.get("correct-any"),
        "correct_first": item.rules.get("correct-first"),
        "code": item.code or None,
        "code_source": item.code_source or None,
        "proposed": item.proposed or None,
    }


Step = tuple[str | None, str | None]
"""Phoneme of the target and phoneme heard: None where there is none."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """Seconds from the picture to the onset of right names (the outcome *right*), and of others."""

    right: tuple[float, ...]
    other: tuple[float, ...]

    @property
    def median(self) -> float | None:
        """Median of the right names, None where there is none."""
        return median(self.right) if self.right else None

    @property
    def quartiles(self) -> tuple[float, float] | None:
        """Lower and upper quartile of the right names, None where there is none."""
        return (quantile(self.right, 0.25), quantile(self.right, 0.75)) if self.right else None

    @property
    def interval(self) -> Interval | None:
        """Exact 95 % interval of the median, None below six right names."""
        return median_interval(self.right)

    @property
    def estimated(self) -> EstimatedInterval:
        """The same, with why there is none."""
        reason = "" if self.interval else "fewer than six right names have a latency"
        return EstimatedInterval(Estimand.PROMPTS_LIKE_THESE, self.interval, reason)

    @property
    def slowest(self) -> float:
        """The largest latency; 0 where there is none."""
        return max((*self.right, *self.other), default=0.0)


def is_timed(item: NamedItem) -> bool:
    """Return whether an item was answered and has a latency."""
    return item.status == "answered" and item.latency_s is not None


def latencies(items: Sequence[NamedItem]) -> Latencies:
    """Return the latencies of answered items.

    >>> found = latencies([NamedItem("a", "dog", "answered", outcome="right", latency_s=0.5),
    ...                    NamedItem("b", "cat", "answered", outcome="error", latency_s=2.0),
    ...                    NamedItem("c", "bed", "void", latency_s=1.0)])
    >>> found, found.median, found.interval
    (Latencies(right=(0.5,), other=(2.0,)), 0.5, None)
    """
    sides: tuple[list[float], list[float]] = [], []
    for item in items:
        if is_timed(item) and item.latency_s is not None:
            sides[item.outcome != "right"].append(item.latency_s)
    return Latencies(*map(tuple, sides))


@dataclass(frozen=True, slots=True)
class CueEffect:
    """Right names after a kind of cue; ``kind`` is empty: before any cue.

    ``counts`` is whether a right name after it counts as right (None before any cue), ``of`` the
    items that reached this point.
    """

    kind: str
    counts: bool | None
    right: int
    of: int

    @property
    def interval(self) -> Interval | None:
        """Exact 95 % interval (Clopper-Pearson) of the share; None without an item."""
        return clopper_pearson(self.right, self.of)


def cue_effects(items: Sequence[NamedItem]) -> tuple[CueEffect, ...]:
    """Return right names before any cue, then after each kind of cue; empty without a cue.

    >>> given = [NamedItem("a", "dog", "answered", outcome="right"),
    ...          NamedItem("b", "cat", "answered", outcome="right-after-cue",
    ...                    cues=(("phonemic", False),))]
    >>> [(one.kind, one.right, one.of) for one in cue_effects(given)]
    [('', 1, 2), ('phonemic', 1, 1)]
    """
    cued = cue_counts(items)
    if not cued:
        return ()
    alone = accuracy([item for item in items if not item.cues], "outcome")
    helped = sum(item.status == "answered" and bool(item.cues) for item in items)
    return (
        CueEffect("", None, alone.correct, alone.n + helped),
        *(CueEffect(cue.kind, cue.counts, cue.right_after, cue.given) for cue in cued),
    )


@dataclass(frozen=True, slots=True)
class Confusions:
    """Steps of alignments of targets with responses.

    ``other`` are (target, code) of responses that were left out, because the code says that another
    word was said: their distance from the target has no meaning.
    """

    steps: Mapping[Step, int]
    responses: int
    other: tuple[tuple[str, str], ...] = ()

    @property
    def of(self) -> Mapping[str | None, int]:
        """How often each phoneme of the targets occurs; None: the insertions."""
        totals: Counter[str | None] = Counter()
        for (target, _), n in self.steps.items():
            totals[target] += n
        return totals


def confusions(namings: Iterable[Naming], *, every_word: bool = False) -> Confusions:
    """Return the phonemes heard for those of the targets, over responses without practice.

    A response is aligned by features with the nearest accepted form.
    """
    steps: Counter[Step] = Counter()
    responses, other = 0, []
    for naming in namings:
        if naming.distance is None or naming.view.trial.plan.practice:
            continue
        if not every_word and not naming.is_by_sound:
            code, proposal = naming.view.code, naming.proposal
            given = code.code if code is not None else "" if proposal is None else proposal.code
            other.append((naming.view.item.target, given))
            continue
        responses += 1
        steps.update((step.ref, step.hyp) for step in naming.distance.features.steps)
    return Confusions(steps, responses, tuple(other))


def heard_in(
    sources: Sequence[AdministrationData],
) -> Iterator[tuple[str, str, list[tuple[str, str, str]]]]:
    """Yield id, speaker, and what listeners and transcribers said of each naming response."""
    for source in sources:
        for trial in source.trials:
            subtest, attempt = source.battery.subtest(trial.plan.subtest), trial.counting
            if not subtest.task.coded or trial.plan.practice or attempt is None:
                continue
            item = naming_item(subtest.item(trial.plan.item))
            view = NamingView(trial, item, subtest.rules or NamingRules(), observations_of(trial))
            said: list[tuple[str, str, str]] = [("score", one.by, one.score) for one in view.scores]
            said += (("code", by, code) for by, code in listener_codes(view))
            said += (("heard", heard.by, heard.text) for heard in view.words_heard)
            said += (
                ("phonemes", one.transcriber, " ".join(view.sounds(one).phonemes))
                for one in view.transcripts
                if one.status != "error"
            )
            name = f"{trial.plan.item}:{trial.plan.number}:{attempt.number}"
            yield name, source.examinee, said
