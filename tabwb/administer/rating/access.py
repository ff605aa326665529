"""Who may rate a sample, and secret links: the key that opens one rater's page.

The key is 256 random bits. The store keeps its SHA-256 alone, so a copy of the store opens nothing.
A link has its key behind ``#``: browsers never send that part, so no server or proxy on the way can
write it into a log.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal
from urllib.parse import urlsplit

from tabwb.administer.consent import Guard, check
from tabwb.host.plugins import Plugins
from tabwb.records.conditions import Conditions
from tabwb.records.errors import NoConsent, UsageError
from tabwb.records.rating_sets import RaterLink, Sample
from tabwb.store.store import Store

# -------------------------------------------------------------------- permission


def agrees(store: Store, plugins: Plugins, conditions: Conditions) -> bool:
    """Return whether whoever answered agrees to rating; nothing is logged. Models always do."""
    try:
        Guard(store, plugins, conditions).check_listening("")
    except NoConsent:
        return False
    return True


def refuse_program(plugins: Plugins, code: str) -> None:
    """Refuse a person's code by which a judge or a scorer is found."""
    programs = (*plugins.descriptors("judges"), *plugins.descriptors("scorers"))
    if any(code in (one.id, *one.aliases) for one in programs):
        raise UsageError(
            f"'{code}' is a judge or a scorer, not a person",
            hint="choose another code for the person, for example R2",
        )


def may_rate(store: Store, plugins: Plugins, sample: Sample, rater: str) -> bool:
    """Return whether a speaker agrees to rating; it is logged, once for each administration."""
    conditions = store.administration(sample.administration).conditions
    try:
        acts = Guard(store, plugins, conditions).check_listening(rater)
    except NoConsent:
        return False
    for act in acts:
        entry = replace(act, administration=sample.administration)
        known = store.people.log_entries(act.speaker, sample.administration)
        if not any((one.act, one.detail) == (act.act, act.detail) for one in known):
            store.people.log(entry)
    return True


def check_sending(store: Store, samples: Iterable[Sample]) -> None:
    """Refuse to show samples on other computers without the consent of every speaker."""
    for number in sorted({sample.administration for sample in samples}):
        conditions = store.administration(number).conditions
        if conditions.guarded:
            check(store, conditions.person, "remote")


# -------------------------------------------------------------------- links


KEY_BYTES = 32
PAGE = "rate"
"""Path of the page that a link opens."""
LOCAL = "http://127.0.0.1:8017"
"""Address of the server where no other is named."""
LONGEST = timedelta(days=366)
SHORTEST = timedelta(minutes=1)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_KEY = re.compile(r"[A-Za-z0-9_-]{43}")
LinkState = Literal["valid", "expired", "revoked"]


def new_key() -> str:
    """Return a new key: 32 bytes of the system's random source as 43 characters of base64."""
    return secrets.token_urlsafe(KEY_BYTES)


def is_key(text: object) -> bool:
    """Return whether a text has the form of a key.

    >>> is_key("A" * 43), is_key("A" * 42), is_key("é" * 43), is_key(None)
    (True, False, False, False)
    """
    return isinstance(text, str) and _KEY.fullmatch(text) is not None


def digest(key: str) -> bytes:
    """Return what the store keeps of a key: its SHA-256.

    A key is random and long, so a slow hash, as for passwords, would protect nothing more.

    >>> digest("A" * 43).hex()[:16]
    '0f007385b6f9d4b7'
    """
    return hashlib.sha256(key.encode()).digest()


def expiry(words: str, now: datetime) -> str:
    """Return when a link expires, as ISO 8601 in UTC.

    >>> expiry("14d", datetime(2026, 3, 1, 12, tzinfo=UTC))
    '2026-03-15T12:00:00+00:00'
    >>> expiry("2026-03-31", datetime(2026, 3, 1, 12, tzinfo=UTC))
    '2026-04-01T00:00:00+00:00'
    """
    ends = _end(words.strip(), now)
    if ends is None or not SHORTEST <= ends - now <= LONGEST:
        raise UsageError(
            f"a link cannot expire '{words}'",
            where="--expires",
            allowed="a duration from 1m to 366d such as 30m, 12h, 14d or 2w, or a day such as "
            "2026-03-31",
        )
    return ends.isoformat(timespec="seconds")


def _end(words: str, now: datetime) -> datetime | None:
    if match := re.fullmatch(r"([0-9]{1,6})([mhdw])", words):
        return now + timedelta(**{_UNITS[match[2]]: int(match[1])})
    if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", words):
        try:
            return datetime.fromisoformat(words).replace(tzinfo=UTC) + timedelta(days=1)
        except (ValueError, OverflowError):
            return None
    return None


def link_state(link: RaterLink, now: datetime) -> LinkState:
    """Return whether a link opens its page at a time.

    >>> link = RaterLink(1, 1, "R2", "2026-03-01T12:00:00+00:00", "me", "2026-03-15T12:00:00+00:00")
    >>> link_state(link, datetime(2026, 3, 15, 11, 59, tzinfo=UTC))
    'valid'
    >>> link_state(link, datetime(2026, 3, 15, 12, tzinfo=UTC))
    'expired'
    """
    if link.revoked_at:
        return "revoked"
    if link.expires_at and _time(link.expires_at) <= now:
        return "expired"
    return "valid"


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def link(address: str, key: str) -> str:
    """Return the link that a rater opens.

    >>> link("https://rate.example.org/", "KEY")
    'https://rate.example.org/rate#KEY'
    """
    return f"{address.rstrip('/')}/{PAGE}#{key}"


def checked_address(address: str) -> str:
    """Return the address at which raters reach the server, if it is one.

    >>> checked_address("https://Rate.Example.org:443/aphasia/")
    'https://rate.example.org/aphasia'
    """
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    extra = parts.username or parts.password or parts.query or parts.fragment
    plain = re.fullmatch(r"(/[A-Za-z0-9._~-]+)*/?", parts.path) is not None
    host = parts.hostname or ""
    named = re.fullmatch(r"[a-z0-9.-]+|[0-9a-f:.]+", host) is not None
    if parts.scheme not in ("http", "https") or extra or not plain or not named:
        raise UsageError(
            "this is not an address of a server",
            where="--url",
            allowed="http or https, a host, a port and a path, for example "
            "https://rate.example.org or http://127.0.0.1:8017",
        )
    usual = {"http": 80, "https": 443}[parts.scheme]
    shown = f"[{host}]" if ":" in host else host
    at = "" if port in (None, usual) else f":{port}"
    return f"{parts.scheme}://{shown}{at}{parts.path.rstrip('/')}"


def revoke(store: Store, set_id: int, raters: Collection[str], now: datetime) -> list[RaterLink]:
    """Revoke the valid links of raters of a set; return them."""
    valid = [
        one
        for one in store.sets.links.all(set_id)
        if one.rater in raters and link_state(one, now) == "valid"
    ]
    for one in valid:
        store.sets.links.revoke(one.id)
    return valid
