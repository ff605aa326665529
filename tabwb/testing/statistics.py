"""Checks of a statistic."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from tabwb.analysis.administrations import load_columns
from tabwb.analysis.statistics.plugins import computed, plugin_responses_of
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.extensions import Responses, Statistic
from tabwb.store.store import Store
from tabwb.testing.checks import Checks, expect, plugins_of, run_checks
from tabwb.testing.samples import document_of


def check_statistic(
    statistic_id: str, *, plugins: Plugins | None = None, battery: str = "tab"
) -> None:
    """Check a statistic: contract, determinism, and that it changes nothing.

    It is computed over responses of ``echo`` to a battery, and over none.

    Args:
        statistic_id: its id.
        plugins: with the statistic; None for those installed.
        battery: an id or path.

    Raises:
        NonConformance: the statistic does not keep its contract.
    """
    with plugins_of(plugins) as loaded, tempfile.TemporaryDirectory() as name:
        known = {statistic.id: statistic for statistic in loaded.statistics()}
        expect(
            statistic_id in known,
            f"there is no statistic {statistic_id!r}: {', '.join(known) or 'none is registered'}; "
            + "; ".join(map(str, loaded.problems)),
        )
        document_of(loaded, Path(name), battery)
        with Store.open(Path(name) / "sample.db") as store:
            given = plugin_responses_of(load_columns(store))
            checks = _checks(known[statistic_id], given)
            run_checks(f"statistic '{statistic_id}'", checks)


def _with_judges(responses: Responses, n: int) -> Responses:
    """Return responses with judges enough: each further one has the ratings of the first."""
    first, features = next(iter(responses.judges.items()))
    further = {f"{first}-{k}": features for k in range(2, n - len(responses.judges) + 2)}
    return replace(
        responses,
        raters={**responses.raters, **dict.fromkeys(further, responses.raters[first])},
        values=lambda rater, measure: responses.values(
            first if rater in further else rater, measure
        ),
        judges={**responses.judges, **further},
    )


def _checks(statistic: Statistic, responses: Responses) -> Checks:
    if len(responses.judges) < statistic.judges:
        responses = _with_judges(responses, statistic.judges)
    failed = f"'{statistic.id}' failed: "

    def check_values() -> None:
        for value in computed(statistic, responses):
            expect(not value.reason.startswith(failed), value.reason)
            told = value.value is not None or not value.reason.endswith("without a reason")
            told = told or value.reason.startswith("the function returned None")
            expect(told, f"{value.reason}: return StatisticValue(None, reason=...)")

    def check_none() -> None:
        nothing = responses.table.take(responses.table["words"].values < 0)
        without = replace(responses, table=nothing, values=lambda rater, measure: np.zeros(0))
        for value in computed(statistic, without):
            expect(not value.reason.startswith(failed), value.reason)

    def check_same() -> None:
        first, second = (computed(statistic, responses) for _ in range(2))
        expect(first == second, f"unlike values: {first} and {second}")

    def check_unchanged() -> None:
        before = list(responses.table.rows())
        computed(statistic, responses)
        expect(before == list(responses.table.rows()), "it changed the responses")

    return {
        "contract, what is returned": check_values,
        "contract, without responses": check_none,
        "determinism": check_same,
        "contract, the responses stay as they are": check_unchanged,
    }
