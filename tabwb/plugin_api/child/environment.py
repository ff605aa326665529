"""The environment of a component's process: what it needs, and no other secrets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain

from tabwb.plugin_api.config.settings import Configuration
from tabwb.plugin_api.remote.keys import SERVICES, secrets
from tabwb.plugin_api.remote.offline import SWITCHES
from tabwb.records.system import child_environ, switch_telemetry_off


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
        configuration: gives the folders, whether to stay offline, which variables hold keys, and
            which further ones the user allows.
        threads: the number of compute threads, or None for what the libraries choose.
        environ: the parent's environment.
        allowed: variables with secrets that the component needs.
    """
    named = {
        profile.spec.options["key_env"]
        for profile in configuration.profiles.values()
        if "key_env" in profile.spec.options
    }
    child = child_environ(
        environ,
        {*allowed, *configuration.environment},
        refused={"TABWB_STORE", *named, *chain(*SERVICES.values())},
        secrets=secrets(),
    )
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
