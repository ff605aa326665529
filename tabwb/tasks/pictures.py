"""The key ``picture`` of an item, for the task types that take one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tabwb.records.problems import Broken, KeyPath, shortened

FILE_TYPES = (".png", ".jpg", ".jpeg")


def picture_problems(path: KeyPath, item: Mapping[str, Any]) -> Iterator[Broken]:
    """Yield a picture that is not a picture file.

    Args:
        path: of the item.
        item: its keys.
    """
    picture = item.get("picture")
    if picture and not picture.lower().endswith(FILE_TYPES):
        what = "this is not a picture file"
        yield Broken((*path, "picture"), what, shortened(picture), ", ".join(FILE_TYPES))
