"""The tables of items: difficulty and discrimination, and the models fitted to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tabwb.report.measures import (
    ACCURACY,
    DIFFICULTY,
    DISCRIMINATION,
    INFIT,
    OUTFIT,
    RASCH_DIFFICULTY,
    SLOPE,
)
from tabwb.report.summaries.groups import Grouped
from tabwb.report.summaries.items import AnalysedItem, AnalysedSubtest, analyse_items
from tabwb.report.summaries.load import sources_of
from tabwb.report.tables.declared import (
    ends,
    group_columns,
    measured,
    number,
    p_value,
    text,
    whole,
)
from tabwb.scoring.item_response import LEAST_EXAMINEES, FittedModel
from tabwb.tables.table import Table, records_table

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
class _Item:
    row: Grouped
    subtest: AnalysedSubtest
    item: AnalysedItem


@dataclass(frozen=True, slots=True)
class _Model:
    row: Grouped
    subtest: AnalysedSubtest
    model: FittedModel


def items_table(rows: Sequence[Grouped]) -> Table:
    """Return the items of each group as a table."""
    return records_table("items", ITEMS, _items(rows), NOTES)


def item_models_table(rows: Sequence[Grouped]) -> Table:
    """Return the fitted models of each group and subtest as a table."""
    return records_table("item-models", MODELS, _models(rows), NOTES[2:])


def _items(rows: Sequence[Grouped]) -> Iterator[_Item]:
    for row in rows:
        for subtest in analyse_items(sources_of(row.group.members)):
            for item in subtest.items():
                yield _Item(row, subtest, item)


def _models(rows: Sequence[Grouped]) -> Iterator[_Model]:
    for row in rows:
        for subtest in analyse_items(sources_of(row.group.members)):
            yield _Model(row, subtest, subtest.rasch)
            yield _Model(row, subtest, subtest.two_parameter)


def _reason(given: _Item) -> str:
    item = given.item
    reasons = [
        f"discrimination: {item.discrimination.reason}" if item.discrimination.reason else "",
        *(
            f"{name}: {fitted.reason or fitted.caution}" if fitted.reason or fitted.caution else ""
            for name, fitted in (("Rasch", item.rasch), ("2-PL", item.two_parameter))
        ),
    ]
    return "; ".join(filter(None, reasons))


_SUBTEST = text("part", "Subtest", "the subtest", lambda given: given.subtest.subtest.id)
ITEMS = (
    *group_columns(lambda given: given.row),
    _SUBTEST,
    text("item", "Item", "the item", lambda given: given.item.item),
    whole("n", "N", "answers with a verdict", lambda given: given.item.n),
    whole("examinees", "Examinees", "who gave them", lambda given: given.item.examinees),
    measured(ACCURACY, lambda given: given.item.share.value),
    *ends("accuracy_", "examinees like these", lambda given: given.item.like),
    *ends("accuracy_these_", "these examinees", lambda given: given.item.these),
    text(
        "these_reason", "Why none", "why there is no interval for these examinees",
        lambda given: given.item.these_reason,
    ),
    measured(DISCRIMINATION, lambda given: given.item.discrimination.value),
    *ends(
        "discrimination_", "examinees like these", lambda given: given.item.discrimination_interval
    ),
    measured(RASCH_DIFFICULTY, lambda given: given.item.rasch.difficulty),
    number(
        "rasch_se", "SE", "standard error of the Rasch difficulty",
        lambda given: given.item.rasch.difficulty_se, unit="sd of ability",
    ),
    measured(INFIT, lambda given: given.item.rasch.infit),
    measured(OUTFIT, lambda given: given.item.rasch.outfit),
    measured(DIFFICULTY, lambda given: given.item.two_parameter.difficulty),
    number(
        "difficulty_se", "SE", "standard error of the 2-PL difficulty",
        lambda given: given.item.two_parameter.difficulty_se, unit="sd of ability",
    ),
    measured(SLOPE, lambda given: given.item.two_parameter.discrimination),
    number(
        "slope_se", "SE", "standard error of the 2-PL discrimination",
        lambda given: given.item.two_parameter.discrimination_se,
    ),
    text("reason", "Reason", "why discrimination or parameters are missing or uncertain", _reason),
)  # fmt: skip
"""The columns of :func:`items_table`."""
_NAMES = {"rasch": "Rasch", "2pl": "2-PL"}
MODELS = (
    *group_columns(lambda given: given.row),
    _SUBTEST,
    text("model", "Model", "Rasch or 2-PL", lambda given: _NAMES[given.model.model]),
    whole("examinees", "Examinees", "to whose answers it is fitted",
          lambda given: given.model.examinees),
    whole("parameters", "Parameters", "how many were estimated",
          lambda given: given.model.parameters or None),
    number(
        "common_slope", "Common slope", "a of the Rasch model: the sd of abilities in logits",
        lambda given: next(
            (item.discrimination for item in given.model.items if item.discrimination), None
        ) if given.model.model == "rasch" else None,
    ),
    number("log_likelihood", "Log likelihood", "marginal, at its maximum",
           lambda given: given.model.log_likelihood),
    number("aic", "AIC", "Akaike's criterion; lower is better", lambda given: given.model.aic),
    number("bic", "BIC", "Schwarz's criterion; lower is better", lambda given: given.model.bic),
    number(
        "chi2", "Chi2", "twice the log likelihood of the 2-PL model less that of the Rasch model",
        lambda given: _compared(given, "chi2"),
    ),
    whole("df", "df", "degrees of freedom of this test", lambda given: _compared(given, "df")),
    p_value(
        "p", "p", "of this test: whether slopes differ", lambda given: _compared(given, "p")
    ),
    text("reason", "Reason", "why the model was not fitted, or is uncertain",
         lambda given: given.model.reason or next(
             (item.caution for item in given.model.items if item.caution), ""
         )),
)  # fmt: skip
"""The columns of :func:`item_models_table`."""


def _compared(given: _Model, name: str) -> float | int | None:
    test = given.subtest.comparison if given.model.model == "2pl" else None
    return None if test is None else getattr(test, name)
