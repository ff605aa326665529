"""``tabwb model``: which models can be examined, profiles of one's own, and a first try."""

from __future__ import annotations

import threading
from typing import Any

import click

from tabwb.cli.common import json_option, note, offline_option, opened_plugins, print_json
from tabwb.host.index import check_needs
from tabwb.host.settings import remove_profile, write_profile
from tabwb.plugin_api.descriptors import Descriptor
from tabwb.records.errors import MissingExtra, UsageError


@click.group()
def model() -> None:
    """List back ends and profiles, write profiles, try a model.

    A profile is a name for a model with its options: profile:NAME can replace the spec of a model.
    It also has the model's family, tuning and size, so that results can compare base and instruct
    models.
    """


@model.command("list")
@json_option
@offline_option
def list_models(as_json: bool, offline: bool | None) -> None:
    """List back ends and profiles of models."""
    with opened_plugins(offline) as plugins:
        backends = [_backend(descriptor) for descriptor in plugins.descriptors("models")]
        profiles = [
            {"name": name, "spec": str(profile.spec), "where": profile.where, **profile.labels}
            for name, profile in sorted(plugins.configuration.profiles.items())
        ]
    if as_json:
        print_json({"format": 1, "backends": backends, "profiles": profiles})
        return
    for backend in backends:
        missing = f"  (needs the extra {backend['missing']})" if backend["missing"] else ""
        click.echo(f"{backend['spec']:28} {backend['title']}{missing}")
    if not profiles:
        note("no profiles; 'tabwb model add NAME SPEC' writes one")
    for profile in profiles:
        labels = [profile[key] for key in ("family", "tuning") if key in profile]
        if "parameters" in profile:
            labels.append(f"{int(profile['parameters']):,} parameters")
        shown = f"  ({', '.join(labels)})" if labels else ""
        click.echo(f"{'profile:' + profile['name']:28} {profile['spec']}{shown}")


@model.command()
@click.argument("name")
@click.argument("spec")
@click.option("--family", default="", help="The family of the model, for example Llama-3.2.")
@click.option("--tuning", type=click.Choice(["base", "instruct"]), default=None)
@click.option(
    "--parameters", metavar="N", help="The number of parameters: 1240000000, 1.24B or 360M."
)
@click.option("--force", is_flag=True, help="Replace a profile of this name.")
def add(
    name: str, spec: str, family: str, tuning: str | None, parameters: str | None, force: bool
) -> None:
    """Write profile NAME for the model SPEC into your configuration."""
    with opened_plugins() as plugins:
        if name in plugins.configuration.profiles and not force:
            raise UsageError(
                f"profile '{name}' already exists: {plugins.configuration.profiles[name].spec}",
                hint="--force replaces it",
            )
        profile = plugins.profile_of(name, spec, family, tuning or "", parameters or "")
        path = write_profile(plugins.configuration.config_dir, name, profile)
    note(f"profile:{name} is written to {path}")


@model.command()
@click.argument("name")
def remove(name: str) -> None:
    """Delete profile NAME from your configuration."""
    with opened_plugins() as plugins:
        path = remove_profile(plugins.configuration.config_dir, name)
    note(f"profile:{name} is deleted from {path}")


@model.command("test")
@click.argument("spec")
@click.option("--prompt", default="Say hello.", show_default=True, help="The prompt.")
@click.option("--max-tokens", type=click.IntRange(1, 100_000), default=32, show_default=True)
@json_option
@offline_option
def try_model(spec: str, prompt: str, max_tokens: int, as_json: bool, offline: bool | None) -> None:
    """Load or reach the model SPEC, send one prompt, and show the reply."""
    from tabwb.administer.session import opening

    with opened_plugins(offline) as plugins:
        tried = opening.try_model(
            plugins,
            spec,
            threading.Event(),
            prompt=prompt,
            max_tokens=max_tokens,
            on_wait=lambda wait: note(f"{wait.reason}: waiting {wait.seconds:.0f} s"),
        )
    reply = tried.reply
    price = None if tried.price is None else str(tried.price)
    if as_json:
        print_json(
            {
                "format": 1,
                "model": tried.model,
                "facts": dict(tried.facts),
                "opened_s": tried.opened_s,
                "prompt": prompt,
                "reply": reply.text,
                "stop_reason": reply.stop_reason.value,
                "latency_s": reply.latency_s,
                "prompt_tokens": reply.prompt_tokens,
                "reply_tokens": reply.reply_tokens,
                "price": price,
                "cost": tried.cost,
            }
        )
        return
    sent, received = (
        "not counted" if tokens is None else str(tokens)
        for tokens in (reply.prompt_tokens, reply.reply_tokens)
    )
    rows = (
        *tried.facts.items(),
        ("opened in", f"{tried.opened_s:.1f} s"),
        ("answered in", f"{reply.latency_s:.2f} s"),
        ("stopped because", reply.stop_reason.value),
        ("tokens", f"{sent} sent, {received} back"),
        ("price", price or "unknown (see prices.toml)"),
        ("prompt", prompt),
        ("reply", reply.text),
    )
    for name, text in rows:
        click.echo(f"{name:18} {text}")


def _backend(descriptor: Descriptor) -> dict[str, Any]:
    missing = None
    try:
        check_needs(descriptor)
    except MissingExtra as error:
        missing = error.extra
    return {
        "id": descriptor.id,
        "spec": descriptor.id + (f":{descriptor.name_help}" if descriptor.name_help else ""),
        "title": descriptor.title,
        "protocols": list(descriptor.answers_under),
        "needs": list(descriptor.needs),
        "missing": missing,
        "remarks": descriptor.remarks,
    }
