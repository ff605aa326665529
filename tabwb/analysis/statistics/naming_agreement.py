"""How two listeners agree on the names that both rated: right or not, and codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from tabwb.analysis.plain import Json, picked
from tabwb.records.ratings import is_derived
from tabwb.scoring.estimate import Interval
from tabwb.scoring.naming.summary import NamedItem

_VERDICT = {"right": True, "self-corrected": True, "error": False, "no-response": False}


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Two listeners on the names that both rated: whether each is right (``score``), or its code.

    ``kappa`` is Cohen's, None where neither varies; its 95 % interval is by Dirichlet resampling
    with the names as independent, None without kappa, where a listener calls three names or fewer
    right, or not right, and of codes. ``differences`` of codes are (first's, second's, names), the
    most frequent first.
    """

    first: str
    second: str
    n: int
    agreed: int
    kappa: float | None
    interval: Interval | None = None
    what: Literal["score", "code"] = "score"
    differences: tuple[tuple[str, str, int], ...] = ()

    def to_json(self) -> Json:
        """Return plain data; what is undefined is None."""
        status = "undefined" if self.kappa is None else "value"
        names = ("first", "second", "n", "agreed", "kappa")
        if self.what == "score":
            return {**picked(self, *names, "interval"), "status": status}
        listed = [{"first": a, "second": b, "n": n} for a, b, n in self.differences]
        return {**picked(self, *names), "status": status, "differences": listed}


def rater_agreements(items: Sequence[NamedItem]) -> tuple[RaterAgreement, ...]:
    """Return the agreement of every two listeners who scored the same responses.

    Right and self-corrected are right, an error and no response are not; what cannot be scored is
    left out.

    >>> def item(name, first, second):
    ...     return NamedItem(name, name, "answered", score=first, score_by="person:R1",
    ...                      other_scores=(("person:R2", second),))
    >>> (found,) = rater_agreements([item("a", "right", "self-corrected"),
    ...                              item("b", "error", "right"), item("c", "error", "error")])
    >>> found.agreed, found.n, round(found.kappa, 2)
    (2, 3, 0.4)
    """
    scored = ({item.score_by: item.score, **dict(item.other_scores)} for item in items)
    return _agreements(
        "score",
        (
            {
                by: _VERDICT[score]
                for by, score in scores.items()
                if score in _VERDICT and not is_derived(by)
            }
            for scores in scored
        ),
    )


def code_agreements(items: Sequence[NamedItem]) -> tuple[RaterAgreement, ...]:
    """Return the agreement of every two listeners on the codes of the same responses.

    Where a listener gave a score alone, the code is the one that follows from it (*correct*,
    *no-response*); an error without a code, and *undecided*, are left out. Kappa is unweighted
    over the codes that either listener used.

    >>> def item(name, first, second):
    ...     return NamedItem(name, name, "answered",
    ...                      listener_codes=(("person:R1", first), ("person:R2", second)))
    >>> (found,) = code_agreements([item("a", "correct", "correct"),
    ...                             item("b", "semantic", "formal"),
    ...                             item("c", "semantic", "semantic")])
    >>> found.agreed, found.n, round(found.kappa, 3), found.differences
    (2, 3, 0.5, (('semantic', 'formal', 1),))
    """
    return _agreements("code", (dict(item.listener_codes) for item in items))


def _agreements(
    what: Literal["score", "code"], rated: Iterable[Mapping[str, Any]]
) -> tuple[RaterAgreement, ...]:
    pairs: dict[tuple[str, str], Counter[tuple[Any, Any]]] = {}
    for given in rated:
        for first, second in combinations(sorted(given), 2):
            pairs.setdefault((first, second), Counter())[given[first], given[second]] += 1
    if not pairs:
        return ()
    import numpy as np

    from tabwb.agreement.intervals import FEW_POSITIVES, dirichlet_intervals, least_positives
    from tabwb.agreement.pairs import cohen_kappa

    found = []
    for raters, counts in pairs.items():
        used = sorted({code for pair in counts for code in pair})
        codes = (False, True) if what == "score" else used
        table = np.array([[[counts[a, b] for b in codes] for a in codes]], np.int64)
        kappa = float(cohen_kappa(table)[0]) if len(codes) > 1 else float("nan")
        ends = None
        if what == "score" and not np.isnan(kappa):
            fewest = min(least_positives(table)[0], least_positives(table[:, ::-1, ::-1])[0])
            if fewest > FEW_POSITIVES:
                ends = Interval(*map(float, dirichlet_intervals(table, cohen_kappa)[0]))
        unlike = [(*pair, n) for pair, n in counts.most_common() if pair[0] != pair[1]]
        agreed = counts.total() - sum(n for *_, n in unlike)
        found.append(
            RaterAgreement(
                *raters, counts.total(), agreed, None if np.isnan(kappa) else kappa, ends, what,
                tuple(unlike) if what == "code" else (),
            )
        )  # fmt: skip
    return tuple(found)
