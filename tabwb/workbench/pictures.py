"""Pictures for the screen: read, on white paper, and as small as the cells that show them.

PNG is read by ourselves; other formats need the extra ``pictures``. Pure; no widget.
"""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from tabwb.records.errors import MissingExtra, UsageError
from tabwb.workbench.png import MOST_PIXELS, SIGNATURE, read_png

Pixels = NDArray[np.uint8]
"""Height x width x 3 (red, green, blue), 0 to 255."""


@lru_cache(maxsize=64)
def read_picture(data: bytes, name: str = "picture") -> Pixels:
    """The pixels of a picture; what is transparent is white paper.

    Args:
        data: the file's bytes.
        name: of the file, for messages.

    Raises:
        MissingExtra: it is no PNG, and the extra that reads others is not installed.
        UsageError: it cannot be read.
    """
    rgba = read_png(data, name) if data.startswith(SIGNATURE) else _read_other(data, name)
    alpha = rgba[..., 3:].astype(np.uint16)
    on_white = (rgba[..., :3] * alpha + 255 * (255 - alpha) + 127) // 255
    pixels: Pixels = on_white.astype(np.uint8)
    pixels.flags.writeable = False
    return pixels


def _read_other(data: bytes, name: str) -> NDArray[np.uint8]:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise MissingExtra(f"reading {name}", "pictures", package="pillow") from None
    try:
        with Image.open(BytesIO(data)) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise UsageError(
                    f"a picture of {picture.width} x {picture.height} pixels is not read",
                    where=name,
                    allowed=f"at most {MOST_PIXELS:,} pixels",
                )
            return np.asarray(picture.convert("RGBA"), dtype=np.uint8)
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise UsageError(f"the picture cannot be read: {error}", where=name) from error


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
