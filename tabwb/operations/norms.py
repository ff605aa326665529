"""``norms``: the groups of norms that there are, files of them added and made from the store."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from tabwb.operations.operation import WHERE, Arg, Operation, Progress, Told, Tools
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.words import did_you_mean, plural

if TYPE_CHECKING:
    from tabwb.analysis.grouping import Grouped
    from tabwb.analysis.statistics.results import Result
    from tabwb.host.plugins import Plugins

LEAST = 5
"""People of the smallest group from which norms are made by default."""


@dataclass(frozen=True, kw_only=True)
class ListNorms(Operation):
    """List the groups of norms, and the problems of files that cannot be used.

    They are read from norms.toml and the folder norms of your configuration, and from norms.toml
    beside an installed battery. 'tabwb results ID' and --table norms compare people with them.
    Exit status 1 if a file cannot be used.
    """

    NAME, TITLE = "norms list", "List"
    WRITES: ClassVar[bool] = False
    STORE: ClassVar[bool] = False
    TABLES: ClassVar[bool] = True

    def do(self, tools: Tools) -> None:
        """Read every file."""
        from tabwb.analysis.norms import known_norms, listed_norms, places

        norms, problems = known_norms()
        tools.document |= {
            "files": [str(path) for path in places() if path.is_file()],
            "norms": len(norms),
            "problems": problems,
        }
        if norms:
            tools.tables.append((listed_norms(norms), "Groups of norms"))

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield that there are none."""
        if not document["norms"]:
            yield "no norms; add a file of them: tabwb norms add FILE"

    def wrong(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield the problems of files."""
        yield from document["problems"]


@dataclass(frozen=True, kw_only=True)
class AddNorms(Operation):
    """Check FILE, a file of norms, and copy it into your configuration.

    Every problem is reported with its line. The same name again replaces the file.
    """

    NAME, TITLE = "norms add", "Add"
    WRITES: ClassVar[bool] = False
    STORE: ClassVar[bool] = False
    SETTINGS: ClassVar[bool] = True
    file: Annotated[Path, Arg("The file.", "File", metavar="FILE", positional=True, kind="file")]
    name: Annotated[
        str,
        Arg("Its name in your configuration; default: that of the file.", "Name", blank="as it is"),
    ] = ""

    def do(self, tools: Tools) -> None:
        """Check and copy it."""
        from tabwb.battery.norms import load_norms
        from tabwb.host.settings import config_folder

        norms = load_norms(self.file)
        name = Path(self.name or self.file.stem).name
        if not name or name.startswith("."):
            raise UsageError("this cannot be the name of a file", where="name")
        folder = config_folder(os.environ) / "norms"
        folder.mkdir(parents=True, exist_ok=True)
        out = folder / f"{name.removesuffix('.toml')}.toml"
        out.write_bytes(self.file.read_bytes())
        tools.document |= {"norms": len(norms), "out": str(out)}

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield where it is."""
        yield f"{plural(document['norms'], 'norm')} added: {document['out']}"


@dataclass(frozen=True, kw_only=True)
class MakeNorms(Operation):
    """Make norms of the people in the store, one for each group by KEY, and write them to OUT.

    The mean and the spread of the people of a group, for each measure of results; a person with
    several administrations counts once, with their mean. Groups of fewer than --least people are
    left out, because their values could be traced to a person.
    """

    NAME, TITLE, DOING, TOLD = "norms make", "Make", "Making norms", "group"
    WRITES: ClassVar[bool] = False
    SAFE: ClassVar[str] = "nothing is written"
    out: Annotated[
        Path, Arg("A new TOML file.", "File", metavar="OUT", positional=True, kind="new")
    ]
    source: Annotated[str, Arg("From where the values are, for who reads them.", "Source")]
    license: Annotated[str, Arg("Under which terms they may be used.", "License")]
    by: Annotated[
        str,
        Arg("Key that makes the groups, such as severity or group.", "Groups by", metavar="KEY"),
    ] = "group"
    where: Annotated[tuple[str, ...], WHERE] = ()
    measure: Annotated[
        tuple[str, ...],
        Arg("Only these measures, such as outcome or per.", "Measures", metavar="NAME", names=True,
            blank="all"),
    ] = ()  # fmt: skip
    least: Annotated[int, Arg("People of the smallest group.", "Least", low=2)] = LEAST

    def check(self, plugins: Plugins) -> None:
        """Refuse a file that is there."""
        if self.out.exists():
            raise UsageError("this file exists; it is not overwritten", where=str(self.out))

    def run(self, tools: Tools) -> Progress:
        """Take the mean of each person, then of each group."""
        from tabwb.analysis.norms import is_one_person
        from tabwb.analysis.selection import Selection, selected_groups
        from tabwb.battery.norms import load_norms
        from tabwb.host.writing import write_bytes

        yield Told("reading", 0, 0)
        chosen = Selection.of(("participant", self.by), self.where)
        rows = selected_groups(tools.store, (), chosen, interval=False)
        people = [row for row in rows if is_one_person(row.group.members)]
        known = sorted({result.measure for row in rows for result in row.results})
        if unknown := [name for name in self.measure if rows and name not in known]:
            raise UsageError(
                f"'{unknown[0]}' is not a measure here" + did_you_mean(unknown[0], known),
                where="measure", allowed=", ".join(known),
            )  # fmt: skip
        groups: dict[tuple[str, ...], dict[str, list[float]]] = {}
        for row in people:
            person = row.group.members[0].conditions.examinee
            for result in row.results:
                value = result.value.value
                if value is not None and (not self.measure or result.measure in self.measure):
                    of = groups.setdefault(self._key(row, result), {})
                    of.setdefault(person, []).append(value)
        made = [text for key, of in groups.items() if (text := self._norm(key, of))]
        if not made:
            raise TabwbError(f"no group of {self.least} people has values that differ")
        write_bytes(self.out, "\n".join(made).encode())
        tools.document |= {
            "out": str(self.out), "norms": len(load_norms(self.out)),
            "people": len({row.group.members[0].conditions.examinee for row in people}),
            "left_out": len(groups) - len(made),
        }  # fmt: skip

    def lines(self, document: Mapping[str, Any]) -> Iterator[str]:
        """Yield how many there are."""
        people = plural(document["people"], "participant")
        yield f"{plural(document['norms'], 'norm')} of {people}: {document['out']}"
        if left := document["left_out"]:
            yield f"left out: {left} with fewer than {self.least} people or equal values"

    def _key(self, row: Grouped, result: Result) -> tuple[str, ...]:
        group = str(row.group.values[1].value or "not recorded")
        return (
            group, row.battery.id, result.measure, result.part, result.rater, result.feature,
            result.policy,
        )  # fmt: skip

    def _norm(self, key: tuple[str, ...], people: Mapping[str, Sequence[float]]) -> str:
        """Return a norm as TOML; empty where it is left out."""
        values = [fsum(own) / len(own) for own in people.values()]
        n = len(values)
        mean = fsum(values) / n
        sd = sqrt(fsum((value - mean) ** 2 for value in values) / (n - 1)) if n > 1 else 0.0
        *names, policy = key
        if n < self.least or not sd or policy not in ("", "exact"):
            return ""
        labels = ("group", "battery", "measure", "part", "rater", "feature")
        texts = dict(zip(labels, names, strict=True)) | {
            "group": f"{self.by}: {names[0]}", "source": self.source, "license": self.license,
        }  # fmt: skip
        lines = [f"{name} = {_toml(text)}" for name, text in texts.items() if text]
        return "\n".join(["[[norm]]", *lines, f"n = {n}", f"mean = {mean!r}", f"sd = {sd!r}", ""])


def _toml(text: str) -> str:
    import tomlkit

    return tomlkit.string(text).as_string()
