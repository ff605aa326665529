"""A file that appears while a result is computed is not replaced."""

from pathlib import Path

import pytest

from tabwb.host.writing import write_bytes, write_text
from tabwb.media.destination import check_destination
from tabwb.records.errors import TabwbError
from tabwb.records.words import RESEARCH_ONLY


@pytest.mark.parametrize("write", [
    lambda out: write_bytes(out, b"ours"), lambda out: write_text(out, "ours", [RESEARCH_ONLY]),
])  # fmt: skip
def test_what_another_program_wrote_in_the_meantime_stays(tmp_path: Path, write: object) -> None:
    assert callable(write)
    out = tmp_path / "report.html"
    place = check_destination(out)
    out.write_text("theirs", encoding="utf-8")
    with pytest.raises(TabwbError, match="meantime"):
        write(place)
    assert [(one.name, one.read_text()) for one in tmp_path.glob("*report*")] == [
        (out.name, "theirs")
    ]
    write(check_destination(out, force=True))
    assert out.read_text(encoding="utf-8") == "ours"


def test_a_file_written_twice_with_force_is_replaced(tmp_path: Path) -> None:
    out = tmp_path / "figure.svg"
    write_bytes(check_destination(out), b"first")
    with pytest.raises(TabwbError, match="already exists"):
        check_destination(out)
    write_bytes(check_destination(out, force=True), b"second")
    assert out.read_bytes() == b"second"
