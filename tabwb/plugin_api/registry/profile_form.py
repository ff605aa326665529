"""The profile of a form: its spec is resolved and checked before it is written."""

from __future__ import annotations

from contextlib import suppress

from tabwb.plugin_api.config.profiles import Profile, number_of_parameters
from tabwb.plugin_api.registry.plugins import Plugins
from tabwb.records.errors import TabwbError


def profile_of(
    plugins: Plugins, name: str, spec: str, family: str, tuning: str, parameters: str
) -> Profile:
    """Return the profile of the fields of a form; an empty field is not set.

    Where the profile of this name already has the same spec, the spec stays as the user wrote it
    (an alias, or a path with ``~``).

    Args:
        plugins: resolves the spec.
        name: of the profile.
        spec: of the model.
        family: of the model.
        tuning: ``base``, ``instruct`` or empty.
        parameters: number of parameters, as people write it.

    Raises:
        UsageError: the spec does not name a model, or ``parameters`` is not a number.
        MissingExtra: a package that the model needs is not installed.
        NeedsNetwork: the model needs a network and the program is offline.
    """
    resolved = plugins.stands_for("models", spec)
    known = plugins.configuration.profiles.get(name)
    with suppress(TabwbError):  # a profile that cannot be used may be replaced
        if known is not None and resolved == plugins.stands_for("models", f"profile:{name}"):
            resolved = known.spec
    count = number_of_parameters(parameters) if parameters.strip() else None
    return Profile(resolved, "", family.strip(), tuning, count)
