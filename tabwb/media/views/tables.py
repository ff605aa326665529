"""The tables that groups of administrations can be shown as, each declared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from tabwb.records.errors import UsageError
from tabwb.records.words import did_you_mean

if TYPE_CHECKING:
    from tabwb.analysis.grouping import Grouped
    from tabwb.tables.table import Table


@dataclass(frozen=True, slots=True)
class View:
    """One kind of result as a table.

    Attributes:
        has: what the table has, in a few words.
        made: the function that makes it of groups, and of the name of the baseline where there is
            one, below ``tabwb``.
        shown: the columns that people are shown unless they ask for others, each with its interval;
            empty: all.
        sections: the columns that part its rows into sections.
        by: the keys that make the groups by default.
        baseline: what its baseline is; empty: it has none.
    """

    has: str
    made: str = ""
    shown: str = ""
    sections: str = ""
    by: str = "model"
    baseline: str = ""

    @property
    def caption(self) -> str:
        """What the table has, as a title."""
        return self.has[:1].upper() + self.has[1:]


_OF_LESIONS = "measure part rater feature series"
VIEWS = {
    "results": View(
        "every value of each group", "analysis.tables.results.results_table",
        "group part rater measure feature policy value low high n n_items", "group part rater",
    ),
    "features": View(
        "the rate of each feature", "analysis.tables.results.features_table",
        "rater title group rate rate_these n", "rater title",
    ),
    "items": View(
        "difficulty and discrimination of items, Rasch and 2-PL parameters",
        "analysis.tables.items.items_table",
        "group part item n examinees accuracy discrimination rasch_difficulty rasch_se infit "
        "outfit difficulty slope", "group part", by="battery",
    ),
    "item-models": View(
        "the Rasch and 2-PL models of each subtest", "analysis.tables.items.item_models_table",
        "group part model examinees parameters common_slope log_likelihood aic bic chi2 df p",
        "group part", by="battery",
    ),
    "positions": View(
        "accuracy and choices by position of the options",
        "analysis.tables.positions.positions_table",
        "group part position keyed position_accuracy accuracy_p_like accuracy_p_these "
        "position_share expected share_p_like share_p_these", "group part",
    ),
    "foils": View(
        "wrong options by kind, against chance", "analysis.tables.positions.foils_table",
        "group part kind errors n foil_share foil_chance p_these p_like", "group part",
    ),
    "differences": View(
        "each group less the baseline (--baseline)", "media.documents.contrasts.against_table",
        "measure part rater group difference p p_adjusted smallest_p difference_these p_these "
        "p_these_adjusted n_items", "measure part rater",
        baseline="the group that is subtracted",
    ),
    "co-occurrence": View(
        "features within the same responses, pair by pair",
        "analysis.tables.profiles.together_table",
        "rater group feature other phi both n_first n_second n", "rater group",
    ),
    "profiles": View(
        "profiles of features compared with a group or a CSV file (--baseline)",
        "analysis.tables.profiles.profiles_table",
        "rater measure group reference reference_rater value n_features n", "rater measure",
        baseline="a group (GROUP rater=NAME: another rater), or a CSV file with feature and rate",
    ),
    "norms": View(
        "people's values compared with groups of norms (tabwb norms)", "analysis.norms.norms_table",
        "group part rater measure feature value norm n mean sd t df percentile", "group part",
        by="administration",
    ),
    "map": View(
        "lesions of one target in one layer, against the intact model", "analysis.doses.map_table",
        sections=_OF_LESIONS, by="administration",
    ),
    "doses": View(
        "lesions by amount: each seed, means over seeds, slopes, controls of the same size",
        "analysis.doses.doses_table", sections=_OF_LESIONS, by="administration",
    ),
}  # fmt: skip
"""Name to view; commands list them in this order."""
SESSIONS = {
    "sessions": View(
        "right answers in each session", "", "set session date phase correct n accuracy", "set"
    ),
    "change": View(
        "change between sessions", "",
        "set other_set measure sessions n_items left_out value gained lost p mid_p p_one_sided "
        "p_adjusted", "set other_set",
    ),
}  # fmt: skip
"""Tables of the sessions of one participant."""
_VIEWS = (
    VIEWS
    | SESSIONS
    | {
        "group-differences": VIEWS["differences"],
        "lesion-dial": View(
            "one prompt by amount",
            "",
            "amount role seed status words new present alike seeds answer",
        ),
        "session-dial": View(
            "what was said, by session", "", "item session day status answer compared new right"
        ),
    }
)
"""Name of a table to its view."""


def view_of(table: Table) -> View:
    """Return the view of a table; one that shows everything where none is declared."""
    return _VIEWS.get(table.name) or View(table.name)


def check_baseline(name: str, baseline: str | None) -> None:
    """Check that a baseline is named for the tables that need one, and for no other."""
    needed = VIEWS[name].baseline
    if bool(needed) != (baseline is not None):
        having = [one for one, view in VIEWS.items() if view.baseline]
        raise UsageError(
            f"the table of {name} needs a baseline, {needed}"
            if baseline is None
            else f"the table '{name}' has no baseline: it belongs to the tables of "
            f"{' and '.join(having)}",
            hint=f"--table {name if baseline is None else 'differences'} --baseline NAME",
        )


def named_table(name: str, rows: Sequence[Grouped], baseline: str | None = None) -> Table:
    """Return a table of groups."""
    if name not in VIEWS:
        raise UsageError(
            f"there is no table '{name}'{did_you_mean(name, VIEWS)}", allowed=", ".join(VIEWS)
        )
    check_baseline(name, baseline)
    from tabwb.analysis.grouping import shared_note
    from tabwb.tables.table import Table

    module, _, function = VIEWS[name].made.rpartition(".")
    make = getattr(import_module(f"tabwb.{module}"), function)
    made: Table = make(rows) if baseline is None else make(rows, baseline)
    series = {column: made[column] for column in made.names}
    return Table(made.name, made.columns, series, (*made.notes, *shared_note(rows)))


def shown_columns(table: Table) -> tuple[str, ...]:
    """Return the columns of a table that people are shown, with those of their intervals."""
    wanted = view_of(table).shown.split()
    if not wanted:
        return table.names
    ends = ("", "_low", "_high")
    return tuple(name + end for name in wanted for end in ends if name + end in table.names)
