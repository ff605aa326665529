"""Keys of remote services: found in the environment or the system keyring, never shown.

A key is neither stored, logged nor printed: :class:`Key` does not tell its value in ``repr`` or
``str``, :func:`redact` takes every key that this process has seen out of a text, and whatever a
library logs goes through it too.
"""

from __future__ import annotations

import base64
import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from tabwb.records.errors import ComponentError, MissingExtra, UsageError

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

T = TypeVar("T")
KEYRING_SERVICE = "tabwb"
"""Under this name the keys stand in the system keyring, the service being the user name."""
SHOWN = "[key]"
SHORTEST = 8
"""Words shorter than this are no secrets: servers on one's own machine take any word."""

SERVICES: Mapping[str, tuple[str, ...]] = {
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
}
"""Service: the environment variables in which its key is looked for first."""

_HOST = re.compile(r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:\d+)?")
_seen: set[str] = set()
_logs_guarded = False


@dataclass(frozen=True, slots=True, repr=False)
class Key:
    """A secret with where it was found; only :meth:`reveal` gives it away.

    >>> key = Key("sk-0123456789", "OPENAI_API_KEY")
    >>> key, str(key), redact("refused: sk-0123456789")
    (Key([key] of OPENAI_API_KEY), 'Key([key] of OPENAI_API_KEY)', 'refused: [key]')
    """

    _value: str
    source: str

    def __post_init__(self) -> None:
        remember(self._value)

    def __repr__(self) -> str:
        return f"Key({SHOWN} of {self.source})"

    def reveal(self) -> str:
        """The secret itself, for the client that sends it and nothing else."""
        return self._value


def remember(secret: str) -> None:
    """Let :func:`redact` take this word out of texts, and out of logs, from now on."""
    if len(secret) >= SHORTEST:
        _seen.update(forms_of(secret))
        _guard_logs()


def forms_of(secret: str) -> set[str]:
    """Return the ways in which a service may send a key back: as it is, quoted, base64, hex.

    Base64 depends on where in a longer text the key begins, so there are three forms of it, each
    without the characters that it shares with its neighbours.

    >>> import base64
    >>> sent = base64.b64encode(b"user:sk-0123456789").decode()
    >>> any(form in sent for form in forms_of("sk-0123456789"))
    True
    """
    raw = secret.encode()
    forms = {secret, quote(secret, safe=""), raw.hex(), raw.hex().upper()}
    for offset in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(b"\0" * offset + raw).decode()
            whole = len(raw) + offset
            forms.add(text[-(-offset * 8 // 6) : whole * 8 // 6])
    return {form for form in forms if len(form) >= SHORTEST}


def secrets() -> tuple[str, ...]:
    """Every key known to this process, in each form in which it may be written."""
    return tuple(_seen)


def redact(text: str) -> str:
    """The text with every key known to this process replaced by ``[key]``."""
    for secret in sorted(_seen, key=len, reverse=True):
        text = text.replace(secret, SHOWN)
    return text


def find_key(
    variables: Sequence[str], service: str, *, environ: Mapping[str, str] | None = None
) -> Key | None:
    """The key of a service: from the environment, else from the system keyring, else None.

    A keyring that is not installed or cannot be read holds no key.

    Args:
        variables: names of environment variables, the first that is set and not empty counts.
        service: the name under which ``tabwb key set`` keeps it.
        environ: the environment; the process's own when None.

    Raises:
        UsageError: what stands in the variable cannot be a key.
    """
    env = os.environ if environ is None else environ
    for name in variables:
        if value := env.get(name, "").strip():
            return checked_key(value, name)
    try:
        return read_key(service)
    except ComponentError:
        return None


def checked_key(value: str, source: str) -> Key:
    """A key as a person gave it.

    Raises:
        UsageError: it cannot be one; the message does not show it.
    """
    remember(value)
    text = value.strip()
    if not text:
        raise UsageError("no key was given", where=source)
    if not text.isascii() or not text.isprintable() or " " in text:
        raise UsageError(
            "what was given cannot be a key",
            where=source,
            allowed="one word of ASCII letters, digits and signs",
        )
    return Key(text, source)


def check_service(service: str) -> str:
    """The service as it is kept: a known one, or the host of a server.

    Raises:
        UsageError: it is neither.

    >>> check_service("gemini"), check_service("OpenRouter.ai"), check_service("localhost:8000")
    ('gemini', 'openrouter.ai', 'localhost:8000')
    """
    name = service.lower()
    near = [] if "." in name else get_close_matches(name, SERVICES, n=1)
    if name in SERVICES or (_HOST.fullmatch(name) and not near):
        return name
    raise UsageError(
        f"there is no service '{service}'" + (f"; did you mean '{near[0]}'?" if near else ""),
        allowed=f"{', '.join(SERVICES)}, or the host of a server as in base_url "
        "(openrouter.ai, 192.168.1.5:8000)",
    )


def read_key(service: str) -> Key | None:
    """The key that the system keyring keeps for a service.

    Raises:
        MissingExtra: the package keyring is not installed.
        ComponentError: there is no keyring on this system, or it refuses.
    """
    backend = _keyring()
    value = _asked(lambda: backend.get_password(KEYRING_SERVICE, service))
    return Key(value, "the system keyring") if value else None


def write_key(service: str, key: Key) -> None:
    """Keep a key in the system keyring; an earlier one of the service is replaced.

    Raises:
        MissingExtra, ComponentError: as :func:`read_key`; or it was not kept.
    """
    backend = _keyring()
    _asked(lambda: backend.set_password(KEYRING_SERVICE, service, key.reveal()))
    kept = read_key(service)
    if kept is None or kept.reveal() != key.reveal():
        raise ComponentError(
            "the system keyring did not keep the key", hint="set it in the environment instead"
        )


def delete_key(service: str) -> None:
    """Take a service's key out of the system keyring.

    Raises:
        UsageError: none is kept there.
        MissingExtra, ComponentError: as :func:`read_key`.
    """
    if read_key(service) is None:
        raise UsageError(
            f"the system keyring keeps no key of '{service}'", hint="see: tabwb key list"
        )
    backend = _keyring()
    _asked(lambda: backend.delete_password(KEYRING_SERVICE, service))


def missing_key(title: str, variables: Sequence[str], service: str) -> ComponentError:
    """What to say where a key is needed and none was found; why the keyring cannot be read."""
    hint = f"keep it in the keyring with: tabwb key set {service}"
    try:
        read_key(service)
    except ComponentError as error:
        hint += f"\nbut here {error.message}"
    return ComponentError(
        f"{title} needs a key, and none was found",
        allowed=f"environment variable {' or '.join(variables)}, or the system keyring",
        hint=hint,
    )


def _guard_logs() -> None:
    """Redact every record that any library logs: servers say keys back, clients log that."""
    global _logs_guarded
    if _logs_guarded:
        return
    _logs_guarded = True
    make = logging.getLogRecordFactory()

    def make_redacted(*arguments: Any, **named: Any) -> logging.LogRecord:
        record = make(*arguments, **named)
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):  # a malformed record; logging itself reports it
            return record
        if (clean := redact(message)) != message:
            record.msg, record.args = clean, ()
        if record.exc_info:
            record.exc_text = redact(logging.Formatter().formatException(record.exc_info))
        return record

    logging.setLogRecordFactory(make_redacted)


def _keyring() -> KeyringBackend:
    try:
        import keyring
        from keyring.backends import fail, null
    except ImportError as error:
        raise MissingExtra("keeping keys", "keyring", package="keyring") from error
    backend = _asked(keyring.get_keyring)
    if isinstance(backend, fail.Keyring | null.Keyring):
        raise ComponentError(
            "there is no system keyring here",
            hint="on a machine without a desktop set the key in the environment instead, for "
            "example OPENAI_API_KEY or GEMINI_API_KEY",
        )
    return backend


def _asked(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except Exception as error:  # noqa: BLE001 - a plugin call: systems' keyrings are plugins
        raise ComponentError(
            f"the system keyring refused: {redact(str(error)) or type(error).__name__}",
            hint="unlock it, or set the key in the environment",
        ) from None
