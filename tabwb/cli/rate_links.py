"""``tabwb rate link``: secret links, each opens the rating page of one rater in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tabwb.cli.common import inform, json_option, note, opened_store, print_json, store_option
from tabwb.records.errors import UsageError
from tabwb.records.system import stays_here
from tabwb.records.words import plural

if TYPE_CHECKING:
    from datetime import datetime

    from tabwb.records.rating_sets import RaterLink, RatingSet
    from tabwb.store.store import Store

rater_option = click.option(
    "--rater",
    "raters",
    metavar="CODE",
    multiple=True,
    help="Only this rater; repeatable. Default: every rater of the set.",
)


@click.group()
def link() -> None:
    """Make, list and revoke the links by which raters open 'tabwb serve'."""


@link.command()
@click.argument("reference", metavar="SET")
@rater_option
@click.option(
    "--expires",
    metavar="TIME",
    default="14d",
    show_default=True,
    help="After this time (30m, 12h, 14d, 2w), or at the end of a day (2026-03-31, UTC).",
)
@click.option(
    "--url",
    "address",
    metavar="URL",
    default=None,
    help="Where raters reach 'tabwb serve' (default: this computer, port 8017).",
)
@store_option
@json_option
def make(
    reference: str,
    raters: tuple[str, ...],
    expires: str,
    address: str | None,
    store_location: str | None,
    as_json: bool,
) -> None:
    """Make a secret link for each rater of SET, and print it, once.

    The store keeps only the SHA-256 of its key, so a link cannot be printed again: make a new one,
    which revokes the rater's older one.
    """
    from datetime import UTC, datetime
    from urllib.parse import urlsplit

    from tabwb.administer.rating import links
    from tabwb.administer.rating.permission import check_sending

    with opened_store(store_location) as (_, store):
        kept = store.sets.get(reference)
        chosen = _chosen(kept, raters)
        now = datetime.now(UTC)
        ends, base = links.expiry(expires, now), links.checked_address(address or links.LOCAL)
        _refuse_unusable(store, kept)
        if not stays_here(urlsplit(base).hostname):
            check_sending(store, store.sets.samples(kept.id))
        made = []
        for rater in chosen:
            revoked = _revoke(store, kept, [rater], now)
            key = links.new_key()
            kept_link = store.sets.links.add(kept.id, rater, links.digest(key), expires_at=ends)
            made.append((kept_link, links.link(base, key), revoked))
    if as_json:
        rows = [{**_plain(one, "valid"), "link": words} for one, words, _ in made]
        print_json({"format": 1, "set": kept.name, "links": rows})
    else:
        for one, words, _ in made:
            click.echo(f"{one.rater}  {words}")
    older = sum(revoked for _, _, revoked in made)
    inform(
        f"{plural(len(made), 'link')}, valid until {_moment(ends)}"
        + (f"; {older} older revoked" if older else "")
        + ". Give each rater theirs alone: who has a link rates as that rater."
    )


@link.command("list")
@click.argument("reference", metavar="[SET]", required=False)
@store_option
@json_option
def list_links(reference: str | None, store_location: str | None, as_json: bool) -> None:
    """List the links of SET, or of every set, never their keys."""
    from datetime import UTC, datetime

    from tabwb.administer.rating.links import link_state

    now = datetime.now(UTC)
    with opened_store(store_location) as (_, store):
        names = {kept.id: kept.name for kept in store.sets.all()}
        of = None if reference is None else store.sets.get(reference).id
        found = [(one, link_state(one, now)) for one in store.sets.links.all(of)]
    if as_json:
        rows = [{"set": names[one.set_id], **_plain(one, state)} for one, state in found]
        print_json({"format": 1, "links": rows})
        return
    width = max((len(names[one.set_id]) for one, _ in found), default=0)
    code = max((len(one.rater) for one, _ in found), default=0)
    for one, state in found:
        until = {"valid": "until", "expired": "at", "revoked": "at"}[state]
        moment = _moment(one.revoked_at or one.expires_at)
        click.echo(f"{names[one.set_id]:<{width}}  {one.rater:<{code}}  {state} {until} {moment}")
    inform(plural(len(found), "link"))


@link.command()
@click.argument("reference", metavar="SET")
@rater_option
@store_option
def revoke(reference: str, raters: tuple[str, ...], store_location: str | None) -> None:
    """Revoke the links of SET. Pages that are open are closed within seconds; nothing is lost."""
    from datetime import UTC, datetime

    with opened_store(store_location) as (_, store):
        kept = store.sets.get(reference)
        count = _revoke(store, kept, _chosen(kept, raters), datetime.now(UTC))
    note(f"{plural(count, 'link')} revoked")


def _chosen(kept: RatingSet, raters: tuple[str, ...]) -> tuple[str, ...]:
    for rater in raters:
        if rater not in kept.raters:
            raise UsageError(
                f"'{rater}' is not a rater of rating set '{kept.name}'",
                where="--rater",
                allowed=", ".join(kept.raters) or None,
            )
    return tuple(dict.fromkeys(raters)) or kept.raters


def _revoke(
    store: Store, kept: RatingSet, raters: tuple[str, ...] | list[str], now: datetime
) -> int:
    from tabwb.administer.rating.links import link_state

    valid = [
        one
        for one in store.sets.links.all(kept.id)
        if one.rater in raters and link_state(one, now) == "valid"
    ]
    for one in valid:
        store.sets.links.revoke(one.id)
    return len(valid)


def _refuse_unusable(store: Store, kept: RatingSet) -> None:
    """Refuse a closed set, and one with sound, which would be played where the server runs."""
    from tabwb.store.sets import asked_by

    if kept.status == "closed":
        raise UsageError(
            f"rating set '{kept.name}' is closed",
            hint=f"'tabwb rate reopen {kept.name}' opens it again",
        )
    if asked_by(kept).spoken and any(
        sample.audio is not None for sample in store.sets.samples(kept.id)
    ):
        raise UsageError(
            f"rating set '{kept.name}' has recordings, and a page in a browser plays no sound",
            hint=f"rate it in a terminal: 'tabwb rate start {kept.name} --rater CODE'",
        )


def _plain(one: RaterLink, state: str) -> dict[str, Any]:
    return {
        "rater": one.rater,
        "state": state,
        "made_at": one.made_at,
        "made_by": one.made_by,
        "expires_at": one.expires_at or None,
        "revoked_at": one.revoked_at or None,
    }


def _moment(text: str) -> str:
    return f"{text[:10]} {text[11:16]} UTC" if text else "never"
