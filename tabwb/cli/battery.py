"""``tabwb battery``: list, show, check and write batteries; the pronunciation of words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tabwb.battery import available
from tabwb.battery.loader import check_battery, load_battery
from tabwb.battery.model import Battery
from tabwb.battery.new import new_battery
from tabwb.battery.prompts import render_prompt
from tabwb.cli.battery_page import page
from tabwb.cli.common import json_option, note, opened_plugins, print_check, print_json
from tabwb.phonology.dictionary import Form, forms_of, load_dictionary
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.specs import is_kebab
from tabwb.records.words import plural


@click.group()
def battery() -> None:
    """List, show, check and write batteries.

    A BATTERY with '/' in it or ending in .toml is a path, otherwise an id.
    """


@battery.command("list")
@json_option
def list_batteries(as_json: bool) -> None:
    """List the batteries and their sources."""
    rows: list[dict[str, Any]] = []
    with opened_plugins() as plugins:
        for source in plugins.batteries():
            row: dict[str, Any] = {"id": source.id, "owner": source.owner, "path": str(source.path)}
            row |= {"title": None, "version": None, "items": None, "examinees": [], "problem": None}
            rows.append(row)
            try:
                loaded = load_battery(source.path)
            except TabwbError as error:
                row["problem"] = str(error)
            else:
                row |= {"title": loaded.title, "version": loaded.version}
                row |= {"items": loaded.n_items, "examinees": list(loaded.examinees)}
    if as_json:
        print_json({"format": 1, "batteries": rows})
        return
    for row in rows:
        if row["problem"]:
            click.echo(f"{row['id']:<16} cannot be used ({row['owner']})\n{row['problem']}")
        else:
            click.echo(
                f"{row['id']:<16} {row['title']}, version {row['version']}, "
                f"{plural(row['items'], 'item')}, "
                f"for {' and '.join(row['examinees'])}s ({row['owner']})"
            )


@battery.command()
@click.argument("battery_name", metavar="BATTERY")
@json_option
def show(battery_name: str, as_json: bool) -> None:
    """Show BATTERY with every source and every prompt exactly as sent."""
    loaded = _loaded(battery_name)
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


def _loaded(argument: str) -> Battery:
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
    from tabwb.battery.rules import Scorers

    with opened_plugins() as plugins:

        def problem(spec: str) -> TabwbError | None:
            try:
                plugins.resolve("scorers", spec)
            except TabwbError as error:
                return error
            return None

        file = Path(argument)
        try:
            if not file.exists() and is_kebab(argument):
                file = plugins.find_battery(argument)
            elif (file / "battery.toml").is_file():
                file /= "battery.toml"
        except OSError:
            pass  # the check reports what is wrong with it
        ids = [descriptor.id for descriptor in plugins.descriptors("scorers")]
        problems = check_battery(file, scorers=Scorers(ids, problem))
    names, counts = None, ""
    more: dict[str, Any] = {}
    lines: list[str] = []
    if not problems:
        loaded = load_battery(file)
        rows = [row.to_json() for row in available.available(loaded)]
        more = {"language": loaded.language, "available": rows}
        lines = [*available.scored_by(loaded), *available.lines(loaded)]
        names = loaded.id, loaded.version, loaded.content_hash
        counts = f"{plural(len(loaded.subtests), 'subtest')}, {plural(loaded.n_items, 'item')}"
    return print_check(
        file, problems, names, "battery_hash", counts, as_json=as_json, more=more, lines=lines
    )


@battery.command()
def schema() -> None:
    """Print the JSON schema of a battery file, for editors."""
    from tabwb.battery.toml_schema import json_schema

    print_json(json_schema())


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
def new(name: str, items: Path | None, naming: bool, features: str | None) -> None:
    """Write the folder NAME with a commented battery.toml; its last part is the battery's id.

    Without --from the file has an example of each kind of typed item (choice, yes-no,
    verbatim, connected-text, description). With --naming it has a picture to name and
    its scoring rules. With --naming --from, the pictures beside the CSV are copied, and missing
    pronunciations come from the dictionary. Next: 'tabwb battery check NAME/battery.toml'.
    """
    folder = Path(name)
    if naming and features is not None:
        raise UsageError("--naming and --features cannot be combined", allowed="one of them")
    features_of = None if features is None else _loaded(features)
    if naming:
        from tabwb.tasks.spoken_naming.new import new_naming_battery

        path = new_naming_battery(folder, folder.name, items)
    else:
        path = new_battery(folder, folder.name, items, features_of)
    note(f"{path} written; next: tabwb battery check {path}")


@battery.command()
@click.argument("argument", metavar="BATTERY")
@click.argument("name")
def copy(argument: str, name: str) -> None:
    """Copy a battery with its files to the folder NAME, to change it.

    The last part of NAME is the id of the copy: results of the two are never put together.
    """
    from tabwb.battery.new import copy_battery

    folder = Path(name)
    with opened_plugins() as plugins:
        source = plugins.find_battery(argument)
    path = copy_battery(folder, folder.name, source, load_battery(source))
    note(f"{path} written; next: tabwb battery check {path}")


@battery.command()
@click.argument("words", metavar="WORD...", nargs=-1, required=True)
@json_option
def pronounce(words: tuple[str, ...], as_json: bool) -> int:
    """Show the pronunciation of each WORD, and its 'accept' to paste into a battery.

    From the CMU dictionary (General American), with words that sound the same. Quote several words
    that are one name: 'ice cream'. Exit status 1 if a word is unknown; near ones are named.
    """
    forms_by_word = {word: forms_of(word) for word in words}
    near = {word: _near(word) for word, forms in forms_by_word.items() if not forms}
    if as_json:
        rows = [_row(word, forms, near.get(word, ())) for word, forms in forms_by_word.items()]
        print_json({"format": 1, "words": rows})
    else:
        pages = [
            "\n".join([word, *_form_lines(forms), _accept_toml(forms)])
            for word, forms in forms_by_word.items()
            if forms
        ]
        if pages:
            click.echo("\n\n".join(pages))
    for word, others in near.items():
        meant = ", ".join(f"'{other}'" for other in others)
        note(
            f"'{word}' is not in the CMU dictionary"
            + (f"; did you mean {meant}?" if meant else "")
            + "\n  write its phonemes yourself: ARPAbet (D AO G) or IPA (dɔɡ)"
        )
    return int(bool(near))


def _near(word: str) -> tuple[str, ...]:
    dictionary = load_dictionary()
    for part in word.replace("-", " ").split():
        if not dictionary.pronunciations(part):
            return dictionary.near(part)
    return ()


def _form_lines(forms: Sequence[Form]) -> list[str]:
    shown = [form.arpabet or " ".join(form.phonemes) for form in forms]
    width = max(map(len, shown))
    return [
        f"  {phonemes:<{width}}  /{form.ipa}/  {form.reason}"
        + (f"; also: {', '.join(form.homophones)}" if form.homophones else "")
        for phonemes, form in zip(shown, forms, strict=True)
    ]


def _row(word: str, forms: Sequence[Form], near: Sequence[str]) -> dict[str, Any]:
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
        "near": list(near),
    }


def _accept_toml(forms: Sequence[Form]) -> str:
    """Return the forms as the key ``accept`` of a battery.

    >>> print(_accept_toml(forms_of("dog")))
    accept = [{ phonemes = "D AO G", reason = "citation" }]
    """
    tables = [
        f'{{ phonemes = "{" ".join(form.phonemes)}", reason = "{form.reason}" }}' for form in forms
    ]
    if len(tables) == 1:
        return f"accept = [{tables[0]}]"
    return "\n".join(["accept = [", *(f"  {table}," for table in tables), "]"])
