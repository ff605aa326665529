"""``tabwb rate forms``: list, show and check rating forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import json_option, note, opened_plugins, print_check, print_json
from tabwb.records.errors import TabwbError

if TYPE_CHECKING:
    from tabwb.battery.forms import Form, Question


@click.group()
def forms() -> None:
    """List, show and check rating forms.

    A FORM with '/' in it or ending in .toml is a path, otherwise an id. Your own forms are files
    ID.toml in the folder 'forms' of the configuration folder ('tabwb doctor' names it).
    """


@forms.command("list")
@json_option
def list_forms(as_json: bool) -> None:
    """List the forms."""
    from tabwb.battery.form_loader import read_form
    from tabwb.battery.forms import counted
    from tabwb.plugin_api.forms import form_files

    files, wrong = form_files()
    rows: list[dict[str, Any]] = []
    with opened_plugins() as plugins:
        for name, path in files.items():
            form, problems = read_form(path, plugins.find_battery)
            row: dict[str, Any] = {"id": name, "path": str(path), "title": None, "version": None}
            row |= {
                "questions": None,
                "asks": None,
                "problem": "\n".join(map(str, problems)) or None,
            }
            if form is not None:
                row |= {"title": form.title, "version": form.version}
                row |= {"questions": len(form.questions), "asks": counted(form)}
            rows.append(row)
    if as_json:
        print_json({"format": 1, "forms": rows, "problems": wrong})
        return
    for row in rows:
        if row["problem"]:
            click.echo(f"{row['id']:<16} cannot be used\n{row['problem']}")
        else:
            click.echo(f"{row['id']:<16} {row['title']}, version {row['version']}: {row['asks']}")
    for problem in wrong:
        note(problem)


@forms.command()
@click.argument("form_name", metavar="FORM")
@json_option
def show(form_name: str, as_json: bool) -> None:
    """Show FORM: every question with its key, its answers and its definition."""
    from tabwb.plugin_api.forms import open_form

    with opened_plugins() as plugins:
        form = open_form(form_name, plugins.find_battery)
    if as_json:
        content = json.loads(form.canonical)
        print_json({"format": 1, "form_hash": form.content_hash, **content})
    else:
        click.echo(page(form))


@forms.command()
@click.argument("argument", metavar="FILE")
@json_option
def check(argument: str, as_json: bool) -> int:
    """Check the form FILE: every problem with its line.

    FILE is a path, the id of a form, or '-' for standard input. Exit status 1 if there is a
    problem.
    """
    from tabwb.battery.form_loader import read_form
    from tabwb.battery.forms import counted
    from tabwb.plugin_api.forms import find_form

    file = Path(argument)
    try:
        if argument != "-" and not file.exists():
            file = find_form(argument)
    except (OSError, TabwbError):
        pass  # the check reports what is wrong with it
    with opened_plugins() as plugins:
        form, problems = read_form(file, plugins.find_battery)
    names = None if form is None else (form.id, form.version, form.content_hash)
    counts = "" if form is None else counted(form)
    return print_check(file, problems, names, "form_hash", counts, as_json=as_json)


@forms.command()
def schema() -> None:
    """Print the JSON schema of a form file, for editors."""
    from tabwb.battery.form_schema import form_json_schema

    print_json(form_json_schema())


def page(form: Form) -> str:
    """Return a form in words."""
    from tabwb.battery.forms import counted

    lines = [
        f"{form.title}  ({form.id} {form.version}, {form.license})",
        f"{counted(form)}; raters get: {', '.join(form.shows)}",
        f"sha256 {form.content_hash}",
    ]
    if any(question.kind == "present-absent" for question in form.questions):
        unmarked = "absent" if form.unmarked == "absent" else "an answer is asked for"
        lines.append(f"without a mark: {unmarked}")
    for name in ("citation", "doi", "notes"):
        if getattr(form, name):
            lines += ["", f"{name}: {getattr(form, name)}"]
    titles = {group.id: group.title for group in form.groups}
    for group in dict.fromkeys(question.group for question in form.questions):
        lines += ["", f"== {titles.get(group, 'Questions')} =="]
        for question in form.questions:
            if question.group == group:
                lines += _question_lines(question, form)
    return "\n".join(lines)


def _question_lines(question: Question, form: Form) -> list[str]:
    key = f"[{question.key}] " if question.key else ""
    lines = [f"  {key}{question.title} ({question.measure}): {_answers(question)}"]
    if question.definition:
        lines.append(f"      {question.definition}")
    if question.example:
        lines.append(f"      Example: {question.example}")
    if question.objective is not None:
        word = "objective" if question.objective else "subjective"
        source = f" [{form.objective_source}]" if form.objective_source else ""
        lines.append(f"      {word}{source}")
    if question.kind == "choice":
        for option in question.options:
            mark = f"[{option.key}] " if option.key else ""
            number = "" if option.number is None else f", counts as {option.number:g}"
            meaning = f": {option.definition}" if option.definition else ""
            lines.append(f"      {mark}{option.title}{meaning}{number}")
    return lines


def _answers(question: Question) -> str:
    words = {"present-absent": "present, absent", "choice": "one of", "text": "words",
             "phonemes": "phonemes (ARPAbet or IPA)"}.get(question.kind, "")  # fmt: skip
    if question.kind == "scale":
        names = [f"{option.value} {option.title}" for option in question.options]
        words = ", ".join(names) or f"{question.low} to {question.high}"
        if question.cut is not None:
            words += f" (present from {question.cut})"
    words += ", cannot tell" * question.cannot_tell
    words += "; of each attempt" * question.per_attempt
    return words + "; may be left out" * question.optional
