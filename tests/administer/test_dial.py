"""The dial: its table has the answers that the ordinary engine gives with the same lesion."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tabwb
from tabwb.cli.main import main
from tabwb.records.errors import UsageError
from tabwb.store.store import Store

pytestmark = pytest.mark.usefixtures("lesionable")

MODEL = "lesionable"


def test_each_step_is_the_answer_of_an_administration_with_its_lesion(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, path = tmp_path / "dial.html", tmp_path / "a.db"
    found = tabwb.dial(MODEL, amounts=(0.1, 0.4), seeds=(1, 2), out=page)
    # Intact once; two amounts with two seeds, and a control of each.
    assert found["role"].to_list() == ["intact", *["lesion"] * 4, *["control"] * 4]
    assert found["amount"].to_list() == [0.0, *[0.1, 0.1, 0.4, 0.4] * 2]
    assert found["seed"].to_list() == [None, *[1, 2] * 4]
    rows = found.to_dicts()
    for row in rows:
        one = tabwb.run(
            "tab", MODEL, lesion=row["lesion"], items="connected-text/ct1",
            store=tmp_path / "b.db",
        )  # fmt: skip
        trial = one.to_dict()["trials"][0]
        assert row["answer"] == trial["response"] and row["status"] == trial["status"]
        present = [
            each["measure"] for each in trial["ratings"]
            if each["rater"] == "rules-2" and each["value"]
        ]  # fmt: skip
        assert list(row["present"] or ()) == present
        # The test's model says "wug" in place of words, and no other new word.
        new = row["new_words"] or ()
        assert row["new"] == len(new) == row["answer"].split().count("wug")
        assert set(new) <= {"wug"} and row["words"] == len(row["answer"].split())
    assert rows[0]["new"] == 0 < rows[-1]["new"]
    # A second derivation: seeds of a role and amount, by the text of their present features.
    features = found.names[found.names.index("alike") + 1 :]
    rated = [one for one in rows if any(one[name] is not None for name in features)]
    assert rated
    for row in rows:
        own = [one for one in rated if (one["role"], one["amount"]) == (row["role"], row["amount"])]
        assert row["seeds"] == (len(own) if row in rated else None)
        same = sum(one["present"] == row["present"] for one in own)
        assert row["alike"] == (same if row in rated else None)

    text = page.read_text(encoding="utf-8")
    data = json.loads(re.findall(r'type="application/json">(.*?)</script>', text)[0])
    assert [one["answer"] for one in data["steps"]] == found["answer"].to_list()
    assert "default-src 'none'" in text and not re.search(r'(src|href)="', text)

    # Nothing is stored without keep; then as conditions of a sweep, which are not given again.
    assert not path.exists()
    for _ in range(2):
        kept = tabwb.dial(MODEL, amounts=(0.1, 0.4), seeds=(1, 2), keep=True, store=path)
        assert list(kept.rows()) == list(found.rows())
    with Store.open(path) as store:
        tags = [one.tags for one in store.administrations()]
    assert tags == [("dial",)] * 5 + [("dial", "control")] * 4

    arguments = ["lesion", "dial", MODEL, "--amounts", "0.1,0.4", "--seeds", "1-2", "--json"]
    assert main([*arguments, "-q"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["answers"] == 9 and not document["stored"]
    assert document["tables"][0]["name"] == "lesion-dial"


def test_a_prompt_of_the_user_is_asked_and_what_cannot_be_used_is_refused(tmp_path: Path) -> None:
    prompt = "Tell me about </script> your first job."
    found = tabwb.dial(MODEL, amounts=[1.0], prompt=prompt, out=tmp_path / "a.html")
    assert found["answer"].to_list()[0].endswith(prompt)
    assert (tmp_path / "a.html").read_text(encoding="utf-8").count("</script>") == 2
    for given, where in (
        ({"amounts": [2.0]}, "amounts"), ({"item": "none/1"}, ""), ({"seeds": -1}, ""),
        ({"out": "a.txt"}, "out"), ({"layers": "9"}, ""),
    ):  # fmt: skip
        with pytest.raises(tabwb.TabwbError) as caught:
            tabwb.dial(MODEL, **given)
        assert not where or (
            isinstance(caught.value, UsageError) and where in str(caught.value.where)
        )
