"""``tabwb trust``: let the ``tabwb.toml`` of a folder, and the plugins it names, have effect."""

from __future__ import annotations

from pathlib import Path

import click

from tabwb.cli.common import configuration, json_option, print_json
from tabwb.plugin_api.config.settings import folder_file
from tabwb.plugin_api.registry.loading import folder_entries
from tabwb.records.errors import UsageError
from tabwb.store.location import without_password


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@json_option
def trust(folder: Path, as_json: bool) -> int:
    """Trust the tabwb.toml in FOLDER (default: the current one), in its present state.

    It may then choose the store, plugins, servers, keys and what the study requires, whenever tabwb
    starts in that folder. Read it first. The plugin folders that it names are trusted too: their
    code will run. What changes afterwards is ignored until it is trusted again.
    """
    trusted = configuration().trust_list
    found = folder_file(folder.resolve())
    if found is None:
        raise UsageError(
            "there is no tabwb.toml in this folder",
            where=str(folder.resolve()),
            hint="to trust a plugin folder: tabwb plugins trust PATH",
        )
    for each in found.plugin_folders:
        folder_entries(each)
    plugins = {str(place): trusted.add_folder(place) for place in found.plugin_folders}
    trusted.add_file(found.path, found.digest)
    store = None if found.store is None else without_password(found.store)
    if as_json:
        document = {
            "file": str(found.path),
            "sha256": found.digest,
            "settings": list(found.settings),
            "store": store,
            "plugin_folders": plugins,
        }
        print_json({"format": 1, "trusted": document})
        return 0
    click.echo(f"{found.path} is trusted as it is now: SHA-256 {found.digest[:12]}")
    click.echo(f"it sets: {', '.join(found.settings) or 'nothing'}")
    if store is not None:
        click.echo(f"store: {store}")
    for path, digest in plugins.items():
        click.echo(f"plugin folder {path} is trusted as it is now: SHA-256 {digest[:12]}")
    return 0
