"""Writing a new battery: a commented file to begin with, or one made from a CSV of items."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tabwb.battery.items_csv import read_items
from tabwb.battery.loader import read_assets
from tabwb.battery.model import Battery
from tabwb.battery.starting_points import (
    EXAMPLE,
    battery_table,
    title_of,
)
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.specs import is_kebab


def new_battery(
    folder: Path, battery_id: str, items: Path | None = None, features_of: Battery | None = None
) -> Path:
    """Write ``folder/battery.toml`` and return its path."""
    check_id(battery_id)
    if items is None:
        text = EXAMPLE.format(id=battery_id, title=title_of(battery_id))
    else:
        text = render(read_items(items, battery_table(battery_id)))
    if features_of is not None:
        text = f"{text}\n{features_text(features_of)}"
    return written(folder, {"battery.toml": text.encode("utf-8")})


def copy_battery(folder: Path, battery_id: str, source: Path, battery: Battery) -> Path:
    """Write a copy of a battery under an id of its own, with its files, and return its path.

    Comments and the order of the file stay.
    """
    import tomlkit

    check_id(battery_id)
    document = tomlkit.parse(source.read_text(encoding="utf-8"))
    document["battery"]["id"] = battery_id
    files = dict(read_assets(source, battery))
    if (license_file := source.parent / "LICENSE").is_file():
        files.setdefault(license_file.name, license_file.read_bytes())
    text = tomlkit.dumps(document)
    return written(folder, {**files, "battery.toml": text.encode("utf-8")})


def check_id(battery_id: str) -> None:
    """Check the id of a new battery."""
    if not is_kebab(battery_id) or len(battery_id) > 64:
        raise UsageError(
            f"'{battery_id}' is not a valid id",
            allowed="up to 64 lower-case letters, digits and hyphens: my-battery",
        )


def written(folder: Path, contents: Mapping[str, bytes]) -> Path:
    """Write the files of a new battery, all or none of them; return the path of the last."""
    path = folder
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UsageError(
            f"the folder {folder} exists already", hint="choose another name"
        ) from None
    except OSError as error:
        raise TabwbError(f"{folder} cannot be written: {error.strerror}") from error
    try:
        for name, content in contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)  # it was made above
        raise TabwbError(f"{path} cannot be written: {error.strerror}") from error
    return path


def render(tables: Mapping[str, Any]) -> str:
    """Return the text of a battery file with these tables."""
    lines = [
        "# Check this file with:  tabwb battery check battery.toml",
        "# See what is sent with: tabwb battery show ./battery.toml",
        "",
        "[battery]",
        *_pairs(tables["battery"]),
    ]
    for subtest in tables["subtest"]:
        lines += ["", "", "[[subtest]]", *_pairs(subtest)]
        for item in subtest["item"]:
            lines += ["", "[[subtest.item]]", *_pairs(item)]
    return "\n".join(lines) + "\n"


def features_text(battery: Battery) -> str:
    """Return the features and groupings of a battery as TOML, with their origin in a comment."""
    tables = json.loads(battery.canonical)
    if not tables.get("feature"):
        raise UsageError(f"battery '{battery.id}' has no features", allowed="tab")
    origin = f"{battery.id} {battery.version}, {battery.license}"
    lines = [f"# Features and groupings, copied unchanged from the battery {origin}."]
    for feature in tables["feature"]:
        lines += ["", "[[feature]]", *_pairs(feature)]
    for grouping in tables.get("grouping", []):
        shown = {key: value for key, value in grouping.items() if key != "category"}
        lines += ["", "[[grouping]]", *_pairs(shown)]
        for category in grouping["category"]:
            lines += ["", "[[grouping.category]]", *_pairs(category)]
    return "\n".join(lines) + "\n"


_COMMENTS = {
    "version": "change it whenever anything below changes",
    "examinees": "a kind that is left out needs a research protocol",
    "response": "choice, yes-no, verbatim, connected-text, description, free; naming: battery new "
    "--naming",
    "instructions": "sent; the source is 'ours' or a section of a paper",
}


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [
        f"{key} = {_toml(value)}" + (f"   # {_COMMENTS[key]}" if key in _COMMENTS else "")
        for key, value in table.items()
        if key != "item"
    ]


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        keys = (key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml(key) for key in value)
        pairs = [f"{key} = {_toml(inner)}" for key, inner in zip(keys, value.values(), strict=True)]
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    # JSON's strings and arrays of strings are TOML's too.
    return json.dumps(value, ensure_ascii=False)
