"""Components of plain functions, and plugins of one file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tabwb import testing
from tabwb.host.plugins import Plugins
from tabwb.plugin_api import Descriptor, exporter, scorer
from tabwb.plugin_api.components import Response
from tabwb.plugin_api.decorators import registered
from tabwb.records.errors import ComponentError
from tabwb.records.specs import Spec
from tabwb.records.states import RatingStatus
from tabwb.testing.checks import response_to, subtest_of
from tests.cli.conftest import Run

DOCS = Path(__file__).parents[2] / "docs" / "plugins.md"
SMALLEST = DOCS.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
ALL = SMALLEST + dedent("""
    from tabwb.plugin_api import exporter, judge, statistic

    @judge("my-judge", "Whether there is a word", features=("anomia",))
    def judged(response):
        return {"anomia": ("thing" in response.text, "a word for anything")}

    @exporter("my-lines", "One line for each response", suffix=".txt")
    def lines(documents):
        for document in documents:
            for trial in document["trials"]:
                yield f"{trial['item']}: {trial['response']}\\n"

    @statistic("my-share", "Long answers", "the share of responses of five words or more")
    def share(responses):
        words = responses.table["words"].values
        return float((words >= 5).mean()) if len(words) else None
    """)


@pytest.fixture
def plugins(tmp_path: Path, trusted: Path) -> Iterator[Plugins]:
    loaded = Plugins.load()
    yield loaded
    loaded.close()


@pytest.fixture
def trusted(tmp_path: Path, run: Run) -> Path:
    file = tmp_path / "my_plugin.py"
    file.write_text(ALL, encoding="utf-8")
    run("plugins", "trust", file)
    return file


def test_functions_keep_the_contracts_of_components(plugins: Plugins) -> None:
    assert plugins.problems == ()
    testing.check_scorer("my-words", plugins=plugins)
    testing.check_judge("my-judge", plugins=plugins)
    testing.check_exporter("my-lines", plugins=plugins)
    testing.check_statistic("my-share", plugins=plugins)


def test_one_file_is_a_plugin_as_long_as_it_is_unchanged(
    trusted: Path, battery_file: Path, run: Run
) -> None:
    text = battery_file.read_text(encoding="utf-8").replace('["choice"]', '["my-words"]')
    battery_file.write_text(text, encoding="utf-8")
    words = ["run", battery_file, "--model", "echo", "--judge", "none", "--json"]
    ratings = [
        rating
        for trial in run(*words).document["trials"]
        for rating in trial["ratings"]
        if rating["rater"] == "my-words"
    ]
    assert {rating["measure"] for rating in ratings} == {"mentioned"}
    assert {rating["value"] for rating in ratings} <= {0.0, 1.0}
    trusted.write_text(ALL + "\n# changed\n", encoding="utf-8")
    run(*words, status=2, err=f"tabwb plugins trust {trusted}")


def score(function: object, text: str) -> list[tuple[str, float | None, RatingStatus, str]]:
    ((_, descriptor),) = registered(function)
    subtest, item = subtest_of("choice")
    response: Response = response_to(item, "choice", text)
    made = descriptor.factory(Spec(descriptor.id), None)  # type: ignore[union-attr]
    given = made.score(subtest, item, response)
    return [(one.measure, one.value, one.status, one.reason) for one in given]


def test_what_a_function_returns_is_a_rating() -> None:
    @scorer("a", "A", measures={"right": "verdict", "share": "share", "none": "number"})
    def several(response: Response) -> dict[str, object]:
        return {"right": (True, "why"), "share": 0.5, "none": None}

    assert score(several, "x") == [
        ("right", 1.0, RatingStatus.VALUE, "why"),
        ("share", 0.5, RatingStatus.VALUE, ""),
        ("none", None, RatingStatus.UNDEFINED, "the scorer gave no value"),
    ]

    @scorer("b", "B")
    def n_words(response: Response) -> int:
        return len(response.text.split())

    assert score(n_words, "one two") == [("n-words", 2.0, RatingStatus.VALUE, "")]


def test_a_verdict_is_declared_and_never_guessed() -> None:
    @scorer("c", "C")
    def right(response):  # type: ignore[no-untyped-def]
        return True

    with pytest.raises(ComponentError, match="-> bool"):
        score(right, "x")
    with pytest.raises(TypeError, match="verdict"):

        @scorer("d", "D", measures={"right": "truth"})
        def other(response: Response) -> bool:
            return True

    with pytest.raises(TypeError, match="answer"):

        @scorer("e", "E")
        def wrong(answer: str) -> bool:
            return True


@pytest.mark.parametrize("given", ["yes", float("nan"), 10**400, {"other": True}, [1]])
def test_what_is_no_value_of_a_declared_measure_is_refused(given: Any) -> None:
    @scorer("my-scorer", "Anything", measures={"found": "number"})
    def anything(response: Response) -> Any:
        return given

    with pytest.raises(ComponentError, match="anything"):
        score(anything, "x")


@pytest.mark.parametrize(
    ("given", "written"),
    [("a", b"a"), (b"\xff", b"\xff"), (["a", b"\xff", "b"], b"a\xffb"), (7, None), ([7], None),
     ({"a": "b"}, None)],
)  # fmt: skip
def test_an_exporter_gives_text_or_bytes(given: Any, written: bytes | None, tmp_path: Path) -> None:
    @exporter("given", "Given", suffix=".txt")
    def made(documents: Any) -> Any:
        return given

    ((_, descriptor),) = registered(made)
    assert isinstance(descriptor, Descriptor)
    out = tmp_path / "out.txt"
    if written is None:
        with pytest.raises(ComponentError, match="made\\(\\) gave"):
            descriptor.factory(Spec("given"), None).export_stream(iter([]), out)
        assert not out.exists()
        return
    descriptor.factory(Spec("given"), None).export_stream(iter([]), out)
    assert out.read_bytes() == written


def test_an_exporter_without_a_suffix_writes_a_file_unless_it_takes_out() -> None:
    @exporter("a-file", "A file")
    def file(documents: Any) -> str:
        return ""

    @exporter("a-folder", "A folder")
    def folder(documents: Any, out: Path) -> None:
        out.mkdir()

    made = [one for function in (file, folder) for _, one in registered(function)]
    suffixes = {
        one.id: one.factory(Spec(one.id), None).suffix
        for one in made
        if isinstance(one, Descriptor)
    }
    assert suffixes == {"a-file": ".txt", "a-folder": ""}
