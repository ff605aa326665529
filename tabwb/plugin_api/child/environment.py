"""The environment of a child process: what it needs, and no other secrets."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import chain

from tabwb.plugin_api.config.settings import Configuration
from tabwb.plugin_api.remote.keys import SERVICES, secrets
from tabwb.plugin_api.remote.offline import SWITCHES
from tabwb.records.installation import switch_telemetry_off

_SECRET_WORD = re.compile(
    "KEYS?|TOKENS|SECRETS|PASS|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|PAT|DSN"
    "|.*(PASSWORD|TOKEN|APIKEY|SECRET)"
)
"""A variable with such a word in its name holds a secret (``HF_TOKEN``, ``PGPASSWORD``)."""
_IN_URL = re.compile(r"://[^/\s@]*:[^/\s@]+@")


def without_secrets(
    environ: Mapping[str, str], allowed: Collection[str] = (), named: Collection[str] = ()
) -> dict[str, str]:
    """Return an environment without keys, tokens, passwords and URLs that hold a password.

    Variables of proxies stay, because downloads need them.

    Args:
        environ: the parent's environment.
        allowed: variables that stay, because the component declares that it needs them.
        named: further variables that hold keys, as the user's profiles name them.

    >>> without_secrets({"HOME": "/h", "OPENAI_API_KEY": "sk-1", "HF_TOKEN": "hf"}, ["HF_TOKEN"])
    {'HOME': '/h', 'HF_TOKEN': 'hf'}
    >>> without_secrets({"TOKENIZERS_PARALLELISM": "false", "DB": "postgresql://me:x@host/lab"})
    {'TOKENIZERS_PARALLELISM': 'false'}
    """
    known = {"TABWB_STORE", *named, *chain(*SERVICES.values())}
    seen = secrets()

    def is_secret(name: str, value: str) -> bool:
        return (
            name in known
            or any(map(_SECRET_WORD.fullmatch, re.split(r"[^A-Z0-9]+", name.upper())))
            or (bool(_IN_URL.search(value)) and not name.lower().endswith("_proxy"))
            or any(secret in value for secret in seen)
        )

    return {
        name: value
        for name, value in environ.items()
        if name in allowed or not is_secret(name, value)
    }


def child_environment(
    configuration: Configuration,
    threads: str | None,
    environ: Mapping[str, str],
    allowed: Collection[str] = (),
) -> dict[str, str]:
    """Return the environment of a child, fixed when it is started.

    OpenMP's threads wait passively: spinning makes a small model a hundred times slower on a busy
    machine.

    Args:
        configuration: gives the folders, whether to stay offline, and which variables hold keys.
        threads: the number of compute threads, or None for what the libraries choose.
        environ: the parent's environment.
        allowed: variables with secrets that the component needs.
    """
    named = {
        profile.spec.options["key_env"]
        for profile in configuration.profiles.values()
        if "key_env" in profile.spec.options
    }
    child = without_secrets(environ, allowed, named)
    child |= {
        "TABWB_CONFIG_DIR": str(configuration.config_dir.absolute()),
        "TABWB_DATA_DIR": str(configuration.data_dir.absolute()),
        "TABWB_OFFLINE": "0",
        "PYTHONIOENCODING": "utf-8",
        "OMP_WAIT_POLICY": "PASSIVE",
        "GOMP_SPINCOUNT": "0",
        "KMP_BLOCKTIME": "0",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
    }
    if threads is not None:
        child |= {f"{name}_NUM_THREADS": threads for name in ("OMP", "MKL", "OPENBLAS", "RAYON")}
    switch_telemetry_off(child)
    if configuration.offline:
        child |= SWITCHES
    return child
