"""The JSON schema of a battery file, for editors and for the reference page."""

from __future__ import annotations

from typing import Any

from tabwb.battery.toml_schema import BatteryFile


def json_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of ``battery.toml``."""
    schema = BatteryFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
