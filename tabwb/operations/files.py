"""Results in files: exports of responses, reports, figures."""

from __future__ import annotations

import shlex
import textwrap
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from tabwb.analysis.keys import Sort
from tabwb.operations.operation import (
    EVERYTHING,
    IDS,
    WHERE,
    Arg,
    Ids,
    Operation,
    Progress,
    Told,
    Tools,
    check_chosen,
    values_of,
    words_of,
)
from tabwb.records.errors import Interrupted, TabwbError, UsageError
from tabwb.records.files import is_stdout
from tabwb.records.ratings import calibrated_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tabwb.analysis.selection import Selection
    from tabwb.host.plugins import Plugins
    from tabwb.media.studied import Studied

MANY = 5_000
"""Responses that take long enough to write for their progress to be told."""
STEP_S = 0.05
"""Seconds between two of its steps."""
ADMINISTRATIONS = replace(IDS, metavar="[ADMINISTRATIONS]...")
OUT = "The file; '-' for standard output."
FORCE = Arg("Overwrite existing files.", "Existing file", words=("kept", "replaced"))
WITHIN_STUDY = Arg(
    "The file stays within the study that collected the data; otherwise speakers must have agreed "
    "to 'share'.",
    "Read by", words=("may be anybody", "of this study"),
)  # fmt: skip
STUDY_IDS = Arg(
    "Print the study IDs of participants; otherwise they are counted and numbered.",
    "Participants", words=("numbered", "study IDs"),
)  # fmt: skip
PRIMARY = Arg(
    "If several people rated a response, the ratings of RATER count, or those of a rule: majority, "
    "consensus, adjudicated (default: [study] in tabwb.toml, else the first rater).",
    "Counts", "--primary --counts", metavar="RATER|RULE", blank="as the study says", short=True,
)  # fmt: skip
BY = Arg(
    "Group by keys, such as model,temperature, and pool the responses of each group. Different "
    "conditions (protocol, decoding, option order) are never pooled. An unknown key lists all "
    "keys.",
    "Groups", metavar="KEY[,KEY...]", names=True, blank="each, or by model", short=True,
)  # fmt: skip
TOGETHER = Arg("Pool over different conditions, such as option-order.", metavar="KEY[,KEY...]",
               names=True)  # fmt: skip
WHERE_DATA = Arg(
    "Only data with this value. Also KEY=A,B, KEY!=VALUE, KEY<NUMBER, KEY>NUMBER.",
    metavar="KEY=VALUE", pairs=True,
)  # fmt: skip
JUDGE = Arg("Show only the burdens of this judge.", "Judge", metavar="RATER", blank="all",
            short=True)  # fmt: skip
FEATURES = Arg("Show only these features in tables of features.", flag="--feature", metavar="ID",
               names=True)  # fmt: skip
SUBTESTS = Arg("Only responses to this.", flag="--subtest", metavar="ID", names=True)
ITEMS = Arg("Only responses to this.", flag="--item", metavar="ID", names=True)
LIMIT = Arg("Number of rows or groups.", metavar="N", low=1)
SORT = Arg(
    "Order of groups: name and keys (the values of --by) ascending, others from high to low (by "
    "model: burden).",
    "Order",
)
SELECTING = ("by", "together", "where", "judge", "features", "subtests", "items", "limit")
"""The values that choose and group results."""


@dataclass(frozen=True, kw_only=True)
class ExportResults(Operation):
    """Write ADMINISTRATIONS (numbers or uids) to a file; or --all, or those --where.

    jsonl has one line per counted response and can be read by the model replay:FILE.
    """

    NAME, TITLE, DOING, TOLD = "export", "Write", "Export", "response"
    LOGS: ClassVar[bool] = True
    SAFE: ClassVar[str] = "the file is not written"
    WHAT, NAMED_BY = "responses", "format"
    ids: Annotated[Ids, ADMINISTRATIONS] = ()
    everything: Annotated[bool, EVERYTHING] = False
    where: Annotated[tuple[str, ...], WHERE] = ()
    format: Annotated[
        str,
        Arg("jsonl, csv, parquet, inspect, lm-eval, or one of a plugin: see 'tabwb plugins list'.",
            "Format", metavar="F", kind="exporters"),
    ] = "jsonl"  # fmt: skip
    out: Annotated[Path, Arg(OUT, "File", kind="new")]
    wide: Annotated[
        bool,
        Arg("One row for each response, one column for each measure (parquet).", "Rows",
            words=("ratings", "responses"), only=("format", "parquet")),
    ] = False  # fmt: skip
    partition_by: Annotated[
        str,
        Arg("Write a folder with a file for each value of these columns (parquet).", "Files for",
            metavar="COLUMN[,COLUMN...]", names=True, blank="one file", short=True,
            only=("format", "parquet")),
    ] = ""  # fmt: skip
    option: Annotated[
        tuple[str, ...],
        Arg("An option of a plugin's format, as in --format F@NAME=VALUE.", "Options",
            metavar="NAME=VALUE", pairs=True, blank="NAME=VALUE ...", only=("format", "@")),
    ] = ()  # fmt: skip
    force: Annotated[bool, replace(FORCE, help="Overwrite an existing file.")] = False
    judge: Annotated[
        str,
        Arg("Add a calibrated judge: for each verdict of JUDGE the probability that people find "
            "the feature.", "Add", metavar="calibrated:JUDGE", blank="no calibrated judge"),
    ] = ""  # fmt: skip
    within_study: Annotated[bool, WITHIN_STUDY] = False
    primary: Annotated[str, PRIMARY] = ""

    @property
    def about(self) -> str:
        """The file."""
        return self.out.name

    @property
    def to_stdout(self) -> bool:
        """Whether the file is ``-``."""
        return is_stdout(self.out)

    @property
    def _spec(self) -> str:
        from tabwb.media.documents.exporting import with_options

        return with_options(
            self.format, _options(self.option), wide=self.wide, partition_by=self.partition_by
        )

    @classmethod
    def remark(cls, chosen: str, plugins: Plugins) -> str:
        """Return the options of a format that have no field of their own."""
        own = {value.name for value in values_of(cls)}
        options = plugins.options_of("exporters", chosen).items()
        lines = (f"{name}=...: {words}" for name, words in options if name not in own)
        return "\n".join(lines) or cls.NOTE

    def check(self, plugins: Plugins) -> None:
        """Check the format."""
        check_chosen(self.ids, self.where, everything=self.everything)
        try:
            plugins.exporter(self._spec)
        except UsageError as error:
            if self.wide or self.partition_by:
                error.hint = error.hint or "--wide and --partition-by are for --format parquet"
            raise

    def run(self, tools: Tools) -> Progress:
        """Write the file, or nothing."""
        from tabwb.analysis.selection import matching
        from tabwb.media.documents.exporting import export

        place = destination(tools, self.out, force=self.force)
        told_at = 0.0

        def progress(done: int, planned: int) -> None:
            nonlocal told_at
            if tools.cancel.is_set():
                raise Interrupted("stopped: nothing was written")
            if planned >= MANY and time.monotonic() - told_at > STEP_S:
                told_at = time.monotonic()
                tools.tell(Told("", done, planned, done))

        chosen = matching(tools.store, self.ids, self.where) if self.where else self.ids
        ask_to_log(tools, chosen, "an export")
        permit = export(
            tools.store, tools.plugins, chosen, self._spec, place,
            within_study=self.within_study, primary=self.primary, judge=self.judge,
            progress=progress,
        )  # fmt: skip
        if permit.notice:
            tools.warn(permit.notice)
        tell_written(tools, place)
        return iter(())


@dataclass(frozen=True, kw_only=True)
class WriteReport(Operation):
    """Write a report on ADMINISTRATIONS (numbers or uids); without any, on all of the store.

    Grouped as --by says; without it each administration that is named is a group, and without names
    each model.

    A report has the methods in sentences with references, the table for a paper, figures, tables of
    every measure with intervals, cautions, the meaning of each column, and the commands that give
    the batteries again.
    """

    NAME, TITLE, WHAT = "report", "Write", "a report or a table"
    LOGS: ClassVar[bool] = True
    NOTE: ClassVar[str] = (
        "The file's name says what is written: .html or .md a report, .tex the table for a paper, "
        ".csv every value of the results."
    )
    ids: Annotated[Ids, ADMINISTRATIONS] = ()
    by: Annotated[str, BY] = ""
    together: Annotated[str, TOGETHER] = ""
    where: Annotated[tuple[str, ...], WHERE_DATA] = ()
    judge: Annotated[str | None, JUDGE] = None
    features: Annotated[tuple[str, ...], FEATURES] = ()
    subtests: Annotated[tuple[str, ...], SUBTESTS] = ()
    items: Annotated[tuple[str, ...], ITEMS] = ()
    limit: Annotated[int | None, LIMIT] = None
    out: Annotated[
        Path | None,
        Arg("The report: FILE.html, one file with everything in it, or FILE.md. Or FILE.tex, the "
            "table for a paper, or FILE.csv, every value of the results. '-' for HTML on standard "
            "output.", "File", metavar="FILE", kind="new"),
    ] = None  # fmt: skip
    methods: Annotated[bool, Arg("Print the methods and the references as text instead.")] = False
    bib: Annotated[
        Path | None,
        Arg("Write the references as BibTeX to FILE.", "References", metavar="FILE", kind="new",
            blank="no BibTeX file"),
    ] = None  # fmt: skip
    title: Annotated[
        str, Arg("The title of the report.", "Title", metavar="TEXT", blank="the battery's")
    ] = ""
    responses: Annotated[
        int,
        Arg("Show the first N responses of each group with what raters gave to them.", "Responses",
            metavar="N", low=0, high=100),
    ] = 0  # fmt: skip
    study_ids: Annotated[bool, STUDY_IDS] = False
    force: Annotated[bool, FORCE] = False
    within_study: Annotated[bool, WITHIN_STUDY] = False
    primary: Annotated[str, PRIMARY] = ""

    @property
    def about(self) -> str:
        """The file."""
        return (self.out or self.bib or Path("methods")).name

    @property
    def to_stdout(self) -> bool:
        """Whether the file is ``-``."""
        return self.out is not None and is_stdout(self.out)

    def check(self, plugins: Plugins) -> None:
        """Check the files."""
        if self.out is None and self.bib is None and not self.methods:
            raise UsageError(
                "a report needs a file", where="out",
                hint="tabwb report --by model --out report.html, or --methods",
            )  # fmt: skip
        if self.out is None and self.responses:
            raise UsageError("this needs a report", where="responses",
                             hint="name its file, for example report.html")  # fmt: skip
        if self.out is not None and not self.to_stdout:
            from tabwb.media.report import check_ending

            check_ending(self.out)
        if self.bib is not None and is_stdout(self.bib):
            raise UsageError("this needs a file", where="bib",
                             hint="tabwb report --methods --json has BibTeX too")  # fmt: skip
        if self.methods and self.to_stdout:
            raise UsageError("the methods and the file '-' both write to standard output")

    def do(self, tools: Tools) -> None:
        """Write the files, and tell the methods."""
        from tabwb.analysis.selection import selected_groups
        from tabwb.host.writing import write_bytes
        from tabwb.media.methods import methods_about, with_rating_sets
        from tabwb.media.studied import studied

        places = {
            file: destination(tools, file, force=self.force)
            for file in (self.out, self.bib)
            if file
        }
        for line in tools.plugins.unused("statistics"):
            tools.warn(line)
        choice = chosen_by(self, tools.plugins, "administration" if self.ids else "model")
        statistics = tools.plugins.statistics()
        rows = selected_groups(tools.store, self.ids, choice, statistics=statistics)
        if not rows:
            raise TabwbError(
                "there are no administrations to report", where=tools.store.location,
                hint="start one with: tabwb run tab --model bundled",
            )  # fmt: skip
        about = studied(rows, study_ids=self.study_ids)
        if self.out is not None:
            self._write(tools, about, places[self.out])
        told = methods_about(with_rating_sets(about, tools.store))
        if self.methods:
            tools.document |= told.to_json()
        if self.bib is not None:
            write_bytes(places[self.bib], told.bibtex.encode())
            tell_written(tools, places[self.bib])

    def _write(self, tools: Tools, about: Studied, place: Path) -> None:
        from tabwb.media.report import write_report

        ask_to_log(tools, [member.administration.id for member in about.members], "a report")
        permit = write_report(
            tools.store, tools.plugins, about, place,
            title=self.title, n_responses=self.responses, within_study=self.within_study,
            command=about.unless_named(self._command),
        )  # fmt: skip
        if permit.notice:
            tools.warn(permit.notice)
        tell_written(tools, place)

    @property
    def _command(self) -> str:
        """The command that makes the report; files are named without their folders."""
        from tabwb.analysis.file_names import without_folders

        assert self.out is not None
        given = words_of(self, (*SELECTING, "title", "responses", "study_ids", "primary"))
        words = map(without_folders, (*map(str, self.ids), *given))
        place = "-" if self.to_stdout else self.out.name
        return shlex.join(["tabwb", "report", *words, "--out", place])

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the methods and the references."""
        if "paragraphs" in document:
            from tabwb.media.methods import text_of

            yield text_of(document).removesuffix("\n")


@dataclass(frozen=True, kw_only=True)
class DrawFigure(Operation):
    """Draw figure NAME of ADMINISTRATIONS (numbers or uids); without any, of all models.

    Grouped as --by says; without it each administration that is named is a group, and without names
    each model.
    """

    NAME, TITLE, WHAT, NAMED_BY = "figure", "Write", "a figure", "name"
    LOGS: ClassVar[bool] = True
    name: Annotated[
        str | None,
        Arg("The name of the figure.", "Figure", metavar="[NAME]", positional=True,
            kind="figures"),
    ] = None  # fmt: skip
    ids: Annotated[Ids, ADMINISTRATIONS] = ()
    listing: Annotated[bool, Arg("List the figures and their options.", flag="--list")] = False
    out: Annotated[
        Path | None,
        Arg("The file: .pdf, .svg or .png.", "File", metavar="FILE", kind="new"),
    ] = None
    by: Annotated[str, BY] = ""
    together: Annotated[str, TOGETHER] = ""
    where: Annotated[tuple[str, ...], WHERE_DATA] = ()
    judge: Annotated[str | None, JUDGE] = None
    features: Annotated[tuple[str, ...], FEATURES] = ()
    subtests: Annotated[tuple[str, ...], SUBTESTS] = ()
    items: Annotated[tuple[str, ...], ITEMS] = ()
    limit: Annotated[int | None, LIMIT] = None
    sort: Annotated[Sort | None, SORT] = None
    option: Annotated[
        tuple[str, ...],
        Arg("An option of the figure; --list shows them.", "Options", metavar="NAME=VALUE",
            pairs=True, blank="NAME=VALUE ..."),
    ] = ()  # fmt: skip
    width: Annotated[
        str,
        Arg("single (90 mm), one-and-half (140 mm), double (190 mm), or millimetres.", "Width",
            metavar="WIDTH", short=True),
    ] = "single"  # fmt: skip
    caption: Annotated[
        bool,
        Arg("Write the caption to FILE.README.txt. The metadata always has it.", "Caption",
            words=("in the metadata", "in a file too")),
    ] = True  # fmt: skip
    footer: Annotated[
        bool,
        Arg("Write below the figure that it is for research only.", "Footer",
            words=("none", "research only")),
    ] = False  # fmt: skip
    dpi: Annotated[int, Arg("Dots per inch of a PNG.", "Dots per inch", low=50, high=1200)] = 300
    data: Annotated[
        Path | None,
        Arg("Also write the numbers drawn, as CSV.", "Numbers", metavar="FILE", kind="new",
            blank="no CSV file"),
    ] = None  # fmt: skip
    study_ids: Annotated[bool, STUDY_IDS] = False
    force: Annotated[bool, FORCE] = False
    within_study: Annotated[bool, WITHIN_STUDY] = False
    primary: Annotated[str, PRIMARY] = ""

    @property
    def about(self) -> str:
        """The file."""
        return "" if self.out is None else self.out.name

    @classmethod
    def remark(cls, chosen: str, plugins: Plugins) -> str:
        """Return the options of a figure."""
        from tabwb.media.figures import figure_kind

        options = (
            f"{one.name}={' or '.join(filter(None, one.allowed)) or '...'}: {one.meaning}"
            for one in (figure_kind(chosen).options if chosen else ())
        )
        return "\n".join(options) or "This figure has no options."

    def check(self, plugins: Plugins) -> None:
        """Check that it is known what is drawn, and where to."""
        if self.listing:
            return
        if self.name is None:
            raise UsageError("which figure?", where="name", hint="tabwb figure --list")
        if self.out is None:
            hint = f"tabwb figure {self.name} --out {self.name}.pdf"
            raise UsageError("a file is needed", where="out", hint=hint)
        _options(self.option)

    def do(self, tools: Tools) -> None:
        """Write the figure, or list what can be drawn."""
        from tabwb.media.figures import FIGURES, figure_kind
        from tabwb.media.figures.files import FigureRequest, write_figure

        if self.listing:
            tools.document["figures"] = [_described(figure_kind(name)) for name in FIGURES]
            return
        assert self.name is not None and self.out is not None
        by = "administration" if self.ids else figure_kind(self.name).by
        given = words_of(self, (*SELECTING, "sort", "option", "width", "primary", "study_ids"))
        wanted = FigureRequest(
            self.name, destination(tools, self.out, force=self.force),
            data=None if self.data is None else destination(tools, self.data, force=self.force),
            width=self.width, caption=self.caption, footer=self.footer, dpi=self.dpi,
            options=_options(self.option), words=list(map(shlex.quote, given)),
            study_ids=self.study_ids, within_study=self.within_study, writing=tools.writing,
        )  # fmt: skip
        choice = chosen_by(self, tools.plugins, by)
        written = write_figure(tools.store, tools.plugins, self.ids, choice, wanted)
        for notice in written.notices:
            tools.warn(notice)
        for file in written.files:
            tell_written(tools, file)

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the figures with their options."""
        for kind in document.get("figures", ()):
            yield f"{kind['id']}: {kind['title']}"
            for words in (kind["shows"], f"Needs: {kind['data']}"):
                yield _indented(words)
            for option in kind["options"]:
                values = ", ".join(filter(None, option["allowed"]))
                allowed = f" ({values})" if values else ""
                default = f"; default {option['default']}" if option["default"] else ""
                words = f"--option {option['name']}=...: {option['meaning']}{allowed}{default}"
                yield _indented(words)
            yield ""


def chosen_by(operation: WriteReport | DrawFigure, plugins: Plugins, by: str) -> Selection:
    """Return the selection that values ask for; ``by``: where they name no keys."""
    from tabwb.analysis.selection import Selection

    given = {name: getattr(operation, name) for name in SELECTING}
    sort = getattr(operation, "sort", None)
    choice = Selection.of(**{**given, "by": operation.by or by, "sort": sort})
    return resolved_selection(choice, plugins, operation.primary)


def resolved_selection(choice: Selection, plugins: Plugins, primary: str) -> Selection:
    """Return a selection with the judge's stored name, and the rater whose scores count."""
    judge = choice.judge
    if judge is not None:
        with suppress(TabwbError):  # not installed here: the name under which it rated
            prefix, spec = calibrated_parts(judge)
            judge = f"{prefix}{plugins.resolve('judges', spec)[1]}"
    counting = plugins.configuration.study.counting_rater(primary)
    return replace(choice, judge=judge, primary=counting)


def destination(tools: Tools, out: Path, *, force: bool, stdout: bool = True) -> Path:
    """Return where a file is written, before anything is read."""
    from tabwb.media.destination import check_destination

    if is_stdout(out):
        if not (stdout and tools.stdout):
            raise UsageError("a file is needed", where="out")
        return out
    remedy = f"choose another name, or use {tools.called('force')}"
    return check_destination(out, force=force, remedy=remedy)


def tell_written(tools: Tools, place: Path) -> None:
    """Say which file was written."""
    tools.document.setdefault("written", []).append(str(place))
    if not is_stdout(place):
        tools.say(f"{place} written")


def ask_to_log(tools: Tools, references: Sequence[int | str], what: str) -> None:
    """Say that the store will be written, where people's data leave it."""
    from tabwb.analysis.administrations import chosen_administrations

    given = chosen_administrations(tools.store, references)
    if any(one.conditions.guarded for one in given):
        tools.writing(f"{what} of people's data is logged in the store")


def _options(texts: Sequence[str]) -> dict[str, str]:
    options = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise UsageError(f"'{text}' is not NAME=VALUE", where="option")
        options[name] = value
    return options


def _described(kind: Any) -> dict[str, Any]:
    return {
        **{name: getattr(kind, name) for name in ("id", "title", "shows", "data", "by")},
        "options": [
            {
                "name": option.name, "meaning": option.meaning, "default": option.default,
                "allowed": list(option.allowed),
            }
            for option in kind.options
        ],
    }  # fmt: skip


def _indented(words: str) -> str:
    indent = " " * 4
    return textwrap.fill(
        words, 88, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
