"""Planning rating sets from Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tabwb.api.options import Ids, Names, Planning, references_of
from tabwb.plugin_api.forms import check_raters, open_form
from tabwb.records.words import separated
from tabwb.report.rating_plan import PlanOptions, plan_document, plan_with

if TYPE_CHECKING:
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.store.store import Store


def plan_ratings(
    store: Store,
    plugins: Plugins,
    name: str,
    raters: Names,
    ids: Ids,
    form: str,
    options: Planning,
    *,
    dry_run: bool,
) -> dict[str, Any]:
    """Make a rating set, and return its plan; see :meth:`tabwb.Study.plan_ratings`."""
    chosen = PlanOptions(separated(raters), **options)
    asked = open_form(form, plugins.find_battery)
    check_raters(chosen.raters, plugins)
    made = plan_with(store, plugins, name, asked, chosen, references_of(ids))
    uid = None if dry_run else store.sets.create(made.plan).uid
    return plan_document(made, uid)
