"""Items of a group: difficulty, discrimination, and the Rasch and 2-PL models of each subtest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import Grouped
from tabwb.analysis.measures import (
    ACCURACY,
    DIFFICULTY,
    DISCRIMINATION,
    INFIT,
    OUTFIT,
    RASCH_DIFFICULTY,
    SLOPE,
)
from tabwb.analysis.statistics.accuracy import Tally
from tabwb.analysis.statistics.marks import Marks, marks_of
from tabwb.analysis.tables.declared import (
    ends,
    group_columns,
    measured,
    number,
    p_value,
    text,
    whole,
)
from tabwb.scoring.estimate import Estimate, EstimatedInterval, Interval
from tabwb.scoring.item_response import (
    LEAST_EXAMINEES,
    FittedItem,
    FittedModel,
    ModelComparison,
    compare_models,
    discrimination,
    discrimination_interval,
    fit_model,
)
from tabwb.tables.table import Table, records_table

ONE_EXAMINEE = "one examinee: how much examinees differ is unknown"
NOTES = (
    "An examinee is a model with its lesion, or a person. The interval of the accuracy (low, high) "
    "is for examinees like these, the other one (these_low, these_high) for exactly these "
    "examinees over new draws.",
    "Discrimination is the correlation of the examinees' scores on an item with the mean of their "
    "other items of the subtest; its interval is for examinees like these.",
    f"The Rasch model is fitted from {LEAST_EXAMINEES['rasch']} examinees on, the 2-PL model from "
    f"{LEAST_EXAMINEES['2pl']} on, to the first answer of each examinee to each item, by marginal "
    "maximum likelihood. Difficulties b are in standard deviations of ability; a x b is in logits. "
    "Models of one family or lesion are not a random sample of examinees.",
)


@dataclass(frozen=True, slots=True)
class AnalysedItem:
    """One item of a subtest over the examinees of a group.

    Attributes:
        n, right: answers with a verdict, and how many are right; examinees: who gave them.
        like: the interval of the share right for examinees like these, on this item; these: for
            these examinees, over new draws.
        discrimination: correlation with the rest of the subtest, its interval being for examinees
            like these.
        rasch, two_parameter: its parameters; empty where the model was not fitted.
    """

    item: str
    n: int
    right: int
    examinees: int
    share: Estimate
    like: EstimatedInterval
    these: EstimatedInterval
    discrimination: Estimate
    discrimination_interval: Interval | None
    rasch: FittedItem
    two_parameter: FittedItem

    @property
    def reason(self) -> str:
        """Why discrimination or parameters are missing or uncertain."""
        fitted = (("Rasch", self.rasch), ("2-PL", self.two_parameter))
        reasons = [
            ("discrimination", self.discrimination.reason),
            *((name, model.reason or model.caution) for name, model in fitted),
        ]
        return "; ".join(f"{name}: {reason}" for name, reason in reasons if reason)


class AnalysedSubtest:
    """The items of one subtest, with the models fitted when they are asked for.

    An examinee is a model with its lesion, or a person. An examinee's score on an item is the share
    right of its answers; the models take its first answer to each item, because answers of one
    examinee to one item depend on each other.
    """

    def __init__(self, marks: Marks, examinees: Sequence[str]) -> None:
        self.subtest = marks.subtest
        self._marks = marks
        numbers = {name: at for at, name in enumerate(dict.fromkeys(examinees))}
        of_source = np.array([numbers[name] for name in examinees], np.int64)
        self._examinee = of_source[marks.source]
        self._size = len(numbers), len(marks.items)

    @cached_property
    def _cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Answers and right ones of each examinee to each item: int64, (examinees, items)."""
        at = self._examinee * self._size[1] + self._marks.item
        n = np.bincount(at, minlength=self._size[0] * self._size[1])
        hits = np.bincount(at, self._marks.right, minlength=len(n))
        return n.reshape(self._size), hits.astype(np.int64).reshape(self._size)

    @cached_property
    def examinees(self) -> int:
        """How many examinees answered an item."""
        return int((self._cells[0].sum(axis=1) > 0).sum())

    @cached_property
    def first_answers(self) -> list[list[float | None]]:
        """Each examinee's first answer to each item: 1, 0, or None without one."""
        found: list[list[float | None]] = [[None] * self._size[1] for _ in range(self._size[0])]
        answers = (self._examinee, self._marks.item, self._marks.right)
        for examinee, item, right in zip(*(one.tolist() for one in answers), strict=True):
            if found[examinee][item] is None:
                found[examinee][item] = float(right)
        return found

    @cached_property
    def rasch(self) -> FittedModel:
        """The Rasch model, or why it was not fitted."""
        return fit_model(self.first_answers, "rasch")

    @cached_property
    def two_parameter(self) -> FittedModel:
        """The 2-PL model, or why it was not fitted."""
        return fit_model(self.first_answers, "2pl")

    @cached_property
    def comparison(self) -> ModelComparison | None:
        """The likelihood-ratio test of the two models; None unless both were fitted."""
        return compare_models(self.rasch, self.two_parameter)

    def items(self) -> tuple[AnalysedItem, ...]:
        """Return the items in the battery's order."""
        n, hits = self._cells
        scores = [
            [x / size if size else None for x, size in zip(row, sizes, strict=True)]
            for row, sizes in zip(hits.tolist(), n.tolist(), strict=True)
        ]
        return tuple(self._item(at, item.id, scores) for at, item in enumerate(self._marks.items))

    def _item(self, at: int, name: str, scores: list[list[float | None]]) -> AnalysedItem:
        n, hits = (cells[:, at] for cells in self._cells)
        pairs = zip(hits.tolist(), n.tolist(), strict=True)
        by_examinee = tuple((x, size) for x, size in pairs if size)
        share = Tally(
            tuple(right for right, _ in by_examinee),
            tuple(size for _, size in by_examinee),
            fixed=self._marks.fixed,
            shared=self._marks.shared,
        )
        like, these = share.intervals()
        if len(by_examinee) == 1:
            like = EstimatedInterval(like.estimand, None, ONE_EXAMINEE)
        models = (
            model.items[at] if model.items else FittedItem(reason=model.reason)
            for model in (self.rasch, self.two_parameter)
        )
        return AnalysedItem(
            name, share.n, int(hits.sum()), len(by_examinee), share.value, like, these,
            discrimination(scores, at), discrimination_interval(scores, at), *models,
        )  # fmt: skip


def analyse_items(sources: Sequence[AdministrationData]) -> tuple[AnalysedSubtest, ...]:
    """Return the subtests of a group whose answers are right or wrong."""
    examinees = [source.examinee for source in sources]
    return tuple(AnalysedSubtest(marks, examinees) for marks in marks_of(sources))


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the table of items, or of models."""

    row: Grouped
    subtest: AnalysedSubtest
    item: AnalysedItem | None = None
    model: FittedModel | None = None

    @property
    def test(self) -> ModelComparison | None:
        """The comparison of the models, shown with the second."""
        return self.subtest.comparison if self.model is self.subtest.two_parameter else None

    @property
    def slope(self) -> float | None:
        """The common slope of the Rasch model."""
        if self.model is not self.subtest.rasch:
            return None
        return next((one.discrimination for one in self.model.items if one.discrimination), None)

    @property
    def model_reason(self) -> str:
        """Why the model was not fitted, or is uncertain."""
        assert self.model is not None
        cautions = (one.caution for one in self.model.items if one.caution)
        return self.model.reason or next(cautions, "")


def items_table(rows: Sequence[Grouped]) -> Table:
    """Return the items of each group as a table."""
    found = (_Row(row, subtest, item) for row, subtest in _subtests(rows)
             for item in subtest.items())  # fmt: skip
    return records_table("items", ITEMS, found, NOTES)


def item_models_table(rows: Sequence[Grouped]) -> Table:
    """Return the fitted models of each group and subtest as a table."""
    found = (_Row(row, subtest, None, model) for row, subtest in _subtests(rows)
             for model in (subtest.rasch, subtest.two_parameter))  # fmt: skip
    return records_table("item-models", MODELS, found, NOTES[2:])


def _subtests(rows: Sequence[Grouped]) -> Iterator[tuple[Grouped, AnalysedSubtest]]:
    for row in rows:
        for subtest in analyse_items(row.group.members):
            yield row, subtest


_SUBTEST = text("part", "Subtest", "the subtest", "subtest.subtest.id")
_SD = "sd of ability"
ITEMS = (
    *group_columns(),
    _SUBTEST,
    text("item", "Item", "the item", "item.item"),
    whole("n", "N", "answers with a verdict", "item.n"),
    whole("examinees", "Examinees", "who gave them", "item.examinees"),
    measured(ACCURACY, "item.share.value"),
    *ends("accuracy_", "examinees like these", "item.like.interval"),
    *ends("accuracy_these_", "these examinees", "item.these.interval"),
    text("these_reason", "Why none", "why there is no interval for these examinees",
         "item.these.reason"),
    measured(DISCRIMINATION, "item.discrimination.value"),
    *ends("discrimination_", "examinees like these", "item.discrimination_interval"),
    measured(RASCH_DIFFICULTY, "item.rasch.difficulty"),
    number("rasch_se", "SE", "standard error of the Rasch difficulty", "item.rasch.difficulty_se",
           unit=_SD),
    measured(INFIT, "item.rasch.infit"),
    measured(OUTFIT, "item.rasch.outfit"),
    measured(DIFFICULTY, "item.two_parameter.difficulty"),
    number("difficulty_se", "SE", "standard error of the 2-PL difficulty",
           "item.two_parameter.difficulty_se", unit=_SD),
    measured(SLOPE, "item.two_parameter.discrimination"),
    number("slope_se", "SE", "standard error of the 2-PL discrimination",
           "item.two_parameter.discrimination_se"),
    text("reason", "Reason", "why discrimination or parameters are missing or uncertain",
         "item.reason"),
)  # fmt: skip
"""The columns of :func:`items_table`."""
MODELS = (
    *group_columns(),
    _SUBTEST,
    text("model", "Model", "Rasch or 2-PL",
         lambda given: {"rasch": "Rasch", "2pl": "2-PL"}[given.model.model]),
    whole("examinees", "Examinees", "to whose answers it is fitted", "model.examinees"),
    whole("parameters", "Parameters", "how many were estimated",
          lambda given: given.model.parameters or None),
    number("common_slope", "Common slope",
           "a of the Rasch model: the sd of abilities in logits", "slope"),
    number("log_likelihood", "Log likelihood", "marginal, at its maximum",
           "model.log_likelihood"),
    number("aic", "AIC", "Akaike's criterion; lower is better", "model.aic"),
    number("bic", "BIC", "Schwarz's criterion; lower is better", "model.bic"),
    number("chi2", "Chi2",
           "twice the log likelihood of the 2-PL model less that of the Rasch model",
           lambda given: given.test and given.test.chi2),
    whole("df", "df", "degrees of freedom of this test",
          lambda given: given.test and given.test.df),
    p_value("p", "p", "of this test: whether slopes differ",
            lambda given: given.test and given.test.p),
    text("reason", "Reason", "why the model was not fitted, or is uncertain", "model_reason"),
)  # fmt: skip
"""The columns of :func:`item_models_table`."""
