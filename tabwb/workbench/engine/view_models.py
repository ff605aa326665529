"""View models: frozen values for widgets, made in the worker's thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tabwb.records.errors import TabwbError
from tabwb.records.ratings import Rating
from tabwb.records.states import AdministrationStatus, ResponseStatus
from tabwb.records.trials import Administration, Attempt, Trial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tabwb.administer.cost import Spending
    from tabwb.analysis.statistics.burden import Judge
    from tabwb.host.settings import Profile
    from tabwb.plugin_api.extensions import OperationSource, PageSource, Statistic
    from tabwb.scoring.estimate import Interval
    from tabwb.workbench.engine.presenters import Pace, Transcript

UNFINISHED = frozenset({AdministrationStatus.RUNNING, AdministrationStatus.PAUSED})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of one policy, such as ``exact``, on an answer; ``right`` may be None."""

    measure: str
    right: bool | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """The item that is shown.

    Attributes:
        place: its number in the administration and how many there are.
        in_subtest: its number within its subtest and how many there are.
        administrator: words to the administrator, or empty.
        sent: exactly what is sent.
        expected: the right answer, or None.
        attempt: the one that counts, or None; the verdicts are on it.
        further: the ratings of the response besides these verdicts.
        findings: present features and further measures, in words.
        error: why the last attempt failed, or empty.
        token_limit: of a reply that was cut; else 0.
        status: under which the answer counts; None where only the stored status is known.
    """

    place: tuple[int, int]
    in_subtest: tuple[int, int]
    subtest: str
    kind: str
    administrator: str
    instructions: str
    prompt: str
    options: tuple[str, ...]
    sent: str
    expected: str | None
    trial: Trial
    attempt: Attempt | None = None
    verdicts: tuple[Verdict, ...] = ()
    further: tuple[Rating, ...] = ()
    findings: tuple[str, ...] = ()
    foil: str = ""
    error: str = ""
    token_limit: int = 0
    status: ResponseStatus | None = None


@dataclass(frozen=True, slots=True)
class SubtestScore:
    """One subtest's line of the live scores.

    Attributes:
        title: of the subtest; ``short`` is one or two words of it.
        right: None where nothing is scored right or wrong.
        marks: the state of each planned trial in one word; empty for many trials.
        current: whether the item shown belongs to it.
    """

    title: str
    short: str
    planned: int
    given: int
    scored: int
    right: int | None
    marks: tuple[str, ...] = ()
    current: bool = False


@dataclass(frozen=True, slots=True)
class Scores:
    """The live scores: subtests, the burden of each judge; titles of categories and features by id.

    Of a person no verdict has a colour. ``unusable`` are the numbers of the trials whose features
    are undefined.
    """

    subtests: tuple[SubtestScore, ...] = ()
    judges: tuple[Judge, ...] = ()
    person: bool = False
    titles: Mapping[str, str] = field(default_factory=dict)
    unusable: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class ScoredAdministration:
    """The scores of one administration.

    Attributes:
        administration: as it was when they were read.
        intervals: by title of the subtest, the 95 % interval of the share right.
        unjudged: the judges of its conditions, and those that began later, that have not judged all
            connected text, each with the number of responses that are left.
        problem: why the scores could not be read, or empty.
    """

    administration: Administration
    scores: Scores = field(default_factory=Scores)
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    unjudged: tuple[tuple[str, int], ...] = ()
    problem: str = ""

    @property
    def rated(self) -> Sequence[SubtestScore]:
        """The subtests in which something was scored right or wrong."""
        return [one for one in self.scores.subtests if one.right is not None]

    @property
    def scored(self) -> int:
        """The number of responses that were scored right or wrong."""
        return sum(one.scored for one in self.rated)

    @property
    def right(self) -> int:
        """The number of right ones among them."""
        return sum(one.right or 0 for one in self.rated)

    @property
    def share(self) -> float | None:
        """The share right of the responses that were scored, or None without one."""
        return self.right / self.scored if self.scored else None


@dataclass(frozen=True, slots=True)
class Rest:
    """A back end waits: why, and until when by ``time.monotonic()``."""

    reason: str
    until: float


@dataclass(frozen=True, slots=True)
class Work:
    """The present state of the open administration.

    Attributes:
        administration: with its present status and number of answers.
        reason: of the pause or the discontinuation, or empty.
        item: before the examinee, or None before the first.
        awaiting: the item waits for its answer.
        loading: the model that is being loaded, or empty.
        auto: items follow by themselves.
        remaining: number of trials still to be given.
        scores: empty where the page shows others.
        upcoming: number of the trial that comes next, or None.
        together: items go out many at once; the one shown is the last that was answered.
        spending: what a model has taken so far; None for a person.
        rest: the back end's current wait, or None.
        extension: what the extension of the session shows, or None.
        page: id of the page on which the administration is given.
        of_person: a person answers.
        notices: what the person who gives it has to know of consents.
        transcript: all trials; None where the page shows them otherwise.
        pace: how fast a model goes; None for a person.
    """

    administration: Administration
    status: AdministrationStatus
    reason: str
    item: Item | None
    awaiting: bool
    asking: bool
    loading: str
    auto: bool
    undoable: bool
    remaining: int
    scores: Scores
    facts: tuple[tuple[str, str], ...] = ()
    disclaimer: str = ""
    upcoming: int | None = None
    together: bool = False
    spending: Spending | None = None
    rest: Rest | None = None
    extension: object | None = None
    page: str = "trial"
    notices: tuple[str, ...] = ()
    of_person: bool = False
    transcript: Transcript | None = None
    pace: Pace | None = None


@dataclass(frozen=True, slots=True)
class BatteryEntry:
    """A battery.

    Attributes:
        aloud: a person answers some of its items aloud; ``judged_aloud``: and judges rate them.
        examinees: kinds to which it may be given without a research protocol.
    """

    id: str
    title: str
    version: str
    n_items: int
    problem: str = ""
    aloud: bool = False
    judged_aloud: bool = False
    examinees: tuple[str, ...] = ("model", "speaker")


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A registered model back end or transcriber.

    Attributes:
        spec: what to put into the field (``transformers:``).
        shape: how a spec looks (``transformers:PATH-OR-ID``).
        unavailable_reason: why it cannot be used here, or empty.
        profile: what the user has written under this name, or None for what is registered.
        lesions: the model can be lesioned.
    """

    id: str
    spec: str
    shape: str
    title: str
    remarks: str
    unavailable_reason: str = ""
    profile: Profile | None = None
    lesions: bool = False

    @property
    def note(self) -> str:
        """Why it cannot be used here, without its name; else its title."""
        return self.unavailable_reason.removeprefix(f"'{self.id}' ") or self.title


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The entries of explorer and dialogs.

    Attributes:
        judges: how their specs begin (``tab-2026:``), and their titles.
        exporters: id, title, and whether it has options.
        statistics, pages, operations: those of plugins.
        counts: the rater or the rule whose ratings count in this study, or empty.
        interrupted: administrations whose recording broke off.
    """

    batteries: tuple[BatteryEntry, ...] = ()
    models: tuple[ModelEntry, ...] = ()
    transcribers: tuple[ModelEntry, ...] = ()
    judges: tuple[tuple[str, str], ...] = ()
    exporters: tuple[tuple[str, str, bool], ...] = ()
    statistics: tuple[Statistic, ...] = ()
    pages: tuple[PageSource, ...] = ()
    operations: tuple[OperationSource, ...] = ()
    counts: str = ""
    administrations: tuple[Administration, ...] = ()
    interrupted: tuple[int, ...] = ()
    store: str = ""
    offline: bool = False
    theme: str = ""
    problems: tuple[str, ...] = ()

    @property
    def examinees(self) -> tuple[str, ...]:
        """The examinees, the latest first."""
        return tuple(
            dict.fromkeys(
                administration.conditions.examinee
                for administration in reversed(self.administrations)
            )
        )

    @property
    def open(self) -> tuple[Administration, ...]:
        """Unfinished administrations and those with a recording to keep, the latest first."""
        return tuple(
            administration
            for administration in reversed(self.administrations)
            if administration.status in UNFINISHED or administration.id in self.interrupted
        )


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """An error as the dialog shows it: what is wrong, what is allowed, what to do."""

    title: str
    message: str
    where: str = ""
    allowed: str = ""
    hint: str = ""
    asks: tuple[tuple[str, str], ...] = field(default=())
    """(id of a command, words on the button) offered beside *Close*."""
    unsaved: bool = False
    """The store refused to record something."""

    @classmethod
    def of(cls, title: str, error: TabwbError, *asks: tuple[str, str]) -> ErrorReport:
        """Return a report on an error, with the title of its dialog and what it asks."""
        where, allowed, hint = (text or "" for text in (error.where, error.allowed, error.hint))
        return cls(title, error.message, where, allowed, hint, asks)
