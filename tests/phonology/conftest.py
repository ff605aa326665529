"""The reference numbers of the PSST challenge's own scorer (all transcripts are synthetic)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

PSST = Path(__file__).parents[1] / "data" / "psst.json"


@pytest.fixture(scope="session")
def psst() -> Any:
    """``tests/data/psst.json`` as it is."""
    return json.loads(PSST.read_text(encoding="utf-8"))
