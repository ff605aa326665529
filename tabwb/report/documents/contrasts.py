"""Differences on the same items as JSON: of two sides, of base and instruct models."""

from __future__ import annotations

from collections.abc import Sequence

from tabwb.analysis.contrast import Compared, Contrast, Difference, FamilyMean, Pair
from tabwb.analysis.paired import Tested
from tabwb.report.documents.summary_json import interval_json, naming_difference_json
from tabwb.report.plain import Json, picked, plain
from tabwb.scoring.detectable import simulated_test
from tabwb.scoring.estimate import Estimand


def difference_json(difference: Difference) -> Json:
    """Return what ``diff`` prints with ``--json``; what is undefined is None."""
    found = difference.found
    named = [naming_difference_json(subtest) for subtest in difference.named]
    return {
        "first": found.first,
        "second": found.second,
        "compared": [_compared(row) for row in found.rows],
        "items": plain(difference.items),
        **_of_sides(found, ("first", "second")),
        **({"naming": named} if named else {}),
    }


def pair_json(pair: Pair) -> Json:
    """Return a base and an instruct model."""
    found = pair.found
    return {
        "parameters": int(pair.parameters) if pair.parameters.isdecimal() else None,
        **picked(pair, "battery", "family", "lesion"),
        "base": found.first,
        "instruct": found.second,
        **picked(pair, "base_from", "instruct_from", "unsaid"),
        "differences": [_gap(row) for row in found.rows],
        **_of_sides(found, ("base", "instruct")),
    }


def mean_json(mean: FamilyMean) -> Json:
    """Return a mean over families."""
    return {
        **_measured(mean.row),
        **picked(mean, "families", "items", "difference"),
        **interval_json(mean.interval),
    }


def _of_sides(found: Compared, names: Sequence[str]) -> Json:
    return {
        "left_out": [{"rater": rater, "reason": why} for rater, why in found.left_out],
        "unlike": {name: dict(zip(names, values, strict=True)) for name, *values in found.unlike},
        "shared_streams": {
            name: shared for name, (shared, _) in zip(names, found.shared_streams, strict=True)
        },
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


def _compared(row: Contrast) -> Json:
    showable = row.showable
    return {
        **_measured(row),
        "policy": row.policy or None,
        "feature": row.feature or None,
        **picked(row.sides, "items", "first", "second", "difference", "smallest_p"),
        "items_left_out": list(row.items_left_out),
        **_terms(row),
        "p": row.like.p,
        "test": row.like.test or None,
        "smallest_difference": showable.value,
        "smallest_difference_reason": showable.reason,
        "smallest_difference_test": (
            simulated_test(Estimand.PROMPTS_LIKE_THESE) if showable.defined else None
        ),
        "estimates": [_tested(row.like), _tested(row.these)],
        "usable": [usable.to_json() for usable in row.usable],
        **_status(row),
    }


def _tested(tested: Tested) -> Json:
    return {
        **interval_json(tested.interval),
        "p": tested.p,
        "test": tested.test or None,
        "p_adjusted": tested.adjusted,
        "correction": tested.correction or None,
    }


def _gap(row: Contrast) -> Json:
    sides = row.sides
    like = interval_json(row.like.interval)
    return {
        **_measured(row),
        **_terms(row),
        "base": sides.first,
        "instruct": sides.second,
        "n_base": sides.n_first,
        "n_instruct": sides.n_second,
        "difference": sides.of_means,
        "items": sides.items,
        "usable": [usable.to_json() for usable in row.usable],
        "interval": like["interval"],
        "interval_reason": like["interval_reason"],
        "intervals": [like, interval_json(row.these.interval)],
        **_status(row),
    }


def _status(row: Contrast) -> Json:
    return {"status": "undefined" if row.sides.difference is None else "value"}
