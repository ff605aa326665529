"""The results of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from training.bundled.intervals import clopper_pearson


@dataclass(frozen=True)
class Score:
    """Right answers among ``n``."""

    group: str
    right: int
    n: int

    def percent(self) -> str:
        """Give the share with its exact 95 % interval.

        >>> Score("words", 9, 10).percent()
        '90.0 % (55.5-99.7)'
        """
        low, high = clopper_pearson(self.right, self.n)
        return f"{self.right / self.n:.1%} ({low * 100:.1f}-{high * 100:.1f})".replace("%", " %")


@dataclass(frozen=True)
class Answered:
    """One item with the model's answer."""

    group: str
    prompt: str
    expected: str
    answer: str
    right: bool


@dataclass(frozen=True)
class Report:
    """All scores and all answers of one evaluation."""

    tab: list[Score]
    tab_answers: list[Answered]
    tab_conversation: list[Score]
    held_out: list[Score]
    held_out_answers: list[Answered]
