"""How tabwb was installed, and the command that adds a package to that environment.

``pip install`` in a shell changes another environment than the one that pipx or ``uv tool`` made.
Standard library only; what takes time is imported when a message needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

Installer = Literal["pipx", "uv tool", "pip"]
NAME = "tabwb"


def installer(prefix: Path | None = None) -> Installer:
    """Return what made the environment that tabwb runs in.

    pipx leaves ``pipx_metadata.json`` there, ``uv tool install`` ``uv-receipt.toml``.

    Args:
        prefix: of the environment; None for the running one.
    """
    folder = Path(sys.prefix) if prefix is None else prefix
    if (folder / "pipx_metadata.json").is_file():
        return "pipx"
    if (folder / "uv-receipt.toml").is_file():
        return "uv tool"
    return "pip"


def extra_command(extra: str, prefix: Path | None = None) -> str:
    """Return the command that installs an extra of tabwb into the environment it runs in.

    Args:
        extra: its name (``local``).
        prefix: of the environment; None for the running one.
    """
    made_by = installer(prefix)
    if made_by == "pipx":
        return f"pipx inject {NAME} {_quoted(requirements_of(extra) or (f'{NAME}[{extra}]',))}"
    if made_by == "uv tool":
        return _uv_tool(Path(sys.prefix) if prefix is None else prefix, extra=extra)
    return f'pip install "{NAME}[{extra}]"'


def package_command(package: str, prefix: Path | None = None) -> str:
    """Return the command that installs a package into the environment that tabwb runs in.

    Args:
        package: as its index names it.
        prefix: of the environment; None for the running one.
    """
    made_by = installer(prefix)
    if made_by == "pipx":
        return f"pipx inject {NAME} {package}"
    if made_by == "uv tool":
        return _uv_tool(Path(sys.prefix) if prefix is None else prefix, package=package)
    return f"pip install {package}"


def requirements_of(extra: str) -> tuple[str, ...]:
    """Return the requirements that an extra of the installed tabwb adds; empty where unknown."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires(NAME) or []
    except PackageNotFoundError:
        return ()
    wanted = (f'extra == "{extra}"', f"extra == '{extra}'")
    return tuple(line.partition(";")[0].strip() for line in lines if line.endswith(wanted))


def _quoted(requirements: Iterable[str]) -> str:
    return " ".join(f'"{requirement}"' for requirement in requirements)


def _uv_tool(prefix: Path, *, extra: str = "", package: str = "") -> str:
    """Return the whole command: ``uv tool install`` forgets what it is not told again."""
    import tomllib

    try:
        receipt = tomllib.loads((prefix / "uv-receipt.toml").read_text(encoding="utf-8"))
        known = receipt["tool"]["requirements"]
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
