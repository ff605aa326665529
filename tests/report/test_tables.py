from __future__ import annotations

import io

from rich.console import Console, RenderableType

from tabwb.media.views.administration import administration_view, burden_view, list_view
from tabwb.media.views.groups import groups_view
from tabwb.report.summaries.grouping import Group
from tabwb.report.summaries.groups import summarised
from tabwb.report.summaries.load import AdministrationData
from tests.report.given import (
    ANSWERS,
    BATTERY,
    CONDITIONS,
    DECLARED,
    administration,
    summarise,
    trials,
)


def printed(view: RenderableType, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(view)
    return out.getvalue()


def results(answers: dict[str, str] = ANSWERS, features: tuple[str, ...] = ()) -> str:
    summary = summarise(
        BATTERY, trials(answers, features), CONDITIONS, declarations=DECLARED, interval=True
    )
    return printed(administration_view(administration(), BATTERY, summary))


def unwrapped(text: str) -> str:
    return " ".join(text.split())


def test_titles_of_categories_are_whole_in_a_narrow_panel() -> None:
    answers = trials(ANSWERS, ("retracing",))
    summary = summarise(BATTERY, answers, CONDITIONS, declarations=DECLARED, interval=True)
    (judge,) = summary.judges
    titles = dict.fromkeys(judge.burden.categories, "Perseverative")
    assert "Perseverative  ━" in printed(burden_view(judge, titles), width=34)


def test_everything_fits_eighty_columns_and_is_plain_when_piped() -> None:
    members = (AdministrationData(administration(), BATTERY, trials(ANSWERS)),)
    views = [
        list_view([administration()]),
        groups_view(summarised([Group("model", "bundled", members)]), details=True),
        administration_view(
            administration(), BATTERY, summarise(BATTERY, trials(ANSWERS), CONDITIONS)
        ),
    ]
    for view in views:
        text = printed(view)
        assert "\x1b" not in text
        assert max(map(len, text.splitlines())) <= 80


def test_nothing_answered_yet_shows_no_figures() -> None:
    text = results({})
    assert "0 of" not in text
    assert "symptom burden" not in text
