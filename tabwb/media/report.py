"""A report: methods, tables, figures, cautions and what the columns mean, in HTML or Markdown.

An HTML report is one file that needs nothing else: no script, no font, no address. Jinja2 escapes
every text, and control characters are shown as escapes, so that no response, name or battery acts
as markup. The page's own policy forbids scripts and addresses. Figures are images inside the file:
a browser runs no script in them, and their identifiers do not meet.
"""

from __future__ import annotations

import platform
import shlex
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import tabwb
from tabwb.administer.consent import Permit, check_export, logged
from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.cautions import group_cautions
from tabwb.analysis.change import change_table, sessions_table
from tabwb.analysis.contrast import pairs_of
from tabwb.analysis.file_names import without_folders
from tabwb.analysis.grouping import Grouped, grouped, summarised
from tabwb.analysis.tables.captioned import Captioned, Footnote
from tabwb.analysis.tables.positions import has_orders
from tabwb.analysis.tables.results import results_table
from tabwb.host.writing import write_bytes
from tabwb.media.documents.contrasts import pairs_table
from tabwb.media.figures.files import Pictured, pictured
from tabwb.media.methods import Methods, methods_about, with_rating_sets
from tabwb.media.paper import (
    Presented,
    compact_of,
    latex,
    markdown,
    markdown_text,
    presented,
    table_csv,
)
from tabwb.media.result_sentences import result_sentences
from tabwb.media.studied import Followed, Studied, followed, is_persons
from tabwb.media.views.results import SECTIONS, Groups, said_tables
from tabwb.media.views.tables import named_table, shown_columns, view_of
from tabwb.records import declared_conditions as declared
from tabwb.records.columns import Column
from tabwb.records.conditions import FUNCTION, Conditions
from tabwb.records.declared_conditions import Components, Condition, Switch
from tabwb.records.errors import UsageError
from tabwb.records.files import is_stdout, write_stdout
from tabwb.records.ratings import Declaration, verdicts_of
from tabwb.records.states import RatingStatus
from tabwb.records.trials import Trial
from tabwb.records.words import RESEARCH_ONLY, visible

if TYPE_CHECKING:
    from tabwb.host.plugins import Plugins
    from tabwb.store.store import Store

TITLES = (
    "Results", "What was said", "Change between sessions", "Burden", "Features", "Accuracy",
    "Measures", "Naming", "Norms", "Positions", "Errors", "Base and instruct", "Responses",
    "Statistics",
)  # fmt: skip
"""The sections, the table for a paper first; those without a table are left out."""
MOST_ROWS = 40
"""Rows of a table that are not folded."""
MOST_OPEN = 2
"""Tables of a section among the first three that are not folded."""
FOLDS = (24, 32, 40, 52, 64)
"""Widths in rem, the last one that of the page: a wider table has its rows in lines."""
REM_OF_LETTER, REM_OF_COLUMN = 0.46, 1.2
"""The mean width of a letter in a table, and the space around the cells of a column."""
BOLD = 1.2
"""How much wider letters of headings are."""
ENDINGS = (".html", ".htm", ".md", ".tex", ".csv")
"""Ends of names of files: a report, without figures in Markdown; the table for a paper in LaTeX;
every value of the results in CSV."""


TrialsOf = Callable[[int], Iterable[Trial]]
"""Returns the trials of an administration, by its number."""


@dataclass(frozen=True, slots=True)
class Example:
    """One response, the status under which it counts, and a line for each rater."""

    group: str
    subtest: str
    item: str
    prompt: str
    response: str
    status: str
    verdicts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Tables under a heading."""

    title: str
    tables: tuple[Presented, ...]

    @property
    def id(self) -> str:
        """The name of the section in addresses."""
        return self.title.lower().replace(" ", "-")

    @property
    def is_folded(self) -> bool:
        """Whether a reader opens it; what is folded is not printed."""
        return self.title not in TITLES[:3] or len(self.tables) > MOST_OPEN


@dataclass(frozen=True, slots=True)
class Report:
    """What a report shows; ``no_figures`` says why there are none.

    ``sentences`` say the results; ``lead`` is the figure below them, which is none of ``figures``;
    ``disclaimers`` begin with the sentence about research; ``dictionary`` has the columns of all
    tables; ``commands`` give the batteries again, the last one made the report.
    """

    title: str
    disclaimers: tuple[str, ...]
    sentences: tuple[str, ...]
    methods: Methods
    sections: tuple[Section, ...]
    lead: Pictured | None
    figures: tuple[Pictured, ...]
    no_figures: str
    cautions: tuple[str, ...]
    examples: tuple[Example, ...]
    dictionary: tuple[Column, ...]
    commands: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]


def report_of(
    about: Studied,
    *,
    title: str = "",
    command: str = "",
    examples: Sequence[Example] = (),
    figures: bool = True,
) -> Report:
    """Return the content of a report."""
    sections = {name: tables for name, tables in _sections(about).items() if tables}
    drawn, no_figures = pictured(about, command) if figures else ((), "None were asked for.")
    lead = next((figure for figure in drawn if figure.narrow), None)
    own = (battery.disclaimer for battery in about.batteries)
    disclaimers = tuple(dict.fromkeys(filter(None, (RESEARCH_ONLY, *own))))
    titles = ", ".join(f"{battery.title} {battery.version}" for battery in about.batteries)
    shown = (
        table.table.column(name) for table in chain(*sections.values()) for name in table.columns
    )
    parts = tuple(Section(name, tuple(map(presented, own))) for name, own in sections.items())
    told = {
        *disclaimers,
        *(
            note
            for part in parts
            if not part.is_folded
            for one in part.tables
            for note in one.notes
        ),
    }
    cautions = (caution for caution in group_cautions(about.rows) if caution not in told)
    return Report(
        title or f"{titles or 'tabwb'}: results",
        disclaimers,
        result_sentences(about),
        methods_about(about),
        parts,
        lead,
        tuple(figure for figure in drawn if figure is not lead),
        no_figures,
        tuple(dict.fromkeys(cautions)),
        tuple(examples),
        tuple({(column.name, column.meaning): column for column in shown}.values()),
        tuple(filter(None, (*run_commands(about), command))),
        tuple(_versions(with_figures=bool(drawn))),
    )


def _sections(about: Studied) -> dict[str, list[Captioned]]:
    names = about.group_names
    parts: dict[str, list[Captioned]] = {title: [] for title in TITLES}
    parts["Results"] += compact_of(about, disclaimers=False)
    for battery in about.batteries:
        rows = about.rows_of(battery)
        members = replace(about, rows=rows).members
        said = (("What was said", one) for one in said_tables(members, about.session))
        of = f"{battery.title}: " if len(about.batteries) > 1 else ""
        own = (
            (title, one) for title, made in SECTIONS.items() for one in made(Groups(rows, names))
        )
        for title, table in chain(own, said):
            parts[title].append(replace(table, caption=of + table.caption))
    for participant in followed(about):
        parts["Change between sessions"] += _changes(about, participant)
    parts["Norms"] += _norms(about)
    parts["Positions"] += _positions(about)
    parts["Base and instruct"] += _pairs(about)
    return parts


def _changes(about: Studied, found: Followed) -> Iterator[Captioned]:
    """Yield the right answers in each session of a participant, and the tests of change."""
    left = {"participant", "battery", "battery_version", "phase"}
    left |= set() if about.study_ids else {"date"}
    for table, what in (
        (sessions_table(found.change), "right answers in each session"),
        (change_table(found.change), "change between sessions"),
    ):
        caption = f"{found.name[:1].upper()}{found.name[1:]}, {found.battery.title}: {what}."
        shown = [name for name in shown_columns(table) if name not in left]
        yield Captioned(table.select(shown), caption, tuple(map(Footnote, table.notes)))


def _norms(about: Studied) -> Iterator[Captioned]:
    """Yield people's values compared with norms, where there are any."""
    table = named_table("norms", about.printable_rows)
    if len(table):
        shown = table.select(shown_columns(table))
        yield Captioned(shown, f"{view_of(table).caption}.", tuple(map(Footnote, table.notes)))


def _positions(about: Studied) -> Iterator[Captioned]:
    """Yield right answers and choices by position, where the order of options varied."""
    if rows := [row for row in about.printable_rows if has_orders(row)]:
        table = named_table("positions", rows)
        shown = table.select(shown_columns(table))
        yield Captioned(shown, f"{view_of(table).caption}.", tuple(map(Footnote, table.notes)))


def _pairs(about: Studied) -> Iterator[Captioned]:
    """Yield the differences of base and instruct models."""
    models = [member for member in about.members if member.conditions.labels]
    rows = summarised(grouped(models, "model"), interval=False) if models else ()
    short = {
        known: without_folders(row.group.name)
        for row in rows
        for known in (row.group.title, row.group.label, row.group.whole_name)
    }
    table = pairs_table(pairs_of(rows), lambda name: short.get(name, without_folders(name)))
    if table is not None:
        yield table


def _versions(*, with_figures: bool) -> Iterator[tuple[str, str]]:
    yield "tabwb", tabwb.__version__
    yield "Python", platform.python_version()
    for package in ("numpy", *(("matplotlib",) if with_figures else ())):
        try:
            yield package, version(package)
        except PackageNotFoundError:  # imported from elsewhere
            yield package, "unknown"


def examples_of(about: Studied, trials_of: TrialsOf, n: int) -> tuple[Example, ...]:
    """Return the first responses of each group: connected text first, one to each item."""
    return tuple(example for row in about.rows for example in _examples(about, row, trials_of, n))


def _examples(about: Studied, row: Grouped, trials_of: TrialsOf, n: int) -> Iterator[Example]:
    member = row.group.members[0]
    subtests = sorted(member.battery.subtests, key=lambda subtest: not subtest.task.connected)
    places = [(subtest.id, item.id) for subtest in subtests for item in subtest.items]
    found: dict[tuple[str, str], Trial] = {}
    for trial in trials_of(member.administration.id):
        part = member.part
        if trial.is_answered and (part is None or part.has(trial.plan)):
            found.setdefault((trial.plan.subtest, trial.plan.item), trial)
        if all(place in found for place in places[:n]):
            break
    for trial in [found[place] for place in places if place in found][:n]:
        subtest = member.battery.subtest(trial.plan.subtest)
        assert trial.counting is not None
        yield Example(
            about.title(row),
            subtest.title,
            trial.plan.item,
            trial.plan.prompt,
            trial.counting.response,
            _status(member, trial),
            tuple(_verdicts(trial, subtest.scorers, member.declarations)),
        )


def _status(member: AdministrationData, trial: Trial) -> str:
    """Return the status under which a response counts; of one that is named aloud, as stored."""
    stored = trial.counting.status if trial.counting else None
    if member.columns is not None:
        from tabwb.store.columns import STATUSES

        prepared, place = member.columns
        rows = slice(int(prepared.starts[place]), int(prepared.starts[place + 1]))
        numbers = prepared.trials[rows].tolist()
        if trial.plan.number in numbers:
            code = int(prepared.counted[rows][numbers.index(trial.plan.number)])
            return STATUSES[code].value if code >= 0 else ""
    from tabwb.analysis.frame import effective_statuses

    statuses = effective_statuses(member.battery, member.trials)
    own = {one.plan.number: status for one, status in zip(member.trials, statuses, strict=True)}
    status = own.get(trial.plan.number, stored)
    return "" if status is None else status.value


def _verdicts(
    trial: Trial, scorers: Sequence[str], declared: Mapping[str, Declaration]
) -> Iterator[str]:
    """Yield a line for each rater: what a scorer decides, or the features that are present."""
    decisive = list(verdicts_of(trial.ratings, scorers, declared).values())
    for rater in dict.fromkeys(rating.rater for rating in trial.ratings):
        ratings = [rating for rating in trial.ratings if rating.rater == rater]
        if rater in scorers:
            words = {1.0: "right", 0.0: "wrong"}
            said = [
                f"{one.measure} {one.status.value if one.value is None else words[one.value]}"
                for one in ratings if one in decisive
            ]  # fmt: skip
        else:
            present = "; ".join(
                f"{one.measure} ({one.reason})" if one.reason else one.measure
                for one in ratings if one.value == 1.0
            )  # fmt: skip
            missing = sum(rating.status is not RatingStatus.VALUE for rating in ratings)
            said = [f"present: {present}" if present else "no feature present"]
            said += [f"{missing} without a value"] if missing else []
        if said:
            yield f"{without_folders(rater)}: {', '.join(said)}"


def run_commands(about: Studied) -> tuple[str, ...]:
    """Return the commands that give the batteries to the models of a study again, each once.

    Files are named without their folders. For people, for a function that was given from Python,
    and for answers that were imported, a comment says so: no command gives them again.
    """
    found = []
    for member in about.members:
        battery, given = member.administration.battery, member.conditions
        raters = (
            rater
            for rater, by in member.declarations.items()
            if by.kind == "judge" and by.plugin is not None  # else imported, or a Python function
        )
        judges = tuple(dict.fromkeys((*given.judges, *raters)))
        found.append(
            f"# {battery} was given to people; no command gives it again"
            if is_persons(member)
            else run_command(battery, replace(given, judges=judges))
        )
    return tuple(dict.fromkeys(found))


def run_command(battery: str, given: Conditions) -> str:
    """Return the command that gives a battery to a model under the same conditions.

    >>> run_command("tab", Conditions("bundled", "model", seed=3, replicates=2))
    'tabwb run tab --model bundled --seed 3 --replicates 2 --judge rules-2'
    >>> run_command("tab", Conditions("python:mine", "model"))
    '# tab was given to the Python function python:mine (tabwb.run); no command gives it again'
    """
    name = without_folders(given.examinee)
    if given.is_imported:
        return f"# the answers of {name} to {battery} were imported; no command gives them again"
    if given.examinee.startswith(FUNCTION):
        return (
            f"# {battery} was given to the Python function {name} (tabwb.run); no command gives it "
            "again"
        )
    words = ["tabwb", "run", battery, "--model", name]
    if given.lesion is not None:
        given = replace(given, lesion=without_folders(given.lesion))
    for condition in declared.CONDITIONS:
        if condition.applies_to("model"):
            words += _options(condition, given)
    return shlex.join(words)


def _options(condition: Condition, given: Conditions) -> Iterator[str]:
    options = [option for option in condition.options if option.command == "run"]
    value = condition.of(given)
    if not options or (condition.id == "max_tokens" and given.token_limits == "battery"):
        return
    if isinstance(condition.kind, Components):
        for spec in value or ["none"]:
            yield from (options[0].flag, without_folders(spec))
        return
    if value == condition.of(Conditions("", "model")):
        return
    for option in options:
        if option.value is not None or isinstance(condition.kind, Switch):
            if option.value in (None, value):
                yield option.flag
        else:
            for each in value if isinstance(value, tuple) else (value,):
                yield from (option.flag, f"{each:g}" if isinstance(each, float) else str(each))


def rendered(report: Report, document: str = "html") -> bytes:
    """Return a report as HTML, or as Markdown without figures (``md``); the same each time."""
    import jinja2

    is_html = document == "html"
    environment = jinja2.Environment(
        autoescape=is_html,
        finalize=_shown if is_html else None,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "base64": lambda content: b64encode(content).decode("ascii"),
        "escaped": markdown_text,
        "fold": _fold,
        "shown": visible,
        "table": markdown,
    }
    template = files("tabwb.media") / "templates" / f"report.{document}.j2"
    made = environment.from_string(template.read_text("utf-8")).render(
        report=report, folds=FOLDS, most_rows=MOST_ROWS
    )
    return made.encode("utf-8", "backslashreplace")


def _fold(shown: Presented) -> int | None:
    """Return the least width in rem in which a table has its columns; None: the page has not it."""

    def needs(at: int) -> float:
        heading = shown.headings[at]
        words = [len(word) * BOLD for word in heading.title.split()]
        for row in shown.rows:
            texts = (row[at].text, f"[{row[at].interval}]")
            parts = texts if heading.numeric else texts[0].split()
            words += (len(part) * (1.0 if at else BOLD) for part in parts)
        return max(words, default=0.0) * REM_OF_LETTER + REM_OF_COLUMN

    width = sum(map(needs, range(len(shown.headings))))
    return next((step for step in FOLDS if width <= step), None)


def _shown(value: object) -> object:
    """Return a value without characters that reorder or hide text, whatever its type."""
    text = visible(str(value))
    return type(value)(text) if isinstance(value, str) else text


def check_ending(out: Path) -> None:
    """Check that the name of a file says in which format a report is written."""
    if out.suffix.lower() not in ENDINGS:
        raise UsageError(
            f"'{out.name}' does not end in the name of a format of reports",
            allowed=", ".join(ENDINGS),
        )


def write_report(
    store: Store,
    plugins: Plugins,
    about: Studied,
    out: Path,
    *,
    title: str = "",
    command: str = "",
    n_responses: int = 0,
    within_study: bool = False,
) -> Permit:
    """Write what the file's name asks for (see :data:`ENDINGS`), and log of whom."""
    ending = out.suffix.lower()
    document = "md" if ending == ".md" else "html"

    def trials_of(number: int) -> Iterator[Trial]:
        return chain.from_iterable(store.trial_parts(number))

    def content() -> bytes:
        if ending == ".tex":
            text = "\n".join(map(latex, compact_of(about)))
        elif ending == ".csv":
            text = table_csv(results_table(about.printable_rows))
        else:
            examples = examples_of(about, trials_of, n_responses) if n_responses else ()
            told = with_rating_sets(about, store)
            drawn = document == "html"
            made = report_of(told, title=title, command=command, examples=examples, figures=drawn)
            return rendered(made, document)
        return text.encode("utf-8", "backslashreplace")

    given = [member.administration for member in about.members]
    what = {".tex": "tex", ".csv": "values.csv"}.get(ending, "report")
    permit = check_export(store, plugins, given, what, out, within_study=within_study)
    with logged(store, permit.acts):
        (write_stdout if is_stdout(out) else partial(write_bytes, out))(content())
    return permit
