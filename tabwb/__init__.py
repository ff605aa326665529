"""tabwb: a workbench for aphasia batteries, and its Python interface.

    import tabwb

    administration = tabwb.run("tab", "bundled", replicates=3, temperature=0.7)
    with tabwb.open() as study:
        study.results(by="model").to_pandas()

A research instrument, never a diagnostic one. See :mod:`tabwb.records.words` for the words that
must be on every report. Each name is imported from its module when it is first used, so that this
import costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabwb.api.engine import load_battery as load_battery
    from tabwb.api.importing import import_answers as import_answers
    from tabwb.api.importing import import_naming as import_naming
    from tabwb.api.importing import import_ratings as import_ratings
    from tabwb.api.importing import transcribe as transcribe
    from tabwb.api.lesions import dial as dial
    from tabwb.api.lesions import lesion_parts as lesion_parts
    from tabwb.api.lesions import lesion_plan as lesion_plan
    from tabwb.api.lesions import localize as localize
    from tabwb.api.lesions import sweep as sweep
    from tabwb.api.local import add_norms as add_norms
    from tabwb.api.local import add_profile as add_profile
    from tabwb.api.local import check_battery as check_battery
    from tabwb.api.local import check_store as check_store
    from tabwb.api.local import models as models
    from tabwb.api.local import norms as norms
    from tabwb.api.local import remove_profile as remove_profile
    from tabwb.api.local import reproduce as reproduce
    from tabwb.api.local import save_figure as save_figure
    from tabwb.api.local import save_table as save_table
    from tabwb.api.local import table_text as table_text
    from tabwb.api.local import try_model as try_model
    from tabwb.api.rating_sets import Agreement as Agreement
    from tabwb.api.rating_sets import RatingSet as RatingSet
    from tabwb.api.rating_sets import rater_agreement as rater_agreement
    from tabwb.api.running import Administration as Administration
    from tabwb.api.running import resume as resume
    from tabwb.api.running import run as run
    from tabwb.api.study import Study as Study
    from tabwb.api.study import open as open
    from tabwb.records.columns import Column as Column
    from tabwb.records.errors import ComponentError as ComponentError
    from tabwb.records.errors import Interrupted as Interrupted
    from tabwb.records.errors import MissingExtra as MissingExtra
    from tabwb.records.errors import NoConsent as NoConsent
    from tabwb.records.errors import StoreError as StoreError
    from tabwb.records.errors import TabwbError as TabwbError
    from tabwb.records.errors import TabwbWarning as TabwbWarning
    from tabwb.records.errors import UsageError as UsageError
    from tabwb.tables.table import Series as Series
    from tabwb.tables.table import Table as Table
    from tabwb.tables.table import table_of as table_of

__version__ = "0.2.0"

_NAMES = {
    "tabwb.api.engine": "load_battery",
    "tabwb.api.importing": "import_answers import_naming import_ratings transcribe",
    "tabwb.api.lesions": "dial lesion_parts lesion_plan localize sweep",
    "tabwb.api.local": "add_norms add_profile check_battery check_store models norms "
    "remove_profile reproduce save_figure save_table table_text try_model",
    "tabwb.api.rating_sets": "Agreement RatingSet rater_agreement",
    "tabwb.api.running": "Administration resume run",
    "tabwb.api.study": "Study open",
    "tabwb.records.errors": "ComponentError Interrupted MissingExtra NoConsent StoreError "
    "TabwbError TabwbWarning UsageError",
    "tabwb.records.columns": "Column",
    "tabwb.tables.table": "Series Table table_of",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = [
    "Administration", "Agreement", "Column", "ComponentError", "Interrupted", "MissingExtra",
    "NoConsent", "RatingSet", "Series", "StoreError", "Study", "Table", "TabwbError",
    "TabwbWarning", "UsageError", "__version__", "add_norms", "add_profile", "check_battery",
    "check_store", "dial", "import_answers", "import_naming", "import_ratings", "lesion_parts",
    "lesion_plan", "load_battery", "localize", "models", "norms", "open", "rater_agreement",
    "remove_profile", "reproduce", "resume", "run", "save_figure", "save_table", "sweep",
    "table_of", "table_text", "transcribe", "try_model",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
