"""Norms as TOML files: what is known of a group of people, and how the files are checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field, FiniteFloat, ValidationError

from tabwb.battery.loader import read_tables, read_text
from tabwb.battery.problems import Problem, locate, located
from tabwb.battery.rules import control_characters, type_problems
from tabwb.battery.toml_tables import Table, Text
from tabwb.records.errors import TabwbError
from tabwb.records.problems import Broken, shortened
from tabwb.records.words import plural


class Norm(Table):
    """A group of people and how its values of one measure lie."""

    group: Text = Field(description="Who they are, in words.")
    battery: Text = Field(description="Id of the battery.")
    measure: Text = Field(description="Id of the measure, as in the table of results.")
    part: str = Field("", description="Id of the subtest; empty for a value over all responses.")
    rater: str = Field("", description="Only values of this rater; empty: of any.")
    feature: str = Field("", description="The feature, category or code, where there is one.")
    n: int = Field(ge=2, le=10**9, description="Number of people.")
    mean: FiniteFloat | None = Field(None, description="Mean over the people.")
    sd: FiniteFloat | None = Field(
        None, gt=0, description="Standard deviation of the people, by n - 1."
    )
    percentiles: dict[str, FiniteFloat] = Field(
        {},
        description="In place of mean and sd: percentile and value, such as {5 = 0.6}; "
        'with decimals in quotes: {"2.5" = 0.5}.',
    )
    source: Text = Field(description="Where the values are from.")
    license: Text = Field(description="Under which terms they may be used: SPDX id or text.")
    notes: str = Field("", description="What must be known of the group.")

    @property
    def known(self) -> dict[float, float]:
        """The percentiles as numbers."""
        return {float(name): value for name, value in self.percentiles.items()}


class NormFile(Table):
    """A file of norms."""

    norm: list[Norm] = Field(min_length=1, description="The norms.")


class NormProblems(TabwbError):
    """A file of norms cannot be used; every problem is listed."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        count = plural(len(problems), "problem")
        super().__init__(f"the norms have {count}", hint="\n".join(map(str, problems)))
        self.problems = tuple(problems)


def load_norms(path: Path) -> tuple[Norm, ...]:
    """Read and check a file of norms; an error lists every problem with its line."""
    content = read_text(path, "[[norm]] tables")
    tables = content if isinstance(content, Problem) else read_tables(path, content)
    if isinstance(tables, Problem):
        raise NormProblems([tables])
    assert isinstance(content, str)
    try:
        file = NormFile.model_validate(tables)
    except ValidationError as error:
        broken = list(type_problems(error.errors(include_url=False), NormFile))
    else:
        broken = [*control_characters((), tables), *_broken(file)]
        if not broken:
            return tuple(file.norm)
    raise NormProblems(located(str(path), locate(content), broken))


def _broken(file: NormFile) -> Iterator[Broken]:
    names = ("group", "source", "battery", "measure", "part", "rater", "feature")
    first: dict[tuple[str, ...], int] = {}
    for at, norm in enumerate(file.norm):
        here = ("norm", at)
        before = first.setdefault(tuple(getattr(norm, name) for name in names), at)
        if before != at:
            yield Broken(here, f"this is the same group and value as in norm[{before + 1}]")
        if bool(norm.percentiles) == (norm.mean is not None and norm.sd is not None):
            yield Broken(here, "a norm has mean and sd, or percentiles")
        values: list[tuple[float, float]] = []
        for name, value in norm.percentiles.items():
            try:
                share = float(name)
            except ValueError:
                share = -1.0
            if not 0 < share < 100:
                where = (*here, "percentiles", name)
                yield Broken(
                    where, "this is not a percentile", shortened(name), "above 0, below 100"
                )
            values.append((share, value))
        if len({share for share, _ in values}) < len(values):
            yield Broken((*here, "percentiles"), "a percentile stands twice")
        ordered = [value for _, value in sorted(values)]
        if ordered != sorted(ordered):
            yield Broken((*here, "percentiles"), "a higher percentile has a lower value")
