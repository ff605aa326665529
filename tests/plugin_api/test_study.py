"""``[study]`` in ``tabwb.toml``: IDs and columns; every mistake is named with its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabwb.plugin_api.config.settings import Configuration
from tabwb.records.errors import UsageError
from tabwb.records.speakers import BUILT_IN, Column, Study


def load(folder: Path, text: str) -> Study:
    (folder / "tabwb.toml").write_text(text, encoding="utf-8")
    return Configuration.load(cwd=folder, environ={"TABWB_CONFIG_DIR": str(folder)}).study


def test_without_the_table_there_are_the_built_in_columns(tmp_path: Path) -> None:
    assert load(tmp_path, "") == Study()
    assert [column.name for column in BUILT_IN] == [
        "AQ",
        "severity",
        "months_post_onset",
        "age_years",
        "dialect",
        "group",
        "variety",
        "ipa",
    ]


def test_a_study_adds_columns_and_says_built_in_ones_anew(tmp_path: Path) -> None:
    study = load(
        tmp_path,
        """
        [study]
        speaker_id_pattern = "[A-Z]{2}[0-9]{3}"
        require_consent = true
        columns = [
          { name = "hours", type = "number", unit = "h", minimum = 0, maximum = 500 },
          { name = "group", type = "choice", choices = ["early", "late"] },
        ]
        """,
    )
    assert study.require_consent
    assert study.remark("AB123") == ""
    assert "S-014" in study.remark("S-014")
    assert len(study.columns) == len(BUILT_IN) + 1
    assert study.read({"hours": "1.5", "group": "late"}) == {"hours": 1.5, "group": "late"}
    with pytest.raises(UsageError, match="early, late"):
        study.read({"group": "A"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("AQ", "101"),
        ("AQ", "-1"),
        ("AQ", "nan"),
        ("AQ", "inf"),
        ("AQ", "high"),
        ("AQ", ""),
        ("months_post_onset", "-1"),
        ("severity", "Mild"),
        ("dialect", ""),
        ("dialect", "two\nlines"),
        ("dialect", "x" * 201),
    ],
)
def test_a_value_that_is_none_is_refused(name: str, text: str) -> None:
    with pytest.raises(UsageError, match=f"not a valid value of '{name}'"):
        Study().read({name: text})


def test_a_whole_number_has_no_fraction() -> None:
    sessions = Column("sessions", "whole", minimum=1)
    assert sessions.read("3") == 3
    with pytest.raises(UsageError, match="allowed: a whole number from 1"):
        sessions.read("3.5")


def test_the_ends_of_a_range_belong_to_it() -> None:
    assert Study().read({"AQ": "0"}) == {"AQ": 0}
    assert Study().read({"AQ": "100"}) == {"AQ": 100}


def test_a_misspelt_column_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'dialect'"):
        Study().read({"dialects": "Scots"})


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("study = 1", "study"),
        ("[study]\npattern = 'x'", "study.pattern"),
        ("[study]\nspeaker_id_pattern = '['", "study.speaker_id_pattern"),
        ("[study]\nspeaker_id_pattern = 1", "study.speaker_id_pattern"),
        ("[study]\nrequire_consent = 'no'", "study.require_consent"),
        ("[study]\ncolumns = 'AQ'", "study.columns"),
        ("[study]\ncolumns = ['AQ']", r"study.columns\[0\]"),
        ("[study]\ncolumns = [{ name = 'a b' }]", r"study.columns\[0\].name"),
        ("[study]\ncolumns = [{ name = 'a' }, { name = 'a' }]", r"study.columns\[1\].name"),
        ("[study]\ncolumns = [{ name = 'a', type = 'date' }]", r"study.columns\[0\].type"),
        ("[study]\ncolumns = [{ name = 'a', unit = 1 }]", r"study.columns\[0\].unit"),
        ("[study]\ncolumns = [{ name = 'a', minimum = 1 }]", r"study.columns\[0\].minimum"),
        (
            "[study]\ncolumns = [{ name = 'a', type = 'whole', minimum = 2, maximum = 1 }]",
            r"study.columns\[0\].minimum",
        ),
        ("[study]\ncolumns = [{ name = 'a', type = 'choice' }]", r"study.columns\[0\].choices"),
        ("[study]\ncolumns = [{ name = 'a', choices = ['b'] }]", r"study.columns\[0\].choices"),
        ("[study]\ncolumns = [{ name = 'a', units = 'h' }]", r"study.columns\[0\].units"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(UsageError, match=rf"tabwb\.toml: {key}:"):
        load(tmp_path, text)


def test_several_choices_are_read_and_one_that_is_not_allowed_is_named() -> None:
    column = next(each for each in BUILT_IN if each.name == "variety")
    assert column.read("h-dropping,non-rhotic") == "h-dropping, non-rhotic"
    with pytest.raises(UsageError, match="'Scottish'"):
        column.read("Scottish")


def test_the_varieties_are_those_that_the_rules_know() -> None:
    from tabwb.records.speakers import VARIETIES as names
    from tabwb.scoring.naming.target import VARIETIES

    assert tuple(VARIETIES) == names
