"""What the results are in a few sentences, from the tables that a report shows below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from tabwb.analysis.grouping import Grouped
from tabwb.analysis.series import series_words
from tabwb.analysis.tables.captioned import HIGH, LOW, Captioned
from tabwb.media.paper import compact_of
from tabwb.media.sentences import listed
from tabwb.media.studied import Followed, Studied, followed, is_persons, people
from tabwb.media.views.administration import opening_sentence
from tabwb.media.wording import chances
from tabwb.records.columns import Column
from tabwb.records.errors import UsageError
from tabwb.records.words import plural

MOST_FOLLOWED = 2
"""Participants whose change is told; the tables have that of all."""
MOST_VALUES = 4
"""Values that are told of one group."""


def result_sentences(about: Studied) -> tuple[str, ...]:
    """Return who answered what, and the values that differ most, with their intervals."""
    battery, own_table = about.batteries[0], compact_of(about)[0]
    changes = [one for one in followed(about) if one.battery.content_hash == battery.content_hash]
    told = [_given(about, about.rows_of(battery))]
    if changes:
        told += map(_changed, changes[:MOST_FOLLOWED])
    else:
        rows = about.rows_of(battery)
        told += [opening_sentence(battery, rows[0].results)] if len(rows) == 1 else []
        swept = _swept(rows)
        told += [swept, *list(_values(own_table))[1:]] if swept else _values(own_table)
    if left := len(about.batteries) - 1:
        told[0] += f" {plural(left, 'other battery', 'other batteries')} below."
    return tuple(filter(None, told))


def _given(about: Studied, rows: Sequence[Grouped]) -> str:
    members = {one.administration.id: one for row in rows for one in row.group.members}
    models = [one for one in members.values() if not is_persons(one)]
    persons = [one for one in members.values() if is_persons(one)]
    lesions = {one.conditions.lesion for one in models}
    who = plural(len(set(map(about.name, models))), "model")
    if n := len(lesions - {None}):
        intact = "intact and " if None in lesions else ""
        who += f", {intact}under {plural(n, 'lesion')},"
    given = listed(
        [*([who] if models else []), *([people(persons, about.name)] if persons else [])]
    )
    battery = rows[0].battery
    counted, usable = (
        sum(int(part.number(name) or 0) for row in rows for part in row.results.parts)
        for name in ("counted", "usable")
    )
    of = f"{plural(counted, 'response')} in {plural(len(members), 'administration')}"
    good = "all" if usable == counted else f"{usable:,} of them"
    return f"{given} answered {battery.title} {battery.version}: {of}, {good} usable."


def _values(captioned: Captioned) -> Iterator[str]:
    """Yield the values of one group; of several the burden and the column that differs most."""
    table = captioned.table
    rows = table.to_dicts()
    drawn = [
        column for column in table.columns
        if column.name + LOW in table.names and any(row[column.name] is not None for row in rows)
    ]  # fmt: skip
    heads = list(takewhile(lambda column: column.type == "text", table.columns))
    names = [", ".join(str(row[head.name]) for head in heads if row[head.name]) for row in rows]
    if len(rows) == 1:
        told = (f"{one.title} {_value(one, rows[0])}" for one in drawn[:MOST_VALUES])
        if drawn:
            yield f"{names[0]}, with 95 % intervals: {'; '.join(told)}."
        return
    first = [column for column in drawn if "burden" in column.name][:1]
    others = [column for column in drawn if column.digits and "burden" not in column.name]
    if others and (most := max(others, key=lambda one: _spread(one, rows))) is not None:
        first.append(most)
    yield from (_range(column, rows, names) for column in first)


def _swept(rows: Sequence[Grouped]) -> str:
    """Return the values at the largest amount of a lesion, as the figure of doses has them."""
    from tabwb.media.figures import figure_table

    try:
        found = figure_table("dose", rows).to_dicts()
    except UsageError:  # no lesions, or of one amount only
        return ""
    own = [one for one in found if one["panel"] == found[0]["panel"] and one["value"] is not None]
    largest = max((one["amount"] or 0.0 for one in own), default=0.0)
    averaged = {one["series"] for one in own if one["row"] == "mean"}
    shown = {
        one["series"]: one for one in own
        if one["amount"] == largest and (one["row"] == "mean" or one["series"] not in averaged)
    }  # fmt: skip
    if not largest or len(shown) > MOST_VALUES:
        return ""
    names, _ = series_words([*shown])

    def value(one: dict[str, Any]) -> str:
        ends = f" [{one['low']:.2f}, {one['high']:.2f}]" if one["low"] is not None else ""
        return f"{one['value']:.2f}{ends}"

    told = [f"{name} {value(one)}" for name, one in zip(names, shown.values(), strict=True)]
    told += [f"intact {value(one)}" for one in own if one["row"] == "intact"][:1]
    measure = found[0]["measure"].capitalize()
    return f"{measure} at the amount {largest:g}, {found[0]['panel']}: {'; '.join(told)}."


def _value(column: Column, row: dict[str, Any]) -> str:
    low, high = (row[column.name + end] for end in (LOW, HIGH))
    ends = "" if low is None or high is None else f" [{column.format(low)}, {column.format(high)}]"
    return column.format(row[column.name]) + ends


def _spread(column: Column, rows: Sequence[dict[str, Any]]) -> float:
    values = [row[column.name] for row in rows if row[column.name] is not None]
    return float(max(values) - min(values))


def _range(column: Column, rows: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    known = [(row, name) for row, name in zip(rows, names, strict=True)
             if row[column.name] is not None]  # fmt: skip
    shown = {row[column.name] for row, _ in known}
    without = len(rows) - len(known)
    left = f" ({without} without a value)" if without else ""
    if len(known) == 1:
        row, name = known[0]
        return f"{column.title}: {_value(column, row)} for {name}{left}."
    of = f"{len(known)} groups{left}"
    if len(shown) == 1:
        return f"{column.title}: {column.format(shown.pop())} in all {of}."

    def end(value: float) -> str:
        own = [(row, name) for row, name in known if row[column.name] == value]
        more = f" and {plural(len(own) - 1, 'other')}" if len(own) > 1 else ""
        row, name = min(own, key=lambda one: len(one[1]))
        return f"{_value(column, row)} for {name}{more}"

    return f"{column.title}: from {end(min(shown))} to {end(max(shown))}, of {of}."


def _changed(found: Followed) -> str:
    """Return the right answers in the first and the last session, with the test of the two."""
    change = found.change
    name = change.sets[0].name
    shares = [one for one in change.shares if one.set == name]
    steps = change.steps(name)
    first, last, step = shares[0], shares[-1], steps[-1]
    who = f"{found.name[:1].upper()}{found.name[1:]}, {name}"
    if step.p is None:
        return f"{who}: {step.reason}."

    def share(one: Any) -> str:
        ends = one.interval
        return f"{one.correct} of {one.n}" + (f" [{ends.low:.2f}, {ends.high:.2f}]" if ends else "")

    tests = sum(one.p is not None for one in steps)
    return (
        f"{who}: {share(first)} right in session {first.session} and {share(last)} in session "
        f"{last.session}; {step.gained} gained, {step.lost} lost, McNemar's exact "
        f"{chances(step.p, step.p_adjusted, tests)}."
    )
