"""Reading PNG pictures without a library, so that the base install can show a naming battery.

All colour types and depths that the format has (PNG specification, second edition, W3C 2003), but
not interlaced ones. Pure; no widget.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabwb.records.errors import UsageError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_PIXELS = 25_000_000
"""Larger pictures are refused unread: a small file can unfold to any size."""
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Samples of a pixel by colour type: grey, RGB, palette, grey and alpha, RGBA."""

Bytes = NDArray[np.uint8]


def read_png(data: bytes, name: str = "picture") -> Bytes:
    """The pixels of a PNG file.

    Args:
        data: the file's bytes.
        name: of the file, for messages.

    Returns:
        Height x width x 4 (red, green, blue, alpha), 0 to 255.

    Raises:
        UsageError: it is no PNG, damaged, interlaced or too large.
    """
    if not data.startswith(SIGNATURE):
        raise UsageError("it is no PNG picture", where=name)
    try:
        chunks = list(_chunks(data))
        width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
        if interlaced:
            raise UsageError(
                "interlaced PNG pictures are not read",
                where=name,
                hint="save it again without interlacing",
            )
        if not 0 < width * height <= MOST_PIXELS:
            raise UsageError(
                f"a picture of {width} x {height} pixels is not read",
                where=name,
                allowed=f"at most {MOST_PIXELS:,} pixels",
            )
        samples = _samples(chunks, width, height, depth, _CHANNELS[colour])
        return _colours(samples, chunks, depth, colour)
    except (struct.error, zlib.error, KeyError, IndexError, ValueError) as error:
        raise UsageError(f"the picture is damaged: {error}", where=name) from error


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        yield kind, data[at + 8 : at + 8 + length]
        if kind == b"IEND":
            return
        at += length + 12
    raise ValueError("it ends in the middle")


def _samples(
    chunks: list[tuple[bytes, bytes]], width: int, height: int, depth: int, channels: int
) -> NDArray[np.uint16]:
    """Height x width x channels, as large as the depth allows."""
    line = (width * channels * depth + 7) // 8
    wanted = height * (line + 1)
    packed = b"".join(content for kind, content in chunks if kind == b"IDAT")
    unfolded = zlib.decompressobj().decompress(packed, wanted)
    rows = np.frombuffer(unfolded, np.uint8).reshape(height, line + 1)
    raw = unfiltered(rows[:, 0], rows[:, 1:], max(channels * depth // 8, 1))
    if depth == 16:
        return raw.view(">u2").astype(np.uint16).reshape(height, width, channels)
    if depth == 8:
        return raw.astype(np.uint16).reshape(height, width, channels)
    bits = np.unpackbits(raw, axis=1)[:, : width * channels * depth]
    weights = 1 << np.arange(depth)[::-1]
    values = bits.reshape(height, width, channels, depth) @ weights
    return values.astype(np.uint16)


def unfiltered(filters: Bytes, rows: Bytes, step: int) -> Bytes:
    """Undo the filters of all rows.

    A byte needs the one at its left, above, and above at the left; so all bytes of one diagonal can
    be had at once, and there are only height + width of those.

    Args:
        filters: of each row: 0 none, 1 sub, 2 up, 3 average, 4 Paeth (PNG specification, 9.2).
        rows: height x bytes of a row.
        step: bytes of a pixel, at least 1.

    Returns:
        Height x bytes of a row.

    >>> import numpy as np
    >>> rows = np.array([[1, 1, 1], [1, 0, 0]], dtype=np.uint8)
    >>> unfiltered(np.array([1, 2], dtype=np.uint8), rows, 1).tolist()
    [[1, 2, 3], [2, 2, 3]]
    """
    if int(filters.max(initial=0)) > 4:
        raise ValueError(f"there is no filter {filters.max()}")
    height, length = rows.shape
    width = -(-length // step)
    padded = np.zeros((height, width, step), np.uint8)
    padded.reshape(height, width * step)[:, :length] = rows
    # One row and one column of zeros stand before the first.
    made = np.zeros((height + 1, width + 1, step), np.int16)
    kinds = filters.astype(np.intp)
    for diagonal in range(height + width - 1):
        first, last = max(0, diagonal - width + 1), min(height, diagonal + 1)
        row = np.arange(first, last)
        column = diagonal - row
        left, up = made[row + 1, column], made[row, column + 1]
        guess = _guess(kinds[row, None], left, up, made[row, column])
        made[row + 1, column + 1] = (padded[row, column] + guess) & 255
    return made[1:, 1:].astype(np.uint8).reshape(height, width * step)[:, :length].copy()


def _guess(kind: NDArray[Any], left: NDArray[Any], up: NDArray[Any], corner: NDArray[Any]) -> Any:
    """What each filter guesses of a byte (PNG specification, 9.2 and 9.4)."""
    to_left, to_up = abs(up - corner), abs(left - corner)
    to_corner = abs(left + up - 2 * corner)
    paeth = np.where(
        (to_left <= to_up) & (to_left <= to_corner),
        left,
        np.where(to_up <= to_corner, up, corner),
    )
    return np.select(
        [kind == 1, kind == 2, kind == 3, kind == 4], [left, up, (left + up) // 2, paeth], 0
    )


def _colours(
    samples: NDArray[np.uint16], chunks: list[tuple[bytes, bytes]], depth: int, colour: int
) -> Bytes:
    extra = dict(chunks)
    height, width = samples.shape[:2]
    made = np.full((height, width, 4), 255, np.uint8)
    if colour == 3:
        palette = np.full((256, 4), 255, np.uint8)
        colours = np.frombuffer(extra[b"PLTE"], np.uint8).reshape(-1, 3)
        palette[: len(colours), :3] = colours
        alpha = np.frombuffer(extra.get(b"tRNS", b""), np.uint8)
        palette[: len(alpha), 3] = alpha
        return np.asarray(palette[samples[..., 0]])
    most = (1 << depth) - 1
    scaled = (samples.astype(np.uint32) * 255 // most).astype(np.uint8)
    made[..., :3] = scaled[..., : 3 if colour in {2, 6} else 1]
    if colour in {4, 6}:
        made[..., 3] = scaled[..., -1]
    elif b"tRNS" in extra:
        clear = np.frombuffer(extra[b"tRNS"], ">u2")
        made[..., 3] = np.where((samples == clear).all(axis=-1), 0, 255)
    return made
