"""Rating sets from Python: what is rated, ratings given by a program, how far raters agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from tabwb.api.engine import Names, done, opened_plugins
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
    from matplotlib.figure import Figure

    from tabwb.agreement.verdicts import Ties
    from tabwb.analysis.agreement import Agreement as Found
    from tabwb.analysis.agreement import CannotTell
    from tabwb.api.study import Study
    from tabwb.battery.forms import Form
    from tabwb.host.plugins import Plugins
    from tabwb.operations.operation import Operation
    from tabwb.records.rating_sets import Answer, Purpose
    from tabwb.records.rating_sets import RatingSet as Record
    from tabwb.store.store import Store
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


class Computed(TypedDict, total=False):
    """How agreement is computed; see :func:`rater_agreement`."""

    judges: Iterable[str]
    kinds: Mapping[str, str]
    ties: Ties
    cannot_tell: CannotTell
    draws: int | None
    seed: int


class Agreement:
    """The agreement of raters, as ``tabwb agreement`` shows it.

    Args:
        found: the engine's.
    """

    def __init__(self, found: Found) -> None:
        self._found = found

    def __repr__(self) -> str:
        rated = self._found.rated
        return (
            f"<Agreement of {rated.source}: {len(rated.samples)} samples, "
            f"{len(rated.people)} people, {len(rated.judges)} judges>"
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Every table by name; the properties are those that are asked for most."""
        return self._found.tables

    @property
    def features(self) -> Table:
        """A row for each feature of each comparison: people, judges, a rater and the others."""
        return self.tables["agreement"]

    @property
    def summary(self) -> Table:
        """Table 1 of the TAB paper: means over features of each comparison, with their numbers.

        The mean ``pooled`` is one kappa over all decisions.
        """
        return self.tables["means"]

    @property
    def pairs(self) -> Table:
        """A row for each pair of people; of raters, with fewer than two people."""
        return self.tables["pairs"].where(design="main")

    @property
    def calibration(self) -> Table:
        """Sensitivity and specificity of each judge against the consensus."""
        return self.tables["calibration"]

    @property
    def error_rates(self) -> Table:
        """Error rates of every rater without a known truth (Dawid and Skene 1979)."""
        return self.tables["error-rates"]

    def to_dict(self) -> dict[str, Any]:
        """Return the document that ``tabwb agreement --json`` prints (``format: 1``)."""
        from tabwb.media.views.agreement import agreement_document

        return agreement_document(self._found)

    def figure(
        self,
        *,
        of: Literal["agreement", "calibration"] = "agreement",
        width: str | float = "single",
        caption: bool = True,
    ) -> Figure:
        """Return a figure for a paper.

        Args:
            of: ``agreement``: kappa and AC1 by feature; ``calibration``: sensitivity and
                specificity of each judge by feature.
            width: ``single`` (90 mm), ``one-and-half`` (140 mm), ``double`` (190 mm), or
                millimetres.
            caption: :func:`save_figure` writes what its numbers are beside the file.

        Raises:
            MissingExtra: matplotlib is not installed.
            UsageError: no two raters, or no judge and person, rated the same samples on a feature.
        """
        from tabwb.media.figures import drawn
        from tabwb.media.figures.groups import agreement_table, calibration_table

        table = (calibration_table if of == "calibration" else agreement_table)(self._found)
        return drawn(of, table, width=width, caption=caption)


def rater_agreement(ratings: str | PathLike[str], **options: Unpack[Computed]) -> Agreement:
    """Return how far the raters of a table agree; of a store: :meth:`tabwb.Study.agreement`.

    Args:
        ratings: a file with the columns response, rater, measure and value; speaker and occasion
            are used too.
        options: ``judges``: raters who are not people. ``kinds``: measure to ``present-absent``,
            ``scale``, ``choice``, ``phonemes`` or ``text``, where its values do not tell.
            ``ties`` of the consensus: ``drop``, ``positive``, ``negative`` or ``adjudicated``.
            ``cannot_tell``: ``missing`` or ``absent``. ``draws`` and ``seed`` of the intervals.

    Raises:
        TabwbError: the file cannot be read, or a row is not valid.
        UsageError: there is one rater only, or an option has an unknown value.
    """
    from tabwb.analysis.stored_ratings import is_table
    from tabwb.records.errors import UsageError

    if not is_table(path := fspath(ratings)):
        raise UsageError(
            f"'{path}' is not a table of ratings",
            allowed="a file that ends in .csv, .tsv, .tab or .txt",
            hint="of a store: tabwb.open().agreement(...)",
        )
    return made([path], None, **options)


def made(
    names: Iterable[int | str],
    opened: Callable[[], AbstractContextManager[Store]] | None,
    **options: Unpack[Computed],
) -> Agreement:
    """Return the agreement of what names mean.

    Args:
        names: a table, a rating set, or administrations.
        opened: opens the store; None: names mean a table.
        options: of :func:`rater_agreement`.
    """
    from tabwb.analysis.agreement import Choices, agreement_of
    from tabwb.analysis.stored_ratings import rated_of
    from tabwb.host.forms import open_form

    def form_of(name: str) -> Form:
        with opened_plugins() as plugins:
            return open_form(name, plugins.find_battery)

    given: dict[str, Any] = {**options}
    judges, kinds = tuple(given.pop("judges", ())), given.pop("kinds", None)
    rated = rated_of(list(names), opened, form_of, judges=judges, kinds=kinds)
    return Agreement(agreement_of(rated, Choices(**given)))
