"""``tabwb doctor``: what this installation can do, and what to do where it cannot."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Literal

import click

import tabwb
from tabwb.cli.common import (
    json_option,
    missing_store,
    open_store,
    opened_plugins,
    print_json,
    store_option,
)
from tabwb.host.index import EXTRAS
from tabwb.records.errors import TabwbError
from tabwb.records.exchange import Decoding, Message, Reply, Request
from tabwb.records.system import extra_command, is_installed
from tabwb.records.words import plural
from tabwb.speech.process import choose, inputs

State = Literal["ok", "note", "problem"]
GLYPHS: dict[State, str] = {"ok": "✓ ok", "note": "- note", "problem": "! problem"}
LACKING: dict[str, str] = {
    "local": "no local models, no bundled model",
    "gemini": "no gemini:NAME",
    "openai": "no openai:NAME",
    "keyring": "keys from the environment only",
    "tables": "no Parquet",
    "plots": "no plots in the workbench",
    "figures": "no figures for papers",
    "audio": "no recording and no sound files: no spoken naming, no transcripts",
    "annotations": "no import or export of TextGrid and EAF",
    "interchange": "no logs of inspect_ai",
    "panphon": "no inventory of panphon: features of ARPAbet only",
    "server": "no store in PostgreSQL",
    "onnx": "no transcribers with onnx=fp32 or onnx=int8, and speech is found by energy alone",
    "pictures": "pictures only as half-block characters",
    "cluster": "no sweeps on a Dask cluster",
}
"""What one does without, for want of each extra."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    text: str
    todo: str = ""


@click.command()
@store_option
@json_option
def doctor(store_location: str | None, as_json: bool) -> int:
    """Check this installation and show remedies. Exit status 1 if something is wrong."""
    findings = list(_findings(store_location))
    if as_json:
        print_json({"format": 1, "findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            click.echo(f"{GLYPHS[finding.state]:<10} {finding.what:<12} {finding.text}")
            if finding.todo:
                click.echo(f"{'':<23} {finding.todo}")
    return int(any(finding.state == "problem" for finding in findings))


def _findings(store_location: str | None) -> Iterator[Finding]:
    yield Finding("tabwb", "ok", f"{tabwb.__version__} on Python {platform.python_version()}")
    yield from _extras()
    yield from _guarded("plugins", _plugins())
    yield from _guarded("store", _store(store_location))
    yield from _guarded("bundled", _bundled())
    # Many machines have no microphone and need none: worth a note, and no problem.
    yield from _guarded("microphone", _microphone(), "note")
    yield _terminal()


def _guarded(
    what: str, findings: Iterator[Finding], failed: State = "problem"
) -> Iterator[Finding]:
    try:
        yield from findings
    except TabwbError as error:
        lines = str(error).splitlines()
        yield Finding(what, failed, lines[0], " ".join(lines[1:]))


def _extras() -> Iterator[Finding]:
    for extra, packages in EXTRAS.items():
        missing = [package for package in packages if not is_installed(package)]
        if missing:
            lacking = f"not installed ({', '.join(missing)}): {LACKING[extra]}"
            yield Finding(f"[{extra}]", "note", lacking, f"install it with: {extra_command(extra)}")
        else:
            yield Finding(f"[{extra}]", "ok", ", ".join(packages))


def _plugins() -> Iterator[Finding]:
    with opened_plugins() as plugins:
        yield Finding("plugins", "ok", f"{len(plugins.plugins)} loaded")
        for problem in plugins.problems:
            yield Finding("plugins", "problem", str(problem), "see: tabwb plugins list")
        allowed = "allowed (use --offline to forbid it)"
        offline = "offline: only this machine's own addresses"
        folder = plugins.configuration.config_dir
        files = "tabwb.toml, keys.toml, themes, judges, forms, prices.toml"
        yield Finding("settings", "ok", f"{folder}: {files}")
        yield Finding("network", "ok", offline if plugins.configuration.offline else allowed)


def _store(location: str | None) -> Iterator[Finding]:
    with opened_plugins() as plugins:
        place = missing_store(location, plugins)
        if place:
            yield Finding("store", "ok", f"none yet; the first run makes {place}")
            return
        with open_store(location, plugins, create=False) as store:
            count = len(store.administrations())
            yield Finding("store", "ok", f"{store.location}: {plural(count, 'administration')}")


def _bundled() -> Iterator[Finding]:
    if not (is_installed("torch") and is_installed("transformers")):
        return
    started = time.monotonic()
    with opened_plugins() as plugins, closing(plugins.open_model("bundled")) as backend:
        facts = backend.open()
        loaded = time.monotonic() - started
        request = Request((Message("user", "Please repeat exactly: door."),), Decoding(16))
        *_, reply = backend.reply(request, threading.Event())
        text = reply.text if isinstance(reply, Reply) else ""
        size = facts.get("parameters", "?")
        shown = f"loads in {loaded:.1f} s and answers {text.strip()!r} ({size} parameters)"
        yield Finding("bundled", "ok", shown)


def _microphone() -> Iterator[Finding]:
    if not is_installed("sounddevice"):
        return
    devices = inputs()
    chosen = choose(devices, None, "microphone")
    others = f", {plural(len(devices) - 1, 'other')}" if len(devices) > 1 else ""
    shown = f"{chosen.name} ({chosen.host}), {chosen.rate} Hz{others}"
    yield Finding("microphone", "ok", shown, "test it with: tabwb microphone test")


def _terminal() -> Finding:
    size = shutil.get_terminal_size()
    shown = f"{size.columns}x{size.lines}, TERM={os.environ.get('TERM', 'unset')}"
    encoding = (sys.stdout.encoding or "").lower()
    if encoding not in {"utf-8", "utf8"}:
        shown += f", encoding {encoding}"
        return Finding("terminal", "note", shown, "set LANG to a UTF-8 locale")
    if size.columns < 80 or size.lines < 24:
        return Finding("terminal", "note", shown, "the workbench needs 80x24 or more")
    return Finding("terminal", "ok", shown)
