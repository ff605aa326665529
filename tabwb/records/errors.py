"""The few errors that a user may see: what is wrong, where, what is allowed, what to do."""

from __future__ import annotations

import re


class TabwbError(Exception):
    """One clear message for a person; ``tabwb`` prints it without a traceback.

    Args:
        message: what is wrong, as a sentence without a final stop.
        where: the place (``FILE:LINE``, a command's option, an id), or None.
        allowed: what would have been accepted, or None.
        hint: what to do next, or None.
    """

    exit_status = 1

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> None:
        def shown(text: str | None) -> str | None:
            return without_keys(text) if isinstance(text, str) else text

        super().__init__(shown(message))
        self.message = shown(message) or ""
        self.where, self.allowed, self.hint = shown(where), shown(allowed), shown(hint)

    def __str__(self) -> str:
        lead = f"{self.where}: {self.message}" if self.where else str(self.message)
        parts = [lead]
        if self.allowed:
            parts.append(f"allowed: {self.allowed}")
        if self.hint:
            parts.append(self.hint)
        return "\n".join(parts)


LONGEST_TEXT = 4_000
"""Characters that are kept of the text of an error that is not ours."""


def error_text(error: BaseException, *, typed: bool = True) -> str:
    """Return the text of any exception, which code of a plugin may make; it never fails.

    >>> error_text(ValueError("too small"))
    'ValueError: too small'
    """
    name = type(error).__name__
    try:
        text = str(error)
        whole = f"{name}: {text}" if typed else str.__str__(text)
    except BaseException as failed:
        from tabwb.records.system import is_real

        if isinstance(failed, KeyboardInterrupt) and is_real(failed):
            raise
        whole = f"{name}, whose text cannot be read: __str__ raised {type(failed).__name__}"
    whole = without_keys(whole[: 2 * LONGEST_TEXT])
    return whole if len(whole) <= LONGEST_TEXT else f"{whole[:LONGEST_TEXT]} … (shortened)"


class UsageError(TabwbError):
    """The command's words are off: an unknown id, a malformed spec. Exit status 2."""

    exit_status = 2


class StoreError(TabwbError):
    """The store cannot be opened, read or written; nothing recorded was changed."""


class HeldElsewhere(StoreError):
    """An administration is open in another process, or in another session of this one."""


class ComponentError(TabwbError):
    """A plugin's component failed or cannot be used here."""


class NoAnswer(ComponentError):
    """A model has no answer to this item, for example a file of recorded answers that lacks it.

    The component works: a run continues with the next item, however many have no answer.
    """


class MissingExtra(ComponentError):
    """An optional package is not installed; the hint names the command that installs it."""

    def __init__(self, what: str, extra: str, *, package: str | None = None) -> None:
        from tabwb.records.system import extra_command

        missing = f" (package {package} is not installed)" if package else ""
        super().__init__(
            f"{what} needs the extra '{extra}'{missing}",
            hint=f"install it with: {extra_command(extra)}",
        )
        self.extra = extra


class MissingPackage(ComponentError):
    """A package that a plugin names in its ``needs`` is not installed."""

    def __init__(self, what: str, package: str, command: str = "") -> None:
        from tabwb.records.system import package_command

        super().__init__(
            f"{what} needs the package '{package}', which is not installed",
            hint=f"install it with: {command or package_command(package)}",
        )
        self.package = package


class NeedsNetwork(ComponentError):
    """A component that needs a network was asked for under ``--offline``."""


class NoConsent(TabwbError):
    """A person did not agree to what was to be done, or took it back; nothing was done."""


class Interrupted(TabwbError):
    """Stopped early and resumable: a limit, trials in error, the first ctrl+c. Exit status 3."""

    exit_status = 3


class TabwbWarning(UserWarning):
    """Something that whoever calls the Python interface is to know; the work continued."""


_SHOWN = "[key]"
"""Stands in messages for words that look like keys of services."""
_KEYS = (
    r"(?<![A-Za-z0-9])(?:"
    # The prefixes of OpenAI, Anthropic and OpenRouter; Hugging Face, GitHub, GitLab, Groq, others.
    r"sk-(?=[\w-]{0,60}\d)[\w-]{0,40}?[A-Za-z0-9]{16}[\w-]*"
    r"|(?:hf|gsk|r8|gh[pousr])_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|(?:xai|pplx|nvapi|glpat|xox[abp])-[\w-]{20,}"
    r"|AIza[\w-]{30,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{10,999}\.[\w-]+\.[\w-]*"
    # Long words of capitals, small letters and digits; hexadecimal hashes have one case, and names
    # of files and models hold words.
    r"|(?=[A-Za-z]*\d)(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])(?![A-Za-z0-9]{0,26}[a-z]{6})"
    r"[A-Za-z0-9]{32,}(?![A-Za-z0-9])"
    r")"
    # A user and a password in an address, and a key in its query.
    r"|(?<=://)[^/\s@'\",?#]+(?=@)"
    r"|(?<=[?&]key=)[^&\s'\"]+|(?<=[?&]api_key=)[^&\s'\"]+|(?<=[?&]token=)[^&\s'\"]+"
)


def without_keys(text: str) -> str:
    """Return the text with all that looks like a key replaced by ``[key]``.

    >>> without_keys("refused: sk-proj-abcDEF0123456789abcdef0123 of http://me:word@host/v1?key=x")
    'refused: [key] of http://[key]@host/v1?key=[key]'
    >>> without_keys("/sk-study-2024-1/hf_models_cache_of_us/NamingOfParticipant12Session3.wav")
    '/sk-study-2024-1/hf_models_cache_of_us/NamingOfParticipant12Session3.wav'
    """
    return re.sub(_KEYS, _SHOWN, text)


def has_key(text: str) -> bool:
    """Return whether a part of the text looks like a key.

    >>> has_key("openai:sk-proj-abcDEF0123456789abcdef0123"), has_key("openai:llama3.2:1b")
    (True, False)
    """
    return re.search(_KEYS, text) is not None
