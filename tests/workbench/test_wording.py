"""Lines of text that are laid out for a width."""

from __future__ import annotations

from dataclasses import replace

from tabwb.workbench.engine.presenters import short_titles
from tabwb.workbench.engine.view_models import Scores, SubtestScore, Work
from tabwb.workbench.shell.administration_words import special_words
from tabwb.workbench.shell.marks import compact
from tabwb.workbench.trial.item_view import opening
from tests.report.given import CONDITIONS, administration

TITLES = ("Connected Text", "Word Comprehension", "Sentence Comprehension", "Repetition")
BURDEN = "burden 1.60 over 7"


def tab_scores() -> list[SubtestScore]:
    """TAB in its third item of word comprehension."""
    short = short_titles(TITLES)
    connected, word, sentence, repetition = (
        SubtestScore(title, short[title], planned=5, given=0, scored=0, right=None)
        for title in TITLES
    )
    return [
        replace(connected, given=5),
        replace(word, given=3, scored=3, right=2, current=True),
        sentence,
        repetition,
    ]


def test_all_of_tab_fits_into_80_columns() -> None:
    line = compact(tab_scores(), BURDEN, 76, hidden=False).plain
    assert line == "text 5 given   word 2/3   sentence -   repetition -   burden 1.60 over 7"


def test_all_of_tab_fits_when_everything_was_given() -> None:
    given = [replace(one, given=5, scored=5, right=5) for one in tab_scores()[1:]]
    line = compact([tab_scores()[0], *given], "burden 11.60 over 18", 76, hidden=False).plain
    assert [word for word in line.split() if word.isalpha()] == [
        "text", "given", "word", "sentence", "repetition", "burden", "over",
    ]  # fmt: skip


def test_what_does_not_fit_is_marked_and_the_current_subtest_stays() -> None:
    scores = [replace(one, current=one.title == "Repetition") for one in tab_scores()]
    line = compact(scores, BURDEN, 50, hidden=False).plain
    assert line == "text 5 given  repetition -  …  burden 1.60 over 7"


def test_title_and_tags_come_first_in_what_tells_runs_apart() -> None:
    given = administration(3, replace(CONDITIONS, seed=7))
    assert special_words(given) == ["seed 7"]
    marked = replace(given, title="First try", tags=("pilot", "a"))
    assert special_words(marked) == ["First try", "pilot", "a", "seed 7"]


def test_a_lesion_is_named_before_the_first_item() -> None:
    lesioned = administration(3, replace(CONDITIONS, lesion="mlp:zero:0.3"))
    work = Work(
        lesioned,
        lesioned.status,
        reason="",
        item=None,
        awaiting=False,
        asking=False,
        loading="",
        auto=False,
        undoable=False,
        remaining=3,
        scores=Scores(),
    )
    assert opening(work).plain.splitlines()[1].split() == ["lesion", "mlp:zero:0.3"]
