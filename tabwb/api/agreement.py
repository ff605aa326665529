"""How far raters agree, from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from tabwb.api.engine import opened_plugins

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tabwb.agreement.verdicts import Ties
    from tabwb.analysis.agreement import Agreement as Found
    from tabwb.analysis.agreement import CannotTell
    from tabwb.battery.forms import Form
    from tabwb.store.store import Store
    from tabwb.tables.table import Table


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

    def figure(self, *, width: str | float = "single", caption: bool = True) -> Figure:
        """Return kappa and AC1 by feature as a figure for a paper.

        Args:
            width: ``single`` (90 mm), ``one-and-half`` (140 mm), ``double`` (190 mm), or
                millimetres.
            caption: :func:`save_figure` writes what its numbers are beside the file.

        Raises:
            MissingExtra: matplotlib is not installed.
            UsageError: no two raters rated the same samples on a feature.
        """
        from tabwb.media.figures import drawn
        from tabwb.media.figures.groups import agreement_table

        return drawn("agreement", agreement_table(self._found), width=width, caption=caption)


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
