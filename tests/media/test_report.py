"""The report: whole in one file, the same bytes each time, safe with hostile texts."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import grouped, summarised
from tabwb.battery.model import Battery
from tabwb.media.figures import figure_table
from tabwb.media.figures.files import pictured
from tabwb.media.report import Report, examples_of, rendered, report_of, run_command
from tabwb.media.result_sentences import result_sentences
from tabwb.media.studied import studied
from tabwb.records.conditions import Conditions
from tabwb.records.exchange import Decoding
from tabwb.records.trials import Trial
from tests.analysis.given import ANSWERS, BATTERY, CONDITIONS, trials
from tests.analysis.test_grouping import given

EVIL = (
    "</style></blockquote><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m\x00"
)


def report(
    *members: AdministrationData,
    by: str = "model",
    n: int = 0,
    study_ids: bool = False,
    title: str = "",
    figures: bool = False,
) -> Report:
    about = studied(summarised(grouped(members, by)), study_ids=study_ids)
    stored = {member.administration.id: member.trials for member in members}
    examples = examples_of(about, stored.__getitem__, n)
    return report_of(about, title=title, examples=examples, figures=figures)


def battery(**changed: object) -> AdministrationData:
    """An administration of the battery with other texts."""
    other: Battery = replace(BATTERY, **changed)  # type: ignore[arg-type]
    return replace(given(1, CONDITIONS), battery=other)


class Page(HTMLParser):
    """Collects what a page holds."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.ids: list[str] = []
        self.feed(content.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id" and value]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        return " ".join(self.texts)


@pytest.fixture(scope="module")
def whole() -> Report:
    """Two models with figures and examples."""
    return two()


def two() -> Report:
    return report(
        given(1, CONDITIONS), given(2, replace(CONDITIONS, examinee="b")), n=2, figures=True
    )


def test_the_page_has_every_part_and_each_link_leads_somewhere(whole: Report) -> None:
    page = Page(rendered(whole))
    links = [(link["href"] or "").removeprefix("#") for link in page.all("a")]
    assert links == [
        "figures", "cautions", "burden", "features", "accuracy", "measures", "errors", "responses",
        "examples", "dictionary", "reproduction", "methods",
    ]  # fmt: skip
    assert [one.title for one in whole.sections if not one.is_folded] == ["Results"]
    assert len(page.ids) == len(set(page.ids))
    assert set(links) <= set(page.ids)


def test_the_page_needs_nothing_else(whole: Report) -> None:
    page = Page(rendered(whole))
    assert not page.all("script") and not page.all("link")
    for tag, attributes in page.tags:
        for name in ("src", "href", "action", "data"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:image/svg+xml;base64,")), tag
    assert "url(" not in rendered(whole).decode()
    (policy,) = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_the_same_report_has_the_same_bytes(whole: Report) -> None:
    assert rendered(whole) == rendered(two())


def test_tables_have_headings_and_figures_have_words(whole: Report) -> None:
    page = Page(rendered(whole))
    assert {heading["scope"] for heading in page.all("th")} == {"col", "row"}
    assert len(page.all("table")) == len(page.all("tbody")) > 6
    assert all(table.get("aria-labelledby") in page.ids for table in page.all("table"))
    pictures = page.all("img")
    assert len(pictures) == 4 and len(page.all("source")) == 1
    assert all(len(picture["alt"] or "") > 60 for picture in pictures)
    assert page.all("html") == [{"lang": "en"}]


def test_rows_of_a_long_table_are_folded_and_none_is_lost(
    whole: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabwb.media.report.MOST_ROWS", 1)
    short = Page(rendered(whole))
    monkeypatch.undo()
    page = Page(rendered(whole))
    assert not [one for one in page.all("details") if one.get("class") == "rows"]
    long = [one for section in whole.sections for one in section.tables if len(one.rows) > 1]
    assert [one.get("class") for one in short.all("details")].count("rows") == len(long) > 0
    assert len(short.all("td")) == len(page.all("td"))
    assert len(short.ids) == len(set(short.ids))


def test_numbers_of_the_page_are_those_of_the_summary(whole: Report) -> None:
    page = Page(rendered(whole))
    (row,) = summarised(grouped([given(1, CONDITIONS)], "model"))
    words = row.results.find("accuracy", "words")
    assert words is not None and (interval := words.interval) is not None
    assert f"[{interval.low:.2f}, {interval.high:.2f}]" in page.text
    assert f"{words.value.value:.2f}" in page.text
    values = re.findall(r"\d\.\d\d", " ".join(whole.sentences))
    assert len(whole.sentences) == 3 and values
    (table,) = whole.sections[0].tables
    cells = {
        each for line in table.rows for cell in line for each in re.findall(r"[\d.]+", str(cell))
    }
    assert set(values) <= cells


def hostile(where: str) -> Report:
    """A report in which one text is not what it should be."""
    spoken: Sequence[Trial] = trials({**ANSWERS, "ct1": EVIL, "ct2": EVIL, "wc1": EVIL})
    features = tuple(replace(feature, title=EVIL) for feature in BATTERY.features)
    subtests = tuple(replace(subtest, title=EVIL) for subtest in BATTERY.subtests)
    texts = {"title": EVIL, "citation": EVIL, "disclaimer": EVIL}
    labels = {"family": EVIL, "tuning": EVIL}
    match where:
        case "response":
            return report(given(1, CONDITIONS, spoken), n=9)
        case "model":
            return report(given(1, replace(CONDITIONS, examinee=f"echo:{EVIL}")), figures=True)
        case "facts":
            return report(given(1, CONDITIONS, dtype=EVIL, revision=EVIL))
        case "battery":
            return report(battery(**texts, features=features, subtests=subtests))
        case "title":
            return report(given(1, CONDITIONS), title=EVIL)
    return report(given(1, replace(CONDITIONS, labels=labels)))


@pytest.mark.parametrize("where", ["response", "model", "facts", "battery", "title", "labels"])
def test_hostile_texts_are_texts(where: str) -> None:
    made = hostile(where)
    content = rendered(made)
    page = Page(content)
    assert not page.all("script"), where
    assert not any("onerror" in attributes for _, attributes in page.tags)
    assert len(page.all("style")) == 1
    assert content.count(b"</style>") == 1
    for character in ("\u202e", "\x1b", "\x00"):
        assert character.encode() not in content
    assert "alert(1)" in page.text  # it is shown as what it is
    text = rendered(made, "md").decode()
    assert not re.search(r"(?<!\\)<script", re.sub(r"(?m)^    .*$", "", text))
    assert "\x1b" not in text and "\u202e" not in text
    for figure in (*filter(None, [made.lead]), *made.figures):
        ElementTree.fromstring(figure.svg)


def test_people_are_numbered_unless_their_ids_are_asked_for() -> None:
    people = [given(number, Conditions(f"S-0{number}", "speaker")) for number in (1, 2)]
    content = rendered(report(*people, n=1, figures=True))
    assert b"S-0" not in content
    assert "participant 1" in Page(content).text
    by_administration = Page(rendered(report(*people, by="administration"))).text
    assert "#2 participant 2" in by_administration
    assert "S-02" in Page(rendered(report(*people, study_ids=True))).text


@pytest.mark.parametrize("tag", ["S-02", "S-02-pre", "pilot_S-02", "s-02"])
def test_a_group_is_not_named_by_a_tag_that_holds_a_study_id(tag: str) -> None:
    members = [given(number, Conditions(f"S-0{number}", "speaker")) for number in (1, 2)]
    second = replace(members[1], administration=replace(members[1].administration, tags=(tag,)))
    text = rendered(report(members[0], second, by="tag", n=1), "md").decode()
    assert tag not in text
    assert "participant 2" in text


def test_folders_are_left_out() -> None:
    replayed = replace(CONDITIONS, examinee="replay:/home/ada/a.jsonl", origin="model")
    made = report(given(1, replayed))
    assert b"/home/ada" not in rendered(made)
    assert "/home/ada" not in rendered(made, "md").decode()
    assert made.commands == ("tabwb run small --model replay:a.jsonl --judge rules-2",)


def test_examples_are_shown_with_prompt_status_and_verdicts(whole: Report) -> None:
    first = whole.examples[0]
    assert (first.group, first.item, first.status) == ("bundled", "ct1", "ok")
    assert first.response == ANSWERS["ct1"]
    assert first.verdicts == ("rules-2: no feature present, 12 without a value",)
    assert [example.item for example in whole.examples] == ["ct1", "ct2", "ct1", "ct2"]
    scored = report(given(1, CONDITIONS), n=3).examples[2]
    assert scored.verdicts == ("choice: exact right, normalised right, extracted right",)


def test_the_dictionary_has_every_column_that_is_shown(whole: Report) -> None:
    shown = {
        heading.column.name
        for section in whole.sections
        for table in section.tables
        for heading in table.headings
    }
    assert shown == {column.name for column in whole.dictionary}
    assert all(column.meaning for column in whole.dictionary)


def test_without_matplotlib_the_report_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    made = report(given(1, CONDITIONS), figures=True)
    assert made.figures == ()
    assert "needs the extra 'figures'" in Page(rendered(made)).text


def test_the_command_line_reads_the_command_back() -> None:
    import shlex

    from tabwb.cli.command import asked_of
    from tabwb.cli.run import run
    from tabwb.operations.operation import asked_conditions

    asked = Conditions(
        "echo", "model", seed=5, replicates=4, conversation=True, item_order="shuffled",
        option_order="rotated", token_limits="run",
        decoding=Decoding(64, 0.7, 0.9, ("a b", "c"), seed=5),
    )  # fmt: skip
    words = shlex.split(run_command("tab", asked))[2:]
    context = run.make_context("run", words)
    read = asked_conditions("echo", "model", asked_of("run", context.params))
    assert replace(read, judges=asked.judges) == asked
    imported = replace(asked, examinee="imported:m", origin="model")
    assert run_command("tab", imported).startswith("# ")  # no command gives it again


def test_of_too_many_groups_no_figure_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabwb.media.figures.MOST_GROUPS", 1)
    made = two()
    assert made.figures == () and made.lead is None
    assert made.no_figures == "2 groups are more than a figure can show: 1 or fewer."
    monkeypatch.setattr("tabwb.media.figures.files.FIRST", 1)
    first = two().lead  # of the first group alone
    assert first is not None and first.id == "first-burden" and first.narrow


def test_of_several_judges_the_profile_is_that_of_the_first() -> None:
    from tests.media.figures.made import group, judge, results_of

    one = group("a")
    judges = (*one.results.judges, judge([[["anomia"]]], ("anomia",), "tab-2026:x"))
    found, _ = pictured(studied([replace(one, results=results_of(judges))]))
    (profile,) = (each for each in found if each.id.startswith("profile-"))
    assert "rules-2 finds" in " ".join(profile.notes)


def test_of_lesions_their_doses_are_drawn_however_many_groups_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tests.analysis.test_doses import sweep

    monkeypatch.setattr("tabwb.media.figures.MOST_GROUPS", 1)
    rows = summarised(grouped(sweep(seeds=2), "model"), interval=False)
    found, why = pictured(studied(rows))
    drawn = [each.id.rpartition("-")[0] for each in found]
    assert drawn[:2] == ["dose-burden", "dose-accuracy"]
    assert why.startswith("9 groups are more")
    _, swept, _ = result_sentences(studied(rows))
    means = [one for one in figure_table("dose", rows).to_dicts() if one["row"] == "mean"]
    last = [one for one in means if one["amount"] == max(mean["amount"] for mean in means)]
    assert last and all(f" {one['value']:.2f}" in swept for one in last)
