"""Whether a model is the one that an administration began with, at whatever path it is."""

from __future__ import annotations

from collections.abc import Mapping

from tabwb.host.plugins import Plugins
from tabwb.lesion.declared import UNITS_HASH
from tabwb.records.conditions import FUNCTION, Conditions
from tabwb.records.errors import TabwbError, UsageError
from tabwb.records.specs import options_that_count, parse_spec
from tabwb.records.trials import HASHES, IDENTITY


def stand_in(plugins: Plugins, conditions: Conditions, spec: str) -> str:
    """Return the resolved spec of a model that is to continue an administration."""
    began = conditions.examinee
    if conditions.kind != "model" or began.startswith(FUNCTION):
        what = "a person" if conditions.kind != "model" else f"the function '{began}'"
        raise UsageError(f"the examinee is {what}: '{spec}' cannot continue for it")
    found = plugins.resolve("models", spec)[1]
    before, now = options_that_count(parse_spec(began)), options_that_count(found)
    for key in dict.fromkeys((*before, *now)):
        if before.get(key) != now.get(key):
            raise UsageError(
                f"'{found}' cannot continue for '{began}': option '{key}' is "
                f"{now.get(key, 'not given')} and was {before.get(key, 'not given')}",
                hint="options of the model are conditions: give those it began with",
            )
    return str(found)


def check_same(
    earlier: Mapping[str, str], now: Mapping[str, str], *, began: str, spec: str
) -> None:
    """Check that a model is the one that an administration began with."""
    weights, *_ = HASHES
    alike = weights in now and earlier.get(weights) == now[weights]
    if spec != began and earlier:
        for key in HASHES:
            was, found = earlier.get(key), now.get(key)
            if found != was and (key == weights or was is not None):
                raise _other(began, spec, key, was, found)
            if found is None and key == weights:
                raise TabwbError(
                    f"whether '{spec}' is '{began}' is not known: their weights have no hash",
                    allowed="a model in a folder",
                )
    for key in (*IDENTITY, *HASHES, UNITS_HASH):
        was, found = earlier.get(key, now.get(key)), now.get(key)
        if was == found or (key == "model" and alike):
            continue
        if spec != began:
            raise _other(began, spec, key, was, found)
        raise TabwbError(
            f"the model is not the one this administration began with: {key} was {was} and is "
            f"{found or 'unknown'}",
            hint="restore the recorded answers as they were, or begin a new administration"
            if key == "file_sha256"
            else "begin a new administration for the changed model",
        )


def _other(began: str, spec: str, key: str, was: str | None, found: str | None) -> TabwbError:
    return TabwbError(
        f"'{spec}' is not the model that this administration began with, '{began}': {key} is "
        f"{found or 'unknown'} and was {was or 'not recorded'}",
        hint="give the folder with the same weights and tokenizer, or begin a new administration",
    )
