"""Pictures for the screen: read, on white paper, and as small as the cells that show them.

Read by Pillow, in any of its formats. Pure; no widget.
"""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from tabwb.records.errors import UsageError

Pixels = NDArray[np.uint8]
"""Height x width x 3 (red, green, blue), 0 to 255."""


MOST_PIXELS = 25_000_000
"""Larger pictures are refused unread: a small file can unfold to any size."""


@lru_cache(maxsize=64)
def read_picture(data: bytes, name: str = "picture") -> Pixels:
    """Return the pixels of a picture; what is transparent is white paper.

    Args:
        data: the file's bytes, of any format that Pillow reads.
        name: of the file, for messages.

    Raises:
        UsageError: it cannot be read, or is too large.
    """
    rgba = read_rgba(data, name)
    alpha = rgba[..., 3:].astype(np.uint16)
    on_white = (rgba[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255
    pixels: Pixels = on_white.astype(np.uint8)
    pixels.flags.writeable = False
    return pixels


def read_rgba(data: bytes, name: str = "picture") -> NDArray[np.uint8]:
    """Return the pixels of a picture, height x width x 4 (red, green, blue, alpha), 0 to 255.

    Args:
        data: the file's bytes.
        name: of the file, for messages.

    Raises:
        UsageError: it cannot be read, or is too large.
    """
    from PIL import Image

    try:
        with Image.open(BytesIO(data)) as picture:
            width, height = picture.size
            if width * height > MOST_PIXELS:
                raise _too_large(f"{width} x {height} pixels", name)
            if picture.mode.startswith("I"):  # Pillow would cut 16 bits off at 255
                grey = (np.asarray(picture).astype(np.uint32) * 255 // 65535).astype(np.uint8)
                return np.dstack([grey, grey, grey, np.full_like(grey, 255)])
            return np.asarray(picture.convert("RGBA"), dtype=np.uint8)
    except Image.DecompressionBombError as error:
        raise _too_large("that many pixels", name) from error
    except (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error) as error:
        raise UsageError(
            f"the picture cannot be read or is damaged: {error}",
            where=name,
            hint="save it again as PNG or JPEG",
        ) from error


def _too_large(what: str, name: str) -> UsageError:
    return UsageError(
        f"a picture of {what} is not read", where=name, allowed=f"at most {MOST_PIXELS:,} pixels"
    )


def fitted(width: int, height: int, most_width: int, most_height: int) -> tuple[int, int]:
    """The largest size with these proportions that fits; at least one pixel each way.

    >>> fitted(400, 300, 40, 40), fitted(300, 400, 40, 20), fitted(1000, 1, 10, 10)
    ((40, 30), (15, 20), (10, 1))
    """
    scale = min(most_width / width, most_height / height)
    return (
        max(1, min(most_width, round(width * scale))),
        max(1, min(most_height, round(height * scale))),
    )


def scaled(pixels: Pixels, width: int, height: int) -> Pixels:
    """Every new pixel is the mean of the area it covers.

    >>> import numpy as np
    >>> board = np.array([[[0] * 3, [200] * 3], [[200] * 3, [0] * 3]], dtype=np.uint8)
    >>> scaled(board, 1, 1).tolist()
    [[[100, 100, 100]]]
    """
    rows = _shares(pixels.shape[0], height)
    columns = _shares(pixels.shape[1], width)
    mean = np.einsum("yh,hwc,xw->yxc", rows, pixels.astype(np.float32), columns, optimize=True)
    made: Pixels = np.clip(np.rint(mean), 0, 255).astype(np.uint8)
    return made


def _shares(old: int, new: int) -> NDArray[np.float32]:
    """New x old: which share of each new pixel comes from which old one; rows add up to 1."""
    edges = np.arange(new + 1) * (old / new)
    starts = np.arange(old)
    overlap = np.minimum(edges[1:, None], starts + 1) - np.maximum(edges[:-1, None], starts)
    shares = np.clip(overlap, 0, None)
    made: NDArray[np.float32] = (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)
    return made
