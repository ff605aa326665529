"""What stands below the table for a paper, and the conditions in its first column."""

from __future__ import annotations

from dataclasses import replace

from tabwb.analysis.administrations import AdministrationData
from tabwb.analysis.grouping import grouped, summarised
from tabwb.media.paper import captioned_groups, latex, markdown, presented
from tests.analysis.given import ANSWERS, CONDITIONS, SAMPLED, trials
from tests.analysis.test_grouping import given


def notes(*members: AdministrationData, together: tuple[str, ...] = ()) -> list[str]:
    rows = summarised(grouped(members, "model", together=together))
    (table,) = captioned_groups(rows)
    return [note.text for note in table.notes]


def test_what_was_pooled_stands_below_once_for_all_groups_alike() -> None:
    members = [
        given(at + 1, replace(conditions, examinee=model))
        for at, (model, conditions) in enumerate(
            (model, conditions) for model in ("a", "b") for conditions in (CONDITIONS, SAMPLED)
        )
    ]
    found = notes(*members, together=("temperature",))
    (pooled,) = [note for note in found if "pooled over decoding" in note]
    assert pooled.startswith("All groups are pooled over decoding greedy")


def test_a_value_without_an_interval_has_the_reason_below_the_table_in_every_format() -> None:
    members = [given(1, CONDITIONS), given(2, replace(CONDITIONS, examinee="b"),
                                           trials({"ct1": ANSWERS["ct1"]}))]  # fmt: skip
    (table,) = captioned_groups(summarised(grouped(members, "model")), ["group", "burden"])
    shown = presented(table)
    without = [row[0].text for row in shown.rows if row[1].text != "-" and not row[1].interval]
    assert without == ["b"]
    note = "No interval (one item: how much items differ is unknown): Burden of b."
    assert shown.notes[0] == note
    assert note in markdown(table) and note in latex(table)
    assert [heading.title for heading in shown.headings] == ["Model", "Burden"]


def test_the_caption_says_what_is_shown_and_the_notes_how_responses_were_drawn() -> None:
    rows = summarised(grouped([given(1, SAMPLED)], "model"))
    (whole,) = captioned_groups(rows)
    (short,) = captioned_groups(rows, ["group", "n", "burden"])
    assert "accuracy (policy exact)" in whole.caption
    assert "accuracy" not in short.caption
    assert "symptom burden over 7 features (rules-2, connected text)" in short.caption
    (said,) = [note.text for note in short.notes if note.text.startswith("Decoding")]
    assert said.startswith(f"Decoding of all responses of models: {SAMPLED.drawn}, ")
