"""Write the reference pages from the code: hooks, records, commands, measures ...

``python docs/generate.py`` writes them; ``--check`` fails when one is not current.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

REFERENCE = Path(__file__).parent / "reference"
HEADER = "<!-- Written by docs/generate.py from the code; edit the code, not this page. -->\n\n"


def hooks() -> str:
    """Return the page of all hook specifications."""
    from tabwb.plugin_api import hookspecs

    lines = ["# Hooks", "", inspect.getdoc(hookspecs) or "", ""]
    for name, hook in inspect.getmembers(hookspecs, inspect.isfunction):
        if not name.startswith("tabwb_"):
            continue
        parameters = ", ".join(inspect.signature(hook).parameters)
        lines += [f"## `{name}({parameters})`", "", _plain(inspect.getdoc(hook) or ""), ""]
    return "\n".join(lines)


def records() -> str:
    """Return the page of all records of plugins, field by field."""
    lines = [
        "# Records that a plugin sees",
        "",
        "Frozen dataclasses of plain values. A field without a default must be given. Times are "
        "seconds.",
        "",
    ]
    for title, kinds in record_kinds().items():
        lines += [f"## {title}", ""]
        for kind in kinds:
            text = _plain(inspect.getdoc(kind) or "").partition("Attributes:")[0].strip()
            lines += [f"### `{kind.__name__}`", "", f"`{kind.__module__}`. {text}", ""]
            rows = list(field_rows(kind))
            if rows:
                lines += ["| field | type | default | meaning |", "|---|---|---|---|"]
                lines += [f"| {' | '.join(row)} |" for row in rows]
                lines.append("")
    return "\n".join([*lines, *value_rows()])


def value_rows() -> Iterator[str]:
    """Yield the table of the values of statuses, states and kinds."""
    from enum import StrEnum

    from tabwb.records import states

    yield from ("## Values", "", "Enumerations of text, in `tabwb.records.states`.", "")
    yield from ("| type | what it is | values |", "|---|---|---|")
    for name, kind in vars(states).items():
        if isinstance(kind, type) and issubclass(kind, StrEnum) and kind is not StrEnum:
            meaning = " ".join(_plain(inspect.getdoc(kind) or "").partition("\n\n")[0].split())
            values = ", ".join(f"`{value.name}` (`{value.value}`)" for value in kind)
            yield f"| `{name}` | {meaning} | {values} |"
    yield ""


def record_kinds() -> dict[str, tuple[type, ...]]:
    """Return the records of plugins, by the component that uses them."""
    from tabwb.battery import model as battery
    from tabwb.lesion.declared import Part
    from tabwb.plugin_api import components, descriptors, extensions
    from tabwb.records import answers, events, exchange, ratings, speech, trials
    from tabwb.records import naming as observations
    from tabwb.records.specs import Spec

    return {
        "What every plugin registers": (
            descriptors.Descriptor,
            descriptors.BatterySource,
            Spec,
        ),
        "Model back ends": (
            exchange.Request,
            exchange.Message,
            exchange.Decoding,
            exchange.Reply,
            exchange.Wait,
            exchange.Likelihood,
            Part,
        ),
        "Scorers and judges": (
            components.Response,
            ratings.Rating,
            battery.Subtest,
            battery.Item,
            battery.SourcedText,
            battery.Feature,
            ratings.Verdict,
            ratings.Declaration,
        ),
        "Results": (
            extensions.Statistic,
            extensions.StatisticValue,
            extensions.Responses,
            extensions.CommandSource,
            extensions.PageSource,
            extensions.PageData,
        ),
        "Importers": (
            components.AnswerFile,
            answers.RecordedAnswer,
            answers.RecordedRun,
            answers.KnownDecoding,
        ),
        "Transcribers": (speech.Clip, speech.Segment, speech.Transcript),
        "Events": (events.Event, *_dataclasses(events, events.Event)),
        "Parts of events": (
            trials.PlannedTrial,
            trials.Attempt,
            ratings.Judgement,
            *_dataclasses(observations),
        ),
    }


COMMON = {
    "attempt": "number of the attempt within its trial.",
    "by": "the rater, or the user.",
    "at_s": "seconds from the beginning of the recording; None if nothing was recorded.",
    "start_s": "start of the segment.",
    "end_s": "end of the segment.",
    "onset_s": "when the response began, seconds from the beginning of the recording.",
    "cue": "index of the cue in the item's cues, from 0.",
    "kind": "the battery's word for the cue.",
    "counts": "whether a right answer after the cue counts as right.",
    "code": "id of the code.",
    "flags": "the flags of the code.",
    "transcript": "the transcript.",
    "recording": "uid of the recording.",
    "file": "name of the file while it is written, or of the imported file.",
    "rate": "frames per second.",
    "uncertainty_s": "uncertainty of that time, seconds.",
    "onset_uncertainty_s": "uncertainty of the onset, seconds; None where it is not known.",
    "onset_method": "how the onset was measured, or empty.",
    "reason": "why, or empty.",
    "at": "time of the entry, ISO 8601 in UTC; empty if it is not known.",
    "seconds": "how long it is.",
    "sha256": "of the file's bytes, hex.",
    "text": "the text.",
    "trials": "their numbers.",
    "ratings": "one for each rater and measure.",
    "judgement": "its ratings, raw reply and tokens.",
    "observation": "one of the records of `tabwb.records.naming`.",
    "device": "the microphone's name.",
    "score": "one of `tabwb.records.naming.SCORES`.",
    "status": "its status.",
    "remarks": "problems of the sound, or empty.",
    "role": "who speaks: `system`, `user` or `assistant`.",
    "content": "the text.",
    "messages": "the conversation as it was sent, the last one being the user's.",
    "decoding": "how the reply is decoded.",
    "protocol": "how the answer is obtained.",
    "replicate": "0-based.",
    "tokens": "number of tokens of the continuation.",
    "number": "1-based place.",
    "subtest": "its id in the battery.",
    "item": "its id in the battery.",
    "options": "the options in the order shown.",
    "prompt": "the user message, exactly.",
    "error": "the message of a failure, or empty.",
    "recorded_at": "UTC, ISO 8601.",
    "metadata": "plain strings (revision, dtype, token counts).",
    "stop_reason": "why the reply ended.",
    "latency_s": "seconds from prompt to end, or None.",
    "rater": "the spec of the scorer or judge, or a person's study id.",
    "measure": "what was rated (`exact`, `perseverations`, `ttr`).",
    "id": "in the store; 0 before it is there.",
    "max_tokens": "token limit of a reply.",
    "temperature": "0 for greedy.",
    "top_p": "nucleus mass.",
    "stop": "strings at which a reply ended.",
    "seed": "of the reply.",
    "lesion": "spec of the model's lesion.",
    "prompt_noise": "spec of the perturbation of the items' texts.",
    "tags": "of the administration (the group of a speaker).",
}
"""Meanings of fields that several records share, and of those whose name says it."""


def field_rows(kind: type) -> Iterator[tuple[str, str, str, str]]:
    """Yield field, type, default and meaning; fields of ``Event`` are described there only."""
    from tabwb.records.events import Event

    meanings = _attributes(kind)
    inherited = {field.name for field in dataclasses.fields(Event)}
    for field in dataclasses.fields(kind):
        told = issubclass(kind, Event) and kind is not Event and field.name in inherited
        if told or field.name.startswith("_"):
            continue
        if field.default is not dataclasses.MISSING:
            default = f"`{field.default!r}`"
        elif field.default_factory is not dataclasses.MISSING:
            default = f"`{field.default_factory()!r}`"
        else:
            default = ""
        kind_of = str(field.type).replace("|", "or")
        meaning = (meanings.get(field.name) or COMMON.get(field.name, "")).replace("|", "\\|")
        yield f"`{field.name}`", f"`{kind_of}`", default.replace("|", "\\|"), meaning


def _dataclasses(module: Any, base: type = object) -> tuple[type, ...]:
    return tuple(
        kind
        for kind in vars(module).values()
        if isinstance(kind, type)
        and dataclasses.is_dataclass(kind)
        and kind.__module__ == module.__name__
        and issubclass(kind, base)
        and kind is not base
    )


def _attributes(kind: type) -> dict[str, str]:
    """Return the ``Attributes:`` of a docstring and of the base classes' docstrings."""
    meanings: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        section = (inspect.getdoc(base) or "").partition("Attributes:\n")[2]
        names: list[str] = []
        for line in section.splitlines():
            head, colon, rest = line.partition(": ")
            if line.startswith("    ") and not line.startswith("     ") and colon:
                names = [name.strip() for name in head.split(",")]
                meanings |= dict.fromkeys(names, _plain(rest.strip()))
            elif line.strip() and line.startswith("     "):
                for name in names:
                    meanings[name] += " " + _plain(line.strip())
            elif line.strip():
                break
    return meanings


def commands() -> str:
    """Return the page of all commands with their ``--help``."""
    from tabwb.cli.main import cli

    lines = ["# Commands", ""]
    for path, command in _walk("tabwb", cli):
        context = click.Context(command, info_name=path, terminal_width=88)
        lines += [f"## `{path}`", "", "```", command.get_help(context), "```", ""]
    return "\n".join(lines)


def export_columns() -> str:
    """Return the data dictionary: all columns of the long table, and all keys of JSON Lines."""
    from tabwb_builtin.columns import TABLE
    from tabwb_builtin.exporters import LINE

    lines = [
        "# Data dictionary of exports",
        "",
        "Names are stable: later versions add columns and keys and change none. The same",
        "declarations are in the `datapackage.json` and in the text beside each file.",
        "",
        "## CSV and Parquet",
        "",
        "`tabwb export --format csv` and `--format parquet` write one row per rating of a counted",
        "response. An empty cell (Parquet: a null) means no value. Lists and JSON are JSON text",
        "in CSV.",
        "",
        *_dictionary(TABLE),
        "",
        "With `--wide` there is one row per response: the same columns up to",
        "`option_log_probabilities`, then one number for each rater and measure (`RATER MEASURE`)",
        "and the burden of each judge (`RATER burden`, features present).",
        "",
        "## JSON Lines",
        "",
        "`tabwb export --format jsonl` writes one line per counted response. `null` means no",
        "value.",
        "",
        *_dictionary(LINE),
    ]
    return "\n".join([*lines, ""])


def _dictionary(columns: Iterable[Any]) -> Iterator[str]:
    yield "| column | type | unit | meaning | values |"
    yield "|---|---|---|---|---|"
    for column in columns:
        values = ", ".join(f"`{value}`" for value in column.allowed)
        meaning = column.meaning.replace("|", "\\|")
        yield f"| `{column.name}` | {column.type} | {column.unit} | {meaning} | {values} |"


def measures() -> str:
    """Return the page of all measures of results."""
    from tabwb.analysis.measures import MEASURES

    lines = [
        "# Measures",
        "",
        "Every measure of results with its id in JSON and CSV. [Results](../results.md) has the",
        "definitions. *Pooled over* says how the responses of several administrations are",
        "combined: a mean over responses or items, a ratio of sums over phonemes, a sum, or a",
        "median.",
        "",
        "| id | title | meaning | unit | pooled over |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| `{measure.id}` | {measure.title} | {measure.meaning} | {measure.unit} "
        f"| {measure.pooled} |"
        for measure in MEASURES
    ]
    return "\n".join([*lines, ""])


def grouping_keys() -> str:
    """Return the page of all keys that results are grouped and chosen by."""
    from tabwb.analysis.keys import keys

    lines = [
        "# Keys of groups and filters",
        "",
        "The keys of `--by`, `--where` and `--together`",
        "([grouping](../results.md#grouping-and-choosing)). *of*: an administration or a response",
        "has the value. *apart*: responses that differ in it have separate rows unless",
        "`--together` names it. `model-NAME` is an option of the model's spec (`model-dtype`), and",
        "`lesion-NAME` one of the spec of a lesion that another tool made (`lesion-severity`).",
        "",
        "| key | meaning | values | of | apart |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| `{key.id}` | {key.meaning} | {key.kind} | {key.level} | {'yes' * bool(key.pooled)} |"
        for key in keys()
    ]
    return "\n".join([*lines, ""])


def figures() -> str:
    """Return the page of all figures with their options."""
    from tabwb.media.figures import FIGURES, figure_kind

    lines = [
        "# Figures",
        "",
        "What `tabwb figure --list` prints: each figure, what it needs, and its options, which are",
        "given as `--option NAME=VALUE`. [Figures and reports](../figures-and-reports.md#figures)",
        "has pictures and methods.",
    ]
    for kind in map(figure_kind, FIGURES):
        lines += ["", f"## {kind.id}", "", f"{kind.title}. {kind.shows}", "", f"Needs: {kind.data}"]
        grouped = f"Without `--by` and names: grouped by {kind.by}."
        lines += ["", grouped]
        if kind.options:
            lines += ["", "| option | meaning | values | default |", "|---|---|---|---|"]
        for option in kind.options:
            values = ", ".join(f"`{value}`" for value in option.allowed if value) or "any text"
            default = f"`{option.default}`" if option.default else ""
            lines.append(f"| `{option.name}` | {option.meaning} | {values} | {default} |")
    return "\n".join([*lines, ""])


def battery_schema() -> str:
    """Return the page of all keys of a battery file."""
    from tabwb.battery.toml_schema import json_schema

    return _schema_page("a battery file", "tabwb battery schema", json_schema())


def form_schema() -> str:
    """Return the page of all keys of a rating form's file."""
    from tabwb.battery.form_files import form_json_schema

    return _schema_page("a rating form", "tabwb rate forms schema", form_json_schema())


def ledger_schema() -> str:
    """Return the page of all keys of a paper's ledger."""
    from tabwb.analysis.ledger import LedgerFile

    return _schema_page("a ledger", "", LedgerFile.model_json_schema(), "papers.md")


def norms_schema() -> str:
    """Return the page of all keys of a file of norms."""
    from tabwb.battery.norms import NormFile

    return _schema_page("a file of norms", "", NormFile.model_json_schema(), "norms.md")


def papers() -> str:
    """Return the page of the printed values of every paper that tabwb has a ledger of."""
    from tabwb.operations.reproduce import papers as ledgers

    lines = [
        "# Papers, value by value", "",
        "What `tabwb reproduce PAPER` says without the papers' data. Values with a command need "
        "data; [the guide](../papers.md) says how they are given.", "",
    ]  # fmt: skip
    for name, file in ledgers().items():
        lines += [f"## `{name}`", "", f"{file.paper.citation} {file.paper.notes}".strip(), ""]
        lines += [*_papers_data(file), ""]
        lines += ["| where | what | reproduced | differ | cannot be | command |",
                  "|---|---|---|---|---|---|"]  # fmt: skip
        differ: list[str] = []
        rows, commands = _compared(file)
        for entry in file.entry:
            own = [one for one in rows if one.at == entry.at]
            counts = [
                sum(one.status == status for one in own)
                for status in ("reproduced", "differs", "cannot be")
            ]
            shown = "; ".join(
                f"`{command}`" if command.startswith("tabwb ") else command
                for command in commands.get(entry.step, ())
            )
            cells = [entry.at, _plain(entry.title), *map(str, counts), shown]
            lines.append(f"| {' | '.join(cells)} |")
            differ += [
                f"| {one.at}, {one.row}, {one.column} | {one.published} | {one.ours} | {one.note} |"
                for one in own
                if one.status == "differs"
            ]
        if differ:
            lines += ["", "| differs | printed | computed | why |", "|---|---|---|---|", *differ]
        lines.append("")
    return "\n".join(lines)


def _papers_data(file: Any) -> Iterator[str]:
    for data in file.data:
        yield f"- `--data {data.id}=FOLDER`: {data.title}. Source: {data.source}."


def _compared(file: Any) -> tuple[list[Any], dict[str, list[str]]]:
    """Return the values of a ledger without data, and the commands up to each step."""
    import tempfile

    from tabwb.analysis.ledger import Done, compared
    from tabwb.cli.command import tools_of
    from tabwb.cli.common import opened_plugins
    from tabwb.operations.reproduce import command_text, ran

    done = {}
    with opened_plugins(True) as plugins, tempfile.TemporaryDirectory() as work:
        tools = tools_of(plugins, None)
        for step in file.step:
            command = command_text(step.run, step.values) + " --dry-run" * step.dry_run
            document = None if step.needs else ran(step.run, step.values, tools, Path(work))
            done[step.id] = Done(command, document)
    commands, before = {}, {}
    for step in file.step:  # a step works on what those with the same data left in the store
        own = before.setdefault(tuple(step.needs) or step.id, [])
        own.append(done[step.id].command)
        commands[step.id] = list(own)
    return compared(file, done), commands


def _schema_page(what: str, command: str, schema: dict[str, Any], guide: str = "") -> str:
    lines = [
        f"# Keys of {what}",
        "",
        f"`{command}` prints the same as a JSON schema for editors."
        if command
        else f"[The guide](../{guide}) has an example.",
        "",
    ]
    parts: dict[str, Any] = {"the file": schema, **schema.get("$defs", {})}
    for title, part in parts.items():
        if "properties" not in part:
            continue
        lines += [f"## {title}", ""]
        if part.get("description"):
            lines += [_plain(part["description"]), ""]
        lines += ["| key | type | required | meaning |", "|---|---|---|---|"]
        required = part.get("required", [])
        for key, value in part["properties"].items():
            meaning = " ".join(_plain(value.get("description", "")).split()).replace("|", "\\|")
            needed = "yes" if key in required else ""
            lines.append(f"| `{key}` | {_type(value)} | {needed} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def _walk(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _walk(f"{path} {name}", inner)


def _plain(text: str) -> str:
    for role in (":func:", ":class:", ":data:", ":mod:", ":meth:", ":attr:"):
        text = text.replace(role, "")
    return text.replace("``", "`").replace("`~", "`")


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return str(value["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in value:
        return " or ".join(_type(part) for part in value["anyOf"])
    if "enum" in value:
        return ", ".join(f"`{choice}`" for choice in value["enum"])
    if value.get("type") == "array":
        return f"list of {_type(value.get('items', {}))}"
    return str(value.get("type", "any"))


def python() -> str:
    """Return the page of every name of ``import tabwb``."""
    import tabwb

    lines = [
        "# Python: every name",
        "",
        "All of these are in the module `tabwb`; [Python](../python.md) shows how they are used. "
        "What plugin authors import is in `tabwb.plugin_api` ([plugins](../plugins.md)).",
        "",
    ]
    names = sorted(set(tabwb.__all__) - {"__version__"}, key=str.lower)
    for name in names:
        lines += _name(getattr(tabwb, name), name)
    return "\n".join([*lines, *_types()])


def plugin_api() -> str:
    """Return the page of every name of ``tabwb.plugin_api`` and ``tabwb.testing``."""
    from tabwb import plugin_api, testing

    records = {kind.__name__: kind for kinds in record_kinds().values() for kind in kinds}
    lines = [
        "# Plugins: every name",
        "",
        "What plugin authors import: `tabwb.plugin_api`, and `tabwb.testing` for tests. "
        "[Plugins](../plugins.md) shows how they are used; [hooks](hooks.md) are functions of a "
        "plugin.",
        "",
    ]
    for module in (plugin_api, testing):
        lines += [f"# `{module.__name__}`", ""]
        for name in sorted(module.__all__, key=str.lower):
            thing = getattr(module, name)
            thing = inspect.unwrap(thing) if callable(thing) else thing  # one with a cache
            if name in records:
                link = f"records.md#{name.lower()}"
                lines += [f"## `{name}`", "", f"A record: [its fields]({link}).", ""]
            elif inspect.isfunction(thing) or (
                inspect.isclass(thing) and thing.__module__.startswith("tabwb")
            ):
                lines += _name(thing, name)
            else:
                lines += [f"## `{name}`", "", VALUES[name], ""]
    return "\n".join(lines)


VALUES = {
    "Cancel": "`threading.Event`; set to end a call soon. A component checks it between pieces.",
    "Computed": "What the function of a statistic returns: a number, None, a `StatisticValue`, or "
    "several.",
    "hookimpl": "Marks a function of a plugin as the implementation of the hook of its name.",
    "IDS": "The declaration of a value that holds numbers or uids of administrations.",
    "MeasureKind": "What the values of a measure of a scorer are: `verdict`, `share`, `count`, "
    "`number`.",
    "NOT_SENT": "The value of a parameter of decoding that a back end did not send.",
    "API_VERSION": "The number of the interface of plugins; see "
    "[plugins](../plugins.md#a-minimal-plugin).",
    **{
        name: f"The type of the argument `register` of the hooks that register {what}."
        for name, what in (
            ("Register", "components"),
            ("RegisterBattery", "batteries"),
            ("RegisterOperation", "operations"),
            ("RegisterSubject", "kinds of subjects"),
            ("RegisterTask", "task types"),
            ("RegisterCommand", "commands"),
            ("RegisterPage", "result pages"),
            ("RegisterStatistic", "statistics"),
        )
    },
}
"""Names of the plugin interface that are neither functions nor classes, and their meaning."""


def workbench() -> str:
    """Return the page of the workbench's keys, and of the contrast of its themes."""
    from tabwb.workbench.shell.commands import CommandTable
    from tabwb.workbench.shell.contrast import contrast_table
    from tabwb.workbench.shell.keys import key_table
    from tabwb.workbench.shell.own import colour_names, defaults
    from tabwb.workbench.shell.settings import colours_of
    from tabwb.workbench.subjects import SUBJECTS

    table = CommandTable(one for subject in SUBJECTS for one in subject.all_commands)
    return "\n".join(
        [
            "# Keys and themes of the workbench", "",
            "## Keys", "",
            "A key has one meaning on the first page, one while a battery is given, and one on all "
            "other pages. `?` lists those of the page that is shown.", "",
            *key_table(table.commands), "",
            "## Contrast", "",
            "By WCAG 2.2. Texts have 4.5 or more, borders, bars and the cursor's bar 3 or more; in "
            "high contrast texts on pages have 7.", "",
            *contrast_table(), "",
            "## Files of keys and themes", "",
            "`keys.toml` in the configuration folder (named by `tabwb doctor`) gives commands "
            "other keys, each by its id; a list has a key and further ones that work everywhere. "
            "`themes/NAME.toml` there is a theme of its own: colours by name, and a `base` (dark, "
            "light or high-contrast) for all others. Menus, palette, footer and `?` show the keys "
            "that are set; words of help name the default ones. A file that is wrong is "
            "named when the workbench opens, which then keeps its own. The keys of the rating "
            "screen and of lists cannot be changed. These are the defaults:", "",
            "```toml", *defaults(table.commands), "```", "",
            "```toml", 'base = "dark"',
            *(f'{name} = "{colours_of("dark")[name]}"' for name in colour_names()), "```",
        ]
    )  # fmt: skip


def _name(thing: Any, name: str) -> Iterator[str]:
    """Yield the entry of one name, with the methods and properties of a class."""
    yield from (f"## `{name}`", "", *_documented(thing, name))
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        yield from _class_variables(thing)
        members = {key: inspect.getattr_static(thing, key) for key in dir(thing)}
        for key, value in members.items():
            if key.startswith("_") or not (
                inspect.isfunction(value) or isinstance(value, property)
            ):
                continue
            yield from (f"### `{name}.{key}`", "", *_documented(value, key))


def _class_variables(kind: type) -> Iterator[str]:
    """Yield the class variables that a text follows, as a list."""
    import ast
    import textwrap

    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    found = [
        f"- `{ast.unparse(given.target)}` ({ast.unparse(given.value)}): "
        + " ".join(_plain(ast.literal_eval(told.value)).split())
        for given, told in itertools.pairwise(body.body)
        if isinstance(given, ast.AnnAssign)
        and given.value
        and isinstance(told, ast.Expr)
        and "ClassVar" in ast.unparse(given.annotation)
    ]
    if found:
        yield from ("Class variables, with their defaults:", "", *found, "")


def _types() -> Iterator[str]:
    """Yield the types that are named in signatures: assignments followed by their meaning."""
    import ast

    import tabwb.api

    yield from ("## Types", "", "Names in these signatures:", "")
    found: dict[str, str] = {}
    for path in sorted(Path(tabwb.api.__path__[0]).glob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for given, told in itertools.pairwise(body):
            if isinstance(given, ast.Assign) and isinstance(told, ast.Expr):
                name, text = ast.unparse(given.targets[0]), ast.literal_eval(told.value)
                if not (name.isupper() or name.startswith("_")):
                    meaning = " ".join(_plain(text).split())
                    found[name] = f"- `{name}` (`{ast.unparse(given.value)}`): {meaning}"
    yield from (found[name] for name in sorted(found))
    yield ""


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    value = "..." if callable(parameter.default) else repr(parameter.default)
    default = "" if parameter.default is parameter.empty else f" = {value}"
    kind = getattr(parameter.annotation, "__forward_arg__", parameter.annotation)
    annotation = "" if kind is parameter.empty else f": {kind}"
    return f"{stars}{parameter.name}{annotation}{default}"


RECORDS = ("__dataclass_fields__", "_fields")
"""What dataclasses and named tuples have; empty where there is nothing to give."""


def _hidden(name: str) -> bool:
    return name == "self" or name.startswith("_")


def _documented(thing: Any, name: str) -> Iterator[str]:
    """Yield the signature of a function or record, and its docstring as text."""
    made = inspect.isclass(thing) and any(getattr(thing, name, ()) for name in RECORDS)
    signature = inspect.signature(thing) if made or inspect.isfunction(thing) else None
    if signature:
        given = [one for one in signature.parameters.values() if not _hidden(one.name)]
        parameters = [_parameter(one) for one in given]
        kinds = [one.kind for one in given]
        if inspect.Parameter.KEYWORD_ONLY in kinds:
            parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
        inside = ",\n    ".join(parameters)
        returned = "" if made else f" -> {signature.return_annotation}"
        yield from ("```", f"{name}({inside}){returned}", "```", "")
    text = _plain(inspect.getdoc(thing) or "")
    for part in text.split("\n\n"):
        title, _, rest = part.partition(":\n")
        if title in ("Args", "Attributes", "Raises", "Returns") and rest:
            yield from (f"{title}:", "", *_entries(rest), "")
        elif part.startswith(">>>") or part.startswith("    "):
            yield from ("```", inspect.cleandoc(part), "```", "")
        else:
            yield from (" ".join(part.split()), "")


def _entries(text: str) -> Iterator[str]:
    """Yield the entries of a section as a list."""
    for line in inspect.cleandoc(text).split("\n"):
        if line.startswith(" "):
            yield f"  {line.strip()}"
            continue
        names, colon, meaning = line.partition(": ")
        yield f"- `{names}`: {meaning}" if colon else f"- {line}"


PAGES = {
    "hooks.md": hooks,
    "records.md": records,
    "commands.md": commands,
    "battery-schema.md": battery_schema,
    "form-schema.md": form_schema,
    "ledger-schema.md": ledger_schema,
    "norms-schema.md": norms_schema,
    "papers.md": papers,
    "export-columns.md": export_columns,
    "measures.md": measures,
    "figures.md": figures,
    "grouping-keys.md": grouping_keys,
    "python.md": python,
    "plugin-api.md": plugin_api,
    "workbench.md": workbench,
}


def main() -> int:
    """Write or check every page; return 1 if a checked page is not current."""
    REFERENCE.mkdir(exist_ok=True)
    stale = []
    for name, make in PAGES.items():
        page, path = HEADER + make().rstrip() + "\n", REFERENCE / name
        if "--check" not in sys.argv[1:]:
            path.write_text(page, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != page:
            stale.append(name)
    if stale:
        print(f"not current: {', '.join(stale)}; run: python docs/generate.py", file=sys.stderr)
    return int(bool(stale))


if __name__ == "__main__":
    raise SystemExit(main())
