"""The probabilities of a calibrated judge as ratings of exported documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tabwb.records.counting import CALIBRATED
from tabwb.records.errors import UsageError
from tabwb.records.once import Once
from tabwb.records.states import RatingStatus
from tabwb.report.names import judge_called
from tabwb.report.plain import Json
from tabwb.report.summaries.columns.calibrated import calibration_of
from tabwb.store.store import Store


class Probabilities:
    """Adds to each response what the verdicts of a judge stand for, as a rater of its own."""

    def __init__(self, store: Store, judge: str, rated: Sequence[tuple[str, str]]) -> None:
        if not judge.startswith(CALIBRATED):
            raise UsageError(
                f"an export has the ratings of every judge; '{judge}' adds none",
                where="--judge",
                allowed=f"{CALIBRATED}JUDGE",
            )
        raters = dict.fromkeys(rater for rater, _ in rated)
        self._judge = judge_called(judge.removeprefix(CALIBRATED), raters)
        self._known = calibration_of(store, self._judge)

    @property
    def measures(self) -> tuple[tuple[str, str], ...]:
        """Rater and measure of what is added."""
        return tuple((f"{CALIBRATED}{self._judge}", measure) for measure in self._known)

    def documents(
        self, made: Callable[..., Iterator[Json]], names: Mapping[str, str], **options: Any
    ) -> Iterator[Json]:
        """Yield documents with the ratings that are added."""
        judge = names.get(self._judge, self._judge)
        # Many responses share one list of ratings.
        with_own = Once(
            lambda ratings: [
                *ratings,
                *(
                    self._probability(one)
                    for one in ratings
                    if one["rater"] == judge and one["measure"] in self._known
                ),
            ]
        )
        for document in made(**options):
            trials = document["trials"]
            yield {
                **document,
                "trials": ({**trial, "ratings": with_own.of(trial["ratings"])} for trial in trials),
            }

    def _probability(self, rating: Json) -> Json:
        own = {**rating, "rater": f"{CALIBRATED}{rating['rater']}"}
        if rating["status"] != RatingStatus.VALUE:
            return own
        known, verdict = self._known[rating["measure"]], int(rating["value"])
        if known.known(verdict):
            return {**own, "value": known.probability(verdict), "reason": ""}
        reason = known.unknown(verdict)
        return {**own, "value": None, "status": RatingStatus.UNDEFINED.value, "reason": reason}
