"""The environment of a child process: variables that are known to be needed, and no secrets."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

_NAMED = (
    "HOME USER LOGNAME PATH SHELL LANG LANGUAGE TZ TMPDIR TEMP TMP TERM COLORTERM NO_COLOR COLUMNS "
    "LINES DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS LD_LIBRARY_PATH LD_PRELOAD "
    "VIRTUAL_ENV CONDA_PREFIX DO_NOT_TRACK SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE "
    "CURL_CA_BUNDLE HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SLURM_CPUS_PER_TASK SLURM_JOB_ID "
    "TCL_LIBRARY TK_LIBRARY "
    # of Windows
    "USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES "
    "SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS NUMBER_OF_PROCESSORS "
    "PROCESSOR_ARCHITECTURE"
)
NAMES = frozenset(_NAMED.split())
"""Variables that every child gets, in capital letters."""
PREFIXES = (
    *("TABWB_", "PYTHON", "LC_", "XDG_", "COVERAGE_", "TEXTUAL_"),
    *("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "NUMEXPR_", "RAYON_", "VECLIB_", "DYLD_"),
    *("CUDA_", "NVIDIA_", "NCCL_", "CUBLAS_", "HIP_", "HSA_", "ROCR_", "PYTORCH_", "TORCH_"),
    *("HF_", "HUGGINGFACE_", "TRANSFORMERS_", "TOKENIZERS_", "SAFETENSORS_", "ORT_"),
    *("PULSE_", "PIPEWIRE_", "ALSA_", "JACK_", "PA_"),
)
"""Beginnings of the names of variables that every child gets."""
_SECRET_WORD = re.compile(
    "KEYS?|TOKENS|SECRETS|PASS|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|PAT|DSN|COOKIES?|BEARER"
    "|.*(PASSWORD|TOKEN|APIKEY|SECRET)"
)
"""A variable with such a word in its name holds a secret (``HF_TOKEN``, ``TABWB_KEY``)."""
_IN_URL = re.compile(r"://[^/\s@]*:[^/\s@]+@")


def child_environ(
    environ: Mapping[str, str],
    allowed: Collection[str] = (),
    *,
    refused: Collection[str] = (),
    secrets: Collection[str] = (),
) -> dict[str, str]:
    """Return the environment of a child: :data:`NAMES`, :data:`PREFIXES`, and what is allowed.

    Of these, variables are left out whose name or value shows a secret. Proxies stay with their
    passwords, because downloads need them.

    >>> child_environ({"HOME": "/h", "PRIVATEKEY": "1", "HF_TOKEN": "hf", "HF_HOME": "/hf"})
    {'HOME': '/h', 'HF_HOME': '/hf'}
    >>> child_environ({"HF_TOKEN": "hf", "OPENAI_API_KEY": "sk-1"}, ["HF_TOKEN"])
    {'HF_TOKEN': 'hf'}
    >>> child_environ({"TABWB_STORE": "postgresql://me:x@host/lab", "https_proxy": "http://a:b@p"})
    {'https_proxy': 'http://a:b@p'}
    """

    def is_needed(name: str, value: str) -> bool:
        upper = name.upper()
        return (
            (upper in NAMES or upper.startswith(PREFIXES))
            and name not in refused
            and not any(map(_SECRET_WORD.fullmatch, re.split(r"[^A-Z0-9]+", upper)))
            and (upper.endswith("_PROXY") or not _IN_URL.search(value))
            and not any(secret in value for secret in secrets)
        )

    return {
        name: value for name, value in environ.items() if name in allowed or is_needed(name, value)
    }
