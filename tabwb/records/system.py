"""The system below the program: child processes, ctrl+c, limits, installed packages, addresses.

Every child is started here, so that none imports code from the current folder, gets a key, or
outlives the program; a test refuses other ways. ONNX Runtime is imported without its telemetry,
which official builds since 1.29 send over HTTPS (source: ``Privacy.md`` in onnxruntime 1.31.1).
Every start imports this module: what takes time is imported when it is needed.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import importlib
import importlib.util
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import IO, TYPE_CHECKING, NoReturn
from weakref import WeakSet

from tabwb.records.errors import ComponentError, MissingExtra, TabwbError

if TYPE_CHECKING:
    import asyncio.subprocess
    import subprocess

PIPE = -1
"""A stream of a child is a pipe: ``subprocess.PIPE``."""
NOTHING = -3
"""A stream of a child is empty: ``subprocess.DEVNULL``."""
_STARTED: WeakSet[subprocess.Popen[bytes]] = WeakSet()


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs a module, with nothing imported from the current folder."""
    return sys.executable, "-P", "-m", module, *arguments


def find_program(name: str) -> str | None:
    """Return the path of a program of the system; never one in the current folder."""
    import shutil

    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    absolute = os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())
    found = shutil.which(name, path=absolute)
    return found if found and Path(found).is_absolute() else None


def start(
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    stdin: int = NOTHING,
    stdout: int = NOTHING,
    stderr: int | IO[bytes] = NOTHING,
    apart: bool = True,
) -> subprocess.Popen[bytes]:
    """Start a child."""
    import subprocess

    started = subprocess.Popen(
        command, env=environ, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=apart
    )
    if not apart:
        return started
    # A program that is interrupted while it waits for the end of a process leaves none behind.
    atexit.unregister(kill_all)
    atexit.register(kill_all)
    _STARTED.add(started)
    return started


def fork(work: Callable[[], None]) -> int:
    """Run a function in a copy of this process, which then ends; return its process number."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


async def start_served(
    command: Sequence[str], environ: Mapping[str, str]
) -> asyncio.subprocess.Process:
    """Start a child with three pipes in a server; its session ends it."""
    import asyncio

    return await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environ, start_new_session=True
    )


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it has started, also where it is stopped or busy."""
    if process.poll() is not None:
        return
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def kill_all() -> None:
    """Kill every registered process that still runs."""
    for process in list(_STARTED):
        kill_group(process)


class Interrupt(KeyboardInterrupt):
    """Raised by our signal handlers: a person pressed ctrl+c, or the process is asked to end."""


def interrupt(number: int, frame: FrameType | None) -> None:
    """Handle a signal by raising :class:`Interrupt`."""
    raise Interrupt


def is_real(error: KeyboardInterrupt) -> bool:
    """Return whether a ``KeyboardInterrupt`` comes from a signal.

    Signals reach the main thread only. Where Python's own handler is in force there, every
    ``KeyboardInterrupt`` counts as one.

    >>> is_real(Interrupt())
    True
    """
    if isinstance(error, Interrupt):
        return True
    if threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


NAME = "tabwb"


def extra_command(extra: str) -> str:
    """Return the command that installs an extra of tabwb into the environment it runs in."""
    requirements = requirements_of(extra) or (f"{NAME}[{extra}]",)
    injected = " ".join(f'"{requirement}"' for requirement in requirements)
    return _command(injected, f'"{NAME}[{extra}]"', extra=extra)


def package_command(package: str) -> str:
    """Return the command that installs a package into the environment that tabwb runs in."""
    return _command(package, package, package=package)


def _command(injected: str, installed: str, *, extra: str = "", package: str = "") -> str:
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").is_file():  # pipx leaves it there
        return f"pipx inject {NAME} {injected}"
    receipt = prefix / "uv-receipt.toml"
    if receipt.is_file():  # of "uv tool install"
        return _uv_tool(receipt, extra, package)
    return f"pip install {installed}"


def requirements_of(extra: str) -> tuple[str, ...]:
    """Return the requirements that an extra of the installed tabwb adds; empty where unknown."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires(NAME) or []
    except PackageNotFoundError:
        return ()
    wanted = (f'extra == "{extra}"', f"extra == '{extra}'")
    return tuple(line.partition(";")[0].strip() for line in lines if line.endswith(wanted))


def _uv_tool(receipt: Path, extra: str, package: str) -> str:
    """Return the whole command: ``uv tool install`` forgets what it is not told again."""
    import tomllib

    try:
        known = tomllib.loads(receipt.read_text(encoding="utf-8"))["tool"]["requirements"]
        extras = [
            name
            for requirement in known
            if requirement["name"] == NAME
            for name in requirement.get("extras", ())
        ]
        others = [str(requirement["name"]) for requirement in known if requirement["name"] != NAME]
    except (OSError, ValueError, LookupError, TypeError):
        extras, others = [], []
    extras = sorted({*extras, *filter(None, [extra])})
    others = list(dict.fromkeys([*others, *filter(None, [package])]))
    spec = f'"{NAME}[{",".join(extras)}]"' if extras else NAME
    return " ".join(["uv tool install", spec, *(f"--with {name}" for name in others)])


SWITCHES = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")
"""Environment variables that stop all of it where they are set before onnxruntime is imported: no
uploader, no events, no identifier in ``$TMPDIR/.ses``. Builds differ in the name."""


def switch_telemetry_off(environ: MutableMapping[str, str]) -> None:
    """Set the variables that keep ONNX Runtime's telemetry off.

    >>> variables = {"ORT_DISABLE_TELEMETRY": "0"}
    >>> switch_telemetry_off(variables)
    >>> variables["ORT_DISABLE_TELEMETRY"]
    '1'
    """
    environ.update(dict.fromkeys(SWITCHES, "1"))


def import_onnxruntime(module: str = "onnxruntime") -> ModuleType:
    """Import ONNX Runtime, or a module in it, with its telemetry off."""
    switch_telemetry_off(os.environ)
    imported = importlib.import_module(module)
    # Windows builds look at this switch only.
    disable = getattr(importlib.import_module("onnxruntime"), "disable_telemetry_events", None)
    if disable is not None:
        disable()
    return imported


def is_installed(module: str) -> bool:
    """Return whether a module can be imported, without importing it.

    >>> is_installed("json"), is_installed("no_such_package")
    (True, False)
    """
    try:
        return importlib.util.find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # its package is missing; None is in its place
        return False


def need(module: str, what: str, extra: str = "audio") -> ModuleType:
    """Import a module of an extra."""
    try:
        if module == "onnxruntime":
            return import_onnxruntime()
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(what, extra, package=module) from error
    except OSError as error:
        raise ComponentError(
            f"{what} is not available here: {error}",
            where=f"package {module}",
            hint=f"install the library that is named, or {module} again with pip",
        ) from error


FILES_AT_LEAST = 16
"""A store, its log, its locks and the pipes of one child need so many open files."""
MEMORY_AT_LEAST = 64 * 2**20
"""Bytes of address space that the smallest commands need."""
WORKBENCH_AT_LEAST = 512 * 2**20
"""Bytes of address space that the workbench needs, with the stacks of its threads."""
_OUT_OF_MEMORY = ("failed to map segment", "cannot allocate memory", "can't start new thread")


def check_open_files() -> None:
    """Leave with one message where the system allows too few open files for any command."""
    opened: list[int] = []
    try:
        while len(opened) < FILES_AT_LEAST:
            opened.append(os.dup(0))
    except OSError:
        _leave(
            f"fewer than {FILES_AT_LEAST} files may be open at once (ulimit -n)\n"
            f"  allowed: {FILES_AT_LEAST} or more\n  raise the limit: ulimit -n 1024"
        )
    finally:
        for number in opened:
            os.close(number)


def check_memory(least: int = MEMORY_AT_LEAST) -> None:
    """Leave with one message where the system allows a process less memory than is needed."""
    if (limit := _memory_limit()) is not None and limit < least:
        _leave(
            f"a process may have only {_mib(limit)} of memory (ulimit -v)\n"
            f"  allowed: {_mib(least)} or more\n  raise the limit: ulimit -v unlimited"
        )


def exhausted(error: BaseException) -> TabwbError | None:
    """Return the message for an error that a limit caused; None where no limit did.

    >>> print(exhausted(OSError(24, "Too many open files")))
    too many files are open (ulimit -n)
    raise the limit: ulimit -n 1024
    >>> exhausted(ValueError("no"))
    """
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.EMFILE, errno.ENFILE):
        return TabwbError(
            "too many files are open (ulimit -n)", hint="raise the limit: ulimit -n 1024"
        )
    words = str(error).lower() if isinstance(error, ImportError | RuntimeError) else ""
    if not (
        isinstance(error, MemoryError)
        or number == errno.ENOMEM
        or any(part in words for part in _OUT_OF_MEMORY)
    ):
        return None
    limit = _memory_limit()
    if limit is None:
        return TabwbError("there is not enough memory", hint="close other programs")
    return TabwbError(
        f"there is not enough memory: a process may have only {_mib(limit)} (ulimit -v)",
        hint="raise the limit: ulimit -v unlimited",
    )


def _memory_limit() -> int | None:
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    except ImportError:  # there is no memory for it
        return 0
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def _mib(count: int) -> str:
    return f"{count // 2**20} MiB"


def _leave(text: str) -> NoReturn:
    # The interpreter's own end may need what is missing.
    os.write(2, f"error: {text}\n".encode())
    os._exit(1)


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
_SECRET_WORD = (
    "KEYS?|TOKENS|SECRETS|PASS|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|PAT|DSN|COOKIES?|BEARER"
    "|.*(PASSWORD|TOKEN|APIKEY|SECRET)"
)
"""A variable with such a word in its name holds a secret (``HF_TOKEN``, ``TABWB_KEY``)."""
_IN_URL = r"://[^/\s@]*:[^/\s@]+@"


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
            and not any(re.fullmatch(_SECRET_WORD, part) for part in re.split(r"[^A-Z0-9]+", upper))
            and (upper.endswith("_PROXY") or not re.search(_IN_URL, value))
            and not any(secret in value for secret in secrets)
        )

    return {
        name: value for name, value in environ.items() if name in allowed or is_needed(name, value)
    }


OFFLINE_VARIABLE = "TABWB_OFFLINE"
_NO = frozenset({"", "0", "false", "no", "off"})


def stays_here(host: object) -> bool:
    """Return whether an address or host name can only mean this computer.

    >>> [stays_here(host) for host in ("localhost", "127.0.0.1", "::1", "192.168.1.5", "hub.org")]
    [True, True, True, False, False]
    """
    import ipaddress

    name = host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else host
    if name is None or name in ("", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(str(name).partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    # The unspecified address as a destination is this machine.
    return bool(mapped.is_loopback or mapped.is_unspecified)


def is_offline(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether this process, and so every library in it, must use no network.

    >>> is_offline({"TABWB_OFFLINE": "1"}), is_offline({"TABWB_OFFLINE": "off"}), is_offline({})
    (True, False, False)
    """
    env = os.environ if environ is None else environ
    return env.get(OFFLINE_VARIABLE, "").strip().lower() not in _NO


def servers_elsewhere(hosts: str) -> tuple[str, ...]:
    """Return the hosts of a PostgreSQL connection that are not this computer.

    >>> servers_elsewhere("/run/postgresql,localhost,::1"), servers_elsewhere("db.example.org,")
    ((), ('db.example.org',))
    """
    names = (host.strip() for host in hosts.split(","))
    return tuple(host for host in names if not host.startswith(("/", "@")) and not stays_here(host))


def sound_servers_elsewhere(servers: str) -> tuple[str, ...]:
    """Return the PulseAudio servers that are not this computer.

    >>> sound_servers_elsewhere("unix:/run/user/1/pulse/native tcp:127.0.0.1:4713 tcp6:[::1]:4713")
    ()
    >>> sound_servers_elsewhere("{ab12}tcp:192.0.2.7:4713 studio")
    ('192.0.2.7', 'studio')
    """
    elsewhere = []
    for word in servers.split():
        entry = word.partition("}")[2] if word.startswith("{") else word
        if not entry or entry.startswith(("unix:", "/")):
            continue
        kind, colon, rest = entry.partition(":")
        address = rest if colon and kind in ("tcp", "tcp4", "tcp6") else entry
        if address.startswith("["):
            host = address[1:].partition("]")[0]
        else:
            host = address.partition(":")[0] if address.count(":") == 1 else address
        if not stays_here(host):
            elsewhere.append(host)
    return tuple(elsewhere)
