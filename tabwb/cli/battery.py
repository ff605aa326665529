"""``tabwb battery``: list, show, check and write batteries; the pronunciation of words."""

from __future__ import annotations

import json

import click

from tabwb.battery.loader import load_battery
from tabwb.battery.model import Battery, Item, SourcedText, Subtest
from tabwb.battery.prompts import render_prompt
from tabwb.battery.task_type import code_of
from tabwb.cli.command import add_commands
from tabwb.cli.common import json_option, opened_plugins, print_json
from tabwb.operations.battery import (
    CheckBattery,
    CopyBattery,
    ListBatteries,
    NewBattery,
    PronounceWords,
)
from tabwb.records.words import plural


@click.group()
def battery() -> None:
    """List, show, check and write batteries.

    A BATTERY with '/' in it or ending in .toml is a path, otherwise an id.
    """


add_commands(battery, ListBatteries, CheckBattery, NewBattery, CopyBattery, PronounceWords)


@battery.command()
@click.argument("battery_name", metavar="BATTERY")
@json_option
def show(battery_name: str, as_json: bool) -> None:
    """Show BATTERY with every source and every prompt exactly as sent."""
    with opened_plugins() as plugins:
        loaded = load_battery(plugins.find_battery(battery_name))
    if not as_json:
        click.echo(page(loaded))
        return
    prompts = [
        {"subtest": subtest.id, "item": item.id, "prompt": render_prompt(subtest, item)}
        for subtest in loaded.subtests
        for item in subtest.items
    ]
    content = json.loads(loaded.canonical)
    print_json({"format": 1, "battery_hash": loaded.content_hash, **content, "prompts": prompts})


@battery.command()
def schema() -> None:
    """Print the JSON schema of a battery file, for editors."""
    from tabwb.battery.task_type import task_types
    from tabwb.battery.toml_schema import json_schema

    print_json(json_schema(task_types()))


def page(battery: Battery) -> str:
    """Return a battery in words."""
    lines = [
        f"{battery.title}  ({battery.id} {battery.version}, {battery.language}, {battery.license})",
        f"for {' and '.join(battery.examinees)}s; {plural(battery.n_items, 'item')}",
        f"sha256 {battery.content_hash}",
    ]
    for name in ("citation", "doi", "url", "disclaimer", "notes"):
        if getattr(battery, name):
            lines += ["", f"{name}: {getattr(battery, name)}"]
    if battery.system is not None:
        lines += ["", _sourced("system message", battery.system)]
    for subtest in battery.subtests:
        lines += ["", *_subtest_lines(battery, subtest)]
    if battery.features:
        lines += ["", *_feature_lines(battery)]
    for grouping in battery.groupings:
        lines += ["", f"== {grouping.title}{_mark(grouping.source)} =="]
        lines += [
            f"  {category.title}: {', '.join(category.features)}"
            for category in grouping.categories
        ]
    return "\n".join(lines)


def _subtest_lines(battery: Battery, subtest: Subtest) -> list[str]:
    lines = [f"== {subtest.title} ({subtest.id}, {subtest.response}){_mark(subtest.source)} =="]
    limit = f"; reply limit: {subtest.max_tokens} tokens" if subtest.max_tokens else ""
    if subtest.rules is None:
        lines.append(f"scorers: {', '.join(subtest.scorers) or 'none'}{limit}")
    if subtest.administrator is not None:
        lines.append(_sourced("to the administrator, never sent", subtest.administrator))
    if subtest.instructions is not None:
        how = "sent" if subtest.rules is None else "said to the speaker"
        lines.append(_sourced(f"instructions, {how}", subtest.instructions))
    if subtest.task.rule_lines is not None:
        with code_of(subtest.task):
            lines += subtest.task.rule_lines(subtest)
    for item in subtest.items:
        marks = ["practice"] if item.practice else []
        if item.expected is not None:
            marks.append(f"expected: {item.expected}{_mark(subtest.expected_source)}")
        marks += [f"foil {option}: {kind} [ours]" for option, kind in item.foils.items()]
        marks += [f"tags: {', '.join(item.tags)} [ours]"] if item.tags else []
        lines += ["", f"  {item.id}  {'; '.join(marks)}".rstrip()]
        if item.reference:
            lines.append(f"    reference, for scorers: {item.reference}")
        if item.metadata:
            lines.append(f"    metadata, for scorers: {json.dumps(item.metadata, default=str)}")
        lines += [f"    {line}" for line in _item_lines(battery, subtest, item)]
    return lines


def _item_lines(battery: Battery, subtest: Subtest, item: Item) -> list[str]:
    lines = []
    if item.picture or subtest.rules:
        lines.append(f"picture {item.picture}, sha256 {battery.assets.get(item.picture, '')[:16]}")
    if subtest.task.item_lines is None:
        return lines + render_prompt(subtest, item).splitlines()
    with code_of(subtest.task):
        return lines + subtest.task.item_lines(item)


def _feature_lines(battery: Battery) -> list[str]:
    definition, judged = _mark(battery.definition_source), _mark(battery.judge_source)
    lines = [f"== {plural(len(battery.features), 'feature')} =="]
    for feature in battery.features:
        lines.append(f"  {feature.title} ({feature.id}){definition}: {feature.definition}")
        if feature.judge_definition is None:
            lines.append(f"    for judges{judged}: no definition and no example")
        else:
            example = f" Example: {feature.judge_example}" if feature.judge_example else ""
            lines.append(f"    for judges{judged}: {feature.judge_definition}{example}")
    return lines


def _sourced(what: str, text: SourcedText) -> str:
    return f"{what}{_mark(text.source)}: {text.text}"


def _mark(source: str) -> str:
    if not source:
        return ""
    return " [ours]" if source == "ours" else f" [paper, {source}]"
