"""``tabwb lesion localize``: a list of the units that respond most to sentences."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from tabwb.cli.common import inform, is_quiet, on_terminal, opened_plugins, print_json
from tabwb.cli.progress import Countdown
from tabwb.cli.signals import stopping
from tabwb.host.writing import write_bytes
from tabwb.lesion.localizer import list_document, localize, read_items, shipped_items
from tabwb.lesion.spec import escaped
from tabwb.media.destination import check_destination
from tabwb.plugin_api.components import ActivationBackend
from tabwb.records.errors import UsageError


def localize_units(options: Mapping[str, Any]) -> None:
    """Run the localizer on a model and write the list of its units."""
    out: Path = options["out"]
    check_destination(out, force=options["force"], remedy="choose another name, or use --force")
    share = options["share"]
    if not 0.0 < share <= 1.0:
        raise UsageError(f"{share} cannot be used", where="--share", allowed="above 0, at most 1")
    items = shipped_items() if options["items"] is None else read_items(options["items"])
    cancel = threading.Event()
    model, quiet = options["model"], options["as_json"] or is_quiet()
    with (
        opened_plugins(options["offline"]) as plugins,
        stopping(cancel),
        closing(plugins.open_model(model)) as backend,
    ):
        if not isinstance(backend, ActivationBackend):
            raise plugins.no_activations(model)
        if on_terminal():
            inform(f"loading {model}")
        facts, parts = backend.open(), backend.parts()
        count = len(items.first.texts) + len(items.second.texts)
        countdown = Countdown("text", count, quiet=quiet)
        wanted = options["target"], items, cancel, options["tokens"], countdown.advance
        try:
            found = localize(backend.activations, parts, *wanted)
        finally:
            countdown.status.close()
    document = list_document(found, share, {"spec": model, **facts}, items, options["tokens"])
    place = check_destination(out, force=options["force"])
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    write_bytes(place, text.encode())
    if options["as_json"]:
        print_json({**document, "file": str(out)})
    else:
        _print(document, out)


def _print(document: Mapping[str, Any], out: Path) -> None:
    """Print what was found: units of each part, and how the halves of the items agree."""
    from tabwb.media.terminal import print_view, table

    view = table("units", "t", "d", first="part")
    for name, numbers in document["units"].items():
        t, d = document["t"][name], document["d"][name]
        view.add_row(name, f"{len(numbers):,}", _range(t), _range(d))
    print_view(view)
    click.echo(
        f"{document['contrast']}: {document['taken']:,} of {document['of']:,} units, "
        f"{document['positive']:,} with t above 0, {document['undefined']:,} with t undefined"
    )
    half = document["split_half"]
    click.echo(
        f"odd against even items: Dice {_number(half['dice'])} "
        f"(by chance {_number(half['dice_by_chance'])}, "
        f"in these layers {_number(half['dice_by_chance_in_these_layers'])}), "
        f"r of t {_number(half['correlation'])} "
        f"(of all items {_number(half['correlation_of_whole'])})"
        + (f"; {half['reason']}" if half["reason"] else "")
    )
    click.echo(
        f"written; as a lesion: {document['target']}:zero@select=list,file={escaped(str(out))}"
    )


def _range(values: list[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
