"""Items of a group: difficulty, discrimination, and the Rasch and 2-PL models of each subtest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabwb.report.summaries.counted import Source
from tabwb.report.summaries.marks import Marks, marks_of
from tabwb.report.summaries.subtests import Share
from tabwb.scoring.estimate import Estimate, Interval
from tabwb.scoring.item_analysis import discrimination, discrimination_interval
from tabwb.scoring.item_response import FittedModel, ModelComparison, compare_models, fit_model
from tabwb.scoring.marginal_likelihood import FittedItem

ONE_EXAMINEE = "one examinee: how much examinees differ is unknown"


@dataclass(frozen=True, slots=True)
class AnalysedItem:
    """One item of a subtest over the examinees of a group.

    Attributes:
        n, right: answers with a verdict, and how many are right; examinees: who gave them.
        like: 95 % interval of the share right for examinees like these, on this item; these: for
            these examinees, over new draws. None with the reason beside it.
        discrimination: correlation with the rest of the subtest; of it the interval for examinees
            like these, or None.
        rasch, two_parameter: its parameters; empty where the model was not fitted.
    """

    item: str
    n: int
    right: int
    examinees: int
    share: Estimate
    like: Interval | None
    like_reason: str
    these: Interval | None
    these_reason: str
    discrimination: Estimate
    discrimination_interval: Interval | None
    rasch: FittedItem
    two_parameter: FittedItem


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
        for examinee, item, right in zip(
            self._examinee.tolist(), self._marks.item.tolist(), self._marks.right.tolist(),
            strict=True,
        ):  # fmt: skip
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
        by_examinee = tuple(
            (x, size) for x, size in zip(hits.tolist(), n.tolist(), strict=True) if size
        )
        share = Share(int(n.sum()), {"exact": by_examinee}, self._marks.fixed, self._marks.shared)
        like, these = share.intervals()
        one = len(by_examinee) == 1
        return AnalysedItem(
            name,
            share.n,
            int(hits.sum()),
            len(by_examinee),
            share.accuracy(),
            None if one else like.interval,
            ONE_EXAMINEE if one else like.reason,
            these.interval,
            these.reason,
            discrimination(scores, at),
            discrimination_interval(scores, at),
            _of(self.rasch, at),
            _of(self.two_parameter, at),
        )


def _of(model: FittedModel, at: int) -> FittedItem:
    return model.items[at] if model.items else FittedItem(reason=model.reason)


def analyse_items(sources: Sequence[Source]) -> tuple[AnalysedSubtest, ...]:
    """Return the subtests of a group whose answers are right or wrong."""
    examinees = [source.examinee for source in sources]
    return tuple(AnalysedSubtest(marks, examinees) for marks in marks_of(sources))
