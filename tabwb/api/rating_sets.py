"""Rating sets from Python: what is rated, how far raters are, ratings given by a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tabwb.api.study import Study
    from tabwb.plugin_api.registry.plugins import Plugins
    from tabwb.records.rating_sets import Answer, Purpose
    from tabwb.records.rating_sets import RatingSet as Record
    from tabwb.tables.table import Table


class RatingSet:
    """One rating set of an open study; made by :meth:`tabwb.Study.rating_set`.

    Args:
        study: the open store.
        number: of the set in it.
        plugins: loads them.
    """

    def __init__(self, study: Study, number: int, plugins: Callable[[], Plugins]) -> None:
        self._study, self._number, self._plugins = study, number, plugins

    def __repr__(self) -> str:
        kept = self.record
        return f"<RatingSet {kept.name}: {kept.form_id}, {', '.join(kept.raters)}, {kept.status}>"

    @property
    def record(self) -> Record:
        """Name, form, raters, status and all else that is recorded of the set as a whole."""
        return self._study.store.sets.get(self._number)

    @property
    def name(self) -> str:
        """Its name in the store."""
        return self.record.name

    def progress(self) -> Table:
        """Return one row for each rater: how many samples are complete, and the time spent."""
        from tabwb.analysis.rating_sets import progress_table

        return progress_table(self._study.store, self.record)

    def assignments(self) -> Table:
        """Return one row for each sample of each rater: its number, text, and whether it is rated.

        Unlike what raters get, it has the strata.
        """
        from tabwb.analysis.rating_sets import assignments_table

        return assignments_table(self._study.store, self.record)

    def ratings(self, *, judges: bool = False) -> Table:
        """Return one row for each answer of each rater, as ``tabwb rate export`` writes them.

        Args:
            judges: with what judges say of the samples.
        """
        from tabwb.analysis.rating_sets import set_tables, with_judges

        tables = set_tables(self._study.store, self.record)
        return with_judges(tables) if judges else tables.ratings

    def export(
        self,
        out: str | PathLike[str],
        *,
        format: Literal["csv", "jsonl", "parquet", "folder"] | None = None,
        judges: bool = False,
        within_study: bool = False,
        force: bool = False,
    ) -> Path:
        """Write the ratings to a file, or the whole study to a folder, and return its path.

        Args:
            out: a file, or a new folder.
            format: None: by the ending of the name; without one a folder.
            judges: with what judges say; a folder has it in a file.
            within_study: the file stays within the study that collected the data; otherwise
                speakers must have agreed to ``share``.
            force: replace an existing file.

        Raises:
            NoConsent: speakers have not agreed to ``share``; nothing is written.
            UsageError: people's data, and the study is open for reading.
            TabwbError: it cannot be written.
        """
        from tabwb.analysis.rating_sets import administrations_of
        from tabwb.api.engine import warn
        from tabwb.media.destination import IN_PYTHON, check_destination
        from tabwb.media.documents.rating_export import FOLDER, export_set, format_of

        chosen, place = format_of(Path(out), format), Path(out)
        if chosen != FOLDER:
            place = check_destination(place, force=force, remedy=IN_PYTHON)
        store = self._study.store
        if any(one.conditions.guarded for one in administrations_of(store, self.record)):
            store = self._study.writable("an export of people's data is logged in the store")
        permit = export_set(
            store, self._plugins(), self._number, chosen, place,
            judges=judges, within_study=within_study,
        )  # fmt: skip
        warn(permit.notice)
        return place

    def rate(
        self,
        rater: str,
        sample: int,
        answers: Mapping[str, Answer],
        *,
        purpose: Purpose = "rate",
        confidence: int | None = None,
        note: str = "",
        seconds: float = 0.0,
        rest_absent: bool = False,
    ) -> None:
        """Save a rater's complete rating of one sample, or replace the one that is there.

        Args:
            rater: code of the person, or of a simulated one.
            sample: its number.
            answers: by measure: 1 present, 0 absent, a number of a scale, a code, phonemes, words,
                ``"cannot-tell"``; where each attempt is asked, with its number (``"code#2"``).
            purpose: ``rate``, ``again`` or ``calibration``, as it is assigned.
            confidence: 0 (guessed) to 3 (sure).
            note: free text.
            seconds: spent on the sample; 0 where it was not measured. A rating in less time than
                the form's minimum is flagged.
            rest_absent: the rater has confirmed that every feature without an answer is absent,
                with a form whose unmarked features are. It is stored which ones; a rating without
                any answer is flagged.

        Raises:
            StoreError: the sample is not assigned to this rater, an answer is not allowed, or the
                set is closed.
            UsageError: an answer is missing and was not confirmed as absent, or the study is open
                for reading.
        """
        from tabwb.administer.rating.giving import give_rating

        give_rating(
            self._study.writable("ratings are stored"), self.record, rater, sample, answers,
            purpose=purpose, confidence=confidence, note=note, seconds=seconds,
            rest_absent=rest_absent,
        )  # fmt: skip

    def disputed(self, which: Literal["open", "settled", "all"] = "open") -> Table:
        """Return one row for each answer on which people, or people and judges, differ, most first.

        Nothing in it tells where a sample comes from. Samples of speakers who do not agree to
        rating are left out.

        Args:
            which: answers that are open, settled, or all.
        """
        from tabwb.administer.rating.adjudication import Adjudicator
        from tabwb.analysis.rating_sets import disputes_table

        adjudicator = Adjudicator(self._study.store, self._plugins(), self._number)
        return disputes_table(adjudicator, which)

    def settle(
        self, sample: int, measure: str, answer: Answer, reason: str = "", who: str = ""
    ) -> None:
        """Settle a measure of a sample; what settled it before is replaced and stays stored.

        Args:
            sample: its number.
            measure: of the question; with ``#`` and the attempt's number where each is asked.
            answer: the value that counts; None takes back what settles it: what settled it before
                does again.
            reason: why; not needed to take back.
            who: settles; you, as logged in, when empty.

        Raises:
            StoreError: there is no such sample, its speaker does not agree to rating, or nobody has
                rated it.
            TabwbError: the form does not allow the answer, or the reason is missing.
            UsageError: the study is open for reading.
        """
        from tabwb.administer.rating.adjudication import Adjudicator

        store = self._study.writable("what is settled is stored")
        adjudicator = Adjudicator(store, self._plugins(), self._number, who)
        if answer is None:
            adjudicator.take_back(sample, measure)
        else:
            adjudicator.settle(sample, measure, answer, reason)

    def mark(self, status: Literal["closed", "reopened"], reason: str = "") -> None:
        """Close the set, so that nobody rates in it, or open it again.

        Args:
            status: what it becomes.
            reason: why; stored.

        Raises:
            UsageError: the study is open for reading.
        """
        from tabwb.records.rating_sets import SetEvent

        store = self._study.writable("it is stored when a set was closed")
        store.sets.log(self._number, SetEvent(status, reason))
