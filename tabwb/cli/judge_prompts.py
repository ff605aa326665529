"""``tabwb judge list|show|check``: which judges there are, and what they put to a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import json_option, note, opened_plugins, print_check, print_json
from tabwb.plugin_api.judge_prompts.files import LIKELIHOOD, NULL, prompt_files, prompt_id
from tabwb.plugin_api.judge_prompts.prompt import sha256
from tabwb.plugin_api.registry.index import check_needs
from tabwb.records.errors import MissingExtra, TabwbError, UsageError
from tabwb.records.words import did_you_mean, plural

if TYPE_CHECKING:
    from tabwb.plugin_api.descriptors import Descriptor
    from tabwb.plugin_api.registry.plugins import Plugins

SAMPLE = "I wanted a pa pen I mean pencil"
SAMPLE_PROMPT = "Tell me about your first job."


@click.command("list")
@json_option
def list_judges(as_json: bool) -> int:
    """List the judges: features, requirements, and the file of the prompt."""
    with opened_plugins() as plugins:
        rows = [_row(plugins, component.descriptor, component.owner)
                for component in plugins.components("judges")]  # fmt: skip
    if as_json:
        print_json({"format": 1, "judges": rows})
        return 0
    width = max(len(row["spec"]) for row in rows)
    for row in rows:
        features = (
            "" if row["features"] is None else f"{plural(len(row['features']), 'feature'):>11}"
        )
        version = f", version {row['version']}" if row["version"] else ""
        click.echo(f"{row['spec']:<{width}}  {features:<11}  {row['title']}{version}")
        if row["problem"]:
            note(row["problem"])
    click.echo(
        "\nCHAT-MODEL and LOCAL-MODEL are specs of models ('tabwb model list'); a LOCAL-MODEL\n"
        "must give log probabilities. 'tabwb judge show ID' prints a prompt.\n"
        "'bundled' cannot be a CHAT-MODEL: it does not write JSON, so 'tab-2026:bundled' leaves\n"
        "every answer unparsed. Without a network, judge with 'rules' or\n"
        "'tab-2026+likelihood:bundled'."
    )
    return 0


@click.command("show")
@click.argument("judge", metavar="ID")
@click.option("--response", default=SAMPLE, help="A sample response.")
@click.option("--prompt", default=SAMPLE_PROMPT, help="A sample prompt of an item.")
@json_option
def show(judge: str, response: str, prompt: str, as_json: bool) -> int:
    """Show the messages that judge ID sends to a model, for a sample response."""
    with opened_plugins() as plugins:
        descriptor = _find(plugins, judge)
    document = _document(descriptor, response, prompt)
    if as_json:
        print_json(document)
    else:
        click.echo(_page(document))
    return 0


@click.command("check")
@click.argument("argument", metavar="FILE")
@json_option
def check(argument: str, as_json: bool) -> int:
    """Check the judge prompt FILE: every problem with its line.

    FILE is a path, or the id of a prompt that is found. Exit status 1 if there is a problem.
    """
    from tabwb.plugin_api.judge_prompts.load import read_prompt

    file = Path(argument)
    if not file.exists():
        file = prompt_files()[0].get(argument, file)
    found, problems = read_prompt(file)
    digest = "" if found is None else sha256(found.canonical)
    facts = {
        "id": found.id if found else None,
        "version": found.version if found else None,
        "prompt_sha256": digest or None,
    }
    done = (
        ""
        if found is None
        else (
            f"ok: {found.id} {found.version}, {plural(len(found.features), 'feature')}, "
            f"{plural(len(found.examples), 'example')}, sha256 {digest[:16]}"
        )
    )
    return print_check(file, problems, facts, done, as_json=as_json)


def _row(plugins: Plugins, descriptor: Descriptor, owner: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": descriptor.id,
        "spec": descriptor.id + (f":{descriptor.name_help}" if descriptor.name_help else ""),
        "aliases": list(descriptor.aliases),
        "title": descriptor.title,
        "version": None,
        "features": None,
        "needs": list(descriptor.needs),
        "missing": None,
        "file": None,
        "owner": owner,
        "problem": None,
    }
    try:
        check_needs(descriptor)
        path = _file_of(descriptor)
        if path is not None:
            from tabwb.plugin_api.judge_prompts.load import load_prompt

            row["file"] = str(path)
            prompt = load_prompt(path)
            row |= {
                "title": prompt.title + _way(descriptor),
                "version": prompt.version,
                "features": list(prompt.feature_ids),
            }
        elif not descriptor.name_required:
            row["features"] = list(plugins.judge(descriptor.id).features)
    except MissingExtra as error:
        row["missing"] = error.extra
    except TabwbError as error:
        row["problem"] = str(error)
    return row


def _way(descriptor: Descriptor) -> str:
    if descriptor.id.endswith(NULL):
        return ", by log probabilities, calibrated"
    return ", by log probabilities" if descriptor.id.endswith(LIKELIHOOD) else ""


def _file_of(descriptor: Descriptor) -> Path | None:
    """The prompt's file of a judge that has one."""
    return prompt_files()[0].get(prompt_id(descriptor.id))


def _find(plugins: Plugins, judge: str) -> Descriptor:
    descriptors = plugins.descriptors("judges")
    with_prompt = [each.id for each in descriptors if _file_of(each)]
    for each in descriptors:
        if judge in (each.id, *each.aliases):
            if _file_of(each) is None:
                raise UsageError(
                    f"'{each.id}' has no prompt for a model", allowed=", ".join(with_prompt)
                )
            return each
    raise UsageError(
        f"there is no judge '{judge}'" + did_you_mean(judge, with_prompt),
        allowed=", ".join(with_prompt),
    )


def _document(descriptor: Descriptor, response: str, item_prompt: str) -> dict[str, Any]:
    from tabwb.plugin_api.judge_prompts.load import load_prompt

    path = _file_of(descriptor)
    assert path is not None
    prompt = load_prompt(path)
    calibrated = descriptor.id.endswith(NULL)
    weighs = calibrated or descriptor.id.endswith(LIKELIHOOD)
    text = prompt.weighed(calibrated=calibrated) if weighs else prompt.canonical
    return {
        "format": 1,
        "id": descriptor.id,
        "title": prompt.title,
        "version": prompt.version,
        "license": prompt.license,
        "citation": prompt.citation,
        "sources": prompt.sources,
        "caution": prompt.caution,
        "known_gaps": list(prompt.known_gaps),
        "file": str(path),
        "prompt_sha256": sha256(text),
        "prompt_text": text,
        "features": [{"id": each.id, "key": each.key} for each in prompt.features],
        "messages": [
            {"role": message.role, "content": message.content}
            for message in prompt.messages(response, item_prompt)
        ],
        "repair": None if weighs else prompt.templates.repair,
        "decoding": None
        if weighs
        else {"temperature": prompt.temperature, "max_tokens": prompt.max_tokens},
        "threshold": prompt.threshold if weighs else None,
        "null": prompt.null if calibrated else None,
    }


def _page(found: dict[str, Any]) -> str:
    lines = [
        f"{found['title']}  ({found['id']} {found['version']}, {found['license']})",
        f"{plural(len(found['features']), 'feature')}; {found['file']}",
        f"sha256 {found['prompt_sha256']}",
    ]
    for name in ("citation", "sources", "caution"):
        if found[name]:
            lines += ["", f"{name}: {found[name]}"]
    lines += [f"known gap: {gap}" for gap in found["known_gaps"]]
    for message in found["messages"]:
        lines += ["", f"== {message['role']} ==", message["content"]]
    if found["threshold"] is None:
        decoding = found["decoding"]
        lines += [
            "",
            "== user, once, after a reply that cannot be read ==",
            found["repair"],
            "",
            f"temperature {decoding['temperature']:g}, at most {decoding['max_tokens']} tokens",
        ]
    else:
        lines += [
            "",
            "then the JSON object is filled in key by key: 1 where its probability is above "
            f"{found['threshold']:g}",
        ]
    if found["null"] is not None:
        lines.append(f"calibrated on the passage {found['null']!r}")
    return "\n".join(lines)
