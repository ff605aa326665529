"""Whether a plugin was made for this tabwb: its requirement, and the number of the interface."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from tabwb.records.errors import ComponentError
from tabwb.records.system import NAME

API_VERSION = 2
"""Raised when hooks or contracts change so that plugins must change.

Since 2 (tabwb 0.2.0) a scorer declares which of its measures are verdicts.
"""
DECLARED = "tabwb_api"
"""The attribute of a plugin's module in which it may name the number that it was made for."""
_REQUIREMENT = re.compile(
    rf"{NAME}(?![\w.-])\s*(?:\[[^]]*\])?\s*\(?\s*([^;)]*)\)?\s*(?:;(.*))?", re.IGNORECASE
)
_SPECIFIER = re.compile(r"(===|==|~=|!=|>=|<=|>|<)\s*v?(\d+(?:\.\d+)*)(\.\*)?")
_HOLDS: Mapping[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": lambda own, other: own >= other,
    "<=": lambda own, other: own <= other,
    ">": lambda own, other: own > other,
    "<": lambda own, other: own < other,
    "~=": lambda own, other: own >= other,
    "==": lambda own, other: own == other,
    "===": lambda own, other: own == other,
    "!=": lambda own, other: own != other,
}


def unmet(requirements: Iterable[str], version: str) -> str:
    """Return the requirement of tabwb that a version does not meet, or nothing.

    Args:
        requirements: of a package, as its metadata has them.
        version: of tabwb; only its numbers are compared.

    >>> unmet(["numpy>=9", "tabwb>=0.1,<0.2 ; python_version > '3'"], "0.2.0")
    'tabwb>=0.1,<0.2'
    >>> unmet(["tabwb[local] ~=0.2.1", "tabwb==0.2.*", "tabwb-words>=9"], "0.2.3")
    ''
    """
    for requirement in requirements:
        match = _REQUIREMENT.fullmatch(requirement.strip())
        if match is None or "extra" in (match[2] or ""):
            continue
        for operator, number, wild in _SPECIFIER.findall(match[1]):
            if not _meets(_numbers(version), operator, _numbers(number), whole=not wild):
                return requirement.partition(";")[0].strip()
    return ""


def _meets(own: tuple[int, ...], operator: str, other: tuple[int, ...], *, whole: bool) -> bool:
    if operator == "~=" and own[: len(other) - 1] != other[:-1]:
        return False
    size = max(len(own), len(other)) if whole else len(other)
    pad = [(*numbers, *[0] * size)[:size] for numbers in (own, other)]
    return _HOLDS[operator](pad[0], pad[1])


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()


def check_requirements(requirements: Iterable[str], version: str) -> None:
    """Check that a plugin's package may be used with this tabwb.

    Args:
        requirements: of the package.
        version: of tabwb.

    Raises:
        ComponentError: it needs another one.
    """
    if needed := unmet(requirements, version):
        raise ComponentError(
            f"needs {needed}, and this is {NAME} {version}",
            hint=f"install another version of the plugin, or of {NAME}",
        )


def check_api(plugin: object) -> None:
    """Check the number of the interface that a plugin names, if it does.

    Args:
        plugin: the object of its entry point.

    Raises:
        ComponentError: it was made for another one.
    """
    declared = getattr(plugin, DECLARED, API_VERSION)
    if declared != API_VERSION:
        raise ComponentError(
            f"was made for plugin interface {declared!r}, and this {NAME} has {API_VERSION}",
            allowed=f"{DECLARED} = {API_VERSION}",
        )
