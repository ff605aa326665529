"""Rating sets from Python: what is rated, how far raters are, ratings given by a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tabwb.api.engine import Names
from tabwb.api.operations import done
from tabwb.operations.rate import (
    CloseSet,
    ExportRatings,
    ListLinks,
    MakeLinks,
    ReopenSet,
    RevokeLinks,
    SettleAnswer,
    ShowSet,
    StatusOfSet,
)

if TYPE_CHECKING:
    from tabwb.api.study import Study
    from tabwb.host.plugins import Plugins
    from tabwb.operations.operation import Operation
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

        if any(
            one.conditions.guarded for one in administrations_of(self._study.store, self.record)
        ):
            self._study.writable("an export of people's data is logged in the store")
        values = {"out": out, "format": format, "judges": judges, "within_study": within_study,
                  "force": force}  # fmt: skip
        return Path(self._done(ExportRatings, values)["file"])

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
        from tabwb.administer.rating.session import give_rating

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
    ) -> dict[str, Any]:
        """Settle a measure of a sample; what settled it before is replaced and stays stored.

        Args:
            sample: its number.
            measure: of the question; with ``#`` and the attempt's number where each is asked.
            answer: the value that counts; None takes back what settles it: what settled it before
                does again.
            reason: why; not needed to take back.
            who: settles; you, as logged in, when empty.

        Returns:
            The document of ``tabwb rate settle --json``.

        Raises:
            StoreError: there is no such sample, its speaker does not agree to rating, or nobody has
                rated it.
            TabwbError: the form does not allow the answer, or the reason is missing.
            UsageError: the study is open for reading.
        """
        value = None if answer is None else str(answer)
        return self._done(
            SettleAnswer,
            {"sample": sample, "measure": measure, "value": value, "undo": answer is None,
             "reason": reason, "who": who},
        )  # fmt: skip

    def mark(self, status: Literal["closed", "reopened"], reason: str = "") -> dict[str, Any]:
        """Close the set, so that nobody rates in it, or open it again.

        Args:
            status: what it becomes.
            reason: why; stored.

        Returns:
            The document of ``tabwb rate close --json``.

        Raises:
            UsageError: the study is open for reading.
        """
        return self._done(CloseSet if status == "closed" else ReopenSet, {"reason": reason})

    def describe(self) -> dict[str, Any]:
        """Return the plan and the history of the set: the document of ``tabwb rate show``."""
        return self._done(ShowSet)

    def status(self) -> dict[str, Any]:
        """Return the progress of each rater: the document of ``tabwb rate status``."""
        return self._done(StatusOfSet)

    def links(self) -> dict[str, Any]:
        """Return the links of the set, never their keys: ``tabwb rate link list``."""
        return self._done(ListLinks)

    def make_links(
        self, raters: Names = (), *, expires: str = "14d", url: str | None = None
    ) -> dict[str, Any]:
        """Make a secret link for each rater, which revokes an older one: ``tabwb rate link make``.

        Args:
            raters: only these; default: every rater of the set.
            expires: after this time (``"12h"``, ``"14d"``), or at the end of a day.
            url: where raters reach ``tabwb serve``; None: this computer, port 8017.

        Returns:
            The document with the links, which cannot be had again.

        Raises:
            UsageError: the set is closed or has recordings, or the study is open for reading.
            NoConsent: a speaker does not agree to be rated elsewhere.
        """
        return self._done(MakeLinks, {"raters": raters, "expires": expires, "url": url})

    def revoke_links(self, raters: Names = ()) -> dict[str, Any]:
        """Revoke links: ``tabwb rate link revoke``.

        Args:
            raters: only of these; default: of every rater.

        Raises:
            UsageError: the study is open for reading.
        """
        return self._done(RevokeLinks, {"raters": raters})

    def _done(
        self, kind: type[Operation], values: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        return done(self._study, kind, {"reference": self._number, **(values or {})})
