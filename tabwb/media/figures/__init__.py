"""Figures for papers, drawn by matplotlib, which is imported when one is made.

:func:`make` returns a figure of groups, :func:`save` writes it, :func:`figure_kind` declares it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tabwb.analysis.file_names import file_names, named
from tabwb.analysis.grouping import specs_of
from tabwb.analysis.names import judge_names
from tabwb.media.figures.kind import CELLS, FigureKind
from tabwb.media.figures.style import width_mm
from tabwb.records.errors import UsageError
from tabwb.records.system import need
from tabwb.records.words import RESEARCH_ONLY, near, visible
from tabwb.tables.table import Series, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tabwb.analysis.grouping import Grouped
    from tabwb.media.figures.sheet import PaperFigure

_PLACES = {
    **dict.fromkeys(("burden", "accuracy", "items", "profile", "differences"), "groups"),
    **{"dose": "amounts", "agreement": "groups", "latency": "groups"},
    **dict.fromkeys(("change", "confusion", "map"), "amounts"),
    "calibration": "groups",
}
FIGURES: Final = tuple(name for name in _PLACES if name != "calibration")
"""The ids of figures of groups; each is declared in the module of its place. ``calibration`` is of
ratings: ``tabwb agreement --figure FILE --draw calibration``."""
FORMATS: Final = ("pdf", "svg", "png")
MOST_GROUPS: Final = 40
"""Groups that a figure with a row for each can show."""
MISSING_LETTERS: Final = "Letters that the font DejaVu Sans lacks are drawn as boxes."


class TooManyGroups(UsageError):
    """More groups than a figure has rows for."""


def figure_kind(name: str) -> FigureKind:
    """Return the declaration of a figure."""
    if name not in _PLACES:
        meant = near(name, FIGURES)
        raise UsageError(
            f"there is no figure '{name}'",
            allowed=", ".join(FIGURES),
            hint=f"did you mean '{meant}'?" if meant else "tabwb figure --list",
        )
    module = import_module(f"tabwb.media.figures.{_PLACES[name]}")
    kind: FigureKind = getattr(module, f"{name.upper()}_FIGURE")
    return kind


def figure_table(name: str, groups: Sequence[Grouped], **options: str) -> Table:
    """Return the numbers that a figure draws, files without folders and judges by short names.

    The column ``rater`` keeps the specs of judges. Control characters are shown as escapes.
    """
    kind = figure_kind(name)
    chosen = kind.checked(options)
    if not groups:
        raise UsageError(
            "there are no administrations to draw", hint="tabwb run BATTERY --model SPEC"
        )
    table = kind.table(groups, chosen)
    n = len({*table["group"].to_list()} - {None}) if "group" in table.names else 0
    if n > MOST_GROUPS:
        raise TooManyGroups(
            f"{n} groups are more than a figure can show",
            allowed=f"{MOST_GROUPS} or fewer",
            hint=f"choose some: --where KEY=VALUE, --limit {MOST_GROUPS}, fewer keys in --by; of "
            "amounts of a lesion: tabwb figure dose",
        )
    names = file_names(specs_of(groups))
    raters = (judge.terms.rater for group in groups for judge in group.results.judges)
    short = names | {rater: own for rater, own in judge_names(raters).items() if own != rater}

    def plain(text: str, column: str = "") -> str:
        own = names if column == "rater" else short
        return visible(named(text, own)).replace("\n", " ").replace("\t", " ")

    series = {}
    for column in table.names:
        given = table[column]
        if given.labels is not None:
            labels = [plain(one, column) if isinstance(one, str) else one for one in given.labels]
            given = Series(given.values, labels, given.missing)  # type: ignore[arg-type]
        series[column] = given
    return Table(table.name, table.columns, series, list(map(plain, table.notes)))


def make(
    name: str,
    groups: Sequence[Grouped],
    *,
    width: str | float = "single",
    caption: bool = True,
    footer: bool = False,
    command: str = "",
    **options: str,
) -> PaperFigure:
    """Return a figure of groups; :func:`save` writes its caption beside it."""
    need("matplotlib", "a figure", "figures")
    width_mm(width)
    table = figure_table(name, groups, **options)
    uids = (member.administration.uid for group in groups for member in group.group.members)
    return drawn(
        name,
        table,
        width=width,
        caption=caption,
        footer=footer,
        command=named(command, file_names(specs_of(groups))),
        uids=tuple(dict.fromkeys(uids)),
        **options,
    )


def drawn(
    name: str,
    table: Table,
    *,
    width: str | float = "single",
    caption: bool = True,
    footer: bool = False,
    command: str = "",
    uids: tuple[str, ...] = (),
    **options: str,
) -> PaperFigure:
    """Return a figure of a table that its kind has made."""
    need("matplotlib", "a figure", "figures")
    from tabwb.media.figures.drawers import draw
    from tabwb.media.figures.sheet import Facts, Sheet, fixed_style, lacks_letters

    kind = figure_kind(name)
    chosen = kind.checked(options)
    with fixed_style():
        sheet = Sheet(width_mm(width) / 25.4)
        draw(sheet, kind, [dict.fromkeys(CELLS) | row for row in table.to_dicts()], chosen)
        sheet.finish(footer=RESEARCH_ONLY if footer else "")
    missing = (MISSING_LETTERS,) if lacks_letters(sheet.figure) else ()
    notes = (*table.notes, *sheet.notes, *missing)
    sheet.figure.facts = Facts(name, kind.title, table, notes, command, uids, captioned=caption)
    return sheet.figure


def format_of(out: Path) -> str:
    """Return the format that a file's name asks for.

    >>> format_of(Path("burden.PDF"))
    'pdf'
    """
    ending = out.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise UsageError(
            f"'{out.name}' does not end in the name of a format of figures",
            allowed=", ".join(f".{name}" for name in FORMATS),
        )
    return ending


def save(figure: Figure, path: str | Path, *, dpi: float = 300.0, force: bool = False) -> Path:
    """Write a figure and return its file: the same bytes each time, fonts embedded.

    Its caption is written to ``FILE.README.txt``. Consent is not asked for: ``tabwb figure`` does
    that for people's data.
    """
    from tabwb.host.writing import write_bytes, write_with
    from tabwb.media.destination import check_destination
    from tabwb.media.figures.sheet import figure_bytes

    format_id = format_of(Path(path))
    place = check_destination(Path(path), force=force)
    content = figure_bytes(figure, format_id, dpi=dpi)
    facts = getattr(figure, "facts", None)
    if facts is not None and facts.captioned:
        caption = (RESEARCH_ONLY, f"{facts.title}.", " ".join(facts.notes))
        write_with(place, lambda draft: draft.write_bytes(content), caption)
    else:
        write_bytes(place, content)
    return place
