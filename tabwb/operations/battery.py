"""Files that a laboratory writes: batteries and forms; listed, checked, begun, copied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from tabwb.battery.problems import Problem
from tabwb.operations.operation import Arg, Operation, Tools
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.states import ResponseKind
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.battery.model import Battery
    from tabwb.host.plugins import Plugins
    from tabwb.phonology.dictionary import Form

BATTERY = Arg("An id, or the path of a battery file.", metavar="BATTERY", positional=True)
FOLDER = Arg("The new folder.", metavar="NAME", positional=True)


class Checked(NamedTuple):
    """What the check of a file found.

    Attributes:
        file: as it was found.
        problems: located.
        names: id, version and SHA-256; None where it cannot be used.
        counts: what it has, in words.
        more: further facts of the document.
        notes: further lines for people.
    """

    file: Path
    problems: Sequence[Problem]
    names: tuple[str, str, str] | None = None
    counts: str = ""
    more: Mapping[str, Any] = {}
    notes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class CheckFile(Operation):
    """Checks a file: every problem with its line. Base of the checks of each kind of file."""

    TITLE: ClassVar[str] = "Check"
    STORE: ClassVar[bool] = False
    DIGEST: ClassVar[str]
    """What the document calls the SHA-256 of the content."""
    file: Annotated[str, Arg("A path, or an id.", metavar="FILE", positional=True)]

    def checked(self, plugins: Plugins) -> Checked:
        """Return what was found."""
        raise NotImplementedError

    def do(self, tools: Tools) -> None:
        """Check it."""
        found = self.checked(tools.plugins)
        identifier, version, digest = found.names or (None, None, None)
        tools.document |= {
            "file": str(found.file),
            "ok": not found.problems,
            "id": identifier,
            "version": version,
            self.DIGEST: digest,
            **found.more,
            "counts": found.counts or None,
            "notes": list(found.notes),
            "problems": [
                asdict(problem)
                | {"line": problem.line or None, "suggestion": problem.suggestion or None}
                for problem in found.problems
            ],
        }

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield what a file without problems is."""
        if digest := document[self.DIGEST]:
            name = f"{document['id']} {document['version']}"
            yield f"ok: {name}, {document['counts']}, sha256 {digest[:16]}"
            yield from document["notes"]

    def wrong(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the problems."""
        for row in document["problems"]:
            given = {"line": row["line"] or 0, "suggestion": row["suggestion"] or ""}
            yield str(Problem(**(row | given)))


# -------------------------------------------------------------------- batteries


@dataclass(frozen=True, kw_only=True)
class ListBatteries(Operation):
    """List the batteries and their sources."""

    NAME, TITLE = "battery list", "List"
    STORE: ClassVar[bool] = False

    def do(self, tools: Tools) -> None:
        """Read them."""
        tools.document["batteries"] = [
            {"id": one.id, "owner": one.owner, "path": str(one.path), **_facts(one.path)}
            for one in tools.plugins.batteries()
        ]

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each."""
        for row in document["batteries"]:
            if row["problem"]:
                yield f"{row['id']:<16} cannot be used ({row['owner']})\n{row['problem']}"
            else:
                yield (
                    f"{row['id']:<16} {row['title']}, version {row['version']}, "
                    f"{plural(row['items'], 'item')}, "
                    f"for {' and '.join(row['examinees'])}s ({row['owner']})"
                )


def _facts(path: Path) -> dict[str, Any]:
    from tabwb.battery.loader import load_battery

    row: dict[str, Any] = {"title": None, "version": None, "items": None, "examinees": []}
    try:
        loaded = load_battery(path)
    except TabwbError as error:
        return row | {"problem": str(error)}
    row = {"title": loaded.title, "version": loaded.version, "items": loaded.n_items}
    return row | {"examinees": list(loaded.examinees), "problem": None}


@dataclass(frozen=True, kw_only=True)
class CheckBattery(CheckFile):
    """Check the battery FILE: every problem with its line.

    FILE is a path, a folder with a battery.toml, the id of a battery, or '-' for standard input
    (files that it names are in the current folder). Exit status 1 if there is a problem.
    """

    NAME = "battery check"
    DIGEST: ClassVar[str] = "battery_hash"

    def checked(self, plugins: Plugins) -> Checked:
        """Return what was found, and what works in the language of the battery."""
        from tabwb.battery import available
        from tabwb.battery.loader import check_battery, load_battery
        from tabwb.battery.rules import Scorers
        from tabwb.records.specs import is_kebab

        def problem(spec: str) -> TabwbError | None:
            try:
                plugins.resolve("scorers", spec)
            except TabwbError as error:
                return error
            return None

        file = Path(self.file)
        try:
            if not file.exists() and is_kebab(self.file):
                file = plugins.find_battery(self.file)
            elif (file / "battery.toml").is_file():
                file /= "battery.toml"
        except OSError:
            pass  # the check reports what is wrong with it
        ids = [descriptor.id for descriptor in plugins.descriptors("scorers")]
        if problems := check_battery(file, scorers=Scorers(ids, problem)):
            return Checked(file, problems)
        loaded = load_battery(file)
        rows = [row.to_json() for row in available.available(loaded)]
        return Checked(
            file,
            (),
            (loaded.id, loaded.version, loaded.content_hash),
            f"{plural(len(loaded.subtests), 'subtest')}, {plural(loaded.n_items, 'item')}",
            {"language": loaded.language, "available": rows},
            (*available.scored_by(loaded), *available.lines(loaded)),
        )


@dataclass(frozen=True, kw_only=True)
class NewBattery(Operation):
    """Write the folder NAME with a commented battery.toml; its last part is the battery's id.

    Without --from the file has an example of each kind of typed item (choice, yes-no,
    verbatim, connected-text, description). With --naming it has a picture to name and
    its scoring rules. With --naming --from, the pictures beside the CSV are copied, and missing
    pronunciations come from the dictionary. Next: 'tabwb battery check NAME/battery.toml'.
    """

    NAME, TITLE = "battery new", "Write"
    STORE: ClassVar[bool] = False
    folder: Annotated[Path, FOLDER]
    items: Annotated[
        Path | None,
        Arg("Items as CSV. Columns: prompt, and if needed subtest, response, options (a|b|c), "
            "expected, tags (a|b), id. With --naming: target, and where needed picture (a file "
            "beside the CSV), accept (pronunciations a|b), semantic, visual, parts, unrelated "
            "(words a|b), prompt, practice (yes, no), tags, subtest, id.",
            flag="--from", metavar="items.csv"),
    ] = None  # fmt: skip
    naming: Annotated[bool, Arg("Start with pictures to name aloud.")] = False
    features: Annotated[
        str | None,
        Arg("Copy the features and categories of a battery, for example tab: judges need them.",
            metavar="BATTERY"),
    ] = None  # fmt: skip

    def check(self, plugins: Plugins) -> None:
        """Refuse what does not go together."""
        if self.naming and self.features is not None:
            raise UsageError("--naming and --features cannot be combined", allowed="one of them")

    def do(self, tools: Tools) -> None:
        """Write it."""
        if self.naming:
            from tabwb.battery.task_type import task_type

            task = task_type(ResponseKind.SPOKEN_NAMING)
            if task.new_battery is None:
                raise UsageError(f"the task type '{task.id}' is not installed")
            path = task.new_battery(self.folder, self.folder.name, self.items)
        else:
            from tabwb.battery.new import new_battery

            features = None if self.features is None else _loaded(tools, self.features)[1]
            path = new_battery(self.folder, self.folder.name, self.items, features)
        _written(tools, path)


@dataclass(frozen=True, kw_only=True)
class CopyBattery(Operation):
    """Copy a battery with its files to the folder NAME, to change it.

    The last part of NAME is the id of the copy: results of the two are never put together.
    """

    NAME, TITLE = "battery copy", "Copy"
    STORE: ClassVar[bool] = False
    battery: Annotated[str, BATTERY]
    folder: Annotated[Path, FOLDER]

    def do(self, tools: Tools) -> None:
        """Copy it."""
        from tabwb.battery.new import copy_battery

        source, battery = _loaded(tools, self.battery)
        _written(tools, copy_battery(self.folder, self.folder.name, source, battery))


def _loaded(tools: Tools, argument: str) -> tuple[Path, Battery]:
    from tabwb.battery.loader import load_battery

    file = tools.plugins.find_battery(argument)
    return file, load_battery(file)


def _written(tools: Tools, path: Path) -> None:
    tools.document["file"] = str(path)
    tools.say(f"{path} written; next: tabwb battery check {path}")


@dataclass(frozen=True, kw_only=True)
class PronounceWords(Operation):
    """Show the pronunciation of each WORD, and its 'accept' to paste into a battery.

    From the CMU dictionary (General American), with words that sound the same. Quote several words
    that are one name: 'ice cream'. Exit status 1 if a word is unknown; near ones are named.
    """

    NAME, TITLE = "battery pronounce", "Show"
    STORE: ClassVar[bool] = False
    words: Annotated[tuple[str, ...], Arg("Words.", metavar="WORD...", positional=True)]

    def do(self, tools: Tools) -> None:
        """Look them up."""
        from tabwb.phonology.dictionary import forms_of

        tools.document["words"] = [_word(word, forms_of(word)) for word in self.words]

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield each known word with its pronunciations."""
        known = [row for row in document["words"] if row["known"]]
        for row in known:
            if row is not known[0]:
                yield ""
            yield row["word"]
            forms = [(one["arpabet"] or one["phonemes"], one) for one in row["pronunciations"]]
            width = max(len(phonemes) for phonemes, _ in forms)
            for phonemes, one in forms:
                also = f"; also: {', '.join(one['homophones'])}" if one["homophones"] else ""
                yield f"  {phonemes:<{width}}  /{one['ipa']}/  {one['reason']}{also}"
            yield row["accept"]

    def wrong(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the words that are unknown."""
        for row in document["words"]:
            if not row["known"]:
                meant = ", ".join(f"'{other}'" for other in row["near"])
                yield (
                    f"'{row['word']}' is not in the CMU dictionary"
                    + (f"; did you mean {meant}?" if meant else "")
                    + "\n  write its phonemes yourself: ARPAbet (D AO G) or IPA (dɔɡ)"
                )


def _word(word: str, forms: Sequence[Form]) -> dict[str, Any]:
    return {
        "word": word,
        "known": bool(forms),
        "pronunciations": [
            {
                "phonemes": " ".join(form.phonemes),
                "arpabet": form.arpabet or None,
                "ipa": form.ipa,
                "reason": form.reason,
                "homophones": list(form.homophones),
            }
            for form in forms
        ],
        "accept": _accept_toml(forms) if forms else None,
        "near": [] if forms else list(_near(word)),
    }


def _accept_toml(forms: Sequence[Form]) -> str:
    """Return the forms as the key ``accept`` of a battery.

    >>> from tabwb.phonology.dictionary import forms_of
    >>> print(_accept_toml(forms_of("dog")))
    accept = [{ phonemes = "D AO G", reason = "citation" }]
    """
    tables = [
        f'{{ phonemes = "{" ".join(form.phonemes)}", reason = "{form.reason}" }}' for form in forms
    ]
    if len(tables) == 1:
        return f"accept = [{tables[0]}]"
    return "\n".join(["accept = [", *(f"  {table}," for table in tables), "]"])


def _near(word: str) -> tuple[str, ...]:
    from tabwb.phonology.dictionary import load_dictionary

    dictionary = load_dictionary()
    for part in word.replace("-", " ").split():
        if not dictionary.pronunciations(part):
            return dictionary.near(part)
    return ()


# -------------------------------------------------------------------- forms


@dataclass(frozen=True, kw_only=True)
class ListForms(Operation):
    """List the forms."""

    NAME, TITLE = "rate forms list", "List"
    STORE: ClassVar[bool] = False

    def do(self, tools: Tools) -> None:
        """Read them."""
        from tabwb.battery.form_files import read_form
        from tabwb.battery.forms import counted
        from tabwb.host.forms import form_files

        files, wrong = form_files()
        rows = []
        for name, path in files.items():
            form, problems = read_form(path, tools.plugins.find_battery)
            rows.append({
                "id": name,
                "path": str(path),
                "title": form and form.title,
                "version": form and form.version,
                "questions": form and len(form.questions),
                "asks": form and counted(form),
                "problem": "\n".join(map(str, problems)) or None,
            })  # fmt: skip
        tools.document |= {"forms": rows, "problems": wrong}
        for problem in wrong:
            tools.warn(problem)

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield a line for each form."""
        for row in document["forms"]:
            if row["problem"]:
                yield f"{row['id']:<16} cannot be used\n{row['problem']}"
            else:
                yield f"{row['id']:<16} {row['title']}, version {row['version']}: {row['asks']}"


@dataclass(frozen=True, kw_only=True)
class CheckForm(CheckFile):
    """Check the form FILE: every problem with its line.

    FILE is a path, the id of a form, or '-' for standard input. Exit status 1 if there is a
    problem.
    """

    NAME = "rate forms check"
    DIGEST: ClassVar[str] = "form_hash"

    def checked(self, plugins: Plugins) -> Checked:
        """Return what was found."""
        from tabwb.battery.form_files import read_form
        from tabwb.battery.forms import counted
        from tabwb.host.forms import find_form

        file = Path(self.file)
        try:
            if self.file != "-" and not file.exists():
                file = find_form(self.file)
        except (OSError, TabwbError):
            pass  # the check reports what is wrong with it
        form, problems = read_form(file, plugins.find_battery)
        if form is None:
            return Checked(file, problems)
        return Checked(file, problems, (form.id, form.version, form.content_hash), counted(form))
