"""``tabwb battery``: list, show, check and write batteries, and say how words are said."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.battery.loader import check_battery, load_battery
from tabwb.battery.new import new_battery, new_naming_battery
from tabwb.battery.prompts import render_prompt
from tabwb.cli.battery_naming import item_lines, picture_line, rule_lines
from tabwb.cli.common import json_option, note, opened_plugins, print_check, print_json
from tabwb.cli.pronounce import pronounce
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.specs import is_kebab
from tabwb.records.words import plural

if TYPE_CHECKING:
    from tabwb.battery.model import Battery, Item, SourcedText, Subtest
    from tabwb.battery.rules import Scorers
    from tabwb.plugin_api.registry.plugins import Plugins


@click.group()
def battery() -> None:
    """List, show, check and write batteries.

    A BATTERY with '/' in it or ending in .toml is a path, otherwise an id.
    """


battery.add_command(pronounce)


@battery.command("list")
@json_option
def list_batteries(as_json: bool) -> int:
    """List the batteries and their sources."""
    with opened_plugins() as plugins:
        rows: list[dict[str, Any]] = []
        for source in plugins.batteries():
            row: dict[str, Any] = {"id": source.id, "owner": source.owner, "path": str(source.path)}
            try:
                found = load_battery(source.path)
                row |= {
                    "title": found.title,
                    "version": found.version,
                    "items": found.n_items,
                    "examinees": list(found.examinees),
                    "problem": None,
                }
            except TabwbError as error:
                row |= {"title": None, "version": None, "items": None, "examinees": []}
                row["problem"] = str(error)
            rows.append(row)
    if as_json:
        print_json({"format": 1, "batteries": rows})
        return 0
    for row in rows:
        if row["problem"]:
            click.echo(f"{row['id']:<16} cannot be used ({row['owner']})\n{row['problem']}")
        else:
            click.echo(
                f"{row['id']:<16} {row['title']}, version {row['version']}, "
                f"{plural(row['items'], 'item')}, "
                f"for {' and '.join(row['examinees'])}s ({row['owner']})"
            )
    return 0


@battery.command()
@click.argument("battery_name", metavar="BATTERY")
@json_option
def show(battery_name: str, as_json: bool) -> int:
    """Show BATTERY with every source and every prompt exactly as sent."""
    found = _loaded(battery_name)
    if as_json:
        print_json(_document(found))
    else:
        click.echo(_page(found))
    return 0


def _loaded(argument: str) -> Battery:
    """Load the battery of an id or a path."""
    with opened_plugins() as plugins:
        return load_battery(plugins.find_battery(argument))


@battery.command()
@click.argument("argument", metavar="FILE")
@json_option
def check(argument: str, as_json: bool) -> int:
    """Check the battery FILE: every problem with its line.

    FILE is a path, a folder with a battery.toml, the id of a battery, or '-' for standard input
    (files that it names are in the current folder). Exit status 1 if there is a problem.
    """
    with opened_plugins() as plugins:
        file = _file_to_check(argument, plugins)
        problems = check_battery(file, scorers=_scorers(plugins))
    found = None if problems else load_battery(file)
    facts = {
        "id": found.id if found else None,
        "version": found.version if found else None,
        "battery_hash": found.content_hash if found else None,
    }
    done = (
        ""
        if found is None
        else (
            f"ok: {found.id} {found.version}, {plural(len(found.subtests), 'subtest')}, "
            f"{plural(found.n_items, 'item')}, sha256 {found.content_hash[:16]}"
        )
    )
    return print_check(file, problems, facts, done, as_json=as_json)


def _scorers(plugins: Plugins) -> Scorers:
    """The scorers that there are, and what is wrong with the options of a spec."""
    from tabwb.battery.rules import Scorers

    def problem(spec: str) -> TabwbError | None:
        try:
            plugins.resolve("scorers", spec)
        except TabwbError as error:
            return error
        return None

    return Scorers([one.id for one in plugins.descriptors("scorers")], problem)


def _file_to_check(argument: str, plugins: Plugins) -> Path:
    file = Path(argument)
    try:
        if not file.exists() and is_kebab(argument):
            return plugins.find_battery(argument)
        return file / "battery.toml" if (file / "battery.toml").is_file() else file
    except OSError:
        return file  # what is wrong with it is said by the check


@battery.command()
def schema() -> int:
    """Print the JSON schema of a battery file, for editors."""
    from tabwb.battery.toml_schema import json_schema

    print_json(json_schema())
    return 0


@battery.command()
@click.argument("name")
@click.option(
    "--from",
    "items",
    metavar="items.csv",
    type=click.Path(path_type=Path),
    help="Items as CSV. Columns: prompt, and if needed subtest, response, options (a|b|c), "
    "expected, tags (a|b), id. With --naming: target, and where needed picture (a file beside the "
    "CSV), accept (pronunciations a|b), semantic, visual, parts, unrelated (words a|b), prompt, "
    "practice (yes, no), tags, subtest, id.",
)
@click.option("--naming", is_flag=True, help="Start with pictures to name aloud.")
@click.option(
    "--features",
    metavar="BATTERY",
    help="Copy the features and categories of a battery, for example tab: judges need them.",
)
def new(name: str, items: Path | None, naming: bool, features: str | None) -> int:
    """Write the folder NAME with a commented battery.toml.

    Without --from it has an example of each kind of text item; with --naming, a picture to name and
    its scoring rules. With --naming --from, the pictures beside the CSV are copied, and missing
    pronunciations come from the dictionary.
    """
    folder = Path(name)
    if naming and features is not None:
        raise UsageError("--naming and --features cannot be combined", allowed="one of them")
    features_of = None if features is None else _loaded(features)
    make = (
        partial(new_naming_battery, items=items)
        if naming
        else partial(new_battery, items=items, features_of=features_of)
    )
    path = make(folder, folder.name)
    note(f"{path} written; next: tabwb battery check {path}")
    return 0


def _document(found: Battery) -> dict[str, Any]:
    return {
        "format": 1,
        "battery_hash": found.content_hash,
        **json.loads(found.canonical),
        "prompts": [
            {"subtest": subtest.id, "item": item.id, "prompt": render_prompt(subtest, item)}
            for subtest in found.subtests
            for item in subtest.items
        ],
    }


def _page(found: Battery) -> str:
    lines = [
        f"{found.title}  ({found.id} {found.version}, {found.language}, {found.license})",
        f"for {' and '.join(found.examinees)}s; {plural(found.n_items, 'item')}",
        f"sha256 {found.content_hash}",
    ]
    for name in ("citation", "doi", "url", "disclaimer", "notes"):
        if getattr(found, name):
            lines += ["", f"{name}: {getattr(found, name)}"]
    if found.system is not None:
        lines += ["", _sourced("system message", found.system)]
    for subtest in found.subtests:
        lines += ["", *_subtest_lines(found, subtest)]
    if found.features:
        lines += ["", *_feature_lines(found)]
    for grouping in found.groupings:
        lines += ["", f"== {grouping.title}{_mark(grouping.source)} =="]
        lines += [
            f"  {category.title}: {', '.join(category.features)}"
            for category in grouping.categories
        ]
    return "\n".join(lines)


def _subtest_lines(found: Battery, subtest: Subtest) -> list[str]:
    lines = [
        f"== {subtest.title} ({subtest.id}, {subtest.response.value}){_mark(subtest.source)} =="
    ]
    limit = f"; reply limit: {subtest.max_tokens} tokens" if subtest.max_tokens else ""
    if subtest.naming is None:
        lines.append(f"scorers: {', '.join(subtest.scorers) or 'none'}{limit}")
    if subtest.administrator is not None:
        lines.append(_sourced("to the administrator, never sent", subtest.administrator))
    if subtest.instructions is not None:
        how = "sent" if subtest.naming is None else "said to the speaker"
        lines.append(_sourced(f"instructions, {how}", subtest.instructions))
    lines += rule_lines(subtest)
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
        shown = item_lines(found, item) if subtest.naming else _prompt_lines(found, subtest, item)
        lines += [f"    {line}" for line in shown]
    return lines


def _prompt_lines(found: Battery, subtest: Subtest, item: Item) -> list[str]:
    picture = [picture_line(found, item.picture)] if item.picture else []
    return [*picture, *render_prompt(subtest, item).splitlines()]


def _feature_lines(found: Battery) -> list[str]:
    definition, judged = _mark(found.definition_source), _mark(found.judge_source)
    lines = [f"== {plural(len(found.features), 'feature')} =="]
    for feature in found.features:
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
