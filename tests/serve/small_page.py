"""Stands in for a rating page."""

from __future__ import annotations

import os
import sys


def send(kind: bytes, payload: bytes) -> None:
    """Write one packet."""
    os.write(1, kind + len(payload).to_bytes(4, "big") + payload)


os.write(1, b"__GANGLION__\n")
facts = {
    "pid": str(os.getpid()),
    "rater": os.environ["SMALL_PAGE_RATER"],
    "arguments": " ".join(sys.argv[1:]),
    "size": f"{os.environ['COLUMNS']}x{os.environ['ROWS']}",
}
send(b"D", "\n".join(f"{name}={value}" for name, value in facts.items()).encode())
with os.fdopen(0, "rb") as source:
    while kind := source.read(1):
        payload = source.read(int.from_bytes(source.read(4), "big"))
        if kind == b"M" and b'"quit"' in payload:
            break
        if payload == b"files":
            send(b"M", b'{"type": "open_url", "url": "http://elsewhere", "new_tab": true}')
            send(b"M", b'{"type": "deliver_file_start", "key": "k", "path": "/etc/passwd"}')
            send(b"P", b"l13:deliver_chunk1:k1:xe")
        send(b"D", kind + payload)
