"""A battery as frozen plain data, built by :mod:`tabwb.battery.loader`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tabwb.battery.task_type import TaskType, task_type
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.languages import is_english
from tabwb.scoring.text import fold_case
from tabwb.scoring.yes_no import AnswerWords


@dataclass(frozen=True, slots=True)
class SourcedText:
    """A text with its source.

    Attributes:
        text: the words.
        source: a section of the paper (``B.1``), or ``ours``.
    """

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Item:
    """One item.

    Attributes:
        id: unique within its subtest.
        prompt: the question as the examinee reads it.
        options: the options in the battery's order (choice), or empty.
        expected: the right answer, exactly; None where there is none.
        foils: option to the kind of error that choosing it would be (``phonological``).
        tags: for results by tag (``passive``).
        cluster: the theme that it shares with other items, which are one unit of intervals and
            tests with it; empty: it is a unit by itself.
        reference: a model answer or rubric for scorers; empty where there is none.
        metadata: a table of the battery's author for scorers, as plain data.
        practice: given first, never scored into a summary.
        extra: further keys of the subtest's task type, as plain data; those of items that are
            answered aloud are read by :func:`tabwb.tasks.spoken_naming.items.naming_item`.
    """

    id: str
    prompt: str
    options: tuple[str, ...] = ()
    expected: str | None = None
    foils: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    cluster: str = ""
    practice: bool = False
    reference: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def picture(self) -> str:
        """Path of the item's picture within the battery's folder, or empty."""
        return str(self.extra.get("picture", ""))


@dataclass(frozen=True, slots=True)
class Subtest:
    """Items with the same instructions and scorers.

    Attributes:
        id: unique within the battery.
        title: for people.
        response: the kind of response that is asked for (:attr:`TaskType.kind`).
        items: in order.
        administrator: words to the examiner: shown, never sent.
        instructions: sent before the prompt.
        template: how the user message is put together from ``{instructions}``, ``{prompt}`` and
            ``{options}`` (joined by comma and space).
        scorers: specs of the scorers (``choice``, ``x@threshold=0.5``).
        max_tokens: the most tokens of a model's reply, or None for the run's own limit.
        source, expected_source: where prompts and options, and the expected answers, are from:
            a section of the paper, ``ours``, or empty where the battery does not say.
        rules: those of its task type, as :attr:`TaskType.read` reads them, or None.
        language: of the battery, as a BCP 47 tag.
        answer_words: of yes and no questions, the battery's own words for them.
        scorers_are_usual: whether the battery names no scorers, so that the kind's own are used.
    """

    id: str
    title: str
    response: str
    items: tuple[Item, ...]
    administrator: SourcedText | None = None
    instructions: SourcedText | None = None
    template: str = "{instructions}\n{prompt}"
    scorers: tuple[str, ...] = ()
    max_tokens: int | None = None
    source: str = ""
    expected_source: str = ""
    rules: Any = None
    language: str = "en"
    answer_words: AnswerWords = field(default_factory=AnswerWords)
    scorers_are_usual: bool = False
    # Place of each item by id, because an answer looks for its item several times.
    _places: dict[str, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    @property
    def task(self) -> TaskType:
        """The declaration of its task type."""
        return task_type(self.response)

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers that all items have in common, yes first; none where they are not known."""
        if not self.task.answers:
            return ()
        if not self.answer_words:
            return self.task.answers if is_english(self.language) else ()
        return tuple(self._spelled(one) for one in (self.answer_words.yes, self.answer_words.no))

    @property
    def possible_answers(self) -> tuple[str, ...]:
        """:attr:`answers`, else the different expected answers of such a subtest."""
        if self.answers or not self.task.answers:
            return self.answers
        return tuple(dict.fromkeys(item.expected for item in self.items if item.expected))

    def _spelled(self, words: Sequence[str]) -> str:
        """Return the first of several words, spelled as the items expect it."""
        folded = [fold_case(word, self.language) for word in words]
        expected = (item.expected for item in self.items if item.expected)
        return next((one for one in expected if fold_case(one, self.language) in folded), words[0])

    def allowed_answers(self, item: Item) -> tuple[str, ...]:
        """Return every text that the item may be answered with: options, words, accepted names."""
        words = (*self.answer_words.yes, *self.answer_words.no) if self.task.answers else ()
        accepted = item.extra.get("accept", ())
        names = [form.get("word", "") for form in accepted] if isinstance(accepted, list) else []
        target = str(item.extra.get("target", ""))
        known = (*item.options, *self.possible_answers, *words, target, *names)
        return tuple(dict.fromkeys(filter(None, known)))

    def item(self, item_id: str) -> Item:
        """Return the item with this id.

        Raises:
            TabwbError: there is none; the message lists those that are.
        """
        if not self._places:
            self._places.update((item.id, at) for at, item in enumerate(self.items))
        place = self._places.get(item_id)
        if place is None:
            allowed = ", ".join(item.id for item in self.items)
            raise TabwbError(f"subtest '{self.id}' has no item '{item_id}'", allowed=allowed)
        return self.items[place]


@dataclass(frozen=True, slots=True)
class Feature:
    """One binary feature of connected text.

    Attributes:
        id: kebab-case id, also the measure's name.
        key: the judge's JSON key (appendix D.3).
        title: for people.
        definition: for people (table 4).
        judge_definition, judge_example: what the judge is shown (D.2), None where D.2 has none.
    """

    id: str
    key: str
    title: str
    definition: str
    judge_definition: str | None = None
    judge_example: str | None = None


@dataclass(frozen=True, slots=True)
class Category:
    """Features that are counted together (table 5)."""

    id: str
    title: str
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grouping:
    """A division of the features into categories, with its source."""

    id: str
    title: str
    source: str
    categories: tuple[Category, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Battery:
    """A whole battery; ``id``, ``version`` and ``content_hash`` name what was given.

    Attributes:
        content_hash: SHA-256 (hex) of the canonical JSON and of the assets.
        canonical: the canonical JSON, from which the battery can be read back.
        assets: relative path to SHA-256 (hex) of each file the battery refers to.
        system: the system message, or None.
        examinees: kinds it may be given to without a research protocol.
        definition_source, judge_source: where the features' texts are from.
        yes, no: words for them in its language, where it lists them.
        origin: where it was read from, for messages; not part of the content.
    """

    id: str
    title: str
    version: str
    language: str
    license: str
    subtests: tuple[Subtest, ...]
    citation: str = ""
    doi: str = ""
    url: str = ""
    notes: str = ""
    disclaimer: str = ""
    examinees: tuple[str, ...] = ("model", "speaker")
    system: SourcedText | None = None
    features: tuple[Feature, ...] = ()
    groupings: tuple[Grouping, ...] = ()
    definition_source: str = ""
    judge_source: str = ""
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    content_hash: str = ""
    canonical: str = ""
    assets: Mapping[str, str] = field(default_factory=dict)
    origin: str = field(default="", compare=False)

    def __repr__(self) -> str:
        items = sum(len(subtest.items) for subtest in self.subtests)
        return f"<Battery {self.id} {self.version}: {len(self.subtests)} subtests, {items} items>"

    def subtest(self, subtest_id: str) -> Subtest:
        """Return the subtest with this id.

        Raises:
            TabwbError: there is none; the message lists those that are.
        """
        for subtest in self.subtests:
            if subtest.id == subtest_id:
                return subtest
        allowed = ", ".join(subtest.id for subtest in self.subtests)
        raise TabwbError(f"battery '{self.id}' has no subtest '{subtest_id}'", allowed=allowed)

    @property
    def lacks(self) -> str:
        """The task types that no plugin brings, as a sentence without its stop; empty: none."""
        tasks = [subtest.task for subtest in self.subtests]
        kinds = dict.fromkeys(f"'{task.id}'" for task in tasks if not task.is_installed)
        if not kinds:
            return ""
        several = len(kinds) > 1
        words = ("types", "are") if several else ("type", "is")
        return f"the task {words[0]} {', '.join(kinds)} of '{self.id}' {words[1]} not installed"

    def check_tasks(self) -> None:
        """Check that it can be given.

        Raises:
            UsageError: a task type is not installed.
        """
        if lacks := self.lacks:
            hint = "install the plugin that brings it; 'tabwb plugins list' shows what failed"
            raise UsageError(lacks, hint=hint)

    @property
    def coded(self) -> bool:
        """Whether some subtest is of pictures that are named aloud."""
        return any(subtest.task.coded for subtest in self.subtests)

    @property
    def spoken(self) -> bool:
        """Whether a person may answer some of it aloud."""
        return any(subtest.task.spoken for subtest in self.subtests)

    @property
    def judged_aloud(self) -> bool:
        """Whether judges can rate answers that are given aloud."""
        tasks = [subtest.task for subtest in self.subtests]
        return bool(self.features) and any(t.spoken and t.judged != "never" for t in tasks)

    @property
    def clusters(self) -> dict[tuple[str, str], str]:
        """The clusters of the items that have one, by subtest and item."""
        return {
            (subtest.id, item.id): item.cluster
            for subtest in self.subtests
            for item in subtest.items
            if item.cluster
        }

    @property
    def n_items(self) -> int:
        """Number of items, practice not counted."""
        return sum(not item.practice for subtest in self.subtests for item in subtest.items)
