"""The reference of a battery: its preprint, beside a citation that is part of its content."""

from __future__ import annotations

from dataclasses import replace

from tabwb.battery.loader import load_battery
from tabwb.media.references import of_battery
from tests.cli.conftest import TAB


def test_the_reference_of_tab_has_its_preprint_and_its_battery_stays_the_same() -> None:
    battery = load_battery(TAB)
    reference = of_battery(battery)
    assert (reference.fields["eprint"], reference.fields["archiveprefix"]) == (
        "2511.20507",
        "arXiv",
    )
    assert "arXiv:2511.20507" in str(reference)
    assert "2511.20507" not in battery.canonical


def test_another_battery_has_none() -> None:
    other = replace(load_battery(TAB), citation="Ann Other (2020). Another title.")
    assert "eprint" not in of_battery(other).fields
