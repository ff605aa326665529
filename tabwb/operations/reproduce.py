"""``reproduce``: the printed values of a paper are computed again and compared."""

from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args

from tabwb.operations.operation import (
    Arg,
    Operation,
    Progress,
    Told,
    Tools,
    made,
    plugin_operation,
    values_of,
)
from tabwb.records.errors import Interrupted, TabwbError, UsageError
from tabwb.records.files import write_private
from tabwb.records.words import did_you_mean, plural

if TYPE_CHECKING:
    from tabwb.analysis.ledger import Done, LedgerFile, StepTable
    from tabwb.host.plugins import Plugins

PAPERS = Path(__file__).parent / "papers"
CORE = {
    "run": ("run", "RunBattery"),
    "import": ("importing", "ImportFile"),
    "judge run": ("judge", "JudgeRun"),
    "judge show": ("judge", "ShowJudge"),
    "lesion sweep": ("lesion", "SweepLesions"),
    "transcribe": ("transcribing", "TranscribeFiles"),
    "trial transcribe": ("transcribing", "TranscribeResponses"),
}
"""Operations of tabwb that a step can run: module, class."""
Values = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ReproducePaper(Operation):
    """Compute the printed values of PAPER again, and show where they differ.

    Values that follow from other printed values, or from what tabwb has, are computed at once.
    The others need the paper's data: --data NAME=FOLDER. With --stand-in they are computed on made
    data, which shows that they can be computed, and nothing more.

    Without PAPER the papers are listed. Exit status 1 if a step failed.
    """

    NAME, TITLE, DOING, TOLD = "reproduce", "Compute", "Computing a paper", "step"
    WRITES: ClassVar[bool] = False
    STORE: ClassVar[bool] = False
    TABLES: ClassVar[bool] = True
    SAFE: ClassVar[str] = "finished steps are kept in the folder of --work"
    paper: Annotated[
        str | None,
        Arg("A paper by its id, or the path of a ledger (TOML).", "Paper", metavar="[PAPER]",
            positional=True, kind="papers", blank="list the papers"),
    ] = None  # fmt: skip
    data: Annotated[
        tuple[str, ...],
        Arg("Data of the paper; the ledger says what they are and from where they come.",
            "Data", metavar="NAME=FOLDER", pairs=True, blank="none"),
    ] = ()  # fmt: skip
    stand_in: Annotated[
        bool,
        Arg("Make data, by seed, in place of those that are not given.", "Stand-in data",
            words=("none", "made by seed")),
    ] = False  # fmt: skip
    seed: Annotated[int, Arg("Seed of made data.", low=0)] = 1
    work: Annotated[
        Path | None,
        Arg("Folder for the store, made data and the documents of finished steps; the same command "
            "again continues. Default: a temporary folder.", metavar="FOLDER", kind="new"),
    ] = None  # fmt: skip
    cells: Annotated[
        bool,
        Arg("Every value, not only those that differ.", "Values",
            words=("those that differ", "all")),
    ] = False  # fmt: skip

    def check(self, plugins: Plugins) -> None:
        """Refuse data that the ledger does not know."""
        if self.paper is None:
            if self.data or self.stand_in:
                raise UsageError("name a paper", where="paper", allowed=", ".join(papers()))
            return
        known = [one.id for one in opened(self.paper).data]
        for name, folder in self._folders().items():
            if name not in known:
                raise UsageError(
                    f"the paper needs no data '{name}'{did_you_mean(name, known)}", where="data",
                    allowed=", ".join(known) or "none",
                )  # fmt: skip
            if not folder.exists():
                raise UsageError(f"there is no folder {folder}", where="data")

    def run(self, tools: Tools) -> Progress:
        """Run the steps, one after another, and compare."""
        from tabwb.analysis.ledger import (
            DIFFERS,
            STATUSES,
            compared,
            entries_table,
            ledger_table,
            why_not,
        )

        if self.paper is None:
            tools.document["papers"] = [
                {"id": name, "title": file.paper.title, "values": _count(file)}
                for name, file in papers().items()
            ]
            return
        file = opened(self.paper)
        with tempfile.TemporaryDirectory(prefix="tabwb-") as temporary:
            work = self.work or Path(temporary)
            if self.stand_in:  # other data, another store
                work /= f"stand-in-{self.seed}"
            work.mkdir(parents=True, exist_ok=True)
            done = yield from self._steps(tools, file, work)
        rows = compared(file, done)
        shown = [one for one in rows if self.cells or one.status == DIFFERS]
        caption = "Every printed value" if self.cells else "Values that differ"
        tools.tables += [
            (entries_table(rows), file.paper.title), (ledger_table(shown), caption)
        ]  # fmt: skip
        tools.document |= {
            "paper": file.paper.id, "title": file.paper.title, "citation": file.paper.citation,
            "notes": file.paper.notes, "stand_in": self.stand_in, "seed": self.seed,
            "values": _count(file),
            "steps": [
                {"id": name, "command": one.command, "reason": one.reason or None}
                for name, one in done.items()
            ],
            "failed": [name for name, one in done.items() if one.failed],
            "counts": {status: sum(one.status == status for one in rows) for status in STATUSES},
            "cannot": why_not(rows),
        }  # fmt: skip

    def lines(self, document: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the papers, or how the values of one compare and what cannot be computed."""
        for one in document.get("papers", ()):
            yield f"{one['id']:<12}  {one['values']:>5} values  {one['title']}"
        if "paper" not in document:
            return
        counts = document["counts"].items()
        yield f"{document['citation']}\n"
        told = ", ".join(f"{count} {_words(status, count)}" for status, count in counts if count)
        values, comparisons = document["values"], sum(document["counts"].values())
        both = f", {plural(comparisons, 'comparison')}" if comparisons != values else ""
        yield f"{plural(values, 'value')}{both}: {told}"
        for reason, at in document["cannot"].items():
            yield f"cannot be computed: {'; '.join(at)}: {reason}"
        if document["notes"]:
            yield document["notes"]
        if document["stand_in"]:
            yield "Values on stand-in data say nothing about the paper."
        yield ""

    def wrong(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the steps that failed."""
        for one in document.get("steps", ()):
            if one["id"] in document["failed"]:
                yield f"step '{one['id']}' failed: {one['reason']}"

    def _folders(self) -> dict[str, Path]:
        found = {}
        for pair in self.data:
            name, sign, folder = pair.partition("=")
            if not sign or not folder:
                raise UsageError(f"'{pair}' is not NAME=FOLDER", where="data")
            found[name] = Path(folder).expanduser().absolute()
        return found

    def _steps(
        self, tools: Tools, file: LedgerFile, work: Path
    ) -> Generator[Told, None, dict[str, Done]]:
        from tabwb.analysis.ledger import Done

        folders, stood_in = self._folders(), set[str]()
        steps = file.step
        for one in file.data if self.stand_in else ():
            if one.id not in folders and one.stand_in:
                yield Told(f"making data in place of {one.id}", 0, len(steps))
                folders[one.id] = work / one.id
                stood_in.add(one.id)
                if not folders[one.id].exists():
                    self._make(tools, one, folders, work)
        done: dict[str, Done] = {}
        for number, step in enumerate(steps):
            if tools.cancel.is_set():
                raise Interrupted("stopped", hint=f"{tools.same} continues, with --work")
            yield Told(step.id, number, len(steps), number)
            missing = [name for name in step.needs if name not in folders]
            is_stand_in = bool(stood_in & {*step.needs})
            given = step.values | (step.stand_in if is_stand_in else {})
            if missing:
                command = command_text(step.run, given) + " --dry-run" * step.dry_run
                done[step.id] = Done(command, reason=_needs(missing))
                continue
            done[step.id] = self._done(tools, step, given, folders, work, stand_in=is_stand_in)
        yield Told("", len(steps), len(steps), len(steps))
        return done

    def _make(self, tools: Tools, data: Any, folders: Mapping[str, Path], work: Path) -> None:
        from tabwb.operations.stand_in import MAKERS

        place, maker = work / f"{data.id}.part", MAKERS.get(data.stand_in)
        if place.exists():  # left by a run that was stopped
            shutil.rmtree(place)
        if maker is not None:
            maker(place, self.seed, folders, tools.plugins)
        else:
            values = data.stand_in_values | {"folder": str(place), "seed": self.seed}
            ran(data.stand_in, values, tools, work)
        place.replace(folders[data.id])

    def _done(
        self, tools: Tools, step: StepTable, given: Values, folders: Mapping[str, Path],
        work: Path, *, stand_in: bool,
    ) -> Done:  # fmt: skip
        from tabwb.analysis.ledger import Done

        command = command_text(step.run, given) + " --dry-run" * step.dry_run
        kept = work / f"{step.id}.json"
        asked = json.loads(json.dumps([dict(given), dict(folders)], default=str))
        if before := _document_of(kept, asked):
            return Done(command, before, stand_in=stand_in)
        names, document = {**folders, "work": work}, None
        try:
            if step.each:
                document = {
                    each: ran(step.run, filled(given, {**names, "each": each}), tools, work)
                    for each in step.each
                }
            else:
                values = filled(given, names)
                document = ran(step.run, values, tools, work, dry=step.dry_run)
        except Interrupted:
            raise
        except TabwbError as error:
            return Done(command, reason=str(error), failed=True, stand_in=stand_in)
        if step.needs:
            write_private(kept, json.dumps({"values": asked, "document": document}))
        return Done(command, document, stand_in=stand_in)


def _document_of(kept: Path, values: Any) -> Any:
    """Return the kept document of a step with these values; None where none can be read."""
    try:
        before = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = isinstance(before, dict) and before.get("values") == values
    return before.get("document") if same else None


def _needs(missing: Sequence[str]) -> str:
    return f"needs {', '.join(missing)} (--data {missing[0]}=FOLDER)"


def _words(status: str, count: int) -> str:
    """Return the words for a status beside the number of values that have it."""
    if status == "differs" and count > 1:
        return "differ"
    return "cannot be computed" if status == "cannot be" else status


def _count(file: LedgerFile) -> int:
    return sum(bool(cell) for entry in file.entry for row in entry.rows for cell in row[1:])


def papers() -> dict[str, LedgerFile]:
    """Return the ledgers that tabwb has, by id."""
    from tabwb.analysis.ledger import load_ledger

    return {path.stem: load_ledger(path) for path in sorted(PAPERS.glob("*.toml"))}


def opened(name: str) -> LedgerFile:
    """Return a ledger by its id, one of its other names, or its path."""
    from tabwb.analysis.ledger import load_ledger

    if "/" in name or name.endswith(".toml"):
        return load_ledger(Path(name).expanduser())
    found = papers()
    for file in found.values():
        if name in (file.paper.id, *file.paper.also):
            return file
    raise UsageError(
        f"there is no paper '{name}'{did_you_mean(name, found)}", where="paper",
        allowed=f"{', '.join(found)}, or the path of a ledger",
    )  # fmt: skip


def filled(given: Any, names: Mapping[str, Any]) -> Any:
    """Return values with names of data in braces replaced by their folders.

    >>> filled({"path": "{psst}/test", "top": 3}, {"psst": "corpus"})
    {'path': 'corpus/test', 'top': 3}
    """
    if isinstance(given, str):
        for name, place in names.items():
            given = given.replace(f"{{{name}}}", str(place))
        return given
    if isinstance(given, Mapping):
        return {name: filled(one, names) for name, one in given.items()}
    return [filled(one, names) for one in given] if isinstance(given, list | tuple) else given


def command_text(name: str, given: Values) -> str:
    """Return the command of a step as a person types it.

    >>> command_text("results", {"by": "model", "together": ("judge", "seed")})
    'tabwb results --by model --together judge --together seed'
    """
    words, positional, flags = f"tabwb {name}", set[str](), dict[str, str]()
    if name in READERS:
        words, positional = READERS[name][0], {*READERS[name][1]}
    elif name in CORE:
        values = values_of(_core(name))
        positional = {one.name for one in values if one.arg.positional}
        flags = {one.name: one.flag for one in values}
    first, options = [words], list[str]()
    for one, value in given.items():
        if isinstance(value, Mapping):  # conditions
            named = {"judge" if key == "judges" else key: of for key, of in value.items()}
        elif one in positional:
            first += map(_word, _several(value))
            continue
        else:
            named = {one: value}
        for key, of in named.items():
            flag = flags.get(key, "--" + key.replace("_", "-"))
            options += [flag] if of is True else [f"{flag} {_word(each)}" for each in _several(of)]
    return " ".join([*first, *options])


def _several(value: Any) -> list[str]:
    return list(map(str, value)) if isinstance(value, list | tuple) else [str(value)]


def _word(text: str) -> str:
    return text if "{" in text else shlex.quote(text)


def _core(name: str) -> type[Operation]:
    module, kind = CORE[name]
    found: type[Operation] = getattr(import_module(f"tabwb.operations.{module}"), kind)
    return found


def ran(name: str, values: Values, tools: Tools, work: Path, *, dry: bool = False) -> Any:
    """Run an operation or a reader by its name in the store of ``work``; return its document.

    With ``dry`` it is only estimated, and what an estimate that fails has told is returned.
    """
    if name in READERS:
        inner, read = _tools(tools, work), READERS[name][2]
        try:
            signature(read).bind(inner, **values)
        except TypeError as error:
            raise UsageError(f"'{name}' cannot be run: {error}") from None
        for one, value in values.items():
            texts = value if read.__annotations__[one] == "Sequence[str]" else [value]
            if not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
                raise UsageError(f"{value!r:.60} cannot be used", where=one, allowed="text")
        with closing(inner):
            return read(inner, **values)
    kind = _core(name) if name in CORE else plugin_operation(tools.plugins, name)
    if kind is None:
        raise UsageError(
            f"there is no operation '{name}'", allowed=", ".join(sorted({*CORE, *READERS}))
        )
    operation = made(kind, values)
    operation.check(tools.plugins)
    inner = _tools(tools, work)
    with closing(inner):
        try:
            for _ in operation.estimate(inner) if dry else operation.run(inner):
                if tools.cancel.is_set():
                    break
        except TabwbError:
            if not (dry and inner.document):
                raise
        document = operation.documented(inner)
    return json.loads(json.dumps(document, default=str))


def _tools(tools: Tools, work: Path) -> Tools:
    return replace(
        tools, place=lambda: work / "tabwb.db", lent=None, creates=True, document={}, result=None,
        tables=[], show=lambda line: None, say=lambda words: None, warn=lambda words: None,
        same="the same command", _own=None,
    )  # fmt: skip


def _battery(tools: Tools, battery: str) -> Any:
    from tabwb.battery.loader import load_battery

    loaded = load_battery(tools.plugins.find_battery(battery))
    content = json.loads(loaded.canonical)
    given = [one for one in content.get("feature", ()) if one.get("judge_definition")]
    return {**content, "defined_for_judge": len(given), "prompts": loaded.n_items}


def _agreement(tools: Tools, ratings: str, judge: Sequence[str] = ()) -> Any:
    from tabwb.analysis.agreement import Choices, agreement_of
    from tabwb.analysis.stored_ratings import rated_of
    from tabwb.host.forms import open_form
    from tabwb.media.views.agreement import agreement_document

    rated = rated_of(
        [ratings], lambda: tools.store, lambda name: open_form(name, tools.plugins.find_battery),
        judges=judge,
    )  # fmt: skip
    return agreement_document(agreement_of(rated, Choices(draws=0)))


def _results(tools: Tools, by: str, together: str = "") -> Any:
    from tabwb.analysis.selection import Selection, selected_groups
    from tabwb.media.documents.document import groups_document

    chosen = Selection.of(by, together=together)
    return groups_document(selected_groups(tools.store, (), chosen))


def _phonemes(
    tools: Tools, reference: str, hypothesis: str, accept: str = "", missing: Any = "error"
) -> Any:
    from tabwb.analysis.statistics import phonemes
    from tabwb.phonology import corpus as reading

    if missing not in (known := get_args(reading.Missing)):
        raise UsageError(f"'{missing}' cannot be used", where="missing", allowed=", ".join(known))
    corpus = reading.read_corpus(Path(reference), Path(hypothesis), missing=missing)
    of = reading.read_accepted(Path(accept)) if accept else None
    task_b = reading.task_b(corpus, of, "paper")
    report = phonemes.PhonemeReport(corpus, corpus.score(), task_b, None, None, None, "psst")
    return {key: one for key, one in phonemes.document(report).items() if key != "utterances"}


def _alignment(tools: Tools, reference: str, hypothesis: str) -> Any:
    from tabwb.phonology.distance import align_features, align_phonemes
    from tabwb.phonology.inventory import parse_arpabet

    ref, hyp = parse_arpabet(reference), parse_arpabet(hypothesis)
    if not ref:
        raise UsageError("there is no phoneme", where="reference")
    features, edits = align_features(ref, hyp), align_phonemes(ref, hyp)
    costs = {f"{one.ref or '-'} {one.hyp or '-'}": one.cost for one in features.steps}
    rates = {"fer": features.distance / features.length, "per": edits.distance / edits.length}
    return rates | costs


def _phonology(tools: Tools) -> Any:
    from tabwb.phonology.inventory import (
        FEATURE_SYMBOLS,
        FEATURE_VALUES,
        FEATURES,
        IPA_READINGS,
        parse_ipa,
    )

    moving = {
        phoneme: " ".join(
            f"{sign}{name}" for name, sign in sorted(zip(FEATURES, own, strict=True)) if sign[1:]
        )
        for phoneme, own in FEATURE_SYMBOLS.items()
    }
    costs = {
        f"{one} to {other}": abs(value - FEATURE_VALUES[other]) / 2
        for one, value in FEATURE_VALUES.items()
        for other in FEATURE_VALUES
    }
    labels = {one: " ".join(parse_ipa(one)) or "(removed)" for one in (*IPA_READINGS, "ʔ")}
    return {"features": FEATURE_SYMBOLS, "moving": moving, "costs": costs, "labels": labels}


READERS: Mapping[str, tuple[str, tuple[str, ...], Callable[..., Any]]] = {
    "battery show": ("tabwb battery show", ("battery",), _battery),
    "agreement": ("tabwb agreement", ("ratings",), _agreement),
    "results": ("tabwb results", (), _results),
    "phonemes": ("tabwb phonemes", ("reference", "hypothesis"), _phonemes),
    "alignment": ("tabwb.phonology.distance", ("reference", "hypothesis"), _alignment),
    "phonology": ("tabwb.phonology.inventory", (), _phonology),
}
"""No operations: words of the command, values without a flag, what returns its document."""
