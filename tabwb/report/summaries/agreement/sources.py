"""Where ratings are: a table, a rating set, or administrations, as a command names them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from tabwb.battery.forms import KINDS, Form, Kind
from tabwb.records.counting import CALIBRATED
from tabwb.records.errors import StoreError, TabwbError, UsageError
from tabwb.records.standard_streams import is_stdin
from tabwb.report.summaries.agreement.from_administrations import rated_administrations
from tabwb.report.summaries.agreement.from_set import rated_set
from tabwb.report.summaries.agreement.from_table import read_ratings
from tabwb.report.summaries.agreement.rated import Rated
from tabwb.store.store import Store

TABLES = (".csv", ".tsv", ".tab", ".txt")
FORM = "tab-19"
"""The form that marks objective and subjective features of TAB."""


def is_table(name: str) -> bool:
    """Return whether a name means a table of ratings: a file, standard input, or one's ending.

    >>> is_table("ratings.csv"), is_table("-"), is_table("12"), is_table("pilot")
    (True, True, False, False)
    """
    path = Path(name)
    return is_stdin(path) or path.suffix.lower() in TABLES or (not name.isdecimal() and "/" in name)


def rated_of(
    names: Sequence[int | str],
    opened: Callable[[], AbstractContextManager[Store]],
    form_of: Callable[[str], Form],
    *,
    judges: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
) -> Rated:
    """Return the ratings that names mean."""
    for name in judges:
        if name.startswith(CALIBRATED):
            raise UsageError(
                f"'{name}' gives probabilities, and agreement is defined for verdicts",
                where="--judge",
                hint=f"how well the judge agrees: --judge {name.removeprefix(CALIBRATED)}; its "
                f"rates and burden after calibration: tabwb results --by model --judge {name}",
            )
    words = [str(name) for name in names]
    if any(map(is_table, words)):
        if len(names) > 1:
            raise UsageError("a table of ratings is read alone", allowed="one file")
        table = read_ratings(Path(words[0]), judges=judges, kinds=_checked(kinds or {}))
        return _told_apart(table, form_of)
    if kinds:
        raise UsageError("kinds apply to tables: the form of a set defines its measures")
    with opened() as store:
        if len(words) == 1 and not words[0].isdecimal():
            try:
                number = store.sets.get(words[0]).id
            except StoreError as error:
                _check_administration(store, words[0], error)
            else:
                return rated_set(store, number, judges=judges)
        return _told_apart(rated_administrations(store, names, judges=judges), form_of)


def _told_apart(rated: Rated, form_of: Callable[[str], Form]) -> Rated:
    """Return ratings of TAB's features with titles, and objective and subjective ones marked."""
    form = form_of(FORM)
    own = {question.measure: question for question in form.questions}
    if not rated.features or any(feature.id not in own for feature in rated.features):
        return rated
    features = tuple(
        replace(feature, title=own[feature.id].title, objective=own[feature.id].objective)
        for feature in rated.features
    )
    return replace(rated, features=features, objective_source=form.objective_source)


def _check_administration(store: Store, name: str, error: StoreError) -> None:
    """Check that a name that is of no rating set is of an administration."""
    try:
        store.administration(name)
    except TabwbError:
        sets = ", ".join(one.name for one in store.sets.all())
        raise UsageError(
            f"there is no rating set, administration or table '{name}'",
            allowed=f"rating sets: {sets}" if sets else "a number, a uid, or a file of ratings",
            hint="tabwb rate list, tabwb results",
        ) from error


def _checked(kinds: Mapping[str, str]) -> dict[str, Kind]:
    checked: dict[str, Kind] = {}
    for name, given in kinds.items():
        kind = next((kind for kind in KINDS if kind == given), None)
        if kind is None:
            raise UsageError(
                f"'{given}' is not a kind of measure", where="--kind", allowed=", ".join(KINDS)
            )
        checked[name] = kind
    return checked
