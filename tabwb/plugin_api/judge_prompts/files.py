"""Where judge prompts lie: those that come with tabwb, and the user's own. Names only, unread."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from tabwb.plugin_api.config.settings import config_folder
from tabwb.records.identifiers import is_component_id

LIKELIHOOD = "+likelihood"
NULL = "+likelihood+null"
"""Endings of the ids of judges that read a prompt's labels off log probabilities."""


def bundled_folder() -> Path:
    """The folder of the prompts that come with tabwb."""
    batteries = find_spec("tabwb_batteries")
    (root, *_) = (batteries and batteries.submodule_search_locations) or ("",)
    return Path(root) / "judges"


def user_folder() -> Path:
    """The folder of the user's own prompts; it need not exist."""
    return config_folder(os.environ) / "judges"


def prompt_files() -> tuple[dict[str, Path], list[str]]:
    """The prompt files by judge id, and what is wrong with the names of others.

    A file is named by the id of its judge: ``tab-2026+prompt.toml``. A prompt that comes with
    tabwb is never replaced: what an id means must not differ between two machines.
    """
    found: dict[str, Path] = {}
    wrong: list[str] = []
    for folder in (bundled_folder(), user_folder()):
        for path in sorted(folder.glob("*.toml"), key=lambda path: path.stem):
            if problem := name_problem(path.stem):
                wrong.append(f"{path}: {problem}")
            elif path.stem in found:
                wrong.append(f"{path}: a judge '{path.stem}' comes with tabwb; choose another name")
            else:
                found[path.stem] = path
    return found, wrong


def name_problem(judge: str) -> str:
    """What keeps a word from being the id of a judge prompt; empty where nothing does.

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
    """The id of the prompt that a judge of this plugin uses.

    >>> prompt_id("tab-2026+likelihood+null"), prompt_id("tab-2026+prompt")
    ('tab-2026', 'tab-2026+prompt')
    """
    return judge.removesuffix(NULL).removesuffix(LIKELIHOOD)
