"""Keys of remote services, from the environment or the system keyring; never shown.

A key is not stored, logged or printed: ``repr`` and ``str`` of a :class:`Key` hide its value,
:func:`redact` removes every key that this process has read from a text, and the messages that
libraries log are redacted too.
"""

from __future__ import annotations

import base64
import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from tabwb.records.errors import ComponentError, MissingExtra, UsageError
from tabwb.records.words import did_you_mean

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

T = TypeVar("T")
KEYRING_SERVICE = "tabwb"
"""The service name in the system keyring; our service is the user name there."""
SHOWN = "[key]"
SHORTEST = 8
"""Shorter words are not treated as secrets: servers on this machine accept any word."""

SERVICES: Mapping[str, tuple[str, ...]] = {
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
}
"""Service: the environment variables of its key, in order."""

_HOST = re.compile(r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:\d+)?")
_seen: set[str] = set()
_logs_guarded = False


@dataclass(frozen=True, slots=True, repr=False)
class Key:
    """A secret with its source; only :meth:`reveal` returns it.

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
        """Return the secret itself; only for the client that sends it."""
        return self._value


def remember(secret: str) -> None:
    """Let :func:`redact` remove this word from texts and logs from now on."""
    if len(secret) >= SHORTEST:
        _seen.update(forms_of(secret))
        _guard_logs()


def forms_of(secret: str) -> set[str]:
    """Return the forms in which a service may send a key back: as it is, quoted, base64, hex.

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
            forms.add(text[-(-offset * 8 // 6) : (len(raw) + offset) * 8 // 6])
    return {form for form in forms if len(form) >= SHORTEST}


def secrets() -> tuple[str, ...]:
    """Return every key that this process has read, in each form."""
    return tuple(_seen)


def redact(text: str) -> str:
    """Return the text with every key that this process has read replaced by ``[key]``."""
    for secret in sorted(_seen, key=len, reverse=True):
        text = text.replace(secret, SHOWN)
    return text


def find_key(
    variables: Sequence[str], service: str, *, environ: Mapping[str, str] | None = None
) -> Key | None:
    """Return the key of a service from the environment or the system keyring, or None.

    Args:
        variables: names of environment variables; the first that is not empty counts.
        service: its name for ``tabwb key set``.
        environ: the environment; the process's own when None.
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
    """Return a key that a person gave.

    Raises:
        UsageError: it cannot be a key; the message does not show it.
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
    """Return the name of a service: a known one, or the host of a server.

    Raises:
        UsageError: it is neither.

    >>> check_service("gemini"), check_service("OpenRouter.ai"), check_service("localhost:8000")
    ('gemini', 'openrouter.ai', 'localhost:8000')
    """
    name = service.lower()
    near = "" if "." in name else did_you_mean(name, SERVICES)
    if name in SERVICES or (_HOST.fullmatch(name) and not near):
        return name
    raise UsageError(
        f"there is no service '{service}'{near}",
        allowed=f"{', '.join(SERVICES)}, or the host of a server as in base_url "
        "(openrouter.ai, 192.168.1.5:8000)",
    )


def read_key(service: str) -> Key | None:
    """Return the key of a service in the system keyring.

    Raises a ``ComponentError`` where there is no keyring, or the keyring refuses.
    """
    backend = _keyring()
    value = _asked(lambda: backend.get_password(KEYRING_SERVICE, service))
    return Key(value, "the system keyring") if value else None


def write_key(service: str, key: Key) -> None:
    """Store a key in the system keyring; an earlier key of the service is replaced.

    Raises:
        ComponentError: the keyring refuses, or did not keep the key.
    """
    backend = _keyring()
    _asked(lambda: backend.set_password(KEYRING_SERVICE, service, key.reveal()))
    kept = read_key(service)
    if kept is None or kept.reveal() != key.reveal():
        raise ComponentError(
            "the system keyring did not keep the key", hint="set it in the environment instead"
        )


def delete_key(service: str) -> None:
    """Delete the key of a service from the system keyring.

    Raises:
        UsageError: the keyring has none.
    """
    if read_key(service) is None:
        message = f"the system keyring keeps no key of '{service}'"
        raise UsageError(message, hint="see: tabwb key list")
    backend = _keyring()
    _asked(lambda: backend.delete_password(KEYRING_SERVICE, service))


def missing_key(title: str, variables: Sequence[str], service: str) -> ComponentError:
    """Return the error for a missing key, with the reason where there is no keyring.

    Args:
        title: of the model.
        variables: names of the environment variables of the key.
        service: its name for ``tabwb key set``.
    """
    hint = f"keep it in the keyring with: tabwb key set {service}"
    try:
        read_key(service)
    except ComponentError as error:
        # Without a keyring the command would fail too.
        hint = f"set the environment variable {variables[0]}: {error.message}"
    return ComponentError(
        f"{title} needs a key, and none was found",
        allowed=f"environment variable {' or '.join(variables)}, or the system keyring",
        hint=hint,
    )


def _guard_logs() -> None:
    """Redact every log record: servers send keys back, and clients log that."""
    global _logs_guarded
    if _logs_guarded:
        return
    _logs_guarded = True
    make = logging.getLogRecordFactory()

    def make_redacted(*arguments: Any, **named: Any) -> logging.LogRecord:
        record = make(*arguments, **named)
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):  # malformed; logging itself reports it
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
