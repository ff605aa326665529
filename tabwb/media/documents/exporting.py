"""Results to a file or to standard output, for the command line and the workbench."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tabwb.administer.consent import Permit, check_export, logged
from tabwb.analysis.administrations import batteries_of, chosen_administrations
from tabwb.analysis.derived import calibration_of
from tabwb.analysis.names import judge_called
from tabwb.analysis.plain import Json
from tabwb.battery.model import Battery
from tabwb.battery.task_type import current_study
from tabwb.host.guarded import error_words, plugin_code
from tabwb.host.plugins import Plugins
from tabwb.host.writing import draft_of, is_explanation
from tabwb.media.documents.datapackage import described, write_description
from tabwb.media.documents.streamed import names_in, streamed_documents
from tabwb.plugin_api.components import Exporter
from tabwb.records.errors import ComponentError, TabwbError, UsageError
from tabwb.records.files import WorkFolder, copy_to_stdout, is_stdout
from tabwb.records.ratings import CALIBRATED, Once
from tabwb.records.speakers import Column
from tabwb.records.specs import is_writable, parse_spec
from tabwb.records.states import RatingStatus
from tabwb.records.trials import Administration
from tabwb.store import takes
from tabwb.store.store import Store

Progress = Callable[[int, int], None]
"""Is told how many trials are done, and of how many."""
Documents = Callable[..., Iterator[Json]]


def export(
    store: Store,
    plugins: Plugins,
    references: Sequence[int | str],
    format_id: str,
    out: Path,
    *,
    within_study: bool,
    primary: str = "",
    judge: str = "",
    progress: Progress | None = None,
) -> Permit:
    """Write administrations with what belongs to them, and log of whom.

    They are read in parts while they are written, from one state of the store; without references
    all of it. ``out`` is a file, a folder where the format makes several, or ``-``, standard
    output. Nothing is written where speakers have not agreed to ``share``, or where the store
    cannot log it. ``judge`` is ``calibrated:JUDGE``, whose probabilities are added.
    """
    exporter = plugins.exporter(format_id)
    primary = plugins.configuration.study.counting_rater(primary)
    chosen = chosen_administrations(store, references)
    if not chosen:
        raise TabwbError("there is no administration to export", where=store.location)
    permit = check_export(store, plugins, chosen, format_id, out, within_study=within_study)
    with logged(store, permit.acts), store.unchanged():
        # As they are now: the log names these, and no others are written.
        chosen = chosen_administrations(store, [record.id for record in chosen])
        documents = _documents_for(store, chosen, exporter, primary, judge)
        writer = Writer(exporter, format_id, documents)
        if progress is not None:
            writer.tell(progress, sum(record.planned for record in chosen))
        with _rare_collections():
            if is_stdout(out):
                _to_stdout(writer)
            else:
                _to_place(writer, out, batteries_of(store, chosen))
    return permit


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Collect garbage rarely: what is read and written holds no cycles, a tenth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _documents_for(
    store: Store,
    chosen: Sequence[Administration],
    exporter: Exporter,
    primary: str,
    judge: str,
) -> Documents:
    """Return a function that yields the documents of administrations for an exporter."""
    documents = partial(
        streamed_documents,
        store,
        chosen,
        sound=exporter.sound,
        messages=exporter.messages,
        primary=primary,
    )
    names = names_in(store, chosen, documents)
    rated = store.measures_rated([record.id for record in chosen])
    made = partial(documents, names=names)
    if judge:
        added = Probabilities(store, judge, rated)
        rated = (*rated, *added.measures)
        made = partial(added.documents, made, names)
    scorers = {
        scorer
        for battery in batteries_of(store, chosen)
        for subtest in battery.subtests
        for scorer in subtest.scorers
    }
    raters = dict.fromkeys(rater for rater, _ in rated)
    with plugin_code:
        exporter.expect_participants(columns_of_participants(store, chosen))
        exporter.expect(
            tuple((names.get(rater, rater), measure) for rater, measure in rated),
            tuple(names.get(rater, rater) for rater in raters if rater not in scorers),
        )
    return made


def columns_of_participants(store: Store, chosen: Sequence[Administration]) -> tuple[Column, ...]:
    """Return the columns that leave with an export, of the records of those who answered."""
    people = {record.conditions.examinee for record in chosen if record.conditions.study_id}
    known = store.people.speakers() if people else ()
    return current_study().columns_in(one.values for one in known if one.id in people)


@dataclass(slots=True)
class Writer:
    """An exporter with what it writes."""

    exporter: Exporter
    format_id: str
    documents: Documents

    def tell(self, progress: Progress, planned: int) -> None:
        """Tell of progress while the documents are taken."""
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            progress(done, planned)

        self.documents = partial(self.documents, advance=advance)

    def write(self, out: Path, place: Path) -> None:
        """Let the exporter write."""
        try:
            with plugin_code:
                self.exporter.export_stream(self.documents(), out)
        except TabwbError as error:
            error.where = error.where and error.where.replace(str(out), str(place))
            raise
        except OSError as error:
            raise _unwritable(place, error) from error
        except Exception as error:
            raise ComponentError(
                f"the exporter '{self.format_id}' failed: {error_words(error)}",
                where=str(place),
                hint="nothing was written; choose another format. Where 'tabwb store check' finds "
                "no damage, report it to the plugin's author",
            ) from error
        if not out.exists():
            raise ComponentError(f"the exporter '{self.format_id}' wrote nothing", where=str(place))


def _to_place(writer: Writer, out: Path, batteries: Sequence[Battery]) -> None:
    """Let an exporter write beside ``out`` and then replace it: a failure changes nothing."""
    if writer.exporter.suffix == "" and out.exists():
        # A folder: its exporter says what may be there, and writes into it.
        writer.write(out, out)
        _describe(writer, out, batteries)
        return
    replaced = out.exists()
    try:
        with draft_of(out) as draft:
            draft.mkdir(mode=0o700)
            writer.write(draft / out.name, out)
            _describe(writer, draft / out.name, batteries)
            made = sorted(draft.iterdir(), key=lambda path: path.name == out.name)
            if out.exists() and not replaced:
                raise TabwbError(
                    "another program wrote this file in the meantime",
                    where=str(out),
                    hint="it was not changed: choose another name",
                )
            _check_replaced(out, made)
            for path in made:  # the export itself last: it never is there without its explanation
                path.replace(out.with_name(path.name))
    except OSError as error:
        raise _unwritable(out, error) from error


def _describe(writer: Writer, out: Path, batteries: Sequence[Battery]) -> None:
    titles = ", ".join(dict.fromkeys(battery.title for battery in batteries))
    write_description(described(out, writer.exporter), out, batteries, f"Responses to {titles}")


def _check_replaced(out: Path, made: Sequence[Path]) -> None:
    for path in made:
        place = out.with_name(path.name)
        if path.name != out.name and place.exists() and not is_explanation(place):
            raise TabwbError(
                "is a file that tabwb did not write",
                where=str(place),
                hint="the export needs this name: move the file, or choose another name",
            )


def _unwritable(out: Path, error: OSError) -> TabwbError:
    problem = f"cannot be written: {error.strerror or error}"
    return TabwbError(problem, where=str(out), hint="choose another place")


def _to_stdout(writer: Writer) -> None:
    if not writer.exporter.suffix:
        raise UsageError(
            f"the format '{writer.format_id}' makes a folder, which standard output cannot hold",
            hint="name a folder with --out",
        )
    with WorkFolder(takes.user_work_root()) as folder:
        file = folder.path / f"export{writer.exporter.suffix}"
        writer.write(file, Path("standard output"))
        copy_to_stdout(file)


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


def with_options(format_id: str, given: Mapping[str, str], *, wide: bool, partition_by: str) -> str:
    """Return the spec of an export format with its options.

    >>> with_options("parquet", {}, wide=True, partition_by="model, part-limit")
    'parquet@wide=true,partition_by=model+part_limit'
    >>> with_options("my-format", {"lines": "2"}, wide=False, partition_by="")
    'my-format@lines=2'
    """
    spec = parse_spec(format_id)
    options = {**spec.options, **given} | ({"wide": "true"} if wide else {})
    if partition_by:
        names = (name.strip().replace("-", "_") for name in partition_by.split(","))
        options["partition_by"] = "+".join(names)
    whole = replace(spec, options=options)
    if given and not is_writable(whole):
        raise UsageError("an option of a format has no comma in it", where="option")
    return str(whole)
