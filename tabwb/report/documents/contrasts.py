"""Differences on the same items as JSON: of two sides, of base and instruct models."""

from __future__ import annotations

from tabwb.analysis.contrast import Compared, Difference, Pair, showable
from tabwb.analysis.paired import Contrast
from tabwb.report.documents.summary_json import interval_json, naming_difference_json
from tabwb.report.plain import Json, picked, plain
from tabwb.scoring.detectable import simulated_test
from tabwb.scoring.estimate import Estimand


def difference_json(difference: Difference) -> Json:
    """Return what ``diff`` prints with ``--json``; what is undefined is None."""
    found = difference.found
    named = [naming_difference_json(subtest) for subtest in difference.named]
    return {
        **picked(found, "first", "second"),
        "compared": [_compared(row) for row in found.rows],
        "items": plain(difference.items),
        **_of_sides(found, "first", "second"),
        **({"naming": named} if named else {}),
    }


def pair_json(pair: Pair) -> Json:
    """Return a base and an instruct model."""
    return {
        "parameters": int(pair.parameters) if pair.parameters.isdecimal() else None,
        **picked(pair, "battery", "family", "lesion"),
        "base": pair.found.first,
        "instruct": pair.found.second,
        **picked(pair, "base_from", "instruct_from", "unsaid"),
        "differences": [_gap(row) for row in pair.found.rows],
        **_of_sides(pair.found, "base", "instruct"),
    }


def mean_json(mean: Contrast) -> Json:
    """Return a mean over families."""
    return {
        **_measured(mean),
        **picked(mean, "families", "items", "difference"),
        **interval_json(mean.like.interval),
    }


def _of_sides(found: Compared, *names: str) -> Json:
    return {
        "left_out": [{"rater": rater, "reason": why} for rater, why in found.left_out],
        "unlike": {name: dict(zip(names, values, strict=True)) for name, *values in found.unlike},
        "shared_streams": dict(zip(names, (n for n, _ in found.shared_streams), strict=True)),
    }


def _measured(row: Contrast) -> Json:
    return {
        "measure": row.measure.title, "subtest": row.subtest or None, "rater": row.rater or None
    }  # fmt: skip


def _terms(row: Contrast) -> Json:
    terms = row.terms
    return {
        "features": [] if terms is None else list(terms.features),
        "scope": None if terms is None else terms.scope,
        "prompt_hash": None if terms is None else terms.prompt_hash,
    }


def _usable(row: Contrast) -> Json:
    return {
        "usable": [usable.to_json() for usable in row.usable],
        "status": "undefined" if row.difference is None else "value",
    }


def _compared(row: Contrast) -> Json:
    least, like = showable(row), row.like
    return {
        **_measured(row),
        "policy": row.policy or None,
        "feature": row.feature or None,
        **picked(row, "items", "first", "second", "difference", "smallest_p", "items_left_out"),
        **_terms(row),
        "p": like.p,
        "test": like.test or None,
        "smallest_difference": least.value,
        "smallest_difference_reason": least.reason,
        "smallest_difference_test": (
            simulated_test(Estimand.PROMPTS_LIKE_THESE) if least.defined else None
        ),
        "estimates": [
            {
                **interval_json(tested.interval),
                "p": tested.p,
                "test": tested.test or None,
                "p_adjusted": tested.adjusted,
                "correction": tested.correction or None,
            }
            for tested in (like, row.these)
        ],
        **_usable(row),
    }


def _gap(row: Contrast) -> Json:
    intervals = [interval_json(tested.interval) for tested in (row.like, row.these)]
    usable = _usable(row)
    return {
        **_measured(row),
        **_terms(row),
        "base": row.first,
        "instruct": row.second,
        "n_base": row.n_first,
        "n_instruct": row.n_second,
        "difference": row.difference,
        "items": row.items,
        "usable": usable["usable"],
        **{name: intervals[0][name] for name in ("interval", "interval_reason")},
        "intervals": intervals,
        "status": usable["status"],
    }
