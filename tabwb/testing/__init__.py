"""Conformance checks that a plugin's own tests run.

Each function makes the component that a spec names, as tabwb does, and checks its contract,
cancellation, failure and determinism. It raises :class:`NonConformance` (an ``AssertionError``)
that lists every check that failed::

    from tabwb.testing import check_scorer

    def test_conformance():
        check_scorer("my-words")

``pytest`` is not needed. What a check needs is imported when it runs.
"""

from tabwb.testing.checks import NonConformance
from tabwb.testing.exporters import check_exporter
from tabwb.testing.judges import check_judge
from tabwb.testing.models import check_model
from tabwb.testing.scorers import check_scorer
from tabwb.testing.transcribers import check_transcriber

__all__ = [
    "NonConformance",
    "check_exporter",
    "check_judge",
    "check_model",
    "check_scorer",
    "check_transcriber",
]
