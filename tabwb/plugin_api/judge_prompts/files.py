"""The files of judge prompts: those of tabwb and the user's own. They are not read here."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from tabwb.plugin_api.config.settings import config_folder
from tabwb.records.specs import is_component_id

LIKELIHOOD = "+likelihood"
NULL = "+likelihood+null"
"""Endings of the ids of judges that compare log probabilities of a prompt's labels."""


def bundled_folder() -> Path:
    """Return the folder of the prompts that come with tabwb."""
    batteries = find_spec("tabwb_batteries")
    (root, *_) = (batteries and batteries.submodule_search_locations) or ("",)
    return Path(root) / "judges"


def prompt_files() -> tuple[dict[str, Path], list[str]]:
    """Return the prompt files by judge id, and the problems of other files' names.

    A file has the id of its judge as its name: ``tab-2026+prompt.toml``. A prompt of tabwb is never
    replaced: an id must mean the same on every machine.
    """
    files: dict[str, Path] = {}
    wrong: list[str] = []
    for folder in (bundled_folder(), config_folder(os.environ) / "judges"):
        for path in sorted(folder.glob("*.toml"), key=lambda path: path.stem):
            if problem := name_problem(path.stem):
                wrong.append(f"{path}: {problem}")
            elif path.stem in files:
                wrong.append(f"{path}: a judge '{path.stem}' comes with tabwb; choose another name")
            else:
                files[path.stem] = path
    return files, wrong


def name_problem(judge: str) -> str:
    """Return why a word cannot be the id of a judge prompt; empty where it can.

    >>> name_problem("tab-2026+prompt"), name_problem("mine+likelihood")[:30]
    ('', "no id of a prompt ends in '+li")
    """
    if not is_component_id(judge):
        return (
            f"'{judge}' is not a valid id: lower-case letters, digits and hyphens, variants joined "
            "by '+'"
        )
    for ending in (NULL, LIKELIHOOD):
        if judge.endswith(ending):
            return f"no id of a prompt ends in '{ending}': that names a way of using one"
    return ""


def prompt_id(judge: str) -> str:
    """Return the id of the prompt that a judge uses.

    >>> prompt_id("tab-2026+likelihood+null"), prompt_id("tab-2026+prompt")
    ('tab-2026', 'tab-2026+prompt')
    """
    return judge.removesuffix(NULL).removesuffix(LIKELIHOOD)
