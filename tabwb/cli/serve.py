"""``tabwb serve``: rating pages in browsers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tabwb.cli.common import note, opened_store, store_option, verbosity_options
from tabwb.records.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from tabwb.serve.guests import Guest
    from tabwb.serve.headers import Site


@click.command()
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address on which the server listens."
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=8017,
    show_default=True,
    help="Port on which it listens.",
)
@click.option(
    "--url",
    "address",
    metavar="URL",
    default=None,
    help="Where raters reach it, for example https://rate.example.org through a proxy.",
)
@click.option(
    "--most",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Maximum number of open pages; each is a process of about 100 MB.",
)
@verbosity_options
@store_option
def serve(host: str, port: int, address: str | None, most: int, store_location: str | None) -> None:
    """Let raters rate in a browser, each by the secret link that 'tabwb rate link make' prints.

    A link opens the rating page of one rater and nothing else. By default the server listens only
    on this computer, and it does not encrypt: put a reverse proxy with TLS in front of it.
    ctrl+c closes all pages and ends it.
    """
    from tabwb.administer.rating.access import checked_address
    from tabwb.serve.headers import Site

    try:
        import textual_serve  # noqa: F401 - says which extra is missing
    except ImportError as error:
        raise MissingExtra("rating in a browser", "server", package="textual-serve") from error
    if address is None and not _listens_here_only(host):
        raise UsageError(
            f"raters reach a server on {host} by an address that --url has to name",
            where="--host",
            allowed="for example --url https://rate.example.org",
        )
    shown = f"[{host}]" if ":" in host else host
    site = Site(checked_address(address or f"http://{shown}:{port}"), port)
    if not (site.encrypted or site.is_here):
        note(f"warning: links and ratings go to {site.url} unencrypted; use a proxy with TLS")
    _serve(host, site, most, store_location)


def _listens_here_only(host: str) -> bool:
    """Return whether an address to listen on is reached from this computer alone.

    >>> [_listens_here_only(host) for host in ("127.0.0.1", "::1", "0.0.0.0", "::0", "", "lab")]
    [True, True, False, False, False, False]
    """
    import ipaddress

    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return bool((getattr(address, "ipv4_mapped", None) or address).is_loopback)


def _serve(host: str, site: Site, most: int, store_location: str | None) -> None:
    import asyncio
    import logging

    from tabwb.administer.rating.access import check_sending
    from tabwb.serve.server import RatingServer, Settings, run_server

    with opened_store(store_location) as (plugins, store):
        location = plugins.configuration.store_at(store_location)

        def environment(guest: Guest) -> dict[str, str]:
            own = {"TABWB_RATING_SET": str(guest.link.set_id), "TABWB_RATER": guest.link.rater}
            return own if location is None else own | {"TABWB_STORE": str(location)}

        def is_closed(guest: Guest) -> bool:
            kept = store.sets.get(guest.link.set_id)
            if not site.is_here:  # its link may name this computer, or be older than a withdrawal
                check_sending(store, store.sets.samples(kept.id))
            return kept.status == "closed"

        settings = Settings(site, environment, is_closed, most)
        logging.basicConfig(level=logging.WARNING, format="%(message)s")
        words = f"rating pages at {site.url} (listens on {host}:{site.port}); ctrl+c ends"
        server = RatingServer(store.sets.links, settings)
        asyncio.run(run_server(server, host, site.port, lambda: note(words)))
    note("the server has ended")
