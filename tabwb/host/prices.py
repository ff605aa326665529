"""Prices of models' tokens, from files that users edit. An unknown price is an unknown cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any

import tomli

from tabwb.records.errors import UsageError
from tabwb.records.files import read_regular
from tabwb.records.specs import Spec

FILE = "prices.toml"
LARGEST = 1_000_000
"""Bytes of a file of prices."""
_KEYS = {"model", "prompt", "reply", "as_of", "source"}


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model.

    Attributes:
        model: pattern of the specs, without options; ``*`` matches any text.
        prompt, reply: US dollars per million tokens sent and received.
        as_of: the day of the price, or None.
        source: where it was published, for people.
    """

    model: str
    prompt: float
    reply: float
    as_of: date | None = None
    source: str = ""

    def __str__(self) -> str:
        if not self.prompt and not self.reply:
            return f"no charge ({self.source})" if self.source else "no charge"
        when = f", {self.as_of.isoformat()}" if self.as_of else ""
        return f"{self.prompt:g} and {self.reply:g} USD per million tokens sent and received{when}"


FREE = Price("*", 0.0, 0.0, source="runs on this machine")
"""A model on this machine."""


def cost_of(
    price: Price | None, prompt_tokens: int | None, reply_tokens: int | None
) -> float | None:
    """Return the cost in US dollars: (prompt tokens x price + reply tokens x price) / 1,000,000.

    Returns:
        None where the price or a number of tokens is unknown; 0 only where nothing is charged.

    >>> cost_of(Price("m", 0.30, 2.50), 1_000_000, 200_000), cost_of(None, 1, 1)
    (0.8, None)
    >>> cost_of(FREE, None, None), cost_of(Price("m", 0.30, 2.50), None, 5)
    (0.0, None)
    """
    if price is None:
        return None
    if not price.prompt and not price.reply:
        return 0.0
    if prompt_tokens is None or reply_tokens is None:
        return None
    return (prompt_tokens * price.prompt + reply_tokens * price.reply) / 1_000_000


def price_of(spec: Spec, *, local: bool, config_dir: Path) -> Price | None:
    """Return the price of a model, or None where it is unknown."""
    prices = read_prices(config_dir / FILE)
    if not local and "base_url" not in spec.options:
        # Another address is another service with other prices.
        prices = [*prices, *shipped()]
    name = spec.id if spec.name is None else f"{spec.id}:{spec.name}"
    matching = (price for price in prices if fnmatchcase(name, price.model))
    return next(matching, FREE if local else None)


def shipped() -> list[Price]:
    """Return the list prices that come with tabwb."""
    text = files("tabwb.host").joinpath(FILE).read_text(encoding="utf-8")
    return _parse(text, FILE)


def read_prices(path: Path) -> list[Price]:
    """Return the prices in a user's file; none where there is no file.

    Raises:
        UsageError: it is malformed; the message names file and key.
    """
    content = read_regular(path, LARGEST)
    if content is None:
        return []
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot be read: {error}", where=str(path)) from error
    return _parse(text, str(path))


def _parse(text: str, where: str) -> list[Price]:
    try:
        document = tomli.loads(text)
    except RecursionError as error:
        raise UsageError("is nested too deeply", where=where) from error
    except tomli.TOMLDecodeError as error:
        raise UsageError(f"is not valid TOML: {error}", where=where) from error
    tables = document.get("price", [])
    if set(document) - {"price"} or not isinstance(tables, list):
        raise UsageError("holds more than tables [[price]]", where=where, allowed="[[price]]")
    return [_price(table, f"{where}: price {n}") for n, table in enumerate(tables, 1)]


def _price(table: Any, where: str) -> Price:
    if not isinstance(table, dict) or set(table) - _KEYS:
        unknown = ", ".join(sorted(set(table) - _KEYS)) if isinstance(table, dict) else str(table)
        raise UsageError(f"unknown key: {unknown}", where=where, allowed=", ".join(sorted(_KEYS)))
    model = table.get("model")
    if not isinstance(model, str) or not model:
        allowed = 'a spec, "gemini:gemini-2.5-flash"'
        raise UsageError("'model' is missing", where=where, allowed=allowed)
    for key in ("prompt", "reply"):
        value = table.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
            allowed = "US dollars per million tokens, 0 or more"
            raise UsageError(f"'{key}' is {value!r}", where=where, allowed=allowed)
    as_of, source = table.get("as_of"), table.get("source", "")
    if as_of is not None and not isinstance(as_of, date):
        raise UsageError(f"'as_of' is {as_of!r}", where=where, allowed="a date, 2025-09-01")
    return Price(model, float(table["prompt"]), float(table["reply"]), as_of, str(source))
