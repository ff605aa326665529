"""``tabwb rate link``: a link is printed once, opens one rater's page, expires, is revoked."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tabwb.battery.forms import form_from_canonical
from tabwb.cli.main import main
from tabwb.records.conditions import Conditions
from tabwb.records.rating_sets import Assignment, AudioCut, Sample, SetEvent, SetPlan
from tabwb.records.speakers import Consent
from tabwb.records.trials import AttemptEntry
from tabwb.store.store import Store
from tests.store.parts import FORM, attempt, begin, rated_set, small_battery


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A store with the set ``pilot`` of the raters R1 and R2."""
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        number = begin(store, 1).id
        store.append(number, [AttemptEntry(1, attempt())])
        rated_set(store, number, 1)
    return path


def links(place: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Run a command of links with ``--json``; return its document."""
    capsys.readouterr()
    assert main(["rate", "link", *arguments, "--store", str(place), "--json"]) == 0
    return json.loads(capsys.readouterr().out)["links"]


def test_each_rater_gets_a_link_whose_key_is_not_kept(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = links(place, capsys, "make", "pilot", "--url", "https://rate.example.org/")
    assert [one["rater"] for one in made] == ["R1", "R2"]
    keys = [one["link"].removeprefix("https://rate.example.org/rate#") for one in made]
    assert {len(key) for key in keys} == {43}
    dump = "\n".join(sqlite3.connect(place).iterdump())
    for key in keys:
        assert key not in dump
        assert hashlib.sha256(key.encode()).hexdigest().upper() in dump.upper()
    lifetime = datetime.fromisoformat(made[0]["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=13.9) < lifetime < timedelta(days=14.1)
    assert "link" not in links(place, capsys, "list")[0]


def test_a_new_link_revokes_the_older_one_of_its_rater(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def states() -> list[tuple[str, str]]:
        return [(one["rater"], one["state"]) for one in links(place, capsys, "list", "pilot")]

    links(place, capsys, "make", "pilot")
    links(place, capsys, "make", "pilot", "--rater", "R2", "--expires", "1m")
    assert states() == [("R1", "valid"), ("R2", "revoked"), ("R2", "valid")]
    assert main(["rate", "link", "revoke", "pilot", "--rater", "R1", "--store", str(place)]) == 0
    assert states() == [("R1", "revoked"), ("R2", "revoked"), ("R2", "valid")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rater", "R9"), "'R9' is not a rater of rating set 'pilot'"),
        (("--expires", "10s"), "cannot expire '10s'"),
        (("--expires", "367d"), "cannot expire '367d'"),
        (("--expires", "2026-02-30"), "cannot expire '2026-02-30'"),
        (("--url", "https://me:secret@rate.example.org"), "not an address of a server"),
        (("--url", "javascript:alert(1)"), "not an address of a server"),
    ],
)
def test_what_cannot_be_a_link_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert main(["rate", "link", "make", "pilot", *arguments, "--store", str(place)]) == 2
    assert message in capsys.readouterr().err
    assert links(place, capsys, "list") == []


def test_a_set_with_recordings_gets_no_link(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    form = replace(form_from_canonical(FORM), shows=("text", "audio")).canonical
    sound = b"a recording"
    cut = AudioCut(hashlib.sha256(sound).hexdigest(), 0.0, 1.0)
    sample = Sample(1, 1, 1, 1, "cat", "", audio=cut)
    with Store.open(place) as store:
        other = small_battery(version="2", content="two", assets={"a.wav": sound})
        store.keep_battery(other, {"a.wav": sound})
        store.sets.create(SetPlan("spoken", form, "two", (sample,), (Assignment("R1", 1, 1),)))
    assert main(["rate", "link", "make", "spoken", "--store", str(place)]) == 2
    assert "a page in a browser plays no sound" in capsys.readouterr().err


def test_a_closed_set_gets_no_link(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open(place) as store:
        store.sets.log(store.sets.get("pilot").id, SetEvent("closed"))
    assert main(["rate", "link", "make", "pilot", "--store", str(place)]) == 2
    assert "rating set 'pilot' is closed" in capsys.readouterr().err


def test_responses_of_a_person_go_elsewhere_with_consent_only(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(place) as store:
        number = begin(store, 1, conditions=Conditions("S-014", "speaker")).id
        store.append(number, [AttemptEntry(1, attempt())])
        rated_set(store, number, 1, name="spoken")
    make = ["rate", "link", "make", "spoken", "--store", str(place)]
    assert main(make) == 0
    assert main([*make, "--url", "https://rate.example.org"]) == 1
    assert "S-014 has not consented to" in capsys.readouterr().err
    with Store.open(place) as store:
        store.people.keep_consents([Consent("S-014", "remote", True, "2026-11-01", "form", "me")])
    assert main([*make, "--url", "https://rate.example.org"]) == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "::0", "192.0.2.7"])
def test_a_server_for_others_needs_an_address(
    place: Path, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    assert main(["serve", "--host", host, "--store", str(place)]) == 2
    assert "--url https://rate.example.org" in capsys.readouterr().err
