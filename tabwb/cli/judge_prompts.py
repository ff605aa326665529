"""``tabwb judge list``, ``show`` and ``check``: which judges there are, and their prompts."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from tabwb.cli.common import note, opened_plugins, print_check, print_json
from tabwb.host.index import check_needs
from tabwb.host.judge_prompt_files import load_prompt, read_prompt
from tabwb.host.judge_prompts import LIKELIHOOD, NULL, prompt_files, prompt_id, sha256
from tabwb.host.plugins import Plugins
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.records.errors import MissingExtra, TabwbError, UsageError
from tabwb.records.words import did_you_mean, plural


def list_judges(*, as_json: bool) -> None:
    """Print the judges: features, and what each needs."""
    with opened_plugins() as plugins:
        rows = [
            _row(plugins, component.descriptor, component.owner)
            for component in plugins.components("judges")
        ]
    if as_json:
        print_json({"format": 1, "judges": rows})
        return
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


def show(judge: str, response: str, prompt: str, *, as_json: bool) -> None:
    """Print the messages that a judge sends to a model."""
    with opened_plugins() as plugins:
        descriptor, file = _find(plugins, judge)
    document = _document(descriptor, file, response, prompt)
    if as_json:
        print_json(document)
    else:
        click.echo(_page(document))


def check(argument: str, *, as_json: bool) -> int:
    """Print every problem of a judge prompt, and return the exit status."""
    file = Path(argument)
    if not file.exists():
        file = prompt_files()[0].get(argument, file)
    prompt, problems = read_prompt(file)
    names, counts = None, ""
    if prompt is not None:
        names = prompt.id, prompt.version, sha256(prompt.canonical)
        features, examples = len(prompt.features), len(prompt.examples)
        counts = f"{plural(features, 'feature')}, {plural(examples, 'example')}"
    return print_check(file, problems, names, "prompt_sha256", counts, as_json=as_json)


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
    return prompt_files()[0].get(prompt_id(descriptor.id))


def _find(plugins: Plugins, judge: str) -> tuple[Descriptor, Path]:
    descriptors = plugins.descriptors("judges")
    with_prompt = [descriptor.id for descriptor in descriptors if _file_of(descriptor)]
    for descriptor in descriptors:
        if judge in (descriptor.id, *descriptor.aliases):
            if file := _file_of(descriptor):
                return descriptor, file
            raise UsageError(
                f"'{descriptor.id}' has no prompt for a model", allowed=", ".join(with_prompt)
            )
    raise UsageError(
        f"there is no judge '{judge}'" + did_you_mean(judge, with_prompt),
        allowed=", ".join(with_prompt),
    )


def _document(
    descriptor: Descriptor, path: Path, response: str, item_prompt: str
) -> dict[str, Any]:
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
        "features": [{"id": feature.id, "key": feature.key} for feature in prompt.features],
        "messages": [asdict(message) for message in prompt.messages(response, item_prompt)],
        "repair": None if weighs else prompt.templates.repair,
        "decoding": None
        if weighs
        else {"temperature": prompt.temperature, "max_tokens": prompt.max_tokens},
        "threshold": prompt.threshold if weighs else None,
        "null": prompt.null if calibrated else None,
    }


def _page(document: dict[str, Any]) -> str:
    lines = [
        f"{document['title']}  ({document['id']} {document['version']}, {document['license']})",
        f"{plural(len(document['features']), 'feature')}; {document['file']}",
        f"sha256 {document['prompt_sha256']}",
    ]
    for name in ("citation", "sources", "caution"):
        if document[name]:
            lines += ["", f"{name}: {document[name]}"]
    lines += [f"known gap: {gap}" for gap in document["known_gaps"]]
    for message in document["messages"]:
        lines += ["", f"== {message['role']} ==", message["content"]]
    if document["threshold"] is None:
        decoding = document["decoding"]
        lines += [
            "",
            "== user, once, after a reply that cannot be read ==",
            document["repair"],
            "",
            f"temperature {decoding['temperature']:g}, at most {decoding['max_tokens']} tokens",
        ]
    else:
        lines += [
            "",
            "then the JSON object is filled in key by key: 1 where its probability is above "
            f"{document['threshold']:g}",
        ]
    if document["null"] is not None:
        lines.append(f"calibrated on the passage {document['null']!r}")
    return "\n".join(lines)
