"""The tables that groups of administrations can be shown as, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tabwb.records.errors import UsageError
from tabwb.records.words import did_you_mean

if TYPE_CHECKING:
    from tabwb.report.summaries.groups import Grouped
    from tabwb.tables.table import Table

TABLES = {
    "results": "every value of each group",
    "features": "the rate of each feature",
    "items": "difficulty and discrimination of items, Rasch and 2-PL parameters",
    "item-models": "the Rasch and 2-PL models of each subtest",
    "positions": "accuracy and choices by position of the options",
    "foils": "wrong options by kind, against chance",
    "differences": "each group less the baseline (--baseline)",
    "co-occurrence": "features within the same responses, pair by pair",
    "profiles": "profiles of features compared with a group or a CSV file (--baseline)",
    "map": "lesions of one target in one layer, against the intact model",
    "doses": "lesions by amount: each seed, means over seeds, slopes, controls of the same size",
}
"""Name to what the table has."""
DEFAULT_BY = {
    "items": "battery",
    "item-models": "battery",
    "doses": "administration",
    "map": "administration",
}
"""The keys that make the groups of a table by default; of the others it is ``model``."""
BASELINED = {
    "differences": "the group that is subtracted",
    "profiles": "a group (GROUP rater=NAME: another rater), or a CSV file with feature and rate",
}
"""Tables that need a baseline, with what it is."""
SHOWN = {
    "results": (
        "group", "part", "rater", "measure", "feature", "policy", "value", "low", "high", "n",
        "n_items",
    ),
    "features": ("rater", "title", "group", "rate", "rate_these", "n"),
    "items": (
        "group", "part", "item", "n", "examinees", "accuracy", "discrimination",
        "rasch_difficulty", "rasch_se", "infit", "outfit", "difficulty", "slope",
    ),
    "positions": (
        "group", "part", "position", "keyed", "position_accuracy", "accuracy_p_like",
        "accuracy_p_these", "position_share", "expected", "share_p_like", "share_p_these",
    ),
    "foils": (
        "group", "part", "kind", "errors", "n", "foil_share", "foil_chance", "p_these", "p_like",
    ),
    "group-differences": (
        "measure", "part", "rater", "group", "difference", "p", "p_adjusted", "smallest_p",
        "difference_these", "p_these", "p_these_adjusted", "n_items",
    ),
    "item-models": (
        "group", "part", "model", "examinees", "parameters", "common_slope", "log_likelihood",
        "aic", "bic", "chi2", "df", "p",
    ),
    "co-occurrence": (
        "rater", "group", "feature", "other", "phi", "both", "n_first", "n_second", "n",
    ),
    "profiles": (
        "rater", "measure", "group", "reference", "reference_rater", "value", "n_features", "n",
    ),
    "sessions": ("set", "session", "date", "phase", "correct", "n", "accuracy"),
    "change": (
        "set", "other_set", "measure", "sessions", "n_items", "left_out", "value", "gained", "lost",
        "p", "mid_p", "p_one_sided", "p_adjusted",
    ),
}  # fmt: skip
"""The columns that people are shown unless they ask for others; each with its interval."""
SECTIONS = {
    "results": ("group", "part", "rater"),
    "features": ("rater", "title"),
    "items": ("group", "part"),
    "item-models": ("group", "part"),
    "positions": ("group", "part"),
    "foils": ("group", "part"),
    "group-differences": ("measure", "part", "rater"),
    "sessions": ("set",),
    "co-occurrence": ("rater", "group"),
    "profiles": ("rater", "measure"),
    "doses": ("measure", "part", "rater", "feature", "series"),
    "map": ("measure", "part", "rater", "feature", "series"),
    "change": ("set", "other_set"),
}
"""The columns that part the rows of a table into sections."""


def check_baseline(name: str, baseline: str | None) -> None:
    """Check that a baseline is named for the tables that need one, and for no other."""
    if (name in BASELINED) != (baseline is not None):
        raise UsageError(
            f"the table of {name} needs a baseline, {BASELINED[name]}"
            if baseline is None
            else f"the table '{name}' has no baseline: it belongs to the tables of "
            f"{' and '.join(BASELINED)}",
            hint=f"--table {name if baseline is None else 'differences'} --baseline NAME",
        )


def named_table(name: str, rows: Sequence[Grouped], baseline: str | None = None) -> Table:
    """Return a table of groups."""
    if name not in TABLES:
        raise UsageError(
            f"there is no table '{name}'{did_you_mean(name, TABLES)}", allowed=", ".join(TABLES)
        )
    check_baseline(name, baseline)
    from tabwb.report.summaries.shown import shared_note
    from tabwb.tables.table import Table

    made = _made(name, rows, baseline)
    series = {column: made[column] for column in made.names}
    return Table(made.name, made.columns, series, (*made.notes, *shared_note(rows)))


def _made(name: str, rows: Sequence[Grouped], baseline: str | None) -> Table:
    if name == "results":
        from tabwb.report.tables.results import results_table

        return results_table(rows)
    if name == "features":
        from tabwb.report.tables.features import features_table

        return features_table(rows)
    if name in ("items", "item-models"):
        from tabwb.report.tables import items

        return items.items_table(rows) if name == "items" else items.item_models_table(rows)
    if name in ("positions", "foils"):
        from tabwb.report.tables import positions

        made = positions.positions_table if name == "positions" else positions.foils_table
        return made(rows)
    if name in ("co-occurrence", "profiles"):
        from tabwb.report.tables import profiles

        if name == "profiles":
            return profiles.profiles_table(rows, baseline or "")
        return profiles.together_table(rows)
    if name == "doses":
        from tabwb.analysis.doses import doses_table

        return doses_table(rows)
    if name == "map":
        from tabwb.analysis.doses import map_table

        return map_table(rows)
    from tabwb.report.tables.contrasts import against_table

    return against_table(rows, baseline or "")


def shown_columns(table: Table) -> tuple[str, ...]:
    """Return the columns of a table that people are shown, with those of their intervals."""
    wanted = SHOWN.get(table.name)
    if wanted is None:
        return table.names
    ends = ("", "_low", "_high")
    return tuple(name + end for name in wanted for end in ends if name + end in table.names)
