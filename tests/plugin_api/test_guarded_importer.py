"""What a plugin's importer returns and raises is checked, and the message names it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tabwb.plugin_api import AnswerFile, Importer, RecordedAnswer, RecordedRun
from tabwb.plugin_api.registry.guarded_importer import GuardedImporter, recognising
from tabwb.records.errors import ComponentError, MissingExtra, MissingPackage, TabwbError
from tabwb.records.ratings import Declaration, valued

RUN = RecordedRun()
FILE = Path("x.made-up")


class MadeUp:
    """An importer that recognises and reads what it is given; an exception is raised."""

    def __init__(self, read: Any = None, known: Any = True) -> None:
        self._read, self._known = read, known

    def recognises(self, path: Path) -> bool:
        return self._given(self._known)  # type: ignore[no-any-return]

    def read(self, path: Path, names: object) -> AnswerFile:
        return self._given(self._read)  # type: ignore[no-any-return]

    @staticmethod
    def _given(what: Any) -> Any:
        if isinstance(what, Exception):
            raise what
        return what


DECLARED = Declaration("r", ("m",))


def guarded(read: Any = None, known: Any = True) -> GuardedImporter:
    return GuardedImporter(MadeUp(read, known), "made-up")


def answer(**fields: Any) -> AnswerFile:
    given = {"where": "x:1", "text": "lion", "run": RUN, "item": "wc1", **fields}
    return AnswerFile("made up", (RecordedAnswer(**given),), (FILE,))


def test_answers_that_are_right_are_returned() -> None:
    assert guarded(answer(text=None, replicate=0, latency_s=1)).read(FILE, {}).title == "made up"


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (RuntimeError("boom"), "read() of the importer 'made-up' failed: RuntimeError: boom"),
        (None, "the importer 'made-up' returned a NoneType\nallowed: an AnswerFile"),
        (AnswerFile("x", [], ()), "returned answers as a list\nallowed: a tuple"),  # type: ignore[arg-type]
        (AnswerFile("x", (), (FILE,)), "x.made-up: there is no answer in it"),
        (AnswerFile("x", (), ("f",)), "returned files=('f',)"),  # type: ignore[arg-type]
        (AnswerFile("x", (3,), ()), "returned answer 1 with the type int"),  # type: ignore[arg-type]
        (answer(text=3), "answer 1 with text=3\nallowed: text, or None"),
        (answer(run=None), "answer 1 with run=None\nallowed: a RecordedRun"),
        (answer(latency_s=float("nan")), "latency_s=nan\nallowed: 0 or more, or None"),
        (answer(replicate=-4), "replicate=-4\nallowed: 0 or more, or None"),
        (answer(replicate="1"), "replicate='1'\nallowed: a whole number, or None"),
        (answer(stop_reason="stop"), "stop_reason='stop'\nallowed: a StopReason: end, length"),
        (answer(metadata={"a": 3}), "metadata={'a': 3}\nallowed: texts by name"),
        (answer(ratings=(valued("r", "m", 1),)), "allowed: ratings of raters in AnswerFile"),
        (
            replace(answer(ratings=(valued("r", "m", 1),) * 2), declarations=(DECLARED,)),
            "'m' rated twice",
        ),
    ],
)
def test_what_is_wrong_with_answers_is_said(read: Any, said: str) -> None:
    with pytest.raises(TabwbError) as raised:
        guarded(read).read(FILE, {})
    assert said in str(raised.value)


def test_the_reason_of_the_importer_itself_is_kept() -> None:
    with pytest.raises(TabwbError, match="no header"):
        guarded(TabwbError("no header")).read(FILE, {})


def test_an_importer_that_fails_does_not_hide_the_one_that_fits() -> None:
    fits = guarded()
    broken = partial(guarded, known=RuntimeError("boom"))
    assert recognising([broken, lambda: fits], FILE) is fits


@pytest.mark.parametrize(
    "missing", [MissingExtra("'other'", "annotations"), MissingPackage("'other'", "other")]
)
def test_an_importer_without_its_packages_is_passed_over(missing: ComponentError) -> None:
    def other() -> Importer:
        raise missing

    fits = guarded()
    assert recognising([other, lambda: fits], FILE) is fits
    assert recognising([other, partial(guarded, known=False)], FILE) is None


def test_without_one_that_fits_the_failure_is_said() -> None:
    with pytest.raises(ComponentError, match=r"recognises\(\) of the importer 'made-up' failed"):
        recognising(
            [partial(guarded, known=RuntimeError("boom")), partial(guarded, known=False)], FILE
        )


def test_recognises_returns_a_truth_value() -> None:
    with pytest.raises(ComponentError, match="None from recognises"):
        guarded(known=None).recognises(FILE)
