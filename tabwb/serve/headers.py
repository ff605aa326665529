"""What every reply says about itself, and from which pages a request may come."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from tabwb.records.classes import dataclass
from tabwb.records.system import stays_here

FEATURES = (
    "accelerometer", "camera", "clipboard-read", "display-capture", "geolocation", "gyroscope",
    "hid", "magnetometer", "microphone", "midi", "payment", "serial", "usb",
)  # fmt: skip
"""Parts of a computer that the page never uses."""


@dataclass(frozen=True)
class Site:
    """Where browsers reach the server.

    Attributes:
        url: without a final slash, as ``access.checked_address`` has it.
        port: on which the server listens; names of this computer are accepted with it.
    """

    url: str
    port: int

    @property
    def is_here(self) -> bool:
        """Whether only browsers of this computer reach it."""
        return stays_here(urlsplit(self.url).hostname)

    @property
    def hosts(self) -> frozenset[str]:
        """What ``Host`` may say. Any other name means that a foreign page points to this server."""
        hosts = {urlsplit(self.url).netloc}
        if self.is_here:
            hosts |= {f"{name}:{self.port}" for name in ("localhost", "127.0.0.1", "[::1]")}
        return frozenset(hosts)

    @property
    def origins(self) -> frozenset[str]:
        """What ``Origin`` may say: pages of this server and no other."""
        scheme = urlsplit(self.url).scheme
        return frozenset(f"{scheme}://{host}" for host in self.hosts)

    @property
    def encrypted(self) -> bool:
        """Whether browsers reach it by https."""
        return self.url.startswith("https:")

    def security_headers(self) -> Mapping[str, str]:
        """Return the headers of every reply."""
        # Older Safari does not count a web socket as the page's own origin. The syntax of policies
        # has no IPv6 addresses.
        named = sorted(origin for origin in self.origins if "[" not in origin)
        sockets = " ".join(f"ws{origin[4:]}" for origin in named)
        policy = {
            "default-src": "'none'",
            "script-src": "'self'",
            # The terminal writes its own style elements; nobody's text becomes part of the page.
            "style-src": "'self' 'unsafe-inline'",
            "font-src": "'self'",
            "img-src": "'self' data:",
            "connect-src": f"'self' {sockets}",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
        }
        headers = {
            "Content-Security-Policy": "; ".join(f"{key} {value}" for key, value in policy.items()),
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "X-Robots-Tag": "noindex, nofollow",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": ", ".join(f"{feature}=()" for feature in FEATURES),
            "Cache-Control": "no-store",
            "Server": "tabwb",
        }
        if self.encrypted:
            headers["Strict-Transport-Security"] = "max-age=31536000"
        return headers


def client_address(peer: str | None, forwarded: str, *, behind_proxy: bool) -> str | None:
    """Return the address of the browser that sent a request.

    >>> client_address("127.0.0.1", "9.9.9.9, 192.0.2.7", behind_proxy=True)
    '192.0.2.7'
    >>> client_address("127.0.0.1", "9.9.9.9, 192.0.2.7", behind_proxy=False)
    '127.0.0.1'
    """
    if behind_proxy and forwarded:
        return forwarded.rpartition(",")[2].strip()
    return peer
