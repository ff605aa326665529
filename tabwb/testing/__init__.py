"""Conformance checks that a plugin's own tests run.

Each function makes the component that a spec names, as tabwb does, and checks its contract,
cancellation, failure and determinism. It raises :class:`NonConformance` (an ``AssertionError``)
that lists every check that failed::

    from tabwb.testing import check_scorer

    def test_conformance():
        check_scorer("my-words")

``pytest`` is not needed. Each name is imported from its module when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabwb.testing.checks import NonConformance as NonConformance
    from tabwb.testing.models import check_model as check_model
    from tabwb.testing.models import check_transcriber as check_transcriber
    from tabwb.testing.plugin import check_battery as check_battery
    from tabwb.testing.plugin import check_command as check_command
    from tabwb.testing.plugin import check_observer as check_observer
    from tabwb.testing.plugin import check_page as check_page
    from tabwb.testing.plugin import check_task as check_task
    from tabwb.testing.raters import check_judge as check_judge
    from tabwb.testing.raters import check_scorer as check_scorer
    from tabwb.testing.results import check_exporter as check_exporter
    from tabwb.testing.results import check_importer as check_importer
    from tabwb.testing.results import check_statistic as check_statistic

_MODULE_OF = {
    "NonConformance": "checks",
    "check_battery": "plugin",
    "check_command": "plugin",
    "check_exporter": "results",
    "check_importer": "results",
    "check_judge": "raters",
    "check_model": "models",
    "check_observer": "plugin",
    "check_page": "plugin",
    "check_scorer": "raters",
    "check_statistic": "results",
    "check_task": "plugin",
    "check_transcriber": "models",
}
__all__ = sorted(_MODULE_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
