"""Tags of languages: what is one, what is meant otherwise, and what is English."""

from __future__ import annotations

import pytest

from tabwb.records.languages import is_english, not_available, primary_language, tag_problem


@pytest.mark.parametrize(
    "tag",
    ["en", "de", "EN", "de-AT", "pt-BR", "es-419", "zh-Hant-TW", "sr-Latn", "sl-rozaj-biske",
     "de-1996", "en-x-clinic", "en-u-co-phonebk", "gsw", "yue", "nb", "de-DE"],
)  # fmt: skip
def test_a_tag_of_bcp_47(tag: str) -> None:
    assert tag_problem(tag) is None


@pytest.mark.parametrize(
    ("tag", "meant"),
    [
        ("english", "en"), ("English", "en"), ("German", "de"), ("Deutsch", "de"),
        ("français", "fr"), ("deutch", "de"), ("eng", "en"), ("ger", "de"), ("deu-AT", "de-AT"),
        ("en_US", "en-US"), ("en-UK", "en-GB"), ("en-EN", "en"), ("de-deu", "de"),
        ("de,de", "de"), ("de, en", "de"), ("en en", "en"), ("zh-yue", "yue"), ("jp", "ja"),
        ("日本語", "ja"), ("de-1996-1996", "de"), ("xx", ""), ("", ""), ("123", ""),
        ("klingon", ""),
    ],
)  # fmt: skip
def test_what_is_no_tag_of_a_language_is_refused_with_the_one_meant(tag: str, meant: str) -> None:
    problem = tag_problem(tag)
    assert problem is not None
    assert problem[1] == meant


def test_the_language_of_a_tag() -> None:
    tags = ("de-AT", "DE", "ger", "German", "gsw", "en_US", "")
    assert [primary_language(tag) for tag in tags] == ["de", "de", "de", "de", "gsw", "en", ""]
    assert [is_english(tag) for tag in ("en", "EN-gb", "english", "enm", "de")] == [
        *(True, True, True, False, False)
    ]
    assert not_available("de-CH") == "not available in de"
